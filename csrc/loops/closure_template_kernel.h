/* The frame of a cut joint on the links that it joins, and the closures of revolute and spherical joints, over SCALAR:
 * included for one joint and, in double, for four at once. */
#ifndef SCALAR /* opened alone */
#include "joints/table_kernel.h"
#include "math/spatial_kernel.h"
#define SCALAR real
#define NAMED(name) name
#endif

/* A link at the end of a branch: pose, velocity and acceleration with all udot zero, the position of its point from
 * the cluster's root; and the cut joint's frame and origin in its link frame. */
typedef struct NAMED(branch_end) {
  const SCALAR *R, *w, *aw, *av, *place, *frame, *origin;
} NAMED(branch_end);

/* The cut joint's frame on a link, world axes: its axes, and its origin from the link's point and from the root's. */
typedef struct NAMED(joint_end) {
  SCALAR R[9], d[3], p[3];
} NAMED(joint_end);

INLINE void NAMED(find_joint_end)(const NAMED(branch_end) * link, NAMED(joint_end) * end) {
  NAMED(multiply)(link->R, link->frame, end->R);
  NAMED(rotate)(link->R, link->origin, end->d);
  for (int k = 0; k < 3; k++) end->p[k] = link->place[k] + end->d[k];
}

/* Acceleration with all udot zero of a point of a link, d from the link's point: av + aw x d + w x (w x d). */
INLINE void NAMED(bias_at)(const SCALAR w[3], const SCALAR aw[3], const SCALAR av[3], const SCALAR d[3],
                           SCALAR out[3]) {
  SCALAR wd[3];
  NAMED(cross)(w, d, wd);
  for (int k = 0; k < 3; k++) out[k] = av[k];
  NAMED(add_cross)(aw, d, out);
  NAMED(add_cross)(w, wd, out);
}

/* [angular; linear] in world axes, to the rows of a constraint frame (basic_constraints_kernel.h). */
INLINE void NAMED(to_constraint_frame)(const constraint_frame *rows, const SCALAR angular[9], const SCALAR linear[9],
                                       const SCALAR *w, SCALAR out[6]) {
  const int32_t na = rows->angular, nl = rows->linear;
  SCALAR a[3] = {w[0], w[1], w[2]}, l[3] = {w[3], w[4], w[5]};
  if (!has_world_angles(rows)) NAMED(rotate)(angular, w, a);
  if (!has_world_axes(rows)) NAMED(rotate)(linear, w + 3, l);
  for (int32_t i = 0; i < 3; i++) out[i < na ? i : i + nl] = a[i];
  for (int32_t i = 0; i < 3; i++) out[i < nl ? i + na : i + 3] = l[i];
}

/* The closure of a revolute or spherical joint in the metric, without its coordinates: its axes as rows, those of a
 * revolute joint on its parent, of a spherical joint on its child; the residual in the rows of the constraint frame; the
 * joint's speeds u, and the bias of the child relative to the parent, moved with these speeds, in world axes. */
typedef struct NAMED(plain_closure) {
  SCALAR axes[9], phi[6], u[3], bias[6];
} NAMED(plain_closure);

INLINE void NAMED(find_plain_closure)(int32_t type, const NAMED(branch_end) * parent, const NAMED(branch_end) * child,
                                      const NAMED(joint_end) * on_parent, const NAMED(joint_end) * on_child,
                                      SCALAR per_length, NAMED(plain_closure) * at) {
  const int revolute = type == LW_REVOLUTE;
  const int32_t angular = revolute ? 2 : 0; /* constrained directions */
  const SCALAR *R = revolute ? on_parent->R : on_child->R, zero = {0.0};
  SCALAR relative[3], turn[3], at_parent[3], at_child[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) at->axes[3 * i + j] = R[3 * j + i];
  NAMED(bias_at)(parent->w, parent->aw, parent->av, on_parent->d, at_parent);
  NAMED(bias_at)(child->w, child->aw, child->av, on_child->d, at_child);
  for (int k = 0; k < 3; k++) {
    at->phi[angular + k] = (on_parent->p[k] - on_child->p[k]) * per_length;
    relative[k] = turn[k] = child->w[k] - parent->w[k];
    at->bias[k] = child->aw[k] - parent->aw[k];
    at->bias[3 + k] = (at_child[k] - at_parent[k]) * per_length;
  }
  for (int k = angular + 3; k < 6; k++) at->phi[k] = zero;
  NAMED(rotate)(at->axes, relative, at->u);
  if (revolute) {
    const SCALAR f[3] = {on_child->R[2], on_child->R[5], on_child->R[8]};
    at->phi[0] = NAMED(dot)(f, at->axes + 3), at->phi[1] = -NAMED(dot)(f, at->axes);
    at->u[0] = at->u[2];
    for (int k = 0; k < 3; k++) turn[k] = at->axes[6 + k] * at->u[0];
  }
  NAMED(add_cross)(turn, parent->w, at->bias);
}
