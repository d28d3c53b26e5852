/* Prismatic: r = R_parent p0 + e q, bias 2 w_parent x e u. */
#ifdef JOINT
JOINT(PRISMATIC, prismatic, 1, 1, 1, 0, LW_TRANSLATION, LW_AXIS)
#elif !defined(LW_JOINTS_PRISMATIC_KERNEL_H)
#define LW_JOINTS_PRISMATIC_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

INLINE void prismatic_position(const real R0[9], const real p0[3], const link_motion *parent, const real *q,
                               link_motion *child) {
  multiply(parent->R, R0, child->R);
  offset_from_parent(p0, parent, child);
  for (int i = 0; i < 3; i++) child->r[i] += child->R[3 * i + 2] * q[0];
}

INLINE void prismatic_velocity(const link_motion *parent, const real *u, link_motion *child) {
  real eu[3];
  axis_of(child, eu);
  for (int i = 0; i < 3; i++) eu[i] *= 2.0 * u[0];
  copy(3, parent->w, child->w);
  copy(3, parent->aw, child->aw);
  rigid_acceleration(parent, child);
  add_cross(parent->w, eu, child->av);
}

static void prismatic_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                              real *sc) {
  (void)C, (void)near, (void)sc, (void)parameter;
  q[0] = t[2];
}

#define prismatic_pose NULL
#define prismatic_columns NULL
#define prismatic_bias NULL
#define prismatic_qdot NULL
#define prismatic_normalize NULL
#define prismatic_axes NULL
static const spin_lines prismatic_spins[] = {SPINS_PASSED_ON, SPINS_PASSED_ON};
static const constraint_frame prismatic_frame = {3, 2, {0}, {0, 0}};
static const basic_constraint prismatic_constraints[] = {
    {ROW_D1, 0, 1}, {ROW_D1, 1, 2}, {ROW_D1, 2, 0}, {ROW_D2, 0, 0}, {ROW_D2, 1, 0}};
#endif
