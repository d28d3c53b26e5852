/* Dependencies and partial derivatives as FMI asks for them; the core has them exact. */
#include <math.h>
#include <stdlib.h>

#include "content.h"

fmu_status fmu_get_dependencies(fmu *f, uint32_t unknown, fmu_list *knowns) {
  if (fmu_find_dependencies(&f->interface, unknown, knowns)) return FMU_OK;
  return fmu_log_message(&f->log, FMU_ERROR, "value reference %u is not an output, derivative or event indicator",
                         unknown);
}

/* ---- partial derivatives ----------------------------------------------------------------------------- */

static fmu_status check_seed(const fmu *f, const uint32_t *knowns, size_t n, const double *seed) {
  for (size_t j = 0; j < n; j++)
    if (!isfinite(seed[j]))
      return fmu_log_message(&f->log, FMU_ERROR, "the seed of value reference %u is not a finite number",
                             fmu_find_reference(&f->interface, knowns[j]));
  return FMU_OK;
}

/* In Initialization Mode the states depend on the start values through assembly. */
static lw_status differentiate(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                               size_t n_knowns, const double *seed, double *sensitivity) {
  if (f->run.mode == FMU_INITIALIZATION)
    return lw_assembly_sensitivity(f->state, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
  if (f->minimal)
    return lw_minimal_directional_derivative(f->minimal, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
  return lw_directional_derivative(f->state, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

fmu_status fmu_mechanism_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns,
                                                const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                double *sensitivity) {
  if (n_unknowns == 0) return FMU_OK;
  if (!unknowns || !sensitivity || (n_knowns && (!knowns || !seed)))
    return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = check_seed(f, knowns, n_knowns, seed);
  if (status == FMU_OK) status = fmu_update_states(f);
  if (status != FMU_OK) return status;
  if (fmu_dae_is_on(f))
    return fmu_dae_directional_derivative(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
  for (size_t i = 0; i < n_unknowns; i++)
    if (fmu_in_range(f->dae.residual, unknowns[i]) || fmu_in_range(f->dae.algebraic, unknowns[i]))
      return fmu_refuse_variable(f, unknowns[i], "has derivatives in DAE mode only, after Initialization Mode");
  return fmu_core_status(f, differentiate(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity),
                         "the derivatives");
}

/* The product with the transposed Jacobian, one column at a time. */
fmu_status fmu_adjoint_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity) {
  if (n_knowns == 0) return FMU_OK;
  if (!knowns || !sensitivity || (n_unknowns && (!unknowns || !seed)))
    return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  double *column = malloc((n_unknowns + 1) * sizeof *column);
  if (!column) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  fmu_status status = FMU_OK;
  for (size_t j = 0; j < n_knowns && status == FMU_OK; j++) {
    const double one = 1;
    status = fmu_directional_derivative(f, unknowns, n_unknowns, knowns + j, 1, &one, column);
    double sum = 0;
    for (size_t i = 0; i < n_unknowns && status == FMU_OK; i++) sum += seed[i] * column[i];
    if (status == FMU_OK) sensitivity[j] = sum;
  }
  free(column);
  return status;
}
