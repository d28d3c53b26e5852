/* Inverse dynamics of closed chains: loads of the tree's joints for given accelerations. The tree's own are those of
 * tree/inverse_dynamics_kernel.h; rotors of cut joints add theirs, and of all loads that give the same motion of a loop
 * the least are taken. */
#ifndef LW_LOOPS_INVERSE_DYNAMICS_KERNEL_H
#define LW_LOOPS_INVERSE_DYNAMICS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/drift_stabilisation_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/inverse_dynamics_kernel.h"
#include "tree/stand_in_inertia_kernel.h"

/* Relative acceleration of the links of a cut joint, child minus parent, after propagate_increments(). */
static void cut_acceleration(const view *v, int32_t l, int with_bias, cut_frames *at, twist *relative) {
  const lw_loop *loop = &v->m->loop[l];
  const cluster_work w = work_of(v, loop->cluster);
  twist parent, bias = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  align_cut_joint(v, &w, l, NULL, at);
  if (with_bias) find_cut_bias(v, &w, l, at, &bias);
  transport_twist(v, loop->child, at->child.d, relative);
  transport_twist(v, loop->parent, phantom_of(v, l)->r, &parent);
  for (int k = 0; k < 3; k++) relative->a[k] += bias.a[k] - parent.a[k], relative->l[k] += bias.l[k] - parent.l[k];
}

/* The reflected inertia of a cut joint acts on both of its links, by the acceleration of the child relative to the
 * parent. */
static void add_rotor_of_cut_joint(const view *v, int32_t l, int with_bias) {
  const lw_loop *loop = &v->m->loop[l];
  twist relative, sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  cut_frames at;
  cut_acceleration(v, l, with_bias, &at, &relative);
  const real *arm[2] = {phantom_of(v, l)->r, at.child.d};
  for (int32_t c = 0; c < loop->columns; c++) {
    twist P;
    row_of_cut_speed(v, l, c, &P);
    add_column(&P, v->rotor[loop->u + c] * dot_twist(&P, &relative), &sum);
  }
  for (int end = 0; end < 2; end++) {
    const int32_t link = end ? loop->child : loop->parent;
    if (link >= 0) add_wrench(arm[end], sign_at_end(end), sum.a, sum.l, v->wrench[link].a, v->wrench[link].l);
  }
}

/* Tree loads for given udot. Loops accept any load with the same N'tau; the least in the metric is N (N'N)^-1 N'tau.
 * */
static void loads_for(const view *v, const real *udot, int with_bias, real *tau) {
  propagate_increments(v, udot);
  compute_body_wrenches(v, with_bias);
  for (int32_t l = 0; l < v->m->size.loops; l++)
    if (v->m->loop[l].cluster >= 0 && has_rotor(v, v->m->loop[l].u, v->m->loop[l].columns))
      add_rotor_of_cut_joint(v, l, with_bias);
  propagate_wrenches(v);
  find_tree_loads(v, udot, tau);
}

static void least_loads(const view *v, int32_t c, real *tau) {
  const cluster_work w = work_of(v, c);
  const int32_t n = w.ranks->independent, width = w.ranks->width;
  const lw_column *column = column_of(v, c, 0);
  real *z = w.solution, *y = w.solution + n; /* project() uses these before */
  project(v, c, &w, z, y);
  for (int32_t i = 0; i < n; i++) z[i] = 0.0;
  for (int32_t k = 0; k < w.n; k++) {
    const int32_t u = column[k].u;
    const real load = column[k].link < 0 ? -(v->load[u] - driving_load(v, u)) : tau[u];
    for (int32_t i = 0; i < n; i++) z[i] += w.X[k * width + FIRST_FREE + i] * load;
  }
  gather(&w, z, y);
  ldl_solve(w.Q, free_of(&w), y);
  extend(&w, y, -1, z);
  for (int32_t k = 0; k < w.n; k++) {
    if (column[k].link < 0) continue;
    const real f = metric_of(v, &column[k]);
    real sum = 0.0;
    for (int32_t i = 0; i < n; i++) sum += w.X[k * width + FIRST_FREE + i] * z[i];
    tau[column[k].u] = sum / (f * f);
  }
}
#endif
