/* Directions of frictions in a motion that is given. Those of cut joints follow from the others an instant later. */
#include "events/given_motion.h"
#include "events/dead_points.h"
#include "events/event_jump.h"
#include "events/indicators.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

static double sign_beyond(double value, double limit) { return (value > limit) - (value < -limit); }

/* By the present speeds where they are above a limit; with speeds `before`, of the joints that rested alone. Returns
 * whether some rest. */
static int direct_by_speeds(lw_state *s, const double *before, double slow) {
  int resting = 0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (transition_of(s, i)->action != LW_STICK) continue;
    if (before && fabs(lw_along_friction(s, i, before)) > TOGETHER_AT_REST) continue;
    const double direction = sign_beyond(lw_rate_of_friction(s, i), slow);
    *lw_friction_state(s, i) = direction != 0.0 ? direction : LW_FRICTION_STICKS;
    resting |= direction == 0.0;
  }
  return resting;
}

static void release_frictions(lw_state *s) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_STICK) lw_let_go(s, transition_of(s, i)->hold, LW_HELD_BY_FRICTION);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

static lw_status direct_resting(lw_state *s, const double *udot) {
  const lw_offsets *at = &s->model->at;
  const size_t nq = (size_t)s->model->size.nq, nu = (size_t)s->model->size.nu;
  double *x = lw_reals(s), fastest = 0.0;
  for (size_t k = 0; k < nu; k++) fastest = fmax(fastest, fabs(udot[k]));
  lw_move_along_speeds(s, INSTANT);
  for (size_t k = 0; k < nu; k++) x[at->u + (int32_t)k] += INSTANT * udot[k];
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  if (!e) direct_by_speeds(s, s->events->speed_before, NEGLIGIBLE_ACCELERATION * INSTANT * fastest);
  const double *start = lw_reals_before(s);
  memcpy(x + at->q, start + at->q, sizeof *x * nq);
  memcpy(x + at->u, start + at->u, sizeof *x * nu);
  x[at->time] = start[at->time];
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return e;
}

/* No load is known with which one without a limit would slide back. */
static lw_status check_backward(lw_state *s) {
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    double lower, upper;
    if (transition_of(s, i)->action != LW_STICK || *lw_friction_state(s, i) != -1.0) continue;
    lw_holding_limits(s, i, &lower, &upper);
    if (isinf(upper))
      return lw_fail(s, LW_ERROR_USAGE,
                     "'%.60s' turns backwards in the given motion, which its infinite capacity does not allow: give it "
                     "a capacity, or another motion",
                     s->base->transition_name[i]);
  }
  return LW_OK;
}

size_t lw_motion_inputs(const lw_state *s) {
  const lw_offsets *at = &s->model->at;
  return (size_t)(at->impulse - at->tau) + 6 * (size_t)s->model->size.transitions;
}

void lw_enter_motion_row(lw_state *s, const lw_motion_row *row) {
  const lw_model *m = s->model;
  const lw_offsets *at = &m->at;
  double *x = lw_reals(s);
  x[at->time] = x[at->motion_time] = row->t;
  memcpy(x + at->q, row->q, sizeof(double) * (size_t)m->size.nq);
  memcpy(x + at->u, row->u, sizeof(double) * (size_t)m->size.nu);
  if (row->turns) memcpy(x + at->cut_reference, row->turns, sizeof(double) * (size_t)m->size.nq_cut);
  if (row->inputs) memcpy(x + at->tau, row->inputs, sizeof(double) * lw_motion_inputs(s));
}

lw_status lw_begin_given_motion(lw_state *s, const double *udot) {
  if (!s->before_accelerations) return LW_OK;
  memcpy(s->events->before, s->snapshot, s->snapshot_size);
  s->events->deciding = 1;
  release_frictions(s);
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  if (e) return e;
  lw_store_speeds_before(s);
  const lw_status resting = direct_by_speeds(s, NULL, TOGETHER_AT_REST) ? direct_resting(s, udot) : LW_OK;
  return resting ? resting : check_backward(s);
}

void lw_end_given_motion(lw_state *s) {
  if (!s->before_accelerations) return;
  const lw_offsets *at = &s->model->at;
  memcpy(lw_reals(s) + at->joint_closed, lw_reals_before(s) + at->joint_closed,
         sizeof(double) * (size_t)(at->acceleration - at->joint_closed));
  s->events->deciding = 0;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}
