/* Exponentials, logarithms, powers and hyperbolic functions of doubles, with the same bits on every platform: those of C
 * libraries differ in their last bits. Errors stay below 0.9 ulp, of powers below 1.5, of hyperbolic functions below
 * 3.5. */
#ifndef LW_MATH_EXPONENTIALS_H
#define LW_MATH_EXPONENTIALS_H
#include <math.h>
#include <stdint.h>

/* ln 2 in two parts: whole multiples of the first are exact. */
#define LN2_HEAD 0x1.62e42fep-1
#define LN2_TAIL 0x1.f473de6af278fp-30
/* Exponents of e: beyond the largest and the smallest a double overflows or is zero; beyond the third sinh and cosh are
 * made of the exponential of half. */
#define LARGEST_EXPONENT (1025 * LN2_HEAD)
#define SMALLEST_EXPONENT (-1076 * LN2_HEAD)
#define HALVED_EXPONENT (1023 * LN2_HEAD)

/* x = k ln 2 + r:  e^x = 2^k e^r, |r| at most 0.35, by Taylor's series. */
static inline double exp_double(double x) {
  if (!(x < LARGEST_EXPONENT)) return x > 0.0 ? INFINITY : x;
  if (x < SMALLEST_EXPONENT) return 0.0;
  static const double c[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                             1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,     1.0 / 720.0,
                             1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,        0.5};
  const double k = rint(x * 0x1.71547652b82fep0), head = x - k * LN2_HEAD, tail = k * LN2_TAIL;
  const double r = head - tail, rest = (head - r) - tail;
  double sum = c[0];
  for (int i = 1; i < 12; i++) sum = c[i] + r * sum;
  return ldexp(1.0 + (r + (r * r * sum + rest)), (int)k);
}

/* x = 2^k (1 + f), 1 + f within root 1/2 and root 2. Returns s = f / (2 + f):
 * ln(1 + f) = 2 s + s z (2/3 + 2/5 z + ...),  z = s^2. */
static inline double reduce_log(double x, double *k, double *f) {
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) m += m, exponent--;
  *k = exponent, *f = m - 1.0;
  return *f / (2.0 + *f);
}

/* z (2/3 + 2/5 z + ...) */
static inline double log_series(double z) {
  double sum = 2.0 / 23.0;
  for (int n = 21; n > 1; n -= 2) sum = 2.0 / n + z * sum;
  return z * sum;
}

static inline double log_double(double x) {
  double k, f;
  if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
  if (x == INFINITY) return x;
  const double s = reduce_log(x, &k, &f);
  return k * LN2_HEAD - ((s * (f - log_series(s * s)) - k * LN2_TAIL) - f);
}

/* a b = product + error, exactly (Dekker). */
static inline double product_exact(double a, double b, double *error) {
  const double split = 134217729.0, product = a * b;
  const double a1 = split * a - (split * a - a), a2 = a - a1, b1 = split * b - (split * b - b), b2 = b - b1;
  *error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
  return product;
}

/* ln x = head + tail, of twice the digits. */
static inline double log_exact(double x, double *tail) {
  double k, f, error;
  const double s = reduce_log(x, &k, &f), d = 2.0 + f, d_tail = f - (d - 2.0), product = product_exact(s, d, &error);
  const double s_tail = (((f - product) - error) - s * d_tail) / d;
  const double shift = k * LN2_HEAD, sum = shift + 2.0 * s, shown = sum - shift;
  const double lost = (shift - (sum - shown)) + (2.0 * s - shown);
  const double small = lost + (2.0 * s_tail + s * log_series(s * s) + k * LN2_TAIL), head = sum + small;
  *tail = (sum - head) + small;
  return head;
}

/* x^y of x > 0: of other x what the limit is, or not a number. */
static inline double pow_double(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (!(x > 0.0) || x == INFINITY || !(fabs(y) < INFINITY)) {
    const double exponent = y * log_double(x);
    return exponent == exponent ? exp_double(exponent) : NAN;
  }
  double tail, error;
  const double head = log_exact(x, &tail);
  if (!(fabs(y * head) < 800.0)) return y * head > 0.0 ? INFINITY : 0.0;
  const double exponent = product_exact(y, head, &error), e = exp_double(exponent);
  return e < INFINITY ? e + e * (error + y * tail) : e;
}

static inline double sinh_double(double x) {
  const double a = fabs(x), z = x * x, half = a < HALVED_EXPONENT ? 0.0 : exp_double(0.5 * a);
  double sum = 1.0;
  if (!(a < HALVED_EXPONENT)) return copysign(0.5 * half * half, x);
  if (a > 1.0) return copysign(0.5 * (exp_double(a) - 1.0 / exp_double(a)), x);
  for (int n = 18; n > 0; n -= 2) sum = 1.0 + z * sum / (n * (n + 1));
  return x * sum;
}

static inline double cosh_double(double x) {
  const double a = fabs(x), half = a < HALVED_EXPONENT ? 0.0 : exp_double(0.5 * a);
  if (!(a < HALVED_EXPONENT)) return 0.5 * half * half;
  return 0.5 * (exp_double(a) + 1.0 / exp_double(a));
}

static inline double tanh_double(double x) {
  const double a = fabs(x);
  if (!(a > 1.0)) return sinh_double(x) / cosh_double(x);
  return copysign(1.0 - 2.0 / (exp_double(a + a) + 1.0), x);
}
#endif
