/* A plain importer for Model Exchange, -DFMI=2 or 3: import_fmu LIBRARY RESOURCES TOKEN STATES INDICATORS EVENTS T_END
 * STEP. It integrates by the classical Runge-Kutta method of order four in steps of equal length, shorter ones at time
 * events and at the end, looks for changes of the signs of event indicators at the ends of steps alone, and locates them
 * by bisection. Prints the value of the integer variable with the value reference EVENTS at the end. It knows the
 * headers of FMI only. */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FMI == 2
#include "fmi2.h"
#define FUNCTION(name, name3) FIND(fmi2##name)
typedef fmi2Boolean flag;
#else
#include "fmi3.h"
#define FUNCTION(name, name3) FIND(fmi3##name3)
typedef fmi3Boolean flag;
#endif

enum { MOST = 100, HALVINGS = 60 };
#define FIND(name) ((__typeof__(&name))(uintptr_t)find(#name))
#define MUST(name, ...) must(FUNCTION(name, name)(__VA_ARGS__), #name)

static void *library, *c;
static size_t n_states, n_indicators;
static double t, next_event, z[MOST];

static void *find(const char *name) {
  void *found = dlsym(library, name);
  if (found) return found;
  fprintf(stderr, "the library has no %s\n", name);
  exit(1);
}

static void must(int status, const char *name) {
  if (status <= 1) return;
  fprintf(stderr, "%s returned %d at t = %.17g\n", name, status, t);
  exit(1);
}

/* ---- life ---------------------------------------------------------------------------------------------- */

#if FMI == 2
static void log_line(void *e, const char *name, fmi2Status status, const char *category, const char *text, ...) {
  (void)e, (void)name;
  va_list arguments;
  va_start(arguments, text);
  if (status > fmi2OK) fprintf(stderr, "%s: ", category), vfprintf(stderr, text, arguments), fputc('\n', stderr);
  va_end(arguments);
}

static void start(const char *resources, const char *token, double t_end) {
  static fmi2CallbackFunctions callbacks = {.logger = log_line, .allocateMemory = calloc, .freeMemory = free};
  c = FIND(fmi2Instantiate)("unit", fmi2ModelExchange, token, resources, &callbacks, fmi2False, fmi2False);
  if (!c) exit(1);
  MUST(SetupExperiment, c, fmi2False, 0.0, 0.0, fmi2True, t_end);
  MUST(EnterInitializationMode, c);
  MUST(ExitInitializationMode, c);
}

static int count_of(fmi2ValueReference reference) {
  fmi2Integer value = 0;
  MUST(GetInteger, c, &reference, 1, &value);
  return value;
}
#else
static void log_line(void *e, fmi3Status status, const char *category, const char *text) {
  (void)e;
  if (status > fmi3OK) fprintf(stderr, "%s: %s\n", category, text);
}

static void start(const char *resources, const char *token, double t_end) {
  c = FIND(fmi3InstantiateModelExchange)("unit", token, resources, false, false, NULL, log_line);
  if (!c) exit(1);
  MUST(EnterInitializationMode, c, false, 0.0, 0.0, true, t_end);
  MUST(ExitInitializationMode, c);
}

static int count_of(fmi3ValueReference reference) {
  fmi3Int32 value = 0;
  MUST(GetInt32, c, &reference, 1, &value, 1);
  return value;
}
#endif

/* ---- events --------------------------------------------------------------------------------------------- */

/* From Event Mode to Continuous-Time Mode. */
static void handle_event(void) {
  flag needed = 1, terminate = 0, defined = 0;
  while (needed) {
#if FMI == 2
    fmi2EventInfo info;
    MUST(NewDiscreteStates, c, &info);
    needed = info.newDiscreteStatesNeeded, terminate = info.terminateSimulation;
    defined = info.nextEventTimeDefined, next_event = info.nextEventTime;
#else
    flag nominals, values;
    MUST(UpdateDiscreteStates, c, &needed, &terminate, &nominals, &values, &defined, &next_event);
#endif
    if (terminate) exit(2);
  }
  if (!defined) next_event = INFINITY;
  MUST(EnterContinuousTimeMode, c);
  MUST(GetEventIndicators, c, z, n_indicators);
}

/* ---- integration ---------------------------------------------------------------------------------------- */

static void set(double time, const double *x) {
  MUST(SetTime, c, time);
  if (n_states) MUST(SetContinuousStates, c, x, n_states);
}

static void derivative(double time, const double *x, double *rates) {
  set(time, x);
  if (n_states) must(FUNCTION(GetDerivatives, GetContinuousStateDerivatives)(c, rates, n_states), "GetDerivatives");
}

/* A step of the classical method from (t, x). */
static void runge_kutta(const double *x, double h, double *end) {
  double k[4][MOST], y[MOST];
  static const double part[4] = {0.0, 0.5, 0.5, 1.0};
  for (int stage = 0; stage < 4; stage++) {
    for (size_t i = 0; i < n_states; i++) y[i] = x[i] + (stage ? part[stage] * h * k[stage - 1][i] : 0.0);
    derivative(t + part[stage] * h, y, k[stage]);
  }
  for (size_t i = 0; i < n_states; i++) end[i] = x[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

/* Steps by h, and sets the FMU there; returns whether an indicator has another sign. */
static int changes(const double *x, double h, double *end) {
  double there[MOST];
  runge_kutta(x, h, end);
  set(t + h, end);
  MUST(GetEventIndicators, c, there, n_indicators);
  for (size_t i = 0; i < n_indicators; i++)
    if ((there[i] > 0.0) != (z[i] > 0.0)) return 1;
  return 0;
}

/* To the goal, or just behind the first change of a sign; returns whether there is one. */
static int advance(double goal) {
  double x[MOST], end[MOST];
  if (n_states) MUST(GetContinuousStates, c, x, n_states);
  double before = 0.0, after = goal - t;
  const int event = changes(x, after, end);
  for (int i = 0; event && i < HALVINGS; i++) {
    const double middle = 0.5 * (before + after);
    if (changes(x, middle, end)) after = middle;
    else before = middle;
  }
  if (event) changes(x, after, end);
  t = event ? t + after : goal;
  return event;
}

int main(int argc, char **argv) {
  if (argc != 9 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) return 1;
  n_states = (size_t)atoi(argv[4]), n_indicators = (size_t)atoi(argv[5]);
  const double t_end = atof(argv[7]), step = atof(argv[8]);
  if (n_states > MOST || n_indicators > MOST) return 1;
  start(argv[2], argv[3], t_end);
  handle_event();
  for (long long i = 1; t < t_end; i += t >= (double)i * step) {
    const int state_event = advance(fmin(fmin((double)i * step, t_end), next_event > t ? next_event : t_end));
    flag event_mode, terminate;
    MUST(CompletedIntegratorStep, c, 1, &event_mode, &terminate);
    if (!state_event && !event_mode && t < next_event) continue;
    MUST(EnterEventMode, c);
    handle_event();
  }
  printf("%d\n", count_of((unsigned)atoi(argv[6])));
  FUNCTION(FreeInstance, FreeInstance)(c);
  return 0;
}
