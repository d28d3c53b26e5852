/* Small dense linear systems; matrices row by row. */
#ifndef LINKWORK_LU_H
#define LINKWORK_LU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decomposes the n x n matrix in place and writes order[n] and scale[n]. Returns false if singular or not finite. */
bool lw_lu_decompose(double *matrix, int32_t n, int32_t *order, double *scale);
/* x = A^-1 b with the decomposed matrix; x and b must not overlap. */
void lw_lu_solve(const double *matrix, int32_t n, const int32_t *order, const double *b, double *x);

#endif
