/* Constraint embedding (Jain 2009): the cluster as one aggregated body. All its closures are pivoted as one matrix,
 * which selects independent columns of the whole. The rows X give the motion of every link, and the inertia
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

/* All columns of a cluster; the right-hand sides are those of the biases and the residual. */
INLINE pivoted_columns columns_of_matrix(const cluster_work *w) {
  return (pivoted_columns){.rows = w->rows,
                           .n = w->n,
                           .stride = w->rows,
                           .column = w->a,
                           .rhs_count = 2,
                           .rhs = {w->rhs, w->rhs + w->rows},
                           .order = w->order,
                           .size2 = w->spare,
                           .f = w->coefficient};
}

static void order_cuts_first(const view *v, int32_t c, pivoted_columns *x) {
  const lw_column *column = column_of(v, c, 0);
  int32_t next = 0;
  for (int is_tree = 0; is_tree < 2; is_tree++, x->first = is_tree == 1 ? next : x->first)
    for (int32_t k = 0; k < x->n; k++)
      if ((column[k].link >= 0) == is_tree) x->order[next++] = k;
}

/* Pivots over the whole matrix, the cut joints' columns first; sets its rank. */
static pivoted_columns orthogonalise_matrix(const view *v, int32_t c, const cluster_work *w) {
  pivoted_columns x = columns_of_matrix(w);
  const double phi2 = re(dot_rows(w->rhs + w->rows, w->rhs + w->rows, w->rows));
  measure_columns(&x);
  order_cuts_first(v, c, &x);
  const double least = rank_threshold2(re(x.largest), x.sum, phi2, pivot_tolerance2(w));
  w->ranks->matrix_rank = orthogonalise_columns(&x, least, PIVOT_SHARE2);
  const real conditioning = root((x.smallest + 1e-300) / (x.largest + 1e-300));
  for (int32_t i = 0; i < w->cluster->loops; i++) FIELD(v, loop_conditioning)[loop_of(v, c, i)] = conditioning;
  return x;
}

/* Rows of X, in physical units. */
static void express_matrix(const view *v, int32_t c, const cluster_work *w, const pivoted_columns *x) {
  const int32_t width = w->ranks->width;
  memset(w->X, 0, sizeof *w->X * (size_t)(w->n * width));
  express_columns(x, w->ranks->matrix_rank, FIRST_FREE, BIAS, width, w->X);
  for (int32_t k = 0; k < w->n; k++) {
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
    while (first < end && adds_nothing(row[first])) first++;
    while (end > first && adds_nothing(row[end - 1])) end--;
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
    fill_loop(v, c, w, l, NULL, columns_in_matrix(w, loop->row), &at);
    store_residual(v, l, w->rhs + w->rows + loop->row);
    closure_bias(v, w, l, &at, w->rhs + loop->row);
  }
  const pivoted_columns x = orthogonalise_matrix(v, c, w);
  const int32_t needed = FIRST_FREE + w->n - w->ranks->matrix_rank;
  if (needed > cluster->capacity) return 0;
  w->ranks->width = (needed + 3) / 4 * 4, w->ranks->independent = needed - FIRST_FREE;
  w->ranks->rank = w->ranks->constraints = 0;
  express_matrix(v, c, w, &x);
  for (int32_t number = 0; blocks_of(w) > 2 && number < cluster->ears; number++) find_embedded_blocks(v, w, number);
  for (int32_t k = 0; k < 6 * blocks_of(w); k++) partial_velocities_of(w, blocks_of(w), cluster->root)[k] = zero4();
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++)
    compute_partial_velocities(v, w, i, blocks_of_ear(w, v->m->link[i].ear - cluster->first_ear, blocks_of(w)));
  return 1;
}
#endif
