/* Kinks and jumps of formulas. A run holds each formula on one branch while it takes steps, so that what it integrates
 * is smooth, and a narrow feature is met by all stages of a step once its edge is passed; the indicator of a kink falls
 * below zero there, the step ends, and the branches are sought again. Free kinks are evaluated as they are. An argument that
 * is no number has no branch. */
#ifndef LW_FORMULA_KINK_KERNEL_H
#define LW_FORMULA_KINK_KERNEL_H
#include "formula/program.h"
#include "math/scalar.h"
#include "math/tolerances.h"
#include <math.h>

INLINE int is_free(const real *kink) { return re(kink[LW_KINK_BRANCH]) == LW_KINK_FREE; }

/* Where nothing can be said the indicator says nothing. */
INLINE void set_indicator(real *kink, real gap, double size) {
  const real z = gap + LW_ZERO_TOLERANCE * (1.0 + size);
  kink[LW_KINK_INDICATOR] = isfinite(re(z)) ? z : 1.0;
}

/* The branch on which an argument z is held, which is sought first; `at_zero`: of z = 0. `size`: of what z is the difference. */
static double branch_of(real *kink, real z, double size, double at_zero) {
  double branch = re(kink[LW_KINK_BRANCH]);
  if (branch != LW_KINK_POSITIVE && branch != LW_KINK_NEGATIVE && branch != LW_KINK_AT_ZERO)
    kink[LW_KINK_BRANCH] = branch = re(z) > 0.0 ? LW_KINK_POSITIVE : re(z) < 0.0 ? LW_KINK_NEGATIVE : at_zero;
  if (branch == LW_KINK_AT_ZERO) set_indicator(kink, re(z) > 0.0 ? -z : z, size);
  else set_indicator(kink, branch * z, size);
  return branch;
}

INLINE double sizes_of(real a, real b) { return fabs(re(a)) + fabs(re(b)); }
INLINE int has_no_branch(real z) { return !(re(z) == re(z)); }

/* The whole number, as a floor, that is held of an argument. */
static double floor_held(real *kink, real a) {
  if (re(kink[LW_KINK_BRANCH]) != LW_KINK_POSITIVE) {
    kink[LW_KINK_BRANCH] = LW_KINK_POSITIVE;
    kink[LW_KINK_HELD] = floor(re(a));
  }
  const double n = re(kink[LW_KINK_HELD]);
  set_indicator(kink, re(a) < n + 0.5 ? a - n : n + 1.0 - a, fabs(n));
  return n;
}
#endif
