/* Loads the shared library of an FMU and runs it with FMI 3.0: run_fmu LIBRARY RESOURCES TOKEN OUTPUTS STATES
 * DERIVATIVES. The last three are value references separated by commas. Prints the bits of all results, to compare
 * platforms: in Model Exchange, unless there are no states, the derivatives along Euler steps and their partial
 * derivatives by the states, in Co-Simulation the outputs. Needs only fmi3.h and the dynamic loader. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi3.h"

#ifdef _WIN32
#include <windows.h>
static void *load(const char *path) { return (void *)LoadLibraryA(path); }
static void *find(void *library, const char *name) { return (void *)(uintptr_t)GetProcAddress(library, name); }
static const char *load_error(void) { return "LoadLibrary"; }
#else
#include <dlfcn.h>
static void *load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *find(void *library, const char *name) { return dlsym(library, name); }
static const char *load_error(void) { return dlerror(); }
#endif

enum { MOST = 256, EULER_STEPS = 200, STEPS = 100 };
static const double euler_step = 1e-4, step = 0.01;

typedef struct list {
  uint32_t refs[MOST];
  size_t n;
} list;

static void *library;

_Noreturn static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void log_line(fmi3InstanceEnvironment e, fmi3Status status, fmi3String category, fmi3String text) {
  (void)e, (void)status;
  fprintf(stderr, "%s: %s\n", category, text);
}

static void *function(const char *name) {
  void *found = find(library, name);
  if (!found) fail(name, "not in the library");
  return found;
}

/* A function of the library, as fmi3.h declares it. */
#define FMI(name) ((__typeof__(&fmi3##name))(uintptr_t)function("fmi3" #name))
#define MUST(name, ...)                                 \
  do {                                                  \
    if (FMI(name)(__VA_ARGS__)) fail(#name, "refused"); \
  } while (0)

static list read_list(const char *text) {
  list all = {.n = 0};
  char *end;
  for (; *text && all.n < MOST; text = *end ? end + 1 : end) all.refs[all.n++] = (uint32_t)strtoul(text, &end, 10);
  return all;
}

static void print(const char *what, const double *x, size_t n) {
  printf("%s", what);
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    printf(" %016" PRIx64, bits);
  }
  printf("\n");
}

static void initialize(void *c) {
  if (!c) fail("instantiate", "refused");
  MUST(EnterInitializationMode, c, true, 1e-7, 0.0, false, 0.0);
  MUST(ExitInitializationMode, c);
}

static void model_exchange(const char *token, const char *resources, const list *states, const list *derivatives) {
  double x[MOST], dx[MOST], column[MOST];
  const size_t n = states->n;
  void *c = FMI(InstantiateModelExchange)("unit", token, resources, false, false, NULL, log_line);
  initialize(c);
  MUST(EnterContinuousTimeMode, c);
  MUST(GetContinuousStates, c, x, n);
  for (int k = 0; k < EULER_STEPS; k++) {
    MUST(SetTime, c, k * euler_step);
    MUST(SetContinuousStates, c, x, n);
    MUST(GetContinuousStateDerivatives, c, dx, n);
    print("derivatives", dx, n);
    for (size_t i = 0; i < n; i++) x[i] += euler_step * dx[i];
  }
  for (size_t j = 0; j < n; j++) {
    const double one = 1.0;
    MUST(GetDirectionalDerivative, c, derivatives->refs, n, &states->refs[j], 1, &one, 1, column, n);
    print("by a state", column, n);
  }
  FMI(FreeInstance)(c);
}

static void co_simulation(const char *token, const char *resources, const list *outputs) {
  double values[MOST], last;
  bool event, terminate, early;
  void *c =
      FMI(InstantiateCoSimulation)("unit", token, resources, false, false, false, false, NULL, 0, NULL, log_line, NULL);
  initialize(c);
  for (int k = 0; k < STEPS; k++) {
    MUST(DoStep, c, k * step, step, true, &event, &terminate, &early, &last);
    MUST(GetFloat64, c, outputs->refs, outputs->n, values, outputs->n);
    print("outputs", values, outputs->n);
  }
  FMI(FreeInstance)(c);
}

int main(int argc, char **argv) {
  if (argc != 7) fail("usage", "run_fmu LIBRARY RESOURCES TOKEN OUTPUTS STATES DERIVATIVES");
  library = load(argv[1]);
  if (!library) fail(argv[1], load_error());
  const list outputs = read_list(argv[4]), states = read_list(argv[5]), derivatives = read_list(argv[6]);
  if (states.n) model_exchange(argv[3], argv[2], &states, &derivatives);
  co_simulation(argv[3], argv[2], &outputs);
  return 0;
}
