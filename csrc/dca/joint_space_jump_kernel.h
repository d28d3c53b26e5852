/* Jumps and the compliance of speeds by the equations of joint_space_equations_kernel.h. */
#ifndef LW_DCA_JOINT_SPACE_JUMP_KERNEL_H
#define LW_DCA_JOINT_SPACE_JUMP_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/ldl_kernel.h"
#include "math/pivoted_qr_kernel.h"
#include "math/spatial_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/constraint_rows_kernel.h"
#include "dca/joint_space_equations_kernel.h"

static void turn_forward(const dense_jump *d, real *x) {
  for (int32_t k = 0; k < d->qr.rank; k++) qr_reflect(&d->qr, k, x);
}

static void turn_back(const dense_jump *d, real *x) {
  for (int32_t k = d->qr.rank - 1; k >= 0; k--) qr_reflect(&d->qr, k, x);
}

/* x = Q [a; b] in speeds, for the loads f, which are turned. */
static void complete_speeds(const dense_jump *d, const real *f, real *x) {
  const int32_t r = d->qr.rank;
  for (int32_t i = 0; i < d->free; i++) {
    d->y[i] = f[r + i];
    for (int32_t j = 0; j < r; j++) d->y[i] -= d->M[(int64_t)(r + i) * d->n + j] * x[j];
  }
  ldl_solve(d->S, d->free, d->y);
  copy(d->free, d->y, x + r);
  turn_back(d, x);
  for (int32_t u = 0; u < d->n; u++) x[u] *= d->metric[u];
}

/* f = B'(M V - p) in the speeds' units, with the rotors of the cut joints; F as in loads_of(). */
static void unbalanced_loads(const view *v, const dca_work *w, const dense_jump *d, const real *V, real *f) {
  momenta_of(v, d, V, d->F);
  add_cut_rotors(v, w, V, d->F);
  for (int32_t k = 0; k < 6 * v->m->size.bodies; k++) d->F[k] -= w->by_load[k];
  loads_of(v, d->F, f);
}

static void find_changes(const view *v, const dca_work *w, const dense_jump *d) {
  const int32_t r = d->qr.rank;
  for (int32_t i = 0; i < d->rows; i++) {
    const int32_t row = w->plan->list[d->constraint[i]].first_row + d->number[i];
    d->lambda[i] = d->scale[i] * (w->target[row] - apply_row(w, d->constraint[i], d->number[i], w->unloaded));
  }
  qr_least_norm(&d->qr, d->lambda, d->x);
  turn_forward(d, d->x);
  for (int32_t u = r; u < d->n; u++) d->x[u] = 0.0;
  unbalanced_loads(v, w, d, w->unloaded, d->f);
  for (int32_t u = 0; u < d->n; u++) d->f[u] *= -d->metric[u];
  turn_forward(d, d->f);
  complete_speeds(d, d->f, d->x);
  velocities_of(v, w, d->x, d->V);
  for (int32_t k = 0; k < 6 * w->plan->bodies; k++) w->change[k] = w->unloaded[k] + d->V[k];
}

/* R lambda = z, of least norm where rows are redundant. */
static void share_loads(const dense_jump *d, real *z) {
  pivoted_qr sharing = {
      .rows = d->rows, .columns = d->qr.rank, .a = d->T, .diagonal = d->y, .order = d->qr.order + d->rows};
  for (int32_t p = 0; p < d->qr.rank; p++)
    for (int32_t i = 0; i < d->rows; i++)
      d->T[(int64_t)p * d->rows + i] = i < p ? 0.0 : i == p ? d->qr.diagonal[p] : qr_column(&d->qr, i)[p];
  qr_factor(&sharing, 0.0);
  qr_least_norm(&sharing, z, d->shared);
  for (int32_t i = 0; i < d->rows; i++) d->lambda[d->qr.order[i]] = d->shared[i];
}

/* From the tree's speeds: what the rows have to make up for. */
static void find_row_loads(const view *v, const dca_work *w, const dense_jump *d) {
  unbalanced_loads(v, w, d, w->change, d->f);
  for (int32_t u = 0; u < d->n; u++) d->f[u] = (d->f[u] + v->rotor[u] * d->x[u]) * d->metric[u];
  if (d->qr.rank == d->rows) qr_least_squares(&d->qr, d->f, d->lambda);
  else turn_forward(d, d->f), share_loads(d, d->f);
  for (int32_t k = 0; k < w->plan->rows; k++) w->load[k] = 0.0;
  for (int32_t i = 0; i < d->rows; i++)
    w->load[w->plan->list[d->constraint[i]].first_row + d->number[i]] = d->lambda[i] * d->scale[i];
}

/* Wrenches that the tree's joints transmit, by the balance of each body with the loads of all other rows. */
static void find_transmitted(const view *v, const dca_work *w, const dense_jump *d) {
  momenta_of(v, d, w->change, d->F);
  for (int32_t k = 0; k < 6 * v->m->size.bodies; k++) d->F[k] -= w->by_load[k];
  for (int32_t c = 0; c < v->m->size.joints + v->m->size.couplings; c++)
    for (int32_t k = 0; !is_tree_joint(v, c) && k < w->rows[c]; k++) {
      real *load = w->load + w->plan->list[c].first_row + k;
      if (row_has_rotor(w, c, k)) *load = -apply_row(w, c, k, w->change);
      add_row_load(w, c, k, -*load, d->F);
    }
  loads_of(v, d->F, d->f);
}

/* Its share along each direction of a joint: of a constrained one by the unit vector from which it is made, of a speed by
 * its column, that is less what constrained directions take along it. */
static void shares_of(const view *v, int32_t j, const joint_frame *f, const twist *F, real share[6]) {
  const int32_t constrained = constrained_directions(v->m, j);
  const int32_t angular = constraint_frame_of(v->m->joint[j].type)->angular;
  for (int32_t k = 0; k < constrained; k++) share[k] = k < angular ? dot(f->d[k].a, F->a) : dot(f->d[k].l, F->l);
  for (int32_t k = constrained; k < 6; k++) {
    share[k] = dot_twist(&f->d[k], F);
    for (int32_t i = 0; i < constrained; i++) share[k] -= dot_twist(&f->d[i], &f->d[k]) * share[i];
  }
}

/* Its share along each row of a joint. */
static void resolve_transmitted(const view *v, const dca_work *w, const dense_jump *d, int32_t j,
                                const unsigned char *constrained) {
  const joint_frame *f = frame_of(w, j);
  const real *F = d->F + 6 * v->m->joint[j].link, *force = F + 3;
  real *load = w->load + w->plan->list[j].first_row, share[6], along_arm[3];
  twist at_origin;
  cross(f->on_child, force, along_arm);
  for (int k = 0; k < 3; k++) at_origin.a[k] = F[k] - along_arm[k], at_origin.l[k] = force[k];
  shares_of(v, j, f, &at_origin, share);
  for (int32_t k = 0; k < 6; k++) {
    const row_of_direction kind = kind_of_row(v, j, k, constrained);
    if (kind == NO_ROW) continue;
    *load++ = kind == ROW_WITH_ROTOR ? share[k] / root(rotor_along(v, j, k)) : share[k];
  }
}

/* To velocities that the tree's joints allow, where those before are given. */
static void find_unloaded(const view *v, const dca_work *w, int given) {
  for (int32_t k = 0; k < 6 * w->plan->bodies; k++) w->unloaded[k] = 0.0;
  if (!given) return;
  velocities_of(v, w, w->speed, w->unloaded);
  for (int32_t k = 0; k < 6 * w->plan->bodies; k++) w->unloaded[k] -= w->before[k];
}

/* Changes and loads of the workspace of divide and conquer. Returns whether all motions have inertia. */
static int solve_in_joint_space(const view *v, const dca_work *w, const unsigned char *constrained, int given) {
  dense_jump d = dense_jump_of(v);
  if (!prepare_dense_jump(v, w, constrained, &d)) return 0;
  find_unloaded(v, w, given);
  find_changes(v, w, &d);
  find_row_loads(v, w, &d);
  find_transmitted(v, w, &d);
  for (int32_t j = 0; j < v->m->size.joints; j++)
    if (is_tree_joint(v, j)) resolve_transmitted(v, w, &d, j, constrained);
  return 1;
}

/* Loads f of the tree's speeds by a unit impulse along a direction of a joint. */
static void unit_impulse(const view *v, const dca_work *w, const dense_jump *d, term_location at, real *f) {
  const joint_ends ends = ends_of(v->m, at.joint);
  const joint_frame *frame = frame_of(w, at.joint);
  for (int32_t k = 0; k < 6 * v->m->size.bodies; k++) d->F[k] = 0.0;
  add_load(ends.child < 0 ? NULL : d->F + 6 * ends.child, 1.0, frame->on_child, &frame->d[at.direction]);
  add_load(ends.parent < 0 ? NULL : d->F + 6 * ends.parent, -1.0, frame->on_parent, &frame->d[at.direction]);
  loads_of(v, d->F, f);
  for (int32_t u = 0; u < d->n; u++) f[u] *= d->metric[u];
}

/* The change of velocities by it. Returns whether there is any: more than `least` of its square is left by the rows. */
static int respond_to_unit_impulse(const view *v, const dca_work *w, const dense_jump *d, term_location at,
                                   double least) {
  unit_impulse(v, w, d, at, d->f);
  const double size2 = qr_dot(d->f, d->f, 0, d->n);
  turn_forward(d, d->f);
  const double left2 = qr_dot(d->f, d->f, d->qr.rank, d->n);
  for (int32_t u = 0; u < d->n; u++) d->x[u] = 0.0;
  complete_speeds(d, d->f, d->x);
  velocities_of(v, w, d->x, w->change);
  return left2 > least * size2;
}
#endif
