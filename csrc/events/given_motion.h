/* Frictions of a motion that is given by accelerations of the tree's joints (nu): each opposes its speed, at rest the
 * speed that begins, and has no load where none begins. Between both calls the state has these loads, whatever it was
 * decided to hold. */
#ifndef LW_GIVEN_MOTION_H
#define LW_GIVEN_MOTION_H
#include "block/discrete_state.h"

lw_status lw_begin_given_motion(lw_state *s, const double *udot);
void lw_end_given_motion(lw_state *s);
#endif
