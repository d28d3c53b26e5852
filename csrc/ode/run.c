/* Many steps in one call, for callers to whom every call is dear. The steps are those of lw_ode_step, to the bit. */
#include <math.h>
#include <string.h>

#include "ode.h"

static bool is_full(const lw_ode_output *output) { return output != NULL && output->count >= output->capacity; }

/* Between the ends of the last step; without one (just started, or a step failed) only the present time is known. */
static bool is_covered(const lw_ode *ode, double t) {
  const double from = ode->h == 0.0 ? ode->t : ode->t_old;
  return t >= fmin(from, ode->t) && t <= fmax(from, ode->t);
}

static void fill_wanted(const lw_ode *ode, lw_ode_output *output) {
  for (; !is_full(output) && is_covered(ode, output->t[output->count]); output->count++)
    lw_ode_dense(ode, output->t[output->count], output->y + output->count * ode->n);
}

static void fill_step(const lw_ode *ode, lw_ode_output *output) {
  output->t[output->count] = ode->t;
  memcpy(output->y + output->count * ode->n, ode->y, (size_t)ode->n * sizeof *ode->y);
  output->count++;
}

static int64_t tries_of(const lw_ode *ode) { return ode->counts.steps + ode->counts.rejected; }

lw_ode_outcome lw_ode_run(lw_ode *ode, double t_bound, int64_t max_tries, lw_ode_output *output) {
  const int64_t tries_before = tries_of(ode);
  const bool wanted = output != NULL && output->at_given_times;
  if (!ode->started) return LW_ODE_NOT_FINITE;
  if (wanted) fill_wanted(ode, output); /* what the last call had no room for */
  while (ode->t != t_bound && !is_full(output)) {
    if (max_tries > 0 && tries_of(ode) - tries_before >= max_tries) break;
    const lw_ode_outcome outcome = lw_ode_step(ode, t_bound);
    if (outcome != LW_ODE_STEP && outcome != LW_ODE_EVENT) return outcome;
    if (wanted) fill_wanted(ode, output);
    else if (output != NULL) fill_step(ode, output);
    if (outcome == LW_ODE_EVENT) return outcome;
  }
  return LW_ODE_STEP;
}
