/* The life cycle of an instance: calls that its mode does not allow are refused, and the others change the mode. */
#include "modes.h"

#include <math.h>

#include "content.h"

static const char *mode_name(uint32_t mode) {
  switch ((fmu_mode)mode) {
    case FMU_INSTANTIATED: return "the instantiated state";
    case FMU_INITIALIZATION: return "Initialization Mode";
    case FMU_EVENT: return "Event Mode";
    case FMU_CONTINUOUS: return "Continuous-Time Mode";
    case FMU_STEP: return "Step Mode";
    case FMU_TERMINATED: return "the terminated state";
    case FMU_INTERMEDIATE: return "Intermediate Update Mode";
    case FMU_CONFIGURATION: return "Configuration Mode";
  }
  return "an unknown mode";
}

fmu *fmu_begin_call(void *instance, const fmu_call *call) {
  fmu *f = instance;
  if (!f) return NULL;
  f->log.function = call->name;
  if (call->modes[f->kind] & f->run.mode) return f;
  fmu_log_message(&f->log, FMU_ERROR, "not allowed in %s of %s", mode_name(f->run.mode),
                  f->kind == FMU_CO_SIMULATION ? "Co-Simulation" : "Model Exchange");
  return NULL;
}

/* ---- life cycle -------------------------------------------------------------------------------------- */

fmu_status fmu_set_up_experiment(fmu *f, int tolerance_defined, double tolerance, double start, int stop_defined,
                                 double stop) {
  if (!isfinite(start)) return fmu_log_message(&f->log, FMU_ERROR, "the start time is not finite");
  if (stop_defined && !(stop >= start && isfinite(stop)))
    return fmu_log_message(&f->log, FMU_ERROR, "the stop time %g lies before the start time %g or is not finite", stop,
                           start);
  if (tolerance_defined && !(tolerance > 0 && isfinite(tolerance)))
    return fmu_log_message(&f->log, FMU_ERROR, "the tolerance %g is not a positive number", tolerance);
  f->run.tolerance = tolerance_defined ? tolerance : FMU_DEFAULT_TOLERANCE;
  f->run.stop_defined = stop_defined != 0;
  f->run.stop_time = stop_defined ? stop : 0;
  f->run.assembled = 0; /* prescribed motions depend on time */
  return f->content->set_start_time(f, start);
}

fmu_status fmu_enter_mode(fmu *f, fmu_mode mode) {
  f->run.mode = mode;
  return fmu_log_message(&f->log, FMU_OK, "enters %s at t = %.17g", mode_name(mode), f->run.time);
}

fmu_status fmu_exit_initialization(fmu *f) {
  const fmu_status status = f->content->exit_initialization(f);
  if (status != FMU_OK) return status;
  f->run.input_changed = 0;
  return fmu_enter_mode(f, f->kind == FMU_CO_SIMULATION && !f->event_mode_used ? FMU_STEP : FMU_EVENT);
}

fmu_status fmu_reset(fmu *f) {
  fmu_initialize_run(f);
  return f->content->reset(f);
}
