/* The response of closed loops to further loads: accelerations are affine in the loads of the joints, and the reduction
 * of loops/reduced_dynamics_kernel.h and tree/articulated_body_kernel.h, once done, gives their change by changed loads
 * in one sweep inward, of loads alone, and one outward. What depends on positions, speeds and masses stays. The forces
 * of the joints follow as in loops/reactions_kernel.h. In double four changes are found at once. */
#ifndef LW_LOAD_RESPONSE_KERNEL_H
#define LW_LOAD_RESPONSE_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reactions_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/workspace_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/kinematics_kernel.h"

#define SCALAR real
#define NAMED(name) name##_one
#include "dynamics/load_response_template_kernel.h"
#undef SCALAR
#undef NAMED
#if LW_ARITHMETIC == LW_DOUBLE
#define SCALAR four
#define NAMED(name) name##_four
#include "dynamics/load_response_template_kernel.h"
#undef SCALAR
#undef NAMED
#endif

/* The forces of the joints, and the loads of couplings, for the present loads and accelerations themselves, as by
 * find_wrenches(), in the places of changes. */
static void find_joint_forces(const view *v) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  copy(speeds, v->load, load_change_of_one(v, 0));
  copy(speeds, v->acceleration, acceleration_change_of_one(v, 0));
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    transport_change_one(v, i, motion_change_of_one(v, i));
    add_columns_one(v, i, motion_change_of_one(v, i));
  }
  find_body_wrench_changes_one(v);
  for (int32_t i = 0; i < v->m->size.bodies; i++)
    for (int k = 0; k < 3; k++) {
      motion_change_of_one(v, i)->a[k] -= v->inertia[i].Fa[k];
      motion_change_of_one(v, i)->l[k] -= v->inertia[i].Fl[k];
    }
  propagate_wrench_changes_one(v);
  for (int32_t c = 0; c < v->m->clusters; c++) distribute_cut_changes_one(v, c);
}
#endif
