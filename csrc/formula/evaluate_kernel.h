/* Formulas, evaluated in the arithmetic of the block. Slopes are those of the functions; a slope that is infinite, as
 * that of the square root at 0, does not count where its argument does not change. A value that is no number is not lost
 * in comparisons: only the branch of a selection that is not taken does not count. */
#ifndef LW_FORMULA_EVALUATE_KERNEL_H
#define LW_FORMULA_EVALUATE_KERNEL_H
#include "formula/kink_kernel.h"
#include "formula/lookup_table_kernel.h"
#include "formula/program.h"
#include "math/exponentials.h"
#include "math/scalar.h"
#include <math.h>

INLINE double sine(double x) {
  double s, c;
  sincos_double(x, &s, &c);
  return s;
}
INLINE double cosine(double x) {
  double s, c;
  sincos_double(x, &s, &c);
  return c;
}
INLINE double tangent(double x) {
  double s, c;
  sincos_double(x, &s, &c);
  return s / c;
}
/* The other leg of a right triangle of hypotenuse 1. */
INLINE double leg(double x) { return sqrt((1.0 - x) * (1.0 + x)); }

/* f of a value with real part x. */
#if LW_ARITHMETIC != LW_COMPLEX
#define OF_SLOPE(a, value, slope) (value)
INLINE real power_of(real a, real b) { return pow_double(a, b); }
INLINE real abs_of(real a) { return fabs(a); }
#else
INLINE real of_slope(real a, double value, double slope) {
  const double step = __imag__ a;
  return complex_of(value, step == 0.0 ? 0.0 : slope * step);
}
#define OF_SLOPE(a, value, slope) of_slope(a, value, slope)
INLINE real power_of(real a, real b) {
  const double x = __real__ a, n = __real__ b, p = pow_double(x, n);
  const double by_base = __imag__ a == 0.0 ? 0.0 : n * pow_double(x, n - 1.0) * __imag__ a;
  return complex_of(p, by_base + (__imag__ b == 0.0 ? 0.0 : p * log_double(x) * __imag__ b));
}
INLINE real abs_of(real a) { return __real__ a < 0.0 ? -a : a; }
#endif

#define FUNCTION_OF_X(name, value, slope) \
  static real name##_of(real a) {         \
    const double x = re(a), f = value;    \
    return OF_SLOPE(a, f, slope);         \
  }
FUNCTION_OF_X(sqrt, sqrt(x), 0.5 / f)
FUNCTION_OF_X(exp, exp_double(x), f)
FUNCTION_OF_X(log, log_double(x), 1.0 / x)
FUNCTION_OF_X(sin, sine(x), cosine(x))
FUNCTION_OF_X(cos, cosine(x), -sine(x))
FUNCTION_OF_X(tan, tangent(x), 1.0 + f * f)
FUNCTION_OF_X(asin, arctan2_double(x, leg(x)), 1.0 / leg(x))
FUNCTION_OF_X(acos, arctan2_double(leg(x), x), -1.0 / leg(x))
FUNCTION_OF_X(atan, arctan2_double(x, 1.0), 1.0 / (1.0 + x * x))
FUNCTION_OF_X(sinh, sinh_double(x), cosh_double(x))
FUNCTION_OF_X(cosh, cosh_double(x), sinh_double(x))
FUNCTION_OF_X(tanh, tanh_double(x), (1.0 - f) * (1.0 + f))
#undef FUNCTION_OF_X

INLINE real integer_power_of(real a, int32_t n) {
  real p = 1.0, square = a;
  for (uint32_t left = n < 0 ? 0u - (uint32_t)n : (uint32_t)n; left; left >>= 1) {
    if (left & 1u) p *= square;
    if (left > 1u) square *= square;
  }
  return n < 0 ? quotient_of(1.0, p) : p;
}

INLINE real truth(int holds, real a, real b) {
  return holds ? 1.0 : re(a) == re(a) && re(b) == re(b) ? 0.0 : re(a) + re(b);
}
INLINE real sign_of(real a) { return re(a) > 0.0 ? 1.0 : re(a) < 0.0 ? -1.0 : re(a) == 0.0 ? 0.0 : re(a); }
INLINE real least_of(real a, real b) { return re(b) < re(a) ? b : re(a) <= re(b) ? a : a + b; }
INLINE real greatest_of(real a, real b) { return re(a) < re(b) ? b : re(b) <= re(a) ? a : a + b; }
INLINE real selected(real condition, real a, real b) {
  return re(condition) == 0.0 ? b : re(condition) == re(condition) ? a : condition;
}

/* The same beside a kink, see kink_kernel.h. */
static real kink_abs(real *kink, real a) {
  if (is_free(kink)) return abs_of(a);
  return branch_of(kink, a, 0.0, LW_KINK_POSITIVE) == LW_KINK_NEGATIVE ? -a : a;
}
static real kink_sign(real *kink, real a) {
  if (is_free(kink) || has_no_branch(a)) return sign_of(a);
  const double branch = branch_of(kink, a, 0.0, LW_KINK_AT_ZERO);
  return branch == LW_KINK_AT_ZERO ? 0.0 : branch;
}
static real kink_min(real *kink, real a, real b) {
  if (is_free(kink) || has_no_branch(a - b)) return least_of(a, b);
  return branch_of(kink, a - b, sizes_of(a, b), LW_KINK_POSITIVE) == LW_KINK_NEGATIVE ? a : b;
}
static real kink_max(real *kink, real a, real b) {
  if (is_free(kink) || has_no_branch(a - b)) return greatest_of(a, b);
  return branch_of(kink, a - b, sizes_of(a, b), LW_KINK_POSITIVE) == LW_KINK_NEGATIVE ? b : a;
}
static real kink_mod(real *kink, real a, real b) {
  const real ratio = is_free(kink) ? 0.0 : quotient_of(a, b);
  if (is_free(kink) || !isfinite(re(ratio))) return a - b * floor(re(a) / re(b));
  return a - b * floor_held(kink, ratio);
}
static real kink_less(real *kink, real a, real b) {
  if (is_free(kink) || has_no_branch(a - b)) return truth(re(a) < re(b), a, b);
  return branch_of(kink, a - b, sizes_of(a, b), LW_KINK_POSITIVE) == LW_KINK_NEGATIVE;
}
static real kink_less_equal(real *kink, real a, real b) {
  if (is_free(kink) || has_no_branch(a - b)) return truth(re(a) <= re(b), a, b);
  return branch_of(kink, a - b, sizes_of(a, b), LW_KINK_NEGATIVE) == LW_KINK_NEGATIVE;
}
static real kink_floor(real *kink, real a) {
  return is_free(kink) || !isfinite(re(a)) ? floor(re(a)) : floor_held(kink, a);
}

/* The values of a program and so its results then stand in the block `x`. Each operation jumps to the next one by itself,
 * which processors foresee better than one switch for all: twice as fast. The empty statement, another one in each, keeps
 * compilers from sharing the jump. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
static void run_program(const lw_program *p, const lw_program_step *i, real *x) {
  static const void *const operation[] = {
#define X(name, operands) &&do_##name,
      LW_EACH_OPERATION(X)
#undef X
          && done,
#define X(name, kinks) &&do_kink_##name,
      LW_EACH_KINK(X)
#undef X
#define X(name, operands, value) &&do_##name,
          LW_EACH_FUSED(X)
#undef X
  };
  real *value = x + p->value;
  forget_refusals(p, x);
#define NEXT goto *operation[i->operation]
#define A x[i->operand[0]]
#define B x[i->operand[1]]
#define C x[i->operand[2]]
#define DO(name, result)           \
  do_##name : *value++ = (result); \
  i++;                             \
  __asm__ volatile("# " #name);    \
  NEXT
  NEXT;
  DO(number, A);
  DO(quantity, A);
  DO(add, A + B);
  DO(subtract, A - B);
  DO(multiply, A * B);
  DO(divide, quotient_of(A, B));
  DO(minus, -A);
  DO(square, A * A);
  DO(cube, A * A * A);
  DO(power, power_of(A, B));
  DO(integer_power, integer_power_of(A, i->operand[1]));
  DO(sqrt, sqrt_of(A));
  DO(exp, exp_of(A));
  DO(log, log_of(A));
  DO(sin, sin_of(A));
  DO(cos, cos_of(A));
  DO(tan, tan_of(A));
  DO(asin, asin_of(A));
  DO(acos, acos_of(A));
  DO(atan, atan_of(A));
  DO(sinh, sinh_of(A));
  DO(cosh, cosh_of(A));
  DO(tanh, tanh_of(A));
  DO(abs, abs_of(A));
  DO(sign, sign_of(A));
  DO(atan2, arctan2(A, B));
  DO(min, least_of(A, B));
  DO(max, greatest_of(A, B));
  DO(mod, A - B * floor(re(A) / re(B)));
  DO(less, truth(re(A) < re(B), A, B));
  DO(less_equal, truth(re(A) <= re(B), A, B));
  DO(select, selected(A, B, C));
  DO(floor, floor(re(A)));
  DO(table, look_up(p->table + i->operand[2], x, A, B, NULL));
#define KINK x + i->kink
  DO(kink_abs, kink_abs(KINK, A));
  DO(kink_sign, kink_sign(KINK, A));
  DO(kink_min, kink_min(KINK, A, B));
  DO(kink_max, kink_max(KINK, A, B));
  DO(kink_mod, kink_mod(KINK, A, B));
  DO(kink_less, kink_less(KINK, A, B));
  DO(kink_less_equal, kink_less_equal(KINK, A, B));
  DO(kink_floor, kink_floor(KINK, A));
  DO(kink_table, look_up(p->table + i->operand[2], x, A, B, KINK));
#undef KINK
#define X(name, operands, value) DO(name, value);
  LW_EACH_FUSED(X)
#undef X
#undef NEXT
#undef A
#undef B
#undef C
#undef DO
done:
  return;
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Beyond a kink, the branch that is held may have no value, as a power of a negative number: there nothing is held. */
static void evaluate_program(const lw_program *p, real *x) {
  int has_values = 1;
  run_program(p, p->code, x);
  if (p->kinks == 0) return;
  for (int32_t k = 0; k < p->results; k++) has_values &= isfinite(re(x[p->result[k]])) != 0;
  if (!has_values) run_program(p, p->free, x);
}

INLINE real result_of(const lw_program *p, const real *x, int32_t number) { return x[p->result[number]]; }
#endif
