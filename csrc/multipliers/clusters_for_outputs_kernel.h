/* What multipliers leave out: the closures of the clusters, on which all but the accelerations is built. */
#ifndef LW_MULTIPLIERS_CLUSTERS_FOR_OUTPUTS_KERNEL_H
#define LW_MULTIPLIERS_CLUSTERS_FOR_OUTPUTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/clusters_kernel.h"
#include "multipliers/workspace_kernel.h"
#include "tree/forces_kernel.h"

/* In a model with multipliers the clusters are solved for all but the accelerations: feedback, reactions, inverse
 * dynamics. The multipliers' own conditioning stays. Near singular poses they have been solved for the accelerations. */
static lw_fault solve_clusters_for_outputs(const view *v) {
  if (!lw_has_multipliers(v->m)) return no_fault;
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (lw_pivots_of(&v->m->cluster[c], v->integers).ranks->singularity) return no_fault;
  const lw_fault fault = solve_clusters(v);
  copy(v->m->size.loops, multiplier_work_of(v).conditioning, FIELD(v, loop_conditioning));
  compute_link_inertias(v);
  apply_external_forces(v);
  load_and_apply_by_forces(v);
  return fault;
}
#endif
