#include "tape/write_c.h"
#include "math/sine_cosine.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace lw {

int32_t left_by_function_of_one(const lw_tape &t) { return t.registers + 2 * (2 * t.inputs + 3); }

namespace {

constexpr int32_t STEPS_OF_A_FUNCTION = 400; /* the time of compilers grows faster than the length of a function */

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
      : t(t),
        inputs(inputs),
        one(one),
        part(part),
        name((size_t)t.registers),
        is_left((size_t)t.registers, 0),
        early((size_t)t.steps, -1) {
    add_parts(0, one ? t.first_steps : t.steps);
    first_parts = parts.size();
    if (one) add_parts(t.first_steps, t.steps);
  }

  std::string many() {
    text = t.steps <= STEPS_OF_A_FUNCTION ? SCHEDULED : "";
    text += "#define STATES " + text_of(LW_TAPE_STATES) + "LL\n" + OF_MANY + SINES_OF_MANY + COMMON;
    write_parts();
    text += std::string(EXPORTED) +
            "void linkwork_tape(double *r, const double *given, double *left, unsigned long long *missed, "
            "function_of_numbers *function) {\n  *missed = 0;\n  (void)r, (void)given, (void)left, (void)function;\n"
            "  bits all = {0}, bit;\n  for (int i = 0; i < WIDTH; i++) bit[i] = 1ULL << i;\n"
            "  for (long long k = 0; k < STATES; k += WIDTH, bit <<= WIDTH) {\n    truths failed = {0};\n";
    call_parts(0, parts.size());
    for (int32_t i = 0; i < t.results; i++)
      if (is_left[(size_t)t.result[i]] || t.result[i] < t.inputs)
        text += "    " + call("ROW", t.result[i]) + " = " + stored(t.result[i]) + ";\n";
    text += "    all |= (bits)failed & bit;\n  }\n  for (int i = 0; i < WIDTH; i++) *missed |= all[i];\n}\n";
    return text;
  }

  /* The function whose declaration begins with `head`; the results of a matrix go into that. */
  std::string of_one(const std::string &head, bool is_matrix = false) {
    text.clear();
    const std::string sines = early_sines();
    write_parts();
    const std::string own = is_matrix ? "double *restrict matrix, function_of_numbers *function) {\n  double left[" +
                                            text_of(left_by_function_of_one(t)) + "];\n"
                                      : "double *restrict left, function_of_numbers *function, int checks) {\n";
    text += head + "(double *restrict r, " + own +
            "  const long long k = 0;\n  truths failed = 0;\n  (void)left, (void)function;\n" +
            (is_matrix ? "  {\n" : "  if (!checks) {\n");
    for (int32_t i = 0; i < t.inputs; i++)
      text += "    GUARD(ABSOLUTE(" + entered(i) + ") <= " + digits(one->largest_input) + ");\n";
    text += sines;
    call_parts(0, first_parts);
    put_results(0, t.first_results, is_matrix);
    text += "    return 0;\n  }\n";
    if (is_matrix) return text + "}\n"; /* all results come first */
    call_parts(first_parts, parts.size());
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
  std::vector<char> is_left;     /* registers to which a function has written; the others have their rows */
  std::vector<int32_t> early;    /* by step: the number of a sine that is known before all steps, or -1 */
  std::vector<int32_t> parts;    /* the steps behind each, in order */
  size_t first_parts = 0;        /* those of the first steps of a tape for one state */
  int32_t names = 0, sine_count = 0;
  std::string text;

  static int operands_of(const lw_tape_step &step) { return lw_tape_operands((lw_tape_operation)step.operation); }
  static bool is_guard(const lw_tape_step &step) { return step.operation >= LW_TAPE_less; }
  static bool has_second(const lw_tape_step &step) { return step.operation == LW_TAPE_sine_cosine; }
  static bool is_sine(const lw_tape_step &step) {
    return has_second(step) || step.operation == LW_TAPE_sine || step.operation == LW_TAPE_cosine;
  }

  std::string entered(int32_t input) const { return call(one ? "ROW" : "GIVEN", inputs[(size_t)input]); }
  std::string kept(int32_t number) const {
    return call("KEPT", one ? one->kept[number - t.inputs - t.constants] : number);
  }
  std::string stored(int32_t number) const {
    const int32_t constant = number - t.inputs;
    if (is_left[(size_t)number]) return call("LEFT", number);
    if (constant < 0) return entered(number);
    return constant < t.constants ? "ALL(" + digits(t.constant[constant]) + ")" : kept(number);
  }

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
    for (size_t i = 0; i < angles.size(); i++) list += (i % 4 ? ", " : i ? "}, {" : "{") + entered(angles[i]);
    const std::string first = text_of(t.registers);
    return "    const four angles[] = {" + list + "}};\n    function(" + text_of(LW_TAPE_sine_cosine) +
           ", (const double *)angles, (const double *)angles, left + " + first + ", left + " + first + " + " +
           text_of(sine_count) + ", " + text_of(sine_count / 4) + ");\n";
  }

  void add_parts(int32_t from, int32_t to) {
    while (from < to) parts.push_back(from = std::min(to, from + STEPS_OF_A_FUNCTION));
  }
  int32_t begin_of(size_t number) const { return number ? parts[number - 1] : 0; }
  void write_parts() {
    const std::vector<std::vector<char>> needed = needed_after();
    for (size_t i = 0; i < parts.size(); i++) write_part(i, needed[i]);
  }
  void call_parts(size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
      text += "    " + name_of(i) + "(r, " + (one ? "" : "given, ") + "left, &failed, function, k);\n" +
              (one ? "    if (failed) return 1;\n" : "");
  }
  std::string name_of(size_t number) const { return part + text_of((int64_t)number); }
  void put_results(int32_t from, int32_t to, bool is_matrix) {
    for (int32_t i = from; i < to; i++)
      text += (is_matrix ? "    matrix[" + text_of(i) : "    r[" + text_of(one->results[(size_t)i])) +
              "] = " + stored(t.result[i]) + ";\n";
  }

  /* Registers that are read later, by function. */
  std::vector<std::vector<char>> needed_after() const {
    std::vector<std::vector<char>> found(parts.size());
    std::vector<char> needed((size_t)t.registers, 0);
    for (int32_t i = 0; i < t.results; i++) needed[(size_t)t.result[i]] = 1;
    for (size_t f = parts.size(); f-- > 0;) {
      found[f] = needed;
      for (int32_t i = parts[f]; i-- > begin_of(f);) {
        const lw_tape_step &step = t.step[i];
        if (!is_guard(step)) needed[(size_t)step.to] = 0;
        if (has_second(step)) needed[(size_t)step.operand[1]] = 0;
        for (int k = 0; k < operands_of(step); k++) needed[(size_t)step.operand[k]] = 1;
      }
    }
    return found;
  }

  void write_part(size_t number, const std::vector<char> &needed) {
    text += "static " + std::string(one ? "__attribute__((noinline)) " : "") + "void " + name_of(number) +
            "(double *restrict r, " + (one ? "" : "const double *given, ") +
            "double *restrict left, truths *all_failed, function_of_numbers *function, long long k) {\n"
            "  truths failed = *all_failed;\n  (void)r, (void)left, (void)function, (void)k;\n";
    std::fill(name.begin(), name.end(), "");
    names = 0;
    std::vector<char> written((size_t)t.registers, 0);
    for (int32_t i = begin_of(number); i < parts[number]; i++) {
      const lw_tape_step &step = t.step[i];
      write_step(step, early[(size_t)i]);
      if (!is_guard(step)) written[(size_t)step.to] = 1;
      if (has_second(step)) written[(size_t)step.operand[1]] = 1;
    }
    for (size_t i = 0; i < written.size(); i++) {
      if (!written[i]) continue;
      is_left[i] = 1;
      if (needed[i]) text += "  " + call("LEFT", (int32_t)i) + " = " + name[i] + ";\n";
    }
    text += "  *all_failed = failed;\n}\n";
  }

  static std::string call(const char *macro, int32_t number) { return macro + ("(" + text_of(number) + ")"); }
  std::string next_name() { return "x" + text_of(names++); }
  void define(int32_t to, const std::string &value) {
    name[(size_t)to] = next_name();
    text += "  const numbers " + name[(size_t)to] + " = " + value + ";\n";
  }

  /* The number that a register holds. */
  const std::string &read(int32_t from) {
    std::string &found = name[(size_t)from];
    if (!found.empty()) return found;
    define(from, stored(from));
    return found;
  }
  static std::string digits(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return "number_of(" + std::to_string(bits) + "ULL)";
  }

  void write_step(const lw_tape_step &step, int32_t sine) {
    if (sine >= 0) return take_sine(step, t.registers + sine);
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

  void take_sine(const lw_tape_step &step, int32_t sine) {
    const int32_t cosine = sine + sine_count;
    define(step.to, call("LEFT", step.operation == LW_TAPE_cosine ? cosine : sine));
    if (has_second(step)) define(step.operand[1], call("LEFT", cosine));
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
