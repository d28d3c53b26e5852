/* The integrator of an FMU as its settings and its experiment ask. */
#include <math.h>

#include "instance.h"

/* The importer's tolerance applies to the whole simulation, the integrator's to one of many steps. */
static const double step_tolerance_factor = 0.1, min_tolerance = 1e-13;

double fmu_duration(const fmu *f) {
  static const double usual_duration = 10.0;
  const double duration = f->run.stop_defined ? fabs(f->run.stop_time) : usual_duration;
  return fmax(duration, f->run.stop_time - f->run.time);
}

/* Once for a simulation, by the start; afterwards they only grow with the states. */
static void set_absolute_tolerances(fmu *f, double tolerance) {
  if (f->run.scaled) return;
  lw_absolute_tolerances(f->state, fmu_duration(f), tolerance, f->y);
  lw_ode_set_absolute_tolerances(f->ode, f->y);
  f->run.scaled = 1;
}

static lw_ode_method method_of(uint32_t solver) {
  switch ((fmu_solver)solver) {
    case FMU_DOPRI5: return LW_ODE_DOPRI5;
    case FMU_RODAS5P: return LW_ODE_RODAS5P;
    case FMU_AUTO: return LW_ODE_AUTO;
  }
  return LW_ODE_AUTO;
}

double fmu_asked_tolerance(const fmu *f) { return f->run.set_tolerance > 0 ? f->run.set_tolerance : f->run.tolerance; }

fmu_status fmu_set_integrator(fmu *f, double first_step) {
  const double tolerance = fmax(step_tolerance_factor * fmu_asked_tolerance(f), min_tolerance);
  const lw_ode_options options = {.rtol = tolerance,
                                  .atol = tolerance,
                                  .first_step = first_step,
                                  .max_steps = -1,
                                  .event_resolution = LW_EVENT_RESOLUTION};
  if (lw_ode_set_method(f->ode, method_of(f->run.solver), fmu_ode_jacobian) != LW_OK)
    return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  lw_ode_set_options(f->ode, &options);
  set_absolute_tolerances(f, tolerance);
  return FMU_OK;
}
