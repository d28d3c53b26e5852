/* Derivatives of outputs by time, exact to rounding: the directional derivative along the motion,
 *   dy/dt = sum dy/dx dx/dt + dy/dt + sum dy/du du/dt
 * with the rates of the states, and those of inputs that are interpolated. */
#include <stdlib.h>
#include <string.h>

#include "instance.h"

int fmu_is_computed(const fmu *f, uint32_t reference) {
  const lw_access access = fmu_is_within(f->indicator, reference) ? LW_INTERNAL : lw_access_of(f->state, reference);
  return access == LW_STATE || access == LW_DERIVATIVE ||
         (access == LW_OUTPUT && !fmu_is_within(f->discrete, reference));
}

static fmu_status check_output(const fmu *f, uint32_t reference, int32_t order) {
  if (!fmu_is_computed(f, reference)) return fmu_refuse(f, reference, "is no continuous output");
  if (order != 1) return fmu_refuse(f, reference, "has derivatives of the order 1 only (maxOutputDerivativeOrder)");
  return FMU_OK;
}

/* What moves, and how fast: states, time and inputs. */
static size_t list_motion(const fmu *f, uint32_t *known, double *rate) {
  const uint32_t states = (uint32_t)(f->size.nq + f->size.nu);
  const double *x = lw_state_reals(f->state);
  for (uint32_t i = 0; i < states; i++) known[i] = f->first_state + i;
  memcpy(rate, x + f->first_derivative, states * sizeof *rate);
  for (uint32_t i = 0; i < f->input.count; i++) known[states + i] = f->input.first + i;
  fmu_input_rates(f, rate + states);
  if (fmu_is_within(f->input, f->time_reference)) rate[states + f->time_reference - f->input.first] = 1;
  return (size_t)states + f->input.count;
}

static fmu_status along_motion(fmu *f, const uint32_t *references, size_t n, double *values) {
  const size_t most = (size_t)(f->size.nq + f->size.nu) + f->input.count;
  uint32_t *known = malloc((most + 1) * sizeof *known);
  double *rate = malloc((most + 1) * sizeof *rate);
  fmu_status status = known && rate ? FMU_OK : fmu_say(&f->log, FMU_ERROR, "out of memory");
  if (status == FMU_OK) status = fmu_core(f, lw_evaluate(f->state, LW_STAGE_DERIVATIVES), "the derivatives");
  if (status == FMU_OK) {
    const size_t knowns = list_motion(f, known, rate);
    status =
        fmu_core(f, lw_directional_derivative(f->state, references, n, known, knowns, rate, values), "the derivatives");
  }
  free(known);
  free(rate);
  return status;
}

fmu_status fmu_get_output_rates(fmu *f, const uint32_t *references, size_t n, const int32_t *orders, double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !orders || !values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_output(f, references[i], orders[i]);
  return status == FMU_OK ? along_motion(f, references, n, values) : status;
}
