/* Degrees of freedom of a cluster and what decides whether they count: its ranks, its conditioning, whether its loops are
 * closed; and the size of vectors of its speeds. */
#ifndef LW_LOOPS_MOBILITY_KERNEL_H
#define LW_LOOPS_MOBILITY_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/drift_stabilisation_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "math/tolerances.h"

static cluster_ranks *ranks_of(const view *v, int32_t c) { return lw_pivots_of(&v->m->cluster[c], v->integers).ranks; }

INLINE int32_t dof_of(const cluster_ranks *r) { return r->independent - r->rank; }

/* In effect; they stand before the distances. */
static int32_t count_locks(const view *v, int32_t c) {
  const lw_cluster *cluster = &v->m->cluster[c];
  const int32_t *end = v->m->member_coupling + cluster->member_coupling + cluster->couplings - cluster->distances;
  const real *locked = FIELD(v, locked);
  int32_t count = 0;
  for (const int32_t *i = end - cluster->locks; i < end; i++) count += re(locked[v->m->coupling[*i].lock]) != 0.0;
  return count;
}

/* More degrees of freedom than in regular poses, where each lock in effect takes one; locks that repeat others are
 * found out when degrees of freedom are counted again. */
static int has_more_dof(const view *v, int32_t c, int32_t dof) {
  const int32_t regular_dof_plus_1 = ranks_of(v, c)->regular_dof_plus_1,
                regular = regular_dof_plus_1 - 1 - count_locks(v, c);
  return regular_dof_plus_1 && dof > (regular > 0 ? regular : 0);
}

static int has_lost_rank(const view *v, int32_t c) { return has_more_dof(v, c, dof_of(ranks_of(v, c))); }

static int32_t tree_columns_of(const view *v, int32_t c) {
  int32_t count = 0;
  for (int32_t k = 0; k < v->m->cluster[c].columns; k++) count += column_of(v, c, k)->link >= 0;
  return count;
}

/* The smallest of its loops. */
static double smallest_of(const view *v, int32_t c, const real *of_loops) {
  double least = 1.0;
  for (int32_t i = 0; i < v->m->cluster[c].loops; i++) least = smaller(least, re(of_loops[loop_of(v, c, i)]));
  return least;
}

static double conditioning_of(const view *v, int32_t c) { return smallest_of(v, c, FIELD(v, loop_conditioning)); }

/* The largest over its tree columns, in the metric. */
static real size_of(const view *v, int32_t c, const real *x) {
  real largest = 1e-300;
  for (int32_t k = 0; k < v->m->cluster[c].columns; k++) {
    const lw_column *column = column_of(v, c, k);
    if (column->link < 0) continue;
    const real one = x[column->u] / metric_of(v, column), size = select_less(one, 0.0, -one, one);
    largest = select_less(largest, size, size, largest);
  }
  return largest;
}

/* Moves its coordinates by so many times `step`, which is counted in speeds. */
static void integrate_cluster_position(const view *v, int32_t c, const real *step, real times) {
  const lw_cluster *cluster = &v->m->cluster[c];
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    real scaled[6];
    for (int32_t k = 0; k < v->m->link[i].speeds; k++) scaled[k] = times * step[v->m->link[i].u + k];
    integrate_position(v, &v->m->link[i], scaled);
  }
}

static int is_closed(const view *v, int32_t c) {
  for (int32_t i = 0; i < v->m->cluster[c].loops; i++) {
    const int32_t l = loop_of(v, c, i);
    if (!(re(FIELD(v, loop_residual)[l]) < CLOSED_TO_COUNT * re(v->cut[l].length))) return 0;
  }
  return 1;
}
#endif
