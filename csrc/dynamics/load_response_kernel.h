/* The response of closed loops to further loads: accelerations are affine in the loads of the joints, and the reduction
 * of loops/reduced_dynamics_kernel.h and tree/articulated_body_kernel.h, once done, gives their change by changed loads
 * in one sweep inward, of loads alone, and one outward. What depends on positions, speeds and masses stays. The forces
 * of the joints follow as in loops/reactions_kernel.h, without biases. In double four changes are found at once. */
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
#endif
