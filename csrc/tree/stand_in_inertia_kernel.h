/* The inertias that stand in for missing ones about idle spins (idle_spin_kernel.h), in the dynamics: E = J d d', or J 1 where
 * a body turns idly about all lines through a point. Torques of inertia and bias alone have them: energies, reactions,
 * mass matrices and loads for given accelerations do not. */
#ifndef LW_TREE_STAND_IN_INERTIA_KERNEL_H
#define LW_TREE_STAND_IN_INERTIA_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/idle_spin_kernel.h"
#include "math/tolerances.h"
#include <math.h>

INLINE int has_idle_spins(const view *v) { return re(*FIELD(v, idle_spins)) != 0.0; }

/* E a of a body, world axes: of the inertia that stands in. Returns 0 where none does. */
static int times_stand_in(const view *v, int32_t i, const real a[3], real out[3]) {
  const idle_spin *s = spin_of(v, i);
  if (re(s->inertia) == 0.0) return 0;
  if (spin_kind(s) == LINES_THROUGH_POINT) {
    for (int k = 0; k < 3; k++) out[k] = s->inertia * a[k];
    return 1;
  }
  real d[3];
  rotate(v->motion[i].R, s->d, d);
  const real along = s->inertia * dot(d, a);
  for (int k = 0; k < 3; k++) out[k] = along * d[k];
  return 1;
}

/* += sign E, in the axes of R, from the link frame. */
static void add_stand_in(const idle_spin *s, const real R[9], double sign, real J[6]) {
  real d[3];
  int k = 0;
  rotate(R, s->d, d);
  const int any = spin_kind(s) == LINES_THROUGH_POINT;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++, k++) J[k] += sign * s->inertia * (any ? (i == j ? 1.0 : 0.0) : d[i] * d[j]);
}

/* Puts them into M and F of the bodies, or takes them out. */
static void place_stand_ins(const view *v, int placed) {
  real *are_placed = FIELD(v, stand_ins_placed);
  if (!has_idle_spins(v) || re(*are_placed) == placed) return;
  *are_placed = placed;
  const double sign = placed ? 1.0 : -1.0;
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    real torque[3];
    if (!times_stand_in(v, i, v->motion[i].aw, torque)) continue;
    add_stand_in(spin_of(v, i), v->motion[i].R, sign, v->inertia[i].J);
    for (int k = 0; k < 3; k++) v->inertia[i].Fa[k] -= sign * torque[k];
  }
}

static double magnitude(const real a[3]) {
  return sqrt(re(a[0]) * re(a[0]) + re(a[1]) * re(a[1]) + re(a[2]) * re(a[2]));
}

/* After the accelerations: no load may act about a line without inertia. */
static lw_fault check_idle_spins(const view *v) {
  if (!has_idle_spins(v)) return (lw_fault){LW_FAULT_NONE, 0, 0.0};
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    const link_motion *motion = &v->motion[i];
    const idle_spin *s = spin_of(v, i);
    real torque[3], alpha[3];
    propagate_increment(v, i, v->acceleration, &v->increment[i]);
    for (int k = 0; k < 3; k++) alpha[k] = motion->aw[k] + v->increment[i].a[k];
    if (!times_stand_in(v, i, alpha, torque)) continue;
    double rate = magnitude(motion->aw) + magnitude(v->increment[i].a) + magnitude(motion->w) * magnitude(motion->w);
    for (int32_t c = link->u; c < link->u + link->speeds; c++) rate += fabs(re(v->acceleration[c]));
    const double load = magnitude(torque), others = re(s->inertia) * rate + magnitude(v->inertia[i].Fa);
    if (load > LOADED_SPIN * others) return (lw_fault){LW_FAULT_LOADED_SPIN, link->body, load};
  }
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}
#endif
