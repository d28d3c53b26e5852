/* Forward dynamics: kinematics outward, forces, closure of the loops cluster by cluster, reduction inward and
 * accelerations outward, all in O(n + m). Divide and conquer replaces the reduction,
 * also where uneven masses cost it digits; multipliers replace the closure and the reduction, but where these masses
 * cost them digits; near singular poses neighbouring ones replace the pose itself. */
#ifndef LW_FORWARD_DYNAMICS_KERNEL_H
#define LW_FORWARD_DYNAMICS_KERNEL_H
#include "dca/accelerations_kernel.h"
#include "dynamics/pressed_friction_kernel.h"
#include "multipliers/clusters_for_outputs_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "math/simd_kernel.h"
#include "multipliers/sweeps_kernel.h"
#include "singular/bifurcation_kernel.h"
#include "singular/near_singular_kernel.h"
#include "block/field_view_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/forces_kernel.h"
#include "loops/inertia_check_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/stand_in_inertia_kernel.h"

/* A row without a finite value would not count. */
static lw_fault check_formulas(const view *v) {
  for (int32_t k = 0; k < v->m->size.coupling_formulas; k++)
    if (!isfinite(re(FIELD(v, coupling_residual)[v->m->coupling_formula[k]])))
      return (lw_fault){LW_FAULT_NOT_FINITE, 0, 0.0};
  return no_fault;
}

static lw_fault check_finite(const view *v) {
  const lw_fault fault = check_formulas(v);
  if (fault.kind) return fault;
  if (are_finite(v->m->size.nu + v->m->size.nu_cut, v->acceleration)) return check_closed(v);
  for (int32_t j = 0; j < v->m->size.joints; j++)
    if (!are_finite(lw_joint_sizes[v->m->joint[j].type].u, v->acceleration + v->m->joint[j].u))
      return (lw_fault){LW_FAULT_NOT_FINITE, j, 0.0};
  return (lw_fault){LW_FAULT_NOT_FINITE, 0, 0.0};
}

/* Closes the loops. `near`: a singular pose is near, where the accelerations are found as well. */
static lw_fault close_loops(const view *v, int *near) {
  int recounted = 0;
  lw_fault fault = compute_loop_closures(v);
  if (!fault.kind) fault = check_formulas(v);
  if (fault.kind == LW_FAULT_NOT_FINITE) return fault;
  *near = fault.kind || classify_singularity(v);
  if (*near && !fault.kind) fault = accelerate_near_singular(v, &recounted);
  if (recounted && !(fault = compute_loop_closures(v)).kind && (*near = classify_singularity(v)))
    fault = accelerate_near_singular(v, &recounted);
  return fault.kind == LW_FAULT_DOF_CAPACITY ? cross_beyond_capacity(v, fault.index) : fault;
}

/* Where divide and conquer decides, it follows the pressing forces of its own accelerations. */
static lw_fault accelerate_pressed_dca(const view *v) {
  double change = INFINITY;
  for (int32_t turn = 0; turn < MOST_REPEATED; turn++) {
    accelerate_dca(v);
    find_joint_forces(v);
    if ((change = measure_all_pressing(v)) <= SAME_PRESSING) return no_fault;
    load_by_forces(v);
  }
  return change <= LAW_TOLERANCE ? no_fault : (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION), change};
}

/* From closed loops to accelerations, with all digits. Divide and conquer finds no inertias of joints: where these may
 * have none the reduction does; nor does it respond to loads alone. */
static lw_fault reduce_or_divide(const view *v) {
  const int divides = v->m->method == LW_DCA;
  lw_fault fault = no_fault;
  if (!divides || v->m->pressed || may_lack_inertia(v)) reduce_all(v);
  const int by_bodies = divides || loses_digits(v);
  if (v->m->pressed && !(fault = check_inertias(v)).kind) fault = add_pressed_frictions(v);
  if (fault.kind || !by_bodies) return fault;
  if (v->m->pressed) return accelerate_pressed_dca(v);
  accelerate_dca(v);
  return no_fault;
}

/* Near singular poses the whole is repeated until pressing forces stay. */
static lw_fault close_pressed_loops(const view *v, int *near) {
  lw_fault fault = close_loops(v, near);
  for (int32_t turn = 0; !fault.kind && *near && v->m->pressed; turn++) {
    find_joint_forces(v);
    const double change = measure_all_pressing(v);
    if (change <= SAME_PRESSING) break;
    if (turn == MOST_REPEATED)
      return change <= LAW_TOLERANCE ? no_fault : (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION), change};
    fault = close_loops(v, near);
  }
  return fault;
}

static lw_fault accelerate_by_clusters(const view *v) {
  int near;
  lw_fault fault = close_pressed_loops(v, &near);
  if (!fault.kind && !near) fault = reduce_or_divide(v);
  if (fault.kind) return fault;
  fault = check_inertias(v);
  if (!fault.kind && !near) fault = check_idle_spins(v);
  return fault.kind ? fault : check_finite(v);
}

/* Near singular poses clusters select the branch, and multipliers do not. Clusters keep the digits that light bodies
 * between heavy ones cost the multipliers, whose equations the masses weight; and they give the reactions that press frictions. */
static lw_fault accelerate_by_multipliers(view *v) {
  int near = 0, reduced = 0;
  compute_tree_loads(v);
  accelerate_with_multipliers(v);
  lw_fault fault = check_inertias_of_tree(v);
  if (fault.kind) return fault;
  for (int32_t c = 0; c < v->m->clusters; c++) ranks_of(v, c)->singularity = REGULAR;
  const int by_clusters = v->m->pressed || tree_loses_digits(v);
  if (by_clusters || multipliers_may_be_near_singular(v)) {
    v->reference = NULL;
    if ((fault = close_pressed_loops(v, &near)).kind) return fault;
    if ((reduced = !near && (by_clusters || multipliers_lose_digits(v))) && (fault = reduce_or_divide(v)).kind)
      return fault;
    if (!near) copy(v->m->size.loops, multiplier_work_of(v).conditioning, FIELD(v, loop_conditioning));
  }
  fault = near || reduced ? check_inertias(v) : check_idle_spins(v);
  return fault.kind ? fault : check_finite(v);
}

static lw_fault accelerations(const lw_model *m, lw_block b) {
  view v = open_view(m, b);
  clear_pressing(&v);
  return lw_has_multipliers(m) ? accelerate_by_multipliers(&v) : accelerate_by_clusters(&v);
}
#endif
