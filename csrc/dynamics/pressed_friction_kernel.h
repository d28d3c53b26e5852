/* Frictions by the pressing forces of their joints: loads f_k = a_k + b_k N_k (forces/friction_kernel.h), where N_k
 * (dynamics/pressing_forces_kernel.h) is affine in all of them within its norm,
 *   f_k = b_k |n_k + sum R_kj f_j|.
 *
 * Accelerations without these loads are known, and of changed loads dynamics/load_response_kernel.h gives the responses.
 * Where rows of |R b| reach one there may be no solution, or two (Painleve 1895; Leine, Brogliato and Nijmeijer: European
 * Journal of Mechanics A 21 (2002) 869-887): both are faults. Nothing depends on an earlier solution. */
#ifndef LW_PRESSED_FRICTION_KERNEL_H
#define LW_PRESSED_FRICTION_KERNEL_H
#include "dynamics/few_pressed_frictions_kernel.h"
#include "dynamics/many_pressed_frictions_kernel.h"

/* Just after a reduction without pressed loads: adds them, and their accelerations. */
static lw_fault add_pressed_frictions(const view *v) {
  int32_t pressed = v->m->pressed;
  if (pressed > FEW_FRICTIONS) {
    pressed = 0;
    EACH_PRESSED(v, k) pressed++;
  }
  return pressed <= FEW_FRICTIONS ? add_few(v) : add_many(v);
}
#endif
