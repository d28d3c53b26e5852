/* Independent coordinates and speeds alone: the others follow from Phi(q, t) = 0 and J u + Phi_t = 0. With dependent
 * columns d and independent ones i,
 *   J_d dq_d = -Phi   (Newton),   J_d u_d = -(J_i u_i + Phi_t),   J_d dq_d = -(J_i dq_i + Phi_p dp)   (derivatives)
 * each by least squares, because rows that repeat others are normal. dq_d is counted in speeds, so that a quaternion
 * moves by a small rotation. From the pose that is present Newton follows
 *   Phi(q_d, q_i(s), t) = (1 - s) Phi(q, t at the start),   q_i(s) = q_i + s (x - q_i),   s = 0 .. 1,
 * whatever it is that has changed: coordinates, time, inputs or parameters. Each step along s is one that Newton takes
 * at once and short, so that it cannot come to another way to put the mechanism together. */
#include "independent_coordinates/minimal_coordinates.h"
#include "dae/constraints.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

/* RANK_TOLERANCE bounds the pivots: see the section of these coordinates in tolerances.h. */
#define MAX_ITERATIONS 30
#define MOST_SHORT_MOVES 2000 /* more, along nearly singular poses, would take minutes */

/* ---- the dependent ones ---- */

static double *q_of(const lw_minimal *m) { return lw_minimal_coordinates(m); }
static double *u_of(const lw_minimal *m) { return lw_minimal_speeds(m); }

/* The length in which a speed counts: 1 for an angle. */
static double length_of(const lw_minimal *m, int32_t u) {
  const lw_link *link = &m->state->model->link[m->link[u]];
  const int moves = lw_joint_sizes[link->type].translations >> (u - link->u) & 1;
  return moves ? lw_cluster_length(m->state, link->cluster) : 1.0;
}

double lw_minimal_metric(const lw_minimal *m, int32_t u) {
  const lw_link *link = &m->state->model->link[m->link[u]];
  return length_of(m, u) * lw_speed_unit(m->state, link, u - link->u);
}

/* The speeds of a constraint, and its entries in one of its rows. */
typedef struct row_entries {
  int32_t n;
  const int32_t *speed;
  const double *J;
  const size_t *entry;
} row_entries;

static row_entries entries_of(const lw_minimal *m, int32_t constraint, int32_t row) {
  const lw_constraint_pattern *p = m->pattern;
  const int32_t n = p->first[constraint + 1] - p->first[constraint];
  const size_t first = p->entry[constraint] + (size_t)(row - p->row[constraint]) * (size_t)n;
  return (row_entries){n, p->speed + p->first[constraint], m->J + first, m->entry + first};
}

/* A power of two near the size of a row in the metric, for stages of a train of gears; 1 for other rows. */
static double size_of_stage(const lw_minimal *m, const row_entries *of, int32_t row) {
  double size2 = 0.0;
  int is_stage = 0;
  for (int32_t k = 0; k < of->n; k++) {
    if (of->J[k] == 0.0) continue;
    const double metric = lw_minimal_metric(m, of->speed[k]), entry = of->J[k] * metric / m->length[row];
    is_stage |= metric != length_of(m, of->speed[k]), size2 += entry * entry;
  }
  return is_stage && size2 > 0.0 ? ldexp(1.0, ilogb(sqrt(2.0 * size2))) : 1.0;
}

lw_status lw_minimal_columns(lw_minimal *m) {
  lw_status e = lw_minimal_fit(m);
  if (e || (e = lw_constraint_entries(m->state, m->pattern, m->J))) return e;
  m->factored = -1;
  lw_constraint_lengths(m->state, 1.0, m->length);
  memset(m->size2, 0, sizeof *m->size2 * (size_t)m->nu);
  sparse_qr_clear(m->dependents);
  for (int32_t i = 0; i < m->pattern->constraints; i++)
    for (int32_t r = m->pattern->row[i]; r < m->pattern->row[i + 1]; r++) {
      const row_entries of = entries_of(m, i, r);
      m->scale[r] = m->length[r] * (i < m->state->model->size.loops ? 1.0 : size_of_stage(m, &of, r));
      for (int32_t k = 0; k < of.n; k++) {
        const double entry = of.J[k] / m->scale[r];
        if (m->place[of.speed[k]] < 0) m->size2[of.speed[k]] += entry * entry;
        else m->dependents->a[of.entry[k]] = of.J[k] * lw_minimal_metric(m, of.speed[k]) / m->scale[r];
      }
    }
  return LW_OK;
}

/* Of the largest column of an independent speed, as those of the dependent ones. */
static double size_of_independents(const lw_minimal *m) {
  double largest2 = 0.0;
  for (int32_t i = 0; i < m->n_u; i++) {
    double size2 = m->size2[m->u[i]];
    if (size2 > 0.0) size2 *= lw_minimal_metric(m, m->u[i]) * lw_minimal_metric(m, m->u[i]);
    largest2 = fmax(largest2, size2);
  }
  return sqrt(largest2);
}

/* The last pivot is compared with all columns of J: a single dependent one has a fold where it vanishes compared with
 * the independent ones. */
static lw_status factor_dependents(lw_minimal *m) {
  const lw_status e = lw_minimal_columns(m);
  double last;
  if (e) return e;
  sparse_qr_factor(m->dependents);
  m->pivot_ratio = sparse_qr_pivot_ratio(m->dependents);
  if (sparse_qr_last(m->dependents, &last) >= 0 && m->pivot_ratio > 0.0)
    m->pivot_ratio = fmin(m->pivot_ratio, last / size_of_independents(m));
  m->factored = m->state->changes;
  return LW_OK;
}

/* Steps that take `side` away, in the metric; the largest of them is returned. */
static double solve_dependents(lw_minimal *m) {
  double largest = 0.0;
  for (int32_t r = 0; r < m->rows; r++) m->rhs[r] /= -m->scale[r];
  sparse_qr_least_squares(m->dependents, m->rhs, m->step);
  for (int32_t k = 0; k < m->n_dependent; k++) {
    const double size = fabs(m->step[k]);
    largest = size > largest || isnan(size) ? size : largest;
    m->step[k] *= lw_minimal_metric(m, m->dependent[k]);
  }
  return largest;
}

/* What the steps are of each speed of a link; returns whether there are any. */
static int step_of_link(const lw_minimal *m, const lw_link *link, double step[6]) {
  int any = 0;
  for (int32_t c = 0; c < 6; c++) {
    const int32_t place = c < link->speeds ? m->place[link->u + c] : -1;
    step[c] = place < 0 ? 0.0 : m->step[place], any |= place >= 0;
  }
  return any;
}

static void integrate_position(const lw_minimal *m) {
  lw_state *s = m->state;
  for (int32_t i = 0; i < s->model->size.bodies; i++) {
    double step[6];
    if (step_of_link(m, &s->model->link[i], step)) s->kernels->integrate_position(s->model, s->block, i, step);
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* ---- messages ---- */

void lw_minimal_describe(const lw_minimal *m, int32_t u, char *text, size_t size) {
  const lw_model *model = m->state->model;
  lw_describe(m->state, (uint32_t)(model->at.q + model->coordinate[u]), text, size);
}

static double opening_by(const lw_minimal *m, const sparse_qr *dependents, int32_t u) {
  for (int32_t i = 0; i < m->pattern->constraints; i++)
    for (int32_t r = m->pattern->row[i]; r < m->pattern->row[i + 1]; r++) {
      const row_entries of = entries_of(m, i, r);
      m->rhs[r] = 0.0;
      for (int32_t k = 0; k < of.n; k++)
        if (of.speed[k] == u) m->rhs[r] = of.J[k] * lw_minimal_metric(m, u) / m->scale[r];
    }
  return sparse_qr_distance2(dependents, m->rhs);
}

int32_t lw_minimal_first_to_end(lw_minimal *m, const sparse_qr *dependents) {
  double most = -1.0;
  int32_t first = m->u[0];
  for (int32_t i = 0; i < m->n_u; i++) {
    const double opening = opening_by(m, dependents, m->u[i]);
    if (opening > most) most = opening, first = m->u[i];
  }
  return first;
}

static lw_status fail_dependent(lw_minimal *m) {
  char text[120] = "the others", end[120] = "none of them";
  double pivot;
  const int32_t last = sparse_qr_last(m->dependents, &pivot);
  if (last >= 0) lw_minimal_describe(m, m->dependent[last], text, sizeof text);
  if (m->n_u) lw_minimal_describe(m, lw_minimal_first_to_end(m, m->dependents), end, sizeof end);
  return lw_fail(m->state, LW_ERROR_SINGULAR,
                 "the independent coordinates do not determine the others here, at t = %.6g s, or are at a limit of "
                 "their motion: %s does not follow from them, from %s first of all; take the former as an independent "
                 "one, or states=\"full\"",
                 lw_reals(m->state)[m->state->model->at.time], text, end);
}

static const char *constraint_name(const lw_minimal *m, int32_t row) {
  const lw_model *model = m->state->model;
  for (int32_t l = 0; l < model->size.loops; l++) {
    row -= 6 - model->loop[l].columns;
    if (row < 0) return model->joint_name[model->loop[l].joint];
  }
  return model->coupling_name[row];
}

static lw_status fail_inconsistent(const lw_minimal *m, int32_t row) {
  return lw_fail(
      m->state, LW_ERROR_SINGULAR,
      "too many coordinates are independent, or constraints contradict each other: '%s' cannot be satisfied; "
      "take fewer as independent, or states=\"full\"",
      constraint_name(m, row));
}

/* ---- positions ---- */

typedef enum outcome { CLOSED, TOO_FAR, FAILED } outcome;

/* Newton at the present independent coordinates, which have moved this far, until all that is left of Phi is `share` of
 * what it was at first, in the metric: as near as least squares come. */
static outcome correct(lw_minimal *m, double moved, double share, lw_status *e) {
  double last = INFINITY;
  int stale = 1;
  for (int i = 0; i < MAX_ITERATIONS; i++) {
    if (stale && (*e = factor_dependents(m))) return FAILED;
    if (!(m->pivot_ratio >= RANK_TOLERANCE)) return TOO_FAR;
    if (i == 0 && !(moved <= FOLD_SHARE * m->pivot_ratio)) return TOO_FAR;
    if ((*e = lw_constraints(m->state, m->phi, m->rate))) return FAILED;
    for (int32_t r = 0; r < m->rows; r++) m->rhs[r] = m->phi[r] - share * m->first_phi[r];
    const double size = solve_dependents(m);
    const int fresh = stale;
    if (!(size <= (i ? CONTRACTION * last : fmin(LARGEST_DEPENDENT_STEP, FOLD_SHARE * m->pivot_ratio)))) {
      if (i && fresh && size <= ROUNDING_NEAR_FOLD) return CLOSED;
      if (i == 0 || fresh) return TOO_FAR;
      stale = 1;
      continue;
    }
    integrate_position(m);
    if (size <= EXACT_STEP) return CLOSED;
    stale = size > STALE, last = size;
  }
  return TOO_FAR;
}

/* A quaternion and its negative are the same pose: Newton begins at the nearer one. */
static void begin_near(lw_minimal *m, const double *x) {
  const lw_model *model = m->state->model;
  for (int32_t i = 0; i < model->size.bodies; i++) {
    const lw_joint_size *size = &lw_joint_sizes[model->link[i].type];
    const int32_t first = model->link[i].q + size->q - 4;
    if (size->q == size->u || !m->q_is_free[first]) continue;
    double along = 0.0;
    int32_t at = 0;
    while (m->q[at] != first) at++;
    for (int k = 0; k < 4; k++) along += m->initial_q[at + k] * x[at + k];
    for (int k = 0; k < 4; k++) m->initial_q[at + k] = along < 0.0 ? -m->initial_q[at + k] : m->initial_q[at + k];
  }
}

/* The length in which a coordinate counts; a quaternion changes by half an angle. 0: no constraint depends on it. */
static double coordinate_length(const lw_minimal *m, int32_t q) {
  const lw_link *link = m->state->model->link;
  while (q < link->q || q >= link->q + lw_joint_sizes[link->type].q) link++;
  const lw_joint_size *size = &lw_joint_sizes[link->type];
  if (link->cluster < 0) return 0.0;
  if (size->q == size->u) return length_of(m, link->u + q - link->q);
  return q - link->q < size->q - 4 ? lw_cluster_length(m->state, link->cluster) : 0.5;
}

/* Returns the largest step of those that constraints depend on, as dependent steps count. */
static double enter_part(const lw_minimal *m, const double *x, double part) {
  double largest = 0.0;
  for (int32_t i = 0; i < m->n_q; i++) {
    double *q = &q_of(m)[m->q[i]];
    const double next = part < 1.0 ? m->initial_q[i] + part * (x[i] - m->initial_q[i]) : x[i];
    const double length = next == *q ? 0.0 : coordinate_length(m, m->q[i]);
    if (length > 0.0) largest = fmax(largest, fabs(next - *q) / length);
    *q = next;
  }
  lw_state_changed(m->state, LW_STAGE_CONSTANTS);
  return largest;
}

static lw_status check_closed(const lw_minimal *m) {
  for (int32_t r = 0; r < m->rows; r++)
    if (!(fabs(m->phi[r]) <= OPEN_ROW * m->length[r])) return fail_inconsistent(m, r);
  return LW_OK;
}

static lw_status close_positions(lw_minimal *m, const double *x) {
  lw_status e = lw_constraints(m->state, m->first_phi, m->rate);
  if (e) return e;
  for (int32_t i = 0; i < m->n_q; i++) m->initial_q[i] = q_of(m)[m->q[i]];
  begin_near(m, x);
  int32_t short_moves = 0;
  for (double done = 0.0, step = 1.0; done < 1.0;) {
    const double next = fmin(1.0, done + step);
    memcpy(m->saved_q, q_of(m), sizeof(double) * (size_t)m->nq);
    const double moved = enter_part(m, x, next);
    const outcome found = correct(m, moved, 1.0 - next, &e);
    if (found == FAILED) return e;
    step *= found == CLOSED ? 2.0 : 0.5;
    if (found == CLOSED) done = next;
    else memcpy(q_of(m), m->saved_q, sizeof(double) * (size_t)m->nq);
    short_moves += moved < SHORT_MOVE;
    if (step < SHORTEST_STEP || short_moves > MOST_SHORT_MOVES) return fail_dependent(m);
  }
  if ((e = lw_constraints(m->state, m->phi, m->rate))) return e;
  return check_closed(m);
}

/* ---- speeds ---- */

double lw_minimal_largest_speed(const lw_minimal *m) {
  double largest = 0.0;
  for (int32_t k = 0; k < m->nu; k++) largest = fmax(largest, fabs(u_of(m)[k]) / length_of(m, k));
  return largest;
}

/* Linear: one solution leaves the error of rounding and that of the matrix, which belongs to a nearby pose. It begins
 * at rest: from the speeds that were there before, their rounding would remain, which at slower speeds is no rounding. */
static lw_status close_speeds(lw_minimal *m, const double *u) {
  lw_status e = m->pivot_ratio < FOLD_PIVOT ? factor_dependents(m) : LW_OK;
  for (int32_t k = 0; k < m->n_dependent; k++) u_of(m)[m->dependent[k]] = 0.0;
  for (int32_t i = 0; i < m->n_u; i++) u_of(m)[m->u[i]] = u[i];
  double last = INFINITY;
  for (int i = 0; !e && i < MAX_ITERATIONS; i++) {
    lw_state_changed(m->state, LW_STAGE_CONSTANTS);
    if ((e = lw_constraints(m->state, m->phi, m->rate))) return e;
    memcpy(m->rhs, m->rate, sizeof(double) * (size_t)m->rows);
    const double size = solve_dependents(m);
    if (!(size <= CONTRACTION * last)) break;
    for (int32_t k = 0; k < m->n_dependent; k++) u_of(m)[m->dependent[k]] += m->step[k];
    if (size <= EXACT_STEP * lw_minimal_largest_speed(m)) break;
    last = size;
  }
  if (e) return e;
  const double scale = lw_minimal_largest_speed(m);
  for (int32_t r = 0; r < m->rows; r++)
    if (!(fabs(m->rate[r]) <= OPEN_ROW * m->length[r] * scale + 1e-300)) return fail_inconsistent(m, r);
  return LW_OK;
}

void lw_minimal_keep_start(lw_minimal *m) {
  memcpy(m->start_q, q_of(m), sizeof(double) * (size_t)m->nq);
  m->has_start = 1;
}

lw_status lw_minimal_close(lw_minimal *m, const double *x) {
  lw_status e = close_positions(m, x);
  if (e == LW_ERROR_SINGULAR) { /* the way from here may be blocked where the one from the start is not */
    memcpy(q_of(m), m->start_q, sizeof(double) * (size_t)m->nq);
    lw_state_changed(m->state, LW_STAGE_CONSTANTS);
    e = close_positions(m, x);
  }
  return e ? e : close_speeds(m, x + m->n_q);
}

/* ---- derivatives ----
 * Unlike assembly (assembly/sensitivity_kernel.h), which moves all columns and takes the least of many solutions in the
 * metric of each cluster, here the dependent columns alone move, over all rows of the mechanism, and have one solution:
 * least squares instead of least norm by the same factorisation. */

/* Coordinates of joints with a quaternion that are no states: they are moved along independent speeds. */
static int is_local(const lw_minimal *m, int64_t q) {
  const lw_model *model = m->state->model;
  for (int32_t i = 0; i < model->size.bodies; i++) {
    const lw_link *link = &model->link[i];
    const lw_joint_size *size = &lw_joint_sizes[link->type];
    if (q < link->q || q >= link->q + size->q) continue;
    int any = 0;
    for (int32_t u = link->u; u < link->u + size->u; u++) any |= m->u_is_free[u];
    return any && size->q != size->u;
  }
  return 0;
}

static lw_status check_knowns(const lw_minimal *m, const uint32_t *knowns, size_t n) {
  const lw_offsets *at = &m->state->model->at;
  for (size_t i = 0; i < n; i++) {
    char text[120];
    const int64_t q = (int64_t)knowns[i] - at->q, u = (int64_t)knowns[i] - at->u;
    const int depends =
        (q >= 0 && q < m->nq && !m->q_is_free[q] && !is_local(m, q)) || (u >= 0 && u < m->nu && !m->u_is_free[u]);
    lw_describe(m->state, knowns[i], text, sizeof text);
    if (depends)
      return lw_fail(m->state, LW_ERROR_USAGE, "%s follows from the independent states: nothing is derived by it",
                     text);
  }
  return LW_OK;
}

/* The part of the constraints that changes with a number: none with loads, and positions with all but speeds. */
typedef enum effect { ON_NOTHING, ON_RATES, ON_POSITIONS } effect;

static effect effect_of(const lw_minimal *m, uint32_t known) {
  const lw_model *model = m->state->model;
  const int32_t k = (int32_t)known,
                loads_end = model->size.coupling_formulas ? model->at.formula_input : model->at.motion_in;
  if ((k >= model->at.tau && k < loads_end) || (k >= model->at.element_state && k < model->at.qdot)) return ON_NOTHING;
  return k >= model->at.u && k < model->at.u + m->nu ? ON_RATES : ON_POSITIONS;
}

static effect effect_of_all(const lw_minimal *m, const uint32_t *knowns, size_t n) {
  effect most = ON_NOTHING;
  for (size_t i = 0; i < n; i++) {
    const effect own = effect_of(m, knowns[i]);
    most = own > most ? own : most;
  }
  return most;
}

/* rhs: how Phi, or else its rate, changes with all that has been moved in the complex block. */
static lw_status move_constraints(const lw_minimal *m, int rates) {
  lw_state *s = m->state;
  lw_constraint_workspace *w;
  const lw_status e = lw_open_constraint_workspace(s, &w);
  if (e) return e;
  memset(w->row, 0, 2 * sizeof(double) * (size_t)m->rows);
  lw_kernels_complex.constraints(s->model, s->complex_block, w->row, w->phi, w->rate, w->column, NULL);
  for (int32_t r = 0; r < m->rows; r++) m->rhs[r] = (rates ? w->rate : w->phi)[2 * r + 1] / LW_COMPLEX_STEP;
  return LW_OK;
}

static void move_coordinates(const lw_minimal *m) {
  lw_state *s = m->state;
  for (int32_t i = 0; i < s->model->size.bodies; i++) {
    double step[6], moved[12] = {0.0};
    if (!step_of_link(m, &s->model->link[i], step)) continue;
    for (int c = 0; c < 6; c++) moved[2 * c + 1] = LW_COMPLEX_STEP * step[c];
    lw_kernels_complex.integrate_position(s->model, s->complex_block, i, moved);
  }
}

static void move_speeds(const lw_minimal *m) {
  double *u = (double *)m->state->complex_block.reals + 2 * (size_t)m->state->model->at.u;
  for (int32_t k = 0; k < m->n_dependent; k++) u[2 * m->dependent[k] + 1] = LW_COMPLEX_STEP * m->step[k];
}

lw_status lw_minimal_directional_derivative(lw_minimal *m, const uint32_t *unknowns, size_t n_unknowns,
                                            const uint32_t *knowns, size_t n_knowns, const double *seed,
                                            double *sensitivity) {
  lw_state *s = m->state;
  lw_status e = check_knowns(m, knowns, n_knowns);
  if (e || (m->factored != s->changes && (e = factor_dependents(m)))) return e;
  if (!(m->pivot_ratio >= RANK_TOLERANCE)) return fail_dependent(m);
  if ((e = lw_seed_derivative(s, unknowns, n_unknowns, knowns, n_knowns, seed))) return e;
  const effect effect = effect_of_all(m, knowns, n_knowns);
  if (effect == ON_POSITIONS) {
    if ((e = move_constraints(m, 0))) return e;
    solve_dependents(m);
    move_coordinates(m);
  }
  if (effect != ON_NOTHING) {
    if ((e = move_constraints(m, 1))) return e;
    solve_dependents(m);
    move_speeds(m);
  }
  lw_end_derivative(s, unknowns, n_unknowns, sensitivity);
  return LW_OK;
}

static lw_status along(void *minimal, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity) {
  return lw_minimal_directional_derivative(minimal, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

lw_status lw_minimal_jacobian(lw_minimal *m, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                              size_t n_knowns, double *matrix) {
  return lw_fill_jacobian(m->state, along, m, unknowns, n_unknowns, knowns, n_knowns, matrix);
}
