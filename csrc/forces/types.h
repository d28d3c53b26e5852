/* The types of forces, for code outside the kernels: each file of types_list.h has the record of its type, of which all
 * else follows. For a type TYPE, type it defines
 *   LW_TYPE_FORCE(FORCE)      FORCE(TYPE, type, on, points), on what it acts, lw_force_on, and the field of its points
 *   LW_TYPE_PARAMETERS(X), LW_TYPE_INPUTS(X), LW_TYPE_OUTPUTS(X)   rows of model/fields.h
 *   LW_TYPE_DISCRETE(X)       the same: what events alone change
 *   type_apply, type_energy   its kernels, see force_kernel.h
 * and a type by formulas how many results its formula has, LW_TYPE_RESULTS. */
#ifndef LW_FORCES_TYPES_H
#define LW_FORCES_TYPES_H
#include <stdint.h>
#include <assert.h>
#define FORCE_RECORDS
#include "forces/types_list.h"
#undef FORCE_RECORDS

/* On what a force acts: a point of a body; points of two, one of which may be the ground, along what joins them, or
 * frames of two in any direction; speeds of joints, each by a gear; points of several bodies along the line through
 * them. */
typedef enum lw_force_on {
  LW_ON_POINT = 0,
  LW_BETWEEN_POINTS,
  LW_BETWEEN_FRAMES,
  LW_ON_SPEEDS,
  LW_ALONG_LINE
} lw_force_on;
static inline int lw_is_between_bodies(int32_t on) { return on == LW_BETWEEN_POINTS || on == LW_BETWEEN_FRAMES; }
/* Whether its bodies, one or two, are among its own numbers; those of others follow one by one. */
static inline int lw_is_on_bodies(int32_t on) { return on == LW_ON_POINT || lw_is_between_bodies(on); }

#define LW_RECORD_OF(TYPE, FORCE) LW_##TYPE##_FORCE(FORCE)
#define LW_PARAMETERS_OF(TYPE, X) LW_##TYPE##_PARAMETERS(X)
#define LW_INPUTS_OF(TYPE, X) LW_##TYPE##_INPUTS(X)
#define LW_OUTPUTS_OF(TYPE, X) LW_##TYPE##_OUTPUTS(X)
#define LW_DISCRETE_OF(TYPE, X) LW_##TYPE##_DISCRETE(X)
#define LW_FORCE_RECORDS(FORCE) LW_EACH_FORCE(LW_RECORD_OF, FORCE)
#define LW_BUILT_IN_FORCE_RECORDS(FORCE) LW_EACH_BUILT_IN_FORCE(LW_RECORD_OF, FORCE)
#define LW_FORMULA_FORCE_RECORDS(FORCE) LW_EACH_FORMULA_FORCE(LW_RECORD_OF, FORCE)
#define LW_FORCE_PARAMETERS(X) LW_EACH_FORCE(LW_PARAMETERS_OF, X)
#define LW_FORCE_INPUTS(X) LW_EACH_FORCE(LW_INPUTS_OF, X)
#define LW_FORCE_OUTPUTS(X) LW_EACH_FORCE(LW_OUTPUTS_OF, X)
#define LW_FORCE_DISCRETE(X) LW_EACH_FORCE(LW_DISCRETE_OF, X)

typedef enum lw_force_kind {
#define FORCE(TYPE, type, on, points) LW_FORCE_##TYPE,
  LW_FORCE_RECORDS(FORCE)
#undef FORCE
      LW_FORCE_TYPES
} lw_force_kind;
#define LW_FIRST_BY_FORMULA LW_FORCE_JOINT_FORMULA

/* Whether forces of a type are dry frictions; whether one sticks, by the mask of its parameters that are given. */
static inline int lw_is_friction(int32_t type) {
#define IS(TYPE, of) type == LW_FORCE_##TYPE ||
  return LW_EACH_STICKING_FORCE(IS) 0;
#undef IS
}
static inline int lw_force_sticks(int32_t type, int32_t given) {
  return lw_is_friction(type) && !(type == LW_FORCE_FRICTION && given >> LW_SMOOTH_FRICTION & 1);
}

#define X(name, owner, columns, access, stage, meaning) +1
#define PARAMETERS(TYPE, X) enum { LW_PARAMETERS_OF_##TYPE = 0 LW_##TYPE##_PARAMETERS(X) };
LW_EACH_FORCE(PARAMETERS, X)
#undef PARAMETERS
#undef X

#define LW_MOST_PARAMETERS 30 /* of a type: their mask holds no more */
#define LW_MOST_NUMBERS 21    /* of a parameter */
typedef struct lw_force_parameter {
  const char *name;
  int32_t columns, setting; /* lw_setting */
} lw_force_parameter;

typedef struct lw_force_type {
  const char *name;
  int32_t on, parameters, numbers; /* on: lw_force_on; numbers: of all parameters */
  int32_t results;                 /* of its formula; 0: it has none */
  const lw_force_parameter *parameter;
} lw_force_type;
extern const lw_force_type lw_force_types[LW_FORCE_TYPES];

#define X(name, owner, columns, access, stage, meaning)                          \
  static_assert((columns) <= LW_MOST_NUMBERS, #name ": numbers of a parameter");
LW_FORCE_PARAMETERS(X)
#undef X
#define FORCE(TYPE, type, on, points)                                                 \
  static_assert(LW_PARAMETERS_OF_##TYPE <= LW_MOST_PARAMETERS, #type ": parameters"); \
  static_assert(sizeof #type <= 16, #type ": a name of 15 characters");
LW_FORCE_RECORDS(FORCE)
#undef FORCE
#endif
