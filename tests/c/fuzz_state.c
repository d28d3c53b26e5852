/* libFuzzer: any sequence of calls on one model, the file named by LINKWORK_FUZZ_MODEL. The bytes choose calls and
 * arguments; snapshots are restored, truncated and altered. */
#include "linkwork.h"
#include "model_file.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
  const uint8_t *bytes;
  size_t size;
} input;

static lw_model *model;
static unsigned char *snapshot;

static void consume(input *in, void *to, size_t n) {
  const size_t have = n < in->size ? n : in->size;
  memset(to, 0, n);
  memcpy(to, in->bytes, have);
  in->bytes += have;
  in->size -= have;
}

/* Offsets in the block, sometimes just behind it. */
static uint32_t consume_offset(input *in) {
  uint32_t offset;
  consume(in, &offset, sizeof offset);
  return offset % ((uint32_t)lw_model_sizes(model).reals + 8);
}

static double consume_real(input *in) {
  double value;
  consume(in, &value, sizeof value);
  return value;
}

static void restore(input *in, lw_state *state, size_t size) {
  uint16_t at;
  consume(in, &at, sizeof at);
  const size_t first = at % size, room = size - first;
  consume(in, snapshot + first, room < 16 ? room : 16);
  lw_state_restore(state, snapshot, size);
  lw_state_restore(state, snapshot, first);
}

static void write_mode(input *in, lw_state *state) {
  static const char *const modes[] = {"joint_closed", "locked", "taken_frame", "transition_memory", "event_memory"};
  uint8_t which, at;
  consume(in, &which, sizeof which);
  consume(in, &at, sizeof at);
  const double value = consume_real(in);
  for (int32_t i = 0; i < lw_field_count(); i++) {
    lw_field field;
    if (lw_model_field(model, i, &field) || strcmp(field.name, modes[which % 5]) != 0) continue;
    const int32_t n = field.rows * field.columns;
    if (n) lw_state_reals(state)[field.first + at % n] = which & 128 ? value : value != 0.0;
  }
  if (which & 64) lw_discrete_state_changed(state);
}

/* Numbers of transitions; most of them exist. */
static void make_transitions(input *in, lw_state *state) {
  int8_t given[3];
  consume(in, given, sizeof given);
  const int32_t count = lw_model_sizes(model).transitions + 1;
  const int32_t which[3] = {given[0] % count, given[1] % count, given[2] % count};
  lw_apply_transitions(state, which, 1 + given[0] % 3);
}

static void handle_transitions(input *in, lw_state *state, int which) {
  int32_t changed;
  double *indicators = calloc((size_t)lw_model_sizes(model).event_indicators + 1, sizeof *indicators), time;
  switch (which) {
    case 0: lw_start_events(state, &changed); break;
    case 1: lw_handle_events(state, &changed); break;
    case 2: make_transitions(in, state); break;
    case 3: write_mode(in, state); break;
    case 4:
      if (indicators) lw_event_indicators(state, indicators);
      lw_next_event_time(state, &time);
      break;
  }
  free(indicators);
}

static void call(input *in, lw_state *state) {
  const size_t size = lw_state_size(state);
  uint8_t which;
  consume(in, &which, sizeof which);
  const uint32_t a = consume_offset(in), b = consume_offset(in);
  double value = 0;
  switch (which % 15) {
    case 0: lw_assemble(state, 1e-10); break;
    case 1: lw_evaluate(state, (lw_stage)(a % (LW_STAGE_OUTPUTS + 1))); break;
    case 2:
      value = consume_real(in);
      lw_set_reals(state, &a, 1, &value);
      break;
    case 3: lw_get_reals(state, &a, 1, &value); break;
    case 4:
      value = consume_real(in);
      lw_directional_derivative(state, &a, 1, &b, 1, &value, &(double){0});
      lw_assembly_sensitivity(state, &a, 1, &b, 1, &value, &(double){0});
      break;
    case 5: lw_state_save(state, snapshot); break;
    case 6: restore(in, state, size); break;
    case 7: lw_state_reset(state); break;
    case 8: lw_step_accepted(state), (void)lw_check_constraints(state); break;
    case 9:
      if (a < (uint32_t)lw_model_sizes(model).reals) lw_state_reals(state)[a] = consume_real(in);
      lw_state_changed(state, (lw_stage)(b % (LW_STAGE_OUTPUTS + 1)));
      break;
    default: handle_transitions(in, state, which % 15 - 10); break;
  }
  if (!lw_state_message(state)) abort();
}

static void load(void) {
  const char *path = getenv("LINKWORK_FUZZ_MODEL");
  size_t size = 0;
  unsigned char *bytes = path ? read_file(path, &size) : NULL;
  char message[200] = "LINKWORK_FUZZ_MODEL names no readable file";
  lw_state *state = NULL;
  if (!bytes || lw_model_load(bytes, size, &model, message, sizeof message) || lw_state_create(model, &state)) {
    fprintf(stderr, "fuzz_state: %s\n", message);
    exit(2);
  }
  snapshot = malloc(lw_state_size(state));
  if (!snapshot) exit(2);
  lw_state_free(state);
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (!model) load();
  lw_state *state = NULL;
  if (lw_state_create(model, &state) != LW_OK) return 0;
  lw_state_save(state, snapshot);
  for (input in = {bytes, size}; in.size;) call(&in, state);
  lw_state_free(state);
  return 0;
}
