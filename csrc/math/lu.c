/* LU decomposition with scaled partial pivoting: a pivot is compared with the largest element of its original row,
 * because rows of different states have different units. Only order[] is permuted: row i of L and U is row order[i] of
 * the matrix. */
#include "math/lu.h"
#include "math/lu_solve_template.h"
#include <float.h>
#include <math.h>

/* A row with a NaN returns NaN. */
static double largest_of(const double *row, int32_t n) {
  double largest = 0.0;
  for (int32_t j = 0; j < n; j++) {
    if (isnan(row[j])) return row[j];
    largest = fmax(largest, fabs(row[j]));
  }
  return largest;
}

static double *row_of(double *matrix, int32_t n, int32_t row) { return matrix + (size_t)row * (size_t)n; }

/* Position in `order`, from `step` on, of the best pivot; *size is its scaled size. */
static int32_t best_of(double *matrix, int32_t n, const int32_t *order, const double *scale, int32_t step,
                       double *size) {
  int32_t best = step;
  *size = -1.0;
  for (int32_t i = step; i < n; i++) {
    const double own = fabs(row_of(matrix, n, order[i])[step]) / scale[order[i]];
    if (own > *size) *size = own, best = i;
  }
  return best;
}

static void subtract_row(double *row, const double *pivot_row, int32_t step, int32_t n) {
  if (row[step] == 0.0) return; /* common: the Jacobian is sparse */
  const double factor = row[step] / pivot_row[step];
  row[step] = factor;
  for (int32_t j = step + 1; j < n; j++) row[j] -= factor * pivot_row[j];
}

lw_status lw_lu_decompose(double *matrix, int32_t n, double tolerance, int32_t *order, double *scale) {
  for (int32_t i = 0; i < n; i++) {
    order[i] = i;
    scale[i] = largest_of(row_of(matrix, n, i), n);
    if (!isfinite(scale[i])) return LW_ERROR_VALUE;
  }
  for (int32_t step = 0; step < n; step++) {
    double size;
    const int32_t best = best_of(matrix, n, order, scale, step, &size), row = order[best];
    if (!(size > tolerance && size <= DBL_MAX)) return LW_ERROR_SINGULAR;
    order[best] = order[step];
    order[step] = row;
    const double *pivot_row = row_of(matrix, n, row);
    for (int32_t i = step + 1; i < n; i++) subtract_row(row_of(matrix, n, order[i]), pivot_row, step, n);
  }
  return LW_OK;
}

void lw_lu_solve(const double *matrix, int32_t n, const int32_t *order, const double *b, double *x) {
  lu_solve(matrix, n, order, 1, b, x);
}
