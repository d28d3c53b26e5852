/* Controllers as contents of FMUs for Co-Simulation. An offset is the position of a variable in the file; that of time
 * follows the last one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "controllers/controller.h"

static int load(fmu *f, const fmu_resources *resources, const fmu_instantiation *instantiation) {
  (void)instantiation; /* intermediate updates are not declared */
  f->controller = calloc(1, sizeof *f->controller);
  if (!f->controller) {
    fmu_log_message(&f->log, FMU_ERROR, "out of memory");
    return 0;
  }
  controller_instance *c = f->controller;
  if (!controller_create(c, resources->model, resources->model_size)) {
    fmu_log_message(&f->log, FMU_ERROR, "resources/model.lwm: %s", c->message);
    return 0;
  }
  const uint32_t n = c->model.n_variables;
  const char *error =
      fmu_interface_read(&f->interface, resources->interface, resources->interface_size, 0, 0, n, n + 1, 0);
  for (uint32_t i = 0; i < f->interface.variables.n && !error; i++)
    if (f->interface.variables.items[2 * i + 1] != 1) error = "a controller has no arrays";
  if (error) fmu_log_message(&f->log, FMU_ERROR, "resources/interface.lwi: %s", error);
  return !error;
}

static void free_controller(fmu *f) {
  if (f->controller) controller_free(f->controller);
  free(f->controller);
}

/* ---- variables --------------------------------------------------------------------------------------------- */

static const controller_variable *find(const fmu *f, uint32_t offset) {
  const controller_model *m = &f->controller->model;
  static const controller_variable time = {"time", CONTROLLER_REAL, CONTROLLER_INDEPENDENT, 0};
  if (offset < m->n_variables) return &m->variables[offset];
  if (offset == m->n_variables) return &time;
  fmu_log_message(&f->log, FMU_ERROR, "there is no variable %u: this controller has %u variables", offset,
                  m->n_variables);
  return NULL;
}

static fmu_status check_types(const fmu *f, unsigned types, const uint32_t *offsets, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const controller_variable *v = find(f, offsets[i]);
    if (!v) return FMU_ERROR;
    if (!(v->value & types))
      return fmu_log_message(&f->log, FMU_ERROR, "%s has the type %s: use the function for this type", v->name,
                             fmu_type_name((fmu_type)v->value));
  }
  return FMU_OK;
}

static fmu_status failed(const fmu *f) { return fmu_log_message(&f->log, FMU_ERROR, "%s", f->controller->message); }

/* Outputs belong to the present inputs. */
static fmu_status update_outputs(fmu *f, const uint32_t *offsets, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const controller_variable *v = find(f, offsets[i]);
    if (!v || v->role != CONTROLLER_OUTPUT) continue;
    if (f->run.mode == FMU_INSTANTIATED)
      return fmu_log_message(&f->log, FMU_ERROR, "%s is not known before Initialization Mode", v->name);
    return controller_refresh(f->controller, f->run.time) ? FMU_OK : failed(f);
  }
  return FMU_OK;
}

static fmu_status get(fmu *f, unsigned types, const uint32_t *offsets, size_t n, double *values) {
  fmu_status status = check_types(f, types, offsets, n);
  if (status == FMU_OK) status = update_outputs(f, offsets, n);
  for (size_t i = 0; i < n && status == FMU_OK; i++)
    values[i] = offsets[i] < f->controller->model.n_variables ? f->controller->x[offsets[i]] : f->run.time;
  return status;
}

static fmu_status check_settable(const fmu *f, const controller_variable *v, double value) {
  const int initialized = !(f->run.mode & (FMU_INSTANTIATED | FMU_INITIALIZATION));
  if (v->role == CONTROLLER_OUTPUT || v->role == CONTROLLER_INDEPENDENT)
    return fmu_log_message(&f->log, FMU_ERROR, "%s cannot be set", v->name);
  if (v->role == CONTROLLER_FIXED && initialized)
    return fmu_log_message(&f->log, FMU_ERROR, "%s can be set only until Initialization Mode is left", v->name);
  if (isnan(value)) return fmu_log_message(&f->log, FMU_ERROR, "%s is set to a value that is not a number", v->name);
  return FMU_OK;
}

static fmu_status set(fmu *f, unsigned types, const uint32_t *offsets, size_t n, const double *values) {
  controller_instance *c = f->controller;
  fmu_status status = check_types(f, types, offsets, n);
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_settable(f, find(f, offsets[i]), values[i]);
  if (status != FMU_OK) return status;
  for (size_t i = 0; i < n; i++)
    c->x[offsets[i]] = c->model.variables[offsets[i]].value == CONTROLLER_BOOLEAN ? values[i] != 0 : values[i];
  c->clock[CONTROLLER_FRESH] = 0;
  return FMU_OK;
}

/* ---- life cycle and steps -------------------------------------------------------------------------------------- */

static fmu_status set_start_time(fmu *f, double start) {
  f->run.time = start;
  controller_start(f->controller, start);
  return FMU_OK;
}

static fmu_status exit_initialization(fmu *f) { return controller_check(f->controller) ? FMU_OK : failed(f); }

static fmu_status reset(fmu *f) {
  controller_reset(f->controller);
  return FMU_OK;
}

static fmu_status do_step(fmu *f, double time, double length, fmu_step *step) {
  if (!controller_step(f->controller, f->run.time, time, length)) return failed(f);
  f->run.time = step->last_time = time + length;
  return FMU_OK;
}

/* ---- FMU states -------------------------------------------------------------------------------------------------- */

static size_t state_size(const fmu *f) { return controller_block_size(f->controller); }

static fmu_status save_state(fmu *f, unsigned char *bytes) {
  memcpy(bytes, f->controller->block, state_size(f));
  return FMU_OK;
}

static fmu_status restore_state(fmu *f, const unsigned char *bytes) {
  controller_instance *c = f->controller;
  memcpy(c->backup, bytes, state_size(f)); /* which has the alignment of doubles */
  if (!controller_is_valid(c, c->backup))
    return fmu_log_message(&f->log, FMU_ERROR, "it is an FMU state that no instance can be in");
  memcpy(c->block, c->backup, state_size(f));
  return FMU_OK;
}

const fmu_content fmu_controller = {
    .kinds = 1u << FMU_CO_SIMULATION,
    .load = load,
    .free = free_controller,
    .set_start_time = set_start_time,
    .exit_initialization = exit_initialization,
    .reset = reset,
    .get = get,
    .set = set,
    .do_step = do_step,
    .state_size = state_size,
    .save_state = save_state,
    .restore_state = restore_state,
};
