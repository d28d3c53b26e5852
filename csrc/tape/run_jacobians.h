/* Jacobians of the rates in runs, by tapes, many times as fast as complex steps. Both are exact to rounding, but round in
 * different ways, so that which one a run asks for depends on this run alone: after so many Jacobians by complex steps it
 * adopts the tape of the present state, which is the same one whether it is recorded now or was by a run before. */
#ifndef LW_RUN_JACOBIANS_H
#define LW_RUN_JACOBIANS_H
#include "tape/tapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers by which the computed ones of lw_rates_given and the rates of the states are differentiated: states, time.
 * Offsets, so many as are returned; `offsets` may be NULL. */
int32_t lw_jacobian_columns(const lw_model *m, uint32_t *offsets);
/* A run of the state begins, which adopts tapes of the numbers of lw_rates_given; the rates by the columns above. They live
 * as long as the run, and no other one has them. NULL: it has ended. */
void lw_use_jacobians(lw_state *s, lw_tapes *tapes);
/* How many the present run has adopted. */
int32_t lw_jacobians_adopted(const lw_tapes *tapes);

#ifdef __cplusplus
}
#endif
#endif
