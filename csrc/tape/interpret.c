/* The interpreter of tapes for any processor, and what one operation gives. */
#define RUN_TAPE lw_run_tape
#define FIND_LARGE lw_find_large
#define MOVE_COLUMN lw_move_column
#define SOLVE_COLUMNS lw_solve_columns
#include "tape/interpret_kernel.h"

#define ROOT(x) sqrt(x)
#define ABSOLUTE(x) fabs(x)
#define CHOSEN(which, yes, no) ((which) ? (yes) : (no))

double lw_tape_value(lw_tape_operation operation, const double operand[4]) {
  const double a = operand[0], b = operand[1], c = operand[2], d = operand[3];
  switch (operation) {
#define X(name, operands, formula)     \
  case LW_TAPE_##name: return formula;
    LW_EACH_TAPE_FORMULA(X)
    LW_EACH_TAPE_PRODUCT(X)
    LW_EACH_TAPE_GUARD(X)
#undef X
#define X(name, operands, formula) case LW_TAPE_##name:
    LW_EACH_TAPE_FUNCTION(X)
#undef X
    case LW_TAPE_sine_cosine: return value_of_function(operation, a, b);
    case LW_TAPE_CONSTANT:
    case LW_TAPE_INPUT:
    case LW_TAPE_OPERATIONS: break;
  }
  return NAN;
}

int lw_run_tape_once(const lw_tape *t, double *registers) {
  for (int32_t i = 0; i < t->steps; i++) {
    const lw_tape_step *step = t->step + i;
    const double a = registers[step->operand[0]], b = registers[step->operand[1]], c = registers[step->operand[2]];
    const double d = registers[step->operand[3]];
    double *to = registers + step->to;
    (void)c, (void)d;
    switch ((lw_tape_operation)step->operation) {
#define X(name, operands, formula)             \
  case LW_TAPE_##name: *to = (formula); break;
      LW_EACH_TAPE_FORMULA(X)
      LW_EACH_TAPE_PRODUCT(X)
#undef X
#define X(name, operands, formula) \
  case LW_TAPE_##name:             \
    if (!(formula)) return 0;      \
    break;
      LW_EACH_TAPE_GUARD(X)
#undef X
#define X(name, operands, formula) case LW_TAPE_##name:
      LW_EACH_TAPE_FUNCTION(X)
      *to = value_of_function((lw_tape_operation)step->operation, a, b);
      break;
      case LW_TAPE_sine_cosine:
        *to = value_of_function(LW_TAPE_sine, a, b);
        registers[step->operand[1]] = value_of_function(LW_TAPE_cosine, a, b);
        break;
      case LW_TAPE_CONSTANT:
      case LW_TAPE_INPUT:
      case LW_TAPE_OPERATIONS: break; /* none of them is a step */
#undef X
    }
  }
  return 1;
}
