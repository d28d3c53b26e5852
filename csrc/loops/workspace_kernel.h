/* The working storage of a cluster. The rows of the null-space basis give the motion of each column (X) and of each
 * link (G: partial velocities) as a linear combination of the independent speeds. Two entries precede those of the
 * independent speeds: BIAS, the acceleration with all independent speeds at rest, and RESIDUAL, the displacement that
 * closes the loops. */
#ifndef LW_LOOPS_WORKSPACE_KERNEL_H
#define LW_LOOPS_WORKSPACE_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/simd_kernel.h"

enum { BIAS = 0, RESIDUAL = 1, FIRST_FREE = 2 };

/* In addition to BIAS and RESIDUAL a particular solution of the constraints: the velocity of prescribed motions. */
enum { VELOCITY = 2, PARTICULARS = 3 };

/* Singularity class of a cluster: from NEAR on, accelerations are those of the closest closed pose; they and
 * the allowed speeds are interpolated from poses around it, for BIFURCATION and RANK_DEFICIENT. */
enum { REGULAR = 0, NEAR, BIFURCATION, RANK_DEFICIENT, RANK_DEFICIENT_AT_REST };

typedef lw_cluster_ranks cluster_ranks;

typedef struct cluster_work {
  const lw_cluster *cluster;
  cluster_ranks *ranks;
  int32_t n, links, rows;                                         /* columns, links; closure rows as one matrix */
  int32_t *order, *independent_order, *ear_rank, *ear_constraint; /* see lw_cluster_pivots */
  int32_t *ear_begin, *ear_end;
#define ARRAY(name, scalars) real *name; /* see model/workspace.h */
  LW_CLUSTER_WORKSPACE(ARRAY)
  LW_MATRIX_WORKSPACE(ARRAY)
#undef ARRAY
} cluster_work;

ALWAYS_INLINE int32_t free_of(const cluster_work *w) { return w->ranks->independent - w->ranks->rank; }
ALWAYS_INLINE int32_t blocks_of(const cluster_work *w) { return w->ranks->width / 4; }

/* Inlined, so that a function only works out the pieces that it uses; one expression, so that nothing is copied. */
ALWAYS_INLINE cluster_work work_of(const view *v, int32_t c) {
  const lw_cluster *cluster = &v->m->cluster[c];
  const lw_cluster_pivots pivots = lw_pivots_of(cluster, v->integers);
  real *reals = v->work;
#define ARRAY(name, scalars) .name = reals + cluster->at.name,
  return (cluster_work){.cluster = cluster,
                        .ranks = pivots.ranks,
                        .n = cluster->columns,
                        .links = cluster->count,
                        .rows = 6 * cluster->loops + cluster->couplings,
                        .order = pivots.order,
                        .independent_order = pivots.independent_order,
                        .ear_rank = pivots.ear_rank,
                        .ear_constraint = pivots.ear_constraint,
                        .ear_begin = pivots.ear_begin,
                        .ear_end = pivots.ear_end,
                        LW_CLUSTER_WORKSPACE(ARRAY) LW_MATRIX_WORKSPACE(ARRAY)};
#undef ARRAY
}

/* The part of one loop of the ear decomposition. */
typedef struct ear_work {
  const lw_ear *ear;
  int32_t n, groups;                     /* columns of its links; in fours */
  int32_t first_column;                  /* in the model's list */
  int32_t *order;                        /* these, dependent ones first */
#define ARRAY(name, scalars) real *name; /* see model/workspace.h */
  LW_EAR_WORKSPACE(ARRAY)
#undef ARRAY
} ear_work;

ALWAYS_INLINE ear_work work_of_ear(const view *v, const cluster_work *w, int32_t e) {
  const lw_ear *ear = &v->m->ear[e];
  const int32_t n = ear->columns - ear->cuts, groups = (ear->columns + 3) / 4;
  ear_work out = {.ear = ear, .n = n, .groups = (n + 3) / 4, .order = w->order + ear->column + ear->cuts};
  out.first_column = w->cluster->first_column + ear->column + ear->cuts;
  real *p = v->work + ear->first_real;
#define ARRAY(name, scalars) out.name = p, p += scalars;
  LW_EAR_WORKSPACE(ARRAY)
#undef ARRAY
  return out;
}

ALWAYS_INLINE const lw_column *column_of(const view *v, int32_t c, int32_t k) {
  return &v->m->column[v->m->cluster[c].first_column + k];
}

/* The loops and the couplings of a cluster, by position. */
ALWAYS_INLINE int32_t loop_of(const view *v, int32_t c, int32_t i) { return v->m->member[v->m->cluster[c].member + i]; }

ALWAYS_INLINE int32_t coupling_of(const view *v, int32_t c, int32_t i) {
  return v->m->member_coupling[v->m->cluster[c].member_coupling + i];
}

ALWAYS_INLINE real length_by_distances(const view *v, int32_t c) {
  const lw_cluster *cluster = &v->m->cluster[c];
  if (cluster->distances == 0) return 1.0;
  return FIELD(v, distance_metric)[v->m->coupling[coupling_of(v, c, cluster->couplings - 1)].distance];
}

/* Lengths are counted in the cluster's length, so that every entry is of order one and one tolerance serves all. */
ALWAYS_INLINE real length_of(const view *v, int32_t c) {
  return v->m->cluster[c].loops ? v->cut[loop_of(v, c, 0)].length : length_by_distances(v, c);
}

/* Decisions take speeds in this metric: lengths, and radians. */
ALWAYS_INLINE real unscaled_metric(const view *v, int32_t c, const lw_column *column) {
  return column->translation ? length_of(v, c) : 1.0;
}

/* u = metric times the speed in the cluster's units; it differs in trains of gears (loops/speed_metric_kernel.h). */
ALWAYS_INLINE real metric_of(const view *v, const lw_column *column) { return FIELD(v, speed_metric)[column->u]; }

/* Rows of the null-space basis have entries in some blocks of four only: the first, with bias and residual, and those
 * of the directions that move a loop, from `begin` to `end`. All others are zero. */
typedef struct block_range {
  int32_t blocks, begin, end; /* of a whole row; begin is at least 1 */
} block_range;

/* Where begin is the constant 1 these are plain loops, which compilers unroll. */
#define FOR_BLOCKS(b, r) for (int32_t b = 0; b < (r).end; b = (r).begin == 1 || b ? b + 1 : (r).begin)
/* Independent directions in these blocks, of n. */
#define FOR_DIRECTIONS(z, r, n)                                                        \
  for (int32_t z = 0; z < (n) && z < 4 * (r).end - FIRST_FREE;                         \
       z = (r).begin == 1 || z != 3 - FIRST_FREE ? z + 1 : 4 * (r).begin - FIRST_FREE)

ALWAYS_INLINE block_range all_blocks(int32_t blocks) { return (block_range){blocks, 1, blocks}; }

ALWAYS_INLINE block_range blocks_of_ear(const cluster_work *w, int32_t number, int32_t blocks) {
  if (blocks <= 2) return all_blocks(blocks);
  return (block_range){blocks, w->ear_begin[number], w->ear_end[number]};
}

/* Columns whose rows have entries in the same blocks: those of a loop, or all where rows are short. */
typedef struct column_group {
  int32_t first, end;
  block_range blocks;
} column_group;

ALWAYS_INLINE int32_t count_column_groups(const cluster_work *w, int32_t blocks) {
  return blocks <= 2 ? 1 : w->cluster->ears;
}

ALWAYS_INLINE column_group column_group_of(const view *v, const cluster_work *w, int32_t number, int32_t blocks) {
  if (blocks <= 2) return (column_group){0, w->n, all_blocks(blocks)};
  const lw_ear *ear = &v->m->ear[w->cluster->first_ear + number];
  return (column_group){ear->column, ear->column + ear->columns, blocks_of_ear(w, number, blocks)};
}

ALWAYS_INLINE void clear_other_blocks(block_range r, four *row) {
  for (int32_t b = 1; b < r.begin; b++) row[b] = zero4();
  for (int32_t b = r.end; b < r.blocks; b++) row[b] = zero4();
}

/* to += s a */
ALWAYS_INLINE void add_blocks(block_range r, real s, const four *a, four *to) {
  FOR_BLOCKS(b, r) to[b] = plus4(to[b], times4(s, a[b]));
}

ALWAYS_INLINE void subtract_blocks(block_range r, real s, const four *a, four *from) {
  FOR_BLOCKS(b, r) from[b] = minus4(from[b], times4(s, a[b]));
}

ALWAYS_INLINE real dot_of_blocks(block_range r, const four *a, const four *b) {
  four s = zero4();
  FOR_BLOCKS(k, r) s = k ? plus4(s, product4(a[k], b[k])) : product4(a[k], b[k]);
  return sum4(s);
}

ALWAYS_INLINE four *partial_velocities_of(const cluster_work *w, int32_t blocks, int32_t link) {
  return (four *)w->G + 6 * blocks * (link == w->cluster->root ? w->links : link - w->cluster->first);
}

ALWAYS_INLINE four *rows_of_N(const cluster_work *w, int32_t blocks, int32_t column) {
  return (four *)w->X + blocks * column;
}
#endif
