/* An FMU of x' = A x + B u, y = C x + D u, or x+ = A x + B u at each step where `discrete` is not 0; -DFMI=2 or 3.

   All its numbers are one block; a value reference is a place in it, or 1000 + 10 place + n an array of n from there on.
   A step is exact but for rounding: the Taylor series of x, with the derivatives of u that the host has given. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#if FMI == 2
#define F(name) JOIN(fmi2, name)
#else
#define F(name) JOIN(fmi3, name)
#endif

typedef uint32_t ref;
enum { OK, ERROR = 3 };
enum { N = 4, ORDERS = 3, TERMS = 30, A = 0, B = 16, C = 32, D = 48, X0 = 64, U = 68, Y = 72, X = 76, DISCRETE = 80 };

typedef struct {
  double v[DISCRETE + 1], rates[ORDERS][N];
} model;

static ref place_of(ref r) { return r < 1000 ? r : (r - 1000) / 10; }
static size_t size_of(ref r) { return r < 1000 ? 1 : (r - 1000) % 10; }

/* out += P x + Q u */
static void add(double *out, const double *P, const double *x, const double *Q, const double *u) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) out[i] += P[N * i + j] * x[j] + Q[N * i + j] * u[j];
}

static void step_continuous(model *m, double h) {
  double x[N], u[N], power = 1.0;
  memcpy(x, m->v + X, sizeof x);
  memcpy(u, m->v + U, sizeof u);
  for (int k = 1; k <= TERMS; k++) {
    double rate[N] = {0};
    add(rate, m->v + A, x, m->v + B, u);
    power *= h / k;
    for (int i = 0; i < N; i++) {
      m->v[X + i] += power * rate[i];
      x[i] = rate[i];
      u[i] = k <= ORDERS ? m->rates[k - 1][i] : 0.0;
      if (k <= ORDERS) m->v[U + i] += power * u[i];
    }
  }
}

static void step_discrete(model *m) {
  double x[N] = {0};
  add(x, m->v + A, m->v + X, m->v + B, m->v + U);
  memcpy(m->v + X, x, sizeof x);
}

static int step(model *m, double h) {
  if (m->v[DISCRETE] != 0.0) step_discrete(m);
  else step_continuous(m, h);
  memset(m->rates, 0, sizeof m->rates);
  return OK;
}

static int get(model *m, const ref *r, size_t n, double *v) {
  memset(m->v + Y, 0, N * sizeof *v);
  add(m->v + Y, m->v + C, m->v + X, m->v + D, m->v + U);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < size_of(r[i]); j++) *v++ = m->v[place_of(r[i]) + j];
  return OK;
}

static int set(model *m, const ref *r, size_t n, const double *v) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < size_of(r[i]); j++) {
      const ref place = place_of(r[i]) + (ref)j;
      if (place >= U && place < Y)
        for (int k = 0; k < ORDERS; k++) m->rates[k][place - U] = 0.0;
      if (place >= X0 && place < U) m->v[place - X0 + X] = *v;
      m->v[place] = *v++;
    }
  return OK;
}

/* Of outputs by inputs. */
static int directional(model *m, const ref *y, size_t ny, const ref *u, size_t nu, const double *du, double *dy) {
  for (size_t i = 0; i < ny; i++)
    for (size_t a = 0; a < size_of(y[i]); a++) {
      const double *row = m->v + D + N * (place_of(y[i]) + a - Y), *seed = du;
      *dy = 0.0;
      for (size_t j = 0; j < nu; j++)
        for (size_t b = 0; b < size_of(u[j]); b++) *dy += row[place_of(u[j]) + b - U] * *seed++;
      dy++;
    }
  return OK;
}

static int save(model *m, void **state) {
  if (!*state) *state = malloc(sizeof *m);
  memcpy(*state, m, sizeof *m);
  return OK;
}
static int restore(model *m, const void *state) { return memcpy(m, state, sizeof *m), OK; }
static int drop(void **state) { return free(*state), *state = NULL, OK; }

#define DONE(name)                 \
  int F(name)(void) { return OK; }
#define STUB(name)                    \
  int F(name)(void) { return ERROR; }
void F(FreeInstance)(void *m) { free(m); }
DONE(ExitInitializationMode)
DONE(Terminate)
DONE(SetDebugLogging)
STUB(Reset)
STUB(GetBoolean)
STUB(SetBoolean)
STUB(GetString)
STUB(SetString)

#if FMI == 2

void *fmi2Instantiate(void) { return calloc(1, sizeof(model)); }
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2GetReal(void *m, const ref *r, size_t n, double *v) { return get(m, r, n, v); }
int fmi2SetReal(void *m, const ref *r, size_t n, const double *v) { return set(m, r, n, v); }
int fmi2DoStep(void *m, double t, double h, int p) { return (void)t, (void)p, step(m, h); }
int fmi2GetFMUstate(void *m, void **s) { return save(m, s); }
int fmi2SetFMUstate(void *m, void *s) { return restore(m, s); }
int fmi2FreeFMUstate(void *m, void **s) { return (void)m, drop(s); }
int fmi2SetRealInputDerivatives(void *m, const ref *r, size_t n, const int *order, const double *v) {
  for (size_t i = 0; i < n; i++) {
    if (order[i] > ORDERS || r[i] < U || r[i] >= Y) return ERROR;
    ((model *)m)->rates[order[i] - 1][r[i] - U] = v[i];
  }
  return OK;
}
int fmi2GetDirectionalDerivative(void *m, const ref *y, size_t ny, const ref *u, size_t nu, const double *du,
                                 double *dy) {
  return directional(m, y, ny, u, nu, du, dy);
}
DONE(SetupExperiment)
DONE(EnterInitializationMode)
STUB(GetInteger)
STUB(SetInteger)
STUB(SerializedFMUstateSize)
STUB(SerializeFMUstate)
STUB(DeSerializeFMUstate)
STUB(GetRealOutputDerivatives)
STUB(CancelStep)
STUB(GetStatus)
STUB(GetRealStatus)
STUB(GetIntegerStatus)
STUB(GetBooleanStatus)
STUB(GetStringStatus)

#else

void *fmi3InstantiateCoSimulation(void) { return calloc(1, sizeof(model)); }
void *fmi3InstantiateModelExchange(void) { return NULL; }
void *fmi3InstantiateScheduledExecution(void) { return NULL; }
const char *fmi3GetVersion(void) { return "3.0"; }
int fmi3GetFloat64(void *m, const ref *r, size_t n, double *v, size_t nv) { return (void)nv, get(m, r, n, v); }
int fmi3SetFloat64(void *m, const ref *r, size_t n, const double *v, size_t nv) { return (void)nv, set(m, r, n, v); }
int fmi3DoStep(void *m, double t, double h, bool q, bool *event, bool *end, bool *early, double *last) {
  (void)q;
  *event = *end = *early = false, *last = t + h;
  return step(m, h);
}
int fmi3GetFMUState(void *m, void **s) { return save(m, s); }
int fmi3SetFMUState(void *m, void *s) { return restore(m, s); }
int fmi3FreeFMUState(void *m, void **s) { return (void)m, drop(s); }
int fmi3GetDirectionalDerivative(void *m, const ref *y, size_t ny, const ref *u, size_t nu, const double *du,
                                 size_t n_du, double *dy, size_t n_dy) {
  return (void)n_du, (void)n_dy, directional(m, y, ny, u, nu, du, dy);
}
DONE(EnterInitializationMode)
#define NUMBERS(kind) STUB(Get##kind) STUB(Set##kind)
NUMBERS(Float32)
NUMBERS(Int8)
NUMBERS(UInt8)
NUMBERS(Int16)
NUMBERS(UInt16)
NUMBERS(Int32)
NUMBERS(UInt32)
NUMBERS(Int64)
NUMBERS(UInt64)
NUMBERS(Binary)
NUMBERS(Clock)
STUB(EnterEventMode)
STUB(EnterStepMode)
STUB(UpdateDiscreteStates)
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
