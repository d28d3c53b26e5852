#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double assembly_tolerance = 1e-8;

/* ---- creation and destruction ------------------------------------------------------------------------ */

void fmu_initialize_run(fmu *f) {
  memset(&f->run, 0, sizeof f->run);
  f->run.tolerance = FMU_DEFAULT_TOLERANCE;
  f->run.mode = FMU_INSTANTIATED;
  f->run.restart_needed = 1;
  f->run.solver = FMU_DOPRI5;
}

static int load_model(fmu *f, const fmu_resources *resources) {
  char message[512] = "";
  if (lw_model_load(resources->model, resources->model_size, &f->model, message, sizeof message) != LW_OK) {
    fmu_log_message(&f->log, FMU_ERROR, "resources/model.lwm: %s", message);
    return 0;
  }
  f->size = lw_model_sizes(f->model);
  f->n_states = (uint32_t)(f->size.nq + f->size.nu);
  return 1;
}

static int load_interface(fmu *f, const fmu_resources *resources) {
  const uint32_t reals = (uint32_t)f->size.reals;
  f->indicator = (fmu_range){reals, (uint32_t)f->size.event_indicators};
  f->setting = (fmu_range){reals + f->indicator.count, FMU_N_SETTINGS};
  const char *error =
      fmu_interface_read(&f->interface, resources->interface, resources->interface_size, (uint32_t)f->size.nq,
                         (uint32_t)f->size.nu, reals, f->setting.first + f->setting.count);
  if (error) fmu_log_message(&f->log, FMU_ERROR, "resources/interface.lwi: %s", error);
  return error == NULL;
}

static int load(fmu *f, const char *token, const char *folder) {
  fmu_resources resources;
  if (!fmu_open_resources(&f->log, folder, &resources)) return 0;
  fmu_make_token(&resources, f->token);
  int loaded = load_model(f, &resources) && load_interface(f, &resources);
  fmu_close_resources(&resources);
  if (loaded && !(token && strcmp(token, f->token) == 0)) {
    fmu_log_message(&f->log, FMU_ERROR, "the token is '%s', but the resources are of '%s': they are not of one FMU",
                    token ? token : "NULL", f->token);
    loaded = 0;
  }
  return loaded;
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

/* Tunable parameters do not affect loop closure or states. */
static const char *const tunable_fields[] = {"gravity",
                                             "body_mass",
                                             "body_com",
                                             "body_inertia",
                                             "stiffness",
                                             "damping",
                                             "free_coordinate",
                                             "spring_points",
                                             "spring_stiffness",
                                             "spring_damping",
                                             "wrench_point",
                                             "spring_free_length",
                                             "actuator_gain",
                                             "actuator_offset",
                                             "actuator_stiffness",
                                             "actuator_damping",
                                             "actuator_gear",
                                             "actuator_input_range",
                                             "actuator_force_range",
                                             "reflected_inertia",
                                             "max_load",
                                             "restitution",
                                             "correction_gain",
                                             "point_in_body",
                                             "axis_in_body"};
_Static_assert(sizeof tunable_fields / sizeof *tunable_fields <= FMU_MAX_TUNABLE, "each has its range of references");

static int is_tunable(const char *field) {
  for (size_t i = 0; i < sizeof tunable_fields / sizeof *tunable_fields; i++)
    if (strcmp(field, tunable_fields[i]) == 0) return 1;
  return 0;
}

/* Finds the offsets of fields that need special treatment. */
static void locate_fields(fmu *f) {
  uint32_t n_tunable = 0;
  f->first_state = f->first_derivative = f->time_reference = (uint32_t)f->size.reals;
  for (int32_t i = 0; i < lw_field_count(); i++) {
    lw_field field;
    if (lw_model_field(f->model, i, &field) != LW_OK) continue;
    const uint32_t first = (uint32_t)field.first;
    if (field.access == LW_STATE && first < f->first_state) f->first_state = first;
    if (field.access == LW_DERIVATIVE && first < f->first_derivative) f->first_derivative = first;
    if (strcmp(field.name, "time") == 0) f->time_reference = first;
    locate_range(f, &field);
    if (is_tunable(field.name) && n_tunable < FMU_MAX_TUNABLE)
      f->tunable[n_tunable++] = (fmu_range){first, (uint32_t)(field.rows * field.columns)};
  }
}

/* Exposes minimal states if the model description declares them. */
static int choose_states(fmu *f) {
  const fmu_list *q = &f->interface.q, *u = &f->interface.u;
  f->n_exposed_states = f->n_states;
  if (q->n + u->n == 0) return 1;
  f->n_exposed_states = q->n + u->n;
  if (lw_minimal_create(f->state, q->items, (int32_t)q->n, u->items, (int32_t)u->n, &f->minimal) == LW_OK) return 1;
  fmu_log_message(&f->log, FMU_ERROR, "resources/interface.lwi: %s", lw_state_message(f->state));
  return 0;
}

static int allocate(fmu *f) {
  if (!fmu_locate_inputs(f)) return 0;
  if (lw_state_create(f->model, &f->state) != LW_OK) return 0;
  f->y = calloc((size_t)f->n_states + 1, sizeof *f->y);
  f->z = calloc((size_t)f->indicator.count + 1, sizeof *f->z);
  f->backup = malloc(lw_state_size(f->state));
  if (!f->y || !f->z || !f->backup) return 0;
  if (f->kind == FMU_CO_SIMULATION && f->n_states) {
    const lw_ode_options options = {.rtol = FMU_DEFAULT_TOLERANCE,
                                    .atol = FMU_DEFAULT_TOLERANCE,
                                    .max_steps = -1,
                                    .event_resolution = LW_EVENT_RESOLUTION};
    f->ode = lw_ode_create((int32_t)f->n_states, f->size.event_indicators, fmu_ode_derivative, fmu_ode_indicators, f,
                           &options);
    return f->ode != NULL;
  }
  return 1;
}

fmu *fmu_create(const fmu_instantiation *instantiation) {
  fmu *f = calloc(1, sizeof *f);
  const char *name = instantiation->log.instance_name ? instantiation->log.instance_name : "";
  char *copy = malloc(strlen(name) + 1);
  int ok = f && copy;
  if (!ok) {
    fmu_log_message(&instantiation->log, FMU_ERROR, "out of memory");
    free(copy);
    free(f);
    return NULL;
  }
  memcpy(copy, name, strlen(name) + 1);
  f->name = copy;
  f->kind = instantiation->kind;
  f->event_mode_used = instantiation->event_mode_used;
  f->early_return_allowed = instantiation->early_return_allowed;
  f->log = instantiation->log;
  f->log.instance_name = f->name;
  fmu_initialize_run(f);
  ok = load(f, instantiation->token, instantiation->resources);
  if (ok) {
    locate_fields(f);
    ok = allocate(f);
    if (!ok) fmu_log_message(&f->log, FMU_ERROR, "out of memory");
    ok = ok && choose_states(f);
  }
  if (ok && fmu_set_update_callback(f, instantiation) == FMU_OK) return f;
  fmu_free(f);
  return NULL;
}

void fmu_free(fmu *f) {
  if (!f) return;
  lw_ode_free(f->ode);
  lw_minimal_free(f->minimal);
  lw_state_free(f->state);
  lw_model_free(f->model);
  fmu_interface_free(&f->interface);
  for (int i = 0; i < 2; i++) free(f->elements[i]);
  free(f->rate);
  free(f->varying);
  free(f->polynomial);
  free(f->intermediate_input);
  free(f->backup);
  free(f->scratch);
  free(f->z);
  free(f->y);
  free(f->name);
  free(f);
}

/* ---- failures --------------------------------------------------------------------------------------- */

fmu_status fmu_refuse_type(fmu *f, const char *type, size_t n) {
  if (n == 0) return FMU_OK;
  return fmu_log_message(&f->log, FMU_ERROR, "this FMU has no variables of type %s", type);
}

fmu_status fmu_core_status(const fmu *f, lw_status status, const char *action) {
  fmu_status result = FMU_ERROR;
  switch (status) {
    case LW_OK: return FMU_OK;
    case LW_ERROR_ASSEMBLY:
    case LW_ERROR_SINGULAR:
    case LW_ERROR_SOLVER: result = FMU_DISCARD; break;
    case LW_ERROR_MEMORY:
    case LW_ERROR_FORMAT:
    case LW_ERROR_PARAMETER:
    case LW_ERROR_VALUE:
    case LW_ERROR_USAGE: break;
  }
  return fmu_log_message(&f->log, result, "%s: %s", action, lw_state_message(f->state));
}

/* ---- states of the block ------------------------------------------------------------------------------ */

static fmu_status assemble(fmu *f) {
  if (f->run.assembled) return FMU_OK;
  const lw_status status = lw_assemble(f->state, assembly_tolerance);
  if (status != LW_OK) return fmu_log_message(&f->log, FMU_ERROR, "start values: %s", lw_state_message(f->state));
  f->run.assembled = f->run.restart_needed = 1;
  return FMU_OK;
}

fmu_status fmu_update_states(fmu *f) {
  if (f->run.mode == FMU_INITIALIZATION) return assemble(f);
  if (!f->run.states_invalid) return FMU_OK;
  const lw_status status = lw_minimal_set(f->minimal, f->y);
  if (status == LW_OK) f->run.states_invalid = 0;
  return fmu_core_status(f, status, "the other states");
}

void fmu_invalidate_states(fmu *f) {
  if (!f->minimal || f->kind == FMU_CO_SIMULATION || !(f->run.mode & FMU_INITIALIZED) || f->run.states_invalid) return;
  lw_minimal_get(f->minimal, f->y);
  f->run.states_invalid = 1;
}

fmu_status fmu_restore_backup(fmu *f) {
  return fmu_core_status(f, lw_state_restore(f->state, f->backup, lw_state_size(f->state)), "restoring the state");
}
