/* Orthonormal bases by Gram-Schmidt (twice, which is enough); vectors are columns. */
#ifndef LW_MATH_ORTHONORMAL_KERNEL_H
#define LW_MATH_ORTHONORMAL_KERNEL_H
#include "math/scalar.h"
#include <math.h>

INLINE real dot_rows(const real *a, const real *b, int32_t rows) {
  real s = 0.0;
  for (int32_t j = 0; j < rows; j++) s += a[j] * b[j];
  return s;
}

#if LW_ARITHMETIC == LW_DOUBLE
/* Subtracts from a[size] its part along the basis [count][size]; returns the size of the rest, across it. */
static double leave_across(const double *basis, int32_t count, int32_t size, double *a) {
  for (int pass = 0; pass < 2; pass++)
    for (int32_t k = 0; k < count; k++) {
      const double *one = basis + size * k, along = dot_rows(one, a, size);
      for (int32_t j = 0; j < size; j++) a[j] -= along * one[j];
    }
  return sqrt(dot_rows(a, a, size));
}

/* Vectors [rank][size] that span the columns [n][size], which are used up, but for those that are smaller than the
 * tolerance times the largest. */
static int32_t orthonormalise(double *column, int32_t size, int32_t n, double tolerance, double *basis) {
  double largest = 0.0;
  int32_t rank = 0;
  for (; rank < size && rank < n; rank++) {
    double *one = basis + size * rank, length = -1.0;
    int32_t best = 0;
    for (int32_t k = 0; k < n; k++) {
      const double length2 = dot_rows(column + size * k, column + size * k, size);
      if (length2 > length) length = length2, best = k;
    }
    length = sqrt(length);
    largest = fmax(largest, length);
    if (!(length > tolerance * fmax(largest, 1.0))) break;
    for (int32_t i = 0; i < size; i++) one[i] = column[size * best + i] / length;
    for (int32_t k = 0; k < n; k++) leave_across(one, 1, size, column + size * k);
  }
  return rank;
}
#endif
#endif
