/* From a tape to a function in C. */
#ifndef LW_TAPE_WRITE_C_H
#define LW_TAPE_WRITE_C_H
#include "tape/tape.h"
#include <string>
#include <vector>

namespace lw {

/* A file with one function, an lw_compiled_tape, which gives the bits of lw_run_tape where
 * the compiler contracts no products and sums. It includes nothing. */
std::string write_c(const lw_tape &t);

/* Where the numbers of a tape stand in the block of a state. */
struct state_places {
  std::vector<int32_t> inputs, kept, results; /* offsets */
  double largest_input;
};

/* The same for the state of a block, an lw_rates_function. */
std::string write_c_of_one(const lw_tape &t, const state_places &places);

} // namespace lw
#endif
