/* Accelerations of bodies for who sums up inertia forces. */
#ifndef LW_EVALUATION_BODY_MOTION_H
#define LW_EVALUATION_BODY_MOTION_H
#include "block/state.h"

/* Angular velocity and acceleration of a body and the acceleration of its origin less g, world axes, by the increments
 * that the block has: of the accelerations, or those given to inverse dynamics last. */
void lw_acceleration_of_origin(const lw_state *s, int32_t body, double w[3], double alpha[3], double a[3]);
#endif
