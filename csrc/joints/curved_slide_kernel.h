/* Curved slide: along a circle of signed radius r about the axis through [0; r; 0] parallel to z, which it begins along
 * x: with the angle a = q / r R = Rz(a), t = [r sin a; r (1 - cos a); 0]; w = z u / r, v = R x u. The column is constant
 * in the child. */
#ifdef JOINT
JOINT(CURVED_SLIDE, curved_slide, 1, 1, 1, 1, LW_GENERAL, LW_AXES_Z_X)
#elif !defined(LW_JOINTS_CURVED_SLIDE_KERNEL_H)
#define LW_JOINTS_CURVED_SLIDE_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"

static void curved_slide_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)sc;
  real at[2];
  point_on_circle(q[0], *parameter, at, t);
  rotation_about_z(at, R);
}

static void curved_slide_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q;
  column_along(R, 0, 1, &P[0]);
  for (int i = 0; i < 3; i++) P[0].a[i] = R[3 * i + 2] / *parameter;
}

static void curved_slide_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                              const twist *m, twist *out) {
  (void)q, (void)child;
  (void)parameter, (void)P, (void)u;
  memset(out, 0, sizeof *out);
  cross(m->a, m->l, out->l);
}

/* The angle by which the place and the axes are nearest, with r as the length that compares them. */
static void curved_slide_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                                 real *sc) {
  const real r = *parameter;
  (void)sc;
  place_on_circle(t[0] / r + C[3] - C[1], (r - t[1]) / r + C[0] + C[4], near[0], r, q);
}

#define curved_slide_axes slide_along_x_axes
#define curved_slide_qdot NULL
#define curved_slide_normalize NULL
#define curved_slide_constraints NULL
static const spin_lines curved_slide_spins[] = {SPINS_NONE, SPINS_NONE};
static const constraint_frame curved_slide_frame = {3, 2, {0}, {2, 3}};
#endif
