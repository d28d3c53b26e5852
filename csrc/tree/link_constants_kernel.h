/* Constants of links that depend on the parameters alone. Each body is re-expressed in its link frame: the child's joint frame of
 * its tree joint, so that an inboard joint's axis is z and its point the origin. A joint whose declared child is
 * nearer to the ground is taken backwards: the link frame is then the declared parent's, and where the joint has but
 * one axis both frames are turned half about x, which reverses the axis and leaves the coordinate as declared. */
#ifndef LW_TREE_LINK_CONSTANTS_KERNEL_H
#define LW_TREE_LINK_CONSTANTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/table_kernel.h"
#include "tree/idle_spin_kernel.h"
#include "tree/link_frames_kernel.h"
#include "math/tolerances.h"
#include <math.h>

/* Inertia about the link's point: J + m (c.c 1 - c c'). */
static void inertia_in_link(const view *v, const lw_link *link, link_constants *k) {
  const real m = FIELD(v, body_mass)[link->body], *com = FIELD(v, body_com) + 3 * link->body;
  real c[3];
  rotate(k->Rb, com, c);
  for (int i = 0; i < 3; i++) c[i] += k->pb[i];
  rotate_symmetric(k->Rb, FIELD(v, body_inertia) + 6 * link->body, k->J);
  const real cc = dot(c, c);
  int s = 0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++, s++) k->J[s] += m * ((i == j ? cc : 0.0) - c[i] * c[j]);
  for (int i = 0; i < 3; i++) k->h[i] = m * c[i];
  k->m = m;
}

static void centroid_in_link(const view *v, int32_t i) {
  const link_constants *k = &v->constants[i];
  const int32_t body = v->m->link[i].body;
  link_centroid *out = (link_centroid *)FIELD(v, link_centroid) + i;
  rotate_symmetric(k->Rb, FIELD(v, body_inertia) + 6 * body, out->J);
  rotate(k->Rb, FIELD(v, body_com) + 3 * body, out->c);
  for (int j = 0; j < 3; j++) out->c[j] += k->pb[j];
}

static void link_constants_of(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  const int turned = link->reversed && !has_stored_columns(link->type);
  link_constants *k = &v->constants[i];
  pose own, other;
  frame_in_body(v, link->joint, !link->reversed, turned, &own);
  frame_in_body(v, link->joint, link->reversed, turned, &other);
  transpose(own.R, k->Rb);
  rotate(k->Rb, own.p, k->pb);
  for (int j = 0; j < 3; j++) k->pb[j] = -k->pb[j];
  frame_in_link(v, link->parent, &other, k->R, k->p);
  inertia_in_link(v, link, k);
  if (lw_has_centroids(v->m)) centroid_in_link(v, i);
}

/* The second moments of mass tr(J)/2 1 - J of a rigid body are positive semidefinite: their principal minors are not
 * negative, but for rounding. That is the triangle inequality of the principal moments. */
static int is_inertia(const real J[6]) {
  const double half = 0.5 * (re(J[0]) + re(J[3]) + re(J[5])), tolerance = INERTIA_TOLERANCE;
  const double x = half - re(J[0]), y = half - re(J[3]), z = half - re(J[5]), xy = re(J[1]), xz = re(J[2]),
               yz = re(J[4]);
  const double determinant = x * (y * z - yz * yz) - xy * (xy * z + yz * xz) - xz * (xy * yz + y * xz);
  const double smallest_minor = fmin(x * y - xy * xy, fmin(x * z - xz * xz, y * z - yz * yz));
  return fmin(x, fmin(y, z)) >= -tolerance * half && smallest_minor >= -tolerance * half * half &&
         determinant >= -tolerance * half * half * half;
}

static void set_ground(const view *v) {
  link_motion *ground = (link_motion *)FIELD(v, ground);
  memset(ground, 0, sizeof *ground);
  ground->R[0] = ground->R[4] = ground->R[8] = 1.0;
  for (int i = 0; i < 3; i++) ground->av[i] = -FIELD(v, gravity)[i];
}

static int masses_are_uneven(const view *v) {
  double least = INFINITY, most = 0.0;
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const double mass = re(FIELD(v, body_mass)[i]);
    least = fmin(least, mass), most = fmax(most, mass);
  }
  return v->m->method != LW_DCA && least > 0.0 && most > UNEVEN_MASSES * least;
}

static int any_massless(const view *v) {
  int any = 0;
  for (int32_t i = 0; i < v->m->size.bodies; i++) any |= re(FIELD(v, body_mass)[i]) == 0.0;
  return any;
}
#endif
