/* Variables of a mechanism, read and set: the types and modes that allow it, and the results that a change makes void. */
#include <math.h>
#include <stdlib.h>

#include "content.h"

static fmu_status check_type(const fmu *f, unsigned types, const uint32_t *offsets, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!(fmu_type_of(f, offsets[i]) & types))
      return fmu_log_message(&f->log, FMU_ERROR, "%s has the type %s: use the function for this type",
                             fmu_name_of(f, offsets[i]).text, fmu_type_name(fmu_type_of(f, offsets[i])));
  return FMU_OK;
}

/* Commands and impulses act by an event. */
static int is_discrete_input(const fmu *f, uint32_t offset) {
  return fmu_in_range(f->command, offset) || fmu_in_range(f->impulse, offset);
}

/* A tunable parameter that the model description has as an input. */
static int is_parameter_input(const fmu *f, uint32_t offset) {
  for (uint32_t i = 0; i < f->n_parameter_inputs; i++)
    if (f->parameter_input[i] == offset) return 1;
  return 0;
}

int fmu_locate_parameter_inputs(fmu *f) {
  const fmu_list *knowns = &f->interface.knowns;
  f->parameter_input = malloc(((size_t)knowns->n + 1) * sizeof *f->parameter_input);
  for (uint32_t i = 0; f->parameter_input && i < knowns->n; i++) {
    const uint32_t offset = fmu_find_scalars(&f->interface, knowns->items[i]).first;
    if (offset < (uint32_t)f->size.reals && fmu_is_tunable(f, offset))
      f->parameter_input[f->n_parameter_inputs++] = offset;
  }
  return f->parameter_input != NULL;
}

/* The modes in which a variable may be set. Discrete inputs keep their values in Continuous-Time Mode. States belong to
 * the importer in Model Exchange only; before the simulation they stand for their start guesses. All other variables
 * are computed. */
static uint32_t settable_modes(const fmu *f, uint32_t offset) {
  const int discrete = is_discrete_input(f, offset);
  if (fmu_in_range(f->dae.enabled, offset)) return FMU_CONFIGURATION;
  if (f->run.dae && fmu_dae_is_unknown(f, offset)) return FMU_EVENT | FMU_CONTINUOUS;
  switch (fmu_access_of(f, offset)) {
    case LW_PARAMETER:
      if (is_parameter_input(f, offset)) return FMU_ANY & ~(uint32_t)FMU_TERMINATED;
      return FMU_INSTANTIATED | FMU_INITIALIZATION | (fmu_is_tunable(f, offset) ? FMU_EVENT | FMU_STEP : 0u);
    case LW_START:
      return FMU_INSTANTIATED | FMU_INITIALIZATION | (fmu_is_tunable(f, offset) ? FMU_EVENT | FMU_STEP : 0u);
    case LW_INPUT:
      return (FMU_ANY & ~(uint32_t)(FMU_TERMINATED | (discrete ? FMU_CONTINUOUS : 0))) |
             (fmu_may_set_in_update(f, offset) ? FMU_INTERMEDIATE : 0);
    case LW_STATE:
      if (fmu_find_state(f, offset) < 0) return 0;
      return FMU_INSTANTIATED | FMU_INITIALIZATION | (f->kind == FMU_MODEL_EXCHANGE ? FMU_EVENT | FMU_CONTINUOUS : 0u);
    case LW_INTERNAL:
    case LW_DERIVATIVE:
    case LW_OUTPUT: return 0;
  }
  return 0;
}

/* Variables that assembly computes. Before Initialization Mode states have their start values, the others are unknown. */
static int depends_on_assembly(lw_access access) {
  return access == LW_STATE || access == LW_DERIVATIVE || access == LW_OUTPUT;
}

static fmu_status check_known(fmu *f, const uint32_t *offsets, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const lw_access access = fmu_access_of(f, offsets[i]);
    if (!depends_on_assembly(access)) continue;
    if (f->run.mode == FMU_INITIALIZATION || access == LW_STATE) {
      const fmu_status status = fmu_update_states(f);
      if (status != FMU_OK) return status;
      continue;
    }
    return fmu_log_message(&f->log, FMU_ERROR, "%s is not known before Initialization Mode",
                           fmu_name_of(f, offsets[i]).text);
  }
  return FMU_OK;
}

static double setting_of(const fmu *f, uint32_t offset) {
  if (fmu_in_range(f->dae.enabled, offset)) return f->run.dae;
  return offset == f->setting.first + FMU_SOLVER ? f->run.solver : f->run.set_tolerance;
}

/* Some of the variables are not in the block. */
static fmu_status get_one_by_one(fmu *f, const uint32_t *offsets, size_t n, double *values) {
  int indicators = 0, residuals = 0;
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    if (fmu_in_range(f->setting, offsets[i]) || fmu_in_range(f->dae.enabled, offsets[i])) {
      values[i] = setting_of(f, offsets[i]);
    } else if (fmu_dae_is_on(f) && fmu_dae_is_unknown(f, offsets[i])) {
      values[i] = fmu_dae_value(f, offsets[i]);
    } else if (fmu_is_of_dae(f, offsets[i])) {
      if (!residuals) status = fmu_dae_evaluate(f);
      residuals = 1;
      if (status == FMU_OK) values[i] = fmu_dae_value(f, offsets[i]);
    } else if (fmu_in_range(f->indicator, offsets[i])) {
      if (!indicators) status = fmu_get_event_indicators(f, f->z, f->indicator.count);
      indicators = 1;
      if (status == FMU_OK) values[i] = f->z[offsets[i] - f->indicator.first];
    } else {
      status = fmu_core_status(f, lw_get_reals(f->state, offsets + i, 1, values + i), "the values");
    }
  }
  return status;
}

static int all_in_block(const fmu *f, const uint32_t *offsets, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (offsets[i] >= (uint32_t)f->size.reals) return 0;
  return 1;
}

fmu_status fmu_mechanism_get(fmu *f, unsigned types, const uint32_t *offsets, size_t n, double *values) {
  fmu_status status = check_type(f, types, offsets, n);
  if (status == FMU_OK && !(f->run.mode & (FMU_INITIALIZED | FMU_TERMINATED | FMU_INTERMEDIATE)))
    status = check_known(f, offsets, n);
  else if (status == FMU_OK && f->run.states_invalid) status = fmu_update_states(f);
  if (status != FMU_OK) return status;
  if (fmu_dae_is_on(f) || !all_in_block(f, offsets, n)) return get_one_by_one(f, offsets, n, values);
  return fmu_core_status(f, lw_get_reals(f->state, offsets, n, values), "the values");
}

static fmu_status check_setting(const fmu *f, uint32_t offset, double value) {
  if (offset == f->setting.first + FMU_SOLVER && value != FMU_DOPRI5 && value != FMU_RODAS5P && value != FMU_AUTO &&
      value != FMU_DOP853)
    return fmu_log_message(&f->log, FMU_ERROR,
                           "solver: the enumeration has no item %g; 1 is dopri5, 2 is rodas5p, 3 is auto, 4 is dop853",
                           value);
  if (offset == f->setting.first + FMU_TOLERANCE && !(value >= 0 && value < 1))
    return fmu_log_message(&f->log, FMU_ERROR,
                           "tolerance: %g is not in the range 0 <= tolerance < 1; 0 selects the importer's tolerance",
                           value);
  return FMU_OK;
}

/* Some importers set every input before every evaluation. */
static int is_kept(const fmu *f, uint32_t offset, double value) {
  return f->run.mode == FMU_CONTINUOUS && is_discrete_input(f, offset) && lw_state_reals(f->state)[offset] == value;
}

static const char *when_settable(const fmu *f, uint32_t offset, uint32_t modes) {
  if (modes == FMU_CONFIGURATION) return "in Configuration Mode";
  if (f->run.dae && fmu_dae_is_unknown(f, offset)) return "after Initialization Mode";
  if (fmu_access_of(f, offset) == LW_STATE)
    return "until Initialization Mode is left: in Co-Simulation the FMU integrates";
  return modes & FMU_EVENT ? "between steps, in Event Mode and before" : "until Initialization Mode is left";
}

static fmu_status check_settable(const fmu *f, uint32_t offset, double value) {
  const uint32_t modes = settable_modes(f, offset);
  if (is_kept(f, offset, value)) return FMU_OK;
  if (modes == 0 || offset == f->time_reference)
    return fmu_log_message(&f->log, FMU_ERROR, "%s cannot be set", fmu_name_of(f, offset).text);
  if (!(modes & f->run.mode) && f->run.mode == FMU_INTERMEDIATE)
    return fmu_refuse_variable(f, offset, "is not a continuous input listed for intermediate updates");
  if (!(modes & f->run.mode) && f->run.mode == FMU_CONTINUOUS && is_discrete_input(f, offset))
    return fmu_log_message(&f->log, FMU_ERROR,
                           "%s is %g, a discrete input, which keeps its value in Continuous-Time Mode: change it to %g "
                           "in Event Mode",
                           fmu_name_of(f, offset).text, lw_state_reals(f->state)[offset], value);
  if (!(modes & f->run.mode))
    return fmu_log_message(&f->log, FMU_ERROR, "%s can be set only %s", fmu_name_of(f, offset).text,
                           when_settable(f, offset, modes));
  if (!isfinite(value))
    return fmu_log_message(&f->log, FMU_ERROR, "%s: %g is not a finite number", fmu_name_of(f, offset).text, value);
  if (fmu_in_range(f->dae.enabled, offset) && value != 0 && f->kind == FMU_CO_SIMULATION)
    return fmu_refuse_variable(f, offset, "is for Model Exchange only: in Co-Simulation the FMU integrates");
  return fmu_in_range(f->setting, offset) ? check_setting(f, offset, value) : FMU_OK;
}

/* Marks results that depend on the variable as outdated. In Initialization Mode assembly depends on inputs too,
 * because some prescribe motions. */
static void mark_changed(fmu *f, uint32_t offset, double value) {
  const int input = lw_access_of(f->state, offset) == LW_INPUT;
  f->run.assembled = 0;
  if (lw_state_reals(f->state)[offset] == value) return;
  fmu_invalidate_states(f);
  f->run.restart_needed = 1;
  if (input) f->run.input_changed = 1;
  else f->run.sizes_changed = 1;
  if (f->run.mode == FMU_EVENT && !is_discrete_input(f, offset)) f->run.dynamics_changed = 1;
}

static fmu_status set_in_block(fmu *f, uint32_t offset, double value) {
  mark_changed(f, offset, value);
  return fmu_core_status(f, lw_set_reals(f->state, &offset, 1, &value), "the values");
}

static fmu_status set_state(fmu *f, uint32_t offset, double value) {
  if (f->run.mode & FMU_INITIALIZED) return fmu_set_state(f, offset, value);
  uint32_t start = 0;
  const fmu_status status = fmu_find_start(f, offset, value, &start);
  return status == FMU_OK && start ? set_in_block(f, start, value) : status;
}

static void set_setting(fmu *f, uint32_t offset, double value) {
  if (offset == f->setting.first + FMU_SOLVER) f->run.solver = (uint32_t)value;
  else f->run.set_tolerance = value;
}

fmu_status fmu_mechanism_set(fmu *f, unsigned types, const uint32_t *offsets, size_t n, const double *values) {
  fmu_status status = check_type(f, types, offsets, n);
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_settable(f, offsets[i], values[i]);
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    if (fmu_in_range(f->setting, offsets[i])) set_setting(f, offsets[i], values[i]);
    else if (fmu_in_range(f->dae.enabled, offsets[i])) f->run.dae = values[i] != 0;
    else if (fmu_dae_is_unknown(f, offsets[i])) fmu_dae_set_unknown(f, offsets[i], values[i]);
    else if (fmu_access_of(f, offsets[i]) == LW_STATE) status = set_state(f, offsets[i], values[i]);
    else status = set_in_block(f, offsets[i], values[i]);
  }
  return status;
}

/* ---- value references of FMI 3.0 ----------------------------------------------------------------------- */

static fmu_status reserve_offsets(fmu *f, int which, size_t n) {
  if (n <= f->offsets_size[which]) return FMU_OK;
  uint32_t *more = n <= SIZE_MAX / sizeof *more ? realloc(f->offsets[which], n * sizeof *more) : NULL;
  if (!more) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  f->offsets[which] = more;
  f->offsets_size[which] = n;
  return FMU_OK;
}

static fmu_status count_scalars(const fmu *f, const uint32_t *references, size_t n, size_t *count) {
  *count = references ? 0 : n; /* NULL is reported later */
  for (size_t i = 0; i < n && references; i++) {
    const uint32_t scalars = fmu_find_scalars(&f->interface, references[i]).n;
    if (!scalars)
      return fmu_log_message(&f->log, FMU_ERROR, "there is no variable with the value reference %u", references[i]);
    *count += scalars;
  }
  return FMU_OK;
}

fmu_status fmu_resolve(fmu *f, int which, const uint32_t **references, size_t *n, size_t n_values) {
  size_t count = 0;
  fmu_status status = count_scalars(f, *references, *n, &count);
  if (status != FMU_OK) return status;
  if (count != n_values)
    return fmu_log_message(&f->log, FMU_ERROR, "the %zu variables have %zu values, not %zu", *n, count, n_values);
  if (!*references || !f->interface.variables.n) return FMU_OK;
  status = reserve_offsets(f, which, count);
  if (status != FMU_OK) return status;
  uint32_t *to = f->offsets[which];
  for (size_t i = 0; i < *n; i++) {
    const fmu_scalars scalars = fmu_find_scalars(&f->interface, (*references)[i]);
    for (uint32_t k = 0; k < scalars.n; k++) *to++ = scalars.first + k;
  }
  *references = f->offsets[which];
  *n = count;
  return FMU_OK;
}
