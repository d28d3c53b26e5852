/* Inverse dynamics, and products with the mass matrix: loads of the tree's joints for given accelerations. The sequence
 * over tree/inverse_dynamics_kernel.h and loops/inverse_dynamics_kernel.h. */
#ifndef LW_INVERSE_DYNAMICS_KERNEL_H
#define LW_INVERSE_DYNAMICS_KERNEL_H
#include "dynamics/pressing_of_motion_kernel.h"
#include "loops/driven_speeds_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/inverse_dynamics_kernel.h"
#include "multipliers/clusters_for_outputs_kernel.h"
#include "tree/stand_in_inertia_kernel.h"

static void mass_product(const lw_model *m, lw_block b, const void *udot, void *tau) {
  const view v = open_view(m, b);
  if (lw_has_multipliers(m)) compute_link_inertias(&v);
  place_stand_ins(&v, 0);
  loads_for(&v, (const real *)udot, 0, (real *)tau);
}

/* Just after the clusters are solved. Without `driven` speeds all of the tree have loads, of least norm. */
static void find_tree_loads_of_motion(const view *v, const int32_t *driven, const real *udot, real *tau) {
  place_stand_ins(v, 0);
  loads_for(v, udot, 1, tau);
  load_by_forces(v); /* the rotors of cut joints have placed these again */
  for (int32_t c = 0; c < v->m->size.nu; c++)
    tau[c] -= v->load[c] - driving_load(v, c); /* springs and dampers do their part */
  for (int32_t k = 0; k < v->m->clusters; k++)
    if (driven) load_driven_speeds(v, k, driven, tau);
    else least_loads(v, k, tau);
}

/* Nothing but tau drives. */
static void take_loads_alone(const view *v, const real *tau, real *driving) {
  for (int32_t u = 0; u < v->m->size.nu + v->m->size.nu_cut; u++)
    driving[u] = (u < v->m->size.nu ? tau[u] : 0.0) - driving_load(v, u);
}

/* Just after the clusters are solved. Pressing forces follow from loads and these from them, until they stay. */
static lw_fault find_loads_of_motion(const view *v, const int32_t *driven, const real *given, real *tau) {
  real *udot = v->acceleration;
  lw_fault fault = no_fault;
  clear_pressing(v);
  copy(v->m->size.nu, given, udot);
  if (driven && (fault = accelerate_by_driven_speeds(v, driven, udot)).kind) return fault;
  find_tree_loads_of_motion(v, driven, udot, tau);
  if (!v->m->pressed) return no_fault;
  for (int32_t turn = 0; turn < MOST_REPEATED; turn++) {
    take_loads_alone(v, tau, CHANGE(v, load));
    const double change = press_by_motion(v, udot, CHANGE(v, load));
    if ((fault = compute_loop_closures(v)).kind) return fault;
    find_tree_loads_of_motion(v, driven, udot, tau);
    if (change <= SAME_PRESSING) return no_fault;
  }
  return jams(v);
}

static lw_fault inverse_dynamics(const lw_model *m, lw_block b, const int32_t *driven, const void *udot, void *tau) {
  const view v = open_view(m, b);
  const lw_fault fault = solve_clusters_for_outputs(&v);
  return fault.kind ? fault : find_loads_of_motion(&v, driven, (const real *)udot, (real *)tau);
}
#endif
