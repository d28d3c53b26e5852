/* Revolute: R = R_parent R0 Rz(q), w = w_parent + e u, bias w_parent x e u. */
#ifdef JOINT
JOINT(REVOLUTE, revolute, 1, 1, 0, 0, LW_ROTATION, LW_AXIS)
#elif !defined(LW_JOINTS_REVOLUTE_KERNEL_H)
#define LW_JOINTS_REVOLUTE_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

INLINE void revolute_position(const real R0[9], const real p0[3], const link_motion *parent, const real *sc,
                              link_motion *child) {
  real M[9];
  multiply(parent->R, R0, M);
  for (int i = 0; i < 3; i++) {
    child->R[3 * i] = sc[1] * M[3 * i] + sc[0] * M[3 * i + 1];
    child->R[3 * i + 1] = sc[1] * M[3 * i + 1] - sc[0] * M[3 * i];
    child->R[3 * i + 2] = M[3 * i + 2];
  }
  offset_from_parent(p0, parent, child);
}

INLINE void revolute_velocity(const link_motion *parent, const real *u, link_motion *child) {
  real eu[3];
  axis_of(child, eu);
  for (int i = 0; i < 3; i++) eu[i] *= u[0];
  for (int i = 0; i < 3; i++) child->w[i] = parent->w[i] + eu[i];
  copy(3, parent->aw, child->aw);
  add_cross(parent->w, eu, child->aw);
  rigid_acceleration(parent, child);
}

static void revolute_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                             real *sc) {
  (void)t, (void)parameter;
  inverse_about_z(C, near[0], q, sc);
}

#define revolute_pose NULL
#define revolute_columns NULL
#define revolute_bias NULL
#define revolute_qdot NULL
#define revolute_normalize NULL
#define revolute_axes NULL
static const spin_lines revolute_spins[] = {SPINS_AXIS_Z, SPINS_AXIS_Z};
static const constraint_frame revolute_frame = {2, 3, {0}, {0, 0}};
static const basic_constraint revolute_constraints[] = {ROWS_OF_S, {ROW_D1, 2, 0}, {ROW_D1, 2, 1}};
#endif
