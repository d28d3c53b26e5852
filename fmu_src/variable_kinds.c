/* What a variable of a mechanism is by its offset: type, access, name in words. */
#include <stdio.h>
#include <stdlib.h>

#include "content.h"

fmu_type fmu_type_of(const fmu *f, uint32_t offset) {
  if (fmu_in_range(f->command, offset) || fmu_in_range(f->active, offset)) return FMU_BOOLEAN;
  if (fmu_in_range(f->dae.enabled, offset)) return FMU_BOOLEAN;
  if (offset == f->setting.first + FMU_SOLVER) return FMU_ENUMERATION;
  return fmu_in_range(f->events, offset) ? FMU_INTEGER : FMU_REAL;
}

const char *fmu_type_name(fmu_type type) {
  switch (type) {
    case FMU_REAL: return "real number";
    case FMU_BOOLEAN: return "boolean";
    case FMU_INTEGER: return "integer";
    case FMU_ENUMERATION: return "enumeration";
  }
  return "";
}

int fmu_is_of_dae(const fmu *f, uint32_t offset) {
  return fmu_in_range(f->dae.algebraic, offset) || fmu_in_range(f->dae.residual, offset);
}

lw_access fmu_access_of(const fmu *f, uint32_t offset) {
  if (fmu_in_range(f->indicator, offset) || fmu_is_of_dae(f, offset)) return LW_OUTPUT;
  return fmu_in_range(f->setting, offset) || fmu_in_range(f->dae.enabled, offset) ? LW_PARAMETER
                                                                                  : lw_access_of(f->state, offset);
}

int fmu_is_tunable(const fmu *f, uint32_t offset) {
  for (const fmu_range *range = f->tunable; range < f->tunable + f->n_tunable; range++)
    if (fmu_in_range(*range, offset)) return 1;
  return 0;
}

/* Name of a variable by its field, since the core does not know the model description: "com[2] of body 'crank' (value
 * reference 17)". One that the model description does not list has no value reference. */
fmu_variable_name fmu_name_of(const fmu *f, uint32_t offset) {
  fmu_variable_name name;
  char words[120] = "event indicator";
  if (fmu_in_range(f->setting, offset))
    snprintf(words, sizeof words, "%s", offset == f->setting.first + FMU_SOLVER ? "solver" : "tolerance");
  else if (fmu_in_range(f->dae.enabled, offset)) snprintf(words, sizeof words, "dae.enabled");
  else if (fmu_is_of_dae(f, offset))
    snprintf(words, sizeof words, "%s of DAE mode",
             fmu_in_range(f->dae.residual, offset) ? "residual" : "algebraic variable");
  else if (!fmu_in_range(f->indicator, offset)) lw_describe(f->state, offset, words, sizeof words);
  const uint32_t listed = fmu_find_reference(&f->interface, offset);
  if (listed || !f->interface.variables.n)
    snprintf(name.text, sizeof name.text, "%.100s (value reference %u)", words, listed);
  else snprintf(name.text, sizeof name.text, "%.100s", words);
  return name;
}

fmu_status fmu_refuse_variable(const fmu *f, uint32_t offset, const char *why) {
  return fmu_log_message(&f->log, FMU_ERROR, "%s %s", fmu_name_of(f, offset).text, why);
}

void fmu_log_changed_start(const fmu *f, const lw_changed_start *start) {
  fmu_log_message(&f->log, FMU_WARNING, "%s: %.9g is asked, and the constraints do not allow it: %.9g is kept",
                  fmu_name_of(f, start->offset).text, start->asked, start->kept);
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
