/* The response of closed loops to further loads: accelerations are affine in the loads of the joints, and the reduction
 * of loops/reduced_dynamics_kernel.h and tree/articulated_body_kernel.h, once done, gives their change by changed loads
 * in one sweep inward, of loads alone, and one outward. What depends on positions, speeds and masses stays. The forces
 * of the joints follow as in loops/reactions_kernel.h. In double four changes are found at once. */
#ifndef LW_LOAD_RESPONSE_KERNEL_H
#define LW_LOAD_RESPONSE_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reactions_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/workspace_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/kinematics_kernel.h"

#define SCALAR real
#define NAMED(name) name##_one
#include "dynamics/load_response_template_kernel.h"
#undef SCALAR
#undef NAMED
#if LW_ARITHMETIC != LW_COMPLEX
#define SCALAR four
#define NAMED(name) name##_four
#include "dynamics/load_response_template_kernel.h"
#undef SCALAR
#undef NAMED
#endif

/* The forces of the joints, and the loads of couplings, for the present loads and accelerations themselves, as by
 * find_wrenches(), in the places of changes. */
static void find_joint_forces(const view *v) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  copy(speeds, v->load, load_change_of_one(v, 0));
  copy(speeds, v->acceleration, acceleration_change_of_one(v, 0));
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    transport_change_one(v, i, motion_change_of_one(v, i));
    add_columns_one(v, i, motion_change_of_one(v, i));
  }
  find_body_wrench_changes_one(v);
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    twist_change_one *wrench = motion_change_of_one(v, i);
    for (int k = 0; k < 3; k++) wrench->a[k] -= v->inertia[i].Fa[k], wrench->l[k] -= v->inertia[i].Fl[k];
  }
  propagate_wrench_changes_one(v);
  distribute_changes_one(v);
}

#if LW_ARITHMETIC != LW_COMPLEX
/* ---- one small cluster alone ---- */

/* Where all links are those of one cluster with few columns, a load on a column acts in two ways: on the joints as if
 * nothing could move, and through the accelerations y along the directions that are free. A motion acts on the joints by
 * the wrenches that its bodies need, and by the loads on columns that these leave unbalanced. So all forces follow from
 * those of unit loads on the columns at rest, of the present motion, and of one along each direction. */
enum { FEW_DIRECTIONS = 3, FEW_COLUMNS = 8 };

/* Its free directions; 0: there is no such cluster. */
static int32_t directions_of_small_cluster(const view *v) {
  if (v->m->segments != 1 || v->m->segment->cluster < 0) return 0;
  const cluster_work w = work_of(v, v->m->segment->cluster);
  const int32_t r = free_of(&w);
  return w.cluster->root < 0 && w.n <= FEW_COLUMNS && r <= FEW_DIRECTIONS ? r : 0;
}

/* The forces of the joints by unit loads on some of its columns, at most four, at rest; and y of these loads. */
static void load_columns_at_rest(const view *v, const int32_t *column, int32_t count, four y[FEW_DIRECTIONS]) {
  const int32_t c = v->m->segment->cluster;
  const cluster_work w = work_of(v, c);
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  four z[FEW_COLUMNS];
  for (int32_t u = 0; u < speeds; u++) *load_change_of_four(v, u) = *acceleration_change_of_four(v, u) = zero4();
  memset(motion_change_of_four(v, 0), 0, sizeof(twist_change_four) * (size_t)v->m->size.bodies);
  static const real none[FEW_COLUMNS] = {0.0};
  const real *X[4] = {none, none, none, none};
  for (int32_t lane = 0; lane < count; lane++) {
    X[lane] = w.X + column[lane] * w.ranks->width + FIRST_FREE;
    (*load_change_of_four(v, column_of(v, c, column[lane])->u))[lane] = 1.0;
  }
  for (int32_t i = 0; i < w.ranks->independent; i++) z[i] = (four){X[0][i], X[1][i], X[2][i], X[3][i]};
  gather_changes_four(&w, z, y);
  ldl_solve_changes_four(w.D, free_of(&w), y);
  distribute_cut_changes_four(v, c);
}

/* The independents of the present motion, and of one along each direction, which rows of N count by; numbers behind the
 * last direction do not matter. */
INLINE void find_motions(const view *v, const cluster_work *w, four by[FEW_COLUMNS]) {
  const real *present = find_independent_accelerations(v, w) + FIRST_FREE;
  for (int32_t i = 0; i < w->ranks->independent; i++) {
    const real *T = w->T + i * width_of_T(w);
    by[i] = w->ranks->rank ? (four){present[i], T[0], T[1], T[2]} : (four){present[i], i == 0, i == 1, i == 2};
  }
}

/* The present motion alone has a bias. */
INLINE four times_motions(int32_t independents, const real *row, const four *by) {
  four sum = {row[BIAS]};
  for (int32_t i = 0; i < independents; i++) sum += row[FIRST_FREE + i] * by[i];
  return sum;
}

INLINE void move_along_motions(const view *v, int32_t c, const cluster_work *w, int32_t independents, const four *by) {
  const int32_t width = w->ranks->width;
  four G[6];
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const real *rows = w->G + 6 * (i - w->cluster->first) * width;
    for (int k = 0; k < 6; k++) G[k] = times_motions(independents, rows + k * width, by);
    body_inertia_times_rows(&v->inertia[i], all_blocks(1), G, motion_change_of_four(v, i)->a);
  }
  for (int32_t k = 0; k < w->n; k++)
    *acceleration_change_of_four(v, column_of(v, c, k)->u) = times_motions(independents, w->X + k * width, by);
}

/* The forces on the joints of the tree that the bodies need for these motions, none on the cut ones; and the loads that
 * they leave unbalanced, on columns in this order. */
static void find_needs_of_motions(const view *v, const int32_t *column, four *unbalanced) {
  const int32_t c = v->m->segment->cluster;
  const cluster_work w = work_of(v, c);
  four by[FEW_COLUMNS];
  find_motions(v, &w, by);
  if (w.ranks->independent == 1) move_along_motions(v, c, &w, 1, by);
  else move_along_motions(v, c, &w, w.ranks->independent, by);
  propagate_wrench_changes_four(v);
  for (int32_t k = 0; k < w.n; k++) {
    const lw_column *on = column_of(v, c, column[k]);
    *load_change_of_four(v, on->u) = (four){v->load[on->u]};
    unbalanced[k] = unbalanced_by_motion_four(v, on);
  }
  memset(cut_force_change_of_four(v, 0), 0, sizeof(four) * 3 * (size_t)v->m->size.loops);
  for (int32_t i = 0; w.ranks->rank && i < w.cluster->couplings; i++)
    *coupling_change_of_four(v, coupling_of(v, c, i)) = zero4();
}

/* The present accelerations change by those along the directions. */
static void accelerate_along_directions(const view *v, const real y[FEW_DIRECTIONS]) {
  const four by = {0.0, y[0], y[1], y[2]};
  const int32_t c = v->m->segment->cluster;
  const lw_cluster *cluster = &v->m->cluster[c];
  for (int32_t k = 0; k < cluster->columns; k++) {
    const int32_t u = column_of(v, c, k)->u;
    v->acceleration[u] += sum4(*acceleration_change_of_four(v, u) * by);
  }
}
#endif
#endif
