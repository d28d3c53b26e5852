/* Event indicators of transitions, and the transitions that are due. */
#ifndef LW_INDICATORS_H
#define LW_INDICATORS_H
#include "block/discrete_state.h"

/* Due actions of a transition, bits. */
enum {
  LW_DO = 1,
  LW_UNDO = 2,
  LW_HIT_LOWER = 4,
  LW_HIT_UPPER = 8,
  LW_LEAVE_CONTACT = 16,
  LW_CHANGE_FRICTION = 32,
  LW_BEGIN_TO_SLIDE = 64
};
#define LW_HIT (LW_HIT_LOWER | LW_HIT_UPPER)

/* Sets events->due of every transition for the present time, state and commands, and updates the stored signs. Returns
 * the number of due transitions, or -1 if an evaluation fails. */
int32_t lw_find_due_transitions(lw_state *s);

/* Whether all that transitions watch has values; else the message names the transition. */
lw_status lw_check_watched(lw_state *s);
/* Distance of a coordinate from a bound of a stop, positive within the range. bound 0: lower, 1: upper. */
double lw_stop_gap(const lw_state *s, int32_t transition, int bound);
/* Distance of what a transition watches from its bound or value, and the rate of that: the nearer bound of a stop.
 * Returns 0 if it watches no coordinate or distance. Needs outputs. */
int lw_trigger_distance(lw_state *s, int32_t transition, double *distance, double *rate);
/* After an impact, which also takes away what speeds had left the constraints by: a speed that this moves across the value
 * at which it triggers has not crossed it, and does so from where it is. Needs outputs. */
void lw_shift_speed_crossings(lw_state *s);
/* The event indicator of the stop on which a joint rests: negative where its lock pulls. Needs outputs. */
double lw_contact_indicator(const lw_state *s, int32_t transition);
/* Of a friction: the least and the largest load with which it holds; and, of one that sticks, its event indicator and the
 * direction in which it slides where that is negative. Needs outputs. */
void lw_holding_limits(const lw_state *s, int32_t transition, double *lower, double *upper);
double lw_holding_reserve(const lw_state *s, int32_t transition, double *side);
/* Whether it holds more than its limits, which the indicator allows a margin. Needs outputs. */
int lw_exceeds_limits(const lw_state *s, int32_t transition);
/* Initialises the signs of the event functions that are not yet known, and checks the bounds of stops against the
 * start. */
lw_status lw_initialize_event_signs(lw_state *s);
/* Derivative of an event indicator along the seed of the complex block. */
double lw_indicator_derivative(const lw_state *s, int32_t indicator);
/* Rate of a variable while time passes and inputs stay, but for those of motions; `later`: a moment later. Zero where an
 * evaluation fails. */
double lw_rate_of_variable(lw_state *s, int32_t offset, int later);
/* What a variable changes by where all speeds change by so much. */
double lw_change_by_speeds(lw_state *s, int32_t offset, double change);
#endif
