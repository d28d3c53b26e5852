/* The frames of the joints on a loop in the world, their changes, and the columns of its joints. */
#ifndef LW_ASSEMBLY_LOOP_FRAMES_KERNEL_H
#define LW_ASSEMBLY_LOOP_FRAMES_KERNEL_H
#include "model/exact_loops.h"
#include "assembly/regular_dof_kernel.h"
#include "loops/closure_kernel.h"
#include "math/orthonormal_kernel.h"
#include "math/spatial_kernel.h"
#include "block/field_view_kernel.h"
#include "loops/constants_kernel.h"

#define FRAME_FIELDS 14 /* numbers of a joint's two frames */

/* ---- frames of joints in the world ---- */

/* Of a joint on one of its bodies, and of that body; positions relative to the root's point. */
typedef struct end_frame {
  real R[9], p[3], body[9];
} end_frame;

static int32_t link_at_end(const lw_model *m, int32_t joint, int end) {
  const lw_joint *j = &m->joint[joint];
  if (j->link < 0) return end ? m->loop[j->loop].child : m->loop[j->loop].parent;
  return m->link[j->link].reversed == end ? m->link[j->link].parent : j->link;
}

static end_frame frame_at_end(const view *v, const cluster_work *w, int32_t joint, int end) {
  const int32_t link = link_at_end(v->m, joint, end);
  const link_motion *motion = motion_of(v, link);
  end_frame out;
  pose in_body;
  real R[9], p[3];
  frame_in_body(v, joint, end, 0, &in_body);
  frame_in_link(v, link, &in_body, R, p);
  multiply(motion->R, R, out.R);
  rotate(motion->R, p, out.p);
  for (int i = 0; i < 3; i++) out.p[i] += point_motion_of(w, link)[i];
  if (link < 0) copy(9, motion->R, out.body);
  else multiply(motion->R, v->constants[link].Rb, out.body);
  return out;
}

/* Turns a frame by `turn`, NULL: not at all, and moves it by `shift`, world axes; its body stays. */
static void change_frame(const view *v, lw_exact_loops *x, int32_t joint, int end, const real body[9],
                         const real turn[9], const real shift[3]) {
  real *Q = (end ? FIELD(v, child_orientation) : FIELD(v, parent_orientation)) + 4 * joint;
  real *p = (end ? FIELD(v, child_position) : FIELD(v, parent_position)) + 3 * joint;
  real moved[3];
  rotate_back(body, shift, moved);
  for (int i = 0; i < 3; i++) p[i] += moved[i], x->shift[2 * joint + end][i] += moved[i];
  if (!turn) return;
  real back[9], in_body[9], R[9], turned[9];
  multiply(turn, body, back);
  multiply_back(body, back, in_body);
  rotation_of(Q, R);
  multiply(in_body, R, turned);
  quaternion_of(turned, Q);
  multiply(in_body, x->turn[2 * joint + end], turned);
  copy(9, turned, x->turn[2 * joint + end]);
}

/* The joints of a cluster: of its links, then those that are cut. */
INLINE int32_t joints_of(const lw_cluster *cluster) { return cluster->count + cluster->loops; }

INLINE int32_t joint_of(const view *v, int32_t c, int32_t i) {
  const lw_cluster *cluster = &v->m->cluster[c];
  if (i < cluster->count) return v->m->link[cluster->first + i].joint;
  return v->m->loop[loop_of(v, c, i - cluster->count)].joint;
}

static void copy_frames(const view *v, const lw_exact_loops *x, int32_t joint, int restore) {
  real *field[4] = {FIELD(v, parent_position) + 3 * joint, FIELD(v, parent_orientation) + 4 * joint,
                    FIELD(v, child_position) + 3 * joint, FIELD(v, child_orientation) + 4 * joint};
  real *saved = x->saved + FRAME_FIELDS * joint;
  for (int k = 0; k < 4; saved += 3 + k % 2, k++)
    if (restore) copy(3 + k % 2, saved, field[k]);
    else copy(3 + k % 2, field[k], saved);
  for (int end = 0; restore && end < 2; end++) {
    identity_rotation(x->turn[2 * joint + end]);
    for (int i = 0; i < 3; i++) x->shift[2 * joint + end][i] = 0.0;
  }
}

/* The links of a cluster where the present frames and coordinates put them. */
static void place_again(const view *v, int32_t c) {
  const assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  const lw_cluster *cluster = at.w.cluster;
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) link_constants_of(v, i);
  for (int32_t i = 0; i < cluster->loops; i++) cut_constants_of(v, loop_of(v, c, i));
  compute_cluster_kinematics(&at);
}

/* ---- one loop ---- */

/* From a point of the loop: the next joint on it; the first is the cut joint, and -1 follows the last. */
static int32_t next_on_loop(const view *v, const lw_loop *loop, int32_t *at, int *branch) {
  if (*branch < 0) {
    *branch = 0, *at = loop->parent;
    return loop->joint;
  }
  if (*at == loop->root && *branch == 0) *branch = 1, *at = loop->child;
  if (*at == loop->root) return -1;
  const lw_link *link = &v->m->link[*at];
  *at = link->parent;
  return link->joint;
}
#define FOR_JOINTS_ON_LOOP(j, v, loop)                                                               \
  for (int32_t at_link = 0, on_branch = -1, j = next_on_loop(v, loop, &at_link, &on_branch); j >= 0; \
       j = next_on_loop(v, loop, &at_link, &on_branch))

/* The columns of all joints of a loop, in the metric; returns their number. */
static int32_t columns_of_loop(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, int32_t l,
                               double phi[6]) {
  const lw_loop *loop = &v->m->loop[l];
  cut_frames at;
  int32_t n = loop->columns;
  align_cut_joint(v, w, l, NULL, &at);
  closure_residual(v, l, &at, phi);
  fill_cut_columns(v, l, 6, x->column);
  for (int branch = 0; branch < 2; branch++)
    for (int32_t i = branch ? loop->child : loop->parent; i != loop->root; i = v->m->link[i].parent) {
      const lw_link *link = &v->m->link[i];
      double d[3];
      for (int j = 0; j < 3; j++) d[j] = (branch ? at.on_child : at.on_parent)[j] - point_motion_of(w, i)[j];
      for (int32_t k = 0; k < link->speeds; k++) {
        twist P;
        column_of_link(v, i, k, &P);
        fill_column(column_of(v, c, link->column + k), length_of(v, c), &P, d, branch ? -1.0 : 1.0,
                    x->column + 6 * n++);
      }
    }
  return n;
}

static int32_t rank_of_loop(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, int32_t l,
                            double tolerance) {
  double phi[6], basis[36];
  return orthonormalise(x->column, 6, columns_of_loop(v, c, w, x, l, phi), tolerance, basis);
}
#endif
