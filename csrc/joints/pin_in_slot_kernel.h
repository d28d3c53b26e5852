/* Pin in a slot: t = x q1, R = Rz(q2); the slot is along x of the parent's joint frame, the axis of the pin along z.
 * v = x u1, w = z u2. */
#ifdef JOINT
JOINT(PIN_IN_SLOT, pin_in_slot, 2, 2, 1, 0, LW_GENERAL, LW_AXES_Z_X)
#elif !defined(LW_JOINTS_PIN_IN_SLOT_KERNEL_H)
#define LW_JOINTS_PIN_IN_SLOT_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

static void pin_in_slot_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)parameter;
  rotation_about_z(sc + 2, R);
  t[0] = q[0], t[1] = t[2] = 0.0;
}

static void pin_in_slot_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q, (void)R, (void)parameter;
  real parent[9];
  identity_rotation(parent);
  column_along(parent, 0, 1, &P[0]);
  column_along(parent, 2, 0, &P[1]);
}

static void pin_in_slot_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                                real *sc) {
  (void)parameter;
  q[0] = t[0];
  inverse_about_z(C, near[1], q + 1, sc + 2);
}

#define pin_in_slot_bias zero_bias
#define pin_in_slot_axes pin_axes
#define pin_in_slot_qdot NULL
#define pin_in_slot_normalize NULL
static const spin_lines pin_in_slot_spins[] = {SPINS_NONE, SPINS_AXIS_Z};
static const constraint_frame pin_in_slot_frame = {2, 2, {1, 0}, {0, 0}};
static const basic_constraint pin_in_slot_constraints[] = {
    {ROW_D1, 2, 0}, {ROW_D1, 2, 1}, {ROW_D2, 1, 0}, {ROW_D2, 2, 0}};
#endif
