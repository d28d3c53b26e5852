/* Derivatives through assembly: what it makes of start values, parameters and inputs is differentiated first
 * (assembly/sensitivity_kernel.h), then all that follows from the states. */
#include "block/state.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdlib.h>

static lw_status seed_knowns(lw_state *s, const uint32_t *knowns, size_t n, const double *seed, double *largest) {
  const lw_offsets *at = &s->model->at;
  lw_status e = LW_OK;
  *largest = 0.0;
  for (size_t i = 0; !e && i < n; i++) {
    const lw_access a = lw_access_of(s, knowns[i]);
    if (a == LW_STATE)
      return lw_fail(s, LW_ERROR_USAGE, "variable %u is a state: it follows from start values by assembly", knowns[i]);
    if (a != LW_PARAMETER && a != LW_INPUT && a != LW_START)
      return lw_fail(s, LW_ERROR_USAGE, "variable %u is no parameter, start value or input: nothing depends on it here",
                     knowns[i]);
    e = lw_seed(s, knowns[i], seed[i]);
    if (!e && knowns[i] == (uint32_t)at->time) e = lw_seed(s, (uint32_t)at->motion_time, seed[i]);
    *largest = fmax(*largest, fabs(seed[i]));
  }
  return e;
}

/* For sensitivity_problem_of() in assembly/sensitivity_kernel.h. */
static lw_status allocate_sensitivity_workspace(lw_state *s, lw_sensitivity_workspace *workspace) {
  const lw_model *m = s->model;
  size_t reals = 0, integers = 0;
  for (int32_t c = 0; c < m->clusters; c++) {
    const lw_cluster *cluster = &m->cluster[c];
    const size_t n = (size_t)cluster->columns, rows = 6 * (size_t)cluster->loops + (size_t)cluster->couplings;
    const size_t needed = 2 * n * rows + 4 * rows + 2 * n;
    if (needed > INT32_MAX / 2) return lw_fail(s, LW_ERROR_MEMORY, "the loops are too many for one dense matrix");
    reals = needed > reals ? needed : reals;
    integers = 2 * n + rows > integers ? 2 * n + rows : integers;
  }
  const size_t speeds = (size_t)m->size.nu;
  double *memory = malloc(2 * sizeof(double) * (reals + speeds) + sizeof(int32_t) * integers + 1);
  if (!memory) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for derivatives of the assembly");
  *workspace = (lw_sensitivity_workspace){.reals = memory, .step = memory + 2 * reals, .scale = 0.0};
  workspace->integers = (int32_t *)(memory + 2 * (reals + speeds));
  return LW_OK;
}

lw_status lw_assembly_sensitivity(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity) {
  if (!s) return LW_ERROR_USAGE;
  lw_sensitivity_workspace workspace;
  double largest;
  lw_status e = lw_check_unknowns(s, unknowns, n_unknowns);
  if (e || (e = lw_begin_derivative(s, LW_STAGE_OUTPUTS))) return e;
  if ((e = seed_knowns(s, knowns, n_knowns, seed, &largest)) || (e = allocate_sensitivity_workspace(s, &workspace)))
    return e;
  workspace.scale = LW_COMPLEX_STEP * fmax(largest, 1e-200);
  lw_copy_cuts(s);
  lw_complete_constants(s, 1);
  e = lw_report(s, lw_kernels_complex.assembly_sensitivity(s->model, s->complex_block, &workspace));
  free(workspace.reals);
  if (!e) lw_end_derivative(s, unknowns, n_unknowns, sensitivity);
  return e;
}
