/* Derivatives of recorded numbers, as operations of the same record. */
#ifndef LW_TAPE_DIFFERENTIATE_H
#define LW_TAPE_DIFFERENTIATE_H
#include "tape/recorder.h"

namespace lw {

/* Derivatives of each number by each input, row by row. Throws a refusal where decisions that a number is zero hide how
 * it changes. */
std::vector<recorded> differentiate(recorder &to, const std::vector<recorded> &numbers,
                                    const std::vector<recorded> &inputs);

/* Unknowns x of equations needed(inputs, x) = given, recorded as explicit functions of inputs and `given`, which are inputs;
 * `needed` was recorded with these x. */
struct solved_equations {
  std::vector<recorded> unknowns, given, needed;
};

/* The same of numbers that depend on inputs by way of the unknowns too, whose derivatives are -(dx/d given) (d needed/d inputs),
 * without those of the operations by which they were solved. */
std::vector<recorded> differentiate(recorder &to, const std::vector<recorded> &numbers,
                                    const std::vector<recorded> &inputs, const solved_equations &by);

} // namespace lw
#endif
