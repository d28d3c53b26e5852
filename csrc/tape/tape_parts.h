/* Divides the steps of a tape into parts, for functions in C. Equal clusters and bodies leave the same operations again and
 * again, for other registers: such parts have one function. */
#ifndef LW_TAPE_PARTS_H
#define LW_TAPE_PARTS_H
#include "tape/tape.h"
#include <cstddef>
#include <vector>

namespace lw {

/* Where a number stands that a part reads. A sine that is known before all steps has no register, but a number. */
enum class place_kind : int32_t { input, constant, kept, left, early_sine, early_cosine };
struct tape_place {
  place_kind kind;
  int32_t number;
};

/* A number of a part that others read: that of a step, counted from the begin, or its second one; and the register where it
 * is left. `registers` itself: it is not needed, but that of another part with the same function is. */
struct tape_output {
  int32_t step;
  bool is_second;
  int32_t to;
};

struct tape_part {
  int32_t begin, end; /* steps */
  std::size_t like;   /* the first part with the same function: this one, if it has its own */
  bool is_shared;
  std::vector<tape_place> reads; /* in the order of their first use */
  std::vector<tape_output> outputs;
};

struct tape_division {
  std::vector<tape_part> parts;
  std::vector<tape_place> results;
  std::size_t first_parts; /* those of the first steps */
};

/* `early`: by step, the number of a sine that is known before all steps, or -1. */
tape_division divide(const lw_tape &t, const std::vector<int32_t> &early);

/* Steps of all functions together: those of parts with the same function count once. */
int32_t distinct_steps(const lw_tape &t);

inline int operands_of(const lw_tape_step &step) { return lw_tape_operands((lw_tape_operation)step.operation); }
inline bool is_guard(const lw_tape_step &step) { return step.operation >= LW_TAPE_less; }
inline bool has_second(const lw_tape_step &step) { return step.operation == LW_TAPE_sine_cosine; }

} // namespace lw
#endif
