/* Least squares by Householder's reflections with column pivoting: min |A x - b| for A of full column rank. */
#ifndef LW_LEAST_SQUARES_H
#define LW_LEAST_SQUARES_H
#include <stdint.h>

typedef struct lw_least_squares {
  int32_t rows, columns;
  double *a;        /* column by column: A, then reflections and R above the diagonal */
  double *diagonal; /* of R, the largest first */
  int32_t *order;   /* of the columns */
} lw_least_squares;

/* Factors A in place. Returns the last pivot relative to the first, 0 if A is rank-deficient; 1 if it has no columns. */
double lw_factor_columns(const lw_least_squares *f);
/* x [columns] from b [rows], which is overwritten: behind its first `columns` numbers stands the
 * residual that no x removes. */
void lw_solve_columns(const lw_least_squares *f, double *b, double *x);
#endif
