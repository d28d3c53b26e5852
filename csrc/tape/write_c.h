/* From a tape to a function in C. */
#ifndef LW_TAPE_WRITE_C_H
#define LW_TAPE_WRITE_C_H
#include "tape/tape.h"
#include <string>

namespace lw {

/* A file with one function, an lw_compiled_tape, which gives the bits of lw_run_tape where
 * the compiler contracts no products and sums. It includes nothing. */
std::string write_c(const lw_tape &t);

} // namespace lw
#endif
