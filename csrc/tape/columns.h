/* Numbers of blocks of states in columns, and what tapes and kernels compute of them, for the methods that move states. */
#ifndef LW_TAPE_COLUMNS_H
#define LW_TAPE_COLUMNS_H
#include "tape/tape.h"
#include "tape/tapes.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace lw {

/* Of the cache. */
struct alignas(64) line {
  double number[8];
};

/* Of LW_TAPE_STATES states each; of a block with fewer states, numbers of no meaning follow. */
class columns {
 public:
  explicit columns(size_t count = 0) { resize(count); }
  void resize(size_t count) { lines.resize(std::max<size_t>(count, 1) * LINES); } /* without columns an address too */
  double *operator[](size_t i) { return (lines.data() + i * LINES)->number; }
  const double *operator[](size_t i) const { return (lines.data() + i * LINES)->number; }

 private:
  static constexpr size_t LINES = LW_TAPE_STATES * sizeof(double) / sizeof(line);
  std::vector<line> lines;
};

/* Between the row of n numbers of one state and columns, of which columns[i] has one number of all states. */
template <typename list>
void put_row(const double *row, size_t n, size_t state, list &columns) {
  for (size_t i = 0; i < n; i++) columns[i][state] = row[i];
}
template <typename list>
void take_row(const list &columns, size_t n, size_t state, double *row) {
  for (size_t i = 0; i < n; i++) row[i] = columns[i][state];
}

/* The first states of columns to rows, which begin `stride` numbers after each other; a line of states at once. */
template <typename list>
void take_rows(const list &columns, size_t n, size_t states, double *rows, size_t stride) {
  constexpr size_t AT_ONCE = sizeof(line) / sizeof(double);
  for (size_t first = 0; first < states; first += AT_ONCE)
    for (size_t i = 0; i < n; i++)
      for (size_t k = first; k < std::min(first + AT_ONCE, states); k++) rows[k * stride + i] = columns[i][k];
}

/* Functions of columns by the instructions of the state's kernels. */
struct column_functions {
  decltype(&lw_run_tape) run;
  lw_number_function *function;
  decltype(&lw_find_large) find_large;
  decltype(&lw_move_column) move;
  decltype(&lw_solve_columns) solve;
};
column_functions functions_of(const lw_state *s);

/* Of tapes: offsets of their numbers, and the columns of those that were computed last. */
struct numbers_of_tapes {
  const std::vector<uint32_t> &given, &computed, &by;
  const std::vector<const double *> &results;
};
numbers_of_tapes numbers_of(const lw_tapes &tapes);

/* Before the first states of a call. */
lw_status begin_states(lw_state *s, lw_tapes &tapes);

/* Computes the results of at most LW_TAPE_STATES states from columns of given numbers, but of those that have failed, a bit
 * each. Those that now do are added. LW_ERROR_MEMORY ends them all. */
lw_status evaluate_columns(lw_state *s, lw_tapes &tapes, const columns &given, int32_t states, uint64_t *failed);

} // namespace lw
#endif
