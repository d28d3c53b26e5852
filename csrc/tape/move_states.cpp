/* Steps of fixed size of blocks of states. A method is a class below that takes one step, and a line of begin(). */
#include "tape/columns.h"
extern "C" {
#include "block/state.h"
#include "ode/rodas5p_stages.h"
}
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

namespace {

/* The given numbers of states while they move, in columns. States that have failed are in their rows, as they were then; their
 * columns move on as numbers of no meaning. */
class moved_block {
 public:
  moved_block(lw_state *s, lw_tapes &tapes, double *rows, double *stages, int32_t states, const lw_steps &steps,
              int8_t *why)
      : steps(steps),
        states(states),
        n(lw::numbers_of(tapes).computed.size()),
        width(lw::numbers_of(tapes).given.size()),
        s(s),
        tapes(tapes),
        functions(lw::functions_of(s)),
        rows(rows),
        stages(stages),
        why(why),
        given(width),
        ones(1) {
    std::fill_n(ones[0], LW_TAPE_STATES, 1.0);
    std::fill_n(why, states, (int8_t)LW_MOVED);
    each_state([this](size_t k) { lw::put_row(row_of(k), width, k, given); });
  }

  const lw_steps &steps;
  const int32_t states;
  const size_t n, width; /* numbers of a state that move, and all that are given */

  /* The rates of those that move, and the numbers of the second tapes. */
  lw_status find_rates() {
    if (stages) keep_stage();
    return evaluate(tapes, LW_NO_RATES);
  }
  lw_status find_second() { return evaluate(*steps.second, LW_NO_SECOND); }
  const std::vector<const double *> &rates() const { return lw::numbers_of(tapes).results; }
  lw::numbers_of_tapes second() const { return lw::numbers_of(*steps.second); }

  template <typename work>
  void each_state(const work &of) {
    for (int32_t k = 0; k < states; k++)
      if (!(failed >> k & 1)) of((size_t)k);
  }
  void fail(size_t state, int8_t reason) {
    why[state] = reason, failed |= (uint64_t)1 << state;
    keep_row(state);
  }
  void end() {
    each_state([this](size_t k) { keep_row(k); });
  }

  /* Columns of numbers that move, and of times. */
  double *number(size_t i) { return given[steps.moves[i]]; }
  double *time(size_t i) { return given[steps.times[i]]; }

  /* number = from + factor by, or time = from + later */
  void advance(size_t i, const double *from, double factor, const double *by) {
    functions.move(number(i), from, factor, by, states);
  }
  void advance_time(size_t i, const double *from, double later) {
    functions.move(time(i), from, later, ones[0], states);
  }
  void add(double *to, double factor, const double *by) { functions.move(to, to, factor, by, states); }

  /* Systems of n equations, see lw_solve_columns. */
  void solve(const lw::columns &lu, lw::columns &x) { functions.solve(lu[0], (int32_t)n, states, x[0]); }

  /* Which number moves by a rate, by its offset; that a given one is, n: it is a time. */
  size_t number_of(uint32_t rate) const { return place(lw::numbers_of(tapes).computed, rate); }
  size_t place_of(uint32_t offset) const {
    const uint32_t column = (uint32_t)place(lw::numbers_of(tapes).given, offset);
    return (size_t)(std::find(steps.moves, steps.moves + n, column) - steps.moves);
  }

 private:
  lw_state *s;
  lw_tapes &tapes;
  const lw::column_functions functions;
  double *rows, *stages;
  int8_t *why;
  lw::columns given, ones;
  uint64_t failed = 0;
  int64_t evaluations = 0;

  static size_t place(const std::vector<uint32_t> &among, uint32_t offset) {
    return (size_t)(std::find(among.begin(), among.end(), offset) - among.begin());
  }
  void keep_stage() {
    lw::take_rows(given, width, (size_t)states, stages + (size_t)evaluations++ * width,
                  (size_t)(4 * steps.count) * width);
  }

  double *row_of(size_t state) { return rows + state * width; }
  void keep_row(size_t state) { lw::take_row(given, width, state, row_of(state)); }

  lw_status evaluate(lw_tapes &by, int8_t reason) {
    uint64_t now = failed;
    const lw_status e = lw::evaluate_columns(s, by, given, states, &now);
    for (size_t k = 0; failed != now; k++)
      if ((now & ~failed) >> k & 1) fail(k, reason);
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
};

/* Of a step, where it starts. */
class from_start : public method {
 public:
  explicit from_start(moved_block &block) : method(block), start(n), times(block.steps.n_times) {}

 protected:
  lw::columns start, times;

  void keep_start() {
    for (size_t i = 0; i < n; i++) std::copy_n(block.number(i), block.states, start[i]);
    for (size_t i = 0; i < block.steps.n_times; i++) std::copy_n(block.time(i), block.states, times[i]);
  }
  void put_times(double later) {
    for (size_t i = 0; i < block.steps.n_times; i++) block.advance_time(i, times[i], later);
  }
};

/* y_1 = y_0 + h / 6 (k_1 + 2 k_2 + 2 k_3 + k_4) */
class runge_kutta : public from_start {
 public:
  explicit runge_kutta(moved_block &block) : from_start(block), sum(n) {}

  lw_status step() override {
    keep_start();
    for (int stage = 0; stage < 4; stage++) {
      const lw_status e = block.find_rates();
      if (e) return e;
      advance(stage);
    }
    return LW_OK;
  }

 private:
  lw::columns sum;

  /* From the slopes of a stage to the numbers given to the next one, or to the end of the step. */
  void advance(int stage) {
    static const double share[] = {0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
    for (size_t i = 0; i < n; i++) {
      const double *slope = block.rates()[i];
      if (stage) block.add(sum[i], weight[stage], slope);
      else std::copy_n(slope, block.states, sum[i]);
      if (stage < 3) block.advance(i, start[i], share[stage] * h, slope);
      else block.advance(i, start[i], h / 6.0, sum[i]);
    }
    put_times(stage < 3 ? share[stage] * h : h);
  }
};

/* u_1 = u_0 + h u'(t_0, q_0, u_0), and so do states of elements; q_1 = q_0 + h q'(t_1, q_0, u_1) */
class semi_implicit : public from_start {
 public:
  explicit semi_implicit(moved_block &block) : from_start(block) {
    for (const uint32_t offset : block.second().computed) later.push_back(block.number_of(offset));
    for (size_t i = 0; i < n; i++)
      if (std::find(later.begin(), later.end(), i) == later.end()) first.push_back(i);
  }

  lw_status step() override {
    keep_start();
    lw_status e = block.find_rates();
    if (e) return e;
    for (const size_t i : first) block.advance(i, start[i], h, block.rates()[i]);
    put_times(h);
    if ((e = block.find_second())) return e;
    for (size_t k = 0; k < later.size(); k++) block.advance(later[k], start[later[k]], h, block.second().results[k]);
    return LW_OK;
  }

 private:
  std::vector<size_t> first, later; /* numbers that move by the rates at the start, and by later ones */
};

/* Rodas5P, see ode/rodas5p.c. */
class rosenbrock : public from_start {
 public:
  explicit rosenbrock(moved_block &block)
      : from_start(block),
        by_time(n),
        rhs(n),
        lu(n * n),
        derivatives(n * block.second().by.size()),
        matrix(n * n),
        decomposed(n * n),
        scale(n),
        order((size_t)block.states * n) {
    for (const uint32_t offset : block.second().by) columns.push_back(block.place_of(offset));
    for (lw::columns &one : u) one.resize(n);
  }

  lw_status step() override {
    keep_start();
    lw_status e = block.find_rates();
    if (e || (e = block.find_second())) return e;
    block.each_state([this](size_t k) { decompose(k); });
    for (int s = 0;; s++) {
      advance(s);
      if (s + 1 == LW_RODAS5P_STAGES) return LW_OK;
      if ((e = block.find_rates())) return e;
    }
  }

 private:
  std::vector<size_t> columns;  /* of the derivatives: by which number that moves; n: by a time */
  lw::columns by_time, rhs, lu; /* derivatives by the time; right-hand sides; matrices, rows in the order of pivots */
  lw::columns u[LW_RODAS5P_STAGES];
  std::vector<double> derivatives, matrix, decomposed, scale; /* of one state */
  std::vector<int32_t> order;                                 /* [states][n] */

  void decompose(size_t state) {
    int32_t *own = order.data() + state * n;
    lw::take_row(block.second().results, derivatives.size(), state, derivatives.data());
    for (size_t i = 0; i < n; i++) {
      double later = 0.0;
      for (size_t k = 0; k < columns.size(); k++) {
        const double one = derivatives[i * columns.size() + k];
        if (columns[k] < n) matrix[i * n + columns[k]] = one;
        else later += one;
      }
      by_time[i][state] = later;
    }
    if (lw_rodas5p_decompose((int32_t)n, h, matrix.data(), decomposed.data(), own, scale.data()))
      return block.fail(state, LW_SINGULAR_STEP);
    for (size_t i = 0; i < n * n; i++) lu[i][state] = decomposed[(size_t)own[i / n] * n + i % n];
  }

  /* Solves for U of a stage, and brings the states to the next one, or to the end of the step. */
  void advance(int s) {
    for (size_t i = 0; i < n; i++)
      lw_rodas5p_rhs(block.states, s, h, block.rates()[i], stages(i).data(), by_time[i], rhs[i]);
    block.each_state([this, s](size_t k) {
      for (size_t i = 0; i < n; i++) u[s][i][k] = rhs[(size_t)order[k * n + i]][k];
    });
    block.solve(lu, u[s]);
    for (size_t i = 0; i < n; i++)
      lw_rodas5p_argument(block.states, s + 1, start[i], stages(i).data(), block.number(i));
    put_times(s + 1 < LW_RODAS5P_STAGES ? ALPHA[s + 1] * h : h);
  }

  /* Columns of a number. */
  std::array<const double *, LW_RODAS5P_STAGES> stages(size_t i) const {
    std::array<const double *, LW_RODAS5P_STAGES> found;
    for (int j = 0; j < LW_RODAS5P_STAGES; j++) found[j] = u[j][i];
    return found;
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
    lw_status e = lw::begin_states(s, *tapes);
    if (!e && steps->second) e = lw::begin_states(s, *steps->second);
    for (int64_t first = 0; first < count && !e; first += LW_TAPE_STATES) {
      const int32_t states = (int32_t)std::min<int64_t>(count - first, LW_TAPE_STATES);
      double *stages = steps->stages ? steps->stages + (size_t)(first * 4 * steps->count) * width : nullptr;
      moved_block block(s, *tapes, given + (size_t)first * width, stages, states, *steps, failed + first);
      const std::unique_ptr<method> by = begin(block);
      for (int64_t i = 0; i < steps->count && !e; i++) e = by->step();
      block.end();
    }
    return e;
  } catch (const std::bad_alloc &) {
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for steps");
  }
}
