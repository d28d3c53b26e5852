#include "tape/recorded_tape.h"
#include "tape/differentiate.h"
#include "tape/record_kernels.h"
#include "tape/tape_parts.h"
extern "C" {
#include "block/state.h"
}
#include <algorithm>
#include <cstddef>

namespace {

bool is_bounded(double value) { return std::fabs(value) <= LW_TAPE_LARGEST_INPUT; }

/* Zeros and ones shorten a tape; others are inputs that it keeps. */
bool is_folded(double value) { return value == 0.0 || std::fabs(value) == 1.0 || !is_bounded(value); }

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

/* What the kernels have computed at the same state, to the bit. */
void check_values(const std::vector<lw::recorded> &results, const std::vector<uint32_t> &computed, const double *x) {
  for (size_t i = 0; i < results.size(); i++)
    if (!lw::are_alike(results[i].value, x[computed[i]])) throw lw::refusal(lw::DIFFERS);
}

/* Rates are asked for more often than all other results, and come first. */
size_t count_rates(const lw_tapes &t, const lw_model *m) {
  const auto is_rate = [m](uint32_t offset) {
    return (int32_t)offset >= m->at.qdot && (int32_t)offset < m->at.qdot + m->size.states;
  };
  return (size_t)(std::find_if_not(t.computed.begin(), t.computed.end(), is_rate) - t.computed.begin());
}

/* Whether accelerations of a tree are differentiated by way of inverse dynamics, of which matrices are shorter (Carpentier, J.,
 * Mansard, N.: Analytical derivatives of rigid body dynamics algorithms, RSS 2018); of few numbers, or by few, they are not. */
bool inverts_dynamics(const lw_tapes &t, const lw_model *m) {
  const size_t n = (size_t)m->size.nu;
  return t.kernels == LW_TAPE_STAGES && t.stage >= LW_STAGE_ACCELERATIONS && m->size.loops == 0 &&
         m->size.couplings == 0 && n > 0 && t.computed.size() >= n && t.by.size() >= n;
}

/* The equations of motion of the entered numbers, whose kernels found these accelerations. */
lw::solved_equations equations_of_motion(lw::recorder &to, const lw_model *m, std::vector<lw::recorded> entered,
                                         const std::vector<lw::recorded> &solved, std::vector<lw::recorded> &work,
                                         std::vector<int32_t> &integers, lw_stage from) {
  const auto of = [m](const std::vector<lw::recorded> &reals, int32_t first) {
    return std::vector<lw::recorded>(reals.begin() + first, reals.begin() + first + m->size.nu);
  };
  lw::solved_equations found = {of(solved, m->at.acceleration), of(entered, m->at.tau), {}};
  std::copy(found.unknowns.begin(), found.unknowns.end(), entered.begin() + m->at.acceleration);
  lw::record_inverse_dynamics(to, m, {entered.data(), work.data(), integers.data()}, from, nullptr);
  found.needed = of(entered, m->at.tau);
  return found;
}

} // namespace

namespace lw {

lw_stage first_stage(const lw_tapes &t, const lw_model *m) {
  const auto is_parameter = [m](uint32_t offset) { return (int32_t)offset < m->at.time; };
  return std::any_of(t.given.begin(), t.given.end(), is_parameter) ? LW_STAGE_NONE : LW_STAGE_CONSTANTS;
}

bool locates_cuts(const lw_tapes &t, const lw_model *m) {
  const auto is_cut = [m](uint32_t offset) {
    return (int32_t)offset >= m->at.q_cut && (int32_t)offset < m->at.q_cut + m->size.nq_cut;
  };
  return t.stage < LW_STAGE_OUTPUTS && std::any_of(t.computed.begin(), t.computed.end(), is_cut);
}

std::vector<int32_t> driven_speeds(const lw_tapes &t, const lw_model *m) {
  std::vector<int32_t> found((size_t)m->size.nu, 0);
  for (const uint32_t offset : t.given) {
    const int32_t speed = (int32_t)offset - m->at.acceleration;
    if (speed >= 0 && speed < m->size.nu) found[(size_t)speed] = 1;
  }
  if (std::count(found.begin(), found.end(), 1) == m->size.nu) found.clear();
  return found;
}

recorded_tape record_state(const lw_state *s, const lw_tapes &t) {
  const lw_model *m = s->model;
  const double *x = lw_reals(s);
  recorder recorder;
  recorder.most_nodes = LW_TAPE_MOST_NODES;
  recorded_tape made;
  made.structure = m->structure;
  std::vector<recorded> reals((size_t)m->size.reals, recorded{0.0, 0});
  std::vector<recorded> work(lw_workspace_reals(m), recorded{0.0, 0});
  std::vector<int32_t> integers(s->block.integers, s->block.integers + m->integers);
  std::vector<assumption> kept;
  std::vector<char> is_given((size_t)m->size.reals, 0);
  const lw_stage from = first_stage(t, m);
  const bool inverts = inverts_dynamics(t, m);
  for (const uint32_t offset : t.given)
    reals[offset] = recorder.input(x[offset], LW_TAPE_LARGEST_INPUT), is_given[offset] = 1;
  for (const lw_field &field : m->field)
    for (int32_t i = field.first; i < field.first + field.rows * field.columns; i++) {
      if (is_given[(size_t)i]) continue;
      /* Outputs of open joints stay zero; nothing else may be read before it is written. */
      if (field.stage > from || is_never_read(m, field)) {
        if (field.access == LW_INTERNAL || is_never_read(m, field)) reals[(size_t)i].value = NAN;
      } else if (is_folded(x[i]) && !(inverts && i >= m->at.tau && i < m->at.tau + m->size.nu)) {
        reals[(size_t)i].value = x[i];
        made.assumptions.push_back({i, x[i]});
      } else {
        const double largest = LW_TAPE_LARGER_PARAMETERS * std::fabs(x[i]);
        reals[(size_t)i] = recorder.input(x[i], largest);
        kept.push_back({i, largest});
      }
    }
  const std::vector<recorded> entered = reals;
  const recorded_block b = {reals.data(), work.data(), integers.data()};
  switch (t.kernels) {
    case LW_TAPE_STAGES: record_stages(recorder, m, b, from, t.stage, locates_cuts(t, m)); break;
    case LW_TAPE_POSES: record_poses(recorder, m, b, from); break;
    case LW_TAPE_INVERSE_DYNAMICS: {
      const std::vector<int32_t> driven = driven_speeds(t, m);
      record_inverse_dynamics(recorder, m, b, from, driven.empty() ? nullptr : driven.data());
      break;
    }
  }
  std::vector<recorded> results, inputs;
  for (const uint32_t offset : t.computed) results.push_back(reals[offset]);
  for (const uint32_t offset : t.by) inputs.push_back(entered[offset]);
  if (t.chosen == rule::by_row) check_values(results, t.computed, x);
  try {
    if (inverts)
      results = differentiate(recorder, results, inputs,
                              equations_of_motion(recorder, m, entered, reals, work, integers, from));
    else if (!t.by.empty()) results = differentiate(recorder, results, inputs);
  } catch (const refusal &why) {
    if (t.chosen != rule::by_row) throw;
    results.clear(), made.refusal = why.what();
  }
  for (const recorded &one : results) recorder.result(one);
  recorder.guard_finite();
  const size_t rates = t.by.empty() ? count_rates(t, m) : 0;
  const int32_t first = (int32_t)(rates ? rates : results.size());
  std::vector<int32_t> counting;
  made.written = write_tape(recorder.kept, (int32_t)t.given.size(), first, &counting);
  for (const int32_t number : counting) made.kept.push_back(kept[(size_t)number - t.given.size()]);
  /* By the row the length was decided at another state: here it would depend on which states came before. */
  if (t.chosen != rule::by_row &&
      made.written.steps.size() > (t.by.empty() ? LW_TAPE_MOST_STEPS : LW_TAPE_MOST_DERIVATIVE_STEPS))
    throw refusal("it would be too long");
  made.distinct_steps = distinct_steps(made.written.view());
  return made;
}

lw_tape_conditions conditions_of(const recorded_tape &tape) {
  return {tape.structure, tape.assumptions.data(), tape.kept.data(), (int32_t)tape.assumptions.size(),
          (int32_t)tape.kept.size()};
}

bool holds_for(const recorded_tape &tape, const lw_state *s) {
  const lw_tape_conditions where = conditions_of(tape);
  return lw_tape_holds(&where, s);
}

bool agrees(const lw_tapes &t, const std::vector<double> &own, const double *computed) {
  if (t.by.empty()) return std::equal(own.begin(), own.end(), computed);
  return lw_derivatives_agree(own.data(), computed, own.size());
}

} // namespace lw
