/* Detection of events that follow one another without end. */
#ifndef LW_CHATTERING_H
#define LW_CHATTERING_H
#include "events/indicators.h"

/* Counts an event. LW_ERROR_SOLVER: there are too many, at one time or within a second. */
lw_status lw_count_event(lw_state *s);
#endif
