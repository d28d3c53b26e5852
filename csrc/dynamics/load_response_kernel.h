/* The response of closed loops to further loads: accelerations are affine in the loads of the joints, and the reduction
 * of loops/reduced_dynamics_kernel.h and tree/articulated_body_kernel.h, once done, gives their change by changed loads
 * in one sweep inward, of loads alone, and one outward. What depends on positions, speeds and masses stays. Reactions
 * follow as those of loops/reactions_kernel.h, without biases. */
#ifndef LW_LOAD_RESPONSE_KERNEL_H
#define LW_LOAD_RESPONSE_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reactions_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/workspace_kernel.h"
#include "math/ldl_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/kinematics_kernel.h"

/* A view of the changes: their loads and accelerations have fields of their own. */
static view view_of_changes(const view *v) {
  view d = *v;
  d.load = FIELD(v, load_change), d.acceleration = FIELD(v, acceleration_change);
  return d;
}

static void respond_in_cluster(const view *d, int32_t c) {
  const cluster_work w = work_of(d, c);
  const int32_t r = free_of(&w), n = w.ranks->independent, width = w.ranks->width;
  const lw_column *column = column_of(d, c, 0);
  twist on_root = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  real *z = w.solution, *y = z + n;
  for (int32_t j = 0; j < n; j++) z[j] = 0.0;
  for (int32_t k = 0; k < w.n; k++) {
    const real load = d->load[column[k].u];
    if (!is_zero(load)) add_row(n, load, w.X + k * width + FIRST_FREE, z);
  }
  for (int32_t i = w.cluster->first; i < w.cluster->first + w.cluster->count; i++) {
    if (!d->m->link[i].place.has_outboard) continue;
    const real *G = w.G + 6 * (i - w.cluster->first) * width + FIRST_FREE;
    const twist *F = wrench_change_of(d, i);
    for (int k = 0; k < 3; k++) {
      for (int32_t j = 0; j < n; j++) z[j] += G[k * width + j] * F->a[k] + G[(3 + k) * width + j] * F->l[k];
      on_root.a[k] += F->a[k], on_root.l[k] += F->l[k];
    }
    add_cross(point_motion_of(&w, i), F->l, on_root.a);
  }
  gather(&w, z, w.e);
  if (w.cluster->root < 0) return;
  copy(r, w.e, y);
  ldl_solve(w.D, r, y);
  twist *to = wrench_change_of(d, w.cluster->root);
  for (int k = 0; k < 3; k++) {
    for (int32_t j = 0; j < r; j++)
      on_root.a[k] -= w.B[k * (r + 1) + j] * y[j], on_root.l[k] -= w.B[(3 + k) * (r + 1) + j] * y[j];
    to->a[k] += on_root.a[k], to->l[k] += on_root.l[k];
  }
}

/* Accelerations of a change of the loads. */
static void respond(const view *d) {
  if (d->m->size.bodies) memset(FIELD(d, wrench_change), 0, sizeof(twist) * (size_t)d->m->size.bodies);
  for (int32_t s = d->m->segments - 1; s >= 0; s--) {
    const lw_segment *seg = &d->m->segment[s];
    if (seg->cluster >= 0) respond_in_cluster(d, seg->cluster);
    else
      for (int32_t i = seg->first + seg->count - 1; i >= seg->first; i--) respond_in_link(d, i);
  }
  for (int32_t s = 0; s < d->m->segments; s++) {
    const lw_segment *seg = &d->m->segment[s];
    if (seg->cluster >= 0) accelerate_cluster(d, seg->cluster, 0);
    else
      for (int32_t i = seg->first; i < seg->first + seg->count; i++) sweep_out(d, i);
  }
}

/* And its reactions. */
static void respond_with_reactions(const view *d) {
  respond(d);
  propagate_increments(d, d->acceleration);
  compute_body_wrenches(d, 0);
  propagate_wrenches(d);
  for (int32_t c = 0; c < d->m->clusters; c++) distribute_cut_wrenches(d, c, 0);
}
#endif
