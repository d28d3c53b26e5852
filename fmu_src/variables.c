#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "instance.h"

static fmu_type type_of(const fmu *f, uint32_t reference) {
  if (fmu_in_range(f->command, reference) || fmu_in_range(f->active, reference)) return FMU_BOOLEAN;
  if (reference == f->setting.first + FMU_SOLVER) return FMU_ENUMERATION;
  return fmu_in_range(f->events, reference) ? FMU_INTEGER : FMU_REAL;
}

static const char *type_name(fmu_type type) {
  switch (type) {
    case FMU_REAL: return "real number";
    case FMU_BOOLEAN: return "boolean";
    case FMU_INTEGER: return "integer";
    case FMU_ENUMERATION: return "enumeration";
  }
  return "";
}

static lw_access access_of(const fmu *f, uint32_t reference) {
  if (fmu_in_range(f->indicator, reference)) return LW_OUTPUT;
  return fmu_in_range(f->setting, reference) ? LW_PARAMETER : lw_access_of(f->state, reference);
}

static int is_tunable(const fmu *f, uint32_t reference) {
  for (const fmu_range *range = f->tunable; range < f->tunable + FMU_MAX_TUNABLE; range++)
    if (fmu_in_range(*range, reference)) return 1;
  return 0;
}

typedef struct variable_name {
  char text[140];
} variable_name;

/* The core knows fields, not the names in the model description: "com[2] of body 'crank' (value reference 17)". */
static variable_name name_of(const fmu *f, uint32_t reference) {
  variable_name name;
  char words[120] = "event indicator";
  if (fmu_in_range(f->setting, reference))
    snprintf(words, sizeof words, "%s", reference == f->setting.first + FMU_SOLVER ? "solver" : "tolerance");
  else if (!fmu_in_range(f->indicator, reference)) lw_describe(f->state, reference, words, sizeof words);
  snprintf(name.text, sizeof name.text, "%.100s (value reference %u)", words, reference);
  return name;
}

fmu_status fmu_refuse_variable(const fmu *f, uint32_t reference, const char *why) {
  return fmu_log_message(&f->log, FMU_ERROR, "%s %s", name_of(f, reference).text, why);
}

static fmu_status check_type(const fmu *f, unsigned types, const uint32_t *references, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!(type_of(f, references[i]) & types))
      return fmu_log_message(&f->log, FMU_ERROR, "%s is of type %s: it is read and set by another function",
                             name_of(f, references[i]).text, type_name(type_of(f, references[i])));
  return FMU_OK;
}

fmu_status fmu_reserve_scratch(fmu *f, const void *values, size_t n) {
  if (n == 0) return FMU_OK;
  if (!values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  if (n <= f->scratch_size) return FMU_OK;
  double *scratch = n <= SIZE_MAX / sizeof *scratch ? realloc(f->scratch, n * sizeof *scratch) : NULL;
  if (!scratch) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  f->scratch = scratch;
  f->scratch_size = n;
  return FMU_OK;
}

/* When a variable may be set: what is discrete not while time goes on. States have a function of their own, the rest is
 * computed. */
static uint32_t settable_modes(const fmu *f, uint32_t reference) {
  const int discrete = fmu_in_range(f->command, reference) || fmu_in_range(f->impulse, reference);
  switch (access_of(f, reference)) {
    case LW_PARAMETER:
    case LW_START:
      return FMU_INSTANTIATED | FMU_INITIALIZATION | (is_tunable(f, reference) ? FMU_EVENT | FMU_STEP : 0u);
    case LW_INPUT:
      return (FMU_ANY & ~(uint32_t)(FMU_TERMINATED | (discrete ? FMU_CONTINUOUS : 0))) |
             (fmu_may_set_in_update(f, reference) ? FMU_INTERMEDIATE : 0);
    case LW_INTERNAL:
    case LW_STATE:
    case LW_DERIVATIVE:
    case LW_OUTPUT: return 0;
  }
  return 0;
}

/* What depends on the start values: not known before Initialization Mode, where it follows by assembly. */
static int depends_on_assembly(lw_access access) {
  return access == LW_STATE || access == LW_DERIVATIVE || access == LW_OUTPUT;
}

static fmu_status check_known(fmu *f, const uint32_t *references, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!depends_on_assembly(access_of(f, references[i]))) continue;
    if (f->run.mode == FMU_INITIALIZATION) return fmu_update_states(f);
    return fmu_log_message(&f->log, FMU_ERROR, "%s is not known before Initialization Mode",
                           name_of(f, references[i]).text);
  }
  return FMU_OK;
}

static double setting_of(const fmu *f, uint32_t reference) {
  return reference == f->setting.first + FMU_SOLVER ? f->run.solver : f->run.set_tolerance;
}

/* One by one, some of which are not in the block. */
static fmu_status get_one_by_one(fmu *f, const uint32_t *references, size_t n, double *values) {
  int indicators = 0;
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    if (fmu_in_range(f->setting, references[i])) {
      values[i] = setting_of(f, references[i]);
    } else if (fmu_in_range(f->indicator, references[i])) {
      if (!indicators) status = fmu_get_event_indicators(f, f->z, f->indicator.count);
      indicators = 1;
      if (status == FMU_OK) values[i] = f->z[references[i] - f->indicator.first];
    } else {
      status = fmu_core_status(f, lw_get_reals(f->state, references + i, 1, values + i), "the values");
    }
  }
  return status;
}

static int all_in_block(const fmu *f, const uint32_t *references, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (references[i] >= (uint32_t)f->size.reals) return 0;
  return 1;
}

fmu_status fmu_get(fmu *f, unsigned types, const uint32_t *references, size_t n, double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = check_type(f, types, references, n);
  if (status == FMU_OK && !(f->run.mode & (FMU_INITIALIZED | FMU_TERMINATED | FMU_INTERMEDIATE)))
    status = check_known(f, references, n);
  else if (status == FMU_OK && f->run.states_invalid) status = fmu_update_states(f);
  if (status != FMU_OK) return status;
  if (!all_in_block(f, references, n)) return get_one_by_one(f, references, n, values);
  return fmu_core_status(f, lw_get_reals(f->state, references, n, values), "the values");
}

static fmu_status check_setting(const fmu *f, uint32_t reference, double value) {
  if (reference == f->setting.first + FMU_SOLVER && value != FMU_DOPRI5 && value != FMU_RODAS5P)
    return fmu_log_message(&f->log, FMU_ERROR, "solver: there is no item %g; 1 is dopri5, 2 is rodas5p", value);
  if (reference == f->setting.first + FMU_TOLERANCE && !(value >= 0 && value < 1))
    return fmu_log_message(&f->log, FMU_ERROR, "tolerance: %g is not from 0, which leaves it to the importer, to 1",
                           value);
  return FMU_OK;
}

static fmu_status check_settable(const fmu *f, uint32_t reference, double value) {
  const uint32_t modes = settable_modes(f, reference);
  if (modes == 0 || reference == f->time_reference)
    return fmu_log_message(&f->log, FMU_ERROR, "%s cannot be set", name_of(f, reference).text);
  if (!(modes & f->run.mode) && f->run.mode == FMU_INTERMEDIATE)
    return fmu_refuse_variable(f, reference, "is not among the continuous inputs to be set in intermediate updates");
  if (!(modes & f->run.mode))
    return fmu_log_message(
        &f->log, FMU_ERROR, "%s can be set only %s", name_of(f, reference).text,
        modes & FMU_EVENT ? "between steps, in Event Mode and before" : "until Initialization Mode is left");
  if (!isfinite(value))
    return fmu_log_message(&f->log, FMU_ERROR, "%s: %g is not a finite number", name_of(f, reference).text, value);
  return fmu_in_range(f->setting, reference) ? check_setting(f, reference, value) : FMU_OK;
}

/* What has to be computed anew after the variable has been given this value. In initialisation inputs count for
 * assembly, because some prescribe motions. */
static void mark_changed(fmu *f, uint32_t reference, double value) {
  const int input = lw_access_of(f->state, reference) == LW_INPUT;
  f->run.assembled = 0;
  if (lw_state_reals(f->state)[reference] == value) return;
  fmu_invalidate_states(f);
  f->run.restart_needed = 1;
  if (input) f->run.input_changed = 1;
}

static void set_setting(fmu *f, uint32_t reference, double value) {
  if (reference == f->setting.first + FMU_SOLVER) f->run.solver = (uint32_t)value;
  else f->run.set_tolerance = value;
}

fmu_status fmu_set(fmu *f, unsigned types, const uint32_t *references, size_t n, const double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = check_type(f, types, references, n);
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_settable(f, references[i], values[i]);
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    if (fmu_in_range(f->setting, references[i])) {
      set_setting(f, references[i], values[i]);
    } else {
      mark_changed(f, references[i], values[i]);
      status = fmu_core_status(f, lw_set_reals(f->state, references + i, 1, values + i), "the values");
    }
  }
  return status;
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

static fmu_status reserve_elements(fmu *f, int scratch, size_t n) {
  if (n <= f->elements_size[scratch]) return FMU_OK;
  uint32_t *more = n <= SIZE_MAX / sizeof *more ? realloc(f->elements[scratch], n * sizeof *more) : NULL;
  if (!more) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  f->elements[scratch] = more;
  f->elements_size[scratch] = n;
  return FMU_OK;
}

fmu_status fmu_expand_arrays(fmu *f, int scratch, const uint32_t **references, size_t *n, size_t n_values) {
  size_t count = *references && f->interface.arrays.n ? 0 : *n;
  for (size_t i = 0; i < *n && *references && f->interface.arrays.n; i++)
    count += fmu_array_size(&f->interface, (*references)[i]);
  if (count != n_values)
    return fmu_log_message(&f->log, FMU_ERROR, "the %zu variables have %zu values, not %zu", *n, count, n_values);
  if (count == *n) return FMU_OK;
  const fmu_status status = reserve_elements(f, scratch, count);
  uint32_t *to = f->elements[scratch];
  for (size_t i = 0; i < *n && status == FMU_OK; i++) {
    const uint32_t first = (*references)[i], elements = fmu_array_size(&f->interface, first);
    for (uint32_t k = 0; k < elements; k++) *to++ = first + k;
  }
  if (status == FMU_OK) *references = f->elements[scratch], *n = count;
  return status;
}
