/* From start guesses to states that close every loop and satisfy every coupling at the present time, cluster by
 * cluster. */
#ifndef LW_ASSEMBLY_ASSEMBLE_KERNEL_H
#define LW_ASSEMBLY_ASSEMBLE_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "joints/table_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "math/counted_size.h"
#include "loops/independent_constraints_kernel.h"
#include "assembly/consistency_kernel.h"
#include "assembly/position_kernel.h"
#include "assembly/step_by_loops_kernel.h"
#include "assembly/search_kernel.h"
#include "assembly/sparse_closure_kernel.h"

/* The loop or coupling of the cluster that is furthest from closed in the pose that was left, `gap` the loops' [m]. */
static lw_fault widest_of(assembly_problem *c, double gap) {
  const view *v = c->v;
  lw_fault widest = {LW_FAULT_OPEN_LOOP, 0, gap};
  double largest = -1.0;
  gap_of_ears(c);
  for (int32_t e = c->w.cluster->first_ear; e < c->w.cluster->first_ear + c->w.cluster->ears; e++) {
    const int32_t l = v->m->ear[e].loop;
    if (l < 0) continue;
    const double *phi = work_of_ear(v, &c->w, e).phi;
    const double size = dot6(phi, phi);
    if (size > largest) largest = size, widest.index = l;
  }
  for (int32_t i = 0; i < c->w.cluster->couplings; i++) {
    const int32_t k = coupling_of(v, c->c, i);
    const double residual = row_of_coupling(v, c->c, k).residual;
    if (!(residual * residual > largest)) continue;
    largest = residual * residual;
    widest = (lw_fault){LW_FAULT_COUPLING, k, FIELD(v, coupling_residual)[k]};
  }
  if (c->w.cluster->couplings == 0) return widest;
  if (check_couplings(v, c->c) == LW_FAULT_COUPLINGS_REDUNDANT) return (lw_fault){LW_FAULT_COUPLINGS_REDUNDANT, 0, 0.0};
  if (widest.kind == LW_FAULT_OPEN_LOOP) widest.kind = LW_FAULT_COUPLED_LOOP;
  int32_t enforced = 0;
  for (int32_t i = 0; i < c->w.cluster->couplings; i++) {
    const int32_t k = coupling_of(v, c->c, i), active = coupling_is_enforced(v, k) && !v->m->coupling[k].rates_only;
    FIELD(v, coupling_conflict)[k] = active;
    enforced += active;
  }
  if (widest.kind == LW_FAULT_COUPLED_LOOP && enforced == 0) widest.kind = LW_FAULT_OPEN_LOOP;
  return widest;
}

/* By the sparse matrix where it is narrow, else loop by loop; where that fails, by the other. Returns the widest gap that
 * remains [m]. */
static double close_cluster(assembly_problem *c, double tolerance) {
  sparse_closure s;
  const int opened = open_sparse(c->v, c->c, &c->w, &s), first = opened && is_narrow(&s);
  double gap = INFINITY;
  for (int i = 0; i < 2 && !(gap <= tolerance); i++) {
    const int sparse = i == 0 ? first : !first;
    if (sparse && !(opened && (first || c->w.rows <= LW_MATRIX_ROWS))) break;
    use_sparse(c, sparse ? &s : NULL);
    gap = close_from_guess(c, tolerance);
  }
  if (gap <= tolerance) {
    if (c->sparse) residual_of(c);
    close_speeds(c, gap / length_of(c->v, c->c));
  }
  use_sparse(c, NULL);
  if (opened) close_sparse(&s);
  return gap;
}

/* The tolerance is that of loops of about a metre. */
static lw_fault start_cluster(const view *v, int32_t k, double for_a_metre) {
  const double tolerance = for_a_metre * lw_counted_size(re(length_of(v, k)));
  assembly_problem c = {.v = v, .c = k, .w = work_of(v, k), .least = INFINITY};
  const double gap = close_cluster(&c, tolerance);
  if (!(gap <= tolerance)) return widest_of(&c, gap);
  const lw_fault_kind conflict = c.w.cluster->couplings ? check_couplings(v, k) : LW_FAULT_NONE;
  return (lw_fault){conflict, k, 0.0};
}

static lw_fault assemble(const lw_model *m, lw_block b, double tolerance) {
  const view v = open_view(m, b);
  copy(m->size.nq, FIELD(&v, q_start), v.q);
  for (int32_t i = 0; i < m->size.bodies; i++)
    if (joint_operations_of[m->link[i].type].normalize)
      joint_operations_of[m->link[i].type].normalize(v.q + m->link[i].q);
  copy(m->size.nu, FIELD(&v, u_start), v.u);
  copy(m->size.nq_cut, FIELD(&v, q_start) + m->size.nq, FIELD(&v, cut_reference));
  copy(m->size.formula_states, FIELD(&v, state_start), FIELD(&v, element_state));
  compute_kinematics(&v);
  for (int32_t s = 0; s < m->segments; s++) {
    if (m->segment[s].cluster < 0) continue;
    const lw_fault fault = start_cluster(&v, m->segment[s].cluster, tolerance);
    if (fault.kind) return fault;
  }
  copy(m->size.nq_cut, FIELD(&v, q_cut), FIELD(&v, cut_reference));
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}
#endif
