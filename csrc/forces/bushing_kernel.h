/* A bushing: an elastic mount between frames on two bodies. With the displacement d of the second frame's origin and the
 * rotation vector r of its axes, both in the first frame, x = (d, r) and symmetric matrices K and D,
 *   V = x' K x / 2 - p' x,   (f, t) = p - (K x + D x'),   the wrench on the second body: f, and J^-T t about its origin,
 * where p is the preload.
 * J^-T is of the left Jacobian J of rotations (r' = J^-1 w; Chirikjian, G.: Stochastic Models, Information Theory, and Lie
 * Groups, vol. 2, 2012), so that V is a potential at any angle below half a turn, where r is not unique. */
#ifndef LW_BUSHING_FORCE
#define LW_BUSHING_FORCE(FORCE) FORCE(BUSHING, bushing, LW_BETWEEN_FRAMES, bushing_points)
#define LW_BUSHING_PARAMETERS(X)                                                                                       \
  X(bushing_points, BUSHING, 6, LW_TUNABLE, LW_STAGE_NONE, "origins of its frames, each in the frame of its body [m]") \
  X(bushing_rotations, BUSHING, 8, LW_TUNABLE, LW_STAGE_NONE, "quaternions of its frames, each in its body")           \
  X(bushing_stiffness, BUSHING, 21, LW_TUNABLE, LW_STAGE_NONE, "upper triangle, row by row [N/m, N/rad, N.m/rad]")     \
  X(bushing_damping, BUSHING, 21, LW_TUNABLE, LW_STAGE_NONE, "upper triangle, row by row [N.s/m, N.s/rad, N.m.s/rad]") \
  X(bushing_preload, BUSHING, 6, LW_TUNABLE, LW_STAGE_NONE, "load without displacement [N, N.m]")
#define LW_BUSHING_INPUTS(X)
#define LW_BUSHING_DISCRETE(X)
#define LW_BUSHING_OUTPUTS(X)                                                                                   \
  X(bushing_displacement, BUSHING, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "of the second frame, first axes [m]") \
  X(bushing_rotation, BUSHING, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "rotation vector, first axes [rad]")       \
  X(bushing_force, BUSHING, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "on the second body, first axes [N]")         \
  X(bushing_torque, BUSHING, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "about the second origin, first axes [N.m]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_BUSHING_KERNEL_H)
#define LW_FORCES_BUSHING_KERNEL_H
#include "forces/force_kernel.h"

FORCE_NUMBERS(bushing, BUSHING)

/* r r' part of J^-1: (1 - a / tan(a)) / (4 a^2) */
static real second_order(const half_angle *h) {
  const real r2 = 4.0 * h->a2;
  if (re(r2) < 4.0 * SMALL_HALF_ANGLE2) return 1.0 / 12.0 + r2 * (1.0 / 720.0 + r2 * (1.0 / 30240.0));
  return (1.0 - h->by_tan) / r2;
}

/* J^-1 w = w - r x w / 2 + c r x (r x w); J^-T with the other sign. */
static void inverse_jacobian(const real r[3], real c, double sign, const real w[3], real out[3]) {
  real once[3], twice[3];
  cross(r, w, once);
  cross(r, once, twice);
  for (int i = 0; i < 3; i++) out[i] = w[i] - 0.5 * sign * once[i] + c * twice[i];
}

/* y += A x of a symmetric matrix by its upper triangle. */
static void add_symmetric(const real *upper, const real x[6], real y[6]) {
  for (int i = 0; i < 6; i++)
    for (int j = i; j < 6; j++, upper++) {
      y[i] += *upper * x[j];
      if (j != i) y[j] += *upper * x[i];
    }
}

static void bushing_apply(const bushing_numbers *x, int32_t k, const frame_motion *s, twist *applied) {
  real Q[4], at[6], rate[6], load[6] = {0.0};
  quaternion_of(s->C, Q);
  const half_angle h = half_angle_of(Q);
  const real c = second_order(&h);
  for (int i = 0; i < 3; i++) at[i] = s->d[i], rate[i] = s->v[i], at[3 + i] = 2.0 * h.by_n * Q[1 + i];
  inverse_jacobian(at + 3, c, 1.0, s->w, rate + 3);
  add_symmetric(x->bushing_stiffness + 21 * k, at, load);
  add_symmetric(x->bushing_damping + 21 * k, rate, load);
  for (int i = 0; i < 6; i++) load[i] = x->bushing_preload[6 * k + i] - load[i];
  copy(3, load, applied->l);
  inverse_jacobian(at + 3, c, -1.0, load + 3, applied->a);
  copy(3, at, x->bushing_displacement + 3 * k);
  copy(3, at + 3, x->bushing_rotation + 3 * k);
  copy(3, applied->l, x->bushing_force + 3 * k);
  copy(3, applied->a, x->bushing_torque + 3 * k);
}

static real bushing_energy(const bushing_numbers *x, int32_t k) {
  real at[6], load[6] = {0.0}, energy = 0.0;
  copy(3, x->bushing_displacement + 3 * k, at);
  copy(3, x->bushing_rotation + 3 * k, at + 3);
  add_symmetric(x->bushing_stiffness + 21 * k, at, load);
  for (int i = 0; i < 6; i++) energy += at[i] * (0.5 * load[i] - x->bushing_preload[6 * k + i]);
  return energy;
}
#endif
