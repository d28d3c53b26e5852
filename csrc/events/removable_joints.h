/* Joints that close and open at an event. */
#ifndef LW_EVENTS_REMOVABLE_JOINTS_H
#define LW_EVENTS_REMOVABLE_JOINTS_H
#include "events/indicators.h"

/* Captures the frame of a pin that its description leaves out; requires the outputs. */
void lw_capture_frame(lw_state *s, int32_t joint);
/* Checks that the frames of due pins coincide; requires the topology in which they are closed. */
lw_status lw_check_pin_gaps(lw_state *s);
#endif
