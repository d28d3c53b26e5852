#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "instance.h"

typedef struct variable_name {
  char text[140];
} variable_name;

/* The core knows fields, not the names in the model description: "com[2] of body 'crank' (value reference 17)". */
static variable_name name_of(const fmu *f, uint32_t reference) {
  variable_name name;
  char words[120];
  lw_describe(f->state, reference, words, sizeof words);
  snprintf(name.text, sizeof name.text, "%.100s (value reference %u)", words, reference);
  return name;
}

/* When a variable may be set. States have a function of their own, the rest is computed. */
static uint32_t settable_modes(lw_access access) {
  switch (access) {
    case LW_PARAMETER:
    case LW_START: return FMU_INSTANTIATED | FMU_INITIALIZATION;
    case LW_INPUT: return FMU_ANY & ~(uint32_t)FMU_TERMINATED;
    case LW_INTERNAL:
    case LW_STATE:
    case LW_DERIVATIVE:
    case LW_OUTPUT: return 0;
  }
  return 0;
}

/* What depends on the start values: not known before Initialization Mode, where it follows by assembly. */
static int needs_assembly(lw_access access) {
  return access == LW_STATE || access == LW_DERIVATIVE || access == LW_OUTPUT;
}

static fmu_status check_known(fmu *f, const uint32_t *references, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!needs_assembly(lw_access_of(f->state, references[i]))) continue;
    if (f->run.mode == FMU_INITIALIZATION) return fmu_assemble(f);
    return fmu_say(&f->log, FMU_ERROR, "%s is not known before Initialization Mode", name_of(f, references[i]).text);
  }
  return FMU_OK;
}

fmu_status fmu_get(fmu *f, const uint32_t *references, size_t n, double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  if (!(f->run.mode & (FMU_INITIALIZED | FMU_TERMINATED))) {
    const fmu_status status = check_known(f, references, n);
    if (status != FMU_OK) return status;
  }
  return fmu_core(f, lw_get_reals(f->state, references, n, values), "the values");
}

static fmu_status check_settable(const fmu *f, uint32_t reference, double value) {
  const uint32_t modes = settable_modes(lw_access_of(f->state, reference));
  if (modes == 0 || reference == f->time_reference)
    return fmu_say(&f->log, FMU_ERROR, "%s cannot be set", name_of(f, reference).text);
  if (!(modes & f->run.mode))
    return fmu_say(&f->log, FMU_ERROR, "%s can be set only until Initialization Mode is left",
                   name_of(f, reference).text);
  if (!isfinite(value))
    return fmu_say(&f->log, FMU_ERROR, "%s: %g is not a finite number", name_of(f, reference).text, value);
  return FMU_OK;
}

/* What has to be computed anew after the variable has been given this value. In initialisation inputs count for
 * assembly, because some prescribe motions. */
static void note_change(fmu *f, uint32_t reference, double value) {
  f->run.assembled = 0;
  if (lw_access_of(f->state, reference) == LW_INPUT && lw_state_reals(f->state)[reference] != value)
    f->run.restart = f->run.input_changed = 1;
}

fmu_status fmu_set(fmu *f, const uint32_t *references, size_t n, const double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  for (size_t i = 0; i < n; i++) {
    const fmu_status status = check_settable(f, references[i], values[i]);
    if (status != FMU_OK) return status;
  }
  for (size_t i = 0; i < n; i++) note_change(f, references[i], values[i]);
  return fmu_core(f, lw_set_reals(f->state, references, n, values), "the values");
}

/* ---- partial derivatives ----------------------------------------------------------------------------- */

/* In Initialization Mode the states follow from these by assembly, which is not differentiated. */
static fmu_status check_knowns(const fmu *f, const uint32_t *knowns, size_t n, const double *seed) {
  for (size_t j = 0; j < n; j++) {
    const lw_access access = lw_access_of(f->state, knowns[j]);
    if (f->run.mode == FMU_INITIALIZATION && (access == LW_PARAMETER || access == LW_START))
      return fmu_say(&f->log, FMU_ERROR, "no derivatives by %s in Initialization Mode; ask again afterwards",
                     name_of(f, knowns[j]).text);
    if (!isfinite(seed[j]))
      return fmu_say(&f->log, FMU_ERROR, "the seed of %s is not a finite number", name_of(f, knowns[j]).text);
  }
  return FMU_OK;
}

fmu_status fmu_directional(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns, size_t n_knowns,
                           const double *seed, double *sensitivity) {
  if (n_unknowns == 0) return FMU_OK;
  if (!unknowns || !sensitivity || (n_knowns && (!knowns || !seed)))
    return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = check_knowns(f, knowns, n_knowns, seed);
  if (status == FMU_OK) status = fmu_assemble(f);
  if (status != FMU_OK) return status;
  return fmu_core(f, lw_directional_derivative(f->state, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity),
                  "the derivatives");
}

/* The product with the transposed Jacobian, column by column. */
fmu_status fmu_adjoint(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns, size_t n_knowns,
                       const double *seed, double *sensitivity) {
  if (n_knowns == 0) return FMU_OK;
  if (!knowns || !sensitivity || (n_unknowns && (!unknowns || !seed)))
    return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  double *column = malloc((n_unknowns + 1) * sizeof *column);
  if (!column) return fmu_say(&f->log, FMU_ERROR, "out of memory");
  fmu_status status = FMU_OK;
  for (size_t j = 0; j < n_knowns && status == FMU_OK; j++) {
    const double one = 1;
    status = fmu_directional(f, unknowns, n_unknowns, knowns + j, 1, &one, column);
    double sum = 0;
    for (size_t i = 0; i < n_unknowns && status == FMU_OK; i++) sum += seed[i] * column[i];
    if (status == FMU_OK) sensitivity[j] = sum;
  }
  free(column);
  return status;
}
