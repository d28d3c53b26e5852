/* Event handling: applies all due transitions, and those they trigger, until none is due. */
#include "events/chattering.h"
#include "events/removable_joints.h"
#include "events/impact.h"
#include "events/sticking.h"
#include "load/kept_variants.h"
#include "topology/select.h"
#include <math.h>
#include <string.h>

static int is_applied(const lw_state *s, int32_t i, lw_action action) {
  return transition_of(s, i)->action == (int32_t)action && s->events->due[i] & LW_DO;
}
static int is_reverted(const lw_state *s, int32_t i, lw_action action) {
  return transition_of(s, i)->action == (int32_t)action && s->events->due[i] & LW_UNDO;
}

/* ---- contradictions ---- */

static int32_t directions_to_lock(const lw_state *s, int32_t i) {
  return is_applied(s, i, LW_LOCK) ? transition_of(s, i)->directions : 0;
}
static int32_t directions_to_unlock(const lw_state *s, int32_t i) {
  return is_applied(s, i, LW_UNLOCK) || is_reverted(s, i, LW_LOCK) ? transition_of(s, i)->directions : 0;
}
static int is_pinned_now(const lw_state *s, int32_t i) {
  return is_applied(s, i, LW_PIN) && lw_reals(s)[s->model->at.joint_closed + transition_of(s, i)->joint] == 0.0;
}
static int is_released_now(const lw_state *s, int32_t i) {
  return is_applied(s, i, LW_RELEASE) || is_reverted(s, i, LW_PIN);
}

static lw_status check_contradictions(lw_state *s) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    for (int32_t j = 0; s->events->due[i] && j < s->base->size.transitions; j++) {
      if (transition_of(s, i)->joint != transition_of(s, j)->joint) continue;
      const int both =
          (directions_to_lock(s, i) & directions_to_unlock(s, j)) || (is_pinned_now(s, i) && is_released_now(s, j));
      if (both)
        return lw_fail(s, LW_ERROR_USAGE,
                       "transitions '%.60s' and '%.60s' contradict each other: both are due at t = %.9g s",
                       s->base->transition_name[i], s->base->transition_name[j], lw_reals(s)[s->model->at.time]);
    }
  return LW_OK;
}

/* ---- joints and locks ---- */

static void lock_directions(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const lw_model *m = s->model;
  double *reals = lw_reals(s);
  for (int32_t c = 0; x->directions >> c; c++) {
    const int32_t u = m->joint[x->joint].u + c;
    if (!(x->directions >> c & 1)) continue;
    if (reals[m->at.locked + u] == 0.0) reals[m->at.lock_value + u] = lw_coordinate_value(s, u);
    reals[m->at.locked + u] = (double)(lw_lock_holders(reals[m->at.locked + u]) | LW_HELD_BY_LOCK);
  }
  reals[m->at.transition_active + i] = 1.0;
}

static void unlock_directions(lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  const lw_model *m = s->model;
  double *reals = lw_reals(s);
  for (int32_t c = 0; x->directions >> c; c++) {
    double *locked = reals + m->at.locked + m->joint[x->joint].u + c;
    if (x->directions >> c & 1) *locked = (double)(lw_lock_holders(*locked) & ~LW_HELD_BY_LOCK);
  }
  for (int32_t j = 0; j < m->size.transitions; j++) {
    const lw_transition *other = transition_of(s, j);
    if (other->action == LW_LOCK && other->joint == x->joint && other->directions & x->directions)
      reals[m->at.transition_active + j] = 0.0;
  }
}

/* Opening a joint ends its contact with a stop. */
static void open_joint(lw_state *s, int32_t joint) {
  double *reals = lw_reals(s);
  reals[s->model->at.joint_closed + joint] = 0.0;
  for (int32_t j = 0; j < s->base->size.transitions; j++) {
    const lw_transition *other = transition_of(s, j);
    if (other->joint != joint || other->action == LW_IMPULSE) continue;
    reals[s->model->at.transition_active + j] = 0.0;
    if (other->action == LW_STOP) lw_memory_of(s, j)->event_sign = 0.0;
  }
}

static void close_joint(lw_state *s, int32_t i) {
  const int32_t joint = transition_of(s, i)->joint;
  lw_capture_frame(s, joint);
  lw_reals(s)[s->model->at.joint_closed + joint] = 1.0;
  lw_reals(s)[s->model->at.transition_active + i] = 1.0;
}

/* What a change of the discrete state asks for. */
typedef struct consequences {
  int speeds_jump, contacts_change;
  int32_t closed; /* how many joints close */
} consequences;

static lw_status change_discrete_state(lw_state *s, consequences *found) {
  consequences asked = {0, lw_has_friction(s), 0};
  int topology_changed = 0;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (directions_to_unlock(s, i)) unlock_directions(s, i);
    if (is_released_now(s, i)) open_joint(s, transition_of(s, i)->joint), topology_changed = 1;
    if (s->events->due[i] & LW_LEAVE_CONTACT) asked.contacts_change = 1;
  }
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (directions_to_lock(s, i)) lock_directions(s, i), asked.speeds_jump = 1;
    if (is_pinned_now(s, i)) close_joint(s, i), asked.speeds_jump = topology_changed = 1, asked.closed++;
    if (is_applied(s, i, LW_IMPULSE) || s->events->due[i] & LW_HIT) asked.speeds_jump = 1;
  }
  *found = asked;
  if (topology_changed) return lw_select_topology(s, 1);
  lw_state_changed(s, LW_STAGE_NONE); /* a lock may hold a spin that was idle */
  return LW_OK;
}

/* ---- one event ---- */

static lw_status handle_due_transitions(lw_state *s, int32_t *changed) {
  double *x = lw_reals(s);
  lw_status e = check_contradictions(s);
  if (e || (e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
  memcpy(s->events->before, s->snapshot, s->snapshot_size);
  const lw_offsets *at = &s->base->at;
  lw_store_speeds_before(s);
  const double kinetic = x[at->energy_kinetic];
  const size_t joints = sizeof(double) * 3 * (size_t)s->base->size.joints;
  memset(x + at->impulse_force, 0, joints);
  memset(x + at->impulse_torque, 0, joints);
  x[at->event_count] += 1.0;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (s->events->due[i]) lw_memory_of(s, i)->last = x[at->event_count];
  consequences asked;
  if ((e = change_discrete_state(s, &asked))) return e;
  if (!asked.speeds_jump) {
    if (asked.contacts_change && (e = lw_update_contacts(s))) return e;
    *changed |= memcmp(lw_reals(s) + at->u, lw_reals_before(s) + at->u, sizeof(double) * (size_t)s->base->size.nu) != 0;
    return LW_OK;
  }
  if (asked.closed && (e = lw_check_pin_gaps(s))) return e;
  if ((e = lw_apply_impacts(s)) || (e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
  lw_shift_speed_crossings(s);
  x[at->energy_lost] += kinetic - x[at->energy_kinetic];
  lw_step_accepted(s);
  *changed = 1;
  return LW_OK;
}

/* The variant before the event is in use until the event is over, so that there is always a way back to it. */
static const lw_model *make_backup(lw_state *s) {
  memcpy(s->events->backup, s->snapshot, s->snapshot_size);
  lw_use_variant(s->base, s->model);
  return s->model;
}

static lw_status restore_backup(lw_state *s, lw_status e) {
  memcpy(s->snapshot, s->events->backup, s->snapshot_size);
  (void)lw_select_topology(s, 0);
  return e;
}

static lw_status handle_all(lw_state *s, int32_t *changed) {
  for (;;) {
    lw_status e;
    const int32_t due = lw_find_due_transitions(s);
    if (due == 0) return LW_OK;
    if (due < 0) return restore_backup(s, lw_evaluate(s, LW_STAGE_OUTPUTS));
    if ((e = lw_count_event(s)) || (e = handle_due_transitions(s, changed))) return restore_backup(s, e);
  }
}

lw_status lw_handle_events(lw_state *s, int32_t *changed) {
  if (!s) return LW_ERROR_USAGE;
  *changed = 0;
  lw_release_kinks(s);
  if (!s->events) return LW_OK;
  const lw_model *before = make_backup(s);
  const lw_status e = handle_all(s, changed);
  lw_leave_variant(s->base, before);
  return e;
}

static lw_status apply(lw_state *s, const int32_t *which, int32_t n) {
  memset(s->events->due, 0, sizeof *s->events->due * (size_t)s->base->size.transitions);
  for (int32_t k = 0; k < n; k++) {
    if (which[k] < 0 || which[k] >= s->base->size.transitions)
      return restore_backup(s, lw_fail(s, LW_ERROR_USAGE, "there is no transition %d", which[k]));
    const lw_transition *x = transition_of(s, which[k]);
    const lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
    if (e) return restore_backup(s, e);
    const int up = x->action == LW_STOP && (x->bounds == 2 || (x->bounds == 3 && lw_speed_value(s, x->hold) > 0.0));
    if (x->trigger == LW_AT_TIME) lw_memory_of(s, which[k])->done = 1.0;
    s->events->due[which[k]] = x->action != LW_STOP ? LW_DO : up ? LW_HIT_UPPER : LW_HIT_LOWER;
  }
  int32_t changed;
  const lw_status e = handle_due_transitions(s, &changed);
  return e ? restore_backup(s, e) : LW_OK;
}

lw_status lw_apply_transitions(lw_state *s, const int32_t *which, int32_t n) {
  if (!s) return LW_ERROR_USAGE;
  if (n <= 0) return LW_OK;
  if (!s->events) return lw_fail(s, LW_ERROR_USAGE, "there is no transition %d in this mechanism", which[0]);
  const lw_model *before = make_backup(s);
  const lw_status e = apply(s, which, n);
  lw_leave_variant(s->base, before);
  return e;
}

lw_status lw_start_events(lw_state *s, int32_t *changed) {
  if (!s) return LW_ERROR_USAGE;
  *changed = 0;
  lw_release_kinks(s);
  if (!s->events) return LW_OK;
  lw_status e = lw_initialize_event_signs(s);
  if (!e) e = lw_start_friction(s);
  return e ? e : lw_handle_events(s, changed);
}

lw_status lw_discrete_state_changed(lw_state *s) {
  if (!s) return LW_ERROR_USAGE;
  return lw_select_topology(s, 1);
}
