/* The degrees of freedom of the clusters in regular poses: the smallest number in closed poses around the start. In
 * poses with more degrees of freedom branches of the motion cross. They are counted at loading, for the parameters of
 * the model. */
#ifndef LW_ASSEMBLY_REGULAR_DOF_KERNEL_H
#define LW_ASSEMBLY_REGULAR_DOF_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/mobility_kernel.h"
#include "assembly/dof_at_pose_kernel.h"
#include "assembly/position_kernel.h"
#include "assembly/close_kernel.h"
#include "math/tolerances.h"

#define POSES_TO_COUNT 4
#define MANY_ROWS 18 /* to close as one matrix in a moment; more are closed loop by loop */

/* Closures restrict nothing more than in an arbitrary pose with open loops: no closed pose has fewer degrees of freedom.
 * Of clusters with many rows none is looked for. */
static void find_least_dof(const view *v) {
  uint64_t seed = 12345u;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    real *step = FIELD(v, newton_step);
    for (int32_t k = 0; k < v->m->cluster[c].columns; k++) {
      const lw_column *column = column_of(v, c, k);
      if (column->link >= 0) step[column->u] = random_unit(&seed) * metric_of(v, column);
    }
    integrate_cluster_position(v, c, step, 1.0);
  }
  compute_kinematics(v);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work w = work_of(v, c);
    find_point_motions(v, &w);
    ranks_of(v, c)->least_dof = w.rows <= MANY_ROWS ? left_by_matrix(v, c, &w, 0.0) : 0;
  }
}

/* To the next pose, in a direction in which all that is free here moves. */
static void move_to_next_pose(const view *v, int32_t c, uint32_t *seed) {
  const cluster_work w = work_of(v, c);
  const int32_t n = w.ranks->independent, width = w.ranks->width;
  real *y = w.solution, *z = y + n, *step = FIELD(v, newton_step);
  for (int32_t j = 0; j < free_of(&w); j++) {
    *seed = *seed * 1664525u + 1013904223u;
    y[j] = (*seed >> 31 ? 1.0 : -1.0) * (0.5 + (double)(*seed >> 8 & 0xffff) / 65536.0);
  }
  extend(&w, y, -1, z);
  for (int32_t k = 0; k < w.n; k++) {
    const lw_column *column = column_of(v, c, k);
    if (column->link < 0) continue;
    real s = 0.0;
    for (int32_t j = 0; j < n; j++) s += w.X[k * width + FIRST_FREE + j] * z[j];
    step[column->u] = s;
  }
  integrate_cluster_position(v, c, step, PROBE_STEP / size_of(v, c, step));
}

/* Whether it could be closed from where it is; `thorough`: with more than a moment's work. */
static int close_nearby(const view *v, int32_t c, int thorough) {
  assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  if (at.w.rows <= MANY_ROWS) return close_by_matrix(&at, CLOSED_NEARBY) < CLOSED_NEARBY;
  keep_pose(&at, FIRST);
  if (close_from_pose(&at, CLOSED_NEARBY) < CLOSED_NEARBY) return 1;
  if (!thorough) return 0;
  restore_kept_pose(&at, FIRST);
  return at.w.rows <= LW_MATRIX_ROWS && close_by_matrix(&at, CLOSED_NEARBY) < CLOSED_NEARBY;
}

/* The largest displacement of a tree joint from the saved pose. */
static double distance_from_saved(const view *v, int32_t c) {
  double largest = 0.0;
  for (int32_t k = 0; k < v->m->cluster[c].columns; k++) {
    const lw_column *column = column_of(v, c, k);
    if (column->link < 0) continue;
    const lw_link *link = &v->m->link[column->link];
    const lw_joint_size *size = &lw_joint_sizes[link->type];
    for (int32_t i = link->q; i < link->q + size->q; i++) {
      const double moved = fabs(re(v->q[i] - FIELD(v, base_q)[i])) / re(unscaled_metric(v, c, column));
      largest = moved > largest ? moved : largest;
    }
  }
  return largest;
}

/* Of the clusters that are marked: the smallest number of degrees of freedom in closed poses around the present one,
 * which counts as well unless they are counted again. None is looked for below the least possible number. */
static void count_dof_around(const view *v, int again) {
  uint32_t seed = 12345u;
  for (int32_t c = 0; c < v->m->clusters; c++) ranks_of(v, c)->fewest_dof_plus_1 = 0;
  for (int i = 0; i < POSES_TO_COUNT; i++) {
    compute_kinematics(v);
    for (int32_t c = 0; c < v->m->clusters; c++)
      if (ranks_of(v, c)->singularity && !close_nearby(v, c, !again)) ranks_of(v, c)->singularity = REGULAR;
    if (compute_loop_closures(v).kind) return;
    for (int32_t c = 0; c < v->m->clusters; c++) {
      cluster_ranks *r = ranks_of(v, c);
      if (!r->singularity) continue;
      const int counts = !again || distance_from_saved(v, c) > ANOTHER_POSE;
      if (counts && (r->fewest_dof_plus_1 == 0 || dof_of(r) < r->fewest_dof_plus_1 - 1))
        r->fewest_dof_plus_1 = dof_of(r) + 1;
      if (r->fewest_dof_plus_1 == r->least_dof + 1) r->singularity = REGULAR;
      else move_to_next_pose(v, c, &seed);
    }
  }
}

static void update_regular_dof(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++) {
    cluster_ranks *r = ranks_of(v, c);
    if (r->fewest_dof_plus_1 && (!r->regular_dof_plus_1 || has_more_dof(v, c, r->fewest_dof_plus_1 - 1)))
      r->regular_dof_plus_1 = r->fewest_dof_plus_1 + count_locks(v, c);
    r->singularity = REGULAR;
  }
}

static void save_pose(const view *v) {
  copy(v->m->size.nq, v->q, FIELD(v, base_q));
  copy(v->m->size.nu, v->u, FIELD(v, base_u));
  copy(v->m->size.nq_cut, FIELD(v, cut_reference), FIELD(v, saved_cut));
}

static void restore_pose(const view *v) {
  copy(v->m->size.nq, FIELD(v, base_q), v->q);
  copy(v->m->size.nu, FIELD(v, base_u), v->u);
  copy(v->m->size.nq_cut, FIELD(v, saved_cut), FIELD(v, cut_reference));
}

static void find_regular_dof(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  if (m->clusters == 0) return;
  save_pose(&v);
  for (int32_t k = 0; k < m->size.nu; k++) v.u[k] = 0.0;
  copy(m->size.nq, FIELD(&v, q_start), v.q);
  copy(m->size.nq_cut, FIELD(&v, q_start) + m->size.nq, FIELD(&v, cut_reference));
  find_least_dof(&v);
  copy(m->size.nq, FIELD(&v, q_start), v.q);
  for (int32_t c = 0; c < m->clusters; c++) ranks_of(&v, c)->singularity = NEAR;
  count_dof_around(&v, 0);
  update_regular_dof(&v);
  restore_pose(&v);
}

/* Closed clusters with more degrees of freedom than around the start: these are in a singular pose, or else on
 * another branch, of more dimensions, where all poses have them. Returns whether any is on such a branch; the pose is
 * as before, its closures are not. */
static int recount_dof(const view *v) {
  int more = 0, changed = 0;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    ranks_of(v, c)->singularity = has_lost_rank(v, c) && is_closed(v, c) ? NEAR : REGULAR;
    more |= ranks_of(v, c)->singularity;
  }
  if (!more) return 0;
  save_pose(v);
  count_dof_around(v, 1);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_ranks *r = ranks_of(v, c);
    changed |= r->fewest_dof_plus_1 && (!r->regular_dof_plus_1 || has_more_dof(v, c, r->fewest_dof_plus_1 - 1));
  }
  update_regular_dof(v);
  restore_pose(v);
  return changed;
}
#endif
