/* Constraints among the independents z of all loops: rows that single loops cannot satisfy, and those of couplings,
 * prescribed motions and distances (basic_constraints_kernel.h), which together read  C z = rhs.  The same pivoted Gram-Schmidt
 * leaves  z = T y + particular,  y the independents that stay free; the right-hand sides, and so the particular
 * solutions, are of accelerations, of the residual and of velocities. Most clusters have no constraint, and T is the
 * identity. */
#ifndef LW_LOOPS_INDEPENDENT_CONSTRAINTS_KERNEL_H
#define LW_LOOPS_INDEPENDENT_CONSTRAINTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/orthonormal_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/basic_constraints_kernel.h"

INLINE real orthogonalize_against(const real *pivot, real inverse, real *from, int32_t rows) {
  const real c = dot_rows(pivot, from, rows) * inverse;
  if (is_zero(c)) return c;
  for (int32_t j = 0; j < rows; j++) from[j] -= c * pivot[j];
  return c;
}

/* The elements of a pivot that are not zero, from the first to the last: in a gear train it has few. */
typedef struct pivot_column {
  const real *at;
  int32_t first, rows;
  real inverse; /* of its size squared */
} pivot_column;

INLINE pivot_column pivot_column_of(const real *a, int32_t rows, real size2) {
  int32_t first = 0, end = rows;
  while (first < end && is_zero(a[first])) first++;
  while (end > first && is_zero(a[end - 1])) end--;
  return (pivot_column){a + first, first, end - first, 1.0 / size2};
}

INLINE real take_out(const pivot_column *pivot, real *from) {
  return orthogonalize_against(pivot->at, pivot->inverse, from + pivot->first, pivot->rows);
}

/* The same of a column of `rows` that remains, with its size squared. */
INLINE real take_out_of_column(const pivot_column *pivot, int32_t rows, real *from, real *size2) {
  const real c = take_out(pivot, from);
  if (!is_zero(c)) *size2 = dot_rows(from, from, rows);
  return c;
}

/* ---- rows ---- */

/* Row `at` of C += a factor times the given row. */
INLINE void add_to_constraint(const cluster_work *w, int32_t at, real by, const four *width) {
  for (int32_t direction = 0; direction < FIRST_FREE + w->ranks->independent; direction++) {
    const real s = by * entry_of(width, direction);
    if (!is_zero(s)) w->C[direction * w->rows + at] += direction < FIRST_FREE ? -s : s;
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
  const coupling_row row = row_of_coupling(v, c, i);
  const int32_t blocks = blocks_of(w), at = w->ranks->constraints++;
  for (int32_t direction = 0; direction < w->ranks->width; direction++) w->C[direction * w->rows + at] = 0.0;
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

/* Sets the rank and independent_order; returns the smallest pivot. */
static real orthogonalise_constraints(const view *v, int32_t c, const cluster_work *w) {
  const int32_t n = w->ranks->independent, rows = w->ranks->constraints;
  double sum = 0.0;
  real largest = 1.0, *size2 = w->spare;
  for (int32_t z = 0; z < n; z++) {
    const real s = dot_rows(w->C + (FIRST_FREE + z) * w->rows, w->C + (FIRST_FREE + z) * w->rows, rows);
    size2[z] = s;
    w->independent_order[z] = z;
    sum += re(s);
    largest = select_less(largest, s, s, largest);
  }
  const double residual2_ratio = RESIDUAL_RANK2 * residual2_of(v, c, w) / (sum + 1e-300),
               tolerance2 = pivot_tolerance2(w);
  const double threshold2 = re(largest) * (residual2_ratio > tolerance2 ? residual2_ratio : tolerance2);
  real smallest = largest;
  int32_t p = 0;
  for (; p < rows && p < n; p++) {
    int32_t best = p;
    double best2 = -1.0;
    for (int32_t i = p; i < n; i++) {
      const double s = re(size2[w->independent_order[i]]);
      if (s > best2) best = i, best2 = s;
    }
    if (!(best2 > threshold2)) break;
    const int32_t pivot = w->independent_order[best];
    w->independent_order[best] = w->independent_order[p], w->independent_order[p] = pivot;
    real *f = w->C_coefficient + p * (n + PARTICULARS);
    w->C_size2[p] = size2[pivot];
    smallest = select_less(w->C_size2[p], smallest, w->C_size2[p], smallest);
    const pivot_column a = pivot_column_of(w->C + (FIRST_FREE + pivot) * w->rows, rows, size2[pivot]);
    for (int32_t i = p + 1; i < n; i++) {
      const int32_t z = w->independent_order[i];
      f[z] = take_out_of_column(&a, rows, w->C + (FIRST_FREE + z) * w->rows, &size2[z]);
    }
    f[n + BIAS] = take_out(&a, w->C + BIAS * w->rows);
    f[n + RESIDUAL] = take_out(&a, w->C + RESIDUAL * w->rows);
    f[n + VELOCITY] = take_out(&a, w->C_velocity);
  }
  w->ranks->rank = p;
  return smallest / largest;
}

/* Rows of T: identity for those that stay free, back-substitution for the others; last the particular ones. */
static void express_constraints(const cluster_work *w) {
  const int32_t n = w->ranks->independent, rank = w->ranks->rank, width = n - rank + PARTICULARS;
  for (int32_t i = rank; i < n; i++)
    for (int32_t j = 0; j < width; j++) w->T[w->independent_order[i] * width + j] = i - rank == j ? 1.0 : 0.0;
  for (int32_t p = rank - 1; p >= 0; p--) {
    const real *f = w->C_coefficient + p * (n + PARTICULARS);
    real *row = w->T + w->independent_order[p] * width;
    for (int32_t j = 0; j < n - rank; j++) row[j] = -f[w->independent_order[rank + j]];
    for (int32_t j = 0; j < PARTICULARS; j++) row[n - rank + j] = f[n + j];
    for (int32_t s = p + 1; s < rank; s++) {
      const real by = f[w->independent_order[s]];
      for (int32_t j = 0; !is_zero(by) && j < width; j++) row[j] -= by * w->T[w->independent_order[s] * width + j];
    }
  }
}

static void solve_independent_constraints(const view *v, int32_t c, const cluster_work *w) {
  for (int32_t j = 0; j < w->ranks->constraints; j++) w->C_velocity[j] = 0.0; /* of loops */
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    choose_revolutions(v, coupling_of(v, c, i));
    constrain_coupling(v, c, w, coupling_of(v, c, i));
  }
  w->ranks->rank = 0;
  if (w->ranks->constraints == 0) return;
  const real ratio = root(orthogonalise_constraints(v, c, w) + 1e-300);
  for (int32_t i = 0; w->ranks->rank && i < w->cluster->loops; i++) {
    real *conditioning = FIELD(v, loop_conditioning) + loop_of(v, c, i);
    *conditioning = select_less(ratio, *conditioning, ratio, *conditioning);
  }
  express_constraints(w);
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
