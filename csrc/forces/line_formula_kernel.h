/* A force by a formula along the line between points of two bodies, which it pulls towards each other. Their distance
 * and its rate are among the quantities that it reads; where they coincide there is no force. */
#ifndef LW_LINE_FORMULA_FORCE
#define LW_LINE_FORMULA_FORCE(FORCE) FORCE(LINE_FORMULA, line_formula, LW_BETWEEN_POINTS, line_formula_points)
#define LW_LINE_FORMULA_RESULTS 1
#define LW_LINE_FORMULA_PARAMETERS(X) \
  X(line_formula_points, LINE_FORMULA, 6, LW_TUNABLE, LW_STAGE_NONE, "its two ends, each in the frame of its body [m]")
#define LW_LINE_FORMULA_INPUTS(X)
#define LW_LINE_FORMULA_DISCRETE(X)
#define LW_LINE_FORMULA_OUTPUTS(X)                                                                                     \
  X(line_formula_length, LINE_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "distance of its points [m]")             \
  X(line_formula_rate, LINE_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "time derivative of the length [m/s]")      \
  X(line_formula_force, LINE_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "by its formula, pulling is positive [N]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_LINE_FORMULA_KERNEL_H)
#define LW_FORCES_LINE_FORMULA_KERNEL_H
#include "forces/force_kernel.h"
#include "formula/evaluate_kernel.h"

FORCE_NUMBERS(line_formula, LINE_FORMULA)

static void line_formula_apply(const line_formula_numbers *x, int32_t k, const span_motion *s, real pull[3]) {
  x->line_formula_length[k] = where_apart(s, s->length), x->line_formula_rate[k] = s->rate;
  evaluate_program(x->program + k, x->block);
  const real force = where_apart(s, result_of(x->program + k, x->block, 0));
  x->line_formula_force[k] = force;
  for (int i = 0; i < 3; i++) pull[i] = force * s->n[i];
}
#define line_formula_energy no_energy
#endif
