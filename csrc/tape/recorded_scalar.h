/* The scalar that records what the kernels do with it (tape/recorder.h); C++ alone. */
#ifndef LW_TAPE_RECORDED_SCALAR_H
#define LW_TAPE_RECORDED_SCALAR_H
#include "tape/recorder.h"
#include <cmath>
#include <type_traits>

/* Zero bytes are the constant zero, and so is what C leaves open: kernels add up unused places of four. */
struct real : lw::recorded {
  real() = default;
  constexpr real(double number) : lw::recorded{number, 0} {}
  constexpr real(lw::recorded other) : lw::recorded(other) {}
  explicit operator int32_t() const;
};
static_assert(std::is_trivially_copyable<real>::value, "kernels copy and clear records of scalars as bytes");

/* Of the thread: a recording that has begun has one. */
extern thread_local lw::recorder *lw_recorder;

inline real::operator int32_t() const { return lw_recorder->whole(*this); }

[[noreturn]] inline void refuse(const char *why) { throw lw::refusal(why); }

#define RECORDED_1(name, operation)                                               \
  inline real name(real a) { return lw_recorder->apply(LW_TAPE_##operation, a); }
#define RECORDED_2(name, operation)                                                          \
  inline real name(real a, real b) { return lw_recorder->apply(LW_TAPE_##operation, a, b); }
RECORDED_2(operator+, add)
RECORDED_2(operator-, subtract)
RECORDED_2(operator*, multiply)
RECORDED_2(operator/, divide)
RECORDED_1(operator-, minus)
RECORDED_1(sqrt, sqrt)
RECORDED_1(fabs, abs)
RECORDED_1(floor, floor)
RECORDED_1(rint, rint)
RECORDED_1(round, round)
RECORDED_1(exp_double, exp)
RECORDED_1(log_double, log)
RECORDED_2(pow_double, pow)
RECORDED_1(sinh_double, sinh)
RECORDED_1(cosh_double, cosh)
RECORDED_1(tanh_double, tanh)
RECORDED_2(arctan2_double, arctan2)
#undef RECORDED_1
#undef RECORDED_2
inline real &operator+=(real &a, real b) { return a = a + b; }
inline real &operator-=(real &a, real b) { return a = a - b; }
inline real &operator*=(real &a, real b) { return a = a * b; }
inline real &operator/=(real &a, real b) { return a = a / b; }
inline bool operator<(real a, real b) { return lw_recorder->compare_less(a, b); }
inline bool operator>(real a, real b) { return b < a; }
/* Numbers that are no constants are. */
inline bool decide_finite(real a) {
  lw_recorder->must_be_finite(a);
  return std::isfinite(a.value);
}
inline int isfinite(real a) { return decide_finite(a); }
inline int isnan(real a) { return !decide_finite(a) && std::isnan(a.value); }
inline bool operator<=(real a, real b) { return !(b < a) && !std::isnan(a.value) && !std::isnan(b.value); }
inline bool operator>=(real a, real b) { return b <= a; }
inline bool operator==(real a, real b) { return lw_recorder->compare_equal(a, b); }
inline bool operator!=(real a, real b) { return !(a == b); }
/* Of constants of the model alone. */
inline int ilogb(real a) {
  return a.node ? throw lw::refusal("a unit follows from the state there") : std::ilogb(a.value);
}

inline real re(real x) { return x; }
inline int is_zero(real x) { return x == 0.0; }
inline int adds_nothing(real x) { return x.node == 0 && x.value == 0.0; } /* sums are the same with them */
inline real root(real x) { return sqrt(x); }
inline real select_less(real a, real b, real yes, real no) {
  return lw_recorder->apply(LW_TAPE_select_less, a, b, yes, no);
}
inline real larger(real a, real b) { return select_less(a, b, b, a); }
inline real smaller(real a, real b) { return select_less(b, a, b, a); }
inline real unless_small(real a, real small) { return select_less(small, a, a, 0.0); }
/* Those of C prefer a number to none. */
inline void demand_numbers(real a, real b) { lw_recorder->must_be_finite(a), lw_recorder->must_be_finite(b); }
inline real fmax(real a, real b) {
  demand_numbers(a, b);
  return larger(a, b);
}
inline real fmin(real a, real b) {
  demand_numbers(a, b);
  return smaller(a, b);
}
inline real quotient_of(real a, real b) { return a / b; }
inline real arctan2(real y, real x) { return arctan2_double(y, x); }
inline void sincos_double(real x, real *s, real *c) {
  *s = lw_recorder->apply(LW_TAPE_sine, x);
  *c = lw_recorder->apply(LW_TAPE_cosine, x);
}
inline void sincos_all(const real *x, int32_t n, real *sc) {
  for (int32_t i = 0; i < n; i++) sincos_double(x[i], &sc[2 * i], &sc[2 * i + 1]);
}

/* The four of math/simd_kernel.h. */
struct four {
  real x[4];
  real &operator[](int i) { return x[i]; }
  const real &operator[](int i) const { return x[i]; }
};
inline four operator-(four a) { return {{-a[0], -a[1], -a[2], -a[3]}}; }
#define OF_FOUR(op, assign)                                                                                      \
  inline four operator op(four a, four b) { return {{a[0] op b[0], a[1] op b[1], a[2] op b[2], a[3] op b[3]}}; } \
  inline four operator op(real a, four b) { return {{a op b[0], a op b[1], a op b[2], a op b[3]}}; }             \
  inline four operator op(four a, real b) { return {{a[0] op b, a[1] op b, a[2] op b, a[3] op b}}; }             \
  inline four &operator assign(four &a, four b) { return a = a op b; }                                           \
  inline four &operator assign(four &a, real b) { return a = a op b; }
OF_FOUR(+, +=)
OF_FOUR(-, -=)
OF_FOUR(*, *=)
OF_FOUR(/, /=)
#undef OF_FOUR
#endif
