/* The least step that closes a cluster to first order, loop by loop: the RESIDUAL entries are a displacement p that
 * closes all loops, and p - N (N'N)^-1 N'p the least one (drift_stabilisation_kernel.h). Fixed coordinates have no column. For
 * speeds the same with the residual Y u. */
#ifndef LW_ASSEMBLY_STEP_BY_LOOPS_KERNEL_H
#define LW_ASSEMBLY_STEP_BY_LOOPS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/ldl_kernel.h"
#include "math/tolerances.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "assembly/position_kernel.h"

/* ---- gaps ---- */

typedef struct gaps {
  double size, widest; /* |Phi| of all, and the largest of one loop or coupling */
} gaps;

static void add_gap(double square, gaps *sum) {
  sum->size += square;
  sum->widest = larger(sum->widest, sqrt(square));
  if (!(square >= 0.0)) sum->widest = square; /* not a number */
}

static double gap_of_loop(const assembly_problem *c, int32_t l, cut_frames *at, double phi[6]) {
  real fixed[MOST_COORDINATES];
  align_cut_joint(c->v, &c->w, l, fixed_cut_coordinates(c, l, fixed), at);
  closure_residual(c->v, l, at, phi);
  rotation_error(c->v, l, phi);
  return sqrt(dot6(phi, phi));
}

static double gap_of_coupling(const assembly_problem *c, int32_t i) {
  choose_revolutions(c->v, i);
  return row_of_coupling(c->v, c->c, i).residual;
}

/* Of all loops, each kept in its workspace, and couplings, at the present coordinates, to which the links move. */
static gaps gap_of_ears(const assembly_problem *c) {
  const lw_cluster *cluster = c->w.cluster;
  gaps sum = {0.0, 0.0};
  compute_cluster_kinematics(c);
  for (int32_t e = cluster->first_ear; e < cluster->first_ear + cluster->ears; e++) {
    const ear_work x = work_of_ear(c->v, &c->w, e);
    cut_frames at;
    if (x.ear->loop < 0) continue;
    const double gap = gap_of_loop(c, x.ear->loop, &at, x.phi);
    add_gap(gap * gap, &sum);
  }
  for (int32_t i = 0; i < cluster->couplings; i++) {
    const double gap = gap_of_coupling(c, coupling_of(c->v, c->c, i));
    add_gap(gap * gap, &sum);
  }
  sum.size = sqrt(sum.size);
  return sum;
}

/* Y u of one loop, at the present speeds of its cut joint too. */
static void speed_gap_of_loop(const assembly_problem *c, int32_t l, cut_frames *at, double phi[6]) {
  const view *v = c->v;
  const lw_loop *loop = &v->m->loop[l];
  double relative[6], own[36];
  align_cut_joint(v, &c->w, l, NULL, at);
  fill_cut_columns(v, l, 6, own);
  relative_velocity(v, &c->w, l, at, relative);
  for (int j = 0; j < 6; j++) phi[j] = -relative[j];
  for (int32_t k = 0; k < loop->columns; k++) {
    const double speed = speed_of(v, loop->u + k) / metric_of(v, column_of(v, c->c, loop->column + k));
    for (int j = 0; j < 6; j++) phi[j] += speed * own[6 * k + j];
  }
}

/* Its rate less the one that is prescribed. */
static double speed_gap_of_coupling(const assembly_problem *c, int32_t i) {
  const coupling_row row = row_of_coupling(c->v, c->c, i);
  return row.rate - row.velocity;
}

static gaps speed_gap_of_ears(const assembly_problem *c) {
  const lw_cluster *cluster = c->w.cluster;
  gaps sum = {0.0, 0.0};
  compute_cluster_kinematics(c);
  for (int32_t e = cluster->first_ear; e < cluster->first_ear + cluster->ears; e++) {
    const ear_work x = work_of_ear(c->v, &c->w, e);
    cut_frames at;
    if (x.ear->loop < 0) continue;
    speed_gap_of_loop(c, x.ear->loop, &at, x.phi);
    add_gap(dot6(x.phi, x.phi), &sum);
  }
  for (int32_t i = 0; i < cluster->couplings; i++) {
    const double gap = speed_gap_of_coupling(c, coupling_of(c->v, c->c, i));
    add_gap(gap * gap, &sum);
  }
  sum.size = sqrt(sum.size);
  return sum;
}

/* ---- the loops ---- */

/* A loop's columns, those of its cut joint too, in world axes and in the metric; fixed ones are zero. */
typedef struct ear_columns {
  const lw_ear *ear;
  int32_t n, *order;      /* pivots first */
  double *a, *T;          /* n x 6, orthogonalised in place; 6 x n: a_k = sum_p T_pk a_p */
  double *size2;          /* of each column */
  double *phi;            /* residual */
  double *rank_threshold; /* size squared that counts as nothing */
} ear_columns;

static ear_columns columns_of_ear(const assembly_problem *c, int32_t e) {
  const ear_work x = work_of_ear(c->v, &c->w, e);
  const int32_t n = x.ear->columns;
  return (ear_columns){.ear = x.ear,
                       .n = n,
                       .order = c->w.order + x.ear->column,
                       .a = x.a,
                       .T = x.a + 6 * n,
                       .size2 = x.size2,
                       .phi = x.phi,
                       .rank_threshold = x.rank_threshold};
}

static void fill_columns(const assembly_problem *c, const real *priority, const ear_columns *x, const cut_frames *at) {
  const view *v = c->v;
  const lw_ear *ear = x->ear;
  fill_cut_columns(v, ear->loop, 6, x->a);
  for (int32_t j = ear->first; j < ear->first + ear->links; j++) {
    const int32_t i = v->m->ear_link[j];
    const lw_link *link = &v->m->link[i];
    const double *closure_point = link->branch_sign > 0 ? at->on_parent : at->on_child,
                 *place = point_motion_of(&c->w, i);
    const double d[3] = {closure_point[0] - place[0], closure_point[1] - place[1], closure_point[2] - place[2]};
    for (int32_t k = 0; k < link->speeds; k++) {
      twist P;
      column_of_link(v, i, k, &P);
      fill_column(column_of(v, c->c, link->column + k), length_of(v, c->c), &P, d, link->branch_sign,
                  x->a + 6 * (link->column + k - ear->column));
    }
  }
  for (int32_t k = 0; k < x->n; k++)
    for (int i = 0; i < 6 && !moves(c, priority, ear->column + k); i++) x->a[6 * k + i] = 0.0;
}

/* How small a pivot may be, squared, in a pose open by `gap`; small ones wait for a better choice. */
static double smallest_pivot(const assembly_problem *c, const ear_columns *x, const pivoted_columns *of, double gap) {
  const int alone = c->w.cluster->ears == 1 && c->w.cluster->couplings == 0;
  *x->rank_threshold = rank_threshold2(of->largest, of->sum, gap * gap, RANK_TOLERANCE * RANK_TOLERANCE);
  return alone ? *x->rank_threshold : fmax(*x->rank_threshold, of->largest * SMALL_PIVOT * SMALL_PIVOT);
}

/* First the free columns of the cut joint, which no other loop moves. Takes the pivots out of the right-hand side, of
 * which X of each is its part; returns the rank. */
static int32_t pivot_columns(const assembly_problem *c, const real *priority, const ear_columns *x, double gap,
                             int32_t blocks, four *rhs) {
  double pivot2[6];
  pivoted_columns of = {.rows = 6,
                        .n = x->n,
                        .stride = 6,
                        .first = moves(c, priority, x->ear->column) ? x->ear->cuts : 0,
                        .column = x->a,
                        .order = x->order,
                        .size2 = x->size2,
                        .pivot_size2 = pivot2,
                        .f = x->T};
  measure_columns(&of);
  const int32_t rank = orthogonalise_columns(&of, smallest_pivot(c, x, &of, gap), 1.0);
  for (int32_t p = 0; p < rank; p++) {
    const double *a = x->a + 6 * x->order[p];
    four *X = rows_of_N(&c->w, blocks, x->ear->column + x->order[p]);
    for (int32_t b = 0; b < blocks; b++) {
      four s = zero4();
      for (int j = 0; j < 6; j++) s = plus4(s, times4(a[j] / pivot2[p], rhs[j * blocks + b]));
      for (int j = 0; j < 6; j++) rhs[j * blocks + b] = minus4(rhs[j * blocks + b], times4(a[j], s));
      X[b] = s;
    }
  }
  return rank;
}

/* Orders fixed columns behind the pivots last, so that they need no direction; returns their number. */
static int32_t order_fixed_last(const assembly_problem *c, const real *priority, const ear_columns *x, int32_t rank) {
  int32_t end = x->n;
  for (int32_t i = x->n - 1; i >= rank; i--) {
    const int32_t k = x->order[i];
    if (moves(c, priority, x->ear->column + k)) continue;
    x->order[i] = x->order[--end];
    x->order[end] = k;
  }
  return x->n - end;
}

/* X: a direction for each free column without pivot, zero for fixed ones, and back-substitution. */
static void express_ear_columns(const assembly_problem *c, const ear_columns *x, int32_t blocks, int32_t rank,
                                int32_t fixed_count) {
  const cluster_work *w = &c->w;
  four *X = rows_of_N(w, blocks, x->ear->column);
  for (int32_t i = rank; i < x->n; i++) {
    four *row = X + blocks * x->order[i];
    for (int32_t b = 0; b < blocks; b++) row[b] = zero4();
    if (i < x->n - fixed_count) set_entry(row, FIRST_FREE + w->ranks->independent + i - rank, 1.0);
  }
  for (int32_t p = rank - 1; p >= 0; p--)
    for (int32_t i = p + 1; i < x->n; i++)
      add4(blocks, -x->T[p * x->n + x->order[i]], X + blocks * x->order[i], X + blocks * x->order[p]);
  for (int32_t k = 0; k < x->n; k++) {
    const double metric = metric_of(c->v, column_of(c->v, c->c, x->ear->column + k));
    for (int32_t b = 0; b < blocks; b++) X[blocks * k + b] = times4(metric, X[blocks * k + b]);
  }
}

/* The rest of the right-hand side and of the remaining columns may be a constraint among the directions. */
static void constrain_rest(const assembly_problem *c, const ear_columns *x, int32_t e, int32_t blocks, int32_t rank,
                           int32_t fixed_count, four *rhs) {
  for (int32_t i = rank; i < x->n - fixed_count; i++)
    for (int j = 0; j < 6; j++)
      set_entry(rhs + j * blocks, FIRST_FREE + c->w.ranks->independent + i - rank, -x->a[6 * x->order[i] + j]);
  const ear_work work = work_of_ear(c->v, &c->w, e);
  constrain(&c->w, &work, e - c->w.cluster->first_ear, 6, blocks, rhs);
}

/* Returns the width that is needed if the present one does not suffice; else 0. */
static int32_t eliminate_ear_columns(const assembly_problem *c, const real *priority, int32_t e, int32_t blocks,
                                     four *rhs) {
  const view *v = c->v;
  const cluster_work *w = &c->w;
  const int32_t number = e - w->cluster->first_ear;
  ear_columns x = columns_of_ear(c, e);
  int32_t rank = 0;
  for (int32_t k = 0; k < 6 * blocks; k++) rhs[k] = zero4();
  for (int32_t k = 0; k < x.n; k++) x.order[k] = k;
  if (x.ear->loop >= 0) {
    cut_frames at;
    double gap = 0.0;
    if (priority == FIELD(v, u_priority)) speed_gap_of_loop(c, x.ear->loop, &at, x.phi);
    else gap = fmin(gap_of_loop(c, x.ear->loop, &at, x.phi), JUDGED_GAP);
    fill_columns(c, priority, &x, &at);
    const double per_length = 1.0 / length_of(v, c->c);
    add_base(w, all_blocks(blocks), x.ear->parent_base, at.on_parent, -1.0, per_length, rhs);
    add_base(w, all_blocks(blocks), x.ear->child_base, at.on_child, 1.0, per_length, rhs);
    for (int k = 0; k < 6; k++) set_entry(rhs + k * blocks, RESIDUAL, entry_of(rhs + k * blocks, RESIDUAL) + x.phi[k]);
    rank = pivot_columns(c, priority, &x, gap, blocks, rhs);
  }
  const int32_t fixed_count = order_fixed_last(c, priority, &x, rank), left = x.n - rank - fixed_count;
  if (FIRST_FREE + w->ranks->independent + left > 4 * blocks) return FIRST_FREE + w->ranks->independent + left;
  w->ear_rank[number] = rank, w->ear_constraint[number] = -1;
  if (x.ear->loop >= 0 && rank < 6) constrain_rest(c, &x, e, blocks, rank, fixed_count, rhs);
  express_ear_columns(c, &x, blocks, rank, fixed_count);
  w->ranks->independent += left;
  for (int32_t j = x.ear->first; j < x.ear->first + x.ear->links; j++)
    compute_partial_velocities(v, w, v->m->ear_link[j], all_blocks(blocks));
  return 0;
}

/* Returns 0 if the independent directions exceed the capacity. */
static int eliminate_all_ears(const assembly_problem *c, const real *priority) {
  const cluster_work *w = &c->w;
  four *rhs = (four *)w->spare;
  for (int32_t needed = FIRST_FREE + w->ranks->independent; needed;) {
    const int32_t blocks = (needed + 3) / 4;
    w->ranks->width = 4 * blocks;
    if (w->ranks->width > w->cluster->capacity) return 0;
    w->ranks->independent = w->ranks->constraints = w->ranks->rank = needed = 0;
    for (int32_t e = w->cluster->first_ear; !needed && e < w->cluster->first_ear + w->cluster->ears; e++)
      needed = eliminate_ear_columns(c, priority, e, blocks, rhs);
  }
  return 1;
}

/* ---- the least step that closes ---- */

/* The constraints that the loops leave among their independent columns, in a pose open by `gap`. */
static void solve_constraints(const assembly_problem *c, const real *priority, double gap) {
  const view *v = c->v;
  const cluster_work *w = &c->w;
  const double judged = gap > JUDGED_GAP ? JUDGED_GAP / gap : gap > 0.0;
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    const int32_t k = coupling_of(v, c->c, i), at = w->ranks->constraints;
    constrain_coupling(v, c->c, w, k);
    const coupling_row row = row_of_coupling(v, c->c, k);
    if (priority == FIELD(v, u_priority))
      w->C[RESIDUAL * w->rows + at] += row.stage * (speed_gap_of_coupling(c, k) - row.residual);
  }
  if (w->ranks->constraints == 0) return;
  for (int32_t e = w->cluster->first_ear; e < w->cluster->first_ear + w->cluster->ears; e++) {
    const ear_work x = work_of_ear(v, w, e); /* the tolerance follows its residual */
    if (x.ear->loop >= 0)
      FIELD(v, loop_residual)[x.ear->loop] = judged * sqrt(dot6(x.phi, x.phi)) * v->cut[x.ear->loop].length;
  }
  eliminate_constraints(v, c->c, w);
}

/* N'N and N'p over all columns, those of the cut joints too, whichever joints are cut. */
static void sum_all_products(const assembly_problem *c, double *NN, double *Np) {
  const cluster_work *w = &c->w;
  const int32_t n = w->ranks->independent;
  for (int32_t i = 0; i < n * n; i++) NN[i] = 0.0;
  for (int32_t i = 0; i < n; i++) Np[i] = 0.0;
  for (int32_t k = 0; k < w->n; k++) {
    const double *X = w->X + k * w->ranks->width, *N = X + FIRST_FREE;
    const double metric = metric_of(c->v, column_of(c->v, c->c, k)), weight = 1.0 / (metric * metric);
    for (int32_t i = 0; i < n; i++) {
      const double own = weight * N[i];
      Np[i] += own * X[RESIDUAL];
      for (int32_t j = 0; own != 0.0 && j < n; j++) NN[i * n + j] += own * N[j];
    }
  }
}

/* off = particular - N (N'N)^-1 N'p, in independents. */
static void find_drift(const assembly_problem *c, double *drift) {
  const cluster_work *w = &c->w;
  const int32_t n = w->ranks->independent, r = free_of(w);
  double *z = w->solution, *y = w->solution + 2 * n;
  sum_all_products(c, w->Q, z);
  particular_of(w, RESIDUAL, drift);
  for (int32_t i = 0; w->ranks->rank && i < n; i++)
    for (int32_t j = 0; j < n; j++) z[i] += w->Q[i * n + j] * drift[j];
  gather_matrix(w, w->Q);
  ldl_factor(w->Q, r);
  gather(w, z, y);
  ldl_solve(w->Q, r, y);
  extend(w, y, -1, z);
  for (int32_t i = 0; i < n; i++) drift[i] -= z[i];
}

/* The least step of the columns that closes all to first order, in `step`, in the metric, in a pose open by `gap`;
 * returns the longest. */
static double find_step(const assembly_problem *c, const real *priority, double gap) {
  const cluster_work *w = &c->w;
  double *step = w->step, longest = 0.0;
  if (!eliminate_all_ears(c, priority)) return -1.0;
  solve_constraints(c, priority, gap);
  const int32_t n = w->ranks->independent;
  double *drift = w->solution + n;
  find_drift(c, drift);
  for (int32_t k = 0; k < w->n; k++) {
    const double *X = w->X + k * w->ranks->width;
    step[k] = -X[RESIDUAL];
    for (int32_t j = 0; j < n; j++) step[k] -= X[FIRST_FREE + j] * drift[j];
    step[k] /= metric_of(c->v, column_of(c->v, c->c, k));
    const lw_column *column = column_of(c->v, c->c, k);
    if (column->link >= 0 && is_on_loop(c->v, column)) longest = larger(longest, fabs(step[k]));
  }
  return longest;
}
#endif
