/* An FMU of FMI 3.0 whose arrays have the size n, a structural parameter: x' = u, y = scale a x, from x = x0, each
 * element by itself; `scale` is structural as well. It refuses what the standard does: structural parameters outside of
 * Configuration Mode, other variables within, arrays of another size. `tick` is a triggered input clock. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "{00000000-0000-0000-0000-000000515ed0}"
enum { OK, WARNING, DISCARD, ERROR };
enum { TIME, N, SCALE, A, X0, U, Y, X, DX, TICK, HELD };
enum { INSTANTIATED, CONFIGURATION, INITIALIZATION, EVENT, CONTINUOUS, STEP };
enum { MOST = 100 };
typedef uint32_t ref;

typedef struct {
  uint64_t n;
  double time, scale, a[MOST], x0[MOST], u[MOST], x[MOST], out[MOST];
  int mode, exchange, event_mode;
  void (*log)(void *, int, const char *, const char *);
  void *environment;
} model;

static int refuse(model *m, const char *why) {
  m->log(m->environment, ERROR, "logStatusError", why);
  return ERROR;
}

static model *make(const char *token, bool exchange, bool event_mode, void *environment, void *log) {
  if (strcmp(token, TOKEN) != 0) return NULL;
  model *m = calloc(1, sizeof *m);
  m->exchange = exchange, m->event_mode = event_mode, m->environment = environment;
  m->log = (void (*)(void *, int, const char *, const char *))log;
  m->n = 2, m->scale = 1.0;
  m->a[0] = 2.0, m->a[1] = 3.0;
  return m;
}
void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool a, bool b, bool event,
                                  bool early, const ref *v, size_t nv, void *environment, void *log, void *tell) {
  (void)name, (void)resources, (void)a, (void)b, (void)early, (void)v, (void)nv, (void)tell;
  return make(token, false, event, environment, log);
}
void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool a, bool b,
                                   void *environment, void *log) {
  (void)name, (void)resources, (void)a, (void)b;
  return make(token, true, true, environment, log);
}
void *fmi3InstantiateScheduledExecution(void) { return NULL; }
void fmi3FreeInstance(void *m) { free(m); }
const char *fmi3GetVersion(void) { return "3.0"; }

static int change(model *m, int from, int to) {
  if (m->mode != from) return refuse(m, "the call is not allowed in this mode");
  m->mode = to;
  return OK;
}
int fmi3EnterConfigurationMode(void *m) {
#ifdef NO_CONFIGURATION
  return refuse(m, "it has no Configuration Mode");
#else
  return change(m, INSTANTIATED, CONFIGURATION);
#endif
}
int fmi3ExitConfigurationMode(void *m) { return change(m, CONFIGURATION, INSTANTIATED); }
int fmi3EnterInitializationMode(void *p, bool a, double tolerance, double start, bool b, double stop) {
  (void)a, (void)tolerance, (void)b, (void)stop;
  ((model *)p)->time = start;
  return change(p, INSTANTIATED, INITIALIZATION);
}
int fmi3ExitInitializationMode(void *p) {
  model *m = p;
  for (uint64_t i = 0; i < m->n; i++) m->x[i] = m->x0[i];
  return change(m, INITIALIZATION, m->event_mode ? EVENT : STEP);
}
int fmi3EnterEventMode(void *p) { return ((model *)p)->mode = EVENT, OK; }
int fmi3EnterStepMode(void *m) { return change(m, EVENT, STEP); }
int fmi3EnterContinuousTimeMode(void *m) { return change(m, EVENT, CONTINUOUS); }
int fmi3UpdateDiscreteStates(void *p, bool *a, bool *b, bool *c, bool *d, bool *e, double *t) {
  (void)p, *a = *b = *c = *d = *e = false, *t = 0.0;
  return OK;
}
int fmi3Terminate(void *m) { return (void)m, OK; }
int fmi3Reset(void *p) { return ((model *)p)->mode = INSTANTIATED, OK; }

static double *values_of(model *m, ref r) {
  switch (r) {
    case TIME: return &m->time;
    case SCALE: return &m->scale;
    case A: return m->a;
    case X0: return m->x0;
    case U: return m->u;
    case X: return m->x;
    case DX: return m->u;
    case Y:
      for (uint64_t i = 0; i < m->n; i++) m->out[i] = m->scale * m->a[i] * m->x[i];
      return m->out;
    default: return NULL;
  }
}
static size_t size_of(const model *m, ref r) { return r == TIME || r == SCALE ? 1 : (size_t)m->n; }

static int transfer(model *m, const ref *r, size_t n, double *get, const double *set, size_t nv) {
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    double *values = values_of(m, r[i]);
    if (!values) return refuse(m, "there is no such variable, or its clock does not tick");
    if (set && (r[i] == SCALE) != (m->mode == CONFIGURATION))
      return refuse(m, "structural parameters are set in Configuration Mode, and nothing else is");
    const size_t size = size_of(m, r[i]);
    if (total + size > nv) break;
    memcpy(get ? get + total : values, set ? set + total : values, size * sizeof *values);
    total += size;
  }
  return total == nv ? OK : refuse(m, "the number of values is not that of the arrays");
}
int fmi3GetFloat64(void *m, const ref *r, size_t n, double *v, size_t nv) { return transfer(m, r, n, v, NULL, nv); }
int fmi3SetFloat64(void *m, const ref *r, size_t n, const double *v, size_t nv) {
  return transfer(m, r, n, NULL, v, nv);
}
int fmi3GetUInt64(void *p, const ref *r, size_t n, uint64_t *v, size_t nv) {
  if (n != 1 || nv != 1 || r[0] != N) return refuse(p, "there is no such variable");
  return *v = ((model *)p)->n, OK;
}
int fmi3SetUInt64(void *p, const ref *r, size_t n, const uint64_t *v, size_t nv) {
  model *m = p;
  if (n != 1 || nv != 1 || r[0] != N) return refuse(m, "there is no such variable");
  if (m->mode != CONFIGURATION) return refuse(m, "n is set in Configuration Mode");
  if (*v < 1 || *v > 50) return refuse(m, "n is within 1 ... 50");
#ifndef KEEPS_SIZE
  m->n = *v;
#endif
  memset(m->a, 0, sizeof m->a); /* start values are void */
  return OK;
}

/* ---- integration */

int fmi3DoStep(void *p, double t, double h, bool q, bool *event, bool *end, bool *early, double *last) {
  (void)q;
  model *m = p;
  *event = *end = *early = false;
  for (uint64_t i = 0; i < m->n; i++) m->x[i] += h * m->u[i];
  *last = m->time = t + h;
  return m->mode == STEP ? OK : refuse(m, "it is not in Step Mode");
}
int fmi3SetTime(void *p, double t) { return ((model *)p)->time = t, OK; }
int fmi3CompletedIntegratorStep(void *m, bool a, bool *event, bool *end) {
  return (void)m, (void)a, *event = *end = false, OK;
}
static int vector(model *m, double *to, const double *from, size_t n) {
  if (n != m->n) return refuse(m, "there are n states");
  memcpy(to, from, n * sizeof *to);
  return OK;
}
int fmi3GetContinuousStates(void *p, double *x, size_t n) { return vector(p, x, ((model *)p)->x, n); }
int fmi3SetContinuousStates(void *p, const double *x, size_t n) { return vector(p, ((model *)p)->x, x, n); }
int fmi3GetContinuousStateDerivatives(void *p, double *d, size_t n) { return vector(p, d, ((model *)p)->u, n); }
int fmi3GetNominalsOfContinuousStates(void *p, double *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] = 1.0;
  return n == ((model *)p)->n ? OK : ERROR;
}
int fmi3GetNumberOfContinuousStates(void *p, size_t *n) {
#ifdef KEEPS_STATES
  return (void)p, *n = 2, OK;
#else
  return *n = (size_t)((model *)p)->n, OK;
#endif
}
int fmi3GetNumberOfEventIndicators(void *p, size_t *n) { return (void)p, *n = 0, OK; }
int fmi3GetEventIndicators(void *m, double *z, size_t n) { return (void)m, (void)z, n ? ERROR : OK; }

#define STUB(name) \
  int fmi3##name(void *m) { return refuse(m, "it has no " #name); }
#define TYPE(T) STUB(Get##T) STUB(Set##T)
TYPE(Float32) TYPE(Int8) TYPE(UInt8) TYPE(Int16) TYPE(UInt16) TYPE(Int32) TYPE(UInt32) TYPE(Int64) TYPE(Boolean)
TYPE(String) TYPE(Binary) TYPE(Clock) TYPE(IntervalDecimal) TYPE(IntervalFraction) TYPE(ShiftDecimal)
TYPE(ShiftFraction) TYPE(FMUState) STUB(FreeFMUState) STUB(SerializedFMUStateSize) STUB(SerializeFMUState)
STUB(DeserializeFMUState) STUB(SetDebugLogging) STUB(GetDirectionalDerivative) STUB(GetAdjointDerivative)
STUB(GetOutputDerivatives) STUB(EvaluateDiscreteStates) STUB(ActivateModelPartition)
STUB(GetNumberOfVariableDependencies) STUB(GetVariableDependencies)
