/* A formula is straight-line code: each instruction has a value, made of numbers, quantities and the values before, so
 * that it can neither loop nor read outside. When a model is loaded it becomes a program, whose operands are offsets in
 * the block; numbers and quantities stand there already. */
#ifndef LW_FORMULA_PROGRAM_H
#define LW_FORMULA_PROGRAM_H
#include "formula/operations.h"
#include "linkwork.h"
#include "math/tolerances.h"
#include <stdint.h>

typedef struct lw_instruction {
  int32_t operation, operand[3]; /* lw_operation_number; as in operations.h */
} lw_instruction;

/* An instruction of a program. */
typedef struct lw_program_step {
  int32_t operation, operand[3]; /* lw_operation_number or lw_program_operation; offsets in the block */
  int32_t kink;                  /* offset in the block of its first one; 0: it has none */
} lw_program_step;

extern const char *const lw_operation_names[LW_OPERATIONS];
extern const int32_t lw_operands_of[LW_OPERATIONS]; /* how many of the operands are values */

/* The operation that takes the place of two, of which the second has the value of the first as this operand; -1: none. */
int32_t lw_fused(int32_t first, int32_t second, int32_t operand);
/* The same as lw_operands_of, for fused ones as well. */
int32_t lw_operands_in_program(int32_t operation);

/* Whether its value has two derivatives wherever it is finite; a table's value where the table has them. */
int lw_is_smooth(int32_t operation);

/* How many kinks the operation of an instruction has. */
int32_t lw_kinks_of(const lw_instruction *i, int32_t arguments_of_table);
/* The operation of programs that may be held at these. */
int32_t lw_kinked(int32_t operation);

/* A kink in the block: the branch on which the formula is held, and the event indicator. */
typedef enum lw_kink_branch {
  LW_KINK_FREE = 0, /* nothing is held: evaluated as it is */
  LW_KINK_POSITIVE = 1,
  LW_KINK_NEGATIVE = -1,
  LW_KINK_AT_ZERO = 2, /* of sign alone */
  LW_KINK_SOUGHT = 3,  /* the next evaluation decides */
} lw_kink_branch;
enum {
  LW_KINK_BRANCH = 0,
  LW_KINK_HELD,
  LW_KINK_INDICATOR,
  LW_KINK_NUMBERS
}; /* held: a whole number, of rows or floors */

/* Which operand of a known operation is wrong, where so many numbers, quantities, tables and values before may be meant; the
 * second one of integer_power: its exponent is too large. -1: none. */
int32_t lw_wrong_operand(const lw_instruction *i, int32_t numbers, int32_t quantities, int32_t tables, int32_t before);

/* A lookup table of a formula. An argument has one row for each knot; a periodic one not for the last. */
typedef struct lw_lookup {
  int32_t knots[2], periodic[2], rows[2];    /* of x and y; of one argument: 0 knots of y and one row */
  int32_t arguments, interpolation, outside; /* lw_interpolation, lw_outside */
  int32_t formula, first_value, first_slope; /* among the values and slopes of all tables */
  int32_t value, slope, refused;             /* offsets in the block: rows of x one after the other */
  int32_t region; /* likewise, see find_regions() in lookup_table_kernel.h; 0: all knots count */
  const double *knot[2];
} lw_lookup;

/* Knots of longer tables of one argument are kinks only where they stand out. */
static inline int lw_has_regions(const lw_lookup *t) {
  return t->arguments == 1 && t->knots[0] > (t->interpolation == LW_LOOKUP_LINEAR ? LONG_LINEAR : LONG_MONOTONE);
}

/* What a formula reads: which of the numbers of its name, LW_KIND_QUANTITY, and its offset in the block. */
typedef struct lw_formula_quantity_row {
  int32_t index, offset;
} lw_formula_quantity_row;

typedef struct lw_program {
  const lw_program_step *code; /* the last one is LW_PROGRAM_END */
  const lw_program_step *free; /* the same with its kinks free */
  const int32_t *result;       /* offsets in the block */
  int32_t value, instructions; /* offset of the first value in the block; each instruction has the next one */
  int32_t quantities;
  const lw_formula_quantity_row *quantity;
  int32_t tables;
  const lw_lookup *table;
  int32_t kinks, results;
} lw_program;

/* A formula of the serialised model: how many it has of each, and where its own begin in the lists of all. */
typedef struct lw_formula_rows {
  int32_t numbers, inputs, quantities, instructions, results, tables;
  int32_t first_number, first_input, first_quantity, first_instruction, first_result, first_table;
  int32_t reads_rates, reads_time; /* itself, or an output that it reads */
} lw_formula_rows;
#endif
