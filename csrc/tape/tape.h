/* A tape: operations on registers, in order, for many states at once. */
#ifndef LW_TAPE_H
#define LW_TAPE_H
#include "math/operations.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* That run at once: so many that reading an operation costs little, so few that caches hold them. */
enum { LW_TAPE_STATES = 64 };

/* Of a guard `to` is no register. */
typedef struct lw_tape_step {
  int32_t operation, to, operand[4]; /* lw_tape_operation; registers */
} lw_tape_step;

/* Registers are rows of LW_TAPE_STATES numbers: first the inputs, then the constants, then inputs that are the same for
 * all states, then all others. The first steps, `first_steps`, are those that guards and the first results need. */
typedef struct lw_tape {
  const lw_tape_step *step;
  int32_t steps, registers, inputs, constants, kept, results, guards, first_steps, first_results;
  const double *constant;
  const int32_t *result; /* registers */
} lw_tape;

/* Runs the tape on `registers`, whose inputs and constants stand there; a bit of `missed` for each state with a guard
 * that does not hold, whose results do not count. The second one needs AVX2; both give the same bits. */
void lw_run_tape(const lw_tape *t, double *registers, uint64_t *missed);
void lw_run_tape_avx2(const lw_tape *t, double *registers, uint64_t *missed);

/* The same for one state, whose registers are one number each; returns 0 where a guard does not hold. */
int lw_run_tape_once(const lw_tape *t, double *registers);

/* A bit of `large` for each state that has a number beyond the bound, or none at all, in one of n rows. */
void lw_find_large(const double *rows, int32_t n, double bound, uint64_t *large);
void lw_find_large_avx2(const double *rows, int32_t n, double bound, uint64_t *large);

/* A number of the first states that moves: to = from + factor by, where `to` may be one of these. */
void lw_move_column(double *to, const double *from, double factor, const double *by, int32_t states);
void lw_move_column_avx2(double *to, const double *from, double factor, const double *by, int32_t states);

/* Solves systems of n equations of the first states, each with its matrix as of lw_lu_decompose, but with rows in the order
 * of pivots: element (i, j) is column i n + j. Columns x hold right-hand sides in this order before, and solutions then. */
void lw_solve_columns(const double *lu, int32_t n, int32_t states, double *x);
void lw_solve_columns_avx2(const double *lu, int32_t n, int32_t states, double *x);

/* The value of an operation. */
double lw_tape_value(lw_tape_operation operation, const double operand[4]);

#ifdef __cplusplus
}
#endif
#endif
