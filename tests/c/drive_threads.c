/* Eight threads, each with its own instance of one FMU, of either version, or with its own state of one model, whose
 * topology variants they share, give the results of one thread. Run it with ThreadSanitizer: `drive_threads FOLDER ...`,
 * folders of resources. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"
#include "fmi3.h"
#include "instance.h"

enum { THREADS = 8, STEPS = 20, MOST = 1024 };

typedef struct job {
  const char *folder, *token;
  const uint32_t *offsets, *references; /* in FMI 2.0 and 3.0 */
  uint32_t n;
  int version, failed;
  double *values;
} job;

static void log2_line(fmi2ComponentEnvironment e, fmi2String name, fmi2Status status, fmi2String category,
                      fmi2String text, ...) {
  (void)e, (void)name, (void)status, (void)category, (void)text;
}

static const fmi2CallbackFunctions callbacks = {log2_line, NULL, NULL, NULL, NULL};

static void run2(job *j) {
  void *c = fmi2Instantiate("unit", fmi2CoSimulation, j->token, j->folder, &callbacks, fmi2False, fmi2False);
  j->failed = !c || fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0) || fmi2EnterInitializationMode(c) ||
              fmi2ExitInitializationMode(c);
  for (int k = 0; !j->failed && k < STEPS; k++) j->failed = fmi2DoStep(c, 0.01 * k, 0.01, fmi2True) != fmi2OK;
  if (!j->failed) j->failed = fmi2GetReal(c, j->offsets, j->n, j->values) != fmi2OK;
  fmi2FreeInstance(c);
}

static void run3(job *j) {
  bool flags[3];
  double last;
  void *c =
      fmi3InstantiateCoSimulation("unit", j->token, j->folder, false, false, false, false, NULL, 0, NULL, NULL, NULL);
  j->failed = !c || fmi3EnterInitializationMode(c, false, 0, 0, false, 0) || fmi3ExitInitializationMode(c);
  for (int k = 0; !j->failed && k < STEPS; k++)
    j->failed = fmi3DoStep(c, 0.01 * k, 0.01, true, flags, flags + 1, flags + 2, &last) != fmi3OK;
  if (!j->failed) j->failed = fmi3GetFloat64(c, j->references, j->n, j->values, j->n) != fmi3OK;
  fmi3FreeInstance(c);
}

static void *run(void *argument) {
  job *j = argument;
  if (j->version == 2) run2(j);
  else run3(j);
  return NULL;
}

static int together(job serial) {
  pthread_t threads[THREADS];
  job jobs[THREADS];
  const size_t size = serial.n * sizeof *serial.values;
  int started = 0, wrong = serial.failed;
  for (; started < THREADS; started++) {
    jobs[started] = serial;
    jobs[started].version = 2 + started % 2;
    jobs[started].values = malloc(size);
    if (!jobs[started].values || pthread_create(&threads[started], NULL, run, &jobs[started])) break;
  }
  wrong |= started < THREADS;
  for (int k = 0; k < started; k++) {
    pthread_join(threads[k], NULL);
    wrong |= jobs[k].failed || memcmp(jobs[k].values, serial.values, size) != 0;
    free(jobs[k].values);
  }
  return wrong;
}

/* Each transition once, whether or not it is possible, in a state of a model that threads share. */
typedef struct shared_job {
  const lw_model *model;
  double *values; /* [size.reals] */
  int failed;
} shared_job;

static void *make_transitions(void *argument) {
  shared_job *j = argument;
  const lw_sizes size = lw_model_sizes(j->model);
  lw_state *state = NULL;
  j->failed = !j->values || lw_state_create(j->model, &state) || lw_assemble(state, 1e-8);
  for (int32_t k = 0; !j->failed && k < 2 * size.transitions; k++) {
    const int32_t which = k % size.transitions;
    lw_apply_transitions(state, &which, 1);
  }
  if (!j->failed) memcpy(j->values, lw_state_reals(state), sizeof(double) * (size_t)size.reals);
  lw_state_free(state);
  return NULL;
}

static int share(const lw_model *model, const lw_model *fresh) {
  const size_t size = sizeof(double) * (size_t)lw_model_sizes(model).reals;
  pthread_t threads[THREADS];
  shared_job serial = {model, malloc(size), 0}, jobs[THREADS];
  int started = 0;
  make_transitions(&serial);
  int wrong = serial.failed;
  for (; started < THREADS; started++) {
    jobs[started] = (shared_job){fresh, malloc(size), 0};
    if (pthread_create(&threads[started], NULL, make_transitions, &jobs[started])) break;
  }
  wrong |= started < THREADS;
  for (int k = 0; k < started; k++) {
    pthread_join(threads[k], NULL);
    wrong |= jobs[k].failed || memcmp(jobs[k].values, serial.values, size) != 0;
    free(jobs[k].values);
  }
  free(serial.values);
  return wrong;
}

static int find_references(const fmu_resources *resources, lw_sizes size, const uint32_t *offsets, uint32_t *references,
                           uint32_t n) {
  fmu_interface interface;
  const uint32_t reals = (uint32_t)size.reals, end = reals + (uint32_t)size.event_indicators + FMU_N_SETTINGS;
  const char *error = fmu_interface_read(&interface, resources->interface, resources->interface_size, (uint32_t)size.nq,
                                         (uint32_t)size.nu, reals, end, 0);
  for (uint32_t i = 0; i < n && !error; i++) references[i] = fmu_find_reference(&interface, offsets[i]);
  fmu_interface_free(&interface);
  return error != NULL;
}

/* Compares the states. */
static int drive(const char *folder) {
  const fmu_log quiet = {0};
  fmu_resources resources;
  char token[FMU_TOKEN_SIZE], message[200];
  lw_model *model = NULL, *fresh = NULL;
  if (!fmu_open_resources(&quiet, folder, &resources)) return 1;
  fmu_make_token(&resources, token);
  int wrong = lw_model_load(resources.model, resources.model_size, &model, message, sizeof message) != LW_OK ||
              lw_model_load(resources.model, resources.model_size, &fresh, message, sizeof message) != LW_OK;
  if (!wrong) wrong = share(model, fresh);
  lw_model_free(fresh);
  uint32_t offsets[MOST], references[MOST], n = 0;
  for (int32_t i = 0; !wrong && i < lw_field_count(); i++) {
    lw_field field;
    if (lw_model_field(model, i, &field) || field.access != LW_STATE) continue;
    for (int32_t k = 0; k < field.rows * field.columns && n < MOST; k++) offsets[n++] = (uint32_t)(field.first + k);
  }
  wrong = wrong || find_references(&resources, lw_model_sizes(model), offsets, references, n);
  lw_model_free(model);
  fmu_close_resources(&resources);
  job serial = {folder, token, offsets, references, n, 3, 1, malloc((n + 1) * sizeof(double))};
  if (!wrong && serial.values) {
    run(&serial);
    wrong = together(serial);
  }
  free(serial.values);
  if (wrong) fprintf(stderr, "%s: threads do not give what one gives\n", folder);
  return wrong;
}

int main(int count, char **folders) {
  int wrong = count < 2;
  for (int i = 1; i < count; i++) wrong |= drive(folders[i]);
  if (count < 2) fprintf(stderr, "usage: drive_threads FOLDER ...\n");
  return wrong;
}
