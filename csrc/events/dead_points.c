/* Locks and pins that close at a dead point. There a row of J u = h, the constraints' rates, vanishes or repeats others
 * although the constraint is another one: any speeds that the rest allows satisfy it, but the motion leaves it by
 * lambda'(J' u - h') s^2 / 2, with lambda'J = 0. Such speeds are admissible only if accelerations exist:
 *   J a = h' - J' u
 * is solvable. Where it is not, the event is decided as it is at its neighbours, a moment before and after it, where
 * the constraint is regular: both have the row lambda' dJ/ds in the limit, whichever the sign of s. */
#include "events/dead_points.h"
#include "topology/select.h"
#include "dae/constraints.h"
#include "evaluation/constraint_names.h"
#include "math/pivoted_qr_kernel.h"
#include "math/tolerances.h"
#include "model/independent_columns.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows of the clusters in which something closes ---- */

int lw_closes(const lw_state *s, int32_t i) {
  const int32_t action = transition_of(s, i)->action;
  return (action == LW_LOCK || action == LW_PIN) && s->events->due[i] & LW_DO;
}

static int is_concerned(const lw_state *s, int32_t cluster) {
  for (int32_t i = 0; cluster >= 0 && i < s->base->size.transitions; i++)
    if (lw_closes(s, i) && lw_constrained_cluster(s, i) == cluster) return 1;
  return 0;
}

static int32_t find_rows(const lw_state *s, int32_t *rows) {
  const lw_model *m = s->model;
  int32_t n = 0, row = 0;
  for (int32_t l = 0; l < m->size.loops; l++) {
    const int concerned = is_concerned(s, m->loop[l].cluster);
    for (int32_t k = m->loop[l].columns; k < 6; k++, row++)
      if (concerned) rows[n++] = row;
  }
  for (int32_t i = 0; i < m->couplings; i++, row++)
    if (lw_is_enforced(s, i) && is_concerned(s, m->coupling[i].cluster)) rows[n++] = row;
  return n;
}

/* ---- accelerations that satisfy them ---- */

typedef struct rows_at_event {
  int32_t n, nu, *number, *order;
  double *J, *bias, *phi, *rate, *length, *diagonal, *x;
} rows_at_event;

static lw_status allocate_rows(lw_state *s, rows_at_event *r) {
  const size_t all = (size_t)lw_constraint_rows(s->model), nu = (size_t)s->model->size.nu;
  memset(r, 0, sizeof *r);
  if (!(r->number = malloc(sizeof(int32_t) * (2 * all + 1)))) return LW_ERROR_MEMORY;
  r->order = r->number + all, r->n = find_rows(s, r->number), r->nu = s->model->size.nu;
  const size_t n = (size_t)r->n;
  if (!(r->J = malloc(sizeof(double) * (n * nu + 2 * n + 3 * all + nu + 1)))) return LW_ERROR_MEMORY;
  r->bias = r->J + n * nu, r->diagonal = r->bias + n;
  r->phi = r->diagonal + n, r->rate = r->phi + all, r->length = r->rate + all, r->x = r->length + all;
  return LW_OK;
}

static void free_rows(const rows_at_event *r) {
  free(r->number);
  free(r->J);
}

void lw_move_along_speeds(lw_state *s, double step) {
  const lw_model *m = s->model;
  const double *u = lw_reals(s) + m->at.u;
  double moved[6];
  lw_reals(s)[m->at.time] += step;
  for (int32_t i = 0; i < m->size.bodies; i++) {
    for (int32_t c = 0; c < m->link[i].speeds; c++) moved[c] = step * u[m->link[i].u + c];
    s->kernels->integrate_position(m, s->block, i, moved);
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* Of the links of the clusters concerned, by the block's present numbers or those before the event. */
static double fastest_concerned(const lw_state *s, const double *u) {
  const lw_model *m = s->model;
  double most = 0.0;
  for (int32_t c = 0; c < m->clusters; c++) {
    if (!is_concerned(s, c)) continue;
    for (int32_t i = m->cluster[c].first; i < m->cluster[c].first + m->cluster[c].count; i++)
      for (int32_t k = 0; k < m->link[i].speeds; k++) most = fmax(most, fabs(u[m->link[i].u + k]));
  }
  return most;
}

static double fastest_now(const lw_state *s) { return fastest_concerned(s, lw_reals(s) + s->model->at.u); }

static double fastest_before(const lw_state *s) { return fastest_concerned(s, lw_reals_before(s) + s->model->at.u); }

/* h' - J' u, by central differences. */
static lw_status find_bias(lw_state *s, double step, const rows_at_event *r) {
  const lw_model *m = s->model;
  const double t = lw_reals(s)[m->at.time];
  double *q = lw_reals(s) + m->at.q, *start = malloc(sizeof *start * ((size_t)m->size.nq + 1));
  if (!start) return LW_ERROR_MEMORY;
  memcpy(start, q, sizeof *q * (size_t)m->size.nq);
  lw_status e = LW_OK;
  for (int sign = -1; !e && sign < 2; sign += 2) {
    lw_move_along_speeds(s, sign * step);
    e = lw_constraints(s, r->phi, r->rate);
    for (int32_t k = 0; !e && k < r->n; k++)
      r->bias[k] = sign < 0 ? r->rate[r->number[k]] : (r->bias[k] - r->rate[r->number[k]]) / (2.0 * step);
    memcpy(q, start, sizeof *q * (size_t)m->size.nq);
    lw_reals(s)[m->at.time] = t;
    lw_state_changed(s, LW_STAGE_CONSTANTS);
  }
  free(start);
  return e;
}

/* Rows and displacements count in the length of the cluster. */
static void scale_rows(const lw_state *s, const rows_at_event *r) {
  const lw_model *m = s->model;
  for (int32_t k = 0; k < r->n; k++) {
    const double length = r->length[r->number[k]];
    double *J = r->J + (size_t)k * (size_t)r->nu;
    for (int32_t i = 0; i < m->size.bodies; i++)
      for (int32_t c = 0; c < m->link[i].speeds; c++)
        if (!(lw_joint_sizes[m->link[i].type].translations >> c & 1)) J[m->link[i].u + c] /= length;
    const double size = fmax(sqrt(qr_dot(J, J, 0, r->nu)), 1.0);
    for (int32_t u = 0; u < r->nu; u++) J[u] /= size;
    r->bias[k] /= size;
  }
}

static double relative_gap(const rows_at_event *r) {
  double most = 0.0;
  for (int32_t k = 0; k < r->n; k++) most = fmax(most, fabs(r->phi[r->number[k]]) / r->length[r->number[k]]);
  return most;
}

static lw_status solve_rows(lw_state *s, const rows_at_event *r, double *violation) {
  const double most = fastest_now(s), scale = fmax(most, fastest_before(s));
  lw_constraint_lengths(s, 1.0, r->length);
  lw_status e = find_bias(s, NEIGHBOUR_STEP / most, r);
  if (e || (e = lw_constraints(s, r->phi, r->rate))) return e;
  if ((e = lw_constraint_gradients(s, r->number, r->n, r->J))) return e;
  const double gap = relative_gap(r);
  pivoted_qr rows = {.rows = r->nu, .columns = r->n, .a = r->J, .diagonal = r->diagonal, .order = r->order};
  scale_rows(s, r);
  qr_factor(&rows, fmax(RANK_TOLERANCE, 5.0 * gap));
  qr_least_norm(&rows, r->bias, r->x);
  for (int32_t k = rows.rank; k < rows.columns; k++) {
    const double length = r->length[r->number[r->order[k]]];
    *violation = fmax(*violation, fabs(r->bias[r->order[k]]) / (length * scale * scale) - 50.0 * gap);
  }
  return LW_OK;
}

static int is_at_rest(const lw_state *s) { return fastest_now(s) <= fmax(ROUNDING_SPEED, AT_REST * fastest_before(s)); }

/* The rows that hold are independent at once, as the closure of the loops finds: most locks need no more than this. */
static int has_independent_rows(const lw_state *s, int32_t c) {
  const lw_model *m = s->model;
  const lw_cluster *cluster = &m->cluster[c];
  const lw_cluster_ranks *ranks = lw_pivots_of(cluster, s->block.integers).ranks;
  int32_t rows = ranks->constraints - cluster->couplings;
  for (int32_t k = 0; k < cluster->couplings; k++)
    rows += lw_is_enforced(s, m->member_coupling[cluster->member_coupling + k]);
  return ranks->regular_dof_plus_1 && ranks->singularity == 0 && ranks->rank == rows;
}

static int is_regular(lw_state *s) {
  if (lw_has_multipliers(s->model) || lw_evaluate(s, LW_STAGE_ACCELERATIONS)) return 0;
  for (int32_t c = 0; c < s->model->clusters; c++)
    if (is_concerned(s, c) && !has_independent_rows(s, c)) return 0;
  return 1;
}

lw_status lw_find_second_order_violation(lw_state *s, double *violation) {
  rows_at_event r;
  *violation = 0.0;
  if (is_at_rest(s) || is_regular(s)) return LW_OK;
  lw_status e = allocate_rows(s, &r);
  if (!e && r.n) e = solve_rows(s, &r, violation);
  free_rows(&r);
  return e == LW_ERROR_MEMORY ? lw_fail(s, e, "there is no memory to decide on an event") : e;
}

/* ---- at rest ---- */

/* The rows of a dead point leave rounding of the speeds that they end. */
static void clear_rounding(lw_state *s) {
  const lw_model *m = s->model;
  for (int32_t c = 0; c < m->clusters; c++)
    for (int32_t i = m->cluster[c].first; is_concerned(s, c) && i < m->cluster[c].first + m->cluster[c].count; i++)
      for (int32_t k = 0; k < m->link[i].speeds; k++) lw_reals(s)[m->at.u + m->link[i].u + k] = 0.0;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

void lw_clear_speeds_at_rest(lw_state *s) {
  const double now = fastest_now(s);
  if (now > 0.0 && now <= fmax(ROUNDING_SPEED, NEARLY_NO_SPEED * fastest_before(s)) && !is_regular(s))
    clear_rounding(s);
}

static double product(int32_t n, const double *a, const double *b) {
  double sum = 0.0;
  for (int32_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

/* `ended` is the change of the speeds by the event, M^-1 times the row that ends the motion: accelerations that this row
 * allows are perpendicular to it in the mass metric. */
static int is_driven_on(lw_state *s, const double *ended, double *a, double *load) {
  const lw_model *m = s->model;
  const int32_t n = m->size.nu;
  memcpy(a, lw_reals(s) + m->at.acceleration, sizeof *a * (size_t)n);
  double most = 0.0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(a[k]));
  s->kernels->mass_product(m, s->block, ended, load);
  const double ended2 = product(n, ended, load), along = product(n, a, load);
  s->kernels->mass_product(m, s->block, a, load);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return most > LOAD_AT_REST && along * along > ALONG_ENDED_MOTION * ALONG_ENDED_MOTION * ended2 * product(n, a, load);
}

lw_status lw_rest_at_dead_point(lw_state *s) {
  const int32_t n = s->model->size.nu;
  const double *before = lw_reals_before(s) + s->model->at.u;
  lw_clear_speeds_at_rest(s);
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  double *ended = malloc(sizeof *ended * (3 * (size_t)n + 1));
  if (!ended) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory to decide on an event");
  for (int32_t k = 0; k < n; k++) ended[k] = before[k] - lw_reals(s)[s->model->at.u + k];
  const int driven = !e && is_driven_on(s, ended, ended + n, ended + 2 * n);
  free(ended);
  for (int32_t c = 0; driven && c < s->model->clusters; c++)
    if (is_concerned(s, c)) return lw_report(s, (lw_fault){LW_FAULT_AT_REST, c, 0.0});
  return e;
}

/* ---- neighbours of the event ---- */

static double neighbour_distance(lw_state *s) {
  rows_at_event r;
  double gap = 0.0;
  if (!allocate_rows(s, &r) && r.n) {
    lw_constraint_lengths(s, 1.0, r.length);
    if (!lw_constraints(s, r.phi, r.rate)) gap = relative_gap(&r);
  }
  free_rows(&r);
  return fmin(fmax(NEIGHBOUR_STEP, FAR_FROM_GAP * gap), LONGEST_NEIGHBOUR_STEP);
}

static lw_status enter_snapshot(lw_state *s, const unsigned char *snapshot) {
  memcpy(s->snapshot, snapshot, s->snapshot_size);
  return lw_select_topology(s, 0);
}

/* Heun's step of the motion before the event, to y. Returns as lw_ode_function. */
static int move_before_event(lw_state *s, double step, double *y, double *first, double *second) {
  const int32_t n = s->model->size.states;
  const double t = lw_reals(s)[s->model->at.time];
  memcpy(y, lw_reals(s) + s->model->at.q, sizeof *y * (size_t)n);
  int status = lw_ode_mechanism(s, t, y, first);
  for (int32_t k = 0; k < n; k++) y[k] += step * first[k];
  status = status ? status : lw_ode_mechanism(s, t + step, y, second);
  for (int32_t k = 0; k < n; k++) y[k] += 0.5 * step * (second[k] - first[k]);
  return status;
}

lw_status lw_visit_neighbours(lw_state *s, lw_neighbour_function visit, void *context) {
  const size_t n = (size_t)s->model->size.states;
  unsigned char *here = malloc(s->snapshot_size + 3 * n * sizeof(double));
  if (!here) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory to decide on an event");
  double *y = (double *)(void *)(here + s->snapshot_size);
  const double fastest = fmax(fastest_before(s), ROUNDING_SPEED), distance = neighbour_distance(s);
  memcpy(here, s->snapshot, s->snapshot_size);
  lw_status e = LW_OK;
  for (int sign = -1; !e && sign < 2; sign += 2) {
    if ((e = enter_snapshot(s, s->events->before))) break;
    const double t = lw_reals(s)[s->model->at.time], step = sign * distance / fastest;
    const int status = move_before_event(s, step, y, y + n, y + 2 * n);
    if ((e = enter_snapshot(s, here)) || status) continue;
    lw_set_states(s, t + step, y);
    e = visit(s, context);
    const lw_status back = enter_snapshot(s, here);
    e = e ? e : back;
  }
  free(here);
  return e;
}
