/* The constraints with the loops open: Phi(q, t) = 0 and its rate J u + Phi_t, and the loads J'lambda, in O(n + m) and
 * without J; J itself along the paths of the constraints. Rows are those of loops/basic_constraints_kernel.h in metres,
 * without false zeros: directions are counted in the cluster's length, and points coincide along the axes of the parent's
 * joint frame. The cut joints come first, in their order, 6 rows less their speeds each, then a row for each coupling. The rows of open joints are zero. */
#ifndef LW_DAE_CONSTRAINTS_KERNEL_H
#define LW_DAE_CONSTRAINTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "tree/inverse_dynamics_kernel.h"

/* Multipliers of the rows, of accelerations and of positions, and their effects: the former load the bodies (the field
 * inertia) and the tree's speeds; the latter, which are drifts, gather in the field wrench and in speeds of their own. */
typedef struct row_flow {
  const real *lambda, *mu; /* of every row */
  real *phi, *rate;        /* of every row */
  real *drift;             /* of the tree's speeds */
  real *matrix;            /* J, rows x nu, zero before; NULL: not asked for */
} row_flow;

/* Adds to a row of J what a wrench on its ends does along the tree's speeds, down to where both paths meet. */
static void add_to_row(const view *v, const constraint_ends *ends, const twist *wrench, real *row) {
  int32_t link[2];
  twist at[2] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
  for (int end = 0; end < 2; end++) {
    link[end] = ends->link[end];
    add_wrench(ends->arm[end], sign_at_end(end), wrench->a, wrench->l, at[end].a, at[end].l);
  }
  while (link[0] != link[1]) {
    const int end = link[1] > link[0]; /* the outer one: parents have smaller numbers */
    const lw_link *outer = &v->m->link[link[end]];
    twist moved = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int32_t c = 0; c < outer->speeds; c++) row[outer->u + c] += along_column(v, link[end], c, &at[end]);
    add_wrench(v->motion[link[end]].r, 1.0, at[end].a, at[end].l, moved.a, moved.l);
    at[end] = moved, link[end] = outer->parent;
  }
}

INLINE real *row_of_matrix(const view *v, const row_flow *flow, int32_t row) {
  return flow->matrix + (size_t)row * (size_t)v->m->size.nu;
}

static void act_on_ends(const view *v, const constraint_ends *ends, const twist *load, const twist *drift) {
  apply_to_ends(v, ends, load);
  for (int end = 0; end < 2; end++) {
    const int32_t link = ends->link[end];
    if (link < 0) continue;
    add_wrench(ends->arm[end], sign_at_end(end), drift->a, drift->l, v->wrench[link].a, v->wrench[link].l);
  }
}

/* ---- cut joints ---- */

static void constrain_cut_joint(const view *v, const cluster_work *w, int32_t l, int32_t row, const row_flow *flow) {
  const lw_loop *loop = &v->m->loop[l];
  twist load = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, drift = load;
  real on_parent[3];
  basic_row rows[6];
  cut_ends at;
  find_cut_ends(v, w, l, &at);
  for (int k = 0; k < 3; k++) on_parent[k] = at.parent.joint.d[k] + at.d[k];
  const constraint_ends ends = {{loop->parent, loop->child}, {on_parent, at.child.joint.d}};
  if (has_basic_constraints(v, l)) rows_without_false_zeros(v, &at, l, rows);
  else complement_without_false_zeros(v, w, l, rows);
  for (int32_t k = 0; k < 6 - loop->columns; k++, row++) {
    flow->phi[row] = rows[k].residual, flow->rate[row] = rows[k].rate;
    add_column(&rows[k].wrench, flow->lambda[row], &load);
    add_column(&rows[k].wrench, flow->mu[row], &drift);
    if (flow->matrix) add_to_row(v, &ends, &rows[k].wrench, row_of_matrix(v, flow, row));
  }
  act_on_ends(v, &ends, &load, &drift);
}

/* Whether the coordinates, the speeds or the load of a cut joint are needed. */
INLINE int has_load(const view *v, int32_t l) {
  const lw_loop *loop = &v->m->loop[l];
  int loaded = re(v->cut[l].located) != 0.0;
  for (int32_t u = loop->u; u < loop->u + loop->columns; u++)
    loaded |= !is_zero(FIELD(v, tau)[u]) || !is_zero(FIELD(v, damping)[u]);
  return loaded;
}

static void load_cut_joint(const view *v, const cluster_work *w, int32_t l) {
  cut_frames at;
  twist bias;
  align_cut_joint(v, w, l, NULL, &at);
  find_cut_bias(v, w, l, &at, &bias);
  apply_cut_load(v, l, phantom_of(v, l)->r, at.child.d);
}

/* ---- couplings ---- */

/* A term in the coordinate of a cut joint, whose phantom has been placed. */
static void couple_cut_joint(const view *v, int32_t l, int32_t u, real slope, int32_t row, const row_flow *flow) {
  const lw_loop *loop = &v->m->loop[l];
  real on_child[3];
  twist P, by_row = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, load = by_row, drift = by_row;
  row_of_cut_speed(v, l, u - loop->u, &P);
  add_column(&P, slope, &by_row);
  add_column(&by_row, flow->lambda[row], &load);
  add_column(&by_row, flow->mu[row], &drift);
  rotate(motion_of(v, loop->child)->R, v->cut[l].pc, on_child);
  const constraint_ends ends = {{loop->parent, loop->child}, {phantom_of(v, l)->r, on_child}};
  act_on_ends(v, &ends, &load, &drift);
  if (flow->matrix) add_to_row(v, &ends, &by_row, row_of_matrix(v, flow, row));
}

static void constrain_by_coupling(const view *v, int32_t i, int32_t row, const row_flow *flow) {
  const lw_coupling *coupling = &v->m->coupling[i];
  const int32_t c = coupling->cluster;
  flow->phi[row] = flow->rate[row] = 0.0;
  if (!coupling_is_enforced(v, i)) return;
  const cluster_work w = work_of(v, c);
  const coupling_row asked = row_of_coupling(v, c, i);
  const real length = length_of(v, c), factor = length * asked.per_size;
  const real lambda = factor * flow->lambda[row], mu = factor * flow->mu[row];
  flow->phi[row] = length * asked.residual;
  flow->rate[row] = length * (asked.rate - asked.velocity);
  if (coupling->distance >= 0) {
    const span s = find_span(v, &w, coupling->distance);
    const constraint_ends ends = ends_of_span(&s);
    const twist load = wrench_along_span(&s, lambda), drift = wrench_along_span(&s, mu);
    const twist by_row = wrench_along_span(&s, factor);
    act_on_ends(v, &ends, &load, &drift);
    if (flow->matrix) add_to_row(v, &ends, &by_row, row_of_matrix(v, flow, row));
  }
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const lw_term *term = &v->m->term[t];
    const real slope = slope_of_term(v, t);
    if (term->u >= v->m->size.nu) {
      couple_cut_joint(v, column_of(v, c, term->column)->loop, term->u, factor * slope, row, flow);
      continue;
    }
    v->load[term->u] += slope * lambda, flow->drift[term->u] += slope * mu;
    if (flow->matrix) row_of_matrix(v, flow, row)[term->u] += factor * slope;
  }
}

/* ---- all of them ---- */

/* After compute_kinematics(), apply_external_forces() and compute_tree_loads(); it applies the cut joints' loads too. */
static void constrain_tree(const view *v, const row_flow *flow) {
  const lw_model *m = v->m;
  memset(v->wrench, 0, sizeof *v->wrench * (size_t)m->size.bodies);
  for (int32_t u = 0; u < m->size.nu; u++) flow->drift[u] = 0.0;
  for (int32_t c = 0; c < m->clusters; c++) {
    const cluster_work w = work_of(v, c);
    if (w.cluster->loops || w.cluster->distances) find_point_motions(v, &w);
  }
  int32_t row = 0;
  for (int32_t l = 0; l < m->size.loops; l++) {
    const lw_loop *loop = &m->loop[l];
    const int32_t rows = 6 - loop->columns;
    if (loop->cluster >= 0) {
      const cluster_work w = work_of(v, loop->cluster);
      constrain_cut_joint(v, &w, l, row, flow);
      if (has_load(v, l)) load_cut_joint(v, &w, l);
    } else
      for (int32_t k = row; k < row + rows; k++) flow->phi[k] = flow->rate[k] = 0.0;
    row += rows;
  }
  for (int32_t i = 0; i < m->couplings; i++) choose_revolutions(v, i);
  load_by_forces_and_apply(v);
  for (int32_t i = 0; i < m->couplings; i++, row++) constrain_by_coupling(v, i, row, flow);
}

/* Propagates the wrenches inward; then drift[u] += the columns' share. */
static void gather_drifts(const view *v, real *drift) {
  for (int32_t i = v->m->size.bodies - 1; i >= 0; i--) {
    const lw_link *link = &v->m->link[i];
    const twist *f = &v->wrench[i];
    for (int32_t c = 0; c < link->speeds; c++) drift[link->u + c] += along_column(v, i, c, f);
    if (link->parent < 0) continue;
    twist *to = &v->wrench[link->parent];
    add_wrench(v->motion[i].r, 1.0, f->a, f->l, to->a, to->l);
  }
}
#endif
