/* The rates of the states of one state by machine code: a tape (csrc/tape) that was compiled. */
#ifndef LW_COMPILED_RATES_H
#define LW_COMPILED_RATES_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_known_number {
  int32_t offset;
  double value;
} lw_known_number;

/* One of LW_EACH_TAPE_FUNCTION of math/operations.h, or sine_cosine: an operation on 4 `fours` numbers, 0: on one; `second`
 * is for the cosine. */
typedef void lw_number_function(int operation, const double *a, const double *b, double *to, double *second, int fours);

/* Writes the rates of a block by its states, inputs and time. Not 0: it does not count there, and has written nothing. With
 * `checks`, once afterwards and at the same numbers, it writes residuals, coordinates of cut joints and angular velocities by
 * the numbers that it has left [n_left], over which it writes. */
typedef int lw_rates_function(double *reals, double *left, lw_number_function *function, int checks);

typedef struct lw_compiled_rates {
  uint32_t structure;                     /* of the model, as it is in the present topology */
  const lw_known_number *equal, *bounded; /* it counts where numbers are these, and others at most of these sizes */
  int32_t n_equal, n_bounded;
  const int32_t *result; /* offsets */
  int32_t n_results, n_left;
  lw_rates_function *run;
} lw_compiled_rates;

enum { LW_MOST_COMPILED_RATES = 32 };

/* All functions of one model, as the library of an FMU exports them by the name linkwork_rates. */
typedef struct lw_rates_library {
  uint32_t layout; /* lw_rates_layout(); with another one nothing else may be read */
  int32_t n;
  const lw_compiled_rates *function; /* [n] */
} lw_rates_library;

#ifdef __cplusplus
}
#endif
#endif
