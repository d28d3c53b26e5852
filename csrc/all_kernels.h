/* The table of kernels of one scalar type: compiled as one translation unit, so that the compiler sees through all of
 * it. The unit defines LW_ARITHMETIC and the name KERNELS of its table. */
#ifndef LW_ALL_KERNELS_H
#define LW_ALL_KERNELS_H
#include "dae/ggl_kernel.h"
#include "dynamics/derivatives_kernel.h"
#include "dynamics/forward_dynamics_kernel.h"
#include "dynamics/inverse_dynamics_kernel.h"
#include "dynamics/kinks_kernel.h"
#include "dynamics/outputs_kernel.h"
#include "loops/constants_kernel.h"
#include "tree/kinematics_kernel.h"

#if LW_ARITHMETIC == LW_DOUBLE
#include "assembly/assemble_kernel.h"
#include "assembly/changed_starts_kernel.h"
#include "assembly/dof_at_pose_kernel.h"
#include "assembly/exact_loops_kernel.h"
#include "assembly/regular_dof_kernel.h"
#include "dca/solve_double_kernel.h"
#include "dca/velocity_jump_kernel.h"
#include "dynamics/load_columns_kernel.h"
#include "dynamics/load_equations_kernel.h"
#include "dynamics/reduced_jump_kernel.h"
#include "math/number_functions_kernel.h"
#define IN_DOUBLE(kernel) kernel
#define IN_COMPLEX(kernel) NULL
#else
#include "assembly/sensitivity_kernel.h"
#define IN_DOUBLE(kernel) NULL
#define IN_COMPLEX(kernel) kernel
#endif

#ifndef KERNELS /* opened alone */
#define KERNELS lw_kernels_double
#endif

const lw_kernels KERNELS = {constants,
                            IN_DOUBLE(find_regular_dof),
                            IN_DOUBLE(make_loops_exact),
                            accelerations,
                            derivatives,
                            outputs,
                            kinks,
                            free_formula,
                            IN_DOUBLE(body_motions),
                            IN_DOUBLE(body_column),
                            IN_DOUBLE(slope_of_one_term),
                            IN_DOUBLE(joint_at_pose),
                            locate_cuts,
                            inverse_dynamics,
                            IN_DOUBLE(load_equations),
                            mass_product,
                            augmented_residual,
                            constraint_values,
                            integrate_joint_position,
                            IN_DOUBLE(assemble),
                            IN_DOUBLE(changed_starts),
                            IN_DOUBLE(count_dof),
                            IN_DOUBLE(reduced_jump),
                            IN_DOUBLE(reduced_compliance),
                            IN_DOUBLE(velocity_jump),
                            IN_DOUBLE(speed_compliance),
                            IN_DOUBLE(solve_subassemblies),
                            IN_COMPLEX(assembly_sensitivity),
                            IN_DOUBLE(apply_function),
                            IN_DOUBLE(load_columns)};
#endif
