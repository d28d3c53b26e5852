/* All closures of a cluster as one matrix: columns a, n x rows, in the metric; six rows for a loop, one for a coupling.
 * Assembly stores its entries alone (assembly/sparse_closure_kernel.h); constraint embedding pivots over the whole of the
 * loops and has the couplings' rows empty. */
#ifndef LW_LOOPS_CLOSURE_MATRIX_KERNEL_H
#define LW_LOOPS_CLOSURE_MATRIX_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/independent_constraints_kernel.h"

/* Where the columns of a closure go: each to its place in the matrix, or one behind the other, six rows each. */
typedef struct closure_columns {
  real *at;
  int32_t stride; /* of the matrix; 0: none */
} closure_columns;

INLINE closure_columns columns_in_matrix(const cluster_work *w, int32_t row) {
  return (closure_columns){w->a + row, w->rows};
}

INLINE real *place_of_columns(closure_columns *to, int32_t k, int32_t count) {
  if (to->stride) return to->at + to->stride * k;
  to->at += 6 * count;
  return to->at - 6 * count;
}

/* In the matrix terms with the same column add up. */
INLINE void put_entry(closure_columns *to, int32_t k, real value) {
  real *a = place_of_columns(to, k, 1);
  *a = to->stride ? *a + value : value;
}

static void fill_branch(const view *v, int32_t c, const cluster_work *w, const lw_loop *loop, int32_t from,
                        const real closure_point[3], double sign, closure_columns *to) {
  const real length = length_of(v, c);
  for (int32_t i = from; i != loop->root; i = v->m->link[i].parent) {
    const lw_link *link = &v->m->link[i];
    real d[3];
    for (int j = 0; j < 3; j++) d[j] = closure_point[j] - point_motion_of(w, i)[j];
    for (int32_t k = link->column; k < link->column + link->speeds; k++) {
      twist P;
      column_of_link(v, i, k - link->column, &P);
      fill_column(column_of(v, c, k), length, &P, d, sign, place_of_columns(to, k, 1));
    }
  }
}

/* Columns and residual of one loop; its cut joint at the coordinates from the inverse joint map, or at fixed ones. */
static void fill_loop(const view *v, int32_t c, const cluster_work *w, int32_t l, const real *fixed, closure_columns to,
                      cut_frames *at) {
  const lw_loop *loop = &v->m->loop[l];
  align_cut_joint(v, w, l, fixed, at);
  closure_residual(v, l, at, w->rhs + w->rows + loop->row);
  fill_cut_columns(v, l, to.stride ? to.stride : 6, place_of_columns(&to, loop->column, loop->columns));
  fill_branch(v, c, w, loop, loop->parent, at->on_parent, 1.0, &to);
  fill_branch(v, c, w, loop, loop->child, at->on_child, -1.0, &to);
}

/* Each column belongs to some of the closures only. */
static void clear_matrix(const cluster_work *w) {
  for (int32_t k = 0; k < w->n * w->rows; k++) w->a[k] = 0.0;
  for (int32_t k = 0; k < 2 * w->rows; k++) w->rhs[k] = 0.0;
}

static void fill_ends(const view *v, int32_t c, const cluster_work *w, int32_t distance, real per_size,
                      closure_columns *to) {
  const span s = find_span(v, w, distance);
  for (int end = 0; end < 2; end++)
    for (int32_t i = v->m->distance[distance].end[end]; i != v->m->distance[distance].root; i = v->m->link[i].parent)
      for (int32_t j = 0; j < v->m->link[i].speeds; j++) {
        const int32_t k = v->m->link[i].column + j;
        real moved[3];
        end_velocity_by_column(v, w, &s, end, i, j, moved);
        put_entry(to, k, (end ? per_size : -per_size) * dot(s.n, moved) * metric_of(v, column_of(v, c, k)));
      }
}

/* Residuals stand at `row`. */
static void fill_coupling(const view *v, int32_t c, const cluster_work *w, int32_t i, int32_t row, closure_columns to) {
  choose_revolutions(v, i);
  const coupling_row one = row_of_coupling(v, c, i);
  const lw_coupling *coupling = &v->m->coupling[i];
  w->rhs[row] = one.stage * one.velocity, w->rhs[w->rows + row] = one.stage * one.residual;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const int32_t k = v->m->term[t].column;
    put_entry(&to, k, slope_of_term(v, t) * one.per_size * one.stage * metric_of(v, column_of(v, c, k)));
  }
  if (coupling->distance >= 0) fill_ends(v, c, w, coupling->distance, one.per_size, &to);
}

static void fill_couplings(const view *v, int32_t c, const cluster_work *w) {
  for (int32_t i = 0, row = 6 * w->cluster->loops; i < w->cluster->couplings; i++, row++)
    fill_coupling(v, c, w, coupling_of(v, c, i), row, columns_in_matrix(w, row));
}
#endif
