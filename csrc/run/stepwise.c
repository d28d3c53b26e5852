/* A run that its host takes from step to step: starts, steps, points between, and what it remembers. The host carries out
 * transitions and knows when a start is needed. */
#include <math.h>
#include <string.h>

#include "block/state.h"
#include "model/model.h"
#include "run/run.h"

lw_status lw_run_create_stepwise(const lw_model *model, lw_state *state, const lw_run_calls *calls, lw_run **run) {
  const lw_run_options options = {.t_end = INFINITY, .max_steps = -1, .max_events = -1, .calls = calls, .state = state};
  lw_run *r = *run = lw_run_allocate(model, &options);
  if (!r) return LW_ERROR_MEMORY;
  r->stepwise = 1, r->n_inputs = 0, r->direction = 1.0, r->continued_at = NAN;
  r->counting = r->size.nq_cut > 0, r->watching = lw_run_must_watch(r);
  if (r->calls.law) lw_run_bind_calls(r);
  lw_status e = lw_record_create_recent(r);
  if (!e) e = lw_run_make_integrator(r);
  if (!e) lw_run_forget(r);
  else lw_run_free(r), *run = NULL;
  return e;
}

/* ---- starts ---- */

static void forget_failure(lw_run *r) {
  r->outcome = LW_RUN_GOES_ON, r->status = r->cause = LW_OK;
  r->raised = r->chattering = r->too_many_steps = 0;
  r->message[0] = r->cause_text[0] = '\0';
}

static void adopt(lw_run *r, const lw_run_settings *s) {
  r->options.method = s->method, r->options.rtol = r->options.atol = s->tolerance;
  r->duration = s->duration, r->looks_ahead = s->looks_ahead;
  r->began = r->t, r->options.t_end = r->t + s->duration;
  if (r->looks_ahead) r->memory.last_step = r->memory.choice = 0.0;
  r->control = (lw_ode_step_control){r->memory.last_step, FIRST_ERROR, r->memory.choice};
  r->continues = 1;
}

/* For the cause of a failure. */
static void keep_row(lw_run *r) {
  if (!r->watching) return;
  lw_append_recent(&r->record.t, &r->t);
  lw_append_recent(&r->record.y, r->y);
}

/* A new segment, unless a zero crossing has been dealt with here. */
static lw_status enter_segment(lw_run *r) {
  const int crossed = r->memory.event_at == r->t && r->memory.crossed != 0.0;
  r->memory.event_at = NAN;
  r->statistics.segments++;
  r->record.t.count = r->record.y.count = 0;
  keep_row(r);
  if (crossed) return lw_run_note_crossing(r);
  r->t_start = r->memory.segment_start = r->t, r->memory.crossings = 0.0;
  return LW_OK;
}

static lw_status restart(lw_run *r, const lw_run_settings *settings) {
  const double *x = lw_state_reals(r->state);
  r->t = x[r->model->at.time];
  memcpy(r->y, x + r->model->at.q, sizeof *x * (size_t)r->n);
  forget_failure(r);
  adopt(r, settings);
  lw_status e = enter_segment(r);
  if (!e) e = lw_run_find_time_event(r, &r->time_event);
  if (e) return e;
  if (lw_ode_set_method(r->ode, r->options.method, r->equations.jacobian))
    return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for the matrices of the method");
  if ((e = lw_run_start_steps(r))) return e;
  r->memory.scaled = r->scaled;
  if (!r->looks_ahead) lw_run_watch(r);
  else r->time_event = INFINITY, lw_watch_constraints(r->state, 0.0, 0.0);
  return LW_OK;
}

static lw_run_outcome outcome_of(lw_run *r, lw_status e) {
  if (e) lw_run_fail(r, e);
  return r->outcome;
}

lw_run_outcome lw_run_restart(lw_run *r, const lw_run_settings *settings) {
  return outcome_of(r, restart(r, settings));
}

/* ---- steps ---- */

lw_run_outcome lw_run_step(lw_run *r, double until) {
  const double before = r->t;
  int event = 0;
  r->until = fmin(until, r->time_event);
  const lw_status e = lw_run_take_steps(r, 1, &event);
  if (e) return outcome_of(r, e);
  r->memory.last_step = r->t - before;
  r->memory.choice = lw_ode_get_step_control(r->ode).choice;
  r->memory.event_at = event || r->t >= r->time_event ? r->t : NAN;
  r->memory.crossed = event;
  keep_row(r);
  return r->outcome;
}

int32_t lw_run_is_at_event(const lw_run *r) { return r->memory.event_at == r->t; }

lw_run_outcome lw_run_move_to(lw_run *r, double time) {
  const double *y = r->y;
  if (time < r->t) {
    const int status = lw_ode_dense(r->ode, time, r->before_event);
    if (status) return outcome_of(r, lw_run_stopped(r, status < 0 ? LW_ODE_STOPPED : LW_ODE_NOT_FINITE));
    y = r->before_event;
  }
  lw_set_states(r->state, time, y);
  if (r->calls.law) r->calls.law(r->calls.context, time, NULL, NULL);
  return r->outcome;
}

double lw_run_time(const lw_run *r) { return r->t; }

int64_t lw_run_attempts(const lw_run *r) { return r->reach.attempts; }

int32_t lw_run_may_retry(const lw_run *r) {
  return r->status == LW_ERROR_SOLVER && r->cause != LW_ERROR_PARAMETER && !r->chattering;
}

/* ---- memory ---- */

void lw_run_forget(lw_run *r) {
  r->memory = (lw_run_memory){.event_at = NAN, .scaled = 1.0};
  r->scaled = 1;
  lw_ode_set_absolute_tolerances(r->ode, NULL);
}

size_t lw_run_memory_size(const lw_run *r) { return sizeof r->memory + sizeof *r->atol * (size_t)r->n; }

void lw_run_save(const lw_run *r, void *bytes) {
  memcpy(bytes, &r->memory, sizeof r->memory);
  memcpy((unsigned char *)bytes + sizeof r->memory, lw_ode_absolute_tolerances(r->ode), sizeof *r->atol * (size_t)r->n);
}

static int is_possible(const lw_run_memory *m) {
  return isfinite(m->last_step) && isfinite(m->choice) && isfinite(m->segment_start) &&
         (m->scaled == 1.0 || m->scaled == 2.0) && m->crossings >= 0.0 && m->crossings < 1e15;
}

/* The bytes may be invented. */
lw_status lw_run_restore(lw_run *r, const void *bytes) {
  lw_run_memory memory;
  memcpy(&memory, bytes, sizeof memory);
  if (!is_possible(&memory)) return LW_ERROR_VALUE;
  memcpy(r->atol, (const unsigned char *)bytes + sizeof memory, sizeof *r->atol * (size_t)r->n);
  for (int32_t k = 0; k < r->n; k++)
    if (!(r->atol[k] >= 0.0 && r->atol[k] < INFINITY)) return LW_ERROR_VALUE;
  r->memory = memory;
  r->t_start = memory.segment_start, r->scaled = (int32_t)memory.scaled;
  lw_ode_set_absolute_tolerances(r->ode, r->scaled == 2 ? r->atol : NULL);
  return LW_OK;
}
