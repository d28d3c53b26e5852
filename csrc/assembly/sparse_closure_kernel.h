/* The closure of a cluster as one sparse matrix, for position assembly: only the columns on each loop and in each
 * coupling are stored, and the normal matrix of a least-squares step is a skyline. Rows are ordered by loops, those of a
 * coupling after the last loop with which it shares a column, so that time and memory are linear if loops share joints
 * with their neighbours. It has a place in the state, and of many rows is allocated while a cluster is assembled. */
#ifndef LW_ASSEMBLY_SPARSE_CLOSURE_KERNEL_H
#define LW_ASSEMBLY_SPARSE_CLOSURE_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/skyline_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/closure_matrix_kernel.h"
#include <stdlib.h>
#include <string.h>

#define MAX_PROFILE (1 << 26) /* entries of the normal matrix */
#define NARROW 24             /* mean width of a profile that is solved in a moment */

typedef struct sparse_closure {
  int32_t blocks, rows, n;    /* loops, then couplings; columns of the cluster */
  int32_t *start;             /* entries of each block: start[b] to start[b + 1] */
  int32_t *row;               /* first row of each block, in solving order */
  int32_t *last;              /* of each column its last entry; then its first row */
  int32_t *column, *previous; /* of each entry: its column, and the entry before in that column, -1: none */
  int32_t *block;             /* of each entry */
  double *a;                  /* of each entry: six rows, or one */
  skyline K;                  /* normal matrix */
  double *y, *x;              /* by rows; by columns */
  double *rhs, *rates;        /* as those of the cluster, two by rows; by rows */
  double work;                /* multiplications of one step */
  double *memory;
  int is_allocated; /* else in the state */
} sparse_closure;

INLINE int32_t rows_of_block(const cluster_work *w, int32_t b) { return b < w->cluster->loops ? 6 : 1; }

/* Where the rows of a block stand among residuals. */
INLINE int32_t origin_of_block(const view *v, int32_t c, const cluster_work *w, int32_t b) {
  return b < w->cluster->loops ? v->m->loop[loop_of(v, c, b)].row : 5 * w->cluster->loops + b;
}

/* Entries are counted, and listed where there is memory for them. */
static void list_entry(const sparse_closure *s, int32_t column, int32_t *count) {
  if (s->memory) s->column[*count] = column;
  ++*count;
}

/* The columns from a link down to `root`; 0 where that is no path within the cluster. */
static int list_path(const view *v, int32_t c, const sparse_closure *s, int32_t from, int32_t root, int32_t *count) {
  for (int32_t i = from; i != root; i = v->m->link[i].parent) {
    if (i < 0 || v->m->link[i].cluster != c) return 0;
    for (int32_t k = 0; k < v->m->link[i].speeds; k++) list_entry(s, v->m->link[i].column + k, count);
  }
  return 1;
}

static int list_block(const view *v, int32_t c, const cluster_work *w, const sparse_closure *s, int32_t b,
                      int32_t *count) {
  if (b < w->cluster->loops) {
    const lw_loop *loop = &v->m->loop[loop_of(v, c, b)];
    for (int32_t k = 0; k < loop->columns; k++) list_entry(s, loop->column + k, count);
    return list_path(v, c, s, loop->parent, loop->root, count) && list_path(v, c, s, loop->child, loop->root, count);
  }
  const lw_coupling *coupling = &v->m->coupling[coupling_of(v, c, b - w->cluster->loops)];
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
    list_entry(s, v->m->term[t].column, count);
  if (coupling->distance < 0) return 1;
  const lw_distance *distance = &v->m->distance[coupling->distance];
  return list_path(v, c, s, distance->end[0], distance->root, count) &&
         list_path(v, c, s, distance->end[1], distance->root, count);
}

/* Links the entries of each column. */
static void link_entries(const sparse_closure *s) {
  for (int32_t k = 0; k < s->n; k++) s->last[k] = -1;
  for (int32_t b = 0; b < s->blocks; b++)
    for (int32_t e = s->start[b]; e < s->start[b + 1]; e++) {
      s->block[e] = b, s->previous[e] = s->last[s->column[e]];
      s->last[s->column[e]] = e;
    }
}

/* The last loop with which a coupling shares a column, from 1 on; 0: none. */
static int32_t loop_before(const cluster_work *w, const sparse_closure *s, int32_t b) {
  int32_t loop = 0;
  for (int32_t first = s->start[b]; first < s->start[b + 1]; first++) {
    int32_t e = s->previous[first];
    while (e >= 0 && s->block[e] >= w->cluster->loops) e = s->previous[e];
    if (e >= 0 && s->block[e] >= loop) loop = s->block[e] + 1;
  }
  return loop;
}

static void order_rows(const cluster_work *w, const sparse_closure *s) {
  const int32_t loops = w->cluster->loops;
  int32_t *next = s->K.first, row = 0; /* of each loop the next row behind it */
  for (int32_t l = 0; l <= loops; l++) next[l] = 0;
  for (int32_t b = loops; b < s->blocks; b++) s->row[b] = loop_before(w, s, b), next[s->row[b]]++;
  for (int32_t l = 0; l <= loops; l++) {
    const int32_t couplings = next[l];
    if (l > 0) s->row[l - 1] = row, row += 6;
    next[l] = row, row += couplings;
  }
  for (int32_t b = loops; b < s->blocks; b++) s->row[b] = next[s->row[b]]++;
}

/* Returns how many entries the profile has. */
static int64_t shape_profile(const cluster_work *w, sparse_closure *s) {
  int32_t *lowest = s->last; /* of each column the first row */
  int64_t size = 0;
  for (int32_t k = 0; k < s->n; k++) lowest[k] = s->rows;
  for (int32_t e = 0; e < s->start[s->blocks]; e++) {
    const int32_t row = s->row[s->block[e]];
    if (row < lowest[s->column[e]]) lowest[s->column[e]] = row;
  }
  for (int32_t b = 0; b < s->blocks; b++) {
    int32_t first = s->row[b];
    for (int32_t e = s->start[b]; e < s->start[b + 1]; e++)
      if (lowest[s->column[e]] < first) first = lowest[s->column[e]];
    for (int32_t j = 0; j < rows_of_block(w, b); j++) s->K.first[s->row[b] + j] = first;
  }
  s->work = 200.0 * s->start[s->blocks];
  for (int32_t i = 0; i < s->rows && size < MAX_PROFILE; i++) {
    const int32_t width = i - s->K.first[i] + 1;
    s->K.at[i] = (int32_t)size - s->K.first[i], size += width, s->work += (double)width * width;
  }
  return size;
}

static void close_sparse(sparse_closure *s) {
  if (!s->is_allocated) return;
  free(s->memory);
  free(s->K.value);
}

/* Returns 0 where there is no memory for it. */
static int place_sparse(const cluster_work *w, sparse_closure *s, int32_t entries) {
  const size_t blocks = (size_t)s->blocks, rows = (size_t)s->rows, n = (size_t)s->n, count = (size_t)entries;
  const int64_t size = lw_closure_reals(s->blocks, s->rows, s->n, entries), profile = (int64_t)rows * (s->rows + 1) / 2;
  s->is_allocated = size + profile > lw_closure_reals_in_state(s->blocks, s->rows, s->n);
  double *reals = s->memory = s->is_allocated ? calloc((size_t)size, sizeof *reals) : w->closure;
  if (!reals) return 0;
  if (!s->is_allocated) memset(reals, 0, sizeof *reals * (size_t)size), s->K.value = reals + size;
  s->a = reals, s->y = s->a + 6 * count, s->rhs = s->y + rows, s->rates = s->rhs + 2 * rows, s->x = s->rates + rows;
  int32_t *integers = (int32_t *)(s->x + n);
  s->start = integers, s->row = s->start + blocks + 1, s->last = s->row + blocks, s->K.first = s->last + n;
  s->K.at = s->K.first + rows, s->column = s->K.at + rows, s->previous = s->column + count,
  s->block = s->previous + count;
  return 1;
}

/* Returns 0 where the loops are no paths within the cluster, share too much, or do not fit into memory. */
static int open_sparse(const view *v, int32_t c, const cluster_work *w, sparse_closure *s) {
  int32_t entries = 0, count = 0;
  *s = (sparse_closure){
      .blocks = w->cluster->loops + w->cluster->couplings, .rows = w->rows, .n = w->n, .K = {.rows = w->rows}};
  for (int32_t b = 0; b < s->blocks; b++)
    if (!list_block(v, c, w, s, b, &entries) || entries > MAX_PROFILE) return 0;
  if (!place_sparse(w, s, entries)) return 0;
  for (int32_t b = 0; b < s->blocks; b++) {
    s->start[b] = count;
    list_block(v, c, w, s, b, &count);
  }
  s->start[s->blocks] = count;
  link_entries(s);
  order_rows(w, s);
  const int64_t size = shape_profile(w, s);
  if (s->is_allocated && size < MAX_PROFILE) s->K.value = malloc(sizeof *s->K.value * (size_t)size);
  if (!s->K.value) close_sparse(s);
  return s->K.value != NULL;
}

static int is_narrow(const sparse_closure *s) {
  return s->work < 200.0 * s->start[s->blocks] + (double)NARROW * NARROW * s->rows;
}

INLINE closure_columns entries_of_block(const sparse_closure *s, int32_t b) {
  return (closure_columns){s->a + 6 * s->start[b], 0};
}

/* ---- (sum of a a' + ridge)^-1 b ---- */

/* The product of two entries of one column; a coupling may have two terms there. */
static void add_product(const cluster_work *w, const sparse_closure *s, int32_t e, int32_t other) {
  if (s->row[s->block[e]] < s->row[s->block[other]]) {
    const int32_t swapped = e;
    e = other, other = swapped;
  }
  const int32_t b = s->block[e], b2 = s->block[other];
  const double *a = s->a + 6 * e, *a2 = s->a + 6 * other;
  const double times = e != other && b == b2 ? 2.0 : 1.0;
  for (int32_t i = 0; i < rows_of_block(w, b); i++) {
    if (a[i] == 0.0) continue;
    double *row = skyline_row(&s->K, s->row[b] + i) + s->row[b2];
    for (int32_t j = 0; j < (b == b2 ? i + 1 : rows_of_block(w, b2)); j++) row[j] += times * a[i] * a2[j];
  }
}
#endif
