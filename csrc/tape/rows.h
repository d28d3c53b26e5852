/* Numbers of a block of rows, by tapes and kernels, for the methods that move rows. */
#ifndef LW_TAPE_ROWS_H
#define LW_TAPE_ROWS_H
#include "tape/tapes.h"
#include <cstdint>
#include <vector>

namespace lw {

/* Offsets of the numbers of tapes. */
struct numbers_of_tapes {
  const std::vector<uint32_t> &given, &computed, &by;
};

numbers_of_tapes numbers_of(const lw_tapes &tapes);

/* Before the first rows of a call. */
lw_status begin_rows(lw_state *s, lw_tapes &tapes);

/* At most LW_TAPE_STATES rows of given numbers to rows of computed ones, but those that have failed, a bit each. Those that
 * now do are added. LW_ERROR_MEMORY ends them all. */
lw_status evaluate_rows(lw_state *s, lw_tapes &tapes, const double *given, int32_t rows, double *computed,
                        uint64_t *failed);

} // namespace lw
#endif
