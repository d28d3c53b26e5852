/* The jump of the speeds at an event. */
#ifndef LW_IMPACT_H
#define LW_IMPACT_H
#include "events/indicators.h"

/* Remembers the speeds before anything changes. */
void lw_store_speeds_before(lw_state *s);
/* With the joints and locks as they are: impacts on stops and blows that are due, contacts that do not pull, and rest
 * where impacts follow one another ever faster. */
lw_status lw_apply_impacts(lw_state *s);
/* Takes a joint off the stop that it rests on. */
void lw_leave_contact(lw_state *s, int32_t transition);
#endif
