/* Inverse dynamics of the tree: Newton-Euler outward, wrenches inward. Loads for given accelerations of the joints; without
 * velocities, gravity and applied forces they are a product with the mass matrix. */
#ifndef LW_TREE_INVERSE_DYNAMICS_KERNEL_H
#define LW_TREE_INVERSE_DYNAMICS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/kinematics_kernel.h"

/* The increments of all links by the accelerations of their joints. */
static void propagate_increments(const view *v, const real *udot) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) propagate_increment(v, i, udot, &v->increment[i]);
}

/* wrench = M (increment) - F, or M (increment) alone, of each body. */
static void compute_body_wrenches(const view *v, int with_bias) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_inertia *own = &v->inertia[i];
    const twist *a = &v->increment[i];
    twist *f = &v->wrench[i];
    symmetric_times(own->J, a->a, f->a);
    add_cross(own->h, a->l, f->a);
    for (int k = 0; k < 3; k++) f->l[k] = own->m * a->l[k];
    add_cross(a->a, own->h, f->l);
    if (!with_bias) continue;
    for (int k = 0; k < 3; k++) f->a[k] -= own->Fa[k], f->l[k] -= own->Fl[k];
  }
}

/* The wrenches of the outboard links are added. */
static void propagate_wrenches(const view *v) {
  for (int32_t i = v->m->size.bodies - 1; i >= 0; i--) {
    const int32_t parent = v->m->link[i].parent;
    if (parent < 0) continue;
    const twist *f = &v->wrench[i];
    twist *to = &v->wrench[parent];
    for (int k = 0; k < 3; k++) to->a[k] += f->a[k], to->l[k] += f->l[k];
    add_cross(v->motion[i].r, f->l, to->a);
  }
}

/* P.f of a tree column */
INLINE real along_column(const view *v, int32_t i, int32_t c, const twist *f) {
  twist P;
  column_of_link(v, i, c, &P);
  return dot_twist(&P, f);
}

INLINE int has_rotor(const view *v, int32_t u, int32_t speeds) {
  int found = 0;
  for (int32_t c = u; c < u + speeds; c++) found |= !is_zero(v->rotor[c]);
  return found;
}

/* The loads of the tree's joints, of which the wrenches are known. */
static void find_tree_loads(const view *v, const real *udot, real *tau) {
  for (int32_t i = 0; i < v->m->size.bodies; i++)
    for (int32_t c = 0, u = v->m->link[i].u; c < v->m->link[i].speeds; c++, u++)
      tau[u] = along_column(v, i, c, &v->wrench[i]) + v->rotor[u] * udot[u];
}
#endif
