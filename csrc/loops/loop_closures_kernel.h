/* The closure of each loop of an ear decomposition, in the constraint frame of its cut joint: rows of its tree columns,
 * residual and bias. */
#ifndef LW_LOOPS_LOOP_CLOSURES_KERNEL_H
#define LW_LOOPS_LOOP_CLOSURES_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"

/* ---- tree columns ---- */

INLINE void fill_rows(const view *v, int32_t c, const cluster_work *w, const ear_work *x,
                      const constraint_frame *rows) {
  const lw_ear *ear = x->ear;
  const real length = v->cut[ear->loop].length, per_length = 1.0 / length;
  real angular[9], linear[9];
  copy(9, x->angular, angular);
  if (!has_world_axes(rows)) copy(9, x->linear, linear);
  for (int32_t j = ear->first; j < ear->first + ear->links; j++) {
    const int32_t i = v->m->ear_link[j];
    const lw_link *link = &v->m->link[i];
    const real *place = point_motion_of(w, i), *closure_point = link->branch_sign > 0 ? x->on_parent : x->on_child;
    const double side = link->branch_sign;
    const real s = side * per_length,
               d[3] = {closure_point[0] - place[0], closure_point[1] - place[1], closure_point[2] - place[2]};
    for (int32_t k = 0; k < link->speeds; k++) {
      const int32_t column = link->column + k;
      real world[6];
      if (link->type == LW_REVOLUTE) {
        const real *R = v->motion[i].R, e[3] = {R[2], R[5], R[8]};
        real ed[3];
        cross(e, d, ed);
        for (int m = 0; m < 3; m++) world[m] = side * e[m], world[3 + m] = s * ed[m];
      } else {
        twist P;
        column_of_link(v, i, k, &P);
        fill_column(column_of(v, c, column), length, &P, d, side, world);
      }
      real in_rows[6];
      to_constraint_frame(rows, angular, linear, world, in_rows);
      mix_rows(rows, x->mix, in_rows);
      for (int m = 0; m < 6; m++) x->a[4 * x->groups * m + column - ear->column - ear->cuts] = in_rows[m];
    }
  }
}

/* ---- cut joints ---- */

/* Any cut joint: the phantom is placed at the coordinates from the inverse joint map. */
static void general_closure(const view *v, int32_t c, const cluster_work *w, int32_t e) {
  const ear_work work = work_of_ear(v, w, e), *x = &work;
  const int32_t l = x->ear->loop;
  const constraint_frame *rows = constraint_frame_of(v->m->loop[l].type);
  cut_frames at;
  real phi[6], y[6];
  align_cut_joint(v, w, l, NULL, &at);
  closure_residual(v, l, &at, phi);
  fill_constraint_frame(v->m->loop[l].type, phantom_of(v, l)->R, v->column + v->m->loop[l].u, x->angular, x->linear);
  find_mix(v, l, x->angular, x->linear, x->mix);
  closure_bias(v, w, l, &at, y);
  to_constraint_frame(rows, x->angular, x->linear, phi, x->phi);
  to_constraint_frame(rows, x->angular, x->linear, y, x->y);
  mix_rows(rows, x->mix, x->phi);
  mix_rows(rows, x->mix, x->y);
  store_residual(v, l, x->phi);
  copy(3, at.on_parent, x->on_parent);
  copy(3, at.on_child, x->on_child);
  fill_rows(v, c, w, x, rows);
}

/* The type of a plain cut joint; LW_JOINT_TYPES: not plain. */
INLINE int32_t plain_type(const view *v, int32_t e) {
  const int32_t l = v->m->ear[e].loop;
  return l >= 0 && (is_plain(v, l) || is_plain_while_open(v, l)) ? v->m->loop[l].type : LW_JOINT_TYPES;
}

/* As far as its axis and its origin go. */
INLINE void place_plain_phantom(const view *v, int32_t l, const real R[9], const real d[3]) {
  copy(9, R, phantom_of(v, l)->R);
  copy(3, d, phantom_of(v, l)->r);
}

INLINE void plain_closure_of(const view *v, int32_t c, const cluster_work *w, int32_t e, int32_t type) {
  const ear_work x = work_of_ear(v, w, e);
  const int32_t l = x.ear->loop;
  const branch_end parent = parent_end_of(v, w, l), child = child_end_of(v, w, l);
  joint_end on_parent, on_child;
  plain_closure at;
  find_joint_end(&parent, &on_parent);
  find_joint_end(&child, &on_child);
  find_plain_closure(type, &parent, &child, &on_parent, &on_child, 1.0 / v->cut[l].length, &at);
  to_constraint_frame(constraint_frame_of(type), at.axes, at.axes, at.bias, x.y);
  copy(6, at.phi, x.phi);
  copy(9, at.axes, x.angular);
  copy(3, on_parent.p, x.on_parent);
  copy(3, on_child.p, x.on_child);
  set_plain_speeds(v, l, type == LW_REVOLUTE ? 1 : 3, at.u);
  if (type == LW_REVOLUTE && v->m->loop[l].coupled) place_plain_phantom(v, l, on_parent.R, on_parent.d);
  store_residual(v, l, x.phi);
  fill_rows(v, c, w, &x, constraint_frame_of(type));
}

INLINE void ear_closure(const view *v, int32_t c, const cluster_work *w, int32_t e) {
  const int32_t type = plain_type(v, e);
  if (type == LW_REVOLUTE) plain_closure_of(v, c, w, e, LW_REVOLUTE);
  else if (type == LW_SPHERICAL) plain_closure_of(v, c, w, e, LW_SPHERICAL);
  else if (v->m->ear[e].loop >= 0) general_closure(v, c, w, e);
}

INLINE void ear_closures(const view *v, int32_t c, const cluster_work *w) {
  for (int32_t e = w->cluster->first_ear; e < w->cluster->first_ear + w->cluster->ears; e++) ear_closure(v, c, w, e);
}
#endif
