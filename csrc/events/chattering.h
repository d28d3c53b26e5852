/* Detection of transitions that follow one another without end; of the zero crossings of a run: run/chattering.c. */
#ifndef LW_CHATTERING_H
#define LW_CHATTERING_H
#include "events/indicators.h"

/* Counts an event. LW_ERROR_SOLVER: there are too many, at one time or within a second. */
lw_status lw_count_event(lw_state *s);
#endif
