#include "tape/run_jacobians.h"
#include "tape/record.h"
#include "tape/recorded_tape.h"
extern "C" {
#include "block/state.h"
}
#include <algorithm>
#include <new>

namespace {

using namespace lw;

/* Whether it counts for the present state, whose constants are valid; writes its results then. */
bool run_once(recorded_tape &tape, const lw_tapes &t, const lw_state *s, std::vector<double> &results) {
  if (!holds_for(tape, s)) return false;
  const double *x = lw_reals(s);
  const lw_tape view = tape.written.view();
  if (tape.of_one.empty()) {
    tape.of_one.resize((size_t)view.registers);
    std::copy_n(view.constant, view.constants, tape.of_one.data() + view.inputs);
  }
  double *registers = tape.of_one.data();
  for (size_t i = 0; i < tape.written.inputs.size(); i++) {
    registers[i] = x[t.given[(size_t)tape.written.inputs[i]]];
    if (!(std::fabs(registers[i]) <= LW_TAPE_LARGEST_INPUT)) return false;
  }
  double *kept = registers + view.inputs + view.constants;
  for (const assumption &one : tape.kept) *kept++ = x[one.offset];
  if (!lw_run_tape_once(&view, registers)) return false;
  results.resize(t.width());
  for (size_t i = 0; i < results.size(); i++) results[i] = registers[view.result[i]];
  return true;
}

/* From rows of derivatives by states, time and inputs to the matrix that is asked for. */
class requested_matrix {
 public:
  requested_matrix(const lw_tapes &t, const lw_state *s, const lw_input_slopes *law)
      : n(t.computed.size()),
        columns(law ? (size_t)law->states : n),
        width(t.by.size()),
        inputs((size_t)(s->model->at.motion_time - s->model->at.tau)),
        by_states(law ? law->by_states : nullptr) {
    for (size_t k = n + 1; k < width; k++) place.push_back(t.by[k] - (size_t)s->model->at.tau);
  }
  size_t size() const { return n * columns; }

  /* Whether the tapes differentiate by all inputs that follow the states. */
  bool has_inputs() const {
    std::vector<char> known(inputs, 0);
    for (const size_t input : place) known[input] = 1;
    for (size_t i = 0; by_states && i < columns * inputs; i++)
      if (!known[i % inputs] && by_states[i] != 0.0) return false;
    return true;
  }

  void write(const std::vector<double> &results, double *matrix, double *by_time) const {
    for (size_t i = 0; i < n; i++) {
      const double *row = results.data() + i * width;
      for (size_t k = 0; k < columns; k++) matrix[i * columns + k] = (k < n ? row[k] : 0.0) + through_inputs(row, k);
      if (by_time) by_time[i] = row[n];
    }
  }

 private:
  size_t n, columns, width, inputs;
  const double *by_states;
  std::vector<size_t> place; /* by column behind the time: the number of the input */

  double through_inputs(const double *row, size_t state) const {
    double sum = 0.0;
    for (size_t k = 0; by_states && k < place.size(); k++) sum += row[n + 1 + k] * by_states[state * inputs + place[k]];
    return sum;
  }
};

size_t steps_of(const std::vector<recorded_tape> &tapes) {
  size_t n = 0;
  for (const recorded_tape &one : tapes) n += one.written.steps.size();
  return n;
}

int find(void *tapes, lw_state *s, const lw_input_slopes *law, double *matrix, double *by_time) {
  lw_tapes &t = *(lw_tapes *)tapes;
  if (s->before_accelerations || t.adopted.empty() || lw_evaluate(s, LW_STAGE_CONSTANTS)) return 0;
  try {
    const requested_matrix asked(t, s, law);
    std::vector<double> results;
    if (!asked.has_inputs()) return 0;
    for (auto one = t.adopted.begin(); one != t.adopted.end(); one++) {
      if (!run_once(t.tapes[*one], t, s, results)) continue;
      std::rotate(t.adopted.begin(), one, one + 1);
      asked.write(results, matrix, by_time);
      return 1;
    }
  } catch (const std::bad_alloc &) { /* complex steps do it */
  }
  return 0;
}

/* The number of the tape of the present state. */
size_t tape_of_state(lw_tapes &t, const lw_state *s, std::vector<double> &results) {
  for (size_t i = 0; i < t.tapes.size(); i++)
    if (run_once(t.tapes[i], t, s, results)) return i;
  t.tapes.push_back(record_state(s, t));
  if (!run_once(t.tapes.back(), t, s, results)) throw refusal(DIFFERS);
  return t.tapes.size() - 1;
}

/* Whether complex steps gave the same. */
bool agrees_with(const requested_matrix &asked, const lw_tapes &t, const std::vector<double> &results,
                 const double *matrix, const double *by_time) {
  std::vector<double> own(asked.size() + t.computed.size()), other = own;
  double *of_time = own.data() + asked.size();
  asked.write(results, own.data(), by_time ? of_time : nullptr);
  std::copy_n(matrix, asked.size(), other.data());
  if (by_time) std::copy_n(by_time, t.computed.size(), other.data() + asked.size());
  return agrees(t, own, other.data());
}

void learn(void *tapes, lw_state *s, const lw_input_slopes *law, const double *matrix, const double *by_time) {
  lw_tapes &t = *(lw_tapes *)tapes;
  const int32_t n = (int32_t)t.computed.size();
  if (s->before_accelerations || t.adoptions >= LW_JACOBIAN_ADOPTIONS) return;
  try {
    const requested_matrix asked(t, s, law);
    if (!asked.has_inputs()) return;
    if (++t.by_steps < std::max(LW_JACOBIANS_BEFORE, n * n / LW_JACOBIANS_BEFORE_SHARE)) return;
    t.by_steps = 0, t.adoptions++;
    std::vector<double> results;
    const size_t number = tape_of_state(t, s, results);
    t.adopted_steps += t.tapes[number].written.steps.size();
    if (t.adopted_steps > LW_JACOBIAN_MOST_STEPS) t.adoptions = LW_JACOBIAN_ADOPTIONS;
    else if (agrees_with(asked, t, results, matrix, by_time)) t.adopted.insert(t.adopted.begin(), number);
  } catch (const refusal &why) {
    t.refusal = why.what();
  } catch (const std::bad_alloc &) { /* complex steps do it */
  }
}

} // namespace

int32_t lw_jacobian_columns(const lw_model *m, uint32_t *offsets) {
  for (int32_t i = 0; offsets && i < m->size.states; i++) offsets[i] = (uint32_t)(m->at.q + i);
  if (offsets) offsets[m->size.states] = (uint32_t)m->at.time;
  return m->size.states + 1;
}

void lw_use_jacobians(lw_state *s, lw_tapes *tapes) {
  if (tapes) {
    tapes->adopted.clear(), tapes->adopted_steps = 0, tapes->adoptions = tapes->by_steps = 0;
    if (steps_of(tapes->tapes) > LW_JACOBIAN_MOST_STEPS) tapes->tapes.clear();
    s->jacobians = {find, learn, tapes};
  } else {
    s->jacobians = {};
  }
}

int32_t lw_jacobians_adopted(const lw_tapes *tapes) { return (int32_t)tapes->adopted.size(); }
