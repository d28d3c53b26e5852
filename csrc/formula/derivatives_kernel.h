/* A formula and its first and second derivative while the quantities that it reads change steadily, in the arithmetic of
 * the block: those of each instruction follow from those of its operands,
 *   (f(a))' = f' a',  (f(a))'' = f'' a'^2 + f' a''
 * An infinite derivative does not count where its argument does not change. Operations with kinks do not occur. */
#ifndef LW_FORMULA_DERIVATIVES_KERNEL_H
#define LW_FORMULA_DERIVATIVES_KERNEL_H
#include "formula/evaluate_kernel.h"

typedef struct formula_jet {
  real value, first, second;
} formula_jet;

/* An operand of a program whose values are known: an earlier instruction, or a number that stands in the block. */
static formula_jet jet_at(const lw_program *p, const real *x, const real *rate, const real *derivative, int32_t at) {
  const int32_t k = at - p->value;
  if (k >= 0 && k < p->instructions) return (formula_jet){x[at], derivative[2 * k], derivative[2 * k + 1]};
  for (int32_t i = 0; i < p->quantities; i++)
    if (p->quantity[i].offset == at) return (formula_jet){x[at], rate[i], 0.0};
  return (formula_jet){x[at], 0.0, 0.0};
}

INLINE int is_constant(const formula_jet *a) { return is_zero(a->first) && is_zero(a->second); }

/* Of f(a) with these derivatives by a. */
INLINE formula_jet chained(const formula_jet *a, real by_a, real by_a2) {
  if (is_constant(a)) return (formula_jet){0.0, 0.0, 0.0};
  return (formula_jet){0.0, by_a * a->first, by_a2 * a->first * a->first + by_a * a->second};
}

static formula_jet jet_of_product(const formula_jet *a, const formula_jet *b) {
  return (formula_jet){0.0, a->first * b->value + a->value * b->first,
                       a->second * b->value + 2.0 * a->first * b->first + a->value * b->second};
}

static formula_jet jet_of_quotient(const formula_jet *a, const formula_jet *b, real quotient) {
  const real first = quotient_of(a->first - quotient * b->first, b->value);
  return (formula_jet){0.0, first, quotient_of(a->second - 2.0 * first * b->first - quotient * b->second, b->value)};
}

/* a^b = exp(b log a); of a constant exponent without the logarithm. */
static formula_jet jet_of_power(const formula_jet *a, const formula_jet *b, real power) {
  const real n = b->value, x = a->value;
  if (is_constant(b)) return chained(a, n * power_of(x, n - 1.0), n * (n - 1.0) * power_of(x, n - 2.0));
  const formula_jet by_log = chained(a, quotient_of(1.0, x), -quotient_of(1.0, x * x));
  const formula_jet logarithm = {log_of(x), by_log.first, by_log.second}, exponent = jet_of_product(b, &logarithm);
  return (formula_jet){0.0, power * exponent.first, power * (exponent.second + exponent.first * exponent.first)};
}

static formula_jet jet_of_integer_power(const formula_jet *a, int32_t n) {
  const real first = n == 0 ? 0.0 : n * integer_power_of(a->value, n - 1);
  return chained(a, first, n == 0 || n == 1 ? 0.0 : (double)n * (n - 1) * integer_power_of(a->value, n - 2));
}

static formula_jet jet_of_arctan2(const formula_jet *y, const formula_jet *x) {
  const real r2 = x->value * x->value + y->value * y->value;
  if (is_constant(x) && is_constant(y)) return (formula_jet){0.0, 0.0, 0.0};
  const real first = quotient_of(x->value * y->first - y->value * x->first, r2);
  const real along = x->value * x->first + y->value * y->first;
  return (formula_jet){0.0, first, quotient_of(x->value * y->second - y->value * x->second - 2.0 * first * along, r2)};
}

static formula_jet jet_of_table(const lw_lookup *t, const real *x, const formula_jet *a, const formula_jet *b) {
  real first[2], second[3];
  const real at[2] = {a->value, b->value};
  differentiate_table(t, x, at, first, second);
  formula_jet sum = chained(a, first[0], second[0]);
  if (t->arguments == 1) return sum;
  const formula_jet by_b = chained(b, first[1], second[2]);
  return (formula_jet){0.0, sum.first + by_b.first, sum.second + by_b.second + 2.0 * second[1] * a->first * b->first};
}

static formula_jet jet_of_function(int32_t operation, const formula_jet *a, real f) {
  const real x = a->value;
  real s;
  switch (operation) {
    case LW_DO_sqrt: return chained(a, quotient_of(0.5, f), quotient_of(-0.25, x * f));
    case LW_DO_exp: return chained(a, f, f);
    case LW_DO_log: return chained(a, quotient_of(1.0, x), quotient_of(-1.0, x * x));
    case LW_DO_sin: return chained(a, cos_of(x), -f);
    case LW_DO_cos: return chained(a, -sin_of(x), -f);
    case LW_DO_tan: s = 1.0 + f * f; return chained(a, s, 2.0 * f * s);
    case LW_DO_asin: s = quotient_of(1.0, sqrt_of((1.0 - x) * (1.0 + x))); return chained(a, s, x * s * s * s);
    case LW_DO_acos: s = quotient_of(-1.0, sqrt_of((1.0 - x) * (1.0 + x))); return chained(a, s, x * s * s * s);
    case LW_DO_atan: s = quotient_of(1.0, 1.0 + x * x); return chained(a, s, -2.0 * x * s * s);
    case LW_DO_sinh: return chained(a, cosh_of(x), f);
    case LW_DO_cosh: return chained(a, sinh_of(x), f);
    case LW_DO_tanh: s = (1.0 - f) * (1.0 + f); return chained(a, s, -2.0 * f * s);
    default: return (formula_jet){0.0, 0.0, 0.0}; /* others have kinks: no model has them here */
  }
}

static formula_jet jet_of_instruction(const lw_program *p, const real *x, const lw_program_step *i, real value,
                                      const formula_jet *a, const formula_jet *b) {
  switch (i->operation) {
    case LW_DO_number:
    case LW_DO_quantity: return *a;
    case LW_DO_add: return (formula_jet){0.0, a->first + b->first, a->second + b->second};
    case LW_DO_subtract: return (formula_jet){0.0, a->first - b->first, a->second - b->second};
    case LW_DO_minus: return chained(a, -1.0, 0.0);
    case LW_DO_multiply: return jet_of_product(a, b);
    case LW_DO_divide: return jet_of_quotient(a, b, value);
    case LW_DO_square: return chained(a, 2.0 * a->value, 2.0);
    case LW_DO_cube: return chained(a, 3.0 * a->value * a->value, 6.0 * a->value);
    case LW_DO_power: return jet_of_power(a, b, value);
    case LW_DO_integer_power: return jet_of_integer_power(a, i->operand[1]);
    case LW_DO_atan2: return jet_of_arctan2(a, b);
    case LW_DO_table: return jet_of_table(p->table + i->operand[2], x, a, b);
    default: return jet_of_function(i->operation, a, value);
  }
}

/* The first result of a program, which is evaluated here, where its quantities change by `rate`; two numbers for each
 * instruction go to `derivative`. */
static formula_jet differentiate_program(const lw_program *p, real *x, const real *rate, real *derivative) {
  evaluate_program(p, x);
  for (int32_t k = 0; k < p->instructions; k++) {
    const lw_program_step *i = &p->code[k];
    const formula_jet a = jet_at(p, x, rate, derivative, i->operand[0]);
    const formula_jet b = lw_operands_of[i->operation] > 1 ? jet_at(p, x, rate, derivative, i->operand[1]) : a;
    const formula_jet own = jet_of_instruction(p, x, i, x[p->value + k], &a, &b);
    derivative[2 * k] = own.first, derivative[2 * k + 1] = own.second;
  }
  return jet_at(p, x, rate, derivative, p->result[0]);
}
#endif
