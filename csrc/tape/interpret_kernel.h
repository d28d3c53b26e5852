/* Runs a tape on LW_TAPE_STATES states, four at a time, and what else is done with columns of these. A unit that includes it
 * chooses the instruction set and the names RUN_TAPE, FIND_LARGE, MOVE_COLUMN and SOLVE_COLUMNS. */
#ifndef LW_TAPE_INTERPRET_KERNEL_H
#define LW_TAPE_INTERPRET_KERNEL_H
#include "math/number_functions_kernel.h"
#include "tape/tape.h"
#define SCALAR four
#define NAMED(name) name##4
#include "math/lu_solve_template.h"
#undef SCALAR
#undef NAMED

#ifndef RUN_TAPE /* opened alone */
#define RUN_TAPE lw_run_tape
#define FIND_LARGE lw_find_large
#define MOVE_COLUMN lw_move_column
#define SOLVE_COLUMNS lw_solve_columns
#endif

typedef int64_t four_truths __attribute__((vector_size(32), aligned(8), may_alias)); /* 0 or -1 */

INLINE four without_signs(four x) { return (four)((lw_four_bits)x & (INT64_MAX + (lw_four_bits){0, 0, 0, 0})); }
INLINE four chosen4(four_truths which, four yes, four no) {
  return (four)(((four_truths)yes & which) | ((four_truths)no & ~which));
}

#define ROOT(x) sqrt4(x)
#define ABSOLUTE(x) without_signs(x)
#define CHOSEN(which, yes, no) chosen4((four_truths)(which), (yes), (no))
#define X(name, operands, formula)                             \
  INLINE four name##_of_four(four a, four b, four c, four d) { \
    (void)b, (void)c, (void)d;                                 \
    return (four)(formula);                                    \
  }
LW_EACH_TAPE_FORMULA(X)
LW_EACH_TAPE_PRODUCT(X)
LW_EACH_TAPE_GUARD(X)
#undef X
#undef ROOT
#undef ABSOLUTE
#undef CHOSEN

INLINE four *row_of(double *registers, int32_t number) {
  return (four *)(registers + (int64_t)number * LW_TAPE_STATES);
}

enum { FOURS = LW_TAPE_STATES / 4 };

/* A bit for each state. */
INLINE uint64_t bits_of(const four_truths *which) {
  lw_four_bits found = {0}, bit = {1, 2, 4, 8};
  for (int k = 0; k < FOURS; k++, bit <<= 4) found |= (lw_four_bits)which[k] & bit;
  return found[0] | found[1] | found[2] | found[3];
}

void RUN_TAPE(const lw_tape *t, double *registers, uint64_t *missed) {
  four_truths failed[FOURS] = {{0}};
  for (int32_t i = 0; i < t->steps; i++) { /* a tape without steps has no address of them */
    const lw_tape_step *step = t->step + i;
    const four *a = row_of(registers, step->operand[0]), *b = row_of(registers, step->operand[1]);
    const four *c = row_of(registers, step->operand[2]), *d = row_of(registers, step->operand[3]);
    four *to = row_of(registers, step->to);
    switch ((lw_tape_operation)step->operation) {
#define X(name, operands, formula)                                                  \
  case LW_TAPE_##name:                                                              \
    for (int k = 0; k < FOURS; k++) to[k] = name##_of_four(a[k], b[k], c[k], d[k]); \
    break;
      LW_EACH_TAPE_FORMULA(X)
      LW_EACH_TAPE_PRODUCT(X)
#undef X
#define X(name, operands, formula)                                                                     \
  case LW_TAPE_##name:                                                                                 \
    for (int k = 0; k < FOURS; k++) failed[k] |= ~(four_truths)name##_of_four(a[k], b[k], c[k], d[k]); \
    break;
      LW_EACH_TAPE_GUARD(X)
#undef X
#define X(name, operands, formula) case LW_TAPE_##name:
      LW_EACH_TAPE_FUNCTION(X)
      case LW_TAPE_sine_cosine:
        apply_function(step->operation, (const double *)a, (const double *)b, (double *)to, (double *)b, FOURS);
        break;
      case LW_TAPE_CONSTANT:
      case LW_TAPE_INPUT:
      case LW_TAPE_OPERATIONS: break; /* none of them is a step */
#undef X
    }
  }
  *missed = bits_of(failed);
}

/* Bits of numbers without signs are in their order, and those of NaN are the largest. */
void FIND_LARGE(const double *rows, int32_t n, double bound, uint64_t *large) {
  four_truths found[FOURS];
  const four_truths most = (four_truths)(four){bound, bound, bound, bound};
  for (int k = 0; k < FOURS; k++) {
    const four *x = (const four *)rows + k;
    found[k] = (four_truths){0};
    for (int32_t i = 0; i < n; i++) found[k] |= most - (four_truths)without_signs(x[(int64_t)i * FOURS]);
    found[k] = found[k] < 0;
  }
  *large = bits_of(found);
}

void MOVE_COLUMN(double *to, const double *from, double factor, const double *by, int32_t states) {
  for (int32_t k = 0; 4 * k < states; k++) ((four *)to)[k] = ((const four *)from)[k] + factor * ((const four *)by)[k];
}

void SOLVE_COLUMNS(const double *lu, int32_t n, int32_t states, double *x) {
  for (int32_t k = 0; 4 * k < states; k++)
    lu_solve4((const four *)lu + k, n, NULL, FOURS, (four *)x + k, (four *)x + k);
}
#endif
