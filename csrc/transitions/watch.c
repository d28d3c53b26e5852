#include "watch.h"
#include <math.h>

static const lw_transition *transition_of(const lw_state *s, int32_t i) { return &s->base->transition[i]; }
static const double *values_of(const lw_state *s, int32_t i) {
  return lw_reals(s) + s->base->at.transition_value + 2 * i;
}

/* ---- quantities ---- */

typedef struct quantity {
  double value, rate;
} quantity;

/* A point of a body: position and velocity, world axes. */
static void point_of(const lw_state *s, int32_t body, const double *in_body, double p[3], double v[3]) {
  const lw_offsets *at = &s->model->at;
  const double *x = lw_reals(s);
  for (int k = 0; k < 3; k++) p[k] = body < 0 ? in_body[k] : x[at->body_position + 3 * body + k], v[k] = 0.0;
  if (body < 0) return;
  const double *Q = x + at->body_orientation + 4 * body, *w = x + at->body_angular_velocity + 3 * body;
  double t[3], r[3];
  for (int k = 0; k < 3; k++)
    t[k] = 2.0 * (Q[1 + (k + 1) % 3] * in_body[(k + 2) % 3] - Q[1 + (k + 2) % 3] * in_body[(k + 1) % 3]);
  for (int k = 0; k < 3; k++) {
    r[k] = in_body[k] + Q[0] * t[k] + Q[1 + (k + 1) % 3] * t[(k + 2) % 3] - Q[1 + (k + 2) % 3] * t[(k + 1) % 3];
    p[k] += r[k];
  }
  for (int k = 0; k < 3; k++)
    v[k] = x[at->body_velocity + 3 * body + k] + w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
}

static quantity distance_of(const lw_state *s, int32_t i) {
  const double *ends = lw_reals(s) + s->model->at.transition_points + 6 * i;
  double p[2][3], v[2][3], length2 = 0.0, along = 0.0;
  for (int end = 0; end < 2; end++) point_of(s, transition_of(s, i)->body[end], ends + 3 * end, p[end], v[end]);
  for (int k = 0; k < 3; k++) {
    const double d = p[1][k] - p[0][k];
    length2 += d * d, along += d * (v[1][k] - v[0][k]);
  }
  const double length = sqrt(length2);
  return (quantity){length, length > 0.0 ? along / length : 0.0};
}

/* A coordinate of which no speed is the rate belongs to a tree joint that moves freely. */
static quantity coordinate(const lw_state *s, int32_t q) {
  const lw_model *m = s->model;
  const double *x = lw_reals(s);
  const int32_t u = lw_speed_at(m, q);
  const double value = x[q < m->size.nq ? m->at.q + q : m->at.q_cut + q - m->size.nq];
  return (quantity){value, u >= 0 ? lw_speed_of(s, u) : q < m->size.nq ? x[m->at.qdot + q] : 0.0};
}

static quantity quantity_of(const lw_state *s, int32_t i) {
  const int32_t q = transition_of(s, i)->quantity;
  return q < 0 ? distance_of(s, i) : coordinate(s, q);
}

/* ---- indicators: positive until something happens ---- */

static quantity crossing_of(const lw_state *s, int32_t i) {
  const double at = values_of(s, i)[0], side = lw_memory_of(s, i)->side;
  const quantity x = quantity_of(s, i);
  return (quantity){side * (x.value - at) + lw_width_at(at), side * x.rate};
}

double lw_gap_of(const lw_state *s, int32_t i, int bound) {
  const double q = lw_coordinate_of(s, lw_stopped_speed(s->model, transition_of(s, i)));
  return bound ? values_of(s, i)[1] - q : q - values_of(s, i)[0];
}

/* What the stop presses with, where the joint rests on it. */
static double pressure_of(const lw_state *s, int32_t i) {
  const int32_t lock = lw_lock_of(s, lw_stopped_speed(s->model, transition_of(s, i)));
  return -lw_memory_of(s, i)->side * lw_reals(s)[s->model->at.coupling_load + lock];
}

#define LEAST_PRESSURE 1e-12

static quantity bound_of(const lw_state *s, int32_t i, int bound) {
  const lw_transition_memory *memory = lw_memory_of(s, i);
  const double speed = lw_speed_of(s, lw_stopped_speed(s->model, transition_of(s, i)));
  if (memory->side == (bound ? 1.0 : -1.0)) return (quantity){pressure_of(s, i) + LEAST_PRESSURE, -1.0};
  if (memory->side != 0.0) return (quantity){1.0, 0.0};
  const double gap = lw_gap_of(s, i, bound) - memory->shift[bound];
  return (quantity){gap + lw_width_at(values_of(s, i)[bound]), bound ? -speed : speed};
}

/* Positive also beyond a bound, as long as the joint comes back from there. */
static double indicator_of_bound(const lw_state *s, int32_t i, int bound) {
  const quantity x = bound_of(s, i, bound);
  return lw_memory_of(s, i)->side != 0.0 ? x.value : fmax(x.value, x.rate);
}

/* Coordinates of tree joints are states, as are most of their rates; all else has to be computed. */
static int is_computed(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const lw_model *m = s->base;
  if (x->action == LW_STOP) return lw_stopped_speed(m, x) >= m->size.nu || lw_memory_of(s, i)->side != 0.0;
  if (x->trigger != LW_CROSSING) return 0;
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
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    double *z = indicators + x->indicator;
    if (x->trigger == LW_CROSSING) *z = crossing_of(s, i).value;
    for (int bound = 0; x->action == LW_STOP && bound < 2; bound++)
      if (x->bounds >> bound & 1) *z++ = indicator_of_bound(s, i, bound);
  }
  return LW_OK;
}

lw_status lw_next_event_time(lw_state *s, double *time) {
  *time = INFINITY;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->trigger == LW_AT_TIME && lw_memory_of(s, i)->done == 0.0)
      *time = fmin(*time, values_of(s, i)[0]);
  return LW_OK;
}

#define BEYOND 1e-9 /* of a bound: further than rounding and steps go */

/* What no indicator would tell: nothing crosses zero there. */
static lw_status check_stop(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const double *bounds = values_of(s, i), e = lw_reals(s)[s->model->at.restitution + i];
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
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    lw_transition_memory *memory = lw_memory_of(s, i);
    if (transition_of(s, i)->trigger != LW_CROSSING || memory->side != 0.0) continue;
    const quantity x = quantity_of(s, i);
    const double off = x.value - values_of(s, i)[0];
    memory->side = off > 0.0 || (off == 0.0 && x.rate > 0.0) ? 1.0 : -1.0;
  }
  return LW_OK;
}

/* ---- what is due ---- */

/* It has happened: beyond zero, or on it and going on. */
static int has_happened(quantity x, double width) { return x.value < 0.0 || (x.value <= 0.5 * width && x.rate < 0.0); }

static int32_t due_crossing(lw_state *s, int32_t i) {
  if (!has_happened(crossing_of(s, i), lw_width_at(values_of(s, i)[0]))) return 0;
  lw_transition_memory *memory = lw_memory_of(s, i);
  const int32_t direction = transition_of(s, i)->direction;
  memory->side = -memory->side;
  return direction == 0 || direction == memory->side ? LW_DO : 0;
}

static int32_t due_stop(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  for (int bound = 0; bound < 2; bound++) {
    if (!(x->bounds >> bound & 1)) continue;
    const quantity z = bound_of(s, i, bound);
    if (lw_memory_of(s, i)->side != 0.0) {
      if (z.value < 0.0) return LW_LET_GO;
    } else if (z.rate < 0.0 && has_happened(z, lw_width_at(values_of(s, i)[bound])))
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
  const double now = lw_reals(s)[s->model->at.time], then = values_of(s, i)[0];
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
    else if (x->trigger == LW_CROSSING) due = due_crossing(s, i);
    else due = due_stop(s, i);
    s->events->due[i] = due;
    count += due != 0;
  }
  return count;
}
