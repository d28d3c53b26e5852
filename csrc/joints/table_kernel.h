/* The table of all joint types, and what those have in common whose columns are stored. */
#ifndef LW_JOINTS_TABLE_KERNEL_H
#define LW_JOINTS_TABLE_KERNEL_H
#include "joints/joint_kernel.h"
#include "joints/types.h"
#include "joints/types_list.h"
#include "math/spatial_kernel.h"

static const joint_operations joint_operations_of[LW_JOINT_TYPES] = {
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes) \
  {type##_pose,      type##_columns, type##_bias,   type##_inverse,     type##_qdot,    \
   type##_normalize, type##_axes,    &type##_frame, type##_constraints, type##_spins},
#include "joints/types_list.h"
#undef JOINT
};

INLINE const constraint_frame *constraint_frame_of(int32_t type) { return joint_operations_of[type].frame; }

/* The part of a column along its free direction: the angular one of an angle, the linear one of a displacement. */
INLINE void keep_free_part(int32_t type, int32_t c, twist *P) {
  memset(lw_joint_sizes[type].translations >> c & 1 ? P->a : P->l, 0, sizeof P->a);
}

/* ---- joints with stored columns ---- */

INLINE int has_stored_columns(int32_t type) { return type > LW_PRISMATIC; }

/* Pose of the child and its columns, world axes at the child's point. Backwards (`reversed`: the declared child is the
 * parent here) the pose is inverted and every twist changes sign and moves to the declared parent's origin. */
static void multi_dof_position(const joint_operations *kind, int32_t speeds, int reversed, const real *parameter,
                               const real R0[9], const real p0[3], const link_motion *parent, const real *q,
                               const real *sc, link_motion *child, twist *P) {
  real R[9], t[3], joint[9], shift[3];
  kind->pose(q, sc, parameter, R, t);
  kind->columns(q, R, parameter, P);
  multiply(parent->R, R0, joint);
  if (reversed) {
    real back[9];
    transpose(R, back);
    multiply(joint, back, child->R);
  } else multiply(joint, R, child->R);
  const real *axes = reversed ? child->R : joint; /* of the declared parent's joint frame */
  offset_from_parent(p0, parent, child);
  rotate(axes, t, shift);
  for (int i = 0; i < 3; i++) child->r[i] += reversed ? -shift[i] : shift[i];
  for (int32_t c = 0; c < speeds; c++) {
    twist local = P[c];
    rotate(axes, local.a, P[c].a);
    rotate(axes, local.l, P[c].l);
    if (!reversed) continue;
    for (int i = 0; i < 3; i++) P[c].a[i] = -P[c].a[i], P[c].l[i] = -P[c].l[i];
    add_cross(shift, P[c].a, P[c].l);
  }
}

INLINE void combine(int32_t speeds, const twist *P, const real *u, twist *out) {
  memset(out, 0, sizeof *out);
  for (int32_t c = 0; c < speeds; c++)
    for (int i = 0; i < 3; i++) out->a[i] += P[c].a[i] * u[c], out->l[i] += P[c].l[i] * u[c];
}

static void multi_dof_velocity(const joint_operations *kind, int32_t speeds, const real *q, const real *parameter,
                               const link_motion *parent, const twist *P, const real *u, link_motion *child) {
  twist m, b;
  combine(speeds, P, u, &m);
  kind->bias(q, parameter, child->R, P, u, &m, &b);
  for (int i = 0; i < 3; i++) child->w[i] = parent->w[i] + m.a[i], child->aw[i] = parent->aw[i] + b.a[i];
  add_cross(parent->w, m.a, child->aw);
  rigid_acceleration(parent, child);
  for (int i = 0; i < 3; i++) child->av[i] += b.l[i], m.l[i] *= 2.0;
  add_cross(parent->w, m.l, child->av);
}

/* The declared child's acceleration by that of the declared parent, solved for the latter, with `shift` from the
 * declared parent's origin to the declared child's. */
static void reversed_multi_dof_velocity(const joint_operations *kind, int32_t speeds, const real *q,
                                        const real *parameter, const real R0[9], const real p0[3],
                                        const link_motion *parent, const twist *P, const real *u, link_motion *child) {
  twist declared[6], m, b;
  link_motion at_joint;
  real shift[3], wt[3], axes[9];
  offset_from_parent(p0, parent, &at_joint);
  rigid_acceleration(parent, &at_joint);
  for (int i = 0; i < 3; i++) shift[i] = at_joint.r[i] - child->r[i];
  for (int32_t c = 0; c < speeds; c++) {
    for (int i = 0; i < 3; i++) declared[c].a[i] = -P[c].a[i], declared[c].l[i] = -P[c].l[i];
    add_cross(declared[c].a, shift, declared[c].l);
  }
  combine(speeds, declared, u, &m);
  multiply(parent->R, R0, axes);
  kind->bias(q, parameter, axes, declared, u, &m, &b);
  for (int i = 0; i < 3; i++) child->w[i] = parent->w[i] - m.a[i], child->aw[i] = parent->aw[i] - b.a[i];
  add_cross(m.a, child->w, child->aw);
  copy(3, at_joint.av, child->av);
  cross(child->w, shift, wt);
  for (int i = 0; i < 3; i++) wt[i] += 2.0 * m.l[i], child->av[i] -= b.l[i];
  add_cross(shift, child->aw, child->av);
  add_cross(wt, child->w, child->av);
}
#endif
