/* Frictions of a motion that is given by accelerations of the tree's joints (nu): each opposes its speed, at rest the
 * speed that begins, and has no load where none begins. Between both calls the state has these loads, whatever it was
 * decided to hold. */
#ifndef LW_GIVEN_MOTION_H
#define LW_GIVEN_MOTION_H
#include "block/discrete_state.h"

/* One row of a motion; NULL: turns and inputs as they are. */
typedef struct lw_motion_row {
  double t;
  const double *q, *u;
  const double *turns;  /* [nq_cut] from which revolutions of the cut joints are counted */
  const double *inputs; /* the fields from tau to impulse */
} lw_motion_row;

size_t lw_motion_inputs(const lw_state *s); /* how many there are */
/* The stages are the caller's to invalidate. */
void lw_enter_motion_row(lw_state *s, const lw_motion_row *row);

lw_status lw_begin_given_motion(lw_state *s, const double *udot);
void lw_end_given_motion(lw_state *s);
#endif
