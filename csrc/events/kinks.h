/* Kinks of formulas at a state: held on their branches between the events of a run, else free. */
#ifndef LW_EVENTS_KINKS_H
#define LW_EVENTS_KINKS_H
#include "block/state.h"

/* Behind the indicators of transitions, at the present state; an evaluation that fails is reported. */
lw_status lw_kink_indicators(lw_state *s, double *indicators);
/* The name of the force or state by whose formula it is. */
const char *lw_owner_of_kink(const lw_model *m, int32_t kink);
#endif
