/* Whether each joint moves inertia in this pose. Models need no check in which each body has inertia of its own about
 * all lines about which its joints may turn it. Without it the inertia D = P'IP that a joint moves may be zero, or
 * nothing but rounding where the articulation of the outboard joints has taken all of it away: D is compared with that
 * of the outboard bodies with their joints frozen, of which the mass m, the first moment h and the polar moment
 * Q = tr(J)/2 are summed up:
 *   P'I_frozen P  <=  2 (Q w.w + m v.v),   P = [w; v]
 * In a cluster a pivot of T'DT is compared with the diagonal before the elimination, and with all of the mass. */
#ifndef LW_LOOPS_INERTIA_CHECK_KERNEL_H
#define LW_LOOPS_INERTIA_CHECK_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/speed_metric_kernel.h"
#include "tree/idle_spin_kernel.h"
#include "math/tolerances.h"
#include <math.h>

INLINE int has_massless_bodies(const view *v) { return re(*FIELD(v, has_massless)) != 0.0; }
INLINE int may_lack_inertia(const view *v) { return re(*FIELD(v, may_lack_inertia)) != 0.0; }

typedef struct frozen_inertia {
  double m, h[3], Q;
} frozen_inertia;

/* The articulated inertias are read no more; a frozen one takes the place of each. */
INLINE frozen_inertia *frozen_of(const view *v, int32_t link) { return (frozen_inertia *)&v->outboard[link]; }

static void freeze_joints(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_constants *k = &v->constants[i];
    const real *R = v->motion[i].R;
    frozen_inertia *own = frozen_of(v, i);
    own->m = re(k->m), own->Q = 0.5 * (re(k->J[0]) + re(k->J[3]) + re(k->J[5])) + re(spin_of(v, i)->inertia);
    for (int a = 0; a < 3; a++)
      own->h[a] = re(R[3 * a]) * re(k->h[0]) + re(R[3 * a + 1]) * re(k->h[1]) + re(R[3 * a + 2]) * re(k->h[2]);
  }
  for (int32_t i = v->m->size.bodies - 1; i >= 0; i--) {
    if (v->m->link[i].parent < 0) continue;
    const frozen_inertia *own = frozen_of(v, i);
    frozen_inertia *parent = frozen_of(v, v->m->link[i].parent);
    const real *r = v->motion[i].r;
    parent->m += own->m, parent->Q += own->Q;
    for (int a = 0; a < 3; a++) {
      parent->h[a] += own->h[a] + own->m * re(r[a]);
      parent->Q += re(r[a]) * (2.0 * own->h[a] + own->m * re(r[a]));
    }
  }
}

/* What a joint would move if the joints outboard of it were frozen, or a little more. */
static double frozen_along(const view *v, int32_t i, int32_t c) {
  const lw_link *link = &v->m->link[i];
  const frozen_inertia *frozen = frozen_of(v, i);
  double w2 = link->type == LW_PRISMATIC ? 0.0 : 1.0, v2 = 1.0 - w2;
  if (has_stored_columns(link->type)) {
    const twist *P = &v->column[link->u + c];
    w2 = re(dot(P->a, P->a)), v2 = re(dot(P->l, P->l));
  }
  return 2.0 * (frozen->Q * w2 + frozen->m * v2);
}

/* Divisions by the articulated inertia remain in the sweeps; one that is not a number is reported elsewhere. */
static double inertia_along(const view *v, int32_t i, int32_t c) { return 1.0 / re(v->sweep[v->m->link[i].u + c].Di); }

static lw_fault check_link_inertia(const view *v, int32_t i) {
  for (int32_t c = 0; c < v->m->link[i].speeds; c++)
    if (inertia_along(v, i, c) <= LEAST_INERTIA * frozen_along(v, i, c))
      return (lw_fault){LW_FAULT_NO_INERTIA, v->m->link[i].joint, 0.0};
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}

/* From the outside in: an outboard joint without inertia spoils those that carry it. */
static lw_fault check_segment_inertia(const view *v, int32_t first, int32_t count) {
  for (int32_t i = first + count - 1; i >= first; i--) {
    const lw_fault fault = check_link_inertia(v, i);
    if (fault.kind) return fault;
  }
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}

/* Of the columns' units relative to radians and lengths, at most 1. */
static double smallest_unit(const view *v, int32_t c) {
  double smallest = 1.0;
  for (int32_t k = 0; k < v->m->cluster[c].columns; k++) {
    const lw_column *column = column_of(v, c, k);
    smallest = fmin(smallest, re(unit_of(v, c, column)));
  }
  return smallest;
}

/* The mass of all bodies, and their moments of inertia by the cluster's length: the lesser per speed of a joint. */
static double inertia_of_all(const view *v, int32_t c) {
  double m = 0.0, J = 0.0;
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_constants *k = &v->constants[i];
    m += re(k->m), J += re(k->J[0]) + re(k->J[3]) + re(k->J[5]);
  }
  const double length2 = re(length_of(v, c)) * re(length_of(v, c)), unit = smallest_unit(v, c);
  const double of_translation = (m + J / length2) * unit * unit;
  return length2 < 1.0 ? of_translation * length2 : of_translation;
}

/* The joint that moves most along direction x of L'x = e_k, which is the one without inertia. */
static int32_t joint_along(const view *v, int32_t c, const cluster_work *w, int32_t k) {
  const int32_t r = free_of(w), width = w->ranks->width;
  real *x = w->solution, *z = w->solution + width;
  for (int32_t j = 0; j < r; j++) x[j] = j == k ? 1.0 : 0.0;
  for (int32_t j = k - 1; j >= 0; j--)
    for (int32_t i = j + 1; i <= k; i++) x[j] -= w->D[i * r + j] * x[i];
  extend(w, x, -1, z);
  double largest = -1.0;
  int32_t joint = v->m->link[w->cluster->first].joint;
  for (int32_t i = 0; i < w->n; i++) {
    const lw_column *column = column_of(v, c, i);
    real moved = 0.0;
    for (int32_t j = 0; j < w->ranks->independent; j++) moved += w->X[i * width + FIRST_FREE + j] * z[j];
    const double size = fabs(re(moved) / re(metric_of(v, column)));
    if (column->link < 0 || !(size > largest)) continue;
    largest = size, joint = v->m->link[column->link].joint;
  }
  return joint;
}

/* A pivot before the elimination. */
static double diagonal_of(const cluster_work *w, int32_t k) {
  const int32_t r = free_of(w);
  double diagonal = re(w->D[k * r + k]);
  for (int32_t j = 0; j < k; j++) diagonal += re(w->D[k * r + j] * w->D[k * r + j] * w->D[j * r + j]);
  return diagonal;
}

static lw_fault check_cluster_inertia(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const int32_t r = free_of(&w);
  const double least = LEAST_CLUSTER_INERTIA * inertia_of_all(v, c);
  for (int32_t k = 0; k < r; k++) {
    const double pivot = re(w.D[k * r + k]);
    if (pivot <= LEAST_INERTIA * diagonal_of(&w, k) || pivot <= least)
      return (lw_fault){LW_FAULT_NO_INERTIA, joint_along(v, c, &w, k), 0.0};
  }
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}

static int are_all_in_clusters(const view *v) {
  for (int32_t s = 0; s < v->m->segments; s++)
    if (v->m->segment[s].cluster < 0) return 0;
  return 1;
}

/* After the reduction of the tree and its clusters. */
static lw_fault check_inertias(const view *v) {
  if (!may_lack_inertia(v)) return (lw_fault){LW_FAULT_NONE, 0, 0.0};
  if (!are_all_in_clusters(v)) freeze_joints(v);
  for (int32_t s = v->m->segments - 1; s >= 0; s--) {
    const lw_segment *segment = &v->m->segment[s];
    const lw_fault fault = segment->cluster >= 0 ? check_cluster_inertia(v, segment->cluster)
                                                 : check_segment_inertia(v, segment->first, segment->count);
    if (fault.kind) return fault;
  }
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}

/* ---- digits lost by uneven masses ---- */

static int link_loses_digits(const view *v, int32_t i) {
  for (int32_t c = 0; c < v->m->link[i].speeds; c++)
    if (inertia_along(v, i, c) < LOSES_DIGITS * frozen_along(v, i, c)) return 1;
  return 0;
}

/* Of the bodies on a cluster's loops and all outboard ones, about the points of the links on the root. */
static double frozen_cluster(const view *v, int32_t c) {
  const lw_cluster *cluster = &v->m->cluster[c];
  const double length = re(length_of(v, c)), unit = smallest_unit(v, c);
  double sum = 0.0;
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++)
    if (v->m->link[i].parent == cluster->root) sum += frozen_of(v, i)->m * length * length + frozen_of(v, i)->Q;
  return sum * unit * unit;
}

static int cluster_loses_digits(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const int32_t r = free_of(&w);
  const double all = frozen_cluster(v, c);
  for (int32_t k = 0; k < r; k++)
    if (re(w.D[k * r + k]) < LOSES_DIGITS * fmax(diagonal_of(&w, k), all)) return 1;
  return 0;
}

/* After the reduction of the open tree. */
static int tree_loses_digits(const view *v) {
  if (re(*FIELD(v, has_uneven_masses)) == 0.0) return 0;
  freeze_joints(v);
  for (int32_t i = 0; i < v->m->size.bodies; i++)
    if (link_loses_digits(v, i)) return 1;
  return 0;
}

/* After the reduction of the tree and its clusters. */
static int loses_digits(const view *v) {
  if (re(*FIELD(v, has_uneven_masses)) == 0.0) return 0;
  freeze_joints(v);
  for (int32_t s = 0; s < v->m->segments; s++) {
    const lw_segment *segment = &v->m->segment[s];
    if (segment->cluster >= 0 && cluster_loses_digits(v, segment->cluster)) return 1;
    for (int32_t i = segment->first; segment->cluster < 0 && i < segment->first + segment->count; i++)
      if (link_loses_digits(v, i)) return 1;
  }
  return 0;
}

/* After the reduction of the open tree. */
static lw_fault check_inertias_of_tree(const view *v) {
  if (!may_lack_inertia(v)) return (lw_fault){LW_FAULT_NONE, 0, 0.0};
  freeze_joints(v);
  lw_fault fault = check_segment_inertia(v, 0, v->m->size.bodies);
  if (fault.kind && v->m->clusters) fault.kind = LW_FAULT_NO_INERTIA_IN_TREE;
  return fault;
}
#endif
