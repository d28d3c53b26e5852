#include <math.h>
#include <string.h>

#include "content.h"

/* Co-Simulation. The integrator chooses its own steps and runs ahead of the communication point; the results at
 * communication points come from its dense output. The results therefore do not depend on the communication step size.
 * After an input has changed, the integrator restarts at the communication point, and its first step ends at the next
 * communication point, because the input will probably change again there. The integrator stops at events; an event is
 * handled when the communication point reaches it. */

static const double unlimited = 1e300; /* stands for "no bound on time" */

static const char *outcome_text(lw_ode_outcome outcome) {
  switch (outcome) {
    case LW_ODE_STEP:
    case LW_ODE_EVENT: return "";
    case LW_ODE_STOPPED: return "the equations of motion cannot be evaluated";
    case LW_ODE_STEP_TOO_SMALL: return "the step size became too small";
    case LW_ODE_TOO_MANY_STEPS: return "too many steps";
    case LW_ODE_NOT_FINITE: return "the accelerations are not finite";
  }
  return "";
}

/* A parameter with which no pose can be evaluated fails at any step size. */
static fmu_status integration_failed(const fmu *f, lw_ode_outcome outcome) {
  if (lw_evaluate(f->state, LW_STAGE_DERIVATIVES) == LW_ERROR_PARAMETER)
    return fmu_log_message(&f->log, FMU_ERROR, "%s; a shorter step does not help", lw_state_message(f->state));
  return fmu_log_message(&f->log, FMU_DISCARD, "the integration stops at t = %.9g, %s: %s; a shorter step may succeed",
                         lw_ode_time(f->ode), outcome_text(outcome), lw_state_message(f->state));
}

/* Limit on integrator steps, accepted and rejected, in one communication step: extreme inputs must not block it. */
static const int64_t max_attempts = 1000000;

static int64_t attempts_of(const fmu *f) {
  const lw_ode_statistics counts = lw_ode_get_statistics(f->ode);
  return counts.steps + counts.rejected;
}

static fmu_status too_many_attempts(const fmu *f) {
  char recent[400];
  lw_recent_transitions(f->state, recent, sizeof recent);
  return fmu_log_message(
      &f->log, FMU_DISCARD,
      "after %g steps the integration has only reached t = %.9g; a shorter communication step, a looser "
      "tolerance or, if the mechanism is stiff, the solver auto or rodas5p may succeed%s%s",
      (double)max_attempts, lw_ode_time(f->ode), *recent ? "; last transitions: " : "", recent);
}

static fmu_status start_integrator(fmu *f) {
  const fmu_status status = fmu_set_integrator(f, f->run.last_step);
  if (status != FMU_OK) return status;
  memcpy(f->y, lw_state_reals(f->state) + f->first_state, f->n_states * sizeof *f->y);
  const lw_ode_outcome outcome = lw_ode_start(f->ode, f->run.time, f->y);
  if (outcome != LW_ODE_STEP) return integration_failed(f, outcome);
  lw_ode_step_control control = lw_ode_get_step_control(f->ode);
  control.choice = f->run.method_choice;
  lw_ode_set_step_control(f->ode, control);
  lw_watch_constraints(f->state, fmu_asked_tolerance(f), fmu_asked_tolerance(f));
  f->run.restart_needed = f->run.event_pending = 0;
  return FMU_OK;
}

/* Used at the start, after an event and after the importer has changed a variable. */
static fmu_status handle_events_and_start(fmu *f) {
  const fmu_status status = fmu_handle_events(f);
  return status == FMU_OK ? start_integrator(f) : status;
}

/* Changes the time only. The motion inputs keep the instant at which they were set. */
static void write_point(fmu *f, double time, const double *y) {
  double *x = lw_state_reals(f->state);
  fmu_interpolate_inputs(f, time);
  if (x[f->time_reference] != time) {
    x[f->time_reference] = time;
    lw_state_changed(f->state, LW_STAGE_CONSTANTS);
  }
  fmu_write_states(f, y);
}

static fmu_status take_integrator_step(fmu *f, double bound) {
  const double before = lw_ode_time(f->ode), next = fmu_next_event_time(f);
  const lw_ode_outcome outcome = lw_ode_step(f->ode, fmin(bound, next));
  if (outcome != LW_ODE_STEP && outcome != LW_ODE_EVENT) return integration_failed(f, outcome);
  f->run.last_step = lw_ode_time(f->ode) - before;
  f->run.method_choice = lw_ode_get_step_control(f->ode).choice;
  f->run.event_pending = outcome == LW_ODE_EVENT || lw_ode_time(f->ode) >= next;
  write_point(f, lw_ode_time(f->ode), lw_ode_y(f->ode));
  lw_step_accepted(f->state);
  return fmu_core_status(f, lw_check_constraints(f->state), "the integration stops");
}

/* Sets time and states from the integrator's dense output. */
static void move_to(fmu *f, double time) {
  f->run.time = time;
  if (time < lw_ode_time(f->ode)) {
    lw_ode_dense(f->ode, time, f->y);
    write_point(f, time, f->y);
  } else {
    write_point(f, time, lw_ode_y(f->ode));
  }
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
  const double here = fmin(lw_ode_time(f->ode), c->end);
  move_to(f, here);
  fmu_call_intermediate_update(f, c->reported, c->asked, &c->end);
  c->reported = here;
  return f->run.restart_needed && !f->run.event_pending && here < c->end ? handle_events_and_start(f) : FMU_OK;
}

static fmu_status handle_event_in_step(fmu *f, const step_progress *c, fmu_step *step) {
  move_to(f, lw_ode_time(f->ode));
  f->run.restart_needed = 1;
  f->run.event_pending = 0;
  step->event_handling_needed = returns_at_event(f, c->end);
  return step->event_handling_needed ? FMU_OK : handle_events_and_start(f);
}

static fmu_status continue_step(fmu *f, const step_progress *c) {
  if (attempts_of(f) >= c->last_attempt) return too_many_attempts(f);
  const double stop = f->run.stop_defined ? fmax(f->run.stop_time, c->end) : unlimited;
  return take_integrator_step(f, c->bounded || f->run.input_changed ? c->end : stop);
}

static fmu_status run_to_end(fmu *f, step_progress *c, fmu_step *step) {
  fmu_status status = f->run.restart_needed ? handle_events_and_start(f) : FMU_OK;
  while (status == FMU_OK) {
    const double reached = lw_ode_time(f->ode);
    if (f->update_callback.invoke && fmin(reached, c->end) > c->reported) {
      status = report_progress(f, c);
    } else if (f->run.event_pending && reached <= c->end) {
      status = handle_event_in_step(f, c, step);
      if (step->event_handling_needed) return status;
    } else if (reached >= c->end) {
      if (!f->run.restart_needed) move_to(f, c->end);
      return FMU_OK;
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
  lw_state_save(f->state, f->backup);
  fmu_begin_interpolation(f);
  step_progress c = {time + length, time + length, start.time, f->run.input_changed,
                     f->ode ? attempts_of(f) + max_attempts : 0};
  f->run.input_changed = 0;
  const fmu_status status = f->ode ? run_to_end(f, &c, step) : step_without_states(f, c.end);
  if (status == FMU_OK) {
    fmu_end_interpolation(f);
    step->last_time = f->run.time;
    step->early_return = f->run.time < c.asked;
    return FMU_OK;
  }
  /* Restores the state before the step, so that the importer can try a shorter one. */
  const fmu_status restored = fmu_restore_backup(f);
  f->run = start;
  f->run.restart_needed = 1;
  return restored == FMU_OK ? status : restored;
}
