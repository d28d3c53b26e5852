/* FMU states: everything that a later call depends on, in memory for the importer and serialised for another process. */
#include <math.h>
#include <stdint.h>
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

/* The handle of an FMU state; the bytes follow. An instance lists those that it has given, because importers pass
 * others too, of freed states, of other instances and uninitialised ones, and the addresses are the only difference. */
struct fmu_snapshot {
  fmu_snapshot *next;
};

static unsigned char *bytes_of(const fmu_snapshot *snapshot) { return (unsigned char *)(uintptr_t)(snapshot + 1); }

/* Where the list holds a handle; it ends with NULL. */
static fmu_snapshot **find_snapshot(fmu *f, const void *handle) {
  fmu_snapshot **found = &f->snapshots;
  while (*found && *found != handle) found = &(*found)->next;
  return found;
}

static int is_given(fmu *f, const void *handle) {
  if (!handle) fmu_log_message(&f->log, FMU_ERROR, "the state is NULL");
  else if (*find_snapshot(f, handle)) return 1;
  else
    fmu_log_message(&f->log, FMU_ERROR,
                    "the handle is none of an FMU state of this instance: it was never given, or the state was freed; "
                    "get the state first, and serialise it for another instance");
  return 0;
}

static fmu_snapshot *new_snapshot(fmu *f, size_t size) {
  fmu_snapshot *snapshot = malloc(sizeof *snapshot + size);
  if (!snapshot) fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  return snapshot;
}

static void give(fmu *f, fmu_snapshot *snapshot, void **handle) {
  snapshot->next = f->snapshots;
  f->snapshots = snapshot;
  *handle = snapshot;
}

static const char magic[8] = {'L', 'W', 'F', 'M', 'U', 'S', '0', '9'};

static size_t snapshot_size(const fmu *f) { return sizeof(header) + f->content->state_size(f); }

static uint32_t compute_checksum(const unsigned char *bytes, size_t size) {
  const size_t covered = offsetof(header, run);
  return lw_crc32(0, bytes + covered, size - covered);
}

static int is_flag(uint32_t x) { return x <= 1; }

static int is_size(double x) { return x >= 0 && x < INFINITY; }

/* Rejects values that no instance can have: they come from invented bytes. */
static int is_valid_run(const fmu *f, const fmu_run *run) {
  const uint32_t modes = FMU_INSTANTIATED | FMU_INITIALIZATION | FMU_EVENT | FMU_TERMINATED |
                         (f->kind == FMU_CO_SIMULATION ? FMU_STEP : FMU_CONTINUOUS) |
                         (f->dae.n ? FMU_CONFIGURATION : 0u);
  const int one_mode = run->mode && !(run->mode & (run->mode - 1)) && !(run->mode & ~modes);
  const int numbers = isfinite(run->time) && isfinite(run->stop_time) && run->tolerance > 0 &&
                      run->tolerance < INFINITY && run->set_tolerance >= 0 && run->set_tolerance < 1 &&
                      isfinite(run->interpolation_start) && isfinite(run->ahead_from) && isfinite(run->ahead_to) &&
                      isfinite(run->completed) && is_size(run->nominal.length) && is_size(run->nominal.speed) &&
                      is_size(run->nominal.rate);
  return one_mode && numbers && run->solver >= FMU_DOPRI5 && run->solver <= FMU_DOP853 && is_flag(run->stop_defined) &&
         is_flag(run->assembled) && is_flag(run->restart_needed) && is_flag(run->looked_ahead) &&
         is_flag(run->input_changed) && is_flag(run->dynamics_changed) &&
         run->interpolation <= FMU_INPUTS_INTERPOLATED && run->states_invalid == 0 && is_flag(run->nominals_changed) &&
         is_flag(run->sizes_changed) && (run->dae == 0 || (run->dae == 1 && f->dae.n && f->kind == FMU_MODEL_EXCHANGE));
}

static const char *why_refused(const fmu *f, const header *h) {
  if (memcmp(h->magic, magic, sizeof magic) != 0) return "it is not an FMU state of this version";
  if (memcmp(h->token, f->token, sizeof f->token) != 0) return "it is the FMU state of another FMU";
  if (h->kind != (uint32_t)f->kind) return "Model Exchange and Co-Simulation have different states";
  if (h->size != snapshot_size(f)) return "it has the wrong size";
  if (!is_valid_run(f, &h->run)) return "it is an FMU state that no instance can be in";
  return NULL;
}

fmu_status fmu_snapshot_get(fmu *f, void **handle) {
  if (!handle) return fmu_log_message(&f->log, FMU_ERROR, "the pointer to the state is NULL");
  if (*handle && !is_given(f, *handle)) return FMU_ERROR;
  const size_t size = snapshot_size(f);
  fmu_snapshot *snapshot = *handle ? *handle : new_snapshot(f, size);
  if (!snapshot) return FMU_ERROR;
  unsigned char *bytes = bytes_of(snapshot);
  const fmu_status status = f->content->save_state(f, bytes + sizeof(header));
  if (status != FMU_OK) {
    if (!*handle) free(snapshot);
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
  if (!*handle) give(f, snapshot, handle);
  return FMU_OK;
}

fmu_status fmu_snapshot_set(fmu *f, const void *handle) {
  if (!is_given(f, handle)) return FMU_ERROR;
  const unsigned char *bytes = bytes_of(handle);
  header h;
  memcpy(&h, bytes, sizeof h);
  const char *why = why_refused(f, &h);
  if (why) return fmu_log_message(&f->log, FMU_ERROR, "%s", why);
  const fmu_status status = f->content->restore_state(f, bytes + sizeof h);
  if (status == FMU_OK) f->run = h.run;
  return status;
}

fmu_status fmu_snapshot_free(fmu *f, void **handle) {
  if (!handle || !*handle) return FMU_OK;
  if (!is_given(f, *handle)) return FMU_ERROR;
  fmu_snapshot **found = find_snapshot(f, *handle);
  *found = (*found)->next;
  free(*handle);
  *handle = NULL;
  return FMU_OK;
}

void fmu_snapshot_free_all(fmu *f) {
  while (f->snapshots) {
    fmu_snapshot *next = f->snapshots->next;
    free(f->snapshots);
    f->snapshots = next;
  }
}

fmu_status fmu_snapshot_size(fmu *f, const void *handle, size_t *size) {
  if (!size) return fmu_log_message(&f->log, FMU_ERROR, "a pointer is NULL");
  if (!is_given(f, handle)) return FMU_ERROR;
  *size = snapshot_size(f);
  return FMU_OK;
}

fmu_status fmu_snapshot_write(fmu *f, const void *handle, void *bytes, size_t size) {
  if (!bytes) return fmu_log_message(&f->log, FMU_ERROR, "a pointer is NULL");
  if (!is_given(f, handle)) return FMU_ERROR;
  if (size < snapshot_size(f))
    return fmu_log_message(&f->log, FMU_ERROR, "the state takes %zu bytes", snapshot_size(f));
  memcpy(bytes, bytes_of(handle), snapshot_size(f));
  const uint32_t checksum = compute_checksum(bytes, snapshot_size(f));
  memcpy((unsigned char *)bytes + offsetof(header, checksum), &checksum, sizeof checksum);
  return FMU_OK;
}

fmu_status fmu_snapshot_read(fmu *f, const void *bytes, size_t size, void **handle) {
  if (!bytes || !handle) return fmu_log_message(&f->log, FMU_ERROR, "a pointer is NULL");
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
  fmu_snapshot *snapshot = new_snapshot(f, size);
  if (!snapshot) return FMU_ERROR;
  memcpy(bytes_of(snapshot), bytes, size);
  give(f, snapshot, handle);
  return FMU_OK;
}
