/* Frames of joints and inertias of bodies: given values become exact or are refused. Matrices are 3 x 3, row by
 * row. */
#include "description.h"
#include "model/model.h"
#include "math/tolerances.h"
#include <float.h>
#include <math.h>
#include <string.h>

void lw_multiply(const double a[9], const double b[9], double product[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      product[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

int lw_make_unit(double *v, int32_t n) {
  double largest = 0.0;
  for (int32_t i = 0; i < n; i++) largest = fmax(largest, fabs(v[i]));
  if (!(largest > 0.0)) return 0;
  if (largest < 2.0 && fabs(sqrt(dot(v, v, n)) - 1.0) <= EXACT_BITS) return 1;
  for (int32_t i = 0; i < n; i++) v[i] /= largest; /* then its length neither overflows nor vanishes */
  const double length = sqrt(dot(v, v, n));
  for (int32_t i = 0; i < n; i++) v[i] /= length;
  return 1;
}

static double determinant(const double r[9]) {
  double c[3];
  cross(r + 3, r + 6, c);
  return dot(r, c, 3);
}

/* How far the columns are from orthonormal. */
static double deviation(const double r[9]) {
  double largest = 0.0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++)
      largest = fmax(largest, fabs(r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j] - (i == j)));
  return largest;
}

int lw_make_rotation(double r[9]) {
  static const double parallel[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  if (dot(r, r, 9) == 0.0) memcpy(r, parallel, sizeof parallel);
  if (!(deviation(r) <= TYPED) || determinant(r) < 0.0) return 0;
  for (int k = 0; k < 4 && deviation(r) > EXACT_BITS; k++) { /* Newton's iteration to the nearest rotation */
    double inverse_transpose[9];
    for (int i = 0; i < 3; i++) cross(r + 3 * ((i + 1) % 3), r + 3 * ((i + 2) % 3), inverse_transpose + 3 * i);
    const double size = determinant(r);
    for (int i = 0; i < 9; i++) r[i] = 0.5 * (r[i] + inverse_transpose[i] / size);
  }
  return deviation(r) <= EXACT_BITS;
}

const char *lw_make_axes(int32_t type, double axes[6]) {
  const int32_t axes_of_type = lw_joint_sizes[type].axes,
                count = axes_of_type == LW_AXES_Z_X ? 2 : axes_of_type != LW_NO_AXES;
  for (int32_t i = 0; i < count; i++)
    if (!lw_make_unit(axes + 3 * i, 3)) return "an axis is zero; give a vector along it, such as (0, 0, 1)";
  if (count < 2) return NULL;
  const double cosine = dot(axes, axes + 3, 3);
  if (fabs(cosine) > PERPENDICULAR)
    return "its two axes must be perpendicular where its coordinates are zero; correct one of them, or put the other "
           "angle "
           "into the child's frame";
  if (fabs(cosine) <= EXACT_BITS) return NULL;
  for (int i = 0; i < 3; i++) axes[3 + i] -= cosine * axes[i];
  lw_make_unit(axes + 3, 3);
  return NULL;
}

/* The shortest rotation whose third column is a unit vector. */
static void rotation_from_z(const double axis[3], double r[9]) {
  static const double half_turn[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
  const double x = axis[0], y = axis[1], z = axis[2];
  if (z < -0.5) { /* turned half about x first, to stay away from the opposite direction */
    const double mirrored[3] = {x, -y, -z};
    double turned[9];
    rotation_from_z(mirrored, turned);
    lw_multiply(half_turn, turned, r);
    return;
  }
  const double f = 1.0 / (1.0 + z);
  const double turned[9] = {1 - f * x * x, -f * x * y, x, -f * x * y, 1 - f * y * y, y, -x, -y, z};
  memcpy(r, turned, sizeof turned);
}

static void from_columns(const double x[3], const double y[3], const double z[3], double r[9]) {
  for (int i = 0; i < 3; i++) r[3 * i] = x[i], r[3 * i + 1] = y[i], r[3 * i + 2] = z[i];
}

void lw_canonical_axes(int32_t type, double axes[6], double frame[9]) {
  static const double parallel[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *z = axes;
  double x[3], y[3];
  switch ((lw_joint_axes)lw_joint_sizes[type].axes) {
    case LW_AXES_Z_X:
      cross(z, axes + 3, y);
      from_columns(axes + 3, y, z, frame);
      return;
    case LW_NORMAL: { /* x: the joint frame's projected on the plane, or its y where the normal is near x */
      const int nearest = fabs(z[0]) > 0.9;
      for (int i = 0; i < 3; i++) x[i] = (i == nearest) - z[nearest] * z[i];
      lw_make_unit(x, 3);
      cross(z, x, y);
      from_columns(x, y, z, frame);
      return;
    }
    case LW_AXIS: rotation_from_z(z, frame); return;
    case LW_NO_AXES: memcpy(frame, parallel, sizeof parallel);
  }
}

void lw_quaternion_of(const double r[9], double q[4]) {
  const double square[4] = {1.0 + (r[0] + r[4] + r[8]), 1.0 + (r[0] - r[4] - r[8]), 1.0 + (r[4] - r[0] - r[8]),
                            1.0 + (r[8] - r[0] - r[4])};
  int largest = 0;
  for (int i = 1; i < 4; i++)
    if (square[i] > square[largest]) largest = i;
  const double product[4][4] = {{square[0], r[7] - r[5], r[2] - r[6], r[3] - r[1]},
                                {r[7] - r[5], square[1], r[1] + r[3], r[2] + r[6]},
                                {r[2] - r[6], r[1] + r[3], square[2], r[5] + r[7]},
                                {r[3] - r[1], r[2] + r[6], r[5] + r[7], square[3]}};
  const double *p = product[largest], norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
  for (int i = 0; i < 4; i++) q[i] = p[i] / norm;
  if (q[0] < 0.0)
    for (int i = 0; i < 4; i++) q[i] = -q[i];
}

/* Principal moments, ascending, by Jacobi's rotations. */
static void principal_moments(const double inertia[9], double moment[3]) {
  double a[3][3];
  memcpy(a, inertia, sizeof a);
  for (int sweep = 0; sweep < 12; sweep++)
    for (int k = 0; k < 3; k++) {
      const int p = k == 2 ? 1 : 0, q = k == 0 ? 1 : 2;
      if (a[p][q] == 0.0) continue;
      const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
      const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
      const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
      for (int i = 0; i < 3; i++) {
        const double ip = a[i][p], iq = a[i][q];
        a[i][p] = c * ip - s * iq, a[i][q] = s * ip + c * iq;
      }
      for (int i = 0; i < 3; i++) {
        const double pi = a[p][i], qi = a[q][i];
        a[p][i] = c * pi - s * qi, a[q][i] = s * pi + c * qi;
      }
    }
  const double x = a[0][0], y = a[1][1], z = a[2][2];
  moment[0] = fmin(x, fmin(y, z)), moment[2] = fmax(x, fmax(y, z));
  moment[1] = fmax(fmin(x, y), fmin(fmax(x, y), z));
}

const char *lw_make_inertia(double inertia[9]) {
  double scale = 0.0, moment[3];
  for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(inertia[i]));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) {
      double *below = &inertia[3 * i + j], *above = &inertia[3 * j + i];
      if (fabs(*below - *above) > INERTIA_TOLERANCE * scale) return "inertia must be a symmetric 3 x 3 matrix";
      if (*below != *above) *below = *above = 0.5 * *below + 0.5 * *above;
    }
  principal_moments(inertia, moment);
  if (moment[0] < -INERTIA_TOLERANCE * scale)
    return "inertia has a negative principal moment; check the signs of its products";
  if (moment[2] > moment[0] + moment[1] + INERTIA_TOLERANCE * scale)
    return "inertia violates the triangle inequality: the largest principal moment exceeds the sum of the other two; "
           "give it about the centre of mass, in body axes, and check its units";
  return NULL;
}
