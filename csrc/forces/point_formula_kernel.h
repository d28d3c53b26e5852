/* A force at a point of a body and a torque, of which each component is by a formula, in world axes or those of the
 * body. */
#ifndef LW_POINT_FORMULA_FORCE
#define LW_POINT_FORMULA_FORCE(FORCE) FORCE(POINT_FORMULA, point_formula, LW_ON_POINT, point_formula_point)
#define LW_POINT_FORMULA_RESULTS 6
#define LW_POINT_FORMULA_PARAMETERS(X)                                                                                \
  X(point_formula_point, POINT_FORMULA, 3, LW_TUNABLE, LW_STAGE_NONE, "where the force acts, body axes [m]")          \
  X(point_formula_axes, POINT_FORMULA, 1, LW_TUNABLE, LW_STAGE_NONE, "axes of its components: 0 world, 1 the body's")
#define LW_POINT_FORMULA_INPUTS(X)
#define LW_POINT_FORMULA_DISCRETE(X)
#define LW_POINT_FORMULA_OUTPUTS(X)                                                                                 \
  X(point_formula_force, POINT_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "at its point, world axes [N]")       \
  X(point_formula_torque, POINT_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "by its formulas, world axes [N.m]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_POINT_FORMULA_KERNEL_H)
#define LW_FORCES_POINT_FORMULA_KERNEL_H
#include "forces/force_kernel.h"
#include "formula/evaluate_kernel.h"

FORCE_NUMBERS(point_formula, POINT_FORMULA)

/* Three results from `first` on, in world axes. */
INLINE void vector_of_results(const point_formula_numbers *x, int32_t k, int32_t first, const real R[9], real out[3]) {
  real given[3], turned[3];
  for (int32_t i = 0; i < 3; i++) given[i] = result_of(x->program + k, x->block, first + i);
  rotate(R, given, turned);
  for (int i = 0; i < 3; i++) out[i] = select_less(0.0, x->point_formula_axes[k], turned[i], given[i]);
}

static void point_formula_apply(const point_formula_numbers *x, int32_t k, const real R[9], twist *applied) {
  evaluate_program(x->program + k, x->block);
  vector_of_results(x, k, 0, R, applied->l);
  vector_of_results(x, k, 3, R, applied->a);
  copy(3, applied->l, x->point_formula_force + 3 * k);
  copy(3, applied->a, x->point_formula_torque + 3 * k);
}

static void point_formula_wrench(const point_formula_numbers *x, int32_t k, twist *applied) {
  copy(3, x->point_formula_force + 3 * k, applied->l);
  copy(3, x->point_formula_torque + 3 * k, applied->a);
}
#define point_formula_energy no_energy
#endif
