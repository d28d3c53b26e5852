/* Dry friction in one speed u of a joint, or in a sum of gear times speed. While it slides, with s the sign of its
 * direction,
 *   F = -s a (F_c + (F_s - F_c) exp(-(u / u_s)^2)) - d u
 * with Coulomb friction F_c, static friction F_s, Stribeck's speed u_s (0: F_s holds at rest alone), viscous friction d
 * (Armstrong-Helouvry, B. et al.: Automatica 30 (1994) 1083-1138) and the share a of its direction, a_+ or a_-. While it
 * sticks a lock holds the speed at zero, with any load from -a_+ F_s to a_- F_s: events decide between both
 * (events/impact.c). Where others hold the same speed through loops and couplings it may also rest with a load of a limit,
 * which no lock gives. With a_+ = 0 it is a freewheel, free forwards; its F_s may be infinite, and then it never slides
 * backwards. The regularised law, which never sticks, has tanh(u / u_r) in place of s.
 *
 * By the pressing force N of its joint F_c has mu r N in addition, and F_s mu_s r N; r is one in slides. Loads of friction
 * change N: dynamics/pressed_friction_kernel.h solves for both, and leaves N in `friction_pressing`. */
#ifndef LW_FRICTION_FORCE
#define LW_FRICTION_FORCE(FORCE) FORCE(FRICTION, friction, LW_ON_SPEEDS, none)
#define LW_FRICTION_PARAMETERS(X)                                                                                     \
  X(friction_coulomb, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "load while it slides [N or N.m]")                      \
  X(friction_static, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "up to which it sticks; not given: coulomb")             \
  X(friction_stribeck, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "speed over which static friction decays; 0: at once") \
  X(friction_viscous, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "load lost per speed [N.s/m or N.m.s/rad]")             \
  X(friction_smooth, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "speed over which the load turns; not given: it sticks") \
  X(friction_mu, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "load while it slides by pressing force and radius")         \
  X(friction_radius, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "of its bearing or thread [m]; not given: a slide")      \
  X(friction_static_mu, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "up to which it sticks, likewise; not given: mu")     \
  X(friction_forward, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "share of it at positive speeds; not given: 1")         \
  X(friction_backward, FRICTION, 1, LW_TUNABLE, LW_STAGE_NONE, "the same at negative speeds")
#define LW_FRICTION_INPUTS(X)
#define LW_FRICTION_DISCRETE(X)                                                        \
  X(friction_state, FRICTION, 1, LW_OUTPUT, LW_STAGE_NONE,                             \
    "1, -1: slides in this direction; 2, 3, -3: sticks, 3 at its limit; 0: undecided")
#define LW_FRICTION_OUTPUTS(X)                                                                                 \
  X(friction_limit, FRICTION, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "load up to which it sticks [N or N.m]")   \
  X(friction_slope, FRICTION, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "its load by the pressing force")        \
  X(friction_limit_slope, FRICTION, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "its limit by the pressing force") \
  X(friction_pressing, FRICTION, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "force that presses its surfaces [N]")  \
  X(friction_force, FRICTION, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "load of friction, holding ones too [N or N.m]")
enum { LW_FRICTION_STICKS = 2, LW_FRICTION_AT_LIMIT = 3 }; /* states, the latter with a direction */
/* Places among the parameters. */
enum {
  LW_STATIC_FRICTION = 1,
  LW_STRIBECK_FRICTION = 2,
  LW_SMOOTH_FRICTION = 4,
  LW_PRESSED_FRICTION = 5,
  LW_FORWARD_FRICTION = 8,
  LW_BACKWARD_FRICTION = 9
};
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_FRICTION_KERNEL_H)
#define LW_FORCES_FRICTION_KERNEL_H
#include "forces/force_kernel.h"
#include "math/exponentials.h"

FORCE_NUMBERS(friction, FRICTION)

INLINE int is_at_limit(double state) { return state == LW_FRICTION_AT_LIMIT || state == -LW_FRICTION_AT_LIMIT; }

/* The direction in which it slides: before the first decision that of its speed. */
INLINE double slip_direction(double state, double rate) {
  if (state == LW_FRICTION_STICKS) return 0.0;
  const double toward = state != 0.0 ? state : rate;
  return (toward > 0.0) - (toward < 0.0);
}

/* With the load of its limit; an infinite one is not reached. */
INLINE int rests_by_limit(double state, real limit) { return is_at_limit(state) && re(limit) < INFINITY; }

INLINE real decay(real ratio) {
  const double x = re(ratio), value = exp_double(-x * x);
#if LW_ARITHMETIC != LW_COMPLEX
  return value;
#else
  return complex_of(value, -2.0 * x * value * __imag__ ratio);
#endif
}

INLINE real turn(real ratio) {
  const double value = tanh_double(re(ratio));
#if LW_ARITHMETIC != LW_COMPLEX
  return value;
#else
  return complex_of(value, (1.0 - value) * (1.0 + value) * __imag__ ratio);
#endif
}

/* Shares by direction. */
typedef struct friction_shares {
  real forward, backward;
} friction_shares;
#define SHARES_OF(type)                                                            \
  ((friction_shares){GIVEN(given, type##_forward) ? x->type##_forward[k] : 1.0,    \
                     GIVEN(given, type##_backward) ? x->type##_backward[k] : 1.0})

INLINE real share_along(friction_shares shares, real slip) {
  return select_less(slip, 0.0, shares.backward, shares.forward) * slip;
}

/* Loads F_c and F_s. */
typedef struct friction_limits {
  real coulomb, most;
} friction_limits;

/* By which they change with the pressing force. */
INLINE friction_limits limits_by_pressing(const friction_numbers *x, int32_t k, int32_t given) {
  const real by = GIVEN(given, friction_radius) ? x->friction_radius[k] : 1.0, mu = x->friction_mu[k];
  return (friction_limits){mu * by, (GIVEN(given, friction_static_mu) ? x->friction_static_mu[k] : mu) * by};
}

INLINE real slip_of(const friction_numbers *x, int32_t k, int32_t given, real rate) {
  return share_along(SHARES_OF(friction), GIVEN(given, friction_smooth)
                                              ? turn(rate / x->friction_smooth[k])
                                              : slip_direction(re(x->friction_state[k]), re(rate)));
}

/* How much of F_s - F_c there is at a speed. */
INLINE real share_of_static(const friction_numbers *x, int32_t k, real rate) {
  if (is_at_limit(re(x->friction_state[k]))) return 1.0;
  return re(x->friction_stribeck[k]) > 0.0 ? decay(rate / x->friction_stribeck[k]) : 0.0;
}

/* An infinite F_s, of a freewheel, is not reached. */
INLINE real size_at(friction_limits limits, real share) {
  if (re(share) == 0.0 || !(re(limits.most) < INFINITY)) return limits.coulomb;
  return limits.coulomb + (limits.most - limits.coulomb) * share;
}

static real friction_apply(const friction_numbers *x, int32_t k, int32_t given, real length, real rate) {
  const real coulomb = x->friction_coulomb[k], slip = slip_of(x, k, given, rate), share = share_of_static(x, k, rate);
  friction_limits limits = {coulomb, GIVEN(given, friction_static) ? x->friction_static[k] : coulomb};
  (void)length;
  if (GIVEN(given, friction_mu)) {
    const friction_limits more = limits_by_pressing(x, k, given);
    x->friction_slope[k] = -slip * size_at(more, share), x->friction_limit_slope[k] = more.most;
    limits.coulomb += more.coulomb * x->friction_pressing[k], limits.most += more.most * x->friction_pressing[k];
  }
  x->friction_limit[k] = limits.most;
  return x->friction_force[k] = -slip * size_at(limits, share) - x->friction_viscous[k] * rate;
}
/* Its pressing force comes to a load of friction that has been found without: f + slope N. */
INLINE real friction_press(const friction_numbers *x, int32_t k) {
  x->friction_limit[k] += x->friction_limit_slope[k] * x->friction_pressing[k];
  return x->friction_force[k] += x->friction_slope[k] * x->friction_pressing[k];
}
#define friction_energy no_energy
#endif
