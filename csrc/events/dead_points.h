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
/* Calls a function a moment before and a moment after the event, with the motion that there was before it, and the present
 * joints and locks. `visit` is called with the state moved there. */
typedef lw_status (*lw_neighbour_function)(lw_state *s, void *context);
lw_status lw_visit_neighbours(lw_state *s, lw_neighbour_function visit, void *context);
#endif
