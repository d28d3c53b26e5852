/* Gram-Schmidt with pivots: of columns a_k the first that remains nearly as large as any becomes the next pivot q_p and
 * is taken out of the others, and of right-hand sides,  a_k = sum_p f_pk q_p + rest.  Then back-substitution: the x of
 * sum_k a_k x_k = b by the columns that stay free. Decisions are by real parts, and nothing is conjugated. */
#ifndef LW_MATH_PIVOTED_GRAM_SCHMIDT_KERNEL_H
#define LW_MATH_PIVOTED_GRAM_SCHMIDT_KERNEL_H
#include "math/orthonormal_kernel.h"
#include "math/tolerances.h"

#define MOST_RHS 3

typedef struct pivoted_columns {
  int32_t rows, n, stride, first; /* from column to column; so many are the first pivots, in their order */
  real *column;                   /* used up: pivots, and what remains of the others */
  int32_t rhs_count;
  real *rhs[MOST_RHS];    /* what remains of each right-hand side */
  int32_t *order;         /* of the columns, pivots first */
  real *size2;            /* of what remains of each column, squared */
  real *pivot_size2;      /* NULL: not kept */
  real *f;                /* of each pivot: its part of each column, and of each right-hand side */
  real largest, smallest; /* size squared of a column, at least 1; of a pivot */
  double sum;             /* of the sizes squared */
} pivoted_columns;

INLINE real *pivoted_column(const pivoted_columns *x, int32_t k) { return x->column + (int64_t)x->stride * k; }

/* Sets sizes and an order in which nothing has a place yet. */
INLINE void measure_columns(pivoted_columns *x) {
  x->largest = 1.0, x->sum = 0.0;
  for (int32_t k = 0; k < x->n; k++) {
    const real s = x->size2[k] = dot_rows(pivoted_column(x, k), pivoted_column(x, k), x->rows);
    x->order[k] = k;
    x->sum += re(s);
    x->largest = select_less(x->largest, s, s, x->largest);
  }
}

/* Below what size squared a pivot counts as nothing, where the right-hand side is open by `residual2`, a square: small
 * columns are then no better than noise. */
INLINE double rank_threshold2(double largest, double sum, double residual2, double tolerance2) {
  const double by_residual = RESIDUAL_RANK2 * residual2 / (sum + 1e-300);
  return largest * larger(tolerance2, by_residual);
}

/* The elements of a pivot that are not zero, from the first to the last: in a gear train it has few. */
typedef struct pivot_column {
  const real *at;
  int32_t first, rows;
  real inverse; /* of its size squared */
} pivot_column;

INLINE pivot_column pivot_column_of(const real *a, int32_t rows, real size2) {
  int32_t first = 0, end = rows;
  while (first < end && adds_nothing(a[first])) first++;
  while (end > first && adds_nothing(a[end - 1])) end--;
  return (pivot_column){a + first, first, end - first, 1.0 / size2};
}

INLINE real take_out(const pivot_column *pivot, real *from) {
  from += pivot->first;
  const real along = dot_rows(pivot->at, from, pivot->rows) * pivot->inverse;
  for (int32_t j = 0; !adds_nothing(along) && j < pivot->rows; j++) from[j] -= along * pivot->at[j];
  return along;
}

/* The entry at `from` comes to place p. Those between keep their order, so that the next choice depends on no earlier
 * one. */
INLINE int32_t bring_forward(int32_t *order, int32_t from, int32_t p) {
  const int32_t pivot = order[from];
  for (int32_t i = from; i > p; i--) order[i] = order[i - 1];
  return order[p] = pivot;
}

/* The first column larger than the threshold that has this share of the largest; -1: none is. */
INLINE int32_t place_of_next_pivot(const pivoted_columns *x, int32_t p, double threshold2, double share2) {
  const int32_t end = p < x->first ? p + 1 : x->n;
  double largest = 0.0;
  for (int32_t i = p; i < end; i++) largest = larger(largest, unless_small(re(x->size2[x->order[i]]), threshold2));
  for (int32_t i = p; largest > 0.0 && i < end; i++)
    if (unless_small(re(x->size2[x->order[i]]), threshold2) >= share2 * largest) return i;
  return -1;
}

/* After measure_columns(); pivots are larger than a threshold squared, and than this share of the largest column that
 * remains. Returns the rank. */
static int32_t orthogonalise_columns(pivoted_columns *x, double threshold2, double share2) {
  const int32_t n = x->n, width = n + x->rhs_count;
  int32_t p = 0;
  x->smallest = x->largest;
  for (; p < x->rows && p < n; p++) {
    const int32_t place = place_of_next_pivot(x, p, threshold2, share2);
    if (place < 0) break;
    const int32_t pivot = bring_forward(x->order, place, p);
    const real size2 = x->size2[pivot];
    if (x->pivot_size2) x->pivot_size2[p] = size2;
    x->smallest = select_less(size2, x->smallest, size2, x->smallest);
    const pivot_column a = pivot_column_of(pivoted_column(x, pivot), x->rows, size2);
    real *f = x->f + p * width;
    for (int32_t i = p + 1; i < n; i++) {
      const int32_t k = x->order[i];
      f[k] = take_out(&a, pivoted_column(x, k));
      if (!adds_nothing(f[k])) x->size2[k] = dot_rows(pivoted_column(x, k), pivoted_column(x, k), x->rows);
    }
    for (int32_t i = 0; i < x->rhs_count; i++) f[n + i] = take_out(&a, x->rhs[i]);
  }
  return p;
}

/* The least y with a_k.y = b_k for the columns that are pivots; m: scratch [rank]. */
INLINE void solve_transposed(const pivoted_columns *x, int32_t rank, const real *b, real *m, real *y) {
  for (int32_t j = 0; j < x->rows; j++) y[j] = 0.0;
  for (int32_t p = 0; p < rank; p++) {
    const real *a = pivoted_column(x, x->order[p]);
    m[p] = b[x->order[p]];
    for (int32_t s = 0; s < p; s++) m[p] -= x->f[s * (x->n + x->rhs_count) + x->order[p]] * m[s];
    for (int32_t j = 0; j < x->rows; j++) y[j] += a[j] * (m[p] / x->pivot_size2[p]);
  }
}

/* Rows of x [n][width], of which n - rank + rhs_count are filled: the identity from `free` on for columns that stay free,
 * back-substitution for the others; from `first_rhs` on by the right-hand sides. */
static void express_columns(const pivoted_columns *x, int32_t rank, int32_t free, int32_t first_rhs, int32_t width,
                            real *out) {
  const int32_t n = x->n, filled = n - rank + x->rhs_count;
  for (int32_t i = rank; i < n; i++) {
    real *row = out + x->order[i] * width;
    for (int32_t j = 0; j < filled; j++) row[j] = j == free + i - rank ? 1.0 : 0.0;
  }
  for (int32_t p = rank - 1; p >= 0; p--) {
    const real *f = x->f + p * (n + x->rhs_count);
    real *row = out + x->order[p] * width;
    for (int32_t j = 0; j < n - rank; j++) row[free + j] = -f[x->order[rank + j]];
    for (int32_t j = 0; j < x->rhs_count; j++) row[first_rhs + j] = f[n + j];
    for (int32_t s = p + 1; s < rank; s++) {
      const real by = f[x->order[s]];
      for (int32_t j = 0; !adds_nothing(by) && j < filled; j++) row[j] -= by * out[x->order[s] * width + j];
    }
  }
}
#endif
