/* Times the core without Python: time_core MODEL MOTION, where MOTION holds the doubles q, u (tree joints), tau (all).
 * Prints for each stage its name and the CPU time of one evaluation in us, then the bytes of the state's block and of
 * the process at its peak (0: unknown), then the accelerations of the tree joints.
 * Best of many batches, as the machine may be shared; the stages alternate, so that all run under the same load.
 * time_core MODEL MOTION COUNT only makes so many evaluations, in order that another program counts instructions. */
#include "linkwork.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 25 };
static const double batch_seconds = 0.016, most_seconds = 2.0; /* the first as in the peers' benchmark */

static const struct stage {
  const char *name;
  lw_stage stage;
} stages[] = {{"accelerations", LW_STAGE_ACCELERATIONS}, {"derivatives", LW_STAGE_DERIVATIVES}};
enum { STAGES = sizeof stages / sizeof *stages };

_Noreturn static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail(path, "cannot be read");
  *size = (size_t)ftell(file);
  void *bytes = malloc(*size + 1);
  rewind(file);
  if (!bytes || fread(bytes, 1, *size, file) != *size) fail(path, "cannot be read");
  fclose(file);
  return bytes;
}

static lw_field field_named(const lw_model *model, const char *name) {
  lw_field field = {0};
  for (int32_t i = 0; i < lw_field_count(); i++)
    if (lw_model_field(model, i, &field) == LW_OK && !strcmp(field.name, name)) return field;
  fail(name, "no such field");
}

static void enter_motion(const lw_model *model, lw_state *state, const char *path) {
  static const char *const names[] = {"q", "u", "tau"};
  size_t size, used = 0;
  double *motion = read_file(path, &size);
  for (int k = 0; k < 3; k++) {
    const lw_field field = field_named(model, names[k]);
    const size_t n = sizeof *motion * (size_t)(field.rows * field.columns);
    if (used + n > size) fail(path, "too short for this model");
    memcpy(lw_state_reals(state) + field.first, (char *)motion + used, n);
    used += n;
  }
  if (used != size) fail(path, "too long for this model");
  free(motion);
  lw_state_changed(state, LW_STAGE_CONSTANTS);
}

static void evaluate(lw_state *state, lw_stage stage, long evaluations) {
  for (long i = 0; i < evaluations; i++) {
    lw_state_changed(state, LW_STAGE_CONSTANTS);
    if (lw_evaluate(state, stage)) fail("evaluation", lw_state_message(state));
  }
}

static double seconds(lw_state *state, lw_stage stage, long evaluations) {
  struct timespec start, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  evaluate(state, stage, evaluations);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

/* Slow models get one long evaluation a batch, and few batches. */
static void print_times(lw_state *state) {
  long evaluations[STAGES];
  double best[STAGES], spent = 0.0;
  for (int k = 0; k < STAGES; k++) {
    best[k] = seconds(state, stages[k].stage, 1);
    if (best[k] < batch_seconds / 100) best[k] = seconds(state, stages[k].stage, 100) / 100;
    evaluations[k] = 1 + (long)(batch_seconds / best[k]);
  }
  for (int batch = 0; batch < BATCHES && spent < most_seconds; batch++)
    for (int k = 0; k < STAGES; k++) {
      const double all = seconds(state, stages[k].stage, evaluations[k]), one = all / (double)evaluations[k];
      if (one < best[k]) best[k] = one;
      spent += all;
    }
  for (int k = 0; k < STAGES; k++) printf("%s %.6g\n", stages[k].name, 1e6 * best[k]);
}

/* Of this program alone, unlike what wait reports: that includes the caller's memory before exec. */
static void print_memory(const lw_model *model) {
  char line[256];
  long kilobytes = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
  if (status) fclose(status);
  printf("block %zu\n", sizeof(double) * (size_t)lw_model_sizes(model).reals);
  printf("peak %ld\n", 1024 * kilobytes);
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) fail("usage", "time_core MODEL MOTION [COUNT]");
  char message[256];
  size_t size;
  lw_model *model;
  lw_state *state;
  void *bytes = read_file(argv[1], &size);
  if (lw_model_load(bytes, size, &model, message, sizeof message)) fail(argv[1], message);
  if (lw_state_create(model, &state)) fail(argv[1], "no memory");
  enter_motion(model, state, argv[2]);
  int32_t jumps; /* frictions are decided as in a run */
  if (lw_start_events(state, &jumps)) fail("start", lw_state_message(state));
  if (argc == 4) evaluate(state, LW_STAGE_ACCELERATIONS, strtol(argv[3], NULL, 10));
  else print_times(state), print_memory(model);
  const double *acceleration = lw_state_reals(state) + field_named(model, "acceleration").first;
  for (int32_t i = 0; i < lw_model_sizes(model).nu; i++) printf("%.17g ", acceleration[i]);
  printf("\n");
  lw_state_free(state);
  lw_model_free(model);
  free(bytes);
  return 0;
}
