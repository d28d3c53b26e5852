/* The block of a run, what it calls back, and the message of what went wrong in it. */
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "block/state.h"
#include "model/model.h"
#include "run/run.h"

void lw_run_put_states(lw_run *r, double t, const double *y) {
  double *x = lw_state_reals(r->state);
  lw_set_states(r->state, t, y);
  if (r->stepwise) return; /* inputs are the host's */
  memcpy(x + r->model->at.tau, r->inputs, sizeof *x * (size_t)r->n_inputs);
  x[r->model->at.motion_time] = t;
  lw_motion_changed(r->state);
}

int lw_run_enter(lw_run *r, double t, const double *y) {
  lw_run_put_states(r, t, y);
  if (!r->calls.law) return 0;
  const int status = r->law.law(r->law.context, t, y + r->n - r->calls.n, r->rates);
  if (!r->stepwise) lw_motion_changed(r->state);
  return status;
}

lw_status lw_run_enter_here(lw_run *r) {
  const int status = lw_run_enter(r, r->t, r->y);
  return status ? lw_run_raised(r, status) : LW_OK;
}

/* ---- calling back ---- */

static int noted(lw_run *r, int status) {
  if (status < 0) r->raised = status;
  return status;
}

static int call_law(void *context, double t, const double *x, double *xdot) {
  lw_run *r = context;
  return noted(r, r->calls.law(r->calls.context, t, x, xdot));
}

/* An integrator that starts takes no event from zero, as after an event. */
static int call_events(void *context, double t, const double *x, double *indicators) {
  lw_run *r = context;
  const int status = noted(r, r->calls.events(r->calls.context, t, x, indicators));
  double *function = indicators + r->calls.n_commands;
  for (int32_t k = 0; t == r->continued_at && k < r->calls.n_functions; k++)
    if (function[k] == 0.0) function[k] = -DBL_MIN;
  return status;
}

void lw_run_bind_calls(lw_run *r) {
  r->law = (lw_control){.state = r->state,
                        .context = r,
                        .law = call_law,
                        .events = call_events,
                        .n = r->calls.n,
                        .n_events = r->calls.n_commands + r->calls.n_functions,
                        .of_time = !r->calls.of_state && !r->calls.n};
}

lw_status lw_run_enter_part(lw_run *r, int32_t part) {
  const int status = r->calls.enter_part ? r->calls.enter_part(r->calls.context, part) : 0;
  return status < 0 ? lw_run_raised(r, status) : LW_OK;
}

/* ---- messages ---- */

lw_status lw_run_refuse(lw_run *r, lw_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(r->message, sizeof r->message, format, list);
  va_end(list);
  return r->status = status;
}

lw_status lw_run_state_failed(lw_run *r, lw_status status) {
  return lw_run_refuse(r, status, "%s", lw_state_message(r->state));
}

lw_status lw_run_raised(lw_run *r, int status) {
  r->raised = status;
  return lw_run_refuse(r, LW_ERROR_SOLVER, "%s", "");
}

void lw_run_add(lw_run *r, const char *format, ...) {
  const size_t used = strlen(r->message);
  va_list list;
  va_start(list, format);
  vsnprintf(r->message + used, sizeof r->message - used, format, list);
  va_end(list);
}
