/* What the experiment and the parameters of an FMU ask of its integrator. */
#include <math.h>

#include "instance.h"

static const double min_tolerance = 1e-12;

double fmu_duration(const fmu *f) {
  static const double usual_duration = 10.0;
  const double duration = f->run.stop_defined ? fabs(f->run.stop_time) : usual_duration;
  return fmax(duration, f->run.stop_time - f->run.time);
}

static lw_ode_method method_of(uint32_t solver) {
  switch ((fmu_solver)solver) {
    case FMU_DOPRI5: return LW_ODE_DOPRI5;
    case FMU_RODAS5P: return LW_ODE_RODAS5P;
    case FMU_AUTO: return LW_ODE_AUTO;
    case FMU_DOP853: return LW_ODE_DOP853;
  }
  return LW_ODE_AUTO;
}

lw_run_settings fmu_run_settings(const fmu *f) {
  const double tolerance = f->run.set_tolerance > 0 ? f->run.set_tolerance : f->run.tolerance;
  return (lw_run_settings){
      .method = method_of(f->run.solver), .tolerance = fmax(tolerance, min_tolerance), .duration = fmu_duration(f)};
}
