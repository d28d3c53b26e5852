/* A motor, servo or tendon on speeds u_i of joints, each by a gear g_i:
 *   l = sum g_i q_i,  l' = sum g_i u_i,  F = within(gain within(input) + offset - stiffness l - damping l') */
#ifndef LW_ACTUATOR_FORCE
#define LW_ACTUATOR_FORCE(FORCE) FORCE(ACTUATOR, actuator, LW_ON_SPEEDS, none)
#define LW_ACTUATOR_PARAMETERS(X)                                                                                    \
  X(actuator_gain, ACTUATOR, 1, LW_TUNABLE, LW_STAGE_NONE, "force of an input of one [N or N.m]")                    \
  X(actuator_offset, ACTUATOR, 1, LW_TUNABLE, LW_STAGE_NONE, "force at input, length and rate zero [N or N.m]")      \
  X(actuator_stiffness, ACTUATOR, 1, LW_TUNABLE_OF_LENGTH, LW_STAGE_NONE, "force lost per length, if there is one")  \
  X(actuator_damping, ACTUATOR, 1, LW_TUNABLE, LW_STAGE_NONE, "force lost per rate")                                 \
  X(actuator_input_range, ACTUATOR, 2, LW_TUNABLE_LIMITS, LW_STAGE_NONE, "limits of the input, where it has limits") \
  X(actuator_force_range, ACTUATOR, 2, LW_TUNABLE_LIMITS, LW_STAGE_NONE, "limits of the force, where it has limits")
#define LW_ACTUATOR_INPUTS(X) X(actuator_input, ACTUATOR, 1, LW_INPUT, LW_STAGE_NONE, "in a unit of the user's")
#define LW_ACTUATOR_DISCRETE(X)
#define LW_ACTUATOR_OUTPUTS(X)                                                                             \
  X(actuator_length, ACTUATOR, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gears times coordinates [rad or m]") \
  X(actuator_rate, ACTUATOR, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gears times speeds [rad/s or m/s]")    \
  X(actuator_force, ACTUATOR, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "within its limits [N or N.m]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_ACTUATOR_KERNEL_H)
#define LW_FORCES_ACTUATOR_KERNEL_H
#include "forces/force_kernel.h"

FORCE_NUMBERS(actuator, ACTUATOR)

static real actuator_apply(const actuator_numbers *x, int32_t k, int32_t given, real length, real rate) {
  real input = x->actuator_input[k];
  if (GIVEN(given, actuator_input_range)) input = within(x->actuator_input_range + 2 * k, input);
  real force = x->actuator_gain[k] * input + x->actuator_offset[k] - x->actuator_stiffness[k] * length -
               x->actuator_damping[k] * rate;
  if (GIVEN(given, actuator_force_range)) force = within(x->actuator_force_range + 2 * k, force);
  x->actuator_length[k] = length, x->actuator_rate[k] = rate, x->actuator_force[k] = force;
  return force;
}
#define actuator_energy no_energy
#endif
