/* Outward pass: poses, velocities and the accelerations with all udot zero; each body's inertia and bias wrench
 * in world axes about its link's point. */
#ifndef LW_TREE_KINEMATICS_KERNEL_H
#define LW_TREE_KINEMATICS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "joints/joint_kernel.h"
#include "joints/fixed_kernel.h"
#include "joints/prismatic_kernel.h"
#include "joints/revolute_kernel.h"
#include "joints/universal_kernel.h"
#include "joints/table_kernel.h"
#include "tree/stand_in_inertia_kernel.h"

static void compute_multi_dof_motion(const view *v, const lw_link *link, const link_constants *k,
                                     const link_motion *parent, link_motion *child) {
  const joint_operations *kind = &joint_operations_of[link->type];
  const real *u = v->u + link->u;
  twist *P = v->column + link->u;
  const real *parameter = parameter_of(v, link->joint);
  multi_dof_position(kind, link->speeds, link->reversed, parameter, k->R, k->p, parent, v->q + link->q,
                     v->sincos + 2 * link->q, child, P);
  if (link->reversed)
    reversed_multi_dof_velocity(kind, link->speeds, v->q + link->q, parameter, k->R, k->p, parent, P, u, child);
  else multi_dof_velocity(kind, link->speeds, v->q + link->q, parameter, parent, P, u, child);
}

INLINE void compute_link_motion(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  const link_constants *k = &v->constants[i];
  const link_motion *parent = motion_of(v, link->parent);
  link_motion *child = &v->motion[i];
  if (link->type == LW_REVOLUTE) {
    revolute_position(k->R, k->p, parent, v->sincos + 2 * link->q, child);
    revolute_velocity(parent, v->u + link->u, child);
  } else if (link->type == LW_PRISMATIC) {
    prismatic_position(k->R, k->p, parent, v->q + link->q, child);
    prismatic_velocity(parent, v->u + link->u, child);
  } else if (link->type == LW_FIXED) {
    fixed_position(k->R, k->p, parent, child);
    fixed_velocity(parent, child);
  } else if (link->type == LW_UNIVERSAL && !link->reversed) {
    universal_position(k->R, k->p, parent, v->sincos + 2 * link->q, child, v->column + link->u);
    universal_velocity(parent, v->column + link->u, v->u + link->u, child);
  } else compute_multi_dof_motion(v, link, k, parent, child);
}

/* Column of speed `c` of a joint that moves a link or phantom, at its point. */
INLINE void column_along_joint(const view *v, int32_t type, const link_motion *motion, int32_t u, int32_t c, twist *P) {
  if (has_stored_columns(type)) {
    *P = v->column[u + c];
    return;
  }
  memset(P, 0, sizeof *P);
  axis_of(motion, type == LW_REVOLUTE ? P->a : P->l);
}

INLINE void column_of_link(const view *v, int32_t i, int32_t c, twist *P) {
  const lw_link *link = &v->m->link[i];
  column_along_joint(v, link->type, &v->motion[i], link->u, c, P);
}

/* Velocity of a link's point that its own joint adds to what its parent does, world axes. */
INLINE void joint_velocity(const view *v, int32_t i, real out[3]) {
  const lw_link *link = &v->m->link[i];
  for (int j = 0; j < 3; j++) out[j] = 0.0;
  if (link->type == LW_REVOLUTE) return;
  for (int32_t c = 0; c < link->speeds; c++) {
    twist P;
    column_of_link(v, i, c, &P);
    for (int j = 0; j < 3; j++) out[j] += P.l[j] * v->u[link->u + c];
  }
}

INLINE void compute_link_inertia(const link_constants *k, const link_motion *motion, link_inertia *out) {
  out->m = k->m;
  inertia_and_bias(motion->R, k->J, k->h, k->m, motion->w, motion->aw, motion->av, out->J, out->h, out->Fa, out->Fl);
}

/* M about each link's point and F. In double four links at once; where fewer are left the last stands for the others.
 * */
#if LW_ARITHMETIC != LW_COMPLEX
static void compute_link_inertias(const view *v) {
  const int32_t n = v->m->size.bodies;
  for (int32_t i = 0; i < n; i += 4) {
    const int32_t at[4] = {i, i + 1 < n ? i + 1 : n - 1, i + 2 < n ? i + 2 : n - 1, i + 3 < n ? i + 3 : n - 1};
    const link_constants *k[4];
    const link_motion *m[4];
    link_inertia *o[4];
    four R[9], J0[6], h0[3], mass, w[3], aw[3], av[3], J[6], h[3], Fa[3], Fl[3];
    for (int j = 0; j < 4; j++) k[j] = &v->constants[at[j]], m[j] = &v->motion[at[j]], o[j] = &v->inertia[at[j]];
    load4(9, m[0]->R, m[1]->R, m[2]->R, m[3]->R, R);
    load4(3, m[0]->w, m[1]->w, m[2]->w, m[3]->w, w);
    load4(3, m[0]->aw, m[1]->aw, m[2]->aw, m[3]->aw, aw);
    load4(3, m[0]->av, m[1]->av, m[2]->av, m[3]->av, av);
    load4(6, k[0]->J, k[1]->J, k[2]->J, k[3]->J, J0);
    load4(3, k[0]->h, k[1]->h, k[2]->h, k[3]->h, h0);
    load4(1, &k[0]->m, &k[1]->m, &k[2]->m, &k[3]->m, &mass);
    inertia_and_bias4(R, J0, h0, mass, w, aw, av, J, h, Fa, Fl);
    store4(6, J, o[0]->J, o[1]->J, o[2]->J, o[3]->J);
    store4(3, h, o[0]->h, o[1]->h, o[2]->h, o[3]->h);
    store4(1, &mass, &o[0]->m, &o[1]->m, &o[2]->m, &o[3]->m);
    store4(3, Fa, o[0]->Fa, o[1]->Fa, o[2]->Fa, o[3]->Fa);
    store4(3, Fl, o[0]->Fl, o[1]->Fl, o[2]->Fl, o[3]->Fl);
  }
  *FIELD(v, stand_ins_placed) = 0.0;
}
#else
static void compute_link_inertias(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) compute_link_inertia(&v->constants[i], &v->motion[i], &v->inertia[i]);
  *FIELD(v, stand_ins_placed) = 0.0;
}
#endif

/* A wrench at a point `d` from a link's joint point acts on the link. */
static void apply_wrench(const view *v, int32_t link, const real d[3], double sign, const twist *wrench) {
  if (link < 0) return;
  link_inertia *on = &v->inertia[link];
  real arm[3];
  for (int k = 0; k < 3; k++) arm[k] = d[k] - (v->reference ? v->reference[3 * link + k] : 0.0);
  add_wrench(arm, sign, wrench->a, wrench->l, on->Fa, on->Fl);
}

static void compute_kinematics(const view *v) {
  sincos_all(v->q, v->m->size.nq, v->sincos);
  for (int32_t i = 0; i < v->m->size.bodies; i++) compute_link_motion(v, i);
  compute_link_inertias(v);
  place_stand_ins(v, 1);
}

/* The driving load that acts: it saturates. */
INLINE real driving_load(const view *v, int32_t c) {
  const real given = FIELD(v, tau)[c], most = FIELD(v, max_load)[c];
  return select_less(given, -most, -most, select_less(most, given, most, given));
}

/* Driving load plus spring and damper. */
INLINE void joint_load(const view *v, int32_t c, real q, real u) {
  v->load[c] =
      driving_load(v, c) - FIELD(v, stiffness)[c] * (q - FIELD(v, free_coordinate)[c]) - FIELD(v, damping)[c] * u;
}

/* Moves a joint's coordinates by `step`, counted in its speeds. */
static void integrate_position(const view *v, const lw_link *link, const real *step) {
  const joint_operations *kind = &joint_operations_of[link->type];
  real *q = v->q + link->q, rate[7];
  if (!kind->qdot) {
    for (int32_t c = 0; c < link->speeds; c++) q[c] += step[c];
    return;
  }
  kind->normalize(q);
  kind->qdot(q, step, rate);
  for (int32_t c = 0; c < lw_joint_sizes[link->type].q; c++) q[c] += rate[c];
  kind->normalize(q);
}

static void integrate_joint_position(const lw_model *m, lw_block b, int32_t link, const void *step) {
  const view v = open_view(m, b);
  integrate_position(&v, &m->link[link], (const real *)step);
}

#if LW_ARITHMETIC == LW_DOUBLE
/* Of a joint whose child's frame is at `position` in its parent's, both canonical: the coordinates that bring it nearest,
 * q nearest to those given, and its columns there. */
static void joint_at_pose(const lw_model *m, lw_block b, int32_t joint, const double *rotation, const double *position,
                          double *q, void *columns) {
  const view v = open_view(m, b);
  const int32_t type = m->joint[joint].type, n = lw_joint_sizes[type].q;
  const joint_operations *kind = &joint_operations_of[type];
  const real *parameter = parameter_of(&v, joint);
  real near[7] = {0.0}, sc[14], R[9], t[3];
  copy(n, q, near);
  kind->inverse(rotation, position, near, parameter, q, sc);
  sincos_all(q, n, sc);
  identity_rotation(R);
  if (kind->pose) {
    kind->pose(q, sc, parameter, R, t);
    kind->columns(q, R, parameter, columns);
  } else if (n) column_along(R, 2, lw_is_translational(type), columns);
}
#endif
#endif
