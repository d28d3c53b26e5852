/* Forward dynamics with Lagrange multipliers, the traditional O(n + n m + n m^2 + m^3) treatment of closed loops (Bae
 * and Haug 1987; Kang and Yoon 2003, (28)-(43)): the articulated-body recursion over the whole tree as though no loop
 * were closed, with all constraint rows propagated inward. Of the increments over the accelerations with all udot
 * zero, column by column:
 *   inward   U = M P, D = P'U + J, e = tau + P'F, z = Phi P;  M -= U U'/D, F -= U e/D, Phi -= z U'/D;
 *            S += z z'/D, gamma -= z e/D;  then M, F and Phi are shifted to the parent's reference point
 *   S lambda = gamma, where S has a one in addition on the diagonal for each rotor of a cut joint
 *   outward  udot = (e - U'a + z'lambda)/D
 * Where multipliers leave little of a load e, as behind a gear of a large ratio, its digits are lost. With the sum
 * e + z'lambda as the new e, the constraints leave the residual gamma - S lambda = gamma(0) - sum z e/D, from which the
 * same factors give a correction of lambda.
 */
#ifndef LW_MULTIPLIERS_SWEEPS_KERNEL_H
#define LW_MULTIPLIERS_SWEEPS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/forces_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "loops/closure_kernel.h"
#include "multipliers/workspace_kernel.h"
#include "multipliers/constraint_rows_kernel.h"
#include "multipliers/solve_kernel.h"
#include "math/tolerances.h"
#include <math.h>

/* ---- inward ---- */

/* How a column's z compares with those of others, squared: constraints on lengths and columns of displacements are
 * counted in the cluster's length. Outside of clusters any length will do. Columns are of unit size. */
INLINE real metric_of_z(const view *v, const lw_link *link, const twist *P) {
  const real length = link->cluster >= 0 ? length_of(v, link->cluster) : v->m->size.loops ? v->cut[0].length : 1.0;
  const real turns = dot(P->a, P->a);
  return turns + (1.0 - turns) * length * length;
}

/* The zeros of a column, which its product with the inertia leaves out. */
typedef enum column_pattern { ROTATION, TRANSLATION, GENERAL } column_pattern;

INLINE real project_row(column_pattern pattern, const twist *P, const real *phi) {
  if (pattern == ROTATION) return dot(P->a, phi);
  if (pattern == TRANSLATION) return dot(P->l, phi + 3);
  return dot(P->a, phi) + dot(P->l, phi + 3);
}

INLINE void gather_column(column_pattern pattern, const articulated *I, const twist *P, twist *U, real *D, real *f) {
  if (pattern == ROTATION) gather_rotation(I, P->a, U->a, U->l, D, f);
  else if (pattern == TRANSLATION) gather_translation(I, P->l, U->a, U->l, D, f);
  else {
    inertia_times(I, P, U);
    *D = dot_twist(P, U);
    *f = dot(P->a, I->Fa) + dot(P->l, I->Fl);
  }
}

/* S += z z'/D over the constraints that reach a link, upper triangle */
INLINE void add_products(const multiplier_work *w, const lw_constraint_support *support, const real *z, real Di) {
  const lw_active_rows *active_rows = w->plan->active_rows, *end = active_rows + support->first + support->active;
  for (const lw_active_rows *a = active_rows + support->first; a < end; a++)
    for (int32_t k = 0; k < a->rows; k++, z++) {
      const real s = *z * Di, *other = z;
      real *to = w->S + w->stride * (a->row + k);
      add_row(a->contiguous - k, s, other, to + a->row + k);
      other += a->contiguous - k;
      for (const lw_active_rows *b = active_rows + a->next; b < end; b = active_rows + b->next) {
        add_row(b->contiguous, s, other, to + b->row);
        other += b->contiguous;
      }
    }
}

/* Projects the constraint rows across a joint column, like the inertia. */
INLINE void articulate_rows(const view *v, const multiplier_work *w, const lw_constraint_support *support,
                            column_pattern pattern, const twist *P, const twist *U, real Di, real e, real metric,
                            real *z) {
  const lw_active_rows *active_rows = w->plan->active_rows + support->first;
  const int coupled = v->m->couplings > 0;
  real *next = z;
  for (int32_t f = 0; f < support->active; f++)
    for (int32_t k = 0; k < active_rows[f].rows; k++, next++) {
      real *phi = w->phi + 6 * (active_rows[f].phi_row + k);
      *next = project_row(pattern, P, phi) + (coupled ? *next : 0.0);
      const real g = *next * Di, size = *next * *next * metric;
      real *largest = w->largest + active_rows[f].row + k;
      *largest = select_less(*largest, size, size, *largest);
      w->gamma[active_rows[f].row + k] -= g * e;
      for (int j = 0; j < 3; j++) phi[j] -= g * U->a[j], phi[3 + j] -= g * U->l[j];
    }
  add_products(w, support, z, Di);
}

INLINE void articulate_column(const view *v, const multiplier_work *w, int32_t i, int32_t c, column_pattern pattern,
                              int about, articulated *I) {
  const lw_constraint_support *support = &w->plan->support[i];
  const int32_t u = v->m->link[i].u + c;
  column_sweep *s = &v->sweep[u];
  twist P, U;
  real D, f;
  column_about(v, w, i, c, about, &P);
  if (about != LW_MULTIPLIERS_JOINT) w->column[u] = P;
  gather_column(pattern, I, &P, &U, &D, &f);
  const real Di = 1.0 / (D + v->rotor[u]), e = v->load[u] + f;
  articulate(U.a, U.l, Di, e * Di, I);
  if (support->rows) {
    const real metric = metric_of_z(v, &v->m->link[i], &P);
    articulate_rows(v, w, support, pattern, &P, &U, Di, e, metric, w->z + support->first_z + c * support->rows);
  }
  copy(3, U.a, s->Ua);
  copy(3, U.l, s->Ul);
  s->Di = Di, s->e = e;
}

static void sum_branch_rows(const multiplier_work *w, const lw_constraint_support *support) {
  for (int32_t k = support->row_sum; k < support->row_sum + support->row_sums; k++) {
    const lw_row_sum *row_sum = &w->plan->row_sum[k];
    const real *from = w->phi + 6 * row_sum->from;
    real *to = w->phi + 6 * row_sum->to;
    for (int32_t j = 0; j < 6 * row_sum->rows; j++) to[j] += from[j];
  }
}

INLINE void shift_in(const view *v, const multiplier_work *w, int32_t i, int about, articulated *I) {
  const lw_constraint_support *support = &w->plan->support[i];
  const lw_active_rows *active_rows = w->plan->active_rows + support->first;
  real r[3];
  if (about == LW_MULTIPLIERS_ORIGIN) return;
  shift_of(v, w, i, about, r);
  shift_inertia(r, I->A, I->B, I->C);
  add_cross(r, I->Fl, I->Fa);
  for (int32_t f = 0; f < support->active; f++)
    for (int32_t k = 0; k < active_rows[f].rows; k++) {
      real *phi = w->phi + 6 * (active_rows[f].phi_row + k);
      add_cross(r, phi + 3, phi);
    }
}

/* About the centre of mass a body's inertia has no coupling block. */
INLINE void add_body_about(const link_inertia *own, int about, articulated *I) {
  if (about != LW_MULTIPLIERS_CENTROID) {
    add_body(own, I);
    return;
  }
  for (int k = 0; k < 6; k++) I->A[k] += own->J[k];
  I->C[0] += own->m, I->C[3] += own->m, I->C[5] += own->m;
  for (int k = 0; k < 3; k++) I->Fa[k] += own->Fa[k], I->Fl[k] += own->Fl[k];
}

INLINE void articulate_joint(const view *v, const multiplier_work *w, int32_t i, int about, articulated *I) {
  const lw_link *link = &v->m->link[i];
  if (link->type == LW_PRISMATIC) articulate_column(v, w, i, 0, TRANSLATION, about, I);
  else if (about == LW_MULTIPLIERS_JOINT && lw_is_rotational(link->type))
    for (int32_t c = link->speeds - 1; c >= 0; c--) articulate_column(v, w, i, c, ROTATION, about, I);
  else
    for (int32_t c = link->speeds - 1; c >= 0; c--) articulate_column(v, w, i, c, GENERAL, about, I);
}

INLINE void sweep_all_in(const view *v, const multiplier_work *w, int about) {
  articulated I;
  clear(&I);
  for (int32_t i = v->m->size.bodies - 1; i >= 0; i--) {
    const lw_link *link = &v->m->link[i];
    const lw_constraint_support *support = &w->plan->support[i];
    add_body_about(&v->inertia[i], about, &I);
    add_outboard_inertia(v, i, &support->place, &I);
    sum_branch_rows(w, support);
    articulate_joint(v, w, i, about, &I);
    if (link->parent >= 0) shift_in(v, w, i, about, &I);
    if (support->place.next) continue;
    if (link->parent >= 0) accumulate_on_parent(&v->outboard[link->parent], support->place.first_on_parent, &I);
    clear(&I);
  }
}

/* ---- outward ---- */

/* z'lambda of a column */
INLINE real multiplier_load(const multiplier_work *w, const lw_constraint_support *support, const real *z) {
  const lw_active_rows *active_rows = w->plan->active_rows, *end = active_rows + support->first + support->active;
  real sum = 0.0;
  for (const lw_active_rows *f = active_rows + support->first; f < end; f = active_rows + f->next) {
    sum += dot_row(f->contiguous, z, w->lambda + f->row);
    z += f->contiguous;
  }
  return sum;
}

/* The parent's increment at the link's reference point. */
INLINE void parent_increment_at(const view *v, const multiplier_work *w, int32_t i, int about, twist *out) {
  const int32_t parent = v->m->link[i].parent;
  real r[3];
  for (int k = 0; k < 3; k++) {
    out->a[k] = parent < 0 ? 0.0 : v->increment[parent].a[k];
    out->l[k] = parent < 0 ? 0.0 : v->increment[parent].l[k];
  }
  if (about == LW_MULTIPLIERS_ORIGIN || parent < 0) return;
  shift_of(v, w, i, about, r);
  add_cross(out->a, r, out->l);
}

#define MOST_PASSES 4 /* each gains the digits of the arithmetic; in equilibrium, where nothing remains, all are made */

/* Of loads, by the energy that they would give in an instant without constraints: of all, and of those that multipliers
 * cancel. Rates do not compare: those of shafts behind gears differ by the product of all ratios. */
typedef struct largest_loads {
  double any2, cancelled2;
} largest_loads;

INLINE void note_load(real udot, const column_sweep *s, largest_loads *most) {
  const double load2 = re(s->e) * re(s->e) * re(s->Di), found = re(udot), alone = re(s->e) * re(s->Di);
  most->any2 = load2 > most->any2 ? load2 : most->any2;
  if (fabs(found) < CANCELLED * fabs(alone) && load2 > most->cancelled2) most->cancelled2 = load2;
}

static int have_lost_digits(const largest_loads *most) {
  return most->cancelled2 > LEAST_LOAD * LEAST_LOAD * most->any2;
}

/* Returns whether loads lost digits as multipliers cancelled them. */
INLINE int sweep_all_out(const view *v, const multiplier_work *w, int about) {
  largest_loads most = {0.0, 0.0};
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    const lw_constraint_support *support = &w->plan->support[i];
    twist *a = &v->increment[i];
    parent_increment_at(v, w, i, about, a);
    for (int32_t c = 0; c < link->speeds; c++) {
      const column_sweep *s = &v->sweep[link->u + c];
      const real by_multipliers = multiplier_load(w, support, w->z + support->first_z + c * support->rows);
      const real udot = (s->e + by_multipliers - (dot(s->Ua, a->a) + dot(s->Ul, a->l))) * s->Di;
      twist P;
      if (about == LW_MULTIPLIERS_JOINT) column_of_link(v, i, c, &P);
      else P = w->column[link->u + c];
      add_column(&P, udot, a);
      v->acceleration[link->u + c] = udot;
      note_load(udot, s, &most);
    }
  }
  return have_lost_digits(&most);
}

/* The loads take up the multipliers, which become the correction for what the constraints then leave. */
static void refine_multipliers(const view *v, const multiplier_work *w) {
  for (int32_t i = 0; i < w->rows; i++)
    if (is_row_of_rotor(w, i)) w->given[i] -= w->lambda[i];
  copy(w->rows, w->given, w->gamma);
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_constraint_support *support = &w->plan->support[i];
    const real *z = w->z + support->first_z;
    for (int32_t u = v->m->link[i].u; u < v->m->link[i].u + v->m->link[i].speeds; u++, z += support->rows) {
      column_sweep *s = &v->sweep[u];
      s->e += multiplier_load(w, support, z);
      const real rate = s->e * s->Di, *next = z;
      for (int32_t f = support->first; f < support->first + support->active; f++)
        for (int32_t k = 0; k < w->plan->active_rows[f].rows; k++)
          w->gamma[w->plan->active_rows[f].row + k] -= *next++ * rate;
    }
  }
  correct_multipliers(w);
}

/* Increment of a link's acceleration at `d` from its joint point. */
INLINE void increment_at(const view *v, const multiplier_work *w, int32_t link, int about, const real d[3],
                         twist *out) {
  real s[3];
  from_reference(w, link, about, d, s);
  transport_twist(v, link, s, out);
}

/* The cut joints' accelerations: that of the child relative to the parent along their columns. */
INLINE void accelerate_cuts(const view *v, const multiplier_work *w, int about) {
  for (int32_t l = 0; l < v->m->size.loops; l++) {
    const lw_loop *loop = &v->m->loop[l];
    const loop_closure *at = &w->closure[l];
    twist child, parent;
    if (loop->cluster < 0) continue;
    increment_at(v, w, loop->child, about, at->arm[1], &child);
    increment_at(v, w, loop->parent, about, at->arm[0], &parent);
    for (int k = 0; k < 3; k++) {
      child.a[k] += at->bias.a[k] - parent.a[k];
      child.l[k] += at->bias.l[k] - parent.l[k];
    }
    for (int32_t c = 0; c < loop->columns; c++) {
      twist P;
      row_of_cut_speed(v, l, c, &P);
      v->acceleration[loop->u + c] = dot_twist(&P, &child);
    }
  }
}

/* ---- all of it ---- */

INLINE void accelerate_about(view *v, int about) {
  const multiplier_work w = multiplier_work_of(v);
  if (about != LW_MULTIPLIERS_JOINT) v->reference = w.arm;
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    compute_link_motion(v, i);
    find_arm(v, &w, i, about);
  }
  compute_inertias_about(v, &w, about);
  *FIELD(v, stand_ins_placed) = 0.0;
  place_stand_ins(v, 1);
  for (int32_t i = 0; i < w.rows; i++) memset(w.S + w.stride * i + i, 0, sizeof(real) * (size_t)(w.rows - i));
  apply_external_forces(v);
  constrain_all(v, &w, about);
  copy(w.rows, w.gamma, w.given);
  sweep_all_in(v, &w, about);
  find_multipliers(v, &w);
  for (int pass = 0; sweep_all_out(v, &w, about) && pass < MOST_PASSES; pass++) refine_multipliers(v, &w);
  accelerate_cuts(v, &w, about);
}

static void accelerate_about_joints(view *v) { accelerate_about(v, LW_MULTIPLIERS_JOINT); }
static void accelerate_about_centroids(view *v) { accelerate_about(v, LW_MULTIPLIERS_CENTROID); }
static void accelerate_about_origin(view *v) { accelerate_about(v, LW_MULTIPLIERS_ORIGIN); }

static void accelerate_with_multipliers(view *v) {
  sincos_all(v->q, v->m->size.nq, v->sincos);
  if (v->m->method == LW_MULTIPLIERS_JOINT) accelerate_about_joints(v);
  else if (v->m->method == LW_MULTIPLIERS_CENTROID) accelerate_about_centroids(v);
  else accelerate_about_origin(v);
}
#endif
