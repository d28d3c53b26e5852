/* Slide along a path: the child's frame is that along the path (path_kernel.h): R = R(q), t = c(q); v = x u with the
 * tangent x, w = k u with k = axial vector of R'R^T; the bias has R'' in its place. */
#ifdef JOINT
JOINT(PATH_SLIDE, path_slide, 1, 1, 1, LW_ANY_NUMBER, LW_GENERAL, LW_AXIS)
#elif !defined(LW_JOINTS_PATH_SLIDE_KERNEL_H)
#define LW_JOINTS_PATH_SLIDE_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"
#include "math/path_kernel.h"

static void path_slide_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  path_frame f;
  (void)sc;
  frame_on(path_of(parameter), q[0], &f);
  copy(9, f.R[0], R);
  copy(3, f.c, t);
}

static void path_slide_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  path_frame f;
  (void)R;
  frame_on(path_of(parameter), q[0], &f);
  axial_of(f.R[1], f.R[0], P[0].a);
  for (int i = 0; i < 3; i++) P[0].l[i] = f.R[0][3 * i];
}

static void path_slide_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                            const twist *m, twist *out) {
  path_frame f;
  real a[3], l[3], in_child[3];
  (void)P, (void)m;
  frame_on(path_of(parameter), q[0], &f);
  axial_of(f.R[2], f.R[0], a);
  for (int i = 0; i < 3; i++) a[i] *= u[0] * u[0], l[i] = f.R[1][3 * i] * u[0] * u[0];
  rotate_back(f.R[0], a, in_child);
  rotate(child, in_child, out->a);
  rotate_back(f.R[0], l, in_child);
  rotate(child, in_child, out->l);
}

static void path_slide_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                               real *sc) {
  (void)C, (void)sc;
  q[0] = nearest_on(path_of(parameter), near[0], t);
}

#define path_slide_axes slide_along_x_axes
#define path_slide_qdot NULL
#define path_slide_normalize NULL
#define path_slide_constraints NULL
static const spin_lines path_slide_spins[] = {SPINS_NONE, SPINS_NONE};
static const constraint_frame path_slide_frame = {3, 2, {0}, {0, 3}};
#endif
