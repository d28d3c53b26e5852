/* Dry friction in one speed u of a joint whose load is a formula: a brake or clutch. While it slides F = -s max(0, C), with
 * s the sign of its direction and the value C of the formula; it sticks up to r max(0, C), as friction_kernel.h. */
#ifndef LW_BRAKE_FORCE
#define LW_BRAKE_FORCE(FORCE) FORCE(BRAKE, brake, LW_ON_SPEEDS, none)
#define LW_BRAKE_RESULTS 1
#define LW_BRAKE_PARAMETERS(X) \
  X(brake_static, BRAKE, 1, LW_TUNABLE, LW_STAGE_NONE, "load up to which it sticks by that while it slides; default 1")
#define LW_BRAKE_INPUTS(X)
#define LW_BRAKE_DISCRETE(X) X(brake_state, BRAKE, 1, LW_OUTPUT, LW_STAGE_NONE, "as friction_state")
#define LW_BRAKE_OUTPUTS(X)                                                                              \
  X(brake_limit, BRAKE, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "load up to which it sticks [N or N.m]")   \
  X(brake_force, BRAKE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "load of friction, holding ones too [N or N.m]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_BRAKE_KERNEL_H)
#define LW_FORCES_BRAKE_KERNEL_H
#include "forces/friction_kernel.h"
#include "formula/evaluate_kernel.h"

FORCE_NUMBERS(brake, BRAKE)

static real brake_apply(const brake_numbers *x, int32_t k, int32_t given, real length, real rate) {
  (void)length;
  evaluate_program(x->program + k, x->block);
  const real value = result_of(x->program + k, x->block, 0), capacity = select_less(value, 0.0, 0.0, value);
  x->brake_limit[k] = GIVEN(given, brake_static) ? x->brake_static[k] * capacity : capacity;
  const double state = re(x->brake_state[k]);
  return x->brake_force[k] = -slip_direction(state, re(rate)) * (lw_is_at_limit(state) ? x->brake_limit[k] : capacity);
}
#define brake_energy no_energy
#endif
