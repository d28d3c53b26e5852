/* Vectors, rotations and symmetric matrices over SCALAR: included for one scalar and, in double, for four in SIMD
 * lanes. Results may not overlap arguments. Symmetric 3x3: xx xy xz yy yz zz; 3x3: row by row. */
#ifndef SCALAR /* opened alone */
#include "math/scalar.h"
#define SCALAR real
#define NAMED(name) name
#endif

INLINE SCALAR NAMED(dot)(const SCALAR a[3], const SCALAR b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

INLINE void NAMED(cross)(const SCALAR a[3], const SCALAR b[3], SCALAR out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

INLINE void NAMED(add_cross)(const SCALAR a[3], const SCALAR b[3], SCALAR out[3]) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

INLINE void NAMED(rotate)(const SCALAR R[9], const SCALAR a[3], SCALAR out[3]) {
  for (int i = 0; i < 3; i++) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

INLINE void NAMED(multiply)(const SCALAR A[9], const SCALAR B[9], SCALAR out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

INLINE void NAMED(symmetric_times)(const SCALAR S[6], const SCALAR a[3], SCALAR out[3]) {
  out[0] = S[0] * a[0] + S[1] * a[1] + S[2] * a[2];
  out[1] = S[1] * a[0] + S[3] * a[1] + S[4] * a[2];
  out[2] = S[2] * a[0] + S[4] * a[1] + S[5] * a[2];
}

/* R S R' */
INLINE void NAMED(rotate_symmetric)(const SCALAR R[9], const SCALAR S[6], SCALAR out[6]) {
  const SCALAR full[9] = {S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]};
  SCALAR T[9];
  NAMED(multiply)(R, full, T);
  int k = 0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++, k++)
      out[k] = T[3 * i] * R[3 * j] + T[3 * i + 1] * R[3 * j + 1] + T[3 * i + 2] * R[3 * j + 2];
}

/* Inertia J, h, m about a point, moved to world axes by R; F = -(M A0 + [w x J w; w x (w x h)]). */
INLINE void NAMED(inertia_and_bias)(const SCALAR R[9], const SCALAR J0[6], const SCALAR h0[3], SCALAR m,
                                    const SCALAR w[3], const SCALAR aw[3], const SCALAR av[3], SCALAR J[6], SCALAR h[3],
                                    SCALAR Fa[3], SCALAR Fl[3]) {
  SCALAR Jw[3], wh[3], a[3], l[3];
  NAMED(rotate_symmetric)(R, J0, J);
  NAMED(rotate)(R, h0, h);
  NAMED(symmetric_times)(J, w, Jw);
  NAMED(symmetric_times)(J, aw, a);
  NAMED(cross)(w, h, wh);
  for (int i = 0; i < 3; i++) l[i] = m * av[i];
  NAMED(add_cross)(w, Jw, a);
  NAMED(add_cross)(h, av, a);
  NAMED(add_cross)(aw, h, l);
  NAMED(add_cross)(w, wh, l);
  for (int i = 0; i < 3; i++) Fa[i] = -a[i], Fl[i] = -l[i];
}

/* The same about the centre of mass, to which c leads: J, and F = -[J aw + w x J w; m a]. */
INLINE void NAMED(inertia_and_bias_at_centroid)(const SCALAR R[9], const SCALAR J0[6], SCALAR m, const SCALAR c[3],
                                                const SCALAR w[3], const SCALAR aw[3], const SCALAR av[3], SCALAR J[6],
                                                SCALAR Fa[3], SCALAR Fl[3]) {
  SCALAR Jw[3], wc[3], torque[3], a[3];
  NAMED(rotate_symmetric)(R, J0, J);
  NAMED(symmetric_times)(J, w, Jw);
  NAMED(symmetric_times)(J, aw, torque);
  NAMED(add_cross)(w, Jw, torque);
  NAMED(cross)(w, c, wc);
  for (int i = 0; i < 3; i++) a[i] = av[i];
  NAMED(add_cross)(aw, c, a);
  NAMED(add_cross)(w, wc, a);
  for (int i = 0; i < 3; i++) Fa[i] = -torque[i], Fl[i] = -m * a[i];
}

/* Moved to a point from which the centre of mass lies at c. */
INLINE void NAMED(shift_inertia_and_bias)(const SCALAR c[3], SCALAR m, SCALAR J[6], SCALAR h[3], SCALAR Fa[3],
                                          const SCALAR Fl[3]) {
  for (int i = 0; i < 3; i++) h[i] = m * c[i];
  J[0] += h[1] * c[1] + h[2] * c[2], J[3] += h[0] * c[0] + h[2] * c[2], J[5] += h[0] * c[0] + h[1] * c[1];
  J[1] -= h[0] * c[1], J[2] -= h[0] * c[2], J[4] -= h[1] * c[2];
  NAMED(add_cross)(c, Fl, Fa);
}
