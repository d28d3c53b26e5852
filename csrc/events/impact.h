/* Velocity jumps at an event: impacts on stops, applied impulses, locking. */
#ifndef LW_IMPACT_H
#define LW_IMPACT_H
#include "events/indicators.h"

/* Stores the speeds before the event. */
void lw_store_speeds_before(lw_state *s);
/* Computes the speeds after the impacts and applied impulses that are due, with the present joints and locks. Stops
 * only push. A joint comes to rest on a stop where its impacts accumulate. */
lw_status lw_apply_impacts(lw_state *s);
/* Ends the contact of a joint with its stop. */
void lw_leave_contact(lw_state *s, int32_t transition);
#endif
