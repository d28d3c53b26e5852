/* Fixed: the child moves with its parent. */
#ifdef JOINT
JOINT(FIXED, fixed, 0, 0, 0, 0, LW_ROTATION, LW_NO_AXES)
#elif !defined(LW_JOINTS_FIXED_KERNEL_H)
#define LW_JOINTS_FIXED_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

INLINE void fixed_position(const real R0[9], const real p0[3], const link_motion *parent, link_motion *child) {
  multiply(parent->R, R0, child->R);
  offset_from_parent(p0, parent, child);
}

INLINE void fixed_velocity(const link_motion *parent, link_motion *child) {
  copy(3, parent->w, child->w);
  copy(3, parent->aw, child->aw);
  rigid_acceleration(parent, child);
}

static void fixed_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                          real *sc) {
  (void)C, (void)t, (void)near, (void)q, (void)sc, (void)parameter;
}

#define fixed_pose NULL
#define fixed_columns NULL
#define fixed_bias NULL
#define fixed_qdot NULL
#define fixed_normalize NULL
#define fixed_axes NULL
static const spin_lines fixed_spins[] = {SPINS_PASSED_ON, SPINS_PASSED_ON};
static const constraint_frame fixed_frame = {3, 3, {0}, {0, 0}};
static const basic_constraint fixed_constraints[] = {ROWS_OF_S, {ROW_D1, 0, 1}, {ROW_D1, 1, 2}, {ROW_D1, 2, 0}};
#endif
