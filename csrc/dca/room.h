/* The working room of divide and conquer, which belongs to a state and is made when it is first needed. ROOM(name,
 * scalars) says what each piece holds and how many; p is the plan, s the model's sizes. */
#ifndef LW_DCA_ROOM_H
#define LW_DCA_ROOM_H
#include "plan.h"

#define LW_DCA_ROOMS(ROOM)                                                                  \
  ROOM(factor, 36 * p->bodies) /* of compliances, see solve.inc */                          \
  ROOM(unloaded, 6 * p->bodies)                                                             \
  ROOM(before, 6 * p->bodies) /* velocities [angular; of the centre of mass], world axes */ \
  ROOM(change, 6 * p->bodies)                                                               \
  ROOM(first_change, 6 * p->bodies)                                                         \
  ROOM(first_load, p->rows)                                                                 \
  ROOM(frame, 24 * s->joints)    /* see joint_frame in mechanics/connection_rows.inc */     \
  ROOM(speed, s->nu + s->nu_cut) /* of all joints, before */                                \
  ROOM(bias, 6 * s->loops)       /* of the cut joints */                                    \
  ROOM(six, 6 * p->sixes)                                                                   \
  ROOM(slack, p->connections) /* what counts as nothing of its rows */                      \
  ROOM(wanted, p->rows)                                                                     \
  ROOM(load, p->rows)                                                                       \
  ROOM(assemblies, p->reals)

typedef struct lw_dca_memory {
  void *reals; /* of the arithmetic */
  void *scratch;
  int32_t *integers;                     /* rows of each connection, then the assemblies' */
  int32_t threads;                       /* that work on it */
  int32_t scratches;                     /* for so many threads */
  const struct lw_dca_memory *in_double; /* of a room in another arithmetic: where it solves */
} lw_dca_memory;
#endif
