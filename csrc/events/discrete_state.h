/* What transitions have brought about: which joints are open, and which speeds are held and by whom. */
#ifndef LW_DISCRETE_STATE_H
#define LW_DISCRETE_STATE_H
#include "state/state.h"

/* Bits of the field `locked`. */
enum { LW_HELD_BY_LOCK = 1, LW_HELD_BY_STOP = 2 };

typedef lw_double_transition_memory lw_transition_memory;

/* Room for what happens at an event; made with a state that has transitions. */
struct lw_event_workspace {
  unsigned char *backup;      /* the snapshot, to come back to */
  int32_t *due;               /* of each transition: what is asked of it */
  unsigned char *constrained; /* the rest as in lw_velocity_jump */
  double *target, *applied_impulse, *speed_after, *force_impulse, *torque_impulse, *constraint_impulse,
      *coupling_impulse;
};

double *lw_reals(const lw_state *s);
/* Who holds a speed: bits of its number in the field `locked`, whatever a foreign snapshot has there. */
int lw_lock_holders(double locked);
lw_transition_memory *lw_memory_of(const lw_state *s, int32_t transition);

/* The joints as they are at first; nothing locked. */
void lw_reset_discrete_state(lw_state *s);
/* Goes on with the model of the joints that are closed; `afresh`: if it is another one, nothing that was found about
 * the one before matters. */
void lw_select_topology(lw_state *s, int discard_scratch);

/* A joint's coordinate as far as it belongs to a speed, and that speed. */
double lw_coordinate_value(const lw_state *s, int32_t u);
double lw_speed_value(const lw_state *s, int32_t u);
/* The speed that is the rate of a coordinate, -1: none. */
int32_t lw_speed_of_coordinate(const lw_model *m, int32_t q);
/* The coupling that locks a speed in the present structure. */
int32_t lw_lock_of(const lw_state *s, int32_t u);
/* The one speed that a stop bounds. */
int32_t lw_stopped_speed(const lw_model *m, const lw_transition *x);

/* Where an indicator is counted as zero, so that what has just been met is not met again by rounding. */
double lw_zero_tolerance(double value);
#define LW_ZERO_TOLERANCE 4e-15 /* at a value of zero */

lw_status lw_create_event_workspace(lw_state *s);
void lw_free_event_workspace(lw_state *s);
#endif
