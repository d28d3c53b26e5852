/* Constants that depend on the parameters alone: those of links, of cut joints and of clusters, and whether all
 * parameters are possible. */
#ifndef LW_LOOPS_CONSTANTS_KERNEL_H
#define LW_LOOPS_CONSTANTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "formula/lookup_table_kernel.h"
#include "loops/speed_metric_kernel.h"
#include "loops/workspace_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/idle_spin_kernel.h"
#include "tree/link_constants_kernel.h"
#include "tree/link_frames_kernel.h"

typedef struct mean_length {
  real sum;
  int32_t count;
} mean_length;

/* Where the points coincide the length has no slope; its square along a seed would be negative there. */
static void add_length(const real p[3], mean_length *mean) {
  const real length2 = dot(p, p);
  mean->sum += root(select_less(length2, 1e-300, 1e-300, length2));
  mean->count++;
}

/* Distances join their ends as balls on a rod would. */
static void add_distances(const view *v, const lw_cluster *cluster, mean_length *mean) {
  for (int32_t i = cluster->couplings - cluster->distances; i < cluster->couplings; i++) {
    const int32_t coupling = v->m->member_coupling[cluster->member_coupling + i];
    const lw_distance *distance = &v->m->distance[v->m->coupling[coupling].distance];
    for (int end = 0; end < 2; end++) {
      pose f = {.p = {0.0}};
      real R[9], p[3];
      copy(3, FIELD(v, distance_points) + 6 * v->m->coupling[coupling].distance + 3 * end, f.p);
      frame_in_link(v, distance->end[end], &f, R, p);
      if (distance->end[end] != cluster->root) add_length(p, mean);
    }
    mean->sum += FIELD(v, coupling_offset)[coupling];
    mean->count++;
  }
}

/* The length scale of a cluster: the mean distance between neighbouring joints on its own links, or 1 where all share
 * a point. Joints on the root do not count. */
static real cluster_length(const view *v, const lw_cluster *cluster) {
  mean_length mean = {0.0, 0};
  for (int32_t i = cluster->member; i < cluster->member + cluster->loops; i++) {
    const int32_t l = v->m->member[i];
    if (v->m->loop[l].parent != cluster->root) add_length(v->cut[l].p, &mean);
    if (v->m->loop[l].child != cluster->root) add_length(v->cut[l].pc, &mean);
  }
  for (int32_t k = cluster->first; k < cluster->first + cluster->count; k++)
    if (v->m->link[k].parent != cluster->root) add_length(v->constants[k].p, &mean);
  add_distances(v, cluster, &mean);
  const real length = mean.sum / (mean.count ? mean.count : 1);
  return select_less(length, 1e-12, 1.0, length);
}

static lw_fault check_drives(const view *v) {
  const lw_model *m = v->m;
  for (int32_t j = 0; j < m->size.joints; j++)
    for (int32_t u = m->joint[j].u; u < m->joint[j].u + lw_joint_sizes[m->joint[j].type].u; u++) {
      if (!(re(v->rotor[u]) >= 0.0)) return (lw_fault){LW_FAULT_REFLECTED_INERTIA, j, 0.0};
      if (!(re(FIELD(v, max_load)[u]) >= 0.0)) return (lw_fault){LW_FAULT_MAX_LOAD, j, 0.0};
    }
  for (int32_t l = 0; lw_has_multipliers(m) && l < m->size.loops; l++)
    for (int32_t c = 0; m->loop[l].cluster >= 0 && c < m->loop[l].columns; c++)
      if (!(m->multipliers.loop[l].rotors >> c & 1) && re(v->rotor[m->loop[l].u + c]) > 0.0)
        return (lw_fault){LW_FAULT_ROTOR_OF_CUT_JOINT, m->loop[l].joint, 0.0};
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}

static lw_fault check_parameters(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    if (!(re(FIELD(v, body_mass)[i]) >= 0.0)) return (lw_fault){LW_FAULT_MASS, i, 0.0};
    if (re(FIELD(v, body_mass)[i]) == 0.0 && v->m->method == LW_DCA) return (lw_fault){LW_FAULT_MASSLESS, i, 0.0};
    if (!is_inertia(FIELD(v, body_inertia) + 6 * i)) return (lw_fault){LW_FAULT_INERTIA, i, 0.0};
  }
  for (int32_t j = 0; j < v->m->size.joints; j++)
    for (int end = 0; end < 2; end++) {
      const real *Q = (end ? FIELD(v, child_orientation) : FIELD(v, parent_orientation)) + 4 * j;
      if (!(re(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]) > 1e-12))
        return (lw_fault){LW_FAULT_ORIENTATION, j, 0.0};
    }
  for (int32_t i = 0; i < v->m->size.distances; i++) {
    const int32_t coupling = v->m->distance[i].coupling;
    if (!(re(FIELD(v, coupling_offset)[coupling]) > 0.0)) return (lw_fault){LW_FAULT_LENGTH, coupling, 0.0};
  }
  return check_drives(v);
}

static void set_cut_length(const view *v, int32_t l, real length) { v->cut[l].length = length; }

static void cut_constants_of(const view *v, int32_t l) {
  const lw_loop *loop = &v->m->loop[l];
  cut_constants *c = &v->cut[l];
  pose f;
  frame_in_body(v, loop->joint, 0, 0, &f);
  frame_in_link(v, loop->parent, &f, c->R, c->p);
  frame_in_body(v, loop->joint, 1, 0, &f);
  frame_in_link(v, loop->child, &f, c->Rc, c->pc);
  c->located = loop->coupled; /* lw_coupled */
  for (int32_t k = loop->u; k < loop->u + loop->columns; k++)
    if (!is_zero(FIELD(v, stiffness)[k])) c->located = LW_COUPLED;
}

static lw_fault constants(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  const lw_fault fault = check_parameters(&v);
  if (fault.kind) return fault;
  *FIELD(&v, has_massless) = *FIELD(&v, may_lack_inertia) = any_massless(&v) ? 1.0 : 0.0;
  *FIELD(&v, has_uneven_masses) = masses_are_uneven(&v) ? 1.0 : 0.0;
  set_ground(&v);
  for (int32_t i = 0; i < m->size.bodies; i++) link_constants_of(&v, i);
  find_idle_spins(&v);
  for (int32_t k = 0; k < m->size.lookup_tables; k++) find_slopes_of_table(&m->lookup_table[k], v.x);
  for (int32_t l = 0; l < m->size.loops; l++) cut_constants_of(&v, l);
  for (int32_t k = 0; k < m->clusters; k++) {
    const lw_cluster *cluster = &m->cluster[k];
    const real length = cluster_length(&v, cluster);
    for (int32_t i = cluster->member; i < cluster->member + cluster->loops; i++)
      set_cut_length(&v, m->member[i], length);
    for (int32_t i = cluster->couplings - cluster->distances; i < cluster->couplings; i++)
      FIELD(&v, distance_metric)[m->coupling[coupling_of(&v, k, i)].distance] = length;
    speed_metric_of(&v, k);
    cluster_ranks *ranks = lw_pivots_of(cluster, v.integers).ranks;
    ranks->regular_dof_plus_1 = cluster->regular_dof_plus_1, ranks->singularity = ranks->coarse_tolerance = 0;
  }
  return (lw_fault){LW_FAULT_NONE, 0, 0.0};
}
#endif
