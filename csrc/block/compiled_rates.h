/* The rates of the states of one state, and Jacobians, by machine code: tapes (csrc/tape) that were compiled. */
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

/* Where a tape counts, as far as that does not depend on states, inputs and time. */
typedef struct lw_tape_conditions {
  uint32_t structure;                     /* of the model, as it is in the present topology */
  const lw_known_number *equal, *bounded; /* numbers are these, and others at most of these sizes */
  int32_t n_equal, n_bounded;
} lw_tape_conditions;

typedef struct lw_compiled_rates {
  lw_tape_conditions where;
  const int32_t *result; /* offsets */
  int32_t n_results, n_left;
  lw_rates_function *run;
} lw_compiled_rates;

/* Writes the matrix [rows][columns] of derivatives, of a block by its states, inputs and time. Returns as above. */
typedef int lw_jacobian_function(double *reals, double *matrix, lw_number_function *function);

typedef struct lw_compiled_jacobian {
  lw_tape_conditions where;
  lw_jacobian_function *run;
} lw_compiled_jacobian;

/* Derivatives of the same numbers, by offset. */
typedef struct lw_compiled_jacobians {
  const int32_t *row; /* [rows] */
  int32_t rows, n;
  const lw_compiled_jacobian *tape; /* [n] */
} lw_compiled_jacobians;

/* For a state at once, of each kind of Jacobians too; these are of the rates of the states, and of outputs. */
enum { LW_MOST_COMPILED_RATES = 32, LW_JACOBIANS_OF_RATES = 0, LW_JACOBIANS_OF_OUTPUTS, LW_JACOBIAN_KINDS };
/* What a library holds, which the layout counts. */
enum { LW_RATES_INTERFACE = 2 };

/* All functions of one model, as the library of an FMU exports them by the name linkwork_rates. */
typedef struct lw_rates_library {
  uint32_t layout; /* lw_rates_layout(); with another one nothing else may be read */
  int32_t n;
  const lw_compiled_rates *function; /* [n] */
  const int32_t *column;             /* [columns] offsets of the time, of inputs and of all states in turn */
  int32_t columns;
  lw_compiled_jacobians jacobian[LW_JACOBIAN_KINDS];
} lw_rates_library;

#ifdef __cplusplus
}
#endif
#endif
