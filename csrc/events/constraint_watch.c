/* The constraints at the end of an accepted step. The integrator keeps the error of each coordinate near atol + rtol |q|,
 * and the stabilised equations take away what errors add up to: residuals of sound motions are a part of that. The bound
 * is WATCH_BOUND sqrt(n) (atol + rtol |q|), for the n states of which the norm of the errors is the mean, at least LEAST_WATCHED and
 * at most LARGEST_WATCHED. Next to singular poses rows count as dependent (math/tolerances.h) and are not enforced, at any
 * accuracy; what they then miss shows for a while after.
 * Residuals at the start of the watch, from assembly, a pin or a new input, are allowed twice. Couplings whose motion
 * is an input are the importer's or the user's: their values and rates need not fit. */
#include "evaluation/constraint_names.h"
#include "evaluation/rates.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

/* ---- constraints in effect ---- */

static int has_motion_input(const lw_state *s, int32_t coupling) {
  const double *in = lw_reals(s) + s->model->at.motion_in + 3 * coupling;
  return in[0] != 0.0 || in[1] != 0.0 || in[2] != 0.0;
}

static int is_active(const lw_state *s, int32_t transition) {
  return lw_reals(s)[s->model->at.transition_active + transition] != 0.0;
}

/* ---- bounds ---- */

/* Length in which displacements of a cluster count. */
static double length_of(const lw_state *s, int32_t c) {
  const lw_model *m = s->model;
  const lw_cluster *cluster = &m->cluster[c];
  if (cluster->loops)
    return ((const lw_double_cut_constants *)(lw_reals(s) + m->at.cut_constants))[m->member[cluster->member]].length;
  if (!cluster->distances) return 1.0;
  const int32_t last = m->member_coupling[cluster->member_coupling + cluster->couplings - 1];
  return lw_reals(s)[m->at.distance_metric + m->coupling[last].distance];
}

/* Of a residual in its coordinates, rad or lengths. */
static double bound_of(const lw_state *s, int32_t c) {
  const lw_model *m = s->model;
  const double *x = lw_reals(s), *tolerance = x + m->at.watch_tolerance, length = length_of(s, c);
  const double n = sqrt((double)(m->size.nq + m->size.nu));
  double allowed = ROUNDING_WATCHED, largest = 1.0;
  for (int32_t k = 0; k < m->cluster[c].columns; k++) {
    const lw_column *column = &m->column[m->cluster[c].first_column + k];
    const int32_t q = m->coordinate[column->u];
    if (column->link < 0) continue;
    const double per = column->translation ? 1.0 / length : 1.0, size = fabs(x[m->at.q + q]) * per;
    allowed = fmax(allowed, tolerance[1] * per + tolerance[0] * size + ROUNDING_WATCHED * size);
    largest = fmax(largest, size);
  }
  return fmin(fmax(WATCH_BOUND * n * allowed, LEAST_WATCHED), LARGEST_WATCHED * largest);
}

/* The change of a coupling's sum with its coordinates: sum of |p'|, displacements in the length of the cluster. */
static double slope_of(const lw_state *s, int32_t i) {
  const lw_model *m = s->model;
  const lw_coupling *coupling = &m->coupling[i];
  const double length = length_of(s, coupling->cluster);
  double sum = coupling->distance >= 0 ? length : 0.0;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const int linear = m->column[m->cluster[coupling->cluster].first_column + m->term[t].column].translation;
    sum += fabs(m->kernels->slope_of_term(m, s->block, t)) * (linear ? length : 1.0);
  }
  return sum;
}

/* ---- reports ---- */

/* What else acts in the cluster: stops on which joints rest, locks, pins and motions. */
static void name_others(const lw_state *s, int32_t cluster, int32_t coupling, int32_t transition, lw_name_list *list) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (i != transition && is_active(s, i) && transition_of(s, i)->action != LW_IMPULSE &&
        lw_constrained_cluster(s, i) == cluster)
      lw_name_transition(s, i, list);
  for (int32_t i = 0; i < s->model->couplings; i++)
    if (i != coupling && s->model->coupling[i].cluster == cluster && lw_prescribes_motion(s, i))
      lw_name_motion(s, i, list);
}

static lw_status report(lw_state *s, const lw_name_list *what, int32_t cluster, int32_t coupling, int32_t transition,
                        double residual) {
  lw_name_list others = {"", 0, 0};
  name_others(s, cluster, coupling, transition, &others);
  const double t = lw_reals(s)[s->model->at.time];
  if (others.used)
    return lw_fail(s, LW_ERROR_SOLVER,
                   "at t = %.9g s %s is violated by %.3g: the motion cannot satisfy it together with %s; release one "
                   "of them before, or let the motion end there",
                   t, what->text, residual, others.text);
  return lw_fail(s, LW_ERROR_SOLVER,
                 "at t = %.9g s %s is violated by %.3g, far more than the tolerances of the solver explain: the "
                 "constraints of its joints contradict each other there, or the motion passes a singular pose; give "
                 "tighter tolerances, or keep the motion away from this pose",
                 t, what->text, residual);
}

/* The lock or stop that holds a speed, or the friction that holds a sum of speeds. */
static int32_t holder_of(const lw_state *s, int32_t u) {
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    if (x->action == LW_STICK && !x->directions && x->hold == u) return i;
    if (x->action != LW_LOCK && x->action != LW_STOP) continue;
    const int32_t k = u - s->model->joint[x->joint].u;
    if (is_active(s, i) && k >= 0 && k < 6 && x->directions >> k & 1) return i;
  }
  return -1;
}

static lw_status report_coupling(lw_state *s, int32_t i, double residual) {
  const lw_coupling *coupling = &s->model->coupling[i];
  const int32_t holder = coupling->lock < 0 ? -1 : holder_of(s, coupling->lock);
  lw_name_list what = {"", 0, 0};
  if (holder >= 0) lw_name_transition(s, holder, &what);
  else if (lw_prescribes_motion(s, i)) lw_name_motion(s, i, &what);
  else lw_add_name(&what, coupling->distance < 0 ? "coupling" : "distance", s->model->coupling_name[i]);
  return report(s, &what, coupling->cluster, i, holder, residual);
}

static lw_status report_loop(lw_state *s, int32_t l, double residual) {
  const lw_model *m = s->model;
  int32_t pin = -1;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_PIN && transition_of(s, i)->joint == m->loop[l].joint) pin = i;
  lw_name_list what = {"", 0, 0};
  if (pin >= 0) lw_name_transition(s, pin, &what);
  else lw_add_name(&what, "the loop closed by joint", m->joint_name[m->loop[l].joint]);
  return report(s, &what, m->loop[l].cluster, -1, pin, residual);
}

/* ---- the watch ---- */

/* A lock of a speed that is nobody's rate has no position: its speed stands for it. */
static double residual_of(const lw_state *s, int32_t i) {
  const lw_coupling *coupling = &s->model->coupling[i];
  if (coupling->rates_only) return fabs(lw_speed_value(s, coupling->lock));
  return fabs(lw_reals(s)[s->model->at.coupling_residual + i]);
}

static int is_watched(const lw_state *s, int32_t coupling) {
  return lw_is_enforced(s, coupling) && !has_motion_input(s, coupling);
}

/* Compiled rates come with them, but not with the speeds of cut joints. Returns 0 where there are none. */
static int find_residuals(lw_state *s) {
  int by_position = lw_rates_give_checks(s);
  for (int32_t i = 0; i < s->model->couplings; i++) by_position &= !s->model->coupling[i].rates_only;
  return by_position || !lw_evaluate(s, LW_STAGE_ACCELERATIONS);
}

void lw_watch_constraints(lw_state *s, double rtol, double atol) {
  const lw_model *m = s->model;
  double *x = lw_reals(s);
  x[m->at.watch_tolerance] = rtol, x[m->at.watch_tolerance + 1] = atol;
  if (!(rtol > 0.0) || lw_evaluate_rates(s) || !find_residuals(s)) return;
  memcpy(x + m->at.loop_allowance, x + m->at.loop_residual, sizeof(double) * (size_t)m->size.loops);
  for (int32_t i = 0; i < m->couplings; i++) x[m->at.coupling_allowance + i] = residual_of(s, i);
}

static int is_within_tolerances(const lw_state *s, double t, const double *y) {
  const lw_model *m = s->model;
  const double *x = lw_reals(s), *states = x + m->at.q, *tolerance = x + m->at.watch_tolerance;
  if (x[m->at.time] != t) return 0;
  for (int32_t i = 0; i < m->size.states; i++)
    if (!(fabs(y[i] - states[i]) <= tolerance[1] + tolerance[0] * fabs(y[i]))) return 0;
  return 1;
}

static lw_status check_cluster(lw_state *s, int32_t c) {
  const lw_model *m = s->model;
  const lw_cluster *cluster = &m->cluster[c];
  const double *x = lw_reals(s), bound = bound_of(s, c), length = length_of(s, c);
  for (int32_t k = 0; k < cluster->couplings; k++) {
    const int32_t i = m->member_coupling[cluster->member_coupling + k];
    if (!is_watched(s, i)) continue;
    const double residual = residual_of(s, i);
    if (!(residual <= bound * slope_of(s, i) + 2.0 * x[m->at.coupling_allowance + i]))
      return report_coupling(s, i, residual);
  }
  for (int32_t k = 0; k < cluster->loops; k++) {
    const int32_t l = m->member[cluster->member + k];
    const double residual = x[m->at.loop_residual + l];
    if (!(residual <= bound * length + 2.0 * x[m->at.loop_allowance + l])) return report_loop(s, l, residual);
  }
  return LW_OK;
}

lw_status lw_check_constraints(lw_state *s) {
  const lw_model *m = s->model;
  if (!(lw_reals(s)[m->at.watch_tolerance] > 0.0) || !m->clusters) return LW_OK;
  if (!find_residuals(s)) return LW_OK; /* the next derivative reports it */
  lw_status e = LW_OK;
  for (int32_t c = 0; !e && c < m->clusters; c++) e = check_cluster(s, c);
  return e;
}

int lw_ode_mechanism_check(void *state, double t, const double *y, double *step_values) {
  (void)step_values;
  if (!is_within_tolerances(state, t, y)) lw_set_states(state, t, y);
  return lw_check_constraints(state) ? -1 : 0;
}
