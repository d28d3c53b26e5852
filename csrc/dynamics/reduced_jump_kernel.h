/* Jumps of the speeds by the reduced equations: an instant in which impulses act is one evaluation of the forward
 * dynamics at rest. Impulses stand for loads, changes of speeds du for accelerations, and velocities before for the
 * accelerations with all udot zero, so that loops and distances ask for what makes up for the rates before:
 *   du = D^-1 (impulses - B'..),  closures  C (V + B du) = 0,  couplings  sum p' (u + du) = f'
 * A cut joint has no speed in this evaluation, and its du is its speed afterwards. Reactions are the impulses in the
 * joints. Where the velocities before are given and the joints do not allow them, M (V - B u) are further impulses.
 *
 * Constrained speeds change by a given amount: of their impulses lambda
 *   W lambda = target - du without them,
 * W their changes by unit impulses. Massless bodies are no special case: the equations are regular where those of the
 * accelerations are. */
#ifndef LW_REDUCED_JUMP_KERNEL_H
#define LW_REDUCED_JUMP_KERNEL_H
#include "block/field_view_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/constraint_rows_kernel.h"
#include "dca/velocity_jump_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/inertia_check_kernel.h"
#include "loops/mobility_kernel.h"
#include "loops/reactions_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "math/pivoted_qr_kernel.h"
#include "math/tolerances.h"
#include "singular/near_singular_kernel.h"
#include "tree/inverse_dynamics_kernel.h"

/* Its arrays, in double: of all speeds, then of the constrained ones. */
typedef struct jump_arrays {
  int32_t speeds, n;
  real *rest, *before, *impulse; /* speeds that are zero; of the tree before; impulses along speeds */
  real *W, *excess, *lambda, *scale, *diagonal;
  int32_t *order, *u; /* speed of each constrained one */
} jump_arrays;

static jump_arrays jump_arrays_of(const lw_model *m, const lw_jump_workspace *w, int32_t n) {
  const int32_t speeds = m->size.nu + m->size.nu_cut;
  jump_arrays a = {.speeds = speeds, .n = n, .rest = w->reals, .order = w->integers};
  a.before = a.rest + speeds, a.impulse = a.before + speeds;
  a.W = a.impulse + speeds, a.excess = a.W + (int64_t)n * n;
  a.lambda = a.excess + n, a.scale = a.lambda + n, a.diagonal = a.scale + n;
  a.u = a.order + n;
  for (int32_t u = 0; u < 3 * speeds; u++) a.rest[u] = 0.0;
  return a;
}

static const link_motion ground_at_rest = {.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};

/* The mechanism at rest in the pose of the state. */
static void rest(view *v, const jump_arrays *a) {
  v->u = a->rest, v->ground = &ground_at_rest;
  v->impulse = a->impulse;
  compute_kinematics(v);
}

/* ---- velocities and impulses before ---- */

/* Cut joints have speeds of their own only where these are asked for. */
static int32_t cut_speed_counts(const view *v, const lw_loop *loop, const unsigned char *constrained) {
  int32_t counts = 0;
  for (int32_t c = 0; c < loop->columns; c++) counts |= constrained[loop->u + c] || !is_zero(v->rotor[loop->u + c]);
  return counts;
}

static void find_speeds_of_joint(const view *v, int32_t j, const real *V, real *speed) {
  joint_frame f;
  find_joint_frame(v, j, &f);
  for (int32_t c = 0; c < speeds_of(v->m, j); c++)
    speed[v->m->joint[j].u + c] = along_joint(v, j, &f, constrained_directions(v->m, j) + c, V);
}

static void place_cut_joint(const view *v, const cluster_work *w, int32_t l) {
  cut_frames at;
  align_cut_joint(v, w, l, NULL, &at);
}

/* Those that count, by the velocities V; the others are left at zero. */
static void find_cut_speeds(const view *v, const unsigned char *constrained, const real *V, real *speed) {
  for (int32_t u = v->m->size.nu; u < v->m->size.nu + v->m->size.nu_cut; u++) speed[u] = 0.0;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work w = work_of(v, c);
    int placed = 0;
    for (int32_t i = 0; i < w.cluster->loops; i++) {
      const lw_loop *loop = &v->m->loop[loop_of(v, c, i)];
      if (!cut_speed_counts(v, loop, constrained)) continue;
      if (!placed++) find_point_positions(v, &w);
      place_cut_joint(v, &w, loop_of(v, c, i));
      find_speeds_of_joint(v, loop->joint, V, speed);
    }
  }
}

/* M (V - B u) of each body, where its velocity V is given, joins the impulses on it. */
static void add_momenta_off(const view *v, const real *V) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const real *given = V + 6 * i;
    twist *off = &v->increment[i];
    real arm[3], at_point[3];
    arm_of_com(v, i, arm);
    for (int k = 0; k < 3; k++) arm[k] = -arm[k];
    velocity_at(given, arm, at_point);
    for (int k = 0; k < 3; k++) off->a[k] = given[k] - off->a[k], off->l[k] = at_point[k] - off->l[k];
  }
  compute_body_wrenches(v, 0);
  for (int32_t i = 0; i < v->m->size.bodies; i++)
    for (int k = 0; k < 3; k++) {
      v->inertia[i].Fa[k] += v->wrench[i].a[k];
      v->inertia[i].Fl[k] += v->wrench[i].l[k];
    }
}

/* For accelerations with all udot zero. */
static void set_biases(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    copy(3, v->increment[i].a, v->motion[i].aw);
    copy(3, v->increment[i].l, v->motion[i].av);
  }
}

static void apply_impulses(const view *v, const double *impulse) {
  for (int32_t i = 0; impulse && i < v->m->size.bodies; i++) {
    const double *own = impulse + 6 * v->m->link[i].body;
    const twist on_body = {{own[0], own[1], own[2]}, {own[3], own[4], own[5]}};
    real arm[3];
    arm_of_com(v, i, arm);
    apply_wrench(v, i, arm, 1.0, &on_body);
  }
}

/* Right-hand sides of the evaluation; jump->after are the speeds before. */
static void start_jump(view *v, const jump_arrays *a, const lw_velocity_jump *jump) {
  const lw_model *m = v->m;
  real *V = (real *)v->wrench, *before = jump->after;
  if (jump->before) {
    velocities_as_given(v, jump->before, V);
    for (int32_t i = 0; i < m->size.bodies; i++) find_speeds_of_joint(v, m->link[i].joint, V, before);
    propagate_increments(v, before);
  } else {
    copy(m->size.nu, (const real *)FIELD(v, u), before);
    velocities_by_speeds(v, before, V);
  }
  find_cut_speeds(v, jump->constrained, V, before);
  copy(m->size.nu, before, a->before);
  for (int32_t u = m->size.nu; u < a->speeds; u++) a->impulse[u] = v->rotor[u] * before[u];
  set_biases(v);
  if (jump->before) add_momenta_off(v, V);
  apply_impulses(v, jump->applied_impulse);
  v->before = a->before;
}

/* ---- the equations ---- */

/* Rows of a cluster that others imply, where it has so many degrees of freedom. */
static int has_redundant_rows(const view *v, int32_t c, int32_t dof) {
  const lw_cluster *cluster = &v->m->cluster[c];
  int32_t rows = 0;
  for (int32_t i = 0; i < cluster->loops; i++) rows += 6 - v->m->loop[loop_of(v, c, i)].columns;
  for (int32_t i = 0; i < cluster->couplings; i++) rows += coupling_is_enforced(v, coupling_of(v, c, i));
  return rows > tree_columns_of(v, c) - dof;
}

/* Closes the loops. Returns 0 where divide and conquer decides: near singular poses. */
static int prepare_reduction(const view *v) {
  if (solve_clusters(v).kind) return 0;
  load_by_forces(v);
  return has_massless_bodies(v) || !classify_singularity(v);
}

static void reduce_with_impulses(const view *v) {
  load_by_forces(v);
  reduce_all(v);
}

/* Returns 0 where joints move no inertia, or a load acts about a line without. */
static int is_determined(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++)
    for (int k = 0; k < 3; k++) v->motion[i].aw[k] = v->motion[i].av[k] = 0.0;
  return !check_inertias(v).kind && !check_idle_spins(v).kind;
}

/* Whether loops and couplings leave a column of a cluster any motion. */
static int column_moves(const view *v, int32_t c, int32_t k) {
  const cluster_work w = work_of(v, c);
  const int32_t n = w.ranks->independent, r = free_of(&w);
  const real *X = w.X + k * w.ranks->width + FIRST_FREE, per_metric = 1.0 / metric_of(v, column_of(v, c, k));
  const double gap2 = 400.0 * residual2_of(v, c, &w);
  real *y = w.solution, *z = w.solution + w.ranks->width, size2 = 0.0;
  for (int32_t j = 0; j < r; j++) {
    real along = 0.0;
    for (int32_t i = 0; i < r; i++) y[i] = i == j ? 1.0 : 0.0;
    extend(&w, y, -1, z);
    for (int32_t i = 0; i < n; i++) along += X[i] * z[i];
    size2 += along * along * per_metric * per_metric;
  }
  return size2 > (gap2 > HELD_SPEED ? gap2 : HELD_SPEED);
}

static int speed_moves(const view *v, int32_t u) {
  const int32_t j = location_of_speed(v, u).joint, c = u - v->m->joint[j].u, l = v->m->joint[j].loop;
  if (!joint_is_active(v->m, j)) return 0;
  if (l >= 0) return column_moves(v, v->m->loop[l].cluster, v->m->loop[l].column + c);
  const lw_link *link = &v->m->link[v->m->joint[j].link];
  return link->cluster < 0 || column_moves(v, link->cluster, link->column + c);
}

/* W of n speeds by columns, at rest and with loops closed. */
static void find_compliance(const view *v, int32_t n, const int32_t *u, real *impulse, real *W) {
  for (int32_t j = 0; j < n; j++) {
    const int moves = speed_moves(v, u[j]);
    impulse[u[j]] = 1.0;
    reduce_with_impulses(v);
    impulse[u[j]] = 0.0;
    for (int32_t i = 0; i < n; i++) W[i * n + j] = v->acceleration[u[i]];
    if (!moves) W[j * n + j] = 0.0;
  }
}

/* ---- constrained speeds ---- */

/* W in units in which its diagonal is one, factored. */
static void factor_compliance_of_constrained(const jump_arrays *a, pivoted_qr *qr) {
  for (int32_t i = 0; i < a->n; i++) {
    const real d = a->W[i * a->n + i];
    a->scale[i] = d > 0.0 ? 1.0 / root(d) : 0.0;
  }
  for (int32_t i = 0; i < a->n; i++)
    for (int32_t j = 0; j < a->n; j++) a->W[i * a->n + j] *= a->scale[i] * a->scale[j];
  qr_factor(qr, SQUARED_RANK_TOLERANCE);
}

/* What a constrained speed has to change by yet, in this evaluation. */
static real due_of(const view *v, const lw_velocity_jump *jump, int32_t u) {
  return jump->target[u] + (u < v->m->size.nu ? 0.0 : jump->after[u]) - v->acceleration[u];
}

/* Adds impulses along the constrained speeds until these change as they should; where they depend on each other, of
 * least norm. Returns by how much one still misses its target. */
static real constrain_speeds(const view *v, const jump_arrays *a, const lw_velocity_jump *jump, const pivoted_qr *qr) {
  for (int pass = 0; pass < PASSES_OF_CONSTRAINED; pass++) {
    for (int32_t i = 0; i < a->n; i++) {
      a->excess[i] = a->scale[i] * due_of(v, jump, a->u[i]);
      a->lambda[i] = 0.0;
    }
    qr_least_norm(qr, a->excess, a->lambda);
    for (int32_t i = 0; i < a->n; i++) a->impulse[a->u[i]] += a->scale[i] * a->lambda[i];
    reduce_with_impulses(v);
  }
  real most = 0.0;
  for (int32_t i = 0; i < a->n; i++) most = fmax(most, fabs(due_of(v, jump, a->u[i])));
  return most;
}

/* ---- results ---- */

static void report_impulses(const view *v, const jump_arrays *a, const lw_velocity_jump *jump) {
  const lw_model *m = v->m;
  compute_reactions(v);
  copy(3 * m->size.joints, (const real *)FIELD(v, reaction_torque), jump->torque);
  copy(3 * m->size.joints, (const real *)FIELD(v, reaction_force), jump->force);
  for (int32_t l = 0; l < m->size.loops; l++)
    for (int k = 0; m->loop[l].cluster < 0 && k < 3; k++)
      jump->torque[3 * m->loop[l].joint + k] = jump->force[3 * m->loop[l].joint + k] = 0.0;
  for (int32_t i = 0; i < m->couplings; i++)
    jump->coupling_impulse[i] = coupling_is_enforced(v, i) ? FIELD(v, coupling_load)[i] : 0.0;
  for (int32_t u = 0; u < a->speeds; u++)
    jump->constraint_impulse[u] =
        !jump->constrained[u] ? 0.0 : a->impulse[u] - (u < m->size.nu ? 0.0 : v->rotor[u] * jump->after[u]);
}

static void report_speeds(const view *v, const lw_velocity_jump *jump) {
  const lw_model *m = v->m;
  for (int32_t u = 0; u < m->size.nu; u++) jump->after[u] += v->acceleration[u];
  for (int32_t l = 0; l < m->size.loops; l++)
    for (int32_t u = m->loop[l].u; u < m->loop[l].u + m->loop[l].columns; u++)
      jump->after[u] = m->loop[l].cluster < 0 ? 0.0 : v->acceleration[u];
}

/* The rate of the distance between two points less the rate asked for; the same of a coupling. */
static real violation_of_coupling(const view *v, int32_t i, const real *speed, const real *V) {
  const lw_coupling *coupling = &v->m->coupling[i];
  real f[3];
  if (!coupling_is_enforced(v, i)) return 0.0;
  motion_at(v, i, f);
  real rate = -f[1];
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
    rate += slope_of_term(v, t) * speed[v->m->term[t].u];
  if (coupling->distance < 0) return rate;
  const cluster_work w = work_of(v, coupling->cluster);
  const span s = find_span(v, &w, coupling->distance);
  for (int end = 0; end < 2; end++) {
    const int32_t link = s.link[end];
    real arm[3], c[3], velocity[3];
    if (link < 0) continue;
    arm_of_com(v, link, c);
    for (int k = 0; k < 3; k++) arm[k] = s.arm[end][k] - c[k];
    velocity_at(V + 6 * link, arm, velocity);
    rate += sign_at_end(end) * dot(s.n, velocity);
  }
  return rate;
}

/* The largest rate along what a cut joint constrains. */
static real violation_of_cut_joint(const view *v, int32_t j, const real *V) {
  joint_frame f;
  real most = 0.0;
  find_joint_frame(v, j, &f);
  for (int32_t k = 0; k < constrained_directions(v->m, j); k++) most = fmax(most, fabs(along_joint(v, j, &f, k, V)));
  return most;
}

/* What redundant constraints leave by the speeds afterwards: not small where they contradict each other. */
static real largest_violation(const view *v, const real *speed) {
  real *V = (real *)v->wrench, most = 0.0;
  velocities_by_speeds(v, speed, V);
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work w = work_of(v, c);
    if (!has_redundant_rows(v, c, dof_of(ranks_of(v, c)))) continue;
    for (int32_t i = 0; i < w.cluster->loops; i++) {
      place_cut_joint(v, &w, loop_of(v, c, i));
      most = fmax(most, violation_of_cut_joint(v, v->m->loop[loop_of(v, c, i)].joint, V));
    }
    for (int32_t i = 0; i < w.cluster->couplings; i++)
      most = fmax(most, fabs(violation_of_coupling(v, coupling_of(v, c, i), speed, V)));
  }
  return most;
}

static real fastest_speed(const jump_arrays *a, const double *speed) {
  real most = ROUNDING_SPEED;
  for (int32_t u = 0; u < a->speeds; u++) most = fmax(most, fabs(speed[u]));
  return most;
}

/* ---- jumps and compliances ---- */

static int32_t list_constrained(const lw_model *m, const lw_jump_workspace *workspace,
                                const unsigned char *constrained) {
  int32_t n = 0, *list;
  for (int32_t u = 0; u < m->size.nu + m->size.nu_cut; u++) n += constrained[u] != 0;
  list = workspace->integers + n;
  for (int32_t u = 0; u < m->size.nu + m->size.nu_cut; u++)
    if (constrained[u]) *list++ = u;
  return n;
}

/* Returns 0 where divide and conquer decides: also where rows contradict each other. */
static int reduced_jump(const lw_model *m, lw_block b, lw_velocity_jump *jump, const lw_jump_workspace *workspace) {
  const int32_t n = list_constrained(m, workspace, jump->constrained);
  const jump_arrays a = jump_arrays_of(m, workspace, n);
  view v = open_view(m, b);
  const int reduces_anyway = has_massless_bodies(&v);
  pivoted_qr qr = {.rows = n, .columns = n, .a = a.W, .diagonal = a.diagonal, .order = a.order};
  rest(&v, &a);
  jump->residual = NAN;
  if (n) {
    if (!prepare_reduction(&v)) return reduces_anyway;
    find_compliance(&v, n, a.u, a.impulse, a.W);
    factor_compliance_of_constrained(&a, &qr);
  }
  start_jump(&v, &a, jump);
  if (!prepare_reduction(&v)) return reduces_anyway;
  reduce_all(&v);
  const real missed = n ? constrain_speeds(&v, &a, jump, &qr) : 0.0;
  if (!is_determined(&v)) return reduces_anyway;
  if (!reduces_anyway && loses_digits(&v)) return 0;
  report_impulses(&v, &a, jump);
  report_speeds(&v, jump);
  jump->residual = fmax(missed, largest_violation(&v, jump->after));
  return reduces_anyway || jump->residual <= CONSISTENT_ROW * fastest_speed(&a, jump->after);
}

static int reduced_compliance(const lw_model *m, lw_block b, int32_t n, const int32_t *u, double *W,
                              const lw_jump_workspace *workspace) {
  const jump_arrays a = jump_arrays_of(m, workspace, 0);
  view v = open_view(m, b);
  const int reduces_anyway = has_massless_bodies(&v);
  rest(&v, &a);
  const int solved = prepare_reduction(&v);
  if (solved) find_compliance(&v, n, u, a.impulse, W);
  if (!solved || check_inertias(&v).kind) {
    for (int32_t k = 0; k < n * n; k++) W[k] = NAN;
    return reduces_anyway;
  }
  return reduces_anyway || !loses_digits(&v);
}
#endif
