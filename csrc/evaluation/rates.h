/* The rates of the states by functions that were compiled from tapes, which give the bits of the kernels where they count,
 * and by the kernels elsewhere. */
#ifndef LW_EVALUATION_RATES_H
#define LW_EVALUATION_RATES_H
#include "block/compiled_rates.h"
#include "linkwork.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From here on the state asks these functions, which live as long as it does. */
lw_status lw_use_rates(lw_state *s, const lw_compiled_rates *const *functions, int32_t n);
/* Whether the block has residuals, coordinates of cut joints and angular velocities of the present state from a function. */
int lw_rates_give_checks(lw_state *s);
/* Finds the coordinates of cut joints at the present state. */
lw_status lw_locate_cuts(lw_state *s);
/* Whether a tape counts for the numbers of the state but for states, inputs and time. */
int lw_tape_holds(const lw_tape_conditions *where, const lw_state *s);
/* Finds which compiled tapes hold for the present numbers but for states, inputs and time, unless that is known; 0: the
 * constants do not exist. */
int lw_check_compiled_tapes(lw_state *s);
/* How often the kernels have given rates. */
int64_t lw_rates_by_kernels(const lw_state *s);
/* The given numbers at one of the states for which no function counted, chosen at random but always alike; where there was
 * none, those of the present state. */
void lw_rates_missed(const lw_state *s, double *given);

/* The numbers that tapes for runs are given, and those that they compute: offsets, so many as are returned. `offsets` may
 * be NULL. */
int32_t lw_rates_given(const lw_model *m, uint32_t *offsets);
int32_t lw_rates_computed(const lw_model *m, uint32_t *offsets);
/* A number of all that a library of functions relies on: the model, where its numbers stand, and this version. */
uint32_t lw_rates_layout(const lw_model *m);

#ifdef __cplusplus
}
#endif
#endif
