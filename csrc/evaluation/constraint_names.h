/* Names of constraints, for reports on those that are violated. */
#ifndef LW_CONSTRAINT_NAMES_H
#define LW_CONSTRAINT_NAMES_H
#include "block/discrete_state.h"

typedef struct lw_name_list {
  char text[200];
  size_t used;
  int32_t names;
} lw_name_list;

/* Adds "<kind> '<name>'"; at most three names are kept. */
void lw_add_name(lw_name_list *list, const char *kind, const char *name);
/* Adds "lock 'latch'", "stop 'bump'", "pin 'grip'" or "the motion of 'A_drive'". */
void lw_name_transition(const lw_state *s, int32_t transition, lw_name_list *list);
void lw_name_motion(const lw_state *s, int32_t coupling, lw_name_list *list);
/* The cluster whose motion a lock, stop or pin constrains, -1: none. */
int32_t lw_constrained_cluster(const lw_state *s, int32_t transition);
/* Whether a coupling holds, or the lock that stands as one; whether it prescribes a motion. */
int lw_is_enforced(const lw_state *s, int32_t coupling);
int lw_prescribes_motion(const lw_state *s, int32_t coupling);
#endif
