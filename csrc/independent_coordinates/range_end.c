/* The end of the range of independent coordinates, in a motion that is integrated in them.
 *
 * There the columns J_d of the dependent speeds lose a rank, and the independent coordinates turn back while others move
 * on: q_i = q_end - c (t - t_end)^2. Behind it the motion is on the other branch, where the sign of det J_d is another.
 * States that follow the branch of the start have the same q_i and u_i there, but the dependent speeds of the way back.
 * An integrator sees nothing of it, and the states before and after are like those of a motion that turns at rest. So the
 * motion of all coordinates is integrated from the last accepted step, and the sign of det J_d is observed in it.
 *
 * This is only needed where the end is within reach: at a relative pivot p of J_d it is about p away. Between two
 * evaluations, by speeds, p is at one of them less than REACH times the way. */
#include "independent_coordinates/minimal_coordinates.h"
#include "math/lu.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 10000 /* the same */

enum { POSES = 8 };

struct lw_range_watch {
  lw_ode *ode;
  int begun;
  double from;                    /* time of the last accepted step */
  double *first, *last, *atol;    /* all coordinates and speeds: at that time, at the present; tolerances */
  double time, speed, pivot;      /* of the last evaluation */
  double within_reach;            /* the latest time of an evaluation next to which the end is within reach */
  int poses;                      /* kept of the last evaluations, one after the other in time */
  double pose_time[POSES], *pose; /* [POSES][nq] coordinates */
  sparse_qr *reference;           /* J_d at the beginning of a step in all coordinates; of a topology */
  int64_t topologies;
  double *change, *column, *of_columns; /* J_d as combination of the columns of the reference; column by column */
  double *scale;                        /* [n], as order: of its decomposition */
  int32_t *order;
};

static double *states_of(const lw_minimal *m) { return lw_reals(m->state) + m->state->model->at.q; }
static double time_of(const lw_minimal *m) { return lw_reals(m->state)[m->state->model->at.time]; }
static size_t size_of_states(const lw_minimal *m) { return sizeof(double) * (size_t)m->state->model->size.states; }

/* ---- the motion of all coordinates ---- */

static int derivative(void *minimal, double t, const double *y, double *ydot) {
  return lw_ode_mechanism(((lw_minimal *)minimal)->state, t, y, ydot);
}

static int jacobian(void *minimal, double t, const double *y, double *matrix, double *by_time) {
  return lw_ode_mechanism_jacobian(((lw_minimal *)minimal)->state, t, y, matrix, by_time);
}

/* +1 or -1 of a permutation, which is used up. */
static double sign_of(int32_t *order, int32_t n) {
  double sign = 1.0;
  for (int32_t i = 0; i < n; i++)
    while (order[i] != i) {
      const int32_t to = order[i];
      order[i] = order[to], order[to] = to, sign = -sign;
    }
  return sign;
}

/* Of the matrix n x n, which is used up. */
static double determinant(const struct lw_range_watch *w, int32_t n) {
  const lw_status e = lw_lu_decompose(w->change, n, 0.0, w->order, w->scale);
  if (e) return e == LW_ERROR_SINGULAR ? 0.0 : NAN;
  double product = 1.0;
  for (int32_t i = 0; i < n; i++) product *= w->change[w->order[i] * n + i];
  return product * sign_of(w->order, n);
}

/* The determinant of what J_d is of the reference, 1 there: rows may repeat others, so that J_d has none itself. */
static int orientation(void *minimal, double t, const double *y, double *z) {
  lw_minimal *m = minimal;
  struct lw_range_watch *w = m->watch;
  const int32_t n = m->n_dependent;
  lw_set_states(m->state, t, y);
  if (lw_minimal_columns(m)) return 1;
  for (int32_t k = 0; k < n; k++) {
    sparse_qr_column(m->dependents, k, w->column);
    sparse_qr_least_squares(w->reference, w->column, w->of_columns);
    memcpy(w->change + (size_t)k * (size_t)n, w->of_columns, sizeof(double) * (size_t)n);
  }
  *z = determinant(w, n);
  return !isfinite(*z);
}

static lw_status fit_reference(lw_minimal *m) {
  struct lw_range_watch *w = m->watch;
  if (w->reference && w->topologies == m->topologies) return LW_OK;
  sparse_qr_free(w->reference);
  w->reference = lw_minimal_new_factors(m), w->topologies = m->topologies;
  return w->reference ? LW_OK : LW_ERROR_MEMORY;
}

static lw_status take_reference(lw_minimal *m) {
  lw_status e = lw_minimal_columns(m);
  if (e || (e = fit_reference(m))) return e;
  sparse_qr_copy(m->watch->reference, m->dependents);
  sparse_qr_factor(m->watch->reference);
  return LW_OK;
}

/* From the last accepted step to `end`, or to the end of the range before: then the state is there, and 1 is returned.
 * Where the motion cannot be integrated, states in independent coordinates are refused too. */
static int finds_range_end(lw_minimal *m, double end) {
  struct lw_range_watch *w = m->watch;
  lw_set_states(m->state, w->from, w->first);
  lw_absolute_tolerances(m->state, end - w->from, RANGE_TOLERANCE, w->atol);
  lw_ode_set_absolute_tolerances(w->ode, w->atol);
  if (take_reference(m) || w->reference->rank < w->reference->columns) return 0;
  lw_ode_outcome outcome = lw_ode_start(w->ode, w->from, w->first);
  while (outcome == LW_ODE_STEP && lw_ode_time(w->ode) < end) {
    outcome = lw_ode_step(w->ode, end);
    lw_set_states(m->state, lw_ode_time(w->ode), lw_ode_y(w->ode));
    if (outcome == LW_ODE_STEP && take_reference(m)) return 0;
  }
  return outcome == LW_ODE_EVENT;
}

/* ---- messages ---- */

static lw_status report(lw_minimal *m) {
  const struct lw_range_watch *w = m->watch;
  char end[120];
  const double t = time_of(m);
  if (take_reference(m)) return LW_ERROR_SOLVER;
  lw_minimal_describe(m, lw_minimal_first_to_end(m, w->reference), end, sizeof end);
  return lw_fail(m->state, LW_ERROR_SOLVER,
                 "at t = %.6g s the independent %s is at the end of its range within the loops and turns back while "
                 "others move on, to a branch on which it does not determine them: export with another independent "
                 "coordinate that turns on (independents=), or with states=\"full\", or take Co-Simulation",
                 t, end);
}

/* ---- the interface ---- */

static int allocate(struct lw_range_watch *w, const lw_minimal *m) {
  const size_t rows = (size_t)m->rows, n = (size_t)m->n_dependent, states = (size_t)m->state->model->size.states;
  const lw_ode_options options = {.rtol = RANGE_TOLERANCE, .atol = RANGE_TOLERANCE, .max_steps = MAX_STEPS};
  w->ode = lw_ode_create((int32_t)states, 1, derivative, orientation, (void *)m, &options);
  w->first = calloc(3 * states + POSES * (size_t)m->nq + (n + 2) * n + rows + 1, sizeof *w->first);
  w->order = calloc(n + 1, sizeof *w->order);
  if (!w->ode || !w->first || !w->order) return 0;
  w->last = w->first + states, w->atol = w->last + states;
  w->pose = w->atol + states;
  w->change = w->pose + POSES * (size_t)m->nq;
  w->of_columns = w->change + n * n, w->column = w->of_columns + n, w->scale = w->column + rows;
  return lw_ode_set_method(w->ode, LW_ODE_AUTO, jacobian) == LW_OK;
}

void lw_free_watch(struct lw_range_watch *w) {
  if (!w) return;
  lw_ode_free(w->ode);
  free(w->first);
  free(w->order);
  sparse_qr_free(w->reference);
  free(w);
}

static lw_status open_watch(lw_minimal *m) {
  if (m->watch) return LW_OK;
  m->watch = calloc(1, sizeof *m->watch);
  if (m->watch && allocate(m->watch, m)) return LW_OK;
  lw_free_watch(m->watch);
  m->watch = NULL;
  return lw_fail(m->state, LW_ERROR_MEMORY, "there is no memory for a motion in independent coordinates");
}

/* ---- poses of the motion ---- */

static double *pose_of(const lw_minimal *m, int i) { return m->watch->pose + (size_t)i * (size_t)m->nq; }

/* After those before it in time; the first one, of the last accepted step, stays. */
static void keep_pose(lw_minimal *m) {
  struct lw_range_watch *w = m->watch;
  const size_t size = sizeof(double) * (size_t)m->nq;
  if (w->poses == POSES) {
    memmove(pose_of(m, 1), pose_of(m, 2), (POSES - 2) * size);
    memmove(w->pose_time + 1, w->pose_time + 2, (POSES - 2) * sizeof *w->pose_time);
    w->poses--;
  }
  if (w->poses && w->pose_time[w->poses - 1] == time_of(m)) w->poses--;
  w->pose_time[w->poses] = time_of(m);
  memcpy(pose_of(m, w->poses++), states_of(m), size);
}

void lw_begin_at_pose_before(lw_minimal *m) {
  struct lw_range_watch *w = m->watch;
  if (!w || !w->begun) return;
  const int before = w->poses;
  while (w->poses && w->pose_time[w->poses - 1] > time_of(m)) w->poses--;
  if (w->poses == before || !w->poses) return;
  memcpy(states_of(m), pose_of(m, w->poses - 1), sizeof(double) * (size_t)m->nq);
  lw_state_changed(m->state, LW_STAGE_CONSTANTS);
}

static void keep_accepted(lw_minimal *m) {
  struct lw_range_watch *w = m->watch;
  w->from = time_of(m);
  memcpy(w->first, states_of(m), size_of_states(m));
  m->watch->poses = 0;
  keep_pose(m);
  lw_minimal_keep_start(m); /* a straight way from the start may lead to other poses than the motion */
}

lw_status lw_minimal_watch(lw_minimal *m) {
  const lw_status e = open_watch(m);
  if (e) return e;
  keep_accepted(m);
  m->watch->begun = 1;
  m->watch->time = m->watch->from, m->watch->speed = lw_minimal_largest_speed(m);
  m->watch->pivot = 0.0; /* not known before the next evaluation */
  m->watch->within_reach = -INFINITY;
  return LW_OK;
}

void lw_note_evaluation(lw_minimal *m) {
  struct lw_range_watch *w = m->watch;
  if (!w || !w->begun) return;
  const double t = time_of(m), speed = lw_minimal_largest_speed(m);
  const double way = fabs(t - w->time) * fmax(speed, w->speed);
  if (way > 0.0 && fmin(m->pivot_ratio, w->pivot) <= REACH * way)
    w->within_reach = fmax(w->within_reach, fmax(t, w->time));
  w->time = t, w->speed = speed, w->pivot = m->pivot_ratio;
  keep_pose(m);
}

lw_status lw_minimal_check_step(lw_minimal *m) {
  struct lw_range_watch *w = m->watch;
  if (!w || !w->begun || !m->n_dependent) return LW_OK;
  const double t = time_of(m);
  lw_status e = LW_OK;
  if (t > w->from && w->within_reach > w->from) {
    memcpy(w->last, states_of(m), size_of_states(m));
    if (finds_range_end(m, t)) e = report(m);
    lw_set_states(m->state, t, w->last);
  }
  keep_accepted(m);
  return e;
}
