/* A force and a torque between frames on two bodies, of which each component is by a formula, in axes of the first frame:
 * they act on the second body about the origin of its frame, and the opposite on the first body at the same place. The
 * displacement d of the second frame's origin, its rotation vector r, the rate d' and the relative angular velocity are
 * among the quantities that it reads. A gradient, f = -dV/dd, so is a potential force. */
#ifndef LW_FRAME_FORMULA_FORCE
#define LW_FRAME_FORMULA_FORCE(FORCE) FORCE(FRAME_FORMULA, frame_formula, LW_BETWEEN_FRAMES, frame_formula_points)
#define LW_FRAME_FORMULA_RESULTS 6
#define LW_FRAME_FORMULA_PARAMETERS(X)                                                                                \
  X(frame_formula_points, FRAME_FORMULA, 6, LW_TUNABLE, LW_STAGE_NONE, "origins of its frames, each in its body [m]") \
  X(frame_formula_rotations, FRAME_FORMULA, 8, LW_TUNABLE, LW_STAGE_NONE, "quaternions of its frames, each in its body")
#define LW_FRAME_FORMULA_INPUTS(X)
#define LW_FRAME_FORMULA_DISCRETE(X)
#define LW_FRAME_FORMULA_OUTPUTS(X)                                                                                \
  X(frame_formula_displacement, FRAME_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "of the second frame [m]")    \
  X(frame_formula_rotation, FRAME_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "its rotation vector [rad]")      \
  X(frame_formula_velocity, FRAME_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "rate of its displacement [m/s]") \
  X(frame_formula_angular_velocity, FRAME_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "relative one [rad/s]")   \
  X(frame_formula_force, FRAME_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "on the second body [N]")            \
  X(frame_formula_torque, FRAME_FORMULA, 3, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "about the second origin [N.m]")
#endif
#if !defined(FORCE_RECORDS) && !defined(LW_FORCES_FRAME_FORMULA_KERNEL_H)
#define LW_FORCES_FRAME_FORMULA_KERNEL_H
#include "forces/force_kernel.h"
#include "formula/evaluate_kernel.h"

FORCE_NUMBERS(frame_formula, FRAME_FORMULA)

static void frame_formula_apply(const frame_formula_numbers *x, int32_t k, const frame_motion *s, twist *applied) {
  real rotation[3];
  rotation_vector(s->C, rotation);
  copy(3, s->d, x->frame_formula_displacement + 3 * k);
  copy(3, rotation, x->frame_formula_rotation + 3 * k);
  copy(3, s->v, x->frame_formula_velocity + 3 * k);
  copy(3, s->w, x->frame_formula_angular_velocity + 3 * k);
  evaluate_program(x->program + k, x->block);
  for (int32_t i = 0; i < 3; i++) {
    applied->l[i] = result_of(x->program + k, x->block, i);
    applied->a[i] = result_of(x->program + k, x->block, 3 + i);
  }
  copy(3, applied->l, x->frame_formula_force + 3 * k);
  copy(3, applied->a, x->frame_formula_torque + 3 * k);
}
#define frame_formula_energy no_energy
#endif
