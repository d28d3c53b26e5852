/* Frictions of speeds that are zero take part in the complementarity problem of an event, those of one speed together: f
 * between -F and F, a zero within. A speed that sticks is locked, until the load exceeds F. One whose load is at a limit
 * slides, with the friction of its direction from there, unless the others that stick hold its speed: it is then locked
 * too, which gives the loads of least norm, or, where these exceed a limit, rests with the load of its limit. Limits may
 * differ by direction: a freewheel has the lower one 0. */
#include "events/sticking.h"
#include "events/indicators.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

/* Whether the speed of a friction is zero wherever those of `others` are. */
static int follows_others(const lw_state *s, int32_t i) {
  const struct lw_event_workspace *r = s->events;
  const lw_complementarity problem = lw_problem_of_contacts(s, 0.0);
  return r->compliance[i * r->contacts + i] > 0.0 && lw_is_dependent(&problem, r->others, i);
}

/* Those of one speed are one contact, that of the first. */
static int is_first_in_speed(const lw_state *s, int32_t i) {
  int32_t j = transition_of(s, i)->next_in_speed;
  while (j > i) j = transition_of(s, j)->next_in_speed;
  return j == i;
}

void lw_set_friction(lw_state *s, const lw_contact *c, double state, double shift) {
  EACH_IN_SPEED(s, c, i) * lw_friction_state(s, i) = state, lw_memory_of(s, i)->shift[0] = shift;
}

static int32_t due_in_speed(const lw_state *s, const lw_contact *c) {
  int32_t due = 0;
  EACH_IN_SPEED(s, c, i) due |= s->events->due[i];
  return due;
}

void lw_find_frictions(lw_state *s) {
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

int lw_never_yields(const lw_state *s, const lw_contact *c) {
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

void lw_let_slide_along(lw_state *s, const lw_contact *c, double direction) {
  const double speed = lw_rate_along(s, c, s->events->speed_before);
  lw_set_friction(s, c, direction, direction * speed < 0.0 ? speed : 0.0);
}

static lw_status report_backward(lw_state *s, const lw_contact *c, double speed) {
  return lw_fail(s, LW_ERROR_USAGE,
                 "'%.60s' has a speed of %.6g rad/s or m/s, and its infinite capacity allows none backwards: give it a "
                 "start that is not negative, or a capacity",
                 s->base->transition_name[c->transition], speed);
}

lw_status lw_find_sliding(lw_state *s, double slow) {
  struct lw_event_workspace *r = s->events;
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    const double speed = lw_rate_along(s, c, r->speed_before);
    r->others[i] = c->is_friction && !c->begins && (c->hit || fabs(speed) <= fmax(slow, TOGETHER_AT_REST));
    if (!c->is_friction || r->others[i] || speed > 0.0 || !lw_never_yields(s, c)) continue;
    if (c->state == 0.0) return report_backward(s, c, speed);
    r->others[i] = 1; /* it was free until now: errors of the solution */
  }
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (c->is_friction && !r->others[i] && (c->begins || !follows_others(s, i)))
      lw_let_slide_along(s, c, lw_rate_along(s, c, r->speed_before) > 0.0 ? 1.0 : -1.0);
  }
  return LW_OK;
}

void lw_note_changed_frictions(lw_state *s) {
  const struct lw_event_workspace *r = s->events;
  for (int32_t k = 0; k < r->contacts; k++) {
    const lw_contact *c = &r->contact[k];
    if (!c->is_friction || *lw_friction_state(s, c->transition) == c->state) continue;
    EACH_IN_SPEED(s, c, i) lw_memory_of(s, i)->last = lw_reals(s)[s->base->at.event_count];
  }
}

int lw_broke_away(const lw_contact *c) { return c->is_friction && c->hit && c->state == LW_FRICTION_STICKS; }

int lw_friction_is_at_limit(const lw_state *s, int32_t i) {
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

/* It is at rest and nothing moves it, without a load, as one of one direction may be: unless it was free, it holds. */
static int rests_unloaded(const lw_state *s, int32_t i, double tolerance) {
  const struct lw_event_workspace *r = s->events;
  const lw_contact *c = &r->contact[i];
  return r->load[i] == 0.0 && (c->hit ? c->state != LW_FRICTION_STICKS : c->state != 1.0 && c->state != -1.0) &&
         lw_loaded_acceleration(r, i) <= tolerance && lw_loaded_acceleration(r, i) >= -tolerance;
}

int lw_let_frictions_slide(lw_state *s, double tolerance) {
  struct lw_event_workspace *r = s->events;
  int found = 0;
  for (int32_t i = 0; i < r->contacts; i++) {
    if (!lw_friction_is_at_limit(s, i) || rests_unloaded(s, i, tolerance)) continue;
    lw_let_slide_along(s, &r->contact[i], direction_at_limit(r, i));
    r->eligible[i] = 0, found = 1;
  }
  if (found) lw_state_changed(s, LW_STAGE_CONSTANTS);
  return found;
}

void lw_find_held(lw_state *s, int32_t active) {
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

void lw_prepare_friction(lw_state *s, int32_t i, double tolerance) {
  struct lw_event_workspace *r = s->events;
  lw_contact *c = &r->contact[i];
  const double yields = r->compliance[i * r->contacts + i];
  double lower, upper;
  lw_holding_limits(s, c->transition, &lower, &upper);
  c->rests |= may_stick(s, c);
  r->eligible[i] = may_stick(s, c) && yields > 0.0 && upper > lower;
  if (may_stick(s, c) && !(yields > 0.0) && fabs(r->excess[i]) > tolerance)
    lw_let_slide_along(s, c, r->excess[i] > 0.0 ? 1.0 : -1.0);
  r->lower[i] = r->eligible[i] ? lower : 0.0, r->upper[i] = r->eligible[i] ? upper : 0.0;
}

static void let_go_friction(lw_state *s, const lw_contact *c) {
  lw_let_go(s, c->u, LW_HELD_BY_FRICTION);
  lw_set_active(s, c, 0);
}

static int exceeds_limits(const lw_state *s, int32_t active) {
  const struct lw_event_workspace *r = s->events;
  for (int32_t k = 0; k < active; k++) {
    const lw_contact *c = &r->contact[r->active[k]];
    if (c->is_friction && lw_exceeds_limits(s, c->transition)) return 1;
  }
  return 0;
}

lw_status lw_share_loads(lw_state *s, int32_t *active) {
  struct lw_event_workspace *r = s->events;
  const int32_t independent = *active;
  int32_t all = independent;
  for (int32_t i = 0; i < r->contacts; i++)
    if (r->held[i]) r->active[all++] = i, lw_enter_contact(s, &r->contact[i]);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
  *active = all;
  if (e || all == independent || s->base->pressed || !exceeds_limits(s, all)) return e;
  for (*active = independent; all > independent; all--) {
    const int32_t i = r->active[all - 1];
    let_go_friction(s, &r->contact[i]);
    lw_set_friction(s, &r->contact[i], LW_FRICTION_AT_LIMIT * direction_at_limit(r, i), 0.0);
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return lw_evaluate(s, LW_STAGE_OUTPUTS);
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
  lw_set_friction(s, c, LW_FRICTION_STICKS, 0.0);
  lw_enter_contact(s, c);
}

/* Of one that breaks away rounding does not make it stick again. */
static double breakaway_margin(const lw_state *s, const lw_contact *c) {
  double lower, upper;
  lw_holding_limits(s, c->transition, &lower, &upper);
  const double most = isinf(upper) ? 0.0 : fmax(-lower, upper);
  return lw_broke_away(c) ? BREAKAWAY_MARGIN * most : 0.0;
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
    const double a = lw_rate_along(s, c, lw_reals(s) + m->at.acceleration),
                 state = *lw_friction_state(s, c->transition);
    const int slides = fabs(state) == 1.0;
    double side;
    if (held && lw_holding_reserve(s, c->transition, &side) < breakaway_margin(s, c)) {
      let_go_friction(s, c);
      if (is_held_by_others(s, i)) lw_set_friction(s, c, LW_FRICTION_AT_LIMIT * side, 0.0);
      else lw_let_slide_along(s, c, side);
    } else if (!held && (slides ? state * a < -tolerance : fabs(a) > tolerance)) lock_friction(s, c);
    else if (fabs(state) == LW_FRICTION_AT_LIMIT && !is_held_by_others(s, i))
      lw_let_slide_along(s, c, state / LW_FRICTION_AT_LIMIT);
    else continue;
    lw_state_changed(s, LW_STAGE_CONSTANTS);
    return 1;
  }
  return 0;
}

lw_status lw_decide_frictions_one_by_one(lw_state *s, double tolerance) {
  for (int32_t k = MOST_PIVOTS * s->events->contacts; k > 0; k--) {
    if (!change_first_friction(s, tolerance)) return LW_OK;
    const lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
    if (e) return e;
  }
  return report_undecided(s);
}
