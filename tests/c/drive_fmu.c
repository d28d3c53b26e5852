/* Drives both FMI versions with folders of resources: a normal run, wrong order and arguments of calls, thousands of
 * random calls, corrupted resources and FMU states. Run it with the sanitizers and valgrind; it prints failures. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "fmi2.h"
#include "fmi3.h"
#include "instance.h"
#include "linkwork.h"
#include "model_file.h"

enum { LIST = 8, RANDOM_CALLS = 3000 };

/* ---- the scene: a resources folder, its token, the sizes ---------------------------------------------- */

enum { MODEL, INTERFACE, FILES };
static const char *const names[FILES] = {"model.lwm", "interface.lwi"};

typedef struct scene {
  char folder[64], file[FILES][96], token[FMU_TOKEN_SIZE];
  unsigned char *bytes[FILES];
  size_t size[FILES];
  uint32_t reals, states;
  uint32_t first_input, inputs; /* joint torques and forces */
  uint32_t input[LIST];         /* the first of them, as value references of FMI 3.0 */
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

/* Number of continuous states that the FMU exposes. */
static uint32_t states_of(scene *s, const lw_sizes *sizes) {
  fmu_interface interface;
  const uint32_t reference_end = (uint32_t)(sizes->reals + sizes->event_indicators + FMU_N_SETTINGS);
  EXPECT(!fmu_interface_read(&interface, s->bytes[INTERFACE], s->size[INTERFACE], (uint32_t)sizes->nq,
                             (uint32_t)sizes->nu, (uint32_t)sizes->reals, reference_end, 0));
  for (uint32_t i = 0; i < s->inputs && i < LIST; i++) s->input[i] = fmu_find_reference(&interface, s->first_input + i);
  const uint32_t minimal = interface.q.n + interface.u.n;
  fmu_interface_free(&interface);
  return (minimal ? minimal : (uint32_t)(sizes->nq + sizes->nu)) + (uint32_t)sizes->formula_states;
}

/* Copies a folder of resources, so that its files can be corrupted. */
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
  find_inputs(s, model);
  s->states = states_of(s, &sizes);
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

/* The instance in a step; its callback calls functions at random. */
static void *stepping;
static const uint32_t *input;
static uint32_t n_inputs;

static void intermediate_update(fmi3InstanceEnvironment e, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                                fmi3Boolean finished, fmi3Boolean can_return_early, fmi3Boolean *wanted,
                                fmi3Float64 *return_time) {
  (void)e;
  EXPECT(set && get && finished);
  const uint32_t reference = random_below(9) && n_inputs ? input[random_below(n_inputs)] : random_below(UINT32_MAX);
  const int32_t order = 1;
  double value = 0;
  if (!stepping) return;
  fmi3GetFloat64(stepping, &reference, 1, &value, 1);
  value += 1e-5 * random_below(9);
  if (random_below(3) == 0) fmi3SetFloat64(stepping, &reference, 1, &value, 1);
  if (random_below(3) == 0) fmi3GetOutputDerivatives(stepping, &reference, 1, &order, &value, 1);
  if (random_below(9) == 0) EXPECT(fmi3Reset(stepping) == fmi3Error && fmi3Terminate(stepping) == fmi3Error);
  if (can_return_early && random_below(5) == 0) *wanted = true, *return_time = time + 0.001 * random_below(9) - 0.003;
}

static const fmi2CallbackFunctions callbacks = {log2_line, NULL, NULL, NULL, NULL};

static void *instantiate(const scene *s, int version, fmu_kind kind, const char *token) {
  if (version == 2)
    return fmi2Instantiate("unit", kind == FMU_CO_SIMULATION ? fmi2CoSimulation : fmi2ModelExchange, token, s->folder,
                           &callbacks, fmi2False, fmi2True);
  if (kind == FMU_MODEL_EXCHANGE)
    return fmi3InstantiateModelExchange("unit", token, s->folder, false, true, NULL, log3_line);
  input = s->input;
  n_inputs = s->inputs < LIST ? s->inputs : LIST;
  return fmi3InstantiateCoSimulation("unit", token, s->folder, false, true, true, true, input, n_inputs, NULL,
                                     log3_line, intermediate_update);
}

static void free_instance(int version, void *c) {
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

/* An event may end a step early. */
static int step(int version, void *c, double *time, double length) {
  bool event, terminate, early;
  double last = *time + length;
  const int status = version == 2 ? (int)fmi2DoStep(c, *time, length, fmi2True)
                                  : (int)fmi3DoStep(c, *time, length, true, &event, &terminate, &early, &last);
  *time = last;
  return status;
}

/* Booleans and integers. */
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

/* All variables; those that cannot be read are 0. */
static double *read_all(const scene *s, int version, void *c) {
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

/* Sets all commands in Event Mode. */
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

static void run_normally(const scene *s, int version, fmu_kind kind) {
  void *c = instantiate(s, version, kind, s->token);
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
  if (c) free(read_all(s, version, c));
  EXPECT(c && (version == 2 ? (int)fmi2Terminate(c) : (int)fmi3Terminate(c)) == 0);
  free_instance(version, c);
}

/* ---- broken resources and states ---------------------------------------------------------------------- */

/* Truncated, altered and missing. */
static void corrupt_file(scene *s, int version, int k) {
  const size_t size = s->size[k], stride = size / 97 + 1;
  unsigned char *bytes = s->bytes[k];
  char token[FMU_TOKEN_SIZE];
  for (size_t n = 0; n < size; n += stride) {
    write_file(s->file[k], bytes, n);
    s->size[k] = n;
    make_token(s, s->size[MODEL], token);
    EXPECT(!instantiate(s, version, FMU_MODEL_EXCHANGE, token));
    s->size[k] = size;
    bytes[n] ^= 0x10;
    write_file(s->file[k], bytes, size);
    make_token(s, s->size[MODEL], token);
    free_instance(version, instantiate(s, version, FMU_MODEL_EXCHANGE, k == MODEL ? token : s->token));
    bytes[n] ^= 0x10;
  }
  remove(s->file[k]);
  EXPECT(!instantiate(s, version, FMU_MODEL_EXCHANGE, s->token));
  write_file(s->file[k], bytes, size);
}

static void load_corrupted(scene *s, int version) {
  EXPECT(!instantiate(s, version, FMU_CO_SIMULATION, "{}"));
  EXPECT(!instantiate(s, version, FMU_CO_SIMULATION, NULL));
  for (int k = 0; k < FILES; k++) corrupt_file(s, version, k);
}

static void corrupt_states(const scene *s, fmu_kind kind) {
  void *c = instantiate(s, 3, kind, s->token);
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
  free_instance(3, c);
}

static void foreign_states(const scene *s, fmu_kind kind) {
  void *c = instantiate(s, 2, kind, s->token), *other = instantiate(s, 2, kind, s->token);
  EXPECT(c && other && initialize(2, kind, c) == 0 && initialize(2, kind, other) == 0);
  fmi2FMUstate kept = NULL, freed = NULL, foreign = NULL;
  size_t size = 0;
  EXPECT(fmi2GetFMUstate(c, &kept) == fmi2OK && fmi2GetFMUstate(c, &freed) == fmi2OK);
  EXPECT(fmi2GetFMUstate(other, &foreign) == fmi2OK);
  fmi2FMUstate stale = freed;
  EXPECT(fmi2FreeFMUstate(c, &freed) == fmi2OK && !freed && fmi2FreeFMUstate(c, &freed) == fmi2OK);
  fmi2FMUstate handles[] = {stale, foreign, &size, (fmi2FMUstate)(uintptr_t)8};
  for (size_t k = 0; k < sizeof handles / sizeof *handles; k++) {
    fmi2FMUstate handle = handles[k];
    EXPECT(fmi2GetFMUstate(c, &handle) == fmi2Error && fmi2SetFMUstate(c, handle) == fmi2Error);
    EXPECT(fmi2SerializedFMUstateSize(c, handle, &size) == fmi2Error);
    EXPECT(fmi2FreeFMUstate(c, &handle) == fmi2Error && handle == handles[k]);
  }
  EXPECT(fmi2SetFMUstate(c, kept) == fmi2OK); /* not freed: it ends with the instance */
  free_instance(2, c);
  free_instance(2, other);
}

/* ---- random calls ------------------------------------------------------------------------------------- */

static double random_number(void) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e308};
  return random_below(12) ? 4.0 * random_below(1000) / 999.0 - 2.0 : odd[random_below(6)];
}

typedef struct random_caller {
  const scene *s;
  int version;
  void *c, *state;
  double time;
} random_caller;

/* Close to the present values: extreme masses and torques only prolong the integration. */
static void random_set(random_caller *r, const uint32_t *refs, size_t n) {
  double values[LIST] = {0};
  get_real(r->version, r->c, refs, n, values);
  for (size_t i = 0; i < n; i++)
    values[i] = random_below(9) ? values[i] * (0.9 + 0.2 * random_below(100) / 99.0) + 1e-5 * random_below(100)
                                : random_number();
  set_real(r->version, r->c, refs, random_below(30) ? n : 0, random_below(30) ? values : NULL);
}

static void random_values(random_caller *r) {
  uint32_t refs[LIST], more[LIST];
  double seed[LIST], values[LIST];
  const size_t n = random_below(LIST + 1), m = random_below(LIST + 1);
  for (int i = 0; i < LIST; i++) {
    refs[i] = random_below(40) ? random_below(random_below(2) ? r->s->reals : r->s->reals / 8 + 1)
                               : random_below(UINT32_MAX); /* parameters come first */
    more[i] = random_below(r->s->reals);
    seed[i] = random_number();
  }
  switch (random_below(5)) {
    case 0:
    case 1:
      random_set(r, refs, n);
      set_boolean(r->version, r->c, refs[0], (int)random_below(2));
      break;
    case 2: get_real(r->version, r->c, refs, n, random_below(30) ? values : NULL); break;
    case 3:
      if (r->version == 2) fmi2GetDirectionalDerivative(r->c, refs, n, more, m, seed, values);
      else fmi3GetDirectionalDerivative(r->c, refs, n, more, m, seed, random_below(30) ? m : m + 1, values, n);
      break;
    default:
      if (r->version == 3) fmi3GetAdjointDerivative(r->c, refs, n, more, m, seed, n, values, m);
  }
}

static void random_rates(random_caller *r) {
  uint32_t refs[LIST];
  int32_t orders[LIST];
  double values[LIST];
  const size_t n = random_below(LIST + 1);
  for (int i = 0; i < LIST; i++) {
    refs[i] =
        random_below(30) && r->s->inputs ? r->s->first_input + random_below(r->s->inputs) : random_below(r->s->reals);
    orders[i] = random_below(30) ? 1 + (int32_t)random_below(4) : (int32_t)random_below(9) - 3;
    values[i] = random_below(30) ? 1e-3 * random_below(9) : random_number();
  }
  if (r->version == 2 && random_below(2))
    fmi2SetRealInputDerivatives(r->c, refs, n, orders, random_below(30) ? values : NULL);
  for (int i = 0; i < LIST; i++) refs[i] = random_below(r->s->reals), orders[i] = 1 - (random_below(30) == 0);
  if (r->version == 2) fmi2GetRealOutputDerivatives(r->c, refs, random_below(3), orders, values);
  else fmi3GetOutputDerivatives(r->c, refs, n, orders, values, random_below(30) ? n : n + 1);
}

static void random_states(random_caller *r) {
  double x[256];
  size_t n = random_below(20) ? r->s->states : random_below(9);
  if (n > 256) return;
  for (size_t i = 0; i < n; i++) x[i] = random_number();
  switch (random_below(6)) {
    case 0:
      r->version == 2 ? (void)fmi2SetContinuousStates(r->c, x, n) : (void)fmi3SetContinuousStates(r->c, x, n);
      break;
    case 1:
      r->version == 2 ? (void)fmi2GetContinuousStates(r->c, x, n) : (void)fmi3GetContinuousStates(r->c, x, n);
      break;
    case 2:
      r->version == 2 ? (void)fmi2GetDerivatives(r->c, x, n) : (void)fmi3GetContinuousStateDerivatives(r->c, x, n);
      break;
    case 3:
      r->version == 2 ? (void)fmi2GetEventIndicators(r->c, x, n) : (void)fmi3GetEventIndicators(r->c, x, n);
      break;
    case 4:
      r->version == 2 ? (void)fmi2SetTime(r->c, random_number()) : (void)fmi3SetTime(r->c, random_number());
      break;
    default:
      r->version == 2 ? (void)fmi2GetNominalsOfContinuousStates(r->c, x, n)
                      : (void)fmi3GetNominalsOfContinuousStates(r->c, x, n);
  }
}

static void random_mode2(random_caller *r) {
  fmi2EventInfo info;
  fmi2Boolean enter, terminate;
  switch (random_below(10)) {
    case 0:
      fmi2SetupExperiment(r->c, (int)random_below(2), random_number(), random_number(), (int)random_below(2),
                          random_number());
      break;
    case 1:
    case 2: fmi2EnterInitializationMode(r->c); break;
    case 3:
    case 4: fmi2ExitInitializationMode(r->c); break;
    case 5: fmi2NewDiscreteStates(r->c, random_below(5) ? &info : NULL); break;
    case 6: fmi2EnterContinuousTimeMode(r->c); break;
    case 7: fmi2EnterEventMode(r->c); break;
    case 8: fmi2CompletedIntegratorStep(r->c, fmi2True, &enter, random_below(5) ? &terminate : NULL); break;
    default:
      random_below(4)   ? (void)fmi2CancelStep(r->c)
      : random_below(4) ? (void)fmi2Terminate(r->c)
                        : (void)fmi2Reset(r->c);
  }
}

static void random_mode3(random_caller *r) {
  bool b[5];
  double next;
  switch (random_below(11)) {
    case 0:
    case 1:
      fmi3EnterInitializationMode(r->c, random_below(2), random_number(), 0, random_below(2), random_number());
      break;
    case 2:
    case 3: fmi3ExitInitializationMode(r->c); break;
    case 4: fmi3UpdateDiscreteStates(r->c, b, b + 1, b + 2, b + 3, b + 4, random_below(5) ? &next : NULL); break;
    case 5: fmi3EnterContinuousTimeMode(r->c); break;
    case 6: fmi3EnterStepMode(r->c); break;
    case 7: fmi3EnterEventMode(r->c); break;
    case 8: fmi3CompletedIntegratorStep(r->c, true, b, random_below(5) ? b + 1 : NULL); break;
    case 9: fmi3EnterConfigurationMode(r->c); break;
    default:
      random_below(4)   ? (void)fmi3ExitConfigurationMode(r->c)
      : random_below(4) ? (void)fmi3Terminate(r->c)
                        : (void)fmi3Reset(r->c);
  }
}

static void random_snapshot(random_caller *r) {
  if (r->version == 2) {
    if (random_below(2)) fmi2GetFMUstate(r->c, &r->state);
    else if (random_below(2)) fmi2SetFMUstate(r->c, r->state);
    else fmi2FreeFMUstate(r->c, &r->state);
  } else if (random_below(2)) {
    fmi3GetFMUState(r->c, &r->state);
  } else if (random_below(2)) {
    fmi3SetFMUState(r->c, r->state);
  } else {
    fmi3FreeFMUState(r->c, &r->state);
  }
}

static void random_step(random_caller *r) {
  const uint32_t reference = 0;
  const fmi2String category = "logEvents";
  double last = r->time;
  bool flags[3];
  const double length = random_below(9) ? 0.002 * (1 + random_below(10)) : random_number();
  if (r->version == 2) fmi2GetRealStatus(r->c, fmi2LastSuccessfulTime, &r->time);
  if (r->version == 2) fmi2DoStep(r->c, r->time, fmin(length, 0.05), fmi2False);
  stepping = r->version == 3 ? r->c : NULL;
  if (r->version == 3) fmi3DoStep(r->c, r->time, fmin(length, 0.05), false, flags, flags + 1, flags + 2, &last);
  stepping = NULL;
  if (r->version == 3) r->time = last;
  if (r->version == 2)
    fmi2SetDebugLogging(r->c, (int)random_below(2), random_below(2), random_below(5) ? &category : NULL);
  else fmi3GetInt32(r->c, &reference, random_below(2), NULL, 0);
}

static void call_randomly(const scene *s, int version, fmu_kind kind) {
  random_caller r = {s, version, instantiate(s, version, kind, s->token), NULL, 0};
  void *fresh = instantiate(s, version, kind, s->token);
  EXPECT(r.c && fresh);
  for (int k = 0; r.c && k < RANDOM_CALLS; k++) switch (random_below(7)) {
      case 0: random_values(&r); break;
      case 5: random_rates(&r); break;
      case 1: random_states(&r); break;
      case 2:
      case 3: version == 2 ? random_mode2(&r) : random_mode3(&r); break;
      case 4: random_snapshot(&r); break;
      default: random_step(&r);
    }
  /* a reset restores the initial state after any calls */
  EXPECT((version == 2 ? (int)fmi2Reset(r.c) : (int)fmi3Reset(r.c)) == 0);
  EXPECT(initialize(version, kind, r.c) == 0 && initialize(version, kind, fresh) == 0);
  double *one = read_all(s, version, r.c), *other = read_all(s, version, fresh);
  EXPECT(one && other && memcmp(one, other, s->reals * sizeof *one) == 0);
  free(one);
  free(other);
  if (version == 2) fmi2FreeFMUstate(r.c, &r.state);
  else fmi3FreeFMUState(r.c, &r.state);
  free_instance(version, fresh);
  free_instance(version, r.c);
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
      run_normally(&s, version, (fmu_kind)kind);
      call_randomly(&s, version, (fmu_kind)kind);
      corrupt_states(&s, (fmu_kind)kind);
      foreign_states(&s, (fmu_kind)kind);
    }
    load_corrupted(&s, version);
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
