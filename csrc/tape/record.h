/* What a recording leaves: operations on numbers, each with the values before it as operands, and the comparisons that
 * decided which operations these are. Where all of these guards hold, the operations give what the kernels give. */
#ifndef LW_TAPE_RECORD_H
#define LW_TAPE_RECORD_H
#include "math/operations.h"
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace lw {

/* An operation and its operands, which are nodes before it; of an input the first one is its number. */
struct node {
  lw_tape_operation operation;
  int32_t operand[4];
};

/* A comparison of two nodes that came out so. */
struct guard {
  lw_tape_operation comparison;
  int32_t a, b;
};

struct record {
  std::vector<node> nodes; /* the first one is the constant zero */
  std::vector<double> value;
  std::vector<guard> guards;
  std::vector<int32_t> results; /* nodes */
};

/* Why there is no tape. */
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace lw
#endif
