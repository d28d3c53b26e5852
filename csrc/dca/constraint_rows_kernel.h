/* The constraints of joints, couplings and distances (loops/basic_constraints_kernel.h) as rows over the velocities of bodies:
 * for each end six coefficients, which are the wrench on it by a load of one, about its centre of mass. A joint has
 * six directions at the origin of its declared child's frame: those of its speeds, which stand last, are the free parts
 * of its columns, so that the row of such a direction is the speed itself; the constrained ones, three less these of
 * angles and of displacements, are unit vectors that complete them, less their parts along the columns.
 *
 * The reflected inertia J of a speed u is that of a rotor, a body of one velocity, which a row couples to the speed:
 * sqrt(J) u - z = 0 with the rotor's velocity z for a mass of one. */
#ifndef LW_DCA_CONSTRAINT_ROWS_KERNEL_H
#define LW_DCA_CONSTRAINT_ROWS_KERNEL_H
#include "math/tolerances.h"
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "dca/bodies_kernel.h"
#include <assert.h>

typedef struct joint_frame {
  twist d[6];                     /* wrenches of a load of one: along constrained directions, then along the speeds */
  real on_child[3], on_parent[3]; /* from the centres of mass of both links to the origin */
} joint_frame;
static_assert(sizeof(joint_frame) == LW_DCA_FRAME_REALS * sizeof(real), "as in model/dca_workspace.h");

typedef struct joint_ends {
  int32_t child, parent; /* links, -1 the ground */
} joint_ends;

INLINE joint_ends ends_of(const lw_model *m, int32_t j) {
  const lw_joint *joint = &m->joint[j];
  if (joint->loop >= 0) return (joint_ends){m->loop[joint->loop].child, m->loop[joint->loop].parent};
  return (joint_ends){joint->link, m->link[joint->link].parent};
}

INLINE joint_frame *frame_of(const dca_work *w, int32_t j) { return (joint_frame *)w->frame + j; }

INLINE int32_t speeds_of(const lw_model *m, int32_t j) { return lw_joint_sizes[m->joint[j].type].u; }

/* An open pin connects nothing. */
INLINE int joint_is_active(const lw_model *m, int32_t j) {
  return m->joint[j].loop < 0 || m->loop[m->joint[j].loop].cluster >= 0;
}

/* ---- frames ---- */

/* Two directions across another, all three unit vectors at right angles. */
static void across(const real e[3], real first[3], real second[3]) {
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(re(e[k])) < fabs(re(e[least]))) least = k;
  real axis[3] = {0.0, 0.0, 0.0};
  axis[least] = 1.0;
  cross(e, axis, first);
  const real size = root(dot(first, first));
  for (int k = 0; k < 3; k++) first[k] /= size;
  cross(e, first, second);
}

/* The directions that complete a joint's own. They depend on these and the world axes alone, not on the axes of the
 * joint's frame: redundant rows of a loop, which are dropped where it is open by a little, are then the same in all of
 * its joints. */
static void fill_constrained_directions(int32_t constrained, const real *const own[3], real (*out)[3]) {
  if (constrained == 2) across(own[0], out[0], out[1]);
  if (constrained == 1) cross(own[0], own[1], out[0]);
  for (int k = 0; constrained == 3 && k < 3; k++)
    for (int j = 0; j < 3; j++) out[k][j] = j == k ? 1.0 : 0.0;
}

/* To a joint's origin, from the points of its links; the columns of its speeds there. */
typedef struct joint_points {
  real from_child[3], from_parent[3];
  twist P[6];
} joint_points;

static void tree_joint_points(const view *v, int32_t i, joint_points *at) {
  const lw_link *link = &v->m->link[i];
  copy(3, v->motion[i].r, at->from_parent);
  if (link->reversed) rotate(motion_of(v, link->parent)->R, v->constants[i].p, at->from_parent);
  for (int k = 0; k < 3; k++) at->from_child[k] = at->from_parent[k] - v->motion[i].r[k];
  for (int32_t c = 0; c < 6 && c < link->speeds; c++) {
    column_of_link(v, i, c, &at->P[c]);
    add_cross(at->P[c].a, at->from_child, at->P[c].l);
  }
}

static void cut_joint_points(const view *v, int32_t l, joint_points *at) {
  rotate(motion_of(v, v->m->loop[l].child)->R, v->cut[l].pc, at->from_child);
  copy(3, phantom_of(v, l)->r, at->from_parent);
  for (int32_t c = 0; c < 6 && c < v->m->loop[l].columns; c++) column_of_cut_joint(v, l, c, &at->P[c]);
}

/* Takes the part along the columns out of a constrained direction. */
INLINE void take_out_columns(int32_t type, const twist *P, const twist *free_directions, twist *d) {
  for (int32_t c = 0; c < lw_joint_sizes[type].u; c++) add_column(&free_directions[c], -dot_twist(&P[c], d), d);
}

static void fill_directions(int32_t type, const twist *P, twist d[6]) {
  const constraint_frame *rows = constraint_frame_of(type);
  const int32_t constrained = rows->angular + rows->linear;
  const real *own[2][3];
  real e[2][3][3];
  int32_t count[2] = {0, 0};
  for (int32_t k = constrained; k < 6; k++) {
    const int linear = lw_joint_sizes[type].translations >> (k - constrained) & 1;
    d[k] = P[k - constrained];
    keep_free_part(type, k - constrained, &d[k]);
    own[linear][count[linear]++] = linear ? d[k].l : d[k].a;
  }
  fill_constrained_directions(rows->angular, own[0], e[0]);
  fill_constrained_directions(rows->linear, own[1], e[1]);
  for (int32_t k = 0; k < constrained; k++) {
    const int linear = k >= rows->angular;
    memset(&d[k], 0, sizeof d[k]);
    copy(3, e[linear][linear ? k - rows->angular : k], linear ? d[k].l : d[k].a);
    if (is_mixed(rows)) take_out_columns(type, P, d + constrained, &d[k]);
  }
}

static void find_joint_frame(const view *v, int32_t j, joint_frame *f) {
  const lw_joint *joint = &v->m->joint[j];
  const joint_ends ends = ends_of(v->m, j);
  joint_points at;
  real c[3];
  if (joint->loop < 0) tree_joint_points(v, joint->link, &at);
  else cut_joint_points(v, joint->loop, &at);
  fill_directions(joint->type, at.P, f->d);
  copy(3, at.from_child, f->on_child);
  copy(3, at.from_parent, f->on_parent);
  if (ends.child >= 0) arm_of_com(v, ends.child, c);
  for (int k = 0; ends.child >= 0 && k < 3; k++) f->on_child[k] -= c[k];
  if (ends.parent >= 0) arm_of_com(v, ends.parent, c);
  for (int k = 0; ends.parent >= 0 && k < 3; k++) f->on_parent[k] -= c[k];
}

/* ---- along a direction of a joint ---- */

INLINE real along_at_link(const real V[6], const real arm[3], const twist *d) {
  real at[3];
  velocity_at(V, arm, at);
  return dot(d->a, V) + dot(d->l, at);
}

/* Motion of the child less that of the parent; V of all links. */
static real along_joint(const view *v, int32_t j, const joint_frame *f, int32_t direction, const real *V) {
  const joint_ends ends = ends_of(v->m, j);
  real sum = 0.0;
  if (ends.child >= 0) sum += along_at_link(V + 6 * ends.child, f->on_child, &f->d[direction]);
  if (ends.parent >= 0) sum -= along_at_link(V + 6 * ends.parent, f->on_parent, &f->d[direction]);
  return sum;
}

static real along_direction(const view *v, const dca_work *w, int32_t j, int32_t direction, const real *V) {
  return along_joint(v, j, frame_of(w, j), direction, V);
}

/* A row's coefficients of a link's velocity; NULL: of the ground's. */
INLINE real *jacobian_block_of(const dca_work *w, int32_t constraint, int32_t row, int32_t link) {
  const lw_dca_constraint *c = &w->plan->list[constraint];
  if (link < 0) return NULL;
  int32_t i = 0;
  while (w->plan->fragment[w->plan->end[c->first + i]].link != link) i++;
  return w->jacobian + 6 * (c->first_jacobian_block + row * c->ends + i);
}

/* += a wrench at an arm. */
INLINE void add_load(real *jacobian, real by, const real arm[3], const twist *d) {
  if (!jacobian) return;
  real torque[3];
  cross(arm, d->l, torque);
  for (int k = 0; k < 3; k++) jacobian[k] += by * (d->a[k] + torque[k]), jacobian[3 + k] += by * d->l[k];
}

static void add_direction(const view *v, const dca_work *w, int32_t j, int32_t direction, real by, int32_t constraint,
                          int32_t row) {
  const joint_ends ends = ends_of(v->m, j);
  const joint_frame *f = frame_of(w, j);
  add_load(jacobian_block_of(w, constraint, row, ends.child), by, f->on_child, &f->d[direction]);
  add_load(jacobian_block_of(w, constraint, row, ends.parent), -by, f->on_parent, &f->d[direction]);
}

/* ---- rows ---- */

INLINE int32_t constrained_directions(const lw_model *m, int32_t j) { return 6 - speeds_of(m, j); }

/* The reflected inertia of a direction of a joint. */
INLINE real rotor_along(const view *v, int32_t j, int32_t direction) {
  const int32_t c = direction - constrained_directions(v->m, j);
  return c < 0 ? 0.0 : v->rotor[v->m->joint[j].u + c];
}

/* Whether a direction of a joint has a row, and whether that has a rotor: not in a constrained speed, whose change is
 * given. */
typedef enum row_of_direction { NO_ROW, PLAIN_ROW, ROW_WITH_ROTOR } row_of_direction;

INLINE row_of_direction kind_of_row(const view *v, int32_t j, int32_t direction, const unsigned char *constrained) {
  const int32_t c = direction - constrained_directions(v->m, j);
  if (c < 0 || (constrained && constrained[v->m->joint[j].u + c])) return PLAIN_ROW;
  return re(rotor_along(v, j, direction)) > 0.0 ? ROW_WITH_ROTOR : NO_ROW;
}

static void fill_joint_rows(const view *v, const dca_work *w, int32_t j, const unsigned char *constrained) {
  int32_t rows = 0;
  if (!joint_is_active(v->m, j)) return;
  find_joint_frame(v, j, frame_of(w, j));
  for (int32_t k = 0; k < 6; k++) {
    const row_of_direction row = kind_of_row(v, j, k, constrained);
    if (row == NO_ROW) continue;
    if (row == ROW_WITH_ROTOR) w->rotor[w->plan->list[j].first_row + rows] = 1.0;
    add_direction(v, w, j, k, row == ROW_WITH_ROTOR ? root(rotor_along(v, j, k)) : 1.0, j, rows++);
  }
  w->rows[j] = rows;
}

static void fill_distance_row(const view *v, const dca_work *w, int32_t i, int32_t constraint) {
  const lw_coupling *coupling = &v->m->coupling[i];
  const cluster_work at = work_of(v, coupling->cluster);
  const span s = find_span(v, &at, coupling->distance);
  for (int end = 0; end < 2; end++) {
    const int32_t link = s.link[end];
    real arm[3], c[3] = {0.0, 0.0, 0.0};
    if (link >= 0) arm_of_com(v, link, c);
    for (int k = 0; k < 3; k++) arm[k] = s.arm[end][k] - c[k];
    const twist force = wrench_along_span(&s, 1.0);
    add_load(jacobian_block_of(w, constraint, 0, link), sign_at_end(end), arm, &force);
  }
}

/* The joint that has a term's speed, and the direction of that. */
typedef struct term_location {
  int32_t joint, direction;
} term_location;

static term_location location_of_term(const view *v, int32_t t) {
  const lw_term *term = &v->m->term[t];
  const lw_column *column = column_of(v, v->m->coupling[term->coupling].cluster, term->column);
  const int32_t j = column->link >= 0 ? v->m->link[column->link].joint : v->m->loop[column->loop].joint;
  return (term_location){j, constrained_directions(v->m, j) + term->u - v->m->joint[j].u};
}

static void fill_coupling_row(const view *v, const dca_work *w, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  const int32_t constraint = v->m->size.joints + i;
  if (!coupling_is_enforced(v, i)) return;
  if (coupling->distance >= 0) fill_distance_row(v, w, i, constraint);
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const term_location at = location_of_term(v, t);
    add_direction(v, w, at.joint, at.direction, slope_of_term(v, t), constraint, 0);
  }
  w->rows[constraint] = 1;
}

/* Fragments of a body move alike. */
static void fill_weld_rows(const view *v, const dca_work *w) {
  for (int32_t c = v->m->size.joints + v->m->size.couplings; c < w->plan->constraints; c++) {
    const lw_dca_constraint *weld = &w->plan->list[c];
    w->rows[c] = weld->rows;
    for (int32_t k = 0; k < weld->rows; k++) {
      real *jacobian = w->jacobian + 6 * (weld->first_jacobian_block + 2 * k);
      jacobian[k] = 1.0, jacobian[6 + k] = -1.0;
      w->target[weld->first_row + k] = 0.0;
    }
  }
}

/* In loops that are open by a little, redundant constraints are independent by as little, and mean nothing. The welds
 * of high-degree bodies may close any of them. */
static void find_rank_tolerances(const view *v, const dca_work *w) {
  double widest = REDUNDANT_ROW;
  for (int32_t k = 0; k < w->plan->constraints; k++) w->rank_tolerance[k] = REDUNDANT_ROW;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work at = work_of(v, c);
    const double gap = 20.0 * sqrt(residual2_of(v, c, &at));
    if (!(gap > REDUNDANT_ROW)) continue;
    widest = gap > widest ? gap : widest;
    for (int32_t i = at.cluster->first; i < at.cluster->first + at.cluster->count; i++)
      w->rank_tolerance[v->m->link[i].joint] = gap;
    for (int32_t i = 0; i < at.cluster->loops; i++) w->rank_tolerance[v->m->loop[loop_of(v, c, i)].joint] = gap;
    for (int32_t i = 0; i < at.cluster->couplings; i++)
      w->rank_tolerance[v->m->size.joints + coupling_of(v, c, i)] = gap;
  }
  for (int32_t k = v->m->size.joints + v->m->size.couplings; k < w->plan->constraints; k++)
    w->rank_tolerance[k] = widest;
}

/* Needs the phantoms in their places, and the residuals of loops. */
static void fill_all_rows(const view *v, const dca_work *w, const unsigned char *constrained) {
  memset(w->jacobian, 0, sizeof *w->jacobian * 6 * (size_t)w->plan->jacobian_blocks);
  memset(w->rows, 0, sizeof *w->rows * (size_t)w->plan->constraints);
  memset(w->rotor, 0, sizeof *w->rotor * (size_t)w->plan->rows);
  for (int32_t j = 0; j < v->m->size.joints; j++) fill_joint_rows(v, w, j, constrained);
  for (int32_t i = 0; i < v->m->size.couplings; i++) fill_coupling_row(v, w, i);
  fill_weld_rows(v, w);
  find_rank_tolerances(v, w);
}

/* What a row makes of velocities. */
static real apply_row(const dca_work *w, int32_t constraint, int32_t row, const real *V) {
  const lw_dca_constraint *c = &w->plan->list[constraint];
  const real *jacobian = w->jacobian + 6 * (c->first_jacobian_block + row * c->ends);
  real sum = 0.0;
  for (int32_t i = 0; i < c->ends; i++) sum += dot6(jacobian + 6 * i, V + 6 * w->plan->end[c->first + i]);
  return sum;
}
#endif
