/* A force by a formula on speeds u_i of joints, each by a gear g_i; l = sum g_i q_i and l' = sum g_i u_i are among the
 * quantities that it reads. */
#ifndef LW_JOINT_FORMULA_FORCE
#define LW_JOINT_FORMULA_FORCE(FORCE) FORCE(JOINT_FORMULA, joint_formula, LW_ON_SPEEDS, none)
#define LW_JOINT_FORMULA_RESULTS 1
#define LW_JOINT_FORMULA_PARAMETERS(X)
#define LW_JOINT_FORMULA_INPUTS(X)
#define LW_JOINT_FORMULA_DISCRETE(X)
#define LW_JOINT_FORMULA_OUTPUTS(X)                                                                                  \
  X(joint_formula_length, JOINT_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gears times coordinates [rad or m]") \
  X(joint_formula_rate, JOINT_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gears times speeds [rad/s or m/s]")    \
  X(joint_formula_force, JOINT_FORMULA, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "by its formula [N or N.m]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_JOINT_FORMULA_KERNEL_H)
#define LW_FORCES_JOINT_FORMULA_KERNEL_H
#include "forces/force_kernel.h"
#include "formula/evaluate_kernel.h"

FORCE_NUMBERS(joint_formula, JOINT_FORMULA)

static real joint_formula_apply(const joint_formula_numbers *x, int32_t k, int32_t given, real length, real rate) {
  (void)given;
  x->joint_formula_length[k] = length, x->joint_formula_rate[k] = rate;
  evaluate_program(x->program + k, x->block);
  return x->joint_formula_force[k] = result_of(x->program + k, x->block, 0);
}
#define joint_formula_energy no_energy
#endif
