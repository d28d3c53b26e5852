/* The mechanics as one translation unit for each arithmetic, so that the compiler sees through all of it. */
#include "../dca/threads.h"
#include "../kernels.h"
#include "../pivots.h"
#include "../real.h"

#include "view.inc"

#include "spatial.inc"

#include "lanes.inc"

#include "../joints/joints.inc"

#include "work.inc"

#include "constants.inc"

#include "kinematics.inc"

#include "forces.inc"

#include "tree.inc"

#include "meeting.inc"

#include "cut_frame.inc"

#include "survey.inc"

#include "ears.inc"

#include "distances.inc"

#include "mobility.inc"

#include "matrix.inc"

#include "embedding.inc"

#include "reduce.inc"

#include "basic_constraints.inc"

#include "multiplier_work.inc"

#include "multiplier_rows.inc"

#include "multiplier_solve.inc"

#include "multipliers.inc"

#include "dynamics.inc"

#include "feedback.inc"

#include "singular.inc"

#include "crossing.inc"

#include "bodies_apart.inc"

#include "connection_rows.inc"

#if LW_ARITHMETIC == LW_DOUBLE
#include "../dca/solve.inc"

#include "solve_connections.inc"
#else
#include "differentiate_connections.inc"
#endif

#include "assemblies.inc"

#include "accelerations.inc"

#include "wrenches.inc"

#include "outputs.inc"

#include "constraints.inc"

#include "augmented.inc"

#if LW_ARITHMETIC == LW_DOUBLE
#include "consistency.inc"

#include "sparse_closure.inc"

#include "assembly.inc"

#include "ear_steps.inc"

#include "assembly_ears.inc"

#include "start.inc"

#include "freedoms.inc"

#include "count.inc"

#include "impulses.inc"
#define IN_DOUBLE(kernel) kernel
#define IN_COMPLEX(kernel) NULL
#else
#include "follow.inc"
#define IN_DOUBLE(kernel) NULL
#define IN_COMPLEX(kernel) kernel
#endif

const lw_kernels KERNELS = {constants,
                            IN_DOUBLE(find_freedoms),
                            accelerations,
                            derivatives,
                            outputs,
                            locate_cuts,
                            inverse_dynamics,
                            mass_product,
                            augmented_residual,
                            constraint_values,
                            advance_joint,
                            IN_DOUBLE(assemble),
                            IN_DOUBLE(count),
                            IN_DOUBLE(jump),
                            IN_DOUBLE(solve_assemblies),
                            IN_COMPLEX(follow_assembly)};
