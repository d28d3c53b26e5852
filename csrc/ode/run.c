/* Many steps in one call, for callers with costly calls. The steps have the same bits as those of lw_ode_step. */
#include <math.h>
#include <string.h>

#include "ode.h"

/* The number of rows that a step may make, unless the times are given. */
static int64_t rows_of_step(const lw_ode_output *output) {
  return !output->times_given && output->follow ? LW_ODE_MAX_SAMPLES : 1;
}

static bool is_full(const lw_ode_output *output) {
  return output != NULL && output->count + rows_of_step(output) > output->capacity;
}

/* t lies in the last step; after a start or a failed step only the present time does. */
static bool is_in_last_step(const lw_ode *ode, double t) {
  const double from = ode->h == 0.0 ? ode->t : ode->t_old;
  return t >= fmin(from, ode->t) && t <= fmax(from, ode->t);
}

static void finish_row(const lw_ode *ode, lw_ode_output *output) {
  const size_t n = (size_t)ode->n_step_values;
  if (output->step_values && n > 0)
    memcpy(output->step_values + (size_t)output->count * n, ode->step_values, n * sizeof(double));
  output->count++;
}

/* Functions that fill rows return the status of lw_ode_function. */
static int fill_requested(lw_ode *ode, lw_ode_output *output) {
  while (!is_full(output) && is_in_last_step(ode, output->t[output->count])) {
    const int status = lw_ode_dense(ode, output->t[output->count], output->y + output->count * ode->n);
    if (status != 0) return status;
    finish_row(ode, output);
  }
  return 0;
}

/* Rows within the last step, as close as the rotation and the length of the step need. */
static int fill_within_step(lw_ode *ode, lw_ode_output *output) {
  const double h = ode->t - ode->t_old;
  const int32_t intervals = lw_ode_row_intervals(ode, fabs(h));
  for (int32_t i = 1; i < intervals; i++) {
    const double t = ode->t_old + i / (double)intervals * h;
    output->t[output->count] = t;
    const int status = lw_ode_dense(ode, t, output->y + output->count * ode->n);
    if (status != 0) return status;
    for (int k = 0; k < 3 && output->step_control; k++) output->step_control[3 * output->count + k] = NAN;
    finish_row(ode, output);
  }
  return 0;
}

static int fill_step(lw_ode *ode, lw_ode_output *output) {
  const int status = output->follow ? fill_within_step(ode, output) : 0;
  if (status != 0) return status;
  output->t[output->count] = ode->t;
  memcpy(output->y + output->count * ode->n, ode->y, (size_t)ode->n * sizeof *ode->y);
  if (output->step_control) {
    const lw_ode_step_control control = lw_ode_get_step_control(ode);
    double *row = output->step_control + 3 * output->count;
    row[0] = control.next_step;
    row[1] = control.previous_error;
    row[2] = control.choice;
  }
  finish_row(ode, output);
  return 0;
}

/* Rows of the last step, which had the dense output that they need; else it has failed. */
static lw_ode_outcome fill(lw_ode *ode, lw_ode_output *output) {
  if (output == NULL) return LW_ODE_STEP;
  const int status = output->times_given ? fill_requested(ode, output) : fill_step(ode, output);
  return status == 0 ? LW_ODE_STEP : status < 0 ? LW_ODE_STOPPED : LW_ODE_NOT_FINITE;
}

static int64_t attempts_of(const lw_ode *ode) { return ode->statistics.steps + ode->statistics.rejected; }

/* One of the implicit method that LW_ODE_AUTO has chosen counts for several, so that a call ends soon. */
static int64_t weight_of_attempt(const lw_ode *ode) { return ode->choice.implicit ? 1 + ode->n / 2 : 1; }

lw_ode_outcome lw_ode_run(lw_ode *ode, double t_bound, int64_t max_tries, lw_ode_output *output) {
  int64_t tries = 0;
  const bool times_given = output != NULL && output->times_given;
  if (!ode->started) return LW_ODE_NOT_FINITE;
  ode->rows_follow = output != NULL && !times_given && output->follow;
  lw_ode_outcome filled =
      times_given ? fill(ode, output) : LW_ODE_STEP; /* rows that the last call had no capacity for */
  if (filled != LW_ODE_STEP) return filled;
  while (ode->t != t_bound && !is_full(output)) {
    if (max_tries > 0 && tries >= max_tries) break;
    const int64_t before = attempts_of(ode), weight = weight_of_attempt(ode);
    ode->next_row = times_given ? output->t[output->count] : NAN;
    const lw_ode_outcome outcome = lw_ode_step(ode, t_bound);
    ode->next_row = NAN;
    tries += weight * (attempts_of(ode) - before);
    if (outcome != LW_ODE_STEP && outcome != LW_ODE_EVENT) return outcome;
    if ((filled = fill(ode, output)) != LW_ODE_STEP) return filled;
    if (ode->on_step && ode->on_step(ode->context, ode->t, ode->y, ode->step_values)) return LW_ODE_STOPPED;
    if (outcome == LW_ODE_EVENT) return outcome;
  }
  return LW_ODE_STEP;
}
