/* Sizes and fields of the blocks of a model, and which numbers a field may hold. */
#include "model/model.h"
#include <math.h>
#include <string.h>

#define X(name, owner, columns, access, stage, meaning) {#name, columns, access},
#define PARAMETERS(TYPE, X) static const lw_force_parameter parameters_of_##TYPE[] = {LW_##TYPE##_PARAMETERS(X){0}};
LW_EACH_FORCE(PARAMETERS, X)
#undef PARAMETERS
#undef X

#define X(name, owner, columns, access, stage, meaning) +(columns)
#define TYPE_WITH(TYPE, type, on, results) \
  [LW_FORCE_##TYPE] = {#type, on, LW_PARAMETERS_OF_##TYPE, 0 LW_##TYPE##_PARAMETERS(X), results, parameters_of_##TYPE},
const lw_force_type lw_force_types[LW_FORCE_TYPES] = {
#define FORCE(TYPE, type, on, points) TYPE_WITH(TYPE, type, on, 0)
    LW_BUILT_IN_FORCE_RECORDS(FORCE)
#undef FORCE
#define FORCE(TYPE, type, on, points) TYPE_WITH(TYPE, type, on, LW_##TYPE##_RESULTS)
        LW_FORMULA_FORCE_RECORDS(FORCE)
#undef FORCE
};
#undef TYPE_WITH
#undef X

int lw_is_valid(const char *field, double value) {
  return isfinite(value) || (value > 0.0 && (strcmp(field, "max_load") == 0 || strcmp(field, "friction_static") == 0 ||
                                             strcmp(field, "brake_static") == 0));
}

lw_sizes lw_model_sizes(const lw_model *m) { return m ? m->size : (lw_sizes){0}; }

int32_t lw_field_count(void) { return LW_FIELD_COUNT; }

lw_status lw_model_field(const lw_model *m, int32_t index, lw_field *field) {
  if (!m || index < 0 || index >= LW_FIELD_COUNT) return LW_ERROR_USAGE;
  *field = m->field[index];
  return LW_OK;
}
