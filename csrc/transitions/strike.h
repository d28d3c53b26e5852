/* The jump of the speeds at an event. */
#ifndef LW_STRIKE_H
#define LW_STRIKE_H
#include "watch.h"

/* Remembers the speeds before anything changes. */
void lw_note_speeds(lw_state *s);
/* With the joints and locks as they are: impacts on stops and blows that are due, contacts that do not pull, and rest
 * where impacts follow one another ever faster. */
lw_status lw_strike(lw_state *s);
/* Takes a joint off the stop that it rests on. */
void lw_let_go(lw_state *s, int32_t transition);
#endif
