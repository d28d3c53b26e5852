/* Assembly of a cluster by one matrix: damped least squares (Levenberg, Marquardt) on the closure, each step of least
 * norm in the cluster's metric. Prioritised coordinates stay fixed; if the loops cannot be closed so they are
 * released, the lowest priority first. From a guess that does not close, deterministic random ones are tried. Then the
 * speeds, linearly. */
#ifndef LW_ASSEMBLY_POSITION_KERNEL_H
#define LW_ASSEMBLY_POSITION_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/closure_matrix_kernel.h"
#include "loops/constraint_embedding_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "assembly/sparse_closure_kernel.h"
#include "math/tolerances.h"

#define MAX_DENSE_ROWS 36 /* of six loops: more are not assembled by a dense matrix */
#define NEWTON_STEPS 200
#define RESTARTS 60
#define STALLED_STEPS 12 /* after so many that gain little a guess for many loops is given up */
#define MAX_STEPS 6000   /* of all trials for one cluster together, so that a hopeless one is soon given up */

typedef struct assembly_problem {
  const view *v;
  int32_t c; /* the cluster */
  cluster_work w;
  double priority_limit; /* coordinates of this priority number or a smaller one are fixed; 0: never fixed */
  double steps;          /* that may still be taken */
  int restarted;         /* other guesses were tried with fixed coordinates */
  double furthest;       /* many loops: how far given coordinates may move */
  double near;           /* |Phi| from which a step that gains little is the last, so that none slides far for it */
  const sparse_closure *sparse; /* NULL: one dense matrix, or loop by loop */
} assembly_problem;

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

/* The same by the sparse matrix, and the step of each column, -x_k. */
static void sparse_direction(const assembly_problem *c, const real *priority, double mu, const double *b) {
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

/* f = (sum over moving columns of a a' + mu 1)^-1 b; then -a_k.f is the step of column k. */
static void step_direction(const assembly_problem *c, const real *priority, double mu, const double *b, double *f) {
  if (c->sparse) {
    sparse_direction(c, priority, mu, b);
    return;
  }
  const int32_t rows = c->w.rows;
  double *K = c->w.K, largest = 0.0;
  for (int32_t i = 0; i < rows * rows; i++) K[i] = 0.0;
  for (int32_t k = 0; k < c->w.n; k++) {
    if (!moves(c, priority, k)) continue;
    const double *a = c->w.a + rows * k;
    for (int32_t i = 0; i < rows; i++)
      for (int32_t j = 0; a[i] != 0.0 && j <= i; j++) K[rows * i + j] += a[i] * a[j];
  }
  for (int32_t i = 0; i < rows; i++) largest = fmax(largest, K[(rows + 1) * i]), f[i] = b[i];
  for (int32_t i = 0; i < rows; i++) K[(rows + 1) * i] += fmax(mu, largest * SMALLEST_DAMPING) + 1e-300;
  ldl_factor(K, rows);
  ldl_solve(K, rows, f);
  for (int32_t i = 0; largest == 0.0 && i < rows; i++) f[i] = 0.0; /* nothing moves */
}

/* Minus the step of a column. */
static double step_of_column(const assembly_problem *c, int32_t k, const double *f) {
  return c->sparse ? c->sparse->x[k] : dot_rows(c->w.a + c->w.rows * k, f, c->w.rows);
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
  if (!c->sparse) clear_matrix(&c->w);
  for (int32_t b = 0; b < loops + c->w.cluster->couplings; b++) {
    const int32_t row = origin_of_block(v, c->c, &c->w, b);
    const closure_columns to = c->sparse ? entries_of_block(c->sparse, b) : columns_in_matrix(&c->w, row);
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
  BEFORE_STEP,  /* of the whole cluster */
  FOUND,        /* the best so far */
  LOOP_STEP,    /* before a step of one loop by itself */
  FIRST,        /* from which weaker priorities start */
  SEARCH_START, /* from which the two methods of closing start; a closed pose while a nearer one is looked for */
  KEPT_POSES
} kept_pose;
#define POSE 7           /* coordinates of a link at most */
#define IN_ARTICULATED 3 /* of these poses; the others are in the links' inertias */
_Static_assert(sizeof(articulated) >= IN_ARTICULATED * POSE * sizeof(real), "poses fit");
_Static_assert(sizeof(link_inertia) >= (KEPT_POSES - IN_ARTICULATED) * POSE * sizeof(real), "poses fit");

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

/* One trial step; coordinates move by -a_k.f, shortened to LARGEST_ASSEMBLY_STEP. */
static void try_step(const assembly_problem *c, double mu) {
  const view *v = c->v;
  double *f = c->w.lambda, longest = 0.0;
  step_direction(c, FIELD(v, q_priority), mu, c->w.rhs + c->w.rows, f);
  for (int32_t k = 0; k < c->w.n; k++)
    if (moves(c, FIELD(v, q_priority), k) && is_on_loop(v, column_of(v, c->c, k)))
      longest = fmax(longest, fabs(step_of_column(c, k, f)));
  const double scale = longest > LARGEST_ASSEMBLY_STEP ? LARGEST_ASSEMBLY_STEP / longest : 1.0;
  const lw_cluster *cluster = &v->m->cluster[c->c];
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    const lw_link *link = &v->m->link[i];
    double step[6] = {0.0};
    for (int32_t j = 0; j < link->speeds; j++) {
      const int32_t k = link->column + j;
      if (!moves(c, FIELD(v, q_priority), k)) continue;
      step[j] = -scale * step_of_column(c, k, f) * metric_of(v, column_of(v, c->c, k));
    }
    integrate_position(v, link, step);
  }
}

/* Levenberg-Marquardt from the present coordinates; returns the residual reached, coordinates at the best. */
static double close_from_here(assembly_problem *c) {
  double size = residual_of(c), mu = 1e-3;
  for (int i = 0, stalled = 0; i < NEWTON_STEPS && size > 1e-16 && stalled < STALLED_STEPS; i++, c->steps--) {
    keep_pose(c, BEFORE_STEP);
    try_step(c, mu * size);
    const double next = residual_of(c);
    stalled = c->sparse && !(next < 0.9 * size) ? stalled + 1 : 0;
    if (next < size) {
      const int slow = next > 0.5 * size && size < fmax(1e-12, c->near);
      size = next, mu = fmax(0.2 * mu, 1e-12);
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
    const double *p = FIELD(v, coupling_coefficient) + 4 * coupling->first;
    const int32_t at = v->m->coordinate[v->m->term[coupling->first].u], nq = v->m->size.nq;
    if (p[0] == 0.0 || p[1] != 0.0 || p[2] != 0.0 || p[3] != 0.0 || at >= nq) continue;
    double f[3];
    motion_at(v, number, f);
    v->q[at] = (FIELD(v, coupling_offset)[number] + f[0]) / p[0];
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

/* How often to try at this hold. With fewer moving columns than the closure has rows other guesses help nothing; else
 * they are tried with all priorities and with none. Uses the columns up. */
static int trials_of(assembly_problem *c) {
  int32_t moving = 0;
  for (int32_t k = 0; k < c->w.n; k++) moving += moves(c, FIELD(c->v, q_priority), k);
  for (int32_t i = 0; i < c->w.rows; i++)
    c->w.rhs[c->w.rows + i] = 0.0; /* so that the rank is judged as on the manifold */
  orthogonalise_matrix(c->v, c->c, &c->w);
  if (moving < c->w.ranks->matrix_rank || (c->restarted && c->priority_limit > 0.0)) return 1;
  c->restarted = 1;
  return RESTARTS;
}

static double steps_allowed(const assembly_problem *c) {
  const double rows = c->w.rows, by_work = MAX_WORK / (c->sparse ? c->sparse->work : rows * rows * rows);
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

/* Letting go the last given coordinates may move them far where letting go all would hardly move any: then not so. */
static int is_near(assembly_problem *c, double tolerance) {
  const double priority_limit = c->priority_limit, far = moved(c);
  if (priority_limit == 0.0 || far == 0.0) return 1;
  keep_pose(c, SEARCH_START);
  guess(c, 0, NULL);
  c->priority_limit = 0.0;
  const double size = close_from_here(c), least = moved(c);
  c->priority_limit = priority_limit;
  restore_kept_pose(c, SEARCH_START);
  residual_of(c);
  return size > tolerance || far <= MAX_MOVE_RATIO * least;
}

#define NEARER_STARTS 8 /* further guesses for the pose nearest to a value that is out of reach */

/* The joint whose start value is kept longest: its first column, or -1; one with a quaternion has no range. */
static int32_t first_given(const assembly_problem *c) {
  double best = INFINITY;
  int32_t first = -1;
  for (int32_t k = c->w.n - 1; k >= 0; k--) {
    const double rank = priority_of(c, FIELD(c->v, q_priority), k);
    if (rank > 0.0 && rank <= best && is_on_loop(c->v, column_of(c->v, c->c, k))) best = rank, first = k;
  }
  if (first < 0) return -1;
  const lw_column *column = column_of(c->v, c->c, first);
  const int32_t type = column->link < 0 ? c->v->m->loop[column->loop].type : c->v->m->link[column->link].type;
  return lw_joint_sizes[type].q == lw_joint_sizes[type].u ? first : -1;
}

/* A given coordinate and its value, in the metric, relative to the one asked. */
static double missing(const assembly_problem *c, int32_t k, double asked) {
  const view *v = c->v;
  const int32_t i = v->m->coordinate[column_of(v, c->c, k)->u];
  const double q = i < v->m->size.nq ? v->q[i] : FIELD(v, q_cut)[i - v->m->size.nq];
  return (asked - q) / metric_of(v, column_of(v, c->c, k));
}

/* Whether the mechanism closes with column k held at a value, from the pose found; then that is the pose found. */
static int closes_held_at(assembly_problem *c, int32_t k, double value, double tolerance) {
  const view *v = c->v;
  const int32_t i = v->m->coordinate[column_of(v, c->c, k)->u];
  real *start = &FIELD(v, q_start)[i];
  const double asked = *start;
  restore_kept_pose(c, FOUND);
  if (i < v->m->size.nq) v->q[i] = value;
  *start = value, c->priority_limit = priority_of(c, FIELD(v, q_priority), k);
  const int closed = close_from_here(c) <= tolerance;
  if (closed) keep_pose(c, FOUND);
  *start = asked, c->priority_limit = 0.0;
  return closed;
}

/* No closed pose has the coordinate that is to be kept first: brings it next to the end of its range, from the nearest
 * of several closed poses, by bisection of the value at which it is held. */
static void go_to_end_of_range(assembly_problem *c, double tolerance) {
  const int32_t k = first_given(c);
  if (k < 0) return;
  const lw_column *column = column_of(c->v, c->c, k);
  const double asked = FIELD(c->v, q_start)[c->v->m->coordinate[column->u]], metric = metric_of(c->v, column);
  uint64_t seed = 0x9e3779b97f4a7c15u;
  double least = missing(c, k, asked);
  keep_pose(c, FOUND);
  for (int trial = 1; trial <= NEARER_STARTS; trial++) {
    guess(c, trial * RESTARTS / NEARER_STARTS, &seed);
    if (!(close_from_here(c) <= tolerance) || !(fabs(missing(c, k, asked)) < fabs(least) - NEAREST)) continue;
    least = missing(c, k, asked);
    keep_pose(c, FOUND);
  }
  for (double step = 0.5 * least; fabs(step) > NEAREST; step *= 0.5)
    if (closes_held_at(c, k, asked - metric * (least - step), tolerance)) least -= step;
  closes_held_at(c, k, asked - metric * (least + copysign(OFF_THE_END, least)), tolerance);
  restore_kept_pose(c, FOUND);
}

/* Each weaker way to hold starts where the stronger one came nearest without closing. */
static double close_positions(assembly_problem *c, double tolerance) {
  uint64_t seed = 0x9e3779b97f4a7c15u;
  const double length = length_of(c->v, c->c), allowed = steps_allowed(c);
  double best = INFINITY;
  int kept = 0; /* some of the given coordinates, in a closed pose */
  c->steps = allowed;
  guess(c, 0, NULL);
  keep_pose(c, FIRST);
  for (c->priority_limit = next_priority(c, FIELD(c->v, q_priority), INFINITY);;
       c->priority_limit = next_priority(c, FIELD(c->v, q_priority), c->priority_limit)) {
    const double reserve = c->priority_limit > 0.0 ? 0.5 * allowed : 0.0;
    for (int trial = 0, trials = 2; trial < trials && (trial == 0 || c->steps > reserve); trial++) {
      if (trial) guess(c, trial, &seed);
      else restore_kept_pose(c, FIRST);
      const double size = close_from_here(c) * length;
      const int closed = size <= tolerance;
      kept |= closed && c->priority_limit > 0.0;
      if (closed && is_near(c, tolerance / length)) {
        if (!kept) go_to_end_of_range(c, fmin(tolerance, fmax(2.0 * size, AS_WELL * length)) / length);
        return size;
      }
      if (trial == 0) {
        trials = closed ? 1 : trials_of(c);
        if (closed) guess(c, 0, NULL);
        keep_pose(c, FIRST);
      }
      if (size < best) best = size, keep_pose(c, FOUND);
    }
    if (c->priority_limit == 0.0) break;
  }
  restore_kept_pose(c, FOUND);
  return best;
}

/* b += sum a_k x_k */
static void add_sparse_rates(const assembly_problem *c, double *b) {
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
    for (int32_t j = 0; !c->sparse && j < c->w.rows; j++) b[j] += c->w.a[c->w.rows * k + j] * u;
    if (c->sparse) c->sparse->x[k] = u;
    scale += fabs(u);
  }
  if (c->sparse) add_sparse_rates(c, b);
  return scale;
}

/* One correction of the speeds that may move. */
static void correct_speeds(const assembly_problem *c, double *cut, const double *b, double *f) {
  const view *v = c->v;
  step_direction(c, FIELD(v, u_priority), 0.0, b, f);
  for (int32_t k = 0; k < c->w.n; k++) {
    if (!moves(c, FIELD(v, u_priority), k)) continue;
    const lw_column *column = column_of(v, c->c, k);
    const double step = -step_of_column(c, k, f);
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

/* Takes out of b what no column moves: rows whose pivots count as zero ask for nothing. `left`: scratch. */
static void drop_dependent_rows(assembly_problem *c, double *b, double *left) {
  const int32_t rows = c->w.rows;
  copy(rows, b, c->w.rhs);
  orthogonalise_matrix(c->v, c->c, &c->w);
  copy(rows, c->w.rhs, left);
  residual_of(c); /* the columns were used up */
  for (int32_t j = 0; j < rows; j++) b[j] -= left[j];
}

/* The speeds closest to the guesses that satisfy the closure, as far as fixed ones allow; whether they do. Damping does
 * for rows that no column moves; those that columns hardly move are dropped where they would keep fixed speeds from it. */
static int speeds_close_by_matrix(assembly_problem *c, double tolerance) {
  double *cut = c->w.step, *f = c->w.lambda, *b = c->w.lambda + c->w.rows, rest = 0.0;
  for (int dropping = 0; dropping < (c->sparse ? 1 : 2); dropping++) {
    start_speeds(c, cut);
    double scale = speed_residual(c, cut, b);
    for (int pass = 0; pass < 3; pass++) {
      if (dropping) drop_dependent_rows(c, b, f);
      correct_speeds(c, cut, b, f);
      scale = fmax(scale, speed_residual(c, cut, b));
    }
    rest = sqrt(dot_rows(b, b, c->w.rows));
    if (dropping) drop_dependent_rows(c, b, f);
    if (sqrt(dot_rows(b, b, c->w.rows)) <= tolerance * scale) return 1;
    if (!(rest <= RANK_TOLERANCE * scale)) return 0;
  }
  return 0;
}

/* Fixed speeds are kept if possible. */
static void close_speeds(assembly_problem *c) {
  const real *priority = FIELD(c->v, u_priority);
  for (c->priority_limit = next_priority(c, priority, INFINITY);;
       c->priority_limit = next_priority(c, priority, c->priority_limit))
    if (speeds_close_by_matrix(c, SPEED_TOLERANCE) || c->priority_limit == 0.0) return;
}
#endif
