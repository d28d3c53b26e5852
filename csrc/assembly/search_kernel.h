/* From start values to a closed pose that keeps as many as it can: from a guess that does not close, deterministic random
 * ones are tried. If not all values can be kept, those given first are: with few rows they are released one by one, the
 * last first; of many rows doubling and bisection find how many are kept. Where none is, the first comes next to the end
 * of its range. Then the speeds. */
#ifndef LW_ASSEMBLY_SEARCH_KERNEL_H
#define LW_ASSEMBLY_SEARCH_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/closure_kernel.h"
#include "assembly/position_kernel.h"
#include "assembly/step_by_loops_kernel.h"
#include "assembly/close_kernel.h"
#include "math/tolerances.h"

#define FREE_RESTARTS 12
#define HELD_RESTARTS 3

/* Of the priorities between two others the middle one, or nearly so; 0 where there is none. */
static double priority_between(const assembly_problem *c, const real *priority, double low, double high) {
  double sum = 0.0, count = 0.0;
  for (int32_t k = 0; k < c->w.n; k++) {
    const double rank = priority_of(c, priority, k);
    if (rank > low && rank < high) sum += rank, count += 1.0;
  }
  return count > 0.0 ? next_priority(c, priority, nextafter(sum / count, INFINITY)) : 0.0;
}

/* The last priority above `low`, up to `more` from the next one, below `high`. */
static double priority_above(const assembly_problem *c, const real *priority, double low, double more, double high) {
  double next = high;
  for (int32_t k = 0; k < c->w.n; k++) {
    const double rank = priority_of(c, priority, k);
    if (rank > low) next = fmin(next, rank);
  }
  return next_priority(c, priority, fmin(next + more, high));
}

/* The highest priority limit with which `closes` succeeds, given that it does so with none and not with all. With few
 * rows each weaker way to hold is tried, from where the stronger one came nearest. As a rule few of many given values can
 * be kept: else limits are doubled until one fails, then bisected. */
static double highest_feasible_priority(assembly_problem *c, const real *priority,
                                        int (*closes)(assembly_problem *, double), double tolerance) {
  double low = 0.0, high = next_priority(c, priority, INFINITY), more = 1.0;
  for (;;) {
    if (c->w.rows <= LW_FEW_ROWS) c->priority_limit = next_priority(c, priority, high);
    else
      c->priority_limit =
          more > 0.0 ? priority_above(c, priority, low, more, high) : priority_between(c, priority, low, high);
    if (!(c->priority_limit > low && c->priority_limit < high)) return low;
    if (closes(c, tolerance)) low = c->priority_limit, more *= 2.0;
    else high = c->priority_limit, more = 0.0;
  }
}

/* Of poses that do not close the least open one is kept. */
static int closes_here(assembly_problem *c, double tolerance) {
  if (close_from_pose(c, tolerance) <= tolerance) return 1;
  const double gap = gap_of_ears(c).size;
  if (!(gap < c->least)) return 0;
  c->least = gap;
  keep_pose(c, LEAST_OPEN);
  return 0;
}

/* A closed pose no further than `furthest` from the given values is the pose found. */
static int accept_closed(assembly_problem *c) {
  c->keeps |= c->priority_limit > 0.0;
  if (moved(c) > c->furthest) return 0;
  keep_pose(c, FOUND);
  return 1;
}

/* From the first pose and from others, with the priority limit. */
static int closes_from_guesses(assembly_problem *c, int trials, double tolerance) {
  uint64_t seed = 0x9e3779b97f4a7c15u;
  const double reserve = c->priority_limit > 0.0 ? 0.5 * c->steps : 0.0;
  for (int trial = 0; trial < trials && (trial == 0 || !c->sparse || c->steps > reserve); trial++) {
    if (trial) guess(c, trial, &seed);
    else restore_kept_pose(c, FIRST);
    if (closes_here(c, tolerance) && accept_closed(c)) return 1;
  }
  return 0;
}

/* With fewer columns that move than closures take, other guesses would only find a far pose. */
static int32_t trials_at_priority(const assembly_problem *c) {
  int32_t moving = 0;
  for (int32_t k = 0; k < c->w.n; k++) moving += moves(c, FIELD(c->v, q_priority), k);
  if (moving < c->w.n - c->w.cluster->dof) return 1;
  return c->sparse ? RESTARTS : HELD_RESTARTS;
}

/* Tree joints whose values are held go to their start. */
static void restore_held(const assembly_problem *c) {
  for (int32_t i = c->w.cluster->first; i < c->w.cluster->first + c->w.cluster->count; i++) {
    const lw_link *link = &c->v->m->link[i];
    const int32_t whole = lw_joint_sizes[link->type].q - link->speeds;
    for (int32_t j = 0; j < lw_joint_sizes[link->type].q; j++)
      if (!moves(c, FIELD(c->v, q_priority), link->column + (whole ? 0 : j)))
        c->v->q[link->q + j] = FIELD(c->v, q_start)[link->q + j];
  }
}

/* From where a stronger way to hold came nearest; to keep one value at least, from the pose found as well. */
static int closes_at_priority(assembly_problem *c, double tolerance) {
  restore_kept_pose(c, FIRST);
  const int closed = closes_here(c, tolerance);
  if (closed && accept_closed(c)) return 1;
  if (!closed) keep_pose(c, FIRST);
  if (next_priority(c, FIELD(c->v, q_priority), c->priority_limit) > 0.0) return 0;
  restore_kept_pose(c, FOUND);
  restore_held(c);
  return closes_here(c, tolerance) && accept_closed(c);
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
  const int closed = close_from_pose(c, tolerance) <= tolerance;
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
    if (!(close_from_pose(c, tolerance) <= tolerance) || !(fabs(missing(c, k, asked)) < fabs(least) - NEAREST))
      continue;
    least = missing(c, k, asked);
    keep_pose(c, FOUND);
  }
  for (double step = 0.5 * least; fabs(step) > NEAREST; step *= 0.5)
    if (closes_held_at(c, k, asked - metric * (least - step), tolerance)) least -= step;
  closes_held_at(c, k, asked - metric * (least + copysign(OFF_THE_END, least)), tolerance);
  restore_kept_pose(c, FOUND);
}

/* If all priorities cannot be satisfied, lower limits start from the closest pose found. Returns the
 * widest gap that remains [m]. */
static double close_from_guess(assembly_problem *c, double tolerance) {
  const real *priority = FIELD(c->v, q_priority);
  const double length = length_of(c->v, c->c), all = next_priority(c, priority, INFINITY), small = tolerance / length;
  c->steps = steps_allowed(c), c->furthest = INFINITY, c->priority_limit = all;
  guess(c, 0, NULL);
  if (all > 0.0) {
    const int closed = closes_here(c, small);
    keep_pose(c, FIRST);
    if (closed || (trials_at_priority(c) > 1 && closes_from_guesses(c, trials_at_priority(c), small)))
      return length * gap_of_ears(c).widest;
  } else keep_pose(c, FIRST);
  c->priority_limit = 0.0;
  if (!closes_from_guesses(c, c->sparse ? RESTARTS : FREE_RESTARTS, small)) {
    restore_kept_pose(c, LEAST_OPEN);
    return length * gap_of_ears(c).widest;
  }
  if (all > 0.0) {
    c->furthest = MAX_MOVE_RATIO * moved(c);
    c->priority_limit = highest_feasible_priority(c, priority, closes_at_priority, small);
  }
  restore_kept_pose(c, FOUND);
  const double gap = gap_of_ears(c).widest;
  if (all > 0.0 && !c->keeps) go_to_end_of_range(c, fmin(small, fmax(2.0 * gap, AS_WELL)));
  return length * gap_of_ears(c).widest;
}

/* ---- speeds ---- */

/* Where a column's speed stands. */
static double *speed_at(const view *v, int32_t u) {
  return u < v->m->size.nu ? v->u + u : FIELD(v, u_cut) + u - v->m->size.nu;
}

static int speeds_close(assembly_problem *c, double tolerance) {
  const view *v = c->v;
  const real *priority = FIELD(v, u_priority);
  double gap = INFINITY, scale = 0.0;
  for (int32_t k = 0; k < c->w.n; k++) {
    const lw_column *column = column_of(v, c->c, k);
    const double start = FIELD(v, u_start)[column->u];
    *speed_at(v, column->u) = column->link >= 0 || !moves(c, priority, k) ? start : 0.0;
  }
  speed_gap_of_ears(c);
  for (int pass = 0; pass < 3; pass++) {
    if (find_step(c, priority, 0.0) < 0.0) return 0;
    for (int32_t k = 0; k < c->w.n; k++) {
      const lw_column *column = column_of(v, c->c, k);
      const double metric = metric_of(v, column);
      *speed_at(v, column->u) += c->w.step[k] * metric;
      scale = fmax(scale, fabs(*speed_at(v, column->u)) / unscaled_metric(v, c->c, column));
    }
    gap = speed_gap_of_ears(c).widest;
  }
  return gap <= tolerance * scale;
}

/* `gap` is what the loops are open by, in the metric: speeds cannot fit better. */
static void close_speeds(assembly_problem *c, double gap) {
  const real *priority = FIELD(c->v, u_priority);
  const double tolerance = SPEED_TOLERANCE + 10.0 * gap;
  int (*closes)(assembly_problem *, double) = c->sparse ? speeds_close_by_matrix : speeds_close;
  c->priority_limit = next_priority(c, priority, INFINITY);
  if (closes(c, tolerance)) return;
  c->priority_limit = highest_feasible_priority(c, priority, closes, tolerance);
  closes(c, tolerance);
}
#endif
