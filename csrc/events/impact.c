#include "events/impact.h"
#include "math/quaternion.inc"
#include <math.h>
#include <string.h>

static int32_t speeds_of(const lw_state *s) { return s->model->size.nu + s->model->size.nu_cut; }

static double restitution_of(const lw_state *s, int32_t i) { return lw_reals(s)[s->model->at.restitution + i]; }

/* ---- one jump ---- */

static void clear_constraints(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  memset(r->constrained, 0, (size_t)speeds_of(s));
  memset(r->applied_impulse, 0, sizeof(double) * 6 * (size_t)s->model->size.bodies);
}

/* Applied impulses act at points; the moment is taken about the centre of mass. */
static void add_applied_impulse(lw_state *s, int32_t i) {
  const lw_offsets *at = &s->model->at;
  const double *x = lw_reals(s), *impulse = x + at->impulse + 6 * i;
  const int32_t body = transition_of(s, i)->joint;
  const double *point = x + at->transition_points + 6 * i, *com = x + at->body_com + 3 * body;
  const double *Q = x + at->body_orientation + 4 * body;
  double *push = s->events->applied_impulse + 6 * body, c[3], arm[3];
  for (int k = 0; k < 3; k++) c[k] = point[k] - com[k];
  rotate_by_quaternion(Q, c, arm);
  for (int k = 0; k < 3; k++) {
    push[k] += impulse[3 + k] + arm[(k + 1) % 3] * impulse[(k + 2) % 3] - arm[(k + 2) % 3] * impulse[(k + 1) % 3];
    push[3 + k] += impulse[k];
  }
}

static void add_impact(lw_state *s, int32_t i) {
  const int32_t u = lw_stopped_speed(s->model, transition_of(s, i));
  if (lw_reals(s)[s->model->at.locked + u] != 0.0) return;
  s->events->constrained[u] = 1;
  s->events->target[u] *= -(1.0 + restitution_of(s, i)); /* target holds the speed before the impact */
}

#define MIN_SPEED_SCALE 1e-9       /* rad/s or m/s: smaller speeds are rounding errors */
#define MAX_RELATIVE_RESIDUAL 1e-6 /* of the largest speed */

static lw_status solve_velocity_jump(lw_state *s) {
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
  if (e) return e;
  double largest = 0.0;
  for (int32_t u = 0; u < speeds_of(s); u++)
    largest = fmax(largest, fmax(fabs(r->speed_after[u]), fabs(lw_speed_value(s, u))));
  if (jump.residual > MAX_RELATIVE_RESIDUAL * fmax(largest, MIN_SPEED_SCALE))
    return lw_fail(
        s, LW_ERROR_SOLVER,
        "no speeds after the event at t = %.9g s satisfy all joints, locks, couplings and prescribed motions: "
        "they contradict each other by %.3g (rad/s or m/s)",
        lw_reals(s)[s->model->at.time], jump.residual);
  return LW_OK;
}

/* Sets the speeds after the jump and adds the impulses to those of the same event so far. */
static void apply_velocity_jump(lw_state *s) {
  const struct lw_event_workspace *r = s->events;
  const lw_model *m = s->model;
  double *x = lw_reals(s);
  memcpy(x + m->at.u, r->speed_after, sizeof(double) * (size_t)m->size.nu);
  for (int32_t k = 0; k < 3 * m->size.joints; k++)
    x[m->at.impulse_force + k] += r->force_impulse[k], x[m->at.impulse_torque + k] += r->torque_impulse[k];
  for (int32_t u = 0; u < m->size.nu; u++)
    if (x[m->at.locked + u] != 0.0) x[m->at.u + u] = 0.0; /* exactly */
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* ---- contacts push and do not pull ---- */

void lw_leave_contact(lw_state *s, int32_t i) {
  const lw_model *m = s->model;
  lw_transition_memory *memory = lw_memory_of(s, i);
  const int32_t u = lw_stopped_speed(m, transition_of(s, i));
  double *locked = lw_reals(s) + m->at.locked + u;
  const int bound = memory->event_sign > 0.0;
  *locked = (double)(lw_lock_holders(*locked) & ~LW_HELD_BY_STOP);
  memory->event_sign = 0.0;
  memory->shift[bound] = fmin(lw_stop_gap(s, i, bound), 0.0);
  memory->done = 0.0;
  lw_reals(s)[m->at.transition_active + i] = 0.0;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* The impulse of a stop; positive if it pushes into the permitted range. */
static double contact_impulse(const lw_state *s, int32_t i) {
  const int32_t u = lw_stopped_speed(s->model, transition_of(s, i));
  const double side = lw_memory_of(s, i)->event_sign;
  if (side != 0.0) return -side * s->events->coupling_impulse[lw_lock_of(s, u)];
  return (s->events->due[i] & LW_HIT_UPPER ? -1.0 : 1.0) * s->events->constraint_impulse[u];
}

static double largest_contact_impulse(const lw_state *s) {
  double largest = 0.0;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_STOP && (lw_memory_of(s, i)->event_sign != 0.0 || s->events->due[i] & LW_HIT))
      largest = fmax(largest, fabs(contact_impulse(s, i)));
  return largest;
}

#define TENSILE_TOLERANCE 1e-10 /* of the largest contact impulse */

/* Releases the stops that would pull; returns how many. */
static int32_t release_tensile_contacts(lw_state *s) {
  const double least = -TENSILE_TOLERANCE * largest_contact_impulse(s);
  int32_t released = 0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (transition_of(s, i)->action != LW_STOP) continue;
    const int rests = lw_memory_of(s, i)->event_sign != 0.0, hit = (s->events->due[i] & LW_HIT) != 0;
    if ((!rests && !hit) || contact_impulse(s, i) >= least) continue;
    if (rests) lw_leave_contact(s, i);
    else s->events->constrained[lw_stopped_speed(s->model, transition_of(s, i))] = 0, s->events->due[i] = 0;
    released++;
  }
  return released;
}

static lw_status solve_unilateral_jump(lw_state *s) {
  for (int32_t tries = 0; tries <= s->base->size.transitions; tries++) {
    const lw_status e = solve_velocity_jump(s);
    if (e) return e;
    if (!release_tensile_contacts(s)) break;
  }
  apply_velocity_jump(s);
  return LW_OK;
}

/* ---- rest ---- */

#define REST_TIME_FRACTION 2e-7 /* of the time since the first impact; the remaining impacts are skipped */
#define REST_HEIGHT_FACTOR 2.0  /* height of a bounce relative to the zero tolerance of the indicator */
#define TIME_RESOLUTION 1.5e-14 /* of the time: shortest flight that event location resolves */

/* The flights between impacts are a geometric series with a finite sum: after that time the body is at rest. */
static int comes_to_rest(lw_state *s, int32_t i) {
  const int upper = (s->events->due[i] & LW_HIT_UPPER) != 0;
  const int32_t u = lw_stopped_speed(s->model, transition_of(s, i));
  const double inward = (upper ? 1.0 : -1.0) * lw_reals(s)[s->model->at.acceleration + u];
  const double away = (upper ? -1.0 : 1.0) * lw_speed_value(s, u), t = lw_reals(s)[s->model->at.time];
  const double e = restitution_of(s, i),
               width = lw_zero_tolerance(lw_reals(s)[s->model->at.transition_value + 2 * i + upper]);
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double flight = t - memory->impact;
  if (memory->done == 0.0) memory->first_impact = t;
  else if (flight > memory->flight) memory->first_impact = memory->impact;
  memory->flight = memory->done == 0.0 ? INFINITY : flight;
  memory->impact = t, memory->done = 1.0;
  if (!(inward > 0.0)) return 0;
  const double next = 2.0 * away / inward;
  if (away * away <= 2.0 * inward * REST_HEIGHT_FACTOR * width) return 1;
  if (e >= 1.0) return 0;
  if (next * (1.0 - e) <= TIME_RESOLUTION * fabs(t)) return 1;
  return next / (1.0 - e) < REST_TIME_FRACTION * (t - memory->first_impact);
}

static void enter_contact(lw_state *s, int32_t i) {
  const int32_t u = lw_stopped_speed(s->model, transition_of(s, i));
  double *x = lw_reals(s);
  x[s->model->at.locked + u] = (double)(lw_lock_holders(x[s->model->at.locked + u]) | LW_HELD_BY_STOP);
  x[s->model->at.lock_value + u] = lw_coordinate_value(s, u);
  x[s->model->at.transition_active + i] = 1.0;
  lw_memory_of(s, i)->event_sign = s->events->due[i] & LW_HIT_UPPER ? 1.0 : -1.0;
}

/* A body that rebounds reaches the bound again at the same place; otherwise the present gap becomes the bound. */
static void shift_bound(lw_state *s, int32_t i, int bound) {
  const double speed = lw_speed_value(s, lw_stopped_speed(s->model, transition_of(s, i)));
  const int rebounds = restitution_of(s, i) > 0.0 && (bound ? -speed : speed) > 0.0;
  const double value = lw_reals(s)[s->model->at.transition_value + 2 * i + bound];
  lw_memory_of(s, i)->shift[bound] = lw_stop_gap(s, i, bound) + (rebounds ? lw_zero_tolerance(value) : 0.0);
}

static lw_status enter_contacts(lw_state *s, int32_t *entered) {
  const lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
  *entered = 0;
  if (e) return e;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (transition_of(s, i)->action != LW_STOP || !(s->events->due[i] & LW_HIT)) continue;
    shift_bound(s, i, (s->events->due[i] & LW_HIT_UPPER) != 0);
    if (!comes_to_rest(s, i)) continue;
    enter_contact(s, i);
    s->events->due[i] = 0;
    ++*entered;
  }
  return LW_OK;
}

void lw_store_speeds_before(lw_state *s) {
  for (int32_t u = 0; u < speeds_of(s); u++) s->events->target[u] = lw_speed_value(s, u);
}

lw_status lw_apply_impacts(lw_state *s) {
  clear_constraints(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (transition_of(s, i)->action == LW_IMPULSE && s->events->due[i] & LW_DO) add_applied_impulse(s, i);
    if (s->events->due[i] & LW_HIT) add_impact(s, i);
  }
  int32_t entered;
  lw_status e = solve_unilateral_jump(s);
  if (e || (e = enter_contacts(s, &entered)) || !entered) return e;
  clear_constraints(s);
  if ((e = solve_velocity_jump(s))) return e; /* removes the remaining speed of the bounce; here a stop may pull */
  apply_velocity_jump(s);
  return LW_OK;
}
