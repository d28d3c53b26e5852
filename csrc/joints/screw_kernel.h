/* Screw (helical): R = Rz(q), t = z h q with the pitch h in m/rad; w = z u, v = z h u. One column of constant direction
 * in the parent, [z; h z]: neither a rotation nor a translation. */
#ifdef JOINT
JOINT(SCREW, screw, 1, 1, 0, 1, LW_GENERAL, LW_AXIS)
#elif !defined(LW_JOINTS_SCREW_KERNEL_H)
#define LW_JOINTS_SCREW_KERNEL_H
#include "math/link_motion_kernel.h"
#include "joints/joint_kernel.h"

static void screw_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  rotation_about_z(sc, R);
  t[0] = t[1] = 0.0, t[2] = *parameter * q[0];
}

static void screw_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q;
  column_along(R, 2, 0, &P[0]);
  for (int i = 0; i < 3; i++) P[0].l[i] = *parameter * P[0].a[i];
}

static void screw_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                          real *sc) {
  screw_angle(C, t[2], near[0], *parameter, q, sc);
}

#define screw_bias zero_bias
#define screw_qdot NULL
#define screw_normalize NULL
#define screw_axes NULL
static const spin_lines screw_spins[] = {SPINS_NONE, SPINS_NONE};
static const constraint_frame screw_frame = {2, 3, {0}, {4, 5}};
static const basic_constraint screw_constraints[] = {
    {ROW_D1, 2, 0}, {ROW_D1, 2, 1}, {ROW_D2, 0, 0}, {ROW_D2, 1, 0}, {ROW_SCREW, 2, 0}};
#endif
