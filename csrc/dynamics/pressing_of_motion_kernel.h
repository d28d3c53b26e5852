/* Pressing forces of a motion that is given: the reactions of its accelerations and of the loads that drive it. These
 * loads follow from the friction and press in turn, so that both are repeated until they stay. */
#ifndef LW_PRESSING_OF_MOTION_KERNEL_H
#define LW_PRESSING_OF_MOTION_KERNEL_H
#include "dynamics/pressing_forces_kernel.h"
#include "loops/inverse_dynamics_kernel.h"

/* Accelerations of all speeds, cut ones too, by those of the tree. */
static void accelerate_by_motion(const view *v, const real *udot) {
  copy(v->m->size.nu, udot, v->acceleration);
  propagate_increments(v, v->acceleration);
  for (int32_t l = 0; l < v->m->size.loops; l++) {
    const lw_loop *loop = &v->m->loop[l];
    twist relative;
    cut_frames at;
    if (loop->cluster < 0 || !has_rotor(v, loop->u, loop->columns)) continue; /* the others do not count */
    cut_acceleration(v, l, 1, &at, &relative);
    for (int32_t c = 0; c < loop->columns; c++) {
      twist P;
      row_of_cut_speed(v, l, c, &P);
      v->acceleration[loop->u + c] = dot_twist(&P, &relative);
    }
  }
}

/* `driving`: loads of all speeds besides those of springs, dampers and forces. Returns by how much pressing forces change,
 * relative to the largest. Loads of friction follow by load_by_forces(); clusters solved as matrices are solved by loops
 * from there. */
static double press_by_motion(const view *v, const real *udot, const real *driving) {
  accelerate_by_motion(v, udot);
  solve_embedded_by_ears(v);
  load_by_forces(v);
  for (int32_t u = 0; u < v->m->size.nu + v->m->size.nu_cut; u++) v->load[u] += driving[u];
  find_joint_forces(v);
  return measure_all_pressing(v);
}

/* Where they do not stay. */
static lw_fault jams(const view *v) {
  EACH_PRESSED(v, k) return (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION) + k, 0.0};
  return no_fault;
}
#endif
