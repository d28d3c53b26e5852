/* The states in the block: assembled, given by the independent ones, or written as they are; and the errors of the core. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"

static const double assembly_tolerance = 1e-8;

fmu_status fmu_core_status(const fmu *f, lw_status status, const char *action) {
  fmu_status result = FMU_ERROR;
  switch (status) {
    case LW_OK: return FMU_OK;
    case LW_ERROR_ASSEMBLY:
    case LW_ERROR_SINGULAR:
    case LW_ERROR_SOLVER: result = FMU_DISCARD; break;
    case LW_ERROR_MEMORY:
    case LW_ERROR_FORMAT:
    case LW_ERROR_PARAMETER:
    case LW_ERROR_VALUE:
    case LW_ERROR_USAGE: break;
  }
  return fmu_log_message(&f->log, result, "%s: %s", action, lw_state_message(f->state));
}

static fmu_status assemble(fmu *f) {
  if (f->run.assembled) return FMU_OK;
  const lw_status status = lw_assemble(f->state, assembly_tolerance);
  if (status != LW_OK) return fmu_log_message(&f->log, FMU_ERROR, "start values: %s", lw_state_message(f->state));
  f->run.assembled = f->run.restart_needed = 1;
  return FMU_OK;
}

fmu_status fmu_update_states(fmu *f) {
  if (f->run.mode & (FMU_INSTANTIATED | FMU_INITIALIZATION)) return assemble(f);
  if (!f->run.states_invalid) return FMU_OK;
  const lw_status status = lw_minimal_set(f->minimal, f->y);
  if (status == LW_OK) f->run.states_invalid = 0;
  return fmu_core_status(f, status, "the other states");
}

/* The start values in the model description are those of the mechanism at time 0, assembled. */
static int compute_declared_start(fmu *f) {
  const size_t size = (f->n_states + 1) * sizeof *f->declared_start;
  if (f->declared_start) return 1;
  if (!(f->declared_start = malloc(size))) return 0;
  lw_state_save(f->state, f->backup);
  lw_state_reset(f->state);
  const int known = lw_assemble(f->state, assembly_tolerance) == LW_OK;
  memcpy(f->declared_start, lw_state_reals(f->state) + f->first_state, size - sizeof *f->declared_start);
  for (uint32_t i = 0; i < f->n_states && !known; i++) f->declared_start[i] = NAN; /* none are declared */
  return lw_state_restore(f->state, f->backup, lw_state_size(f->state)) == LW_OK;
}

fmu_status fmu_find_start(fmu *f, uint32_t state, double value, uint32_t *start) {
  if (!compute_declared_start(f)) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  const uint32_t i = state - f->first_state, n_q = (uint32_t)f->size.nq, n_u = (uint32_t)f->size.nu;
  if (value == f->declared_start[i]) *start = 0;
  else if (i >= n_q + n_u) *start = f->first_start_element + i - n_q - n_u;
  else *start = i < n_q ? f->first_start_q + i : f->first_start_u + i - n_q;
  return FMU_OK;
}

void fmu_invalidate_states(fmu *f) {
  if (!f->minimal || f->kind == FMU_CO_SIMULATION || !(f->run.mode & FMU_INITIALIZED) || f->run.states_invalid) return;
  lw_minimal_get(f->minimal, f->y);
  f->run.states_invalid = 1;
}

fmu_status fmu_restore_backup(fmu *f) {
  return fmu_core_status(f, lw_state_restore(f->state, f->backup, lw_state_size(f->state)), "restoring the state");
}

/* The position of a number in an ascending list; -1: it is not there. */
static int64_t find(const fmu_list *list, uint32_t number) {
  uint32_t low = 0, high = list->n;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (list->items[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low < list->n && list->items[low] == number ? (int64_t)low : -1;
}

int64_t fmu_find_state(const fmu *f, uint32_t offset) {
  if (offset < f->first_state || offset - f->first_state >= f->n_states) return -1;
  const uint32_t i = offset - f->first_state, n_q = (uint32_t)f->size.nq, n_u = (uint32_t)f->size.nu;
  if (!f->minimal) return i;
  if (i >= n_q + n_u) return (int64_t)f->interface.q.n + f->interface.u.n + i - n_q - n_u;
  if (i < n_q) return find(&f->interface.q, i);
  const int64_t speed = find(&f->interface.u, i - n_q);
  return speed < 0 ? -1 : speed + f->interface.q.n;
}

void fmu_write_states(fmu *f, const double *x) {
  double *states = lw_state_reals(f->state) + f->first_state;
  const size_t size = f->n_states * sizeof *x;
  if (memcmp(states, x, size) == 0) return;
  memcpy(states, x, size);
  lw_motion_changed(f->state);
}
