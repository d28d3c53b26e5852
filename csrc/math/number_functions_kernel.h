/* The functions among the operations of tapes, of one number or of four at once, which have the same bits. */
#ifndef LW_MATH_NUMBER_FUNCTIONS_KERNEL_H
#define LW_MATH_NUMBER_FUNCTIONS_KERNEL_H
#include "math/exponentials.h"
#include "math/operations.h"
#include "math/simd_kernel.h"

static double value_of_function(lw_tape_operation operation, double a, double b) {
  double sine, cosine;
  switch (operation) {
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
#define X(name, operands, formula) case LW_TAPE_##name:
      LW_EACH_TAPE_FORMULA(X)
      LW_EACH_TAPE_PRODUCT(X)
      LW_EACH_TAPE_GUARD(X)
#undef X
    case LW_TAPE_CONSTANT:
    case LW_TAPE_INPUT:
    case LW_TAPE_OPERATIONS: break; /* formulas */
  }
  return NAN;
}

static void apply_to_several(int operation, const double *a, const double *b, double *to, double *second, int fours) {
  const four *x = (const four *)a;
  four *y = (four *)to, *z = (four *)second, other;
  if (!fours) *to = value_of_function((lw_tape_operation)operation, *a, *b);
  else if (operation == LW_TAPE_sine)
    for (int k = 0; k < fours; k++) sincos_four(x[k], &y[k], &other);
  else if (operation == LW_TAPE_cosine)
    for (int k = 0; k < fours; k++) sincos_four(x[k], &other, &y[k]);
  else if (operation == LW_TAPE_sine_cosine)
    for (int k = 0; k < fours; k++) sincos_four(x[k], &y[k], &z[k]);
  else
    for (int k = 0; k < 4 * fours; k++) to[k] = value_of_function((lw_tape_operation)operation, a[k], b[k]);
}

/* An lw_number_function. Most calls from the tape of one state are for a few angles: they need no loop, whose constants would be
 * brought to registers first. */
static void apply_function(int operation, const double *a, const double *b, double *to, double *second, int fours) {
  if (operation != LW_TAPE_sine_cosine || fours > 1) apply_to_several(operation, a, b, to, second, fours);
  else if (fours) sincos_four(*(const four *)a, (four *)to, (four *)second);
  else sincos_double(*a, to, second);
}
#endif
