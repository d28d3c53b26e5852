/* A decay x' = -k x by Euler's method, as an FMU of FMI 2.0 for Co-Simulation, that from t = 0.05 on behaves by its
mood. Value references: 0 x, 1 k, 2 mood. Each instance adds a byte to the file that $MOODY_COUNT names. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { X, K, MOOD };
enum { FINE, ABORTS, HANGS, FAILS, EXITS, ABORTS_ONCE }; /* the last if the file $MOODY_ONCE is not there */
enum { OK = 0, ERROR = 3 };

typedef struct {
  double value[3];
} model;

static void leave(const char *variable, int note) {
  const char *path = getenv(variable);
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) fputc(note, file), fclose(file);
}

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
void *fmi2Instantiate(const char *n, int t, const char *g, const char *r, const void *f, int v, int l) {
  (void)n, (void)t, (void)g, (void)r, (void)f, (void)v, (void)l;
  model *m = calloc(1, sizeof *m);
  if (m) m->value[X] = m->value[K] = 1.0;
  leave("MOODY_COUNT", '.');
  return m;
}
void fmi2FreeInstance(void *m) { free(m); }
int fmi2SetDebugLogging(void *m, int on, size_t n, const char *const *names) {
  return (void)m, (void)on, (void)n, (void)names, OK;
}
int fmi2SetupExperiment(void *m, int d, double t, double a, int s, double b) {
  return (void)m, (void)d, (void)t, (void)a, (void)s, (void)b, OK;
}
int fmi2EnterInitializationMode(void *m) { return (void)m, OK; }
int fmi2ExitInitializationMode(void *m) { return (void)m, OK; }
int fmi2Terminate(void *m) { return (void)m, OK; }
int fmi2Reset(void *m) { return (void)m, OK; }
int fmi2GetReal(void *m, const unsigned *refs, size_t n, double *values) {
  for (size_t i = 0; i < n; i++) values[i] = ((model *)m)->value[refs[i]];
  return OK;
}
int fmi2SetReal(void *m, const unsigned *refs, size_t n, const double *values) {
  for (size_t i = 0; i < n; i++) ((model *)m)->value[refs[i]] = values[i];
  return OK;
}
int fmi2DoStep(void *instance, double t, double h, int keep) {
  (void)keep;
  model *m = instance;
  const char *once = getenv("MOODY_ONCE");
  if (t > 0.05) switch ((int)m->value[MOOD]) {
      case ABORTS: abort();
      case HANGS:
        for (;;) sleep(1);
      case FAILS: return ERROR;
      case EXITS: puts("I am leaving"), exit(7);
      case ABORTS_ONCE:
        if (!once || access(once, F_OK)) leave("MOODY_ONCE", '!'), abort();
    }
  m->value[X] -= h * m->value[K] * m->value[X];
  return OK;
}
#define MISSING(name)              \
  int name(void) { return ERROR; }
MISSING(fmi2CancelStep)
MISSING(fmi2GetInteger)
MISSING(fmi2SetInteger)
MISSING(fmi2GetBoolean)
MISSING(fmi2SetBoolean)
MISSING(fmi2GetString)
MISSING(fmi2SetString)
MISSING(fmi2GetFMUstate)
MISSING(fmi2SetFMUstate)
MISSING(fmi2FreeFMUstate)
MISSING(fmi2SerializedFMUstateSize)
MISSING(fmi2SerializeFMUstate)
MISSING(fmi2DeSerializeFMUstate)
MISSING(fmi2GetDirectionalDerivative)
MISSING(fmi2SetRealInputDerivatives)
MISSING(fmi2GetRealOutputDerivatives)
MISSING(fmi2GetStatus)
MISSING(fmi2GetRealStatus)
MISSING(fmi2GetIntegerStatus)
MISSING(fmi2GetBooleanStatus)
MISSING(fmi2GetStringStatus)
