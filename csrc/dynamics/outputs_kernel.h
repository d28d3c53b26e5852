/* What a user reads: poses and velocities of the bodies, energies, joint reactions, points of interest, and last what
 * formulas make of these. */
#ifndef LW_OUTPUTS_KERNEL_H
#define LW_OUTPUTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "multipliers/clusters_for_outputs_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/forces_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "dynamics/forward_dynamics_kernel.h"
#include "formula/evaluate_kernel.h"
#include "loops/reactions_kernel.h"
#include "tree/points_kernel.h"

static void report_body(const view *v, int32_t i, real *p, real *vel) {
  const lw_link *link = &v->m->link[i];
  const link_constants *k = &v->constants[i];
  const link_motion *motion = &v->motion[i];
  const int32_t b = link->body;
  real arm[3], R[9];
  rotate(motion->R, k->pb, arm);
  multiply(motion->R, k->Rb, R);
  for (int j = 0; j < 3; j++) {
    FIELD(v, body_position)[3 * b + j] = p[j] + arm[j];
    FIELD(v, body_velocity)[3 * b + j] = vel[j];
    FIELD(v, body_angular_velocity)[3 * b + j] = motion->w[j];
  }
  add_cross(motion->w, arm, FIELD(v, body_velocity) + 3 * b);
  quaternion_of(R, FIELD(v, body_orientation) + 4 * b);
}

/* T = (m v.v + w.J w)/2 + v.(w x h);  U = -g.(m p + h) */
static void add_energy(const view *v, int32_t i, const real p[3], const real vel[3]) {
  const link_inertia *own = &v->inertia[i];
  const real *g = FIELD(v, gravity), *w = v->motion[i].w;
  real Jw[3], wh[3];
  symmetric_times(own->J, w, Jw);
  cross(w, own->h, wh);
  FIELD(v, energy_kinetic)[0] += 0.5 * (own->m * dot(vel, vel) + dot(w, Jw)) + dot(vel, wh);
  FIELD(v, energy_potential)[0] -= own->m * dot(g, p) + dot(g, own->h);
}

static void add_rotor_energy(const view *v, int32_t c, real u) {
  FIELD(v, energy_kinetic)[0] += 0.5 * v->rotor[c] * u * u;
}

static void add_spring_energy(const view *v, int32_t c, real q) {
  const real stretch = q - FIELD(v, free_coordinate)[c];
  FIELD(v, energy_potential)[0] += 0.5 * FIELD(v, stiffness)[c] * stretch * stretch;
}

/* Positions and velocities of the links' points go through the wrench records, which the reactions fill later. */
static void find_poses(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    const link_motion *motion = &v->motion[i], *parent = motion_of(v, link->parent);
    real *p = v->wrench[i].a, *vel = v->wrench[i].l;
    for (int j = 0; j < 3; j++) {
      p[j] = motion->r[j] + (link->parent < 0 ? 0.0 : v->wrench[link->parent].a[j]);
      vel[j] = link->parent < 0 ? 0.0 : v->wrench[link->parent].l[j];
    }
    add_cross(parent->w, motion->r, vel);
    real own[3];
    joint_velocity(v, i, own);
    for (int j = 0; j < 3; j++) vel[j] += own[j];
    report_body(v, i, p, vel);
  }
}

#if LW_ARITHMETIC != LW_COMPLEX
static void body_motions(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  compute_kinematics(&v);
  find_poses(&v);
  memset(v.increment, 0, sizeof *v.increment * (size_t)m->size.bodies); /* accelerations of points, not asked for */
  report_points(&v);
}
#endif

#if LW_ARITHMETIC == LW_DOUBLE
/* A column of a tree joint at the point p, which moves with all links outboard of it. */
static void body_column(const lw_model *m, lw_block b, int32_t link, int32_t speed, const void *point, void *twist_at) {
  const view v = open_view(m, b);
  const real *p = point;
  real arm[3];
  twist *P = twist_at;
  column_of_link(&v, link, speed, P);
  for (int j = 0; j < 3; j++) arm[j] = p[j] - v.wrench[link].a[j];
  add_cross(P->a, arm, P->l);
}
#endif

/* Coordinates of the cut joints, with the revolutions that the couplings select. */
static void locate_cuts(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  for (int32_t l = 0; l < m->size.loops; l++) {
    if (m->loop[l].cluster < 0) continue;
    const cluster_work w = work_of(&v, m->loop[l].cluster);
    cut_frames at;
    align_cut_joint(&v, &w, l, NULL, &at);
  }
  for (int32_t i = 0; i < m->couplings; i++)
    if (coupling_is_enforced(&v, i)) choose_revolutions(&v, i);
}

/* The load up to which a force sticks, as one on its speed. */
static real limit_in_speed(const view *v, int32_t force) {
  const real gear = FIELD(v, force_gear)[v->m->force[force].first], size = select_less(gear, 0.0, -gear, gear);
#define LIMIT(TYPE, type)                                                                                           \
  if (force < v->m->first_force[LW_FORCE_##TYPE + 1]) return size * FIELD(v, type##_limit)[force - FIRST_OF(TYPE)];
  LW_EACH_STICKING_FORCE(LIMIT)
#undef LIMIT
  return 0.0;
}

/* Where a speed sticks, the load that holds it, of which several have shares as their limits. */
static void report_holding_load(const view *v, int32_t force, double state, real *load) {
  const lw_force *of = &v->m->force[force];
  const int32_t lock = of->lock >= 0 ? of->lock : v->m->lock_of[v->m->gear[of->first].u];
  if (state != LW_FRICTION_STICKS || lock < 0) return;
  *load = FIELD(v, coupling_load)[lock] / (of->lock >= 0 ? 1.0 : FIELD(v, force_gear)[of->first]);
  if (of->next_in_speed == force) return;
  const real limit = limit_in_speed(v, force);
  real all = limit;
  for (int32_t other = of->next_in_speed; other != force; other = v->m->force[other].next_in_speed)
    all += limit_in_speed(v, other);
  *load *= re(all) > 0.0 ? limit / all : 1.0;
}

static void report_holding_loads(const view *v) {
#define REPORT(TYPE, type)                                                                                             \
  EACH_OF(TYPE) report_holding_load(v, FIRST_OF(TYPE) + k, re(FIELD(v, type##_state)[k]), FIELD(v, type##_force) + k);
  LW_EACH_STICKING_FORCE(REPORT)
#undef REPORT
}

/* ---- powers; those of forces between bodies are there since they were applied ---- */

#define REPORT_LW_BETWEEN_POINTS(TYPE, type, points)
#define REPORT_LW_BETWEEN_FRAMES(TYPE, type, points)
#define REPORT_LW_ALONG_LINE(TYPE, type, points)
#define REPORT_LW_ON_SPEEDS(TYPE, type, points)                            \
  EACH_OF(TYPE) {                                                          \
    real length, rate;                                                     \
    find_length(v, &v->m->force[FIRST_OF(TYPE) + k], &length, &rate);      \
    POWER_OF(TYPE) = FIELD(v, force_on_speeds)[FIRST_OF(TYPE) + k] * rate; \
  }
#define REPORT_LW_ON_POINT(TYPE, type, points) /* find_powers_at_points() */

/* While the wrench records have the velocities of the links' points. */
static void report_powers(const view *v) {
  find_powers_at_points(v);
#define FORCE(TYPE, type, on, points) REPORT_##on(TYPE, type, points)
  LW_FORCE_RECORDS(FORCE)
#undef FORCE
  for (int32_t j = 0; j < v->m->size.joints; j++) {
    const lw_joint *joint = &v->m->joint[j];
    real power = 0.0;
    for (int32_t u = joint->u; joint_is_active(v->m, j) && u < joint->u + speeds_of(v->m, j); u++) {
      const real k = FIELD(v, stiffness)[u],
                 stretch = is_zero(k) ? 0.0 : coordinate_of(v, u) - FIELD(v, free_coordinate)[u];
      power -= (k * stretch + FIELD(v, damping)[u] * speed_of(v, u)) * speed_of(v, u);
    }
    FIELD(v, spring_power)[j] = power;
  }
}

/* No number where a formula has no value. */
static void report_formulas(const view *v) {
  const lw_program *program = v->m->program + lw_formulas_of_forces(v->m);
  for (int32_t k = 0; k < v->m->size.formula_outputs; k++) {
    evaluate_program(program + k, v->x);
    FIELD(v, formula_output)[k] = result_of(program + k, v->x, 0);
  }
}

static lw_fault outputs(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  const lw_fault fault = solve_clusters_for_outputs(&v);
  if (fault.kind) return fault;
  place_stand_ins(&v, 0);
  FIELD(&v, energy_kinetic)[0] = FIELD(&v, energy_potential)[0] = 0.0;
  find_poses(&v);
  for (int32_t i = 0; i < m->size.bodies; i++) add_energy(&v, i, v.wrench[i].a, v.wrench[i].l);
  locate_cuts(m, b);
  for (int32_t c = 0; c < m->size.nu; c++) {
    add_spring_energy(&v, c, v.q[m->coordinate[c]]);
    add_rotor_energy(&v, c, v.u[c]);
  }
  for (int32_t l = 0; l < m->size.loops; l++)
    for (int32_t c = m->loop[l].u; m->loop[l].cluster >= 0 && c < m->loop[l].u + m->loop[l].columns; c++) {
      add_spring_energy(&v, c, FIELD(&v, q_cut)[m->coordinate[c] - m->size.nq]);
      add_rotor_energy(&v, c, FIELD(&v, u_cut)[c - m->size.nu]);
    }
  FIELD(&v, energy_potential)[0] += energy_of_forces(&v);
  report_powers(&v);
  compute_reactions(&v);
  report_holding_loads(&v);
  report_points(&v);
  report_formulas(&v);
  return no_fault;
}
#endif
