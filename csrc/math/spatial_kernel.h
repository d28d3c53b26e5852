/* Vectors, rotations and symmetric matrices as plain arrays. Results may not overlap arguments.
 * Symmetric 3x3: xx xy xz yy yz zz; 3x3: row by row. */
#ifndef LW_MATH_SPATIAL_KERNEL_H
#define LW_MATH_SPATIAL_KERNEL_H
#include "math/scalar.h"

#define SCALAR real
#define NAMED(name) name
#include "math/vec3_template.h"
#undef SCALAR
#undef NAMED

INLINE void copy(int n, const real *a, real *out) {
  for (int i = 0; i < n; i++) out[i] = a[i];
}

INLINE void rotate_back(const real R[9], const real a[3], real out[3]) {
  for (int i = 0; i < 3; i++) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

/* A' B */
INLINE void multiply_back(const real A[9], const real B[9], real out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

INLINE void transpose(const real A[9], real out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = A[3 * j + i];
}

/* Rotation matrix of a quaternion of any length. */
INLINE void rotation_of(const real Q[4], real R[9]) {
  const real s = 2.0 / (Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
  const real x = s * Q[1], y = s * Q[2], z = s * Q[3];
  R[0] = 1.0 - (y * Q[2] + z * Q[3]), R[1] = x * Q[2] - z * Q[0], R[2] = x * Q[3] + y * Q[0];
  R[3] = x * Q[2] + z * Q[0], R[4] = 1.0 - (x * Q[1] + z * Q[3]), R[5] = y * Q[3] - x * Q[0];
  R[6] = x * Q[3] - y * Q[0], R[7] = y * Q[3] + x * Q[0], R[8] = 1.0 - (x * Q[1] + y * Q[2]);
}

/* Unit quaternion with w >= 0. Its components times four times one of them are a row; that of the largest counts. */
static void quaternion_of(const real R[9], real Q[4]) {
  const real trace[4] = {R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4]};
  const real d[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]}, s[3] = {R[5] + R[7], R[2] + R[6], R[1] + R[3]};
  const real row[4][4] = {{1.0 + trace[0], d[0], d[1], d[2]},
                          {d[0], 1.0 + trace[1], s[2], s[1]},
                          {d[1], s[2], 1.0 + trace[2], s[0]},
                          {d[2], s[1], s[0], 1.0 + trace[3]}};
  real most = trace[0];
  for (int k = 0; k < 4; k++) Q[k] = row[0][k];
  for (int i = 1; i < 4; i++) {
    for (int k = 0; k < 4; k++) Q[k] = select_less(most, trace[i], row[i][k], Q[k]);
    most = select_less(most, trace[i], trace[i], most);
  }
  const real f = 0.5 / root(1.0 + most), by = select_less(Q[0], 0.0, -f, f);
  for (int k = 0; k < 4; k++) Q[k] *= by;
}

/* A force f at point r gives the torque r x f: moves a wrench back by r. */
INLINE void shift_wrench(const real r[3], const real torque[3], const real force[3], real torque_out[3]) {
  copy(3, torque, torque_out);
  add_cross(r, force, torque_out);
}

/* Adds a wrench at a point d from where it counts. */
INLINE void add_wrench(const real d[3], double sign, const real torque[3], const real force[3], real *to_a,
                       real *to_l) {
  real moved[3];
  shift_wrench(d, torque, force, moved);
  for (int j = 0; j < 3; j++) to_a[j] += sign * moved[j], to_l[j] += sign * force[j];
}

/* Inertia [A B; B' C] moved back by r: X' I X with X = [1 0; -r~ 1]. A and B change, C does not. */
INLINE void shift_inertia(const real r[3], real A[6], real B[9], const real C[6]) {
  const real c[9] = {C[0], C[1], C[2], C[1], C[3], C[4], C[2], C[4], C[5]};
  real Y[9]; /* B + r~ C */
  for (int j = 0; j < 3; j++) {
    Y[j] = B[j] + (r[1] * c[6 + j] - r[2] * c[3 + j]);
    Y[3 + j] = B[3 + j] + (r[2] * c[j] - r[0] * c[6 + j]);
    Y[6 + j] = B[6 + j] + (r[0] * c[3 + j] - r[1] * c[j]);
  }
  /* A += r~ B' - Y r~; columns of Y r~ are Y[.,2] r[1] - Y[.,1] r[2] and so on, wait-free of each other */
  A[0] += (r[1] * B[2] - r[2] * B[1]) - (Y[1] * r[2] - Y[2] * r[1]);
  A[1] += (r[1] * B[5] - r[2] * B[4]) - (Y[2] * r[0] - Y[0] * r[2]);
  A[2] += (r[1] * B[8] - r[2] * B[7]) - (Y[0] * r[1] - Y[1] * r[0]);
  A[3] += (r[2] * B[3] - r[0] * B[5]) - (Y[5] * r[0] - Y[3] * r[2]);
  A[4] += (r[2] * B[6] - r[0] * B[8]) - (Y[3] * r[1] - Y[4] * r[0]);
  A[5] += (r[0] * B[7] - r[1] * B[6]) - (Y[6] * r[1] - Y[7] * r[0]);
  copy(9, Y, B);
}
#endif
