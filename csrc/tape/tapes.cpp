#include "tape/tapes.h"
#include "tape/differentiate.h"
#include "tape/record_kernels.h"
#include "tape/write_c.h"
#include "tape/write_tape.h"
extern "C" {
#include "block/state.h"
}
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace {

/* A number of the state that is no input: operations folded for it hold for this value alone, or up to this size. */
using assumption = lw_known_number;

/* Of the cache. */
struct alignas(64) line {
  double number[8];
};

constexpr size_t LINES = LW_TAPE_STATES * sizeof(double) / sizeof(line); /* of a register */

struct recorded_tape {
  lw::written_tape written;
  std::vector<assumption> assumptions;
  std::vector<assumption>
      kept;           /* numbers that are the same for all states, behind the constants: of that size at most */
  uint32_t structure; /* of the model, as it is in the present topology */
  int64_t states = 0; /* for which it counted */
  std::vector<line> registers, left;
  lw_compiled_tape *compiled = nullptr;
  bool is_compared = false;                 /* the compiled one gave the bits of this one */
  bool holds = false;                       /* for the present call */
  int32_t missed = 0, waits = 0;            /* blocks in a row for which it did not count; that it is passed over */
  std::unique_ptr<lw_compiled_rates> rates; /* for one state */
};

constexpr char FRICTION_DECIDES[] = "friction decides before each evaluation whether it sticks";

bool is_bounded(double value) { return std::fabs(value) <= LW_TAPE_LARGEST_INPUT; }

/* Zeros and ones shorten a tape; others are inputs that it keeps. */
bool is_folded(double value) { return value == 0.0 || std::fabs(value) == 1.0 || !is_bounded(value); }

bool are_alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

struct lw_tapes {
  std::vector<uint32_t> given, computed, by; /* `by`: their derivatives by these in place of them, unless it is empty */
  lw_stage stage;
  lw_tape_kernels kernels;
  std::vector<recorded_tape> tapes;
  int64_t by_kernels = 0, since_recording = 0;
  size_t width() const { return computed.size() * (by.empty() ? 1 : by.size()); } /* numbers of a state */
  int32_t recordings = 0;
  std::string refusal;          /* of the last one; empty: it made a tape */
  std::string source;           /* asked for last */
  std::vector<int32_t> offsets; /* of kept numbers, asked for last */
  std::vector<line> columns;    /* of the present block */
};

namespace {

/* The last stage that is the same for all states: constants are not where parameters are given. */
lw_stage first_stage(const lw_tapes &t, const lw_model *m) {
  const auto is_parameter = [m](uint32_t offset) { return (int32_t)offset < m->at.time; };
  return std::any_of(t.given.begin(), t.given.end(), is_parameter) ? LW_STAGE_NONE : LW_STAGE_CONSTANTS;
}

/* Coordinates of cut joints, which are outputs, are asked for without all others. */
bool locates_cuts(const lw_tapes &t, const lw_model *m) {
  const auto is_cut = [m](uint32_t offset) {
    return (int32_t)offset >= m->at.q_cut && (int32_t)offset < m->at.q_cut + m->size.nq_cut;
  };
  return t.stage < LW_STAGE_OUTPUTS && std::any_of(t.computed.begin(), t.computed.end(), is_cut);
}

/* Marks speeds of the tree whose accelerations are given; empty: all of them. */
std::vector<int32_t> driven_speeds(const lw_tapes &t, const lw_model *m) {
  std::vector<int32_t> found((size_t)m->size.nu, 0);
  for (const uint32_t offset : t.given) {
    const int32_t speed = (int32_t)offset - m->at.acceleration;
    if (speed >= 0 && speed < m->size.nu) found[(size_t)speed] = 1;
  }
  if (std::count(found.begin(), found.end(), 1) == m->size.nu) found.clear();
  return found;
}

/* ---- recording ---- */

/* Of assembly, of past events and of the watch: no evaluation reads it, or its recording fails. */
bool is_never_read(const lw_model *m, const lw_field &field) {
#define PLACE(name) offsetof(lw_offsets, name) / sizeof(int32_t)
  static constexpr size_t places[] = {PLACE(event_count),        PLACE(energy_lost),    PLACE(event_memory),
                                      PLACE(transition_memory),  PLACE(impulse_force),  PLACE(impulse_torque),
                                      PLACE(watch_tolerance),    PLACE(loop_allowance), PLACE(impulse_start),
                                      PLACE(coupling_allowance), PLACE(state_nominal)};
#undef PLACE
  const size_t place = (size_t)(&field - m->field);
  return field.access == LW_START ||
         std::any_of(places, places + sizeof places / sizeof *places, [place](size_t one) { return one == place; });
}

/* Records the present state, whose constants are valid. */
recorded_tape record_state(const lw_state *s, const lw_tapes &t) {
  const lw_model *m = s->model;
  const double *x = lw_reals(s);
  lw::recorder recorder;
  recorder.most_nodes = LW_TAPE_MOST_NODES;
  recorded_tape made;
  made.structure = m->structure;
  std::vector<lw::recorded> reals((size_t)m->size.reals, lw::recorded{0.0, 0});
  std::vector<lw::recorded> work(lw_workspace_reals(m), lw::recorded{0.0, 0});
  std::vector<int32_t> integers(s->block.integers, s->block.integers + m->integers);
  std::vector<assumption> kept;
  std::vector<char> is_given((size_t)m->size.reals, 0);
  const lw_stage from = first_stage(t, m);
  for (const uint32_t offset : t.given)
    reals[offset] = recorder.input(x[offset], LW_TAPE_LARGEST_INPUT), is_given[offset] = 1;
  for (const lw_field &field : m->field)
    for (int32_t i = field.first; i < field.first + field.rows * field.columns; i++) {
      if (is_given[(size_t)i]) continue;
      /* Outputs of open joints stay zero; nothing else may be read before it is written. */
      if (field.stage > from || is_never_read(m, field)) {
        if (field.access == LW_INTERNAL || is_never_read(m, field)) reals[(size_t)i].value = NAN;
      } else if (is_folded(x[i])) {
        reals[(size_t)i].value = x[i];
        made.assumptions.push_back({i, x[i]});
      } else {
        const double largest = LW_TAPE_LARGER_PARAMETERS * std::fabs(x[i]);
        reals[(size_t)i] = recorder.input(x[i], largest);
        kept.push_back({i, largest});
      }
    }
  const std::vector<lw::recorded> entered = reals;
  const lw::recorded_block b = {reals.data(), work.data(), integers.data()};
  switch (t.kernels) {
    case LW_TAPE_STAGES: lw::record_stages(recorder, m, b, from, t.stage, locates_cuts(t, m)); break;
    case LW_TAPE_POSES: lw::record_poses(recorder, m, b, from); break;
    case LW_TAPE_INVERSE_DYNAMICS: {
      const std::vector<int32_t> driven = driven_speeds(t, m);
      lw::record_inverse_dynamics(recorder, m, b, from, driven.empty() ? nullptr : driven.data());
      break;
    }
  }
  std::vector<lw::recorded> results, inputs;
  for (const uint32_t offset : t.computed) results.push_back(reals[offset]);
  for (const uint32_t offset : t.by) inputs.push_back(entered[offset]);
  if (!t.by.empty()) results = lw::differentiate(recorder, results, inputs);
  for (const lw::recorded &one : results) recorder.result(one);
  recorder.guard_finite();
  std::vector<int32_t> counting;
  made.written = lw::write_tape(recorder.kept, (int32_t)t.given.size(), &counting);
  for (const int32_t number : counting) made.kept.push_back(kept[(size_t)number - t.given.size()]);
  if (made.written.steps.size() > (t.by.empty() ? LW_TAPE_MOST_STEPS : LW_TAPE_MOST_DERIVATIVE_STEPS))
    throw lw::refusal("it would be too long");
  return made;
}

/* ---- evaluation ---- */

/* By complex steps, column by column. */
lw_status differentiate_by_kernels(lw_state *s, const lw_tapes &t, double *computed) {
  const size_t columns = t.by.size();
  std::vector<double> column(t.computed.size());
  const double one = 1.0;
  for (size_t k = 0; k < columns; k++) {
    const lw_status e =
        lw_directional_derivative(s, t.computed.data(), column.size(), &t.by[k], 1, &one, column.data());
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

lw_status evaluate_by_kernels(lw_state *s, lw_tapes &t, const double *given, double *computed) {
  double *x = lw_reals(s);
  for (size_t i = 0; i < t.given.size(); i++) x[t.given[i]] = given[i];
  lw_state_changed(s, first_stage(t, s->model));
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

/* Whether it counts for the numbers of the state that are not given. */
bool holds_for(const recorded_tape &tape, const lw_state *s) {
  const double *x = lw_reals(s);
  if (tape.structure != s->model->structure) return false;
  for (const assumption &a : tape.assumptions)
    if (!are_alike(x[a.offset], a.value)) return false;
  return std::all_of(tape.kept.begin(), tape.kept.end(),
                     [x](const assumption &a) { return std::fabs(x[a.offset]) <= a.value; });
}

/* Brings numbers that are the same for all states into the registers, before the states of a call. */
void prepare(recorded_tape &tape, const lw_state *s) {
  tape.holds = holds_for(tape, s);
  if (!tape.holds) return;
  const lw_tape view = tape.written.view();
  tape.registers.resize((size_t)view.registers * LINES);
  double *row = tape.registers.data()->number + (size_t)view.inputs * LW_TAPE_STATES;
  const auto fill = [&row](double value) { row = std::fill_n(row, (size_t)LW_TAPE_STATES, value); };
  for (const double value : tape.written.constants) fill(value);
  for (const assumption &a : tape.kept) fill(lw_reals(s)[a.offset]);
}

/* Rows of given and computed numbers, and the former column by column; a bit of each row that is not computed yet, and of
 * each that tapes may compute. */
struct block_of_states {
  const double *given, *columns;
  double *computed;
  int32_t rows;
  uint64_t left, for_tapes;
};

/* Those that are needed of two sets of registers. */
bool have_same_results(const lw_tape &t, const double *a, const double *b, uint64_t missed) {
  for (int32_t i = 0; i < t.results; i++)
    for (int32_t k = 0; k < LW_TAPE_STATES; k++) {
      const size_t at = (size_t)t.result[i] * LW_TAPE_STATES + (size_t)k;
      if (!(missed >> k & 1) && a[at] != b[at]) return false;
    }
  return true;
}

/* The interpreter by the instructions of the state's kernels. */
struct interpreter {
  decltype(&lw_run_tape) run;
  lw_number_function *function;
  decltype(&lw_find_large) find_large;
};

interpreter interpreter_of(const lw_state *s) {
#ifdef LW_HAVE_AVX2
  if (s->kernels == &lw_kernels_double_avx2) return {lw_run_tape_avx2, s->kernels->number_function, lw_find_large_avx2};
#endif
  return {lw_run_tape, s->kernels->number_function, lw_find_large};
}

/* From its registers; by the compiled tape where there is one, which is compared before it counts. */
void run(recorded_tape &tape, const interpreter &with, uint64_t *missed) {
  const lw_tape view = tape.written.view();
  double *numbers = tape.registers.data()->number;
  unsigned long long own = 0;
  tape.left.resize(tape.compiled ? (size_t)view.registers : 0);
  if (tape.compiled && tape.is_compared) {
    tape.compiled(numbers, tape.left.data()->number, &own, with.function);
    *missed = own;
    return;
  }
  std::vector<line> registers;
  if (tape.compiled) registers = tape.registers;
  with.run(&view, numbers, missed);
  if (!tape.compiled) return;
  tape.compiled(registers.data()->number, tape.left.data()->number, &own, with.function);
  tape.is_compared = own == *missed && have_same_results(view, numbers, registers.data()->number, own);
  if (!tape.is_compared) tape.compiled = nullptr;
}

/* Computes those rows that are left and for which the tape counts. */
void run_tape(recorded_tape &tape, const lw_tapes &t, const interpreter &with, block_of_states &block) {
  if (!tape.holds || !(block.left & block.for_tapes)) return;
  const lw_tape view = tape.written.view();
  const size_t width = t.width();
  double *registers = tape.registers.data()->number;
  uint64_t missed;
  for (size_t i = 0; i < (size_t)view.inputs; i++)
    std::copy_n(block.columns + (size_t)tape.written.inputs[i] * LW_TAPE_STATES, LW_TAPE_STATES,
                registers + i * LW_TAPE_STATES);
  run(tape, with, &missed);
  const uint64_t counts = block.left & block.for_tapes & ~missed;
  for (int32_t k = 0; k < block.rows; k++) {
    if (!(counts >> k & 1)) continue;
    double *to = block.computed + (size_t)k * width;
    for (int32_t i = 0; i < view.results; i++) to[i] = registers[view.result[i] * LW_TAPE_STATES + k];
    tape.states++;
  }
  block.left &= ~counts;
}

/* Brings the given numbers of a block into columns, and leaves states with large ones to the kernels. Columns of fewer
 * states end with the first one. */
void begin_block(lw_tapes &t, const interpreter &with, block_of_states &block) {
  const size_t width = t.given.size();
  uint64_t large;
  t.columns.resize(width * LINES);
  double *columns = t.columns.data()->number;
  for (size_t k = 0; k < LW_TAPE_STATES; k++) {
    const double *row = block.given + (k < (size_t)block.rows ? k * width : 0);
    for (size_t i = 0; i < width; i++) columns[i * LW_TAPE_STATES + k] = row[i];
  }
  with.find_large(columns, (int32_t)width, LW_TAPE_LARGEST_INPUT, &large);
  block.columns = columns;
  block.for_tapes &= ~large;
}

/* Whether it counts for a row, whose numbers it computes. */
bool counts_for(recorded_tape &tape, lw_tapes &t, const interpreter &with, const double *given, double *computed) {
  block_of_states one = {given, nullptr, computed, 1, 1, 1};
  begin_block(t, with, one);
  run_tape(tape, t, with, one);
  if (!one.left) tape.states--;
  return !one.left;
}

/* To the bit; derivatives, which tapes and kernels find in different ways, to rounding. */
bool agrees(const lw_tapes &t, const std::vector<double> &own, const double *computed) {
  if (t.by.empty()) return std::equal(own.begin(), own.end(), computed);
  double largest = 0.0, most = 0.0;
  for (size_t i = 0; i < own.size(); i++) {
    largest = std::max(largest, std::fabs(computed[i]));
    most = std::max(most, std::fabs(own[i] - computed[i]));
  }
  return most <= LW_TAPE_SAME_DERIVATIVE * largest;
}

/* Records the state of a row, and compares the tape with what the kernels gave there. Another state may have a tape where
 * this one has none. */
void record_row(lw_state *s, lw_tapes &t, const double *given, const double *computed) {
  t.since_recording = 0, t.recordings++, t.refusal.clear();
  try {
    if (s->before_accelerations) throw lw::refusal(FRICTION_DECIDES);
    recorded_tape made = record_state(s, t);
    std::vector<double> own(t.width());
    const interpreter with = interpreter_of(s);
    prepare(made, s);
    if (!counts_for(made, t, with, given, own.data()) || !agrees(t, own, computed))
      throw lw::refusal("it differs from the kernels");
    t.tapes.push_back(std::move(made));
  } catch (const lw::refusal &why) {
    t.refusal = why.what();
  }
}

/* Where its numbers stand in a block. */
lw::state_places places_of(const lw_tapes &t, const recorded_tape &tape) {
  lw::state_places found;
  for (const int32_t number : tape.written.inputs) found.inputs.push_back((int32_t)t.given[(size_t)number]);
  for (const assumption &one : tape.kept) found.kept.push_back(one.offset);
  found.results.assign(t.computed.begin(), t.computed.end());
  found.largest_input = LW_TAPE_LARGEST_INPUT;
  return found;
}

bool may_record(const lw_tapes &t) { return t.since_recording >= LW_TAPE_STATES_BEFORE && t.recordings < LW_TAPE_MOST; }

/* Where no more tapes are recorded, one that counted for no row of several blocks is asked seldom. */
void ask(recorded_tape &tape, const lw_tapes &t, const interpreter &with, block_of_states &block) {
  const int64_t before = tape.states;
  if (t.recordings >= LW_TAPE_MOST && tape.waits > 0) {
    tape.waits--;
    return;
  }
  if (!tape.holds || !(block.left & block.for_tapes)) return;
  run_tape(tape, t, with, block);
  tape.missed = tape.states > before ? 0 : std::min(tape.missed + 1, LW_TAPE_LONGEST_WAIT);
  tape.waits = tape.missed;
}

/* Rows left when all tapes have run are for the kernels. Those that fail are marked. */
lw_status evaluate_block(lw_state *s, lw_tapes &t, block_of_states &block, uint64_t *failed) {
  const size_t width = t.given.size();
  const interpreter with = interpreter_of(s);
  if (block.rows < LW_TAPE_FEWEST_STATES) block.for_tapes = 0;
  else begin_block(t, with, block);
  for (recorded_tape &tape : t.tapes) ask(tape, t, with, block);
  for (int32_t k = 0; k < block.rows; k++) {
    const uint64_t bit = (uint64_t)1 << k;
    if (!(block.left & bit)) continue;
    const double *given = block.given + (size_t)k * width;
    double *computed = block.computed + (size_t)k * t.width();
    const lw_status e = evaluate_by_kernels(s, t, given, computed);
    block.left &= ~bit;
    if (e == LW_ERROR_MEMORY) return e;
    if (e) *failed |= bit;
    if (e || !(block.for_tapes & bit) || !may_record(t)) continue;
    record_row(s, t, given, computed);
    if (!t.refusal.empty()) continue;
    begin_block(t, with, block); /* the columns were of the recorded state alone */
    run_tape(t.tapes.back(), t, with, block);
  }
  return LW_OK;
}

/* A block of rows by all steps. Rows of what failed are written no more. */
class moved_block {
 public:
  moved_block(lw_tapes &t, double *given, int32_t rows, const lw_steps &steps)
      : t(t),
        steps(steps),
        given(given),
        rows(rows),
        width(t.given.size()),
        n(t.computed.size()),
        start((size_t)rows * width),
        slope((size_t)rows * n),
        sum((size_t)rows * n) {}

  lw_status move(lw_state *s, uint64_t *failed) {
    for (int64_t i = 0; i < steps.count; i++) {
      std::copy_n(given, start.size(), start.begin());
      for (int stage = 0; stage < 4; stage++) {
        block_of_states block = {given,       nullptr, slope.data(), rows, (~(uint64_t)0 >> (64 - rows)) & ~*failed,
                                 ~(uint64_t)0};
        const lw_status e = evaluate_block(s, t, block, failed);
        if (e) return e;
        for (int32_t k = 0; k < rows; k++)
          if (!(*failed >> k & 1)) advance((size_t)k, stage);
      }
    }
    return LW_OK;
  }

 private:
  lw_tapes &t;
  const lw_steps &steps;
  double *given;
  int32_t rows;
  size_t width, n;
  std::vector<double> start, slope, sum;

  /* From the slopes of a stage to the numbers given to the next one, or to the end of the step. */
  void advance(size_t row, int stage) {
    static const double share[] = {0.5, 0.5, 1.0, 0.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
    double *to = given + row * width, *all = sum.data() + row * n;
    const double *from = start.data() + row * width, *now = slope.data() + row * n;
    const double part = stage < 3 ? share[stage] * steps.step : steps.step;
    for (size_t i = 0; i < n; i++) {
      all[i] = stage ? all[i] + weight[stage] * now[i] : now[i];
      to[steps.moves[i]] = from[steps.moves[i]] + (stage < 3 ? part * now[i] : steps.step / 6.0 * all[i]);
    }
    for (size_t i = 0; i < steps.n_times; i++) to[steps.times[i]] = from[steps.times[i]] + part;
  }
};

} // namespace

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
    info[i] = {(int32_t)one.written.steps.size() - guards, guards, one.written.registers, one.compiled || one.rates,
               one.states};
  }
  return count;
}

int64_t lw_tapes_by_kernels(const lw_tapes *tapes) { return tapes->by_kernels; }
const char *lw_tapes_refusal(const lw_tapes *tapes) { return tapes->refusal.c_str(); }

const char *lw_tape_source(lw_tapes *tapes, int32_t number) {
  try {
    tapes->source = lw::write_c(tapes->tapes[(size_t)number].written.view());
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
  *tape.rates = {tape.structure,
                 tape.assumptions.data(),
                 tape.kept.data(),
                 (int32_t)tape.assumptions.size(),
                 (int32_t)tape.kept.size(),
                 (const int32_t *)tapes->computed.data(),
                 (int32_t)tapes->computed.size(),
                 run};
  return tape.rates.get();
}

const char *lw_rates_library_source(lw_tapes *tapes, const lw_model *model, const int32_t *numbers, int32_t n) {
  try {
    std::vector<lw::conditional_tape> list;
    for (int32_t i = 0; i < n; i++) {
      const recorded_tape &tape = tapes->tapes[(size_t)numbers[i]];
      list.push_back({tape.written.view(), places_of(*tapes, tape), tape.structure, &tape.assumptions, &tape.kept});
    }
    tapes->source = lw::write_c_of_library(list, lw_rates_layout(model));
    return tapes->source.c_str();
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
      if (counts_for(tape, *tapes, interpreter_of(s), given, computed.data())) return (int32_t)i;
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
  const lw_status before = lw_evaluate(s, first_stage(*tapes, s->model));
  if (before) return before;
  try {
    for (recorded_tape &tape : tapes->tapes) prepare(tape, s);
    for (int64_t first = 0; first < count; first += LW_TAPE_STATES) {
      const int32_t rows = (int32_t)std::min<int64_t>(count - first, LW_TAPE_STATES);
      uint64_t lost = 0;
      block_of_states block = {given + first * (int64_t)tapes->given.size(),
                               nullptr,
                               computed + first * (int64_t)tapes->width(),
                               rows,
                               ~(uint64_t)0 >> (64 - rows),
                               ~(uint64_t)0};
      const lw_status e = evaluate_block(s, *tapes, block, &lost);
      if (e) return e;
      for (int32_t k = 0; k < rows; k++) failed[first + k] = (int8_t)(lost >> k & 1);
    }
  } catch (const std::bad_alloc &) {
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a tape");
  }
  return LW_OK;
}

lw_status lw_evaluate_row(lw_state *s, lw_tapes *tapes, const double *given, double *computed) {
  return evaluate_by_kernels(s, *tapes, given, computed);
}

lw_status lw_move_states(lw_state *s, lw_tapes *tapes, double *given, int64_t count, const lw_steps *steps,
                         int8_t *failed) {
  const lw_status before = lw_evaluate(s, first_stage(*tapes, s->model));
  if (before) return before;
  try {
    for (recorded_tape &tape : tapes->tapes) prepare(tape, s);
    for (int64_t first = 0; first < count; first += LW_TAPE_STATES) {
      const int32_t rows = (int32_t)std::min<int64_t>(count - first, LW_TAPE_STATES);
      uint64_t lost = 0;
      moved_block block(*tapes, given + first * (int64_t)tapes->given.size(), rows, *steps);
      const lw_status e = block.move(s, &lost);
      if (e) return e;
      for (int32_t k = 0; k < rows; k++) failed[first + k] = (int8_t)(lost >> k & 1);
    }
  } catch (const std::bad_alloc &) {
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a tape");
  }
  return LW_OK;
}
}
