/* Impacts on stops and contact with them. All stops that touch are treated together. With W the accelerations of their
 * coordinates by loads on them, all counted away from the bounds, an impact asks for
 *   v+ = v + W lambda >= -e min(v-, 0),   lambda >= 0,   each lambda zero where the inequality is strict
 * (Newton's restitution for each stop, Moreau 1988 for several at once; v: after locks, closures and applied impulses).
 * Energy never rises: it changes by sum lambda (1 - e) v- / 2. A stop that touches and was leaving, but is pressed in by
 * the others, is hit next, in the same way. Then
 *   a = a0 + W f >= 0,   f >= 0,   each f zero where the inequality is strict
 * selects the stops that carry a load: their coordinates are locked, until the load would become a tension.
 * Frictions of speeds that are zero take part, those of one speed together: f between -F and F, a zero within. A speed
 * that sticks is locked, until the load exceeds F. One whose load is at a limit slides, with the friction of its direction
 * from there, unless the others that stick hold its speed: it is then locked too, which gives the loads of least norm, or,
 * where these exceed a limit, rests with the load of its limit. Limits may differ by direction: a freewheel has the lower
 * one 0. A dry friction has no impulse, so that in an impact nothing sticks; but one of infinite limit takes part as a stop
 * without restitution does. */
#include "events/impact.h"
#include "events/dead_points.h"
#include "events/lock_up.h"
#include "math/complementarity.h"
#include "math/quaternion_kernel.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int32_t speeds_of(const lw_state *s) { return s->model->size.nu + s->model->size.nu_cut; }

/* The rate of what touches, of one number for each speed. */
static double rate_along(const lw_state *s, const lw_contact *c, const double *by_speed) {
  return c->is_friction ? lw_along_friction(s, c->transition, by_speed) : by_speed[c->u];
}

static double restitution_of(const lw_state *s, int32_t i) { return lw_reals(s)[s->model->at.restitution + i]; }

/* ---- one jump ---- */

static void clear_constraints(lw_state *s) { memset(s->events->constrained, 0, (size_t)speeds_of(s)); }

static void clear_applied_impulses(lw_state *s) {
  memset(s->events->applied_impulse, 0, sizeof(double) * 6 * (size_t)s->model->size.bodies);
}

/* Applied impulses act at points; the moment is taken about the centre of mass. */
static void add_applied_impulse(lw_state *s, int32_t i) {
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

static double fastest(const lw_state *s, const double *speed) {
  double most = ROUNDING_SPEED;
  for (int32_t u = 0; u < speeds_of(s); u++) most = fmax(most, fabs(speed[u]));
  return most;
}

/* The jump by the constrained speeds and the applied impulses; *residual: the rate by which constraints contradict one another. */
static lw_status find_jump(lw_state *s, double *residual) {
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
  return fmax(r->fastest_before, fmax(fastest(s, r->speed_after), fastest(s, r->speed_before)));
}

static double relative_residual(const lw_state *s, double residual) { return residual / speed_scale(s); }

/* *residual: 0 where constraints do not contradict one another. */
static lw_status find_velocity_jump(lw_state *s, double *residual) {
  const lw_status e = find_jump(s, residual);
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
  const lw_status e = find_velocity_jump(s, &residual);
  return e || residual == 0.0 ? e : report_contradiction(s, residual);
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
  memcpy(r->speed_before, r->speed_after, sizeof(double) * (size_t)speeds_of(s));
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* The speeds nearest to the present ones, in the metric of the masses, that satisfy all constraints. */
static lw_status project_speeds(lw_state *s) {
  clear_constraints(s);
  clear_applied_impulses(s);
  const lw_status e = solve_velocity_jump(s);
  if (e == LW_OK) apply_velocity_jump(s);
  return e;
}

/* ---- dead points ---- */

typedef struct neighbours {
  int32_t found, blocked;
} neighbours;

/* The jump there is added to the mean. */
static lw_status add_neighbour(lw_state *s, void *context) {
  neighbours *n = context;
  struct lw_event_workspace *r = s->events;
  const int32_t speeds = speeds_of(s), joints = s->model->size.joints;
  double residual;
  const lw_status e = find_jump(s, &residual);
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
  const int32_t speeds = speeds_of(s), joints = m->size.joints;
  double *x = lw_reals(s);
  memcpy(x + m->at.u, r->neighbour, sizeof(double) * (size_t)m->size.nu);
  memcpy(r->speed_before, r->neighbour, sizeof(double) * (size_t)speeds);
  for (int32_t k = 0; k < 3 * joints; k++) {
    x[m->at.impulse_force + k] += r->neighbour[speeds + k];
    x[m->at.impulse_torque + k] += r->neighbour[speeds + 3 * joints + k];
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return project_speeds(s);
}

/* Speeds that satisfy the rates of all constraints may violate their second derivatives, and where loops are open by a
 * little, rates contradict each other as though the pose were a dead point: then the neighbours decide. */
static lw_status decide_at_dead_point(lw_state *s, double residual) {
  struct lw_event_workspace *r = s->events;
  neighbours n = {0, 0};
  int closes = 0;
  double violation = 0.0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) closes |= lw_closes(s, i);
  if (!closes) return residual == 0.0 ? LW_OK : report_contradiction(s, residual);
  lw_status e = residual == 0.0 ? lw_find_second_order_violation(s, &violation) : LW_OK;
  if (!e && residual == 0.0 && violation <= SECOND_ORDER) lw_clear_speeds_at_rest(s);
  if (e || (residual == 0.0 && violation <= SECOND_ORDER)) return e;
  memset(r->neighbour, 0, sizeof(double) * (size_t)(speeds_of(s) + 6 * s->model->size.joints));
  if ((e = lw_visit_neighbours(s, add_neighbour, &n))) return e;
  if (n.found == 2 && !n.blocked) {
    if ((e = take_neighbours_speeds(s)) || (e = lw_find_second_order_violation(s, &violation))) return e;
    if (violation <= SECOND_ORDER) return lw_rest_at_dead_point(s);
  }
  if (residual != 0.0) return report_contradiction(s, residual);
  return lw_report_lock_up(s, "to second order: the pose is a dead point, and the motion would leave it");
}

/* ---- a run of impacts ---- */

static double bound_value(const lw_state *s, int32_t i, int bound) {
  return lw_reals(s)[s->model->at.transition_value + 2 * i + bound];
}

/* Gaps are rounded relative to this. */
static double bound_scale(const lw_state *s, int32_t i, int bound) { return 1.0 + fabs(bound_value(s, i, bound)); }

static double bound_tolerance(const lw_state *s, int32_t i, int bound) {
  return lw_zero_tolerance(bound_value(s, i, bound));
}

static double now(const lw_state *s) { return lw_reals(s)[s->model->at.time]; }

static void extend_run(lw_state *s) {
  lw_event_memory *h = lw_event_memory_of(s);
  const double t = now(s), flight = t - h->last_impact;
  if (h->between_impacts == 0.0) h->first_impact = t, h->between_impacts = INFINITY;
  else if (flight > 0.0)
    h->between_impacts =
        h->between_impacts < INFINITY ? h->between_impacts + (flight - h->between_impacts) / IMPACTS_OF_RUN : flight;
  h->last_impact = t;
}

/* Several stops that rebound alternately do so ever faster, in no simple order; in the end all of their flights, with what
 * the slowest series would still take, are short compared with the time since the first impact. Then nothing rebounds
 * from those that took part. */
static int has_died_away(const lw_state *s, int32_t i) {
  const lw_event_memory *h = lw_event_memory_of(s);
  const lw_transition_memory *memory = lw_memory_of(s, i);
  return memory->done != 0.0 && restitution_of(s, i) < 1.0 && h->between_impacts > 0.0 &&
         (IMPACTS_OF_RUN + 2.0 / (1.0 - restitution_of(s, i))) * h->between_impacts <
             REST_TIME_FRACTION * (now(s) - h->first_impact) &&
         now(s) - memory->impact <= RECENT_IMPACT * h->between_impacts;
}

static void count_impact(lw_state *s, int32_t i) {
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double t = now(s), flight = t - memory->impact;
  if (memory->done == 0.0) memory->first_impact = t;
  else if (flight > memory->flight) memory->first_impact = memory->impact;
  memory->flight = memory->done == 0.0 ? INFINITY : flight;
  memory->impact = t, memory->done = 1.0;
}

/* Where several stops touch, each bounce makes others bounce, series within series. Skipping the rest of one changes
 * positions by its height h and speeds by as little: the impulse is the same, a moment earlier. */
static int is_low_bounce(const lw_state *s, const lw_contact *c, double away, double inward, double rest) {
  const double t = now(s), height = away * away / (2.0 * inward);
  return s->events->contacts > 1 && height <= LOW_BOUNCE * bound_scale(s, c->transition, c->upper) &&
         (rest < LOW_REST_FRACTION * (t - lw_memory_of(s, c->transition)->first_impact) ||
          rest < LOW_RUN_FRACTION * (t - lw_event_memory_of(s)->first_impact));
}

/* A bounce of speed `away` against the acceleration `inward`: the flights between the impacts on one stop are a
 * geometric series with a finite sum, after which the body is at rest. */
static int is_negligible_bounce(const lw_state *s, const lw_contact *c, double away, double inward) {
  const lw_transition_memory *memory = lw_memory_of(s, c->transition);
  const double t = now(s), e = restitution_of(s, c->transition);
  if (away * away <= 2.0 * inward * REST_HEIGHT_FACTOR * bound_tolerance(s, c->transition, c->upper)) return 1;
  if (e >= 1.0) return 0;
  const double rest = 2.0 * away / inward / (1.0 - e); /* of the series */
  if (has_died_away(s, c->transition) || is_low_bounce(s, c, away, inward, rest)) return 1;
  return c->hit && (rest * (1.0 - e) * (1.0 - e) <= TIME_RESOLUTION * fabs(t) ||
                    rest < REST_TIME_FRACTION * (t - memory->first_impact));
}

/* ---- stops that touch ---- */

/* A stop that touched at rest, without a load, still does where nothing has moved it. */
static int has_stayed(const lw_state *s, int32_t i, int bound) {
  const double speed = s->events->speed_before[transition_of(s, i)->hold];
  return fabs(speed) <= NEGLIGIBLE_SPEED * fastest(s, s->events->speed_before) &&
         fabs(lw_stop_gap(s, i, bound)) <= UNLOADED_GAP * bound_scale(s, i, bound);
}

static int touches(const lw_state *s, int32_t i, int bound) {
  const double gap = lw_stop_gap(s, i, bound) - lw_memory_of(s, i)->shift[bound];
  return gap <= TOUCHING * bound_tolerance(s, i, bound) || has_stayed(s, i, bound) ||
         (has_died_away(s, i) && fabs(lw_stop_gap(s, i, bound)) <= DIED_AWAY * bound_scale(s, i, bound));
}

/* A stop on which a joint rested lets it go. */
static void free_contact(lw_state *s, int32_t i) {
  double *locked = lw_reals(s) + s->model->at.locked + transition_of(s, i)->hold;
  *locked = (double)(lw_lock_holders(*locked) & ~LW_HELD_BY_STOP);
  lw_memory_of(s, i)->event_sign = 0.0;
  lw_reals(s)[s->model->at.transition_active + i] = 0.0;
}

/* A coordinate that a prescribed motion turns at the bound itself passes it by the errors of the solution. */
static double grazing_depth(const lw_state *s, const lw_contact *c) {
  const double speed = c->outward * s->events->speed_before[c->u], *x = lw_reals_before(s);
  const double outward = c->outward * x[s->model->at.acceleration + c->u];
  const double depth = speed < 0.0 && outward > 0.0 ? speed * speed / (2.0 * outward) : INFINITY;
  const double accuracy = fmax(GRAZING, x[s->model->at.watch_tolerance + 1]);
  return depth <= accuracy * bound_scale(s, c->transition, c->upper) ? depth : 0.0;
}

/* Lists the bounds that are touched, none of which holds its coordinate any more. What a lock holds needs no stop. */
static void find_contacts(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const lw_model *m = s->model;
  r->contacts = 0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    if (x->action != LW_STOP || lw_is_open(m, x->joint)) continue;
    const int32_t u = x->hold, hit = r->due[i] & LW_HIT;
    const double sign = lw_memory_of(s, i)->event_sign;
    if (lw_lock_holders(lw_reals(s)[m->at.locked + u]) & LW_HELD_BY_LOCK) continue;
    for (int bound = 0; bound < 2; bound++) {
      if (!(x->bounds >> bound & 1)) continue;
      const int rested = sign == (bound ? 1.0 : -1.0), is_hit = hit == (bound ? LW_HIT_UPPER : LW_HIT_LOWER);
      if (!rested && !is_hit && (hit || sign != 0.0 || !touches(s, i, bound))) continue;
      lw_contact *c = &r->contact[r->contacts++];
      *c = (lw_contact){
          .transition = i, .u = u, .upper = bound, .outward = bound ? -1.0 : 1.0, .rested = rested, .hit = is_hit};
      c->grazing = is_hit ? grazing_depth(s, c) : 0.0;
      break;
    }
    if (sign != 0.0) free_contact(s, i);
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* ---- frictions ---- */

static lw_complementarity problem_of(const lw_state *s, double tolerance) {
  const struct lw_event_workspace *r = s->events;
  return (lw_complementarity){.n = r->contacts,
                              .W = r->compliance,
                              .b = r->excess,
                              .lower = r->lower,
                              .upper = r->upper,
                              .eligible = r->eligible,
                              .tolerance = tolerance,
                              .lambda = r->load,
                              .active = r->active,
                              .scratch = r->scratch};
}

/* Whether the speed of a friction is zero wherever those of `others` are. */
static int follows_others(const lw_state *s, int32_t i) {
  const struct lw_event_workspace *r = s->events;
  const lw_complementarity problem = problem_of(s, 0.0);
  return r->compliance[i * r->contacts + i] > 0.0 && lw_is_dependent(&problem, r->others, i);
}

#define EACH_IN_SPEED(s, c, i)                                                                                         \
  for (int32_t i = (c)->transition, end = -1; i != end; i = transition_of(s, i)->next_in_speed, end = (c)->transition)

/* Those of one speed are one contact, that of the first. */
static int is_first_in_speed(const lw_state *s, int32_t i) {
  int32_t j = transition_of(s, i)->next_in_speed;
  while (j > i) j = transition_of(s, j)->next_in_speed;
  return j == i;
}

static void set_friction(lw_state *s, const lw_contact *c, double state, double shift) {
  EACH_IN_SPEED(s, c, i) * lw_friction_state(s, i) = state, lw_memory_of(s, i)->shift[0] = shift;
}

static void set_active(lw_state *s, const lw_contact *c, int active) {
  double *of = lw_reals(s) + s->model->at.transition_active;
  if (c->is_friction) EACH_IN_SPEED(s, c, i) of[i] = active;
  else of[c->transition] = active;
}

static int32_t due_in_speed(const lw_state *s, const lw_contact *c) {
  int32_t due = 0;
  EACH_IN_SPEED(s, c, i) due |= s->events->due[i];
  return due;
}

/* Adds the frictions of joints that are closed and not locked, none of which holds its speed any more. */
static void find_frictions(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const lw_model *m = s->model;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    if (x->action != LW_STICK) continue;
    const double state = *lw_friction_state(s, i);
    lw_let_go(s, x->hold, LW_HELD_BY_FRICTION);
    *lw_friction_state(s, i) = LW_FRICTION_STICKS;
    lw_reals(s)[m->at.transition_active + i] = 0.0;
    if (lw_lock_holders(lw_reals(s)[m->at.locked + x->hold]) & LW_HELD_BY_LOCK) continue;
    if ((x->directions && lw_is_open(m, x->joint)) || !is_first_in_speed(s, i)) continue;
    lw_contact *c = &r->contact[r->contacts++];
    *c = (lw_contact){.transition = i, .u = x->hold, .outward = 1.0, .is_friction = 1, .state = state};
    const int32_t due = due_in_speed(s, c);
    c->hit = due & LW_CHANGE_FRICTION, c->begins = due & LW_BEGIN_TO_SLIDE;
  }
}

/* It never slides backwards, whatever load or impulse that takes. */
static int never_yields(const lw_state *s, const lw_contact *c) {
  double lower, upper;
  if (!c->is_friction) return 0;
  lw_holding_limits(s, c->transition, &lower, &upper);
  return isinf(upper);
}

int lw_has_friction(const lw_state *s) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_STICK) return 1;
  return 0;
}

/* A speed that errors leave short of zero counts from there. */
static void let_slide_along(lw_state *s, const lw_contact *c, double direction) {
  const double speed = rate_along(s, c, s->events->speed_before);
  set_friction(s, c, direction, direction * speed < 0.0 ? speed : 0.0);
}

static lw_status report_backward(lw_state *s, const lw_contact *c, double speed) {
  return lw_fail(s, LW_ERROR_USAGE,
                 "'%.60s' has a speed of %.6g rad/s or m/s, and its infinite capacity allows none backwards: give it a "
                 "start that is not negative, or a capacity",
                 s->base->transition_name[c->transition], speed);
}

/* Those that slide after a jump; the others, whose speeds are zero but for errors or follow from such, may stick. */
static lw_status find_sliding(lw_state *s, double slow) {
  struct lw_event_workspace *r = s->events;
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    const double speed = rate_along(s, c, r->speed_before);
    r->others[i] = c->is_friction && !c->begins && (c->hit || fabs(speed) <= fmax(slow, TOGETHER_AT_REST));
    if (!c->is_friction || r->others[i] || speed > 0.0 || !never_yields(s, c)) continue;
    if (c->state == 0.0) return report_backward(s, c, speed);
    r->others[i] = 1; /* it was free until now: errors of the solution */
  }
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (c->is_friction && !r->others[i] && (c->begins || !follows_others(s, i)))
      let_slide_along(s, c, rate_along(s, c, r->speed_before) > 0.0 ? 1.0 : -1.0);
  }
  return LW_OK;
}

/* Those whose states have changed take part in the event. */
static void note_changed_frictions(lw_state *s) {
  const struct lw_event_workspace *r = s->events;
  for (int32_t k = 0; k < r->contacts; k++) {
    const lw_contact *c = &r->contact[k];
    if (!c->is_friction || *lw_friction_state(s, c->transition) == c->state) continue;
    EACH_IN_SPEED(s, c, i) lw_memory_of(s, i)->last = lw_reals(s)[s->base->at.event_count];
  }
}

/* Its holding load has reached the limit. */
static int broke_away(const lw_contact *c) { return c->is_friction && c->hit && c->state == LW_FRICTION_STICKS; }

/* A friction that others do not hold. */
static int is_at_limit(const lw_state *s, int32_t i) {
  const struct lw_event_workspace *r = s->events;
  return r->contact[i].is_friction && r->eligible[i] && !r->held[i] &&
         !(r->load[i] > r->lower[i] && r->load[i] < r->upper[i]);
}

static int may_stick(const lw_state *s, const lw_contact *c) {
  return *lw_friction_state(s, c->transition) == LW_FRICTION_STICKS;
}

/* The direction in which a load at a limit lets slide. */
static double direction_at_limit(const struct lw_event_workspace *r, int32_t i) {
  return r->load[i] == r->lower[i] ? 1.0 : -1.0;
}

static double loaded_acceleration(const struct lw_event_workspace *r, int32_t i) {
  double a = r->excess[i];
  for (int32_t j = 0; j < r->contacts; j++) a += r->compliance[i * r->contacts + j] * r->load[j];
  return a;
}

/* It is at rest and nothing moves it, without a load, as one of one direction may be: unless it was free, it holds. */
static int rests_unloaded(const lw_state *s, int32_t i, double tolerance) {
  const struct lw_event_workspace *r = s->events;
  const lw_contact *c = &r->contact[i];
  return r->load[i] == 0.0 && (c->hit ? c->state != LW_FRICTION_STICKS : c->state != 1.0 && c->state != -1.0) &&
         loaded_acceleration(r, i) <= tolerance && loaded_acceleration(r, i) >= -tolerance;
}

/* Frictions at a limit slide unless others hold their speeds; returns whether one does. */
static int let_slide(lw_state *s, double tolerance) {
  struct lw_event_workspace *r = s->events;
  int found = 0;
  for (int32_t i = 0; i < r->contacts; i++) {
    if (!is_at_limit(s, i) || rests_unloaded(s, i, tolerance)) continue;
    let_slide_along(s, &r->contact[i], direction_at_limit(r, i));
    r->eligible[i] = 0, found = 1;
  }
  if (found) lw_state_changed(s, LW_STAGE_CONSTANTS);
  return found;
}

/* A contact along speeds, each by a gear. */
typedef struct speeds_of_contact {
  int32_t first, count;
  const lw_gear *gear;  /* NULL: its one speed */
  const double *factor; /* of each gear */
} speeds_of_contact;

static speeds_of_contact speeds_along(const lw_state *s, const lw_contact *c, int32_t first) {
  const lw_transition *x = transition_of(s, c->transition);
  if (!c->is_friction) return (speeds_of_contact){first, 1, NULL, &c->outward};
  const lw_force *of = &s->model->force[x->number];
  return (speeds_of_contact){first, of->gears, s->model->gear + of->first,
                             lw_reals(s) + s->model->at.force_gear + of->first};
}

/* The speeds of all contacts, one after the other; returns how many. */
static int32_t list_directions(const lw_state *s) {
  struct lw_event_workspace *r = s->events;
  int32_t n = 0;
  for (int32_t i = 0; i < r->contacts; i++) {
    const speeds_of_contact along = speeds_along(s, &r->contact[i], n);
    for (int32_t k = 0; k < along.count; k++) r->direction[n++] = along.gear ? along.gear[k].u : r->contact[i].u;
  }
  return n;
}

/* An element of W from that of its speeds; *size: the sum of its parts regardless of sign. */
static double compliance_of_pair(const lw_state *s, speeds_of_contact a, speeds_of_contact b, int32_t n, double *size) {
  double sum = 0.0;
  *size = 0.0;
  for (int32_t i = 0; i < a.count; i++)
    for (int32_t j = 0; j < b.count; j++) {
      const double part = a.factor[i] * b.factor[j] * s->events->by_direction[(a.first + i) * n + b.first + j];
      sum += part, *size += fabs(part);
    }
  return sum;
}

/* W; what cannot move has none. */
static lw_status measure_compliance(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const int32_t n = r->contacts, speeds = list_directions(s);
  const lw_status e = n ? lw_find_speed_compliance(s, speeds, r->direction, r->by_direction) : LW_OK;
  double size;
  for (int32_t i = 0, first = 0; !e && i < n; i++) {
    const speeds_of_contact a = speeds_along(s, &r->contact[i], first);
    for (int32_t j = 0, other = 0; j < n; j++) {
      const speeds_of_contact b = speeds_along(s, &r->contact[j], other);
      const double W = compliance_of_pair(s, a, b, speeds, &size);
      r->compliance[i * n + j] = i == j && W <= DEPENDENT_DIRECTION * size ? 0.0 : W;
      other += b.count;
    }
    first += a.count;
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      if (r->compliance[i * n + i] == 0.0 || r->compliance[j * n + j] == 0.0) r->compliance[i * n + j] = 0.0;
  return e;
}

/* The loads for the present excess; returns how many stops are active, -1: no loads do. */
static int32_t solve_loads(lw_state *s, double tolerance) {
  const lw_complementarity problem = problem_of(s, tolerance);
  return lw_solve_complementarity(&problem);
}

/* Notes the frictions at their limits whose speeds the active ones hold. */
static void find_held(lw_state *s, int32_t active) {
  struct lw_event_workspace *r = s->events;
  memset(r->others, 0, (size_t)r->contacts);
  for (int32_t k = 0; k < active; k++) r->others[r->active[k]] = 1;
  for (int32_t i = 0; i < r->contacts; i++)
    r->held[i] = r->contact[i].is_friction && r->eligible[i] && may_stick(s, &r->contact[i]) && !r->others[i] &&
                 follows_others(s, i);
  for (int32_t i = 0, k = 0; k < active; i++)
    if (r->others[i]) r->active[k++] = i;
}

/* Whether the present locks of other frictions and stops hold the speed of a friction. */
static int is_held_by_others(lw_state *s, int32_t i) {
  struct lw_event_workspace *r = s->events;
  for (int32_t j = 0; j < r->contacts; j++)
    r->others[j] = j != i && lw_lock_holders(lw_reals(s)[s->model->at.locked + r->contact[j].u]) != 0;
  return follows_others(s, i);
}

/* ---- impacts ---- */

#define MAX_ROUNDS 1000 /* of impacts at one time; then nothing rebounds */

static double outward_speed(const lw_state *s, const lw_contact *c, const double *speed) {
  return c->outward * rate_along(s, c, speed);
}

/* Stops, and frictions that never slide back, push in an impact. */
static int pushes(const lw_state *s, const lw_contact *c) { return !c->is_friction || never_yields(s, c); }

/* The least outward speed that a stop asks for after an impact. */
static double rebound_speed(const lw_state *s, const lw_contact *c, int inelastic) {
  return inelastic || c->is_friction || c->before >= 0.0 || has_died_away(s, c->transition)
             ? 0.0
             : -restitution_of(s, c->transition) * c->before;
}

/* Finds the stops that push in this round; returns how many, -1: no impulses do. */
static int32_t find_pushing(lw_state *s, int inelastic, double tolerance) {
  struct lw_event_workspace *r = s->events;
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    r->excess[i] = c->after - rebound_speed(s, c, inelastic);
    r->eligible[i] = pushes(s, c) && (inelastic || c->before <= tolerance);
    r->lower[i] = 0.0, r->upper[i] = INFINITY;
  }
  return solve_loads(s, tolerance);
}

/* The speed that a stop's coordinate is given, whatever the others do. */
static void set_rebound(lw_state *s, lw_contact *c, int inelastic) {
  c->after = rebound_speed(s, c, inelastic);
  c->hit |= c->before < 0.0;
  c->impacted = 1;
}

/* One impact on all stops that touch and do not separate, by W alone. Returns whether it presses others in. */
static int find_impact(lw_state *s, int inelastic, double tolerance) {
  struct lw_event_workspace *r = s->events;
  int32_t active = find_pushing(s, inelastic, tolerance);
  if (active < 0) inelastic = 1, active = find_pushing(s, 1, tolerance);
  if (active < 0) { /* a prescribed motion presses against a stop, which the jump will report */
    for (int32_t i = 0; i < r->contacts; i++)
      if (r->eligible[i] && r->excess[i] < 0.0 && r->contact[i].grazing == 0.0) set_rebound(s, &r->contact[i], 1);
    return 0;
  }
  int pressed = 0;
  for (int32_t i = 0; i < r->contacts; i++) {
    lw_contact *c = &r->contact[i];
    if (r->eligible[i] && r->load[i] > 0.0) {
      set_rebound(s, c, inelastic);
      continue;
    }
    for (int32_t j = 0; j < r->contacts; j++) c->after += r->compliance[i * r->contacts + j] * r->load[j];
    pressed |= pushes(s, c) && c->after < -tolerance;
  }
  return pressed;
}

/* Impacts at one time: stops that one presses in are hit by the next. */
static void find_impacts_in_turn(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const double tolerance = NEGLIGIBLE_SPEED * fmax(fastest(s, r->speed_before), fastest(s, r->speed_after));
  for (int32_t i = 0; i < r->contacts; i++) {
    lw_contact *c = &r->contact[i];
    c->before = outward_speed(s, c, r->speed_before), c->after = outward_speed(s, c, r->speed_after);
  }
  for (int round = 0; find_impact(s, round == MAX_ROUNDS, tolerance) && round < MAX_ROUNDS; round++)
    for (int32_t i = 0; i < r->contacts; i++) r->contact[i].before = r->contact[i].after;
}

/* The speeds after locks, closures and applied impulses: if there are none, those before. */
static lw_status find_speeds_without_stops(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  double residual; /* the jump with stops will report it */
  clear_constraints(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (r->due[i] && transition_of(s, i)->action != LW_STOP) return find_jump(s, &residual);
  memcpy(r->speed_after, r->speed_before, sizeof(double) * (size_t)speeds_of(s));
  return LW_OK;
}

/* Frictions that never slide back are brought to rest by their locks. */
static void lock_impacted_frictions(lw_state *s, int locked) {
  int changed = 0;
  for (int32_t i = 0; i < s->events->contacts; i++) {
    const lw_contact *c = &s->events->contact[i];
    if (!c->impacted || !c->is_friction) continue;
    double *by = lw_reals(s) + s->model->at.locked + c->u;
    if (locked) *by = (double)(lw_lock_holders(*by) | LW_HELD_BY_FRICTION);
    else lw_let_go(s, c->u, LW_HELD_BY_FRICTION);
    changed = 1;
  }
  if (changed) lw_state_changed(s, LW_STAGE_CONSTANTS);
}

/* *residual: as of find_velocity_jump(). One jump in which all stops with an impact give the speeds of their last one; its impulses are those of all. */
static lw_status jump_with_impacts(lw_state *s, double *residual) {
  struct lw_event_workspace *r = s->events;
  lw_status e = find_speeds_without_stops(s);
  if (e) return e;
  find_impacts_in_turn(s);
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (!c->impacted || c->is_friction) continue;
    r->constrained[c->u] = 1;
    r->target[c->u] = c->outward * c->after - r->speed_before[c->u];
  }
  lock_impacted_frictions(s, 1);
  if (!(e = find_velocity_jump(s, residual))) apply_velocity_jump(s);
  lock_impacted_frictions(s, 0);
  return e;
}

void lw_store_speeds_before(lw_state *s) {
  for (int32_t u = 0; u < speeds_of(s); u++) s->events->speed_before[u] = lw_speed_value(s, u);
  s->events->fastest_before = fastest(s, s->events->speed_before);
}

/* ---- contact ---- */

static void enter_contact(lw_state *s, const lw_contact *c) {
  double *x = lw_reals(s);
  const int holder = c->is_friction ? LW_HELD_BY_FRICTION : LW_HELD_BY_STOP;
  x[s->model->at.locked + c->u] = (double)(lw_lock_holders(x[s->model->at.locked + c->u]) | holder);
  x[s->model->at.lock_value + c->u] = transition_of(s, c->transition)->directions
                                          ? lw_coordinate_value(s, c->u)
                                          : lw_position_of_friction(s, c->transition);
  set_active(s, c, 1);
  if (!c->is_friction) lw_memory_of(s, c->transition)->event_sign = -c->outward;
}

/* A body that rebounds reaches the bound again at the same place; otherwise the present gap becomes the bound. */
static void shift_bound(lw_state *s, const lw_contact *c) {
  const double gap = lw_stop_gap(s, c->transition, c->upper);
  double *shift = lw_memory_of(s, c->transition)->shift + c->upper;
  if (c->hit) {
    const int rebounds = restitution_of(s, c->transition) > 0.0 && outward_speed(s, c, s->events->speed_before) > 0.0;
    *shift = gap + (rebounds ? bound_tolerance(s, c->transition, c->upper) : 0.0);
    if (!c->impacted) *shift = gap - 2.0 * c->grazing;
  } else if (c->rested) *shift = fmin(gap, 0.0);
}

/* A stop that touches without a load, since others hold its coordinate, would be hit again and again by rounding. */
static void widen_unloaded(lw_state *s, const lw_contact *c) {
  lw_transition_memory *memory = lw_memory_of(s, c->transition);
  if (memory->event_sign == 0.0)
    memory->shift[c->upper] =
        lw_stop_gap(s, c->transition, c->upper) - UNLOADED_GAP * bound_scale(s, c->transition, c->upper);
}

/* Stops whose bounces continue take no part, one after the other; returns how many of the others carry a load. */
static int32_t find_loaded(lw_state *s, double tolerance) {
  struct lw_event_workspace *r = s->events;
  const double slow = NEGLIGIBLE_SPEED * fastest(s, r->speed_before);
  for (;;) {
    const int32_t active = solve_loads(s, tolerance);
    int changed = 0;
    double largest = 0.0;
    for (int32_t k = 0; k < active; k++) largest = fmax(largest, r->load[r->active[k]]);
    for (int32_t k = 0; k < active; k++) {
      const int32_t i = r->active[k];
      const lw_contact *c = &r->contact[i];
      if (c->is_friction) continue;
      const double away = outward_speed(s, c, r->speed_before),
                   inward = r->compliance[i * r->contacts + i] * r->load[i];
      const int pulls = r->due[c->transition] & LW_LEAVE_CONTACT && r->load[i] <= NEGLIGIBLE_LOAD * largest;
      if (!pulls && (away <= slow || is_negligible_bounce(s, c, away, inward))) continue;
      r->eligible[i] = 0, changed = 1;
    }
    if (!changed) return active;
  }
}

/* Where a friction has just reached its limit the excess is rounding: with a little less of it the others hold in its
 * place, or all of them break away. Returns as find_loaded(). */
static int32_t find_clearly_loaded(lw_state *s, double tolerance) {
  struct lw_event_workspace *r = s->events;
  int32_t loaded = find_loaded(s, tolerance);
  int reached = 0;
  find_held(s, loaded < 0 ? 0 : loaded);
  for (int32_t i = 0; i < r->contacts; i++) {
    if (!broke_away(&r->contact[i]) || !is_at_limit(s, i) || fabs(loaded_acceleration(r, i)) > tolerance) continue;
    r->lower[i] *= 1.0 - CLEARLY_WITHIN, r->upper[i] *= 1.0 - CLEARLY_WITHIN, reached = 1;
  }
  if (!reached) return loaded;
  loaded = find_loaded(s, tolerance);
  find_held(s, loaded < 0 ? 0 : loaded);
  return loaded;
}

static double largest_acceleration(const lw_state *s) {
  double most = 0.0;
  for (int32_t u = 0; u < speeds_of(s); u++) most = fmax(most, fabs(lw_reals(s)[s->model->at.acceleration + u]));
  return most;
}

/* Accelerations of all stops that touch, and which of them may carry a load. */
static void find_excess(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  for (int32_t i = 0; i < r->contacts; i++)
    r->excess[i] = outward_speed(s, &r->contact[i], lw_reals(s) + s->model->at.acceleration);
}

/* A speed that nothing can change, as that of a joint at a dead point, sticks only where it stays. */
static void prepare_friction(lw_state *s, int32_t i, double tolerance) {
  struct lw_event_workspace *r = s->events;
  lw_contact *c = &r->contact[i];
  const double yields = r->compliance[i * r->contacts + i];
  double lower, upper;
  lw_holding_limits(s, c->transition, &lower, &upper);
  c->rests |= may_stick(s, c);
  r->eligible[i] = may_stick(s, c) && yields > 0.0 && upper > lower;
  if (may_stick(s, c) && !(yields > 0.0) && fabs(r->excess[i]) > tolerance)
    let_slide_along(s, c, r->excess[i] > 0.0 ? 1.0 : -1.0);
  r->lower[i] = r->eligible[i] ? lower : 0.0, r->upper[i] = r->eligible[i] ? upper : 0.0;
}

static void prepare_contacts(lw_state *s, double slow, double tolerance) {
  struct lw_event_workspace *r = s->events;
  find_excess(s);
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (c->is_friction) {
      prepare_friction(s, i, tolerance);
      continue;
    }
    if (c->hit) count_impact(s, c->transition);
    r->lower[i] = 0.0, r->upper[i] = INFINITY;
    r->eligible[i] = r->compliance[i * r->contacts + i] > 0.0 &&
                     (c->hit || outward_speed(s, c, r->speed_before) <= slow || restitution_of(s, c->transition) < 1.0);
    shift_bound(s, c);
  }
}

/* Stops that touch at rest without a load become active too: what they join moves together until a load separates it.
 * Not those that others hold, nor those whose loads are rounding. Returns how many are active then. */
static int32_t add_unloaded(lw_state *s, int32_t active, double slow, double largest) {
  struct lw_event_workspace *r = s->events;
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    const int leaves = r->due[c->transition] & LW_LEAVE_CONTACT;
    if (c->is_friction) {
      r->unloaded[i] = r->eligible[i] && r->load[i] == r->lower[i] && !c->pulls; /* it did not begin to slide */
      continue;
    }
    r->unloaded[i] = r->eligible[i] && r->load[i] == 0.0 && !c->pulls && !leaves &&
                     fabs(outward_speed(s, c, r->speed_before)) <= slow &&
                     loaded_acceleration(r, i) <= NEGLIGIBLE_ACCELERATION * largest + SEPARATION;
  }
  const lw_complementarity problem = problem_of(s, 0.0);
  return lw_add_independent(&problem, active, r->unloaded);
}

/* Removes the remaining speeds of bounces that end; here a stop may pull. */
static lw_status stop_bounces(lw_state *s, int32_t active) {
  struct lw_event_workspace *r = s->events;
  int moving = 0;
  for (int32_t k = 0; k < active; k++) moving |= rate_along(s, &r->contact[r->active[k]], r->speed_before) != 0.0;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (!moving) return LW_OK;
  return project_speeds(s);
}

static void let_go_friction(lw_state *s, const lw_contact *c) {
  lw_let_go(s, c->u, LW_HELD_BY_FRICTION);
  set_active(s, c, 0);
}

static int exceeds_limits(const lw_state *s, int32_t active) {
  const struct lw_event_workspace *r = s->events;
  for (int32_t k = 0; k < active; k++) {
    const lw_contact *c = &r->contact[r->active[k]];
    if (c->is_friction && lw_exceeds_limits(s, c->transition)) return 1;
  }
  return 0;
}

/* Locks of the frictions that others hold give all of them the loads of least norm. Where these exceed a limit, the
 * frictions at their limits rest by these loads. Returns how many locks there are. */
static lw_status share_loads(lw_state *s, int32_t *active) {
  struct lw_event_workspace *r = s->events;
  const int32_t independent = *active;
  int32_t all = independent;
  for (int32_t i = 0; i < r->contacts; i++)
    if (r->held[i]) r->active[all++] = i, enter_contact(s, &r->contact[i]);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
  *active = all;
  if (e || all == independent || s->base->pressed || !exceeds_limits(s, all)) return e;
  for (*active = independent; all > independent; all--) {
    const int32_t i = r->active[all - 1];
    let_go_friction(s, &r->contact[i]);
    set_friction(s, &r->contact[i], LW_FRICTION_AT_LIMIT * direction_at_limit(r, i), 0.0);
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return lw_evaluate(s, LW_STAGE_OUTPUTS);
}

static void free_active(lw_state *s, int32_t active) {
  struct lw_event_workspace *r = s->events;
  for (int32_t k = 0; k < active; k++) {
    const lw_contact *c = &r->contact[r->active[k]];
    if (c->is_friction) lw_let_go(s, c->u, LW_HELD_BY_FRICTION);
    else free_contact(s, c->transition);
  }
  for (int32_t i = 0; i < r->contacts; i++)
    if (r->held[i]) set_friction(s, &r->contact[i], LW_FRICTION_STICKS, 0.0);
}

/* The loads that select the stops and those of the locks differ by rounding and by the feedback on loops: a lock that
 * pulls opens, or the next event would release what this one has locked. Returns whether one did. */
static int release_pulling(lw_state *s, int32_t active) {
  struct lw_event_workspace *r = s->events;
  double most = 0.0, side = 0.0;
  int32_t worst = -1;
  for (int32_t k = 0; k < active; k++) {
    const lw_contact *c = &r->contact[r->active[k]];
    double slides = 0.0;
    const double force =
        c->is_friction ? lw_holding_reserve(s, c->transition, &slides) : lw_contact_indicator(s, c->transition);
    if (force < most) most = force, worst = r->active[k], side = slides;
  }
  if (worst < 0) return 0;
  free_active(s, active);
  r->eligible[worst] = 0, r->contact[worst].pulls = 1;
  if (r->contact[worst].is_friction) let_slide_along(s, &r->contact[worst], side);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return 1;
}

/* ---- limits by reactions ---- */

#define MOST_PIVOTS 50 /* times the number of frictions and stops */

static lw_status report_undecided(lw_state *s) {
  int32_t i = 0;
  while (!s->events->contact[i].is_friction) i++;
  const int32_t force = s->base->transition[s->events->contact[i].transition].number;
  return lw_report(s, (lw_fault){LW_FAULT_JAMS, force, 0.0});
}

static void lock_friction(lw_state *s, const lw_contact *c) {
  set_friction(s, c, LW_FRICTION_STICKS, 0.0);
  enter_contact(s, c);
}

/* Of one that breaks away rounding does not make it stick again. */
static double breakaway_margin(const lw_state *s, const lw_contact *c) {
  double lower, upper;
  lw_holding_limits(s, c->transition, &lower, &upper);
  const double most = isinf(upper) ? 0.0 : fmax(-lower, upper);
  return broke_away(c) ? BREAKAWAY_MARGIN * most : 0.0;
}

/* The first friction at rest that contradicts what it does changes that alone (Murty's least index): one that holds more
 * than its limit slides against its load, or rests at its limit where others hold its speed, and slides when these no
 * longer do; one that slides but would turn back, and one that rests where nothing holds it, are locked. Returns whether
 * one did. */
static int change_first_friction(lw_state *s, double tolerance) {
  const struct lw_event_workspace *r = s->events;
  const lw_model *m = s->model;
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (!c->is_friction || !c->rests) continue;
    const int held = lw_lock_holders(lw_reals(s)[m->at.locked + c->u]) & LW_HELD_BY_FRICTION;
    const double a = rate_along(s, c, lw_reals(s) + m->at.acceleration), state = *lw_friction_state(s, c->transition);
    const int slides = fabs(state) == 1.0;
    double side;
    if (held && lw_holding_reserve(s, c->transition, &side) < breakaway_margin(s, c)) {
      let_go_friction(s, c);
      if (is_held_by_others(s, i)) set_friction(s, c, LW_FRICTION_AT_LIMIT * side, 0.0);
      else let_slide_along(s, c, side);
    } else if (!held && (slides ? state * a < -tolerance : fabs(a) > tolerance)) lock_friction(s, c);
    else if (fabs(state) == LW_FRICTION_AT_LIMIT && !is_held_by_others(s, i))
      let_slide_along(s, c, state / LW_FRICTION_AT_LIMIT);
    else continue;
    lw_state_changed(s, LW_STAGE_CONSTANTS);
    return 1;
  }
  return 0;
}

/* Limits by the reactions of a joint depend on the decision that they lead to: from that of all at once on, frictions
 * change one by one until all of them obey the law. */
static lw_status decide_one_by_one(lw_state *s, double tolerance) {
  for (int32_t k = MOST_PIVOTS * s->events->contacts; k > 0; k--) {
    if (!change_first_friction(s, tolerance)) return LW_OK;
    const lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
    if (e) return e;
  }
  return report_undecided(s);
}

static lw_status update_contacts(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const double slow = NEGLIGIBLE_SPEED * fastest(s, r->speed_before);
  lw_status e = find_sliding(s, slow);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (e || (e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
  const double largest = largest_acceleration(s);
  prepare_contacts(s, slow, NEGLIGIBLE_ACCELERATION * largest);
  for (int again = 1; again;) {
    const int32_t loaded = find_clearly_loaded(s, NEGLIGIBLE_ACCELERATION * largest);
    if (let_slide(s, NEGLIGIBLE_ACCELERATION * largest + SEPARATION)) {
      if ((e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
      find_excess(s);
      for (int32_t i = 0; i < r->contacts; i++)
        if (r->contact[i].is_friction && !r->eligible[i]) r->lower[i] = r->upper[i] = 0.0;
      continue;
    }
    int32_t active = add_unloaded(s, loaded < 0 ? 0 : loaded, slow, largest);
    for (int32_t k = 0; k < active; k++) enter_contact(s, &r->contact[r->active[k]]);
    if ((e = stop_bounces(s, active)) || (e = share_loads(s, &active))) return e;
    if (s->base->pressed && (e = decide_one_by_one(s, TURNING_BACK * largest))) return e;
    again = release_pulling(s, active);
  }
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (c->is_friction) continue;
    const int unloaded = r->eligible[i] && loaded_acceleration(r, i) <= NEGLIGIBLE_DEPENDENT * largest;
    if ((unloaded || c->pulls) && outward_speed(s, c, r->speed_before) <= slow) widen_unloaded(s, c);
  }
  note_changed_frictions(s);
  return LW_OK;
}

lw_status lw_update_contacts(lw_state *s) {
  clear_applied_impulses(s);
  find_contacts(s);
  find_frictions(s);
  const lw_status e = measure_compliance(s);
  return e ? e : update_contacts(s);
}

lw_status lw_start_friction(lw_state *s) {
  if (!lw_has_friction(s)) return LW_OK;
  lw_event_memory_of(s)->frictions_decided = 1.0;
  memset(s->events->due, 0, sizeof *s->events->due * (size_t)s->base->size.transitions);
  const lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
  if (e) return e;
  lw_store_speeds_before(s);
  return lw_update_contacts(s);
}

static lw_status decide_friction(lw_state *s) {
  memset(s->events->due, 0, sizeof *s->events->due * (size_t)s->base->size.transitions);
  lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
  if (e) return e;
  lw_store_speeds_before(s);
  s->events->contacts = 0;
  find_frictions(s);
  return (e = measure_compliance(s)) ? e : update_contacts(s);
}

lw_status lw_decide_friction(lw_state *s) {
  if (s->events->deciding || lw_event_memory_of(s)->frictions_decided != 0.0) return LW_OK;
  s->events->deciding = 1;
  const lw_status e = decide_friction(s);
  s->events->deciding = 0;
  if (e) lw_state_changed(s, LW_STAGE_CONSTANTS);
  return e;
}

lw_status lw_apply_impacts(lw_state *s) {
  lw_status e;
  int hits = 0;
  double residual;
  clear_applied_impulses(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) hits |= s->events->due[i] & LW_HIT;
  if (hits) extend_run(s);
  find_contacts(s);
  find_frictions(s);
  if ((e = measure_compliance(s))) return e;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_IMPULSE && s->events->due[i] & LW_DO) add_applied_impulse(s, i);
  if ((e = jump_with_impacts(s, &residual)) || (e = decide_at_dead_point(s, residual))) return e;
  clear_applied_impulses(s);
  return s->events->contacts ? update_contacts(s) : LW_OK;
}
