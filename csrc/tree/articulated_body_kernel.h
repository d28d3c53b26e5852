/* Articulated-body recursion on tree links: world axes, each link about its joint point, biases are part of the
 * outward pass, so that the sweeps only see increments over them. For a column P with U = I P, D = P.U + J,
 * e = tau + P.F, J the reflected inertia:
 *   inward   I' = X'(I - U U'/D) X,  F' = X'(F - U e/D);  outward  udot = (e - U'.A_parent)/D
 * The shift X comes first and hides the division; U' = X'U is stored, so that the outward pass needs no shift. */
#ifndef LW_TREE_ARTICULATED_BODY_KERNEL_H
#define LW_TREE_ARTICULATED_BODY_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/table_kernel.h"

INLINE void gather_rotation(const articulated *I, const real e[3], real U[3], real W[3], real *D, real *f) {
  symmetric_times(I->A, e, U);
  rotate_back(I->B, e, W);
  *D = dot(e, U);
  *f = dot(e, I->Fa);
}

INLINE void gather_translation(const articulated *I, const real e[3], real U[3], real W[3], real *D, real *f) {
  rotate(I->B, e, U);
  symmetric_times(I->C, e, W);
  *D = dot(e, W);
  *f = dot(e, I->Fl);
}

/* I += own body */
INLINE void add_body(const link_inertia *own, articulated *I) {
  const real *h = own->h;
  for (int k = 0; k < 6; k++) I->A[k] += own->J[k];
  I->B[1] -= h[2], I->B[2] += h[1], I->B[3] += h[2], I->B[5] -= h[0], I->B[6] -= h[1], I->B[7] += h[0];
  I->C[0] += own->m, I->C[3] += own->m, I->C[5] += own->m;
  for (int k = 0; k < 3; k++) I->Fa[k] += own->Fa[k], I->Fl[k] += own->Fl[k];
}

/* I += articulated inertia of the outboard links */
INLINE void add_outboard_inertia(const view *v, int32_t i, const lw_sweep_place *place, articulated *I) {
  real *to = (real *)I;
  const real *from = (const real *)&v->outboard[i];
  if (place->has_outboard)
    for (int k = 0; k < LW_REALS(articulated); k++) to[k] += from[k];
}

INLINE void clear(articulated *I) {
  real *x = (real *)I;
  for (int k = 0; k < LW_REALS(articulated); k++) x[k] = 0.0;
}

/* I -= U U'/D, F -= U e/D with U = [U; W]: projection across the joint column. */
INLINE void articulate(const real U[3], const real W[3], real Di, real g, articulated *I) {
  real V[3], Y[3];
  for (int k = 0; k < 3; k++) V[k] = U[k] * Di, Y[k] = W[k] * Di;
  I->A[0] -= U[0] * V[0], I->A[1] -= U[0] * V[1], I->A[2] -= U[0] * V[2];
  I->A[3] -= U[1] * V[1], I->A[4] -= U[1] * V[2], I->A[5] -= U[2] * V[2];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) I->B[3 * a + b] -= U[a] * Y[b];
  I->C[0] -= W[0] * Y[0], I->C[1] -= W[0] * Y[1], I->C[2] -= W[0] * Y[2];
  I->C[3] -= W[1] * Y[1], I->C[4] -= W[1] * Y[2], I->C[5] -= W[2] * Y[2];
  for (int k = 0; k < 3; k++) I->Fa[k] -= U[k] * g, I->Fl[k] -= W[k] * g;
}

INLINE void accumulate_on_parent(articulated *parent, int first, const articulated *I) {
  real *to = (real *)parent;
  const real *from = (const real *)I;
  if (first)
    for (int k = 0; k < LW_REALS(articulated); k++) to[k] = from[k];
  else
    for (int k = 0; k < LW_REALS(articulated); k++) to[k] += from[k];
}

INLINE real dot_twist(const twist *a, const twist *b) { return dot(a->a, b->a) + dot(a->l, b->l); }

/* U = I P */
INLINE void inertia_times(const articulated *I, const twist *P, twist *U) {
  real s[3];
  symmetric_times(I->A, P->a, U->a);
  rotate(I->B, P->l, s);
  for (int i = 0; i < 3; i++) U->a[i] += s[i];
  symmetric_times(I->C, P->l, U->l);
  rotate_back(I->B, P->a, s);
  for (int i = 0; i < 3; i++) U->l[i] += s[i];
}

/* A joint of several speeds: the columns are projected one after the other, the last first, about the link's point. */
static void sweep_multi_dof_in(const view *v, const lw_link *link, articulated *I) {
  for (int32_t c = link->u + link->speeds - 1; c >= link->u; c--) {
    const twist *P = &v->column[c];
    column_sweep *s = &v->sweep[c];
    twist U;
    inertia_times(I, P, &U);
    const real Di = 1.0 / (dot_twist(P, &U) + v->rotor[c]), load = v->load[c] + dot(P->a, I->Fa) + dot(P->l, I->Fl);
    articulate(U.a, U.l, Di, load * Di, I);
    copy(3, U.a, s->Ua);
    copy(3, U.l, s->Ul);
    s->Di = Di, s->e = load;
  }
}

/* I: in, articulated inertia of the outboard link; out, that of this link at its parent. */
INLINE void sweep_in(const view *v, int32_t i, articulated *I) {
  const lw_link *link = &v->m->link[i];
  const link_motion *motion = &v->motion[i];
  column_sweep *s = &v->sweep[link->u];
  real e[3], U[3], W[3], D, f, r[3];
  add_body(&v->inertia[i], I);
  add_outboard_inertia(v, i, &link->place, I);
  copy(3, motion->r, r);
  if (has_stored_columns(link->type)) sweep_multi_dof_in(v, link, I);
  if (has_stored_columns(link->type) || link->type == LW_FIXED) {
    shift_inertia(r, I->A, I->B, I->C);
    add_cross(r, I->Fl, I->Fa);
    return;
  }
  axis_of(motion, e);
  if (link->type == LW_REVOLUTE) gather_rotation(I, e, U, W, &D, &f);
  else gather_translation(I, e, U, W, &D, &f);
  const real Di = 1.0 / (D + v->rotor[link->u]), load = v->load[link->u] + f, g = load * Di;
  shift_inertia(r, I->A, I->B, I->C);
  add_cross(r, I->Fl, I->Fa);
  add_cross(r, W, U);
  articulate(U, W, Di, g, I);
  copy(3, U, s->Ua);
  copy(3, W, s->Ul);
  s->Di = Di, s->e = load;
}

static void sweep_segment_in(const view *v, const lw_segment *seg) {
  articulated I;
  clear(&I);
  for (int32_t i = seg->first + seg->count - 1; i >= seg->first; i--) {
    const lw_link *link = &v->m->link[i];
    sweep_in(v, i, &I);
    if (link->place.next) continue;
    if (link->parent >= 0) accumulate_on_parent(&v->outboard[link->parent], link->place.first_on_parent, &I);
    clear(&I);
  }
}

/* The parent's increment at a point r from its own. */
INLINE void transport_twist(const view *v, int32_t parent, const real r[3], twist *out) {
  for (int k = 0; k < 3; k++) out->a[k] = out->l[k] = 0.0;
  if (parent < 0) return;
  const twist *p = &v->increment[parent];
  copy(3, p->a, out->a);
  copy(3, p->l, out->l);
  add_cross(p->a, r, out->l);
}

INLINE void add_column(const twist *P, real by, twist *out) {
  for (int k = 0; k < 3; k++) out->a[k] += P->a[k] * by, out->l[k] += P->l[k] * by;
}

/* Increment of a link's acceleration from its parent's and its own udot. */
INLINE void propagate_increment(const view *v, int32_t i, const real *udot, twist *out) {
  const lw_link *link = &v->m->link[i];
  const link_motion *motion = &v->motion[i];
  real e[3];
  transport_twist(v, link->parent, motion->r, out);
  if (!has_stored_columns(link->type) && link->type != LW_FIXED) {
    axis_of(motion, e);
    real *moved = link->type == LW_REVOLUTE ? out->a : out->l;
    for (int k = 0; k < 3; k++) moved[k] += e[k] * udot[link->u];
    return;
  }
  for (int32_t c = link->u; c < link->u + link->speeds; c++) add_column(&v->column[c], udot[c], out);
}

static void sweep_multi_dof_out(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  twist *a = &v->increment[i];
  transport_twist(v, link->parent, v->motion[i].r, a);
  for (int32_t c = link->u; c < link->u + link->speeds; c++) {
    const column_sweep *s = &v->sweep[c];
    v->acceleration[c] = (s->e - (dot(s->Ua, a->a) + dot(s->Ul, a->l))) * s->Di;
    add_column(&v->column[c], v->acceleration[c], a);
  }
}

INLINE void sweep_out(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  if (has_stored_columns(link->type)) {
    sweep_multi_dof_out(v, i);
    return;
  }
  if (link->type != LW_FIXED) {
    const column_sweep *s = &v->sweep[link->u];
    real e = s->e;
    if (link->parent >= 0) {
      const twist *p = &v->increment[link->parent];
      e -= dot(s->Ul, p->l) + dot(s->Ua, p->a);
    }
    v->acceleration[link->u] = e * s->Di;
  }
  propagate_increment(v, i, v->acceleration, &v->increment[i]);
}
#endif
