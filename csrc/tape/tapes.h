/* Forward dynamics of many states at once. The kernels evaluate the first ones; then one of them is recorded, and its
 * tape evaluates those whose guards hold, with the same numbers to the bit but for the sign of a zero. Where none of a few
 * tapes counts the kernels do. In the Python module alone. */
#ifndef LW_TAPES_H
#define LW_TAPES_H
#include "evaluation/rates.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tapes of one model, for the same given and computed numbers. One thread at a time may use them. */
typedef struct lw_tapes lw_tapes;

/* One of them: how many operations and guards it has, and how many of both where equal parts count once, as in C; how many
 * numbers it keeps for each state, if it runs compiled; the states for which it was the first that counts. */
typedef struct lw_tape_info {
  int32_t operations, guards, distinct, registers, compiled;
  int64_t states;
} lw_tape_info;

/* A tape as a function of columns, see write_c.h: of its registers, where constants and kept numbers stand and results are
 * left, and of given numbers. `left` holds 8 numbers for each register. */
typedef void lw_compiled_tape(double *registers, const double *given, double *left, unsigned long long *missed,
                              void (*function)(int, const double *, const double *, double *, double *, int));

/* Which kernels a tape has: all stages; poses and velocities of bodies, points and measures alone, by speeds, if any; inverse
 * dynamics, with accelerations of all speeds of the tree, or of as many as degrees of freedom, among the given numbers, and
 * loads of the same speeds, `tau`, as the computed ones. */
typedef enum lw_tape_kernels { LW_TAPE_STAGES, LW_TAPE_POSES, LW_TAPE_INVERSE_DYNAMICS } lw_tape_kernels;

/* Of numbers by offset: those that differ from state to state, which are states, inputs, times and parameters; those that
 * are asked for, all of which the stage computes; and, of the given ones, those by which these are differentiated: then
 * derivatives are asked for in place of the numbers, row by row. */
lw_status lw_tapes_create(const uint32_t *given, size_t n_given, const uint32_t *computed, size_t n_computed,
                          const uint32_t *by, size_t n_by, lw_stage stage, lw_tape_kernels kernels, lw_tapes **tapes);
void lw_tapes_free(lw_tapes *tapes);

/* How many tapes there are; describes at most `capacity` of them. */
int32_t lw_tapes_info(const lw_tapes *tapes, lw_tape_info *info, int32_t capacity);
/* How many states the kernels have evaluated. */
int64_t lw_tapes_by_kernels(const lw_tapes *tapes);
/* Why the last recording was refused; empty: none was. */
const char *lw_tapes_refusal(const lw_tapes *tapes);

/* A tape as a file in C, which compilers must not contract (-ffp-contract=off); its function is "linkwork_tape". Valid until
 * the next call; NULL: there is no memory. */
const char *lw_tape_source(lw_tapes *tapes, int32_t number);
/* From here on the function runs in place of the tape. At the next states both run; where their bits differ, the function
 * is not used. */
void lw_tape_compiled(lw_tapes *tapes, int32_t number, lw_compiled_tape *run);

/* A tape as a file in C for one state, whose function "linkwork_tape" is an lw_rates_function; as above. */
const char *lw_rates_source(lw_tapes *tapes, int32_t number);
/* The function with what it needs, valid as long as the tapes are; NULL: there is no memory. */
const lw_compiled_rates *lw_rates_compiled(lw_tapes *tapes, int32_t number, lw_rates_function *run);

/* Whether the function takes less time than the kernels at the present state of the block; 1 also where it does not count,
 * and where there is no memory. */
int lw_rates_pay(lw_state *s, const lw_compiled_rates *function);

/* Some tapes by their numbers [n], n <= LW_MOST_COMPILED_RATES. */
typedef struct lw_chosen_tapes {
  lw_tapes *tapes;
  const int32_t *number;
  int32_t n;
} lw_chosen_tapes;
/* Tapes of rates, and of the Jacobians [LW_JACOBIAN_KINDS] by the same columns, as a file in C whose variable linkwork_rates
 * is an lw_rates_library of the model; as above. */
const char *lw_rates_library_source(const lw_model *model, lw_chosen_tapes rates, const lw_chosen_tapes *jacobians);

/* A tape as data. Registers hold first the inputs, then the constants, then the kept numbers. */
typedef struct lw_tape_data {
  const int32_t *step;    /* [steps][6]: the operation, the register that it writes, registers of operands */
  const int32_t *input;   /* [inputs] numbers of given ones */
  const double *constant; /* [constants] */
  const int32_t *kept;    /* [n_kept] offsets of numbers that all states have alike */
  const int32_t *result;  /* [results] registers */
  int32_t steps, registers, inputs, constants, n_kept, results;
} lw_tape_data;

/* Records the state with a row of given numbers, in addition to other tapes; the last tape is of it. LW_ERROR_SINGULARITY
 * and others: it has no such numbers. LW_ERROR_USAGE: there is no tape of it, lw_tapes_refusal has the reason. */
lw_status lw_record_tape(lw_state *s, lw_tapes *tapes, const double *given);
/* The number of the first tape that counts at a row of given numbers, all others being those of the state; -1: none does,
 * or there is no memory. */
int32_t lw_tape_at(const lw_state *s, lw_tapes *tapes, const double *given);
/* Valid until the next call with the tapes; -1: there is no memory. */
int32_t lw_tape_read(lw_tapes *tapes, int32_t number, lw_tape_data *data);
/* An operation by its code in a step: its name, such as "add", its formula, such as "a + b", as in operations.h. */
typedef struct lw_tape_formula {
  const char *name, *formula;
  int32_t operands, is_guard;
} lw_tape_formula;
/* Returns 0 where it is the code of no step. */
int32_t lw_tape_formula_of(int32_t operation, lw_tape_formula *of);

/* Rows of given numbers [count][n_given] to rows of computed ones [count][n_computed], or [count][n_computed][n_by]. All
 * other numbers are those of the state; the given ones change in it. Rows that fail are marked in `failed` [count], and
 * their numbers are undefined. Only LW_ERROR_MEMORY, and numbers of the state that are refused, end them all. */
lw_status lw_evaluate_states(lw_state *s, lw_tapes *tapes, const double *given, int64_t count, double *computed,
                             int8_t *failed);
/* One row by the kernels: status and message of the state have the reason why it fails. */
lw_status lw_evaluate_row(lw_state *s, lw_tapes *tapes, const double *given, double *computed);

/* From here on the numbers of a row depend on that row alone, derivatives too, which tapes and kernels round in different
 * ways: by the tape of its own state, which is recorded where there is none. Where tapes are long, or there is none of the
 * first one of these rows of given numbers, which are the same for all tapes of a model: by a tape of one of these, else by
 * the kernels. */
void lw_choose_by_row(lw_state *s, lw_tapes *tapes, const double *given, int32_t rows);

/* How rows move: by the classical method of Runge and Kutta, of order 4; by Euler's method, semi-implicit, of order 1: speeds
 * and states of elements, then coordinates by the rates of these speeds; by Rodas5P, linearly implicit, of order 5. */
typedef enum lw_step_method { LW_STEP_RK4, LW_STEP_SEMI, LW_STEP_ROSENBROCK } lw_step_method;

/* Why a row has stopped: its rates, or the numbers of the second tapes, do not exist; or the matrix of the step is singular. */
enum { LW_MOVED = 0, LW_NO_RATES, LW_NO_SECOND, LW_SINGULAR_STEP };

/* Steps, all of the same size. `moves`: by computed number, the place of the given one whose derivative it is; `times`:
 * places of given numbers that are times. `second`: other tapes of the same given numbers, of "semi": some of the computed
 * numbers, those that move by the new values of the others; of "rosenbrock": derivatives of all of them by given ones that
 * move and by times; else NULL. `stages`, of "rk4": into which the given numbers of all evaluations are written,
 * [rows][count][4][n_given], those of rows that fail up to the failed one; NULL: nowhere. */
typedef struct lw_steps {
  lw_step_method method;
  const uint32_t *moves, *times;
  size_t n_times;
  double step; /* s */
  int64_t count;
  lw_tapes *second;
  double *stages;
} lw_steps;

/* Moves the rows [count][n_given] of given numbers. A row that fails is left as it was given to the failed evaluation, with
 * the reason in `failed` [count]. Only LW_ERROR_MEMORY ends them all. */
lw_status lw_move_states(lw_state *s, lw_tapes *tapes, double *given, int64_t count, const lw_steps *steps,
                         int8_t *failed);

#ifdef __cplusplus
}
#endif
#endif
