/* Constraint embedding (Jain 2009): the cluster as one aggregated body. All its closures are pivoted as one matrix,
 * which selects the best conditioned independent columns. The rows X give the motion of every link, and the inertia
 * and bias force at the root follow as X'M X and X'B. Couplings are constraints among the independent columns, as in
 * recursive_coordinate_reduction_kernel.h. */
#ifndef LW_LOOPS_CONSTRAINT_EMBEDDING_KERNEL_H
#define LW_LOOPS_CONSTRAINT_EMBEDDING_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/closure_matrix_kernel.h"

/* Pivots over the whole matrix, the cut joints' columns first; returns the rank. The coefficients' last two are those
 * of the biases and the residual. */
static int32_t orthogonalise_matrix(const view *v, int32_t c, const cluster_work *w) {
  const int32_t n = w->n, rows = w->rows;
  const lw_column *column = column_of(v, c, 0);
  const double phi2 = re(dot_rows(w->rhs + rows, w->rhs + rows, rows)), least = pivot_tolerance2(w);
  double sum = 0.0;
  real largest = 1.0, *size2 = w->spare;
  int32_t cuts = 0, next = 0;
  for (int32_t k = 0; k < n; k++) cuts += column[k].link < 0;
  for (int32_t k = 0; k < n; k++) {
    const real s = dot_rows(w->a + rows * k, w->a + rows * k, rows);
    size2[k] = s;
    w->order[column[k].link < 0 ? next++ : cuts + k - next] = k;
    sum += re(s);
    largest = select_less(largest, s, s, largest);
  }
  const double residual2_ratio = RESIDUAL_RANK2 * phi2 / (sum + 1e-300),
               threshold2 = re(largest) * (residual2_ratio > least ? residual2_ratio : least);
  real smallest = largest;
  int32_t p = 0;
  for (; p < rows && p < n; p++) {
    int32_t best = p;
    double best2 = -1.0;
    for (int32_t i = p; i < (p < cuts ? p + 1 : n); i++) {
      const double s = re(size2[w->order[i]]);
      if (s > best2) best = i, best2 = s;
    }
    if (!(best2 > threshold2)) break;
    const int32_t pivot = w->order[best];
    w->order[best] = w->order[p], w->order[p] = pivot;
    real *f = w->coefficient + p * (n + 2);
    w->size2[p] = size2[pivot];
    smallest = select_less(w->size2[p], smallest, w->size2[p], smallest);
    const pivot_column a = pivot_column_of(w->a + rows * pivot, rows, size2[pivot]);
    for (int32_t i = p + 1; i < n; i++)
      f[w->order[i]] = take_out_of_column(&a, rows, w->a + rows * w->order[i], &size2[w->order[i]]);
    f[n] = take_out(&a, w->rhs);
    f[n + 1] = take_out(&a, w->rhs + rows);
  }
  const real conditioning = root((smallest + 1e-300) / (largest + 1e-300));
  for (int32_t i = 0; i < w->cluster->loops; i++) FIELD(v, loop_conditioning)[loop_of(v, c, i)] = conditioning;
  return w->ranks->matrix_rank = p;
}

/* Rows of X: back-substitution for the dependent columns, the identity for the others; then in physical units. */
static void express_matrix(const view *v, int32_t c, const cluster_work *w) {
  const int32_t n = w->n, rank = w->ranks->matrix_rank, width = w->ranks->width;
  for (int32_t k = 0; k < n * width; k++) w->X[k] = 0.0;
  for (int32_t i = rank; i < n; i++) w->X[w->order[i] * width + FIRST_FREE + i - rank] = 1.0;
  for (int32_t p = rank - 1; p >= 0; p--) {
    real *row = w->X + w->order[p] * width;
    const real *f = w->coefficient + p * (n + 2);
    row[BIAS] = f[n], row[RESIDUAL] = f[n + 1];
    for (int32_t i = p + 1; i < n; i++)
      for (int32_t j = 0; !is_zero(f[w->order[i]]) && j < width; j++)
        row[j] -= f[w->order[i]] * w->X[w->order[i] * width + j];
  }
  for (int32_t k = 0; k < n; k++) {
    const real f = metric_of(v, column_of(v, c, k));
    for (int32_t j = 0; j < width; j++) w->X[k * width + j] *= f;
  }
}

/* The directions that move the links of a loop, by the entries of its rows and those of the loops that carry it. */
static void find_embedded_blocks(const view *v, const cluster_work *w, int32_t number) {
  const lw_ear *ear = &v->m->ear[w->cluster->first_ear + number];
  const int32_t blocks = blocks_of(w);
  w->ear_begin[number] = blocks, w->ear_end[number] = 1;
  for (int32_t k = ear->column; k < ear->column + ear->columns; k++) {
    const real *row = w->X + k * w->ranks->width;
    int32_t first = 4, end = w->ranks->width;
    while (first < end && is_zero(row[first])) first++;
    while (end > first && is_zero(row[end - 1])) end--;
    if (first < end && first / 4 < w->ear_begin[number]) w->ear_begin[number] = first / 4;
    if (first < end && (end + 3) / 4 > w->ear_end[number]) w->ear_end[number] = (end + 3) / 4;
  }
  for (int32_t j = ear->first; j < ear->first + ear->links; j++)
    include_blocks(v, w, number, v->m->link[v->m->ear_link[j]].parent);
}

/* Returns 0 where the independent directions exceed the capacity. */
static int eliminate_matrix(const view *v, int32_t c) {
  const cluster_work work = work_of(v, c), *w = &work;
  const lw_cluster *cluster = w->cluster;
  clear_matrix(w);
  find_point_motions(v, w);
  for (int32_t i = 0; i < cluster->loops; i++) {
    const int32_t l = loop_of(v, c, i);
    const lw_loop *loop = &v->m->loop[l];
    cut_frames at;
    fill_loop(v, c, w, l, NULL, &at);
    store_residual(v, l, w->rhs + w->rows + loop->row);
    closure_bias(v, w, l, &at, w->rhs + loop->row);
  }
  const int32_t needed = FIRST_FREE + w->n - orthogonalise_matrix(v, c, w);
  if (needed > cluster->capacity) return 0;
  w->ranks->width = (needed + 3) / 4 * 4, w->ranks->independent = needed - FIRST_FREE;
  w->ranks->rank = w->ranks->constraints = 0;
  express_matrix(v, c, w);
  for (int32_t number = 0; blocks_of(w) > 2 && number < cluster->ears; number++) find_embedded_blocks(v, w, number);
  for (int32_t k = 0; k < 6 * blocks_of(w); k++) partial_velocities_of(w, blocks_of(w), cluster->root)[k] = zero4();
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++)
    compute_partial_velocities(v, w, i, blocks_of_ear(w, v->m->link[i].ear - cluster->first_ear, blocks_of(w)));
  return 1;
}
#endif
