/* The loops of each cluster, by the method that the compiler chose for it: recursive coordinate reduction or constraint
 * embedding, then the constraints among the independent columns. */
#ifndef LW_LOOPS_CLUSTERS_KERNEL_H
#define LW_LOOPS_CLUSTERS_KERNEL_H
#include "loops/forces_on_speeds_kernel.h"
#include "loops/constraint_embedding_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/workspace_kernel.h"
#include "block/field_view_kernel.h"
#include "tree/forces_kernel.h"
#include "tree/kinematics_kernel.h"
#include "math/tolerances.h"

static const lw_fault no_fault = {LW_FAULT_NONE, 0, 0.0};

/* A function of its own, so that clusters without constraints need no workspace. */
static void solve_constraints_among_independents(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  solve_independent_constraints(v, c, &w);
}

INLINE void apply_independent_constraints(const view *v, int32_t c) {
  const lw_cluster *cluster = &v->m->cluster[c];
  cluster_ranks *ranks = lw_pivots_of(cluster, v->integers).ranks;
  ranks->rank = 0;
  if (!ranks->constraints && !cluster->couplings) return;
  if (!asks_for_nothing(v, c, ranks)) solve_constraints_among_independents(v, c);
}

/* These return 0 where the cluster has more degrees of freedom than its capacity. */
static int solve_by_ears(const view *v, int32_t c) {
  if (!eliminate_ears(v, c)) return 0;
  apply_independent_constraints(v, c);
  return 1;
}

static int solve_as_matrix(const view *v, int32_t c) {
  if (!eliminate_matrix(v, c)) return 0;
  apply_independent_constraints(v, c);
  return 1;
}

static int solve_cluster(const view *v, int32_t c) {
  return v->m->cluster[c].method == LW_EMBEDDING ? solve_as_matrix(v, c) : solve_by_ears(v, c);
}

static lw_fault solve_clusters(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (!solve_cluster(v, c)) return (lw_fault){LW_FAULT_DOF_CAPACITY, c, 0.0};
  return no_fault;
}

/* A loop open by more than a part of its length: accelerations there have no meaning. */
static lw_fault check_closed(const view *v) {
  for (int32_t l = 0; l < v->m->size.loops; l++)
    if (v->m->loop[l].cluster >= 0 && !(re(FIELD(v, loop_residual)[l]) <= LW_OPEN_LOOP_LIMIT * re(v->cut[l].length)))
      return (lw_fault){LW_FAULT_NOT_FINITE, v->m->loop[l].joint, 0.0};
  return no_fault;
}

/* From the state to closed loops: kinematics, loads, and the closures of all clusters. */
static lw_fault compute_loop_closures(const view *v) {
  compute_kinematics(v);
  apply_external_forces(v);
  compute_tree_loads(v);
  const lw_fault fault = solve_clusters(v);
  load_and_apply_by_forces(v);
  return fault;
}
#endif
