/* Jumps with massless bodies. Divide and conquer takes the inverse of each body's inertia; here the same rows and
 * targets are solved by the tree's speeds, of which the motions that satisfy all constraints have inertia together.
 * With dV = d + B du, d from the velocities before to those that the tree's joints allow, and wrenches p on the bodies,
 *   M du + B'(M_b d - p) = G' lambda,   G du = target - C d,   M = B' M_b B, G = C B over the rows outside of the tree.
 * G' P = Q [R; 0] gives du = Q [a; b], a by the targets and b by the inertia of Q2' M Q2, which is regular where the
 * accelerations are, although M need not be. Loads of the tree's joints follow from the balance of each body. Redundant
 * rows outside of the tree share their loads for a lambda of least norm.
 *
 * Dense, of the third order in the number of speeds: only where there are massless bodies.
 *
 * Speeds and rows are counted in the length of their cluster, so that independent rows have a size near one. */
#ifndef LW_DCA_JOINT_SPACE_EQUATIONS_KERNEL_H
#define LW_DCA_JOINT_SPACE_EQUATIONS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/ldl_kernel.h"
#include "math/pivoted_qr_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/speed_metric_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/inertia_check_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/constraint_rows_kernel.h"
#include "math/tolerances.h"

typedef struct dense_jump {
  int32_t n, rows, free;                 /* tree speeds, rows outside of the tree and in it, motions that are left */
  double tolerance;                      /* of the rank */
#define ARRAY(name, scalars) real *name; /* see model/dca_workspace.h */
  LW_JUMP_ARRAYS(ARRAY)
#undef ARRAY
  int32_t *constraint, *number; /* of each row */
  pivoted_qr qr;                /* of G', row by row */
} dense_jump;

static dense_jump dense_jump_of(const view *v) {
  const lw_dca_plan *p = &v->m->dca;
  const lw_sizes *s = &v->m->size;
  dense_jump d = {.n = s->nu};
  real *next = v->dca->dense;
#define ARRAY(name, scalars) d.name = next, next += (int64_t)(scalars);
  LW_JUMP_ARRAYS(ARRAY)
#undef ARRAY
  const int32_t most = LW_JUMP_ROWS;
  d.constraint = v->dca->dense_integers;
  d.number = d.constraint + most;
  d.qr = (pivoted_qr){.rows = d.n, .a = d.G, .diagonal = d.diagonal, .order = d.number + most};
  return d;
}

/* ---- the tree ---- */

/* From the centre of mass of a link's parent to the link's point. */
static void arm_on_parent(const view *v, int32_t i, real arm[3]) {
  const int32_t parent = v->m->link[i].parent;
  real c[3] = {0.0, 0.0, 0.0};
  if (parent >= 0) arm_of_com(v, parent, c);
  for (int k = 0; k < 3; k++) arm[k] = v->motion[i].r[k] - c[k];
}

static void copy_to_fragments(const view *v, const dca_work *w, real *V) {
  for (int32_t i = v->m->size.bodies; i < w->plan->bodies; i++) copy(6, V + 6 * w->plan->fragment[i].link, V + 6 * i);
}

/* V = B u, of all fragments. */
static void velocities_of(const view *v, const dca_work *w, const real *u, real *V) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    real *own = V + 6 * i, arm[3];
    for (int k = 0; k < 6; k++) own[k] = 0.0;
    arm_on_parent(v, i, arm);
    if (link->parent >= 0) {
      copy(3, V + 6 * link->parent, own);
      velocity_at(V + 6 * link->parent, arm, own + 3);
    }
    for (int32_t c = 0; c < link->speeds; c++) {
      twist P;
      column_of_link(v, i, c, &P);
      for (int k = 0; k < 3; k++) own[k] += P.a[k] * u[link->u + c], own[3 + k] += P.l[k] * u[link->u + c];
    }
    arm_of_com(v, i, arm);
    add_cross(own, arm, own + 3);
  }
  copy_to_fragments(v, w, V);
}

/* f = B' F; F becomes the wrenches on each link with its outboard links. */
static void loads_of(const view *v, real *F, real *f) {
  for (int32_t i = v->m->size.bodies - 1; i >= 0; i--) {
    const lw_link *link = &v->m->link[i];
    real arm[3], at_point[3];
    arm_of_com(v, i, arm);
    shift_wrench(arm, F + 6 * i, F + 6 * i + 3, at_point);
    for (int32_t c = 0; c < link->speeds; c++) {
      twist P;
      column_of_link(v, i, c, &P);
      f[link->u + c] = dot(P.a, at_point) + dot(P.l, F + 6 * i + 3);
    }
    if (link->parent < 0) continue;
    arm_on_parent(v, i, arm);
    add_wrench(arm, 1.0, at_point, F + 6 * i + 3, F + 6 * link->parent, F + 6 * link->parent + 3);
  }
}

static void find_world_inertias(const view *v, const dense_jump *d) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    real R[9];
    multiply(v->motion[i].R, v->constants[i].Rb, R);
    rotate_symmetric(R, FIELD(v, body_inertia) + 6 * v->m->link[i].body, d->inertia + 6 * i);
    if (re(spin_of(v, i)->inertia) != 0.0) add_stand_in(spin_of(v, i), v->motion[i].R, 1.0, d->inertia + 6 * i);
  }
}

static void momenta_of(const view *v, const dense_jump *d, const real *V, real *F) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    symmetric_times(d->inertia + 6 * i, V + 6 * i, F + 6 * i);
    for (int k = 3; k < 6; k++) F[6 * i + k] = v->constants[i].m * V[6 * i + k];
  }
}

/* += the wrenches of a row by a load. */
static void add_row_load(const dca_work *w, int32_t constraint, int32_t row, real load, real *F) {
  const lw_dca_constraint *c = &w->plan->list[constraint];
  const real *jacobian = w->jacobian + 6 * (c->first_jacobian_block + row * c->ends);
  for (int32_t i = 0; i < c->ends; i++) {
    real *on = F + 6 * w->plan->fragment[w->plan->end[c->first + i]].link;
    for (int k = 0; k < 6; k++) on[k] += load * jacobian[6 * i + k];
  }
}

/* ---- rows ---- */

static int is_tree_joint(const view *v, int32_t constraint) {
  return constraint < v->m->size.joints && v->m->joint[constraint].loop < 0;
}

static int row_has_rotor(const dca_work *w, int32_t constraint, int32_t row) {
  return re(w->rotor[w->plan->list[constraint].first_row + row]) != 0.0;
}

static int32_t cluster_of(const view *v, int32_t constraint) {
  const int32_t joints = v->m->size.joints;
  return constraint < joints ? v->m->loop[v->m->joint[constraint].loop].cluster
                             : v->m->coupling[constraint - joints].cluster;
}

/* One by the size of a row over the velocities of the bodies, or of a coupling over its speeds. */
static real scale_of_row(const view *v, const dca_work *w, int32_t constraint, int32_t row) {
  const int32_t coupling = constraint - v->m->size.joints;
  if (coupling >= 0 && has_ratio(&v->m->coupling[coupling])) {
    const coupling_row asked = row_of_coupling(v, v->m->coupling[coupling].cluster, coupling);
    return asked.per_size * asked.stage;
  }
  const lw_dca_constraint *c = &w->plan->list[constraint];
  const real *jacobian = w->jacobian + 6 * (c->first_jacobian_block + row * c->ends);
  const real length = length_of(v, cluster_of(v, constraint));
  real size2 = 1e-300;
  for (int32_t i = 0; i < 6 * c->ends; i++) size2 += jacobian[i] * jacobian[i] * (i % 6 < 3 ? 1.0 : length * length);
  return 1.0 / root(size2);
}

static void add_dense_row(dense_jump *d, int32_t constraint, int32_t row, real scale) {
  d->constraint[d->rows] = constraint, d->number[d->rows] = row, d->scale[d->rows++] = scale;
}

static void list_tree_rows(const view *v, int32_t j, const unsigned char *constrained, dense_jump *d) {
  int32_t row = constrained_directions(v->m, j);
  for (int32_t c = 0, k = row; c < speeds_of(v->m, j); c++, k++) {
    const row_of_direction kind = kind_of_row(v, j, k, constrained);
    if (kind == PLAIN_ROW) add_dense_row(d, j, row, 1.0 / d->metric[v->m->joint[j].u + c]);
    row += kind != NO_ROW;
  }
}

/* Those of cut joints, couplings and distances, and those of constrained speeds. */
static void list_dense_rows(const view *v, const dca_work *w, const unsigned char *constrained, dense_jump *d) {
  d->rows = 0, d->tolerance = REDUNDANT_ROW;
  for (int32_t c = 0; c < v->m->size.joints + v->m->size.couplings; c++) {
    d->tolerance = fmax(d->tolerance, re(w->rank_tolerance[c]));
    if (is_tree_joint(v, c)) list_tree_rows(v, c, constrained, d);
    else
      for (int32_t k = 0; k < w->rows[c]; k++)
        if (!row_has_rotor(w, c, k)) add_dense_row(d, c, k, scale_of_row(v, w, c, k));
  }
}

/* ---- the equations ---- */

static void find_metric(const view *v, const dense_jump *d) {
  for (int32_t u = 0; u < d->n; u++) d->metric[u] = 1.0;
  for (int32_t c = 0; c < v->m->clusters; c++)
    for (int32_t i = v->m->cluster[c].first; i < v->m->cluster[c].first + v->m->cluster[c].count; i++)
      for (int32_t k = 0; k < v->m->link[i].speeds; k++)
        d->metric[v->m->link[i].u + k] = metric_of(v, column_of(v, c, v->m->link[i].column + k));
}

/* Rotors of cut joints move with the bodies. */
static void add_cut_rotors(const view *v, const dca_work *w, const real *V, real *F) {
  for (int32_t c = 0; c < v->m->size.joints; c++)
    for (int32_t k = 0; !is_tree_joint(v, c) && k < w->rows[c]; k++)
      if (row_has_rotor(w, c, k)) add_row_load(w, c, k, apply_row(w, c, k, V), F);
}

/* Column by column. */
static void fill_equations(const view *v, const dca_work *w, const dense_jump *d) {
  for (int32_t u = 0; u < d->n; u++) d->x[u] = 0.0;
  for (int32_t u = 0; u < d->n; u++) {
    real *M = d->M + (int64_t)u * d->n;
    d->x[u] = d->metric[u];
    velocities_of(v, w, d->x, d->V);
    d->x[u] = 0.0;
    for (int32_t i = 0; i < d->rows; i++)
      d->G[(int64_t)i * d->n + u] = d->scale[i] * apply_row(w, d->constraint[i], d->number[i], d->V);
    momenta_of(v, d, d->V, d->F);
    add_cut_rotors(v, w, d->V, d->F);
    loads_of(v, d->F, M);
    M[u] += v->rotor[u] * d->metric[u];
    for (int32_t i = 0; i < d->n; i++) M[i] *= d->metric[i];
  }
}

/* Q' M Q in place. */
static void turn_mass_matrix(const dense_jump *d) {
  const int32_t n = d->n;
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < d->qr.rank; k++) qr_reflect(&d->qr, k, d->M + (int64_t)i * n);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) {
      const real other = d->M[(int64_t)i * n + j];
      d->M[(int64_t)i * n + j] = d->M[(int64_t)j * n + i], d->M[(int64_t)j * n + i] = other;
    }
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < d->qr.rank; k++) qr_reflect(&d->qr, k, d->M + (int64_t)i * n);
}

/* Of the motions that the rows leave. Returns whether all have inertia. */
static int factor_left(const dense_jump *d) {
  const int32_t n = d->n, r = d->qr.rank;
  for (int32_t i = 0; i < d->free; i++) {
    for (int32_t j = 0; j < d->free; j++) d->S[(int64_t)i * d->free + j] = d->M[(int64_t)(r + i) * n + r + j];
    d->y[i] = d->S[(int64_t)i * d->free + i];
  }
  ldl_factor(d->S, d->free);
  for (int32_t i = 0; i < d->free; i++)
    if (!(d->S[(int64_t)i * d->free + i] > LEAST_INERTIA * d->y[i])) return 0;
  return 1;
}

/* Needs the rows. Returns whether they leave no motion without inertia. */
static int prepare_dense_jump(const view *v, const dca_work *w, const unsigned char *constrained, dense_jump *d) {
  find_world_inertias(v, d);
  find_metric(v, d);
  list_dense_rows(v, w, constrained, d);
  fill_equations(v, w, d);
  d->qr.columns = d->rows;
  qr_factor(&d->qr, d->tolerance);
  d->free = d->n - d->qr.rank;
  turn_mass_matrix(d);
  return factor_left(d);
}
#endif
