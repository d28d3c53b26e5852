/* Quaternions among the coordinates of a joint: the nearest one to a rotation, its rate, and its unit length, which the
 * rate restores as well. */
#ifndef LW_MATH_QUATERNION_COORDINATES_KERNEL_H
#define LW_MATH_QUATERNION_COORDINATES_KERNEL_H
#include "math/spatial_kernel.h"
#include "math/tolerances.h"

static void nearest_quaternion(const real C[9], const real *near, real Q[4]) {
  quaternion_of(C, Q);
  double along = 0.0;
  for (int i = 0; i < 4; i++) along += re(Q[i]) * re(near[i]);
  for (int i = 0; i < 4; i++) Q[i] = along < 0.0 ? -Q[i] : Q[i];
}

/* 1/2 Q [0, w] + gain (1 - |Q|^2) Q, w in child axes */
static void quaternion_rate(const real Q[4], const real w[3], real out[4]) {
  const real off = QUATERNION_GAIN * (1.0 - (Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]));
  out[0] = -0.5 * dot(Q + 1, w) + off * Q[0];
  real v[3];
  cross(Q + 1, w, v);
  for (int i = 0; i < 3; i++) out[1 + i] = 0.5 * (Q[0] * w[i] + v[i]) + off * Q[1 + i];
}

static void normalize_quaternion(real Q[4]) {
  const real scale = 1.0 / root(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
  for (int i = 0; i < 4; i++) Q[i] *= scale;
}
#endif
