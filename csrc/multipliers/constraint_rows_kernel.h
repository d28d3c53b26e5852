/* The rows of all constraints (loops/basic_constraints_kernel.h) in Phi, about the reference points of the bodies on which they
 * act; their biases in gamma. */
#ifndef LW_MULTIPLIERS_CONSTRAINT_ROWS_KERNEL_H
#define LW_MULTIPLIERS_CONSTRAINT_ROWS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "multipliers/workspace_kernel.h"

/* Rows of an end on the ground are not stored. */
INLINE void add_to_phi(const multiplier_work *w, const constraint_ends *ends, const int32_t phi_row[2], int about,
                       const twist *wrench) {
  for (int end = 0; end < 2; end++) {
    real s[3], *on = w->phi + 6 * phi_row[end];
    if (phi_row[end] < 0) continue;
    from_reference(w, ends->link[end], about, ends->arm[end], s);
    add_wrench(s, sign_at_end(end), wrench->a, wrench->l, on, on + 3);
  }
}

/* ---- loops ---- */

/* Without coordinates: the column of a revolute joint is the axis on its parent, those of a spherical joint the axes of
 * its child. */
INLINE void close_plain_joint(const view *v, const cluster_work *c, int32_t l, const cut_ends *ends, int32_t type,
                              real phi[6], loop_closure *out) {
  const branch_end parent = parent_end_of(v, c, l), child = child_end_of(v, c, l);
  const real *R = ends->child.joint.R, length = v->cut[l].length;
  plain_closure at;
  find_plain_closure(type, &parent, &child, &ends->parent.joint, &ends->child.joint, 1.0 / length, &at);
  set_plain_speeds(v, l, type == LW_REVOLUTE ? 1 : 3, at.u);
  if (type == LW_REVOLUTE) copy(9, ends->parent.joint.R, phantom_of(v, l)->R);
  else
    for (int i = 0; i < 3; i++) column_along(R, i, 0, v->column + v->m->loop[l].u + i);
  copy(6, at.phi, phi);
  for (int k = 0; k < 3; k++) out->bias.a[k] = at.bias[k], out->bias.l[k] = at.bias[3 + k] * length;
  copy(3, ends->parent.joint.d, out->arm[0]);
}

/* The phantom is placed at the coordinates from the inverse joint map. */
INLINE void close_any_joint(const view *v, const cluster_work *c, int32_t l, real phi[6], loop_closure *out) {
  cut_frames at;
  align_cut_joint(v, c, l, NULL, &at);
  closure_residual(v, l, &at, phi);
  find_cut_bias(v, c, l, &at, &out->bias);
  copy(3, phantom_of(v, l)->r, out->arm[0]);
}

/* Arms from the reference points: of the child's origin, and of both origins on the parent. */
INLINE void store_basic_row(const multiplier_work *w, const lw_loop_rows *plan, int32_t k, const basic_row *row,
                            const real on_child[3], const real on_parent[3], const real child_on_parent[3]) {
  const int32_t phi_row[2] = {plan->parent_phi, plan->child_phi};
  const real *arm[2] = {row->point == AT_CHILD_ORIGIN ? child_on_parent : on_parent, on_child};
  w->gamma[plan->row + k] = row->bias;
  for (int end = 0; end < 2; end++) {
    real *on = w->phi + 6 * (phi_row[end] + k);
    if (phi_row[end] < 0) continue;
    for (int j = 0; j < 3; j++)
      on[j] = sign_at_end(end) * row->wrench.a[j], on[3 + j] = sign_at_end(end) * row->wrench.l[j];
    if (row->point != AS_TORQUE) add_cross(arm[end], on + 3, on);
  }
}

/* A cut joint's speed u with the reflected inertia J: sqrt(J) udot + lambda = 0, whose multiplier loads the joint with
 * sqrt(J) lambda = -J udot. */
INLINE void couple_rotor(const view *v, const multiplier_work *w, int32_t l, int32_t c, int32_t k, int about) {
  const lw_loop *loop = &v->m->loop[l];
  const lw_loop_rows *plan = &w->plan->loop[l];
  const loop_closure *at = &w->closure[l];
  const constraint_ends ends = {{loop->parent, loop->child}, {at->arm[0], at->arm[1]}};
  const int32_t phi_row[2] = {plan->parent_phi < 0 ? -1 : plan->parent_phi + k,
                              plan->child_phi < 0 ? -1 : plan->child_phi + k};
  const real scale = root(v->rotor[loop->u + c]);
  twist P;
  row_of_cut_speed(v, l, c, &P);
  for (int j = 0; j < 3; j++) P.a[j] *= scale, P.l[j] *= scale;
  for (int end = 0; end < 2; end++)
    if (phi_row[end] >= 0) memset(w->phi + 6 * phi_row[end], 0, 6 * sizeof(real));
  add_to_phi(w, &ends, phi_row, about, &P);
  w->gamma[plan->row + k] = -dot_twist(&P, &at->bias);
  w->S[(w->stride + 1) * (plan->row + k)] = 1.0;
}

/* A cut joint's speeds and loads, and its constraints; returns |Phi|^2. */
INLINE real constrain_loop(const view *v, const multiplier_work *w, const cluster_work *c, int32_t l, int about) {
  const lw_loop *loop = &v->m->loop[l];
  const lw_loop_rows *plan = &w->plan->loop[l];
  const real per_length = 1.0 / v->cut[l].length;
  loop_closure *out = &w->closure[l];
  real phi[6], on_child[3], on_parent[3], child_on_parent[3];
  cut_ends at;
  find_cut_ends(v, c, l, &at);
  if (is_plain(v, l)) close_plain_joint(v, c, l, &at, loop->type, phi, out);
  else close_any_joint(v, c, l, phi, out);
  copy(3, at.child.joint.d, out->arm[1]);
  store_residual(v, l, phi);
  from_reference(w, loop->child, about, at.child.joint.d, on_child);
  from_reference(w, loop->parent, about, at.parent.joint.d, on_parent);
  for (int k = 0; k < 3; k++) child_on_parent[k] = on_parent[k] + at.d[k];
  basic_row rows[6];
  int32_t k = 0;
  if (has_basic_constraints(v, l))
    for (; k < 6 - loop->columns; k++) rows[k] = row_of_cut_joint(v, &at, l, k, WORLD_AXES, 1.0, per_length);
  else accelerated_complement(v, l, &out->bias, 1.0, per_length, rows);
  for (k = 0; k < 6 - loop->columns; k++) store_basic_row(w, plan, k, &rows[k], on_child, on_parent, child_on_parent);
  for (int32_t c = 0; plan->rotors && c < loop->columns; c++)
    if (plan->rotors >> c & 1) couple_rotor(v, w, l, c, k++, about);
  apply_cut_load(v, l, out->arm[0], out->arm[1]);
  return dot6(phi, phi);
}

/* ---- couplings ---- */

/* A term in a cut joint's coordinate: its speed is that of the child relative to the parent along its column. */
INLINE void act_through_cut(const view *v, const multiplier_work *w, int32_t l, int32_t t, int about, real by,
                            real *gamma) {
  const lw_term_rows *term = &w->plan->term[t];
  const lw_loop *loop = &v->m->loop[l];
  const loop_closure *at = &w->closure[l];
  const constraint_ends ends = {{loop->parent, loop->child}, {at->arm[0], at->arm[1]}};
  twist P;
  row_of_cut_speed(v, l, v->m->term[t].u - loop->u, &P);
  for (int k = 0; k < 3; k++) P.a[k] *= by, P.l[k] *= by;
  *gamma -= dot_twist(&P, &at->bias);
  const int32_t phi[] = {term->parent_phi, term->child_phi};
  add_to_phi(w, &ends, phi, about, &P);
}

/* The rows of Phi of a coupling start at zero, but for its terms in cut joints; its terms in tree joints go into z.
 * Returns the square of its residual. */
INLINE real constrain_coupling_rows(const view *v, const multiplier_work *w, const cluster_work *at, int32_t c,
                                    int32_t i, int about) {
  choose_revolutions(v, i);
  const coupling_row row = row_of_coupling(v, c, i);
  const lw_coupling *coupling = &v->m->coupling[i];
  real *gamma = w->gamma + w->plan->coupling_row[i];
  *gamma = row.bias;
  if (coupling->distance >= 0) {
    const span s = find_span(v, at, coupling->distance);
    const constraint_ends ends = ends_of_span(&s);
    const twist pull = wrench_along_span(&s, row.per_size);
    add_to_phi(w, &ends, w->plan->distance[coupling->distance].phi_row, about, &pull);
  }
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const real by = slope_of_term(v, t) * row.per_size;
    if (w->plan->term[t].z >= 0) w->z[w->plan->term[t].z] += by;
    else act_through_cut(v, w, column_of(v, c, v->m->term[t].column)->loop, t, about, by, gamma);
  }
  return row.residual * row.residual;
}

INLINE void constrain_all(const view *v, const multiplier_work *w, int about) {
  const lw_model *m = v->m;
  if (m->couplings) {
    memset(w->phi, 0, sizeof(real) * 6 * (size_t)w->plan->phi_rows);
    memset(w->z, 0, sizeof(real) * (size_t)w->plan->z);
  }
  for (int32_t c = 0; c < m->clusters; c++) {
    const cluster_work at = work_of(v, c);
    const lw_cluster *cluster = at.cluster;
    real residual2 = 0.0;
    w->least[c] = w->regularity[c] = 1.0, w->first[c] = w->last[c] = 0.0;
    if (cluster->loops || cluster->distances) find_point_motions(v, &at);
    for (int32_t i = 0; i < cluster->loops; i++) residual2 += constrain_loop(v, w, &at, loop_of(v, c, i), about);
    for (int32_t i = 0; i < cluster->couplings; i++)
      residual2 += constrain_coupling_rows(v, w, &at, c, coupling_of(v, c, i), about);
    for (int32_t i = w->plan->cluster_row[c]; i < w->plan->cluster_row[c + 1]; i++)
      w->residual2[i] = residual2, w->largest[i] = 0.0;
  }
  load_by_forces_and_apply(v);
}
#endif
