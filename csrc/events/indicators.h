/* What transitions watch, as event indicators, and which of them are due. */
#ifndef LW_INDICATORS_H
#define LW_INDICATORS_H
#include "events/discrete_state.h"

/* What is asked of a transition at an event, bits. */
enum { LW_DO = 1, LW_UNDO = 2, LW_HIT_LOWER = 4, LW_HIT_UPPER = 8, LW_LEAVE_CONTACT = 16 };
#define LW_HIT (LW_HIT_LOWER | LW_HIT_UPPER)

/* Sets events->due of every transition at the present time, state and commands, and remembers that it did; returns how
 * many ask for something, or -1 on a fault of the mechanics. */
int32_t lw_find_due_transitions(lw_state *s);

/* How far a coordinate is from a bound of a stop, within it positive; 0: the lower one. */
double lw_stop_gap(const lw_state *s, int32_t transition, int bound);
/* On which side of what they watch the crossings are, where that is not known yet; stops must have bounds that the
 * start is within. */
lw_status lw_initialize_event_signs(lw_state *s);
/* The derivative of an event indicator, where the complex block has been computed along a seed. */
double lw_indicator_derivative(const lw_state *s, int32_t indicator);
#endif
