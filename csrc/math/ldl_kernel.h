/* Symmetric definite systems by L D L', without pivots: for matrices of the order of a cluster's degrees of freedom, of
 * which only the lower triangle is read. */
#ifndef LW_MATH_LDL_KERNEL_H
#define LW_MATH_LDL_KERNEL_H
#include "math/scalar.h"
#include "math/simd_kernel.h"

/* row -= own D column, by elements. */
INLINE void subtract_column(int32_t n, real own, real D, const real *column, real *row) {
  const int32_t whole = n / 4 * 4;
  for (int32_t j = 0; j < whole; j += 4) {
    four *at = (four *)(row + j);
    *at = minus4(*at, times4(D, times4(own, *(const four *)(column + j))));
  }
  for (int32_t j = whole; j < n; j++) row[j] -= own * column[j] * D;
}

/* In place: unit lower triangle and diagonal. Each column is subtracted from all that follow; the upper triangle receives
 * it as a row, so that the elements of a row are computed in SIMD lanes. */
static void ldl_factor(real *A, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    const real D = A[k * n + k], inverse = 1.0 / D;
    for (int32_t i = k + 1; i < n; i++) A[k * n + i] = A[i * n + k] *= inverse;
    for (int32_t i = k + 1; i < n; i++) subtract_column(i - k, A[i * n + k], D, A + k * n + k + 1, A + i * n + k + 1);
  }
}

static void ldl_solve(const real *A, int32_t n, real *b) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < i; k++) b[i] -= A[i * n + k] * b[k];
  for (int32_t i = 0; i < n; i++) b[i] /= A[i * n + i];
  for (int32_t i = n - 1; i >= 0; i--)
    for (int32_t k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
}
#endif
