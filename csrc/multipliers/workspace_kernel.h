/* The working storage of the multipliers, and the reference point (Kang and Yoon 2003): spatial quantities of a body
 * are taken about its joint point, its centre of mass, or the point of it that passes the world's origin. `about` is
 * one of the lw_method codes and constant where these functions are used, so that each reference does its own work
 * only:
 *   joint     columns [e; 0], shifts by r
 *   centroid  inertia of a body in two blocks, columns [e; e x arm], shifts between centroids
 *   origin    no shifts; inertia and columns with the arm from the origin
 * The arm leads from the joint point to the reference point. */
#ifndef LW_MULTIPLIERS_WORKSPACE_KERNEL_H
#define LW_MULTIPLIERS_WORKSPACE_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "model/multiplier_workspace.h"
#include "tree/kinematics_kernel.h"
#include <assert.h>

/* Of a cut joint: from the joint points of its parent and its child to the closing point, and the acceleration of the
 * child relative to the parent there with all udot zero. */
typedef struct loop_closure {
  real arm[2][3];
  twist bias;
} loop_closure;
static_assert(sizeof(loop_closure) == 12 * sizeof(real), "as in model/multiplier_workspace.h");

typedef struct multiplier_work {
  const lw_multipliers *plan;
  int32_t rows, stride, *order, *rank;               /* order: rows in pivoting order */
#define ARRAY(element, name, scalars) element *name; /* see model/multiplier_workspace.h */
  LW_MULTIPLIER_WORKSPACE(ARRAY)
#undef ARRAY
} multiplier_work;

INLINE multiplier_work multiplier_work_of(const view *v) {
  const lw_multipliers *p = &v->m->multipliers;
  const lw_sizes *s = &v->m->size;
  multiplier_work w = {.plan = p, .rows = p->rows, .stride = p->stride};
  real *next = v->work + v->m->change.end;
  w.order = v->integers, w.rank = w.order + p->rows;
#define ARRAY(element, name, scalars) w.name = (element *)next, next += scalars;
  LW_MULTIPLIER_WORKSPACE(ARRAY)
#undef ARRAY
  return w;
}

/* ---- the reference point ---- */

/* From a link's reference point to the point at `d` from its joint point. */
INLINE void from_reference(const multiplier_work *w, int32_t link, int about, const real d[3], real s[3]) {
  copy(3, d, s);
  if (about == LW_MULTIPLIERS_JOINT || link < 0) return;
  for (int k = 0; k < 3; k++) s[k] -= w->arm[3 * link + k];
}

/* From the parent's reference point to the link's. */
INLINE void shift_of(const view *v, const multiplier_work *w, int32_t i, int about, real r[3]) {
  from_reference(w, v->m->link[i].parent, about, v->motion[i].r, r);
  if (about != LW_MULTIPLIERS_CENTROID) return;
  for (int k = 0; k < 3; k++) r[k] += w->arm[3 * i + k];
}

/* A link's column at its reference point. */
INLINE void column_about(const view *v, const multiplier_work *w, int32_t i, int32_t c, int about, twist *P) {
  column_of_link(v, i, c, P);
  if (about != LW_MULTIPLIERS_JOINT) add_cross(P->a, w->arm + 3 * i, P->l);
}

/* ---- bodies ---- */

INLINE const link_centroid *centroid_of(const view *v, int32_t i) {
  return (const link_centroid *)FIELD(v, link_centroid) + i;
}

/* From the joint point to the reference point. */
INLINE void find_arm(const view *v, const multiplier_work *w, int32_t i, int about) {
  const int32_t parent = v->m->link[i].parent;
  real *arm = w->arm + 3 * i;
  if (about == LW_MULTIPLIERS_CENTROID) rotate(v->motion[i].R, centroid_of(v, i)->c, arm);
  if (about == LW_MULTIPLIERS_ORIGIN)
    for (int k = 0; k < 3; k++) arm[k] = (parent < 0 ? 0.0 : w->arm[3 * parent + k]) - v->motion[i].r[k];
}

#if LW_ARITHMETIC != LW_COMPLEX
/* Four links at once, as compute_link_inertias() does. */
INLINE void compute_four_link_inertias(const view *v, const multiplier_work *w, const int32_t at[4], int about) {
  const link_centroid *k[4];
  const link_motion *m[4];
  link_inertia *o[4];
  four R[9], J0[6], mass, c[3], omega[3], aw[3], av[3], J[6], h[3], Fa[3], Fl[3];
  for (int j = 0; j < 4; j++) k[j] = centroid_of(v, at[j]), m[j] = &v->motion[at[j]], o[j] = &v->inertia[at[j]];
  load4(9, m[0]->R, m[1]->R, m[2]->R, m[3]->R, R);
  load4(3, m[0]->w, m[1]->w, m[2]->w, m[3]->w, omega);
  load4(3, m[0]->aw, m[1]->aw, m[2]->aw, m[3]->aw, aw);
  load4(3, m[0]->av, m[1]->av, m[2]->av, m[3]->av, av);
  load4(6, k[0]->J, k[1]->J, k[2]->J, k[3]->J, J0);
  mass = (four){v->constants[at[0]].m, v->constants[at[1]].m, v->constants[at[2]].m, v->constants[at[3]].m};
  if (about == LW_MULTIPLIERS_CENTROID)
    load4(3, w->arm + 3 * at[0], w->arm + 3 * at[1], w->arm + 3 * at[2], w->arm + 3 * at[3], c);
  else {
    load4(3, k[0]->c, k[1]->c, k[2]->c, k[3]->c, h);
    rotate4(R, h, c);
  }
  inertia_and_bias_at_centroid4(R, J0, mass, c, omega, aw, av, J, Fa, Fl);
  if (about == LW_MULTIPLIERS_ORIGIN) {
    load4(3, w->arm + 3 * at[0], w->arm + 3 * at[1], w->arm + 3 * at[2], w->arm + 3 * at[3], h);
    for (int j = 0; j < 3; j++) c[j] -= h[j];
    shift_inertia_and_bias4(c, mass, J, h, Fa, Fl);
    store4(3, h, o[0]->h, o[1]->h, o[2]->h, o[3]->h);
  }
  store4(6, J, o[0]->J, o[1]->J, o[2]->J, o[3]->J);
  store4(1, &mass, &o[0]->m, &o[1]->m, &o[2]->m, &o[3]->m);
  store4(3, Fa, o[0]->Fa, o[1]->Fa, o[2]->Fa, o[3]->Fa);
  store4(3, Fl, o[0]->Fl, o[1]->Fl, o[2]->Fl, o[3]->Fl);
}

/* Inertia and wrench of all bodies about their reference points; h is zero about centroids and not stored. */
INLINE void compute_inertias_about(const view *v, const multiplier_work *w, int about) {
  const int32_t n = v->m->size.bodies;
  if (about == LW_MULTIPLIERS_JOINT) compute_link_inertias(v);
  else
    for (int32_t i = 0; i < n; i += 4) {
      const int32_t at[4] = {i, i + 1 < n ? i + 1 : n - 1, i + 2 < n ? i + 2 : n - 1, i + 3 < n ? i + 3 : n - 1};
      compute_four_link_inertias(v, w, at, about);
    }
}
#else
INLINE void compute_inertias_about(const view *v, const multiplier_work *w, int about) {
  if (about == LW_MULTIPLIERS_JOINT) {
    compute_link_inertias(v);
    return;
  }
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_centroid *k = centroid_of(v, i);
    const link_motion *m = &v->motion[i];
    link_inertia *o = &v->inertia[i];
    real c[3];
    o->m = v->constants[i].m;
    rotate(m->R, k->c, c);
    inertia_and_bias_at_centroid(m->R, k->J, o->m, c, m->w, m->aw, m->av, o->J, o->Fa, o->Fl);
    if (about == LW_MULTIPLIERS_CENTROID) continue;
    for (int j = 0; j < 3; j++) c[j] -= w->arm[3 * i + j];
    shift_inertia_and_bias(c, o->m, o->J, o->h, o->Fa, o->Fl);
  }
}
#endif
#endif
