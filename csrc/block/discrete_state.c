/* What locks, pins and stops hold: where it stands in the block of a state, and the workspace of its events. */
#include "block/discrete_state.h"
#include "math/complementarity.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int lw_lock_holders(double locked) {
  return locked >= 1.0 && locked <= 7.0 ? (int)locked : locked != 0.0 ? LW_HELD_BY_LOCK : 0;
}

lw_transition_memory *lw_memory_of(const lw_state *s, int32_t transition) {
  return (lw_transition_memory *)(lw_reals(s) + s->model->at.transition_memory) + transition;
}

double lw_coordinate_value(const lw_state *s, int32_t u) {
  const lw_model *m = s->model;
  const int32_t q = m->coordinate[u], nq = m->size.nq;
  return lw_reals(s)[q < nq ? m->at.q + q : m->at.q_cut + q - nq];
}

double lw_speed_value(const lw_state *s, int32_t u) {
  const lw_model *m = s->model;
  return lw_reals(s)[u < m->size.nu ? m->at.u + u : m->at.u_cut + u - m->size.nu];
}

lw_friction_places lw_places_of_friction(const lw_state *s, int32_t i) {
  const lw_model *m = s->base;
  const int32_t force = transition_of(s, i)->number;
  const int32_t given = m->force[force].given;
#define PLACES(TYPE, type)                                                                         \
  if (force < m->first_force[LW_FORCE_##TYPE + 1]) {                                               \
    const int32_t k = force - m->first_force[LW_FORCE_##TYPE];                                     \
    return (lw_friction_places){m->at.type##_state + k, m->at.type##_limit + k,                    \
                                given >> LW_FORWARD_##TYPE & 1 ? m->at.type##_forward + k : -1,    \
                                given >> LW_BACKWARD_##TYPE & 1 ? m->at.type##_backward + k : -1}; \
  }
  LW_EACH_STICKING_FORCE(PLACES)
#undef PLACES
  return (lw_friction_places){0, 0, -1, -1};
}

double *lw_friction_state(const lw_state *s, int32_t i) { return lw_reals(s) + lw_places_of_friction(s, i).state; }

#define EACH_GEAR_OF(s, i, g)                                                  \
  for (int32_t g = (s)->model->force[transition_of(s, i)->number].first,       \
               end = g + (s)->model->force[transition_of(s, i)->number].gears; \
       g < end; g++)

static double gear_of(const lw_state *s, int32_t g) { return lw_reals(s)[s->model->at.force_gear + g]; }

double lw_along_friction(const lw_state *s, int32_t i, const double *by_speed) {
  double sum = 0.0;
  EACH_GEAR_OF(s, i, g) sum += gear_of(s, g) * by_speed[s->model->gear[g].u];
  return sum;
}

double lw_rate_of_friction(const lw_state *s, int32_t i) {
  double sum = 0.0;
  EACH_GEAR_OF(s, i, g) sum += gear_of(s, g) * lw_speed_value(s, s->model->gear[g].u);
  return sum;
}

double lw_position_of_friction(const lw_state *s, int32_t i) {
  double sum = 0.0;
  EACH_GEAR_OF(s, i, g) sum += gear_of(s, g) * lw_coordinate_value(s, s->model->gear[g].u);
  return sum;
}

int lw_friction_is_cut(const lw_state *s, int32_t i) {
  int cut = 0;
  EACH_GEAR_OF(s, i, g) cut |= s->model->gear[g].u >= s->model->size.nu;
  return cut;
}

void lw_let_go(lw_state *s, int32_t hold, int holder) {
  double *locked = lw_reals(s) + s->model->at.locked + hold;
  *locked = (double)(lw_lock_holders(*locked) & ~holder);
}

void lw_forget_frictions(lw_state *s) {
  if (!s->before_accelerations || s->events->deciding || lw_event_memory_of(s)->frictions_decided != 0.0) return;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (transition_of(s, i)->action != LW_STICK) continue;
    lw_let_go(s, transition_of(s, i)->hold, LW_HELD_BY_FRICTION);
    *lw_friction_state(s, i) = 0.0;
  }
}

int32_t lw_speed_of_coordinate(const lw_model *m, int32_t q) {
  for (int32_t j = 0; j < m->size.joints; j++) {
    const lw_joint_size *size = &lw_joint_sizes[m->joint[j].type];
    const int32_t k = q - m->joint[j].q;
    if (k >= 0 && k < size->q) return size->q == size->u ? m->joint[j].u + k : -1;
  }
  return -1;
}

double lw_zero_tolerance(double value) { return LW_ZERO_TOLERANCE * (1.0 + fabs(value)); }

static lw_status create_contacts(const lw_model *m, struct lw_event_workspace *r) {
  size_t n = 0, speeds = 0;
  for (int32_t i = 0; i < m->size.transitions; i++) {
    const lw_transition *x = &m->transition[i];
    n += x->action == LW_STOP || x->action == LW_STICK;
    speeds += x->action == LW_STOP ? 1 : x->action == LW_STICK ? (size_t)m->force[x->number].gears : 0;
  }
  r->contact = malloc(sizeof *r->contact * (n + 1));
  r->active = malloc(sizeof *r->active * (n + 1));
  r->eligible = malloc(4 * n + 4);
  r->compliance = malloc(sizeof(double) * (n * n + 4 * n + LW_COMPLEMENTARITY_SCRATCH(n) + 1));
  r->direction = malloc(sizeof *r->direction * (speeds + 1));
  r->by_direction = malloc(sizeof(double) * (speeds * speeds + 1));
  if (!r->contact || !r->active || !r->eligible || !r->compliance || !r->direction || !r->by_direction)
    return LW_ERROR_MEMORY;
  r->unloaded = r->eligible + n + 1, r->held = r->unloaded + n + 1, r->others = r->held + n + 1;
  r->excess = r->compliance + n * n;
  r->load = r->excess + n;
  r->lower = r->load + n;
  r->upper = r->lower + n;
  r->scratch = r->upper + n;
  return LW_OK;
}

lw_status lw_create_event_workspace(lw_state *s) {
  const lw_sizes *n = &s->base->size;
  if (!n->transitions) return LW_OK;
  struct lw_event_workspace *r = s->events = calloc(1, sizeof *r);
  if (!r) return LW_ERROR_MEMORY;
  const size_t speeds = (size_t)(n->nu + n->nu_cut), bodies = (size_t)n->bodies, joints = (size_t)n->joints;
  r->backup = malloc(s->snapshot_size);
  r->before = malloc(s->snapshot_size);
  r->due = malloc(sizeof *r->due * (size_t)n->transitions);
  r->closed = malloc((size_t)s->base->removable_joints + 1);
  r->constrained = malloc(speeds + 1);
  r->target = malloc(sizeof(double) * (5 * speeds + 6 * bodies + 12 * joints + (size_t)n->couplings + 1));
  if (!r->backup || !r->before || !r->due || !r->closed || !r->constrained || !r->target || create_contacts(s->base, r))
    return LW_ERROR_MEMORY;
  r->speed_after = r->target + speeds;
  r->constraint_impulse = r->speed_after + speeds;
  r->applied_impulse = r->constraint_impulse + speeds;
  r->force_impulse = r->applied_impulse + 6 * bodies;
  r->torque_impulse = r->force_impulse + 3 * joints;
  r->coupling_impulse = r->torque_impulse + 3 * joints;
  r->speed_before = r->coupling_impulse + n->couplings;
  r->neighbour = r->speed_before + speeds;
  return LW_OK;
}

void lw_free_event_workspace(lw_state *s) {
  if (!s->events) return;
  free(s->events->backup);
  free(s->events->before);
  free(s->events->due);
  free(s->events->closed);
  free(s->events->constrained);
  free(s->events->target);
  free(s->events->contact);
  free(s->events->active);
  free(s->events->eligible);
  free(s->events->compliance);
  free(s->events->direction);
  free(s->events->by_direction);
  free(s->events);
}
