/* Runs a tape on LW_TAPE_STATES states, four at a time. A unit that includes it chooses the instruction set and the
 * name RUN_TAPE. */
#ifndef LW_TAPE_INTERPRET_KERNEL_H
#define LW_TAPE_INTERPRET_KERNEL_H
#include "math/exponentials.h"
#include "math/simd_kernel.h"
#include "tape/tape.h"

#ifndef RUN_TAPE /* opened alone */
#define RUN_TAPE lw_run_tape
#define TAPE_FUNCTION lw_tape_function
#define FIND_LARGE lw_find_large
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

/* Functions that are no formula of four. */
#define ONE_BY_ONE_1(name, value)                                                                           \
  static four name##_of_four(four a) { return (four){value(a[0]), value(a[1]), value(a[2]), value(a[3])}; }
#define ONE_BY_ONE_2(name, value)                                                              \
  static four name##_of_four(four a, four b) {                                                 \
    return (four){value(a[0], b[0]), value(a[1], b[1]), value(a[2], b[2]), value(a[3], b[3])}; \
  }
ONE_BY_ONE_1(floor, floor)
ONE_BY_ONE_1(rint, rint)
ONE_BY_ONE_1(round, round)
ONE_BY_ONE_2(arctan2, arctan2_double)
ONE_BY_ONE_1(exp, exp_double)
ONE_BY_ONE_1(log, log_double)
ONE_BY_ONE_2(pow, pow_double)
ONE_BY_ONE_1(sinh, sinh_double)
ONE_BY_ONE_1(cosh, cosh_double)
ONE_BY_ONE_1(tanh, tanh_double)

INLINE four *row_of(double *registers, int32_t number) {
  return (four *)(registers + (int64_t)number * LW_TAPE_STATES);
}

/* As the four of it. */
static void do_one(int operation, const double *x, const double *y, double *to, double *second) {
  const double operand[4] = {*x, *y};
  *to = lw_tape_value((lw_tape_operation)operation, operand);
  if (operation == LW_TAPE_sine_cosine) *second = lw_tape_value(LW_TAPE_cosine, operand);
}

void TAPE_FUNCTION(int operation, const double *x, const double *y, double *z, double *second, int fours) {
  if (!fours) {
    do_one(operation, x, y, z, second);
    return;
  }
  const four *a = (const four *)x, *b = (const four *)y;
  four *to = (four *)z, other;
#define DO(name, value)                              \
  case LW_TAPE_##name:                               \
    for (int k = 0; k < fours; k++) to[k] = (value); \
    break;
#define DO_SINE(name, sine, cosine)                                      \
  case LW_TAPE_##name:                                                   \
    for (int k = 0; k < fours; k++) sincos_four(a[k], (sine), (cosine)); \
    break;
  switch ((lw_tape_operation)operation) {
    DO(floor, floor_of_four(a[k]))
    DO(rint, rint_of_four(a[k]))
    DO(round, round_of_four(a[k]))
    DO_SINE(sine, &to[k], &other)
    DO_SINE(cosine, &other, &to[k])
    DO_SINE(sine_cosine, &to[k], (four *)second + k)
    DO(arctan2, arctan2_of_four(a[k], b[k]))
    DO(exp, exp_of_four(a[k]))
    DO(log, log_of_four(a[k]))
    DO(pow, pow_of_four(a[k], b[k]))
    DO(sinh, sinh_of_four(a[k]))
    DO(cosh, cosh_of_four(a[k]))
    DO(tanh, tanh_of_four(a[k]))
#define X(name, operands, formula) case LW_TAPE_##name:
    LW_EACH_TAPE_FORMULA(X)
    LW_EACH_TAPE_PRODUCT(X)
    LW_EACH_TAPE_GUARD(X)
    case LW_TAPE_CONSTANT:
    case LW_TAPE_INPUT:
    case LW_TAPE_OPERATIONS: break; /* formulas */
#undef X
  }
#undef DO
#undef DO_SINE
}

void RUN_TAPE(const lw_tape *t, double *registers, uint64_t *missed) {
  enum { FOURS = LW_TAPE_STATES / 4 };
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
        TAPE_FUNCTION(step->operation, (const double *)a, (const double *)b, (double *)to, (double *)b, FOURS);
        break;
      case LW_TAPE_CONSTANT:
      case LW_TAPE_INPUT:
      case LW_TAPE_OPERATIONS: break; /* none of them is a step */
#undef X
    }
  }
  *missed = 0;
  for (int k = 0; k < LW_TAPE_STATES; k++) *missed |= (uint64_t)(failed[k / 4][k % 4] != 0) << k;
}

void FIND_LARGE(const double *rows, int32_t n, double bound, uint64_t *large) {
  enum { FOURS = LW_TAPE_STATES / 4 };
  four_truths found[FOURS] = {{0}};
  const four most = {bound, bound, bound, bound};
  for (int32_t i = 0; i < n; i++)
    for (int k = 0; k < FOURS; k++) {
      const four x = ((const four *)(rows + (int64_t)i * LW_TAPE_STATES))[k];
      found[k] |= ~(four_truths)(without_signs(x) <= most);
    }
  *large = 0;
  for (int k = 0; k < LW_TAPE_STATES; k++) *large |= (uint64_t)(found[k / 4][k % 4] != 0) << k;
}
#endif
