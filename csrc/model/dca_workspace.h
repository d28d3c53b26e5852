/* The workspace of divide and conquer, which belongs to a state and is allocated at its first use. ARRAY(name,
 * scalars) gives the content and the length of each array; p is the plan, s the sizes of the model. */
#ifndef LW_DCA_WORKSPACE_H
#define LW_DCA_WORKSPACE_H
#include "model/subassembly_tree.h"

#define LW_MOST_DCA_REALS (INT64_C(1) << 31) /* 16 GB; more counts as no memory */
#define LW_DCA_FRAME_REALS 42                /* joint_frame in dca/constraint_rows_kernel.h */

#define LW_DCA_WORKSPACE(ARRAY)                                                                    \
  ARRAY(factor, 36 * p->bodies) /* of compliances, see solve_kernel.h */                           \
  ARRAY(length2, p->bodies)     /* m2: inertia about the joint by mass */                          \
  ARRAY(unit, p->bodies)        /* in which the speed of its joint is counted */                   \
  ARRAY(unloaded, 6 * p->bodies)                                                                   \
  ARRAY(by_load, 6 * p->bodies)                                                                    \
  ARRAY(before, 6 * p->bodies) /* velocities [angular; of the centre of mass], world axes */       \
  ARRAY(change, 6 * p->bodies)                                                                     \
  ARRAY(z, 6 * p->bodies) /* change = unloaded + factor z */                                       \
  ARRAY(frame, LW_DCA_FRAME_REALS * s->joints)                                                     \
  ARRAY(speed, s->nu + s->nu_cut) /* of all joints, before */                                      \
  ARRAY(bias, 6 * s->loops)       /* of the cut joints */                                          \
  ARRAY(jacobian, 6 * p->jacobian_blocks)                                                          \
  ARRAY(rank_tolerance, p->constraints) /* largest remainder of its unit rows that others imply */ \
  ARRAY(target, p->rows)                                                                           \
  ARRAY(rotor, p->rows) /* 1: the row has a rotor, see constraint_rows_kernel.h; else 0 */         \
  ARRAY(load, p->rows)                                                                             \
  ARRAY(subassemblies, p->reals)

typedef struct lw_dca_workspace {
  void *reals; /* of the arithmetic */
  void *scratch;
  int32_t *integers;                        /* rows of each constraint, redundant rows, then the subassemblies' */
  int32_t threads;                          /* that work on it */
  int32_t scratches;                        /* for so many threads */
  const struct lw_dca_workspace *solved_in; /* of a workspace in another arithmetic: where it solves */
} lw_dca_workspace;
#endif
