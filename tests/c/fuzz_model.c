/* libFuzzer: any bytes as a serialised model. Either the model reader refuses them with a message, or every algorithm
 * runs on the mechanism and returns a status. */
#include "linkwork.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_OFFSET 12   /* offset of the size in the header of a model */
#define MAX_REALS 100000 /* larger models take time and find nothing new */
#define SEEDS 4

/* Offsets of the first doubles of a field with this access; returns how many. */
static size_t offsets_of(const lw_model *model, lw_access access, uint32_t offsets[SEEDS]) {
  size_t n = 0;
  for (int32_t i = 0; i < lw_field_count() && n < SEEDS; i++) {
    lw_field field;
    if (lw_model_field(model, i, &field) != LW_OK) abort();
    if (field.access == access && field.rows * field.columns > 0) offsets[n++] = (uint32_t)field.first;
  }
  return n;
}

static void differentiate(const lw_model *model, lw_state *state) {
  uint32_t unknowns[SEEDS], knowns[SEEDS];
  const double seed[SEEDS] = {1, -2, 0.5, 3};
  double sensitivity[SEEDS];
  const lw_access of[] = {LW_DERIVATIVE, LW_OUTPUT}, with[] = {LW_STATE, LW_INPUT, LW_PARAMETER};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (size_t j = 0; j < sizeof with / sizeof *with; j++) {
      const size_t n = offsets_of(model, of[i], unknowns), m = offsets_of(model, with[j], knowns);
      lw_directional_derivative(state, unknowns, n, knowns, m, seed, sensitivity);
    }
}

/* Applies each transition alone and handles the events that follow. Where these have no end, it is an error after very
 * many events, for one transition as for the next: the first error is enough. */
static void handle_transitions(const lw_model *model, lw_state *state) {
  const lw_sizes size = lw_model_sizes(model);
  double *indicators = calloc((size_t)size.event_indicators + 1, sizeof *indicators), time;
  int32_t changed;
  lw_start_events(state, &changed);
  for (int32_t i = 0; i < size.transitions && i < 64; i++) {
    lw_apply_transitions(state, &i, 1);
    if (indicators) lw_event_indicators(state, indicators);
    lw_next_event_time(state, &time);
    if (lw_handle_events(state, &changed)) break;
    lw_evaluate(state, LW_STAGE_OUTPUTS);
  }
  free(indicators);
}

static void exercise(const lw_model *model, lw_state *state) {
  const lw_sizes size = lw_model_sizes(model);
  double *udot = calloc((size_t)size.nu + 1, sizeof *udot), *tau = calloc((size_t)size.nu + 1, sizeof *tau);
  double *matrix = size.nu < 64 ? calloc((size_t)size.nu * (size_t)size.nu + 1, sizeof *matrix) : NULL;
  for (int stage = LW_STAGE_NONE; stage <= LW_STAGE_OUTPUTS; stage++) lw_evaluate(state, (lw_stage)stage);
  lw_assemble(state, 1e-10);
  lw_evaluate(state, LW_STAGE_OUTPUTS);
  lw_step_accepted(state);
  lw_watch_constraints(state, 1e-8, 1e-8);
  (void)lw_check_constraints(state);
  if (udot && tau) lw_inverse_dynamics(state, udot, tau);
  if (matrix) lw_mass_matrix(state, matrix);
  differentiate(model, state);
  handle_transitions(model, state);
  free(udot);
  free(tau);
  free(matrix);
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned int seed);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Mostly corrects the size in the header, so that models of a new length are read. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned int seed) {
  size = LLVMFuzzerMutate(bytes, size, max_size);
  const uint32_t stated = (uint32_t)size;
  if (size >= SIZE_OFFSET + sizeof stated && seed % 8) memcpy(bytes + SIZE_OFFSET, &stated, sizeof stated);
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char message[200];
  lw_model *model;
  const lw_status status = lw_model_load(bytes, size, &model, message, sizeof message);
  if ((status == LW_OK) != (model != NULL)) abort();
  if (status == LW_ERROR_FORMAT && !message[0]) abort();
  if (model && lw_model_sizes(model).reals <= MAX_REALS) {
    lw_state *state = NULL;
    if (lw_state_create(model, &state) == LW_OK) exercise(model, state);
    lw_state_free(state);
  }
  lw_model_free(model);
  return 0;
}
