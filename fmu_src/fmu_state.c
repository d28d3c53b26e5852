#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

/* An FMU state is one sequence of bytes, in memory as in serialised form: this header, the input polynomials, the
 * snapshot of the core. Serialisation fills in the checksum. */
typedef struct header {
  char magic[8];
  uint64_t size;
  char token[FMU_TOKEN_SIZE];
  uint32_t kind;
  uint32_t checksum; /* of all bytes after it */
  fmu_run run;
} header;

static const char magic[8] = {'L', 'W', 'F', 'M', 'U', 'S', '0', '3'};

static size_t inputs_size(const fmu *f) { return f->input.count * sizeof *f->polynomial; }

static size_t snapshot_size(const fmu *f) { return sizeof(header) + inputs_size(f) + lw_state_size(f->state); }

static uint32_t compute_checksum(const unsigned char *bytes, size_t size) {
  const size_t covered = offsetof(header, run);
  return lw_crc32(0, bytes + covered, size - covered);
}

static int is_flag(uint32_t x) { return x <= 1; }

/* Rejects values that no instance can have: they come from invented bytes. */
static int is_valid_run(const fmu *f, const fmu_run *run) {
  const uint32_t modes = FMU_INSTANTIATED | FMU_INITIALIZATION | FMU_EVENT | FMU_TERMINATED |
                         (f->kind == FMU_CO_SIMULATION ? FMU_STEP : FMU_CONTINUOUS);
  const int one_mode = run->mode && !(run->mode & (run->mode - 1)) && !(run->mode & ~modes);
  const int numbers = isfinite(run->time) && isfinite(run->stop_time) && run->tolerance > 0 &&
                      run->tolerance < INFINITY && run->set_tolerance >= 0 && run->set_tolerance < 1 &&
                      isfinite(run->last_step) && isfinite(run->interpolation_start);
  return one_mode && numbers && (run->solver == FMU_DOPRI5 || run->solver == FMU_RODAS5P) &&
         is_flag(run->stop_defined) && is_flag(run->assembled) && is_flag(run->restart_needed) &&
         is_flag(run->input_changed) && is_flag(run->event_pending) && is_flag(run->states_changed) &&
         run->interpolation <= FMU_INPUTS_INTERPOLATED && run->states_invalid == 0;
}

static const char *why_refused(const fmu *f, const header *h) {
  if (memcmp(h->magic, magic, sizeof magic) != 0) return "it is not an FMU state of this version";
  if (memcmp(h->token, f->token, sizeof f->token) != 0) return "it is the FMU state of another FMU";
  if (h->size != snapshot_size(f)) return "it has the wrong size";
  if (h->kind != (uint32_t)f->kind) return "Model Exchange and Co-Simulation have different states";
  if (!is_valid_run(f, &h->run)) return "it is an FMU state that no instance can be in";
  return NULL;
}

fmu_status fmu_snapshot_get(fmu *f, void **snapshot) {
  if (!snapshot) return fmu_log_message(&f->log, FMU_ERROR, "the pointer to the state is NULL");
  if (f->run.states_invalid) {
    const fmu_status status = fmu_update_states(f);
    if (status != FMU_OK) return status;
  }
  const size_t size = snapshot_size(f);
  unsigned char *bytes = *snapshot ? *snapshot : malloc(size);
  if (!bytes) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  /* The instance and its copy must continue with the same bits, so both restart the integrator. */
  f->run.restart_needed = 1;
  header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, magic, sizeof magic);
  memcpy(h.token, f->token, sizeof h.token);
  h.size = size;
  h.kind = (uint32_t)f->kind;
  h.run = f->run;
  memcpy(bytes, &h, sizeof h);
  memcpy(bytes + sizeof h, f->polynomial, inputs_size(f));
  lw_state_save(f->state, bytes + sizeof h + inputs_size(f));
  *snapshot = bytes;
  return FMU_OK;
}

fmu_status fmu_snapshot_set(fmu *f, const void *snapshot) {
  if (!snapshot) return fmu_log_message(&f->log, FMU_ERROR, "the state is NULL");
  header h;
  memcpy(&h, snapshot, sizeof h);
  const char *why = why_refused(f, &h);
  if (why) return fmu_log_message(&f->log, FMU_ERROR, "%s", why);
  const unsigned char *inputs = (const unsigned char *)snapshot + sizeof h, *core = inputs + inputs_size(f);
  const fmu_status status = fmu_core_status(f, lw_state_restore(f->state, core, lw_state_size(f->state)), "the state");
  if (status != FMU_OK) return status;
  memcpy(f->polynomial, inputs, inputs_size(f));
  f->run = h.run;
  return FMU_OK;
}

fmu_status fmu_snapshot_free(fmu *f, void **snapshot) {
  (void)f;
  if (snapshot) {
    free(*snapshot);
    *snapshot = NULL;
  }
  return FMU_OK;
}

fmu_status fmu_snapshot_size(fmu *f, const void *snapshot, size_t *size) {
  if (!snapshot || !size) return fmu_log_message(&f->log, FMU_ERROR, "a pointer is NULL");
  *size = snapshot_size(f);
  return FMU_OK;
}

fmu_status fmu_snapshot_write(fmu *f, const void *snapshot, void *bytes, size_t size) {
  if (!snapshot || !bytes) return fmu_log_message(&f->log, FMU_ERROR, "a pointer is NULL");
  if (size < snapshot_size(f))
    return fmu_log_message(&f->log, FMU_ERROR, "the state takes %zu bytes", snapshot_size(f));
  memcpy(bytes, snapshot, snapshot_size(f));
  const uint32_t checksum = compute_checksum(bytes, snapshot_size(f));
  memcpy((unsigned char *)bytes + offsetof(header, checksum), &checksum, sizeof checksum);
  return FMU_OK;
}

fmu_status fmu_snapshot_read(fmu *f, const void *bytes, size_t size, void **snapshot) {
  if (!bytes || !snapshot) return fmu_log_message(&f->log, FMU_ERROR, "a pointer is NULL");
  if (size < snapshot_size(f))
    return fmu_log_message(&f->log, FMU_ERROR, "the state is truncated: %zu bytes of %zu", size, snapshot_size(f));
  header h;
  memcpy(&h, bytes, sizeof h);
  const char *why = why_refused(f, &h);
  if (!why && compute_checksum(bytes, snapshot_size(f)) != h.checksum)
    why = "its checksum is wrong: the bytes have been altered";
  if (why) return fmu_log_message(&f->log, FMU_ERROR, "%s", why);
  void *copy = malloc(snapshot_size(f));
  if (!copy) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  memcpy(copy, bytes, snapshot_size(f));
  *snapshot = copy;
  return FMU_OK;
}
