/* Bodies by themselves, as divide and conquer takes them: velocities V = [w; v] of their centres of mass, world axes,
 * and for each a factor L of its compliance, L L' = diag(R I^-1 R', 1/m) (Mukherjee and Anderson 2007, (38)-(43)). */
#ifndef LW_DCA_BODIES_KERNEL_H
#define LW_DCA_BODIES_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/speed_metric_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/stand_in_inertia_kernel.h"
#include "math/tolerances.h"

typedef struct dca_work {
  const lw_dca_plan *plan;
#define ARRAY(name, scalars) real *name; /* see model/dca_workspace.h */
  LW_DCA_WORKSPACE(ARRAY)
#undef ARRAY
  int32_t *rows, *redundant; /* rows of each constraint; of each row, where that has been found */
  int32_t *subassembly_integers;
} dca_work;

INLINE dca_work dca_work_of(const view *v) {
  const lw_dca_plan *p = &v->m->dca;
  const lw_sizes *s = &v->m->size;
  dca_work w = {.plan = p, .rows = v->dca->integers};
  real *next = (real *)v->dca->reals;
#define ARRAY(name, scalars) w.name = next, next += scalars;
  LW_DCA_WORKSPACE(ARRAY)
#undef ARRAY
  w.redundant = w.rows + p->constraints;
  w.subassembly_integers = w.redundant + p->rows;
  return w;
}

/* From a link's point to its centre of mass, which a massless body has as given. */
INLINE void arm_of_com(const view *v, int32_t link, real c[3]) {
  const link_constants *k = &v->constants[link];
  if (is_zero(k->m)) {
    real in_link[3];
    rotate(k->Rb, FIELD(v, body_com) + 3 * v->m->link[link].body, in_link);
    for (int j = 0; j < 3; j++) in_link[j] += k->pb[j];
    rotate(v->motion[link].R, in_link, c);
    return;
  }
  rotate(v->motion[link].R, k->h, c);
  for (int j = 0; j < 3; j++) c[j] /= k->m;
}

static const int pair_at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}; /* in six numbers of a symmetric matrix */

/* With P I P' = U D U', U unit lower triangular, and the largest pivots first: P' U^-T D^-1/2. A direction without
 * inertia, that of a thin rod, is given as much as rounding gives it. */
static void factor_inverse(const real I[6], real least, real F[9]) {
  const int32_t diagonal[3] = {0, 3, 5};
  int32_t a = 0;
  for (int32_t k = 1; k < 3; k++)
    if (re(I[diagonal[k]]) > re(I[diagonal[a]])) a = k;
  int32_t b = (a + 1) % 3, c = (a + 2) % 3;
  const real d0 = select_less(I[diagonal[a]], least, least, I[diagonal[a]]);
  real l1 = I[pair_at[b][a]] / d0, l2 = I[pair_at[c][a]] / d0;
  real left = I[diagonal[b]] - l1 * I[pair_at[b][a]], last = I[diagonal[c]] - l2 * I[pair_at[c][a]];
  if (re(last) > re(left)) {
    const real l = l1, d = left;
    const int32_t k = b;
    b = c, c = k, l1 = l2, l2 = l, left = last, last = d;
  }
  const real d1 = select_less(left, least, least, left), l3 = (I[pair_at[c][b]] - l2 * I[pair_at[b][a]]) / d1;
  last -= l3 * l3 * d1;
  const real d2 = select_less(last, least, least, last);
  const real s0 = 1.0 / root(d0), s1 = 1.0 / root(d1), s2 = 1.0 / root(d2);
  F[3 * a] = s0, F[3 * a + 1] = -l1 * s1, F[3 * a + 2] = (l1 * l3 - l2) * s2;
  F[3 * b] = 0.0, F[3 * b + 1] = s1, F[3 * b + 2] = -l3 * s2;
  F[3 * c] = 0.0, F[3 * c + 1] = 0.0, F[3 * c + 2] = s2;
}

static void factor_compliance(const view *v, const dca_work *w, int32_t link) {
  const link_constants *k = &v->constants[link];
  real F[9], J[6], in_link[9], in_world[9], *L = w->factor + 36 * link;
  const real about_joint = k->J[0] + k->J[3] + k->J[5];
  const real inertia = select_less(about_joint, NO_INERTIA, k->m, about_joint);
  w->length2[link] = inertia / k->m, w->unit[link] = unit_of_link(v, link);
  copy(6, FIELD(v, body_inertia) + 6 * v->m->link[link].body, J);
  if (re(spin_of(v, link)->inertia) != 0.0) {
    real to_body[9];
    transpose(k->Rb, to_body);
    add_stand_in(spin_of(v, link), to_body, 1.0, J);
  }
  factor_inverse(J, MIN_INERTIA * inertia, F);
  multiply(k->Rb, F, in_link);
  multiply(v->motion[link].R, in_link, in_world);
  for (int j = 0; j < 36; j++) L[j] = 0.0;
  for (int i = 0; i < 3; i++) {
    copy(3, in_world + 3 * i, L + 6 * i);
    L[6 * (3 + i) + 3 + i] = 1.0 / root(k->m);
  }
}

/* L' f */
static void apply_transposed_factor(const real *L, const real f[6], real z[6]) {
  for (int k = 0; k < 6; k++) {
    z[k] = 0.0;
    for (int j = 0; j < 6; j++) z[k] += L[6 * j + k] * f[j];
  }
}

/* Fragments of a body move as it does, each with its share of the inertia and of the loads. */
static void split_bodies(const view *v, const dca_work *w) {
  for (int32_t i = v->m->size.bodies; i < w->plan->bodies; i++) {
    const int32_t link = w->plan->fragment[i].link;
    const double more = sqrt(w->plan->fragment[i].fragments);
    for (int k = 0; k < 6; k++) w->by_load[6 * i + k] = w->by_load[6 * link + k] / more;
    copy(6, w->before + 6 * link, w->before + 6 * i);
    for (int k = 0; k < 36; k++) w->factor[36 * i + k] = more * w->factor[36 * link + k];
    w->length2[i] = w->length2[link], w->unit[i] = w->unit[link];
  }
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const double more = sqrt(w->plan->fragment[i].fragments);
    for (int k = 0; more > 1.0 && k < 36; k++) w->factor[36 * i + k] *= more;
    for (int k = 0; more > 1.0 && k < 6; k++) w->by_load[6 * i + k] /= more;
  }
  for (int32_t k = 0; k < 6 * w->plan->bodies; k++) w->unloaded[k] = 0.0;
}

/* ---- velocities ---- */

/* Of a point at `arm` from a centre of mass. */
INLINE void velocity_at(const real V[6], const real arm[3], real out[3]) {
  copy(3, V + 3, out);
  add_cross(V, arm, out);
}
#endif
