/* Model Exchange: time and states come from the importer, derivatives and event indicators go to it. */
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
  lw_motion_changed(f->state);
  return FMU_OK;
}

/* The offset of an exposed state. */
static uint32_t state_offset(const fmu *f, size_t i) {
  if (!f->minimal) return f->first_state + (uint32_t)i;
  const uint32_t n_q = f->interface.q.n, n = n_q + f->interface.u.n, all = (uint32_t)(f->size.nq + f->size.nu);
  if (i >= n) return f->first_state + all + (uint32_t)i - n;
  return f->first_state + (i < n_q ? f->interface.q.items[i] : (uint32_t)f->size.nq + f->interface.u.items[i - n_q]);
}

fmu_status fmu_set_state(fmu *f, uint32_t offset, double value) {
  if (f->minimal) {
    fmu_invalidate_states(f);
    f->y[fmu_find_state(f, offset)] = value;
  } else {
    double *state = lw_state_reals(f->state) + offset;
    if (*state == value) return FMU_OK;
    *state = value;
    lw_motion_changed(f->state);
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
  if (status == FMU_OK) status = fmu_core_status(f, lw_evaluate_rates(f->state), "the derivatives");
  if (status == FMU_OK && n)
    memcpy(derivatives, lw_state_reals(f->state) + f->first_derivative, n * sizeof *derivatives);
  return status;
}

/* ---- nominal values ------------------------------------------------------------------------------------ */

static lw_motion_sizes nominal_sizes(const fmu *f) {
  return f->run.nominal.length > 0 ? f->run.nominal : f->interface.sizes; /* before the start */
}

/* The model description has rounded ones. */
static int differs(double a, double b) { return fabs(a - b) > 0.01 * b; }

static void set_nominal_sizes(fmu *f, lw_motion_sizes sizes) {
  const lw_motion_sizes before = nominal_sizes(f);
  const int changed =
      differs(sizes.length, before.length) || differs(sizes.speed, before.speed) || differs(sizes.rate, before.rate);
  f->run.nominal = changed ? sizes : before;
  f->run.nominals_changed |= (uint32_t)changed;
  f->run.sizes_changed = 0;
}

void fmu_start_nominals(fmu *f) {
  if (f->kind == FMU_MODEL_EXCHANGE) set_nominal_sizes(f, lw_nominal_sizes(f->state, fmu_duration(f)));
}

/* At a moment of rest they would be too small. */
void fmu_update_nominals(fmu *f) {
  if (f->kind != FMU_MODEL_EXCHANGE || !f->run.sizes_changed) return;
  const lw_motion_sizes now = lw_nominal_sizes(f->state, fmu_duration(f)), before = nominal_sizes(f);
  set_nominal_sizes(f, (lw_motion_sizes){fmax(now.length, before.length), fmax(now.speed, before.speed),
                                         fmax(now.rate, before.rate)});
}

fmu_status fmu_get_nominals(fmu *f, double *nominals, size_t n) {
  fmu_status status = check_array(f, nominals, n, f->n_exposed_states, "nominals");
  if (status == FMU_OK && n) status = fmu_reserve_scratch(f, nominals, f->n_states);
  if (status != FMU_OK || !n) return status;
  lw_sizes_of_states(f->model, nominal_sizes(f), f->scratch);
  for (size_t i = 0; i < n; i++) nominals[i] = f->scratch[state_offset(f, i) - f->first_state];
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

void fmu_watch_range(fmu *f) {
  if (f->minimal && f->kind == FMU_MODEL_EXCHANGE) lw_minimal_watch(f->minimal);
}

fmu_status fmu_enter_continuous_time_mode(fmu *f) {
  const fmu_status status = f->minimal ? fmu_update_states(f) : FMU_OK;
  if (status != FMU_OK) return status;
  fmu_watch_range(f);
  (void)lw_hold_kinks(f->state); /* what cannot be evaluated is reported with the derivatives */
  return fmu_enter_mode(f, FMU_CONTINUOUS);
}

/* Where the states are no longer those of the motion, a shorter step does not help. */
static fmu_status check_range(fmu *f) {
  if (!f->minimal || lw_minimal_check_step(f->minimal) == LW_OK) return FMU_OK;
  return fmu_log_message(&f->log, FMU_ERROR, "the motion cannot be continued: %s", lw_state_message(f->state));
}

fmu_status fmu_completed_integrator_step(fmu *f, int *event_mode_needed) {
  fmu_status status = fmu_update_states(f);
  if (status == FMU_OK) status = check_range(f);
  if (status != FMU_OK) return status;
  lw_step_accepted(f->state);
  *event_mode_needed = fmu_must_look_ahead(f) || lw_has_passed_kinks(f->state);
  return fmu_core_status(f, lw_check_constraints(f->state), "the step is not accepted");
}
