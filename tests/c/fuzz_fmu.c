/* libFuzzer: any sequence of FMI calls on one FMU, in either version and interface type; LINKWORK_FUZZ_RESOURCES names
 * the folder of its resources. The bytes choose calls and arguments. Serialised FMU states are altered and get the
 * right checksum, so that the checks behind it are reached. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"
#include "fmi3.h"
#include "instance.h"

enum { LIST = 6, MOST_STATES = 64, MOST_CALLS = 200 };

typedef struct input {
  const uint8_t *bytes;
  size_t size;
} input;

typedef struct importer {
  input in;
  int version, calls;
  void *c, *state;
  uint32_t reals;
  double time;
} importer;

static const char *folder;
static char token[FMU_TOKEN_SIZE];
static uint32_t reals;

static void consume(input *in, void *to, size_t n) {
  const size_t have = n < in->size ? n : in->size;
  memset(to, 0, n);
  if (have) memcpy(to, in->bytes, have);
  in->bytes += have;
  in->size -= have;
}

static uint8_t consume_byte(importer *i) {
  uint8_t byte;
  consume(&i->in, &byte, 1);
  return byte;
}

static uint32_t consume_reference(importer *i) {
  uint16_t reference;
  consume(&i->in, &reference, sizeof reference);
  return reference == UINT16_MAX ? UINT32_MAX : reference % (i->reals + 12);
}

/* Mostly of order one: extreme numbers only prolong the integration. */
static double consume_number(importer *i) {
  int16_t number;
  consume(&i->in, &number, sizeof number);
  if (number == INT16_MAX) return NAN;
  if (number == INT16_MIN) return INFINITY;
  return number / 8192.0;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

static void log2_line(fmi2ComponentEnvironment e, fmi2String name, fmi2Status status, fmi2String category,
                      fmi2String text, ...) {
  (void)e, (void)status;
  if (!name || !category || !*text) abort();
}

static void log3_line(fmi3InstanceEnvironment e, fmi3Status status, fmi3String category, fmi3String text) {
  (void)e, (void)status;
  if (!category || !*text) abort();
}

static const fmi2CallbackFunctions callbacks = {log2_line, NULL, NULL, NULL, NULL};

/* Gets and sets variables and requests an early return: calls in the callback obey the mode table too. */
static void update(fmi3InstanceEnvironment e, fmi3Float64 time, fmi3Boolean set_requested, fmi3Boolean get_allowed,
                   fmi3Boolean step_finished, fmi3Boolean can_return_early, fmi3Boolean *early_return_requested,
                   fmi3Float64 *early_return_time) {
  importer *i = e;
  const uint32_t reference = consume_reference(i);
  double value = consume_number(i);
  (void)set_requested, (void)get_allowed, (void)step_finished;
  if (!i->c) return;
  fmi3GetFloat64(i->c, &reference, 1, &value, 1);
  if (consume_byte(i) & 1) fmi3SetFloat64(i->c, &reference, 1, &value, 1);
  *early_return_requested = can_return_early && (consume_byte(i) & 7) == 0;
  *early_return_time = time;
}

static void make(importer *i, uint8_t kind) {
  const fmi3ValueReference intermediate = consume_reference(i);
  if (i->version == 2)
    i->c = fmi2Instantiate("unit", kind & 1 ? fmi2CoSimulation : fmi2ModelExchange, token, folder, &callbacks,
                           fmi2False, kind & 2);
  else if (kind & 1)
    i->c = fmi3InstantiateCoSimulation("unit", token, folder, false, kind & 2, kind & 4, kind & 8, &intermediate,
                                       kind >> 4 & 1, i, log3_line, kind & 32 ? update : NULL);
  else i->c = fmi3InstantiateModelExchange("unit", token, folder, false, kind & 2, i, log3_line);
}

static void call_variables(importer *i) {
  uint32_t refs[LIST], more[LIST];
  double values[LIST], seed[LIST];
  int32_t whole[LIST] = {0}, orders[LIST] = {0};
  int64_t long_one[LIST] = {0};
  bool flags[LIST] = {0};
  const uint8_t n = consume_byte(i) % (LIST + 1), m = consume_byte(i) % (LIST + 1);
  for (int k = 0; k < LIST; k++) {
    refs[k] = consume_reference(i);
    more[k] = consume_reference(i);
    seed[k] = values[k] = consume_number(i);
    whole[k] = consume_byte(i) % 4;
    orders[k] = whole[k];
    long_one[k] = whole[k];
    flags[k] = whole[k] & 1;
  }
  const uint8_t which = consume_byte(i) % 12;
  if (i->version == 2) switch (which) {
      case 0: fmi2GetReal(i->c, refs, n, values); break;
      case 1: fmi2SetReal(i->c, refs, n, values); break;
      case 2: fmi2GetInteger(i->c, refs, n, whole); break;
      case 3: fmi2SetInteger(i->c, refs, n, whole); break;
      case 4: fmi2SetBoolean(i->c, refs, n, whole); break;
      case 5: fmi2GetDirectionalDerivative(i->c, refs, n, more, m, seed, values); break;
      case 6: fmi2SetRealInputDerivatives(i->c, refs, n, orders, values); break;
      case 7: fmi2GetRealOutputDerivatives(i->c, refs, n, orders, values); break;
      default: fmi2SetReal(i->c, refs, 1, values); break;
    }
  else switch (which) {
      case 0: fmi3GetFloat64(i->c, refs, n, values, n); break;
      case 1: fmi3SetFloat64(i->c, refs, n, values, n); break;
      case 2: fmi3GetInt64(i->c, refs, n, long_one, n); break;
      case 3: fmi3SetInt64(i->c, refs, n, long_one, n); break;
      case 4: fmi3SetBoolean(i->c, refs, n, flags, n); break;
      case 5: fmi3GetDirectionalDerivative(i->c, refs, n, more, m, seed, m, values, n); break;
      case 6: fmi3GetAdjointDerivative(i->c, refs, n, more, m, seed, n, values, m); break;
      case 7: fmi3GetOutputDerivatives(i->c, refs, n, orders, values, n); break;
      case 8: {
        size_t count = 0, elements[2][LIST];
        fmi3DependencyKind kinds[LIST];
        if (fmi3GetNumberOfVariableDependencies(i->c, refs[0], &count) == fmi3OK && count <= LIST)
          fmi3GetVariableDependencies(i->c, refs[0], elements[0], more, elements[1], kinds, count);
        break;
      }
      default: fmi3SetFloat64(i->c, refs, 1, values, 1); break;
    }
}

static void call_states(importer *i) {
  double x[MOST_STATES];
  const size_t n = consume_byte(i) % (MOST_STATES + 1);
  for (size_t k = 0; k < n; k++) x[k] = consume_number(i);
  const int two = i->version == 2;
  switch (consume_byte(i) % 6) {
    case 0: two ? (void)fmi2SetContinuousStates(i->c, x, n) : (void)fmi3SetContinuousStates(i->c, x, n); break;
    case 1: two ? (void)fmi2GetContinuousStates(i->c, x, n) : (void)fmi3GetContinuousStates(i->c, x, n); break;
    case 2: two ? (void)fmi2GetDerivatives(i->c, x, n) : (void)fmi3GetContinuousStateDerivatives(i->c, x, n); break;
    case 3: two ? (void)fmi2GetEventIndicators(i->c, x, n) : (void)fmi3GetEventIndicators(i->c, x, n); break;
    case 4: two ? (void)fmi2SetTime(i->c, consume_number(i)) : (void)fmi3SetTime(i->c, consume_number(i)); break;
    default:
      two ? (void)fmi2GetNominalsOfContinuousStates(i->c, x, n) : (void)fmi3GetNominalsOfContinuousStates(i->c, x, n);
  }
}

static void call_modes(importer *i) {
  fmi2EventInfo info;
  bool b[5];
  fmi2Boolean yes[2];
  double next, tolerance = consume_number(i), stop = consume_number(i);
  const int two = i->version == 2;
  switch (consume_byte(i) % 9) {
    case 0:
      if (two) fmi2SetupExperiment(i->c, tolerance > 0, 1e-3 * tolerance, 0, stop > 0, stop);
      else fmi3EnterInitializationMode(i->c, tolerance > 0, 1e-3 * tolerance, 0, stop > 0, stop);
      if (two) fmi2EnterInitializationMode(i->c);
      break;
    case 1:
    case 2: two ? (void)fmi2ExitInitializationMode(i->c) : (void)fmi3ExitInitializationMode(i->c); break;
    case 3: two ? (void)fmi2EnterEventMode(i->c) : (void)fmi3EnterEventMode(i->c); break;
    case 4:
      two ? (void)fmi2NewDiscreteStates(i->c, &info)
          : (void)fmi3UpdateDiscreteStates(i->c, b, b + 1, b + 2, b + 3, b + 4, &next);
      break;
    case 5: two ? (void)fmi2EnterContinuousTimeMode(i->c) : (void)fmi3EnterContinuousTimeMode(i->c); break;
    case 6:
      two ? (void)fmi2CompletedIntegratorStep(i->c, 1, yes, yes + 1)
          : (void)fmi3CompletedIntegratorStep(i->c, true, b, b + 1);
      break;
    case 7: two ? (void)0 : (void)fmi3EnterStepMode(i->c); break;
    default:
      if (consume_byte(i) & 3) break;
      two ? (void)fmi2Reset(i->c) : (void)fmi3Reset(i->c);
      i->time = 0;
  }
}

static void call_step(importer *i) {
  bool flags[3];
  double last = i->time;
  const double length = fmin(0.02 * fabs(consume_number(i)), 0.05);
  if (i->version == 2) {
    fmi2DoStep(i->c, i->time, length, fmi2True);
    fmi2GetRealStatus(i->c, fmi2LastSuccessfulTime, &i->time);
  } else if (fmi3DoStep(i->c, i->time, length, true, flags, flags + 1, flags + 2, &last) == fmi3OK) {
    i->time = last;
  }
}

/* ---- states of the instance -------------------------------------------------------------------------- */

/* Alters some bytes and usually corrects the checksum, at its place in the header of `fmu_snapshot_write`. */
static void alter(importer *i, unsigned char *bytes, size_t size) {
  const size_t at_checksum = 8 + sizeof(uint64_t) + FMU_TOKEN_SIZE + sizeof(uint32_t), covered = at_checksum + 4;
  for (uint8_t n = consume_byte(i) % 9; n; n--) {
    uint16_t where;
    consume(&i->in, &where, sizeof where);
    bytes[where % size] ^= consume_byte(i);
  }
  if (consume_byte(i) & 1 || size <= covered) return;
  const uint32_t checksum = lw_crc32(0, bytes + covered, size - covered);
  memcpy(bytes + at_checksum, &checksum, sizeof checksum);
}

static void call_serialised(importer *i) {
  const int two = i->version == 2;
  void *state = NULL, *copy = NULL;
  size_t size = 0;
  two ? (void)fmi2GetFMUstate(i->c, &state) : (void)fmi3GetFMUState(i->c, &state);
  if (!state) return;
  two ? (void)fmi2SerializedFMUstateSize(i->c, state, &size) : (void)fmi3SerializedFMUStateSize(i->c, state, &size);
  unsigned char *bytes = malloc(size);
  if (bytes) {
    two ? (void)fmi2SerializeFMUstate(i->c, state, (fmi2Byte *)bytes, size)
        : (void)fmi3SerializeFMUState(i->c, state, bytes, size);
    alter(i, bytes, size);
    const size_t given = consume_byte(i) & 15 ? size : size / 2;
    two ? (void)fmi2DeSerializeFMUstate(i->c, (const fmi2Byte *)bytes, given, &copy)
        : (void)fmi3DeserializeFMUState(i->c, bytes, given, &copy);
    if (copy) two ? (void)fmi2SetFMUstate(i->c, copy) : (void)fmi3SetFMUState(i->c, copy);
  }
  free(bytes);
  two ? (void)fmi2FreeFMUstate(i->c, &state) : (void)fmi3FreeFMUState(i->c, &state);
  two ? (void)fmi2FreeFMUstate(i->c, &copy) : (void)fmi3FreeFMUState(i->c, &copy);
}

static void call_saved(importer *i) {
  const int two = i->version == 2;
  switch (consume_byte(i) % 3) {
    case 0: two ? (void)fmi2GetFMUstate(i->c, &i->state) : (void)fmi3GetFMUState(i->c, &i->state); break;
    case 1: two ? (void)fmi2SetFMUstate(i->c, i->state) : (void)fmi3SetFMUState(i->c, i->state); break;
    default: two ? (void)fmi2FreeFMUstate(i->c, &i->state) : (void)fmi3FreeFMUState(i->c, &i->state);
  }
}

/* ---- one input --------------------------------------------------------------------------------------- */

static void load(void) {
  const fmu_log quiet = {0};
  fmu_resources resources;
  char message[200] = "LINKWORK_FUZZ_RESOURCES names no folder of resources";
  lw_model *model = NULL;
  folder = getenv("LINKWORK_FUZZ_RESOURCES");
  if (!fmu_open_resources(&quiet, folder, &resources) ||
      lw_model_load(resources.model, resources.model_size, &model, message, sizeof message)) {
    fprintf(stderr, "fuzz_fmu: %s\n", message);
    exit(2);
  }
  fmu_make_token(&resources, token);
  reals = (uint32_t)lw_model_sizes(model).reals;
  lw_model_free(model);
  fmu_close_resources(&resources);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (!folder) load();
  importer i = {.in = {bytes, size}, .reals = reals};
  const uint8_t kind = consume_byte(&i);
  i.version = kind & 64 ? 2 : 3;
  make(&i, kind);
  while (i.c && i.in.size && i.calls++ < MOST_CALLS) switch (consume_byte(&i) % 8) {
      case 0:
      case 1: call_variables(&i); break;
      case 2: call_states(&i); break;
      case 3:
      case 4: call_modes(&i); break;
      case 5: call_serialised(&i); break;
      case 6: call_saved(&i); break;
      default: call_step(&i);
    }
  if (i.c) i.version == 2 ? (void)fmi2FreeFMUstate(i.c, &i.state) : (void)fmi3FreeFMUState(i.c, &i.state);
  i.version == 2 ? fmi2FreeInstance(i.c) : fmi3FreeInstance(i.c);
  return 0;
}
