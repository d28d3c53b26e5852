/* The way from FMI calls to the content: checks that are the same for mechanisms and controllers, and refusals of what
 * a content does not have. */
#include "content.h"

#include <math.h>
#include <string.h>

#include "controllers/controller.h"

const fmu_content *fmu_find_content(const fmu_resources *resources) {
  return controller_is_file(resources->model, resources->model_size) ? &fmu_controller : &fmu_mechanism;
}

/* ---- variables ------------------------------------------------------------------------------------------ */

fmu_status fmu_get(fmu *f, unsigned types, const uint32_t *offsets, size_t n, double *values) {
  if (n == 0) return FMU_OK;
  if (!offsets || !values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  return f->content->get(f, types, offsets, n, values);
}

fmu_status fmu_set(fmu *f, unsigned types, const uint32_t *offsets, size_t n, const double *values) {
  if (n == 0) return FMU_OK;
  if (!offsets || !values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  return f->content->set(f, types, offsets, n, values);
}

/* ---- abilities that only some contents have --------------------------------------------------------------- */

static fmu_status not_declared(const fmu *f, const char *ability) {
  return fmu_log_message(&f->log, FMU_ERROR, "this FMU has no %s, as its model description states", ability);
}

fmu_status fmu_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                      size_t n_knowns, const double *seed, double *sensitivity) {
  if (!f->content->directional_derivative) return not_declared(f, "directional derivatives");
  return f->content->directional_derivative(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

fmu_status fmu_set_input_derivatives(fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders,
                                     const double *values) {
  if (!f->content->set_input_derivatives) return not_declared(f, "interpolation of inputs");
  return f->content->set_input_derivatives(f, offsets, n, orders, values);
}

fmu_status fmu_check_output_derivatives(const fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders) {
  if (!f->content->check_output_derivatives) return not_declared(f, "derivatives of outputs");
  return f->content->check_output_derivatives(f, offsets, n, orders);
}

fmu_status fmu_get_output_derivatives(fmu *f, const uint32_t *offsets, size_t n, double *values) {
  if (!f->content->get_output_derivatives) return not_declared(f, "derivatives of outputs");
  return f->content->get_output_derivatives(f, offsets, n, values);
}

/* ---- steps ------------------------------------------------------------------------------------------------ */

/* Importers add or multiply step sizes, so the times may differ by rounding. */
static int same_time(double a, double b, double length) {
  return fabs(a - b) <= 1e-6 * length + 1e-12 * fmax(fabs(a), fabs(b));
}

static fmu_status check_step(const fmu *f, double time, double length) {
  if (!isfinite(time) || !isfinite(length) || !(length > 0) || !(time + length > time))
    return fmu_log_message(&f->log, FMU_ERROR, "the communication step from %g of size %g does not advance the time",
                           time, length);
  if (!same_time(time, f->run.time, length))
    return fmu_log_message(&f->log, FMU_ERROR, "the communication point is %.17g, not %.17g", f->run.time, time);
  const double end = time + length;
  if (f->run.stop_defined && end > f->run.stop_time && !same_time(end, f->run.stop_time, length))
    return fmu_log_message(&f->log, FMU_ERROR, "the step ends at %.17g, after the stop time %.17g", end,
                           f->run.stop_time);
  return FMU_OK;
}

fmu_status fmu_do_step(fmu *f, double time, double length, fmu_step *step) {
  *step = (fmu_step){f->run.time, 0, 0};
  const fmu_status status = check_step(f, time, length);
  return status == FMU_OK ? f->content->do_step(f, time, length, step) : status;
}
