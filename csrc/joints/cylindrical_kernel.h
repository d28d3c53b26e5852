/* Cylindrical: R = Rz(q1), t = z q2; w = z u1, v = z u2. */
#ifdef JOINT
JOINT(CYLINDRICAL, cylindrical, 2, 2, 2, 0, LW_GENERAL, LW_AXIS)
#elif !defined(LW_JOINTS_CYLINDRICAL_KERNEL_H)
#define LW_JOINTS_CYLINDRICAL_KERNEL_H
#include "math/link_motion_kernel.h"
#include "joints/joint_kernel.h"

static void cylindrical_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)parameter;
  rotation_about_z(sc, R);
  t[0] = t[1] = 0.0, t[2] = q[1];
}

static void cylindrical_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q, (void)parameter;
  column_along(R, 2, 0, &P[0]);
  column_along(R, 2, 1, &P[1]);
}

static void cylindrical_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                                real *sc) {
  (void)parameter;
  inverse_about_z(C, near[0], q, sc);
  q[1] = t[2];
}

#define cylindrical_bias zero_bias
#define cylindrical_qdot NULL
#define cylindrical_normalize NULL
#define cylindrical_axes NULL
static const spin_lines cylindrical_spins[] = {SPINS_AXIS_Z, SPINS_AXIS_Z};
static const constraint_frame cylindrical_frame = {2, 2, {0, 1}, {0, 0}};
static const basic_constraint cylindrical_constraints[] = {
    {ROW_D1, 2, 0}, {ROW_D1, 2, 1}, {ROW_D2, 0, 0}, {ROW_D2, 1, 0}};
#endif
