/* Four scalars in SIMD lanes. In double they are a vector; rows are arrays of them. */
#ifndef LW_MATH_SIMD_KERNEL_H
#define LW_MATH_SIMD_KERNEL_H
#include "math/scalar.h"

#if LW_ARITHMETIC == LW_DOUBLE
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#endif
#if LW_ARITHMETIC != LW_COMPLEX
INLINE four zero4(void) { return (four){0.0, 0.0, 0.0, 0.0}; }
INLINE four all4(real a) { return (four){a, a, a, a}; }
INLINE four first4(real a, real b) { return (four){a, b, 0.0, 0.0}; }
INLINE four plus4(four a, four b) { return a + b; }
INLINE four minus4(four a, four b) { return a - b; }
INLINE four times4(real s, four a) { return s * a; }
INLINE four product4(four a, four b) { return a * b; }
INLINE real sum4(four a) { return (a[0] + a[1]) + (a[2] + a[3]); }
INLINE four sqrt4(four a) {
#ifdef LW_SQRT4 /* at once, with the same bits */
  return LW_SQRT4(a);
#else
  return (four){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
#endif
}
#else
typedef struct four {
  real x[4];
} four;
INLINE four zero4(void) { return (four){{0.0, 0.0, 0.0, 0.0}}; }
INLINE four first4(real a, real b) { return (four){{a, b, 0.0, 0.0}}; }
INLINE four plus4(four a, four b) {
  for (int i = 0; i < 4; i++) a.x[i] += b.x[i];
  return a;
}
INLINE four minus4(four a, four b) {
  for (int i = 0; i < 4; i++) a.x[i] -= b.x[i];
  return a;
}
INLINE four times4(real s, four a) {
  for (int i = 0; i < 4; i++) a.x[i] *= s;
  return a;
}
INLINE four product4(four a, four b) {
  for (int i = 0; i < 4; i++) a.x[i] *= b.x[i];
  return a;
}
INLINE real sum4(four a) { return (a.x[0] + a.x[1]) + (a.x[2] + a.x[3]); }
#endif

/* to += s a, element by element */
INLINE void add4(int32_t blocks, real s, const four *a, four *to) {
  for (int32_t b = 0; b < blocks; b++) to[b] = plus4(to[b], times4(s, a[b]));
}

#if LW_ARITHMETIC != LW_COMPLEX
#define SCALAR four
#define NAMED(name) name##4
#include "math/vec3_template.h"
#undef SCALAR
#undef NAMED

/* The numbers at the same place of four records. */
INLINE void load4(int n, const double *a, const double *b, const double *c, const double *d, four *out) {
  for (int i = 0; i < n; i++) out[i] = (four){a[i], b[i], c[i], d[i]};
}

INLINE void store4(int n, const four *in, double *a, double *b, double *c, double *d) {
  for (int i = 0; i < n; i++) a[i] = in[i][0], b[i] = in[i][1], c[i] = in[i][2], d[i] = in[i][3];
}
#endif
/* Zero times anything else is not zero. */
INLINE int are_finite(int32_t n, const real *a) {
  const int32_t whole = n / 4;
  four sum = zero4();
  for (int32_t k = 0; k < whole; k++) sum = plus4(sum, times4(0.0, ((const four *)a)[k]));
  real s = sum4(sum);
  for (int32_t k = 4 * whole; k < n; k++) s += 0.0 * a[k];
  return re(s) == 0.0;
}

/* Rows of any length: to += s a, and a.b. */
INLINE void add_row(int32_t n, real s, const real *a, real *to) {
  const int32_t whole = n / 4;
  add4(whole, s, (const four *)a, (four *)to);
  for (int32_t k = 4 * whole; k < n; k++) to[k] += s * a[k];
}

INLINE real dot_row(int32_t n, const real *a, const real *b) {
  const int32_t whole = n / 4;
  four sum = zero4();
  for (int32_t k = 0; k < whole; k++) sum = plus4(sum, product4(((const four *)a)[k], ((const four *)b)[k]));
  real s = sum4(sum);
  for (int32_t k = 4 * whole; k < n; k++) s += a[k] * b[k];
  return s;
}
#endif
