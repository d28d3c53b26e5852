#include "math/pivoted_qr.h"
#include <math.h>

static double *column(const lw_least_squares *f, int32_t k) { return f->a + (int64_t)f->order[k] * f->rows; }

/* From row `first` on. */
static double dot(const double *a, const double *b, int32_t first, int32_t rows) {
  double sum = 0.0;
  for (int32_t i = first; i < rows; i++) sum += a[i] * b[i];
  return sum;
}

/* Brings the column that is largest below row k to place k. */
static void choose_pivot(const lw_least_squares *f, int32_t k) {
  int32_t best = k;
  double best2 = -1.0;
  for (int32_t j = k; j < f->columns; j++) {
    const double size2 = dot(column(f, j), column(f, j), k, f->rows);
    if (size2 > best2) best = j, best2 = size2;
  }
  const int32_t chosen = f->order[best];
  f->order[best] = f->order[k], f->order[k] = chosen;
}

/* b -= 2 v v'b / v'v from row k on, with v'v / 2 = -diagonal v_k */
static void reflect(const lw_least_squares *f, int32_t k, double *b) {
  const double *v = column(f, k), by = dot(v, b, k, f->rows) / (f->diagonal[k] * v[k]);
  for (int32_t i = k; i < f->rows; i++) b[i] += by * v[i];
}

double lw_factor_columns(const lw_least_squares *f) {
  for (int32_t k = 0; k < f->columns; k++) f->order[k] = k;
  for (int32_t k = 0; k < f->columns; k++) {
    choose_pivot(f, k);
    double *v = column(f, k);
    const double size = k < f->rows ? sqrt(dot(v, v, k, f->rows)) : 0.0;
    f->diagonal[k] = 0.0;
    if (!(size > 0.0)) return 0.0;
    f->diagonal[k] = v[k] > 0.0 ? -size : size;
    v[k] -= f->diagonal[k];
    for (int32_t j = k + 1; j < f->columns; j++) reflect(f, k, column(f, j));
  }
  return f->columns ? fabs(f->diagonal[f->columns - 1] / f->diagonal[0]) : 1.0;
}

void lw_solve_columns(const lw_least_squares *f, double *b, double *x) {
  for (int32_t k = 0; k < f->columns; k++) reflect(f, k, b);
  for (int32_t k = f->columns - 1; k >= 0; k--) {
    double rest = b[k];
    for (int32_t j = k + 1; j < f->columns; j++) rest -= column(f, j)[k] * x[f->order[j]];
    x[f->order[k]] = rest / f->diagonal[k];
  }
}
