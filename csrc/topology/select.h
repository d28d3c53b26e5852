/* Which variant a state is in follows from the joints that are closed. */
#ifndef LW_TOPOLOGY_SELECT_H
#define LW_TOPOLOGY_SELECT_H
#include "block/state.h"

/* Enters the variant of the closed joints. `discard_scratch`: clears results of another topology. On failure the state
 * stays in the variant it is in, with the joints closed that are closed there. */
lw_status lw_select_topology(lw_state *s, int discard_scratch);
#endif
