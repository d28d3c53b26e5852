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

INLINE void fill_one_by_one(const view *v, int32_t c, const cluster_work *w, const ear_work *x,
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

#if LW_ARITHMETIC != LW_COMPLEX
/* Four columns of links that only turn about their points, so that each is [e; e x d]; where fewer are left the last
 * stands for the others. */
INLINE void fill_four(const view *v, const cluster_work *w, const ear_work *x, const constraint_frame *rows,
                      int32_t group, int all_revolute) {
  const four per_length = all4(1.0 / v->cut[x->ear->loop].length);
  const real *e[4], *place[4], *closure_point[4];
  int32_t step[4];
  four side, axis[3], d[3], ed[3], world[6], angular[9], linear[9], in_rows[6];
  for (int j = 0; j < 4; j++) {
    const int32_t k = 4 * group + j < x->n ? 4 * group + j : x->n - 1;
    const lw_column *column = &v->m->column[x->first_column + k];
    const int hinge = all_revolute || v->m->link[column->link].type == LW_REVOLUTE;
    e[j] = hinge ? v->motion[column->link].R + 2 : v->column[column->u].a;
    step[j] = hinge ? 3 : 1;
    place[j] = w->point + 6 * (column->link - w->cluster->first);
    closure_point[j] = column->branch_sign > 0.0 ? x->on_parent : x->on_child;
    side[j] = column->branch_sign;
  }
  for (int i = 0; i < 3; i++) {
    axis[i] = (four){e[0][i * step[0]], e[1][i * step[1]], e[2][i * step[2]], e[3][i * step[3]]};
    d[i] = (four){closure_point[0][i], closure_point[1][i], closure_point[2][i], closure_point[3][i]} -
           (four){place[0][i], place[1][i], place[2][i], place[3][i]};
  }
  cross4(axis, d, ed);
  for (int i = 0; i < 3; i++) world[i] = side * axis[i], world[3 + i] = side * per_length * ed[i];
  for (int i = 0; i < 9; i++) angular[i] = all4(x->angular[i]), linear[i] = all4(x->linear[i]);
  to_constraint_frame4(rows, angular, linear, world, in_rows);
  mix_blocks(rows, x->mix, 1, in_rows);
  for (int i = 0; i < 6; i++) ((four *)x->a)[x->groups * i + group] = in_rows[i];
}

INLINE void fill_rows(const view *v, int32_t c, const cluster_work *w, const ear_work *x,
                      const constraint_frame *rows) {
  if (!x->ear->all_rotational) fill_one_by_one(v, c, w, x, rows);
  else if (x->ear->all_revolute && x->groups == 1) fill_four(v, w, x, rows, 0, 1);
  else
    for (int32_t g = 0; g < x->groups; g++) fill_four(v, w, x, rows, g, 0);
}
#else
INLINE void fill_rows(const view *v, int32_t c, const cluster_work *w, const ear_work *x,
                      const constraint_frame *rows) {
  fill_one_by_one(v, c, w, x, rows);
}
#endif

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

/* ---- four loops at once ---- */

#if LW_ARITHMETIC != LW_COMPLEX
typedef struct four_ends {
  four R[9], w[3], aw[3], av[3], place[3], frame[9], origin[3];
} four_ends;

INLINE branch_end4 side_by_side(const branch_end e[4], four_ends *out) {
  load4(9, e[0].R, e[1].R, e[2].R, e[3].R, out->R);
  load4(3, e[0].w, e[1].w, e[2].w, e[3].w, out->w);
  load4(3, e[0].aw, e[1].aw, e[2].aw, e[3].aw, out->aw);
  load4(3, e[0].av, e[1].av, e[2].av, e[3].av, out->av);
  load4(3, e[0].place, e[1].place, e[2].place, e[3].place, out->place);
  load4(9, e[0].frame, e[1].frame, e[2].frame, e[3].frame, out->frame);
  load4(3, e[0].origin, e[1].origin, e[2].origin, e[3].origin, out->origin);
  return (branch_end4){out->R, out->w, out->aw, out->av, out->place, out->frame, out->origin};
}

/* From `e` on; where fewer are in the run the last stands for the others. */
INLINE void four_plain_closures(const view *v, int32_t c, const cluster_work *w, int32_t e, int32_t run, int32_t type) {
  branch_end parent[4], child[4];
  ear_work x[4];
  double u[4][3];
  four y[6];
  four_ends of_parents, of_children;
  joint_end4 on_parent, on_child;
  plain_closure4 at;
  for (int j = 0; j < 4; j++) {
    x[j] = work_of_ear(v, w, j < run ? e + j : e + run - 1);
    parent[j] = parent_end_of(v, w, x[j].ear->loop), child[j] = child_end_of(v, w, x[j].ear->loop);
  }
  const branch_end4 parents = side_by_side(parent, &of_parents), children = side_by_side(child, &of_children);
  find_joint_end4(&parents, &on_parent);
  find_joint_end4(&children, &on_child);
  find_plain_closure4(type, &parents, &children, &on_parent, &on_child, all4(1.0 / length_of(v, c)), &at);
  to_constraint_frame4(constraint_frame_of(type), at.axes, at.axes, at.bias, y);
  store4(9, at.axes, x[0].angular, x[1].angular, x[2].angular, x[3].angular);
  store4(3, on_parent.p, x[0].on_parent, x[1].on_parent, x[2].on_parent, x[3].on_parent);
  store4(3, on_child.p, x[0].on_child, x[1].on_child, x[2].on_child, x[3].on_child);
  store4(6, at.phi, x[0].phi, x[1].phi, x[2].phi, x[3].phi);
  store4(6, y, x[0].y, x[1].y, x[2].y, x[3].y);
  store4(3, at.u, u[0], u[1], u[2], u[3]);
  for (int32_t j = 0; j < run; j++) {
    const ear_work one = work_of_ear(v, w, e + j);
    set_plain_speeds(v, one.ear->loop, type == LW_REVOLUTE ? 1 : 3, u[j]);
    if (type == LW_REVOLUTE && v->m->loop[one.ear->loop].coupled) {
      real R[9], d[3];
      for (int i = 0; i < 9; i++) R[i] = on_parent.R[i][j];
      for (int i = 0; i < 3; i++) d[i] = on_parent.d[i][j];
      place_plain_phantom(v, one.ear->loop, R, d);
    }
    store_residual(v, one.ear->loop, one.phi);
    fill_rows(v, c, w, &one, constraint_frame_of(type));
  }
}

/* Cut joints of one type that follow one another are closed together. */
INLINE void ear_closures(const view *v, int32_t c, const cluster_work *w) {
  const int32_t end = w->cluster->first_ear + w->cluster->ears;
  for (int32_t e = w->cluster->first_ear, run; e < end; e += run) {
    const int32_t type = plain_type(v, e);
    for (run = 1; run < 4 && e + run < end && plain_type(v, e + run) == type; run++) continue;
    if (type == LW_JOINT_TYPES || run == 1) ear_closure(v, c, w, e), run = 1;
    else if (type == LW_REVOLUTE) four_plain_closures(v, c, w, e, run, LW_REVOLUTE);
    else four_plain_closures(v, c, w, e, run, LW_SPHERICAL);
  }
}
#else
INLINE void ear_closures(const view *v, int32_t c, const cluster_work *w) {
  for (int32_t e = w->cluster->first_ear; e < w->cluster->first_ear + w->cluster->ears; e++) ear_closure(v, c, w, e);
}
#endif
#endif
