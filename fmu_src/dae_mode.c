/* DAE mode, as the layered standard FMI-LS-DAE has it: the importer solves F(x, x', z, t) = 0, the stabilised equations of
 * csrc/dae/ggl_kernel.h, for the rates of the states and the multipliers. */
#include <stdlib.h>
#include <string.h>

#include "content.h"

int fmu_dae_create(fmu *f) {
  fmu_dae *d = &f->dae;
  if (!f->interface.dae) return 1;
  d->rows = (uint32_t)lw_constraint_rows(f->model);
  d->n = f->n_states + 2 * d->rows;
  d->enabled = (fmu_range){f->setting.first + f->setting.count, 1};
  d->algebraic = (fmu_range){d->enabled.first + 1, 2 * d->rows};
  d->residual = (fmu_range){d->algebraic.first + d->algebraic.count, d->n};
  const size_t n = d->n, kept = n + 2 * (size_t)d->rows, matrix = (size_t)d->rows * (size_t)f->size.nu;
  d->rates = calloc(kept + 4 * n + matrix + 1, sizeof *d->rates);
  if (!d->rates) return 0;
  d->y = d->rates + kept;
  d->y_seed = d->y + n;
  d->rate_seed = d->y_seed + n;
  d->result = d->rate_seed + n;
  d->work = d->result + n;
  return 1;
}

void fmu_dae_free(fmu *f) { free(f->dae.rates); }

size_t fmu_dae_size(const fmu *f) { return (f->dae.n + 2 * (size_t)f->dae.rows) * (f->dae.n ? sizeof(double) : 0); }

static double *relaxation_of(const fmu *f) { return f->dae.rates + f->dae.n; }

int fmu_dae_is_on(const fmu *f) { return f->run.dae && (f->run.mode & (FMU_INITIALIZED | FMU_TERMINATED)); }

/* The position of a variable among [x'; z]; -1: it is none. */
static int64_t find_unknown(const fmu *f, uint32_t offset) {
  const fmu_range derivative = {f->first_derivative, f->n_states};
  if (f->dae.n == 0) return -1;
  if (fmu_in_range(derivative, offset)) return offset - derivative.first;
  if (fmu_in_range(f->dae.algebraic, offset)) return (int64_t)f->n_states + offset - f->dae.algebraic.first;
  return -1;
}

int fmu_dae_is_unknown(const fmu *f, uint32_t offset) { return find_unknown(f, offset) >= 0; }

void fmu_dae_set_unknown(fmu *f, uint32_t offset, double value) { f->dae.rates[find_unknown(f, offset)] = value; }

static fmu_status find_rates(fmu *f) {
  lw_status status = lw_dae_select_rows(f->state, f->dae.work, relaxation_of(f));
  if (status == LW_OK) status = lw_dae_rates(f->state, relaxation_of(f), f->dae.work, f->dae.rates);
  return fmu_core_status(f, status, "the rates and multipliers");
}

fmu_status fmu_dae_start(fmu *f) { return f->run.dae ? find_rates(f) : FMU_OK; }

static void copy_states(fmu *f) {
  memcpy(f->dae.y, lw_state_reals(f->state) + f->first_state, f->n_states * sizeof *f->dae.y);
  memset(f->dae.y + f->n_states, 0, 2 * (size_t)f->dae.rows * sizeof *f->dae.y);
}

fmu_status fmu_dae_evaluate(fmu *f) {
  const fmu_status status = fmu_dae_is_on(f) ? FMU_OK : find_rates(f);
  if (status != FMU_OK) return status;
  copy_states(f);
  return fmu_core_status(
      f, lw_dae_residual(f->state, f->run.time, f->dae.y, f->dae.rates, relaxation_of(f), f->dae.result),
      "the residuals");
}

double fmu_dae_value(const fmu *f, uint32_t offset) {
  const int64_t unknown = find_unknown(f, offset);
  return unknown >= 0 ? f->dae.rates[unknown] : f->dae.result[offset - f->dae.residual.first];
}

/* ---- partial derivatives ----------------------------------------------------------------------------- */

/* Sorts the knowns: states and unknowns into the seeds of F, the others to the front of `others`. Returns the number of
 * these. */
static size_t sort_knowns(fmu *f, const uint32_t *knowns, size_t n, const double *seed, uint32_t *others,
                          double *other_seed) {
  size_t count = 0;
  memset(f->dae.y_seed, 0, f->dae.n * sizeof *f->dae.y_seed);
  memset(f->dae.rate_seed, 0, f->dae.n * sizeof *f->dae.rate_seed);
  for (size_t i = 0; i < n; i++) {
    const int64_t state = fmu_find_state(f, knowns[i]), unknown = find_unknown(f, knowns[i]);
    if (state >= 0) f->dae.y_seed[state] += seed[i];
    else if (unknown >= 0) f->dae.rate_seed[unknown] += seed[i];
    else others[count] = knowns[i], other_seed[count++] = seed[i];
  }
  return count;
}

/* Residuals. */
static fmu_status differentiate_residuals(fmu *f, const uint32_t *others, size_t n_others, const double *other_seed) {
  copy_states(f);
  return fmu_core_status(
      f,
      lw_dae_directional_derivative(f->state, f->run.time, f->dae.y, f->dae.rates, relaxation_of(f), f->dae.y_seed,
                                    f->dae.rate_seed, others, n_others, other_seed, f->dae.result),
      "the derivatives of the residuals");
}

/* All other unknowns are functions of states, inputs and parameters, not of rates and multipliers. */
static fmu_status differentiate_others(fmu *f, const uint32_t *unknowns, size_t n_unknowns, uint32_t *knowns,
                                       size_t n_others, double *seed, double *sensitivity) {
  size_t n = n_others;
  for (uint32_t i = 0; i < f->n_states; i++)
    if (f->dae.y_seed[i] != 0) knowns[n] = f->first_state + i, seed[n++] = f->dae.y_seed[i];
  double *found = malloc((n_unknowns + 1) * (sizeof *found + sizeof *unknowns));
  if (!found) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  uint32_t *rest = (uint32_t *)(found + n_unknowns);
  size_t n_rest = 0;
  for (size_t i = 0; i < n_unknowns; i++)
    if (!fmu_in_range(f->dae.residual, unknowns[i])) rest[n_rest++] = unknowns[i];
  const fmu_status status =
      n_rest == 0 ? FMU_OK
                  : fmu_core_status(f, lw_directional_derivative(f->state, rest, n_rest, knowns, n, seed, found),
                                    "the derivatives");
  for (size_t i = 0, k = 0; i < n_unknowns && status == FMU_OK; i++)
    if (!fmu_in_range(f->dae.residual, unknowns[i])) sensitivity[i] = found[k++];
  free(found);
  return status;
}

fmu_status fmu_dae_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                          size_t n_knowns, const double *seed, double *sensitivity) {
  const size_t most = n_knowns + f->n_states + 1;
  double *other_seed = malloc(most * (sizeof *other_seed + sizeof *knowns));
  if (!other_seed) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  uint32_t *others = (uint32_t *)(other_seed + most);
  const size_t n_others = sort_knowns(f, knowns, n_knowns, seed, others, other_seed);
  fmu_status status = differentiate_others(f, unknowns, n_unknowns, others, n_others, other_seed, sensitivity);
  if (status == FMU_OK) status = differentiate_residuals(f, others, n_others, other_seed);
  for (size_t i = 0; i < n_unknowns && status == FMU_OK; i++)
    if (fmu_in_range(f->dae.residual, unknowns[i])) sensitivity[i] = f->dae.result[unknowns[i] - f->dae.residual.first];
  free(other_seed);
  return status;
}
