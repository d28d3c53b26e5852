#include "tape/tapes.h"
#include "tape/columns.h"
#include "tape/recorded_tape.h"
#include "tape/write_c.h"
extern "C" {
#include "block/state.h"
}
#include <algorithm>
#include <bitset>
#include <chrono>
#include <new>

namespace {

using namespace lw;

/* ---- evaluation ---- */

/* Which is no input of its own: those of motions continue from it. */
lw_status differentiate_by_motion_time(lw_state *s, const lw_tapes &t, double *column) {
  lw_status e = lw_seed_derivative(s, t.computed.data(), t.computed.size(), nullptr, 0, nullptr);
  if (!e) e = lw_seed(s, (uint32_t)s->model->at.motion_time, 1.0);
  if (!e) lw_end_derivative(s, t.computed.data(), t.computed.size(), column);
  return e;
}

/* By complex steps, column by column. */
lw_status differentiate_by_kernels(lw_state *s, const lw_tapes &t, double *computed) {
  const size_t columns = t.by.size();
  std::vector<double> column(t.computed.size());
  const double one = 1.0;
  for (size_t k = 0; k < columns; k++) {
    const lw_status e =
        t.by[k] == (uint32_t)s->model->at.motion_time
            ? differentiate_by_motion_time(s, t, column.data())
            : lw_directional_derivative(s, t.computed.data(), column.size(), &t.by[k], 1, &one, column.data());
    if (e) return e;
    for (size_t i = 0; i < column.size(); i++) computed[i * columns + k] = column[i];
  }
  return LW_OK;
}

lw_status find_loads_by_kernels(lw_state *s, const lw_tapes &t, double *computed) {
  const lw_model *m = s->model;
  const double *given = lw_reals(s) + m->at.acceleration;
  const std::vector<double> udot(given, given + m->size.nu);
  std::vector<double> tau((size_t)m->size.nu);
  const std::vector<int32_t> driven = driven_speeds(t, m);
  const lw_status e = lw_find_driving_loads(s, driven.empty() ? nullptr : driven.data(), udot.data(), tau.data());
  for (size_t i = 0; i < t.computed.size(); i++) computed[i] = tau[t.computed[i] - (uint32_t)m->at.tau];
  return e;
}

/* Velocities are linear in speeds: derivatives by one are the velocities where it is 1 and all others rest. */
lw_status find_poses_by_kernels(lw_state *s, const lw_tapes &t, double *computed) {
  double *x = lw_reals(s);
  const lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e) return e;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  const size_t columns = t.by.empty() ? 1 : t.by.size();
  std::vector<double> speeds;
  for (const uint32_t offset : t.by) speeds.push_back(x[offset]);
  for (size_t k = 0; k < columns; k++) {
    for (size_t i = 0; i < t.by.size(); i++) x[t.by[i]] = i == k;
    s->kernels->body_motions(s->model, s->block);
    for (size_t i = 0; i < t.computed.size(); i++) computed[i * columns + k] = x[t.computed[i]];
  }
  for (size_t i = 0; i < t.by.size(); i++) x[t.by[i]] = speeds[i];
  return LW_OK;
}

void enter(lw_state *s, const lw_tapes &t, const double *given) {
  double *x = lw_reals(s);
  for (size_t i = 0; i < t.given.size(); i++) x[t.given[i]] = given[i];
  lw_state_changed(s, first_stage(t, s->model));
}

lw_status evaluate_by_kernels(lw_state *s, lw_tapes &t, const double *given, double *computed) {
  const double *x = lw_reals(s);
  enter(s, t, given);
  if (t.kernels == LW_TAPE_INVERSE_DYNAMICS) return find_loads_by_kernels(s, t, computed);
  if (t.kernels == LW_TAPE_POSES) return find_poses_by_kernels(s, t, computed);
  const lw_status e = lw_evaluate(s, t.stage);
  if (e) return e;
  if (locates_cuts(t, s->model)) s->kernels->locate_cuts(s->model, s->block);
  t.by_kernels++, t.since_recording++;
  if (!t.by.empty()) return differentiate_by_kernels(s, t, computed);
  for (size_t i = 0; i < t.computed.size(); i++) computed[i] = x[t.computed[i]];
  return LW_OK;
}

/* Brings numbers that are the same for all states into the registers, before the states of a call. */
void prepare(recorded_tape &tape, const lw_state *s) {
  tape.holds = holds_for(tape, s);
  if (!tape.holds) return;
  const lw_tape view = tape.written.view();
  tape.registers.resize((size_t)view.registers);
  size_t number = (size_t)view.inputs;
  const auto fill = [&](double value) { std::fill_n(tape.registers[number++], LW_TAPE_STATES, value); };
  for (const double value : tape.written.constants) fill(value);
  for (const assumption &a : tape.kept) fill(lw_reals(s)[a.offset]);
}

/* Of a state its bit: it is asked for, not computed yet, and one that tapes may compute. */
struct block_of_states {
  const columns &given;
  uint64_t asked, left, for_tapes;
};

/* Those that are needed of two sets of registers. */
bool have_same_results(const lw_tape &t, const columns &a, const columns &b, uint64_t counting) {
  for (int32_t i = 0; i < t.results; i++) {
    const double *one = a[(size_t)t.result[i]], *other = b[(size_t)t.result[i]];
    for (int32_t k = 0; k < LW_TAPE_STATES; k++)
      if (counting >> k & 1 && one[k] != other[k]) return false;
  }
  return true;
}

/* By the compiled tape where there is one, which is compared before it counts. Returns those states for which the tape
 * counts. */
uint64_t run(recorded_tape &tape, const column_functions &with, const columns &given, uint64_t states) {
  const lw_tape view = tape.written.view();
  const auto run_compiled = [&](columns &registers) {
    unsigned long long missed = 0;
    tape.left.resize((size_t)left_by_function(view));
    tape.compiled(registers[0], given[0], tape.left.data()->number, &missed, with.function);
    return states & ~missed;
  };
  if (tape.compiled && tape.is_compared) return run_compiled(tape.registers);
  columns registers;
  if (tape.compiled) registers = tape.registers;
  for (size_t i = 0; i < (size_t)view.inputs; i++)
    std::copy_n(given[(size_t)tape.written.inputs[i]], LW_TAPE_STATES, tape.registers[i]);
  uint64_t missed;
  with.run(&view, tape.registers[0], &missed);
  const uint64_t counting = states & ~missed;
  if (!tape.compiled) return counting;
  tape.is_compared =
      run_compiled(registers) == counting && have_same_results(view, tape.registers, registers, counting);
  if (!tape.is_compared) tape.compiled = nullptr;
  return counting;
}

/* Runs it, and returns those states that are left and for which it counts. */
uint64_t states_for(recorded_tape &tape, const column_functions &with, const block_of_states &block) {
  const uint64_t states = block.left & block.for_tapes;
  return tape.holds && states ? run(tape, with, block.given, states) : 0;
}

/* Computes those states that are left and for which the tape counts, if there are any. Where these are all, their results
 * stay in its registers. */
bool run_tape(recorded_tape &tape, lw_tapes &t, const column_functions &with, block_of_states &block) {
  const uint64_t counts = states_for(tape, with, block);
  if (!counts) return false;
  const lw_tape view = tape.written.view();
  for (size_t i = 0; i < (size_t)view.results; i++) {
    const double *found = tape.registers[(size_t)view.result[i]];
    if (counts == block.asked) t.results[i] = found;
    else
      for (size_t k = 0; k < LW_TAPE_STATES; k++)
        if (counts >> k & 1) t.own[i][k] = found[k];
  }
  tape.states += (int64_t)std::bitset<LW_TAPE_STATES>(counts).count();
  block.left &= ~counts;
  return true;
}

/* Asks all tapes whether they count, first the one that did so last: neighbouring blocks and steps are alike. */
template <typename question>
void ask_all(lw_tapes &t, const question &counts) {
  const size_t latest = t.latest < t.tapes.size() ? t.latest : 0;
  for (size_t i = 0; i < t.tapes.size(); i++) {
    const size_t number = i ? i - (i <= latest) : latest;
    if (counts(t.tapes[number])) t.latest = number;
  }
}

/* Leaves states with large numbers to the kernels. */
void leave_large(const lw_tapes &t, const column_functions &with, block_of_states &block) {
  uint64_t large;
  with.find_large(block.given[0], (int32_t)t.given.size(), LW_TAPE_LARGEST_INPUT, &large);
  block.for_tapes &= ~large;
}

/* Whether it counts for a row, whose numbers it computes. */
bool counts_for(recorded_tape &tape, const lw_tapes &t, const column_functions &with, const double *given,
                double *computed) {
  columns one(t.given.size());
  put_row(given, t.given.size(), 0, one);
  block_of_states block = {one, 1, 1, 1};
  leave_large(t, with, block);
  if (!states_for(tape, with, block)) return false;
  for (size_t i = 0; i < t.width(); i++) computed[i] = tape.registers[(size_t)tape.written.results[i]][0];
  return true;
}

/* Records the state of a row, and compares the tape with what the kernels gave there. Another state may have a tape where
 * this one has none. */
void record_row(lw_state *s, lw_tapes &t, const double *given, const double *computed) {
  t.since_recording = 0, t.recordings++, t.refusal.clear();
  try {
    if (s->before_accelerations) throw lw::refusal(FRICTION_DECIDES);
    recorded_tape made = record_state(s, t);
    if (!made.refusal.empty()) throw lw::refusal(made.refusal);
    std::vector<double> own(t.width());
    const column_functions with = functions_of(s);
    prepare(made, s);
    if (!counts_for(made, t, with, given, own.data()) || !agrees(t, own, computed)) throw lw::refusal(DIFFERS);
    t.tapes.push_back(std::move(made));
  } catch (const lw::refusal &why) {
    t.refusal = why.what();
  }
}

/* Where its numbers stand in a block; results of derivatives have no place there. */
lw::state_places places_of(const lw_tapes &t, const recorded_tape &tape) {
  lw::state_places found;
  for (const int32_t number : tape.written.inputs) found.inputs.push_back((int32_t)t.given[(size_t)number]);
  for (const assumption &one : tape.kept) found.kept.push_back(one.offset);
  found.results.assign(t.computed.begin(), t.computed.end());
  found.largest_input = LW_TAPE_LARGEST_INPUT;
  return found;
}

std::vector<lw::conditional_tape> chosen(const lw_chosen_tapes &from) {
  std::vector<lw::conditional_tape> list;
  for (int32_t i = 0; i < from.n; i++) {
    const recorded_tape &tape = from.tapes->tapes[(size_t)from.number[i]];
    list.push_back({tape.written.view(), places_of(*from.tapes, tape), conditions_of(tape)});
  }
  return list;
}

bool may_record(const lw_tapes &t) { return t.since_recording >= LW_TAPE_STATES_BEFORE && t.recordings < LW_TAPE_MOST; }

/* Where no more tapes are recorded, one that counted for no row of several blocks is asked seldom. */
bool run_unless_waiting(recorded_tape &tape, lw_tapes &t, const column_functions &with, block_of_states &block) {
  if (t.recordings >= LW_TAPE_MOST && tape.waits > 0) {
    tape.waits--;
    return false;
  }
  if (!tape.holds || !(block.left & block.for_tapes)) return false;
  const bool counts = run_tape(tape, t, with, block);
  tape.missed = counts ? 0 : std::min(tape.missed + 1, LW_TAPE_LONGEST_WAIT);
  tape.waits = tape.missed;
  return counts;
}

/* States left when all tapes have run are for the kernels. Those that fail are marked. */
lw_status evaluate_by_history(lw_state *s, lw_tapes &t, block_of_states &block, uint64_t *failed) {
  const column_functions with = functions_of(s);
  if (block.for_tapes) leave_large(t, with, block);
  ask_all(t, [&](recorded_tape &tape) { return run_unless_waiting(tape, t, with, block); });
  std::vector<double> &given = t.row, &computed = t.computed_row;
  for (size_t k = 0; block.left; k++) {
    const uint64_t bit = (uint64_t)1 << k;
    if (!(block.left & bit)) continue;
    take_row(block.given, given.size(), k, given.data());
    const lw_status e = evaluate_by_kernels(s, t, given.data(), computed.data());
    put_row(computed.data(), computed.size(), k, t.own);
    block.left &= ~bit;
    if (e == LW_ERROR_MEMORY) return e;
    if (e) *failed |= bit;
    if (e || !(block.for_tapes & bit) || !may_record(t)) continue;
    record_row(s, t, given.data(), computed.data());
    if (t.refusal.empty()) run_tape(t.tapes.back(), t, with, block);
  }
  return LW_OK;
}

/* Records the entered state, which the kernels have evaluated: a tape, or guards of those that have none. A tape beyond
 * the most replaces the last one. Returns why there is neither; empty: there is one, which the block has run. */
std::string record_by_row(lw_state *s, lw_tapes &t, const column_functions &with, block_of_states &block) {
  try {
    if (s->before_accelerations) throw lw::refusal(FRICTION_DECIDES);
    auto made = std::make_unique<recorded_tape>(record_state(s, t));
    prepare(*made, s);
    if (!made->refusal.empty()) {
      block.for_tapes &= ~states_for(*made, with, block);
      if (t.refused.size() < LW_TAPE_MOST_BY_ROW) t.refused.push_back(std::move(*made));
    } else {
      run_tape(*made, t, with, block);
      if (t.tapes.size() < LW_TAPE_MOST_BY_ROW) t.tapes.push_back(std::move(*made));
      else t.last = std::move(made);
    }
    return {};
  } catch (const lw::refusal &why) {
    return why.what();
  }
}

/* So that the numbers of a row depend on that row alone, though tapes and kernels round derivatives in different ways: each
 * row has the tape of its own state. Where the guards of a tape hold its operations are those of the row's own one. */
lw_status evaluate_by_row(lw_state *s, lw_tapes &t, block_of_states &block, uint64_t *failed) {
  const column_functions with = functions_of(s);
  leave_large(t, with, block);
  ask_all(t, [&](recorded_tape &tape) { return run_tape(tape, t, with, block); });
  if (t.last) run_tape(*t.last, t, with, block);
  for (recorded_tape &guards : t.refused) block.for_tapes &= ~states_for(guards, with, block);
  std::vector<double> &given = t.row, &computed = t.computed_row;
  for (size_t k = 0; block.left; k++) {
    const uint64_t bit = (uint64_t)1 << k;
    if (!(block.left & bit)) continue;
    take_row(block.given, given.size(), k, given.data());
    enter(s, t, given.data());
    lw_status e = lw_evaluate(s, t.stage);
    if (!e && (block.for_tapes & bit) && t.chosen == rule::by_row) t.refusal = record_by_row(s, t, with, block);
    if (!e && (block.left & bit)) {
      e = differentiate_by_kernels(s, t, computed.data());
      put_row(computed.data(), computed.size(), k, t.own);
      t.by_kernels++;
    }
    block.left &= ~bit;
    if (e == LW_ERROR_MEMORY) return e;
    if (e) *failed |= bit;
  }
  return LW_OK;
}

} // namespace

namespace lw {

column_functions functions_of(const lw_state *s) {
#ifdef LW_HAVE_AVX2
  if (s->kernels == &lw_kernels_double_avx2)
    return {lw_run_tape_avx2, s->kernels->number_function, lw_find_large_avx2, lw_move_column_avx2,
            lw_solve_columns_avx2};
#endif
  return {lw_run_tape, s->kernels->number_function, lw_find_large, lw_move_column, lw_solve_columns};
}

numbers_of_tapes numbers_of(const lw_tapes &tapes) { return {tapes.given, tapes.computed, tapes.by, tapes.results}; }

lw_status begin_states(lw_state *s, lw_tapes &tapes) {
  const lw_status e = lw_evaluate(s, first_stage(tapes, s->model));
  if (e) return e;
  for (recorded_tape &tape : tapes.tapes) prepare(tape, s);
  for (recorded_tape &guards : tapes.refused) prepare(guards, s);
  if (tapes.last) prepare(*tapes.last, s);
  tapes.row.resize(tapes.given.size());
  tapes.computed_row.resize(tapes.width());
  tapes.own.resize(tapes.width());
  tapes.results.resize(tapes.width());
  return LW_OK;
}

lw_status evaluate_columns(lw_state *s, lw_tapes &tapes, const columns &given, int32_t states, uint64_t *failed) {
  const uint64_t asked = (~(uint64_t)0 >> (LW_TAPE_STATES - states)) & ~*failed;
  const bool by_history = tapes.chosen == rule::by_history;
  for (size_t i = 0; i < tapes.results.size(); i++) tapes.results[i] = tapes.own[i];
  block_of_states block = {given, asked, asked, by_history && states < LW_TAPE_FEWEST_STATES ? 0 : asked};
  return by_history ? evaluate_by_history(s, tapes, block, failed) : evaluate_by_row(s, tapes, block, failed);
}

} // namespace lw

extern "C" {

lw_status lw_tapes_create(const uint32_t *given, size_t n_given, const uint32_t *computed, size_t n_computed,
                          const uint32_t *by, size_t n_by, lw_stage stage, lw_tape_kernels kernels, lw_tapes **tapes) {
  if (!tapes) return LW_ERROR_USAGE;
  *tapes = nullptr;
  try {
    auto made = std::make_unique<lw_tapes>();
    made->given.assign(given, given + n_given);
    made->computed.assign(computed, computed + n_computed);
    made->by.assign(by, by + n_by);
    made->stage = stage, made->kernels = kernels;
    *tapes = made.release();
  } catch (const std::bad_alloc &) {
    return LW_ERROR_MEMORY;
  }
  return LW_OK;
}

void lw_tapes_free(lw_tapes *tapes) { delete tapes; }

int32_t lw_tapes_info(const lw_tapes *tapes, lw_tape_info *info, int32_t capacity) {
  const int32_t count = (int32_t)tapes->tapes.size();
  for (int32_t i = 0; i < count && i < capacity; i++) {
    const recorded_tape &one = tapes->tapes[(size_t)i];
    const int32_t guards = one.written.guards;
    info[i] = {(int32_t)one.written.steps.size() - guards,
               guards,
               one.distinct_steps,
               one.written.registers,
               one.compiled || one.rates,
               one.states};
  }
  return count;
}

int64_t lw_tapes_by_kernels(const lw_tapes *tapes) { return tapes->by_kernels; }
const char *lw_tapes_refusal(const lw_tapes *tapes) { return tapes->refusal.c_str(); }

const char *lw_tape_source(lw_tapes *tapes, int32_t number) {
  try {
    const written_tape &written = tapes->tapes[(size_t)number].written;
    tapes->source = lw::write_c(written.view(), written.inputs);
    return tapes->source.c_str();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void lw_tape_compiled(lw_tapes *tapes, int32_t number, lw_compiled_tape *run) {
  recorded_tape &tape = tapes->tapes[(size_t)number];
  tape.compiled = run, tape.is_compared = false;
}

const char *lw_rates_source(lw_tapes *tapes, int32_t number) {
  try {
    const recorded_tape &tape = tapes->tapes[(size_t)number];
    tapes->source = lw::write_c_of_one(tape.written.view(), places_of(*tapes, tape));
    return tapes->source.c_str();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

const lw_compiled_rates *lw_rates_compiled(lw_tapes *tapes, int32_t number, lw_rates_function *run) {
  recorded_tape &tape = tapes->tapes[(size_t)number];
  try {
    if (!tape.rates) tape.rates = std::make_unique<lw_compiled_rates>();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
  *tape.rates = {conditions_of(tape), (const int32_t *)tapes->computed.data(), (int32_t)tapes->computed.size(),
                 lw::left_by_function_of_one(tape.written.view()), run};
  return tape.rates.get();
}

int lw_rates_pay(lw_state *s, const lw_compiled_rates *function) {
  using clock = std::chrono::steady_clock;
  if (!lw_tape_holds(&function->where, s)) return 1;
  clock::duration by_kernels = clock::duration::max(), by_function = clock::duration::max();
  try {
    std::vector<double> left((size_t)function->n_left);
    for (int i = 0; i < LW_RATES_TIMED; i++) {
      lw_state_changed(s, LW_STAGE_CONSTANTS);
      const clock::time_point begin = clock::now();
      if (lw_evaluate(s, LW_STAGE_DERIVATIVES)) return 1;
      const clock::time_point middle = clock::now();
      if (function->run(lw_reals(s), left.data(), s->kernels->number_function, 0)) return 1; /* which writes the same */
      by_kernels = std::min(by_kernels, middle - begin);
      by_function = std::min(by_function, clock::now() - middle);
    }
  } catch (const std::bad_alloc &) {
    return 1;
  }
  return by_function < by_kernels;
}

const char *lw_rates_library_source(const lw_model *model, lw_chosen_tapes rates, const lw_chosen_tapes *jacobians) {
  try {
    lw::library_of_tapes library = {chosen(rates), {}, {}, lw_rates_layout(model)};
    for (int kind = 0; kind < LW_JACOBIAN_KINDS; kind++) {
      const lw_tapes &of = *jacobians[kind].tapes;
      library.columns.assign(of.by.begin(), of.by.end());
      library.jacobians.push_back({{of.computed.begin(), of.computed.end()}, chosen(jacobians[kind])});
    }
    rates.tapes->source = lw::write_c_of_library(library);
    return rates.tapes->source.c_str();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

lw_status lw_record_tape(lw_state *s, lw_tapes *tapes, const double *given) {
  if (s->before_accelerations) return lw_fail(s, LW_ERROR_USAGE, "%s", FRICTION_DECIDES);
  try {
    std::vector<double> computed(tapes->width());
    const lw_status e = evaluate_by_kernels(s, *tapes, given, computed.data());
    if (e) return e;
    record_row(s, *tapes, given, computed.data());
    return tapes->refusal.empty() ? LW_OK : lw_fail(s, LW_ERROR_USAGE, "%s", tapes->refusal.c_str());
  } catch (const std::bad_alloc &) {
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a tape");
  }
}

int32_t lw_tape_at(const lw_state *s, lw_tapes *tapes, const double *given) {
  try {
    std::vector<double> computed(tapes->width());
    for (size_t i = 0; i < tapes->tapes.size(); i++) {
      recorded_tape &tape = tapes->tapes[i];
      prepare(tape, s);
      if (counts_for(tape, *tapes, functions_of(s), given, computed.data())) return (int32_t)i;
    }
  } catch (const std::bad_alloc &) {
  }
  return -1;
}

int32_t lw_tape_read(lw_tapes *tapes, int32_t number, lw_tape_data *data) {
  static_assert(sizeof(lw_tape_step) == 6 * sizeof(int32_t), "steps are rows of six numbers");
  const recorded_tape &tape = tapes->tapes[(size_t)number];
  const lw_tape t = tape.written.view();
  try {
    tapes->offsets.clear();
    for (const assumption &one : tape.kept) tapes->offsets.push_back(one.offset);
  } catch (const std::bad_alloc &) {
    return -1;
  }
  *data = {t.step ? &t.step->operation : nullptr,
           tape.written.inputs.data(),
           t.constant,
           tapes->offsets.data(),
           t.result,
           t.steps,
           t.registers,
           t.inputs,
           t.constants,
           t.kept,
           t.results};
  return 0;
}

int32_t lw_tape_formula_of(int32_t operation, lw_tape_formula *of) {
#define X(name, operands, formula)                                                             \
  case LW_TAPE_##name: *of = {#name, #formula, operands, operation >= LW_TAPE_less}; return 1;
  switch (operation) {
    LW_EACH_TAPE_OPERATION(X)
    LW_EACH_TAPE_FUSION(X)
    LW_EACH_TAPE_GUARD(X)
    default: return 0;
  }
#undef X
}

lw_status lw_evaluate_states(lw_state *s, lw_tapes *tapes, const double *given, int64_t count, double *computed,
                             int8_t *failed) {
  try {
    const lw_status before = lw::begin_states(s, *tapes);
    if (before) return before;
    const size_t n = tapes->given.size(), width = tapes->width();
    lw::columns columns(n);
    for (int64_t first = 0; first < count; first += LW_TAPE_STATES) {
      const int32_t states = (int32_t)std::min<int64_t>(count - first, LW_TAPE_STATES);
      uint64_t lost = 0;
      for (size_t k = 0; k < (size_t)states; k++) lw::put_row(given + ((size_t)first + k) * n, n, k, columns);
      const lw_status e = lw::evaluate_columns(s, *tapes, columns, states, &lost);
      if (e) return e;
      lw::take_rows(tapes->results, width, (size_t)states, computed + (size_t)first * width, width);
      for (int32_t k = 0; k < states; k++) failed[first + k] = (int8_t)(lost >> k & 1);
    }
  } catch (const std::bad_alloc &) {
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a tape");
  }
  return LW_OK;
}

lw_status lw_evaluate_row(lw_state *s, lw_tapes *tapes, const double *given, double *computed) {
  return evaluate_by_kernels(s, *tapes, given, computed);
}

void lw_choose_by_row(lw_state *s, lw_tapes *tapes, const double *given, int32_t rows) {
  tapes->chosen = rule::by_row;
  const lw_status first = lw_record_tape(s, tapes, given);
  if (!first && tapes->tapes.back().written.steps.size() <= LW_TAPE_MOST_STEPS_BY_ROW) return;
  tapes->chosen = rule::by_first_tapes;
  if (!first && tapes->tapes.back().written.steps.size() > LW_TAPE_MOST_DERIVATIVE_STEPS) tapes->tapes.clear();
  for (int32_t k = 1; k < rows; k++) {
    const double *row = given + (size_t)k * tapes->given.size();
    if (lw_tape_at(s, tapes, row) < 0) lw_record_tape(s, tapes, row);
  }
}
}
