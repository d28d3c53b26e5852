#include "tape/write_c.h"
#include "math/sine_cosine.h"
#include "tape/tape_parts.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace lw {

/* One is for outputs that only other parts with the same function need. */
int32_t left_by_function(const lw_tape &t) { return t.registers + 1; }
int32_t left_by_function_of_one(const lw_tape &t) { return left_by_function(t) + 2 * (2 * t.inputs + 3); }

namespace {

/* Numbers are of as many states as a register of the processor holds; `r` has columns of registers of the tape, and `given`
 * those of given numbers. */
constexpr char OF_MANY[] = R"(#if defined(__AVX512F__)
#define WIDTH 8
#define ALL(x) (numbers){x, x, x, x, x, x, x, x}
#else
#define WIDTH 4
#define ALL(x) (numbers){x, x, x, x}
#endif
#define ROW(i) (*(numbers *)(r + (i) * STATES + k))
#define GIVEN(i) (*(const numbers *)(given + (i) * STATES + k))
#define KEPT(i) ALL(r[(i) * STATES])
#define LEFT(i) (*(numbers *)(left + (i) * WIDTH))
#define ROOT(x) root(x)
#define ABSOLUTE(x) ((numbers)((truths)(x) & 0x7fffffffffffffffLL))
#define CHOSEN(c, x, y) ((numbers)(((truths)(x) & (truths)(c)) | ((truths)(y) & ~(truths)(c))))
#define GUARD(c) failed |= ~(truths)(c)
#define CALL(operation, x, y, first, second)                                                          \
  function(operation, (const double *)&(x), (const double *)&(y), (double *)&(first), (double *)&(second), WIDTH / 4)
typedef double numbers __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef long long truths __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef unsigned long long bits __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef void function_of_numbers(int, const double *, const double *, double *, double *, int);
static inline numbers root(numbers a) {
  numbers b;
  for (int i = 0; i < WIDTH; i++) b[i] = __builtin_sqrt(a[i]);
  return b;
}
)";

#define TEXT_OF(...) #__VA_ARGS__
#define EXPANDED_TEXT_OF(...) TEXT_OF(__VA_ARGS__)
/* Of as many numbers at once, where the interpreter's function has four. */
constexpr char SINES_OF_MANY[] =
    "static inline void sine_cosine(numbers x, numbers *sine, numbers *cosine) " EXPANDED_TEXT_OF(
        SINE_COSINE(numbers, bits)) "\n";

/* By this GCC orders operations before it assigns registers: short tapes are a tenth faster, long ones slower. */
constexpr char SCHEDULED[] = R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
)";

/* Of one state, whose numbers `r` has as in its block. Vectors that GCC makes of single operations take products and sums
 * together, as in vfmaddsub, whatever is asked of it. */
constexpr char OF_ONE[] = R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
#define ALL(x) (x)
#define ROW(i) r[i]
#define KEPT(i) r[i]
#define LEFT(i) left[i]
#define ROOT(x) __builtin_sqrt(x)
#define ABSOLUTE(x) __builtin_fabs(x)
#define CHOSEN(c, x, y) ((c) ? (x) : (y))
#define GUARD(c) failed |= !(c)
#define CALL(operation, x, y, first, second) function(operation, &(x), &(y), &(first), &(second), 0)
typedef double numbers;
typedef long long truths;
typedef double four __attribute__((vector_size(32), aligned(8), may_alias)); /* read as it is written, at once */
typedef void function_of_numbers(int, const double *, const double *, double *, double *, int);
)";

constexpr char COMMON[] = R"(static inline double number_of(unsigned long long bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
)";

constexpr char EXPORTED[] =
    "#if defined(_WIN32)\n__declspec(dllexport)\n#else\n__attribute__((visibility(\"default\")))\n#endif\n";

std::string text_of(int64_t number) { return std::to_string(number); }

/* A constant expression of exactly this value. */
std::string constant_of(double value) {
  if (std::isnan(value)) return "__builtin_nan(\"\")";
  if (std::isinf(value)) return value < 0.0 ? "-__builtin_inf()" : "__builtin_inf()";
  int exponent;
  uint64_t mantissa = (uint64_t)std::ldexp(std::frexp(std::fabs(value), &exponent), 53);
  std::string digits;
  for (; mantissa; mantissa >>= 4) digits.insert(digits.begin(), "0123456789abcdef"[mantissa & 15]);
  return (value < 0.0 ? "-0x0" : "0x0") + digits + "p" + text_of(exponent - 53);
}

std::string listed(const std::vector<int32_t> &numbers) {
  std::string text;
  for (const int32_t number : numbers) text += (text.empty() ? "" : ", ") + text_of(number);
  return text;
}

/* Arrays have one number more, which is not counted: C has no empty ones. */
std::string offsets(const std::string &name, const std::vector<int32_t> &numbers) {
  const std::string text = listed(numbers);
  return "static const int32_t " + name + "[] = {" + text + (text.empty() ? "" : ", ") + "0};\n";
}

std::string known_numbers(const std::string &name, const lw_known_number *numbers, int32_t n) {
  std::string text = "static const lw_known_number " + name + "[] = {";
  for (int32_t i = 0; i < n; i++)
    text += "{" + text_of(numbers[i].offset) + ", " + constant_of(numbers[i].value) + "}, ";
  return text + "{0, 0.0}};\n";
}

/* The steps are distributed over functions, which run one after the other on few states; so caches hold the numbers that
 * one leaves for another. Of one state compilers do worse where they put these together. */
class writer {
 public:
  writer(const lw_tape &t, const std::vector<int32_t> &inputs, const state_places *one = nullptr,
         const std::string &part = "part")
      : t(t), inputs(inputs), one(one), part(part), name((size_t)t.registers), early((size_t)t.steps, -1) {}

  std::string many() {
    lw_tape at_once = t;
    at_once.first_steps = t.steps;
    division = divide(at_once, early);
    text = division.parts.size() == 1 ? SCHEDULED : "";
    text += "#define STATES " + text_of(LW_TAPE_STATES) + "LL\n" + OF_MANY + SINES_OF_MANY + COMMON;
    write_parts();
    text += std::string(EXPORTED) +
            "void linkwork_tape(double *r, const double *given, double *left, unsigned long long *missed, "
            "function_of_numbers *function) {\n  *missed = 0;\n  (void)r, (void)given, (void)left, (void)function;\n"
            "  bits all = {0}, bit;\n  for (int i = 0; i < WIDTH; i++) bit[i] = 1ULL << i;\n"
            "  for (long long k = 0; k < STATES; k += WIDTH, bit <<= WIDTH) {\n    truths failed = {0};\n";
    call_parts(0, division.parts.size());
    for (int32_t i = 0; i < t.results; i++) {
      const place_kind kind = division.results[(size_t)i].kind;
      if (kind != place_kind::constant && kind != place_kind::kept)
        text += "    " + call("ROW", text_of(t.result[i])) + " = " + stored(division.results[(size_t)i]) + ";\n";
    }
    text += "    all |= (bits)failed & bit;\n  }\n  for (int i = 0; i < WIDTH; i++) *missed |= all[i];\n}\n";
    return text;
  }

  /* The function whose declaration begins with `head`; the results of a matrix go into that. */
  std::string of_one(const std::string &head, bool is_matrix = false) {
    text.clear();
    const std::string sines = early_sines();
    division = divide(t, early);
    write_parts();
    const std::string own = is_matrix ? "double *restrict matrix, function_of_numbers *function) {\n  double left[" +
                                            text_of(left_by_function_of_one(t)) + "];\n"
                                      : "double *restrict left, function_of_numbers *function, int checks) {\n";
    text += head + "(double *restrict r, " + own +
            "  const long long k = 0;\n  truths failed = 0;\n  (void)left, (void)function;\n" +
            (is_matrix ? "  {\n" : "  if (!checks) {\n");
    for (int32_t i = 0; i < t.inputs; i++)
      text += "    GUARD(ABSOLUTE(" + stored({place_kind::input, i}) + ") <= " + digits(one->largest_input) + ");\n";
    text += sines;
    call_parts(0, division.first_parts);
    put_results(0, t.first_results, is_matrix);
    text += "    return 0;\n  }\n";
    if (is_matrix) return text + "}\n"; /* all results come first */
    call_parts(division.first_parts, division.parts.size());
    put_results(t.first_results, t.results, is_matrix);
    text += "  return 0;\n}\n";
    return text;
  }

 private:
  const lw_tape &t;
  const std::vector<int32_t>
      &inputs;                   /* where they stand: columns of given numbers, or offsets in the block of one state */
  const state_places *one;       /* NULL: it is for many states */
  std::string part;              /* what the functions of steps are called, before their number */
  std::vector<std::string> name; /* of the number in a register, by the present function; empty: it has not read it */
  std::vector<int32_t> early;    /* by step: the number of a sine that is known before all steps, or -1 */
  tape_division division;
  const tape_part *present = nullptr; /* whose function is written */
  size_t places = 0;                  /* that this one has read, */
  int32_t listed_places = 0;          /* and has from its list, if it is shared */
  int32_t names = 0, sine_count = 0;
  std::string text;

  static bool is_sine(const lw_tape_step &step) {
    return has_second(step) || step.operation == LW_TAPE_sine || step.operation == LW_TAPE_cosine;
  }

  /* An index of a macro, and that. */
  int32_t index_of(const tape_place &place) const {
    switch (place.kind) {
      case place_kind::input: return inputs[(size_t)place.number];
      case place_kind::kept: return one ? one->kept[(size_t)(place.number - t.inputs - t.constants)] : place.number;
      case place_kind::early_sine: return left_by_function(t) + place.number;
      case place_kind::early_cosine: return left_by_function(t) + sine_count + place.number;
      case place_kind::constant:
      case place_kind::left: break;
    }
    return place.number;
  }
  std::string number_at(const tape_place &place, const std::string &index) const {
    switch (place.kind) {
      case place_kind::input: return call(one ? "ROW" : "GIVEN", index);
      case place_kind::kept: return call("KEPT", index);
      case place_kind::constant: return call("ALL", digits(t.constant[place.number - t.inputs]));
      case place_kind::early_sine:
      case place_kind::early_cosine:
      case place_kind::left: break;
    }
    return call("LEFT", index);
  }
  std::string stored(const tape_place &place) const { return number_at(place, text_of(index_of(place))); }

  /* Of one state the sines of inputs come first, four at once: joints' angles, as in the kernels. */
  std::string early_sines() {
    std::vector<char> written((size_t)t.registers, 0);
    std::vector<int32_t> angles;
    for (int32_t i = 0; i < t.steps; i++) {
      const lw_tape_step &step = t.step[i];
      if (is_sine(step) && step.operand[0] < t.inputs && !written[(size_t)step.operand[0]])
        early[(size_t)i] = (int32_t)angles.size(), angles.push_back(step.operand[0]);
      if (!is_guard(step)) written[(size_t)step.to] = 1;
      if (has_second(step)) written[(size_t)step.operand[1]] = 1;
    }
    if (angles.empty()) return "";
    sine_count = ((int32_t)angles.size() + 3) / 4 * 4;
    std::string list;
    for (size_t i = 0; i < angles.size(); i++)
      list += (i % 4 ? ", " : i ? "}, {" : "{") + stored({place_kind::input, angles[i]});
    const std::string first = text_of(left_by_function(t));
    return "    const four angles[] = {" + list + "}};\n    function(" + text_of(LW_TAPE_sine_cosine) +
           ", (const double *)angles, (const double *)angles, left + " + first + ", left + " + first + " + " +
           text_of(sine_count) + ", " + text_of(sine_count / 4) + ");\n";
  }

  void write_parts() {
    for (size_t i = 0; i < division.parts.size(); i++)
      if (division.parts[i].like == i) write_part(i);
  }
  /* Neighbours with the same function are a loop. */
  void call_parts(size_t from, size_t to) {
    for (size_t i = from; i < to;) {
      const tape_part &first = division.parts[i];
      const std::string arguments = std::string("(r, ") + (one ? "" : "given, ") + "left, &failed, function, k",
                        check = one ? " if (failed) return 1;\n" : "\n";
      if (!first.is_shared) {
        text += "    " + name_of(i++) + arguments + ");" + check;
        continue;
      }
      std::vector<int32_t> places;
      size_t count = 0;
      for (; i < to && division.parts[i].like == first.like; i++, count++) add_places(division.parts[i], &places);
      const int32_t each = (int32_t)(places.size() / count);
      text += "    {\n      static const int at[] = {" + listed(places) + "};\n      for (int i = 0; i < " +
              text_of((int64_t)count) + "; i++) {\n        " + name_of(first.like) + arguments + ", at + i * " +
              text_of(each) + ");" + check + "      }\n    }\n";
    }
  }
  void add_places(const tape_part &part, std::vector<int32_t> *places) const {
    for (const tape_place &place : part.reads)
      if (place.kind != place_kind::constant) places->push_back(index_of(place));
    for (const tape_output &output : part.outputs) places->push_back(output.to);
  }
  std::string name_of(size_t number) const { return part + text_of((int64_t)number); }
  void put_results(int32_t from, int32_t to, bool is_matrix) {
    for (int32_t i = from; i < to; i++)
      text += (is_matrix ? "    matrix[" + text_of(i) : "    r[" + text_of(one->results[(size_t)i])) +
              "] = " + stored(division.results[(size_t)i]) + ";\n";
  }

  void write_part(size_t number) {
    present = &division.parts[number];
    text += "static " + std::string(one || present->is_shared ? "__attribute__((noinline)) " : "") + "void " +
            name_of(number) + "(double *restrict r, " + (one ? "" : "const double *given, ") +
            "double *restrict left, truths *all_failed, function_of_numbers *function, long long k" +
            (present->is_shared ? ", const int *at" : "") +
            ") {\n  truths failed = *all_failed;\n  (void)r, (void)left, (void)function, (void)k;\n";
    std::fill(name.begin(), name.end(), "");
    names = 0, places = 0, listed_places = 0;
    std::vector<std::string> first, second; /* names, by step of the part */
    for (int32_t i = present->begin; i < present->end; i++) {
      const lw_tape_step &step = t.step[i];
      write_step(step, early[(size_t)i]);
      first.push_back(is_guard(step) ? "" : name[(size_t)step.to]);
      second.push_back(has_second(step) ? name[(size_t)step.operand[1]] : "");
    }
    for (const tape_output &output : present->outputs)
      text += "  " + call("LEFT", next_index(output.to)) + " = " +
              (output.is_second ? second : first)[(size_t)output.step] + ";\n";
    text += "  *all_failed = failed;\n}\n";
  }
  std::string next_index(int32_t index) {
    return present->is_shared ? "at[" + text_of(listed_places++) + "]" : text_of(index);
  }
  std::string next_number() {
    const tape_place &place = present->reads[places++];
    return number_at(place, place.kind == place_kind::constant ? "" : next_index(index_of(place)));
  }

  static std::string call(const char *macro, const std::string &index) { return macro + ("(" + index + ")"); }
  std::string next_name() { return "x" + text_of(names++); }
  void define(int32_t to, const std::string &value) {
    name[(size_t)to] = next_name();
    text += "  const numbers " + name[(size_t)to] + " = " + value + ";\n";
  }

  /* The number that a register holds. */
  const std::string &read(int32_t from) {
    std::string &found = name[(size_t)from];
    if (!found.empty()) return found;
    define(from, next_number());
    return found;
  }
  static std::string digits(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return "number_of(" + std::to_string(bits) + "ULL)";
  }

  void write_step(const lw_tape_step &step, int32_t sine) {
    if (sine >= 0) return take_sine(step);
    std::string x[4];
    for (int k = 0; k < operands_of(step); k++) x[k] = read(step.operand[k]);
    switch ((lw_tape_operation)step.operation) {
#define X(name, operands, formula)                                  \
  case LW_TAPE_##name: define(step.to, filled(#formula, x)); break;
      LW_EACH_TAPE_FORMULA(X)
      LW_EACH_TAPE_PRODUCT(X)
#undef X
#define X(name, operands, formula)                                               \
  case LW_TAPE_##name: text += "  GUARD(" + filled(#formula, x) + ");\n"; break;
      LW_EACH_TAPE_GUARD(X)
#undef X
#define X(name, operands, formula) case LW_TAPE_##name:
      LW_EACH_TAPE_FUNCTION(X)
#undef X
      case LW_TAPE_sine_cosine: call_function(step, x[0], x[operands_of(step) - 1]); break;
      case LW_TAPE_CONSTANT:
      case LW_TAPE_INPUT:
      case LW_TAPE_OPERATIONS: break; /* none of them is a step */
    }
  }

  /* A formula of math/operations.h, in which all small letters are operands. */
  static std::string filled(const char *formula, const std::string operand[4]) {
    std::string found;
    for (const char *at = formula; *at; at++)
      if (*at >= 'a' && *at <= 'd') found += operand[*at - 'a'];
      else found += *at;
    return found;
  }

  void take_sine(const lw_tape_step &step) {
    define(step.to, next_number());
    if (has_second(step)) define(step.operand[1], next_number());
  }

  /* Functions are the interpreter's, so that no compiler and no library has others. */
  void call_function(const lw_tape_step &step, const std::string &a, const std::string &b) {
    const std::string own = next_name(), first = own + "a", second = own + "b";
    const bool in_line = !one && is_sine(step);
    text += "  numbers " + first + ", " + second + " = " + a + ";\n";
    if (in_line) text += "  sine_cosine(" + a + ", &" + first + ", &" + second + ");\n";
    else
      text += "  { const numbers p = " + a + ", q = " + b + "; CALL(" + text_of(step.operation) + ", p, q, " + first +
              ", " + second + "); }\n";
    define(step.to, in_line && step.operation == LW_TAPE_cosine ? second : first);
    if (has_second(step)) define(step.operand[1], second);
  }
};

} // namespace

std::string write_c(const lw_tape &t, const std::vector<int32_t> &inputs) { return writer(t, inputs).many(); }
std::string write_c_of_one(const lw_tape &t, const state_places &places) {
  return std::string(OF_ONE) + COMMON +
         writer(t, places.inputs, &places).of_one(std::string(EXPORTED) + "int linkwork_tape");
}

namespace {

/* The function `name` of a tape with its conditions. */
std::string function_of(const conditional_tape &one, const std::string &name, bool is_matrix) {
  return writer(one.tape, one.places.inputs, &one.places, name + "_part").of_one("static int " + name, is_matrix) +
         known_numbers(name + "_equal", one.where.equal, one.where.n_equal) +
         known_numbers(name + "_bounded", one.where.bounded, one.where.n_bounded);
}

std::string conditions_of(const conditional_tape &one, const std::string &name) {
  return "{" + text_of(one.where.structure) + "u, " + name + "_equal, " + name + "_bounded, " +
         text_of(one.where.n_equal) + ", " + text_of(one.where.n_bounded) + "}";
}

std::string rates_functions(const std::vector<conditional_tape> &tapes) {
  std::string text, table;
  for (size_t i = 0; i < tapes.size(); i++) {
    const std::string name = "tape" + text_of((int64_t)i);
    const std::vector<int32_t> &results = tapes[i].places.results;
    text += function_of(tapes[i], name, false) + offsets(name + "_result", results);
    table += "  {" + conditions_of(tapes[i], name) + ", " + name + "_result, " + text_of((int64_t)results.size()) +
             ", " + text_of(left_by_function_of_one(tapes[i].tape)) + ", " + name + "},\n";
  }
  return text + "static const lw_compiled_rates functions[] = {\n" + table + "};\n";
}

/* In the end one that is not counted, as in arrays of numbers. */
std::string jacobian_functions(const jacobian_tapes &of, const std::string &kind) {
  std::string text, table;
  for (size_t i = 0; i < of.tapes.size(); i++) {
    const std::string name = kind + "_" + text_of((int64_t)i);
    text += function_of(of.tapes[i], name, true);
    table += "  {" + conditions_of(of.tapes[i], name) + ", " + name + "},\n";
  }
  return text + offsets(kind + "_row", of.rows) + "static const lw_compiled_jacobian " + kind + "_tapes[] = {\n" +
         table + "  {{0u, 0, 0, 0, 0}, 0},\n};\n";
}

} // namespace

std::string write_c_of_library(const library_of_tapes &library) {
  std::string text = std::string("#include \"block/compiled_rates.h\"\n") + OF_ONE + COMMON, table;
  text += rates_functions(library.rates) + offsets("columns", library.columns);
  for (size_t i = 0; i < library.jacobians.size(); i++) {
    const jacobian_tapes &of = library.jacobians[i];
    const std::string kind = "jacobian" + text_of((int64_t)i);
    text += jacobian_functions(of, kind);
    table += "{" + kind + "_row, " + text_of((int64_t)of.rows.size()) + ", " + text_of((int64_t)of.tapes.size()) +
             ", " + kind + "_tapes}, ";
  }
  return text + "#ifndef LINKWORK_EMBEDDED\n" + EXPORTED +
         "#endif\nextern const lw_rates_library linkwork_rates;\nconst lw_rates_library linkwork_rates = {" +
         text_of(library.layout) + "u, " + text_of((int64_t)library.rates.size()) + ", functions, columns, " +
         text_of((int64_t)library.columns.size()) + ", {" + table + "}};\n";
}

} // namespace lw
