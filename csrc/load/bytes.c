/* The bytes of a serialised model, one piece after the other, and what is wrong with them in words. */
#include "load/reader.h"
#include <stdarg.h>
#include <stdio.h>

lw_status lw_format_error(reader *r, const char *format, ...) {
  if (r->message && r->message_size) {
    va_list list;
    va_start(list, format);
    vsnprintf(r->message, r->message_size, format, list);
    va_end(list);
  }
  return LW_ERROR_FORMAT;
}

lw_status lw_row_error(reader *r, const char *table, int32_t row) {
  return lw_format_error(r, "the model's %s %d points outside the model", table, row);
}

const void *lw_read_bytes(reader *r, size_t n) {
  if (n > r->size - r->position) return NULL;
  const void *p = r->bytes + r->position;
  r->position += n;
  return p;
}
