/* Universal (Hooke): R = Rz(q1) Rx(q2); the first axis is z of the parent's joint frame, the second x of the child's.
 * w = e1 u1 + e2 u2, where e2 rotates with u1. */
#ifdef JOINT
JOINT(UNIVERSAL, universal, 2, 2, 0, 0, LW_ROTATION, LW_AXES_Z_X)
#elif !defined(LW_JOINTS_UNIVERSAL_KERNEL_H)
#define LW_JOINTS_UNIVERSAL_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

INLINE void universal_position(const real R0[9], const real p0[3], const link_motion *parent, const real *sc,
                               link_motion *child, twist *P) {
  const real s1 = sc[0], c1 = sc[1], s2 = sc[2], c2 = sc[3];
  real M[9];
  multiply(parent->R, R0, M);
  memset(P, 0, 2 * sizeof *P);
  for (int i = 0; i < 3; i++) {
    const real x = c1 * M[3 * i] + s1 * M[3 * i + 1], y = c1 * M[3 * i + 1] - s1 * M[3 * i], z = M[3 * i + 2];
    child->R[3 * i] = x, child->R[3 * i + 1] = c2 * y + s2 * z, child->R[3 * i + 2] = c2 * z - s2 * y;
    P[0].a[i] = z, P[1].a[i] = x;
  }
  offset_from_parent(p0, parent, child);
}

INLINE void universal_velocity(const link_motion *parent, const twist *P, const real *u, link_motion *child) {
  real first[3], second[3], both[3];
  for (int i = 0; i < 3; i++) {
    first[i] = P[0].a[i] * u[0], second[i] = P[1].a[i] * u[1], both[i] = first[i] + second[i];
    child->w[i] = parent->w[i] + both[i];
  }
  copy(3, parent->aw, child->aw);
  add_cross(parent->w, both, child->aw);
  add_cross(first, second, child->aw);
  rigid_acceleration(parent, child);
}

static void universal_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)q, (void)parameter;
  const real s1 = sc[0], c1 = sc[1], s2 = sc[2], c2 = sc[3];
  R[0] = c1, R[1] = -s1 * c2, R[2] = s1 * s2;
  R[3] = s1, R[4] = c1 * c2, R[5] = -c1 * s2;
  R[6] = 0.0, R[7] = s2, R[8] = c2;
  t[0] = t[1] = t[2] = 0.0;
}

static void universal_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q, (void)parameter;
  memset(P, 0, sizeof *P);
  P[0].a[2] = 1.0;
  column_along(R, 0, 0, &P[1]);
}

static void universal_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                           const twist *m, twist *out) {
  (void)q, (void)child;
  (void)parameter, (void)m;
  memset(out, 0, sizeof *out);
  cross(P[0].a, P[1].a, out->a);
  for (int i = 0; i < 3; i++) out->a[i] *= u[0] * u[1];
}

/* q1 brings the child's x axis into the plane across the first axis; q2 is the nearest rotation about it. */
static void universal_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                              real *sc) {
  (void)t, (void)parameter;
  nearest_angle(C[3], C[0], near[0], q, sc);
  const real y1 = sc[1] * C[4] - sc[0] * C[1], y2 = sc[1] * C[5] - sc[0] * C[2];
  nearest_angle(C[7] - y2, y1 + C[8], near[1], q + 1, sc + 2);
}

static void universal_axes(const real R[9], const twist *P, real angular[9], real linear[9]) {
  (void)R, (void)linear;
  cross(P[0].a, P[1].a, angular);
  copy(3, P[0].a, angular + 3);
  copy(3, P[1].a, angular + 6);
}

#define universal_qdot NULL
#define universal_normalize NULL
static const spin_lines universal_spins[] = {SPINS_AXIS_Z, SPINS_AXIS_X};
static const constraint_frame universal_frame = {1, 3, {0, 1}, {0, 0}};
static const basic_constraint universal_constraints[] = {ROWS_OF_S, {ROW_D1, 2, 0}};
#endif
