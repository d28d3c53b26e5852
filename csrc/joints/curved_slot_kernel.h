/* Pin in a circular slot: the slot is a circle of signed radius r about the axis through [0; r; 0] parallel to z, which it
 * begins along x, the axis of the pin along z: with the angle a = q1 / r t = [r sin a; r (1 - cos a); 0], R = Rz(q2);
 * v = [cos a; sin a; 0] u1, w = z u2. */
#ifdef JOINT
JOINT(CURVED_SLOT, curved_slot, 2, 2, 1, 1, LW_GENERAL, LW_AXES_Z_X)
#elif !defined(LW_JOINTS_CURVED_SLOT_KERNEL_H)
#define LW_JOINTS_CURVED_SLOT_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

static void curved_slot_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  real at[2];
  point_on_circle(q[0], *parameter, at, t);
  rotation_about_z(sc + 2, R);
}

static void curved_slot_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)R;
  real at[2], t[3], parent[9], slot[9];
  point_on_circle(q[0], *parameter, at, t);
  rotation_about_z(at, slot);
  identity_rotation(parent);
  column_along(slot, 0, 1, &P[0]);
  column_along(parent, 2, 0, &P[1]);
}

/* To the centre of the circle. */
static void curved_slot_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                             const twist *m, twist *out) {
  (void)q, (void)child;
  (void)m;
  memset(out, 0, sizeof *out);
  cross(P[1].a, P[0].l, out->l);
  for (int i = 0; i < 3; i++) out->l[i] *= u[0] * u[0] / *parameter;
}

static void curved_slot_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                                real *sc) {
  const real r = *parameter;
  place_on_circle(t[0] / r, (r - t[1]) / r, near[0], r, q);
  inverse_about_z(C, near[1], q + 1, sc + 2);
}

#define curved_slot_axes pin_axes
#define curved_slot_qdot NULL
#define curved_slot_normalize NULL
#define curved_slot_constraints NULL
static const spin_lines curved_slot_spins[] = {SPINS_NONE, SPINS_AXIS_Z};
static const constraint_frame curved_slot_frame = {2, 2, {1, 0}, {0, 0}};
#endif
