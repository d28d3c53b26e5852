/* The report on an event after which nothing can move as all constraints ask for. */
#ifndef LW_LOCK_UP_H
#define LW_LOCK_UP_H
#include "block/state.h"

/* Names the transitions of the event that constrain the motion, and the prescribed motions in the same loops. */
lw_status lw_report_lock_up(lw_state *s, const char *by);
#endif
