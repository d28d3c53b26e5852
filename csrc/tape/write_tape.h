/* From a record to a tape. */
#ifndef LW_TAPE_WRITE_TAPE_H
#define LW_TAPE_WRITE_TAPE_H
#include "tape/record.h"
#include "tape/tape.h"

namespace lw {

struct written_tape {
  std::vector<lw_tape_step> steps;
  std::vector<int32_t> inputs; /* numbers of those that count; they are the first registers */
  std::vector<double> constants;
  std::vector<int32_t> results; /* registers */
  int32_t registers = 0, guards = 0, kept = 0, first_steps = 0, first_results = 0;

  lw_tape view() const;
};

/* Only what results and guards need, in registers that are used again. Inputs from `kept` on are the same for all states:
 * their registers stand behind the constants and are not used again; written are the numbers of those that count. What
 * guards and the first results need comes first. */
written_tape write_tape(record from, int32_t kept, int32_t first_results, std::vector<int32_t> *kept_inputs);

} // namespace lw
#endif
