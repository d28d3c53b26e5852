/* Lists of parts that grow. */
#include "builder/description.h"
#include <stdlib.h>

void *lw_grown(void *list, int32_t count, int32_t *capacity, size_t size) {
  if (count < *capacity) return list;
  const int32_t more = *capacity ? 2 * *capacity : 8;
  void *larger = realloc(list, size * (size_t)more);
  if (larger) *capacity = more;
  return larger;
}

lw_status lw_no_memory(lw_builder *b) { return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for another part"); }
