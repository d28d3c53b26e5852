/* Inverse dynamics, and products with the mass matrix: loads of the tree's joints for given accelerations. The sequence
 * over tree/inverse_dynamics_kernel.h and loops/inverse_dynamics_kernel.h. */
#ifndef LW_INVERSE_DYNAMICS_KERNEL_H
#define LW_INVERSE_DYNAMICS_KERNEL_H
#include "loops/forces_on_speeds_kernel.h"
#include "loops/inverse_dynamics_kernel.h"
#include "multipliers/clusters_for_outputs_kernel.h"
#include "tree/stand_in_inertia_kernel.h"

static void mass_product(const lw_model *m, lw_block b, const void *udot, void *tau) {
  const view v = open_view(m, b);
  if (lw_has_multipliers(m)) compute_link_inertias(&v);
  place_stand_ins(&v, 0);
  loads_for(&v, udot, 0, tau);
}

static lw_fault inverse_dynamics(const lw_model *m, lw_block b, const void *udot, void *result) {
  const view v = open_view(m, b);
  const lw_fault fault = solve_clusters_for_outputs(&v);
  if (fault.kind) return fault;
  real *tau = result;
  place_stand_ins(&v, 0);
  loads_for(&v, udot, 1, tau);
  load_by_forces(&v); /* the rotors of cut joints have placed these again */
  for (int32_t c = 0; c < m->size.nu; c++)
    tau[c] -= v.load[c] - driving_load(&v, c); /* springs and dampers do their part */
  for (int32_t k = 0; k < m->clusters; k++) least_loads(&v, k, tau);
  return no_fault;
}
#endif
