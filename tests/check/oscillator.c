/* An oscillator as an FMU, x' = v, v' = u - k x, y = 2 x, by hand and small: -DFMI=2 or 3, and -D<DEFECT> for a
defect. Value references: 0 time, 1 x, 2 v, 3 x', 4 v', 5 y, 6 u, 7 k, 8 event indicator. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOIN(a, b) a##b
#if FMI == 2
#define F(name) JOIN(fmi2, name)
typedef int flag;
#else
#define F(name) JOIN(fmi3, name)
typedef bool flag;
#endif
#define OK 0
#define DISCARD 2
#define ERROR 3
#define TOKEN "{12345678-1234-1234-1234-123456789abc}"

typedef uint32_t ref;
typedef void told(void *, double, bool, bool, bool, bool, bool *, double *);
typedef struct {
  double value[9], rate; /* of the input */
  double last;           /* x of the evaluation before */
  bool moved;            /* an evaluation had a speed */
  told *tell;
  bool early_allowed;
} model;
enum { TIME, X, V, DX, DV, Y, U, K, Z };

#ifdef GLOBAL
static model shared;
#endif
#ifdef NAN_SPREADS
static int poisoned;
#endif

static void begin(model *m) {
  memset(m, 0, sizeof *m);
  m->value[X] = 1.0;
  m->value[K] = 4.0;
#ifdef NAN_SPREADS
  if (poisoned) m->value[X] = 2.0;
#endif
}

static void evaluate(model *m) {
  double *x = m->value;
  x[DX] = x[V];
  x[DV] = x[U] - x[K] * x[X];
  x[Y] = 2.0 * x[X];
#ifdef TINY
  x[Y] = 2e-11 * x[X];
#endif
  x[Z] = x[X] + 0.25;
#ifdef HIDDEN_DEPENDENCY
  x[Y] += 1e-3 * x[U];
#endif
#ifdef MOVES_WITH_TIME
  x[Y] += 1e-3 * x[TIME];
#endif
#ifdef NAN_OUTPUT
  if (x[TIME] > 0.5) x[Y] = NAN;
#endif
#ifdef WARM_START
  x[DV] += 1e-3 * m->last;
  m->last = x[X];
#endif
}

static void *make(const char *token) {
#ifndef ANY_TOKEN
  if (token == NULL || strcmp(token, TOKEN) != 0) return NULL;
#endif
#ifdef GLOBAL
  model *m = &shared;
#else
  model *m = malloc(sizeof *m);
  if (m == NULL) return NULL;
#endif
  begin(m);
  return m;
}

void F(FreeInstance)(void *m) {
#ifdef CRASH_ON_FREE
  if (((model *)m)->value[TIME] >= 0.0) abort();
#endif
#ifdef LEAK
  static char *volatile leaked;
  leaked = malloc(65536);
  memset(leaked, 1, 65536);
#endif
#ifndef GLOBAL
  free(m);
#else
  (void)m;
#endif
}

#ifndef NO_SUCH_FUNCTION
int F(Reset)(void *m) {
#ifndef NO_RESET
  begin(m);
#else
  ((model *)m)->value[X] = 3.0;
#endif
  return OK;
}
#endif

/* By value reference; the continuous states and their derivatives do not pass here. */
static int read_variables(model *m, const ref *r, size_t n, double *values) {
  evaluate(m);
#ifdef SWAPPED
  for (size_t i = 0; i < n; i++) values[i] = m->value[r[i] == DX ? DV : r[i] == DV ? DX : r[i]];
#else
  for (size_t i = 0; i < n; i++) values[i] = m->value[r[i]];
#endif
  return OK;
}

static int read_values(model *m, const ref *r, size_t n, double *values) {
#ifdef REFUSES_REST
  m->moved |= m->value[V] != 0.0;
  if (m->moved && m->value[V] == 0.0) return ERROR;
#endif
  evaluate(m);
  for (size_t i = 0; i < n; i++) values[i] = m->value[r[i]];
  return OK;
}

static int write_values(model *m, const ref *r, size_t n, const double *values) {
  for (size_t i = 0; i < n; i++) {
    if (r[i] == U) m->rate = 0.0;
#ifdef NAN_SPREADS
    if (!isfinite(values[i])) poisoned = 1;
#endif
#ifndef TAKES_NAN
    if (!isfinite(values[i])) return ERROR;
#endif
    m->value[r[i]] = values[i];
  }
  return OK;
}

/* ---- steps */

static void advance(model *m, double h) {
  double *x = m->value, a[2], b[2];
  evaluate(m);
  a[0] = x[X], a[1] = x[V];
#ifdef EULER
  x[X] += h * x[DX], x[V] += h * x[DV];
  (void)b;
#else /* the midpoint rule, in so many steps that its error does not count */
  const int count = (int)ceil(h / 1e-5);
  const double d = h / (double)count;
  for (int i = 0; i < count; i++) {
    evaluate(m);
    a[0] = x[X], a[1] = x[V], b[0] = x[DX], b[1] = x[DV];
    x[X] = a[0] + 0.5 * d * b[0], x[V] = a[1] + 0.5 * d * b[1];
    evaluate(m);
    x[X] = a[0] + d * x[DX], x[V] = a[1] + d * x[DV];
    x[U] += d * m->rate;
  }
#endif
}

/* The FMU ends the simulation itself, as one does whose content is used up. */
static bool ends(double time) {
#ifdef ENDS
  return time > 0.055;
#else
  return (void)time, false;
#endif
}

static int do_step(model *m, double time, double h) {
  (void)time;
#ifdef CRASH
  *(volatile int *)0 = 1;
#endif
#ifdef EXITS
  exit(EXITS);
#endif
#ifdef HANG
  for (;;) sleep(1);
#endif
#ifdef FAILS
  return ERROR;
#endif
#ifdef FIXED
  if (fabs(h / 0.01 - round(h / 0.01)) > 1e-6) return ERROR;
#endif
#ifdef TRUNCATED
  const double end = 1e-3 * floor((time + h) / 1e-3 + 1e-9);
#else
  const double end = time + h;
#endif
  if (end > m->value[TIME]) advance(m, end - m->value[TIME]);
  m->value[TIME] = end;
#ifdef DROPS_INPUTS
  m->value[U] = 0.0;
#endif
  return OK;
}

/* ---- states of the instance */

static int get_state(model *m, void **state) {
  if (*state == NULL) *state = malloc(sizeof(model));
  memcpy(*state, m, sizeof *m);
  return OK;
}

static int set_state(model *m, const model *state) {
  const double v = m->value[V];
  *m = *state;
#ifdef FORGETS
  m->value[V] = v;
#else
  (void)v;
#endif
  return OK;
}

static int from_bytes(const void *bytes, size_t size, void **state) {
#ifndef ANY_SIZE
  if (size != sizeof(model)) return ERROR;
#endif
  if (*state == NULL) *state = calloc(1, sizeof(model));
  memcpy(*state, bytes, size < sizeof(model) ? size : sizeof(model));
#ifdef WRITES_HALF
  ((model *)*state)->value[V] = 0.0;
#endif
  return OK;
}

/* ---- the output's derivative by time */

static int read_rates(model *m, size_t n, const int *order, double *rates) {
#ifdef NO_RATES
  return ERROR;
#endif
#ifdef FIRST_RATES_ONLY
  for (size_t i = 0; i < n; i++)
    if (order[i] > 1) return ERROR;
#endif
  evaluate(m);
  for (size_t i = 0; i < n; i++) rates[i] = 2.0 * m->value[order[i] == 1 ? V : DV];
#ifdef SAME_RATES
  for (size_t i = 0; i < n; i++) rates[i] = 2.0 * m->value[V];
#endif
#ifdef WRONG_RATES
  rates[0] = 0.0;
#endif
  return OK;
}

/* ---- derivatives: d unknown / d known */

static double partial(const model *m, ref unknown, ref known) {
  if (unknown == DX) return known == V;
#ifdef WRONG_DERIVATIVE
  if (unknown == DV && known == X) return -m->value[K] * 1.001;
#endif
#ifndef WRONG_BY_PARAMETER
  if (unknown == DV && known == K) return -m->value[X];
#endif
  if (unknown == DV) return known == X ? -m->value[K] : known == U;
  if (unknown == Y) return known == X ? 2.0 : 0.0;
  return unknown == Z && known == X;
}

static int forward(const model *m, const ref *u, size_t nu, const ref *k, size_t nk, const double *seed, double *out) {
  for (size_t i = 0; i < nu; i++) {
    out[i] = 0.0;
    for (size_t j = 0; j < nk; j++) out[i] += partial(m, u[i], k[j]) * seed[j];
  }
  return OK;
}

/* ---- Model Exchange */

static int set_states(model *m, const double *x) {
  m->value[X] = x[0], m->value[V] = x[1];
  return OK;
}

int F(SetTime)(void *m, double time) { return ((model *)m)->value[TIME] = time, OK; }
int F(SetContinuousStates)(void *m, const double *x, size_t n) { return (void)n, set_states(m, x); }
int F(GetContinuousStates)(void *m, double *x, size_t n) { return read_values(m, (ref[]){X, V}, n, x); }
int F(GetEventIndicators)(void *m, double *z, size_t n) { return read_values(m, (ref[]){Z}, n, z); }
int F(GetNominalsOfContinuousStates)(void *m, double *x, size_t n) {
  (void)m;
  for (size_t i = 0; i < n; i++) x[i] = 1.0;
#ifdef ZERO_NOMINAL
  x[n - 1] = 0.0;
#endif
  return OK;
}
int F(EnterContinuousTimeMode)(void *m) { return (void)m, OK; }
int F(EnterEventMode)(void *m) {
#ifdef NO_EVENT_MODE
  return ERROR;
#endif
  return (void)m, OK;
}
int F(CompletedIntegratorStep)(void *m, flag a, flag *event, flag *end) {
  return (void)m, (void)a, *event = *end = 0, OK;
}
int F(ExitInitializationMode)(void *m) { return (void)m, OK; }
int F(Terminate)(void *m) { return (void)m, OK; }

static flag update(model *m) {
#ifdef JUMPS
  m->value[X] += 1.0;
#elif defined FIRES_TWICE
  evaluate(m);
  if (m->value[Z] <= 0.0) m->value[V] *= -0.9;
#else
  (void)m;
#endif
#ifdef ENDLESS
  return 1;
#else
  return 0;
#endif
}

#ifdef ALWAYS_CHANGED
#define CHANGED 1
#else
#define CHANGED 0
#endif

#define STUB(name)                    \
  int F(name)(void) { return ERROR; }

#if FMI == 2

typedef struct {
  flag needed, terminate, nominals, values, defined;
  double time;
} event_info;

void *fmi2Instantiate(const char *n, int t, const char *token, const char *r, const void *c, int v, int l) {
  return (void)n, (void)t, (void)r, (void)c, (void)v, (void)l, make(token);
}
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2SetDebugLogging(void *m, int l, size_t n, const char *const c[]) {
  return (void)m, (void)l, (void)n, (void)c, OK;
}
int fmi2SetupExperiment(void *m, int a, double b, double start, int c, double d) {
  return (void)a, (void)b, (void)c, (void)d, fmi2SetTime(m, start);
}
int fmi2EnterInitializationMode(void *m) { return (void)m, OK; }
int fmi2GetReal(void *m, const ref *r, size_t n, double *x) { return read_variables(m, r, n, x); }
int fmi2SetReal(void *m, const ref *r, size_t n, const double *x) { return write_values(m, r, n, x); }
int fmi2GetFMUstate(void *m, void **s) { return get_state(m, s); }
int fmi2SetFMUstate(void *m, void *s) { return set_state(m, s); }
int fmi2FreeFMUstate(void *m, void **s) { return (void)m, free(*s), *s = NULL, OK; }
int fmi2SerializedFMUstateSize(void *m, void *s, size_t *n) { return (void)m, (void)s, *n = sizeof(model), OK; }
int fmi2SerializeFMUstate(void *m, void *s, char *b, size_t n) { return (void)m, memcpy(b, s, n), OK; }
int fmi2DeSerializeFMUstate(void *m, const char *b, size_t n, void **s) { return (void)m, from_bytes(b, n, s); }
int fmi2GetDirectionalDerivative(void *m, const ref *u, size_t nu, const ref *k, size_t nk, const double *s,
                                 double *o) {
  return forward(m, u, nu, k, nk, s, o);
}
int fmi2GetRealOutputDerivatives(void *m, const ref *r, size_t n, const int *order, double *rates) {
  return (void)r, read_rates(m, n, order, rates);
}
int fmi2SetRealInputDerivatives(void *m, const ref *r, size_t n, const int *order, const double *rates) {
#ifdef NO_INTERPOLATION
  return ERROR;
#endif
#ifndef IGNORES_RATES
  if (n) ((model *)m)->rate = rates[0];
#endif
  return (void)m, (void)r, (void)n, (void)order, (void)rates, OK;
}
int fmi2GetDerivatives(void *m, double *x, size_t n) { return read_values(m, (ref[]){DX, DV}, n, x); }
int fmi2NewDiscreteStates(void *m, event_info *e) {
  return memset(e, 0, sizeof *e), e->values = CHANGED, e->needed = update(m), OK;
}
int fmi2DoStep(void *m, double t, double h, int p) { return (void)p, ends(t + h) ? DISCARD : do_step(m, t, h); }
int fmi2GetBooleanStatus(void *m, int kind, int *value) { return (void)m, (void)kind, *value = 1, OK; }
int fmi2GetRealStatus(void *m, int kind, double *value) { return (void)kind, *value = ((model *)m)->value[TIME], OK; }
STUB(GetInteger)
STUB(GetBoolean)
STUB(GetString)
STUB(SetInteger)
STUB(SetBoolean) STUB(SetString) STUB(CancelStep) STUB(GetStatus) STUB(GetIntegerStatus) STUB(GetStringStatus)

#else

void *fmi3InstantiateModelExchange(const char *n, const char *token) { return (void)n, make(token); }
void *fmi3InstantiateCoSimulation(const char *n, const char *token, const char *r, bool a, bool b, bool c, bool early,
                                  const ref *v, size_t nv, void *e, void *log, told *tell) {
  (void)n, (void)r, (void)a, (void)b, (void)c, (void)v, (void)nv, (void)e, (void)log;
  model *m = make(token);
  if (m) m->early_allowed = early;
#ifndef NEVER_TELLS
  if (m) m->tell = tell;
#endif
  return m;
}
void *fmi3InstantiateScheduledExecution(void) { return NULL; }
const char *fmi3GetVersion(void) { return "3.0"; }
int fmi3EnterInitializationMode(void *m, bool a, double b, double start, bool c, double d) {
  return (void)a, (void)b, (void)c, (void)d, fmi3SetTime(m, start);
}
int fmi3SetDebugLogging(void *m, bool l, size_t n, const char *const c[]) {
  return (void)m, (void)l, (void)n, (void)c, OK;
}
int fmi3GetFloat64(void *m, const ref *r, size_t n, double *x, size_t nx) {
  return (void)nx, read_variables(m, r, n, x);
}
int fmi3SetFloat64(void *m, const ref *r, size_t n, const double *x, size_t nx) {
  return (void)nx, write_values(m, r, n, x);
}
int fmi3GetFMUState(void *m, void **s) { return get_state(m, s); }
int fmi3SetFMUState(void *m, void *s) { return set_state(m, s); }
int fmi3FreeFMUState(void *m, void **s) { return (void)m, free(*s), *s = NULL, OK; }
int fmi3SerializedFMUStateSize(void *m, void *s, size_t *n) { return (void)m, (void)s, *n = sizeof(model), OK; }
int fmi3SerializeFMUState(void *m, void *s, uint8_t *b, size_t n) { return (void)m, memcpy(b, s, n), OK; }
int fmi3DeserializeFMUState(void *m, const uint8_t *b, size_t n, void **s) { return (void)m, from_bytes(b, n, s); }
int fmi3GetDirectionalDerivative(void *m, const ref *u, size_t nu, const ref *k, size_t nk, const double *s, size_t ns,
                                 double *o, size_t no) {
  return (void)ns, (void)no, forward(m, u, nu, k, nk, s, o);
}
int fmi3GetAdjointDerivative(void *m, const ref *u, size_t nu, const ref *k, size_t nk, const double *s, size_t ns,
                             double *o, size_t no) {
  (void)ns, (void)no;
  for (size_t j = 0; j < nk; j++) {
    o[j] = 0.0;
    for (size_t i = 0; i < nu; i++) o[j] += partial(m, u[i], k[j]) * s[i];
#ifdef WRONG_ADJOINT
    o[j] *= 1.001;
#endif
  }
  return OK;
}
int fmi3GetContinuousStateDerivatives(void *m, double *x, size_t n) { return read_values(m, (ref[]){DX, DV}, n, x); }
int fmi3GetNumberOfContinuousStates(void *m, size_t *n) { return (void)m, *n = 2, OK; }
int fmi3GetNumberOfEventIndicators(void *m, size_t *n) {
#ifdef WRONG_COUNT
  return (void)m, *n = 3, OK;
#else
  return (void)m, *n = 1, OK;
#endif
}
int fmi3UpdateDiscreteStates(void *m, bool *a, bool *b, bool *c, bool *d, bool *e, double *t) {
  return *b = *c = *e = false, *d = CHANGED, *t = 0.0, *a = update(m), OK;
}
int fmi3GetOutputDerivatives(void *m, const ref *r, size_t n, const int32_t *order, double *rates, size_t nr) {
  return (void)nr, (void)r, read_rates(m, n, order, rates);
}

/* ---- dependencies, of scalars all of their one element */

#ifdef WRONG_ELEMENTS
static const ref dependencies[9][2] = {[DX] = {K}, [DV] = {X, U}, [Y] = {X}, [Z] = {X}};
#else
static const ref dependencies[9][2] = {[DX] = {V}, [DV] = {X, U}, [Y] = {X}, [Z] = {X}};
#endif
int fmi3GetNumberOfVariableDependencies(void *m, ref r, size_t *n) {
#ifdef NO_ELEMENTS
  return ERROR;
#endif
  return (void)m, *n = 1 + (r == DV), OK;
}
int fmi3GetVariableDependencies(void *m, ref r, size_t *own, ref *known, size_t *other, int *kind, size_t n) {
  (void)m;
  for (size_t i = 0; i < n; i++) own[i] = other[i] = 1, kind[i] = 5, known[i] = dependencies[r][i];
#ifdef FAR_ELEMENTS
  other[0] = 2;
#endif
  return OK;
}
int fmi3EnterStepMode(void *m) { return (void)m, OK; }
/* Reports the middle of a step; returns its length. */
static double tell(model *m, double t, double h) {
  bool wanted = false;
  double end = t + h;
  if (!m->tell) return h;
  do_step(m, t, 0.5 * h);
#ifdef TELLS_LATE
  m->tell(NULL, t + 2.0 * h, false, true, false, m->early_allowed, &wanted, &end);
#else
  m->tell(NULL, t + 0.5 * h, false, true, false, m->early_allowed, &wanted, &end);
#endif
#ifdef IGNORES_RETURN
  wanted = false;
#endif
  return wanted ? end - t : h;
}

int fmi3DoStep(void *m, double t, double h, bool p, bool *a, bool *b, bool *early, double *last) {
  (void)p, *a = false;
  *b = ends(t + h);
  const double length = tell(m, t, h);
  *early = length < h;
  const int status = do_step(m, t, length);
  *last = t + length;
#ifdef TRUNCATED
  *last = ((model *)m)->value[TIME];
#endif
#ifdef EARLY
  *early = true;
#endif
  return status;
}
STUB(GetFloat32)
STUB(GetInt8)
STUB(GetUInt8)
STUB(GetInt16)
STUB(GetUInt16)
STUB(GetInt32)
STUB(GetUInt32) STUB(GetInt64) STUB(GetUInt64) STUB(GetBoolean) STUB(GetString) STUB(GetBinary) STUB(GetClock)
    STUB(SetFloat32) STUB(SetInt8) STUB(SetUInt8) STUB(SetInt16) STUB(SetUInt16) STUB(SetInt32) STUB(SetUInt32)
        STUB(SetInt64) STUB(SetUInt64) STUB(SetBoolean) STUB(SetString) STUB(SetBinary) STUB(SetClock)
            STUB(EnterConfigurationMode) STUB(ExitConfigurationMode) STUB(GetIntervalDecimal) STUB(GetIntervalFraction)
                STUB(GetShiftDecimal) STUB(GetShiftFraction) STUB(SetIntervalDecimal) STUB(SetIntervalFraction)
                    STUB(SetShiftDecimal) STUB(SetShiftFraction) STUB(EvaluateDiscreteStates)
                        STUB(ActivateModelPartition)

#endif
