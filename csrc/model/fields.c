/* Sizes and fields of the blocks of a model, and which numbers a field may hold. */
#include "model/model.h"
#include <math.h>
#include <string.h>

int lw_is_valid(const char *field, double value) {
  return isfinite(value) || (value > 0.0 && strcmp(field, "max_load") == 0);
}

lw_sizes lw_model_sizes(const lw_model *m) { return m ? m->size : (lw_sizes){0}; }

int32_t lw_field_count(void) { return LW_FIELD_COUNT; }

lw_status lw_model_field(const lw_model *m, int32_t index, lw_field *field) {
  if (!m || index < 0 || index >= LW_FIELD_COUNT) return LW_ERROR_USAGE;
  *field = m->field[index];
  return LW_OK;
}
