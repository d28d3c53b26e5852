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

/* Rows of derivatives by the states and by the time, as they are asked for. */
void write(const lw_tapes &t, const std::vector<double> &results, double *matrix, double *by_time) {
  const size_t n = t.computed.size();
  for (size_t i = 0; i < n; i++) {
    std::copy_n(results.data() + i * (n + 1), n, matrix + i * n);
    by_time[i] = results[i * (n + 1) + n];
  }
}

std::vector<double> in_rows(const lw_tapes &t, const double *matrix, const double *by_time) {
  const size_t n = t.computed.size();
  std::vector<double> rows(t.width());
  for (size_t i = 0; i < n; i++) {
    std::copy_n(matrix + i * n, n, rows.data() + i * (n + 1));
    rows[i * (n + 1) + n] = by_time[i];
  }
  return rows;
}

size_t steps_of(const std::vector<recorded_tape> &tapes) {
  size_t n = 0;
  for (const recorded_tape &one : tapes) n += one.written.steps.size();
  return n;
}

int find(void *tapes, lw_state *s, double *matrix, double *by_time) {
  lw_tapes &t = *(lw_tapes *)tapes;
  if (s->before_accelerations || t.adopted.empty() || lw_evaluate(s, LW_STAGE_CONSTANTS)) return 0;
  try {
    std::vector<double> results;
    for (auto one = t.adopted.begin(); one != t.adopted.end(); one++) {
      if (!run_once(t.tapes[*one], t, s, results)) continue;
      std::rotate(t.adopted.begin(), one, one + 1);
      write(t, results, matrix, by_time);
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

void learn(void *tapes, lw_state *s, const double *matrix, const double *by_time) {
  lw_tapes &t = *(lw_tapes *)tapes;
  const int32_t n = (int32_t)t.computed.size();
  if (s->before_accelerations || t.adoptions >= LW_JACOBIAN_ADOPTIONS) return;
  if (++t.by_steps < std::max(LW_JACOBIANS_BEFORE, n * n / LW_JACOBIANS_BEFORE_SHARE)) return;
  t.by_steps = 0, t.adoptions++;
  try {
    std::vector<double> results;
    const size_t number = tape_of_state(t, s, results);
    t.adopted_steps += t.tapes[number].written.steps.size();
    if (t.adopted_steps > LW_JACOBIAN_MOST_STEPS) t.adoptions = LW_JACOBIAN_ADOPTIONS;
    else if (agrees(t, results, in_rows(t, matrix, by_time).data())) t.adopted.insert(t.adopted.begin(), number);
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
