/* Forward dynamics by divide and conquer over subassemblies: the equations of velocity_jump_kernel.h for the increments of the
 * bodies' accelerations over those with all udot zero, by the remaining forces. Joints allow no increment
 * but along their columns; loops, couplings and distances ask for one that makes up for their biases. */
#ifndef LW_DCA_ACCELERATIONS_KERNEL_H
#define LW_DCA_ACCELERATIONS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/forces_on_speeds_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/constraint_rows_kernel.h"
#if LW_ARITHMETIC == LW_RECORDED
static void accelerate_dca(const view *v) { (void)v, refuse("divide and conquer decides there, and no tape holds it"); }
#else
#if LW_ARITHMETIC == LW_DOUBLE
#include "dca/solve_double_kernel.h"
#else
#include "dca/solve_complex_kernel.h"
#endif

/* Of each loop: acceleration of the child relative to the parent with all udot zero, moved with the cut joint's
 * speeds. */
static void find_cut_biases(const view *v, const dca_work *w) {
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work at = work_of(v, c);
    find_point_motions(v, &at);
    for (int32_t i = 0; i < at.cluster->loops; i++) {
      const int32_t l = loop_of(v, c, i);
      cut_frames frames;
      twist bias;
      align_cut_joint(v, &at, l, NULL, &frames);
      find_cut_bias(v, &at, l, &frames, &bias);
      copy(3, bias.a, w->bias + 6 * l);
      copy(3, bias.l, w->bias + 6 * l + 3);
    }
  }
  for (int32_t i = 0; i < v->m->couplings; i++) choose_revolutions(v, i);
  load_by_forces(v);
}

static real bias_along(const view *v, const dca_work *w, int32_t j, int32_t direction) {
  const lw_joint *joint = &v->m->joint[j];
  if (joint->loop < 0) return 0.0;
  const twist *d = &frame_of(w, j)->d[direction];
  const real *bias = w->bias + 6 * joint->loop;
  return dot(d->a, bias) + dot(d->l, bias + 3);
}

/* Forces on the bodies, about their centres of mass: those of gravity, springs, wrenches and their own motion, and
 * the loads of all joints. */
static void apply_body_loads(const view *v, const dca_work *w) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_inertia *own = &v->inertia[i];
    real *f = w->unloaded + 6 * i, c[3];
    arm_of_com(v, i, c);
    copy(3, own->Fa, f);
    copy(3, own->Fl, f + 3);
    add_cross(own->Fl, c, f);
  }
  for (int32_t j = 0; j < v->m->size.joints; j++) {
    const joint_ends ends = ends_of(v->m, j);
    const joint_frame *f = frame_of(w, j);
    for (int32_t k = constrained_directions(v->m, j); joint_is_active(v->m, j) && k < 6; k++) {
      const real load = v->load[v->m->joint[j].u + k - constrained_directions(v->m, j)];
      if (ends.child >= 0) add_load(w->unloaded + 6 * ends.child, load, f->on_child, &f->d[k]);
      if (ends.parent >= 0) add_load(w->unloaded + 6 * ends.parent, -load, f->on_parent, &f->d[k]);
    }
  }
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    factor_compliance(v, w, i);
    apply_transposed_factor(w->factor + 36 * i, w->unloaded + 6 * i, w->by_load + 6 * i);
  }
  split_bodies(v, w);
}

/* With its rotor a speed asks for the bias, too: both have the same acceleration. */
static void set_joint_increment_target(const view *v, const dca_work *w, int32_t j) {
  real *target = w->target + w->plan->list[j].first_row;
  for (int32_t k = 0; joint_is_active(v->m, j) && k < 6; k++) {
    const row_of_direction row = kind_of_row(v, j, k, NULL);
    if (row == PLAIN_ROW) *target++ = -bias_along(v, w, j, k);
    if (row == ROW_WITH_ROTOR) *target++ = -root(rotor_along(v, j, k)) * bias_along(v, w, j, k);
  }
}

static void set_increment_target(const view *v, const dca_work *w, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  if (!coupling_is_enforced(v, i)) return;
  const coupling_row row = row_of_coupling(v, coupling->cluster, i);
  real target = row.bias / row.per_size;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const term_location at = location_of_term(v, t);
    target -= slope_of_term(v, t) * bias_along(v, w, at.joint, at.direction);
  }
  w->target[w->plan->list[v->m->size.joints + i].first_row] = target;
}

static void accelerate_dca(const view *v) {
  const dca_work w = dca_work_of(v);
  const lw_model *m = v->m;
  find_cut_biases(v, &w);
  fill_all_rows(v, &w, NULL);
  apply_body_loads(v, &w);
  for (int32_t j = 0; j < m->size.joints; j++) set_joint_increment_target(v, &w, j);
  for (int32_t i = 0; i < m->couplings; i++) set_increment_target(v, &w, i);
  solve_dca(v, &w, LOADS_NOT_FOUND);
  for (int32_t j = 0; j < m->size.joints; j++)
    for (int32_t k = constrained_directions(m, j); joint_is_active(m, j) && k < 6; k++)
      v->acceleration[m->joint[j].u + k - constrained_directions(m, j)] =
          along_direction(v, &w, j, k, w.change) + bias_along(v, &w, j, k);
}
#endif
#endif
