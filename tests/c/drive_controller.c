/* Drives controllers with folders of resources: their files, truncated and altered ones, and random calls of FMI 3.0
 * with altered FMU states. Run it with the sanitizers and valgrind; it prints failures, and a sum of the bits of all
 * values, which is the same on all platforms. */
#include <inttypes.h>
#include <stdio.h>

#include "expect.h"
#include "fmi3.h"
#include "instance.h"
#include "use_controller.h"

enum { ALTERED = 4000, CALLS = 4000, LIST = 6 };

static int accepted, restored;
static uint64_t sum;

/* A copy of exactly this size, so that the sanitizer sees each byte read beyond it. */
static void use_copy(const unsigned char *bytes, size_t size, uint32_t changes) {
  unsigned char *copy = malloc(size ? size : 1);
  if (!copy) return;
  memcpy(copy, bytes, size);
  for (uint32_t i = 0; size && i < changes; i++) {
    unsigned char *byte = &copy[random_below((uint32_t)size)];
    *byte = random_below(2) ? (unsigned char)random_below(256) : (unsigned char)(*byte + (random_below(2) ? 1 : -1));
  }
  accepted += use_controller(copy, size, &sum);
  free(copy);
}

static void drive_files(const unsigned char *bytes, size_t size) {
  EXPECT(use_controller(bytes, size, &sum));
  for (size_t n = 0; n < size; n++) use_copy(bytes, n, 0);
  EXPECT(accepted == 0);
  for (int k = 0; k < ALTERED; k++) use_copy(bytes, size, 1 + random_below(3));
}

/* ---- calls of FMI ------------------------------------------------------------------------------------------- */

static void log_line(fmi3InstanceEnvironment e, fmi3Status status, fmi3String category, fmi3String text) {
  (void)e, (void)status;
  EXPECT(*category && *text);
}

static double random_number(void) {
  static const double some[] = {0, -0.0, 1, -1, 1e-300, 1e300, -1e300, 1e9};
  const uint32_t k = random_below(16);
  return k < 8 ? some[k] : k == 8 ? 0.0 / some[0] : random_below(2000) * 1e-3 - 1;
}

/* Alters some bytes of a serialised state and usually corrects the checksum, at its place in the header. */
static void alter(unsigned char *bytes, size_t size) {
  const size_t at_checksum = 8 + sizeof(uint64_t) + FMU_TOKEN_SIZE + sizeof(uint32_t), covered = at_checksum + 4;
  for (uint32_t n = random_below(4); n; n--) bytes[random_below((uint32_t)size)] ^= (unsigned char)random_below(256);
  if (random_below(4) == 0) return;
  const uint32_t checksum = lw_crc32(0, bytes + covered, size - covered);
  memcpy(bytes + at_checksum, &checksum, sizeof checksum);
}

static void call_state(void *c, double *time) {
  void *state = NULL, *copy = NULL;
  size_t size = 0;
  EXPECT(!fmi3GetFMUState(c, &state) && !fmi3SerializedFMUStateSize(c, state, &size));
  unsigned char *bytes = malloc(size);
  if (bytes && !fmi3SerializeFMUState(c, state, bytes, size)) {
    alter(bytes, size);
    if (!fmi3DeserializeFMUState(c, bytes, size, &copy) && !fmi3SetFMUState(c, copy)) restored++;
    EXPECT(!fmi3SetFMUState(c, state));
  }
  free(bytes);
  fmi3FreeFMUState(c, &state);
  fmi3FreeFMUState(c, &copy);
  (void)time;
}

static void call(void *c, uint32_t n_variables, double *time) {
  uint32_t refs[LIST];
  double values[LIST], last = *time;
  int32_t whole[LIST] = {0};
  bool flags[LIST] = {0}, event, terminate, early;
  const uint32_t n = random_below(LIST + 1);
  for (int i = 0; i < LIST; i++) {
    refs[i] = random_below(n_variables + 3);
    values[i] = random_number();
    flags[i] = random_below(2);
  }
  switch (random_below(10)) {
    case 0: fmi3GetFloat64(c, refs, n, values, n); break;
    case 1: fmi3SetFloat64(c, refs, n, values, n); break;
    case 2: fmi3SetFloat64(c, refs, 1, values, 1); break;
    case 3: fmi3SetBoolean(c, refs, 1, flags, 1); break;
    case 4: fmi3GetBoolean(c, refs, 1, flags, 1); break;
    case 5: fmi3GetInt32(c, refs, 1, whole, 1); break;
    case 6: EXPECT(fmi3GetDirectionalDerivative(c, refs, n, refs, n, values, n, values, n) == fmi3Error); break;
    case 7: call_state(c, time); break;
    default:
      if (fmi3DoStep(c, *time, 1e-3 * random_below(200), true, &event, &terminate, &early, &last) == fmi3OK)
        *time = last;
  }
  EXPECT(fmi3EnterEventMode(c) == fmi3Error);
}

static void drive_calls(const char *folder, const fmu_resources *resources, uint32_t n_variables) {
  char token[FMU_TOKEN_SIZE];
  double time = 0;
  fmu_make_token(resources, token);
  EXPECT(!fmi3InstantiateModelExchange("unit", token, folder, false, true, NULL, log_line));
  EXPECT(!fmi3InstantiateCoSimulation("unit", "{}", folder, false, true, false, false, NULL, 0, NULL, log_line, NULL));
  void *c = fmi3InstantiateCoSimulation("unit", token, folder, false, true, true, true, NULL, 0, NULL, log_line, NULL);
  EXPECT(c);
  if (!c) return;
  EXPECT(!fmi3EnterInitializationMode(c, false, 0, 0, false, 0) && !fmi3ExitInitializationMode(c));
  for (int k = 0; k < CALLS; k++) call(c, n_variables, &time);
  EXPECT(time > 0 && restored > 0);
  EXPECT(!fmi3Reset(c));
  fmi3FreeInstance(c);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const fmu_log quiet = {0};
    fmu_resources resources;
    controller_model model;
    char message[CONTROLLER_MESSAGE] = "";
    subject = argv[i];
    accepted = restored = 0;
    sum = 0;
    random_state = 1;
    if (!fmu_open_resources(&quiet, argv[i], &resources) ||
        !controller_read(&model, resources.model, resources.model_size, message)) {
      fprintf(stderr, "%s: cannot be driven: %s\n", argv[i], message);
      return 2;
    }
    const uint32_t n_variables = model.n_variables;
    controller_model_free(&model);
    drive_files(resources.model, resources.model_size);
    drive_calls(argv[i], &resources, n_variables);
    fmu_close_resources(&resources);
    printf("%s: %d altered files accepted, %d altered states restored, values %016" PRIx64 "\n", argv[i], accepted,
           restored, sum);
  }
  return failures ? 1 : 0;
}
