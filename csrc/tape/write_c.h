/* From a tape to a function in C. */
#ifndef LW_TAPE_WRITE_C_H
#define LW_TAPE_WRITE_C_H
#include "block/compiled_rates.h"
#include "tape/tape.h"
#include <string>
#include <vector>

namespace lw {

/* How many columns of 8 numbers an lw_compiled_tape of the tape leaves, at most. */
int32_t left_by_function(const lw_tape &t);

/* A file with one function, an lw_compiled_tape, which gives the bits of lw_run_tape where
 * the compiler contracts no products and sums. It includes nothing. `inputs`: their columns among the given numbers. */
std::string write_c(const lw_tape &t, const std::vector<int32_t> &inputs);

/* Where the numbers of a tape stand in the block of a state. */
struct state_places {
  std::vector<int32_t> inputs, kept, results; /* offsets */
  double largest_input;
};

/* How many numbers an lw_rates_function of the tape leaves, at most. */
int32_t left_by_function_of_one(const lw_tape &t);

/* The same for the state of a block, an lw_rates_function. */
std::string write_c_of_one(const lw_tape &t, const state_places &places);

/* A tape for the state of a block, with the conditions of its lw_compiled_rates. */
struct conditional_tape {
  lw_tape tape;
  state_places places;
  lw_tape_conditions where;
};

/* Tapes of one model: of rates, and of Jacobians, whose rows are offsets and whose columns are those of the library. */
struct jacobian_tapes {
  std::vector<int32_t> rows;
  std::vector<conditional_tape> tapes;
};
struct library_of_tapes {
  std::vector<conditional_tape> rates;
  std::vector<int32_t> columns;
  std::vector<jacobian_tapes> jacobians; /* LW_JACOBIAN_KINDS */
  uint32_t layout;
};

/* A file with their functions and one variable, linkwork_rates, an lw_rates_library. It includes block/compiled_rates.h.
 * Where LINKWORK_EMBEDDED is defined, the variable is not exported. */
std::string write_c_of_library(const library_of_tapes &library);

} // namespace lw
#endif
