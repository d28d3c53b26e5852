/* Impacts on stops and contact with them. All stops that touch are treated together. With W the accelerations of their
 * coordinates by loads on them, all counted away from the bounds, an impact asks for
 *   v+ = v + W lambda >= -e min(v-, 0),   lambda >= 0,   each lambda zero where the inequality is strict
 * (Newton's restitution for each stop, Moreau 1988 for several at once; v: after locks, closures and applied impulses).
 * Energy never rises: it changes by sum lambda (1 - e) v- / 2. A stop that touches and was leaving, but is pressed in by
 * the others, is hit next, in the same way. Then
 *   a = a0 + W f >= 0,   f >= 0,   each f zero where the inequality is strict
 * selects the stops that carry a load: their coordinates are locked, until the load would become a tension.
 * Frictions take part in this (events/sticking.h). A dry friction has no impulse, so that in an impact nothing sticks; but
 * one of infinite limit takes part as a stop without restitution does. */
#include "events/impact.h"
#include "events/sticking.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

static double restitution_of(const lw_state *s, int32_t i) { return lw_reals(s)[s->model->at.restitution + i]; }

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
  return fabs(speed) <= NEGLIGIBLE_SPEED * lw_fastest_speed(s, s->events->speed_before) &&
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

/* ---- impacts ---- */

#define MAX_ROUNDS 1000 /* of impacts at one time; then nothing rebounds */

/* Stops, and frictions that never slide back, push in an impact. */
static int pushes(const lw_state *s, const lw_contact *c) { return !c->is_friction || lw_never_yields(s, c); }

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
  return lw_solve_contact_loads(s, tolerance);
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
  const double tolerance =
      NEGLIGIBLE_SPEED * fmax(lw_fastest_speed(s, r->speed_before), lw_fastest_speed(s, r->speed_after));
  for (int32_t i = 0; i < r->contacts; i++) {
    lw_contact *c = &r->contact[i];
    c->before = lw_outward_speed(s, c, r->speed_before), c->after = lw_outward_speed(s, c, r->speed_after);
  }
  for (int round = 0; find_impact(s, round == MAX_ROUNDS, tolerance) && round < MAX_ROUNDS; round++)
    for (int32_t i = 0; i < r->contacts; i++) r->contact[i].before = r->contact[i].after;
}

/* The speeds after locks, closures and applied impulses: if there are none, those before. */
static lw_status find_speeds_without_stops(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  double residual; /* the jump with stops will report it */
  lw_clear_jump_constraints(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (r->due[i] && transition_of(s, i)->action != LW_STOP) return lw_find_event_jump(s, &residual);
  memcpy(r->speed_after, r->speed_before, sizeof(double) * (size_t)lw_speeds_of(s));
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

/* *residual: as of lw_find_consistent_jump(). One jump in which all stops with an impact give the speeds of their last one; its impulses are those of all. */
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
  if (!(e = lw_find_consistent_jump(s, residual))) lw_apply_event_jump(s);
  lock_impacted_frictions(s, 0);
  return e;
}

/* A body that rebounds reaches the bound again at the same place; otherwise the present gap becomes the bound. */
static void shift_bound(lw_state *s, const lw_contact *c) {
  const double gap = lw_stop_gap(s, c->transition, c->upper);
  double *shift = lw_memory_of(s, c->transition)->shift + c->upper;
  if (c->hit) {
    const int rebounds =
        restitution_of(s, c->transition) > 0.0 && lw_outward_speed(s, c, s->events->speed_before) > 0.0;
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
  const double slow = NEGLIGIBLE_SPEED * lw_fastest_speed(s, r->speed_before);
  for (;;) {
    const int32_t active = lw_solve_contact_loads(s, tolerance);
    int changed = 0;
    double largest = 0.0;
    for (int32_t k = 0; k < active; k++) largest = fmax(largest, r->load[r->active[k]]);
    for (int32_t k = 0; k < active; k++) {
      const int32_t i = r->active[k];
      const lw_contact *c = &r->contact[i];
      if (c->is_friction) continue;
      const double away = lw_outward_speed(s, c, r->speed_before),
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
  lw_find_held(s, loaded < 0 ? 0 : loaded);
  for (int32_t i = 0; i < r->contacts; i++) {
    if (!lw_broke_away(&r->contact[i]) || !lw_friction_is_at_limit(s, i) ||
        fabs(lw_loaded_acceleration(r, i)) > tolerance)
      continue;
    r->lower[i] *= 1.0 - CLEARLY_WITHIN, r->upper[i] *= 1.0 - CLEARLY_WITHIN, reached = 1;
  }
  if (!reached) return loaded;
  loaded = find_loaded(s, tolerance);
  lw_find_held(s, loaded < 0 ? 0 : loaded);
  return loaded;
}

static double largest_acceleration(const lw_state *s) {
  double most = 0.0;
  for (int32_t u = 0; u < lw_speeds_of(s); u++) most = fmax(most, fabs(lw_reals(s)[s->model->at.acceleration + u]));
  return most;
}

static void prepare_contacts(lw_state *s, double slow, double tolerance) {
  struct lw_event_workspace *r = s->events;
  lw_find_excess(s);
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (c->is_friction) {
      lw_prepare_friction(s, i, tolerance);
      continue;
    }
    if (c->hit) count_impact(s, c->transition);
    r->lower[i] = 0.0, r->upper[i] = INFINITY;
    r->eligible[i] =
        r->compliance[i * r->contacts + i] > 0.0 &&
        (c->hit || lw_outward_speed(s, c, r->speed_before) <= slow || restitution_of(s, c->transition) < 1.0);
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
                     fabs(lw_outward_speed(s, c, r->speed_before)) <= slow &&
                     lw_loaded_acceleration(r, i) <= NEGLIGIBLE_ACCELERATION * largest + SEPARATION;
  }
  const lw_complementarity problem = lw_problem_of_contacts(s, 0.0);
  return lw_add_independent(&problem, active, r->unloaded);
}

/* Removes the remaining speeds of bounces that end; here a stop may pull. */
static lw_status stop_bounces(lw_state *s, int32_t active) {
  struct lw_event_workspace *r = s->events;
  int moving = 0;
  for (int32_t k = 0; k < active; k++) moving |= lw_rate_along(s, &r->contact[r->active[k]], r->speed_before) != 0.0;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (!moving) return LW_OK;
  return lw_project_event_speeds(s);
}

static void free_active(lw_state *s, int32_t active) {
  struct lw_event_workspace *r = s->events;
  for (int32_t k = 0; k < active; k++) {
    const lw_contact *c = &r->contact[r->active[k]];
    if (c->is_friction) lw_let_go(s, c->u, LW_HELD_BY_FRICTION);
    else free_contact(s, c->transition);
  }
  for (int32_t i = 0; i < r->contacts; i++)
    if (r->held[i]) lw_set_friction(s, &r->contact[i], LW_FRICTION_STICKS, 0.0);
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
  if (r->contact[worst].is_friction) lw_let_slide_along(s, &r->contact[worst], side);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return 1;
}

static lw_status update_contacts(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const double slow = NEGLIGIBLE_SPEED * lw_fastest_speed(s, r->speed_before);
  lw_status e = lw_find_sliding(s, slow);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (e || (e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
  const double largest = largest_acceleration(s);
  prepare_contacts(s, slow, NEGLIGIBLE_ACCELERATION * largest);
  for (int again = 1; again;) {
    const int32_t loaded = find_clearly_loaded(s, NEGLIGIBLE_ACCELERATION * largest);
    if (lw_let_frictions_slide(s, NEGLIGIBLE_ACCELERATION * largest + SEPARATION)) {
      if ((e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
      lw_find_excess(s);
      for (int32_t i = 0; i < r->contacts; i++)
        if (r->contact[i].is_friction && !r->eligible[i]) r->lower[i] = r->upper[i] = 0.0;
      continue;
    }
    int32_t active = add_unloaded(s, loaded < 0 ? 0 : loaded, slow, largest);
    for (int32_t k = 0; k < active; k++) lw_enter_contact(s, &r->contact[r->active[k]]);
    if ((e = stop_bounces(s, active)) || (e = lw_share_loads(s, &active))) return e;
    if (s->base->pressed && (e = lw_decide_frictions_one_by_one(s, TURNING_BACK * largest))) return e;
    again = release_pulling(s, active);
  }
  for (int32_t i = 0; i < r->contacts; i++) {
    const lw_contact *c = &r->contact[i];
    if (c->is_friction) continue;
    const int unloaded = r->eligible[i] && lw_loaded_acceleration(r, i) <= NEGLIGIBLE_DEPENDENT * largest;
    if ((unloaded || c->pulls) && lw_outward_speed(s, c, r->speed_before) <= slow) widen_unloaded(s, c);
  }
  lw_note_changed_frictions(s);
  return LW_OK;
}

lw_status lw_update_contacts(lw_state *s) {
  lw_clear_applied_impulses(s);
  find_contacts(s);
  lw_find_frictions(s);
  const lw_status e = lw_measure_compliance(s);
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
  lw_find_frictions(s);
  return (e = lw_measure_compliance(s)) ? e : update_contacts(s);
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
  lw_clear_applied_impulses(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) hits |= s->events->due[i] & LW_HIT;
  if (hits) extend_run(s);
  find_contacts(s);
  lw_find_frictions(s);
  if ((e = lw_measure_compliance(s))) return e;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_IMPULSE && s->events->due[i] & LW_DO) lw_add_applied_impulse(s, i);
  if ((e = jump_with_impacts(s, &residual)) || (e = lw_decide_at_dead_point(s, residual))) return e;
  lw_clear_applied_impulses(s);
  return s->events->contacts ? update_contacts(s) : LW_OK;
}
