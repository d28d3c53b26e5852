/* The contract of a joint type: all of it stands in one file, which types_list.h lists. The file begins with its row JOINT(...);
 * what kernels know of it are the names below with the type in front, as universal_pose, NULL where the contract allows
 * it. table_kernel.h gathers them: one that is left out fails the build. The parent's and the child's joint frame coincide
 * at the neutral coordinates, with the axis along z. */
#ifndef LW_JOINTS_JOINT_KERNEL_H
#define LW_JOINTS_JOINT_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "math/tolerances.h"

/* The constraint frame of a cut joint (loops/basic_constraints_kernel.h): numbers of constrained directions, and the speeds of
 * the rows along the free ones, in their order. A column is a unit vector along a free direction, of displacement or of
 * angle as its speed. `mixed`: those constrained rows, from the first one to before the last, along which the only
 * column of a joint has a part as well. */
typedef struct constraint_frame {
  int32_t angular, linear, speed[6], mixed[2];
} constraint_frame;

INLINE int is_mixed(const constraint_frame *rows) { return rows->mixed[1]; }

/* Whether three rows that are all constrained are the world axes. */
INLINE int has_world_angles(const constraint_frame *rows) { return rows->angular == 3 && !is_mixed(rows); }
INLINE int has_world_axes(const constraint_frame *rows) { return rows->linear == 3 && !is_mixed(rows); }

/* A basic constraint (loops/basic_constraints_kernel.h), of axis i of the parent's frame and, of d1, axis j of the child's. A
 * joint has as many as speeds are missing to six; those of s stand first. A type without has rows from its columns. */
typedef enum basic_kind { ROW_S, ROW_D1, ROW_D2, ROW_SCREW } basic_kind;

typedef struct basic_constraint {
  basic_kind kind;
  int i, j;
} basic_constraint;

/* Lines about which a body spins without its neighbour at the other end of a joint, in the canonical frame of its own end
 * and in all poses (tree/idle_spin_kernel.h); passed on: with its neighbour, where a joint has no speed of an angle. */
typedef enum spin_lines {
  SPINS_ALL,
  SPINS_THROUGH_ORIGIN,
  SPINS_ALONG_Z,
  SPINS_AXIS_Z,
  SPINS_AXIS_X,
  SPINS_NONE,
  SPINS_PASSED_ON
} spin_lines;

#define ROWS_OF_S {ROW_S, 0, 0}, {ROW_S, 1, 0}, {ROW_S, 2, 0}

typedef struct joint_operations {
  /* Pose of the child's joint frame in the parent's; sc holds sine and cosine of every coordinate. `parameter`: of
   * types with LW_ANY_NUMBER of them the numbers of a path, which are of type double in each arithmetic. */
  void (*pose)(const real *q, const real *sc, const real *parameter, real R[9], real t[3]);
  /* Column of each speed: twist of the child relative to the parent at the child's origin, in the parent's axes. */
  void (*columns)(const real *q, const real R[9], const real *parameter, twist *P);
  /* Acceleration relative to the parent, as seen from it, with all udot zero, which is the rate of the columns along
   * u; P, m = sum P u and the axes of the child in any axes. */
  void (*bias)(const real *q, const real *parameter, const real child[9], const twist *P, const real *u, const twist *m,
               twist *out);
  /* The coordinates, their sines and cosines, that bring the joint nearest to the pose C, t; `near` selects the revolution of
   * an angle and the sign of a quaternion. */
  void (*inverse)(const real C[9], const real t[3], const real *near, const real *parameter, real *q, real *sc);
  /* qdot from u; NULL: qdot = u. */
  void (*qdot)(const real *q, const real *u, real *qdot);
  /* Brings coordinates that are not independent, those of a quaternion, back to their unit length; NULL: nothing. */
  void (*normalize)(real *q);
  /* Rows of unit vectors of the constraint frame, constrained ones first, from the axes R of the child's joint frame
   * and the columns, world axes; a set of three constrained ones is not filled. NULL: the axes of R. */
  void (*axes)(const real R[9], const twist *P, real angular[9], real linear[9]);
  const constraint_frame *frame;
  const basic_constraint *constraints;
  const spin_lines *spins; /* of the parent, of the child */
} joint_operations;

/* Offset of a link that is rigidly fixed to its parent. */
INLINE void offset_from_parent(const real p0[3], const link_motion *parent, link_motion *child) {
  rotate(parent->R, p0, child->r);
}

/* a_child = a_parent + aw x r + w x (w x r) */
INLINE void rigid_acceleration(const link_motion *parent, link_motion *child) {
  real wr[3];
  cross(parent->w, child->r, wr);
  copy(3, parent->av, child->av);
  add_cross(parent->aw, child->r, child->av);
  add_cross(parent->w, wr, child->av);
}

static void zero_bias(const real *q, const real *parameter, const real child[9], const twist *P, const real *u,
                      const twist *m, twist *out) {
  (void)q, (void)child;
  (void)parameter, (void)P, (void)u, (void)m;
  memset(out, 0, sizeof *out);
}

static void identity_rotation(real R[9]) {
  memset(R, 0, 9 * sizeof *R);
  R[0] = R[4] = R[8] = 1.0;
}

/* A column along axis `c` of the frame R: rotation or translation. */
static void column_along(const real R[9], int c, int translation, twist *P) {
  memset(P, 0, sizeof *P);
  for (int i = 0; i < 3; i++) (translation ? P->l : P->a)[i] = R[3 * i + c];
}

static void rotation_about_z(const real sc[2], real R[9]) {
  identity_rotation(R);
  R[0] = sc[1], R[1] = -sc[0], R[3] = sc[0], R[4] = sc[1];
}

/* The angle with this sine and cosine, both times some length, in the revolution nearest to `near`; sc: both of length one.
 * */
static void nearest_angle(real s, real c, real near, real *q, real sc[2]) {
  const real size2 = s * s + c * c, scale = 1.0 / root(select_less(size2, 1e-300, 1e-300, size2));
  sc[0] = s * scale, sc[1] = select_less(size2, 1e-300, 1.0, c * scale);
  const real angle = arctan2(s, c);
  *q = angle + 6.283185307179586 * rint((re(near) - re(angle)) / 6.283185307179586);
}

/* The rotation about z nearest to C: its angle has the tangent (C10 - C01) / (C00 + C11). */
static void inverse_about_z(const real C[9], real near, real *q, real sc[2]) {
  nearest_angle(C[3] - C[1], C[0] + C[4], near, q, sc);
}

/* The angle about z nearest to C, in the revolution given by the displacement along z, or in that of `near`. */
static void screw_angle(const real C[9], real displacement, real near, real pitch, real *q, real sc[2]) {
  const int plain = fabs(re(pitch)) < NO_PITCH;
  inverse_about_z(C, plain ? near : displacement / (plain ? 1.0 : pitch), q, sc);
}

/* The slide along x of the child is the last of the linear rows. */
static void slide_along_x_axes(const real R[9], const twist *P, real angular[9], real linear[9]) {
  (void)P;
  transpose(R, angular);
  for (int k = 0; k < 3; k++) copy(3, angular + 3 * ((k + 1) % 3), linear + 3 * k);
}

/* Across the slot of a pin: along its axis, and across both; u[0] is along the slot, u[1] about the pin. */
static void pin_axes(const real R[9], const twist *P, real angular[9], real linear[9]) {
  transpose(R, angular);
  copy(3, P[1].a, linear);
  cross(P[1].a, P[0].l, linear + 3);
  copy(3, P[0].l, linear + 6);
}

/* ---- circles ---- */

/* Of the angle q / r, by that of its half, so that no digits are lost in large circles. */
static void point_on_circle(real q, real r, real sc[2], real t[3]) {
  const real half = 0.5 * q / r;
  real s[2];
  sincos_all(&half, 1, s);
  sc[0] = 2.0 * s[0] * s[1], sc[1] = 1.0 - 2.0 * s[0] * s[0];
  t[0] = r * sc[0], t[1] = 2.0 * r * s[0] * s[0], t[2] = 0.0;
}

/* The place at the angle with this sine and cosine, both times some length, in the revolution nearest to `near`. */
static void place_on_circle(real s, real c, real near, real r, real *q) {
  real sc[2], angle;
  nearest_angle(s, c, near / r, &angle, sc);
  *q = r * angle;
}
#endif
