/* The interpreter of tapes for any processor, and what one operation gives. */
#define RUN_TAPE lw_run_tape
#define TAPE_FUNCTION lw_tape_function
#define FIND_LARGE lw_find_large
#include "tape/interpret_kernel.h"

#define ROOT(x) sqrt(x)
#define ABSOLUTE(x) fabs(x)
#define CHOSEN(which, yes, no) ((which) ? (yes) : (no))

double lw_tape_value(lw_tape_operation operation, const double operand[4]) {
  const double a = operand[0], b = operand[1], c = operand[2], d = operand[3];
  double sine, cosine;
  switch (operation) {
#define X(name, operands, formula)     \
  case LW_TAPE_##name: return formula;
    LW_EACH_TAPE_FORMULA(X)
    LW_EACH_TAPE_PRODUCT(X)
    LW_EACH_TAPE_GUARD(X)
#undef X
    case LW_TAPE_floor: return floor(a);
    case LW_TAPE_rint: return rint(a);
    case LW_TAPE_round: return round(a);
    case LW_TAPE_sine:
    case LW_TAPE_sine_cosine: sincos_double(a, &sine, &cosine); return sine;
    case LW_TAPE_cosine: sincos_double(a, &sine, &cosine); return cosine;
    case LW_TAPE_arctan2: return arctan2_double(a, b);
    case LW_TAPE_exp: return exp_double(a);
    case LW_TAPE_log: return log_double(a);
    case LW_TAPE_pow: return pow_double(a, b);
    case LW_TAPE_sinh: return sinh_double(a);
    case LW_TAPE_cosh: return cosh_double(a);
    case LW_TAPE_tanh: return tanh_double(a);
    case LW_TAPE_CONSTANT:
    case LW_TAPE_INPUT:
    case LW_TAPE_OPERATIONS: break;
  }
  return NAN;
}
