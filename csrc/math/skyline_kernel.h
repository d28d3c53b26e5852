/* Symmetric positive definite systems by L D L' in skyline storage: of each row the entries from the first that is not
 * zero (its profile) to the diagonal. L has the same profile, so that time and memory are linear in the number of rows
 * if the profile is narrow. In double only. */
#ifndef LW_MATH_SKYLINE_KERNEL_H
#define LW_MATH_SKYLINE_KERNEL_H
#include "math/scalar.h"
#include <math.h>

typedef struct skyline {
  int32_t rows;
  int32_t *first; /* of each row the first column of its profile */
  int32_t *at;    /* value + at[i] + j is the entry (i, j) */
  double *value;
} skyline;

INLINE double *skyline_row(const skyline *s, int32_t i) { return s->value + s->at[i]; }

static void skyline_clear(const skyline *s) {
  for (int32_t i = 0; i < s->rows; i++)
    for (int32_t j = s->first[i]; j <= i; j++) skyline_row(s, i)[j] = 0.0;
}

static double skyline_dot(int32_t n, const double *a, const double *b) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Adds max(ridge, relative ridge of the largest entry) to the diagonal; returns that entry. */
static double skyline_add_ridge(const skyline *s, double ridge, double relative) {
  double largest = 0.0;
  for (int32_t i = 0; i < s->rows; i++) largest = larger(largest, skyline_row(s, i)[i]);
  for (int32_t i = 0; i < s->rows; i++) skyline_row(s, i)[i] += larger(ridge, largest * relative) + 1e-300;
  return largest;
}

/* In place: L below the diagonal, D on it. */
static void skyline_factor(const skyline *s) {
  for (int32_t i = 0; i < s->rows; i++) {
    double *row = skyline_row(s, i);
    for (int32_t j = s->first[i]; j < i; j++) {
      const double *other = skyline_row(s, j);
      const int32_t from = s->first[i] > s->first[j] ? s->first[i] : s->first[j];
      row[j] -= skyline_dot(j - from, row + from, other + from);
    }
    for (int32_t j = s->first[i]; j < i; j++) {
      const double l = row[j] / skyline_row(s, j)[j];
      row[i] -= l * row[j], row[j] = l;
    }
    row[i] = larger(1e-300, row[i]);
  }
}

static void skyline_solve(const skyline *s, double *y) {
  for (int32_t i = 0; i < s->rows; i++)
    y[i] -= skyline_dot(i - s->first[i], skyline_row(s, i) + s->first[i], y + s->first[i]);
  for (int32_t i = 0; i < s->rows; i++) y[i] /= skyline_row(s, i)[i];
  for (int32_t i = s->rows - 1; i >= 0; i--)
    for (int32_t j = s->first[i]; j < i; j++) y[j] -= skyline_row(s, i)[j] * y[i];
}
#endif
