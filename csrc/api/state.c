/* The life of a state, access to its variables by offset, and what a user asks of its mechanics. */
#include "block/state.h"
#include "block/discrete_state.h"
#include "events/impact.h"
#include "events/sticking.h"
#include "load/kept_variants.h"
#include "topology/select.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static size_t aligned(size_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

lw_status lw_state_create(const lw_model *m, lw_state **state) {
  if (!state) return LW_ERROR_USAGE;
  *state = NULL;
  if (!m) return LW_ERROR_USAGE;
  const size_t integers = sizeof(int32_t) * (size_t)m->most_integers;
  const size_t head = aligned(sizeof(int32_t) + sizeof(uint32_t) + integers),
               n = sizeof(double) * (size_t)m->size.reals;
  lw_state *s = calloc(1, sizeof *s);
  if (!s) return LW_ERROR_MEMORY;
  s->memory = calloc(1, ALIGNMENT + head + n);
  if (!s->memory) {
    free(s);
    return LW_ERROR_MEMORY;
  }
  s->model = s->base = m;
  s->kernels = m->kernels;
  s->snapshot = s->memory + (ALIGNMENT - (uintptr_t)s->memory % ALIGNMENT) % ALIGNMENT;
  s->snapshot_size = head + n;
  s->stage = (int32_t *)s->snapshot;
  s->origin = (uint32_t *)(s->stage + 1);
  s->block.integers = s->stage + 2;
  s->block.reals = s->snapshot + head;
  if (lw_create_event_workspace(s) || lw_fit_workspace(s, &s->block, &s->work_reals, sizeof(double))) {
    lw_state_free(s);
    return LW_ERROR_MEMORY;
  }
  if (lw_has_friction(s)) s->before_accelerations = lw_decide_friction;
  *state = s;
  return lw_state_reset(s);
}

void lw_state_free(lw_state *s) {
  if (!s) return;
  lw_leave_variant(s->base, s->model);
  free(s->complex_memory);
  free(s->complex_block.work);
  free(s->block.work);
  lw_free_constraint_workspace(s);
  free(s->rates.found);
  lw_free_compiled_derivatives(s);
  lw_dca_release(&s->dca);
  free(s->jump.reals);
  free(s->jump.integers);
  lw_free_event_workspace(s);
  lw_dca_release(&s->complex_dca);
  free(s->memory);
  free(s);
}

/* The joints are closed that are so at first; no speed is locked. */
static lw_status reset_discrete_state(lw_state *s) {
  const lw_model *m = s->base;
  for (int32_t i = 0; m->size.transitions && i < m->removable_joints; i++)
    lw_reals(s)[m->at.joint_closed + m->removable_joint[i]] = m->closed[i];
  return lw_select_topology(s, 1);
}

lw_status lw_state_reset(lw_state *s) {
  if (!s) return LW_ERROR_USAGE;
  memset(s->snapshot, 0, s->snapshot_size);
  const lw_model *m = s->base;
  *s->origin = m->checksum;
  memcpy(lw_reals(s), m->defaults, sizeof(double) * (size_t)m->parameters);
  memcpy(lw_reals(s) + m->at.impulse, lw_reals(s) + m->at.impulse_start,
         6 * sizeof(double) * (size_t)m->size.transitions);
  return reset_discrete_state(s);
}

/* ---- variables ---- */

/* A start value that differs from the description's own was set on purpose: assembly keeps it before all others. Of
 * several such values those of the first joints are kept longest, in whatever order they are set. */
static double set_priority(int32_t first_of_joint) { return (first_of_joint + 1.0) / (first_of_joint + 2.0); }

static void prioritize_coordinate(lw_state *s, int32_t q) {
  const lw_joint *joint = lw_joint_with(s->model, 1, q);
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  double *priority = lw_reals(s) + s->model->at.q_priority;
  priority[q] = set_priority(joint->q);
  for (int32_t k = 0; size->q != size->u && k < size->q; k++) /* a quaternion is one thing */
    priority[joint->q + k] = set_priority(joint->q);
}

static void prioritize_speed(lw_state *s, int32_t u) {
  lw_reals(s)[s->model->at.u_priority + u] = set_priority(lw_joint_with(s->model, 0, u)->u);
}

static void prioritize_start(lw_state *s, int32_t offset, double value) {
  const lw_offsets *at = &s->model->at;
  if (value == s->model->defaults[offset]) return;
  if (offset >= at->q_start && offset < at->u_start) prioritize_coordinate(s, offset - at->q_start);
  else if (offset >= at->u_start && offset < at->q_priority) prioritize_speed(s, offset - at->u_start);
}

/* The inputs of motions hold for the time at which they, or the time itself, are set; only an integrator that runs on
 * by itself from there continues them with their rates. */
static void note_instant(lw_state *s, int32_t offset) {
  const lw_offsets *at = &s->model->at;
  if (offset == at->time || (offset >= at->motion_in && offset < at->command))
    lw_reals(s)[at->motion_time] = lw_reals(s)[at->time];
}

static lw_status check_setting(lw_state *s, uint32_t offset, double value) {
  const lw_field *f = lw_field_at(s, offset);
  switch (f->access) {
    case LW_INTERNAL: return lw_fail(s, LW_ERROR_USAGE, "there is no variable %u", offset);
    case LW_DERIVATIVE:
    case LW_OUTPUT:
      return lw_fail(s, LW_ERROR_USAGE, "%s is computed and cannot be set", lw_name_of_variable(s, offset).text);
    case LW_PARAMETER:
    case LW_START:
    case LW_INPUT:
    case LW_STATE: break;
  }
  if (!lw_is_valid(f->name, value))
    return lw_fail(s, LW_ERROR_VALUE, "%s was set to a value that is not finite", lw_name_of_variable(s, offset).text);
  return LW_OK;
}

/* All or none are set. */
lw_status lw_set_reals(lw_state *s, const uint32_t *offsets, size_t n, const double *values) {
  if (!s) return LW_ERROR_USAGE;
  for (size_t i = 0; i < n; i++) {
    const lw_status e = check_setting(s, offsets[i], values[i]);
    if (e) return e;
  }
  for (size_t i = 0; i < n; i++) {
    const lw_access access = lw_access_of(s, offsets[i]);
    lw_reals(s)[offsets[i]] = values[i];
    note_instant(s, (int32_t)offsets[i]);
    if (access == LW_START) prioritize_start(s, (int32_t)offsets[i], values[i]);
    else lw_state_changed(s, access == LW_PARAMETER ? LW_STAGE_NONE : LW_STAGE_CONSTANTS);
  }
  return LW_OK;
}

/* Residuals of loops, and poses and velocities of bodies, which are those of the tree, exist with wide open loops as
 * well. The evaluation that has failed left the residuals. */
static int exists_with_open_loops(lw_state *s, const lw_field *f, lw_status evaluated) {
  const lw_offsets *at = &s->model->at;
  if (evaluated != LW_ERROR_SINGULAR || lw_open_loop(s) < 0) return 0;
  if (f->first == at->loop_residual) return 1;
  if (f->first != at->body_position && f->first != at->body_orientation && f->first != at->body_velocity &&
      f->first != at->body_angular_velocity)
    return 0;
  s->kernels->body_motions(s->model, s->block);
  return 1;
}

lw_status lw_get_reals(lw_state *s, const uint32_t *offsets, size_t n, double *values) {
  if (!s) return LW_ERROR_USAGE;
  for (size_t i = 0; i < n; i++) {
    const lw_field *f = lw_field_at(s, offsets[i]);
    if (f->access == LW_INTERNAL) return lw_fail(s, LW_ERROR_USAGE, "there is no variable %u", offsets[i]);
    const lw_status e = lw_evaluate(s, f->stage);
    if (e && !exists_with_open_loops(s, f, e)) return e;
    values[i] = lw_reals(s)[offsets[i]];
  }
  return LW_OK;
}

/* ---- mechanics ---- */

lw_status lw_assemble(lw_state *s, double tolerance) {
  if (!s) return LW_ERROR_USAGE;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e) return e;
  const lw_offsets *at = &s->model->at;
  for (int32_t i = at->q_start; i < at->time; i++)
    if (!isfinite(lw_reals(s)[i])) return lw_report_not_finite(s, 0);
  const int32_t j = lw_zero_quaternion(s, at->q_start);
  if (j >= 0)
    return lw_fail(s, LW_ERROR_VALUE, "the start quaternion of joint '%s' has the length zero; give it a direction",
                   s->model->joint_name[j]);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return lw_report(s, s->kernels->assemble(s->model, s->block, tolerance));
}

/* As a rule: then there is nothing to search for. Speeds of cut joints are not known yet. */
static int starts_are_kept(const lw_state *s) {
  const lw_model *m = s->model;
  const double *x = lw_reals(s);
  const lw_offsets *at = &m->at;
  int kept = 1;
  for (int32_t i = 0; i < m->size.nq + m->size.nq_cut && kept; i++)
    kept = x[at->q_priority + i] == 0.0 ||
           x[at->q_start + i] == (i < m->size.nq ? x[at->q + i] : x[at->q_cut + i - m->size.nq]);
  for (int32_t i = 0; i < m->size.nu + m->size.nu_cut && kept; i++)
    kept = x[at->u_priority + i] == 0.0 || (i < m->size.nu && x[at->u_start + i] == x[at->u + i]);
  return kept;
}

int32_t lw_changed_starts(lw_state *s, lw_changed_start *changed, int32_t capacity) {
  if (starts_are_kept(s) || lw_evaluate(s, LW_STAGE_CONSTANTS)) return 0;
  const int32_t count = s->kernels->changed_starts(s->model, s->block, changed, capacity);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return count;
}

int lw_ode_mechanism_events(void *state, double t, const double *y, double *indicators) {
  lw_set_states(state, t, y);
  return lw_event_indicators(state, indicators) != LW_OK;
}

int lw_ode_mechanism_step(void *state, double t, const double *y, double *step_values) {
  lw_state *s = state;
  const lw_model *m = s->model;
  lw_set_states(s, t, y);
  lw_step_accepted(s);
  memcpy(step_values, lw_reals(s) + m->at.cut_reference, sizeof(double) * (size_t)m->size.nq_cut);
  return lw_check_constraints(s) ? -1 : 0;
}

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
const char *lw_version(void) { return VERSION_TEXT(LW_VERSION_MAJOR, LW_VERSION_MINOR, LW_VERSION_PATCH); }
