/* Reactions of the joints for given accelerations: the wrenches of tree/inverse_dynamics_kernel.h, and the part that a
 * cluster's cut joints take. Uses the motion, inertia and X of the accelerations stage. */
#ifndef LW_LOOPS_REACTIONS_KERNEL_H
#define LW_LOOPS_REACTIONS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/inverse_dynamics_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/drift_stabilisation_kernel.h"

/* ---- loads of cut joints and couplings ---- */

INLINE real *added_wrench_of(const cluster_work *w, int32_t link) {
  return w->added_wrench + 6 * (link - w->cluster->first);
}

/* The part of a column's load that the constraints balance: none in a joint that is free to move. */
static real unbalanced_load(const view *v, int32_t c, const cluster_work *w, int32_t k) {
  const lw_column *column = column_of(v, c, k);
  const real load = v->load[column->u] + w->coupled[k] - v->rotor[column->u] * v->acceleration[column->u];
  if (column->link < 0) return load;
  return load - along_column(v, column->link, column->u - v->m->link[column->link].u, &v->wrench[column->link]);
}

/* The constraints' share: mu with C'mu = the remaining load on each independent, of least norm. */
static void constraint_loads(const view *v, int32_t c, const cluster_work *w) {
  const int32_t n = w->ranks->independent, width = w->ranks->width;
  const pivoted_columns C = columns_of_constraints(w);
  real *rest = w->solution;
  for (int32_t z = 0; z < n; z++) rest[z] = 0.0;
  for (int32_t k = 0; k < w->n; k++) {
    const real unbalanced = unbalanced_load(v, c, w, k);
    for (int32_t z = 0; z < n; z++) rest[z] += w->X[k * width + FIRST_FREE + z] * unbalanced;
  }
  solve_transposed(&C, w->ranks->rank, rest, rest + n, w->mu);
}

/* A force pair along the line between the ends, which the joints on both ways no longer carry. */
static void apply_distance_force(const view *v, const cluster_work *w, int32_t distance, real load) {
  const span s = find_span(v, w, distance);
  const real none[3] = {0.0, 0.0, 0.0};
  real force[3];
  for (int k = 0; k < 3; k++) force[k] = load * s.n[k];
  FIELD(v, distance_force)[distance] = -load;
  for (int end = 0; end < 2; end++)
    for (int32_t i = v->m->distance[distance].end[end]; i != v->m->distance[distance].root; i = v->m->link[i].parent) {
      real d[3];
      for (int k = 0; k < 3; k++) d[k] = s.at[end][k] - point_motion_of(w, i)[k];
      add_wrench(d, end ? -1.0 : 1.0, none, force, v->wrench[i].a, v->wrench[i].l);
    }
}

/* Couplings load their terms' columns with p' times the load that balances the rest. */
static void apply_coupling_loads(const view *v, int32_t c, const cluster_work *w) {
  const int32_t first = w->ranks->constraints - w->cluster->couplings;
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    const int32_t number = v->m->member_coupling[w->cluster->member_coupling + i];
    const lw_coupling *coupling = &v->m->coupling[number];
    const coupling_row row = row_of_coupling(v, c, number);
    const real load = -w->mu[first + i] * row.per_size * row.stage;
    FIELD(v, coupling_load)[number] = load;
    if (coupling->distance >= 0) apply_distance_force(v, w, coupling->distance, load);
    for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
      w->coupled[v->m->term[t].column] += slope_of_term(v, t) * load;
  }
}

/* The wrench of a loop in its rows: a_k.lambda = rest_k for its dependent columns, of least norm, so lambda = sum W_k
 * rest_k; the constraints' part, across these; along its own columns the cut joint's loads. */
static void ear_wrench(const view *v, int32_t c, const cluster_work *w, const ear_work *x, int32_t number,
                       real lambda[6]) {
  const lw_loop *loop = &v->m->loop[x->ear->loop];
  const constraint_frame *cut = constraint_frame_of(loop->type);
  const int32_t rows = 6 - loop->columns, at = w->ear_constraint[number];
  real in_rows[6];
  for (int32_t j = 0; j < rows; j++) in_rows[j] = at < 0 || w->ranks->rank == 0 ? 0.0 : w->mu[at + j];
  for (int32_t j = 0; j < loop->columns; j++) {
    const int32_t k = x->ear->column + cut->speed[j];
    in_rows[rows + j] = unbalanced_load(v, c, w, k) * metric_of(v, column_of(v, c, k));
  }
  for (int32_t p = 0; p < w->ear_rank[number]; p++) {
    const int32_t k = x->ear->column + x->ear->cuts + x->order[p];
    real rest = unbalanced_load(v, c, w, k) * metric_of(v, column_of(v, c, k));
    for (int32_t j = rows; j < 6; j++) rest -= x->a[4 * x->groups * j + x->order[p]] * in_rows[j];
    for (int32_t j = 0; j < rows; j++) in_rows[j] += x->W[6 * p + j] * rest;
  }
  from_constraint_frame(cut, x->mix, x->angular, x->linear, in_rows, lambda);
  for (int j = 3; j < 6; j++) lambda[j] /= length_of(v, c);
}

/* Propagates the wrenches that later loops add to the links of a loop. */
static void propagate_added_wrenches(const view *v, const cluster_work *w, const lw_ear *ear) {
  for (int32_t j = ear->first + ear->links - 1; j >= ear->first; j--) {
    const int32_t i = v->m->ear_link[j], parent = v->m->link[i].parent;
    const real *more = added_wrench_of(w, i);
    for (int k = 0; k < 3; k++) v->wrench[i].a[k] += more[k], v->wrench[i].l[k] += more[3 + k];
    if (parent == w->cluster->root) continue;
    real *below = added_wrench_of(w, parent);
    add_wrench(v->motion[i].r, 1.0, more, more + 3, below, below + 3);
  }
}

/* Applies the wrench of a cut joint to its two branches and to their bases. */
static void apply_to_branches(const view *v, const cluster_work *w, const ear_work *x, const real lambda[6]) {
  const lw_ear *ear = x->ear;
  const real *closure_point[2] = {x->on_parent, x->on_child};
  for (int32_t j = ear->first; j < ear->first + ear->links; j++) {
    const int32_t i = v->m->ear_link[j], branch_sign = v->m->link[i].branch_sign;
    real d[3];
    for (int k = 0; k < 3; k++) d[k] = closure_point[branch_sign < 0][k] - point_motion_of(w, i)[k];
    add_wrench(d, branch_sign, lambda, lambda + 3, v->wrench[i].a, v->wrench[i].l);
  }
  for (int branch = 0; branch < 2; branch++) {
    const int32_t base = branch ? ear->child_base : ear->parent_base;
    if (base == w->cluster->root) continue;
    real d[3], *below = added_wrench_of(w, base);
    for (int k = 0; k < 3; k++) d[k] = closure_point[branch][k] - point_motion_of(w, base)[k];
    add_wrench(d, branch ? -1.0 : 1.0, lambda, lambda + 3, below, below + 3);
  }
}

static void store_reaction(const view *v, int32_t joint, double sign, const real torque[3], const real force[3]) {
  for (int j = 0; j < 3; j++) {
    FIELD(v, reaction_torque)[3 * joint + j] = sign * torque[j];
    FIELD(v, reaction_force)[3 * joint + j] = sign * force[j];
  }
}

/* Clusters that were solved as matrices, loop by loop. */
static void solve_embedded_by_ears(const view *v) {
  int any = 0;
  copy(v->m->size.loops, FIELD(v, loop_conditioning), FIELD(v, saved_conditioning));
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (v->m->cluster[c].method == LW_EMBEDDING) solve_by_ears(v, c), any = 1;
  if (any) load_by_forces(v);
  copy(v->m->size.loops, FIELD(v, saved_conditioning), FIELD(v, loop_conditioning));
}

/* The loops of a cluster, the last first. */
static void distribute_cut_wrenches(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  for (int32_t k = 0; k < 6 * w.links; k++) w.added_wrench[k] = 0.0;
  for (int32_t k = 0; k < w.n; k++) w.coupled[k] = 0.0;
  if (w.ranks->rank || w.cluster->distances) {
    constraint_loads(v, c, &w);
    apply_coupling_loads(v, c, &w);
  } else
    for (int32_t i = 0; i < w.cluster->couplings; i++) FIELD(v, coupling_load)[coupling_of(v, c, i)] = 0.0;
  for (int32_t number = w.cluster->ears - 1; number >= 0; number--) {
    const ear_work x = work_of_ear(v, &w, w.cluster->first_ear + number);
    real lambda[6];
    propagate_added_wrenches(v, &w, x.ear);
    if (x.ear->loop < 0) continue;
    ear_wrench(v, c, &w, &x, number, lambda);
    store_reaction(v, v->m->loop[x.ear->loop].joint, 1.0, lambda, lambda + 3);
    apply_to_branches(v, &w, &x, lambda);
  }
}

/* Wrenches of the tree's joints, and reactions of those that close loops. */
static void find_wrenches(const view *v) {
  propagate_increments(v, v->acceleration);
  compute_body_wrenches(v, 1);
  propagate_wrenches(v);
  solve_embedded_by_ears(v);
  for (int32_t c = 0; c < v->m->clusters; c++) distribute_cut_wrenches(v, c);
}

static void compute_reactions(const view *v) {
  find_wrenches(v);
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    const twist *f = &v->wrench[i];
    real torque[3], arm[3] = {0.0, 0.0, 0.0};
    if (link->reversed) { /* to the declared child's frame, a displacement away */
      rotate(motion_of(v, link->parent)->R, v->constants[i].p, arm);
      for (int j = 0; j < 3; j++) arm[j] = v->motion[i].r[j] - arm[j];
    }
    shift_wrench(arm, f->a, f->l, torque);
    store_reaction(v, link->joint, link->reversed ? -1.0 : 1.0, torque, f->l);
  }
}

#endif
