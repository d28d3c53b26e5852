/* An FMU with what ours have not, by hand and small: -DFMI=2 or 3. It integrates, x' = u, y = x, z = g u; for each type T
   it has T_out = T_in + 1 (Booleans: not, texts: with "!"), of FMI 3.0 also as arrays of three. From the time `at` on it
   misbehaves by its parameter `mode`. Each call is written to the file that FOREIGN_CALLS names. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOIN(a, b) a##b
#if FMI == 2
#define F(name) JOIN(fmi2, name)
typedef int flag;
#define NV(n)
#else
#define F(name) JOIN(fmi3, name)
typedef bool flag;
#define NV(n) , size_t n
#endif
#define TOKEN "{00000000-0000-0000-0000-00000000f0f0}"

typedef uint32_t ref;
enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING };
enum {
  SOUND,
  WARNS,
  DISCARDS,
  FAILS,
  DIES,
  CRASHES,
  EXITS,
  HANGS,
  ENDS,
  GIVES_NAN,
  NO_INIT,
  NO_EXIT,
  NO_END,
  PENDS,
  SHORT_ONLY,
  REFUSES,
  EVENTS,
  SELF_INTERRUPTS
};
enum { TIME, X, U, Y, Z, G, AT, X0, EVERY, RESOURCE };

typedef struct {
  double value[10], rate, resource, next_event;
  int32_t mode;
  bool failed, in_event;
  char name[100], log_name[100];
  void *environment;
  void *logger;
#define TYPE(T, c) c T##_in[4];
#define NUMBERS                                                                                            \
  TYPE(Float64, double)                                                                                    \
  TYPE(Float32, float) TYPE(Int8, int8_t) TYPE(UInt8, uint8_t) TYPE(Int16, int16_t) TYPE(UInt16, uint16_t) \
      TYPE(Int32, int32_t) TYPE(UInt32, uint32_t) TYPE(Int64, int64_t) TYPE(UInt64, uint64_t)
  NUMBERS
#undef TYPE
  flag Boolean_in[4];
  char text[4][100], text_out[4][102];
} model;
enum {
  FLOAT64 = 100,
  FLOAT32 = 110,
  INT8 = 120,
  UINT8 = 130,
  INT16 = 140,
  UINT16 = 150,
  INT32 = 160,
  UINT32 = 170,
  INT64 = 180,
  UINT64 = 190,
  BOOLEAN = 200,
  STRING = 210
};
#define MODE 300

/* ---- called functions */

static int called(const char *name, const char *function, const char *detail, int status) {
  const char *path = getenv("FOREIGN_CALLS");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "%s|%s|%s|%d\n", name, function, detail, status);
    fclose(file);
  }
  return status;
}
#define CALLED(status) called(((model *)m)->name, __func__, "", status)

static const char *listed(const ref *r, size_t n) {
  static char text[400];
  size_t end = 0;
  text[0] = 0;
  for (size_t i = 0; i < n && end < sizeof text - 12; i++) end += (size_t)sprintf(text + end, "%u ", (unsigned)r[i]);
  return text;
}
#define CALLED_WITH(status) called(((model *)m)->name, __func__, listed(r, n), status)

#if FMI == 2
typedef void logger_type(void *, const char *, int, const char *, const char *, ...);
typedef struct {
  logger_type *logger;
  void *allocate, *release, *finished, *environment;
} callbacks;
#define SAY(m, status, category, ...)                                                          \
  ((logger_type *)(m)->logger)((m)->environment, (m)->log_name, status, category, __VA_ARGS__)
#else
typedef void logger_type(void *, int, const char *, const char *);
static void say(model *m, int status, const char *category, const char *format, ...) {
  char text[400];
  va_list rest;
  va_start(rest, format);
  vsnprintf(text, sizeof text, format, rest);
  va_end(rest);
  ((logger_type *)m->logger)(m->environment, status, category, text);
}
#define SAY(m, ...) say(m, __VA_ARGS__)
#endif

/* ---- life */

static model *make(const char *name, const char *token, const char *resources, void *logger, void *environment) {
  model *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  snprintf(m->name, sizeof m->name, "%s", name);
  snprintf(m->log_name, sizeof m->log_name, "%s", name);
  m->logger = logger, m->environment = environment;
  called(name, "Instantiate", resources ? resources : "", OK);
  if (!token || strcmp(token, TOKEN) != 0) {
    SAY(m, ERROR, "logStatusError", "the token %s is not that of the model", token);
    free(m);
    return NULL;
  }
  m->value[G] = 1.0;
  m->value[AT] = 0.5;
  m->value[EVERY] = 0.25;
  for (int i = 0; i < 4; i++) {
    strcpy(m->text[i], "\xc3\xa9");
#define TYPE(T, c) m->T##_in[i] = 3;
    NUMBERS
#undef TYPE
  }
  char path[1000] = "";
  if (resources && strncmp(resources, "file://", 7) == 0) { /* percent-encoded */
    size_t k = 0;
    for (const char *c = resources + 7; *c && k < sizeof path - 30; c++) {
      unsigned code;
      if (*c == '%' && sscanf(c + 1, "%2x", &code) == 1) path[k++] = (char)code, c += 2;
      else path[k++] = *c;
    }
    path[k++] = '/', path[k] = 0;
  } else if (resources) {
    snprintf(path, sizeof path - 30, "%s", resources);
  }
  strcat(path, "number.txt");
  FILE *file = fopen(path, "r");
  if (file) {
    if (fscanf(file, "%lf", &m->resource) != 1) m->resource = -1.0;
    fclose(file);
  }
  return m;
}

void F(FreeInstance)(void *m) {
  if (!m) return;
  CALLED(OK);
  free(m);
}
int F(Reset)(void *m) { return CALLED(OK); }
int F(Terminate)(void *m) { return CALLED(((model *)m)->mode == NO_END ? ERROR : OK); }
int F(ExitInitializationMode)(void *m) {
  if (((model *)m)->mode == NO_EXIT) SAY((model *)m, ERROR, "logStatusError", "x0 = %g leads nowhere", 2.5);
  ((model *)m)->in_event = true;
  return CALLED(((model *)m)->mode == NO_EXIT ? ERROR : OK);
}
static int begin(model *m, double start) {
  m->value[TIME] = start;
  m->value[X] = m->value[X0];
  m->next_event = start + m->value[EVERY];
  return m->mode == NO_INIT ? ERROR : OK;
}

/* ---- values */

static void evaluate(model *m) {
  m->value[Y] = m->mode == GIVES_NAN && m->value[TIME] >= m->value[AT] ? NAN : m->value[X];
  m->value[Z] = m->value[G] * m->value[U];
  m->value[RESOURCE] = m->resource;
}

static size_t size_of(ref r) { return r % 10 >= 2 && r % 10 < 4 && r >= 100 ? 3 : 1; }

#define GET(T, c, base, out)                                    \
  int F(Get##T)(void *p, const ref *r, size_t n, c *v NV(nv)) { \
    model *m = p;                                               \
    evaluate(m);                                                \
    for (size_t i = 0; i < n; i++)                              \
      for (size_t j = 0; j < size_of(r[i]); j++) {              \
        const size_t at = (r[i] % 10 >= 2) + j;                 \
        if (r[i] < 100) *v++ = (c)m->value[r[i]];               \
        else if (r[i] == MODE) *v++ = (c)m->mode;               \
        else *v++ = r[i] % 2 ? out : m->T##_in[at];             \
      }                                                         \
    return CALLED_WITH(OK);                                     \
  }
#define SET(T, c)                                                     \
  int F(Set##T)(void *p, const ref *r, size_t n, const c *v NV(nv)) { \
    model *m = p;                                                     \
    int status = OK;                                                  \
    for (size_t i = 0; i < n; i++)                                    \
      for (size_t j = 0; j < size_of(r[i]); j++, v++) {               \
        if (!isfinite((double)*v)) status = ERROR;                    \
        if (r[i] == U) m->rate = 0.0;                                 \
        if (r[i] < 100) m->value[r[i]] = (double)*v;                  \
        else if (r[i] == MODE) m->mode = (int32_t)*v;                 \
        else m->T##_in[(r[i] % 10 >= 2) + j] = *v;                    \
      }                                                               \
    return CALLED_WITH(status);                                       \
  }
#define BOTH(T, c, base) GET(T, c, base, (c)(m->T##_in[at] + 1)) SET(T, c)

#if FMI == 2
#define Real_in Float64_in
#define Integer_in Int32_in
BOTH(Real, double, FLOAT64)
BOTH(Integer, int, INT32)
#else
BOTH(Float64, double, FLOAT64)
BOTH(Float32, float, FLOAT32)
BOTH(Int8, int8_t, INT8)
BOTH(UInt8, uint8_t, UINT8)
BOTH(Int16, int16_t, INT16)
BOTH(UInt16, uint16_t, UINT16)
BOTH(Int32, int32_t, INT32)
BOTH(UInt32, uint32_t, UINT32)
BOTH(Int64, int64_t, INT64)
BOTH(UInt64, uint64_t, UINT64)
#endif
GET(Boolean, flag, BOOLEAN, !m->Boolean_in[at])
SET(Boolean, flag)

int F(GetString)(void *p, const ref *r, size_t n, const char **v NV(nv)) {
  model *m = p;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < size_of(r[i]); j++) {
      const size_t at = (r[i] % 10 >= 2) + j;
      snprintf(m->text_out[at], sizeof m->text_out[at], "%s!", m->text[at]);
      *v++ = r[i] % 2 ? m->text_out[at] : m->text[at];
    }
  return CALLED_WITH(OK);
}
int F(SetString)(void *p, const ref *r, size_t n, const char *const *v NV(nv)) {
  model *m = p;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < size_of(r[i]); j++) snprintf(m->text[(r[i] % 10 >= 2) + j], sizeof m->text[0], "%s", *v++);
  return CALLED_WITH(OK);
}

/* ---- steps */

static void advance(model *m, double h) {
  m->value[X] += h * m->value[U] + 0.5 * h * h * m->rate;
  m->value[U] += h * m->rate;
  m->value[TIME] += h;
}

static int misbehave(model *m, double h) {
  switch (m->mode) {
    case WARNS:
      SAY(m, WARNING, "logStatusWarning", "%d steps of %.3g s by %s are many", 7, 0.125, m->name);
      advance(m, h);
      return WARNING;
    case DISCARDS:
      if (m->value[AT] > m->value[TIME]) advance(m, m->value[AT] - m->value[TIME]);
      return DISCARD;
    case FAILS: SAY(m, ERROR, "logStatusError", "no solution at %g s, %s", m->value[AT], "sorry"); return ERROR;
    case DIES: return FATAL;
    case CRASHES: *(volatile int *)0 = 1; return OK;
    case EXITS: exit(7);
    case HANGS:
      for (;;) sleep(1);
    case ENDS: advance(m, h); return DISCARD;
    case PENDS: return PENDING;
    default: advance(m, h); return OK;
  }
}

static int do_step(model *m, double time, double h) {
  if (fabs(time - m->value[TIME]) > 1e-9 * (1.0 + fabs(time)) || !(h > 0.0)) return ERROR;
  if (m->mode == SHORT_ONLY && h > 0.03) return DISCARD;
  if (m->mode && time + h > m->value[AT] + 1e-12) return misbehave(m, h);
  advance(m, h);
  return OK;
}

/* ---- states of the instance */

static int get_state(model *m, void **state) {
#ifdef STATES_ANEW
  *state = malloc(sizeof *m);
#else
  if (!*state) *state = malloc(sizeof *m);
#endif
  memcpy(*state, m, sizeof *m);
  char text[40];
  sprintf(text, "%p", *state);
  return called(m->name, "GetState", text, OK);
}
static int set_state(model *m, void *state) {
  memcpy(m, state, sizeof *m);
  return called(m->name, "SetState", "", OK);
}
static int free_state(model *m, void **state) {
  char text[40];
  sprintf(text, "%p", *state);
  free(*state);
  *state = NULL;
  return called(m->name, "FreeState", text, OK);
}

#define STUB(name)                               \
  int F(name)(void *m) { return CALLED(ERROR); }
STUB(SetDebugLogging)
STUB(GetDirectionalDerivative)

#if FMI == 2

void *fmi2Instantiate(const char *name, int type, const char *token, const char *resources, const callbacks *c, int v,
                      int l) {
  (void)type, (void)v, (void)l;
  return make(name, token, resources, (void *)c->logger, c->environment);
}
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2SetupExperiment(void *m, int a, double tolerance, double start, int b, double stop) {
  char text[80];
  sprintf(text, "%d %.17g %.17g %d %.17g", a, tolerance, start, b, stop);
  begin(m, start);
  return called(((model *)m)->name, __func__, text, OK);
}
int fmi2EnterInitializationMode(void *m) { return CALLED(begin(m, ((model *)m)->value[TIME])); }
int fmi2GetFMUstate(void *m, void **s) { return get_state(m, s); }
int fmi2SetFMUstate(void *m, void *s) { return set_state(m, s); }
int fmi2FreeFMUstate(void *m, void **s) { return free_state(m, s); }
int fmi2DoStep(void *m, double t, double h, int p) {
  (void)p;
  char text[80];
  sprintf(text, "%.17g %.17g", t, h);
  const int status = do_step(m, t, h);
  return called(((model *)m)->name, __func__, text, status);
}
int fmi2SetRealInputDerivatives(void *m, const ref *r, size_t n, const int *order, const double *rates) {
  if (n && order[0] == 1) ((model *)m)->rate = rates[0];
  return CALLED_WITH(OK);
}
int fmi2GetRealStatus(void *m, int kind, double *value) {
  *value = ((model *)m)->value[TIME];
  return CALLED(kind == 2 ? OK : DISCARD);
}
int fmi2GetBooleanStatus(void *m, int kind, int *value) {
  *value = ((model *)m)->mode == ENDS;
  return CALLED(kind == 3 ? OK : DISCARD);
}
STUB(SerializedFMUstateSize)
STUB(SerializeFMUstate)
STUB(DeSerializeFMUstate)
STUB(GetRealOutputDerivatives)
STUB(CancelStep)
STUB(GetStatus)
STUB(GetIntegerStatus)
#ifndef LACKS_A_FUNCTION
STUB(GetStringStatus)
#endif

#else

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool a, bool b, bool c,
                                  bool early, const ref *v, size_t nv, void *environment, void *log, void *tell) {
  (void)a, (void)b, (void)c, (void)early, (void)v, (void)nv, (void)tell;
  return make(name, token, resources, log, environment);
}
void *fmi3InstantiateModelExchange(void) { return NULL; }
void *fmi3InstantiateScheduledExecution(void) { return NULL; }
const char *fmi3GetVersion(void) { return "3.0"; }
int fmi3EnterInitializationMode(void *m, bool a, double tolerance, double start, bool b, double stop) {
  char text[80];
  sprintf(text, "%d %.17g %.17g %d %.17g", a, tolerance, start, b, stop);
  return called(((model *)m)->name, __func__, text, begin(m, start));
}
int fmi3GetFMUState(void *m, void **s) { return get_state(m, s); }
int fmi3SetFMUState(void *m, void *s) { return set_state(m, s); }
int fmi3FreeFMUState(void *m, void **s) { return free_state(m, s); }
int fmi3EnterEventMode(void *m) { return ((model *)m)->in_event = true, CALLED(OK); }
int fmi3EnterStepMode(void *m) { return ((model *)m)->in_event = false, CALLED(OK); }
int fmi3UpdateDiscreteStates(void *p, bool *a, bool *b, bool *c, bool *d, bool *e, double *t) {
  model *m = p;
  *a = *b = *c = *d = false;
  if (m->value[TIME] >= m->next_event - 1e-12) m->next_event += m->value[EVERY];
  *e = m->mode == EVENTS, *t = m->next_event;
  return CALLED(OK);
}
int fmi3DoStep(void *p, double t, double h, bool q, bool *event, bool *end, bool *early, double *last) {
  (void)q;
  model *m = p;
  char text[80];
  sprintf(text, "%.17g %.17g", t, h);
  *event = *end = *early = false;
  double length = h;
  if (m->mode == EVENTS && t + h >= m->next_event - 1e-12) {
    *event = true;
    *early = t + h > m->next_event + 1e-12;
    if (*early) length = m->next_event - t;
  }
  int status = do_step(m, t, length);
  if (m->mode == ENDS && status == DISCARD) *end = true, status = OK;
  *last = m->value[TIME];
  return called(m->name, __func__, text, status);
}
STUB(GetBinary)
STUB(SetBinary)
STUB(GetClock)
STUB(SetClock)
STUB(EnterConfigurationMode)
STUB(ExitConfigurationMode)
STUB(GetIntervalDecimal)
STUB(GetIntervalFraction)
STUB(GetShiftDecimal)
STUB(GetShiftFraction)
STUB(SetIntervalDecimal)
STUB(SetIntervalFraction)
STUB(SetShiftDecimal)
STUB(SetShiftFraction)
STUB(EvaluateDiscreteStates)
STUB(ActivateModelPartition)
STUB(GetNumberOfVariableDependencies)
STUB(GetVariableDependencies)
STUB(GetAdjointDerivative)
STUB(GetOutputDerivatives)
STUB(SerializedFMUStateSize)
STUB(SerializeFMUState)
STUB(DeserializeFMUState)
STUB(SetTime)
STUB(SetContinuousStates)
STUB(GetContinuousStates)
STUB(GetContinuousStateDerivatives)
STUB(GetEventIndicators)
STUB(GetNominalsOfContinuousStates)
STUB(GetNumberOfContinuousStates)
STUB(GetNumberOfEventIndicators)
STUB(CompletedIntegratorStep)
STUB(EnterContinuousTimeMode)

#endif
