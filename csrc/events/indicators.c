/* Which transitions are due: event indicators at a state, and the rates and stored signs without which a value that only
 * touches zero would count as a zero crossing. */
#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#include "events/indicators.h"
#include "events/indicators_kernel.h"
#include "events/kinks.h"
#include "evaluation/rates.h"
#include "math/tolerances.h"
#include <math.h>

static indicator_view current_view(const lw_state *s) { return (indicator_view){s, lw_reals(s)}; }
static double value_of(const lw_state *s, int32_t i, int which) {
  return lw_reals(s)[s->base->at.transition_value + 2 * i + which];
}

/* ---- rates of monitored quantities; they need the stage that stage_of() gives ---- */

/* Only free tree joints have coordinates that are not integrals of a speed. */
static double coordinate_rate(const indicator_view *w, int32_t q) {
  const lw_model *m = w->s->model;
  const int32_t u = lw_speed_of_coordinate(m, q);
  return u >= 0 ? speed_at(w, u) : q < m->size.nq ? w->x[m->at.qdot + q] : 0.0;
}

/* With d and v from the first point to the second: l'' = (v.v + d.d'' - l'^2) / l. */
static double distance_acceleration(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const indicator_view w = current_view(s);
  const double *ends = lw_reals(s) + s->model->at.transition_points + 6 * i;
  const quantity distance = distance_between_points(&w, i);
  double p[2][3], v[2][3], a[2][6], sum = -distance.rate * distance.rate;
  for (int end = 0; end < 2; end++) {
    point_motion(&w, x->body[end], ends + 3 * end, p[end], v[end]);
    if (lw_body_acceleration(s, x->body[end], ends + 3 * end, a[end])) return 0.0;
  }
  for (int k = 0; k < 3; k++) {
    const double speed = v[1][k] - v[0][k];
    sum += speed * speed + (p[1][k] - p[0][k]) * (a[1][3 + k] - a[0][3 + k]);
  }
  return distance.value > 0.0 ? sum / distance.value : 0.0;
}

static double monitored_rate(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const indicator_view w = current_view(s);
  switch ((lw_quantity)x->quantity) {
    case LW_COORDINATE: return coordinate_rate(&w, x->number);
    case LW_SPEED: return lw_reals(s)[s->model->at.acceleration + x->number];
    case LW_DISTANCE: return distance_between_points(&w, i).rate;
    case LW_DISTANCE_RATE: return distance_acceleration(s, i);
    case LW_VARIABLE: return lw_rate_of_variable(s, x->number, 0);
    case LW_QUANTITIES: break;
  }
  return 0.0;
}

/* Where a quantity starts at its value: the first of its derivatives, of two, that is not zero. */
static double initial_trend(lw_state *s, int32_t i) {
  const double rate = monitored_rate(s, i);
  const int32_t q = transition_of(s, i)->number;
  if (rate != 0.0 || lw_evaluate(s, LW_STAGE_OUTPUTS)) return rate;
  switch ((lw_quantity)transition_of(s, i)->quantity) {
    case LW_COORDINATE: {
      const int32_t u = lw_speed_of_coordinate(s->model, q);
      return u < 0 ? 0.0 : lw_reals(s)[s->model->at.acceleration + u];
    }
    case LW_DISTANCE: return distance_acceleration(s, i);
    case LW_VARIABLE: return lw_rate_of_variable(s, q, 1);
    case LW_SPEED:
    case LW_DISTANCE_RATE:
    case LW_QUANTITIES: break;
  }
  return 0.0;
}

double lw_stop_gap(const lw_state *s, int32_t i, int bound) {
  const indicator_view w = current_view(s);
  return stop_gap(&w, i, bound);
}

int lw_trigger_distance(lw_state *s, int32_t i, double *distance, double *rate) {
  const lw_transition *x = transition_of(s, i);
  const indicator_view w = current_view(s);
  if (x->action == LW_STOP) {
    const int upper = x->bounds == 2 || (x->bounds == 3 && stop_gap(&w, i, 1) < stop_gap(&w, i, 0));
    *distance = stop_gap(&w, i, upper);
    *rate = (upper ? -1.0 : 1.0) * speed_at(&w, x->hold);
    return 1;
  }
  const int is_length = x->quantity == LW_COORDINATE || x->quantity == LW_DISTANCE;
  if (x->trigger != LW_ZERO_CROSSING || x->action == LW_IMPULSE || !is_length) return 0;
  *distance = monitored_value(&w, i) - value_of(s, i, 0);
  *rate = monitored_rate(s, i);
  return 1;
}

void lw_holding_limits(const lw_state *s, int32_t i, double *lower, double *upper) {
  const indicator_view w = current_view(s);
  const holding_limits limits = holding_limits_of(&w, i);
  *lower = limits.lower, *upper = limits.upper;
}

double lw_holding_reserve(const lw_state *s, int32_t i, double *side) {
  const indicator_view w = current_view(s);
  const holding_reserve found = find_reserve(&w, i);
  if (side) *side = found.side;
  return found.left;
}

int lw_exceeds_limits(const lw_state *s, int32_t i) {
  const indicator_view w = current_view(s);
  const holding_reserve found = find_reserve(&w, i);
  return found.left < found.margin;
}

double lw_contact_indicator(const lw_state *s, int32_t i) {
  const indicator_view w = current_view(s);
  return contact_force(&w, i) + MIN_CONTACT_FORCE;
}

/* Coordinates and speeds of tree joints are states, and so are most rates of the coordinates; other quantities are
 * outputs. */
static lw_stage stage_of_quantity(const lw_model *m, const lw_transition *x, int with_rates) {
  switch ((lw_quantity)x->quantity) {
    case LW_COORDINATE:
      return x->number >= m->size.nq || lw_speed_of_coordinate(m, x->number) < 0 ? LW_STAGE_OUTPUTS : LW_STAGE_NONE;
    case LW_SPEED:
      return x->number >= m->size.nu ? LW_STAGE_OUTPUTS : with_rates ? LW_STAGE_ACCELERATIONS : LW_STAGE_NONE;
    case LW_DISTANCE:
    case LW_DISTANCE_RATE:
    case LW_VARIABLE:
    case LW_QUANTITIES: break;
  }
  return LW_STAGE_OUTPUTS;
}

static lw_stage stage_of_friction(const lw_state *s, int32_t i, int with_rates) {
  const indicator_view w = current_view(s);
  if (sticks(&w, i) || lw_friction_is_cut(s, i)) return LW_STAGE_OUTPUTS;
  return with_rates ? LW_STAGE_ACCELERATIONS : LW_STAGE_NONE;
}

static lw_stage stage_of(const lw_state *s, int32_t i, int with_rates) {
  const lw_transition *x = transition_of(s, i);
  const lw_model *m = s->base;
  if (x->trigger == LW_ZERO_CROSSING) return stage_of_quantity(m, x, with_rates);
  if (x->action == LW_STICK) return stage_of_friction(s, i, with_rates);
  if (x->action != LW_STOP) return LW_STAGE_NONE;
  return x->hold >= m->size.nu || lw_memory_of(s, i)->event_sign != 0.0 ? LW_STAGE_OUTPUTS : LW_STAGE_NONE;
}

/* Of the indicators; `with_rates`: of what decides whether a transition is due as well. */
static lw_stage required_stage(const lw_state *s, int with_rates) {
  lw_stage required = LW_STAGE_NONE;
  for (int32_t i = 0; i < s->base->size.transitions && required < LW_STAGE_OUTPUTS; i++) {
    const lw_stage stage = stage_of(s, i, with_rates);
    required = stage > required ? stage : required;
  }
  return required;
}

lw_status lw_check_watched(lw_state *s) {
  const lw_status e = lw_evaluate(s, required_stage(s, 0));
  if (e) return e;
  const indicator_view w = current_view(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    if (x->trigger == LW_ZERO_CROSSING && x->quantity == LW_VARIABLE && !isfinite(monitored_value(&w, i)))
      return lw_fail(s, LW_ERROR_VALUE,
                     "transition '%.60s' watches a variable that has no finite value at t = %g s; bound the "
                     "arguments of its formula by min, max or if",
                     s->base->transition_name[i], w.x[s->model->at.time]);
  }
  return LW_OK;
}

lw_status lw_event_indicators(lw_state *s, double *indicators) {
  if (!s) return LW_ERROR_USAGE;
  const lw_status e = lw_check_watched(s);
  if (e) return e;
  const indicator_view w = current_view(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    transition_indicators(&w, i, indicators + transition_of(s, i)->indicator);
  return lw_kink_indicators(s, indicators + s->base->size.event_indicators - s->base->size.kinks);
}

/* ---- bounds of the indicators while the states stay within a box ---- */

typedef struct range {
  double low, high;
} range;
static const range unbounded = {-INFINITY, INFINITY};

static int has_bounds(range x) { return isfinite(x.low) || isfinite(x.high); }

static range times(double factor, range x) {
  return factor < 0.0 ? (range){factor * x.high, factor * x.low} : (range){factor * x.low, factor * x.high};
}
static range plus(range a, range b) { return (range){a.low + b.low, a.high + b.high}; }
static range shifted(range x, double by) { return (range){x.low + by, x.high + by}; }

static double size_of_range(range x) { return fmax(fabs(x.low), fabs(x.high)); }

/* States within a box, and where the cut joints are at its end. */
typedef struct box_view {
  const lw_state *s;
  const lw_ode_box *box;
} box_view;

static range range_of_state(const box_view *w, int32_t k) { return (range){w->box->y_low[k], w->box->y_high[k]}; }

static range range_of_speed(const box_view *w, int32_t u) {
  const lw_model *m = w->s->model;
  return u < m->size.nu ? range_of_state(w, m->size.nq + u) : unbounded;
}

/* The joints of a branch turn its end no further than all of them together. */
static double turn_of_branch(const box_view *w, int32_t link, int32_t root) {
  const lw_model *m = w->s->model;
  double sum = 0.0;
  for (; link != root; link = m->link[link].parent)
    for (int32_t c = 0; c < m->link[link].speeds; c++)
      if (!(lw_joint_sizes[m->link[link].type].translations >> c & 1))
        sum += size_of_range(range_of_speed(w, m->link[link].u + c));
  return w->box->duration * sum;
}

/* From the end of the box on both branches of the loop turn. */
static range range_of_coordinate(const box_view *w, int32_t q) {
  const lw_model *m = w->s->model;
  if (q < m->size.nq) return range_of_state(w, q);
  for (int32_t l = 0; l < m->size.loops; l++) {
    const lw_loop *loop = &m->loop[l];
    if (loop->q != q || loop->type != LW_REVOLUTE) continue;
    const double here = lw_reals(w->s)[m->at.q_cut + q - m->size.nq];
    const double turn = turn_of_branch(w, loop->parent, loop->root) + turn_of_branch(w, loop->child, loop->root);
    return (range){here - turn, here + turn};
  }
  return unbounded;
}

static range range_of_crossing(const box_view *w, int32_t i) {
  const lw_transition *x = transition_of(w->s, i);
  const lw_transition_memory *memory = lw_memory_of(w->s, i);
  const double at = value_of(w->s, i, 0);
  range value = unbounded;
  if (x->quantity == LW_COORDINATE) value = range_of_coordinate(w, x->number);
  if (x->quantity == LW_SPEED) value = range_of_speed(w, x->number);
  if (!has_bounds(value)) return unbounded;
  return shifted(times(memory->event_sign, shifted(value, -at - memory->shift[0])), zero_tolerance(at));
}

/* Of a joint that does not rest on the stop, whose indicator grows with the gap and with its rate. */
static range range_of_bound(const box_view *w, int32_t i, int bound) {
  const lw_transition_memory *memory = lw_memory_of(w->s, i);
  const double at = value_of(w->s, i, bound), sign = bound ? -1.0 : 1.0;
  if (memory->event_sign != 0.0) return memory->event_sign == (bound ? 1.0 : -1.0) ? unbounded : (range){1.0, 1.0};
  const int32_t hold = transition_of(w->s, i)->hold;
  const range q = range_of_coordinate(w, w->s->model->coordinate[hold]);
  const range rate = times(sign, range_of_speed(w, hold)),
              gap = shifted(times(sign, shifted(q, -at)), zero_tolerance(at));
  if (!has_bounds(q)) return unbounded;
  return (range){fmax(gap_after_contact(gap.low, rate.low, memory->shift[bound]), rate.low),
                 fmax(gap_after_contact(gap.high, rate.high, memory->shift[bound]), rate.high)};
}

/* Of one that does not stick. */
static range range_of_friction(const box_view *w, int32_t i) {
  const lw_model *m = w->s->model;
  const indicator_view view = current_view(w->s);
  const double state = friction_state(&view, i);
  const lw_force *of = &m->force[transition_of(w->s, i)->number];
  range rate = {0.0, 0.0};
  for (int32_t g = of->first; g < of->first + of->gears; g++)
    rate = plus(rate, times(lw_reals(w->s)[m->at.force_gear + g], range_of_speed(w, m->gear[g].u)));
  if (state == 1.0 || state == -1.0)
    return shifted(times(state, shifted(rate, -lw_memory_of(w->s, i)->shift[0])), zero_tolerance(0.0));
  if (sticks(&view, i)) return unbounded;
  return rests_by_itself(&view, i) ? (range){MOVING - size_of_range(rate), MOVING} : (range){1.0, 1.0};
}

/* As transition_indicators(); returns 0 if one has no bounds. */
static int range_indicators(const box_view *w, int32_t i, double *low, double *high) {
  const lw_transition *x = transition_of(w->s, i);
  range z[2];
  int32_t count = 0;
  if (x->trigger == LW_ZERO_CROSSING) z[count++] = range_of_crossing(w, i);
  if (x->action == LW_STICK) z[count++] = range_of_friction(w, i);
  for (int bound = 0; x->action == LW_STOP && bound < 2; bound++)
    if (x->bounds >> bound & 1) z[count++] = range_of_bound(w, i, bound);
  for (int32_t k = 0; k < count; k++) {
    low[x->indicator + k] = z[k].low, high[x->indicator + k] = z[k].high;
    if (!has_bounds(z[k])) return 0;
  }
  return 1;
}

/* Whether a transition watches the angle of a cut joint. */
static int watches_cuts(const lw_state *s) {
  const lw_model *m = s->model;
  int any = 0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    any |= x->action == LW_STOP && x->hold >= m->size.nu;
    any |= x->trigger == LW_ZERO_CROSSING && x->quantity == LW_COORDINATE && x->number >= m->size.nq;
  }
  return any;
}

int lw_ode_mechanism_bounds(void *state, const lw_ode_box *box, double *low, double *high) {
  lw_state *s = state;
  const box_view w = {s, box};
  if (s->base->size.kinks) return 1;
  lw_set_states(s, box->t, box->y);
  if (watches_cuts(s) && lw_locate_cuts(s)) return 1;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (!range_indicators(&w, i, low, high)) return 1;
  return 0;
}

lw_status lw_next_event_time(lw_state *s, double *time) {
  if (!s) return LW_ERROR_USAGE;
  *time = INFINITY;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (transition_of(s, i)->trigger == LW_AT_TIME && lw_memory_of(s, i)->done == 0.0)
      *time = fmin(*time, value_of(s, i, 0));
  return LW_OK;
}

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
  lw_status e = lw_evaluate(s, required_stage(s, 1));
  for (int32_t i = 0; !e && i < s->base->size.transitions; i++)
    if (transition_of(s, i)->action == LW_STOP) e = check_stop(s, i);
  if (e) return e;
  const indicator_view w = current_view(s);
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    lw_transition_memory *memory = lw_memory_of(s, i);
    if (transition_of(s, i)->trigger != LW_ZERO_CROSSING || memory->event_sign != 0.0) continue;
    const double at = value_of(s, i, 0), off = monitored_value(&w, i) - at;
    const int is_at_value = fabs(off) <= 0.5 * lw_zero_tolerance(at);
    memory->event_sign = (is_at_value ? initial_trend(s, i) : off) > 0.0 ? 1.0 : -1.0;
  }
  return LW_OK;
}

/* ---- after an impact ---- */

static double fastest_speed(const lw_state *s) {
  const lw_model *m = s->model;
  double most = 0.0;
  for (int32_t u = 0; u < m->size.nu + m->size.nu_cut; u++) most = fmax(most, fabs(lw_speed_value(s, u)));
  return most;
}

void lw_shift_speed_crossings(lw_state *s) {
  const indicator_view w = current_view(s);
  const double *tolerance = lw_reals(s) + s->model->at.watch_tolerance;
  const double correction = fmax(LEAST_CORRECTION, tolerance[0]) * fastest_speed(s) + tolerance[1];
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    if (x->trigger != LW_ZERO_CROSSING || x->quantity == LW_COORDINATE || x->quantity == LW_DISTANCE) continue;
    lw_transition_memory *memory = lw_memory_of(s, i);
    const double off = monitored_value(&w, i) - value_of(s, i, 0);
    const int is_beyond = memory->event_sign * off < 0.0;
    const double most =
        is_beyond && x->quantity == LW_VARIABLE ? lw_change_by_speeds(s, x->number, correction) : correction;
    memory->shift[0] = is_beyond && fabs(off) <= most ? off : 0.0;
  }
}

/* ---- due transitions ---- */

/* The zero crossing has occurred: the value is negative, or zero and decreasing. */
static int has_crossed(quantity x, double tolerance) {
  return x.value < 0.0 || (x.value <= 0.5 * tolerance && x.rate < 0.0);
}

static int32_t check_crossing_trigger(lw_state *s, int32_t i) {
  const indicator_view w = current_view(s);
  lw_transition_memory *memory = lw_memory_of(s, i);
  const double z = crossing_indicator(&w, i), tolerance = lw_zero_tolerance(value_of(s, i, 0));
  const int needs_rate = z >= 0.0 && z <= 0.5 * tolerance;
  if (!has_crossed((quantity){z, needs_rate ? memory->event_sign * monitored_rate(s, i) : 0.0}, tolerance)) return 0;
  const int32_t direction = transition_of(s, i)->direction;
  memory->event_sign = -memory->event_sign;
  memory->shift[0] = 0.0; /* the value itself has been crossed, or what impacts take away would add up */
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

/* It comes to rest, its holding load reaches the limit, or it moves though it rested without a load. */
static int32_t check_friction_trigger(const lw_state *s, int32_t i) {
  const indicator_view w = current_view(s);
  const double z = friction_indicator(&w, i), state = friction_state(&w, i);
  if (sticks(&w, i)) return z < 0.5 * find_reserve(&w, i).margin ? LW_CHANGE_FRICTION : 0;
  if (state != 1.0 && state != -1.0) return z < 0.0 ? LW_BEGIN_TO_SLIDE : 0;
  const double rate = state * lw_along_friction(s, i, lw_reals(s) + s->model->at.acceleration);
  return has_crossed((quantity){z, rate}, lw_zero_tolerance(0.0)) ? LW_CHANGE_FRICTION : 0;
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
  if (lw_evaluate(s, required_stage(s, 1))) return -1;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const lw_transition *x = transition_of(s, i);
    int32_t due = 0;
    if (x->trigger == LW_AT_TIME) due = check_time_trigger(s, i);
    else if (x->trigger == LW_COMMAND) due = check_command_trigger(s, i);
    else if (x->trigger == LW_ZERO_CROSSING) due = check_crossing_trigger(s, i);
    else due = x->action == LW_STICK ? check_friction_trigger(s, i) : check_stop_trigger(s, i);
    s->events->due[i] = due;
    count += due != 0;
  }
  return count;
}
