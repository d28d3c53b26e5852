/* Dry friction whose load is a formula: a brake or clutch. While it slides F = -s a max(0, C), with s the sign of its
 * direction, the share a of that, and the value C of the formula; it sticks up to r a max(0, C), as friction_kernel.h. */
#ifndef LW_BRAKE_FORCE
#define LW_BRAKE_FORCE(FORCE) FORCE(BRAKE, brake, LW_ON_SPEEDS, none)
#define LW_BRAKE_RESULTS 1
#define LW_BRAKE_PARAMETERS(X)                                                                          \
  X(brake_static, BRAKE, 1, LW_TUNABLE, LW_STAGE_NONE,                                                  \
    "load up to which it sticks by that while it slides; default 1")                                    \
  X(brake_forward, BRAKE, 1, LW_TUNABLE, LW_STAGE_NONE, "share of it at positive speeds; not given: 1") \
  X(brake_backward, BRAKE, 1, LW_TUNABLE, LW_STAGE_NONE, "the same at negative speeds")
#define LW_BRAKE_INPUTS(X)
#define LW_BRAKE_DISCRETE(X) X(brake_state, BRAKE, 1, LW_OUTPUT, LW_STAGE_NONE, "as friction_state")
#define LW_BRAKE_OUTPUTS(X)                                                                              \
  X(brake_limit, BRAKE, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "load up to which it sticks [N or N.m]")   \
  X(brake_force, BRAKE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "load of friction, holding ones too [N or N.m]")
enum { LW_STATIC_BRAKE = 0, LW_FORWARD_BRAKE = 1, LW_BACKWARD_BRAKE = 2 }; /* places among the parameters */
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
  const real most =
      GIVEN(given, brake_static) ? x->brake_static[k] * capacity : capacity; /* maybe infinite times zero */
  x->brake_limit[k] = select_less(0.0, capacity, most, 0.0);
  const double state = re(x->brake_state[k]);
  const real slip = share_along(SHARES_OF(brake), slip_direction(state, re(rate)));
  return x->brake_force[k] = -slip * (rests_by_limit(state, x->brake_limit[k]) ? x->brake_limit[k] : capacity);
}
#define brake_energy no_energy
#endif
