/* Joints that close and open at an event. */
#ifndef LW_PINS_H
#define LW_PINS_H
#include "events/indicators.h"

/* The frame of a pin that was left out, where it is now; needs the outputs. */
void lw_capture_frame(lw_state *s, int32_t joint);
/* In the structure in which they are closed: the pins that are due must fit. */
lw_status lw_check_pin_gaps(lw_state *s);
#endif
