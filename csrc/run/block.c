/* The block of a run, and the message of what went wrong in it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "run/run.h"

void lw_run_enter(lw_run *r, double t, const double *y) {
  double *x = lw_state_reals(r->state);
  memcpy(x + r->model->at.q, y, sizeof *y * (size_t)r->n);
  memcpy(x + r->model->at.tau, r->inputs, sizeof *x * (size_t)r->n_inputs);
  x[r->model->at.time] = x[r->model->at.motion_time] = t;
  lw_state_changed(r->state, LW_STAGE_CONSTANTS);
}

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
