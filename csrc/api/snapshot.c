/* Snapshots of a state: all of its numbers in one copy. */
#include "block/state.h"
#include "topology/select.h"
#include <string.h>

size_t lw_state_size(const lw_state *s) { return s ? s->snapshot_size : 0; }

void lw_state_save(const lw_state *s, void *bytes) { memcpy(bytes, s->snapshot, s->snapshot_size); }

lw_status lw_state_restore(lw_state *s, const void *bytes, size_t size) {
  if (!s) return LW_ERROR_USAGE;
  if (size != s->snapshot_size)
    return lw_fail(s, LW_ERROR_USAGE, "a snapshot of %zu bytes does not fit this mechanism, whose snapshots have %zu",
                   size, s->snapshot_size);
  if (!bytes) return lw_fail(s, LW_ERROR_USAGE, "there is no snapshot: its bytes are missing");
#ifndef LW_FUZZING
  uint32_t origin;
  memcpy(&origin, (const unsigned char *)bytes + sizeof(int32_t), sizeof origin);
  if (origin != s->base->checksum)
    return lw_fail(s, LW_ERROR_USAGE, "this is a snapshot of another model, of other parts, parameters or methods");
#endif
  memcpy(s->snapshot, bytes, size);
  /* an altered snapshot must not lead the mechanics out of bounds: results are computed again */
  *s->stage = LW_STAGE_NONE;
  s->complex_constants = 0;
  lw_forget_compiled(s);
  return lw_select_topology(s, 0);
}
