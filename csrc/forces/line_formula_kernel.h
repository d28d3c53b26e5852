/* A force by a formula along the line through points of bodies, as of a cable over pulleys: with the length l_i of the
 * straight piece before point i and its factor g_i,
 *   l = sum g_i l_i,  l' = sum g_i l_i',  T by the formula, of which piece i has the tension g_i T,
 * and so pulls its points towards each other. l and l' are among the quantities that the formula reads. A piece whose
 * points coincide has no direction and no tension; where all of them do, the force is zero. */
#ifndef LW_LINE_FORMULA_FORCE
#define LW_LINE_FORMULA_FORCE(FORCE) FORCE(LINE_FORMULA, line_formula, LW_ALONG_LINE, none)
#define LW_LINE_FORMULA_RESULTS 1
#define LW_LINE_FORMULA_PARAMETERS(X)
#define LW_LINE_FORMULA_INPUTS(X)
#define LW_LINE_FORMULA_DISCRETE(X)
#define LW_LINE_FORMULA_OUTPUTS(X)                                                                                     \
  X(line_formula_length, LINE_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS,                                           \
    "factors times lengths of its pieces [m]")                                                                         \
  X(line_formula_rate, LINE_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "time derivative of the length [m/s]")      \
  X(line_formula_force, LINE_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "by its formula, pulling is positive [N]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_LINE_FORMULA_KERNEL_H)
#define LW_FORCES_LINE_FORMULA_KERNEL_H
#include "forces/force_kernel.h"
#include "formula/evaluate_kernel.h"

FORCE_NUMBERS(line_formula, LINE_FORMULA)

static real line_formula_apply(const line_formula_numbers *x, int32_t k, const line_motion *s) {
  x->line_formula_length[k] = s->length, x->line_formula_rate[k] = s->rate;
  evaluate_program(x->program + k, x->block);
  return x->line_formula_force[k] = select_less(s->longest2, MIN_LENGTH2, 0.0, result_of(x->program + k, x->block, 0));
}
#define line_formula_energy no_energy
#endif
