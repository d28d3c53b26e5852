/* The constraints of a mechanism, and its equations with multipliers: see dae/ggl.inc. */
#include "state/state.h"
#include "events/discrete_state.h"
#include <stdlib.h>
#include <string.h>

int32_t lw_constraint_rows(const lw_model *m) {
  int32_t rows = m->couplings;
  for (int32_t l = 0; l < m->size.loops; l++) rows += 6 - m->loop[l].columns;
  return rows;
}

/* Workspace for three vectors of n complex numbers, or for six real ones. */
lw_status lw_newton_workspace(lw_state *s, double **workspace) {
  const size_t rows = (size_t)lw_constraint_rows(s->model);
  const size_t n = (size_t)(s->model->size.nq + s->model->size.nu) + 2 * rows;
  if (!s->newton_workspace) s->newton_workspace = malloc(6 * sizeof(double) * (n + 1));
  *workspace = s->newton_workspace;
  return *workspace ? LW_OK : lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a Newton matrix");
}

static void fill_constraints(lw_state *s, const double *row, double *phi, double *rate, double *column) {
  s->kernels->constraints(s->model, s->block, row, phi, rate, column);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

lw_status lw_constraints(lw_state *s, double *phi, double *rate) {
  const size_t rows = (size_t)lw_constraint_rows(s->model);
  double *workspace;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e || (e = lw_newton_workspace(s, &workspace))) return e;
  memset(workspace, 0, rows * sizeof *workspace);
  fill_constraints(s, workspace, phi, rate, workspace + rows);
  return LW_OK;
}

lw_status lw_constraint_jacobian(lw_state *s, double *matrix) {
  const size_t rows = (size_t)lw_constraint_rows(s->model), nu = (size_t)s->model->size.nu;
  double *unit;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e || (e = lw_newton_workspace(s, &unit))) return e;
  memset(unit, 0, rows * sizeof *unit);
  for (size_t k = 0; k < rows; k++) {
    unit[k] = 1.0;
    fill_constraints(s, unit, unit + rows, unit + 2 * rows, matrix + k * nu);
    unit[k] = 0.0;
  }
  return LW_OK;
}

static lw_status enter_time(lw_state *s, double t) {
  const lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  lw_reals(s)[s->model->at.time] = t;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return e;
}

lw_status lw_dae_residual(lw_state *s, double t, const double *y, const double *ydot, const double *relaxation,
                          double *residual) {
  const lw_status e = enter_time(s, t);
  if (e) return e;
  s->kernels->augmented(s->model, s->block, &(lw_dae_point){y, ydot, relaxation}, residual);
  return LW_OK;
}

/* ---- Newton matrix ---- */

typedef struct newton {
  const lw_model *m;
  int32_t nq, nu, rows, n;
  const double *relaxation;
  double cj, *matrix;
  double *y, *ydot, *residual; /* complex: real and imaginary parts interleaved */
} newton;

static double *entry(const newton *w, int32_t row, int32_t column) {
  return w->matrix + (size_t)row * (size_t)w->n + (size_t)column;
}

/* Columns of the coordinates and speeds. */
static void differentiate_states(lw_state *s, const newton *w) {
  for (int32_t k = 0; k < w->nq + w->nu; k++) {
    w->y[2 * k + 1] = LW_COMPLEX_STEP, w->ydot[2 * k + 1] = LW_COMPLEX_STEP * w->cj;
    lw_kernels_complex.augmented(w->m, s->complex_block, &(lw_dae_point){w->y, w->ydot, w->relaxation}, w->residual);
    for (int32_t i = 0; i < w->n; i++) *entry(w, i, k) = w->residual[2 * i + 1] / LW_COMPLEX_STEP;
    w->y[2 * k + 1] = w->ydot[2 * k + 1] = 0.0;
  }
}

/* d residual / dLambda' = [0; -J'; 0; s] and d residual / dMu' = [N J'; 0; -s; 0]: the columns of the speeds hold J in
 * the last rows and -N in the first. */
static void fill_multipliers(const newton *w) {
  const int32_t speeds = w->nq, lambda = w->nq + w->nu, mu = lambda + w->rows;
  for (int32_t i = 0; i < w->n; i++) memset(entry(w, i, lambda), 0, 2 * sizeof(double) * (size_t)w->rows);
  for (int32_t k = 0; k < w->rows; k++) {
    const double *J = entry(w, mu + k, speeds);
    for (int32_t u = 0; u < w->nu; u++) *entry(w, speeds + u, lambda + k) = -w->cj * J[u];
    for (int32_t i = 0; i < w->m->size.bodies; i++) {
      const lw_link *link = &w->m->link[i];
      for (int32_t q = link->q; q < link->q + lw_joint_sizes[link->type].q; q++)
        for (int32_t u = link->u; u < link->u + link->speeds; u++)
          *entry(w, q, mu + k) -= w->cj * *entry(w, q, speeds + u) * J[u];
    }
    *entry(w, lambda + k, mu + k) = -w->cj * w->relaxation[w->rows + k];
    *entry(w, mu + k, lambda + k) = w->cj * w->relaxation[k];
  }
}

lw_status lw_dae_jacobian(lw_state *s, double t, const double *y, const double *ydot, const double *relaxation,
                          double cj, double *matrix) {
  const lw_model *m = s->model;
  const int32_t rows = lw_constraint_rows(m), n = m->size.nq + m->size.nu + 2 * rows;
  double *workspace;
  lw_status e = enter_time(s, t);
  if (e || (e = lw_newton_workspace(s, &workspace)) || (e = lw_prepare_complex(s))) return e;
  newton w = {.m = m, .nq = m->size.nq, .nu = m->size.nu, .rows = rows, .n = n, .relaxation = relaxation, .cj = cj};
  w.matrix = matrix, w.y = workspace, w.ydot = workspace + 2 * n, w.residual = workspace + 4 * n;
  for (int32_t i = 0; i < n; i++) {
    w.y[2 * i] = y[i], w.ydot[2 * i] = ydot[i];
    w.y[2 * i + 1] = w.ydot[2 * i + 1] = 0.0;
  }
  differentiate_states(s, &w);
  fill_multipliers(&w);
  return LW_OK;
}
