/* The metric between speeds: u = metric times a number of order one. Lengths are counted in the cluster's length, angles
 * in radians. In a train of gears speeds differ by the product of all ratios, which is no loss of rank: there the speed
 * of a shaft that lies on no loop is counted in that of its neighbour by their ratio, stage by stage, so that every
 * coupling has terms of the same size. Units are powers of two, and do not follow polynomials, whose ratios change. */
#ifndef LW_LOOPS_SPEED_METRIC_KERNEL_H
#define LW_LOOPS_SPEED_METRIC_KERNEL_H
#include "loops/workspace_kernel.h"
#include "block/field_view_kernel.h"
#include "math/tolerances.h"
#include <math.h>

/* Of a column's speed, by radians or lengths. */
INLINE real unit_of(const view *v, int32_t c, const lw_column *column) {
  return metric_of(v, column) / unscaled_metric(v, c, column);
}

/* Of the first speed of a link's joint. */
INLINE real unit_of_link(const view *v, int32_t i) {
  const lw_link *link = &v->m->link[i];
  return link->cluster < 0 || link->speeds == 0 ? 1.0
                                                : unit_of(v, link->cluster, column_of(v, link->cluster, link->column));
}

INLINE int has_ratio(const lw_coupling *coupling) { return coupling->terms > 1 && coupling->distance < 0; }

/* One coupling alone is scaled by its own size. */
static int has_stages(const view *v, int32_t c) {
  int32_t stages = 0;
  for (int32_t i = 0; i < v->m->cluster[c].couplings; i++) stages += has_ratio(&v->m->coupling[coupling_of(v, c, i)]);
  return stages > 1;
}

/* A term of one power, of which a coordinate follows from the other terms. */
INLINE int is_ratio(const view *v, int32_t t) {
  const real *c = FIELD(v, coupling_coefficient) + 4 * t;
  return !v->m->term[t].in_formula && !is_zero(c[0]) && is_zero(c[1]) && is_zero(c[2]) && is_zero(c[3]);
}

INLINE real *metric_of_term(const view *v, int32_t t) { return FIELD(v, speed_metric) + v->m->term[t].u; }

/* Of the terms whose metric is known, the largest; 0: there are none. Polynomials of higher degree have none. */
static double size_of_stage(const view *v, const lw_coupling *coupling) {
  double size = 0.0;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const real *coefficient = FIELD(v, coupling_coefficient) + 4 * t;
    if (is_ratio(v, t)) size = fmax(size, fabs(re(coefficient[0])) * re(*metric_of_term(v, t)));
  }
  return size;
}

/* A power of two times length or 1. */
static real scaled_metric(real unscaled, double size, double coefficient) {
  const int unit = ilogb(size / fabs(coefficient) / re(unscaled) * 1.414);
  return ldexp(1.0, unit > LARGEST_UNIT ? LARGEST_UNIT : unit < -LARGEST_UNIT ? -LARGEST_UNIT : unit) * unscaled;
}

/* The unknown metrics of a coupling by its known ones, or the first one by itself; returns whether there was any. */
static int find_metrics(const view *v, int32_t c, const lw_coupling *coupling, int starts) {
  const double size = size_of_stage(v, coupling);
  int found = 0;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    real *metric = metric_of_term(v, t);
    if (!is_zero(*metric)) continue;
    const real unscaled = unscaled_metric(v, c, column_of(v, c, v->m->term[t].column));
    const real *coefficient = FIELD(v, coupling_coefficient) + 4 * t;
    if (size > 0.0 && is_ratio(v, t)) *metric = scaled_metric(unscaled, size, re(coefficient[0])), found = 1;
    else if (starts) {
      *metric = unscaled;
      return 1;
    }
  }
  return found;
}

/* Once over all stages, forwards and backwards; one that starts ends it. Returns whether any metric was found. */
static int visit_stages(const view *v, int32_t c, int starts) {
  const int32_t n = v->m->cluster[c].couplings;
  int found = 0;
  for (int32_t i = 0; i < 2 * n && !(found && starts); i++) {
    const lw_coupling *coupling = &v->m->coupling[coupling_of(v, c, i < n ? i : 2 * n - 1 - i)];
    if (has_ratio(coupling)) found |= find_metrics(v, c, coupling, starts);
  }
  return found;
}

static void speed_metric_of(const view *v, int32_t c) {
  const lw_cluster *cluster = &v->m->cluster[c];
  const int stages = has_stages(v, c);
  for (int32_t k = 0; k < cluster->columns; k++) {
    const lw_column *column = column_of(v, c, k);
    FIELD(v, speed_metric)[column->u] = unscaled_metric(v, c, column);
  }
  for (int32_t i = 0; stages && i < cluster->couplings; i++) {
    const lw_coupling *coupling = &v->m->coupling[coupling_of(v, c, i)];
    for (int32_t t = coupling->first; has_ratio(coupling) && t < coupling->first + coupling->terms; t++) {
      const lw_column *column = column_of(v, c, v->m->term[t].column);
      if (column->link >= 0 && v->m->ear[v->m->link[column->link].ear].loop < 0) *metric_of_term(v, t) = 0.0;
    }
  }
  while (stages && (visit_stages(v, c, 0) || visit_stages(v, c, 1))) continue;
}
#endif
