/* Impulsive changes by divide and conquer: joints locked, unlocked, pinned or stopped at an instant, and impulses on bodies, all at once
 * (Mukherjee and Anderson 2007). The bodies' velocities change by dV = L L' (C' lambda + applied impulse) such that every
 * constraint holds afterwards, C (V + dV) = rate, and constrained speeds change by their targets; lambda are
 * impulses. */
#ifndef LW_DCA_VELOCITY_JUMP_KERNEL_H
#define LW_DCA_VELOCITY_JUMP_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/inverse_dynamics_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/constraint_rows_kernel.h"
#include "dca/solve_double_kernel.h"
#include "math/tolerances.h"

/* ---- velocities of centres of mass ---- */

/* By the speeds of the tree; the increments of the links become velocities of their points. */
static void velocities_by_speeds(const view *v, const real *u, real *V) {
  propagate_increments(v, u);
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const twist *at_point = &v->increment[i];
    real *own = V + 6 * i, arm[3];
    arm_of_com(v, i, arm);
    copy(3, at_point->a, own);
    copy(3, at_point->l, own + 3);
    add_cross(own, arm, own + 3);
  }
}

/* Given for the origins of the bodies' frames. */
static void velocities_as_given(const view *v, const double *given, real *V) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const double *at_origin = given + 6 * v->m->link[i].body;
    real *own = V + 6 * i, arm[3], origin[3];
    arm_of_com(v, i, arm);
    rotate(v->motion[i].R, v->constants[i].pb, origin);
    for (int k = 0; k < 3; k++) own[k] = at_origin[k], own[3 + k] = at_origin[3 + k], arm[k] -= origin[k];
    add_cross(own, arm, own + 3);
  }
}
/* Poses and velocities at the state: those left by accelerations may be of another pose, where this one is
 * nearly singular. */
static void compute_jump_kinematics(const view *v) {
  compute_kinematics(v);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work w = work_of(v, c);
    find_point_motions(v, &w);
    for (int32_t i = 0; i < w.cluster->loops; i++) {
      cut_frames at;
      real phi[6];
      align_cut_joint(v, &w, loop_of(v, c, i), NULL, &at);
      closure_residual(v, loop_of(v, c, i), &at, phi);
      store_residual(v, loop_of(v, c, i), phi);
    }
  }
  for (int32_t i = 0; i < v->m->couplings; i++) choose_revolutions(v, i);
}

static void find_speeds(const view *v, const dca_work *w, const lw_velocity_jump *velocity_jump) {
  for (int32_t j = 0; j < v->m->size.joints; j++)
    for (int32_t c = 0; c < speeds_of(v->m, j); c++) {
      const int32_t u = v->m->joint[j].u + c;
      const int by_speeds = !velocity_jump->before && v->m->joint[j].loop < 0;
      w->speed[u] = by_speeds ? v->u[u] : 0.0;
      if (!by_speeds && joint_is_active(v->m, j))
        w->speed[u] = along_direction(v, w, j, constrained_directions(v->m, j) + c, w->before);
    }
}

/* ---- targets ---- */

/* Velocities that follow from the tree's speeds are those that its joints allow. Rotors move with their speeds. */
static void set_joint_target(const view *v, const dca_work *w, int32_t j, const lw_velocity_jump *velocity_jump) {
  const int satisfied = !velocity_jump->before && v->m->joint[j].loop < 0;
  real *target = w->target + w->plan->list[j].first_row;
  const int32_t constrained = constrained_directions(v->m, j), *u = &v->m->joint[j].u;
  int32_t row = 0;
  if (!joint_is_active(v->m, j)) return;
  for (; row < constrained; row++) target[row] = satisfied ? 0.0 : -apply_row(w, j, row, w->before);
  for (int32_t c = 0; c < speeds_of(v->m, j); c++) {
    const row_of_direction kind = kind_of_row(v, j, constrained + c, velocity_jump->constrained);
    if (kind == PLAIN_ROW) target[row++] = velocity_jump->target[*u + c];
    if (kind == ROW_WITH_ROTOR) target[row++] = 0.0;
  }
}

static void set_coupling_target(const view *v, const dca_work *w, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  const int32_t constraint = v->m->size.joints + i;
  real f[3], rate = 0.0;
  if (!coupling_is_enforced(v, i)) return;
  motion_at(v, i, f);
  if (coupling->distance >= 0) rate += apply_row(w, constraint, 0, w->before);
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    rate += slope_of_term(v, t) * w->speed[v->m->term[t].u];
  }
  w->target[w->plan->list[constraint].first_row] = f[1] - rate;
}

static void set_body_impulses(const view *v, const dca_work *w, const lw_velocity_jump *velocity_jump) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    real applied_impulse[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int k = 0; velocity_jump->applied_impulse && k < 6; k++)
      applied_impulse[k] = velocity_jump->applied_impulse[6 * v->m->link[i].body + k];
    factor_compliance(v, w, i);
    apply_transposed_factor(w->factor + 36 * i, applied_impulse, w->by_load + 6 * i);
  }
  if (velocity_jump->before) velocities_as_given(v, velocity_jump->before, w->before);
  else velocities_by_speeds(v, v->u, w->before);
  split_bodies(v, w);
}

/* ---- results ---- */

/* The wrench of a joint on its child at the joint's origin: of its rows, and of the couplings that act through it. */
static void add_joint_load(const dca_work *w, int32_t j, int32_t direction, real load, real *torque, real *force) {
  const twist *d = &frame_of(w, j)->d[direction];
  for (int k = 0; k < 3; k++) torque[k] += load * d->a[k], force[k] += load * d->l[k];
}
static void report_joint(const view *v, const dca_work *w, int32_t j, const lw_velocity_jump *velocity_jump) {
  const int32_t constrained = constrained_directions(v->m, j), u = v->m->joint[j].u, active = joint_is_active(v->m, j);
  const real *load = w->load + w->plan->list[j].first_row;
  real *torque = velocity_jump->torque + 3 * j, *force = velocity_jump->force + 3 * j;
  for (int k = 0; k < 3; k++) torque[k] = force[k] = 0.0;
  for (int32_t k = 0; active && k < constrained; k++) add_joint_load(w, j, k, *load++, torque, force);
  for (int32_t c = 0; c < speeds_of(v->m, j); c++) {
    velocity_jump->after[u + c] = w->speed[u + c];
    velocity_jump->constraint_impulse[u + c] = 0.0;
    if (!active) continue;
    velocity_jump->after[u + c] += along_direction(v, w, j, constrained + c, w->change);
    const real rotor = rotor_along(v, j, constrained + c);
    const row_of_direction row = kind_of_row(v, j, constrained + c, velocity_jump->constrained);
    if (row == PLAIN_ROW) velocity_jump->constraint_impulse[u + c] = *load + rotor * velocity_jump->target[u + c];
    if (row == PLAIN_ROW) add_joint_load(w, j, constrained + c, *load++, torque, force);
    if (row == ROW_WITH_ROTOR) add_joint_load(w, j, constrained + c, root(rotor) * *load++, torque, force);
  }
}

/* A coupling acts on its joints, as part of what they transmit. */
static void report_coupling(const view *v, const dca_work *w, int32_t i, const lw_velocity_jump *velocity_jump) {
  const lw_coupling *coupling = &v->m->coupling[i];
  const int active = coupling_is_enforced(v, i);
  const real load = active ? w->load[w->plan->list[v->m->size.joints + i].first_row] : 0.0;
  velocity_jump->coupling_impulse[i] = load;
  for (int32_t t = coupling->first; active && t < coupling->first + coupling->terms; t++) {
    const term_location at = location_of_term(v, t);
    add_joint_load(w, at.joint, at.direction, slope_of_term(v, t) * load, velocity_jump->torque + 3 * at.joint,
                   velocity_jump->force + 3 * at.joint);
  }
}

/* From the outboard link to the declared child. */
static void negate_reversed(const view *v, const lw_velocity_jump *velocity_jump) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    for (int k = 3 * link->joint; link->reversed && k < 3 * link->joint + 3; k++)
      velocity_jump->torque[k] = -velocity_jump->torque[k], velocity_jump->force[k] = -velocity_jump->force[k];
  }
}

/* Redundant constraints are satisfied by the others, unless they ask for something else. Rotors follow. */
static real largest_residual(const dca_work *w) {
  double most = 0.0;
  for (int32_t c = 0; c < w->plan->constraints; c++)
    for (int32_t k = 0; k < w->rows[c]; k++) {
      const int32_t row = w->plan->list[c].first_row + k;
      if (re(w->rotor[row]) != 0.0) continue;
      const double off = re(apply_row(w, c, k, w->change) - w->target[row]);
      if (!(fabs(off) <= most)) most = fabs(off);
    }
  return most;
}

/* Whether an impulse acts about a line about which a body has no inertia: see check_idle_spins(). */
static int any_loaded_spin(const view *v, const dca_work *w, const double *applied_impulse) {
  for (int32_t i = 0; has_idle_spins(v) && i < v->m->size.bodies; i++) {
    const double *applied = applied_impulse ? applied_impulse + 6 * v->m->link[i].body : NULL;
    real momentum[3];
    if (!times_stand_in(v, i, w->change + 6 * i, momentum)) continue;
    const double others = spin_of(v, i)->inertia * magnitude(w->change + 6 * i) + (applied ? magnitude(applied) : 0.0);
    if (magnitude(momentum) > LOADED_SPIN * others) return 1;
  }
  return 0;
}

static void velocity_jump(const lw_model *m, lw_block b, lw_velocity_jump *velocity_jump) {
  const view v = open_view(m, b);
  const dca_work w = dca_work_of(&v);
  compute_jump_kinematics(&v);
  set_body_impulses(&v, &w, velocity_jump);
  fill_all_rows(&v, &w, velocity_jump->constrained);
  find_speeds(&v, &w, velocity_jump);
  for (int32_t j = 0; j < m->size.joints; j++) set_joint_target(&v, &w, j, velocity_jump);
  for (int32_t i = 0; i < m->couplings; i++) set_coupling_target(&v, &w, i);
  velocity_jump->residual = NAN;
  solve_dca(&v, &w, LOADS_SHARED);
  if (any_loaded_spin(&v, &w, velocity_jump->applied_impulse)) return;
  velocity_jump->residual = largest_residual(&w);
  for (int32_t j = 0; j < m->size.joints; j++) report_joint(&v, &w, j, velocity_jump);
  for (int32_t i = 0; i < m->couplings; i++) report_coupling(&v, &w, i, velocity_jump);
  negate_reversed(&v, velocity_jump);
}

/* ---- compliance of speeds ---- */

/* The joint that has a speed, and the direction of that. */
static term_location location_of_speed(const view *v, int32_t u) {
  int32_t j = 0;
  while (u < v->m->joint[j].u || u >= v->m->joint[j].u + speeds_of(v->m, j)) j++;
  return (term_location){j, constrained_directions(v->m, j) + u - v->m->joint[j].u};
}

/* A unit impulse along a speed, on the fragments that its joint connects: the loads, and to `change` what these would
 * change if the bodies were free. */
static void apply_unit_impulse(const view *v, const dca_work *w, term_location at) {
  const joint_ends ends = ends_of(v->m, at.joint);
  const joint_frame *f = frame_of(w, at.joint);
  const lw_dca_constraint *joint = &w->plan->list[at.joint];
  for (int32_t k = 0; k < 6 * w->plan->bodies; k++) w->by_load[k] = w->change[k] = 0.0;
  for (int32_t i = 0; i < joint->ends; i++) {
    const int32_t fragment = w->plan->end[joint->first + i];
    const int is_child = w->plan->fragment[fragment].link == ends.child;
    real impulse[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    add_load(impulse, is_child ? 1.0 : -1.0, is_child ? f->on_child : f->on_parent, &f->d[at.direction]);
    const real *L = w->factor + 36 * fragment;
    real *z = w->by_load + 6 * fragment, *dV = w->change + 6 * fragment;
    apply_transposed_factor(L, impulse, z);
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 6; k++) dV[j] += L[6 * j + k] * z[k];
  }
}

/* Of W the column of speed j, by the change of velocities. */
static void fill_compliance(const view *v, const dca_work *w, int32_t n, const int32_t *u, int32_t j, double *W) {
  for (int32_t i = 0; i < n; i++) {
    const term_location along = location_of_speed(v, u[i]);
    W[i * n + j] = along_direction(v, w, along.joint, along.direction, w->change);
  }
}

static void speed_compliance(const lw_model *m, lw_block b, int32_t n, const int32_t *u, double *W) {
  const view v = open_view(m, b);
  const dca_work w = dca_work_of(&v);
  compute_jump_kinematics(&v);
  for (int32_t i = 0; i < m->size.bodies; i++) factor_compliance(&v, &w, i);
  split_bodies(&v, &w);
  fill_all_rows(&v, &w, NULL);
  for (int32_t k = 0; k < w.plan->rows; k++) w.target[k] = 0.0;
  for (int32_t j = 0; j < n; j++) {
    const term_location at = location_of_speed(&v, u[j]);
    const double gap = w.rank_tolerance[at.joint];
    apply_unit_impulse(&v, &w, at);
    const double bodies = along_direction(&v, &w, at.joint, at.direction, w.change);
    const double free = bodies / (1.0 + rotor_along(&v, at.joint, at.direction) * bodies);
    const double held = fmax(HELD_SPEED, gap * gap) * free;
    if (j) solve_dca_again(&v, &w, LOADS_SHARED);
    else solve_dca(&v, &w, LOADS_SHARED);
    fill_compliance(&v, &w, n, u, j, W);
    if (!(W[j * n + j] > held)) W[j * n + j] = 0.0;
  }
}
#endif
