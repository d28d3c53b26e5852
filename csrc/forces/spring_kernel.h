/* A spring and a damper between points of two bodies: they pull these towards each other by
 *   f = stiffness (l - free) + damping l',  f n = stiffness d + (damping l' - stiffness free) n */
#ifndef LW_SPRING_FORCE
#define LW_SPRING_FORCE(FORCE) FORCE(SPRING, spring, LW_BETWEEN_POINTS, spring_points)
#define LW_SPRING_PARAMETERS(X)                                                                             \
  X(spring_points, SPRING, 6, LW_TUNABLE, LW_STAGE_NONE, "its two ends, each in the frame of its body [m]") \
  X(spring_stiffness, SPRING, 1, LW_TUNABLE, LW_STAGE_NONE, "spring between points [N/m]")                  \
  X(spring_damping, SPRING, 1, LW_TUNABLE, LW_STAGE_NONE, "damper between points [N.s/m]")                  \
  X(spring_free_length, SPRING, 1, LW_TUNABLE, LW_STAGE_NONE, "length at which the spring is free [m]")
#define LW_SPRING_INPUTS(X)
#define LW_SPRING_DISCRETE(X)
#define LW_SPRING_OUTPUTS(X)                                                                                     \
  X(spring_length, SPRING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "distance of the spring's points [m]")          \
  X(spring_rate, SPRING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "time derivative of the length [m/s]")            \
  X(spring_force, SPRING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "of spring and damper, pulling is positive [N]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_SPRING_KERNEL_H)
#define LW_FORCES_SPRING_KERNEL_H
#include "forces/force_kernel.h"

FORCE_NUMBERS(spring, SPRING)

static void spring_apply(const spring_numbers *x, int32_t k, const span_motion *s, real pull[3]) {
  const real stiffness = x->spring_stiffness[k], damping = x->spring_damping[k], free = x->spring_free_length[k];
  for (int i = 0; i < 3; i++) pull[i] = stiffness * s->d[i] + (damping * s->rate - stiffness * free) * s->n[i];
  x->spring_length[k] = where_apart(s, s->length);
  x->spring_rate[k] = s->rate;
  x->spring_force[k] = where_apart(s, stiffness * (s->length - free) + damping * s->rate);
}

static real spring_energy(const spring_numbers *x, int32_t k) {
  const real stretch = x->spring_length[k] - x->spring_free_length[k];
  return 0.5 * x->spring_stiffness[k] * stretch * stretch;
}
#endif
