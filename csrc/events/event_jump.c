#include "events/event_jump.h"
#include "events/dead_points.h"
#include "events/lock_up.h"
#include "math/quaternion_kernel.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void lw_clear_jump_constraints(lw_state *s) { memset(s->events->constrained, 0, (size_t)lw_speeds_of(s)); }

void lw_clear_applied_impulses(lw_state *s) {
  memset(s->events->applied_impulse, 0, sizeof(double) * 6 * (size_t)s->model->size.bodies);
}

void lw_add_applied_impulse(lw_state *s, int32_t i) {
  const lw_offsets *at = &s->model->at;
  const double *x = lw_reals(s), *impulse = x + at->impulse + 6 * i;
  const int32_t body = transition_of(s, i)->joint;
  const double *point = x + at->impulse_point + 3 * i, *com = x + at->body_com + 3 * body;
  const double *Q = x + at->body_orientation + 4 * body;
  double *push = s->events->applied_impulse + 6 * body, c[3], arm[3];
  for (int k = 0; k < 3; k++) c[k] = point[k] - com[k];
  rotate_by_quaternion(Q, c, arm);
  for (int k = 0; k < 3; k++) {
    push[k] += impulse[3 + k] + arm[(k + 1) % 3] * impulse[(k + 2) % 3] - arm[(k + 2) % 3] * impulse[(k + 1) % 3];
    push[3 + k] += impulse[k];
  }
}

double lw_fastest_speed(const lw_state *s, const double *speed) {
  double most = ROUNDING_SPEED;
  for (int32_t u = 0; u < lw_speeds_of(s); u++) most = fmax(most, fabs(speed[u]));
  return most;
}

lw_status lw_find_event_jump(lw_state *s, double *residual) {
  struct lw_event_workspace *r = s->events;
  lw_velocity_jump jump = {.constrained = r->constrained,
                           .target = r->target,
                           .applied_impulse = r->applied_impulse,
                           .after = r->speed_after,
                           .force = r->force_impulse,
                           .torque = r->torque_impulse,
                           .constraint_impulse = r->constraint_impulse,
                           .coupling_impulse = r->coupling_impulse};
  const lw_status e = lw_find_velocity_jump(s, &jump);
  *residual = jump.residual;
  return e;
}

/* Where an event ends a motion in several jumps, the last ones start from rounding of the speeds before it. */
static double speed_scale(const lw_state *s) {
  const struct lw_event_workspace *r = s->events;
  return fmax(r->fastest_before, fmax(lw_fastest_speed(s, r->speed_after), lw_fastest_speed(s, r->speed_before)));
}

static double relative_residual(const lw_state *s, double residual) { return residual / speed_scale(s); }

lw_status lw_find_consistent_jump(lw_state *s, double *residual) {
  const lw_status e = lw_find_event_jump(s, residual);
  if (!e && relative_residual(s, *residual) <= MAX_RELATIVE_RESIDUAL) *residual = 0.0;
  return e;
}

static lw_status report_contradiction(lw_state *s, double residual) {
  char what[60];
  snprintf(what, sizeof what, "by %.3g (rad/s or m/s)", residual);
  return lw_report_lock_up(s, what);
}

static lw_status solve_velocity_jump(lw_state *s) {
  double residual;
  const lw_status e = lw_find_consistent_jump(s, &residual);
  return e || residual == 0.0 ? e : report_contradiction(s, residual);
}

void lw_apply_event_jump(lw_state *s) {
  const struct lw_event_workspace *r = s->events;
  const lw_model *m = s->model;
  double *x = lw_reals(s);
  memcpy(x + m->at.u, r->speed_after, sizeof(double) * (size_t)m->size.nu);
  for (int32_t k = 0; k < 3 * m->size.joints; k++)
    x[m->at.impulse_force + k] += r->force_impulse[k], x[m->at.impulse_torque + k] += r->torque_impulse[k];
  for (int32_t u = 0; u < m->size.nu; u++)
    if (x[m->at.locked + u] != 0.0) x[m->at.u + u] = 0.0; /* exactly */
  memcpy(r->speed_before, r->speed_after, sizeof(double) * (size_t)lw_speeds_of(s));
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

lw_status lw_project_event_speeds(lw_state *s) {
  lw_clear_jump_constraints(s);
  lw_clear_applied_impulses(s);
  const lw_status e = solve_velocity_jump(s);
  if (e == LW_OK) lw_apply_event_jump(s);
  return e;
}

typedef struct neighbours {
  int32_t found, blocked;
} neighbours;

/* The jump there is added to the mean. */
static lw_status add_neighbour(lw_state *s, void *context) {
  neighbours *n = context;
  struct lw_event_workspace *r = s->events;
  const int32_t speeds = lw_speeds_of(s), joints = s->model->size.joints;
  double residual;
  const lw_status e = lw_find_event_jump(s, &residual);
  if (e) return e;
  const double limit = SAME_SPEEDS * speed_scale(s);
  n->blocked += relative_residual(s, residual) > MAX_RELATIVE_RESIDUAL;
  for (int32_t u = 0; u < speeds; u++) {
    if (n->found) n->blocked += fabs(2.0 * r->neighbour[u] - r->speed_after[u]) > limit;
    r->neighbour[u] += 0.5 * r->speed_after[u];
  }
  for (int32_t k = 0; k < 3 * joints; k++) {
    r->neighbour[speeds + k] += 0.5 * r->force_impulse[k];
    r->neighbour[speeds + 3 * joints + k] += 0.5 * r->torque_impulse[k];
  }
  n->found++;
  return LW_OK;
}

/* The neighbours' speeds, and those nearest to them here. */
static lw_status take_neighbours_speeds(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const lw_model *m = s->model;
  const int32_t speeds = lw_speeds_of(s), joints = m->size.joints;
  double *x = lw_reals(s);
  memcpy(x + m->at.u, r->neighbour, sizeof(double) * (size_t)m->size.nu);
  memcpy(r->speed_before, r->neighbour, sizeof(double) * (size_t)speeds);
  for (int32_t k = 0; k < 3 * joints; k++) {
    x[m->at.impulse_force + k] += r->neighbour[speeds + k];
    x[m->at.impulse_torque + k] += r->neighbour[speeds + 3 * joints + k];
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return lw_project_event_speeds(s);
}

lw_status lw_decide_at_dead_point(lw_state *s, double residual) {
  struct lw_event_workspace *r = s->events;
  neighbours n = {0, 0};
  int closes = 0;
  double violation = 0.0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) closes |= lw_closes(s, i);
  if (!closes) return residual == 0.0 ? LW_OK : report_contradiction(s, residual);
  lw_status e = residual == 0.0 ? lw_find_second_order_violation(s, &violation) : LW_OK;
  if (!e && residual == 0.0 && violation <= SECOND_ORDER) lw_clear_speeds_at_rest(s);
  if (e || (residual == 0.0 && violation <= SECOND_ORDER)) return e;
  memset(r->neighbour, 0, sizeof(double) * (size_t)(lw_speeds_of(s) + 6 * s->model->size.joints));
  if ((e = lw_visit_neighbours(s, add_neighbour, &n))) return e;
  if (n.found == 2 && !n.blocked) {
    if ((e = take_neighbours_speeds(s)) || (e = lw_find_second_order_violation(s, &violation))) return e;
    if (violation <= SECOND_ORDER) return lw_rest_at_dead_point(s);
  }
  if (residual != 0.0) return report_contradiction(s, residual);
  return lw_report_lock_up(s, "to second order: the pose is a dead point, and the motion would leave it");
}

void lw_store_speeds_before(lw_state *s) {
  for (int32_t u = 0; u < lw_speeds_of(s); u++) s->events->speed_before[u] = lw_speed_value(s, u);
  s->events->fastest_before = lw_fastest_speed(s, s->events->speed_before);
}
