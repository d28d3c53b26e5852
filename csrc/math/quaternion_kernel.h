/* Unit quaternions [w, x, y, z]. */
#ifndef LW_MATH_QUATERNION_KERNEL_H
#define LW_MATH_QUATERNION_KERNEL_H
#include "math/scalar.h"

/* out = a + 2 q x (w a + q x a), with q the vector part. */
INLINE void rotate_by_quaternion(const real Q[4], const real a[3], real out[3]) {
  real t[3];
  for (int k = 0; k < 3; k++) t[k] = 2.0 * (Q[1 + (k + 1) % 3] * a[(k + 2) % 3] - Q[1 + (k + 2) % 3] * a[(k + 1) % 3]);
  for (int k = 0; k < 3; k++)
    out[k] = a[k] + Q[0] * t[k] + Q[1 + (k + 1) % 3] * t[(k + 2) % 3] - Q[1 + (k + 2) % 3] * t[(k + 1) % 3];
}
#endif
