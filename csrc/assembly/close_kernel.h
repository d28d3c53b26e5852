/* One way from a pose to a closed one: least squares by the sparse matrix, or Newton loop by loop, its steps halved until
 * the gap falls. Where that leads astray, the loops are first closed one by one, each by damped least squares of its
 * own. */
#ifndef LW_ASSEMBLY_CLOSE_KERNEL_H
#define LW_ASSEMBLY_CLOSE_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/link_constants_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "assembly/position_kernel.h"
#include "assembly/step_by_loops_kernel.h"
#include "math/tolerances.h"

#define HALVINGS 6
#define SLOW_STEPS 12 /* after so many that gain little a guess is given up */
#define OWN_STEPS 60  /* of one loop by itself */
#define MAX_OPEN 16   /* of these */

/* ---- one loop by itself ---- */

static double gap_of_ear(const assembly_problem *c, const ear_columns *x, cut_frames *at) {
  for (int32_t j = x->ear->first; j < x->ear->first + x->ear->links; j++)
    compute_link_and_point(c, c->v->m->ear_link[j]);
  return gap_of_loop(c, x->ear->loop, at, x->phi);
}

/* Moves the loop's links by a damped least step of its own columns. */
static void try_own_step(const assembly_problem *c, const ear_columns *x, const cut_frames *at, double mu) {
  double K[36] = {0.0}, f[6], longest = 0.0;
  fill_columns(c, FIELD(c->v, q_priority), x, at);
  for (int32_t k = 0; k < x->n; k++) {
    const double *a = x->a + 6 * k;
    for (int i = 0; i < 6; i++)
      for (int j = 0; j <= i; j++) K[6 * i + j] += a[i] * a[j];
  }
  for (int i = 0; i < 6; i++) K[7 * i] += mu + SMALLEST_DAMPING, f[i] = x->phi[i];
  ldl_factor(K, 6);
  ldl_solve(K, 6, f);
  for (int32_t k = x->ear->cuts; k < x->n; k++) longest = larger(longest, fabs(dot6(x->a + 6 * k, f)));
  const double scale = longest > LARGEST_ASSEMBLY_STEP ? LARGEST_ASSEMBLY_STEP / longest : 1.0;
  for (int32_t j = x->ear->first; j < x->ear->first + x->ear->links; j++) {
    const lw_link *link = &c->v->m->link[c->v->m->ear_link[j]];
    double step[6];
    for (int32_t k = 0; k < link->speeds; k++)
      step[k] = -scale * dot6(x->a + 6 * (link->column + k - x->ear->column), f) *
                metric_of(c->v, column_of(c->v, c->c, link->column + k));
    integrate_position(c->v, link, step);
  }
}

static double close_ear(const assembly_problem *c, const ear_columns *x) {
  const int32_t *link = c->v->m->ear_link + x->ear->first;
  cut_frames at;
  double gap = gap_of_ear(c, x, &at), mu = 1e-3;
  for (int i = 0; i < OWN_STEPS && gap > 1e-15 && mu < 1e6; i++) {
    for (int32_t j = 0; j < x->ear->links; j++) keep_link(c->v, link[j], BEFORE_STEP);
    try_own_step(c, x, &at, mu * gap);
    const double next = gap_of_ear(c, x, &at);
    if (next < gap) {
      const int done = next > 0.5 * gap && next < 1e-12;
      gap = next, mu = fmax(0.2 * mu, 1e-12);
      if (done) break;
      continue;
    }
    for (int32_t j = 0; j < x->ear->links; j++) restore_link(c->v, link[j], BEFORE_STEP);
    gap_of_ear(c, x, &at);
    mu *= 6.0;
  }
  return gap;
}

/* Each on what those before it have come to; given up where many do not close by themselves. */
static void close_one_by_one(const assembly_problem *c) {
  const lw_cluster *cluster = c->w.cluster;
  int open = 0;
  for (int32_t e = cluster->first_ear; e < cluster->first_ear + cluster->ears && open < MAX_OPEN; e++) {
    const ear_columns x = columns_of_ear(c, e);
    if (x.ear->loop < 0) compute_link_and_point(c, c->v->m->ear_link[x.ear->first]);
    else open += !(close_ear(c, &x) < OPEN_BY_ITSELF);
  }
}

/* ---- all together ---- */

static void move_by(const assembly_problem *c, double part) {
  const lw_cluster *cluster = c->w.cluster;
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    const lw_link *link = &c->v->m->link[i];
    double step[6];
    for (int32_t j = 0; j < link->speeds; j++)
      step[j] = part * c->w.step[link->column + j] * metric_of(c->v, column_of(c->v, c->c, link->column + j));
    integrate_position(c->v, link, step);
  }
}

/* One step, halved until the gap falls; coordinates as before where it does not. */
static gaps try_ear_step(const assembly_problem *c, gaps now) {
  const double longest = find_step(c, FIELD(c->v, q_priority), now.size);
  if (longest < 0.0) return now;
  keep_pose(c, BEFORE_STEP);
  double part = longest > LARGEST_ASSEMBLY_STEP ? LARGEST_ASSEMBLY_STEP / longest : 1.0;
  for (int i = 0; i < HALVINGS; i++, part *= 0.5) {
    move_by(c, part);
    const gaps next = gap_of_ears(c);
    if (next.size < now.size) return next;
    restore_kept_pose(c, BEFORE_STEP);
  }
  gap_of_ears(c);
  return now;
}

static double newton_by_ears(const assembly_problem *c) {
  gaps now = gap_of_ears(c);
  for (int i = 0, slow = 0; i < NEWTON_STEPS && now.size > 1e-16 && slow < SLOW_STEPS; i++) {
    const gaps next = try_ear_step(c, now);
    if (!(next.size < now.size)) break;
    slow = next.size > 0.9 * now.size ? slow + 1 : 0;
    if (next.widest < fmax(ROUNDING_OF_LOOP, c->near) && next.size > 0.5 * now.size) return next.widest;
    now = next;
  }
  return now.widest;
}

/* How far the coordinates are from those of a pose: the root of the sum of squares, and the largest. */
typedef struct distance {
  double whole, largest;
} distance;

static distance distance_to(const assembly_problem *c, kept_pose which) {
  const lw_cluster *cluster = c->w.cluster;
  distance d = {0.0, 0.0};
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    const lw_link *link = &c->v->m->link[i];
    const double *pose = pose_of_link(c->v, i, which);
    for (int32_t k = 0; k < lw_joint_sizes[link->type].q; k++) {
      const double one = c->v->q[link->q + k] - pose[k];
      d.whole += one * one, d.largest = fmax(d.largest, fabs(one));
    }
  }
  d.whole = sqrt(d.whole);
  return d;
}

/* All at once; where that does not close, or only far away, also one loop after the other by itself, so that errors
 * along a chain of many do not accumulate. Ends in the nearer pose of both, or in the less open one; returns
 * its widest gap. */
static double close_from_pose(assembly_problem *c, double tolerance) {
  if (c->sparse) return close_by_least_squares(c);
  keep_pose(c, SEARCH_START);
  const double gap = newton_by_ears(c);
  const distance far = distance_to(c, SEARCH_START);
  if (gap <= tolerance && far.largest < FAR_MOVE) return gap;
  restore_kept_pose(c, SEARCH_START);
  gap_of_ears(c);
  close_one_by_one(c);
  const double other = newton_by_ears(c);
  const int both = gap <= tolerance && other <= tolerance;
  if (both ? distance_to(c, SEARCH_START).whole < far.whole : !(gap < other)) return other;
  restore_kept_pose(c, SEARCH_START);
  return newton_by_ears(c);
}

/* |Phi|, as small as it becomes by one matrix, whether narrow or not; loop by loop where there is no memory for that. */
static double close_by_matrix(assembly_problem *c, double tolerance) {
  sparse_closure s;
  const int opened = open_sparse(c->v, c->c, &c->w, &s);
  if (opened) use_sparse(c, &s);
  c->steps = steps_allowed(c);
  const double gap = close_from_pose(c, tolerance);
  use_sparse(c, NULL);
  if (opened) close_sparse(&s);
  return gap;
}

#endif
