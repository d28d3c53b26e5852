/* Dense square linear systems by LU decomposition with scaled row pivoting; matrices row by row. */
#ifndef LW_MATH_LU_H
#define LW_MATH_LU_H
#include "linkwork.h"

/* Decomposes the n x n matrix in place and writes order[n] and scale[n]. LW_ERROR_VALUE: not finite; LW_ERROR_SINGULAR:
 * no pivot is larger than `tolerance` times the largest element of its original row. */
lw_status lw_lu_decompose(double *matrix, int32_t n, double tolerance, int32_t *order, double *scale);
/* x = A^-1 b with the decomposed matrix; x and b must not overlap. */
void lw_lu_solve(const double *matrix, int32_t n, const int32_t *order, const double *b, double *x);
#endif
