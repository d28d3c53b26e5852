#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "instance.h"

static fmu_type type_of(const fmu *f, uint32_t reference) {
  if (fmu_is_within(f->command, reference) || fmu_is_within(f->active, reference)) return FMU_BOOLEAN;
  return fmu_is_within(f->events, reference) ? FMU_INTEGER : FMU_REAL;
}

static const char *type_name(fmu_type type) {
  switch (type) {
    case FMU_REAL: return "real number";
    case FMU_BOOLEAN: return "boolean";
    case FMU_INTEGER: return "integer";
  }
  return "";
}

/* What is not in the block is computed. */
static lw_access access_of(const fmu *f, uint32_t reference) {
  return fmu_is_within(f->indicator, reference) ? LW_OUTPUT : lw_access_of(f->state, reference);
}

typedef struct variable_name {
  char text[140];
} variable_name;

/* The core knows fields, not the names in the model description: "com[2] of body 'crank' (value reference 17)". */
static variable_name name_of(const fmu *f, uint32_t reference) {
  variable_name name;
  char words[120] = "event indicator";
  if (!fmu_is_within(f->indicator, reference)) lw_describe(f->state, reference, words, sizeof words);
  snprintf(name.text, sizeof name.text, "%.100s (value reference %u)", words, reference);
  return name;
}

fmu_status fmu_refuse(const fmu *f, uint32_t reference, const char *why) {
  return fmu_say(&f->log, FMU_ERROR, "%s %s", name_of(f, reference).text, why);
}

static fmu_status check_type(const fmu *f, fmu_type type, const uint32_t *references, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (type_of(f, references[i]) != type)
      return fmu_say(&f->log, FMU_ERROR, "%s is no %s", name_of(f, references[i]).text, type_name(type));
  return FMU_OK;
}

fmu_status fmu_make_room(fmu *f, const void *values, size_t n) {
  if (n == 0) return FMU_OK;
  if (!values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  if (n <= f->room_size) return FMU_OK;
  double *room = n <= SIZE_MAX / sizeof *room ? realloc(f->room, n * sizeof *room) : NULL;
  if (!room) return fmu_say(&f->log, FMU_ERROR, "out of memory");
  f->room = room;
  f->room_size = n;
  return FMU_OK;
}

/* When a variable may be set: what is discrete not while time goes on. States have a function of their own, the rest is
 * computed. */
static uint32_t settable_modes(const fmu *f, uint32_t reference) {
  const int discrete = fmu_is_within(f->command, reference) || fmu_is_within(f->impulse, reference);
  switch (access_of(f, reference)) {
    case LW_PARAMETER:
    case LW_START: return FMU_INSTANTIATED | FMU_INITIALIZATION;
    case LW_INPUT:
      return (FMU_ANY & ~(uint32_t)(FMU_TERMINATED | (discrete ? FMU_CONTINUOUS : 0))) |
             (fmu_may_set_between(f, reference) ? FMU_INTERMEDIATE : 0);
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
    if (!needs_assembly(access_of(f, references[i]))) continue;
    if (f->run.mode == FMU_INITIALIZATION) return fmu_assemble(f);
    return fmu_say(&f->log, FMU_ERROR, "%s is not known before Initialization Mode", name_of(f, references[i]).text);
  }
  return FMU_OK;
}

/* One by one, event indicators among them. */
static fmu_status get_with_indicators(fmu *f, const uint32_t *references, size_t n, double *values) {
  fmu_status status = fmu_get_indicators(f, f->z, f->indicator.count);
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    if (fmu_is_within(f->indicator, references[i])) values[i] = f->z[references[i] - f->indicator.first];
    else status = fmu_core(f, lw_get_reals(f->state, references + i, 1, values + i), "the values");
  }
  return status;
}

fmu_status fmu_get(fmu *f, fmu_type type, const uint32_t *references, size_t n, double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = check_type(f, type, references, n);
  if (status == FMU_OK && !(f->run.mode & (FMU_INITIALIZED | FMU_TERMINATED | FMU_INTERMEDIATE)))
    status = check_known(f, references, n);
  if (status != FMU_OK) return status;
  for (size_t i = 0; i < n; i++)
    if (fmu_is_within(f->indicator, references[i])) return get_with_indicators(f, references, n, values);
  return fmu_core(f, lw_get_reals(f->state, references, n, values), "the values");
}

static fmu_status check_settable(const fmu *f, uint32_t reference, double value) {
  const uint32_t modes = settable_modes(f, reference);
  if (modes == 0 || reference == f->time_reference)
    return fmu_say(&f->log, FMU_ERROR, "%s cannot be set", name_of(f, reference).text);
  if (!(modes & f->run.mode) && f->run.mode == FMU_INTERMEDIATE)
    return fmu_refuse(f, reference, "is not among the continuous inputs to be set in intermediate updates");
  if (!(modes & f->run.mode))
    return fmu_say(&f->log, FMU_ERROR, "%s can be set only %s", name_of(f, reference).text,
                   modes & FMU_EVENT ? "in Event Mode and before" : "until Initialization Mode is left");
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

fmu_status fmu_set(fmu *f, fmu_type type, const uint32_t *references, size_t n, const double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = check_type(f, type, references, n);
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_settable(f, references[i], values[i]);
  if (status != FMU_OK) return status;
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
