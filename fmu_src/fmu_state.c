#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"

/* An FMU state is one sequence of bytes, in memory as in serialised form: this header, the
 * state of the content. Serialisation fills in the checksum. */
typedef struct header {
  char magic[8];
  uint64_t size;
  char token[FMU_TOKEN_SIZE];
  uint32_t kind;
  uint32_t checksum; /* of all bytes after it */
  fmu_run run;
} header;

static const char magic[8] = {'L', 'W', 'F', 'M', 'U', 'S', '0', '5'};

static size_t snapshot_size(const fmu *f) { return sizeof(header) + f->content->state_size(f); }

static uint32_t compute_checksum(const unsigned char *bytes, size_t size) {
  const size_t covered = offsetof(header, run);
  return lw_crc32(0, bytes + covered, size - covered);
}

static int is_flag(uint32_t x) { return x <= 1; }

/* Rejects values that no instance can have: they come from invented bytes. */
static int is_valid_run(const fmu *f, const fmu_run *run) {
  const uint32_t modes = FMU_INSTANTIATED | FMU_INITIALIZATION | FMU_EVENT | FMU_TERMINATED |
                         (f->kind == FMU_CO_SIMULATION ? FMU_STEP : FMU_CONTINUOUS) |
                         (f->dae.n ? FMU_CONFIGURATION : 0u);
  const int one_mode = run->mode && !(run->mode & (run->mode - 1)) && !(run->mode & ~modes);
  const int numbers = isfinite(run->time) && isfinite(run->stop_time) && run->tolerance > 0 &&
                      run->tolerance < INFINITY && run->set_tolerance >= 0 && run->set_tolerance < 1 &&
                      isfinite(run->last_step) && isfinite(run->interpolation_start);
  return one_mode && numbers && (run->solver == FMU_DOPRI5 || run->solver == FMU_RODAS5P) &&
         is_flag(run->stop_defined) && is_flag(run->assembled) && is_flag(run->restart_needed) &&
         is_flag(run->input_changed) && is_flag(run->event_pending) && is_flag(run->dynamics_changed) &&
         run->interpolation <= FMU_INPUTS_INTERPOLATED && run->states_invalid == 0 &&
         (run->dae == 0 || (run->dae == 1 && f->dae.n && f->kind == FMU_MODEL_EXCHANGE));
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
  const size_t size = snapshot_size(f);
  unsigned char *bytes = *snapshot ? *snapshot : malloc(size);
  if (!bytes) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  const fmu_status status = f->content->save_state(f, bytes + sizeof(header));
  if (status != FMU_OK) {
    if (!*snapshot) free(bytes);
    return status;
  }
  header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, magic, sizeof magic);
  memcpy(h.token, f->token, sizeof h.token);
  h.size = size;
  h.kind = (uint32_t)f->kind;
  h.run = f->run;
  memcpy(bytes, &h, sizeof h);
  *snapshot = bytes;
  return FMU_OK;
}

fmu_status fmu_snapshot_set(fmu *f, const void *snapshot) {
  if (!snapshot) return fmu_log_message(&f->log, FMU_ERROR, "the state is NULL");
  header h;
  memcpy(&h, snapshot, sizeof h);
  const char *why = why_refused(f, &h);
  if (why) return fmu_log_message(&f->log, FMU_ERROR, "%s", why);
  const fmu_status status = f->content->restore_state(f, (const unsigned char *)snapshot + sizeof h);
  if (status == FMU_OK) f->run = h.run;
  return status;
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
  header h;
  memset(&h, 0, sizeof h);
  memcpy(&h, bytes, size < sizeof h ? size : sizeof h);
  const char *why = size < sizeof h ? NULL : why_refused(f, &h); /* of another FMU it may have any size */
  if (!why && size < snapshot_size(f))
    return fmu_log_message(&f->log, FMU_ERROR, "the state is truncated: %zu bytes of %zu", size, snapshot_size(f));
  if (!why && size > snapshot_size(f))
    return fmu_log_message(&f->log, FMU_ERROR, "%zu bytes follow the state, which takes %zu", size - snapshot_size(f),
                           snapshot_size(f));
  if (!why && compute_checksum(bytes, snapshot_size(f)) != h.checksum)
    why = "its checksum is wrong: the bytes have been altered";
  if (why) return fmu_log_message(&f->log, FMU_ERROR, "%s", why);
  void *copy = malloc(snapshot_size(f));
  if (!copy) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  memcpy(copy, bytes, snapshot_size(f));
  *snapshot = copy;
  return FMU_OK;
}
