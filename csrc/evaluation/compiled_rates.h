/* The rates of the states of one state by machine code: a tape (csrc/tape) that was compiled. It gives the bits of the
 * kernels where it counts, and the kernels do the rest. */
#ifndef LW_COMPILED_RATES_H
#define LW_COMPILED_RATES_H
#include "linkwork.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_known_number {
  int32_t offset;
  double value;
} lw_known_number;

/* An operation on numbers, as lw_tape_function. */
typedef void lw_number_function(int operation, const double *a, const double *b, double *to, double *second, int fours);

/* Writes rates, residuals and coordinates of cut joints of a block by its states, inputs and time. Not 0: it does not
 * count there, and has written nothing. */
typedef int lw_rates_function(double *reals, lw_number_function *function);

typedef struct lw_compiled_rates {
  uint32_t structure;                     /* of the model, as it is in the present topology */
  const lw_known_number *equal, *bounded; /* it counts where numbers are these, and others at most of these sizes */
  int32_t n_equal, n_bounded;
  const int32_t *result; /* offsets */
  int32_t n_results;
  lw_rates_function *run;
  lw_number_function *function;
} lw_compiled_rates;

enum { LW_MOST_COMPILED_RATES = 8 };

/* From here on the state asks these functions, which live as long as it does. */
lw_status lw_use_rates(lw_state *s, const lw_compiled_rates *const *functions, int32_t n);
/* How often the kernels have given rates. */
int64_t lw_rates_by_kernels(const lw_state *s);
/* The given numbers at the last state for which no function counted; without functions those of the present state. */
void lw_rates_missed(const lw_state *s, double *given);

/* The numbers that tapes for runs are given, and those that they compute: offsets, so many as are returned. `offsets` may
 * be NULL. */
int32_t lw_rates_given(const lw_model *m, uint32_t *offsets);
int32_t lw_rates_computed(const lw_model *m, uint32_t *offsets);

/* All up to the derivatives; functions leave out what neither rates nor the checks of a step need. */
lw_status lw_evaluate_rates(lw_state *s);

#ifdef __cplusplus
}
#endif
#endif
