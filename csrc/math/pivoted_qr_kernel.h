/* A P = Q R by Householder's reflections with column pivoting, the largest remaining column first: which columns are
 * independent, the least squares min |A x - b|, and the x of least norm with A'x = b. In complex arithmetic nothing is
 * conjugated, so that all is analytic and imaginary parts are derivatives. */
#ifndef LW_MATH_PIVOTED_QR_KERNEL_H
#define LW_MATH_PIVOTED_QR_KERNEL_H
#include "math/scalar.h"

typedef struct pivoted_qr {
  int32_t rows, columns, rank;
  real *a;        /* column by column: A, then reflections and R above the diagonal */
  real *diagonal; /* of R, the largest first */
  int32_t *order; /* of the columns: the first `rank` are independent, and the others depend on them */
} pivoted_qr;

INLINE real *qr_column(const pivoted_qr *f, int32_t k) { return f->a + (int64_t)f->order[k] * f->rows; }

/* From row `first` on. */
INLINE real qr_dot(const real *a, const real *b, int32_t first, int32_t rows) {
  real sum = 0.0;
  for (int32_t i = first; i < rows; i++) sum += a[i] * b[i];
  return sum;
}

/* Brings the column that is largest below row k to place k; returns its size squared there. */
INLINE real qr_choose_pivot(const pivoted_qr *f, int32_t k) {
  int32_t best = k;
  real best2 = -1.0;
  for (int32_t j = k; j < f->columns; j++) {
    const real size2 = qr_dot(qr_column(f, j), qr_column(f, j), k, f->rows);
    if (re(size2) > re(best2)) best = j, best2 = size2;
  }
  const int32_t chosen = f->order[best];
  f->order[best] = f->order[k], f->order[k] = chosen;
  return best2;
}

/* b -= 2 v v'b / v'v from row k on, with v'v / 2 = -diagonal v_k */
INLINE void qr_reflect(const pivoted_qr *f, int32_t k, real *b) {
  const real *v = qr_column(f, k), by = qr_dot(v, b, k, f->rows) / (f->diagonal[k] * v[k]);
  for (int32_t i = k; i < f->rows; i++) b[i] += by * v[i];
}

/* Factors A in place, up to pivots of `tolerance` times the largest one or 1, whichever is larger. */
INLINE void qr_factor(pivoted_qr *f, double tolerance) {
  double largest = 1.0;
  for (int32_t k = 0; k < f->columns; k++) f->order[k] = k;
  for (f->rank = 0; f->rank < f->columns && f->rank < f->rows; f->rank++) {
    const int32_t k = f->rank;
    const real size = root(qr_choose_pivot(f, k));
    largest = re(size) > largest ? re(size) : largest;
    if (!(re(size) > tolerance * largest)) return;
    real *v = qr_column(f, k);
    f->diagonal[k] = re(v[k]) > 0.0 ? -size : size;
    v[k] -= f->diagonal[k];
    for (int32_t j = k + 1; j < f->columns; j++) qr_reflect(f, k, qr_column(f, j));
  }
}

/* The last pivot relative to the first; 0: the columns are dependent; 1: there are none. */
INLINE double qr_pivot_ratio(const pivoted_qr *f) {
  if (f->rank < f->columns) return 0.0;
  return f->columns ? fabs(re(f->diagonal[f->columns - 1]) / re(f->diagonal[0])) : 1.0;
}

/* x [columns] from b [rows], which is overwritten, for independent columns. */
INLINE void qr_least_squares(const pivoted_qr *f, real *b, real *x) {
  for (int32_t k = 0; k < f->rank; k++) qr_reflect(f, k, b);
  for (int32_t k = f->rank - 1; k >= 0; k--) {
    real rest = b[k];
    for (int32_t j = k + 1; j < f->rank; j++) rest -= qr_column(f, j)[k] * x[f->order[j]];
    x[f->order[k]] = rest / f->diagonal[k];
  }
}

/* x [rows] from b [columns], whose entries of dependent columns become what x leaves of them. */
INLINE void qr_least_norm(const pivoted_qr *f, real *b, real *x) {
  for (int32_t k = 0; k < f->columns; k++) {
    real *rest = b + f->order[k];
    for (int32_t j = 0; j < k && j < f->rank; j++) *rest -= qr_column(f, k)[j] * x[j];
    if (k < f->rank) x[k] = *rest / f->diagonal[k];
  }
  for (int32_t i = f->rank; i < f->rows; i++) x[i] = 0.0;
  for (int32_t k = f->rank - 1; k >= 0; k--) qr_reflect(f, k, x);
}
#endif
