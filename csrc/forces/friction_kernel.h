/* Dry friction in one speed u of a joint. While it slides, with s the sign of its direction,
 *   F = -s (F_c + (F_s - F_c) exp(-(u / u_s)^2)) - d u
 * with Coulomb friction F_c, static friction F_s, Stribeck's speed u_s (0: F_s holds at rest alone) and viscous friction d
 * (Armstrong-Helouvry, B. et al.: Automatica 30 (1994) 1083-1138). While it sticks a lock holds the speed at zero, with
 * any load up to F_s: events decide between both (events/impact.c). The regularised law, which never sticks, has
 * tanh(u / u_r) in place of s. */
#ifndef LW_FRICTION_FORCE
#define LW_FRICTION_FORCE(FORCE) FORCE(FRICTION, friction, LW_ON_SPEEDS, none)
#define LW_FRICTION_PARAMETERS(X)                                                                                     \
  X(friction_coulomb, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "load while it slides [N or N.m]")                      \
  X(friction_static, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "up to which it sticks; not given: coulomb")             \
  X(friction_stribeck, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "speed over which static friction decays; 0: at once") \
  X(friction_viscous, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "load lost per speed [N.s/m or N.m.s/rad]")             \
  X(friction_smooth, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "speed over which the load turns; not given: it sticks")
#define LW_FRICTION_INPUTS(X)
#define LW_FRICTION_DISCRETE(X)                                                                                        \
  X(friction_state, FRICTION, 1, LW_OUTPUT, LW_STAGE_NONE, "1, -1: slides in this direction; 2: sticks; 0: undecided")
#define LW_FRICTION_OUTPUTS(X)                                                                                 \
  X(friction_limit, FRICTION, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "load up to which it sticks [N or N.m]")   \
  X(friction_force, FRICTION, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "load of friction, holding ones too [N or N.m]")
enum { LW_FRICTION_STICKS = 2 }; /* a state */
enum { LW_SMOOTH_FRICTION = 4 }; /* the place of friction_smooth */
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_FRICTION_KERNEL_H)
#define LW_FORCES_FRICTION_KERNEL_H
#include "forces/force_kernel.h"
#include "math/exponentials.h"

FORCE_NUMBERS(friction, FRICTION)

/* The direction in which it slides: before the first decision that of its speed. */
INLINE double slip_direction(double state, double rate) {
  if (state == LW_FRICTION_STICKS) return 0.0;
  return state != 0.0 ? state : (rate > 0.0) - (rate < 0.0);
}

INLINE real decay(real ratio) {
  const double x = re(ratio), value = exp_double(-x * x);
#if LW_ARITHMETIC == LW_DOUBLE
  return value;
#else
  return complex_of(value, -2.0 * x * value * __imag__ ratio);
#endif
}

INLINE real turn(real ratio) {
  const double value = tanh_double(re(ratio));
#if LW_ARITHMETIC == LW_DOUBLE
  return value;
#else
  return complex_of(value, (1.0 - value) * (1.0 + value) * __imag__ ratio);
#endif
}

static real friction_apply(const friction_numbers *x, int32_t k, int32_t given, real length, real rate) {
  const real direction = GIVEN(given, friction_smooth) ? turn(rate / x->friction_smooth[k])
                                                       : slip_direction(re(x->friction_state[k]), re(rate));
  const real coulomb = x->friction_coulomb[k], most = GIVEN(given, friction_static) ? x->friction_static[k] : coulomb;
  real size = coulomb;
  (void)length;
  x->friction_limit[k] = most;
  if (re(x->friction_stribeck[k]) > 0.0) size += (most - coulomb) * decay(rate / x->friction_stribeck[k]);
  return x->friction_force[k] = -direction * size - x->friction_viscous[k] * rate;
}
#define friction_energy no_energy
#endif
