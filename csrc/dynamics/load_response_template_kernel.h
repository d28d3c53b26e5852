/* The response to changed loads (load_response_kernel.h) over SCALAR: included for one change and, in double, for four
 * at once. What does not depend on the loads is the same for all of them and stays a plain number. */
#ifndef SCALAR /* opened alone */
#include "block/field_view_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reactions_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#define SCALAR real
#define NAMED(name) name##_alone
#endif

typedef struct NAMED(twist_change) {
  SCALAR a[3], l[3];
} NAMED(twist_change);

/* ---- plain numbers times changes ---- */

INLINE SCALAR NAMED(dot_by)(const real a[3], const SCALAR b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

INLINE void NAMED(add_cross_by)(const real a[3], const SCALAR b[3], SCALAR out[3]) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

INLINE void NAMED(add_times)(const real a[3], SCALAR by, SCALAR out[3]) {
  for (int i = 0; i < 3; i++) out[i] += a[i] * by;
}

INLINE SCALAR NAMED(along)(const twist *P, const NAMED(twist_change) * F) {
  return NAMED(dot_by)(P->a, F->a) + NAMED(dot_by)(P->l, F->l);
}

/* A wrench moved back by d and added. */
INLINE void NAMED(add_wrench_by)(const real d[3], double sign, const SCALAR *a, const SCALAR *l, SCALAR *to_a,
                                 SCALAR *to_l) {
  SCALAR moved[3] = {a[0], a[1], a[2]};
  NAMED(add_cross_by)(d, l, moved);
  for (int i = 0; i < 3; i++) to_a[i] += sign * moved[i], to_l[i] += sign * l[i];
}

INLINE void NAMED(ldl_solve_changes)(const real *A, int32_t n, SCALAR *b) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < i; k++) b[i] -= A[i * n + k] * b[k];
  for (int32_t i = 0; i < n; i++) b[i] *= 1.0 / A[i * n + i];
  for (int32_t i = n - 1; i >= 0; i--)
    for (int32_t k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
}

/* ---- where changes stand ---- */

INLINE SCALAR *NAMED(load_change_of)(const view *v, int32_t u) { return (SCALAR *)CHANGE(v, load) + u; }
INLINE SCALAR *NAMED(acceleration_change_of)(const view *v, int32_t u) { return (SCALAR *)CHANGE(v, acceleration) + u; }
/* In the inward pass e = load + P.F of a column; for reactions then the loads of couplings. */
INLINE SCALAR *NAMED(column_change_of)(const view *v, int32_t u) { return (SCALAR *)CHANGE(v, column) + u; }
/* In the inward pass wrenches on the links; for reactions then those that later loops add. */
INLINE NAMED(twist_change) * NAMED(wrench_on)(const view *v, int32_t link) {
  return (NAMED(twist_change) *)CHANGE(v, wrench) + link;
}
/* Accelerations of the links, and the wrenches of their joints in the same place. */
INLINE NAMED(twist_change) * NAMED(motion_change_of)(const view *v, int32_t link) {
  return (NAMED(twist_change) *)CHANGE(v, motion) + link;
}
INLINE SCALAR *NAMED(cut_force_change_of)(const view *v, int32_t l) { return (SCALAR *)CHANGE(v, cut_force) + 3 * l; }
INLINE SCALAR *NAMED(coupling_change_of)(const view *v, int32_t i) { return (SCALAR *)CHANGE(v, coupling) + i; }

/* ---- inward ---- */

INLINE void NAMED(hand_on)(const view *v, int32_t u, SCALAR load, NAMED(twist_change) * F) {
  const column_sweep *s = &v->sweep[u];
  const SCALAR g = load * s->Di;
  *NAMED(column_change_of)(v, u) = load;
  for (int k = 0; k < 3; k++) F->a[k] -= s->Ua[k] * g, F->l[k] -= s->Ul[k] * g;
}

static void NAMED(respond_in_link)(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  const link_motion *motion = &v->motion[i];
  const int is_single = !has_stored_columns(link->type) && link->type != LW_FIXED;
  NAMED(twist_change) *F = NAMED(wrench_on)(v, i);
  SCALAR load = {0.0};
  if (is_single) {
    real e[3];
    axis_of(motion, e);
    load = *NAMED(load_change_of)(v, link->u) + NAMED(dot_by)(e, link->type == LW_REVOLUTE ? F->a : F->l);
  } else
    for (int32_t u = link->u + link->speeds - 1; u >= link->u; u--)
      NAMED(hand_on)(v, u, *NAMED(load_change_of)(v, u) + NAMED(along)(&v->column[u], F), F);
  NAMED(add_cross_by)(motion->r, F->l, F->a);
  if (is_single) NAMED(hand_on)(v, link->u, load, F); /* its U has been shifted */
  if (link->parent < 0) return;
  NAMED(twist_change) *to = NAMED(wrench_on)(v, link->parent);
  for (int k = 0; k < 3; k++) to->a[k] += F->a[k], to->l[k] += F->l[k];
}

/* y = T'z */
INLINE void NAMED(gather_changes)(const cluster_work *w, const SCALAR *z, SCALAR *y) {
  const int32_t n = w->ranks->independent, r = free_of(w);
  const SCALAR zero = {0.0};
  if (w->ranks->rank == 0) {
    for (int32_t j = 0; j < n; j++) y[j] = z[j];
    return;
  }
  for (int32_t j = 0; j < r; j++) y[j] = zero;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < r; j++) y[j] += w->T[i * width_of_T(w) + j] * z[i];
}

/* Leaves e of its directions in the places of its first columns. */
static void NAMED(respond_in_cluster)(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const int32_t r = free_of(&w), n = w.ranks->independent, width = w.ranks->width;
  const lw_column *column = column_of(v, c, 0);
  const SCALAR zero = {0.0};
  NAMED(twist_change) on_root = {{zero, zero, zero}, {zero, zero, zero}};
  SCALAR *z = (SCALAR *)w.solution, *y = (SCALAR *)w.spare;
  for (int32_t j = 0; j < n; j++) z[j] = zero;
  for (int32_t k = 0; k < w.n; k++) {
    const SCALAR load = *NAMED(load_change_of)(v, column[k].u);
    const real *X = w.X + k * width + FIRST_FREE;
    for (int32_t j = 0; j < n; j++) z[j] += X[j] * load;
  }
  for (int32_t i = w.cluster->first; i < w.cluster->first + w.cluster->count; i++) {
    if (!v->m->link[i].place.has_outboard) continue;
    const real *G = w.G + 6 * (i - w.cluster->first) * width + FIRST_FREE;
    const NAMED(twist_change) *F = NAMED(wrench_on)(v, i);
    for (int k = 0; k < 3; k++) {
      for (int32_t j = 0; j < n; j++) z[j] += G[k * width + j] * F->a[k] + G[(3 + k) * width + j] * F->l[k];
      on_root.a[k] += F->a[k], on_root.l[k] += F->l[k];
    }
    NAMED(add_cross_by)(point_motion_of(&w, i), F->l, on_root.a);
  }
  NAMED(gather_changes)(&w, z, y);
  for (int32_t j = 0; j < r; j++) *NAMED(column_change_of)(v, column[j].u) = y[j];
  if (w.cluster->root < 0) return;
  NAMED(ldl_solve_changes)(w.D, r, y);
  NAMED(twist_change) *to = NAMED(wrench_on)(v, w.cluster->root);
  for (int k = 0; k < 3; k++) {
    for (int32_t j = 0; j < r; j++)
      on_root.a[k] -= w.B[k * (r + 1) + j] * y[j], on_root.l[k] -= w.B[(3 + k) * (r + 1) + j] * y[j];
    to->a[k] += on_root.a[k], to->l[k] += on_root.l[k];
  }
}

/* ---- outward ---- */

/* The acceleration of a link by those of its parent, and of its joint so far. */
INLINE void NAMED(transport_change)(const view *v, int32_t i, NAMED(twist_change) * out) {
  const int32_t parent = v->m->link[i].parent;
  const SCALAR zero = {0.0};
  for (int k = 0; k < 3; k++) out->a[k] = out->l[k] = zero;
  if (parent < 0) return;
  const NAMED(twist_change) *from = NAMED(motion_change_of)(v, parent);
  const real *r = v->motion[i].r;
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3, last = (k + 2) % 3;
    out->a[k] = from->a[k];
    out->l[k] = from->l[k] + (from->a[next] * r[last] - from->a[last] * r[next]);
  }
}

INLINE void NAMED(add_columns)(const view *v, int32_t i, NAMED(twist_change) * out) {
  const lw_link *link = &v->m->link[i];
  for (int32_t c = 0; c < link->speeds; c++) {
    const SCALAR udot = *NAMED(acceleration_change_of)(v, link->u + c);
    if (has_stored_columns(link->type)) {
      NAMED(add_times)(v->column[link->u + c].a, udot, out->a);
      NAMED(add_times)(v->column[link->u + c].l, udot, out->l);
    } else {
      real e[3];
      axis_of(&v->motion[i], e);
      NAMED(add_times)(e, udot, link->type == LW_REVOLUTE ? out->a : out->l);
    }
  }
}

static void NAMED(respond_out_link)(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  NAMED(twist_change) *own = NAMED(motion_change_of)(v, i);
  NAMED(transport_change)(v, i, own);
  if (!has_stored_columns(link->type) && link->type != LW_FIXED) { /* its U is at the parent's point */
    const column_sweep *s = &v->sweep[link->u];
    SCALAR e = *NAMED(column_change_of)(v, link->u);
    if (link->parent >= 0) {
      const NAMED(twist_change) *p = NAMED(motion_change_of)(v, link->parent);
      e -= NAMED(dot_by)(s->Ul, p->l) + NAMED(dot_by)(s->Ua, p->a);
    }
    *NAMED(acceleration_change_of)(v, link->u) = e * s->Di;
    NAMED(add_columns)(v, i, own);
    return;
  }
  for (int32_t u = link->u; u < link->u + link->speeds; u++) {
    const column_sweep *s = &v->sweep[u];
    const SCALAR e = *NAMED(column_change_of)(v, u) - (NAMED(dot_by)(s->Ua, own->a) + NAMED(dot_by)(s->Ul, own->l));
    const SCALAR udot = *NAMED(acceleration_change_of)(v, u) = e * s->Di;
    NAMED(add_times)(v->column[u].a, udot, own->a);
    NAMED(add_times)(v->column[u].l, udot, own->l);
  }
}

static void NAMED(respond_out_cluster)(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const int32_t r = free_of(&w), n = w.ranks->independent, width = w.ranks->width;
  const lw_column *column = column_of(v, c, 0);
  const SCALAR zero = {0.0};
  SCALAR *y = (SCALAR *)w.solution, *z = (SCALAR *)w.spare;
  for (int32_t j = 0; j < r; j++) y[j] = *NAMED(column_change_of)(v, column[j].u);
  if (w.cluster->root >= 0) {
    const NAMED(twist_change) *root = NAMED(motion_change_of)(v, w.cluster->root);
    for (int32_t j = 0; j < r; j++)
      for (int i = 0; i < 3; i++) y[j] -= w.B[i * (r + 1) + j] * root->a[i] + w.B[(3 + i) * (r + 1) + j] * root->l[i];
  }
  NAMED(ldl_solve_changes)(w.D, r, y);
  for (int32_t i = 0; i < n; i++) {
    if (w.ranks->rank == 0) {
      z[i] = y[i];
      continue;
    }
    z[i] = zero;
    for (int32_t j = 0; j < r; j++) z[i] += w.T[i * width_of_T(&w) + j] * y[j];
  }
  for (int32_t k = 0; k < w.n; k++) {
    const real *X = w.X + k * width + FIRST_FREE;
    SCALAR udot = zero;
    for (int32_t j = 0; j < n; j++) udot += X[j] * z[j];
    *NAMED(acceleration_change_of)(v, column[k].u) = udot;
  }
  for (int32_t i = w.cluster->first; i < w.cluster->first + w.cluster->count; i++) {
    NAMED(transport_change)(v, i, NAMED(motion_change_of)(v, i));
    NAMED(add_columns)(v, i, NAMED(motion_change_of)(v, i));
  }
}

/* ---- reactions ---- */

/* wrench = M (acceleration) of each body. */
static void NAMED(find_body_wrench_changes)(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_inertia *own = &v->inertia[i];
    const real *J = own->J;
    NAMED(twist_change) *at = NAMED(motion_change_of)(v, i);
    const NAMED(twist_change) x = *at;
    at->a[0] = J[0] * x.a[0] + J[1] * x.a[1] + J[2] * x.a[2];
    at->a[1] = J[1] * x.a[0] + J[3] * x.a[1] + J[4] * x.a[2];
    at->a[2] = J[2] * x.a[0] + J[4] * x.a[1] + J[5] * x.a[2];
    NAMED(add_cross_by)(own->h, x.l, at->a);
    for (int k = 0; k < 3; k++) {
      const int next = (k + 1) % 3, last = (k + 2) % 3;
      at->l[k] = own->m * x.l[k] + (x.a[next] * own->h[last] - x.a[last] * own->h[next]);
    }
  }
}

/* Those of the outboard links are added. */
static void NAMED(propagate_wrench_changes)(const view *v) {
  for (int32_t i = v->m->size.bodies - 1; i >= 0; i--) {
    if (v->m->link[i].parent < 0) continue;
    const NAMED(twist_change) *f = NAMED(motion_change_of)(v, i);
    NAMED(twist_change) *to = NAMED(motion_change_of)(v, v->m->link[i].parent);
    NAMED(add_wrench_by)(v->motion[i].r, 1.0, f->a, f->l, to->a, to->l);
  }
}

/* The load of a column that neither its rotor nor the wrench on its link takes. */
INLINE SCALAR NAMED(unbalanced_by_motion)(const view *v, const lw_column *column) {
  const int32_t u = column->u;
  const SCALAR load = *NAMED(load_change_of)(v, u) - v->rotor[u] * *NAMED(acceleration_change_of)(v, u);
  if (column->link < 0) return load;
  twist P;
  column_of_link(v, column->link, u - v->m->link[column->link].u, &P);
  return load - NAMED(along)(&P, NAMED(motion_change_of)(v, column->link));
}

/* As unbalanced_load() of loops/reactions_kernel.h. */
INLINE SCALAR NAMED(unbalanced_change)(const view *v, int32_t c, const cluster_work *w, int32_t k) {
  const lw_column *column = column_of(v, c, k);
  SCALAR load = NAMED(unbalanced_by_motion)(v, column);
  if (w->ranks->rank) load += *NAMED(column_change_of)(v, column->u);
  return load;
}

/* mu with C'mu = the remaining load on each independent, of least norm. */
INLINE void NAMED(find_constraint_changes)(const view *v, int32_t c, const cluster_work *w) {
  const int32_t n = w->ranks->independent, width = w->ranks->width, rows = w->ranks->constraints;
  const pivoted_columns C = columns_of_constraints(w);
  const SCALAR zero = {0.0};
  SCALAR *rest = (SCALAR *)w->solution, *m = (SCALAR *)w->spare, *mu = (SCALAR *)w->mu;
  for (int32_t z = 0; z < n; z++) rest[z] = zero;
  for (int32_t k = 0; k < w->n; k++) {
    const SCALAR unbalanced = NAMED(unbalanced_change)(v, c, w, k);
    for (int32_t z = 0; z < n; z++) rest[z] += w->X[k * width + FIRST_FREE + z] * unbalanced;
  }
  for (int32_t j = 0; j < rows; j++) mu[j] = zero;
  for (int32_t p = 0; p < w->ranks->rank; p++) {
    const real *a = pivoted_column(&C, C.order[p]), per_size2 = 1.0 / C.pivot_size2[p];
    m[p] = rest[C.order[p]];
    for (int32_t s = 0; s < p; s++) m[p] -= C.f[s * (C.n + C.rhs_count) + C.order[p]] * m[s];
    for (int32_t j = 0; j < rows; j++) mu[j] += a[j] * (m[p] * per_size2);
  }
}

static void NAMED(apply_distance_change)(const view *v, const cluster_work *w, int32_t distance, SCALAR load) {
  const span s = find_span(v, w, distance);
  const SCALAR zero = {0.0}, none[3] = {zero, zero, zero};
  SCALAR force[3];
  for (int k = 0; k < 3; k++) force[k] = s.n[k] * load;
  for (int end = 0; end < 2; end++)
    for (int32_t i = v->m->distance[distance].end[end]; i != v->m->distance[distance].root; i = v->m->link[i].parent) {
      NAMED(twist_change) *on = NAMED(motion_change_of)(v, i);
      real d[3];
      for (int k = 0; k < 3; k++) d[k] = s.at[end][k] - point_motion_of(w, i)[k];
      NAMED(add_wrench_by)(d, end ? -1.0 : 1.0, none, force, on->a, on->l);
    }
}

INLINE void NAMED(apply_coupling_changes)(const view *v, int32_t c, const cluster_work *w) {
  const int32_t first = w->ranks->constraints - w->cluster->couplings;
  const SCALAR *mu = (const SCALAR *)w->mu;
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    const int32_t number = coupling_of(v, c, i);
    const lw_coupling *coupling = &v->m->coupling[number];
    const coupling_row row = row_of_coupling(v, c, number);
    const SCALAR load = -(row.per_size * row.stage) * mu[first + i];
    *NAMED(coupling_change_of)(v, number) = load;
    if (coupling->distance >= 0) NAMED(apply_distance_change)(v, w, coupling->distance, load);
    for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
      *NAMED(column_change_of)(v, v->m->term[t].u) += slope_of_term(v, t) * load;
  }
}

INLINE void NAMED(changes_from_constraint_frame)(const constraint_frame *rows, const real *mix, const real angular[9],
                                                 const real linear[9], SCALAR in[6], SCALAR *out_a, SCALAR *out_l) {
  SCALAR a[3], l[3];
  for (int32_t i = rows->mixed[0]; i < rows->mixed[1]; i++, mix += 2)
    in[MIXED_WITH] -= mix[1] * in[i], in[i] = mix[0] * in[i];
  const int32_t na = rows->angular, nl = rows->linear;
  for (int32_t i = 0; i < 3; i++) a[i] = in[i < na ? i : i + nl];
  for (int32_t i = 0; i < 3; i++) l[i] = in[i < nl ? i + na : i + 3];
  for (int i = 0; i < 3; i++) {
    out_a[i] = a[i], out_l[i] = l[i];
    if (!has_world_angles(rows)) out_a[i] = angular[i] * a[0] + angular[3 + i] * a[1] + angular[6 + i] * a[2];
    if (!has_world_axes(rows)) out_l[i] = linear[i] * l[0] + linear[3 + i] * l[1] + linear[6 + i] * l[2];
  }
}

/* As ear_wrench() of loops/reactions_kernel.h; `columns` of the loop's cut joint. */
INLINE void NAMED(find_ear_change)(const view *v, int32_t c, const cluster_work *w, const ear_work *x, int32_t number,
                                   int32_t columns, NAMED(twist_change) * lambda) {
  const constraint_frame *cut = constraint_frame_of(v->m->loop[x->ear->loop].type);
  const int32_t rows = 6 - columns, at = w->ear_constraint[number];
  const real per_length = 1.0 / length_of(v, c);
  const SCALAR zero = {0.0}, *mu = (const SCALAR *)w->mu;
  SCALAR in_rows[6];
  for (int32_t j = 0; j < rows; j++) in_rows[j] = at < 0 || w->ranks->rank == 0 ? zero : mu[at + j];
  for (int32_t j = 0; j < columns; j++) {
    const int32_t k = x->ear->column + cut->speed[j];
    in_rows[rows + j] = metric_of(v, column_of(v, c, k)) * NAMED(unbalanced_change)(v, c, w, k);
  }
  for (int32_t p = 0; p < w->ear_rank[number]; p++) {
    const int32_t k = x->ear->column + x->ear->cuts + x->order[p];
    SCALAR rest = metric_of(v, column_of(v, c, k)) * NAMED(unbalanced_change)(v, c, w, k);
    for (int32_t j = rows; j < 6; j++) rest -= x->a[4 * x->groups * j + x->order[p]] * in_rows[j];
    for (int32_t j = 0; j < rows; j++) in_rows[j] += x->W[6 * p + j] * rest;
  }
  NAMED(changes_from_constraint_frame)(cut, x->mix, x->angular, x->linear, in_rows, lambda->a, lambda->l);
  for (int j = 0; j < 3; j++) lambda->l[j] = per_length * lambda->l[j];
}

INLINE void NAMED(propagate_added_changes)(const view *v, const cluster_work *w, const lw_ear *ear) {
  for (int32_t j = ear->first + ear->links - 1; j >= ear->first; j--) {
    const int32_t i = v->m->ear_link[j], parent = v->m->link[i].parent;
    const NAMED(twist_change) *more = NAMED(wrench_on)(v, i);
    NAMED(twist_change) *own = NAMED(motion_change_of)(v, i);
    for (int k = 0; k < 3; k++) own->a[k] += more->a[k], own->l[k] += more->l[k];
    if (parent == w->cluster->root) continue;
    NAMED(twist_change) *below = NAMED(wrench_on)(v, parent);
    NAMED(add_wrench_by)(v->motion[i].r, 1.0, more->a, more->l, below->a, below->l);
  }
}

INLINE void NAMED(apply_change_to_branches)(const view *v, const cluster_work *w, const ear_work *x,
                                            const NAMED(twist_change) * lambda) {
  const lw_ear *ear = x->ear;
  const real *closure_point[2] = {x->on_parent, x->on_child};
  for (int32_t j = ear->first; j < ear->first + ear->links; j++) { /* of these the forces alone are read */
    NAMED(twist_change) *own = NAMED(motion_change_of)(v, v->m->ear_link[j]);
    const double sign = v->m->link[v->m->ear_link[j]].branch_sign;
    for (int k = 0; k < 3; k++) own->l[k] += sign * lambda->l[k];
  }
  for (int branch = 0; branch < 2; branch++) {
    const int32_t base = branch ? ear->child_base : ear->parent_base;
    if (base == w->cluster->root) continue;
    NAMED(twist_change) *below = NAMED(wrench_on)(v, base);
    real d[3];
    for (int k = 0; k < 3; k++) d[k] = closure_point[branch][k] - point_motion_of(w, base)[k];
    NAMED(add_wrench_by)(d, branch ? -1.0 : 1.0, lambda->a, lambda->l, below->a, below->l);
  }
}

/* A function of its own, so that others need no more of the workspace than they use. */
static void NAMED(load_by_constraint_changes)(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const SCALAR zero = {0.0};
  for (int32_t k = 0; k < w.n; k++) *NAMED(column_change_of)(v, column_of(v, c, k)->u) = zero;
  NAMED(find_constraint_changes)(v, c, &w);
  NAMED(apply_coupling_changes)(v, c, &w);
}

static void NAMED(distribute_cut_changes)(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const int several = w.cluster->ears > 1;
  const SCALAR zero = {0.0};
  if (several) memset(NAMED(wrench_on)(v, w.cluster->first), 0, sizeof(NAMED(twist_change)) * (size_t)w.links);
  if (w.ranks->rank) NAMED(load_by_constraint_changes)(v, c);
  else
    for (int32_t i = 0; i < w.cluster->couplings; i++) *NAMED(coupling_change_of)(v, coupling_of(v, c, i)) = zero;
  for (int32_t number = w.cluster->ears - 1; number >= 0; number--) {
    const ear_work x = work_of_ear(v, &w, w.cluster->first_ear + number);
    NAMED(twist_change) lambda;
    if (several) NAMED(propagate_added_changes)(v, &w, x.ear);
    if (x.ear->loop < 0) continue;
    const int32_t columns = v->m->loop[x.ear->loop].columns;
    if (columns == 1) NAMED(find_ear_change)(v, c, &w, &x, number, 1, &lambda);
    else NAMED(find_ear_change)(v, c, &w, &x, number, columns, &lambda);
    for (int k = 0; k < 3; k++) NAMED(cut_force_change_of)(v, x.ear->loop)[k] = lambda.l[k];
    NAMED(apply_change_to_branches)(v, &w, &x, &lambda);
  }
}

/* ---- all of it ---- */

/* Accelerations of the changed loads. */
static void NAMED(respond)(const view *v) {
  const int is_one_cluster = v->m->segments == 1 && v->m->segment->cluster >= 0; /* nothing is handed on */
  if (!is_one_cluster) memset(CHANGE(v, wrench), 0, sizeof(NAMED(twist_change)) * (size_t)v->m->size.bodies);
  for (int32_t s = v->m->segments - 1; s >= 0; s--) {
    const lw_segment *seg = &v->m->segment[s];
    if (seg->cluster >= 0) NAMED(respond_in_cluster)(v, seg->cluster);
    else
      for (int32_t i = seg->first + seg->count - 1; i >= seg->first; i--) NAMED(respond_in_link)(v, i);
  }
  for (int32_t s = 0; s < v->m->segments; s++) {
    const lw_segment *seg = &v->m->segment[s];
    if (seg->cluster >= 0) NAMED(respond_out_cluster)(v, seg->cluster);
    else
      for (int32_t i = seg->first; i < seg->first + seg->count; i++) NAMED(respond_out_link)(v, i);
  }
}

static void NAMED(distribute_changes)(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++) NAMED(distribute_cut_changes)(v, c);
}

/* And the forces of the joints. */
static void NAMED(respond_with_forces)(const view *v) {
  NAMED(respond)(v);
  NAMED(find_body_wrench_changes)(v);
  NAMED(propagate_wrench_changes)(v);
  NAMED(distribute_changes)(v);
}

/* The force of a joint on its child, and the load of the lock that holds a speed. */
INLINE const SCALAR *NAMED(force_change_of)(const view *v, const lw_joint *joint) {
  return joint->loop >= 0 ? NAMED(cut_force_change_of)(v, joint->loop) : NAMED(motion_change_of)(v, joint->link)->l;
}
