/* The frame of a cut joint on the links that it joins, and the closures of revolute and spherical joints. */
#ifndef LW_LOOPS_PLAIN_CLOSURE_KERNEL_H
#define LW_LOOPS_PLAIN_CLOSURE_KERNEL_H
#include "joints/table_kernel.h"
#include "math/spatial_kernel.h"

/* A link at the end of a branch: pose, velocity and acceleration with all udot zero, the position of its point from
 * the cluster's root; and the cut joint's frame and origin in its link frame. */
typedef struct branch_end {
  const real *R, *w, *aw, *av, *place, *frame, *origin;
} branch_end;

/* The cut joint's frame on a link, world axes: its axes, and its origin from the link's point and from the root's. */
typedef struct joint_end {
  real R[9], d[3], p[3];
} joint_end;

INLINE void find_joint_end(const branch_end *link, joint_end *end) {
  multiply(link->R, link->frame, end->R);
  rotate(link->R, link->origin, end->d);
  for (int k = 0; k < 3; k++) end->p[k] = link->place[k] + end->d[k];
}

/* Acceleration with all udot zero of a point of a link, d from the link's point: av + aw x d + w x (w x d). */
INLINE void bias_at(const real w[3], const real aw[3], const real av[3], const real d[3], real out[3]) {
  real wd[3];
  cross(w, d, wd);
  for (int k = 0; k < 3; k++) out[k] = av[k];
  add_cross(aw, d, out);
  add_cross(w, wd, out);
}

/* [angular; linear] in world axes, to the rows of a constraint frame (basic_constraints_kernel.h). */
INLINE void to_constraint_frame(const constraint_frame *rows, const real angular[9], const real linear[9],
                                const real *w, real out[6]) {
  const int32_t na = rows->angular, nl = rows->linear;
  real a[3] = {w[0], w[1], w[2]}, l[3] = {w[3], w[4], w[5]};
  if (!has_world_angles(rows)) rotate(angular, w, a);
  if (!has_world_axes(rows)) rotate(linear, w + 3, l);
  for (int32_t i = 0; i < 3; i++) out[i < na ? i : i + nl] = a[i];
  for (int32_t i = 0; i < 3; i++) out[i < nl ? i + na : i + 3] = l[i];
}

/* The closure of a revolute or spherical joint in the metric, without its coordinates: its axes as rows, those of a
 * revolute joint on its parent, of a spherical joint on its child; the residual in the rows of the constraint frame; the
 * joint's speeds u, and the bias of the child relative to the parent, moved with these speeds, in world axes. */
typedef struct plain_closure {
  real axes[9], phi[6], u[3], bias[6];
} plain_closure;

INLINE void find_plain_closure(int32_t type, const branch_end *parent, const branch_end *child,
                               const joint_end *on_parent, const joint_end *on_child, real per_length,
                               plain_closure *at) {
  const int revolute = type == LW_REVOLUTE;
  const int32_t angular = revolute ? 2 : 0; /* constrained directions */
  const real *R = revolute ? on_parent->R : on_child->R;
  real relative[3], turn[3], at_parent[3], at_child[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) at->axes[3 * i + j] = R[3 * j + i];
  bias_at(parent->w, parent->aw, parent->av, on_parent->d, at_parent);
  bias_at(child->w, child->aw, child->av, on_child->d, at_child);
  for (int k = 0; k < 3; k++) {
    at->phi[angular + k] = (on_parent->p[k] - on_child->p[k]) * per_length;
    relative[k] = turn[k] = child->w[k] - parent->w[k];
    at->bias[k] = child->aw[k] - parent->aw[k];
    at->bias[3 + k] = (at_child[k] - at_parent[k]) * per_length;
  }
  for (int k = angular + 3; k < 6; k++) at->phi[k] = 0.0;
  rotate(at->axes, relative, at->u);
  if (revolute) {
    const real f[3] = {on_child->R[2], on_child->R[5], on_child->R[8]};
    at->phi[0] = dot(f, at->axes + 3), at->phi[1] = -dot(f, at->axes);
    at->u[0] = at->u[2];
    for (int k = 0; k < 3; k++) turn[k] = at->axes[6 + k] * at->u[0];
  }
  add_cross(turn, parent->w, at->bias);
}
#endif
