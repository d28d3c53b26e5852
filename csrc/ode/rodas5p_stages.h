/* The stages of rodas5p.c, of one state and of the rows of a batch: matrix and right-hand sides. */
#ifndef LINKWORK_RODAS5P_STAGES_H
#define LINKWORK_RODAS5P_STAGES_H
#include "math/lu.h"
#include "ode/rodas5p_tableau.h"

/* From the sixth on, the argument of a stage is that of the stage before plus its U, at t + h. */
enum { LW_RODAS5P_LAST_ROW = 5 };

/* Decomposes the matrix of the stages for step size h. Status of lw_lu_decompose. */
static inline lw_status lw_rodas5p_decompose(int32_t n, double h, const double *jacobian, double *lu, int32_t *order,
                                             double *scale) {
  const size_t size = (size_t)n;
  for (size_t i = 0; i < size * size; i++) lu[i] = -jacobian[i];
  for (size_t i = 0; i < size; i++) lu[i * size + i] += 1.0 / (h * GAMMA);
  return lw_lu_decompose(lu, n, 0.0, order, scale);
}

/* Argument of f in stage s, into y_new, which has that of the stage before; y_1 for s = LW_RODAS5P_STAGES. */
static inline void lw_rodas5p_argument(int32_t n, int s, const double *y, const double *const *u, double *y_new) {
  if (s > LW_RODAS5P_LAST_ROW) {
    for (int32_t i = 0; i < n; i++) y_new[i] += u[s - 1][i];
    return;
  }
  for (int32_t i = 0; i < n; i++) {
    double change = 0.0;
    for (int j = 0; j < s; j++) change += A[s][j] * u[j][i];
    y_new[i] = y[i] + change;
  }
}

/* Right-hand side of stage s from f at its argument. */
static inline void lw_rodas5p_rhs(int32_t n, int s, double h, const double *f, const double *const *u,
                                  const double *by_time, double *rhs) {
  for (int32_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int j = 0; j < s; j++) sum += C[s][j] * u[j][i];
    rhs[i] = f[i] + sum / h + GAMMAS[s] * h * by_time[i];
  }
}

#endif
