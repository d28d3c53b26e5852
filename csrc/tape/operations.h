/* The operations of tapes: X(name, operands). Functions are those of math/scalar.h and math/exponentials.h, so that they
 * give the bits of the kernels. */
#ifndef LW_TAPE_OPERATIONS_H
#define LW_TAPE_OPERATIONS_H
#define LW_EACH_TAPE_FORMULA(X) \
  X(add, 2)                     \
  X(subtract, 2)                \
  X(multiply, 2)                \
  X(divide, 2)                  \
  X(minus, 1)                   \
  X(sqrt, 1)                    \
  X(abs, 1)                     \
  X(select_less, 4)

#define LW_EACH_TAPE_FUNCTION(X) \
  X(floor, 1)                    \
  X(rint, 1)                     \
  X(round, 1)                    \
  X(sine, 1)                     \
  X(cosine, 1)                   \
  X(arctan2, 2)                  \
  X(exp, 1)                      \
  X(log, 1)                      \
  X(pow, 2)                      \
  X(sinh, 1)                     \
  X(cosh, 1)                     \
  X(tanh, 1)

#define LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FORMULA(X) LW_EACH_TAPE_FUNCTION(X)

/* Two operations as one step: a b + c, a b - c and c - a b, rounded one after the other; a sine, and the cosine to the
 * register that is the second operand. */
#define LW_EACH_TAPE_FUSION(X) X(multiply_add, 3) X(multiply_subtract, 3) X(subtract_product, 3) X(sine_cosine, 1)

/* Guards: where one does not hold the tape does not count. `within`: |a| < b. */
#define LW_EACH_TAPE_GUARD(X) X(less, 2) X(not_less, 2) X(equal, 2) X(not_equal, 2) X(within, 2)

typedef enum lw_tape_operation {
  LW_TAPE_CONSTANT,
  LW_TAPE_INPUT,
#define X(name, operands) LW_TAPE_##name,
  LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_GUARD(X)
#undef X
      LW_TAPE_OPERATIONS
} lw_tape_operation;

static inline int lw_tape_operands(lw_tape_operation operation) {
  static const int number[] = {0, /* of a constant */
                               0, /* of an input */
#define X(name, operands) operands,
                               LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_GUARD(X)
#undef X
  };
  return number[operation];
}
#endif
