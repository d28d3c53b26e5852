/* Times one evaluation of the derivatives through an FMU and by the core alone: time_fmu LIBRARY RESOURCES TOKEN.
 * Prints the CPU time of both in us, then the largest difference of what they give.
 * Best of many batches, as the machine may be shared; the two alternate, so that both run under the same load. Each
 * evaluation is at another point than the one before, as nothing new is computed where nothing has changed. */
#include "fmi3.h"
#include "linkwork.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 50 };
static const double batch_seconds = 0.008, apart = 1e-3;

/* One motion: two points, and who computes there. */
typedef struct subject {
  fmi3Instance instance;
  fmi3Status (*set_time)(fmi3Instance c, fmi3Float64 time);
  fmi3Status (*set_states)(fmi3Instance c, const fmi3Float64 x[], size_t n);
  fmi3Status (*get_derivatives)(fmi3Instance c, fmi3Float64 xdot[], size_t n);
  lw_state *state;
  size_t n;
  double *x[2], *xdot;
} subject;

_Noreturn static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void must(fmi3Status status, const char *call) {
  if (status != fmi3OK) fail(call, "fails");
}

static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) fail(name, "no such function");
  memcpy(function, &found, sizeof found); /* ISO C has no cast between the two kinds of pointers */
}

static void say(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
  (void)environment, (void)status;
  fprintf(stderr, "%s: %s\n", category, message);
}

static lw_state *load_core(const char *resources) {
  char path[4096], message[256];
  snprintf(path, sizeof path, "%s/model.lwm", resources);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail(path, "cannot be read");
  const size_t size = (size_t)ftell(file);
  void *bytes = malloc(size + 1);
  rewind(file);
  if (!bytes || fread(bytes, 1, size, file) != size) fail(path, "cannot be read");
  fclose(file);
  lw_model *model;
  lw_state *state;
  if (lw_model_load(bytes, size, &model, message, sizeof message)) fail(path, message);
  if (lw_state_create(model, &state)) fail(path, "no memory");
  free(bytes);
  return state;
}

/* In Continuous-Time Mode. */
static void start_fmu(subject *s, void *library, const char *resources, const char *token) {
  fmi3Instance (*instantiate)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment,
                              fmi3LogMessageCallback);
  fmi3Status (*initialize)(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64);
  fmi3Status (*exit_initialization)(fmi3Instance), (*enter_continuous_time)(fmi3Instance);
  fmi3Status (*count)(fmi3Instance, size_t *), (*get_states)(fmi3Instance, fmi3Float64[], size_t);
  find(library, "fmi3InstantiateModelExchange", &instantiate);
  find(library, "fmi3EnterInitializationMode", &initialize);
  find(library, "fmi3ExitInitializationMode", &exit_initialization);
  find(library, "fmi3EnterContinuousTimeMode", &enter_continuous_time);
  find(library, "fmi3GetNumberOfContinuousStates", &count);
  find(library, "fmi3GetContinuousStates", &get_states);
  find(library, "fmi3SetTime", &s->set_time);
  find(library, "fmi3SetContinuousStates", &s->set_states);
  find(library, "fmi3GetContinuousStateDerivatives", &s->get_derivatives);
  s->instance = instantiate("timed", token, resources, false, false, NULL, say);
  if (!s->instance) fail("fmi3InstantiateModelExchange", "fails");
  must(initialize(s->instance, false, 0, 0, false, 0), "fmi3EnterInitializationMode");
  must(exit_initialization(s->instance), "fmi3ExitInitializationMode");
  must(enter_continuous_time(s->instance), "fmi3EnterContinuousTimeMode");
  must(count(s->instance, &s->n), "fmi3GetNumberOfContinuousStates");
  double *room = calloc(3 * s->n + 1, sizeof *room);
  if (!room) fail("states", "no memory");
  s->x[0] = room, s->x[1] = room + s->n, s->xdot = room + 2 * s->n;
  must(get_states(s->instance, s->x[0], s->n), "fmi3GetContinuousStates");
  for (size_t i = 0; i < s->n; i++) s->x[1][i] = s->x[0][i] + apart / (1 + (double)i);
}

static void by_fmu(const subject *s, long i) {
  must(s->set_time(s->instance, apart * (double)(i & 1)), "fmi3SetTime");
  must(s->set_states(s->instance, s->x[i & 1], s->n), "fmi3SetContinuousStates");
  must(s->get_derivatives(s->instance, s->xdot, s->n), "fmi3GetContinuousStateDerivatives");
}

static void by_core(const subject *s, long i) {
  if (lw_ode_mechanism(s->state, apart * (double)(i & 1), s->x[i & 1], s->xdot))
    fail("evaluation", lw_state_message(s->state));
}

static const struct way {
  const char *name;
  void (*evaluate)(const subject *s, long i);
} ways[] = {{"core", by_core}, {"fmu", by_fmu}};
enum { WAYS = sizeof ways / sizeof *ways };

static double seconds(const subject *s, const struct way *way, long evaluations) {
  struct timespec start, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  for (long i = 0; i < evaluations; i++) way->evaluate(s, i);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

static void print_times(const subject *s) {
  double best[WAYS];
  for (int k = 0; k < WAYS; k++) best[k] = seconds(s, &ways[k], 100) / 100;
  const long evaluations = 1 + (long)(batch_seconds / best[0]);
  for (int batch = 0; batch < BATCHES; batch++)
    for (int k = 0; k < WAYS; k++) best[k] = fmin(best[k], seconds(s, &ways[k], evaluations) / (double)evaluations);
  for (int k = 0; k < WAYS; k++) printf("%s %.6g\n", ways[k].name, 1e6 * best[k]);
}

static void print_difference(const subject *s) {
  double difference = 0.0, *own = malloc((s->n + 1) * sizeof *own);
  if (!own) fail("derivatives", "no memory");
  for (long i = 0; i < 2; i++) {
    by_core(s, i);
    memcpy(own, s->xdot, s->n * sizeof *own);
    by_fmu(s, i);
    for (size_t k = 0; k < s->n; k++) difference = fmax(difference, fabs(s->xdot[k] - own[k]));
  }
  printf("difference %.3g\n", difference);
  free(own);
}

int main(int argc, char **argv) {
  if (argc != 4) fail("usage", "time_fmu LIBRARY RESOURCES TOKEN");
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(argv[1], dlerror());
  subject s = {.state = load_core(argv[2])};
  start_fmu(&s, library, argv[2], argv[3]);
  if (s.n == 0) fail(argv[2], "nothing moves");
  print_times(&s);
  print_difference(&s);
  free(s.x[0]);
  return 0;
}
