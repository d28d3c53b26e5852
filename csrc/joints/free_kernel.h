/* Free: position t = q1..3 in the parent's axes, R of the unit quaternion q4..7; w and v in child axes, so that
 * tdot = R v and the bias is w x v. */
#ifdef JOINT
JOINT(FREE, free, 7, 6, 0x38, 0, LW_GENERAL, LW_NO_AXES)
#elif !defined(LW_JOINTS_FREE_KERNEL_H)
#define LW_JOINTS_FREE_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"
#include "math/quaternion_coordinates_kernel.h"

static void free_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)sc, (void)parameter;
  copy(3, q, t);
  rotation_of(q + 3, R);
}

static void free_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q, (void)parameter;
  for (int c = 0; c < 6; c++) column_along(R, c % 3, c / 3, &P[c]);
}

static void free_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                      const twist *m, twist *out) {
  (void)q, (void)child;
  (void)parameter, (void)P, (void)u;
  memset(out, 0, sizeof *out);
  cross(m->a, m->l, out->l);
}

static void free_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q, real *sc) {
  (void)sc, (void)parameter;
  copy(3, t, q);
  nearest_quaternion(C, near + 3, q + 3);
}

static void free_qdot(const real *q, const real *u, real *qdot) {
  real R[9];
  rotation_of(q + 3, R);
  rotate(R, u + 3, qdot);
  quaternion_rate(q + 3, u, qdot + 3);
}

static void free_normalize(real *q) { normalize_quaternion(q + 3); }

#define free_axes NULL
#define free_constraints NULL
static const spin_lines free_spins[] = {SPINS_ALL, SPINS_ALL};
static const constraint_frame free_frame = {0, 0, {0, 1, 2, 3, 4, 5}, {0, 0}};
#endif
