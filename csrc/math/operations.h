/* The operations of tapes: X(name, operands, formula). The interpreter and all writers take formulas from here, of operands
 * a, b, c and d; ROOT, ABSOLUTE and CHOSEN(which, yes, no) are for them to define. Functions are those of math/scalar.h and
 * math/exponentials.h, so that they give the bits of the kernels; their formulas, for code that links libm, name its own. */
#ifndef LW_MATH_OPERATIONS_H
#define LW_MATH_OPERATIONS_H
#define LW_EACH_TAPE_FORMULA(X)          \
  X(add, 2, a + b)                       \
  X(subtract, 2, a - b)                  \
  X(multiply, 2, (a * b))                \
  X(divide, 2, a / b)                    \
  X(minus, 1, -a)                        \
  X(sqrt, 1, ROOT(a))                    \
  X(abs, 1, ABSOLUTE(a))                 \
  X(select_less, 4, CHOSEN(a < b, c, d))

#define LW_EACH_TAPE_FUNCTION(X) \
  X(floor, 1, floor(a))          \
  X(rint, 1, rint(a))            \
  X(round, 1, round(a))          \
  X(sine, 1, sin(a))             \
  X(cosine, 1, cos(a))           \
  X(arctan2, 2, atan2(a, b))     \
  X(exp, 1, exp(a))              \
  X(log, 1, log(a))              \
  X(pow, 2, pow(a, b))           \
  X(sinh, 1, sinh(a))            \
  X(cosh, 1, cosh(a))            \
  X(tanh, 1, tanh(a))

#define LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FORMULA(X) LW_EACH_TAPE_FUNCTION(X)

/* Two operations as one step: a product in a sum or a difference, rounded one after the other; a sine, and the cosine to the
 * register that is the second operand. */
#define LW_EACH_TAPE_PRODUCT(X)        \
  X(multiply_add, 3, (a * b) + c)      \
  X(multiply_subtract, 3, (a * b) - c) \
  X(subtract_product, 3, c - (a * b))
#define LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_PRODUCT(X) X(sine_cosine, 1, sin(a))

/* Guards: where one does not hold the tape does not count. */
#define LW_EACH_TAPE_GUARD(X)   \
  X(less, 2, a < b)             \
  X(not_less, 2, a >= b)        \
  X(equal, 2, a == b)           \
  X(not_equal, 2, a != b)       \
  X(within, 2, ABSOLUTE(a) < b)

typedef enum lw_tape_operation {
  LW_TAPE_CONSTANT,
  LW_TAPE_INPUT,
#define X(name, operands, formula) LW_TAPE_##name,
  LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_GUARD(X)
#undef X
      LW_TAPE_OPERATIONS
} lw_tape_operation;

static inline int lw_tape_operands(lw_tape_operation operation) {
  static const int number[] = {0, /* of a constant */
                               0, /* of an input */
#define X(name, operands, formula) operands,
                               LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_GUARD(X)
#undef X
  };
  return number[operation];
}
#endif
