/* Constraints among the independents z of all loops: rows that single loops cannot satisfy, and those of couplings,
 * prescribed motions and distances (basic_constraints_kernel.h), which together read  C z = rhs.  Gram-Schmidt with pivots
 * leaves  z = T y + particular,  y the independents that stay free; the right-hand sides, and so the particular
 * solutions, are of accelerations, of the residual and of velocities. Most clusters have no constraint, and T is the
 * identity. */
#ifndef LW_LOOPS_INDEPENDENT_CONSTRAINTS_KERNEL_H
#define LW_LOOPS_INDEPENDENT_CONSTRAINTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/pivoted_gram_schmidt_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/basic_constraints_kernel.h"

/* ---- rows ---- */

/* Row `at` of C += a factor times the given row. */
INLINE void add_to_constraint(const cluster_work *w, int32_t at, real by, const four *width) {
  for (int32_t direction = 0; direction < FIRST_FREE + w->ranks->independent; direction++) {
    const real s = by * entry_of(width, direction);
    if (!adds_nothing(s)) w->C[direction * w->rows + at] += direction < FIRST_FREE ? -s : s;
  }
}

/* A distance, by the partial velocities of the links at its ends. */
static void add_distance(const view *v, const cluster_work *w, int32_t at, int32_t distance, real per_size) {
  const int32_t blocks = blocks_of(w);
  const span s = find_span(v, w, distance);
  for (int end = 0; end < 2; end++) {
    const twist force = wrench_along_span(&s, sign_at_end(end) * per_size);
    real torque[3];
    if (s.link[end] == w->cluster->root) continue;
    cross(s.arm[end], force.l, torque);
    const four *G = partial_velocities_of(w, blocks, s.link[end]);
    for (int k = 0; k < 3; k++) add_to_constraint(w, at, torque[k], G + k * blocks);
    for (int k = 0; k < 3; k++) add_to_constraint(w, at, force.l[k], G + (3 + k) * blocks);
  }
}

static void constrain_coupling(const view *v, int32_t c, const cluster_work *w, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  const int32_t blocks = blocks_of(w), at = w->ranks->constraints++;
  for (int32_t direction = 0; direction < w->ranks->width; direction++) w->C[direction * w->rows + at] = 0.0;
  w->C_velocity[at] = FIELD(v, coupling_residual)[i] = 0.0;
  if (!coupling_is_enforced(v, i)) return;
  const coupling_row row = row_of_coupling(v, c, i);
  w->C[BIAS * w->rows + at] = row.stage * row.bias, w->C[RESIDUAL * w->rows + at] = row.stage * row.residual;
  w->C_velocity[at] = row.stage * row.velocity;
  if (coupling->distance >= 0) add_distance(v, w, at, coupling->distance, row.per_size);
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
    add_to_constraint(w, at, slope_of_term(v, t) * row.per_size * row.stage,
                      rows_of_N(w, blocks, v->m->term[t].column));
}

/* ---- all constraints of a cluster ---- */

/* |Phi|^2 of all loops of a cluster, in the metric. Rows of couplings do not change where these are off. */
static double residual2_of(const view *v, int32_t c, const cluster_work *w) {
  double sum = 0.0;
  for (int32_t i = 0; i < w->cluster->loops; i++) {
    const double gap = re(FIELD(v, loop_residual)[loop_of(v, c, i)] / length_of(v, c));
    sum += gap * gap;
  }
  return sum;
}

/* C over the independents; the right-hand sides are BIAS, RESIDUAL and VELOCITY. */
INLINE pivoted_columns columns_of_constraints(const cluster_work *w) {
  return (pivoted_columns){.rows = w->ranks->constraints,
                           .n = w->ranks->independent,
                           .stride = w->rows,
                           .column = w->C + FIRST_FREE * w->rows,
                           .rhs_count = PARTICULARS,
                           .rhs = {w->C + BIAS * w->rows, w->C + RESIDUAL * w->rows, w->C_velocity},
                           .order = w->independent_order,
                           .size2 = w->spare,
                           .pivot_size2 = w->C_size2,
                           .f = w->C_coefficient};
}

/* Rows of T: of those that stay free, last the particular ones. Returns the smallest pivot relative to the largest
 * column, squared. */
static real eliminate_constraints(const view *v, int32_t c, const cluster_work *w) {
  pivoted_columns x = columns_of_constraints(w);
  measure_columns(&x);
  const double least = rank_threshold2(re(x.largest), x.sum, residual2_of(v, c, w), pivot_tolerance2(w));
  const int32_t rank = orthogonalise_columns(&x, least, PIVOT_SHARE2);
  w->ranks->rank = rank;
  express_columns(&x, rank, 0, x.n - rank, x.n - rank + PARTICULARS, w->T);
  return x.smallest / x.largest;
}

/* All rows are those of locks that are open; their numbers stay as they are. */
INLINE int asks_for_nothing(const view *v, int32_t c, cluster_ranks *ranks) {
  const int32_t couplings = v->m->cluster[c].couplings;
  if (ranks->constraints) return 0;
  for (int32_t i = 0; i < couplings; i++)
    if (coupling_is_enforced(v, coupling_of(v, c, i))) return 0;
  for (int32_t i = 0; i < couplings; i++) FIELD(v, coupling_residual)[coupling_of(v, c, i)] = 0.0;
  ranks->constraints = couplings;
  return 1;
}

static void solve_independent_constraints(const view *v, int32_t c, const cluster_work *w) {
  for (int32_t j = 0; j < w->ranks->constraints; j++) w->C_velocity[j] = 0.0; /* of loops */
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    choose_revolutions(v, coupling_of(v, c, i));
    constrain_coupling(v, c, w, coupling_of(v, c, i));
  }
  const real ratio = root(eliminate_constraints(v, c, w) + 1e-300);
  for (int32_t i = 0; w->ranks->rank && i < w->cluster->loops; i++) {
    real *conditioning = FIELD(v, loop_conditioning) + loop_of(v, c, i);
    *conditioning = select_less(ratio, *conditioning, ratio, *conditioning);
  }
}

/* ---- from independents to those that stay free, and back ---- */

INLINE int32_t width_of_T(const cluster_work *w) { return free_of(w) + PARTICULARS; }

/* z = T y, plus a particular solution, -1: none. */
INLINE void extend(const cluster_work *w, const real *y, int particular, real *z) {
  const int32_t n = w->ranks->independent, r = free_of(w);
  if (w->ranks->rank == 0) {
    copy(n, y, z);
    return;
  }
  for (int32_t i = 0; i < n; i++) {
    const real *row = w->T + i * width_of_T(w);
    z[i] = particular < 0 ? 0.0 : row[r + particular];
    for (int32_t j = 0; j < r; j++) z[i] += row[j] * y[j];
  }
}

/* y = T' z */
INLINE void gather(const cluster_work *w, const real *z, real *y) {
  const int32_t n = w->ranks->independent, r = free_of(w);
  if (w->ranks->rank == 0) {
    copy(n, z, y);
    return;
  }
  for (int32_t j = 0; j < r; j++) y[j] = 0.0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < r; j++) y[j] += w->T[i * width_of_T(w) + j] * z[i];
}

/* M = T' M T in place, r x r from n x n: symmetric, the whole of it given. */
INLINE void gather_matrix(const cluster_work *w, real *M) {
  const int32_t n = w->ranks->independent, r = free_of(w);
  if (w->ranks->rank == 0) return;
  real *MT = w->spare;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < r; j++) {
      real s = 0.0;
      for (int32_t k = 0; k < n; k++) s += M[i * n + k] * w->T[k * width_of_T(w) + j];
      MT[i * r + j] = s;
    }
  for (int32_t i = 0; i < r; i++)
    for (int32_t j = 0; j < r; j++) {
      real s = 0.0;
      for (int32_t k = 0; k < n; k++) s += w->T[k * width_of_T(w) + i] * MT[k * r + j];
      M[i * r + j] = s;
    }
}

/* The particular solution itself. */
INLINE void particular_of(const cluster_work *w, int which, real *z) {
  const int32_t n = w->ranks->independent, r = free_of(w);
  for (int32_t i = 0; i < n; i++) z[i] = w->ranks->rank ? w->T[i * width_of_T(w) + r + which] : 0.0;
}
#endif
