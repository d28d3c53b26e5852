/* Steps of fixed size from blocks of rows. A method is a class below that takes one step, and a line of begin(). */
#include "tape/rows.h"
#include "tape/tape.h"
extern "C" {
#include "block/state.h"
#include "ode/rodas5p_stages.h"
}
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace {

/* Rows of given numbers while they move, of which those that have failed are not written to. */
class moved_block {
 public:
  moved_block(lw_state *s, lw_tapes &tapes, double *given, double *stages, int32_t rows, const lw_steps &steps,
              int8_t *why)
      : steps(steps),
        rows(rows),
        n(lw::numbers_of(tapes).computed.size()),
        width(lw::numbers_of(tapes).given.size()),
        s(s),
        tapes(tapes),
        given(given),
        stages(stages),
        why(why) {
    std::fill_n(why, rows, (int8_t)LW_MOVED);
  }

  const lw_steps &steps;
  const int32_t rows;
  const size_t n, width; /* numbers of a row that move, and all that are given */

  /* The rates [rows][n] of those that move. */
  lw_status find_rates(double *rates) {
    if (stages) keep_stage();
    return evaluate(tapes, rates, LW_NO_RATES);
  }
  lw_status find_second(double *numbers) { return evaluate(*steps.second, numbers, LW_NO_SECOND); }

  template <typename work>
  void each_row(const work &of) {
    for (int32_t k = 0; k < rows; k++)
      if (!(failed >> k & 1)) of((size_t)k);
  }
  void fail(size_t row, int8_t reason) { why[row] = reason, failed |= (uint64_t)1 << row; }

  /* A number of a row that moves, and a time of it. */
  double &number(size_t row, size_t i) { return of(row)[steps.moves[i]]; }
  double &time(size_t row, size_t i) { return of(row)[steps.times[i]]; }

  /* The numbers and times of a row; of these, as they are at a start, and later. */
  void keep(size_t row, double *y, double *times) {
    for (size_t i = 0; i < n; i++) y[i] = number(row, i);
    for (size_t i = 0; i < steps.n_times; i++) times[i] = time(row, i);
  }
  void put_times(size_t row, const double *times, double later) {
    for (size_t i = 0; i < steps.n_times; i++) time(row, i) = times[i] + later;
  }

  lw::numbers_of_tapes second() const { return lw::numbers_of(*steps.second); }
  /* Which number moves by a rate, by its offset; that a given one is, n: it is a time. */
  size_t number_of(uint32_t rate) const { return place(lw::numbers_of(tapes).computed, rate); }
  size_t place_of(uint32_t offset) const {
    const uint32_t column = (uint32_t)place(lw::numbers_of(tapes).given, offset);
    return (size_t)(std::find(steps.moves, steps.moves + n, column) - steps.moves);
  }

 private:
  lw_state *s;
  lw_tapes &tapes;
  double *given, *stages;
  int8_t *why;
  uint64_t failed = 0;
  int64_t evaluations = 0;

  static size_t place(const std::vector<uint32_t> &among, uint32_t offset) {
    return (size_t)(std::find(among.begin(), among.end(), offset) - among.begin());
  }
  void keep_stage() {
    for (int64_t k = 0; k < rows; k++)
      std::copy_n(of((size_t)k), width, stages + (size_t)(k * 4 * steps.count + evaluations) * width);
    evaluations++;
  }

  double *of(size_t row) { return given + row * width; }

  lw_status evaluate(lw_tapes &by, double *computed, int8_t reason) {
    const uint64_t before = failed;
    const lw_status e = lw::evaluate_rows(s, by, given, rows, computed, &failed);
    for (int32_t k = 0; k < rows; k++)
      if ((failed & ~before) >> k & 1) why[k] = reason;
    return e;
  }
};

class method {
 public:
  explicit method(moved_block &block) : block(block), n(block.n), h(block.steps.step) {}
  virtual ~method() = default;
  virtual lw_status step() = 0;

 protected:
  moved_block &block;
  const size_t n;
  const double h;

  std::vector<double> rows_of(size_t numbers) const { return std::vector<double>((size_t)block.rows * numbers); }
};

/* Of a row, where a step starts. */
class from_start : public method {
 public:
  explicit from_start(moved_block &block)
      : method(block), start(rows_of(n)), times(rows_of(block.steps.n_times)), slope(rows_of(n)) {}

 protected:
  std::vector<double> start, times, slope; /* [rows][n], [rows][n_times], [rows][n] */

  void keep_start() {
    block.each_row([this](size_t row) { block.keep(row, start_of(row), times_of(row)); });
  }
  double *start_of(size_t row) { return start.data() + row * n; }
  double *times_of(size_t row) { return times.data() + row * block.steps.n_times; }
  const double *slope_of(size_t row) const { return slope.data() + row * n; }
};

/* y_1 = y_0 + h / 6 (k_1 + 2 k_2 + 2 k_3 + k_4) */
class runge_kutta : public from_start {
 public:
  explicit runge_kutta(moved_block &block) : from_start(block), sum(rows_of(n)) {}

  lw_status step() override {
    keep_start();
    for (int stage = 0; stage < 4; stage++) {
      const lw_status e = block.find_rates(slope.data());
      if (e) return e;
      block.each_row([this, stage](size_t row) { advance(row, stage); });
    }
    return LW_OK;
  }

 private:
  std::vector<double> sum;

  /* From the slopes of a stage to the numbers given to the next one, or to the end of the step. */
  void advance(size_t row, int stage) {
    static const double share[] = {0.5, 0.5, 1.0, 0.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
    const double *from = start_of(row), *now = slope_of(row);
    double *all = sum.data() + row * n;
    const double part = stage < 3 ? share[stage] * h : h;
    for (size_t i = 0; i < n; i++) {
      all[i] = stage ? all[i] + weight[stage] * now[i] : now[i];
      block.number(row, i) = from[i] + (stage < 3 ? part * now[i] : h / 6.0 * all[i]);
    }
    block.put_times(row, times_of(row), part);
  }
};

/* u_1 = u_0 + h u'(t_0, q_0, u_0), and so do states of elements; q_1 = q_0 + h q'(t_1, q_0, u_1) */
class semi_implicit : public from_start {
 public:
  explicit semi_implicit(moved_block &block) : from_start(block), late(rows_of(block.second().computed.size())) {
    for (const uint32_t offset : block.second().computed) later.push_back(block.number_of(offset));
    for (size_t i = 0; i < n; i++)
      if (std::find(later.begin(), later.end(), i) == later.end()) first.push_back(i);
  }

  lw_status step() override {
    keep_start();
    lw_status e = block.find_rates(slope.data());
    if (e) return e;
    block.each_row([this](size_t row) {
      for (const size_t i : first) block.number(row, i) = start_of(row)[i] + h * slope_of(row)[i];
      block.put_times(row, times_of(row), h);
    });
    if ((e = block.find_second(late.data()))) return e;
    block.each_row([this](size_t row) {
      const double *rates = late.data() + row * later.size();
      for (size_t k = 0; k < later.size(); k++) block.number(row, later[k]) = start_of(row)[later[k]] + h * rates[k];
    });
    return LW_OK;
  }

 private:
  std::vector<size_t> first, later; /* numbers that move by the rates at the start, and by later ones */
  std::vector<double> late;         /* these rates, [rows][later] */
};

/* Rodas5P, see ode/rodas5p.c. */
class rosenbrock : public from_start {
 public:
  explicit rosenbrock(moved_block &block)
      : from_start(block),
        derivatives(rows_of(n * block.second().by.size())),
        argument(rows_of(n)),
        by_time(rows_of(n)),
        lu(rows_of(n * n)),
        matrix(n * n),
        scale(n),
        rhs(n),
        order((size_t)block.rows * n) {
    for (const uint32_t offset : block.second().by) columns.push_back(block.place_of(offset));
    for (std::vector<double> &one : u) one = rows_of(n);
  }

  lw_status step() override {
    keep_start();
    lw_status e = block.find_rates(slope.data());
    if (e || (e = block.find_second(derivatives.data()))) return e;
    block.each_row([this](size_t row) { decompose(row); });
    for (int s = 0;; s++) {
      block.each_row([this, s](size_t row) { move(row, s); });
      if (s + 1 == LW_RODAS5P_STAGES) return LW_OK;
      if ((e = block.find_rates(slope.data()))) return e;
    }
  }

 private:
  std::vector<size_t> columns;            /* of the derivatives: by which number that moves; n: by a time */
  std::vector<double> derivatives;        /* [rows][n][columns] */
  std::vector<double> argument;           /* of f, [rows][n] */
  std::vector<double> by_time, lu;        /* [rows][n], [rows][n][n] */
  std::vector<double> matrix, scale, rhs; /* of one row */
  std::vector<int32_t> order;             /* [rows][n] */
  std::vector<double> u[LW_RODAS5P_STAGES];

  void decompose(size_t row) {
    const double *of = derivatives.data() + row * n * columns.size();
    double *later = by_time.data() + row * n;
    for (size_t i = 0; i < n; i++) {
      later[i] = 0.0;
      for (size_t k = 0; k < columns.size(); k++) {
        const double one = of[i * columns.size() + k];
        if (columns[k] < n) matrix[i * n + columns[k]] = one;
        else later[i] += one;
      }
    }
    if (lw_rodas5p_decompose((int32_t)n, h, matrix.data(), lu.data() + row * n * n, order.data() + row * n,
                             scale.data()))
      block.fail(row, LW_SINGULAR_STEP);
  }

  /* Solves for U of a stage, and brings the row to the next one, or to the end of the step. */
  void move(size_t row, int s) {
    const int32_t size = (int32_t)n;
    const double *stages[LW_RODAS5P_STAGES];
    for (int j = 0; j < LW_RODAS5P_STAGES; j++) stages[j] = u[j].data() + row * n;
    lw_rodas5p_rhs(size, s, h, slope_of(row), stages, by_time.data() + row * n, rhs.data());
    lw_lu_solve(lu.data() + row * n * n, size, order.data() + row * n, rhs.data(), u[s].data() + row * n);
    double *y = argument.data() + row * n;
    lw_rodas5p_argument(size, s + 1, start_of(row), stages, y);
    for (size_t i = 0; i < n; i++) block.number(row, i) = y[i];
    block.put_times(row, times_of(row), s + 1 < LW_RODAS5P_STAGES ? ALPHA[s + 1] * h : h);
  }
};

std::unique_ptr<method> begin(moved_block &block) {
  switch (block.steps.method) {
    case LW_STEP_RK4: return std::make_unique<runge_kutta>(block);
    case LW_STEP_SEMI: return std::make_unique<semi_implicit>(block);
    case LW_STEP_ROSENBROCK: return std::make_unique<rosenbrock>(block);
  }
  return nullptr;
}

} // namespace

lw_status lw_move_states(lw_state *s, lw_tapes *tapes, double *given, int64_t count, const lw_steps *steps,
                         int8_t *failed) {
  const size_t width = lw::numbers_of(*tapes).given.size();
  try {
    lw_status e = lw::begin_rows(s, *tapes);
    if (!e && steps->second) e = lw::begin_rows(s, *steps->second);
    for (int64_t first = 0; first < count && !e; first += LW_TAPE_STATES) {
      const int32_t rows = (int32_t)std::min<int64_t>(count - first, LW_TAPE_STATES);
      double *stages = steps->stages ? steps->stages + (size_t)(first * 4 * steps->count) * width : nullptr;
      moved_block block(s, *tapes, given + (size_t)first * width, stages, rows, *steps, failed + first);
      const std::unique_ptr<method> by = begin(block);
      for (int64_t i = 0; i < steps->count && !e; i++) e = by->step();
    }
    return e;
  } catch (const std::bad_alloc &) {
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for steps");
  }
}
