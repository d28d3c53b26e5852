/* Planar: t = x q1 + y q2 in the parent's axes, R = Rz(q3). */
#ifdef JOINT
JOINT(PLANAR, planar, 3, 3, 3, 0, LW_GENERAL, LW_NORMAL)
#elif !defined(LW_JOINTS_PLANAR_KERNEL_H)
#define LW_JOINTS_PLANAR_KERNEL_H
#include "math/link_motion_kernel.h"
#include "joints/joint_kernel.h"

static void planar_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)parameter;
  rotation_about_z(sc + 4, R);
  t[0] = q[0], t[1] = q[1], t[2] = 0.0;
}

static void planar_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q, (void)R, (void)parameter;
  real parent[9];
  identity_rotation(parent);
  column_along(parent, 0, 1, &P[0]);
  column_along(parent, 1, 1, &P[1]);
  column_along(parent, 2, 0, &P[2]);
}

static void planar_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                           real *sc) {
  (void)parameter;
  q[0] = t[0], q[1] = t[1];
  inverse_about_z(C, near[2], q + 2, sc + 4);
}

static void planar_axes(const real R[9], const twist *P, real angular[9], real linear[9]) {
  transpose(R, angular);
  copy(3, angular + 6, linear);
  copy(3, P[0].l, linear + 3);
  copy(3, P[1].l, linear + 6);
}

#define planar_bias zero_bias
#define planar_qdot NULL
#define planar_normalize NULL
static const spin_lines planar_spins[] = {SPINS_ALONG_Z, SPINS_ALONG_Z};
static const constraint_frame planar_frame = {2, 1, {2, 0, 1}, {0, 0}};
static const basic_constraint planar_constraints[] = {{ROW_D1, 2, 0}, {ROW_D1, 2, 1}, {ROW_D2, 2, 0}};
#endif
