/* Near a singular pose a cluster has more degrees of freedom than elsewhere, and branches of its motion cross. In
 * coordinates x along one branch and y along the other the closure behaves as x y = 0. A constraint violation e off
 * the branch y = 0 at the distance d leaves only the residual d e, and its effect on speeds and accelerations grows
 * as d decreases:
 *   y' = -(e / d) x',   y'' = -2 x' y' / d.
 * Accelerations are therefore computed at the closest closed pose with the closest allowed speeds, found by Newton
 * steps, and the stabilisation drives the state there. Closer to the singular pose see bifurcation_kernel.h. All is a
 * function of the state alone; in regular poses the cost is one comparison per loop. */
#ifndef LW_SINGULAR_NEAR_SINGULAR_KERNEL_H
#define LW_SINGULAR_NEAR_SINGULAR_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/mobility_kernel.h"
#include "loops/drift_stabilisation_kernel.h"
#include "multipliers/workspace_kernel.h"
#include "math/tolerances.h"

#define MAX_LOOPS_TO_ASSESS 8 /* both ways: it takes long for more */
#define STEPS_TO_CLOSE 8

/* Loops that share joints are eliminated loop by loop or as one matrix. Small pivots may be due to an unlucky order in
 * the one, of many loops in a row in the other: where they are small, the better of both counts. */
static void assess_conditioning(const view *v, int32_t c) {
  const int32_t loops = v->m->cluster[c].loops;
  if (v->m->cluster[c].ears < 2 || loops == 0 || loops > MAX_LOOPS_TO_ASSESS) return;
  if (conditioning_of(v, c) > DOUBTFUL_CONDITIONING) return;
  const cluster_work w = work_of(v, c);
  const int as_matrix = w.cluster->method == LW_EMBEDDING;
  if (!w.cluster->dense) return;
  real own[MAX_LOOPS_TO_ASSESS];
  for (int32_t i = 0; i < loops; i++) own[i] = FIELD(v, loop_conditioning)[loop_of(v, c, i)];
  if ((as_matrix ? solve_by_ears : solve_as_matrix)(v, c))
    for (int32_t i = 0; i < loops; i++) {
      const real other = FIELD(v, loop_conditioning)[loop_of(v, c, i)];
      own[i] = select_less(own[i], other, other, own[i]);
    }
  solve_cluster(v, c);
  load_by_forces(v);
  for (int32_t i = 0; i < loops; i++) FIELD(v, loop_conditioning)[loop_of(v, c, i)] = own[i];
}

/* ---- the closed pose nearest by ---- */

/* newton_step: from there to the present pose. Speeds: the allowed ones nearest to u. Returns the size of the step. */
static double find_closed_pose_step(const view *v, int32_t c, const real *u) {
  const cluster_work w = work_of(v, c);
  const int32_t n = w.ranks->independent, width = w.ranks->width;
  view from = *v;
  from.u = (real *)u;
  real *allowed = w.solution, *drift = w.solution + n, *step = FIELD(v, newton_step);
  project(&from, c, &w, allowed, drift);
  for (int32_t k = 0; k < w.n; k++) {
    const lw_column *column = column_of(v, c, k);
    if (column->link < 0) continue;
    const real *X = w.X + k * width;
    real now = 0.0, away = X[RESIDUAL];
    for (int32_t j = 0; j < n; j++) now += X[FIRST_FREE + j] * allowed[j], away += X[FIRST_FREE + j] * drift[j];
    v->u[column->u] = now, step[column->u] = away;
  }
  return re(size_of(v, c, step));
}

static void apply_closed_pose_step(const view *v, int32_t c) {
  const real *step = FIELD(v, newton_step);
  for (int32_t k = 0; k < v->m->cluster[c].columns; k++) {
    const lw_column *column = column_of(v, c, k);
    if (column->link >= 0) FIELD(v, violation)[column->u] += step[column->u];
  }
  integrate_cluster_position(v, c, step, -1.0);
}

/* All clusters that are not regular go to the closed pose nearest by, with the allowed speeds nearest to u; the last
 * pass finds speeds only. */
static lw_fault project_onto_closed_pose(const view *v, const real *u) {
  lw_fault fault = compute_loop_closures(v);
  for (int32_t k = 0; k < v->m->size.nu; k++) FIELD(v, violation)[k] = 0.0;
  int open = 1;
  for (int pass = 0; pass < STEPS_TO_CLOSE && !fault.kind && open; pass++) {
    open = 0;
    for (int32_t c = 0; c < v->m->clusters; c++) {
      if (!ranks_of(v, c)->singularity) continue;
      const double size = find_closed_pose_step(v, c, u);
      const int moves = pass == 0 || size * conditioning_of(v, c) > ROUNDING_OF_RESIDUAL;
      if (moves) apply_closed_pose_step(v, c);
      open |= moves;
    }
    fault = compute_loop_closures(v);
  }
  return fault;
}

/* ---- the state, while other poses are tried ---- */

static void save_state(const view *v) {
  copy(v->m->size.nq, v->q, FIELD(v, saved_q));
  copy(v->m->size.nu, v->u, FIELD(v, saved_u));
  copy(v->m->size.loops, FIELD(v, loop_residual), FIELD(v, saved_residual));
  copy(v->m->size.loops, FIELD(v, loop_conditioning), FIELD(v, saved_conditioning));
  copy(v->m->couplings, FIELD(v, coupling_residual), FIELD(v, saved_coupling_residual));
}

static void restore_state(const view *v) {
  copy(v->m->size.nq, FIELD(v, saved_q), v->q);
  copy(v->m->size.nu, FIELD(v, saved_u), v->u);
  copy(v->m->size.loops, FIELD(v, saved_residual), FIELD(v, loop_residual));
  copy(v->m->size.loops, FIELD(v, saved_conditioning), FIELD(v, loop_conditioning));
  copy(v->m->couplings, FIELD(v, saved_coupling_residual), FIELD(v, coupling_residual));
}

/* Sets the singularity class of each cluster; returns whether any is near a singular pose. */
static int classify_singularity(const view *v) {
  int near = 0;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    cluster_ranks *r = ranks_of(v, c);
    assess_conditioning(v, c);
    r->singularity = has_lost_rank(v, c) || conditioning_of(v, c) < NEAR_CONDITIONING ? NEAR : REGULAR;
    near |= r->singularity;
  }
  return near;
}

static int32_t columns_left_by_multipliers(const view *v, const multiplier_work *w, int32_t c) {
  int32_t left = tree_columns_of(v, c);
  for (int32_t p = 0; p < *w->rank; p++) left -= w->plan->row_cluster[w->order[p]] == c;
  return left;
}

/* The multiplier method uses any rank that it finds. Where that is below the rank of regular poses, or nobody knows
 * these, or pivots are small, the closures of the clusters decide: pivots of multipliers are weighted by the masses. */
static int multipliers_may_be_near_singular(const view *v) {
  const multiplier_work w = multiplier_work_of(v);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    if (re(w.regularity[c]) < DOUBTFUL_CONDITIONING * DOUBTFUL_CONDITIONING || !ranks_of(v, c)->regular_dof_plus_1 ||
        has_more_dof(v, c, columns_left_by_multipliers(v, &w, c)))
      return 1;
  }
  return 0;
}

static int multipliers_lose_digits(const view *v) {
  const multiplier_work w = multiplier_work_of(v);
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (re(w.least[c]) < PIVOT_OF_MULTIPLIERS || columns_left_by_multipliers(v, &w, c) != dof_of(ranks_of(v, c)))
      return 1;
  return 0;
}
#endif
