#include <math.h>
#include <string.h>

#include "instance.h"

static fmu_status check_array(const fmu *f, const double *values, size_t n, size_t expected, const char *what) {
  if (n != expected) return fmu_log_message(&f->log, FMU_ERROR, "there are %zu %s, not %zu", expected, what, n);
  if (n && !values) return fmu_log_message(&f->log, FMU_ERROR, "the array of %s is NULL", what);
  return FMU_OK;
}

fmu_status fmu_set_time(fmu *f, double time) {
  if (!isfinite(time)) return fmu_log_message(&f->log, FMU_ERROR, "the time %g is not a finite number", time);
  fmu_invalidate_states(f);
  f->run.time = time;
  double *x = lw_state_reals(f->state);
  if (x[f->time_reference] == time) return FMU_OK;
  /* as lw_set_reals(), without its search for the field, which takes a tenth of the evaluation of a four-bar */
  x[f->time_reference] = time;
  if (f->motion.count) x[f->motion_time_reference] = time;
  lw_state_changed(f->state, LW_STAGE_CONSTANTS);
  return FMU_OK;
}

void fmu_write_states(fmu *f, const double *x) {
  double *states = lw_state_reals(f->state) + f->first_state;
  const size_t size = f->n_states * sizeof *x;
  if (memcmp(states, x, size) == 0) return;
  memcpy(states, x, size);
  lw_state_changed(f->state, LW_STAGE_CONSTANTS);
}

/* The offset of an exposed state. */
static uint32_t state_offset(const fmu *f, size_t i) {
  if (!f->minimal) return f->first_state + (uint32_t)i;
  const uint32_t n_q = f->interface.q.n;
  return f->first_state + (i < n_q ? f->interface.q.items[i] : (uint32_t)f->size.nq + f->interface.u.items[i - n_q]);
}

/* The position of a number in an ascending list; -1: it is not there. */
static int64_t find(const fmu_list *list, uint32_t number) {
  uint32_t low = 0, high = list->n;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (list->items[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low < list->n && list->items[low] == number ? (int64_t)low : -1;
}

int64_t fmu_find_state(const fmu *f, uint32_t offset) {
  if (offset < f->first_state || offset - f->first_state >= f->n_states) return -1;
  const uint32_t i = offset - f->first_state, n_q = (uint32_t)f->size.nq;
  if (!f->minimal) return i;
  if (i < n_q) return find(&f->interface.q, i);
  const int64_t speed = find(&f->interface.u, i - n_q);
  return speed < 0 ? -1 : speed + f->interface.q.n;
}

fmu_status fmu_set_state(fmu *f, uint32_t offset, double value) {
  if (f->minimal) {
    fmu_invalidate_states(f);
    f->y[fmu_find_state(f, offset)] = value;
  } else {
    double *state = lw_state_reals(f->state) + offset;
    if (*state == value) return FMU_OK;
    *state = value;
    lw_state_changed(f->state, LW_STAGE_CONSTANTS);
  }
  if (f->run.mode == FMU_EVENT) f->run.dynamics_changed = 1;
  return FMU_OK;
}

fmu_status fmu_set_states(fmu *f, const double *x, size_t n) {
  const fmu_status status = check_array(f, x, n, f->n_exposed_states, "continuous states");
  if (status != FMU_OK || n == 0) return status;
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return fmu_log_message(&f->log, FMU_ERROR,
                             "the continuous state %zu (value reference %u): %g is not a finite number", i + 1,
                             fmu_find_reference(&f->interface, state_offset(f, i)), x[i]);
  if (f->minimal) {
    memcpy(f->y, x, n * sizeof *x);
    f->run.states_invalid = 1;
  } else {
    fmu_write_states(f, x);
  }
  return FMU_OK;
}

fmu_status fmu_get_states(fmu *f, double *x, size_t n) {
  fmu_status status = check_array(f, x, n, f->n_exposed_states, "continuous states");
  if (status == FMU_OK && !f->run.states_invalid) status = fmu_update_states(f);
  if (status != FMU_OK || n == 0) return status;
  if (f->run.states_invalid) memcpy(x, f->y, n * sizeof *x);
  else if (f->minimal) lw_minimal_get(f->minimal, x);
  else memcpy(x, lw_state_reals(f->state) + f->first_state, n * sizeof *x);
  return status;
}

fmu_status fmu_get_derivatives(fmu *f, double *derivatives, size_t n) {
  fmu_status status = check_array(f, derivatives, n, f->n_exposed_states, "derivatives");
  if (status == FMU_OK) status = fmu_update_states(f);
  if (status == FMU_OK && fmu_dae_is_on(f)) {
    if (n) memcpy(derivatives, f->dae.rates, n * sizeof *derivatives);
    return FMU_OK;
  }
  if (status == FMU_OK && f->minimal)
    return fmu_core_status(f, lw_minimal_derivatives(f->minimal, derivatives), "the derivatives");
  if (status == FMU_OK) status = fmu_core_status(f, lw_evaluate(f->state, LW_STAGE_DERIVATIVES), "the derivatives");
  if (status == FMU_OK && n)
    memcpy(derivatives, lw_state_reals(f->state) + f->first_derivative, n * sizeof *derivatives);
  return status;
}

/* In SI units the states of a mechanism are of order one. */
fmu_status fmu_get_nominals(fmu *f, double *nominals, size_t n) {
  const fmu_status status = check_array(f, nominals, n, f->n_exposed_states, "nominals");
  for (size_t i = 0; status == FMU_OK && i < n; i++) nominals[i] = 1;
  return status;
}

fmu_status fmu_get_event_indicators(fmu *f, double *indicators, size_t n) {
  fmu_status status = check_array(f, indicators, n, (size_t)f->size.event_indicators, "event indicators");
  if (status == FMU_OK) status = fmu_update_states(f);
  if (status != FMU_OK || n == 0) return status;
  const lw_status known = lw_event_indicators(f->state, indicators);
  if (known == LW_OK) return FMU_OK;
  if (known == LW_ERROR_PARAMETER) return fmu_core_status(f, known, "the event indicators");
  return fmu_log_message(&f->log, FMU_DISCARD, "the event indicators cannot be evaluated: %s",
                         lw_state_message(f->state));
}

fmu_status fmu_completed_integrator_step(fmu *f, int *event_mode_needed) {
  const fmu_status status = fmu_update_states(f);
  if (status != FMU_OK) return status;
  lw_step_accepted(f->state);
  *event_mode_needed = fmu_must_look_ahead(f);
  return fmu_core_status(f, lw_check_constraints(f->state), "the step is not accepted");
}
