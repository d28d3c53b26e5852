/* Mechanisms as contents of FMUs: creation, states and the table of their functions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"

static const double importer_accuracy = 1e-2; /* of its integrator, which may take fixed steps of any kind */

/* ---- creation and destruction ------------------------------------------------------------------------ */

static int load_model(fmu *f, const fmu_resources *resources) {
  char message[512] = "";
  if (lw_model_load(resources->model, resources->model_size, &f->model, message, sizeof message) != LW_OK) {
    fmu_log_message(&f->log, FMU_ERROR, "resources/model.lwm: %s", message);
    return 0;
  }
  f->size = lw_model_sizes(f->model);
  f->n_states = (uint32_t)f->size.states;
  return 1;
}

static int load_interface(fmu *f, const fmu_resources *resources) {
  const uint32_t reals = (uint32_t)f->size.reals;
  f->indicator = (fmu_range){reals, (uint32_t)f->size.event_indicators};
  f->setting = (fmu_range){reals + f->indicator.count, FMU_N_SETTINGS};
  const char *error = fmu_interface_read(
      &f->interface, resources->interface, resources->interface_size, (uint32_t)f->size.nq, (uint32_t)f->size.nu, reals,
      f->setting.first + f->setting.count, 1 + f->n_states + 4 * (uint32_t)lw_constraint_rows(f->model));
  if (error) fmu_log_message(&f->log, FMU_ERROR, "resources/interface.lwi: %s", error);
  return error == NULL;
}

/* Fields that exist only in mechanisms with transitions. */
static void locate_range(fmu *f, const lw_field *field) {
  const struct {
    const char *name;
    fmu_range *range;
  } ranges[] = {{"command", &f->command},
                {"impulse", &f->impulse},
                {"transition_active", &f->active},
                {"event_count", &f->events}};
  for (size_t i = 0; f->size.transitions && i < sizeof ranges / sizeof *ranges; i++)
    if (strcmp(field->name, ranges[i].name) == 0)
      *ranges[i].range = (fmu_range){(uint32_t)field->first, (uint32_t)(field->rows * field->columns)};
}

/* Finds the offsets of fields that need special treatment. */
static int locate_fields(fmu *f) {
  f->tunable = calloc((size_t)lw_field_count() + 1, sizeof *f->tunable);
  if (!f->tunable) return 0;
  f->first_state = f->first_derivative = f->time_reference = (uint32_t)f->size.reals;
  f->first_start_q = f->first_start_u = f->first_start_element = f->time_reference;
  for (int32_t i = 0; i < lw_field_count(); i++) {
    lw_field field;
    if (lw_model_field(f->model, i, &field) != LW_OK) continue;
    const uint32_t first = (uint32_t)field.first;
    if (field.access == LW_STATE && first < f->first_state) f->first_state = first;
    if (field.access == LW_DERIVATIVE && first < f->first_derivative) f->first_derivative = first;
    if (strcmp(field.name, "time") == 0) f->time_reference = first;
    if (strcmp(field.name, "q_start") == 0) f->first_start_q = first;
    if (strcmp(field.name, "u_start") == 0) f->first_start_u = first;
    if (strcmp(field.name, "state_start") == 0) f->first_start_element = first;
    locate_range(f, &field);
    const uint32_t count = (uint32_t)(field.rows * field.columns);
    if (field.tunable && count) f->tunable[f->n_tunable++] = (fmu_range){first, count};
  }
  return 1;
}

/* Exposes minimal states if the model description declares them. */
static int choose_states(fmu *f) {
  const fmu_list *q = &f->interface.q, *u = &f->interface.u;
  f->n_exposed_states = f->n_states;
  if (q->n + u->n == 0) return 1;
  f->n_exposed_states = q->n + u->n + (uint32_t)f->size.formula_states;
  lw_status status = lw_minimal_create(f->state, q->items, (int32_t)q->n, u->items, (int32_t)u->n, &f->minimal);
  if (status == LW_OK && f->kind == FMU_MODEL_EXCHANGE) status = lw_minimal_watch(f->minimal); /* allocates */
  if (status == LW_OK) return 1;
  fmu_log_message(&f->log, FMU_ERROR, "resources/interface.lwi: %s", lw_state_message(f->state));
  return 0;
}

static int allocate(fmu *f) {
  if (!locate_fields(f) || !fmu_locate_inputs(f) || !fmu_dae_create(f)) return 0;
  if (lw_state_create(f->model, &f->state) != LW_OK || !fmu_locate_parameter_inputs(f)) return 0;
  f->y = calloc((size_t)f->n_states + 1, sizeof *f->y);
  f->z = calloc((size_t)f->indicator.count + 1, sizeof *f->z);
  /* in Model Exchange it looks ahead */
  const int steps = f->n_states && (f->kind == FMU_CO_SIMULATION || f->indicator.count);
  if (steps && !fmu_create_steps(f)) return 0;
  f->backup = malloc(lw_state_size(f->state) + (f->steps ? lw_run_memory_size(f->steps) : 0));
  return f->y && f->z && f->backup;
}

static int load(fmu *f, const fmu_resources *resources, const fmu_instantiation *instantiation) {
  if (!load_model(f, resources) || !load_interface(f, resources)) return 0;
  if (!allocate(f)) {
    fmu_log_message(&f->log, FMU_ERROR, "out of memory");
    return 0;
  }
  fmu_load_compiled_rates(f, instantiation->resources);
  return choose_states(f) && fmu_set_update_callback(f, instantiation) == FMU_OK;
}

static void free_mechanism(fmu *f) {
  fmu_dae_free(f);
  lw_run_free(f->steps);
  lw_minimal_free(f->minimal);
  lw_state_free(f->state);
  fmu_unload_compiled_rates(f);
  lw_model_free(f->model);
  free(f->declared_start);
  free(f->tunable);
  free(f->rate);
  free(f->varying);
  free(f->polynomial);
  free(f->intermediate_input);
  free(f->parameter_input);
  free(f->backup);
  free(f->z);
  free(f->y);
}

/* ---- life cycle ----------------------------------------------------------------------------------------- */

#define MOST_CHANGED_STARTS 20 /* in the log */

/* Guesses, which only select one of the closed poses, aside. */
static void log_changed_starts(const fmu *f) {
  lw_changed_start changed[MOST_CHANGED_STARTS];
  const int32_t count = lw_changed_starts(f->state, changed, MOST_CHANGED_STARTS);
  for (int32_t i = 0; i < count && i < MOST_CHANGED_STARTS; i++)
    if (!changed[i].is_guess) fmu_log_changed_start(f, &changed[i]);
}

static fmu_status exit_initialization(fmu *f) {
  fmu_status status = fmu_update_states(f); /* by assembly */
  if (status != FMU_OK) return status;
  log_changed_starts(f);
  lw_state_save(f->state, f->backup);
  if (f->minimal) lw_minimal_keep_start(f->minimal);
  fmu_watch_range(f);
  lw_step_accepted(f->state);
  fmu_start_nominals(f);
  status = fmu_start_events(f);
  if (status == FMU_OK) status = fmu_dae_start(f);
  if (f->kind == FMU_MODEL_EXCHANGE) lw_watch_constraints(f->state, importer_accuracy, importer_accuracy);
  if (status == FMU_OK) return FMU_OK;
  const fmu_status undone = fmu_restore_backup(f);
  return undone == FMU_OK ? status : undone;
}

static fmu_status reset(fmu *f) {
  if (f->steps) lw_run_forget(f->steps);
  return fmu_core_status(f, lw_state_reset(f->state), "the model's defaults");
}

/* ---- FMU states: input polynomials, rates of DAE mode, what the run remembers, snapshot of the core ----------------- */

static size_t inputs_size(const fmu *f) { return f->input.count * sizeof *f->polynomial; }

static size_t run_size(const fmu *f) { return f->steps ? lw_run_memory_size(f->steps) : 0; }

static size_t state_size(const fmu *f) {
  return inputs_size(f) + fmu_dae_size(f) + run_size(f) + lw_state_size(f->state);
}

static fmu_status save_state(fmu *f, unsigned char *bytes) {
  if (f->run.states_invalid) {
    const fmu_status status = fmu_update_states(f);
    if (status != FMU_OK) return status;
  }
  /* The instance and its copy must continue with the same bits, so both restart the run. */
  f->run.restart_needed = 1;
  memcpy(bytes, f->polynomial, inputs_size(f));
  bytes += inputs_size(f);
  if (f->dae.n) memcpy(bytes, f->dae.rates, fmu_dae_size(f));
  bytes += fmu_dae_size(f);
  if (f->steps) lw_run_save(f->steps, bytes);
  lw_state_save(f->state, bytes + run_size(f));
  return FMU_OK;
}

static fmu_status restore_state(fmu *f, const unsigned char *bytes) {
  const unsigned char *dae = bytes + inputs_size(f), *run = dae + fmu_dae_size(f), *core = run + run_size(f);
  const fmu_status status = fmu_core_status(f, lw_state_restore(f->state, core, lw_state_size(f->state)), "the state");
  if (status != FMU_OK) return status;
  memcpy(f->polynomial, bytes, inputs_size(f));
  if (f->dae.n) memcpy(f->dae.rates, dae, fmu_dae_size(f));
  fmu_watch_range(f);
  if (!f->steps || lw_run_restore(f->steps, run) == LW_OK) return FMU_OK;
  return fmu_log_message(&f->log, FMU_ERROR, "it is an FMU state that no instance can be in");
}

const fmu_content fmu_mechanism = {
    .kinds = 1u << FMU_MODEL_EXCHANGE | 1u << FMU_CO_SIMULATION,
    .has_event_mode = 1,
    .load = load,
    .free = free_mechanism,
    .set_start_time = fmu_set_time,
    .exit_initialization = exit_initialization,
    .reset = reset,
    .get = fmu_mechanism_get,
    .set = fmu_mechanism_set,
    .do_step = fmu_mechanism_do_step,
    .state_size = state_size,
    .save_state = save_state,
    .restore_state = restore_state,
    .directional_derivative = fmu_mechanism_directional_derivative,
    .set_input_derivatives = fmu_mechanism_set_input_derivatives,
    .check_output_derivatives = fmu_mechanism_check_output_derivatives,
    .get_output_derivatives = fmu_mechanism_get_output_derivatives,
};
