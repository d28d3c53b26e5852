/* Locks and pins at dead points, where constraints restrict the motion to second order only. */
#ifndef LW_DEAD_POINTS_H
#define LW_DEAD_POINTS_H
#include "events/indicators.h"

/* Whether a transition locks or pins in the present event. */
int lw_closes(const lw_state *s, int32_t transition);
/* How far the speeds are from any motion: largest second derivative of a constraint that no accelerations remove, as part
 * of the square of the largest speed before the event; 0: accelerations exist, or nothing moves. Of the clusters in which
 * the event closes something. */
lw_status lw_find_second_order_violation(lw_state *s, double *violation);
/* At a dead point speeds that are no more than rounding become zero. */
void lw_clear_speeds_at_rest(lw_state *s);
/* The same, and LW_ERROR_SINGULAR: at the next instant loads would drive the motion
 * that the event has ended, which nothing resists at a dead point. */
lw_status lw_rest_at_dead_point(lw_state *s);
/* Calls a function a moment before and a moment after the event, with the motion that there was before it, and the present
 * joints and locks. `visit` is called with the state moved there. */
typedef lw_status (*lw_neighbour_function)(lw_state *s, void *context);
lw_status lw_visit_neighbours(lw_state *s, lw_neighbour_function visit, void *context);
/* Moves all coordinates along the speeds, and the time. */
void lw_move_along_speeds(lw_state *s, double step);
#endif
