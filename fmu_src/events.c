/* Events of a mechanism as FMI reports them: whether the importer must restart its integrator, and the next time event. */
#include <math.h>

#include "instance.h"

/* The core's event counter. A model without transitions has none. */
static double event_count(const fmu *f) { return f->events.count ? lw_state_reals(f->state)[f->events.first] : 0; }

/* Every event requires a restart of the integrator, the importer's as well: it changes states or their derivatives. A
 * failure leaves the state unchanged. */
static fmu_status handle(fmu *f, lw_status (*core_function)(lw_state *state, int32_t *changed)) {
  const double before = event_count(f);
  const int32_t passed = lw_has_passed_kinks(f->state);
  int32_t changed = 0;
  const lw_status status = core_function(f->state, &changed);
  if (status != LW_OK)
    return fmu_log_message(&f->log, FMU_ERROR, "the event at t = %.9g: %s", f->run.time, lw_state_message(f->state));
  if (f->size.kinks) f->run.restart_needed = 1; /* kinks are free now */
  if (passed) f->run.dynamics_changed = 1;
  if (!changed && event_count(f) == before) return FMU_OK;
  f->run.restart_needed = f->run.dynamics_changed = 1;
  return fmu_log_message(&f->log, FMU_OK, "event at t = %.17g", f->run.time);
}

fmu_status fmu_start_events(fmu *f) { return handle(f, lw_start_events); }

fmu_status fmu_handle_events(fmu *f) { return handle(f, lw_handle_events); }

double fmu_next_event_time(const fmu *f) {
  double time;
  return lw_next_event_time(f->state, &time) == LW_OK ? time : INFINITY;
}

fmu_status fmu_update_discrete_states(fmu *f, fmu_event_info *info) {
  fmu_status status = fmu_update_states(f);
  if (status == FMU_OK) status = fmu_handle_events(f);
  if (status != FMU_OK) return status;
  if ((status = fmu_dae_start(f)) != FMU_OK) return status;
  fmu_update_nominals(f);
  const double next = fmin(fmu_next_event_time(f), fmu_look_ahead(f));
  /* Importers begin their integrators again for this report only. In Co-Simulation they have none. */
  info->states_changed = f->run.dynamics_changed && f->kind == FMU_MODEL_EXCHANGE;
  info->time_defined = isfinite(next);
  info->time = info->time_defined ? next : 0;
  info->nominals_changed = f->run.nominals_changed;
  f->run.dynamics_changed = f->run.nominals_changed = 0;
  return FMU_OK;
}
