/* Transitions of a builder and their triggers; joints that may open, and speeds that may be locked. */
#include "plan.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOWER 1
#define UPPER 2

static lw_status add(lw_builder *b, transition_part made) {
  if (!(made.name = lw_new_name(b, A_TRANSITION, "transition", made.name, b->transitions))) return b->status;
  made.trigger = LW_NO_TRIGGER;
  return append_transition(b, made);
}

static transition_part blank(lw_action action, const char *name) {
  return (transition_part){.name = name ? name : "",
                           .action = action,
                           .joint = -1,
                           .pin = -1,
                           .body = -1,
                           .coupling = -1,
                           .quantity = -1,
                           .crossing_joint = -1};
}

static lw_status lock_or_unlock(lw_builder *b, lw_action action, const char *name, const char *joint,
                                uint32_t directions) {
  transition_part made = blank(action, name);
  const lw_status e = lw_find_joint(b, "transition", made.name, joint, &made.joint);
  if (e) return e;
  const joint_part *j = &b->joint[made.joint];
  const uint32_t all = (1u << lw_joint_sizes[j->type].u) - 1;
  if (!all || (directions & ~all))
    return lw_refuse(b, LW_ERROR_USAGE,
                     "transition '%s': joint '%s' (%s) has %d directions: name others, or another joint", made.name,
                     joint, lw_joint_type_name(j->type), (int)lw_joint_sizes[j->type].u);
  made.directions = (int32_t)(directions ? directions : all);
  return add(b, made);
}

lw_status lw_builder_add_lock(lw_builder *b, const char *name, const char *joint, uint32_t directions) {
  return lock_or_unlock(b, LW_LOCK, name, joint, directions);
}

lw_status lw_builder_add_unlock(lw_builder *b, const char *name, const char *joint, uint32_t directions) {
  return lock_or_unlock(b, LW_UNLOCK, name, joint, directions);
}

lw_status lw_builder_add_pin(lw_builder *b, const char *name, const lw_joint_kind *kind, const char *parent,
                             const char *child, const lw_frame *parent_frame, const lw_frame *child_frame) {
  transition_part made = blank(LW_PIN, name);
  joint_part joint;
  lw_status e = lw_make_joint(b, &joint, "transition", made.name, kind, parent, child);
  if (e || (e = lw_given_frame(b, "transition", made.name, "parent_frame", parent_frame, &joint.frame[0])) ||
      (e = lw_given_frame(b, "transition", made.name, "child_frame", child_frame, &joint.frame[1])))
    return e;
  joint.cut = 1;
  /* which frame is found where it is at the event: 1 the parent's, 2 the child's */
  if (!parent_frame && !child_frame) joint.captured = joint.child == GROUND ? 2 : 1;
  else joint.captured = !parent_frame ? 1 : !child_frame ? 2 : 0;
  made.pin = b->pins;
  if ((e = add(b, made))) return e;
  joint.name = b->transition[b->transitions - 1].name;
  return append_pin(b, joint);
}

lw_status lw_builder_add_release(lw_builder *b, const char *name, const char *joint) {
  transition_part made = blank(LW_RELEASE, name);
  const int32_t t = lw_named(b, A_TRANSITION, joint);
  if (t >= 0 && b->transition[t].action == LW_PIN) {
    made.pin = b->transition[t].pin;
    return add(b, made);
  }
  const lw_status e = lw_find_joint(b, "transition", made.name, joint, &made.joint);
  return e ? e : add(b, made);
}

lw_status lw_builder_add_stop(lw_builder *b, const char *name, const char *joint, int32_t element, double lower,
                              double upper, double restitution) {
  transition_part made = blank(LW_STOP, name);
  const lw_status e = lw_find_joint(b, "transition", made.name, joint, &made.joint);
  if (e) return e;
  const joint_part *j = &b->joint[made.joint];
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  if (size->q != size->u || element < 0 || element >= size->q)
    return lw_refuse(b, LW_ERROR_USAGE, "transition '%s': joint '%s' (%s) has no angle or displacement %d to bound",
                     made.name, joint, lw_joint_type_name(j->type), (int)element);
  if (!(lower < upper) || lower == INFINITY || upper == -INFINITY)
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "transition '%s': lower = %g must be less than upper = %g; to hold the joint take a lock",
                     made.name, lower, upper);
  made.bounds = LOWER * (lower != -INFINITY) + UPPER * (upper != INFINITY);
  if (!made.bounds)
    return lw_refuse(b, LW_ERROR_PARAMETER, "transition '%s' has no bound: give lower, upper or both", made.name);
  if (!(restitution >= 0.0 && restitution <= 1.0))
    return lw_refuse(b, LW_ERROR_PARAMETER, "transition '%s': restitution must be from 0 (none) to 1 (elastic), not %g",
                     made.name, restitution);
  made.element = element, made.directions = 1 << element, made.restitution = restitution;
  made.value[0] = made.bounds & LOWER ? lower : 0.0;
  made.value[1] = made.bounds & UPPER ? upper : 0.0;
  return add(b, made);
}

lw_status lw_builder_add_impulse(lw_builder *b, const char *name, const char *body, const double point[3],
                                 const double force[3], const double torque[3]) {
  transition_part made = blank(LW_IMPULSE, name);
  lw_status e = lw_find_body(b, "transition", made.name, body, &made.body);
  if (e) return e;
  if (made.body == GROUND)
    return lw_refuse(b, LW_ERROR_USAGE,
                     "transition '%s': its impulse acts on the ground, which nothing moves: name a body", made.name);
  if ((e = lw_take_numbers(b, "transition", made.name, "its impulse", point, 3, made.point)) ||
      (e = lw_take_numbers(b, "transition", made.name, "its impulse", force, 3, made.impulse)) ||
      (e = lw_take_numbers(b, "transition", made.name, "its impulse", torque, 3, made.impulse + 3)))
    return e;
  return add(b, made);
}

/* ---- triggers ---- */

static lw_status set_trigger(lw_builder *b, const char *name, lw_trigger trigger, double value,
                             transition_part **found) {
  int32_t k;
  const lw_status e = lw_find_among(b, A_TRANSITION, "trigger", name, &k);
  if (e) return e;
  transition_part *t = *found = &b->transition[k];
  if (t->action == LW_STOP)
    return lw_refuse(b, LW_ERROR_USAGE, "transition '%s': a stop acts wherever its bounds are met: give it no trigger",
                     name);
  if (t->trigger != LW_NO_TRIGGER)
    return lw_refuse(b, LW_ERROR_USAGE, "transition '%s' has a trigger already: add another transition for this one",
                     name);
  if (!isfinite(value)) return lw_refuse(b, LW_ERROR_PARAMETER, "transition '%s': its trigger must be finite", name);
  t->trigger = trigger;
  if (trigger != LW_COMMAND) t->value[0] = value;
  return LW_OK;
}

lw_status lw_builder_at_time(lw_builder *b, const char *transition, double time) {
  transition_part *t;
  return set_trigger(b, transition, LW_AT_TIME, time, &t);
}

lw_status lw_builder_on_command(lw_builder *b, const char *transition) {
  transition_part *t;
  return set_trigger(b, transition, LW_COMMAND, 0.0, &t);
}

static lw_status set_crossing(lw_builder *b, const char *name, lw_quantity quantity, double value, int32_t direction,
                              transition_part **found) {
  const lw_status e = set_trigger(b, name, LW_ZERO_CROSSING, value, found);
  if (e) return e;
  (*found)->quantity = quantity, (*found)->direction = (direction > 0) - (direction < 0);
  return LW_OK;
}

static lw_status cross_in_joint(lw_builder *b, const char *transition, lw_quantity quantity, const char *joint,
                                int32_t element, double value, int32_t direction) {
  transition_part *t;
  int32_t watched;
  lw_status e = lw_find_joint(b, "transition", transition ? transition : "", joint, &watched);
  if (e) return e;
  const lw_joint_size *size = &lw_joint_sizes[b->joint[watched].type];
  const int32_t plain = size->q == size->u ? size->q : size->q - 4; /* the rest is a quaternion */
  if (element < 0 || element >= (quantity == LW_SPEED ? size->u : plain))
    return lw_refuse(b, LW_ERROR_USAGE, "transition '%s': joint '%s' (%s) has no %s %d", transition, joint,
                     lw_joint_type_name(b->joint[watched].type),
                     quantity == LW_SPEED ? "speed" : "angle or displacement", (int)element);
  if ((e = set_crossing(b, transition, quantity, value, direction, &t))) return e;
  t->crossing_joint = watched, t->element = element;
  return LW_OK;
}

lw_status lw_builder_at_crossing(lw_builder *b, const char *transition, const char *joint, int32_t element,
                                 double value, int32_t direction) {
  return cross_in_joint(b, transition, LW_COORDINATE, joint, element, value, direction);
}

lw_status lw_builder_at_speed(lw_builder *b, const char *transition, const char *joint, int32_t element, double value,
                              int32_t direction) {
  return cross_in_joint(b, transition, LW_SPEED, joint, element, value, direction);
}

static lw_status cross_between(lw_builder *b, const char *transition, lw_quantity quantity, const char *first,
                               const double from[3], const char *second, const double to[3], double value,
                               int32_t direction) {
  transition_part *t;
  int32_t body[2];
  lw_status e;
  const char *shown = transition ? transition : "";
  if ((e = lw_find_body(b, "transition", shown, first, &body[0])) ||
      (e = lw_find_body(b, "transition", shown, second, &body[1])))
    return e;
  if (body[0] == body[1] || (quantity == LW_DISTANCE && !(value > 0.0)) || !lw_all_finite(from, 3) ||
      !lw_all_finite(to, 3))
    return lw_refuse(b, LW_ERROR_PARAMETER, "transition '%s': give points of two bodies, and a%s that they cross",
                     shown, quantity == LW_DISTANCE ? " distance above zero" : " rate of their distance");
  if ((e = set_crossing(b, transition, quantity, value, direction, &t))) return e;
  memcpy(t->watched, body, sizeof body);
  memcpy(t->watched_point[0], from, sizeof t->watched_point[0]);
  memcpy(t->watched_point[1], to, sizeof t->watched_point[1]);
  return LW_OK;
}

lw_status lw_builder_at_distance(lw_builder *b, const char *transition, const char *first, const double from[3],
                                 const char *second, const double to[3], double value, int32_t direction) {
  return cross_between(b, transition, LW_DISTANCE, first, from, second, to, value, direction);
}

lw_status lw_builder_at_distance_rate(lw_builder *b, const char *transition, const char *first, const double from[3],
                                      const char *second, const double to[3], double value, int32_t direction) {
  return cross_between(b, transition, LW_DISTANCE_RATE, first, from, second, to, value, direction);
}

lw_status lw_builder_at_variable(lw_builder *b, const char *transition, const lw_formula_quantity *variable,
                                 double value, int32_t direction) {
  transition_part *t;
  lw_status e;
  if ((e = lw_take_quantity(b, transition ? transition : "", variable)) ||
      (e = set_crossing(b, transition, LW_VARIABLE, value, direction, &t)))
    return e;
  t->element = b->quantities - 1;
  return LW_OK;
}

/* ---- friction ---- */

void lw_remove_sticking(lw_builder *b) {
  while (b->transitions && b->transition[b->transitions - 1].action == LW_STICK) b->transitions--;
  while (b->couplings && b->coupling[b->couplings - 1].of_friction) b->couplings--;
  while (b->terms && b->term[b->terms - 1].coupling >= b->couplings) b->terms--;
}

/* A coupling that holds the sum of the speeds of a force while that sticks. */
static lw_status add_sum(lw_builder *b, int32_t first, int32_t count) {
  lw_status e = append_coupling(b, (coupling_part){.name = b->force[b->gear[first].force].name, .of_friction = 1});
  for (int32_t k = first; !e && k < first + count; k++) {
    const gear_part *gear = &b->gear[k];
    const term_part term = {b->couplings - 1, gear->joint, gear->element, {gear->gear, 0.0, 0.0, 0.0}};
    b->joint[gear->joint].coupled = 1;
    e = append_term(b, term);
  }
  return e;
}

lw_status lw_add_sticking(lw_builder *b) {
  lw_status e = LW_OK;
  for (int32_t k = 0, count; !e && k < b->gears; k += count) {
    const gear_part *gear = &b->gear[k];
    const force_part *force = &b->force[gear->force];
    for (count = 1; k + count < b->gears && b->gear[k + count].force == gear->force; count++) continue;
    if (!lw_force_sticks(force->type, force->given)) continue;
    transition_part made = blank(LW_STICK, force->name);
    made.trigger = LW_NO_TRIGGER, made.friction = gear->force;
    if (count == 1) made.joint = gear->joint, made.element = gear->element, made.directions = 1 << gear->element;
    else if (!(e = add_sum(b, k, count))) made.coupling = b->couplings - 1;
    if (!e) e = append_transition(b, made);
  }
  return e;
}

/* ---- whole mechanisms ---- */

/* Joint, pin or body on which it acts: two transitions of one subject may exclude each other. */
static int same_subject(const transition_part *a, const transition_part *c) {
  return a->joint == c->joint && a->pin == c->pin && a->body == c->body;
}

static int frees(const transition_part *unlock, const transition_part *lock) {
  return unlock->action == LW_UNLOCK && lock->action == LW_LOCK && unlock->joint == lock->joint &&
         (unlock->directions & lock->directions);
}

static int undoes(const transition_part *a, const transition_part *c) {
  return frees(a, c) || (a->action == LW_RELEASE && c->action == LW_PIN && a->pin == c->pin);
}

static int same_quantity(const lw_builder *b, int32_t one, int32_t other) {
  const quantity_part *x = &b->quantity[one], *y = &b->quantity[other];
  return x->index == y->index && strcmp(b->quantity_name + x->name, b->quantity_name + y->name) == 0;
}

static int same_watched(const lw_builder *b, const transition_part *a, const transition_part *c) {
  if (a->quantity != c->quantity || a->crossing_joint != c->crossing_joint) return 0;
  if (a->crossing_joint >= 0) return a->element == c->element;
  if (a->quantity == LW_VARIABLE) return same_quantity(b, a->element, c->element);
  for (int swap = 0; swap < 2; swap++) {
    int same = 1;
    for (int k = 0; k < 2; k++)
      same &= a->watched[k] == c->watched[k ^ swap] &&
              memcmp(a->watched_point[k], c->watched_point[k ^ swap], sizeof a->watched_point[k]) == 0;
    if (same) return 1;
  }
  return 0;
}

static int same_event(const lw_builder *b, const transition_part *a, const transition_part *c) {
  if (a->trigger != c->trigger || a->value[0] != c->value[0]) return 0;
  return a->trigger == LW_AT_TIME ||
         (a->trigger == LW_ZERO_CROSSING && a->direction * c->direction >= 0 && same_watched(b, a, c));
}

static lw_status check_pair(lw_builder *b, const transition_part *a, const transition_part *c) {
  if ((undoes(a, c) || undoes(c, a)) && same_event(b, a, c))
    return lw_refuse(b, LW_ERROR_USAGE,
                     "transitions '%s' and '%s' undo each other at the same event: give one of them another", a->name,
                     c->name);
  return LW_OK;
}

static lw_status check_start(lw_builder *b, const transition_part *t) {
  if (t->action != LW_STOP || !b->joint[t->joint].q_rank) return LW_OK;
  const joint_part *j = &b->joint[t->joint];
  const double q = j->q[t->element];
  if (((t->bounds & LOWER) && q < t->value[0]) || ((t->bounds & UPPER) && q > t->value[1]))
    return lw_refuse(
        b, LW_ERROR_PARAMETER,
        "start q of joint '%s': %g is beyond a bound of its stop '%s': start within the bounds, or move them", j->name,
        q, t->name);
  return LW_OK;
}

lw_status lw_check_transitions(lw_builder *b) {
  lw_status e;
  for (int32_t i = 0; i < b->transitions; i++) {
    const transition_part *t = &b->transition[i];
    int locked = t->action != LW_UNLOCK;
    if (t->action != LW_STOP && t->action != LW_STICK && t->trigger == LW_NO_TRIGGER)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "transition '%s' has no trigger: give it a time, a zero crossing, a distance or a command",
                       t->name);
    if ((e = check_start(b, t))) return e;
    for (int32_t k = 0; k < b->transitions; k++) {
      locked |= frees(t, &b->transition[k]);
      if (k < i && same_subject(t, &b->transition[k]) && (e = check_pair(b, &b->transition[k], t))) return e;
    }
    if (!locked)
      return lw_refuse(b, LW_ERROR_USAGE, "transition '%s': nothing locks joint '%s': add a lock, or leave it out",
                       t->name, b->joint[t->joint].name);
  }
  return LW_OK;
}

int lw_is_undone(const lw_builder *b, const transition_part *t) {
  if (t->trigger != LW_COMMAND || (t->action != LW_LOCK && t->action != LW_PIN)) return 0;
  for (int32_t k = 0; k < b->transitions; k++)
    if (undoes(&b->transition[k], t)) return 0;
  return 1;
}

static int by_place(const void *a, const void *c) {
  const int32_t *x = a, *y = c;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* What names a joint that may open: a coupling would lose it. */
static lw_status refuse_coupled(lw_builder *b, int32_t joint) {
  int32_t k = 0;
  while (b->term[k].joint != joint) k++;
  const coupling_part *by = &b->coupling[b->term[k].coupling];
  if (by->of_friction)
    return lw_refuse(b, LW_ERROR_USAGE,
                     "friction '%s' acts by gears on joint '%s', which may open: name joints that stay", by->name,
                     b->joint[joint].name);
  return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s' names joint '%s', which may open: couple a joint that stays",
                   by->name, b->joint[joint].name);
}

/* Pins, which stand behind all other joints, and joints that are released. */
static lw_status find_removable(lw_builder *b, int32_t first_pin, variants *v) {
  v->open = calloc((size_t)b->joints + 1, 1);
  v->removable_joint = malloc(sizeof *v->removable_joint * ((size_t)b->joints + 1));
  if (!v->open || !v->removable_joint) return lw_no_memory(b);
  for (int32_t i = 0; i < b->transitions; i++)
    if (b->transition[i].action == LW_RELEASE && b->transition[i].joint >= 0) v->open[b->transition[i].joint] = 1;
  for (int32_t j = 0; j < b->joints; j++) {
    const int opens = v->open[j] || j >= first_pin;
    if (opens && b->joint[j].coupled) return refuse_coupled(b, j);
    if (opens) v->removable_joint[v->removable_joints++] = j;
    v->open[j] = j >= first_pin;
  }
  return LW_OK;
}

void lw_free_variants(variants *v) {
  free(v->lock);
  free(v->removable_joint);
  free(v->open);
}

lw_status lw_plan_variants(lw_builder *b, variants *v) {
  *v = (variants){0};
  v->lock = malloc(sizeof *v->lock * (6 * (size_t)b->transitions + 1));
  if (!v->lock) return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the transitions");
  const int32_t first_pin = b->joints - b->pins;
  for (int32_t i = 0; i < b->transitions; i++) {
    const transition_part *t = &b->transition[i];
    if (t->action == LW_RELEASE && t->joint >= 0) b->joint[t->joint].cut = 1;
    const int locks = t->action == LW_LOCK || t->action == LW_UNLOCK || t->action == LW_STOP || t->action == LW_STICK;
    for (int32_t k = 0; locks && t->joint >= 0 && k < lw_joint_sizes[b->joint[t->joint].type].u; k++)
      if (t->directions >> k & 1) v->lock[v->locks][0] = t->joint, v->lock[v->locks++][1] = k;
  }
  qsort(v->lock, (size_t)v->locks, sizeof *v->lock, by_place);
  int32_t kept = 0;
  for (int32_t i = 0; i < v->locks; i++)
    if (!kept || by_place(v->lock[kept - 1], v->lock[i]) != 0) memmove(v->lock[kept++], v->lock[i], sizeof *v->lock);
  v->locks = kept;
  return find_removable(b, first_pin, v);
}
