/* The interpreter of tapes for any processor, and what one operation gives. */
#define RUN_TAPE lw_run_tape
#define FIND_LARGE lw_find_large
#include "tape/interpret_kernel.h"

#define ROOT(x) sqrt(x)
#define ABSOLUTE(x) fabs(x)
#define CHOSEN(which, yes, no) ((which) ? (yes) : (no))

double lw_tape_value(lw_tape_operation operation, const double operand[4]) {
  const double a = operand[0], b = operand[1], c = operand[2], d = operand[3];
  switch (operation) {
#define X(name, operands, formula)     \
  case LW_TAPE_##name: return formula;
    LW_EACH_TAPE_FORMULA(X)
    LW_EACH_TAPE_PRODUCT(X)
    LW_EACH_TAPE_GUARD(X)
#undef X
#define X(name, operands, formula) case LW_TAPE_##name:
    LW_EACH_TAPE_FUNCTION(X)
#undef X
    case LW_TAPE_sine_cosine: return value_of_function(operation, a, b);
    case LW_TAPE_CONSTANT:
    case LW_TAPE_INPUT:
    case LW_TAPE_OPERATIONS: break;
  }
  return NAN;
}
