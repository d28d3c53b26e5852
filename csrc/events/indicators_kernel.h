/* Event indicators, for double and complex arithmetic: one formula gives values and derivatives. Stored signs are
 * constants here. */
#include "math/quaternion_kernel.h"
#include "block/discrete_state.h"
#include "math/tolerances.h"

/* A state and the block to read: its own, or the complex one. */
typedef struct indicator_view {
  const lw_state *s;
  const real *x;
} indicator_view;

INLINE const real *values_of(const indicator_view *w, int32_t i) {
  return w->x + w->s->base->at.transition_value + 2 * i;
}

/* As lw_zero_tolerance(). */
INLINE real zero_tolerance(real value) { return LW_ZERO_TOLERANCE * (1.0 + select_less(value, 0.0, -value, value)); }

/* ---- quantities ---- */

typedef struct quantity {
  real value, rate;
} quantity;

/* Position and velocity of a point of a body, world axes. */
static void point_motion(const indicator_view *view, int32_t body, const real *in_body, real p[3], real v[3]) {
  const lw_offsets *at = &view->s->model->at;
  const real *x = view->x;
  for (int k = 0; k < 3; k++) p[k] = body < 0 ? in_body[k] : x[at->body_position + 3 * body + k], v[k] = 0.0;
  if (body < 0) return;
  const real *Q = x + at->body_orientation + 4 * body, *w = x + at->body_angular_velocity + 3 * body;
  real r[3];
  rotate_by_quaternion(Q, in_body, r);
  for (int k = 0; k < 3; k++) p[k] += r[k];
  for (int k = 0; k < 3; k++)
    v[k] = x[at->body_velocity + 3 * body + k] + w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
}

/* The distance has no derivative where the points coincide. */
static quantity distance_between_points(const indicator_view *w, int32_t i) {
  const real *ends = w->x + w->s->model->at.transition_points + 6 * i;
  real p[2][3], v[2][3], length2 = 0.0, along = 0.0;
  for (int end = 0; end < 2; end++) point_motion(w, transition_of(w->s, i)->body[end], ends + 3 * end, p[end], v[end]);
  for (int k = 0; k < 3; k++) {
    const real d = p[1][k] - p[0][k];
    length2 += d * d, along += d * (v[1][k] - v[0][k]);
  }
  if (!(re(length2) > 0.0)) return (quantity){0.0, 0.0};
  const real length = root(length2);
  return (quantity){length, along / length};
}

static real coordinate_at(const indicator_view *w, int32_t q) {
  const lw_model *m = w->s->model;
  return w->x[q < m->size.nq ? m->at.q + q : m->at.q_cut + q - m->size.nq];
}

static real speed_at(const indicator_view *w, int32_t u) {
  const lw_model *m = w->s->model;
  return w->x[u < m->size.nu ? m->at.u + u : m->at.u_cut + u - m->size.nu];
}

static real monitored_value(const indicator_view *w, int32_t i) {
  const lw_transition *x = transition_of(w->s, i);
  switch ((lw_quantity)x->quantity) {
    case LW_COORDINATE: return coordinate_at(w, x->number);
    case LW_SPEED: return speed_at(w, x->number);
    case LW_DISTANCE: return distance_between_points(w, i).value;
    case LW_DISTANCE_RATE: return distance_between_points(w, i).rate;
    case LW_VARIABLE: return w->x[x->number];
    case LW_QUANTITIES: break;
  }
  return 0.0;
}

/* ---- indicators: positive until something happens ---- */

static real crossing_indicator(const indicator_view *w, int32_t i) {
  const real at = values_of(w, i)[0];
  const lw_transition_memory *memory = lw_memory_of(w->s, i);
  return memory->event_sign * (monitored_value(w, i) - at - memory->shift[0]) + zero_tolerance(at);
}

static real stop_gap(const indicator_view *w, int32_t i, int bound) {
  const lw_model *m = w->s->model;
  const real q = coordinate_at(w, m->coordinate[transition_of(w->s, i)->hold]);
  return bound ? values_of(w, i)[1] - q : q - values_of(w, i)[0];
}

/* Contact force of the stop on which the joint rests. */
static real contact_force(const indicator_view *w, int32_t i) {
  const int32_t lock = w->s->model->lock_of[transition_of(w->s, i)->hold];
  return -lw_memory_of(w->s, i)->event_sign * w->x[w->s->model->at.coupling_load + lock];
}

/* After a contact the gap counts from where that was, a little beyond the bound: a coordinate that leaves slowly is not
 * hit again. One that returns faster than this acceleration explains, from the bound to there, is hit at the bound:
 * otherwise each impact would be a little further beyond it than the one before. */
static real gap_after_contact(real gap, real rate, double shift) {
  if (!(shift < 0.0)) return gap - shift;
  const real fast = rate + sqrt(2.0 * MOST_ACCELERATION * -shift);
  const real shifted = gap - shift, at_bound = select_less(gap, fast, fast, gap);
  return select_less(shifted, at_bound, shifted, at_bound);
}

static quantity bound_quantity(const indicator_view *w, int32_t i, int bound) {
  const lw_transition_memory *memory = lw_memory_of(w->s, i);
  const real speed = speed_at(w, transition_of(w->s, i)->hold);
  if (memory->event_sign == (bound ? 1.0 : -1.0)) return (quantity){contact_force(w, i) + MIN_CONTACT_FORCE, -1.0};
  if (memory->event_sign != 0.0) return (quantity){1.0, 0.0};
  const real rate = bound ? -speed : speed;
  const real gap = stop_gap(w, i, bound) + zero_tolerance(values_of(w, i)[bound]);
  return (quantity){gap_after_contact(gap, rate, memory->shift[bound]), rate};
}

/* Also positive beyond a bound while the joint moves back. */
static real bound_indicator(const indicator_view *w, int32_t i, int bound) {
  const quantity x = bound_quantity(w, i, bound);
  return lw_memory_of(w->s, i)->event_sign != 0.0 ? x.value : select_less(x.value, x.rate, x.rate, x.value);
}

/* ---- friction ---- */

INLINE double friction_state(const indicator_view *w, int32_t i) {
  return re(w->x[lw_places_of_friction(w->s, i).state]);
}

/* Times the limit of a friction that as one on its speed. */
INLINE real size_of_gear(const indicator_view *w, int32_t i) {
  const lw_model *m = w->s->model;
  const real gear = w->x[m->at.force_gear + m->force[transition_of(w->s, i)->number].first];
  return select_less(gear, 0.0, -gear, gear);
}

/* The load up to which a speed sticks, by all its frictions together. */
static real sticking_limit(const indicator_view *w, int32_t i) {
  const real own = w->x[lw_places_of_friction(w->s, i).limit];
  real all = own;
  for (int32_t j = transition_of(w->s, i)->next_in_speed; j != i; j = transition_of(w->s, j)->next_in_speed)
    all += w->x[lw_places_of_friction(w->s, j).limit] * size_of_gear(w, j) / size_of_gear(w, i);
  return all;
}

static int sticks(const indicator_view *w, int32_t i) {
  return friction_state(w, i) == LW_FRICTION_STICKS &&
         lw_lock_holders(re(w->x[w->s->model->at.locked + transition_of(w->s, i)->hold])) == LW_HELD_BY_FRICTION;
}

/* The lock of a speed holds this, that of a sum the sum. */
static real holding_load(const indicator_view *w, int32_t i) {
  const lw_model *m = w->s->model;
  const lw_transition *x = transition_of(w->s, i);
  const real load = w->x[m->at.coupling_load + lw_lock_of(m, x)];
  return x->directions ? load / w->x[m->at.force_gear + m->force[x->number].first] : load;
}

/* Along its gears. */
static real friction_rate(const indicator_view *w, int32_t i) {
  const lw_model *m = w->s->model;
  const lw_force *of = &m->force[transition_of(w->s, i)->number];
  real rate = 0.0;
  for (int32_t g = of->first; g < of->first + of->gears; g++)
    rate += w->x[m->at.force_gear + g] * speed_at(w, m->gear[g].u);
  return rate;
}

/* The least and the largest load with which it holds. An infinite one holds against negative speeds alone. */
typedef struct holding_limits {
  real lower, upper;
} holding_limits;

static holding_limits holding_limits_of(const indicator_view *w, int32_t i) {
  const lw_friction_places at = lw_places_of_friction(w->s, i);
  const real most = sticking_limit(w, i);
  const real forward = at.forward < 0 ? 1.0 : w->x[at.forward], backward = at.backward < 0 ? 1.0 : w->x[at.backward];
  if (isinf(re(most))) return (holding_limits){0.0, INFINITY};
  return (holding_limits){-(forward * most), backward * most};
}

/* The rest of the limits, the margin that this has at a limit, and the direction `side` in which it slides there. */
typedef struct holding_reserve {
  real left;
  double margin;
  double side;
} holding_reserve;

static double holding_margin(double limit) {
  return limit > 0.0 && limit < INFINITY ? HOLDING_MARGIN * limit : MIN_CONTACT_FORCE;
}

static holding_reserve find_reserve(const indicator_view *w, int32_t i) {
  const real load = holding_load(w, i);
  const holding_limits limits = holding_limits_of(w, i);
  const double below = holding_margin(-re(limits.lower)), above = holding_margin(re(limits.upper));
  const holding_reserve forward = {load - limits.lower + below, below, 1.0};
  const holding_reserve backward = {limits.upper - load + above, above, -1.0};
  return re(backward.left) < re(forward.left) ? backward : forward;
}

/* At a dead point or without a limit nothing holds it, and at its limit others do. */
static int rests_by_itself(const indicator_view *w, int32_t i) {
  const lw_model *m = w->s->model;
  const lw_transition *x = transition_of(w->s, i);
  return friction_state(w, i) != 0.0 && re(w->x[m->at.locked + x->hold]) == 0.0 &&
         !(x->directions && lw_is_open(m, x->joint));
}

/* While it sticks, the rest of its limits; while it slides, the speed in its direction; at rest, that it stays. */
static real friction_indicator(const indicator_view *w, int32_t i) {
  const double state = friction_state(w, i);
  if (state == 1.0 || state == -1.0)
    return state * (friction_rate(w, i) - lw_memory_of(w->s, i)->shift[0]) + zero_tolerance(0.0);
  if (sticks(w, i)) return find_reserve(w, i).left;
  if (!rests_by_itself(w, i)) return 1.0;
  const real rate = friction_rate(w, i);
  return MOVING - select_less(rate, 0.0, -rate, rate);
}

/* Writes at most two indicators of a transition; returns how many. */
static int32_t transition_indicators(const indicator_view *w, int32_t i, real *z) {
  const lw_transition *x = transition_of(w->s, i);
  int32_t count = 0;
  if (x->trigger == LW_ZERO_CROSSING) z[count++] = crossing_indicator(w, i);
  if (x->action == LW_STICK) z[count++] = friction_indicator(w, i);
  for (int bound = 0; x->action == LW_STOP && bound < 2; bound++)
    if (x->bounds >> bound & 1) z[count++] = bound_indicator(w, i, bound);
  return count;
}
