#include <math.h>

#include "instance.h"

/* The core counts events; a model without transitions has none. */
static double events_of(const fmu *f) { return f->events.count ? lw_state_reals(f->state)[f->events.first] : 0; }

/* Whatever happens, the integrator has to start again. A failure has changed nothing. */
static fmu_status carry_out(fmu *f, lw_status (*what_is_due)(lw_state *state, int32_t *changed)) {
  const double before = events_of(f);
  int32_t changed = 0;
  const lw_status status = what_is_due(f->state, &changed);
  if (status != LW_OK)
    return fmu_say(&f->log, FMU_ERROR, "the event at t = %.9g: %s", f->run.time, lw_state_message(f->state));
  if (!changed && events_of(f) == before) return FMU_OK;
  f->run.jumped |= changed != 0;
  f->run.restart = 1;
  return fmu_say(&f->log, FMU_OK, "event at t = %.17g", f->run.time);
}

fmu_status fmu_start_events(fmu *f) { return carry_out(f, lw_start_events); }

fmu_status fmu_handle_events(fmu *f) { return carry_out(f, lw_handle_events); }

double fmu_next_event(const fmu *f) {
  double time;
  return lw_next_event_time(f->state, &time) == LW_OK ? time : INFINITY;
}

fmu_status fmu_update_events(fmu *f, fmu_update *update) {
  const fmu_status status = fmu_handle_events(f);
  if (status != FMU_OK) return status;
  const double next = fmu_next_event(f);
  /* in Co-Simulation the states are the integrator's own */
  update->states_changed = f->run.jumped && f->kind == FMU_MODEL_EXCHANGE;
  update->time_defined = isfinite(next);
  update->time = update->time_defined ? next : 0;
  f->run.jumped = 0;
  return FMU_OK;
}
