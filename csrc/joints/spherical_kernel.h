/* Spherical: R of the unit quaternion q; w in child axes. */
#ifdef JOINT
JOINT(SPHERICAL, spherical, 4, 3, 0, 0, LW_ROTATION, LW_NO_AXES)
#elif !defined(LW_JOINTS_SPHERICAL_KERNEL_H)
#define LW_JOINTS_SPHERICAL_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"
#include "math/quaternion_coordinates_kernel.h"

static void spherical_pose(const real *q, const real *sc, const real *parameter, real R[9], real t[3]) {
  (void)sc, (void)parameter;
  rotation_of(q, R);
  t[0] = t[1] = t[2] = 0.0;
}

static void spherical_columns(const real *q, const real R[9], const real *parameter, twist *P) {
  (void)q, (void)parameter;
  for (int c = 0; c < 3; c++) column_along(R, c, 0, &P[c]);
}

static void spherical_inverse(const real C[9], const real t[3], const real *near, const real *parameter, real *q,
                              real *sc) {
  (void)t, (void)sc, (void)parameter;
  nearest_quaternion(C, near, q);
}

static void spherical_qdot(const real *q, const real *u, real *qdot) { quaternion_rate(q, u, qdot); }

static void spherical_normalize(real *q) { normalize_quaternion(q); }

#define spherical_bias zero_bias
#define spherical_axes NULL
static const spin_lines spherical_spins[] = {SPINS_THROUGH_ORIGIN, SPINS_THROUGH_ORIGIN};
static const constraint_frame spherical_frame = {0, 3, {0, 1, 2}, {0, 0}};
static const basic_constraint spherical_constraints[] = {ROWS_OF_S};
#endif
