/* The scalar of the mechanics: one source, several arithmetics. A translation unit defines LW_ARITHMETIC and the name
 * KERNELS of its table, and includes all_kernels.h once. Comparisons look at real parts only; where data decides, a
 * value is selected rather than a branch taken, so that a later arithmetic may hold several states in SIMD lanes. */
#ifndef LW_REAL_H
#define LW_REAL_H
#include "math/model_number.h"
#include "math/sine_cosine.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LW_DOUBLE 1
#define LW_COMPLEX 2  /* complex step: imaginary parts near 1e-40, so that their squares vanish */
#define LW_RECORDED 3 /* recorded on a tape: its unit brings the scalar along (tape/recorded_scalar.h) */

#ifndef LW_ARITHMETIC /* a kernel file opened alone */
#define LW_ARITHMETIC LW_DOUBLE
#endif

/* ALWAYS_INLINE is for functions of which a caller needs a part only. INLINE is the same but where LW_COMPACT leaves it
 * to the compiler: arithmetic is then 39 % smaller and 28 to 43 % slower. A sanitizing compiler takes minutes to inline
 * all of it. */
#ifdef LW_SANITIZING
#define ALWAYS_INLINE static inline __attribute__((unused))
#else
#define ALWAYS_INLINE static inline __attribute__((always_inline, unused))
#endif
#ifdef LW_COMPACT
#define INLINE static inline __attribute__((unused))
#else
#define INLINE ALWAYS_INLINE
#endif

#if LW_ARITHMETIC == LW_DOUBLE
typedef double real;
#elif LW_ARITHMETIC == LW_COMPLEX
typedef double _Complex real;
#endif

/* In line, where a call of fmax() would take longer than all else; a where b is no number. */
INLINE double larger(double a, double b) { return b > a ? b : a; }
INLINE double smaller(double a, double b) { return b < a ? b : a; }
INLINE double unless_small(double a, double small) { return a > small ? a : 0.0; }

INLINE void sincos_reduced(double x, double *sine, double *cosine) SINE_COSINE(double, uint64_t)

    typedef double lw_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t lw_four_bits __attribute__((vector_size(32), aligned(8), may_alias));

INLINE void sincos_four(lw_four x, lw_four *sine, lw_four *cosine) SINE_COSINE(lw_four, lw_four_bits)

    /* Whole revolutions subtracted from a large angle: x = k turn + r exactly, and 2 pi = turn + rest. */
    INLINE double without_revolutions(double x) {
  const double turn = 6.283185307179586, rest = 2.4492935982947064e-16;
  while (fabs(x) >= LW_SINCOS_LIMIT) {
    const double r = remainder(x, turn);
    x = r - rint((x - r) / turn) * rest;
  }
  return x;
}

INLINE void sincos_double(double x, double *s, double *c) { sincos_reduced(without_revolutions(x), s, c); }

/* The angle from the x axis to (x, y): y / x of at most 7/16 by the polynomial of fdlibm, where larger ones are turned
 * back by the arc tangents of 1/2, 1, 3/2 and infinity. */
INLINE double arctan2_double(double y, double x) {
  static const double high[] = {0.0, 4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01,
                                1.57079632679489655800e+00};
  static const double low[] = {0.0, 2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17,
                               6.12323399573676603587e-17};
  const double a = fabs(x), b = fabs(y), slope = b == 0.0 ? 0.0 : b / a;
  const int turned = (slope >= 0.4375) + (slope >= 0.6875) + (slope >= 1.1875) + (slope >= 2.4375);
  const double rest[] = {slope, (2.0 * slope - 1.0) / (2.0 + slope), (slope - 1.0) / (slope + 1.0),
                         (slope - 1.5) / (1.0 + 1.5 * slope), -1.0 / slope};
  const double t = rest[turned], z = t * t, w = z * z;
  const double even =
      3.33333333333329318027e-01 +
      w * (1.42857142725034663711e-01 +
           w * (9.09088713343650656196e-02 +
                w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02))));
  const double odd =
      -1.99999999998764832476e-01 +
      w * (-1.11111104054623557880e-01 +
           w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02)));
  const double angle = high[turned] - ((t * (z * even + w * odd) - low[turned]) - t);
  const double from_axis = x < 0.0 ? 3.1415926535897931160 - (angle - 1.2246467991473531772e-16) : angle;
  return copysign(from_axis, y);
}

#if LW_ARITHMETIC == LW_DOUBLE
INLINE double re(real x) { return x; }
INLINE int is_zero(real x) { return x == 0.0; }
INLINE int adds_nothing(real x) { return is_zero(x); } /* as a factor: such terms may be left out */
INLINE real root(real x) { return sqrt(x); }
INLINE real select_less(real a, real b, real yes, real no) { return a < b ? yes : no; }
INLINE real quotient_of(real a, real b) { return a / b; }
INLINE real arctan2(real y, real x) { return arctan2_double(y, x); }

INLINE void sincos_all(const real *x, int32_t n, real *sc) {
  int32_t large = 0;
  for (int32_t i = 0; i < n; i += 4) {
    const int32_t left = n - i < 4 ? n - i : 4;
    double few[4] = {0.0, 0.0, 0.0, 0.0};
    lw_four s, c;
    for (int32_t j = 0; j < left; j++) {
      few[j] = x[i + j];
      large |= !(fabs(x[i + j]) < LW_SINCOS_LIMIT);
    }
    sincos_four(*(const lw_four *)few, &s, &c);
    for (int32_t j = 0; j < left; j++) sc[2 * (i + j)] = s[j], sc[2 * (i + j) + 1] = c[j];
  }
  if (large)
    for (int32_t i = 0; i < n; i++) sincos_double(x[i], &sc[2 * i], &sc[2 * i + 1]);
}
#elif LW_ARITHMETIC == LW_COMPLEX
INLINE double re(real x) { return __real__ x; }
INLINE int is_zero(real x) { return __real__ x == 0.0 && __imag__ x == 0.0; } /* nor is it about to change */
INLINE int adds_nothing(real x) { return is_zero(x); }
INLINE real complex_of(double r, double i) {
  real z;
  __real__ z = r;
  __imag__ z = i;
  return z;
}
INLINE real root(real x) {
  const double r = sqrt(__real__ x);
  return complex_of(r, __imag__ x / (r + r));
}
INLINE real select_less(real a, real b, real yes, real no) { return __real__ a < __real__ b ? yes : no; }
INLINE real quotient_of(real a, real b) {
  const double q = __real__ a / __real__ b;
  return complex_of(q, (__imag__ a - q * __imag__ b) / __real__ b);
}
INLINE real arctan2(real y, real x) {
  const double yr = __real__ y, xr = __real__ x;
  return complex_of(arctan2_double(yr, xr), (xr * __imag__ y - yr * __imag__ x) / (xr * xr + yr * yr));
}
INLINE void sincos_all(const real *x, int32_t n, real *sc) {
  for (int32_t i = 0; i < n; i++) {
    double s, c;
    const double step = __imag__ x[i];
    sincos_double(__real__ x[i], &s, &c);
    sc[2 * i] = complex_of(s, c * step);
    sc[2 * i + 1] = complex_of(c, -s * step);
  }
}
#endif
#endif
