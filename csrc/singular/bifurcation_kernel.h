/* Bifurcations: poses in which branches of the motion cross. At the distance d from the bifurcation rounding leaves
 * accelerations uncertain by eps v^2 / d^3 and, with the loads, by eps / d^2; constraint violations larger than d hide
 * the branch. The speeds select the branch, along which the motion is smooth. Accelerations are therefore interpolated
 * between closed poses ahead and behind along the speeds, where the closure is well conditioned. If the loops miss the
 * bifurcation by a detectable amount, so that the motion turns away from it, the interpolation differs from the
 * accelerations at the pose itself by more than rounding, and the latter are used. At rest no branch is selected: that
 * is a fault, unless the loads cause no motion. */
#ifndef LW_SINGULAR_BIFURCATION_KERNEL_H
#define LW_SINGULAR_BIFURCATION_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/loop_closures_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "singular/near_singular_kernel.h"
#if LW_ARITHMETIC == LW_DOUBLE
#include "assembly/regular_dof_kernel.h"
#include "math/tolerances.h"
#elif LW_ARITHMETIC == LW_RECORDED
static int recount_dof(const view *v) {
  (void)v, refuse("a singular pose is near");
  return 0;
}
#else
static int recount_dof(const view *v) { /* done in double before */
  (void)v;
  return 0;
}
#endif

static const double places[6] = {-1.0, 1.0, -2.0, 2.0, -3.0, 3.0};
static const double weights[6] = {0.75, 0.75, -0.3, -0.3, 0.05, 0.05};

/* Saves and restores the pose around which probes are taken. */
static void save_base(const view *v) {
  copy(v->m->size.nq, v->q, FIELD(v, base_q));
  copy(v->m->size.nu, v->u, FIELD(v, base_u));
  copy(v->m->size.nu, FIELD(v, violation), FIELD(v, base_violation));
  copy(v->m->size.loops, FIELD(v, loop_conditioning), FIELD(v, base_conditioning));
}

static void restore_base(const view *v) {
  copy(v->m->size.nq, FIELD(v, base_q), v->q);
  copy(v->m->size.nu, FIELD(v, base_u), v->u);
  copy(v->m->size.nu, FIELD(v, base_violation), FIELD(v, violation));
}

/* After projection: the singularity class of each cluster; the largest of all. The conditioning of that pose is
 * reported,
 * because a residual may have hidden it. */
static int32_t classify_projected_poses(const view *v) {
  int32_t nearest = REGULAR;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    cluster_ranks *r = ranks_of(v, c);
    if (!r->singularity) continue;
    assess_conditioning(v, c);
    const int lost = has_lost_rank(v, c), rests = re(size_of(v, c, v->u)) < SPEED_AT_REST;
    for (int32_t i = 0; i < v->m->cluster[c].loops; i++) {
      const int32_t l = loop_of(v, c, i);
      FIELD(v, saved_conditioning)[l] = lost ? 0.0 : FIELD(v, loop_conditioning)[l];
    }
    const double violation_size = re(size_of(v, c, FIELD(v, violation))), conditioning = conditioning_of(v, c);
    if (lost || (violation_size > HIDING_VIOLATION * conditioning && violation_size < COARSE_RANK_TOLERANCE))
      r->singularity = rests ? RANK_DEFICIENT_AT_REST : RANK_DEFICIENT;
    else if (conditioning < BIFURCATION_CONDITIONING && !rests) r->singularity = BIFURCATION;
    nearest = r->singularity > nearest ? r->singularity : nearest;
  }
  return nearest;
}

static void set_coarse_tolerance(const view *v, int32_t least) {
  for (int32_t c = 0; c < v->m->clusters; c++) ranks_of(v, c)->coarse_tolerance = ranks_of(v, c)->singularity >= least;
}

/* So far along the speeds of the base, then closed. */
static lw_fault close_probe_pose(const view *v, int32_t which, double place) {
  restore_base(v);
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (ranks_of(v, c)->singularity == which)
      integrate_cluster_position(v, c, FIELD(v, base_u), place * PROBE_SPACING / size_of(v, c, FIELD(v, base_u)));
  return project_onto_closed_pose(v, FIELD(v, base_u));
}

static int is_better_conditioned(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (ranks_of(v, c)->singularity == BIFURCATION &&
        conditioning_of(v, c) < BETTER_CONDITIONED * smallest_of(v, c, FIELD(v, base_conditioning)))
      return 0;
  return 1;
}

/* Accelerations and speeds interpolated between probes, to interpolated_acceleration and interpolated_u. `resolved`:
 * whether the probes are better conditioned. */
static lw_fault interpolate(const view *v, int32_t which, int *resolved) {
  const int32_t nu = v->m->size.nu, n = nu + v->m->size.nu_cut;
  real *acceleration = FIELD(v, interpolated_acceleration), *u = FIELD(v, interpolated_u);
  for (int32_t k = 0; k < n; k++) acceleration[k] = 0.0;
  for (int32_t k = 0; k < nu; k++) u[k] = 0.0;
  *resolved = 1;
  for (int i = 0; i < 6 && *resolved; i++) {
    const lw_fault fault = close_probe_pose(v, which, places[i]);
    if (fault.kind) return fault;
    *resolved = is_better_conditioned(v);
    reduce_all(v);
    for (int32_t k = 0; k < n; k++) acceleration[k] += weights[i] * v->acceleration[k];
    for (int32_t k = 0; k < nu; k++) u[k] += weights[i] * v->u[k];
  }
  return no_fault;
}

static double difference(const view *v, int32_t c, const real *a, const real *b) {
  real *d = FIELD(v, newton_step);
  for (int32_t k = 0; k < v->m->size.nu; k++) d[k] = a[k] - b[k];
  return re(size_of(v, c, d));
}

/* Whether the interpolation is as near to the accelerations of the pose itself as rounding lets it be. */
static int agrees_with_interpolation(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++) {
    if (ranks_of(v, c)->singularity != BIFURCATION) continue;
    const double speed = re(size_of(v, c, FIELD(v, base_u))), conditioning = conditioning_of(v, c);
    const double by_speed = ACCELERATION_UNCERTAINTY * speed * speed / conditioning,
                 by_load = LOAD_UNCERTAINTY * re(size_of(v, c, FIELD(v, interpolated_acceleration)));
    const double uncertain = (by_speed + by_load) / (conditioning * conditioning);
    if (difference(v, c, v->acceleration, FIELD(v, interpolated_acceleration)) > uncertain) return 0;
  }
  return 1;
}

static void use_interpolated(const view *v, int32_t which, int taken) {
  for (int32_t c = 0; c < v->m->clusters; c++) {
    cluster_ranks *r = ranks_of(v, c);
    if (r->singularity && !(taken && r->singularity == which)) r->singularity = NEAR;
  }
  if (taken) copy(v->m->size.nu + v->m->size.nu_cut, FIELD(v, interpolated_acceleration), v->acceleration);
}

/* The closure has its full rank, but is uncertain. */
static lw_fault cross_bifurcation(const view *v) {
  int resolved;
  save_base(v);
  lw_fault fault = interpolate(v, BIFURCATION, &resolved);
  restore_base(v);
  if (!fault.kind) fault = compute_loop_closures(v);
  if (fault.kind) return fault;
  reduce_all(v);
  use_interpolated(v, BIFURCATION, resolved && agrees_with_interpolation(v));
  return no_fault;
}

/* The closure has not: poses are those of its certain part. */
static lw_fault cross_rank_deficient(const view *v, int moving) {
  copy(v->m->size.nq, FIELD(v, saved_q), v->q);
  set_coarse_tolerance(v, RANK_DEFICIENT);
  lw_fault fault = project_onto_closed_pose(v, FIELD(v, saved_u));
  if (fault.kind) return fault;
  save_base(v);
  set_coarse_tolerance(v, RANK_DEFICIENT_AT_REST);
  if (moving) fault = interpolate(v, RANK_DEFICIENT, &moving);
  restore_base(v);
  set_coarse_tolerance(v, RANK_DEFICIENT);
  if (!fault.kind) fault = compute_loop_closures(v);
  if (fault.kind) return fault;
  reduce_all(v);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const int32_t singularity = ranks_of(v, c)->singularity;
    if (singularity == RANK_DEFICIENT_AT_REST && re(size_of(v, c, v->acceleration)) > LOAD_AT_REST)
      return (lw_fault){LW_FAULT_AT_REST, c, 0.0};
    if (singularity != RANK_DEFICIENT) continue;
    const double speed = re(size_of(v, c, v->u));
    if (difference(v, c, v->u, FIELD(v, interpolated_u)) <= BRANCH_TOLERANCE * speed) continue;
    if (speed > SPEED_OF_ERRORS) return (lw_fault){LW_FAULT_NO_BRANCH, c, 0.0};
    moving = 0;
  }
  use_interpolated(v, RANK_DEFICIENT, moving);
  return no_fault;
}

/* ---- more degrees of freedom than the capacity ---- */

/* Positions, speeds and residuals of the cut joints, without an elimination, which leaves the workspace as it is. */
static void place_cut_joints(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  if (w.cluster->needs_point_velocities) find_point_motions(v, &w);
  else find_point_positions(v, &w);
  ear_closures(v, c, &w);
}

/* The workspace is that of a pose ahead, where the closure has its rank; positions and speeds are those of the base. */
static lw_fault restore_base_on_branch(const view *v) {
  const lw_fault fault = close_probe_pose(v, RANK_DEFICIENT, places[1]);
  if (fault.kind) return fault;
  reduce_all(v);
  restore_base(v);
  compute_kinematics(v);
  apply_external_forces(v);
  compute_tree_loads(v);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    place_cut_joints(v, c);
    const int lost = ranks_of(v, c)->singularity == RANK_DEFICIENT;
    for (int32_t i = 0; lost && i < v->m->cluster[c].loops; i++) FIELD(v, loop_conditioning)[loop_of(v, c, i)] = 0.0;
  }
  load_and_apply_by_forces(v);
  return no_fault;
}

/* Loops by the hundreds that are in a bifurcation at once leave more directions than the capacity, so that the pose itself
 * has no closure. The poses ahead and behind have: all of the branch is known from them. Clusters that exceed theirs in
 * these poses are added. */
static lw_fault cross_beyond_capacity(const view *v, int32_t cluster) {
  for (int32_t c = 0; c < v->m->clusters; c++) ranks_of(v, c)->singularity = REGULAR;
  for (int32_t k = 0; k < v->m->size.nu; k++) FIELD(v, violation)[k] = 0.0;
  save_base(v);
  lw_fault fault = {LW_FAULT_DOF_CAPACITY, cluster, 0.0};
  while (fault.kind == LW_FAULT_DOF_CAPACITY && !ranks_of(v, fault.index)->singularity) {
    const int32_t c = fault.index;
    if (v->m->cluster[c].method == LW_EMBEDDING) break;
    if (re(size_of(v, c, v->u)) < SPEED_AT_REST) return is_closed(v, c) ? (lw_fault){LW_FAULT_AT_REST, c, 0.0} : fault;
    ranks_of(v, c)->singularity = RANK_DEFICIENT;
    int resolved;
    fault = interpolate(v, RANK_DEFICIENT, &resolved);
    restore_base(v);
  }
  if (!fault.kind) fault = restore_base_on_branch(v);
  for (int32_t c = 0; !fault.kind && c < v->m->clusters; c++) {
    const double speed = re(size_of(v, c, v->u));
    if (ranks_of(v, c)->singularity && difference(v, c, v->u, FIELD(v, interpolated_u)) > BRANCH_TOLERANCE * speed)
      fault = (lw_fault){LW_FAULT_NO_BRANCH, c, 0.0};
  }
  restore_base(v);
  if (!fault.kind) use_interpolated(v, RANK_DEFICIENT, 1);
  return fault;
}

/* In the projected pose of the clusters; the singularity class is unchanged. Returns whether regular poses
 * have more degrees of freedom. */
static int recount_dof_here(const view *v) {
  int lost = 0;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    cluster_ranks *r = ranks_of(v, c);
    r->saved_singularity = r->singularity;
    lost |= has_lost_rank(v, c);
  }
  const int changed = lost && recount_dof(v);
  for (int32_t c = 0; c < v->m->clusters; c++) ranks_of(v, c)->singularity = ranks_of(v, c)->saved_singularity;
  if (lost) compute_loop_closures(v);
  return changed;
}

/* Whether no closed pose is nearby: those far away have no relation to the state. */
static int is_far_from_closed(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (ranks_of(v, c)->singularity && !(re(size_of(v, c, FIELD(v, violation))) < FAR_FROM_CLOSED)) return 1;
  return 0;
}

static lw_fault accelerate_unprojected(const view *v) {
  restore_state(v);
  for (int32_t c = 0; c < v->m->clusters; c++) ranks_of(v, c)->singularity = REGULAR;
  const lw_fault fault = compute_loop_closures(v);
  if (!fault.kind) reduce_all(v);
  return fault;
}

/* Accelerations near a singular pose; the loops have been closed at the state. Where the nearest closed
 * pose is regular, only this is reported. */
static lw_fault accelerate_near_singular(const view *v, int *recounted) {
  save_state(v);
  lw_fault fault = project_onto_closed_pose(v, FIELD(v, saved_u));
  if (!fault.kind && is_far_from_closed(v)) return accelerate_unprojected(v);
  *recounted = !fault.kind && recount_dof_here(v);
  if (!fault.kind && !*recounted) {
    const int32_t nearest = classify_projected_poses(v);
    int moving = 0;
    for (int32_t c = 0; c < v->m->clusters; c++) moving |= ranks_of(v, c)->singularity == RANK_DEFICIENT;
    if (nearest >= RANK_DEFICIENT) fault = cross_rank_deficient(v, moving);
    else if (nearest == BIFURCATION) fault = cross_bifurcation(v);
    else reduce_all(v);
  }
  restore_state(v);
  set_coarse_tolerance(v, INT32_MAX);
  return fault;
}
#endif
