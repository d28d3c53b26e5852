/* Drives both FMI interfaces over folders of resources, linked in: an ordinary run, wrong orders and arguments, thousands of
 * random calls, broken resources and states. Meant for the sanitizers and valgrind; it prints what went wrong. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmi2.h"
#include "fmi3.h"
#include "instance.h"
#include "linkwork.h"
#include "model_file.h"

enum { LIST = 8, RANDOM_CALLS = 3000 };

static const char *subject = "";
static int failures;

#define EXPECT(what)                                                          \
  do {                                                                        \
    if (!(what)) {                                                            \
      failures++;                                                             \
      fprintf(stderr, "%s: line %d: not so: %s\n", subject, __LINE__, #what); \
    }                                                                         \
  } while (0)

/* ---- the scene: a resources folder, its token, the sizes ---------------------------------------------- */

enum { MODEL, INTERFACE, FILES };
static const char *const names[FILES] = {"model.lwm", "interface.lwi"};

typedef struct scene {
  char folder[64], file[FILES][96], token[FMU_TOKEN_SIZE];
  unsigned char *bytes[FILES];
  size_t size[FILES];
  uint32_t reals, states;
  uint32_t first_input, inputs; /* loads of joints */
} scene;

static void make_token(const scene *s, size_t model_size, char token[FMU_TOKEN_SIZE]) {
  const fmu_resources resources = {s->bytes[MODEL], s->bytes[INTERFACE], model_size, s->size[INTERFACE], {0}};
  fmu_make_token(&resources, token);
}

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  EXPECT(file && fwrite(bytes, 1, size, file) == size);
  if (file) fclose(file);
}

static void find_inputs(scene *s, const lw_model *model) {
  lw_field field;
  for (int32_t i = 0; i < lw_field_count(); i++)
    if (lw_model_field(model, i, &field) == LW_OK && strcmp(field.name, "tau") == 0)
      s->first_input = (uint32_t)field.first, s->inputs = (uint32_t)(field.rows * field.columns);
}

/* The states that an importer sees. */
static uint32_t states_of(const scene *s, const lw_sizes *sizes) {
  fmu_interface interface;
  const uint32_t behind = (uint32_t)(sizes->reals + sizes->event_indicators + FMU_SETTINGS);
  EXPECT(!fmu_interface_read(&interface, s->bytes[INTERFACE], s->size[INTERFACE], (uint32_t)sizes->nq,
                             (uint32_t)sizes->nu, (uint32_t)sizes->reals, behind));
  const uint32_t minimal = interface.q.n + interface.u.n;
  fmu_interface_free(&interface);
  return minimal ? minimal : (uint32_t)(sizes->nq + sizes->nu);
}

/* A folder of resources, copied so that its files can be spoilt. */
static int open_scene(scene *s, const char *from) {
  char message[256] = "", path[512], folder[] = "/tmp/drive_fmu_XXXXXX";
  lw_model *model = NULL;
  memset(s, 0, sizeof *s);
  for (int k = 0; k < FILES; k++) {
    snprintf(path, sizeof path, "%s/%s", from, names[k]);
    s->bytes[k] = read_file(path, &s->size[k]);
  }
  if (!s->bytes[MODEL] || !s->bytes[INTERFACE] || !mkdtemp(folder) ||
      lw_model_load(s->bytes[MODEL], s->size[MODEL], &model, message, sizeof message) != LW_OK) {
    fprintf(stderr, "%s: cannot be driven: %s\n", from, message);
    for (int k = 0; k < FILES; k++) free(s->bytes[k]);
    return 0;
  }
  const lw_sizes sizes = lw_model_sizes(model);
  s->reals = (uint32_t)sizes.reals;
  s->states = states_of(s, &sizes);
  find_inputs(s, model);
  lw_model_free(model);
  strcpy(s->folder, folder);
  for (int k = 0; k < FILES; k++) {
    snprintf(s->file[k], sizeof s->file[k], "%s/%s", folder, names[k]);
    write_file(s->file[k], s->bytes[k], s->size[k]);
  }
  make_token(s, s->size[MODEL], s->token);
  return 1;
}

static void close_scene(scene *s) {
  for (int k = 0; k < FILES; k++) {
    remove(s->file[k]);
    free(s->bytes[k]);
  }
  rmdir(s->folder);
}

/* ---- one face for both versions ----------------------------------------------------------------------- */

static int messages;

static void log2_line(fmi2ComponentEnvironment e, fmi2String name, fmi2Status status, fmi2String category,
                      fmi2String text, ...) {
  (void)e, (void)status;
  messages += name && category && *text;
}

static void log3_line(fmi3InstanceEnvironment e, fmi3Status status, fmi3String category, fmi3String text) {
  (void)e, (void)status;
  messages += category && *text;
}

/* The instance whose step is under way; what happens in it is left to chance. */
static void *within;
static uint32_t first_input, n_inputs;
static uint32_t dice(uint32_t n);

static void update_line(fmi3InstanceEnvironment e, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                        fmi3Boolean finished, fmi3Boolean can_return, fmi3Boolean *wanted, fmi3Float64 *return_time) {
  (void)e;
  EXPECT(set && get && finished);
  const uint32_t reference = first_input + dice(n_inputs + 1);
  const int32_t order = 1;
  double value = 0;
  if (!within) return;
  fmi3GetFloat64(within, &reference, 1, &value, 1);
  value += 1e-5 * dice(9);
  if (dice(3) == 0) fmi3SetFloat64(within, &reference, 1, &value, 1);
  if (dice(3) == 0) fmi3GetOutputDerivatives(within, &reference, 1, &order, &value, 1);
  if (dice(9) == 0) EXPECT(fmi3Reset(within) == fmi3Error && fmi3Terminate(within) == fmi3Error);
  if (can_return && dice(5) == 0) *wanted = true, *return_time = time + 0.001 * dice(9) - 0.003;
}

static const fmi2CallbackFunctions callbacks = {log2_line, NULL, NULL, NULL, NULL};

static void *make(const scene *s, int version, fmu_kind kind, const char *token) {
  if (version == 2)
    return fmi2Instantiate("unit", kind == FMU_CO_SIMULATION ? fmi2CoSimulation : fmi2ModelExchange, token, s->folder,
                           &callbacks, fmi2False, fmi2True);
  if (kind == FMU_MODEL_EXCHANGE)
    return fmi3InstantiateModelExchange("unit", token, s->folder, false, true, NULL, log3_line);
  uint32_t inputs[LIST];
  const uint32_t n = s->inputs < LIST ? s->inputs : LIST;
  for (uint32_t i = 0; i < n; i++) inputs[i] = s->first_input + i;
  first_input = s->first_input;
  n_inputs = n;
  return fmi3InstantiateCoSimulation("unit", token, s->folder, false, true, true, true, inputs, n, NULL, log3_line,
                                     update_line);
}

static void drop(int version, void *c) {
  if (version == 2) fmi2FreeInstance(c);
  else fmi3FreeInstance(c);
}

static int initialize(int version, fmu_kind kind, void *c) {
  if (version == 2)
    return fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0) || fmi2EnterInitializationMode(c) ||
           fmi2ExitInitializationMode(c) || (kind == FMU_MODEL_EXCHANGE && fmi2EnterContinuousTimeMode(c));
  return fmi3EnterInitializationMode(c, false, 0, 0, false, 0) || fmi3ExitInitializationMode(c) ||
         (kind == FMU_MODEL_EXCHANGE ? fmi3EnterContinuousTimeMode(c) : fmi3EnterStepMode(c));
}

static int get_real(int version, void *c, const uint32_t *refs, size_t n, double *values) {
  return version == 2 ? (int)fmi2GetReal(c, refs, n, values) : (int)fmi3GetFloat64(c, refs, n, values, n);
}

static int set_real(int version, void *c, const uint32_t *refs, size_t n, const double *values) {
  return version == 2 ? (int)fmi2SetReal(c, refs, n, values) : (int)fmi3SetFloat64(c, refs, n, values, n);
}

/* An event ends a step early. */
static int step(int version, void *c, double *time, double length) {
  bool event, terminate, early;
  double last = *time + length;
  const int status = version == 2 ? (int)fmi2DoStep(c, *time, length, fmi2True)
                                  : (int)fmi3DoStep(c, *time, length, true, &event, &terminate, &early, &last);
  *time = last;
  return status;
}

/* Boolean and whole numbers. */
static int get_whole(int version, void *c, uint32_t ref, double *value) {
  int whole = 0;
  int32_t count = 0;
  bool flag = false;
  int status = version == 2 ? (int)fmi2GetBoolean(c, &ref, 1, &whole) : (int)fmi3GetBoolean(c, &ref, 1, &flag, 1);
  if (status)
    status = version == 2 ? (int)fmi2GetInteger(c, &ref, 1, &whole) : (int)fmi3GetInt32(c, &ref, 1, &count, 1);
  *value = whole + count + flag;
  return status;
}

static int set_boolean(int version, void *c, uint32_t ref, int value) {
  const bool flag = value != 0;
  return version == 2 ? (int)fmi2SetBoolean(c, &ref, 1, &value) : (int)fmi3SetBoolean(c, &ref, 1, &flag, 1);
}

/* Every variable that can be read; what cannot stays 0. */
static double *everything(const scene *s, int version, void *c) {
  double *values = calloc(s->reals + 1, sizeof *values);
  for (uint32_t i = 0; values && i < s->reals; i++)
    if (get_real(version, c, &i, 1, values + i)) get_whole(version, c, i, values + i);
  return values;
}

static int update(int version, void *c) {
  fmi2EventInfo info;
  bool b[5];
  double next;
  return version == 2 ? (int)fmi2NewDiscreteStates(c, &info)
                      : (int)fmi3UpdateDiscreteStates(c, b, b + 1, b + 2, b + 3, b + 4, &next);
}

/* All commands there are, between two steps. */
static void command(const scene *s, int version, void *c, int value) {
  EXPECT((version == 2 ? (int)fmi2EnterEventMode(c) : (int)fmi3EnterEventMode(c)) == 0);
  for (uint32_t i = 0; i < s->reals; i++) set_boolean(version, c, i, value);
  EXPECT(update(version, c) == 0);
}

/* ---- ordinary runs ------------------------------------------------------------------------------------ */

static void run_exchange(const scene *s, int version, void *c) {
  double *x = calloc(2 * (size_t)s->states + 1, sizeof *x), *dx = x + s->states;
  for (int k = 0; k < 20; k++) {
    EXPECT((version == 2 ? (int)fmi2GetContinuousStates(c, x, s->states)
                         : (int)fmi3GetContinuousStates(c, x, s->states)) == 0);
    EXPECT((version == 2 ? (int)fmi2GetDerivatives(c, dx, s->states)
                         : (int)fmi3GetContinuousStateDerivatives(c, dx, s->states)) == 0);
    for (uint32_t i = 0; i < s->states; i++) x[i] += 1e-3 * dx[i];
    EXPECT((version == 2 ? (int)fmi2SetTime(c, 1e-3 * (k + 1)) : (int)fmi3SetTime(c, 1e-3 * (k + 1))) == 0);
    EXPECT((version == 2 ? (int)fmi2SetContinuousStates(c, x, s->states)
                         : (int)fmi3SetContinuousStates(c, x, s->states)) == 0);
    command(s, version, c, k % 3 == 1);
    EXPECT((version == 2 ? (int)fmi2EnterContinuousTimeMode(c) : (int)fmi3EnterContinuousTimeMode(c)) == 0);
  }
  free(x);
}

static void run_ordinarily(const scene *s, int version, fmu_kind kind) {
  void *c = make(s, version, kind, s->token);
  EXPECT(c && initialize(version, kind, c) == 0);
  if (c && kind == FMU_MODEL_EXCHANGE) run_exchange(s, version, c);
  double time = 0;
  for (int k = 0; c && kind == FMU_CO_SIMULATION && k < 10; k++) {
    EXPECT(step(version, c, &time, 0.01) == 0);
    if (version == 3) {
      command(s, version, c, k % 3 == 1);
      EXPECT(fmi3EnterStepMode(c) == fmi3OK);
    }
  }
  if (c) free(everything(s, version, c));
  EXPECT(c && (version == 2 ? (int)fmi2Terminate(c) : (int)fmi3Terminate(c)) == 0);
  drop(version, c);
}

/* ---- broken resources and states ---------------------------------------------------------------------- */

/* Cut short, altered, or not there. */
static void spoil(scene *s, int version, int k) {
  const size_t size = s->size[k], stride = size / 97 + 1;
  unsigned char *bytes = s->bytes[k];
  char token[FMU_TOKEN_SIZE];
  for (size_t n = 0; n < size; n += stride) {
    write_file(s->file[k], bytes, n);
    s->size[k] = n;
    make_token(s, s->size[MODEL], token);
    EXPECT(!make(s, version, FMU_MODEL_EXCHANGE, token));
    s->size[k] = size;
    bytes[n] ^= 0x10;
    write_file(s->file[k], bytes, size);
    make_token(s, s->size[MODEL], token);
    drop(version, make(s, version, FMU_MODEL_EXCHANGE, k == MODEL ? token : s->token));
    bytes[n] ^= 0x10;
  }
  remove(s->file[k]);
  EXPECT(!make(s, version, FMU_MODEL_EXCHANGE, s->token));
  write_file(s->file[k], bytes, size);
}

static void load_wrongly(scene *s, int version) {
  EXPECT(!make(s, version, FMU_CO_SIMULATION, "{}"));
  EXPECT(!make(s, version, FMU_CO_SIMULATION, NULL));
  for (int k = 0; k < FILES; k++) spoil(s, version, k);
}

static void break_states(const scene *s, fmu_kind kind) {
  void *c = make(s, 3, kind, s->token);
  EXPECT(c && initialize(3, kind, c) == 0);
  fmi3FMUState state = NULL, copy = NULL;
  size_t size = 0;
  EXPECT(fmi3GetFMUState(c, &state) == fmi3OK && fmi3SerializedFMUStateSize(c, state, &size) == fmi3OK);
  fmi3Byte *bytes = malloc(size);
  EXPECT(bytes && fmi3SerializeFMUState(c, state, bytes, size) == fmi3OK);
  for (size_t k = 0; bytes && k < size; k += size / 61 + 1) {
    EXPECT(fmi3DeserializeFMUState(c, bytes, k, &copy) == fmi3Error && !copy);
    bytes[k] ^= 4;
    EXPECT(fmi3DeserializeFMUState(c, bytes, size, &copy) == fmi3Error && !copy);
    bytes[k] ^= 4;
  }
  EXPECT(fmi3DeserializeFMUState(c, bytes, size, &copy) == fmi3OK && fmi3SetFMUState(c, copy) == fmi3OK);
  fmi3FreeFMUState(c, &copy);
  fmi3FreeFMUState(c, &state);
  free(bytes);
  drop(3, c);
}

/* ---- random calls ------------------------------------------------------------------------------------- */

static uint32_t dice_state = 1;

static uint32_t dice(uint32_t n) { /* 0 to n - 1 */
  dice_state = dice_state * UINT32_C(1664525) + UINT32_C(1013904223);
  return (uint32_t)(((uint64_t)dice_state * n) >> 32);
}

static double number(void) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e308};
  return dice(12) ? 4.0 * dice(1000) / 999.0 - 2.0 : odd[dice(6)];
}

typedef struct abused {
  const scene *s;
  int version;
  void *c, *state;
  double time;
} abused;

/* Near what is there: wild masses and torques would only make the integration long. */
static void random_set(abused *a, const uint32_t *refs, size_t n) {
  double values[LIST] = {0};
  get_real(a->version, a->c, refs, n, values);
  for (size_t i = 0; i < n; i++)
    values[i] = dice(9) ? values[i] * (0.9 + 0.2 * dice(100) / 99.0) + 1e-5 * dice(100) : number();
  set_real(a->version, a->c, refs, dice(30) ? n : 0, dice(30) ? values : NULL);
}

static void random_values(abused *a) {
  uint32_t refs[LIST], more[LIST];
  double seed[LIST], values[LIST];
  const size_t n = dice(LIST + 1), m = dice(LIST + 1);
  for (int i = 0; i < LIST; i++) {
    refs[i] =
        dice(40) ? dice(dice(2) ? a->s->reals : a->s->reals / 8 + 1) : dice(UINT32_MAX); /* parameters come first */
    more[i] = dice(a->s->reals);
    seed[i] = number();
  }
  switch (dice(5)) {
    case 0:
    case 1:
      random_set(a, refs, n);
      set_boolean(a->version, a->c, refs[0], (int)dice(2));
      break;
    case 2: get_real(a->version, a->c, refs, n, dice(30) ? values : NULL); break;
    case 3:
      if (a->version == 2) fmi2GetDirectionalDerivative(a->c, refs, n, more, m, seed, values);
      else fmi3GetDirectionalDerivative(a->c, refs, n, more, m, seed, dice(30) ? m : m + 1, values, n);
      break;
    default:
      if (a->version == 3) fmi3GetAdjointDerivative(a->c, refs, n, more, m, seed, n, values, m);
  }
}

static void random_rates(abused *a) {
  uint32_t refs[LIST];
  int32_t orders[LIST];
  double values[LIST];
  const size_t n = dice(LIST + 1);
  for (int i = 0; i < LIST; i++) {
    refs[i] = dice(30) && a->s->inputs ? a->s->first_input + dice(a->s->inputs) : dice(a->s->reals);
    orders[i] = dice(30) ? 1 + (int32_t)dice(4) : (int32_t)dice(9) - 3;
    values[i] = dice(30) ? 1e-3 * dice(9) : number();
  }
  if (a->version == 2 && dice(2)) fmi2SetRealInputDerivatives(a->c, refs, n, orders, dice(30) ? values : NULL);
  for (int i = 0; i < LIST; i++) refs[i] = dice(a->s->reals), orders[i] = 1 - (dice(30) == 0);
  if (a->version == 2) fmi2GetRealOutputDerivatives(a->c, refs, dice(3), orders, values);
  else fmi3GetOutputDerivatives(a->c, refs, n, orders, values, dice(30) ? n : n + 1);
}

static void random_states(abused *a) {
  double x[256];
  size_t n = dice(20) ? a->s->states : dice(9);
  if (n > 256) return;
  for (size_t i = 0; i < n; i++) x[i] = number();
  switch (dice(6)) {
    case 0:
      a->version == 2 ? (void)fmi2SetContinuousStates(a->c, x, n) : (void)fmi3SetContinuousStates(a->c, x, n);
      break;
    case 1:
      a->version == 2 ? (void)fmi2GetContinuousStates(a->c, x, n) : (void)fmi3GetContinuousStates(a->c, x, n);
      break;
    case 2:
      a->version == 2 ? (void)fmi2GetDerivatives(a->c, x, n) : (void)fmi3GetContinuousStateDerivatives(a->c, x, n);
      break;
    case 3:
      a->version == 2 ? (void)fmi2GetEventIndicators(a->c, x, n) : (void)fmi3GetEventIndicators(a->c, x, n);
      break;
    case 4: a->version == 2 ? (void)fmi2SetTime(a->c, number()) : (void)fmi3SetTime(a->c, number()); break;
    default:
      a->version == 2 ? (void)fmi2GetNominalsOfContinuousStates(a->c, x, n)
                      : (void)fmi3GetNominalsOfContinuousStates(a->c, x, n);
  }
}

static void random_mode2(abused *a) {
  fmi2EventInfo info;
  fmi2Boolean enter, terminate;
  switch (dice(10)) {
    case 0: fmi2SetupExperiment(a->c, (int)dice(2), number(), number(), (int)dice(2), number()); break;
    case 1:
    case 2: fmi2EnterInitializationMode(a->c); break;
    case 3:
    case 4: fmi2ExitInitializationMode(a->c); break;
    case 5: fmi2NewDiscreteStates(a->c, dice(5) ? &info : NULL); break;
    case 6: fmi2EnterContinuousTimeMode(a->c); break;
    case 7: fmi2EnterEventMode(a->c); break;
    case 8: fmi2CompletedIntegratorStep(a->c, fmi2True, &enter, dice(5) ? &terminate : NULL); break;
    default: dice(4) ? (void)fmi2CancelStep(a->c) : dice(4) ? (void)fmi2Terminate(a->c) : (void)fmi2Reset(a->c);
  }
}

static void random_mode3(abused *a) {
  bool b[5];
  double next;
  switch (dice(11)) {
    case 0:
    case 1: fmi3EnterInitializationMode(a->c, dice(2), number(), 0, dice(2), number()); break;
    case 2:
    case 3: fmi3ExitInitializationMode(a->c); break;
    case 4: fmi3UpdateDiscreteStates(a->c, b, b + 1, b + 2, b + 3, b + 4, dice(5) ? &next : NULL); break;
    case 5: fmi3EnterContinuousTimeMode(a->c); break;
    case 6: fmi3EnterStepMode(a->c); break;
    case 7: fmi3EnterEventMode(a->c); break;
    case 8: fmi3CompletedIntegratorStep(a->c, true, b, dice(5) ? b + 1 : NULL); break;
    case 9: fmi3EnterConfigurationMode(a->c); break;
    default:
      dice(4) ? (void)fmi3ExitConfigurationMode(a->c) : dice(4) ? (void)fmi3Terminate(a->c) : (void)fmi3Reset(a->c);
  }
}

static void random_snapshot(abused *a) {
  if (a->version == 2) {
    if (dice(2)) fmi2GetFMUstate(a->c, &a->state);
    else if (dice(2)) fmi2SetFMUstate(a->c, a->state);
    else fmi2FreeFMUstate(a->c, &a->state);
  } else if (dice(2)) {
    fmi3GetFMUState(a->c, &a->state);
  } else if (dice(2)) {
    fmi3SetFMUState(a->c, a->state);
  } else {
    fmi3FreeFMUState(a->c, &a->state);
  }
}

static void random_step(abused *a) {
  const uint32_t reference = 0;
  const fmi2String category = "logEvents";
  double last = a->time;
  bool flags[3];
  const double length = dice(9) ? 0.002 * (1 + dice(10)) : number();
  if (a->version == 2) fmi2GetRealStatus(a->c, fmi2LastSuccessfulTime, &a->time);
  if (a->version == 2) fmi2DoStep(a->c, a->time, fmin(length, 0.05), fmi2False);
  within = a->version == 3 ? a->c : NULL;
  if (a->version == 3) fmi3DoStep(a->c, a->time, fmin(length, 0.05), false, flags, flags + 1, flags + 2, &last);
  within = NULL;
  if (a->version == 3) a->time = last;
  if (a->version == 2) fmi2SetDebugLogging(a->c, (int)dice(2), dice(2), dice(5) ? &category : NULL);
  else fmi3GetInt32(a->c, &reference, dice(2), NULL, 0);
}

static void abuse(const scene *s, int version, fmu_kind kind) {
  abused a = {s, version, make(s, version, kind, s->token), NULL, 0};
  void *fresh = make(s, version, kind, s->token);
  EXPECT(a.c && fresh);
  for (int k = 0; a.c && k < RANDOM_CALLS; k++) switch (dice(7)) {
      case 0: random_values(&a); break;
      case 5: random_rates(&a); break;
      case 1: random_states(&a); break;
      case 2:
      case 3: version == 2 ? random_mode2(&a) : random_mode3(&a); break;
      case 4: random_snapshot(&a); break;
      default: random_step(&a);
    }
  /* whatever happened, a reset makes it new */
  EXPECT((version == 2 ? (int)fmi2Reset(a.c) : (int)fmi3Reset(a.c)) == 0);
  EXPECT(initialize(version, kind, a.c) == 0 && initialize(version, kind, fresh) == 0);
  double *one = everything(s, version, a.c), *other = everything(s, version, fresh);
  EXPECT(one && other && memcmp(one, other, s->reals * sizeof *one) == 0);
  free(one);
  free(other);
  if (version == 2) fmi2FreeFMUstate(a.c, &a.state);
  else fmi3FreeFMUState(a.c, &a.state);
  drop(version, fresh);
  drop(version, a.c);
}

static void drive(const char *path) {
  scene s;
  subject = path;
  if (!open_scene(&s, path)) {
    failures++;
    return;
  }
  for (int version = 2; version <= 3; version++) {
    for (int kind = FMU_MODEL_EXCHANGE; kind <= FMU_CO_SIMULATION; kind++) {
      run_ordinarily(&s, version, (fmu_kind)kind);
      abuse(&s, version, (fmu_kind)kind);
      break_states(&s, (fmu_kind)kind);
    }
    load_wrongly(&s, version);
  }
  close_scene(&s);
}

int main(int count, char **paths) {
  for (int i = 1; i < count; i++) drive(paths[i]);
  fmi2FreeInstance(NULL);
  fmi3FreeInstance(NULL);
  EXPECT(fmi2Terminate(NULL) == fmi2Error && fmi3Terminate(NULL) == fmi3Error && messages > 0);
  if (count < 2) fprintf(stderr, "usage: drive_fmu FOLDER ...\n");
  return count < 2 || failures ? 1 : 0;
}
