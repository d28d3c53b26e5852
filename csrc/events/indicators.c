#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#include "events/indicators.h"
#include "events/indicators.inc"
#include <math.h>

static indicator_view current_view(const lw_state *s) { return (indicator_view){s, lw_reals(s)}; }
static double value_of(const lw_state *s, int32_t i, int which) {
  return lw_reals(s)[s->base->at.transition_value + 2 * i + which];
}

double lw_stop_gap(const lw_state *s, int32_t i, int bound) {
  const indicator_view w = current_view(s);
  return stop_gap(&w, i, bound);
}

int lw_trigger_distance(const lw_state *s, int32_t i, double *distance, double *rate) {
  const lw_transition *x = transition_of(s, i);
  const indicator_view w = current_view(s);
  if (x->action == LW_STOP) {
    const int upper = x->bounds == 2 || (x->bounds == 3 && stop_gap(&w, i, 1) < stop_gap(&w, i, 0));
    *distance = stop_gap(&w, i, upper);
    *rate = (upper ? -1.0 : 1.0) * speed_at(&w, lw_stopped_speed(s->model, x));
    return 1;
  }
  if (x->trigger != LW_ZERO_CROSSING || x->action == LW_IMPULSE) return 0;
  const quantity watched = monitored_quantity(&w, i);
  *distance = watched.value - value_of(s, i, 0);
  *rate = watched.rate;
  return 1;
}

double lw_contact_indicator(const lw_state *s, int32_t i) {
  const indicator_view w = current_view(s);
  return contact_force(&w, i) + MIN_CONTACT_FORCE;
}

/* Coordinates of tree joints are states, and so are most of their rates; other quantities are outputs. */
static int needs_outputs(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const lw_model *m = s->base;
  if (x->action == LW_STOP) return lw_stopped_speed(m, x) >= m->size.nu || lw_memory_of(s, i)->event_sign != 0.0;
  if (x->trigger != LW_ZERO_CROSSING) return 0;
  return x->quantity < 0 || x->quantity >= m->size.nq || lw_speed_of_coordinate(m, x->quantity) < 0;
}

static lw_stage required_stage(const lw_state *s) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (needs_outputs(s, i)) return LW_STAGE_OUTPUTS;
  return LW_STAGE_NONE;
}

lw_status lw_event_indicators(lw_state *s, double *indicators) {
  if (!s) return LW_ERROR_USAGE;
  const lw_status e = lw_evaluate(s, required_stage(s));
  if (e) return e;
  const indicator_view w = current_view(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    transition_indicators(&w, i, indicators + transition_of(s, i)->indicator);
  return LW_OK;
}

lw_status lw_next_event_time(lw_state *s, double *time) {
  if (!s) return LW_ERROR_USAGE;
  *time = INFINITY;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->trigger == LW_AT_TIME && lw_memory_of(s, i)->done == 0.0)
      *time = fmin(*time, value_of(s, i, 0));
  return LW_OK;
}

#define OUTSIDE_TOLERANCE 1e-9 /* of a bound: larger than rounding and integration errors */

/* Checks what no zero crossing reports. */
static lw_status check_stop(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const indicator_view w = current_view(s);
  const double *bounds = values_of(&w, i), e = lw_reals(s)[s->model->at.restitution + i];
  const char *name = s->base->transition_name[i], *joint = s->base->joint_name[x->joint];
  if (x->bounds == 3 && !(bounds[0] < bounds[1]))
    return lw_fail(s, LW_ERROR_PARAMETER, "stop '%.60s': its lower bound, %.9g, must be less than its upper one, %.9g",
                   name, bounds[0], bounds[1]);
  if (!(e >= 0.0 && e <= 1.0))
    return lw_fail(s, LW_ERROR_PARAMETER, "stop '%.60s': its restitution must be from 0 to 1, not %.9g", name, e);
  for (int bound = 0; bound < 2; bound++)
    if (x->bounds >> bound & 1 && lw_stop_gap(s, i, bound) < -OUTSIDE_TOLERANCE * (1.0 + fabs(bounds[bound])))
      return lw_fail(s, LW_ERROR_USAGE,
                     "joint '%.60s' starts beyond the bound %.9g of stop '%.60s', by %.3g: start within, or move it",
                     joint, bounds[bound], name, -lw_stop_gap(s, i, bound));
  return LW_OK;
}

lw_status lw_initialize_event_signs(lw_state *s) {
  lw_status e = lw_evaluate(s, required_stage(s));
  for (int32_t i = 0; !e && i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_STOP) e = check_stop(s, i);
  if (e) return e;
  const indicator_view w = current_view(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    lw_transition_memory *memory = lw_memory_of(s, i);
    if (transition_of(s, i)->trigger != LW_ZERO_CROSSING || memory->event_sign != 0.0) continue;
    const quantity x = monitored_quantity(&w, i);
    const double off = x.value - value_of(s, i, 0);
    memory->event_sign = off > 0.0 || (off == 0.0 && x.rate > 0.0) ? 1.0 : -1.0;
  }
  return LW_OK;
}

/* ---- due transitions ---- */

/* The zero crossing has occurred: the value is negative, or zero and decreasing. */
static int has_crossed(quantity x, double tolerance) {
  return x.value < 0.0 || (x.value <= 0.5 * tolerance && x.rate < 0.0);
}

static int32_t check_crossing_trigger(lw_state *s, int32_t i) {
  const indicator_view w = current_view(s);
  if (!has_crossed(crossing_quantity(&w, i), lw_zero_tolerance(value_of(s, i, 0)))) return 0;
  lw_transition_memory *memory = lw_memory_of(s, i);
  const int32_t direction = transition_of(s, i)->direction;
  memory->event_sign = -memory->event_sign;
  return direction == 0 || direction == memory->event_sign ? LW_DO : 0;
}

static int32_t check_stop_trigger(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const indicator_view w = current_view(s);
  for (int bound = 0; bound < 2; bound++) {
    if (!(x->bounds >> bound & 1)) continue;
    const quantity z = bound_quantity(&w, i, bound);
    if (lw_memory_of(s, i)->event_sign != 0.0) {
      if (z.value < 0.0) return LW_LEAVE_CONTACT;
    } else if (z.rate < 0.0 && has_crossed(z, lw_zero_tolerance(value_of(s, i, bound))))
      return bound ? LW_HIT_UPPER : LW_HIT_LOWER;
  }
  return 0;
}

static int32_t check_command_trigger(const lw_state *s, int32_t i) {
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double command = lw_reals(s)[s->model->at.command + i] != 0.0, before = memory->command;
  memory->command = command;
  if (command > before) return LW_DO;
  return command < before && transition_of(s, i)->undone ? LW_UNDO : 0;
}

static int32_t check_time_trigger(const lw_state *s, int32_t i) {
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double time = lw_reals(s)[s->model->at.time], then = value_of(s, i, 0);
  if (memory->done != 0.0 || time < then - lw_zero_tolerance(then)) return 0;
  memory->done = 1.0;
  return LW_DO;
}

int32_t lw_find_due_transitions(lw_state *s) {
  int32_t count = 0;
  if (lw_evaluate(s, required_stage(s))) return -1;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    int32_t due = 0;
    if (x->trigger == LW_AT_TIME) due = check_time_trigger(s, i);
    else if (x->trigger == LW_COMMAND) due = check_command_trigger(s, i);
    else if (x->trigger == LW_ZERO_CROSSING) due = check_crossing_trigger(s, i);
    else due = check_stop_trigger(s, i);
    s->events->due[i] = due;
    count += due != 0;
  }
  return count;
}
