/* The interpreter of tapes for any processor, and what one operation gives. */
#define RUN_TAPE lw_run_tape
#define TAPE_FUNCTION lw_tape_function
#define FIND_LARGE lw_find_large
#include "tape/interpret_kernel.h"

double lw_tape_value(lw_tape_operation operation, const double x[4]) {
  double s, c;
  switch (operation) {
    case LW_TAPE_add: return x[0] + x[1];
    case LW_TAPE_subtract: return x[0] - x[1];
    case LW_TAPE_multiply: return x[0] * x[1];
    case LW_TAPE_divide: return x[0] / x[1];
    case LW_TAPE_minus: return -x[0];
    case LW_TAPE_sqrt: return sqrt(x[0]);
    case LW_TAPE_abs: return fabs(x[0]);
    case LW_TAPE_floor: return floor(x[0]);
    case LW_TAPE_rint: return rint(x[0]);
    case LW_TAPE_round: return round(x[0]);
    case LW_TAPE_select_less: return x[0] < x[1] ? x[2] : x[3];
    case LW_TAPE_sine:
    case LW_TAPE_sine_cosine: sincos_double(x[0], &s, &c); return s;
    case LW_TAPE_cosine: sincos_double(x[0], &s, &c); return c;
    case LW_TAPE_arctan2: return arctan2_double(x[0], x[1]);
    case LW_TAPE_exp: return exp_double(x[0]);
    case LW_TAPE_log: return log_double(x[0]);
    case LW_TAPE_pow: return pow_double(x[0], x[1]);
    case LW_TAPE_sinh: return sinh_double(x[0]);
    case LW_TAPE_cosh: return cosh_double(x[0]);
    case LW_TAPE_tanh: return tanh_double(x[0]);
    case LW_TAPE_multiply_add: return x[0] * x[1] + x[2];
    case LW_TAPE_multiply_subtract: return x[0] * x[1] - x[2];
    case LW_TAPE_subtract_product: return x[2] - x[0] * x[1];
    case LW_TAPE_less: return x[0] < x[1];
    case LW_TAPE_not_less: return x[0] >= x[1];
    case LW_TAPE_equal: return x[0] == x[1];
    case LW_TAPE_not_equal: return x[0] != x[1];
    case LW_TAPE_within: return fabs(x[0]) < x[1];
    case LW_TAPE_CONSTANT:
    case LW_TAPE_INPUT:
    case LW_TAPE_OPERATIONS: break;
  }
  return NAN;
}
