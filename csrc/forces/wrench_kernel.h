/* A force at a point of a body and a torque, both from outside. */
#ifndef LW_WRENCH_FORCE
#define LW_WRENCH_FORCE(FORCE) FORCE(WRENCH, wrench, LW_ON_POINT, wrench_point)
#define LW_WRENCH_PARAMETERS(X)                                                                        \
  X(wrench_point, WRENCH, 3, LW_TUNABLE, LW_STAGE_NONE, "where the applied force acts, body axes [m]")
#define LW_WRENCH_INPUTS(X)                                                                     \
  X(applied_force, WRENCH, 3, LW_INPUT, LW_STAGE_NONE, "at the wrench's point, world axes [N]") \
  X(applied_torque, WRENCH, 3, LW_INPUT, LW_STAGE_NONE, "world axes [N.m]")
#define LW_WRENCH_DISCRETE(X)
#define LW_WRENCH_OUTPUTS(X)
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_WRENCH_KERNEL_H)
#define LW_FORCES_WRENCH_KERNEL_H
#include "forces/force_kernel.h"

FORCE_NUMBERS(wrench, WRENCH)

static void wrench_wrench(const wrench_numbers *x, int32_t k, twist *applied) {
  copy(3, x->applied_torque + 3 * k, applied->a);
  copy(3, x->applied_force + 3 * k, applied->l);
}

static void wrench_apply(const wrench_numbers *x, int32_t k, const real R[9], twist *applied) {
  (void)R;
  wrench_wrench(x, k, applied);
}
#define wrench_energy no_energy
#endif
