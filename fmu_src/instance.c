/* Creates and frees an instance; an FMU whose files are not of one export is refused. */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

#include "content.h"

void fmu_initialize_run(fmu *f) {
  memset(&f->run, 0, sizeof f->run);
  f->run.tolerance = FMU_DEFAULT_TOLERANCE;
  f->run.mode = FMU_INSTANTIATED;
  f->run.restart_needed = 1;
  f->run.solver = FMU_AUTO;
}

/* ---- creation and destruction ------------------------------------------------------------------------ */

static int check_token(const fmu *f, const char *token) {
  if (token && strcmp(token, f->token) == 0) return 1;
  fmu_log_message(&f->log, FMU_ERROR, "the token is '%s', but the resources are of '%s': they are not of one FMU",
                  token ? token : "NULL", f->token);
  return 0;
}

static int check_kind(const fmu *f) {
  if (f->content->kinds >> f->kind & 1) return 1;
  fmu_log_message(&f->log, FMU_ERROR, "this FMU is for %s only",
                  f->kind == FMU_CO_SIMULATION ? "Model Exchange" : "Co-Simulation");
  return 0;
}

static int load(fmu *f, const fmu_instantiation *instantiation) {
  fmu_resources resources;
  if (!fmu_open_resources(&f->log, instantiation->resources, &resources)) return 0;
  fmu_make_token(&resources, f->token);
  f->content = fmu_find_content(&resources);
  f->event_mode_used = instantiation->event_mode_used && f->content->has_event_mode;
  const int loaded = f->content->load(f, &resources, instantiation);
  fmu_close_resources(&resources);
  return loaded && check_token(f, instantiation->token) && check_kind(f);
}

fmu *fmu_create(const fmu_instantiation *instantiation) {
  fmu *f = calloc(1, sizeof *f);
  const char *name = instantiation->log.instance_name ? instantiation->log.instance_name : "";
  char *copy = malloc(strlen(name) + 1);
  if (!f || !copy) {
    fmu_log_message(&instantiation->log, FMU_ERROR, "out of memory");
    free(copy);
    free(f);
    return NULL;
  }
  memcpy(copy, name, strlen(name) + 1);
  f->name = copy;
  f->kind = instantiation->kind;
  f->early_return_allowed = instantiation->early_return_allowed;
  f->log = instantiation->log;
  f->log.instance_name = f->name;
  fmu_initialize_run(f);
  if (load(f, instantiation)) return f;
  fmu_free(f);
  return NULL;
}

void fmu_free(fmu *f) {
  if (!f) return;
  fmu_snapshot_free_all(f);
  if (f->content) f->content->free(f);
  fmu_interface_free(&f->interface);
  for (int i = 0; i < 2; i++) free(f->offsets[i]);
  free(f->scratch);
  free(f->name);
  free(f);
}

fmu_status fmu_refuse_type(fmu *f, const char *type, size_t n) {
  if (n == 0) return FMU_OK;
  return fmu_log_message(&f->log, FMU_ERROR, "this FMU has no variables of type %s", type);
}
