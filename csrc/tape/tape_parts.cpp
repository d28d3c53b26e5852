#include "tape/tape_parts.h"
#include <algorithm>
#include <map>
#include <unordered_map>

namespace lw {

namespace {

constexpr int32_t MOST_STEPS = 400; /* of a function: the time of compilers grows faster than its length */
/* Parts share a function, which reads where its numbers stand, if there are so many, of so many steps each, in a long tape. */
constexpr int32_t FEWEST_ALIKE = 3, FEWEST_STEPS = 24, LONG = 3000;
constexpr int32_t LENGTH_OF_MARKS = 12, MARKS_EVERY = 8;

/* Operations of steps in order, as those of a part: what may be alike. */
using sequence = std::vector<int32_t>;

struct hash_of_sequence {
  size_t operator()(const sequence &s) const {
    uint64_t h = 1469598103934665603u;
    for (const int32_t one : s) h = (h ^ (uint64_t)(uint32_t)one) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
  }
};

/* Ends of short pieces, found by the operations before them alone: so equal operations are cut at equal places. */
std::vector<int32_t> cut(const lw_tape &t, int32_t from, int32_t to) {
  std::vector<int32_t> ends;
  int32_t begin = from;
  for (int32_t end = from + 1; end < to; end++) {
    uint64_t h = 0;
    for (int32_t i = std::max(from, end - LENGTH_OF_MARKS); i < end; i++)
      h = (h + (uint64_t)t.step[i].operation + 1) * 0x9e3779b97f4a7c15u;
    if ((h >> 40) % MARKS_EVERY == 0 || end - begin == MOST_STEPS) ends.push_back(begin = end);
  }
  if (from < to) ends.push_back(to);
  return ends;
}

/* Neighbouring pieces become one where the same two are neighbours again and again: of three, the more frequent two. */
class joined_pieces {
 public:
  joined_pieces(const lw_tape &t, int32_t from, const std::vector<int32_t> &ends) {
    std::unordered_map<sequence, int32_t, hash_of_sequence> known;
    int32_t begin = from;
    for (const int32_t end : ends) {
      sequence operations;
      for (int32_t i = begin; i < end; i++) operations.push_back(t.step[i].operation);
      const auto found = known.emplace(operations, (int32_t)length.size());
      if (found.second) length.push_back(end - begin);
      pieces.push_back(found.first->second);
      begin = end;
    }
    while (join_pairs()) continue;
  }
  std::vector<int32_t> pieces, length; /* kinds of pieces in order; of each kind */

 private:
  static uint64_t pair(int32_t a, int32_t b) { return (uint64_t)(uint32_t)a << 32 | (uint32_t)b; }

  /* How often two are neighbours, where they may become one; three alike are one pair. */
  std::unordered_map<uint64_t, int32_t> count_pairs() const {
    std::unordered_map<uint64_t, int32_t> count;
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i + 1 < pieces.size(); i++) {
      const uint64_t two = pair(pieces[i], pieces[i + 1]);
      if (length[(size_t)pieces[i]] + length[(size_t)pieces[i + 1]] > MOST_STEPS) continue;
      if (two == last) last = UINT64_MAX;
      else count[last = two]++;
    }
    return count;
  }

  bool join_pairs() {
    const std::unordered_map<uint64_t, int32_t> count = count_pairs();
    const auto frequency = [&](size_t i) {
      if (i + 1 >= pieces.size()) return 0;
      const auto found = count.find(pair(pieces[i], pieces[i + 1]));
      return found == count.end() ? 0 : found->second;
    };
    std::unordered_map<uint64_t, int32_t> made;
    std::vector<int32_t> joined;
    for (size_t i = 0; i < pieces.size(); i++) {
      const int32_t here = frequency(i);
      if (here < FEWEST_ALIKE || here < frequency(i + 1)) {
        joined.push_back(pieces[i]);
        continue;
      }
      const auto found = made.emplace(pair(pieces[i], pieces[i + 1]), (int32_t)length.size());
      if (found.second) length.push_back(length[(size_t)pieces[i]] + length[(size_t)pieces[i + 1]]);
      joined.push_back(found.first->second);
      i++;
    }
    pieces.swap(joined);
    return !made.empty();
  }
};

/* Reads parts in order, and keeps which registers have been written. */
class reader {
 public:
  reader(const lw_tape &t, const std::vector<int32_t> &early)
      : t(t), early(early), is_left((size_t)t.registers, 0), writer((size_t)t.registers, -1) {}

  /* A part with all that it reads and writes; in `form` what it does with them. */
  tape_part read(int32_t begin, int32_t end, sequence *form) {
    tape_part part = {begin, end, 0, false, {}, {}};
    std::unordered_map<int32_t, int32_t> seen; /* registers that it reads, and early numbers, in order */
    written.clear(), form->clear();
    for (int32_t i = begin; i < end; i++) {
      const lw_tape_step &step = t.step[i];
      form->push_back(step.operation);
      if (early[(size_t)i] >= 0) read_early(step, early[(size_t)i], &part, form);
      else
        for (int k = 0; k < operands_of(step); k++) form->push_back(read_number(step.operand[k], begin, &part, &seen));
      if (!is_guard(step)) write(step.to, 2 * i);
      if (has_second(step)) write(step.operand[1], 2 * i + 1);
    }
    for (const int32_t number : written) {
      if (writer[(size_t)number] < 0) continue;
      const int32_t at = writer[(size_t)number] - 2 * begin;
      part.outputs.push_back({at / 2, at % 2 == 1, number});
      is_left[(size_t)number] = 1, writer[(size_t)number] = -1;
    }
    for (const tape_place &place : part.reads) {
      form->push_back((int32_t)place.kind);
      if (place.kind == place_kind::constant) form->push_back(place.number);
    }
    return part;
  }

  tape_place place_of(int32_t number) const {
    if (is_left[(size_t)number]) return {place_kind::left, number};
    if (number < t.inputs) return {place_kind::input, number};
    return {number - t.inputs < t.constants ? place_kind::constant : place_kind::kept, number};
  }

 private:
  const lw_tape &t;
  const std::vector<int32_t> &early;
  std::vector<char> is_left;    /* registers to which a part has written */
  std::vector<int32_t> writer;  /* of registers that the present part has written: twice the step, or one more */
  std::vector<int32_t> written; /* those registers, in order; again where they were written again */

  void write(int32_t number, int32_t by) { writer[(size_t)number] = by, written.push_back(number); }
  void read_early(const lw_tape_step &step, int32_t number, tape_part *part, sequence *form) {
    form->push_back(-1);
    if (step.operation != LW_TAPE_cosine) part->reads.push_back({place_kind::early_sine, number});
    if (step.operation != LW_TAPE_sine) part->reads.push_back({place_kind::early_cosine, number});
  }
  /* Of a number of the part: by which step it is written; else, below zero, the how manieth one that it reads. */
  int32_t read_number(int32_t number, int32_t begin, tape_part *part, std::unordered_map<int32_t, int32_t> *seen) {
    if (writer[(size_t)number] >= 0) return writer[(size_t)number] - 2 * begin;
    const auto found = seen->emplace(number, (int32_t)part->reads.size());
    if (found.second) part->reads.push_back(place_of(number));
    return -2 - found.first->second;
  }
};

/* Keeps those outputs of parts that a later one reads, and of parts with one function the same. */
void keep_needed_outputs(const lw_tape &t, std::vector<tape_part> *parts) {
  std::vector<char> needed((size_t)t.registers, 0);
  for (int32_t i = 0; i < t.results; i++) needed[(size_t)t.result[i]] = 1;
  std::map<size_t, std::map<int32_t, char>> of_function;
  for (size_t i = parts->size(); i-- > 0;) {
    tape_part &part = (*parts)[i];
    for (tape_output &one : part.outputs) {
      if (!needed[(size_t)one.to]) one.to = t.registers;
      else of_function[part.like][2 * one.step + one.is_second] = 1, needed[(size_t)one.to] = 0;
    }
    for (const tape_place &place : part.reads)
      if (place.kind == place_kind::left) needed[(size_t)place.number] = 1;
  }
  for (tape_part &part : *parts) {
    std::map<int32_t, int32_t> to;
    for (const tape_output &one : part.outputs) to[2 * one.step + one.is_second] = one.to;
    part.outputs.clear();
    for (const auto &one : of_function[part.like]) {
      const auto found = to.find(one.first);
      part.outputs.push_back({one.first / 2, one.first % 2 == 1, found == to.end() ? t.registers : found->second});
    }
  }
}

/* Ends of parts that may be alike; those of the first steps have an end there. */
std::vector<int32_t> ends_of_pieces(const lw_tape &t) {
  std::vector<int32_t> ends;
  const auto add = [&](int32_t from, int32_t to) {
    if (t.steps < LONG) {
      while (from < to) ends.push_back(from = std::min(to, from + MOST_STEPS));
      return;
    }
    const joined_pieces joined(t, from, cut(t, from, to));
    for (const int32_t piece : joined.pieces) ends.push_back(from += joined.length[(size_t)piece]);
  };
  add(0, t.first_steps);
  add(t.first_steps, t.steps);
  return ends;
}

/* Marks the pieces of which there are enough alike. */
std::vector<char> find_shared(const lw_tape &t, const std::vector<int32_t> &early, const std::vector<int32_t> &ends) {
  std::unordered_map<sequence, std::vector<size_t>, hash_of_sequence> forms;
  std::vector<char> shared(ends.size(), 0);
  if (t.steps < LONG) return shared;
  reader reader(t, early);
  sequence form;
  int32_t begin = 0;
  for (size_t i = 0; i < ends.size(); i++) {
    reader.read(begin, ends[i], &form);
    forms[form].push_back(i);
    begin = ends[i];
  }
  for (const auto &one : forms)
    for (const size_t i : one.second)
      shared[i] = one.second.size() >= (size_t)FEWEST_ALIKE && ends[i] - (i ? ends[i - 1] : 0) >= FEWEST_STEPS;
  return shared;
}

} // namespace

tape_division divide(const lw_tape &t, const std::vector<int32_t> &early) {
  const std::vector<int32_t> ends = ends_of_pieces(t);
  const std::vector<char> shared = find_shared(t, early, ends);
  tape_division made = {{}, {}, 0};
  reader reader(t, early);
  std::unordered_map<sequence, size_t, hash_of_sequence> forms;
  sequence form;
  for (size_t i = 0; i < ends.size(); i++) {
    const int32_t begin = i ? ends[i - 1] : 0;
    int32_t end = ends[i];
    /* Others are put together. */
    if (!shared[i])
      while (i + 1 < ends.size() && !shared[i + 1] && ends[i] != t.first_steps && ends[i + 1] - begin <= MOST_STEPS)
        end = ends[++i];
    tape_part part = reader.read(begin, end, &form);
    part.like = made.parts.size(), part.is_shared = shared[i];
    if (part.is_shared) part.like = forms.emplace(form, part.like).first->second;
    made.parts.push_back(std::move(part));
    if (end <= t.first_steps) made.first_parts = made.parts.size();
  }
  for (int32_t i = 0; i < t.results; i++) made.results.push_back(reader.place_of(t.result[i]));
  keep_needed_outputs(t, &made.parts);
  return made;
}

int32_t distinct_steps(const lw_tape &t) {
  const tape_division made = divide(t, std::vector<int32_t>((size_t)t.steps, -1));
  int32_t found = 0;
  for (size_t i = 0; i < made.parts.size(); i++)
    if (made.parts[i].like == i) found += made.parts[i].end - made.parts[i].begin;
  return found;
}

} // namespace lw
