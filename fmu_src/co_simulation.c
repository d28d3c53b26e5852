/* Co-Simulation. The integrator chooses its own steps and runs ahead of the communication point; the results at
 * communication points come from its dense output. The results therefore do not depend on the communication step size.
 * After an input has changed, the integrator restarts at the communication point, and its first step ends at the next
 * communication point, because the input will probably change again there. The integrator stops at events; an event is
 * handled when the communication point reaches it. */
#include <math.h>
#include <string.h>

#include "content.h"

static const double unlimited = 1e300; /* stands for "no bound on time" */

static fmu_status run_failed(const fmu *f) {
  const int retry = lw_run_may_retry(f->steps);
  return fmu_log_message(&f->log, retry ? FMU_DISCARD : FMU_ERROR, "%s; a shorter step %s", lw_run_message(f->steps),
                         retry ? "may succeed" : "does not help");
}

/* Limit on integrator steps, accepted and rejected, in one communication step: extreme inputs must not block it. */
static const int64_t max_attempts = 1000000;

static fmu_status too_many_attempts(const fmu *f) {
  char recent[400];
  lw_recent_transitions(f->state, recent, sizeof recent);
  return fmu_log_message(
      &f->log, FMU_DISCARD,
      "after %g steps the integration has only reached t = %.9g; a shorter communication step, a looser "
      "tolerance or, if the mechanism is stiff, the solver auto or rodas5p may succeed%s%s",
      (double)max_attempts, lw_run_time(f->steps), *recent ? "; last transitions: " : "", recent);
}

/* Used at the start, after an event and after the importer has changed a variable. */
static fmu_status handle_events_and_start(fmu *f) {
  const fmu_status status = fmu_handle_events(f);
  if (status != FMU_OK) return status;
  const lw_run_settings settings = fmu_run_settings(f);
  f->run.restart_needed = 0;
  return lw_run_restart(f->steps, &settings) == LW_RUN_GOES_ON ? FMU_OK : run_failed(f);
}

static fmu_status move_to(fmu *f, double time) {
  f->run.time = time;
  return lw_run_move_to(f->steps, time) == LW_RUN_GOES_ON ? FMU_OK : run_failed(f);
}

/* Whether the communication step ends at this event. Requires eventModeUsed, and earlyReturnAllowed before the end. */
static int returns_at_event(const fmu *f, double end) {
  return f->event_mode_used && (f->early_return_allowed || f->run.time >= end);
}

/* State of the current communication step. */
typedef struct step_progress {
  double asked, end;    /* next communication point, and end of this step: earlier after an early return */
  double reported;      /* time of the last intermediate update */
  int bounded;          /* inputs change at communication points */
  int64_t last_attempt; /* limit on the integrator's step count */
} step_progress;

/* Calls intermediateUpdate at the time that the integrator has reached. */
static fmu_status report_progress(fmu *f, step_progress *c) {
  const double here = fmin(lw_run_time(f->steps), c->end);
  const fmu_status status = move_to(f, here);
  if (status != FMU_OK) return status;
  fmu_call_intermediate_update(f, c->reported, c->asked, &c->end);
  c->reported = here;
  return f->run.restart_needed && !lw_run_is_at_event(f->steps) && here < c->end ? handle_events_and_start(f) : FMU_OK;
}

static fmu_status handle_event_in_step(fmu *f, const step_progress *c, fmu_step *step) {
  const fmu_status status = move_to(f, lw_run_time(f->steps));
  if (status != FMU_OK) return status;
  f->run.restart_needed = 1;
  step->event_handling_needed = returns_at_event(f, c->end);
  return step->event_handling_needed ? FMU_OK : handle_events_and_start(f);
}

static fmu_status continue_step(fmu *f, const step_progress *c) {
  if (lw_run_attempts(f->steps) >= c->last_attempt) return too_many_attempts(f);
  const double stop = f->run.stop_defined ? fmax(f->run.stop_time, c->end) : unlimited;
  const double until = c->bounded || f->run.input_changed ? c->end : stop;
  return lw_run_step(f->steps, until) == LW_RUN_GOES_ON ? FMU_OK : run_failed(f);
}

static fmu_status run_to_end(fmu *f, step_progress *c, fmu_step *step) {
  fmu_status status = f->run.restart_needed ? handle_events_and_start(f) : FMU_OK;
  while (status == FMU_OK) {
    const double here = lw_run_time(f->steps);
    if (f->update_callback.invoke && fmin(here, c->end) > c->reported) {
      status = report_progress(f, c);
    } else if (lw_run_is_at_event(f->steps) && here <= c->end) {
      status = handle_event_in_step(f, c, step);
      if (status == FMU_OK && step->event_handling_needed) return status;
    } else if (here >= c->end) {
      return f->run.restart_needed ? FMU_OK : move_to(f, c->end);
    } else {
      status = continue_step(f, c);
    }
  }
  return status;
}

/* A mechanism without degrees of freedom has no integrator. */
static fmu_status step_without_states(fmu *f, double end) {
  fmu_status status = fmu_set_time(f, end);
  if (status == FMU_OK) status = fmu_handle_events(f);
  if (status == FMU_OK) fmu_call_intermediate_update(f, end, end, &end);
  return status;
}

fmu_status fmu_mechanism_do_step(fmu *f, double time, double length, fmu_step *step) {
  const fmu_run start = f->run;
  unsigned char *remembered = (unsigned char *)f->backup + lw_state_size(f->state);
  lw_state_save(f->state, f->backup);
  if (f->steps) lw_run_save(f->steps, remembered);
  fmu_begin_interpolation(f);
  step_progress c = {time + length, time + length, start.time, f->run.input_changed,
                     f->steps ? lw_run_attempts(f->steps) + max_attempts : 0};
  f->run.input_changed = 0;
  const fmu_status status = f->steps ? run_to_end(f, &c, step) : step_without_states(f, c.end);
  if (status == FMU_OK) {
    fmu_end_interpolation(f);
    step->last_time = f->run.time;
    step->early_return = f->run.time < c.asked;
    return FMU_OK;
  }
  /* Restores the state before the step, so that the importer can try a shorter one. */
  const fmu_status restored = fmu_restore_backup(f);
  if (f->steps) lw_run_restore(f->steps, remembered);
  f->run = start;
  f->run.restart_needed = 1;
  return restored == FMU_OK ? status : restored;
}
