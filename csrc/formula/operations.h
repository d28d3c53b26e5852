/* The operations of formulas: X(name, operands that are values). Their order is that of the numbers in serialised
 * models: new ones stand at the end.
 *   number, quantity   the first operand counts among the formula's numbers or quantities
 *   integer_power      its second operand is the exponent itself
 *   power              of a positive base
 *   sign               -1, 0 or 1;  mod: a - b floor(a / b)
 *   less, less_equal   1 or 0;  select: the second operand where the first one is not 0, else the third
 *   table              its third operand counts among the formula's tables; a table of one argument has it twice
 * What compares or rounds looks at real parts alone. What is no number stays so, whatever is done with it. */
#ifndef LW_FORMULA_OPERATIONS_H
#define LW_FORMULA_OPERATIONS_H
#define LW_EACH_OPERATION(X) \
  X(number, 0)               \
  X(quantity, 0)             \
  X(add, 2)                  \
  X(subtract, 2)             \
  X(multiply, 2)             \
  X(divide, 2)               \
  X(minus, 1)                \
  X(square, 1)               \
  X(cube, 1)                 \
  X(power, 2)                \
  X(integer_power, 1)        \
  X(sqrt, 1)                 \
  X(exp, 1)                  \
  X(log, 1)                  \
  X(sin, 1)                  \
  X(cos, 1)                  \
  X(tan, 1)                  \
  X(asin, 1)                 \
  X(acos, 1)                 \
  X(atan, 1)                 \
  X(sinh, 1)                 \
  X(cosh, 1)                 \
  X(tanh, 1)                 \
  X(abs, 1)                  \
  X(sign, 1)                 \
  X(atan2, 2)                \
  X(min, 2)                  \
  X(max, 2)                  \
  X(mod, 2)                  \
  X(less, 2)                 \
  X(less_equal, 2)           \
  X(select, 3)               \
  X(floor, 1)                \
  X(table, 2)

enum lw_operation_number {
#define X(name, operands) LW_DO_##name,
  LW_EACH_OPERATION(X)
#undef X
      LW_OPERATIONS
};

/* Those with kinks or jumps: X(name, kinks). In the program of a formula that moves something and changes with the motion
 * they are operations of their own, which a run holds on the branch where they are (kink_kernel.h); a table
 * has a kink for each argument. */
#define LW_EACH_KINK(X)                                                                                  \
  X(abs, 1) X(sign, 1) X(min, 1) X(max, 1) X(mod, 1) X(less, 1) X(less_equal, 1) X(floor, 1) X(table, 2)

/* Two or three operations in one, X(name, operands, value): rounded one by one, as they would be apart, so that the bits are
 * the same. What is made on the way has no place of its own. */
#define LW_EACH_FUSED(X)                   \
  X(minus_multiply, 2, -A *B)              \
  X(square_multiply, 2, A * A * B)         \
  X(multiply_multiply, 3, A * B * C)       \
  X(multiply_add, 3, A *B + C)             \
  X(multiply_subtract, 3, A *B - C)        \
  X(subtract_product, 3, C - A * B)        \
  X(add_multiply, 3, (A + B) * C)          \
  X(difference_multiply, 3, (A - B) * C)   \
  X(minus_multiply_add, 3, -A *B + C)      \
  X(minus_multiply_subtract, 3, -A *B - C)

/* Which follow from a value, the operation that takes it, and as which of its operands: X(first, second, operand, both). */
#define LW_EACH_FUSION(X)                                          \
  X(DO_minus, DO_multiply, 0, minus_multiply)                      \
  X(DO_minus, DO_multiply, 1, minus_multiply)                      \
  X(DO_square, DO_multiply, 0, square_multiply)                    \
  X(DO_square, DO_multiply, 1, square_multiply)                    \
  X(DO_multiply, DO_multiply, 0, multiply_multiply)                \
  X(DO_multiply, DO_multiply, 1, multiply_multiply)                \
  X(DO_multiply, DO_add, 0, multiply_add)                          \
  X(DO_multiply, DO_add, 1, multiply_add)                          \
  X(DO_multiply, DO_subtract, 0, multiply_subtract)                \
  X(DO_multiply, DO_subtract, 1, subtract_product)                 \
  X(DO_add, DO_multiply, 0, add_multiply)                          \
  X(DO_add, DO_multiply, 1, add_multiply)                          \
  X(DO_subtract, DO_multiply, 0, difference_multiply)              \
  X(DO_subtract, DO_multiply, 1, difference_multiply)              \
  X(FUSED_minus_multiply, DO_add, 0, minus_multiply_add)           \
  X(FUSED_minus_multiply, DO_add, 1, minus_multiply_add)           \
  X(FUSED_minus_multiply, DO_subtract, 0, minus_multiply_subtract)

/* Of programs alone. */
enum lw_program_operation {
  LW_PROGRAM_END = LW_OPERATIONS,
#define X(name, kinks) LW_KINK_##name,
  LW_EACH_KINK(X)
#undef X
#define X(name, operands, value) LW_FUSED_##name,
      LW_EACH_FUSED(X)
#undef X
          LW_PROGRAM_OPERATIONS
};
#define LW_MOST_EXPONENT 64 /* of integer_power, either sign */
#endif
