/* Derivatives of the full states: in a tree qdot follows u; in a cluster, where Y u = h is asked for, h the speeds of
 * prescribed motions,
 *   u* = u - Y^+ (Y u - h),  rate = u* - gamma Y^+ Phi,  udot = udot(q, u) - alpha (u - u*)
 * in the cluster's metric, over its tree columns. With N = X T of the tree columns, Y^+ Y = 1 - N (N'N)^-1 N' and
 * Y^+ Phi = p - N (N'N)^-1 N' p for any p that satisfies Y p = Phi: the RESIDUAL entries; and likewise for h. Both
 * gains default to the cluster's rate |u|, the root of the sum of squares for a loop, of their mean over loops and
 * distances for more, and are at least FIRST_GAIN, or c FIRST_GAIN where the gain is given as -c: in long runs a larger
 * one would bound the steps while nothing moves. */
#ifndef LW_LOOPS_DRIFT_STABILISATION_KERNEL_H
#define LW_LOOPS_DRIFT_STABILISATION_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "joints/joint_kernel.h"
#include "joints/table_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/clusters_kernel.h"
#include "math/tolerances.h"

INLINE real gain_of(const view *v, int which, real rate2) {
  const real given = FIELD(v, correction_gain)[which];
  const real least = FIRST_GAIN * given * (FIRST_GAIN * given);
  return select_less(given, 0.0, root(select_less(rate2, least, least, rate2)), given);
}

/* Over the tree columns in the metric, x their rows of X: products += x x', along_u += x u. Returns |u|^2. Only the
 * lower triangle of the products where there is no constraint among the independents. */
INLINE real sum_products(const view *v, int32_t c, const cluster_work *w, int32_t blocks, int32_t independents,
                         four *products, four *along_u) {
  const lw_column *column = column_of(v, c, 0);
  const real per_length = 1.0 / length_of(v, c);
  const int coupled = w->cluster->couplings > 1;
  real rate2 = 0.0;
  for (int32_t k = 0; k < (independents + 1) * blocks; k++) products[k] = zero4();
  const int lower = blocks > 2 && w->ranks->rank == 0;
  for (int32_t number = 0; number < count_column_groups(w, blocks); number++) {
    const column_group group = column_group_of(v, w, number, blocks);
    const block_range r = group.blocks;
    for (int32_t k = group.first; k < group.end; k++) {
      if (column[k].link < 0) continue;
      const real f = coupled                 ? 1.0 / metric_of(v, &column[k])
                     : column[k].translation ? per_length
                                             : 1.0,
                 u = v->u[column[k].u] * f;
      const four *X = rows_of_N(w, blocks, k);
      rate2 += u * u;
      add_blocks(r, u * f, X, along_u);
      FOR_DIRECTIONS(z, r, independents) {
        const block_range columns = {blocks, r.begin, lower ? (FIRST_FREE + z) / 4 + 1 : r.end};
        add_blocks(columns, f * f * entry_of(X, FIRST_FREE + z), X, products + z * blocks);
      }
    }
  }
  return rate2;
}

/* The square of the rate at which the joints between the ends of a distance move these. */
static real span_rate2(const view *v, int32_t c, const cluster_work *w, int32_t distance) {
  const span s = find_span(v, w, distance);
  const real per_length = 1.0 / length_of(v, c);
  real rate2 = 0.0;
  for (int end = 0; end < 2; end++)
    for (int32_t i = v->m->distance[distance].end[end]; i != v->m->distance[distance].root; i = v->m->link[i].parent)
      for (int32_t j = 0; j < v->m->link[i].speeds; j++) {
        const real u = v->u[v->m->link[i].u + j] * per_length;
        real moved[3];
        end_velocity_by_column(v, w, &s, end, i, j, moved);
        rate2 += u * u * dot(moved, moved);
      }
  return rate2;
}

/* The rate of a cluster with couplings: a fast shaft counts as far as it moves the others, and not at all where it
 * does no more than carry a cluster's links. */
static real coupled_rate2(const view *v, int32_t c, const cluster_work *w) {
  const lw_column *column = column_of(v, c, 0);
  real rate2 = 0.0;
  for (int32_t k = 0; k < w->n; k++) {
    if (column[k].link < 0 || v->m->ear[v->m->link[column[k].link].ear].loop < 0) continue;
    const real u = v->u[column[k].u] / metric_of(v, &column[k]);
    rate2 += u * u;
  }
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    const int32_t number = v->m->member_coupling[w->cluster->member_coupling + i];
    const lw_coupling *coupling = &v->m->coupling[number];
    if (coupling->distance >= 0) rate2 += span_rate2(v, c, w, coupling->distance);
    const real per_size = row_of_coupling(v, c, number).per_size;
    for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
      const real u = slope_of_term(v, t) * per_size * speed_of(v, v->m->term[t].u);
      rate2 += u * u;
    }
  }
  return rate2;
}

/* In independents: allowed = N (N'N)^-1 N'(u - p) + p of the velocities, off = p - N (N'N)^-1 N'p of the residual.
 * Leaves N'N factored in Q. */
static real project(const view *v, int32_t c, const cluster_work *w, real *allowed, real *drift) {
  const int32_t n = w->ranks->independent, blocks = blocks_of(w), width = w->ranks->width, r = free_of(w);
  four *products = (four *)w->spare, *along_u = products + n * blocks;
  real rate2;
  if (blocks == 1 && n == 1) rate2 = sum_products(v, c, w, 1, 1, products, along_u);
  else if (blocks == 1) rate2 = sum_products(v, c, w, 1, n, products, along_u);
  else rate2 = sum_products(v, c, w, blocks, n, products, along_u);
  const real *M = (const real *)products;
  real *z = w->solution + 2 * n, *y = z + n, *particular = drift;
  particular_of(w, VELOCITY, y);
  particular_of(w, RESIDUAL, particular);
  for (int32_t i = 0; i < n; i++) {
    z[i] = M[i * width + RESIDUAL];
    allowed[i] = ((const real *)along_u)[FIRST_FREE + i];
    for (int32_t j = 0; j < (w->ranks->rank ? n : i + 1); j++) {
      w->Q[i * n + j] = M[i * width + FIRST_FREE + j];
      z[i] += w->ranks->rank ? w->Q[i * n + j] * particular[j] : 0.0;
      allowed[i] -= w->ranks->rank ? w->Q[i * n + j] * y[j] : 0.0;
    }
  }
  gather_matrix(w, w->Q);
  ldl_factor(w->Q, r);
  gather(w, z, y);
  ldl_solve(w->Q, r, y);
  extend(w, y, -1, z);
  for (int32_t i = 0; i < n; i++) drift[i] -= z[i];
  gather(w, allowed, y);
  ldl_solve(w->Q, r, y);
  extend(w, y, VELOCITY, allowed);
  if (w->cluster->couplings) rate2 = coupled_rate2(v, c, w);
  const int32_t closures = w->cluster->loops + w->cluster->distances;
  return rate2 / (closures > 1 ? closures : 1);
}

INLINE void feed_back_over(const view *v, int32_t c, const cluster_work *w, int32_t blocks) {
  const int32_t n = w->ranks->independent, width = 4 * blocks;
  const lw_column *column = column_of(v, c, 0);
  const int projects = !lw_has_multipliers(v->m) || FIELD(v, correction_gain)[1] != 0.0;
  const int32_t singularity = w->ranks->singularity;
  const real *known = singularity == BIFURCATION || singularity == RANK_DEFICIENT ? FIELD(v, interpolated_u) : NULL;
  real *allowed = w->solution, *drift = w->solution + n;
  const real rate2 = project(v, c, w, allowed, drift), gamma = gain_of(v, 0, rate2), alpha = gain_of(v, 1, rate2);
  for (int32_t k = 0; k < w->n; k++) {
    if (column[k].link < 0) continue;
    const int32_t u = column[k].u;
    const block_range r = blocks_of_ear(w, v->m->link[column[k].link].ear - w->cluster->first_ear, blocks);
    const real *X = w->X + k * width;
    real now = 0.0, away = X[RESIDUAL] + (singularity ? FIELD(v, violation)[u] : 0.0);
    FOR_DIRECTIONS(j, r, n) now += X[FIRST_FREE + j] * allowed[j], away += X[FIRST_FREE + j] * drift[j];
    now = known ? known[u] : now;
    FIELD(v, rate)[u] = (projects ? now : v->u[u]) - gamma * away;
    FIELD(v, udot)[u] = v->acceleration[u] - alpha * (v->u[u] - now);
  }
}

static void feed_back(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  if (w.ranks->width == 4) feed_back_over(v, c, &w, 1);
  else feed_back_over(v, c, &w, w.ranks->width / 4);
}

/* qdot from the rates of all joints */
static void map_rates(const view *v) {
  const real *rate = FIELD(v, rate);
  real *qdot = FIELD(v, qdot);
  for (int32_t c = 0; c < v->m->size.nu; c++) qdot[v->m->coordinate[c]] = rate[c];
  for (int32_t i = 0, left = v->m->quaternions; left > 0; i++) {
    const lw_link *link = &v->m->link[i];
    const joint_operations *kind = &joint_operations_of[link->type];
    if (!kind->qdot) continue;
    kind->qdot(v->q + link->q, rate + link->u, qdot + link->q);
    left--;
  }
}

/* Multipliers close the loops at the level of accelerations: without gains nothing holds the integrals, and speeds are
 * taken as they are. With a gain on speeds the rates follow the nearest speeds that the loops allow, as in clusters:
 * otherwise gaps and forbidden speeds increase one another, and a gap may grow in spite of the gain. */
static int has_feedback(const view *v) {
  const real *gain = FIELD(v, correction_gain);
  return !lw_has_multipliers(v->m) || gain[0] != 0.0 || gain[1] != 0.0;
}
#endif
