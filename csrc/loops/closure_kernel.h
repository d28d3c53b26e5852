/* The closure of a loop: the frame of the cut joint on the parent, moved through the joint (the phantom), must coincide
 * with its frame on the child. All vectors are relative to the root of the cluster, in world axes.
 *   residual      Phi = [rotation from child to phantom; phantom - child]
 *   velocity      sum over columns  a_k u_k = 0,  a = [e; e x d] or [0; e], negative on the child's branch, d from the
 *                 point of the link to the closure point of its branch; the columns of the cut joint are included
 *   acceleration  sum a_k udot_k = y,  y = -(bias of the phantom - bias of the child)
 * Each loop has six rows. One metric serves all: lengths are divided by the length of the cluster, and the speed of a
 * displacement is measured in it. */
#ifndef LW_LOOPS_CLOSURE_KERNEL_H
#define LW_LOOPS_CLOSURE_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "joints/fixed_kernel.h"
#include "joints/prismatic_kernel.h"
#include "joints/revolute_kernel.h"
#include "joints/table_kernel.h"
#include "loops/plain_closure_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"

/* ---- points of the links ---- */

static const real zero_point_motion[6] = {0.0};

/* Position and velocity of a link's point relative to the root's. */
INLINE const real *point_motion_of(const cluster_work *w, int32_t link) {
  return link == w->cluster->root ? zero_point_motion : w->point + 6 * (link - w->cluster->first);
}

INLINE void find_point_position(const view *v, const cluster_work *w, int32_t i) {
  const real *from = point_motion_of(w, v->m->link[i].parent);
  real *to = w->point + 6 * (i - w->cluster->first);
  for (int j = 0; j < 3; j++) to[j] = from[j] + v->motion[i].r[j];
}

INLINE void find_point_motion(const view *v, const cluster_work *w, int32_t i) {
  const int32_t parent = v->m->link[i].parent;
  const real *from = point_motion_of(w, parent);
  real *to = w->point + 6 * (i - w->cluster->first), own[3];
  find_point_position(v, w, i);
  joint_velocity(v, i, own);
  for (int j = 0; j < 3; j++) to[3 + j] = from[3 + j] + own[j];
  add_cross(motion_of(v, parent)->w, v->motion[i].r, to + 3);
}

INLINE void find_point_positions(const view *v, const cluster_work *w) {
  for (int32_t i = w->cluster->first; i < w->cluster->first + w->cluster->count; i++) find_point_position(v, w, i);
}

INLINE void find_point_motions(const view *v, const cluster_work *w) {
  for (int32_t i = w->cluster->first; i < w->cluster->first + w->cluster->count; i++) find_point_motion(v, w, i);
}

/* ---- the cut joint ---- */

INLINE link_motion *phantom_of(const view *v, int32_t l) { return &v->motion[v->m->size.bodies + l]; }

INLINE branch_end branch_end_of(const view *v, const cluster_work *w, int32_t link, const real *frame,
                                const real *origin) {
  const link_motion *at = motion_of(v, link);
  return (branch_end){at->R, at->w, at->aw, at->av, point_motion_of(w, link), frame, origin};
}

INLINE branch_end parent_end_of(const view *v, const cluster_work *w, int32_t l) {
  return branch_end_of(v, w, v->m->loop[l].parent, v->cut[l].R, v->cut[l].p);
}

INLINE branch_end child_end_of(const view *v, const cluster_work *w, int32_t l) {
  return branch_end_of(v, w, v->m->loop[l].child, v->cut[l].Rc, v->cut[l].pc);
}

INLINE void cut_joint_position(const view *v, int32_t l, const real *q, const real *sc) {
  const lw_loop *loop = &v->m->loop[l];
  const cut_constants *k = &v->cut[l];
  const link_motion *parent = motion_of(v, loop->parent);
  link_motion *phantom = phantom_of(v, l);
  if (loop->type == LW_REVOLUTE) revolute_position(k->R, k->p, parent, sc, phantom);
  else if (loop->type == LW_PRISMATIC) prismatic_position(k->R, k->p, parent, q, phantom);
  else if (loop->type == LW_FIXED) fixed_position(k->R, k->p, parent, phantom);
  else
    multi_dof_position(&joint_operations_of[loop->type], loop->columns, 0, parameter_of(v, loop->joint), k->R, k->p,
                       parent, q, sc, phantom, v->column + loop->u);
}

INLINE void cut_joint_velocity(const view *v, int32_t l, const real *u) {
  const lw_loop *loop = &v->m->loop[l];
  const link_motion *parent = motion_of(v, loop->parent);
  link_motion *phantom = phantom_of(v, l);
  if (loop->type == LW_REVOLUTE) revolute_velocity(parent, u, phantom);
  else if (loop->type == LW_PRISMATIC) prismatic_velocity(parent, u, phantom);
  else if (loop->type == LW_FIXED) fixed_velocity(parent, phantom);
  else
    multi_dof_velocity(&joint_operations_of[loop->type], loop->columns, FIELD(v, q_cut) + loop->q - v->m->size.nq,
                       parameter_of(v, loop->joint), parent, v->column + loop->u, u, phantom);
}

/* The cut joint's frame on the child, and the closure point by either branch, from the root's point. */
typedef struct cut_frames {
  joint_end child;
  real on_parent[3], on_child[3];
} cut_frames;

/* Places the phantom at the coordinates that bring it closest to the child, those that are fixed, not NaN, aside. */
INLINE void align_cut_joint(const view *v, const cluster_work *w, int32_t l, const real *fixed, cut_frames *at) {
  const lw_loop *loop = &v->m->loop[l];
  const branch_end parent = parent_end_of(v, w, l), child = child_end_of(v, w, l);
  joint_end on_parent;
  real C[9], d[3], t[3], sc[14], *q = FIELD(v, q_cut) + loop->q - v->m->size.nq;
  find_joint_end(&child, &at->child);
  find_joint_end(&parent, &on_parent);
  for (int j = 0; j < 3; j++) d[j] = at->child.p[j] - parent.place[j] - on_parent.d[j];
  multiply_back(on_parent.R, at->child.R, C);
  rotate_back(on_parent.R, d, t);
  joint_operations_of[loop->type].inverse(C, t, FIELD(v, cut_reference) + loop->q - v->m->size.nq,
                                          parameter_of(v, loop->joint), q, sc);
  if (fixed) {
    for (int32_t k = 0; k < loop->coordinates; k++) q[k] = isnan(re(fixed[k])) ? q[k] : fixed[k];
    sincos_all(q, loop->coordinates, sc);
  }
  cut_joint_position(v, l, q, sc);
  copy(3, at->child.p, at->on_child);
  for (int j = 0; j < 3; j++) at->on_parent[j] = parent.place[j] + phantom_of(v, l)->r[j];
}

/* ---- residual, columns, speeds and bias ---- */

/* Phi in the metric: half the sum of child x phantom axes, the sine of the error angle along its axis; then the gap. */
INLINE void closure_residual(const view *v, int32_t l, const cut_frames *at, real phi[6]) {
  const real *R = phantom_of(v, l)->R, *Rc = at->child.R;
  const real per_length = 1.0 / v->cut[l].length;
  for (int j = 0; j < 3; j++) phi[j] = 0.0, phi[3 + j] = (at->on_parent[j] - at->on_child[j]) * per_length;
  for (int c = 0; c < 3; c++) {
    const real from[3] = {Rc[c], Rc[3 + c], Rc[6 + c]}, to[3] = {R[c], R[3 + c], R[6 + c]};
    add_cross(from, to, phi);
  }
  for (int j = 0; j < 3; j++) phi[j] *= 0.5;
}

INLINE real dot6(const real *a, const real *b) {
  real s = a[0] * b[0];
  for (int j = 1; j < 6; j++) s += a[j] * b[j];
  return s;
}

/* |Phi| of one loop in metres */
INLINE void store_residual(const view *v, int32_t l, const real *phi) {
  const real s = dot6(phi, phi);
  FIELD(v, loop_residual)[l] = select_less(s, 1e-300, 0.0, root(select_less(s, 1e-300, 1.0, s))) * v->cut[l].length;
}

/* A column at a point `d` away, in the metric. */
INLINE void fill_column(const lw_column *column, real length, const twist *P, const real d[3], double sign, real *a) {
  const real angle = column->translation ? length * sign : sign, along = column->translation ? sign : sign / length;
  real l[3];
  copy(3, P->l, l);
  add_cross(P->a, d, l);
  for (int j = 0; j < 3; j++) a[j] = angle * P->a[j], a[3 + j] = along * l[j];
}

INLINE void column_of_cut_joint(const view *v, int32_t l, int32_t c, twist *P) {
  column_along_joint(v, v->m->loop[l].type, phantom_of(v, l), v->m->loop[l].u, c, P);
}

/* The cut joint's columns, `stride` scalars from one to the next: orthogonal, of unit length but for a mixed one. */
INLINE void fill_cut_columns(const view *v, int32_t l, int32_t stride, real *a) {
  const lw_loop *loop = &v->m->loop[l];
  const real here[3] = {0.0, 0.0, 0.0};
  for (int32_t c = 0; c < loop->columns; c++) {
    twist P;
    column_of_cut_joint(v, l, c, &P);
    fill_column(column_of(v, loop->cluster, loop->column + c), v->cut[l].length, &P, here, 1.0, a + stride * c);
  }
}

/* Velocity of the child relative to the parent at the closing point, in the metric. */
INLINE void relative_velocity(const view *v, const cluster_work *w, int32_t l, const cut_frames *at, real relative[6]) {
  const lw_loop *loop = &v->m->loop[l];
  const link_motion *parent = motion_of(v, loop->parent), *child = motion_of(v, loop->child);
  const real *parent_place = point_motion_of(w, loop->parent), *child_place = point_motion_of(w, loop->child);
  for (int j = 0; j < 3; j++)
    relative[j] = child->w[j] - parent->w[j], relative[3 + j] = child_place[3 + j] - parent_place[3 + j];
  add_cross(child->w, at->child.d, relative + 3);
  add_cross(phantom_of(v, l)->r, parent->w, relative + 3);
  const real per_length = 1.0 / v->cut[l].length;
  for (int j = 3; j < 6; j++) relative[j] *= per_length;
}

/* A speed of a cut joint by that of its child, along the free direction of its column. */
INLINE real speed_along(int32_t type, int32_t c, const twist *P, real length, const real relative[6]) {
  return lw_joint_sizes[type].translations >> c & 1 ? length * dot(P->l, relative + 3) : dot(P->a, relative);
}

/* The cut joint's speeds, which fit those of its neighbours best, its load, and the acceleration of the child relative
 * to the phantom with all udot zero. */
INLINE void find_cut_bias(const view *v, const cluster_work *w, int32_t l, const cut_frames *at, twist *bias) {
  const lw_loop *loop = &v->m->loop[l];
  const link_motion *child = motion_of(v, loop->child), *phantom = phantom_of(v, l);
  real *u = FIELD(v, u_cut) + loop->u - v->m->size.nu, relative[6];
  relative_velocity(v, w, l, at, relative);
  for (int32_t c = 0; c < loop->columns; c++) {
    twist P;
    column_of_cut_joint(v, l, c, &P);
    u[c] = speed_along(loop->type, c, &P, v->cut[l].length, relative);
    joint_load(v, loop->u + c, FIELD(v, q_cut)[v->m->coordinate[loop->u + c] - v->m->size.nq], u[c]);
  }
  cut_joint_velocity(v, l, u);
  bias_at(child->w, child->aw, child->av, at->child.d, bias->l);
  for (int j = 0; j < 3; j++) bias->a[j] = child->aw[j] - phantom->aw[j], bias->l[j] -= phantom->av[j];
}

/* Revolute and spherical joints of which no coordinate is needed, by far the most frequent ones; no spring acts in
 * them. */
INLINE int is_plain(const view *v, int32_t l) {
  const int32_t type = v->m->loop[l].type;
  return (type == LW_REVOLUTE || type == LW_SPHERICAL) && re(v->cut[l].located) == 0.0;
}

/* Or one of which the coordinate is needed by its locks alone, none of which is closed; its frictions ask for its axis. */
INLINE int is_plain_while_open(const view *v, int32_t l) {
  return re(v->cut[l].located) == LW_COUPLED_WHILE_LOCKED && v->m->loop[l].type == LW_REVOLUTE &&
         !(v->m->lock_of[v->m->loop[l].u] >= 0 && re(FIELD(v, locked)[v->m->loop[l].u]) != 0.0);
}

INLINE void set_plain_speeds(const view *v, int32_t l, int32_t columns, const real *speed) {
  const int32_t first = v->m->loop[l].u;
  const real *damping = FIELD(v, damping) + first;
  real *u = FIELD(v, u_cut) + first - v->m->size.nu, *load = v->load + first;
  for (int32_t k = 0; k < columns; k++) u[k] = speed[k], load[k] = driving_load(v, first + k) - damping[k] * speed[k];
}

/* y, in the metric. */
INLINE void closure_bias(const view *v, const cluster_work *w, int32_t l, const cut_frames *at, real y[6]) {
  const real per_length = 1.0 / v->cut[l].length;
  twist bias;
  find_cut_bias(v, w, l, at, &bias);
  for (int j = 0; j < 3; j++) y[j] = bias.a[j], y[3 + j] = bias.l[j] * per_length;
}
#endif
