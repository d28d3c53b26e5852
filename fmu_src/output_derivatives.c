/* Time derivatives of outputs, exact to rounding: the directional derivative along the trajectory,
 *   dy/dt = sum dy/dx dx/dt + dy/dt + sum dy/du du/dt
 * with the derivatives of the states and of interpolated inputs. */
#include <string.h>

#include "content.h"

int fmu_is_continuous_output(const fmu *f, uint32_t offset) {
  const lw_access access = fmu_in_range(f->indicator, offset) ? LW_INTERNAL : lw_access_of(f->state, offset);
  return access == LW_STATE || access == LW_DERIVATIVE || (access == LW_OUTPUT && !fmu_in_range(f->discrete, offset));
}

static fmu_status check_output(const fmu *f, uint32_t offset, int32_t order) {
  if (!fmu_is_continuous_output(f, offset)) return fmu_refuse_variable(f, offset, "is not a continuous output");
  if (order != 1) return fmu_refuse_variable(f, offset, "has derivatives of order 1 only (maxOutputDerivativeOrder)");
  return FMU_OK;
}

/* Time derivatives of states, time and inputs. */
static void collect_rates(fmu *f) {
  const size_t states = (size_t)f->size.states;
  memcpy(f->rate, lw_state_reals(f->state) + f->first_derivative, states * sizeof *f->rate);
  fmu_get_input_rates(f, f->rate + states);
  if (fmu_in_range(f->input, f->time_reference)) f->rate[states + f->time_reference - f->input.first] = 1;
}

fmu_status fmu_mechanism_check_output_derivatives(const fmu *f, const uint32_t *offsets, size_t n,
                                                  const int32_t *orders) {
  if (n && (!offsets || !orders)) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_output(f, offsets[i], orders[i]);
  return status;
}

fmu_status fmu_mechanism_get_output_derivatives(fmu *f, const uint32_t *offsets, size_t n, double *values) {
  if (n == 0) return FMU_OK;
  if (!values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  const fmu_status status = fmu_core_status(f, lw_evaluate(f->state, LW_STAGE_DERIVATIVES), "the derivatives");
  if (status != FMU_OK) return status;
  collect_rates(f);
  const size_t varying = (size_t)f->size.states + f->input.count;
  return fmu_core_status(f, lw_directional_derivative(f->state, offsets, n, f->varying, varying, f->rate, values),
                         "the derivatives");
}
