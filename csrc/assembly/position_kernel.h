/* Assembly of a cluster by its closures as one sparse matrix: damped least squares (Levenberg, Marquardt), each step of
 * least norm in the cluster's metric. Prioritised coordinates stay fixed down to a priority. The speeds likewise, which
 * is linear. */
#ifndef LW_ASSEMBLY_POSITION_KERNEL_H
#define LW_ASSEMBLY_POSITION_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/closure_matrix_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "assembly/sparse_closure_kernel.h"
#include "math/tolerances.h"
#include <assert.h>

#define NEWTON_STEPS 200
#define RESTARTS 60
#define MAX_STEPS 6000 /* of all trials for one cluster together, so that a hopeless one is soon given up */

/* After so many that gain little a guess for many rows is given up; few rows continue along a valley. */
#define STALLED_STEPS 12

typedef struct assembly_problem {
  const view *v;
  int32_t c; /* the cluster */
  cluster_work w;
  double priority_limit; /* coordinates of this priority number or a smaller one are fixed; 0: never fixed */
  double steps;          /* that may still be taken */
  int keeps;             /* some of the given coordinates, in a closed pose */
  double least;          /* gap of the least open pose */
  double furthest;       /* many loops: how far given coordinates may move */
  double near;           /* |Phi| from which a step that gains little is the last, so that none slides far for it */
  const sparse_closure *sparse; /* NULL: loop by loop */
} assembly_problem;

/* The sparse matrix has residuals of its own; NULL: none. */
static void use_sparse(assembly_problem *c, const sparse_closure *s) {
  c->sparse = s, c->w.rhs = s ? s->rhs : work_of(c->v, c->c).rhs;
}

/* Priority of the start value of a column: of its coordinate or of its speed. */
static double priority_of(const assembly_problem *c, const real *priority, int32_t k) {
  const int32_t u = column_of(c->v, c->c, k)->u;
  return priority[priority == FIELD(c->v, q_priority) ? c->v->m->coordinate[u] : u];
}

static int moves(const assembly_problem *c, const real *priority, int32_t k) {
  const double rank = priority_of(c, priority, k);
  return !(rank > 0.0 && rank <= c->priority_limit);
}

/* The largest rank below `limit` among the cluster's columns: the next weaker way to hold, 0 in the end. */
static double next_priority(const assembly_problem *c, const real *priority, double limit) {
  double next = 0.0;
  for (int32_t k = 0; k < c->w.n; k++) {
    const double rank = priority_of(c, priority, k);
    if (rank < limit && rank > next) next = rank;
  }
  return next;
}

/* x = a'f of each column, with f = (sum over moving columns of a a' + mu 1)^-1 b; the step is -x_k. */
static void find_direction(const assembly_problem *c, const real *priority, double mu, const double *b) {
  const sparse_closure *s = c->sparse;
  skyline_clear(&s->K);
  for (int32_t e = 0; e < s->start[s->blocks]; e++)
    for (int32_t other = e; other >= 0 && moves(c, priority, s->column[e]); other = s->previous[other])
      add_product(&c->w, s, e, other);
  const double largest = skyline_add_ridge(&s->K, mu, SMALLEST_DAMPING);
  skyline_factor(&s->K);
  for (int32_t k = 0; k < s->blocks; k++)
    for (int32_t j = 0; j < rows_of_block(&c->w, k); j++)
      s->y[s->row[k] + j] = largest > 0.0 ? b[origin_of_block(c->v, c->c, &c->w, k) + j] : 0.0;
  skyline_solve(&s->K, s->y);
  for (int32_t k = 0; k < c->w.n; k++) s->x[k] = 0.0;
  for (int32_t e = 0; e < s->start[s->blocks]; e++)
    s->x[s->column[e]] += dot_rows(s->a + 6 * e, s->y + s->row[s->block[e]], rows_of_block(&c->w, s->block[e]));
}

/* Rotation from the child to the frame of the cut joint as twice the vector part of a quaternion: good to half a turn. */
static void rotation_error(const view *v, int32_t l, double phi[3]) {
  const lw_loop *loop = &v->m->loop[l];
  double Rc[9], cut_frame_back[9], child_back[9], error[9], Q[4];
  multiply(motion_of(v, loop->child)->R, v->cut[l].Rc, Rc);
  transpose(v->motion[v->m->size.bodies + l].R, cut_frame_back);
  transpose(Rc, child_back);
  multiply_back(cut_frame_back, child_back, error); /* frame of the cut joint times child' */
  quaternion_of(error, Q);
  for (int i = 0; i < 3; i++) phi[i] = 2.0 * Q[1 + i];
}

static void compute_link_and_point(const assembly_problem *c, int32_t i) {
  const view *v = c->v;
  const lw_link *link = &v->m->link[i];
  sincos_all(v->q + link->q, lw_joint_sizes[link->type].q, v->sincos + 2 * link->q);
  compute_link_motion(v, i);
  find_point_motion(v, &c->w, i);
}

/* Moves the cluster's links to the present coordinates and speeds. */
static void compute_cluster_kinematics(const assembly_problem *c) {
  const lw_cluster *cluster = c->w.cluster;
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) compute_link_and_point(c, i);
}

#define MOST_COORDINATES 7

/* The coordinates at which a cut joint is fixed, NaN for those that are free; NULL: all by the inverse joint map. A
 * quaternion is fixed as a whole. */
static const real *fixed_cut_coordinates(const assembly_problem *c, int32_t l, real fixed[MOST_COORDINATES]) {
  const lw_loop *loop = &c->v->m->loop[l];
  const real *start = FIELD(c->v, q_start) + loop->q;
  int any = 0;
  for (int32_t k = 0; k < loop->coordinates; k++) {
    const int keeps = !moves(c, FIELD(c->v, q_priority), loop->column + (loop->coordinates == loop->columns ? k : 0));
    fixed[k] = keeps ? start[k] : NAN;
    any |= keeps;
  }
  return any ? fixed : NULL;
}

static void fill_closures(const assembly_problem *c) {
  const view *v = c->v;
  const int32_t loops = c->w.cluster->loops;
  for (int32_t b = 0; b < loops + c->w.cluster->couplings; b++) {
    const int32_t row = origin_of_block(v, c->c, &c->w, b);
    const closure_columns to = entries_of_block(c->sparse, b);
    if (b >= loops) {
      fill_coupling(v, c->c, &c->w, coupling_of(v, c->c, b - loops), row, to);
      continue;
    }
    const int32_t l = loop_of(v, c->c, b);
    real fixed[MOST_COORDINATES];
    cut_frames at;
    fill_loop(v, c->c, &c->w, l, fixed_cut_coordinates(c, l, fixed), to, &at);
    rotation_error(v, l, c->w.rhs + c->w.rows + row);
  }
}

/* Places the cluster's links at the present coordinates; |Phi| in the metric. */
static double residual_of(assembly_problem *c) {
  const double *phi = c->w.rhs + c->w.rows;
  compute_cluster_kinematics(c);
  fill_closures(c);
  double sum = dot_rows(phi, phi, 6 * c->w.cluster->loops);
  for (int32_t i = 0; i < c->w.cluster->couplings; i++) {
    const double size = row_of_coupling(c->v, c->c, coupling_of(c->v, c->c, i)).residual;
    sum += size * size;
  }
  return sqrt(sum);
}

/* Poses that the search keeps. */
typedef enum kept_pose {
  BEFORE_STEP,  /* of the whole cluster, or of one loop by itself */
  FOUND,        /* a closed one */
  FIRST,        /* from which weaker priorities start */
  LEAST_OPEN,   /* of those that do not close */
  SEARCH_START, /* from which the two methods of closing start; a closed pose while a nearer one is looked for */
  KEPT_POSES
} kept_pose;
#define POSE 7           /* coordinates of a link at most */
#define IN_ARTICULATED 3 /* of these poses; the others are in the links' inertias */
static_assert(sizeof(articulated) >= IN_ARTICULATED * POSE * sizeof(real), "poses fit");
static_assert(sizeof(link_inertia) >= (KEPT_POSES - IN_ARTICULATED) * POSE * sizeof(real), "poses fit");

/* Of one link, in its articulated and its own inertia, which are free until the dynamics. */
static real *pose_of_link(const view *v, int32_t link, kept_pose which) {
  return which < IN_ARTICULATED ? (real *)&v->outboard[link] + POSE * which
                                : (real *)&v->inertia[link] + POSE * (which - IN_ARTICULATED);
}

static void keep_link(const view *v, int32_t link, kept_pose which) {
  copy(lw_joint_sizes[v->m->link[link].type].q, v->q + v->m->link[link].q, pose_of_link(v, link, which));
}

static void restore_link(const view *v, int32_t link, kept_pose which) {
  copy(lw_joint_sizes[v->m->link[link].type].q, pose_of_link(v, link, which), v->q + v->m->link[link].q);
}

/* The coordinates of the cluster's tree joints. */
static void keep_pose(const assembly_problem *c, kept_pose which) {
  for (int32_t i = 0; i < c->w.cluster->count; i++) keep_link(c->v, c->w.cluster->first + i, which);
}

static void restore_kept_pose(const assembly_problem *c, kept_pose which) {
  for (int32_t i = 0; i < c->w.cluster->count; i++) restore_link(c->v, c->w.cluster->first + i, which);
}

/* On a loop, or between the ends of a distance; a column that is only coupled has no reason to move by
 * small steps. */
static int is_on_loop(const view *v, const lw_column *column) {
  if (column->link < 0) return 1;
  const lw_link *link = &v->m->link[column->link];
  return link->spanned || v->m->ear[link->ear].loop >= 0;
}

/* One trial step, shortened to LARGEST_ASSEMBLY_STEP. */
static void try_step(const assembly_problem *c, double mu) {
  const view *v = c->v;
  const double *x = c->sparse->x;
  double longest = 0.0;
  find_direction(c, FIELD(v, q_priority), mu, c->w.rhs + c->w.rows);
  for (int32_t k = 0; k < c->w.n; k++)
    if (moves(c, FIELD(v, q_priority), k) && is_on_loop(v, column_of(v, c->c, k)))
      longest = larger(longest, fabs(x[k]));
  const double scale = longest > LARGEST_ASSEMBLY_STEP ? LARGEST_ASSEMBLY_STEP / longest : 1.0;
  const lw_cluster *cluster = &v->m->cluster[c->c];
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    const lw_link *link = &v->m->link[i];
    double step[6] = {0.0};
    for (int32_t j = 0; j < link->speeds; j++) {
      const int32_t k = link->column + j;
      if (!moves(c, FIELD(v, q_priority), k)) continue;
      step[j] = -scale * x[k] * metric_of(v, column_of(v, c->c, k));
    }
    integrate_position(v, link, step);
  }
}

/* Levenberg-Marquardt from the present coordinates; returns the residual reached, coordinates at the best. */
static double close_by_least_squares(assembly_problem *c) {
  const int patience = c->w.rows > LW_FEW_ROWS ? STALLED_STEPS : NEWTON_STEPS;
  double size = residual_of(c), mu = 1e-3;
  for (int i = 0, stalled = 0; i < NEWTON_STEPS && size > 1e-16 && stalled < patience; i++, c->steps--) {
    keep_pose(c, BEFORE_STEP);
    try_step(c, mu * size);
    const double next = residual_of(c);
    stalled = next < 0.9 * size ? 0 : stalled + 1;
    if (next < size) {
      const int slow = next > 0.5 * size && size < larger(1e-12, c->near);
      size = next, mu = larger(0.2 * mu, 1e-12);
      if (slow) break;
      continue;
    }
    restore_kept_pose(c, BEFORE_STEP);
    residual_of(c);
    if (size < 1e-13 || mu > 1e6) break;
    mu *= 6.0;
  }
  return size;
}

/* xorshift: the same guesses on every platform */
static double random_unit(uint64_t *seed) {
  *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

/* A coordinate that a coupling gives by itself starts there. */
static void start_prescribed(const assembly_problem *c) {
  const view *v = c->v;
  for (int32_t i = 0; i < c->w.cluster->couplings; i++) {
    const int32_t number = coupling_of(v, c->c, i);
    const lw_coupling *coupling = &v->m->coupling[number];
    if (coupling->terms != 1 || coupling->lock >= 0) continue;
    const int32_t at = v->m->coordinate[v->m->term[coupling->first].u];
    if (!is_ratio(v, coupling->first) || at >= v->m->size.nq) continue;
    double f[3];
    motion_at(v, number, f);
    v->q[at] = (FIELD(v, coupling_offset)[number] + f[0]) / FIELD(v, coupling_coefficient)[4 * coupling->first];
  }
}

static void guess(const assembly_problem *c, int trial, uint64_t *seed) {
  const view *v = c->v;
  const double spread = trial == 0 ? 0.0 : 3.14159 * (0.02 + 0.98 * trial / RESTARTS);
  const lw_cluster *cluster = &v->m->cluster[c->c];
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    const lw_link *link = &v->m->link[i];
    double step[6] = {0.0};
    copy(lw_joint_sizes[link->type].q, FIELD(v, q_start) + link->q, v->q + link->q);
    for (int32_t j = 0; trial && j < link->speeds; j++)
      if (moves(c, FIELD(v, q_priority), link->column + j))
        step[j] = spread * random_unit(seed) * metric_of(v, column_of(v, c->c, link->column + j));
    integrate_position(v, link, step);
  }
  start_prescribed(c);
}

static double steps_allowed(const assembly_problem *c) {
  const double by_work = c->sparse ? MAX_WORK / c->sparse->work : MAX_STEPS;
  return fmin(MAX_STEPS, fmax(by_work, 2.0 * NEWTON_STEPS));
}

/* How far the given coordinates on loops are from their start values, in the metric. */
static double moved(const assembly_problem *c) {
  const view *v = c->v;
  double sum = 0.0;
  for (int32_t k = 0; k < c->w.n; k++) {
    const lw_column *column = column_of(v, c->c, k);
    const int32_t i = v->m->coordinate[column->u];
    if (!(FIELD(v, q_priority)[i] > 0.0) || !is_on_loop(v, column)) continue;
    const double q = column->link < 0 ? FIELD(v, q_cut)[i - v->m->size.nq] : v->q[i];
    const double d = (q - FIELD(v, q_start)[i]) / metric_of(v, column);
    sum += d * d;
  }
  return sqrt(sum);
}

/* b += sum a_k x_k */
static void add_rates(const assembly_problem *c, double *b) {
  const sparse_closure *s = c->sparse;
  for (int32_t e = 0; e < s->start[s->blocks]; e++) {
    double *to = b + origin_of_block(c->v, c->c, &c->w, s->block[e]);
    for (int32_t j = 0; j < rows_of_block(&c->w, s->block[e]); j++) to[j] += s->a[6 * e + j] * s->x[s->column[e]];
  }
}

/* b = sum a_k u_k over all columns, the cut joints' speeds kept in `cut`, less the speeds of prescribed motions; returns
 * the size of the speeds. */
static double speed_residual(const assembly_problem *c, const double *cut, double *b) {
  const view *v = c->v;
  double scale = 0.0;
  for (int32_t j = 0; j < c->w.rows; j++) {
    b[j] = j < 6 * c->w.cluster->loops ? 0.0 : -c->w.rhs[j];
    scale += fabs(b[j]);
  }
  for (int32_t k = 0; k < c->w.n; k++) {
    const lw_column *column = column_of(v, c->c, k);
    const double u = column->link < 0 ? cut[k] : v->u[column->u] / metric_of(v, column);
    c->sparse->x[k] = u;
    scale += fabs(u);
  }
  add_rates(c, b);
  return scale;
}

/* One correction of the speeds that may move. */
static void correct_speeds(const assembly_problem *c, double *cut, const double *b) {
  const view *v = c->v;
  find_direction(c, FIELD(v, u_priority), 0.0, b);
  for (int32_t k = 0; k < c->w.n; k++) {
    if (!moves(c, FIELD(v, u_priority), k)) continue;
    const lw_column *column = column_of(v, c->c, k);
    const double step = -c->sparse->x[k];
    if (column->link < 0) cut[k] += step;
    else v->u[column->u] += step * metric_of(v, column);
  }
}

static void start_speeds(const assembly_problem *c, double *cut) {
  const view *v = c->v;
  for (int32_t k = 0; k < c->w.n; k++) {
    const lw_column *column = column_of(v, c->c, k);
    const double start = FIELD(v, u_start)[column->u];
    if (column->link >= 0) v->u[column->u] = start;
    else cut[k] = moves(c, FIELD(v, u_priority), k) ? 0.0 : start / metric_of(v, column);
  }
}

/* The speeds closest to the guesses that satisfy the closure, as far as fixed ones allow; whether they do. Damping does
 * for rows that no column moves. */
static int speeds_close_by_matrix(assembly_problem *c, double tolerance) {
  double *cut = c->w.step, *b = c->sparse->rates;
  start_speeds(c, cut);
  double scale = speed_residual(c, cut, b);
  for (int pass = 0; pass < 3; pass++) {
    correct_speeds(c, cut, b);
    scale = fmax(scale, speed_residual(c, cut, b));
  }
  return sqrt(dot_rows(b, b, c->w.rows)) <= tolerance * scale;
}
#endif
