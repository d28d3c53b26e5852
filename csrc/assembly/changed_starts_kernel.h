/* The given start values that assembly did not keep, cluster by cluster. Those that the kept ones do not decide are out
 * of reach, or at the limit of their range; those that the kept ones decide are guesses, which select a closed pose, and
 * more of them than degrees of freedom may be given if they fit to their digits. With a_k the columns of the closures as
 * one matrix (closure_matrix_kernel.h), coordinate k can move where a_k is a combination of the other columns, and a set of
 * coordinates decides it where it is none of the others outside of the set. Clusters too large for one matrix count. */
#ifndef LW_ASSEMBLY_CHANGED_STARTS_KERNEL_H
#define LW_ASSEMBLY_CHANGED_STARTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/closure_matrix_kernel.h"
#include "math/quaternion_coordinates_kernel.h"
#include "math/orthonormal_kernel.h"
#include "assembly/position_kernel.h"
#include "math/tolerances.h"

#define MOVES_LITTLE COARSE_RANK_TOLERANCE /* dead points are found to half the digits */

/* A column in a search for changed start values. */
typedef enum start_use { NOT_GIVEN, CHANGED, UNCHANGED } start_use;

typedef struct start_search {
  assembly_problem problem;
  int speeds;      /* of speeds, not of coordinates */
  int many;        /* no matrix */
  double scale;    /* largest speed, or 1 */
  double furthest; /* largest change */
  int is_set;      /* some of the values kept were set in addition to those of the description */
  int32_t dof;
  lw_changed_start *out;
  int32_t capacity, written;
} start_search;

/* Of column k, in the workspace for steps. */
static start_use use_of(const start_search *s, int32_t k) { return (start_use)s->problem.w.step[k]; }

static const lw_joint *joint_of_column(const start_search *s, int32_t k) {
  const view *v = s->problem.v;
  const lw_column *column = column_of(v, s->problem.c, k);
  return &v->m->joint[column->link < 0 ? v->m->loop[column->loop].joint : v->m->link[column->link].joint];
}

static int has_quaternion(const lw_joint *joint) {
  return lw_joint_sizes[joint->type].q != lw_joint_sizes[joint->type].u;
}

static double found_coordinate(const view *v, int32_t i) {
  return i < v->m->size.nq ? v->q[i] : FIELD(v, q_cut)[i - v->m->size.nq];
}

static double found_speed(const view *v, int32_t u) {
  return u < v->m->size.nu ? v->u[u] : FIELD(v, u_cut)[u - v->m->size.nu];
}

/* Of a joint with a quaternion: its rotation, or the displacement of its position, from the start. */
static double change_of_pose(const view *v, const lw_joint *joint, int translation) {
  const int32_t first = joint->q + lw_joint_sizes[joint->type].q - 4;
  double product[4], sum = 0.0, along = 0.0;
  if (translation) {
    for (int32_t i = joint->q; i < first; i++) {
      const double d = found_coordinate(v, i) - FIELD(v, q_start)[i];
      sum += d * d;
    }
    return sqrt(sum);
  }
  double a[4], b[4];
  for (int i = 0; i < 4; i++) a[i] = FIELD(v, q_start)[first + i], b[i] = found_coordinate(v, first + i);
  normalize_quaternion(a);
  for (int i = 0; i < 4; i++) along += a[i] * b[i];
  cross(a + 1, b + 1, product + 1);
  for (int i = 1; i < 4; i++) {
    product[i] = a[0] * b[i] - b[0] * a[i] - product[i];
    sum += product[i] * product[i];
  }
  return 2.0 * arctan2_double(sqrt(sum), fabs(along));
}

/* In the metric. */
static double change_of(const start_search *s, int32_t k) {
  const view *v = s->problem.v;
  const lw_column *column = column_of(v, s->problem.c, k);
  const lw_joint *joint = joint_of_column(s, k);
  const double metric = unscaled_metric(v, s->problem.c, column);
  if (s->speeds) return fabs(found_speed(v, column->u) - FIELD(v, u_start)[column->u]) / (metric * s->scale);
  if (has_quaternion(joint)) return change_of_pose(v, joint, column->translation) / metric;
  const int32_t i = v->m->coordinate[column->u];
  return fabs(found_coordinate(v, i) - FIELD(v, q_start)[i]) / metric;
}

static double largest_speed(const start_search *s) {
  const view *v = s->problem.v;
  double fastest = 1.0;
  for (int32_t u = 0; u < v->m->size.nu; u++) fastest = fmax(fastest, fabs(v->u[u]));
  double largest = SLOWEST * fastest;
  for (int32_t k = 0; k < s->problem.w.n; k++) {
    const lw_column *column = column_of(v, s->problem.c, k);
    const double metric = unscaled_metric(v, s->problem.c, column);
    largest = fmax(largest, fabs(found_speed(v, column->u)) / metric);
    largest = fmax(largest, fabs(FIELD(v, u_start)[column->u]) / metric);
  }
  return largest;
}

/* Sets of given coordinates or speeds that may decide one of them. */
typedef enum start_set { NONE_GIVEN, ALL_GIVEN, KEPT_BEFORE_IT } start_set;

static double priority_in(const start_search *s, int32_t k) {
  const view *v = s->problem.v;
  return priority_of(&s->problem, s->speeds ? FIELD(v, u_priority) : FIELD(v, q_priority), k);
}

static int belongs_to(const start_search *s, start_set set, int32_t k, int32_t j) {
  if (j == k || set == NONE_GIVEN || use_of(s, j) == NOT_GIVEN) return 0;
  return set == ALL_GIVEN || (use_of(s, j) == UNCHANGED && priority_in(s, j) < priority_in(s, k));
}

static void note_uses(start_search *s) {
  s->scale = s->speeds ? largest_speed(s) : 1.0;
  s->furthest = 0.0, s->is_set = 0;
  for (int32_t k = 0; k < s->problem.w.n; k++) {
    start_use use = NOT_GIVEN;
    if (priority_in(s, k) > 0.0) {
      const double change = change_of(s, k);
      use = change > KEPT_START ? CHANGED : UNCHANGED;
      s->furthest = fmax(s->furthest, change);
      s->is_set |= use == UNCHANGED && priority_in(s, k) < 1.0;
    }
    s->problem.w.step[k] = use;
  }
}

/* Speeds of a cut joint in the pose found, where it stays, and its columns in the matrix. */
static void enter_loop(const start_search *s, int32_t l) {
  const assembly_problem *c = &s->problem;
  const view *v = c->v;
  const lw_loop *loop = &v->m->loop[l];
  real own[MOST_COORDINATES], relative[6];
  cut_frames at;
  copy(loop->coordinates, FIELD(v, q_cut) + loop->q - v->m->size.nq, own);
  if (s->many) align_cut_joint(v, &c->w, l, own, &at);
  else fill_loop(v, c->c, &c->w, l, own, columns_in_matrix(&c->w, loop->row), &at);
  relative_velocity(v, &c->w, l, &at, relative);
  for (int32_t k = 0; k < loop->columns; k++) {
    twist P;
    column_of_cut_joint(v, l, k, &P);
    FIELD(v, u_cut)[loop->u + k - v->m->size.nu] = speed_along(loop->type, k, &P, v->cut[l].length, relative);
  }
}

static void enter_cluster(const start_search *s) {
  const assembly_problem *c = &s->problem;
  find_point_motions(c->v, &c->w);
  if (!s->many) clear_matrix(&c->w);
  for (int32_t i = 0; i < c->w.cluster->loops; i++) enter_loop(s, loop_of(c->v, c->c, i));
  if (!s->many) fill_couplings(c->v, c->c, &c->w);
}

/* Whether column k is a combination of the others, without those of a set. */
static int follows_from_others(const start_search *s, int32_t k, start_set without) {
  const cluster_work *w = &s->problem.w;
  double basis[LW_FEW_ROWS * LW_FEW_ROWS], rest[LW_FEW_ROWS];
  int32_t count = 0;
  for (int32_t j = 0; j < w->n && count < w->rows; j++) {
    if (j == k || belongs_to(s, without, k, j)) continue;
    copy(w->rows, w->a + w->rows * j, rest);
    const double size = leave_across(basis, count, w->rows, rest);
    if (!(size > MOVES_LITTLE)) continue;
    for (int32_t i = 0; i < w->rows; i++) basis[count * w->rows + i] = rest[i] / size;
    count++;
  }
  copy(w->rows, w->a + w->rows * k, rest);
  const double size = sqrt(dot_rows(rest, rest, w->rows));
  return !(leave_across(basis, count, w->rows, rest) > MOVES_LITTLE * size);
}

static int can_move(const start_search *s, int32_t k) { return s->many || follows_from_others(s, k, NONE_GIVEN); }

static int is_decided_by(const start_search *s, int32_t k, start_set set) {
  if (!s->many) return !follows_from_others(s, k, set);
  int32_t count = 0;
  for (int32_t j = 0; j < s->problem.w.n; j++)
    count += belongs_to(s, set, k, j) && is_on_loop(s->problem.v, column_of(s->problem.v, s->problem.c, j));
  return count >= s->dof;
}

static void write_changed(start_search *s, uint32_t offset, double asked, double kept, int is_guess) {
  if (s->written < s->capacity) s->out[s->written] = (lw_changed_start){offset, is_guess, asked, kept};
  s->written++;
}

/* A quaternion is one thing: all of its elements that changed. */
static void write_column(start_search *s, int32_t k, int is_guess) {
  const view *v = s->problem.v;
  const lw_offsets *at = &v->m->at;
  const lw_joint *joint = joint_of_column(s, k);
  const int32_t u = column_of(v, s->problem.c, k)->u, i = v->m->coordinate[u];
  if (s->speeds) {
    write_changed(s, (uint32_t)(at->u_start + u), FIELD(v, u_start)[u], found_speed(v, u), is_guess);
    return;
  }
  if (!has_quaternion(joint)) {
    write_changed(s, (uint32_t)(at->q_start + i), FIELD(v, q_start)[i], found_coordinate(v, i), is_guess);
    return;
  }
  for (int32_t j = joint->q; u == joint->u && j < joint->q + lw_joint_sizes[joint->type].q; j++) {
    const double asked = FIELD(v, q_start)[j], kept = found_coordinate(v, j);
    if (fabs(asked - kept) > KEPT_START) write_changed(s, (uint32_t)(at->q_start + j), asked, kept, is_guess);
  }
}

/* Values that were kept decide it, and it is near; those that were set to change a description may be far from it. */
static int is_guess(const start_search *s, int32_t k) {
  if (s->speeds || !is_decided_by(s, k, KEPT_BEFORE_IT)) return 0;
  return change_of(s, k) <= GUESSED_START || (s->is_set && priority_in(s, k) >= 1.0);
}

static void write_changes_of_kind(start_search *s) {
  note_uses(s);
  for (int32_t k = 0; k < s->problem.w.n; k++) {
    if (use_of(s, k) != CHANGED) continue;
    const int moves = can_move(s, k);
    if (moves && s->furthest <= ROUNDED_START && is_decided_by(s, k, ALL_GIVEN)) continue;
    write_column(s, k, moves && is_guess(s, k));
  }
}

/* In an assembled state. Writes at most `capacity` of them; returns how many there are. */
static int32_t changed_starts(const lw_model *m, lw_block b, lw_changed_start *out, int32_t capacity) {
  const view v = open_view(m, b);
  start_search s = {.out = out, .capacity = capacity};
  compute_kinematics(&v);
  for (int32_t c = 0; c < m->clusters; c++) {
    s.problem = (assembly_problem){.v = &v, .c = c, .w = work_of(&v, c)};
    s.many = s.problem.w.rows > LW_FEW_ROWS;
    s.dof = s.problem.w.cluster->dof;
    for (int32_t k = 0; k < s.problem.w.n; k++) s.dof -= !is_on_loop(&v, column_of(&v, c, k));
    enter_cluster(&s);
    for (s.speeds = 0; s.speeds < 2; s.speeds++) write_changes_of_kind(&s);
  }
  return s.written;
}
#endif
