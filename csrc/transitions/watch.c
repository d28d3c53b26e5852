#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#include "watch.h"
#include "indicators.inc"
#include <math.h>

static watched now(const lw_state *s) { return (watched){s, lw_reals(s)}; }
static double value_of(const lw_state *s, int32_t i, int which) {
  return lw_reals(s)[s->base->at.transition_value + 2 * i + which];
}

double lw_gap_of(const lw_state *s, int32_t i, int bound) {
  const watched w = now(s);
  return gap_of(&w, i, bound);
}

/* Coordinates of tree joints are states, as are most of their rates; all else has to be computed. */
static int is_computed(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const lw_model *m = s->base;
  if (x->action == LW_STOP) return lw_stopped_speed(m, x) >= m->size.nu || lw_memory_of(s, i)->event_sign != 0.0;
  if (x->trigger != LW_ZERO_CROSSING) return 0;
  return x->quantity < 0 || x->quantity >= m->size.nq || lw_speed_at(m, x->quantity) < 0;
}

static lw_stage stage_of(const lw_state *s) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (is_computed(s, i)) return LW_STAGE_OUTPUTS;
  return LW_STAGE_NONE;
}

lw_status lw_event_indicators(lw_state *s, double *indicators) {
  const lw_status e = lw_evaluate(s, stage_of(s));
  if (e) return e;
  const watched w = now(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    indicators_of(&w, i, indicators + transition_of(s, i)->indicator);
  return LW_OK;
}

lw_status lw_next_event_time(lw_state *s, double *time) {
  *time = INFINITY;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->trigger == LW_AT_TIME && lw_memory_of(s, i)->done == 0.0)
      *time = fmin(*time, value_of(s, i, 0));
  return LW_OK;
}

#define BEYOND 1e-9 /* of a bound: further than rounding and steps go */

/* What no indicator would tell: nothing crosses zero there. */
static lw_status check_stop(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const watched w = now(s);
  const double *bounds = values_of(&w, i), e = lw_reals(s)[s->model->at.restitution + i];
  const char *name = s->base->transition_name[i], *joint = s->base->joint_name[x->joint];
  if (x->bounds == 3 && !(bounds[0] < bounds[1]))
    return lw_fail(s, LW_ERROR_PARAMETER, "stop '%.60s': its lower bound, %.9g, must be less than its upper one, %.9g",
                   name, bounds[0], bounds[1]);
  if (!(e >= 0.0 && e <= 1.0))
    return lw_fail(s, LW_ERROR_PARAMETER, "stop '%.60s': its restitution must be from 0 to 1, not %.9g", name, e);
  for (int bound = 0; bound < 2; bound++)
    if (x->bounds >> bound & 1 && lw_gap_of(s, i, bound) < -BEYOND * (1.0 + fabs(bounds[bound])))
      return lw_fail(s, LW_ERROR_USAGE,
                     "joint '%.60s' starts beyond the bound %.9g of stop '%.60s', by %.3g: start within, or move it",
                     joint, bounds[bound], name, -lw_gap_of(s, i, bound));
  return LW_OK;
}

lw_status lw_take_sides(lw_state *s) {
  lw_status e = lw_evaluate(s, stage_of(s));
  for (int32_t i = 0; !e && i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_STOP) e = check_stop(s, i);
  if (e) return e;
  const watched w = now(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    lw_transition_memory *memory = lw_memory_of(s, i);
    if (transition_of(s, i)->trigger != LW_ZERO_CROSSING || memory->event_sign != 0.0) continue;
    const quantity x = quantity_of(&w, i);
    const double off = x.value - value_of(s, i, 0);
    memory->event_sign = off > 0.0 || (off == 0.0 && x.rate > 0.0) ? 1.0 : -1.0;
  }
  return LW_OK;
}

/* ---- what is due ---- */

/* It has happened: beyond zero, or on it and going on. */
static int has_happened(quantity x, double width) { return x.value < 0.0 || (x.value <= 0.5 * width && x.rate < 0.0); }

static int32_t due_crossing(lw_state *s, int32_t i) {
  const watched w = now(s);
  if (!has_happened(crossing_of(&w, i), lw_width_at(value_of(s, i, 0)))) return 0;
  lw_transition_memory *memory = lw_memory_of(s, i);
  const int32_t direction = transition_of(s, i)->direction;
  memory->event_sign = -memory->event_sign;
  return direction == 0 || direction == memory->event_sign ? LW_DO : 0;
}

static int32_t due_stop(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const watched w = now(s);
  for (int bound = 0; bound < 2; bound++) {
    if (!(x->bounds >> bound & 1)) continue;
    const quantity z = bound_of(&w, i, bound);
    if (lw_memory_of(s, i)->event_sign != 0.0) {
      if (z.value < 0.0) return LW_LET_GO;
    } else if (z.rate < 0.0 && has_happened(z, lw_width_at(value_of(s, i, bound))))
      return bound ? LW_HIT_UPPER : LW_HIT_LOWER;
  }
  return 0;
}

static int32_t due_command(const lw_state *s, int32_t i) {
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double now = lw_reals(s)[s->model->at.command + i] != 0.0, before = memory->command;
  memory->command = now;
  if (now > before) return LW_DO;
  return now < before && transition_of(s, i)->undone ? LW_UNDO : 0;
}

static int32_t due_time(const lw_state *s, int32_t i) {
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double now = lw_reals(s)[s->model->at.time], then = value_of(s, i, 0);
  if (memory->done != 0.0 || now < then - lw_width_at(then)) return 0;
  memory->done = 1.0;
  return LW_DO;
}

int32_t lw_find_due(lw_state *s) {
  int32_t count = 0;
  if (lw_evaluate(s, stage_of(s))) return -1;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    int32_t due = 0;
    if (x->trigger == LW_AT_TIME) due = due_time(s, i);
    else if (x->trigger == LW_COMMAND) due = due_command(s, i);
    else if (x->trigger == LW_ZERO_CROSSING) due = due_crossing(s, i);
    else due = due_stop(s, i);
    s->events->due[i] = due;
    count += due != 0;
  }
  return count;
}
