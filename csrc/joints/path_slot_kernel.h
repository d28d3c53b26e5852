/* Pin in a slot along a path (path_kernel.h): t = c(q1), R = Rz(q2); v = x u1 with the tangent x, w = z u2. */
#ifdef JOINT
JOINT(PATH_SLOT, path_slot, 2, 2, 1, LW_ANY_NUMBER, LW_GENERAL, LW_AXIS)
#elif !defined(LW_JOINTS_PATH_SLOT_KERNEL_H)
#define LW_JOINTS_PATH_SLOT_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"
#include "math/path_kernel.h"

static void path_slot_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  path_frame f;
  frame_on(path_of(parameter), q[0], &f);
  rotation_about_z(sc + 2, R);
  copy(3, f.c, t);
}

static void path_slot_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  path_frame f;
  real parent[9];
  (void)R;
  frame_on(path_of(parameter), q[0], &f);
  identity_rotation(parent);
  memset(P, 0, sizeof *P);
  for (int i = 0; i < 3; i++) P[0].l[i] = f.R[0][3 * i];
  column_along(parent, 2, 0, &P[1]);
}

/* Across the tangent, by the frame along the path. */
static void path_slot_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                           const twist *m, twist *out) {
  path_frame f;
  real t[3], turned[3], sc[2];
  (void)P, (void)m;
  frame_on(path_of(parameter), q[0], &f);
  sincos_all(q + 1, 1, sc);
  for (int i = 0; i < 3; i++) t[i] = f.R[1][3 * i] * u[0] * u[0];
  turned[0] = sc[1] * t[0] + sc[0] * t[1], turned[1] = sc[1] * t[1] - sc[0] * t[0], turned[2] = t[2];
  memset(out, 0, sizeof *out);
  rotate(child, turned, out->l);
}

static void path_slot_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                              real *sc) {
  q[0] = nearest_on(path_of(parameter), near[0], t);
  inverse_about_z(C, near[1], q + 1, sc + 2);
}

static void path_slot_axes(const real R[9], const twist *P, real angular[9], real linear[9]) {
  const real along = dot(P[1].a, P[0].l), size = root(1.0 - along * along);
  transpose(R, angular);
  for (int i = 0; i < 3; i++) linear[i] = (P[1].a[i] - along * P[0].l[i]) / size;
  cross(linear, P[0].l, linear + 3);
  copy(3, P[0].l, linear + 6);
}

#define path_slot_qdot NULL
#define path_slot_normalize NULL
#define path_slot_constraints NULL
static const spin_lines path_slot_spins[] = {SPINS_NONE, SPINS_AXIS_Z};
static const constraint_frame path_slot_frame = {2, 2, {1, 0}, {0, 0}};
#endif
