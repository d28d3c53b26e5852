#include "tape/recorder.h"
#include "tape/tape.h"
#include "math/tolerances.h"
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

namespace lw {

namespace {

constexpr double ROUNDED_UP = 1.0 + 1e-12; /* what an operation rounds, and what its bound does */

bool is_constant(recorded a) { return a.node == 0; }
bool is(recorded a, double value) { return is_constant(a) && a.value == value; }
recorded constant_of(lw_tape_operation operation, recorded a, recorded b) {
  const double value[4] = {a.value, b.value};
  return {lw_tape_value(operation, value), 0};
}
bool are_same(recorded a, recorded b) { return a.node == b.node && (a.node || a.value == b.value); }

constexpr char NOT_FINITE[] = "a number is not finite there";

/* Infinities are constants. */
void check_comparable(recorded a, recorded b) {
  for (const recorded one : {a, b})
    if (std::isnan(one.value) || (std::isinf(one.value) && !is_constant(one))) throw refusal(NOT_FINITE);
}

/* Whether a quotient by it is a product with its inverse, to the bit: a power of two, whose inverse is none that a
 * double holds with fewer digits only. */
bool has_exact_inverse(double value) {
  int exponent;
  return std::fabs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 1000;
}

/* Whether its bound follows from that of an operand, unless it has one of its own. An angle has a limit where its sine is
 * recorded. */
bool has_bound_of(lw_tape_operation operation, int operand) {
  if (operation == LW_TAPE_select_less) return operand >= 2;
  return operation != LW_TAPE_sine && operation != LW_TAPE_cosine;
}

/* Operands that are finite if the operation gives a finite number; of a product with zero too: infinity times zero is no
 * number. Divisors and exponents need not be. */
int finite_operands(lw_tape_operation operation) {
  switch (operation) {
    case LW_TAPE_add:
    case LW_TAPE_subtract:
    case LW_TAPE_multiply: return 2;
    case LW_TAPE_divide:
    case LW_TAPE_minus:
    case LW_TAPE_abs:
    case LW_TAPE_sqrt:
    case LW_TAPE_floor:
    case LW_TAPE_rint:
    case LW_TAPE_round: return 1;
    default: return 0;
  }
}

} // namespace

bool recorder::key::operator==(const key &other) const { return std::memcmp(this, &other, sizeof *this) == 0; }

size_t recorder::hash::operator()(const key &k) const {
  uint64_t mixed = (uint64_t)k.operation;
  for (const int32_t one : k.operand) {
    mixed = (mixed ^ (uint32_t)one) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 29;
  }
  return (size_t)mixed;
}

recorder::recorder() : most_nodes(SIZE_MAX) {
  const int32_t none[4] = {};
  add_node(LW_TAPE_CONSTANT, none, 0.0, 0.0); /* so that node 0 means a constant */
}

/* ---- nodes ---- */

int32_t recorder::add_node(lw_tape_operation operation, const int32_t operand[4], double value, double limit) {
  if (kept.nodes.size() > most_nodes) throw refusal("it would be too long");
  node made = {operation, {}};
  std::copy(operand, operand + 4, made.operand);
  kept.nodes.push_back(made);
  kept.value.push_back(value);
  bounds.push_back(std::isnan(limit) ? INFINITY : limit); /* a product of zero and infinity */
  wanted_finite.push_back(0);
  relied_on.push_back(0);
  return (int32_t)kept.nodes.size() - 1;
}

int32_t recorder::constant(double value) {
  uint64_t bits;
  const int32_t none[4] = {};
  std::memcpy(&bits, &value, sizeof bits);
  const auto found = constants.find(bits);
  if (found != constants.end()) return found->second;
  if (!std::isfinite(value)) throw refusal(NOT_FINITE);
  return constants[bits] = add_node(LW_TAPE_CONSTANT, none, value, std::fabs(value));
}

int32_t recorder::node_of(recorded a) { return a.node ? a.node : constant(a.value); }

recorded recorder::input(double value, double limit) {
  const int32_t number[4] = {inputs++};
  return {value, add_node(LW_TAPE_INPUT, number, value, limit)};
}

/* The same operation on the same nodes is one node. */
recorded recorder::make(lw_tape_operation operation, recorded a, recorded b, recorded c, recorded d) {
  const int operands = lw_tape_operands(operation);
  const recorded given[4] = {a, b, c, d};
  key k = {operation, {}};
  double value[4] = {};
  for (int i = 0; i < operands; i++) k.operand[i] = node_of(given[i]), value[i] = given[i].value;
  if ((operation == LW_TAPE_add || operation == LW_TAPE_multiply) && k.operand[0] > k.operand[1])
    std::swap(k.operand[0], k.operand[1]), std::swap(value[0], value[1]);
  const auto found = known.find(k);
  if (found != known.end()) return {kept.value[(size_t)found->second], found->second};
  const double result = lw_tape_value(operation, value);
  const double bound = is_limited(operation, k.operand) ? std::max(LW_TAPE_LARGEST_INPUT, 4.0 * std::fabs(result))
                                                        : bound_of(operation, k.operand);
  return {result, known[k] = add_node(operation, k.operand, result, bound)};
}

/* ---- bounds ---- */

/* Quotients by numbers that may be zero, and powers, have bounds of their own, which are guarded where others rely on them. */
bool recorder::is_limited(lw_tape_operation operation, const int32_t operand[4]) const {
  switch (operation) {
    case LW_TAPE_divide:
      return kept.nodes[(size_t)operand[1]].operation != LW_TAPE_CONSTANT || kept.value[(size_t)operand[1]] == 0.0;
    case LW_TAPE_exp:
    case LW_TAPE_log:
    case LW_TAPE_pow:
    case LW_TAPE_sinh:
    case LW_TAPE_cosh: return true;
    default: return false;
  }
}

/* Of all others, by those of their operands. Infinite: there is none, or an operand may be no number. */
double recorder::bound_of(lw_tape_operation operation, const int32_t operand[4]) const {
  const auto of = [&](int i) { return bounds[(size_t)operand[i]]; };
  switch (operation) {
    case LW_TAPE_add:
    case LW_TAPE_subtract: return ROUNDED_UP * (of(0) + of(1));
    case LW_TAPE_multiply: return ROUNDED_UP * of(0) * of(1);
    case LW_TAPE_divide: return ROUNDED_UP * of(0) / of(1); /* a constant */
    case LW_TAPE_minus:
    case LW_TAPE_abs: return of(0);
    case LW_TAPE_floor:
    case LW_TAPE_rint:
    case LW_TAPE_round: return of(0) + 1.0;
    case LW_TAPE_sqrt: return ROUNDED_UP * std::sqrt(of(0));
    case LW_TAPE_select_less: return std::max(of(2), of(3));
    case LW_TAPE_sine:
    case LW_TAPE_cosine: return ROUNDED_UP;
    case LW_TAPE_tanh: return std::isfinite(of(0)) ? ROUNDED_UP : INFINITY;
    case LW_TAPE_arctan2: return std::isfinite(of(0)) && std::isfinite(of(1)) ? 4.0 : INFINITY;
    default: return INFINITY;
  }
}

/* Guards that it is below a limit. */
void recorder::limit(recorded a, double limit) {
  if (bounds[(size_t)a.node] < limit) relied_on[(size_t)a.node] = 1;
  else require(LW_TAPE_within, a, {limit, 0});
}

/* ---- finite numbers ---- */

void recorder::must_be_finite(recorded a) { wanted_finite[(size_t)a.node] = 1; }

void recorder::result(recorded a) {
  kept.results.push_back(node_of(a));
  wanted_finite[(size_t)kept.results.back()] = 1;
}

/* From the last number to the first. Numbers that are finite if results are need no guard; those with a bound rely on
 * guards of the quotients before them, so that they need not be computed for a guard alone. */
void recorder::guard_finite() {
  std::vector<char> is_finite(kept.nodes.size(), 0), needed(kept.nodes.size(), 0);
  for (const int32_t one : kept.results) needed[(size_t)one] = 1;
  for (const guard &g : kept.guards) {
    needed[(size_t)g.a] = needed[(size_t)g.b] = 1;
    if (g.comparison == LW_TAPE_within) is_finite[(size_t)g.a] = 1;
  }
  for (size_t i = kept.nodes.size(); i-- > 1;) {
    const node one = kept.nodes[i];
    const auto guard_below = [&](double bound) {
      if (!std::isfinite(kept.value[i])) throw refusal(NOT_FINITE);
      require(LW_TAPE_within, {kept.value[i], (int32_t)i}, {bound, 0});
      is_finite[i] = needed[i] = 1;
    };
    /* With the sign of a zero a quotient by it is another infinity. */
    const bool must_be = wanted_finite[i] || (one.operation == LW_TAPE_divide && needed[i]);
    if (must_be && !is_finite[i]) {
      if (std::isfinite(bounds[i])) relied_on[i] = 1;
      else if (std::fabs(kept.value[i]) == DBL_MAX) throw refusal("a number is too large there");
      else guard_below(DBL_MAX);
    }
    const bool limited = is_limited(one.operation, one.operand);
    if (relied_on[i] && limited) guard_below(bounds[i]);
    for (int k = 0; k < lw_tape_operands(one.operation); k++) {
      const size_t operand = (size_t)one.operand[k];
      is_finite[operand] |= is_finite[i] && k < finite_operands(one.operation);
      relied_on[operand] |= relied_on[i] && !limited && has_bound_of(one.operation, k);
      needed[operand] |= needed[i];
    }
  }
}

/* ---- comparisons ---- */

void recorder::require(lw_tape_operation comparison, recorded a, recorded b) {
  key k = {comparison, {node_of(a), node_of(b), 0, 0}};
  const bool symmetric = comparison == LW_TAPE_equal || comparison == LW_TAPE_not_equal;
  if (symmetric && k.operand[0] > k.operand[1]) std::swap(k.operand[0], k.operand[1]);
  if (!guarded.emplace(k, 0).second) return;
  kept.guards.push_back({comparison, k.operand[0], k.operand[1]});
}

bool recorder::compare_less(recorded a, recorded b) {
  if (are_same(a, b)) {
    must_be_finite(a); /* for a <= a */
    return false;
  }
  const bool less = a.value < b.value;
  if (is_constant(a) && is_constant(b)) return less;
  check_comparable(a, b);
  if (std::isinf(b.value) || std::isinf(a.value)) { /* a constant */
    must_be_finite(std::isinf(b.value) ? a : b);
    return less;
  }
  require(less ? LW_TAPE_less : LW_TAPE_not_less, a, b);
  return less;
}

bool recorder::compare_equal(recorded a, recorded b) {
  if (are_same(a, b)) {
    must_be_finite(a);
    return true;
  }
  const bool equal = a.value == b.value;
  if (is_constant(a) && is_constant(b)) return equal;
  check_comparable(a, b);
  if (std::isinf(b.value) || std::isinf(a.value)) {
    must_be_finite(std::isinf(b.value) ? a : b);
    return equal;
  }
  require(equal ? LW_TAPE_equal : LW_TAPE_not_equal, a, b);
  return equal;
}

int32_t recorder::whole(recorded a) {
  const bool fits = std::fabs(a.value) < 2147483648.0; /* conversions of others are undefined */
  const int32_t number = fits ? (int32_t)a.value : 0;
  if ((double)number != a.value) throw refusal("a number is rounded there");
  compare_equal(a, {a.value, 0});
  return number;
}

/* ---- folding: each rule gives the bits of the operation that it replaces, but for the sign of a zero; a rule that holds
 * for finite numbers alone demands that ---- */

bool recorder::is_minus(recorded a) const { return a.node && kept.nodes[(size_t)a.node].operation == LW_TAPE_minus; }

recorded recorder::under_minus(recorded a) const {
  const int32_t inner = kept.nodes[(size_t)a.node].operand[0];
  return {kept.value[(size_t)inner], inner};
}

/* -(-a) = a */
recorded recorder::minus(recorded a) {
  if (is_constant(a)) return {-a.value, 0};
  return is_minus(a) ? under_minus(a) : make(LW_TAPE_minus, a);
}

/* a + 0 = a; a + (-b) = a - b; (-a) + (-b) = -(a + b), since rounding is symmetric. */
recorded recorder::sum(recorded a, recorded b) {
  if (is_constant(a) && is_constant(b)) return {a.value + b.value, 0};
  if (is(a, 0.0)) return b;
  if (is(b, 0.0)) return a;
  if (is_minus(a) && is_minus(b)) return minus(sum(under_minus(a), under_minus(b)));
  if (is_minus(b)) return difference(a, under_minus(b));
  if (is_minus(a)) return difference(b, under_minus(a));
  return make(LW_TAPE_add, a, b);
}

/* a - 0 = a; 0 - b = -b; a - a = 0; a - (-b) = a + b; (-a) - b = -(a + b). */
recorded recorder::difference(recorded a, recorded b) {
  if (is_constant(a) && is_constant(b)) return {a.value - b.value, 0};
  if (is(b, 0.0)) return a;
  if (is(a, 0.0)) return minus(b);
  if (are_same(a, b)) {
    must_be_finite(a);
    return {0.0, 0};
  }
  if (is_minus(b)) return sum(a, under_minus(b));
  if (is_minus(a)) return minus(sum(under_minus(a), b));
  return make(LW_TAPE_subtract, a, b);
}

/* 0 a = 0; 1 a = a; -1 a = -a; (-a) b = -(a b), so that signs come out and products are found again. */
recorded recorder::product(recorded a, recorded b) {
  if (is_constant(b)) std::swap(a, b);
  if (is_constant(a)) {
    if (is_constant(b)) return {a.value * b.value, 0};
    if (a.value == 0.0) {
      must_be_finite(b);
      return {0.0, 0};
    }
    if (a.value == 1.0) return b;
    if (a.value < 0.0) return minus(product({-a.value, 0}, b));
  }
  if (is_minus(a)) return minus(product(under_minus(a), b));
  if (is_minus(b)) return minus(product(a, under_minus(b)));
  return make(LW_TAPE_multiply, a, b);
}

/* 0 / b = 0 where b is not zero; a / 1 = a; a / c = a (1 / c) where 1 / c is exact; (-a) / b = -(a / b). */
recorded recorder::quotient(recorded a, recorded b) {
  if (is(b, 0.0)) throw refusal("a number is divided by zero there");
  if (is_constant(a) && is_constant(b)) return {a.value / b.value, 0};
  if (is_constant(b)) {
    if (b.value == 1.0) return a;
    if (b.value < 0.0) return minus(quotient(a, {-b.value, 0}));
    if (has_exact_inverse(b.value)) return product(a, {1.0 / b.value, 0});
  }
  if (is(a, 0.0)) {
    if (compare_equal(b, {0.0, 0})) throw refusal("a number is divided by zero there");
    must_be_finite(b);
    return {0.0, 0};
  }
  if (is_constant(a) && a.value < 0.0) return minus(quotient({-a.value, 0}, b));
  if (is_minus(a)) return minus(quotient(under_minus(a), b));
  if (is_minus(b)) return minus(quotient(a, under_minus(b)));
  return make(LW_TAPE_divide, a, b);
}

/* Both alike: that one. No finite number lies beyond an infinite bound. */
recorded recorder::selected(recorded a, recorded b, recorded yes, recorded no) {
  check_comparable(a, b);
  if (is_constant(a) && is_constant(b)) return a.value < b.value ? yes : no;
  if (are_same(a, b)) return no;
  if (are_same(yes, no)) return yes;
  if (std::isinf(a.value) || std::isinf(b.value)) {
    must_be_finite(std::isinf(b.value) ? a : b);
    return a.value < b.value ? yes : no;
  }
  if (!std::isfinite(yes.value) || !std::isfinite(no.value)) return compare_less(a, b) ? yes : no;
  return make(LW_TAPE_select_less, a, b, yes, no);
}

/* With the sign of a zero the angle of (x, 0) would change where x is negative. A constant zero as well has no sign: it
 * may be a product. */
recorded recorder::angle(recorded y, recorded x) {
  if (compare_less(x, {0.0, 0}) && compare_equal(y, {0.0, 0})) throw refusal("an angle jumps there");
  if (is_constant(y) && is_constant(x)) return constant_of(LW_TAPE_arctan2, y, x);
  if (is(y, 0.0)) return {0.0, 0};
  return make(LW_TAPE_arctan2, y, x);
}

recorded recorder::apply(lw_tape_operation operation, recorded a, recorded b, recorded c, recorded d) {
  switch (operation) {
    case LW_TAPE_add: return sum(a, b);
    case LW_TAPE_subtract: return difference(a, b);
    case LW_TAPE_multiply: return product(a, b);
    case LW_TAPE_divide: return quotient(a, b);
    case LW_TAPE_minus: return minus(a);
    case LW_TAPE_select_less: return selected(a, b, c, d);
    case LW_TAPE_arctan2: return angle(a, b);
    default: break;
  }
  if (is_constant(a) && is_constant(b)) return constant_of(operation, a, b);
  switch (operation) {
    case LW_TAPE_sqrt:
      if (compare_less(a, {0.0, 0})) throw refusal("a root is not real there");
      break;
    case LW_TAPE_log:
      if (!compare_less({0.0, 0}, a)) throw refusal("a logarithm is not real there");
      break;
    case LW_TAPE_sine:
    case LW_TAPE_cosine: /* larger ones lose their revolutions first */
      if (!(std::fabs(a.value) < LW_SINCOS_LIMIT)) throw refusal("an angle is large there");
      limit(a, LW_SINCOS_LIMIT);
      break;
    case LW_TAPE_abs: /* |-a| = |a| */
      if (is_minus(a)) a = under_minus(a);
      break;
    default: break;
  }
  return make(operation, a, b, c, d);
}

} // namespace lw
