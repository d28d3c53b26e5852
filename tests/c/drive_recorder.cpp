/* Compares tapes with plain arithmetic. Each expression is written once for any scalar: those of
 * tape/recorded_scalar.h record it, and those below evaluate it by the functions of C, and note each number and each
 * decision. A tape is right where its guards hold only if all decisions on finite numbers are those of the recording, and
 * the results are finite and the same but for the signs of zeros. Where a guard misses, a decision differs or
 * a number is too large. `drive_recorder [EXPRESSIONS]`: how many of them at random. */
#define LW_ARITHMETIC 3 /* LW_RECORDED */
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include "math/exponentials.h"
#include "math/scalar.h"
#include "tape/recorded_scalar.h"
#include "tape/write_tape.h"
extern "C" {
#include "block/kernels.h" /* LW_HAVE_AVX2 */
#include "expect.h"
}

thread_local lw::recorder *lw_recorder;

namespace {

std::string details; /* of the subject */

[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  std::fprintf(stderr, "drive_recorder: %s: ", subject);
  std::vfprintf(stderr, format, values);
  std::fprintf(stderr, "\n%s", details.c_str());
  va_end(values);
  std::exit(1);
}

/* ---- the scalar of plain arithmetic ---- */

constexpr int32_t NOT_WHOLE = INT32_MIN;

/* Of one evaluation. */
struct notes {
  std::vector<double> numbers;
  std::vector<int32_t> decisions;
  std::vector<bool> selections; /* decisions too where one of the two numbers is infinite or none */
  bool peculiar = false;        /* something that is recorded of constants alone, if at all */
} noted;

struct plain {
  double value = 0.0;
  plain() = default;
  plain(double number) : value(number) {}
  explicit operator int32_t() const;
};

plain number(double value) {
  noted.numbers.push_back(value);
  return value;
}
bool decided(bool yes) {
  noted.decisions.push_back(yes);
  return yes;
}
bool peculiar(bool yes) {
  noted.peculiar |= decided(yes);
  return yes;
}

plain::operator int32_t() const {
  const bool is_whole = std::fabs(value) < 0x1p31 && std::trunc(value) == value;
  noted.decisions.push_back(is_whole ? static_cast<int32_t>(value) : NOT_WHOLE);
  noted.peculiar |= !is_whole;
  return noted.decisions.back();
}

plain operator+(plain a, plain b) { return number(a.value + b.value); }
plain operator-(plain a, plain b) { return number(a.value - b.value); }
plain operator*(plain a, plain b) { return number(a.value * b.value); }
plain operator/(plain a, plain b) { return number(a.value / b.value); }
plain operator-(plain a) { return number(-a.value); }
bool operator<(plain a, plain b) { return decided(a.value < b.value); }
bool operator>(plain a, plain b) { return decided(a.value > b.value); }
bool operator<=(plain a, plain b) { return decided(a.value <= b.value); }
bool operator>=(plain a, plain b) { return decided(a.value >= b.value); }
bool operator==(plain a, plain b) { return decided(a.value == b.value); }
bool operator!=(plain a, plain b) { return decided(a.value != b.value); }
#define OF_ONE(name)                                      \
  plain name(plain a) { return number(::name(a.value)); }
OF_ONE(sqrt)
OF_ONE(fabs)
OF_ONE(floor)
OF_ONE(rint)
OF_ONE(round)
OF_ONE(exp_double)
OF_ONE(log_double)
OF_ONE(sinh_double)
OF_ONE(cosh_double)
OF_ONE(tanh_double)
#undef OF_ONE
plain pow_double(plain a, plain b) { return number(::pow_double(a.value, b.value)); }
plain fmax(plain a, plain b) { return number(std::fmax(a.value, b.value)); }
plain fmin(plain a, plain b) { return number(std::fmin(a.value, b.value)); }
plain larger(plain a, plain b) { return number(::larger(a.value, b.value)); }
int isfinite(plain a) { return decided(std::isfinite(a.value)); }
int isnan(plain a) { return decided(std::isnan(a.value)); }
int is_zero(plain a) { return a == 0.0; }
plain select_less(plain a, plain b, plain yes, plain no) {
  const bool less = a.value < b.value;
  noted.selections.push_back(less);
  return number(less ? yes.value : no.value);
}
/* The angle of (-x, 0) has the sign of the zero. */
plain arctan2(plain y, plain x) {
  if (decided(x.value < 0.0)) peculiar(y.value == 0.0);
  return number(arctan2_double(y.value, x.value));
}
void sincos_double(plain x, plain *s, plain *c) {
  double sine, cosine;
  peculiar(!(std::fabs(x.value) < LW_SINCOS_LIMIT));
  ::sincos_double(x.value, &sine, &cosine);
  *s = number(sine), *c = number(cosine);
}

template <class T>
T sine_of(T a) {
  T s, c;
  sincos_double(a, &s, &c);
  return s;
}
template <class T>
T cosine_of(T a) {
  T s, c;
  sincos_double(a, &s, &c);
  return c;
}
template <class T>
T sine_of_sum(T a, T b) {
  T sa, ca, sb, cb;
  sincos_double(a, &sa, &ca);
  sincos_double(b, &sb, &cb);
  return sa * cb + ca * sb;
}
template <class T>
T by_whole(T a, T b, T c) {
  const int32_t n = static_cast<int32_t>(a);
  return n % 2 ? b - static_cast<double>(n) * c : b * c;
}

/* A term that may be left out. */
real with_term(real sum, real factor, real other) { return adds_nothing(factor) ? sum : sum + factor * other; }
plain with_term(plain sum, plain factor, plain other) {
  const double term = number(factor.value * other.value).value;
  return number(factor.value == 0.0 ? sum.value : sum.value + term);
}

/* ---- expressions, their recordings and their tapes ---- */

using doubles = std::vector<double>;
using plains = std::vector<plain>;
using reals = std::vector<real>;

struct expression {
  std::function<reals(const reals &)> recorded;
  std::function<plains(const plains &)> plainly;
};
/* Of a function of vectors of any scalar. */
template <class F>
expression any_scalar(const F &f) {
  return {f, f};
}

struct evaluation {
  doubles results;
  notes noted;
};

evaluation evaluate(const expression &e, const doubles &state) {
  noted = {};
  evaluation made;
  for (const plain one : e.plainly(plains(state.begin(), state.end()))) made.results.push_back(one.value);
  made.noted = noted;
  return made;
}

/* The last inputs, `kept` of them, are never larger than they are now. Throws a refusal. */
lw::record record(const expression &e, const doubles &state, size_t kept = 0, size_t most_nodes = SIZE_MAX) {
  lw::recorder recorder;
  lw_recorder = &recorder;
  recorder.most_nodes = most_nodes;
  reals inputs;
  for (size_t i = 0; i < state.size(); i++)
    inputs.push_back(recorder.input(state[i], i + kept < state.size() ? LW_TAPE_LARGEST_INPUT : std::fabs(state[i])));
  for (const real one : e.recorded(inputs)) recorder.result(one);
  recorder.guard_finite();
  return recorder.kept;
}

using states = std::vector<doubles>; /* at most LW_TAPE_STATES */

/* A tape whose inputs from `kept` on are the same for all states. Registers that nothing was written to are NaN. */
class player {
 public:
  player(const lw::record &from, size_t inputs, size_t kept, bool by_avx2) : with_avx2(by_avx2) {
    const auto first_results = static_cast<int32_t>((from.results.size() + 1) / 2);
    tape = lw::write_tape(from, static_cast<int32_t>(inputs - kept), first_results, &kept_inputs);
    registers.assign(static_cast<size_t>(tape.registers) * LW_TAPE_STATES, NAN);
    for (size_t i = 0; i < tape.constants.size(); i++)
      std::fill_n(row(tape.inputs.size() + i), LW_TAPE_STATES, tape.constants[i]);
  }

  void keep(const doubles &state) {
    for (size_t i = 0; i < kept_inputs.size(); i++)
      std::fill_n(row(tape.inputs.size() + tape.constants.size() + i), LW_TAPE_STATES,
                  state[static_cast<size_t>(kept_inputs[i])]);
  }

  /* The states from place `first` on, around the end; places that are left are NaN. Returns those that count. */
  std::vector<bool> play(const states &given, size_t first, states *results) {
    const lw_tape view = tape.view();
    uint64_t missed;
    for (size_t i = 0; i < tape.inputs.size(); i++) {
      std::fill_n(row(i), LW_TAPE_STATES, NAN);
      for (size_t k = 0; k < given.size(); k++)
        row(i)[(first + k) % LW_TAPE_STATES] = given[k][static_cast<size_t>(tape.inputs[i])];
    }
#ifdef LW_HAVE_AVX2
    (with_avx2 ? lw_run_tape_avx2 : lw_run_tape)(&view, registers.data(), &missed);
#else
    lw_run_tape(&view, registers.data(), &missed);
#endif
    std::vector<bool> counts;
    results->clear();
    for (size_t k = 0; k < given.size(); k++) {
      const size_t place = (first + k) % LW_TAPE_STATES;
      counts.push_back(!(missed >> place & 1));
      results->emplace_back();
      for (const int32_t one : tape.results) results->back().push_back(row(static_cast<size_t>(one))[place]);
    }
    return counts;
  }

  lw::written_tape tape;
  bool with_avx2;

 private:
  double *row(size_t i) { return registers.data() + i * LW_TAPE_STATES; }
  std::vector<int32_t> kept_inputs;
  doubles registers;
};

bool have_avx2() {
#ifdef LW_HAVE_AVX2
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

std::string operations_of(const lw::written_tape &tape) {
  static const char *const name[] = {"constant", "input",
#define X(name, operands, formula) #name,
                                     LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_GUARD(X)
#undef X
  };
  std::string list;
  for (const lw_tape_step &step : tape.steps) list += std::string(list.empty() ? "" : " ") + name[step.operation];
  return list;
}

/* ---- the comparison ---- */

struct {
  int64_t recordings, refusals, states, alike, counting;
} total;

bool are_alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/* Whether a number is beyond `size`. Constants, which may be, are those of the start. */
bool is_beyond(const notes &at, const notes &start, double size) {
  for (size_t i = 0; i < at.numbers.size(); i++)
    if (!(std::fabs(at.numbers[i]) < size) && !are_alike(at.numbers[i], start.numbers[i])) return true;
  return false;
}

void compare(const evaluation &expected, const evaluation &start, bool counts, const doubles &found, size_t k) {
  const bool alike = expected.noted.decisions == start.noted.decisions;
  total.states++, total.alike += alike, total.counting += counts;
  if (!counts) {
    const bool same = alike && expected.noted.selections == start.noted.selections;
    if (same && !is_beyond(expected.noted, start.noted, LW_TAPE_LARGEST_INPUT))
      fail("state %zu: a guard does not hold, but all decisions are those of the recording", k);
    return;
  }
  if (!alike && !is_beyond(expected.noted, start.noted, HUGE_VAL))
    fail("state %zu: the guards hold, but a decision differs from that of the recording", k);
  for (size_t i = 0; i < found.size(); i++)
    if (found[i] != expected.results[i] || !std::isfinite(found[i]))
      fail("state %zu: result %zu is %a by the tape, %a plainly", k, i, found[i], expected.results[i]);
}

/* Plays a tape at all places, and again with the states at other places and NaN at those that are left. */
void compare_states(const expression &e, const evaluation &start, std::vector<player> &players, const states &given,
                    bool first_is_start) {
  states found, again;
  std::vector<evaluation> expected;
  for (const doubles &one : given) expected.push_back(evaluate(e, one));
  std::vector<std::vector<bool>> by_player;
  for (player &one : players) {
    one.keep(given[0]);
    const std::vector<bool> counts = one.play(given, 0, &found);
    for (size_t k = 0; k < given.size(); k++) compare(expected[k], start, counts[k], found[k], k);
    if (first_is_start && !counts[0]) fail("a guard does not hold where it was recorded");
    const states few(given.begin(), given.begin() + 1 + random_below(LW_TAPE_STATES));
    const std::vector<bool> still = one.play(few, random_below(LW_TAPE_STATES), &again);
    for (size_t k = 0; k < few.size(); k++)
      if (still[k] != counts[k] || (counts[k] && again[k] != found[k])) fail("state %zu: it depends on its place", k);
    by_player.push_back(counts);
  }
  if (by_player.front() != by_player.back()) fail("the instruction sets differ in guards");
}

std::vector<player> players_of(const lw::record &kept, size_t inputs, size_t same_for_all) {
  std::vector<player> made = {player(kept, inputs, same_for_all, false)};
  if (have_avx2()) made.emplace_back(kept, inputs, same_for_all, true);
  return made;
}

/* A recording may only be refused for a number that is too large for guards or not finite, or for a peculiar one. */
bool may_be_refused(const notes &at) {
  return at.peculiar ||
         std::any_of(at.numbers.begin(), at.numbers.end(), [](double one) { return !(std::fabs(one) < DBL_MAX); });
}

/* Fills `kept`, or returns false: it was refused, with reason. */
bool record_or_explain(const expression &e, const doubles &state, size_t same_for_all, const evaluation &start,
                       lw::record *kept) {
  total.recordings++;
  try {
    *kept = record(e, state, same_for_all);
  } catch (const lw::refusal &why) {
    total.refusals++;
    if (!may_be_refused(start.noted)) fail("refused without reason: %s", why.what());
    return false;
  }
  return true;
}

/* ---- numbers at random ---- */

double between(double low, double high) { return low + (high - low) * (random_below(UINT32_MAX) / (double)UINT32_MAX); }
template <class T>
T one_of(const std::vector<T> &all) {
  return all[random_below(static_cast<uint32_t>(all.size()))];
}

constexpr double LARGEST = LW_TAPE_LARGEST_INPUT;
const doubles SPECIAL = {0.0,       -0.0,       1.0,       -1.0,     2.0,          -2.0, 0.5, -3.0, LARGEST, -LARGEST,
                         0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-540, 0x1p52 + 1.0, 0.1,  2.5, -1.5, 7.9e5,   8e5};

double ordinary() { return random_below(4) ? between(-4.0, 4.0) : std::rint(between(-3.0, 3.0)); }
double of_size(double low, double high) {
  const double size = between(low, high);
  return std::ldexp(between(-1.0, 1.0), static_cast<int>(size));
}
double within_limit(double x) { return std::fabs(x) <= LARGEST ? x : LARGEST; }
double any_number() {
  switch (random_below(6)) {
    case 0: return of_size(-1074.0, -20.0);
    case 1: return of_size(10.0, 30.0);
    case 2:
    case 3: return one_of(SPECIAL);
    default: return ordinary();
  }
}

/* ---- each rule by itself ---- */

struct rule {
  const char *name;
  const char *operations; /* of the tape that is recorded at (3, 5, 0.5, 0.25); NULL: they depend on the state */
  expression value;
};

#define RULE(name, operations, value)                                                  \
  {name, operations, any_scalar([](auto x) {                                           \
     using T = typename decltype(x)::value_type;                                       \
     const T a = x[0], b = x[1], c = x[2], d = x[3], inf = INFINITY, none = inf - inf; \
     (void)a, (void)b, (void)c, (void)d, (void)inf, (void)none;                        \
     return decltype(x){T(value)};                                                     \
   })}
#define BELOW " within" /* the guard of a bound */

/* a to the power of two to the power of n */
template <class T>
T squared(T a, int n) {
  for (int i = 0; i < n; i++) a = a * a;
  return a;
}

/* Where both are large it is infinite, or no number. */
template <class T>
T opposed(T a, T b) {
  return squared(a, 6) - squared(b, 6);
}

const std::vector<rule> RULES = {
    RULE("an input", "", a),
    RULE("-(-a) = a", "", -(-a)),
    RULE("a + 0 = a", "", a + 0.0),
    RULE("0 + a = a", "", 0.0 + a),
    RULE("a + (-0) = a", "", a + T(-0.0)),
    RULE("a + (-b) = a - b", "subtract", a + (-b)),
    RULE("(-a) + b = b - a", "subtract", (-a) + b),
    RULE("(-a) + (-b) = -(a + b)", "add minus", (-a) + (-b)),
    RULE("(-a) + a = 0", "", (-a) + a),
    RULE("a + (-a) = 0", "", a + (-a)),
    RULE("a - 0 = a", "", a - 0.0),
    RULE("0 - a = -a", "minus", 0.0 - a),
    RULE("0 - (-a) = a", "", 0.0 - (-a)),
    RULE("a - a = 0", "", a - a),
    RULE("a b - b a = 0", "", a *b - b * a),
    RULE("a - (-b) = a + b", "add", a - (-b)),
    RULE("(-a) - b = -(a + b)", "add minus", (-a) - b),
    RULE("(-a) - (-b) = b - a", "subtract", (-a) - (-b)),
    RULE("(-a) - a", "add minus", (-a) - a),
    RULE("a + b is found again", "add multiply", (a + b) * (b + a)),
    RULE("a - b is not b - a", "subtract subtract multiply", (a - b) * (b - a)),
    RULE("0 a = 0", "", 0.0 * a),
    RULE("a 0 = 0", "", a *T(-0.0)),
    RULE("1 a = a", "", 1.0 * a),
    RULE("-1 a = -a", "minus", -1.0 * a),
    RULE("a (-2) = -(2 a)", "multiply minus", a * -2.0),
    RULE("-2 (-a) = 2 a", "multiply", -2.0 * (-a)),
    RULE("(-a) b = -(a b)", "multiply minus", (-a) * b),
    RULE("a (-b) = -(a b)", "multiply minus", a * (-b)),
    RULE("(-a) (-b) = a b", "multiply", (-a) * (-b)),
    RULE("a b + (-a) b = 0", "", a *b + (-a) * b),
    RULE("a b is found again", "multiply add", a *b + b * a),
    RULE("2 a is found again", "multiply add", 2.0 * a + a * 2.0),
    RULE("numbers of constants", "add", a + T(2.0) * 3.0 / 4.0 - T(0.0)),
    RULE("tiny products", "multiply multiply", a * 0x1p-1000 * 0x1p-60),
    RULE("products that vanish", "multiply multiply multiply", a * b * 0x1p-1060 * 0.7),
    RULE("a b + c", "multiply_add", a *b + c),
    RULE("c + a b", "multiply_add", c + a * b),
    RULE("a b - c", "multiply_subtract", a *b - c),
    RULE("c - a b", "subtract_product", c - a * b),
    RULE("a b + c d", "multiply multiply_add", a *b + c * d),
    RULE("a b - c d", "multiply multiply_subtract", a *b - c * d),
    RULE("a b + a b", "multiply add", a *b + a * b),
    RULE("-(a b) + c = c - a b", "subtract_product", -(a *b) + c),
    RULE("-(a b) - c = -(a b + c)", "multiply_add minus", -(a *b) - c),
    RULE("a product with two uses", nullptr, (a * b + c) * (a * b - d)),
    RULE("a product with a guard",
         "multiply multiply multiply multiply multiply multiply multiply multiply multiply_add" BELOW,
         squared(a, 3) * squared(b, 5) + c),
    RULE("a product that is compared", nullptr, a *b + (a * b < c ? c : d)),
    RULE("terms that may be left out", "multiply_add", with_term(a, b, c)),
    RULE("terms that are left out", "", with_term(a, 0.0 * b, c)),
    RULE("0 / a = 0", "not_equal", 0.0 / a),
    RULE("0 / (-a) = 0", nullptr, 0.0 / (-a)),
    RULE("a / 1 = a", "", a / 1.0),
    RULE("a / -1 = -a", "minus", a / -1.0),
    RULE("a / 4 = a / 4", "multiply", a / 4.0),
    RULE("a / -4 = -(a / 4)", "multiply minus", a / -4.0),
    RULE("a / 2^998 = 2^-998 a", "multiply", a / 0x1p998),
    RULE("a / 2^999", "divide", a / 0x1p999),
    RULE("a / 2^1023", "divide", a / 0x1p1023),
    RULE("a / 2^-900 = 2^900 a", "multiply multiply", a / 0x1p-900 * 0x1p-100),
    RULE("a / 2^-940 = 2^940 a", "multiply multiply", a / 0x1p-940 * 0x1p-100),
    RULE("a / 2^-998", nullptr, a / 0x1p-998),
    RULE("a / 2^-1074", nullptr, a / 0x1p-1074),
    RULE("a / 3", "divide", a / 3.0),
    RULE("a / -3", "divide minus", a / -3.0),
    RULE("a / b", "divide" BELOW, a / b),
    RULE("1 / a", "divide" BELOW, 1.0 / a),
    RULE("-1 / a = -(1 / a)", "divide minus" BELOW, -1.0 / a),
    RULE("(-a) / b = -(a / b)", "divide minus" BELOW, (-a) / b),
    RULE("a / (-b) = -(a / b)", "divide minus" BELOW, a / (-b)),
    RULE("(-a) / (-b) = a / b", "divide" BELOW, (-a) / (-b)),
    RULE("(-a) / (-3) = a / 3", "divide", (-a) / -3.0),
    RULE("a / a", "divide" BELOW, a / a),
    RULE("0 (a / b) = 0, where it is finite", "divide" BELOW, 0.0 * (a / b)),
    RULE("a / b - a / b = 0, where it is finite", "divide" BELOW, a / b - a / b),
    RULE("1 / (0 a + b)", "divide" BELOW, 1.0 / (0.0 * a + b)),
    RULE("|-a| = |a|", "abs", fabs(-a)),
    RULE("|a| of constants", "add", a + fabs(T(-3.0))),
    RULE("a root", "not_less sqrt", sqrt(a)),
    RULE("a root of a square", "multiply not_less sqrt", sqrt(a *a)),
    RULE("a root of a zero divides", nullptr, 1.0 / sqrt(-(0.0 * a) + b)),
    RULE("floor", "floor", floor(a)),
    RULE("rint", "rint", rint(a)),
    RULE("round", "round", round(a)),
    RULE("whole parts and their bounds", nullptr, a / (floor(a) + rint(a) + round(a))),
    RULE("whole parts of constants", "add", a + (floor(T(2.5)) + rint(T(2.5)) + round(T(2.5)))),
    RULE("sine", "within sine", sine_of(a)),
    RULE("cosine", "within cosine", cosine_of(a)),
    RULE("sine of -a", "minus within sine", sine_of(-a)),
    RULE("both of the same", "within sine_cosine add", sine_of(a) + cosine_of(a)),
    RULE("both of two", "within within sine_cosine sine_cosine multiply multiply_add", sine_of_sum(a, b)),
    RULE("both, and one of them later", "within sine_cosine multiply_add add",
         sine_of(a) * cosine_of(a) + b + sine_of(a)),
    RULE("an angle is bounded by its sine", nullptr, sine_of(a) + 1e20 * squared(a, 5)),
    RULE("of a large constant", "add", a + sine_of(T(1e9))),
    RULE("arctan2", "not_less arctan2", arctan2(a, b)),
    RULE("arctan2, behind", "minus less not_equal arctan2", arctan2(a, -b)),
    RULE("arctan2 of (x, 0)", "not_less", arctan2(T(0.0), b)),
    RULE("arctan2 of (1, y)", "arctan2", arctan2(a, T(1.0))),
    RULE("arctan2 of (0, y)", "arctan2", arctan2(a, T(0.0))),
    RULE("arctan2 of (-1, y)", "not_equal arctan2", arctan2(a, T(-1.0))),
    RULE("arctan2 of (x, 1)", "not_less arctan2", arctan2(T(1.0), a)),
    RULE("arctan2 of zeros in front", "", arctan2(0.0 * a, T(1.0)) + arctan2(0.0 * a, 0.0 * b)),
    RULE("arctan2 of a large slope", "not_less arctan2", arctan2(T(1e308), a)),
    RULE("exp", "exp" BELOW, exp_double(a)),
    RULE("log", "less log" BELOW, log_double(a)),
    RULE("pow", "pow" BELOW, pow_double(a, b)),
    RULE("pow of a zero", nullptr, pow_double(0.0 * a, b)),
    RULE("pow by a zero", "pow" BELOW, pow_double(a, 0.0 * b)),
    RULE("sinh", "sinh" BELOW, sinh_double(a)),
    RULE("cosh", "cosh" BELOW, cosh_double(a)),
    RULE("tanh", "tanh", tanh_double(a)),
    RULE("functions of constants", "add", a + (exp_double(T(1.0)) + log_double(T(2.0)) + pow_double(T(2.0), T(0.3)))),
    RULE("select of constants", "", select_less(T(1.0), T(2.0), a, b)),
    RULE("select by the same", "", select_less(a, a, b, c)),
    RULE("select of the same", "", select_less(a, b, c, c)),
    RULE("select of equal constants", "", select_less(a, b, T(2.0), T(2.0))),
    RULE("select", "select_less", select_less(a, b, c, d)),
    RULE("selects that differ at the end", "select_less select_less subtract",
         select_less(a, b, c, d) - select_less(a, b, c, a)),
    RULE("select, below infinity", "", select_less(a, inf, b, c)),
    RULE("select, below minus infinity", "", select_less(a, -inf, b, c)),
    RULE("select, infinity below", "", select_less(inf, a, b, c)),
    RULE("select, minus infinity below", "", select_less(-inf, a, b, c)),
    RULE("select of infinities", "not_less", select_less(b, a, inf, c)),
    RULE("select of infinities as bounds", "not_less", fmin(select_less(b, a, c, inf), d)),
    RULE("select of no number", "not_less", select_less(b, a, none, c)),
    RULE("select in place of a power that is none", nullptr, select_less(a, b, c, pow_double(-fabs(a) - 1.0, T(1.5)))),
    RULE("select in place of a power that is infinite", nullptr, select_less(b, a, squared(fabs(a) + 2.0, 11), c)),
    RULE("select of a large constant", "select_less", select_less(b, a, T(1e308), c)),
    RULE("select of zeros divides", nullptr, 1.0 / select_less(a, b, 0.0 * c, d)),
    RULE("the larger one", "select_less", larger(a, b)),
    RULE("fmax", "select_less", fmax(a, b)),
    RULE("fmin", "select_less", fmin(a, b)),
    RULE("between infinities", "", fmin(fmax(a, -inf), inf)),
    RULE("between bounds", "select_less select_less", fmin(fmax(a, -1.0), 1.0)),
    RULE("a < b", "less", a < b ? a : c),
    RULE("a > b", "not_less", a > b ? a : c),
    RULE("a <= b", "not_less", a <= b ? a : c),
    RULE("a >= b", "less", a >= b ? a : c),
    RULE("a == b", "not_equal", a == b ? a : c),
    RULE("a != b", "not_equal", a != b ? a : c),
    RULE("a < a", "", a < a || a != a || !(a <= a) ? a : c),
    RULE("a is zero", "not_equal", is_zero(a) ? b : b / 1.0),
    RULE("a guard stands once", "less", a<b && b> a &&a < b ? a : c),
    RULE("bounds at infinity", "", a < inf && -inf < a && a != inf && !(a >= inf) && !(inf == a) ? a : c),
    RULE("comparisons of constants", "", T(1.0) < T(2.0) && T(2.0) == T(2.0) ? a : c),
    RULE("comparisons of no number", "", none < 1.0 || none > 1.0 || none <= 1.0 || none >= 1.0 ? a : c),
    RULE("equality of no number", "", none == none || !(none != none) ? a : c),
    RULE("of inputs all are finite", "", isfinite(a) && !isnan(a) ? a : c),
    RULE("of constants not all are", "", isfinite(inf) || !isnan(none) ? a : c),
    RULE("a whole number", "equal subtract_product", by_whole(a, b, c)),
    RULE("a rounded number", "rint equal subtract_product", by_whole(rint(a), b, c)),
    RULE("a whole constant", "subtract_product", by_whole(T(3.0), b, c)),
    RULE("powers that overflow", "multiply multiply multiply multiply multiply multiply" BELOW, squared(a, 6)),
    RULE("sums of what may overflow", nullptr, squared(a, 5) * squared(b, 4) + squared(c, 5) * squared(d, 4)),
    RULE("bounds of sums", nullptr, squared(squared(a, 4) + b, 2)),
    RULE("bounds of differences", nullptr, squared(a - squared(b, 4), 2)),
    RULE("bounds of other differences", nullptr, squared(squared(a, 4) - b, 2)),
    RULE("bounds of opposites", nullptr, squared(b - (c + fabs(-squared(a, 4))), 2)),
    RULE("bounds of whole parts", nullptr, squared(floor(squared(a, 4)), 2) + squared(rint(squared(b, 4)), 2)),
    RULE("bounds of rounded parts", nullptr, squared(round(squared(a, 4)), 2)),
    RULE("bounds of whole parts of tiny numbers", nullptr, squared(floor(0x1p-700 * a), 2) * squared(b, 5) * c * d),
    RULE("bounds of roots", nullptr, squared(sqrt(squared(a, 4)), 3)),
    RULE("bounds of roots of tiny numbers", nullptr,
         sqrt(squared(0x1p-50 * a, 3)) * squared(b, 5) * (squared(c, 2) * d)),
    RULE("bounds of selected numbers", nullptr, squared(select_less(a, b, squared(c, 4), d), 2)),
    RULE("bounds of others", nullptr, squared(select_less(a, b, d, squared(c, 4)), 2)),
    RULE("bounds that are no numbers", nullptr,
         squared(a < DBL_MAX ? select_less(b, c, T(1.0), a * 1e-320 * 1e-320 * DBL_MAX + a) : b, 6)),
    RULE("bounds of quotients", nullptr, squared(a / b, 6)),
    RULE("bounds of quotients by constants", nullptr, squared(squared(a, 4) / 0.3, 2) + squared(b / 1e-300, 2)),
    RULE("bounds of exponentials", nullptr, squared(exp_double(a), 6) + squared(sinh_double(b), 6)),
    RULE("bounds of powers", nullptr, squared(pow_double(a, b), 6) + squared(cosh_double(b), 6)),
    RULE("0 times a product, where it is finite", nullptr, 0.0 * (squared(a, 5) * squared(b, 5))),
    RULE("a difference of products, where they are finite", nullptr, squared(a, 6) - squared(a, 6)),
    RULE("comparison of products, where they are finite", nullptr, squared(a, 6) < squared(b, 6) ? a : b),
    RULE("equality of products, where they are numbers", nullptr, opposed(a, b) == opposed(a, b) ? c : d),
    RULE("order of products, where they are numbers", nullptr, opposed(a, b) <= opposed(a, b) ? c : d),
    RULE("0 by products, where they are numbers", nullptr, 0.0 / opposed(a, b)),
    RULE("0 times an angle, where it is a number", nullptr, 0.0 * arctan2(opposed(a, b), T(1.0))),
    RULE("0 times tanh, where it is a number", nullptr, 0.0 * tanh_double(opposed(a, b))),
    RULE("products that are not infinite", nullptr, squared(a, 6) == inf ? b : c),
    RULE("products below infinity", nullptr, select_less(squared(a, 6), inf, b, c)),
    RULE("the larger one of products, where they are numbers", nullptr, fmax(opposed(a, b), c)),
    RULE("the smaller one of products, where they are numbers", nullptr, fmin(opposed(a, b), c)),
    RULE("the sign of a zero in a quotient", nullptr, select_less(1.0 / (a + 0.0), 0.0, c, d)),
    RULE("the sign of a zero in a power", nullptr, select_less(pow_double(a + 0.0, T(-1.0)), 0.0, c, d)),
    RULE("large constants as factors", nullptr, 1e300 * a * b),
    RULE("large constants as bounds", "select_less select_less", fmin(a, select_less(b, a, T(1.0), T(1e289)))),
};

void compare_rule(const rule &r) {
  enum { RECORDINGS = 12, BLOCKS = 4 };
  const size_t inputs = 4;
  subject = r.name;
  int recordings = 0;
  for (int i = 0; i < RECORDINGS; i++) {
    doubles state = {3.0, 5.0, 0.5, 0.25};
    if (i)
      for (double &one : state) one = i % 2 ? within_limit(one_of(SPECIAL)) : ordinary();
    const evaluation start = evaluate(r.value, state);
    lw::record kept;
    if (!record_or_explain(r.value, state, 0, start, &kept)) continue;
    recordings++;
    std::vector<player> players = players_of(kept, inputs, 0);
    const std::string operations = operations_of(players[0].tape);
    if (i == 0 && r.operations && operations != r.operations)
      fail("the tape is '%s', not '%s'", operations.c_str(), r.operations);
    for (int j = 0; j < BLOCKS; j++) {
      states given(LW_TAPE_STATES, doubles(inputs));
      for (doubles &one : given)
        for (double &x : one) x = within_limit(any_number());
      if (j == 0) given[0] = state;
      for (double &x : given[1]) x = random_below(2) ? LARGEST : -LARGEST;
      compare_states(r.value, start, players, given, j == 0);
    }
  }
  if (!recordings) fail("never recorded");
}

/* ---- refusals ---- */

struct refused {
  const char *name, *reason; /* which the message contains */
  expression value;
};
#define REFUSED(name, reason, value) RULE(name, reason, value)

const std::vector<refused> REFUSALS = {
    /* at (3, 5, 0.5, 0.25) */
    REFUSED("a / 0", "divided by zero", a / 0.0),
    REFUSED("a / -0", "divided by zero", a / T(-0.0)),
    REFUSED("1 / 0", "divided by zero", T(1.0) / 0.0),
    REFUSED("0 / 0", "divided by zero", T(0.0) / (0.0 * a)),
    REFUSED("0 / x where x is zero", "divided by zero", 0.0 / (a - 3.0)),
    REFUSED("x / y where y is zero", "not finite", b / (a - 3.0)),
    REFUSED("x / x where x is zero", "not finite", (a - 3.0) / (a - 3.0)),
    REFUSED("an infinite result", "not finite", inf),
    REFUSED("no number as a result", "not finite", none),
    REFUSED("a + infinity", "not finite", a + inf),
    REFUSED("a - infinity", "not finite", a - inf),
    REFUSED("a infinity", "not finite", a * -inf),
    REFUSED("a / infinity", "not finite", a / inf),
    REFUSED("infinity / a", "not finite", inf / a),
    REFUSED("a + none", "not finite", a + none),
    REFUSED("0 + none", "not finite", 0.0 + none),
    REFUSED("a < none", "not finite", a < none ? a : b),
    REFUSED("a power that is none, times zero", "not finite", 0.0 * pow_double(a - b, c)),
    REFUSED("a comparison with a power that is none", "not finite", pow_double(a - b, c) < a ? a : b),
    REFUSED("a comparison with an infinite power", "not finite", a < squared(b, 11) ? a : b),
    REFUSED("select by an infinite power", "not finite", select_less(a, squared(b, 11), a, b)),
    REFUSED("none >= a", "not finite", none >= a ? a : b),
    REFUSED("a == none", "not finite", a == none ? a : b),
    REFUSED("select by none", "not finite", select_less(none, a, b, c)),
    REFUSED("select of none", "not finite", select_less(a, b, none, c)),
    REFUSED("whole part of infinity", "not finite", floor(inf)),
    REFUSED("a result as large as can be", "too large", a + DBL_MAX),
    REFUSED("a power beyond all", "not finite", squared(a, 11)),
    REFUSED("an exponential beyond all", "not finite", exp_double(1000.0 * a)),
    REFUSED("a root of a negative number", "root", sqrt(-a)),
    REFUSED("a root of a negative constant", "not finite", a + sqrt(T(-1.0))),
    REFUSED("a logarithm of zero", "logarithm", log_double(a - 3.0)),
    REFUSED("a logarithm of a negative number", "logarithm", log_double(-a)),
    REFUSED("a power of a negative number", "not finite", pow_double(-a, c)),
    REFUSED("a large angle", "angle is large", sine_of(1e6 * a)),
    REFUSED("an angle at its jump", "angle jumps", arctan2(a - 3.0, -b)),
    REFUSED("an angle at its jump, a constant", "angle jumps", arctan2(T(0.0), -b)),
    REFUSED("an angle at its jump by a product", "angle jumps", arctan2(0.0 * a, T(-1.0))),
    REFUSED("an angle at its jump of constants", "angle jumps", arctan2(T(-0.0), T(-1.0))),
    REFUSED("a number that is not whole", "rounded", by_whole(c, a, b)),
    REFUSED("a number that is too large", "rounded", by_whole(1e10 * a, a, b)),
    REFUSED("a constant that is too large", "rounded", by_whole(T(1e10), a, b)),
    REFUSED("no whole number", "rounded", by_whole(none, a, b)),
    REFUSED("an infinite whole number", "rounded", by_whole(-inf, a, b)),
};

void expect_refusal(const refused &r, size_t most_nodes = SIZE_MAX) {
  subject = r.name;
  try {
    record(r.value, {3.0, 5.0, 0.5, 0.25}, 0, most_nodes);
  } catch (const lw::refusal &why) {
    if (!std::strstr(why.what(), r.reason)) fail("refused, because %s", why.what());
    return;
  }
  fail("not refused");
}

/* A sum that grows is refused at a number of nodes, and not before. */
void expect_limit() {
  subject = "a limit of nodes";
  const auto sum = any_scalar([](auto x) {
    for (int i = 0; i < 100; i++) x[0] = x[0] + x[1];
    return x;
  });
  expect_refusal({"too many nodes", "too long", sum}, 100);
  EXPECT(record(sum, {1.0, 2.0}, 0, 103).nodes.size() == 103);
}

/* ---- expressions at random ---- */

/* What a line of them may be, of four numbers before it. */
#define EACH_LINE(X)                                                 \
  X(sum, a + b)                                                      \
  X(difference, a - b)                                               \
  X(product, a *b)                                                   \
  X(scalar_product, a *b + c * d)                                    \
  X(determinant, a *b - c * d)                                       \
  X(quotient, a / b)                                                 \
  X(inverse, 1.0 / a)                                                \
  X(bounded_quotient, a / (1.0 + b * b))                             \
  X(opposite, -a)                                                    \
  X(nothing, 0.0 * a)                                                \
  X(half, a / 2.0)                                                   \
  X(third, a / -3.0)                                                 \
  X(root, sqrt(a))                                                   \
  X(length, sqrt(a *a + b * b))                                      \
  X(size, fabs(a))                                                   \
  X(below, floor(a))                                                 \
  X(nearest, rint(a))                                                \
  X(rounded, round(a))                                               \
  X(selected, select_less(a, b, c, d))                               \
  X(largest, larger(a, b))                                           \
  X(limited, fmin(fmax(a, -fabs(b)), c))                             \
  X(limited_by_a_choice, fmin(a, select_less(b, c, d, T(INFINITY)))) \
  X(unlimited, fmax(a, T(-INFINITY)))                                \
  X(sine, sine_of(a))                                                \
  X(cosine, cosine_of(a))                                            \
  X(turned, c *cosine_of(a) - d * sine_of(a))                        \
  X(angle_sum, sine_of_sum(a, b))                                    \
  X(next_term, with_term(a, b, c))                                   \
  X(angle, arctan2(a, b))                                            \
  X(arc, arctan2(a, T(1.0)))                                         \
  X(exponential, exp_double(a))                                      \
  X(gauss, exp_double(-(a * a)))                                     \
  X(logarithm, log_double(a))                                        \
  X(logarithm_of_size, log_double(fabs(a) + 1.0))                    \
  X(power, pow_double(fabs(a), b))                                   \
  X(cube, pow_double(a, T(3.0)))                                     \
  X(sinh, sinh_double(a))                                            \
  X(cosh, cosh_double(a))                                            \
  X(tanh, tanh_double(a))                                            \
  X(if_less, a < b ? c + d : c * d)                                  \
  X(if_greater, fabs(a) > fabs(b) ? c / a : c / b)                   \
  X(if_not_greater, a <= b ? c : d)                                  \
  X(if_not_less, a >= 0.0 ? sqrt(a) : -sqrt(-a))                     \
  X(if_equal, a == b ? c : c - d)                                    \
  X(if_not_equal, a != 0.0 ? c / a : d)                              \
  X(if_zero, is_zero(a) ? b : b * a)                                 \
  X(if_bounded, a < T(INFINITY) ? b : c)                             \
  X(if_finite, isfinite(a) ? a : b)                                  \
  X(by_whole_number, by_whole(a, b, c))                              \
  X(by_rounded_number, by_whole(rint(a), b, c))                      \
  X(by_quadrant, by_whole(floor(a * 0.5), b, c))

enum kind {
#define X(name, value) KIND_##name,
  EACH_LINE(X)
#undef X
      KINDS
};

struct line {
  kind is;
  size_t operand[4]; /* inputs, then constants, then lines */
};

template <class T>
T value_of(const line &at, const std::vector<T> &x) {
  const T a = x[at.operand[0]], b = x[at.operand[1]], c = x[at.operand[2]], d = x[at.operand[3]];
  switch (at.is) {
#define X(name, value)            \
  case KIND_##name: return value;
    EACH_LINE(X)
#undef X
    case KINDS: break;
  }
  return a;
}

struct program {
  size_t inputs, kept;
  doubles constants;
  std::vector<line> lines;
  std::vector<size_t> results; /* of all numbers */

  template <class T>
  std::vector<T> operator()(std::vector<T> x) const {
    x.insert(x.end(), constants.begin(), constants.end());
    for (const line &one : lines) x.push_back(value_of(one, x));
    std::vector<T> found;
    for (const size_t one : results) found.push_back(x[one]);
    return found;
  }
};

const doubles CONSTANTS = {0.0, 1.0, -1.0, -0.0, 2.0, 0.5, -0.25, 3.0, 0.1, -9.81, 0x1p-30, 0x1p40, 1e-320, 1e308};

/* Mostly recent numbers, so that a few of them are needed at once. */
line line_at_random(const program &p, size_t numbers) {
  if (!p.lines.empty() && random_below(8) == 0) return one_of(p.lines); /* again */
  line made = {static_cast<kind>(random_below(KINDS)), {}};
  const size_t recent = std::min<size_t>(numbers, 8), leaves = p.inputs + p.constants.size();
  for (size_t &one : made.operand)
    one = random_below(4) ? numbers - 1 - random_below(static_cast<uint32_t>(recent))
                          : random_below(static_cast<uint32_t>(random_below(4) ? leaves : numbers));
  return made;
}

/* Most lines can be recorded at the state. */
program program_at_random(const doubles &state) {
  program p = {state.size(), random_below(static_cast<uint32_t>(state.size())), {}, {}, {}};
  for (int i = 0; i < 4; i++) p.constants.push_back(random_below(4) ? one_of(CONSTANTS) : ordinary());
  plains x(state.begin(), state.end());
  x.insert(x.end(), p.constants.begin(), p.constants.end());
  for (uint32_t lines = 1 + random_below(60), tries = 0; p.lines.size() < lines; tries++) {
    const line made = line_at_random(p, x.size());
    noted = {};
    const plain value = value_of(made, x);
    const bool is_large = is_beyond(noted, {doubles(noted.numbers.size(), 0.0), {}, {}, false}, 0x1p50);
    if ((noted.peculiar || is_large) && (random_below(40) || tries > 10000)) continue;
    p.lines.push_back(made), x.push_back(value);
  }
  const bool all = random_below(8) == 0;
  for (size_t i = all ? 0 : x.size() - 1 - random_below(3); i < x.size(); i++)
    if (!all || std::isfinite(x[i].value)) p.results.push_back(i);
  return p;
}

/* States like one of them but for a few numbers, and others. */
states states_at_random(const program &p, const doubles &start, const doubles &kept) {
  states made(LW_TAPE_STATES, start);
  for (size_t k = 0; k < made.size(); k++) {
    if (k % 4 == 3) std::generate(made[k].begin(), made[k].end(), ordinary);
    if (k % 8 == 6) std::generate(made[k].begin(), made[k].end(), [] { return within_limit(any_number()); });
    for (uint32_t changes = k ? random_below(3) : 0; changes > 0; changes--) {
      double &one = made[k][random_below(static_cast<uint32_t>(start.size()))];
      one = random_below(2) ? one * between(0.9, 1.1) : any_number();
      one = within_limit(one);
    }
    std::copy(kept.end() - static_cast<std::ptrdiff_t>(p.kept), kept.end(),
              made[k].end() - static_cast<std::ptrdiff_t>(p.kept));
  }
  return made;
}

std::string text_of(const program &p) {
  static const char *const name[] = {
#define X(name, value) #name,
      EACH_LINE(X)
#undef X
  };
  std::string text = std::to_string(p.inputs) + " inputs; constants:";
  for (const double one : p.constants) text += ' ' + std::to_string(one);
  size_t i = p.inputs + p.constants.size();
  for (const line &at : p.lines) {
    text += "\nx" + std::to_string(i++) + " = " + name[at.is];
    for (const size_t one : at.operand) text += " x" + std::to_string(one);
  }
  return text + '\n';
}

void compare_program(int number) {
  const std::string name = "random expression " + std::to_string(number);
  subject = name.c_str();
  doubles start(2 + random_below(6));
  for (double &one : start) one = random_below(8) ? ordinary() : within_limit(any_number());
  const program p = program_at_random(start);
  details = text_of(p);
  const expression e = any_scalar(p);
  const evaluation at_start = evaluate(e, start);
  lw::record kept;
  if (record_or_explain(e, start, p.kept, at_start, &kept)) {
    std::vector<player> players = players_of(kept, p.inputs, p.kept);
    if (players[0].tape.registers >= 64 && p.results.size() < 8) fail("%d registers", players[0].tape.registers);
    compare_states(e, at_start, players, states_at_random(p, start, start), true);
    doubles others = start;
    for (double &one : others) one *= between(-1.0, 1.0);
    compare_states(e, at_start, players, states_at_random(p, start, others), false);
  }
  details.clear();
}

/* A long sum of few numbers needs few registers, also where comparisons use a number last. */
void expect_few_registers() {
  subject = "few registers";
  const auto sum = any_scalar([](auto x) {
    for (int i = 0; i < 1000; i++) {
      const auto part = floor(x[0]);
      x[0] = fabs(x[0] * x[1] - sine_of(x[2]) * 0.5);
      if (part < x[0]) x[2] = x[2] + x[0];
    }
    return decltype(x){x[0]};
  });
  std::vector<int32_t> kept;
  EXPECT(lw::write_tape(record(sum, {0.1, 0.5, 0.3}), 3, 1, &kept).registers < 12);
}

} // namespace

int main(int count, char **arguments) {
  const int expressions = count > 1 ? std::atoi(arguments[1]) : 4000;
  for (const rule &one : RULES) compare_rule(one);
  const auto of_rules = total;
  total = {};
  for (const refused &one : REFUSALS) expect_refusal(one);
  expect_limit();
  expect_few_registers();
  for (int i = 0; i < expressions; i++) compare_program(i);
  for (const auto &of : {of_rules, total})
    std::printf("%lld recordings, %lld refused; %lld states, %lld with the same decisions, %lld where guards hold\n",
                (long long)of.recordings, (long long)of.refusals, (long long)of.states, (long long)of.alike,
                (long long)of.counting);
  subject = "random expressions";
  EXPECT(total.refusals < total.recordings / 2);
  EXPECT(total.counting > 9 * total.alike / 10 && total.counting > total.states / 10);
  return failures != 0;
}
