/* A path: a curve c(s) of the parent by pieces of degree five, with the length along it as its parameter. A frame goes
 * along it: x the tangent t, z as near to z of the joint frame as it can be, n = (z - (z.t) t) / |...|, y = n x t.
 * The numbers of a path are [pieces, closed, length] and for each piece [start, size, 18 coefficients]: the length at
 * its start, and c = sum_k C_k a^k for 0 <= a <= size. The length within a piece is the integral of |c'(a)| by Gauss's
 * rule of eight points, of which a is the inverse. An open path continues straight beyond its ends. */
#ifndef LW_MATH_PATH_KERNEL_H
#define LW_MATH_PATH_KERNEL_H
#include "math/spatial_kernel.h"
#include "math/tolerances.h"
#include "math/path_numbers.h"

/* Numbers of a path where other types have a parameter: they are the same in each arithmetic. */
INLINE const model_number *path_of(const real *parameter) { return (const model_number *)parameter; }

INLINE int32_t pieces_of(const model_number *path) { return (int32_t)path[LW_PATH_PIECES]; }

INLINE const model_number *piece_of(const model_number *path, int32_t i) {
  return path + LW_PATH_HEAD + LW_PATH_PIECE * i;
}

/* Derivative of a piece. */
INLINE void derivative_of_piece(const model_number *piece, int order, real a, real out[3]) {
  for (int i = 0; i < 3; i++) out[i] = 0.0;
  for (int k = 5; k >= order; k--) {
    double factor = 1.0;
    for (int j = 0; j < order; j++) factor *= k - j;
    for (int i = 0; i < 3; i++) out[i] = out[i] * a + factor * piece[2 + 3 * k + i];
  }
}

static double length_in_piece(const model_number *piece, double a) {
  static const double place[4] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                  0.96028985649753623168},
                      weight[4] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                   0.10122853629037625915};
  double sum = 0.0;
  for (int k = 0; k < 8; k++) {
    real d[3];
    derivative_of_piece(piece, 1, 0.5 * a * (1.0 + (k & 1 ? place[k / 2] : -place[k / 2])), d);
    sum += weight[k / 2] * sqrt(re(dot(d, d)));
  }
  return 0.5 * a * sum;
}

/* The piece that has a length, and its own parameter there. */
typedef struct place_on_path {
  const model_number *piece;
  real a;
  real beyond; /* an end of an open path, along the tangent */
  int is_beyond;
} place_on_path;

static double inverse_in_piece(const model_number *piece, double size, double along) {
  double a = piece[1] * along / size;
  for (int i = 0; i < 20; i++) {
    real d[3];
    derivative_of_piece(piece, 1, a, d);
    const double step = (length_in_piece(piece, a) - along) / sqrt(re(dot(d, d)));
    a -= step;
    if (!(fabs(step) > 2e-16 * piece[1])) break;
  }
  return a;
}

static place_on_path place_on(const model_number *path, real q) {
  const double length = path[LW_PATH_LENGTH];
  double s = re(q);
  if (path[LW_PATH_CLOSED] != 0.0) s -= length * floor(s / length);
  const double within = s < 0.0 ? 0.0 : s > length ? length : s;
  int32_t low = 0, high = pieces_of(path);
  while (high - low > 1) {
    const int32_t middle = (low + high) / 2;
    if (piece_of(path, middle)[0] <= within) low = middle;
    else high = middle;
  }
  place_on_path at = {.piece = piece_of(path, low)};
  const double end = low + 1 < pieces_of(path) ? piece_of(path, low + 1)[0] : length;
  const double a = inverse_in_piece(at.piece, end - at.piece[0], within - at.piece[0]);
  const real imaginary = q - re(q);
  real d[3];
  derivative_of_piece(at.piece, 1, a, d);
  at.is_beyond = s != within;
  at.a = at.is_beyond ? a : a + imaginary / root(dot(d, d));
  at.beyond = at.is_beyond ? (s - within) + imaginary : 0.0;
  return at;
}

/* ---- the frame along the path, by its derivatives for s ---- */

typedef struct path_frame {
  real c[3], R[3][9]; /* the frame, its first and its second derivative */
} path_frame;

/* A vector and its first two derivatives, made one of length one. */
static void unit_derivatives(real v[3][3]) {
  const real a = dot(v[0], v[0]), b = dot(v[0], v[1]), c = dot(v[1], v[1]) + dot(v[0], v[2]);
  const real r = 1.0 / root(a), r3 = r * r * r, first = -b * r3, second = -c * r3 + 3.0 * b * b * r3 * r * r;
  for (int i = 0; i < 3; i++) {
    const real v0 = v[0][i], v1 = v[1][i];
    v[0][i] = r * v0, v[1][i] = r * v1 + first * v0, v[2][i] = r * v[2][i] + 2.0 * first * v1 + second * v0;
  }
}

static void frame_on(const model_number *path, real q, path_frame *f) {
  const place_on_path at = place_on(path, q);
  real t[3][3], n[3][3], y[3][3] = {{0.0}};
  derivative_of_piece(at.piece, 0, at.a, f->c);
  for (int k = 0; k < 3; k++) derivative_of_piece(at.piece, k + 1, at.a, t[k]);
  const real speed = root(dot(t[0], t[0])), rate = dot(t[0], t[1]) / speed, per = at.is_beyond ? 0.0 : 1.0 / speed;
  unit_derivatives(t);
  for (int i = 0; i < 3; i++) {
    f->c[i] += at.beyond * t[0][i];
    n[0][i] = (i == 2) - t[0][2] * t[0][i];
    n[1][i] = -t[1][2] * t[0][i] - t[0][2] * t[1][i];
    n[2][i] = -t[2][2] * t[0][i] - 2.0 * t[1][2] * t[1][i] - t[0][2] * t[2][i];
  }
  unit_derivatives(n);
  static const double binomial[3][3] = {{1.0}, {1.0, 1.0}, {1.0, 2.0, 1.0}};
  for (int order = 0; order < 3; order++)
    for (int k = 0; k <= order; k++) {
      real part[3];
      cross(n[order - k], t[k], part);
      for (int i = 0; i < 3; i++) y[order][i] += binomial[order][k] * part[i];
    }
  for (int i = 0; i < 3; i++) {
    const real column[3][3] = {{t[0][i], y[0][i], n[0][i]}, {t[1][i], y[1][i], n[1][i]}, {t[2][i], y[2][i], n[2][i]}};
    for (int k = 0; k < 3; k++) {
      f->R[0][3 * i + k] = column[0][k];
      f->R[1][3 * i + k] = per * column[1][k];
      f->R[2][3 * i + k] = per * per * (column[2][k] - rate * per * column[1][k]);
    }
  }
}

/* Half the vector of the skew part of D R': of the rate of a rotation R its angular velocity. */
static void axial_of(const real D[9], const real R[9], real w[3]) {
  real M[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) M[3 * i + j] = dot(D + 3 * i, R + 3 * j);
  w[0] = 0.5 * (M[7] - M[5]), w[1] = 0.5 * (M[2] - M[6]), w[2] = 0.5 * (M[3] - M[1]);
}

/* ---- the nearest place ---- */

/* Half the derivative of the squared distance to a point, and the derivative of that. */
static real slope_of_distance(const model_number *path, real q, const real p[3], real *distance2, real *second) {
  path_frame f;
  real d[3], t[3], k[3];
  frame_on(path, q, &f);
  for (int i = 0; i < 3; i++) d[i] = f.c[i] - p[i], t[i] = f.R[0][3 * i], k[i] = f.R[1][3 * i];
  *distance2 = dot(d, d), *second = 1.0 + dot(d, k);
  return dot(d, t);
}

/* Downhill from a place. */
static double nearest_from(const model_number *path, double q, const real p[3], double *distance2) {
  const double most = path[LW_PATH_LENGTH] / pieces_of(path);
  for (int i = 0; i < PATH_STEPS; i++) {
    real d2, second;
    const double slope = re(slope_of_distance(path, q, p, &d2, &second));
    const double step = slope / fmax(re(second), PATH_LEAST_SECOND);
    q -= fmin(fmax(step, -most), most);
    *distance2 = re(d2);
    if (!(fabs(step) > 1e-15 * path[LW_PATH_LENGTH])) break;
  }
  return q;
}

/* The nearest of the beginnings of all pieces, in the lap of `near`. */
static double nearest_piece(const model_number *path, double near, const real p[3]) {
  double best = INFINITY, at = 0.0;
  for (int32_t i = 0; i < pieces_of(path); i++) {
    const model_number *piece = piece_of(path, i);
    real c[3], d[3];
    for (int half = 0; half < 2; half++) {
      derivative_of_piece(piece, 0, 0.5 * half * piece[1], c);
      for (int k = 0; k < 3; k++) d[k] = c[k] - p[k];
      const double end = i + 1 < pieces_of(path) ? piece[LW_PATH_PIECE] : path[LW_PATH_LENGTH];
      if (re(dot(d, d)) < best) best = re(dot(d, d)), at = piece[0] + 0.5 * half * (end - piece[0]);
    }
  }
  const double lap = path[LW_PATH_LENGTH];
  return path[LW_PATH_CLOSED] != 0.0 ? at + lap * round((near - at) / lap) : at;
}

/* The place next to `near` where the distance to a point is least, unless another place is much nearer to the point. */
static real nearest_on(const model_number *path, real near, const real p[3]) {
  double local = 0.0, whole = 0.0, q = nearest_from(path, re(near), p, &local);
  if (sqrt(local) > PATH_NEAR * path[LW_PATH_LENGTH]) {
    const double other = nearest_from(path, nearest_piece(path, re(near), p), p, &whole);
    if (4.0 * whole < local) q = other;
  }
  real d2, second;
  const real slope = slope_of_distance(path, q, p, &d2, &second);
  return q - (slope - re(slope)) / select_less(second, PATH_LEAST_SECOND, PATH_LEAST_SECOND, second);
}
#endif
