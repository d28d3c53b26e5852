/* The constraints of a mechanism, and its equations with multipliers: see dae/ggl_kernel.h. */
#include "dae/constraints.h"
#include "block/discrete_state.h"
#include "math/pivoted_qr_kernel.h"
#include "math/tolerances.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int32_t lw_constraint_rows(const lw_model *m) {
  int32_t rows = m->couplings;
  for (int32_t l = 0; l < m->size.loops; l++) rows += 6 - m->loop[l].columns;
  return rows;
}

lw_status lw_open_constraint_workspace(lw_state *s, lw_constraint_workspace **workspace) {
  const size_t rows = (size_t)lw_constraint_rows(s->model), nu = (size_t)s->model->size.nu;
  const size_t n = (size_t)s->model->size.nq + nu + 2 * rows, doubles = 6 * n + 8 * rows + 2 * nu;
  lw_constraint_workspace *w = *workspace = s->constraint_workspace;
  if (w) return LW_OK;
  w = malloc(sizeof *w + sizeof(double) * doubles + sizeof(int32_t) * rows);
  if (!w) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a Newton matrix");
  double **const vector[] = {&w->y,    &w->ydot,   &w->residual, &w->row,     &w->phi,
                             &w->rate, &w->column, &w->length,   &w->diagonal};
  const size_t size[] = {2 * n, 2 * n, 2 * n, 2 * rows, 2 * rows, 2 * rows, 2 * nu, rows, rows};
  double *next = (double *)(w + 1);
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) *vector[i] = next, next += size[i];
  w->order = (int32_t *)next;
  w->pattern = NULL;
  *workspace = s->constraint_workspace = w;
  return LW_OK;
}

void lw_free_constraint_workspace(lw_state *s) {
  if (s->constraint_workspace) lw_free_constraint_pattern(s->constraint_workspace->pattern);
  free(s->constraint_workspace);
}

lw_status lw_open_constraint_pattern(lw_state *s, const lw_constraint_pattern **pattern) {
  lw_constraint_workspace *w;
  const lw_status e = lw_open_constraint_workspace(s, &w);
  if (e) return e;
  if (!w->pattern || w->topologies != s->topologies) {
    lw_free_constraint_pattern(w->pattern);
    w->pattern = lw_make_constraint_pattern(s->model);
    if (!w->pattern) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for the Jacobian of the constraints");
    w->topologies = s->topologies;
  }
  *pattern = w->pattern;
  return LW_OK;
}

double lw_cluster_length(const lw_state *s, int32_t cluster) {
  const lw_model *m = s->model;
  if (cluster < 0) return 1.0;
  const lw_cluster *c = &m->cluster[cluster];
  if (c->loops)
    return ((const lw_double_cut_constants *)(lw_reals(s) + m->at.cut_constants))[m->member[c->member]].length;
  if (c->distances == 0) return 1.0;
  const int32_t last = m->member_coupling[c->member_coupling + c->couplings - 1];
  return lw_reals(s)[m->at.distance_metric + m->coupling[last].distance];
}

double lw_speed_unit(const lw_state *s, const lw_link *link, int32_t c) {
  if (link->cluster < 0) return 1.0;
  const double metric = lw_reals(s)[s->model->at.speed_metric + link->u + c];
  return lw_joint_sizes[link->type].translations >> c & 1 ? metric / lw_cluster_length(s, link->cluster) : metric;
}

void lw_constraint_lengths(const lw_state *s, double open, double *length) {
  const lw_model *m = s->model;
  for (int32_t i = 0; i < m->size.loops + m->couplings; i++) {
    const lw_loop *loop = i < m->size.loops ? &m->loop[i] : NULL;
    const int32_t cluster = loop ? loop->cluster : m->coupling[i - m->size.loops].cluster;
    for (int32_t k = loop ? loop->columns : 5; k < 6; k++)
      *length++ = cluster < 0 ? open : lw_cluster_length(s, cluster);
  }
}

static void fill_constraints(lw_state *s, const double *row, double *phi, double *rate, double *column) {
  s->kernels->constraints(s->model, s->block, row, phi, rate, column, NULL);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

static lw_status begin_constraints(lw_state *s, lw_constraint_workspace **w) {
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e || (e = lw_open_constraint_workspace(s, w))) return e;
  memset((*w)->row, 0, sizeof(double) * (size_t)lw_constraint_rows(s->model));
  return LW_OK;
}

lw_status lw_constraints(lw_state *s, double *phi, double *rate) {
  if (!s) return LW_ERROR_USAGE;
  lw_constraint_workspace *w;
  const lw_status e = begin_constraints(s, &w);
  if (!e) fill_constraints(s, w->row, phi, rate, w->column);
  return e;
}

lw_status lw_constraint_gradients(lw_state *s, const int32_t *rows, int32_t n, double *matrix) {
  const size_t nu = (size_t)s->model->size.nu;
  lw_constraint_workspace *w;
  const lw_status e = begin_constraints(s, &w);
  if (e) return e;
  for (int32_t i = 0; i < n; i++) {
    w->row[rows[i]] = 1.0;
    fill_constraints(s, w->row, w->phi, w->rate, matrix + (size_t)i * nu);
    w->row[rows[i]] = 0.0;
  }
  return LW_OK;
}

/* The row of a constraint that a product has, or -1. */
static int32_t row_in(const lw_constraint_pattern *p, int32_t constraint, int32_t product) {
  const int32_t row = p->row[constraint] + product - p->product[constraint];
  return product >= p->product[constraint] && row < p->row[constraint + 1] ? row : -1;
}

static void select_rows(const lw_constraint_pattern *p, int32_t product, double value, double *row) {
  for (int32_t i = 0; i < p->constraints; i++) {
    const int32_t own = row_in(p, i, product);
    if (own >= 0) row[own] = value;
  }
}

lw_status lw_constraint_entries(lw_state *s, const lw_constraint_pattern *p, double *entry) {
  lw_constraint_workspace *w;
  const lw_status e = begin_constraints(s, &w);
  if (e) return e;
  for (int32_t product = 0; product < p->products; product++) {
    select_rows(p, product, 1.0, w->row);
    fill_constraints(s, w->row, w->phi, w->rate, w->column);
    select_rows(p, product, 0.0, w->row);
    for (int32_t i = 0; i < p->constraints; i++) {
      const int32_t *speed = p->speed + p->first[i], n = p->first[i + 1] - p->first[i];
      if (row_in(p, i, product) < 0) continue;
      double *to = entry + p->entry[i] + (size_t)(product - p->product[i]) * (size_t)n;
      for (int32_t k = 0; k < n; k++) to[k] = w->column[speed[k]];
    }
  }
  return LW_OK;
}

lw_status lw_constraint_equations(lw_state *s, double *phi, double *matrix) {
  lw_constraint_workspace *w;
  const lw_status e = begin_constraints(s, &w);
  if (e) return e;
  memset(matrix, 0, sizeof(double) * (size_t)lw_constraint_rows(s->model) * (size_t)s->model->size.nu);
  s->kernels->constraints(s->model, s->block, w->row, phi, w->rate, w->column, matrix);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return LW_OK;
}

lw_status lw_constraint_jacobian(lw_state *s, double *matrix) {
  if (!s) return LW_ERROR_USAGE;
  lw_constraint_workspace *w;
  const lw_status e = lw_open_constraint_workspace(s, &w);
  return e ? e : lw_constraint_equations(s, w->phi, matrix);
}

static lw_status enter_time(lw_state *s, double t) {
  lw_forget_frictions(s);
  const lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  lw_reals(s)[s->model->at.time] = t;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return e;
}

/* Rounding of Phi counts as zero: at rest it stays the same, so that Newton's method would never see it decrease. */
static void clear_rounding(const lw_state *s, const double *relaxation, double *length, double *phi) {
  const int32_t rows = lw_constraint_rows(s->model);
  lw_constraint_lengths(s, 0.0, length);
  for (int32_t r = 0; r < rows; r++)
    if (relaxation[rows + r] == 0.0 && fabs(phi[r]) <= ROUNDING_OF_ROWS * length[r]) phi[r] = 0.0;
}

/* Friction by reactions follows from the accelerations of the state: its pressing forces stay for the equations with
 * multipliers, whose own reactions are not unique where constraints are redundant. */
static lw_status find_pressing(lw_state *s, const double *y) {
  const lw_model *m = s->model;
  if (!m->pressed) return LW_OK;
  memcpy(lw_reals(s) + m->at.q, y, sizeof *y * (size_t)m->size.nq);
  memcpy(lw_reals(s) + m->at.u, y + m->size.nq, sizeof *y * (size_t)m->size.nu);
  const int decides = s->before_accelerations && !s->events->deciding;
  if (decides) s->events->deciding = 1;
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  if (decides) s->events->deciding = 0;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return e;
}

/* The same, and what its derivatives need. */
static lw_status prepare_complex(lw_state *s, const double *y) {
  lw_status e = find_pressing(s, y);
  if (!e && s->model->pressed) e = lw_allocate_complex(s);
  if (!e) e = lw_prepare_complex(s);
  if (!e) lw_copy_regular_dof(s);
  return e;
}

static void complex_residual(const lw_state *s, const lw_dae_point *at, double *residual) {
  const lw_model *m = s->model;
  double *x = lw_complex_reals(s);
  if (m->pressed) {
    memcpy(x + 2 * m->at.q, at->y, 2 * sizeof(double) * (size_t)m->size.nq);
    memcpy(x + 2 * m->at.u, (const double *)at->y + 2 * m->size.nq, 2 * sizeof(double) * (size_t)m->size.nu);
    lw_kernels_complex.accelerations(m, s->complex_block);
  }
  lw_kernels_complex.augmented(m, s->complex_block, at, residual);
}

lw_status lw_dae_residual(lw_state *s, double t, const double *y, const double *ydot, const double *relaxation,
                          double *residual) {
  if (!s) return LW_ERROR_USAGE;
  lw_constraint_workspace *w;
  lw_status e = enter_time(s, t);
  if (e || (e = find_pressing(s, y)) || (e = lw_open_constraint_workspace(s, &w))) return e;
  s->kernels->augmented(s->model, s->block, &(lw_dae_point){y, ydot, relaxation}, residual);
  clear_rounding(s, relaxation, w->length, residual + s->model->size.nq + s->model->size.nu);
  return LW_OK;
}

/* ---- Newton matrix ---- */

typedef struct newton {
  const lw_model *m;
  int32_t nq, nu, rows, n;
  const double *relaxation;
  double cj, *matrix;
  double *y, *ydot, *residual; /* real and imaginary parts interleaved */
} newton;

static double *entry(const newton *w, int32_t row, int32_t column) {
  return w->matrix + (size_t)row * (size_t)w->n + (size_t)column;
}

/* Columns of the coordinates and speeds. */
static void differentiate_states(lw_state *s, const newton *w) {
  for (int32_t k = 0; k < w->nq + w->nu; k++) {
    w->y[2 * k + 1] = LW_COMPLEX_STEP, w->ydot[2 * k + 1] = LW_COMPLEX_STEP * w->cj;
    complex_residual(s, &(lw_dae_point){w->y, w->ydot, w->relaxation}, w->residual);
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
  if (!s) return LW_ERROR_USAGE;
  const lw_model *m = s->model;
  const int32_t rows = lw_constraint_rows(m), n = m->size.nq + m->size.nu + 2 * rows;
  lw_constraint_workspace *workspace;
  lw_status e = enter_time(s, t);
  if (e || (e = lw_open_constraint_workspace(s, &workspace)) || (e = prepare_complex(s, y))) return e;
  newton w = {.m = m, .nq = m->size.nq, .nu = m->size.nu, .rows = rows, .n = n, .relaxation = relaxation, .cj = cj};
  w.matrix = matrix, w.y = workspace->y, w.ydot = workspace->ydot, w.residual = workspace->residual;
  for (int32_t i = 0; i < n; i++) {
    w.y[2 * i] = y[i], w.ydot[2 * i] = ydot[i];
    w.y[2 * i + 1] = w.ydot[2 * i + 1] = 0.0;
  }
  differentiate_states(s, &w);
  fill_multipliers(&w);
  return LW_OK;
}

/* ---- rates and directional derivatives ---- */

/* min |residual of the speeds - J'lambda| over the rows that hold. */
static lw_status solve_multipliers(lw_state *s, const double *relaxation, const double *residual, double *work,
                                   double *lambda) {
  const int32_t rows = lw_constraint_rows(s->model), nu = s->model->size.nu;
  lw_constraint_workspace *w = s->constraint_workspace;
  const lw_status e = lw_constraint_jacobian(s, work);
  if (e) return e;
  pivoted_qr f = {.rows = nu, .a = work, .diagonal = w->diagonal, .order = w->order};
  for (int32_t k = 0; k < rows; k++)
    if (relaxation[k] == 0.0)
      memmove(work + (size_t)f.columns++ * (size_t)nu, work + (size_t)k * (size_t)nu, sizeof *work * (size_t)nu);
  double *rhs = w->column, *x = w->phi;
  memset(x, 0, sizeof *x * (size_t)rows);
  memcpy(rhs, residual, sizeof *rhs * (size_t)nu);
  qr_factor(&f, REPEATED_ROW);
  qr_least_squares(&f, rhs, x);
  for (int32_t k = 0, column = 0; k < rows; k++) lambda[k] = relaxation[k] == 0.0 ? x[column++] : 0.0;
  return LW_OK;
}

lw_status lw_dae_rates(lw_state *s, const double *relaxation, double *work, double *ydot) {
  if (!s) return LW_ERROR_USAGE;
  const lw_model *m = s->model;
  const int32_t nq = m->size.nq, nu = m->size.nu, rows = lw_constraint_rows(m), n = nq + nu + 2 * rows;
  lw_constraint_workspace *w;
  lw_status e = lw_evaluate(s, LW_STAGE_DERIVATIVES);
  if (e || (e = lw_open_constraint_workspace(s, &w))) return e;
  memset(ydot, 0, sizeof *ydot * (size_t)n);
  memset(w->y, 0, sizeof *w->y * (size_t)n);
  memcpy(w->y, lw_reals(s) + m->at.q, sizeof *w->y * (size_t)nq);
  memcpy(w->y + nq, lw_reals(s) + m->at.u, sizeof *w->y * (size_t)nu);
  memcpy(ydot + nq, lw_reals(s) + m->at.acceleration, sizeof *ydot * (size_t)nu);
  if ((e = lw_dae_residual(s, lw_reals(s)[m->at.time], w->y, ydot, relaxation, w->residual))) return e;
  for (int32_t k = 0; k < nq; k++) ydot[k] = -w->residual[k];
  return solve_multipliers(s, relaxation, w->residual + nq, work, ydot + nq + nu);
}

lw_status lw_dae_directional_derivative(lw_state *s, double t, const double *y, const double *ydot,
                                        const double *relaxation, const double *y_seed, const double *ydot_seed,
                                        const uint32_t *knowns, size_t n_knowns, const double *seed,
                                        double *sensitivity) {
  if (!s) return LW_ERROR_USAGE;
  const lw_model *m = s->model;
  const int32_t n = m->size.nq + m->size.nu + 2 * lw_constraint_rows(m);
  lw_constraint_workspace *w;
  int parameters = 0;
  lw_status e = enter_time(s, t);
  if (e || (e = lw_open_constraint_workspace(s, &w)) || (e = prepare_complex(s, y))) return e;
  for (size_t i = 0; i < n_knowns; i++) {
    const lw_access a = lw_access_of(s, knowns[i]);
    const int is_element = a == LW_STATE && (int32_t)knowns[i] >= m->at.element_state;
    if (a != LW_PARAMETER && a != LW_INPUT && !is_element)
      return lw_fail(s, LW_ERROR_USAGE, "variable %u is no parameter or input: no residual depends on it", knowns[i]);
    if ((e = lw_seed(s, knowns[i], seed[i]))) return e;
    parameters |= a == LW_PARAMETER;
  }
  if (parameters) lw_complete_constants(s, parameters);
  for (int32_t i = 0; i < n; i++) {
    w->y[2 * i] = y[i], w->y[2 * i + 1] = LW_COMPLEX_STEP * y_seed[i];
    w->ydot[2 * i] = ydot[i], w->ydot[2 * i + 1] = LW_COMPLEX_STEP * ydot_seed[i];
  }
  complex_residual(s, &(lw_dae_point){w->y, w->ydot, relaxation}, w->residual);
  for (int32_t i = 0; i < n; i++) sensitivity[i] = w->residual[2 * i + 1] / LW_COMPLEX_STEP;
  return LW_OK;
}
