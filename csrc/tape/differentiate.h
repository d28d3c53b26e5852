/* Derivatives of recorded numbers, as operations of the same record. */
#ifndef LW_TAPE_DIFFERENTIATE_H
#define LW_TAPE_DIFFERENTIATE_H
#include "tape/recorder.h"

namespace lw {

/* Derivatives of each number by each input, row by row. Throws a refusal where decisions that a number is zero hide how
 * it changes. */
std::vector<recorded> differentiate(recorder &to, const std::vector<recorded> &numbers,
                                    const std::vector<recorded> &inputs);

} // namespace lw
#endif
