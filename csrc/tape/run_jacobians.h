/* Jacobians of the rates in runs: tapes take less time than complex steps. Both are exact to rounding, but round in
 * different ways. So a run chooses between them by its own course: after a number of Jacobians by complex steps it adopts
 * the tape of the present state, which is the same whether it is recorded now or was in an earlier run. */
#ifndef LW_RUN_JACOBIANS_H
#define LW_RUN_JACOBIANS_H
#include "tape/tapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers by which the rates of the states are differentiated, states and the time: offsets, so many as are returned.
 * `offsets` may be NULL. */
int32_t lw_jacobian_columns(const lw_model *m, uint32_t *offsets);
/* A run of the state begins. The tapes are of the rates of the states, given the numbers of lw_rates_given, and by those
 * above; behind these, where a law moves inputs with the states, by the inputs: where others move there are complex steps.
 * They live as long as the run, and no other run has them. NULL: it has ended. */
void lw_use_jacobians(lw_state *s, lw_tapes *tapes);
/* How many the present run has adopted. */
int32_t lw_jacobians_adopted(const lw_tapes *tapes);

#ifdef __cplusplus
}
#endif
#endif
