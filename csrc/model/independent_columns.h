/* The integers that an evaluation leaves of each cluster: its ranks, and which columns it made independent. The
 * mechanics write them; this is the one place that knows how they lie. */
#ifndef LW_MODEL_INDEPENDENT_COLUMNS_H
#define LW_MODEL_INDEPENDENT_COLUMNS_H
#include "model/model.h"

typedef struct lw_cluster_ranks {
  int32_t width;              /* in use, a multiple of four */
  int32_t independent;        /* columns that single loops leave */
  int32_t rank;               /* of the constraints among these */
  int32_t constraints;        /* their rows */
  int32_t matrix_rank;        /* rank of the closures as one matrix */
  int32_t regular_dof_plus_1; /* degrees of freedom of regular poses plus one; 0: unknown */
  int32_t fewest_dof_plus_1;  /* during a count: the smallest number found, plus one; 0: no closed pose */
  int32_t least_dof;          /* during a count at loading: no pose has fewer degrees of freedom */
  int32_t saved_singularity;  /* singularity class before a count */
  int32_t singularity;        /* to a singular pose */
  int32_t coarse_tolerance;   /* pivots that a singular pose loses are left out at once */
} lw_cluster_ranks;

typedef struct lw_cluster_pivots {
  lw_cluster_ranks *ranks;
  int32_t *order;             /* columns, dependent ones of each loop first; within the loop, or within the matrix */
  int32_t *independent_order; /* independents: those that the constraints make dependent first */
  int32_t *ear_rank, *ear_constraint; /* of each loop; -1: it adds no constraint */
  int32_t *ear_begin, *ear_end;       /* of each loop: which directions move it, in blocks of four (block_range) */
} lw_cluster_pivots;

#define LW_CLUSTER_INTEGERS(columns, ears, capacity)                                            \
  ((int32_t)(sizeof(lw_cluster_ranks) / sizeof(int32_t)) + (columns) + (capacity) + 4 * (ears))

static inline lw_cluster_pivots lw_pivots_of(const lw_cluster *c, int32_t *integers) {
  lw_cluster_pivots p = {.ranks = (lw_cluster_ranks *)(integers + c->first_integer)};
  p.order = (int32_t *)(p.ranks + 1);
  p.independent_order = p.order + c->columns;
  p.ear_rank = p.independent_order + c->capacity;
  p.ear_constraint = p.ear_rank + c->ears;
  p.ear_begin = p.ear_constraint + c->ears;
  p.ear_end = p.ear_begin + c->ears;
  return p;
}
#endif
