/* Velocity jumps at an event, and contact with stops. */
#ifndef LW_IMPACT_H
#define LW_IMPACT_H
#include "events/indicators.h"

/* Computes the speeds after the impacts and applied impulses that are due, with the present joints and locks, then
 * decides which stops carry a load. */
lw_status lw_apply_impacts(lw_state *s);
/* Decides which stops carry a load and which frictions stick; no speed jumps but those of bounces that are too small to
 * follow. */
lw_status lw_update_contacts(lw_state *s);
/* The same of frictions at the start of a motion. */
lw_status lw_start_friction(lw_state *s);
/* The same for one evaluation alone, where no motion has started. Stops take no part. */
lw_status lw_decide_friction(lw_state *s);
#endif
