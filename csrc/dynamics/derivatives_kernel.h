/* Derivatives of the states: of coordinates and speeds with the feedback that keeps loops closed, then those that elements
 * give by formulas. */
#ifndef LW_DERIVATIVES_KERNEL_H
#define LW_DERIVATIVES_KERNEL_H
#include "block/field_view_kernel.h"
#include "dynamics/forward_dynamics_kernel.h"
#include "dynamics/outputs_kernel.h"
#include "formula/evaluate_kernel.h"
#include "loops/drift_stabilisation_kernel.h"

/* Outputs that read these rates are reported again when all derivatives are known. */
static lw_fault find_element_rates(const view *v, lw_block b) {
  const lw_program *program = v->m->program + lw_first_of_states(v->m);
  const lw_fault fault = v->m->rates_read_outputs ? outputs(v->m, b) : no_fault;
  if (fault.kind) return fault;
  for (int32_t k = 0; k < v->m->size.formula_states; k++) {
    evaluate_program(program + k, v->x);
    FIELD(v, element_rate)[k] = result_of(program + k, v->x, 0);
    if (!isfinite(re(FIELD(v, element_rate)[k]))) return (lw_fault){LW_FAULT_ELEMENT_RATE, k, 0.0};
  }
  return no_fault;
}

static lw_fault derivatives(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  copy(m->size.nu, v.u, FIELD(&v, rate));
  copy(m->size.nu, v.acceleration, FIELD(&v, udot));
  if (has_feedback(&v)) {
    const lw_fault fault = solve_clusters_for_outputs(&v);
    if (fault.kind) return fault;
    for (int32_t c = 0; c < m->clusters; c++) feed_back(&v, c);
  }
  map_rates(&v);
  return m->size.formula_states ? find_element_rates(&v, b) : no_fault;
}
#endif
