/* Small square systems A x = b by elimination, rows by partial pivoting. */
#ifndef LW_MATH_SQUARE_SYSTEM_KERNEL_H
#define LW_MATH_SQUARE_SYSTEM_KERNEL_H
#include "math/scalar.h"

/* A is used up, and x replaces b. */
static void solve_square(int32_t n, real *A, real *b) {
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(re(A[i * n + k])) > fabs(re(A[pivot * n + k]))) pivot = i;
    for (int32_t j = k; pivot != k && j <= n; j++) {
      real *upper = j < n ? A + k * n + j : b + k, *lower = j < n ? A + pivot * n + j : b + pivot;
      const real kept = *upper;
      *upper = *lower, *lower = kept;
    }
    for (int32_t i = k + 1; i < n; i++) {
      const real f = A[i * n + k] / A[k * n + k];
      for (int32_t j = k + 1; j < n; j++) A[i * n + j] -= f * A[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    for (int32_t j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];
    b[k] = b[k] / A[k * n + k];
  }
}
#endif
