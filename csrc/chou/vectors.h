/* Vectors, 3x3 matrices row by row, and quaternions [scalar, vector]. Results must not overlap arguments. */
#ifndef LW_CHOU_VECTORS_H
#define LW_CHOU_VECTORS_H

static inline double lw_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline double lw_dot4(const double *a, const double *b) { return a[0] * b[0] + lw_dot(a + 1, b + 1); }

static inline void lw_cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out += factor (a x b) */
static inline void lw_add_cross(double factor, const double *a, const double *b, double *out) {
  double c[3];
  lw_cross(a, b, c);
  for (int i = 0; i < 3; i++) out[i] += factor * c[i];
}

/* out += factor a */
static inline void lw_add(double factor, const double *a, double *out) {
  for (int i = 0; i < 3; i++) out[i] += factor * a[i];
}

/* M a, and M' a */
static inline void lw_times(const double *M, const double *a, double *out) {
  for (int i = 0; i < 3; i++) out[i] = lw_dot(M + 3 * i, a);
}

static inline void lw_transposed_times(const double *M, const double *a, double *out) {
  for (int i = 0; i < 3; i++) out[i] = M[i] * a[0] + M[3 + i] * a[1] + M[6 + i] * a[2];
}

/* L M, and L' M */
static inline void lw_product(const double *L, const double *M, double *out) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = L[3 * i] * M[j] + L[3 * i + 1] * M[3 + j] + L[3 * i + 2] * M[6 + j];
}

static inline void lw_transposed_product(const double *L, const double *M, double *out) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = L[i] * M[j] + L[3 + i] * M[3 + j] + L[6 + i] * M[6 + j];
}

/* out += factor a~ M, where a~ b = a x b */
static inline void lw_add_cross_columns(double factor, const double *a, const double *M, double *out) {
  const double x = factor * a[0], y = factor * a[1], z = factor * a[2];
  for (int j = 0; j < 3; j++) {
    out[j] += y * M[6 + j] - z * M[3 + j];
    out[3 + j] += z * M[j] - x * M[6 + j];
    out[6 + j] += x * M[3 + j] - y * M[j];
  }
}

/* out += factor a~ */
static inline void lw_add_tilde(double factor, const double *a, double *out) {
  out[1] -= factor * a[2];
  out[2] += factor * a[1];
  out[3] += factor * a[2];
  out[5] -= factor * a[0];
  out[6] -= factor * a[1];
  out[7] += factor * a[0];
}

/* out += factor a b' */
static inline void lw_add_outer(double factor, const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] += factor * a[i] * b[j];
}

/* out += factor U */
static inline void lw_add_unit(double factor, double *out) {
  for (int i = 0; i < 9; i += 4) out[i] += factor;
}

/* p q */
static inline void lw_quaternion_product(const double *p, const double *q, double *out) {
  out[0] = p[0] * q[0] - lw_dot(p + 1, q + 1);
  lw_cross(p + 1, q + 1, out + 1);
  lw_add(p[0], q + 1, out + 1);
  lw_add(q[0], p + 1, out + 1);
}

/* p* q, of which the vector part is G(p) q */
static inline void lw_conjugate_product(const double *p, const double *q, double *out) {
  out[0] = lw_dot4(p, q);
  lw_cross(q + 1, p + 1, out + 1);
  lw_add(p[0], q + 1, out + 1);
  lw_add(-q[0], p + 1, out + 1);
}

/* The vector part of p q*, which is E(q) p */
static inline void lw_product_conjugate(const double *p, const double *q, double *out) {
  lw_cross(q + 1, p + 1, out);
  lw_add(q[0], p + 1, out);
  lw_add(-p[0], q + 1, out);
}

/* A = E(p) G(p)', which is p.p times a rotation */
static inline void lw_attitude(const double *p, double *A) {
  const double a = p[0], b = p[1], c = p[2], d = p[3];
  A[0] = a * a + b * b - c * c - d * d;
  A[1] = 2 * (b * c - a * d);
  A[2] = 2 * (b * d + a * c);
  A[3] = 2 * (b * c + a * d);
  A[4] = a * a - b * b + c * c - d * d;
  A[5] = 2 * (c * d - a * b);
  A[6] = 2 * (b * d - a * c);
  A[7] = 2 * (c * d + a * b);
  A[8] = a * a - b * b - c * c + d * d;
}
#endif
