/* S lambda = gamma. S is singular where constraints are redundant, as in planar loops of 3-D joints; where the loops
 * are closed they are consistent. Scaled to a unit diagonal, smaller for rows that fade, and pivoted,
 *   S = L'D L,  L of as many rows as the rank;  lambda = S^+ gamma = L'(L L')^-1 D^-1 (L L')^-1 L gamma
 * is the least of the solutions nearest to all constraints, whatever the pivots, so that nothing jumps with them.
 * The next pivot is the largest before scaling: those of lines along which links push fade as these become parallel.
 * Rows of rotors, with a one on the diagonal of S, are always regular. They come first, so that the ranks are those
 * of the constraints. */
#ifndef LW_MULTIPLIERS_SOLVE_KERNEL_H
#define LW_MULTIPLIERS_SOLVE_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/tolerances.h"
#include "math/simd_kernel.h"
#include "multipliers/workspace_kernel.h"

INLINE int is_row_of_rotor(const multiplier_work *w, int32_t row) { return w->plan->row_cluster[row] == ROW_OF_ROTOR; }

/* Rows that nothing moves, such as those across the plane of a planar loop, become zero. */
static int is_zero_row(const multiplier_work *w, int32_t row) {
  const double off = SIZES_OFF * re(w->residual2[row]), size2 = re(w->largest[row]);
  return !(size2 > LEAST_SIZE2 && size2 > off);
}

/* Rows that fade as bodies line up are scaled to their size in the metric: blown up to the size of the others, they
 * would make as much more of what a constraint violation adds. */
static void scale_row(const multiplier_work *w, int32_t i) {
  const int rotor = is_row_of_rotor(w, i), zero = !rotor && is_zero_row(w, i);
  w->order[i] = i;
  w->fading[i] = zero || rotor ? 1.0 : select_less(w->largest[i], FADING, FADING / w->largest[i], 1.0);
  w->diagonal[i] = w->S[w->stride * i + i] * w->fading[i];
  w->scale[i] = zero ? 0.0 : 1.0 / root(w->diagonal[i]);
  w->y[i] = w->gamma[i] * w->scale[i];
}

static void scale_rows(const multiplier_work *w) {
  for (int32_t i = 0; i < w->rows; i++) scale_row(w, i);
  for (int32_t i = 0; i < w->rows; i++)
    for (int32_t j = i; j < w->rows; j++) w->S[w->stride * i + j] *= w->scale[i] * w->scale[j];
}

INLINE void swap(real *a, real *b) {
  const real t = *a;
  *a = *b, *b = t;
}

/* Rows and columns p < q of the remaining S, and the right-hand side. */
static void swap_rows(const multiplier_work *w, int32_t p, int32_t q) {
  real *S = w->S;
  const int32_t n = w->stride, row = w->order[p];
  w->order[p] = w->order[q], w->order[q] = row;
  swap(w->y + p, w->y + q);
  swap(S + n * p + p, S + n * q + q);
  for (int32_t k = 0; k < p; k++) swap(w->L + n * k + p, w->L + n * k + q);
  for (int32_t k = p + 1; k < q; k++) swap(S + n * p + k, S + n * k + q);
  for (int32_t k = q + 1; k < w->rows; k++) swap(S + n * p + k, S + n * q + k);
}

/* The size that a scaled pivot of a row can have by |Phi| alone. */
static double pivot_off(const multiplier_work *w, int32_t row) {
  const double spread = re(w->first[w->plan->row_cluster[row]]) / re(w->diagonal[row]);
  return re(w->residual2[row]) * (spread > PIVOTS_OFF ? spread : PIVOTS_OFF);
}

static int32_t find_pivot(const multiplier_work *w, int32_t p) {
  int32_t best = -1;
  double most = 0.0;
  for (int32_t i = p; i < w->rows; i++) {
    const int32_t row = w->order[i];
    if (is_row_of_rotor(w, row)) return i;
    const double d = re(w->S[w->stride * i + i]), size = d * re(w->diagonal[row]);
    if (size <= most) continue;
    const double pivot = d * re(w->fading[row]);
    if (pivot <= SQUARED_RANK_TOLERANCE) continue;
    if (pivot > GAP_OF_PIVOTS * re(w->least[w->plan->row_cluster[row]]) || d > pivot_off(w, row)) best = i, most = size;
  }
  return best;
}

static void note_pivot(const multiplier_work *w, int32_t row, real pivot) {
  if (is_row_of_rotor(w, row)) return;
  const int32_t c = w->plan->row_cluster[row];
  const real unit = pivot * w->fading[row], size2 = w->largest[row];
  const real sized = unit * select_less(size2, 1.0, size2, 1.0);
  w->last[c] = pivot * w->diagonal[row];
  if (re(w->first[c]) == 0.0) w->first[c] = w->last[c];
  w->least[c] = select_less(unit, w->least[c], unit, w->least[c]);
  w->regularity[c] = select_less(sized, w->regularity[c], sized, w->regularity[c]);
}

static void eliminate(const multiplier_work *w) {
  const int32_t n = w->stride, rows = w->rows;
  int32_t p = 0;
  for (; p < rows; p++) {
    const int32_t best = find_pivot(w, p);
    if (best < 0) break;
    if (best != p) swap_rows(w, p, best);
    const real *S = w->S + n * p, inverse = 1.0 / S[p];
    real *L = w->L + n * p;
    note_pivot(w, w->order[p], S[p]);
    w->D[p] = S[p];
    for (int32_t j = p; j < rows; j++) L[j] = S[j] * inverse;
    for (int32_t i = p + 1; i < rows; i++) add_row(rows - i, -L[i], S + i, w->S + n * i + i);
  }
  *w->rank = p;
}

/* y in place by L'D L of full rank */
static void solve_regular(const multiplier_work *w) {
  const int32_t rows = w->rows;
  for (int32_t p = 0; p < rows; p++) add_row(rows - p - 1, -w->y[p], w->L + w->stride * p + p + 1, w->y + p + 1);
  for (int32_t p = rows - 1; p >= 0; p--)
    w->y[p] = w->y[p] / w->D[p] - dot_row(rows - p - 1, w->L + w->stride * p + p + 1, w->y + p + 1);
}

/* K = U' diag(U)^-1 U in place, the upper triangle of a positive matrix. */
static void factor_upper(real *K, int32_t n) {
  for (int32_t p = 0; p < n; p++) {
    const real *row = K + n * p, inverse = 1.0 / row[p];
    for (int32_t i = p + 1; i < n; i++) add_row(n - i, -row[i] * inverse, row + i, K + n * i + i);
  }
}

static void solve_upper(const real *K, int32_t n, real *x) {
  for (int32_t p = 0; p < n; p++) add_row(n - p - 1, -x[p] / K[n * p + p], K + n * p + p + 1, x + p + 1);
  for (int32_t p = n - 1; p >= 0; p--) x[p] = (x[p] - dot_row(n - p - 1, K + n * p + p + 1, x + p + 1)) / K[n * p + p];
}

/* K = L L' factored, in place of S, which is used up */
static void factor_least(const multiplier_work *w) {
  const int32_t n = w->stride, rows = w->rows, rank = *w->rank;
  real *K = w->S;
  for (int32_t p = 0; p < rank; p++)
    for (int32_t q = p; q < rank; q++) K[p * rank + q] = dot_row(rows - q, w->L + n * p + q, w->L + n * q + q);
  factor_upper(K, rank);
}

/* y in place by the pseudo-inverse */
static void solve_least(const multiplier_work *w) {
  const int32_t n = w->stride, rows = w->rows, rank = *w->rank;
  real *K = w->S, *x = w->lambda;
  for (int32_t p = 0; p < rank; p++) x[p] = dot_row(rows - p, w->L + n * p + p, w->y + p);
  solve_upper(K, rank, x);
  for (int32_t p = 0; p < rank; p++) x[p] /= w->D[p];
  solve_upper(K, rank, x);
  for (int32_t j = 0; j < rows; j++) w->y[j] = 0.0;
  for (int32_t p = 0; p < rank; p++) add_row(rows - p, x[p], w->L + n * p + p, w->y + p);
}

static void note_conditioning(const view *v, const multiplier_work *w) {
  for (int32_t l = 0; l < v->m->size.loops; l++) {
    const int32_t c = v->m->loop[l].cluster;
    if (c < 0) continue;
    w->conditioning[l] = re(w->first[c]) > 0.0 ? root(w->last[c] / w->first[c]) : 1.0;
    FIELD(v, loop_conditioning)[l] = w->conditioning[l];
  }
}

/* lambda of y, the right-hand side in the order of the pivots, scaled */
static void solve_for_multipliers(const multiplier_work *w) {
  if (*w->rank == w->rows) solve_regular(w);
  else solve_least(w);
  for (int32_t j = 0; j < w->rows; j++) w->lambda[w->order[j]] = w->y[j] * w->scale[w->order[j]];
}

static void find_multipliers(const view *v, const multiplier_work *w) {
  scale_rows(w);
  eliminate(w);
  note_conditioning(v, w);
  if (*w->rank < w->rows) factor_least(w);
  solve_for_multipliers(w);
}

/* From the residual in gamma, by the same factors. */
static void correct_multipliers(const multiplier_work *w) {
  for (int32_t j = 0; j < w->rows; j++) w->y[j] = w->gamma[w->order[j]] * w->scale[w->order[j]];
  solve_for_multipliers(w);
}
#endif
