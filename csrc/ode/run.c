/* Many steps in one call, for callers to whom every call is dear. The steps are those of lw_ode_step, to the bit. */
#include <math.h>
#include <string.h>

#include "ode.h"

static bool is_full(const lw_ode_output *output) { return output != NULL && output->count >= output->capacity; }

/* Between the ends of the last step; without one (just started, or a step failed) only the present time is known. */
static bool is_in_last_step(const lw_ode *ode, double t) {
  const double from = ode->h == 0.0 ? ode->t : ode->t_old;
  return t >= fmin(from, ode->t) && t <= fmax(from, ode->t);
}

static void fill_requested(const lw_ode *ode, lw_ode_output *output) {
  for (; !is_full(output) && is_in_last_step(ode, output->t[output->count]); output->count++)
    lw_ode_dense(ode, output->t[output->count], output->y + output->count * ode->n);
}

static void fill_step(const lw_ode *ode, lw_ode_output *output) {
  output->t[output->count] = ode->t;
  memcpy(output->y + output->count * ode->n, ode->y, (size_t)ode->n * sizeof *ode->y);
  output->count++;
}

static int64_t attempts_of(const lw_ode *ode) { return ode->statistics.steps + ode->statistics.rejected; }

lw_ode_outcome lw_ode_run(lw_ode *ode, double t_bound, int64_t max_tries, lw_ode_output *output) {
  const int64_t tries_before = attempts_of(ode);
  const bool times_given = output != NULL && output->times_given;
  if (!ode->started) return LW_ODE_NOT_FINITE;
  if (times_given) fill_requested(ode, output); /* what the last call had no room for */
  while (ode->t != t_bound && !is_full(output)) {
    if (max_tries > 0 && attempts_of(ode) - tries_before >= max_tries) break;
    const lw_ode_outcome outcome = lw_ode_step(ode, t_bound);
    if (outcome != LW_ODE_STEP && outcome != LW_ODE_EVENT) return outcome;
    if (times_given) fill_requested(ode, output);
    else if (output != NULL) fill_step(ode, output);
    if (outcome == LW_ODE_EVENT) return outcome;
  }
  return LW_ODE_STEP;
}
