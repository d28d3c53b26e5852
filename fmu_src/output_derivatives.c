/* Derivatives of outputs by time, exact to rounding: the directional derivative along the motion,
 *   dy/dt = sum dy/dx dx/dt + dy/dt + sum dy/du du/dt
 * with the rates of the states, and those of inputs that are interpolated. */
#include <string.h>

#include "instance.h"

int fmu_is_continuous_output(const fmu *f, uint32_t reference) {
  const lw_access access = fmu_in_range(f->indicator, reference) ? LW_INTERNAL : lw_access_of(f->state, reference);
  return access == LW_STATE || access == LW_DERIVATIVE ||
         (access == LW_OUTPUT && !fmu_in_range(f->discrete, reference));
}

static fmu_status check_output(const fmu *f, uint32_t reference, int32_t order) {
  if (!fmu_is_continuous_output(f, reference)) return fmu_refuse_variable(f, reference, "is no continuous output");
  if (order != 1)
    return fmu_refuse_variable(f, reference, "has derivatives of the order 1 only (maxOutputDerivativeOrder)");
  return FMU_OK;
}

/* How fast states, time and inputs move. */
static void collect_rates(fmu *f) {
  const size_t states = (size_t)(f->size.nq + f->size.nu);
  memcpy(f->rate, lw_state_reals(f->state) + f->first_derivative, states * sizeof *f->rate);
  fmu_get_input_rates(f, f->rate + states);
  if (fmu_in_range(f->input, f->time_reference)) f->rate[states + f->time_reference - f->input.first] = 1;
}

fmu_status fmu_check_output_derivatives(const fmu *f, const uint32_t *references, size_t n, const int32_t *orders) {
  if (n && (!references || !orders)) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_output(f, references[i], orders[i]);
  return status;
}

fmu_status fmu_get_output_derivatives(fmu *f, const uint32_t *references, size_t n, double *values) {
  if (n == 0) return FMU_OK;
  if (!values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  const fmu_status status = fmu_core_status(f, lw_evaluate(f->state, LW_STAGE_DERIVATIVES), "the derivatives");
  if (status != FMU_OK) return status;
  collect_rates(f);
  const size_t varying = (size_t)(f->size.nq + f->size.nu) + f->input.count;
  return fmu_core_status(f, lw_directional_derivative(f->state, references, n, f->varying, varying, f->rate, values),
                         "the derivatives");
}
