/* The checks of an instruction, for the builder and the reader of models. */
#include "formula/program.h"

const char *const lw_operation_names[LW_OPERATIONS] = {
#define X(name, operands) #name,
    LW_EACH_OPERATION(X)
#undef X
};

const int32_t lw_operands_of[LW_OPERATIONS] = {
#define X(name, operands) operands,
    LW_EACH_OPERATION(X)
#undef X
};

int lw_is_smooth(int32_t operation) {
  switch (operation) {
    case LW_DO_abs:
    case LW_DO_sign:
    case LW_DO_min:
    case LW_DO_max:
    case LW_DO_mod:
    case LW_DO_less:
    case LW_DO_less_equal:
    case LW_DO_select:
    case LW_DO_floor: return 0;
    default: return 1;
  }
}

int32_t lw_kinks_of(const lw_instruction *i, int32_t arguments_of_table) {
  switch (i->operation) {
#define X(name, kinks)                                             \
  case LW_DO_##name: return (kinks) == 1 ? 1 : arguments_of_table;
    LW_EACH_KINK(X)
#undef X
    default: return 0;
  }
}

int32_t lw_kinked(int32_t operation) {
  switch (operation) {
#define X(name, kinks)                      \
  case LW_DO_##name: return LW_KINK_##name;
    LW_EACH_KINK(X)
#undef X
    default: return operation;
  }
}

int32_t lw_fused(int32_t first, int32_t second, int32_t operand) {
#define X(one, other, place, both)                                                             \
  if (first == LW_##one && second == LW_##other && operand == (place)) return LW_FUSED_##both;
  LW_EACH_FUSION(X)
#undef X
  return -1;
}

int32_t lw_operands_in_program(int32_t operation) {
  switch (operation) {
#define X(name, operands, value)         \
  case LW_FUSED_##name: return operands;
    LW_EACH_FUSED(X)
#undef X
    default: return lw_operands_of[operation];
  }
}

static int is_below(int32_t i, int32_t count) { return i >= 0 && i < count; }

int32_t lw_wrong_operand(const lw_instruction *i, int32_t numbers, int32_t quantities, int32_t tables, int32_t before) {
  if (i->operation == LW_DO_number) return is_below(i->operand[0], numbers) ? -1 : 0;
  if (i->operation == LW_DO_quantity) return is_below(i->operand[0], quantities) ? -1 : 0;
  for (int32_t k = 0; k < lw_operands_of[i->operation]; k++)
    if (!is_below(i->operand[k], before)) return k;
  if (i->operation == LW_DO_table && !is_below(i->operand[2], tables)) return 2;
  const int32_t exponent = i->operation == LW_DO_integer_power ? i->operand[1] : 0;
  return exponent >= -LW_MOST_EXPONENT && exponent <= LW_MOST_EXPONENT ? -1 : 1;
}
