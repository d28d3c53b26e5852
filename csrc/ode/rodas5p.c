/* Rodas5P, a Rosenbrock-Wanner method of order 5(4) for stiff equations: L-stable, stiffly accurate, dense output of
 * order 4. With J = df/dy and f_t = df/dt at (t_0, y_0), exact in the stiff part:
 *
 *   (I / (h gamma) - J) U_i = f(t_0 + alpha_i h, y_0 + sum_j a_ij U_j) + sum_j c_ij U_j / h + gamma_i h f_t,
 *   y_1 = y_0 + sum_i m_i U_i,   error e = U_8
 *   dense: y(t_0 + x h) = y_0 + sum_i w_i(x) U_i
 *
 * A step costs one decomposition and no iteration. A repeated step reuses J and f_t. */
#include <string.h>

#include "ode/rodas5p_stages.h"
#include "math/tolerances.h"

enum { F_STAGE = LW_RODAS5P_STAGES, RECOVERABLE = 1 };

/* ---- the matrix ------------------------------------------------------------------------------------ */

/* Computes J and f_t at (t, y). If the Jacobian function leaves f_t unchanged, f_t comes from finite differences. */
static int differentiate(lw_ode *ode) {
  lw_ode_implicit *m = &ode->implicit;
  double *change = ode->k[0];
  int status;
  if (m->jacobian != NULL) {
    for (int32_t i = 0; i < ode->n; i++) m->by_time[i] = NAN;
    ode->statistics.jacobian_evaluations++;
    status = m->jacobian(ode->context, ode->t, ode->y, m->matrix, m->by_time);
    if (status == 0 && ode->n > 0 && isnan(m->by_time[0])) status = lw_ode_difference_time(ode, m->by_time, change);
  } else {
    ode->statistics.jacobian_evaluations++;
    status = lw_ode_difference_jacobian(ode, m->matrix, change);
    if (status == 0) status = lw_ode_difference_time(ode, m->by_time, change);
  }
  m->jacobian_current = status == 0;
  return status;
}

/* Decomposes the matrix of the stages for step size h. */
static int prepare(lw_ode *ode) {
  lw_ode_implicit *m = &ode->implicit;
  const int status = m->jacobian_current ? 0 : differentiate(ode);
  if (status != 0) return status;
  return lw_rodas5p_decompose(ode->n, ode->h, m->matrix, m->lu, m->order, m->scale) ? RECOVERABLE : 0;
}

/* ---- stages ---------------------------------------------------------------------------------------- */

/* U_1 to U_8, with f(t, y) behind them. */
static const double *const *stages_of(const lw_ode *ode) { return (const double *const *)ode->k; }

/* Solves for U_s; f is in its place. */
static void solve_stage(lw_ode *ode, int s) {
  const lw_ode_implicit *m = &ode->implicit;
  const double *f = s == 0 ? ode->k[F_STAGE] : ode->k[s];
  double *rhs = ode->y_sample;
  lw_rodas5p_rhs(ode->n, s, ode->h, f, stages_of(ode), m->by_time, rhs);
  lw_lu_solve(m->lu, ode->n, m->order, rhs, ode->k[s]);
}

static int run_stages(lw_ode *ode, double t_new) {
  int status = prepare(ode);
  if (status != 0) return status;
  solve_stage(ode, 0);
  for (int s = 1; s < LW_RODAS5P_STAGES; s++) {
    lw_rodas5p_argument(ode->n, s, ode->y, stages_of(ode), ode->y_new);
    const double t = ALPHA[s] == 1.0 ? t_new : ode->t + ALPHA[s] * ode->h;
    status = lw_ode_derivative(ode, t, ode->y_new, ode->k[s]);
    if (status != 0) return status;
    solve_stage(ode, s);
  }
  lw_rodas5p_argument(ode->n, LW_RODAS5P_STAGES, ode->y, stages_of(ode), ode->y_new);
  return 0;
}

static double error_norm(const lw_ode *ode) {
  double sum = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    const double ratio = lw_ode_error_ratio(ode, i, ode->k[LW_RODAS5P_STAGES - 1][i]);
    sum += ratio * ratio;
  }
  return ode->n > 0 ? sqrt(sum / ode->n) : 0.0;
}

/* ---- dense output ---------------------------------------------------------------------------------- */

/* w_i(x) = x (m_i + (1 - x) (d_1i + x (d_2i + x d_3i))) */
static void dense_weights(double x, double w[LW_RODAS5P_STAGES]) {
  for (int i = 0; i < LW_RODAS5P_STAGES; i++) {
    const double m = i < LW_RODAS5P_LAST_ROW ? A[LW_RODAS5P_LAST_ROW][i] : 1.0;
    w[i] = x * (m + (1.0 - x) * (DENSE[0][i] + x * (DENSE[1][i] + x * DENSE[2][i])));
  }
}

static void dense(const lw_ode *ode, double x, double *y) {
  double w[LW_RODAS5P_STAGES];
  dense_weights(x, w);
  for (int32_t i = 0; i < ode->n; i++) {
    double change = 0.0;
    for (int s = 0; s < LW_RODAS5P_STAGES; s++) change += w[s] * ode->k[s][i];
    y[i] = ode->y_old[i] + change;
  }
}

/* The line from y_0 to y_1, and x^k (1 - x) times the sums of d_k U, which is largest at x = k / (k + 1). */
static void range(const lw_ode *ode, double *low, double *high) {
  static const double largest[] = {1.0 / 4, 4.0 / 27, 27.0 / 256};
  for (int32_t i = 0; i < ode->n; i++) {
    double off = 0.0;
    for (int k = 0; k < 3; k++) {
      double sum = 0.0;
      for (int s = 0; s < LW_RODAS5P_STAGES; s++) sum += DENSE[k][s] * ode->k[s][i];
      off += fabs(sum) * largest[k];
    }
    low[i] = fmin(ode->y_old[i], ode->y[i]) - off;
    high[i] = fmax(ode->y_old[i], ode->y[i]) + off;
  }
}

static double stability_ratio(lw_ode *ode) { return fabs(ode->h) * lw_ode_spectral_radius(ode) / LW_DOPRI5_STABLE; }

const lw_ode_operations lw_rodas5p = {
    .method = LW_ODE_RODAS5P,
    .vectors = LW_RODAS5P_VECTORS,
    .f_stage = F_STAGE,
    .first_same_as_last = false,
    .implicit = true,
    .order = 5,
    .error_exponent = 0.17,
    .memory_exponent = 0.04,
    .row_intervals = 1,
    .run_stages = run_stages,
    .error_norm = error_norm,
    .dense = dense,
    .range = range,
    .stability_ratio = stability_ratio,
};
