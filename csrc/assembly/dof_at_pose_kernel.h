/* How many columns each cluster leaves at a pose, from the own columns of its loops alone: the capacity that
 * regular poses need. */
#ifndef LW_ASSEMBLY_DOF_AT_POSE_KERNEL_H
#define LW_ASSEMBLY_DOF_AT_POSE_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/loop_closures_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/closure_matrix_kernel.h"
#include "loops/constraint_embedding_kernel.h"
#include "math/tolerances.h"

#define FEWEST_ROWS 3 /* of a regular loop's rank, with as many columns: the plane's */

/* Columns that no pivot takes. The tolerance is that for small pivots, so that what hardly moves counts as free. */
static int32_t left_by_ear(const view *v, int32_t c, const cluster_work *w, int32_t e, double *open2) {
  const ear_work x = work_of_ear(v, w, e);
  ear_closure(v, c, w, e);
  if (x.ear->loop < 0) return x.n;
  *open2 += dot6(x.phi, x.phi);
  for (int k = 0; k < 6; k++) x.phi[k] = 0.0;
  pivot_ear(v, w, e);
  const int32_t rank = w->ear_rank[e - w->cluster->first_ear], regular = FEWEST_ROWS - x.ear->cuts;
  return x.n - (rank > regular ? rank : regular < x.n ? (regular > 0 ? regular : 0) : x.n);
}

/* Of all closures as one matrix, links placed; open loops count as open by no more than `gap2`, a square. */
static int32_t left_by_matrix(const view *v, int32_t c, const cluster_work *w, double gap2) {
  double *phi = w->rhs + w->rows;
  clear_matrix(w);
  for (int32_t i = 0; i < w->cluster->loops; i++) {
    const int32_t l = loop_of(v, c, i);
    cut_frames at;
    fill_loop(v, c, w, l, NULL, columns_in_matrix(w, v->m->loop[l].row), &at);
  }
  fill_couplings(v, c, w);
  const double open2 = dot_rows(phi, phi, w->rows), scale = open2 > gap2 ? sqrt(gap2 / open2) : 1.0;
  for (int32_t j = 0; j < w->rows; j++) w->rhs[j] = 0.0, phi[j] *= scale;
  orthogonalise_matrix(v, c, w);
  return w->n - w->ranks->matrix_rank;
}

static void count_dof(const lw_model *m, lw_block b, lw_dof_count *found) {
  const view v = open_view(m, b);
  compute_kinematics(&v);
  for (int32_t c = 0; c < m->clusters; c++) {
    const cluster_work w = work_of(&v, c);
    found[c] = (lw_dof_count){0, 0, 0.0};
    find_point_motions(&v, &w);
    for (int32_t e = w.cluster->first_ear; e < w.cluster->first_ear + w.cluster->ears; e++)
      found[c].independents += left_by_ear(&v, c, &w, e, &found[c].open2);
    int32_t left = found[c].independents - (w.cluster->couplings - w.cluster->locks);
    if (w.cluster->dense) left = left_by_matrix(&v, c, &w, COUNTED_GAP2);
    found[c].dof = left < 0 ? 0 : left < found[c].independents ? left : found[c].independents;
  }
}
#endif
