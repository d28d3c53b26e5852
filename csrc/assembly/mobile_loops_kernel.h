/* Loops that move only because lengths and twists of their links fit, such as Bennett's, Bricard's, or a parallelogram
 * on universal joints with one common axis, or that move only together, such as cranks of one length on a coupler:
 * rounded frames leave loops that nearly move, and the least change of their frames is sought with which they move.
 *
 * First each loop by itself, then all loops of the cluster. The nearly mobile loops are tracked along their motion, with
 * the rank r that their columns J have but for rounding. At each of some poses Phi is zero but for its part across J,
 * W'Phi with W'J = 0, of n - r rows, n = 6 for each loop. Changes p of the frames, six for each, displace the
 * closures by B p: of
 *   W'(Phi - B p) = 0 at all poses
 * the p of least norm is taken, the poses are closed again, and so on. Rows that depend on others within TRUST times the
 * residual are left out for now, as the poses are not exact yet. The loops move where in the end Phi vanishes at these
 * poses and between them; otherwise their frames stay. */
#ifndef LW_ASSEMBLY_MOBILE_LOOPS_KERNEL_H
#define LW_ASSEMBLY_MOBILE_LOOPS_KERNEL_H
#include "model/exact_loops.h"
#include "assembly/loop_frames_kernel.h"
#include "math/quaternion_coordinates_kernel.h"
#include "math/ldl_kernel.h"
#include "math/pivoted_qr_kernel.h"
#include "math/tolerances.h"

#define CLOSING_STEPS 12 /* of Newton's method to a pose */
#define CORRECTIONS 12   /* of frames */
#define FEWEST_POSES 6   /* of loops that nearly move; near a singular pose fewer are found */
#define NO_PLACE (-1)

typedef lw_mobile_loops mobile_loops;

/* ---- their joints and columns ---- */

/* A joint that is not among them yet; returns 0 where there are too many. */
static int add_joint(const view *v, int32_t c, lw_exact_loops *x, const lw_mobile_joint *one, int32_t speeds) {
  mobile_loops *o = x->mobile;
  if (x->place[one->joint] != NO_PLACE) return 1;
  if (o->joints == MOST_JOINTS || o->columns + speeds > MOST_COLUMNS) return 0;
  for (int32_t k = 0; one->link >= 0 && k < speeds; k++)
    o->metric[o->columns + k] = re(metric_of(v, column_of(v, c, v->m->link[one->link].column + k)));
  x->place[one->joint] = o->joints;
  o->joint[o->joints] = *one;
  o->joint[o->joints++].column = o->columns;
  o->columns += speeds;
  return 1;
}

/* Returns 0 where there are too many. */
static int add_loop(const view *v, int32_t c, lw_exact_loops *x, int32_t l) {
  const lw_loop *loop = &v->m->loop[l];
  mobile_loops *o = x->mobile;
  if (o->loops == MOST_LOOPS) return 0;
  o->loop[o->loops++] = l, o->equations += 6;
  const lw_mobile_joint cut = {.joint = loop->joint, .link = -1};
  if (!add_joint(v, c, x, &cut, loop->columns)) return 0;
  for (int branch = 0; branch < 2; branch++)
    for (int32_t i = branch ? loop->child : loop->parent; i != loop->root; i = v->m->link[i].parent) {
      const lw_link *link = &v->m->link[i];
      const lw_mobile_joint one = {.joint = link->joint, .link = i};
      if (!add_joint(v, c, x, &one, link->speeds)) return 0;
    }
  return 1;
}

/* Takes loops of the cluster from `first` to before `end`; returns 0 where there are too many. */
static int take_loops(const view *v, int32_t c, lw_exact_loops *x, int32_t first, int32_t end) {
  mobile_loops *o = x->mobile;
  for (int32_t i = 0; i < o->joints; i++) x->place[o->joint[i].joint] = NO_PLACE; /* of the loops before */
  o->loops = o->equations = o->joints = o->columns = 0;
  for (int32_t i = first; i < end; i++)
    if (!add_loop(v, c, x, loop_of(v, c, i))) return 0;
  return 1;
}

static void place_columns(const mobile_loops *o, int32_t row, int32_t at, int32_t speeds, const double *from,
                          double *J) {
  for (int32_t k = 0; k < speeds; k++) copy(6, from + 6 * k, J + o->equations * (at + k) + row);
}

/* J and Phi at the present pose. */
static void fill_mobile_columns(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  for (int32_t k = 0; k < o->equations * o->columns; k++) o->J[k] = 0.0;
  for (int32_t i = 0; i < o->loops; i++) {
    const lw_loop *loop = &v->m->loop[o->loop[i]];
    const double *from = x->column;
    columns_of_loop(v, c, w, x, o->loop[i], o->phi + 6 * i);
    place_columns(o, 6 * i, o->joint[x->place[loop->joint]].column, loop->columns, from, o->J);
    from += 6 * loop->columns;
    for (int branch = 0; branch < 2; branch++)
      for (int32_t k = branch ? loop->child : loop->parent; k != loop->root; k = v->m->link[k].parent) {
        const lw_link *link = &v->m->link[k];
        place_columns(o, 6 * i, o->joint[x->place[link->joint]].column, link->speeds, from, o->J);
        from += 6 * link->speeds;
      }
  }
}

/* J, its basis and Phi at the present pose; returns the rank. */
static int32_t columns_here(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, double tolerance) {
  mobile_loops *o = x->mobile;
  fill_mobile_columns(v, c, w, x);
  copy(o->equations * o->columns, o->J, o->A);
  return orthonormalise(o->A, o->equations, o->columns, tolerance, o->basis);
}

static const double *basis_vector(const mobile_loops *o, int32_t k) { return o->basis + o->equations * k; }

/* d -= J^+ (J d - b) */
static void step_along(mobile_loops *o, const double *b, double *d) {
  const int32_t r = o->rank, n = o->columns, size = o->equations;
  for (int32_t i = 0; i < r; i++) {
    double *row = o->A + n * i;
    o->y[i] = -dot_rows(basis_vector(o, i), b, size);
    for (int32_t k = 0; k < n; k++) row[k] = dot_rows(basis_vector(o, i), o->J + size * k, size);
    o->y[i] += dot_rows(row, d, n);
  }
  for (int32_t i = 0; i < r; i++)
    for (int32_t j = 0; j < r; j++) o->K[r * i + j] = dot_rows(o->A + n * i, o->A + n * j, n);
  ldl_factor(o->K, r);
  ldl_solve(o->K, r, o->y);
  for (int32_t i = 0; i < r; i++)
    for (int32_t k = 0; k < n; k++) d[k] -= o->y[i] * o->A[n * i + k];
}

/* Turns the direction d of the joints by a random one, and makes it one along the motion, its largest element 1. Returns 0
 * where nothing moves. */
static int turn_direction(mobile_loops *o, uint64_t *seed, double *d) {
  const double none[MOST_EQUATIONS] = {0.0};
  double before[MOST_COLUMNS], largest = 0.0;
  copy(o->columns, d, before);
  for (int32_t k = 0; k < o->columns; k++) d[k] += 0.5 * random_unit(seed);
  step_along(o, none, d);
  for (int32_t k = 0; k < o->columns; k++) largest = fmax(largest, fabs(d[k]));
  const double sign = dot_rows(d, before, o->columns) < 0.0 ? -1.0 : 1.0;
  for (int32_t k = 0; k < o->columns; k++) d[k] *= sign / largest;
  return largest > 1e-6;
}

/* Moves the tree joints by `scale` times d, and places the links. */
static void move_joints(const view *v, int32_t c, lw_exact_loops *x, double scale, const double *d) {
  const mobile_loops *o = x->mobile;
  for (int32_t i = 0; i < o->joints; i++) {
    const lw_mobile_joint *one = &o->joint[i];
    if (one->link < 0) continue;
    const lw_link *link = &v->m->link[one->link];
    double step[6];
    for (int32_t k = 0; k < link->speeds; k++) step[k] = scale * d[one->column + k] * o->metric[one->column + k];
    integrate_position(v, link, step);
  }
  const assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  compute_cluster_kinematics(&at);
}

/* ---- poses ---- */

/* |Phi| along J and across it. */
static void split_phi(const mobile_loops *o, double *along, double *across) {
  double sum = 0.0;
  for (int32_t i = 0; i < o->rank; i++) {
    const double one = dot_rows(o->phi, basis_vector(o, i), o->equations);
    sum += one * one;
  }
  *along = sqrt(sum);
  *across = sqrt(fmax(dot_rows(o->phi, o->phi, o->equations) - sum, 0.0));
}

static double size_across(const mobile_loops *o) {
  double along, across;
  split_phi(o, &along, &across);
  return across;
}

/* To where Phi is zero but for its part across J; returns 0 where the rank is another one there or it stays open. Before,
 * where Phi is large, pivots that vanish do not. */
static int close_pose(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  double before = INFINITY;
  for (int step = 0; step < CLOSING_STEPS; step++) {
    double along, across, d[MOST_COLUMNS] = {0.0};
    const int32_t rank = columns_here(v, c, w, x, NEARLY_LOST);
    if (rank < o->rank) return 0;
    split_phi(o, &along, &across);
    if (along < 1e-15 || !(along < 0.5 * before))
      return rank == o->rank && along < fmax(CLOSED_ALONG, SMALL_ALONG * across);
    before = along;
    step_along(o, o->phi, d);
    move_joints(v, c, x, -1.0, d);
  }
  return 0;
}

static void copy_pose(const view *v, const mobile_loops *o, double *q, int restore) {
  for (int32_t i = 0; i < o->joints; i++) {
    if (o->joint[i].link < 0) continue;
    const lw_link *link = &v->m->link[o->joint[i].link];
    const int32_t n = lw_joint_sizes[link->type].q;
    if (restore) copy(n, q, v->q + link->q);
    else copy(n, v->q + link->q, q);
    q += n;
  }
}

static void go_to_pose(const view *v, int32_t c, mobile_loops *o, int32_t k) {
  const assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  copy_pose(v, o, o->pose[k], 1);
  compute_cluster_kinematics(&at);
}

/* Poses along the motion, from the first on and in the opposite sense, in directions that vary. */
static void follow(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  uint64_t seed = 0x9e3779b97f4a7c15u;
  double first[MOST_COLUMNS];
  for (int32_t k = 0; k < o->columns; k++) first[k] = random_unit(&seed);
  copy_pose(v, o, o->pose[0], 0);
  o->poses = 1;
  for (int back = 0; back < 2; back++) {
    double d[MOST_COLUMNS];
    go_to_pose(v, c, o, 0);
    for (int32_t k = 0; k < o->columns; k++) d[k] = back ? -first[k] : first[k];
    for (int i = 0; i < MOST_POSES / 2; i++) {
      if (columns_here(v, c, w, x, NEARLY_LOST) != o->rank || !turn_direction(o, &seed, d)) break;
      move_joints(v, c, x, STEP_ALONG, d);
      if (!close_pose(v, c, w, x) || size_across(o) > FURTHEST_OFF) break;
      copy_pose(v, o, o->pose[o->poses++], 0);
    }
  }
  go_to_pose(v, c, o, 0);
}

/* ---- changes of frames ---- */

/* Vectors that span what J leaves; returns their number. */
static int32_t span_across(mobile_loops *o) {
  const int32_t n = o->equations;
  for (int32_t i = 0; i < n; i++) {
    double *one = o->unit + n * i;
    for (int32_t j = 0; j < n; j++) one[j] = i == j;
    leave_across(o->basis, o->rank, n, one);
  }
  return orthonormalise(o->unit, n, n, 0.1, o->across);
}

/* Adds to W'B the effect of changes of a joint's frame on one loop. `closing`: the closure point by the joint's branch. */
static void add_changes(const view *v, const cluster_work *w, const mobile_loops *o, int32_t place, int end,
                        int32_t loop, int branch, const double closing[3], int32_t count, double *a) {
  const lw_mobile_joint *one = &o->joint[place];
  const end_frame frame = frame_at_end(v, w, one->joint, end);
  const int outer = one->link < 0 ? end : end != v->m->link[one->link].reversed;
  const double per_length = 1.0 / v->cut[o->loop[loop]].length;
  const double sign = outer != branch ? -1.0 : 1.0;
  double d[3];
  for (int j = 0; j < 3; j++) d[j] = closing[j] - frame.p[j];
  for (int j = 0; j < 3; j++) {
    const double e[3] = {frame.body[j], frame.body[3 + j], frame.body[6 + j]};
    double turn[6] = {e[0], e[1], e[2], 0.0, 0.0, 0.0}, shift[6] = {0.0, 0.0, 0.0, e[0], e[1], e[2]};
    add_cross(e, d, turn + 3);
    for (int k = 3; k < 6; k++) turn[k] *= per_length;
    for (int32_t r = 0; r < count; r++) {
      const double *across = o->across + o->equations * r + 6 * loop;
      double *row = a + MOST_UNKNOWNS * r + 6 * (2 * place + end);
      row[j] += sign * dot6(across, turn);
      row[3 + j] += sign * dot6(across, shift);
    }
  }
}

/* The rows W'B of the present pose and their right-hand sides -W'Phi. */
static void add_rows(const view *v, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  const int32_t count = span_across(o), first = o->rows;
  double *a = o->a + MOST_UNKNOWNS * first;
  o->rows += count;
  for (int32_t r = 0; r < count; r++) o->b[first + r] = -dot_rows(o->across + o->equations * r, o->phi, o->equations);
  for (int32_t i = 0; i < MOST_UNKNOWNS * count; i++) a[i] = 0.0;
  for (int32_t i = 0; i < o->loops; i++) {
    const lw_loop *loop = &v->m->loop[o->loop[i]];
    cut_frames at;
    align_cut_joint(v, w, o->loop[i], NULL, &at);
    for (int end = 0; end < 2 && !x->is_on[loop->joint]; end++)
      add_changes(v, w, o, x->place[loop->joint], end, i, 0, at.on_child, count, a);
    for (int branch = 0; branch < 2; branch++)
      for (int32_t k = branch ? loop->child : loop->parent; k != loop->root; k = v->m->link[k].parent) {
        const int32_t joint = v->m->link[k].joint;
        for (int end = 0; end < 2 && !x->is_on[joint]; end++)
          add_changes(v, w, o, x->place[joint], end, i, branch, branch ? at.on_child : at.on_parent, count, a);
      }
  }
}

/* All poses closed again, and their rows; returns the largest of the right-hand sides, or INFINITY. */
static double collect_rows(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  double residual = 0.0;
  o->rows = 0;
  for (int32_t k = 0; k < o->poses; k++) {
    go_to_pose(v, c, o, k);
    if (!close_pose(v, c, w, x)) return INFINITY;
    copy_pose(v, o, o->pose[k], 0);
    add_rows(v, w, x);
    residual = fmax(residual, size_across(o));
  }
  go_to_pose(v, c, o, 0);
  return residual;
}

static void change_frames(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  const double length = v->cut[o->loop[0]].length;
  for (int32_t i = 0; i < 2 * o->joints; i++) {
    const double *p = o->change + 6 * i;
    const int32_t joint = o->joint[i / 2].joint;
    double in_world[3], shift[3], turn[9];
    if (x->is_on[joint]) continue;
    const end_frame frame = frame_at_end(v, w, joint, i % 2);
    rotate(frame.body, p, in_world);
    rotate(frame.body, p + 3, shift);
    for (int j = 0; j < 3; j++) shift[j] *= length;
    double Q[4] = {1.0, 0.5 * in_world[0], 0.5 * in_world[1], 0.5 * in_world[2]};
    normalize_quaternion(Q);
    rotation_of(Q, turn);
    change_frame(v, x, joint, i % 2, frame.body, turn, shift);
    for (int j = 0; j < 6; j++) o->total[6 * i + j] += p[j];
  }
  place_again(v, c);
}

/* Returns whether the residual vanishes at all poses. */
static int find_change(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  for (int i = 0; i < CORRECTIONS; i++) {
    const double residual = collect_rows(v, c, w, x);
    if (!(residual < FURTHEST_OFF)) return 0;
    if (residual < 0.1 * MOVES_EXACTLY) return 1;
    pivoted_qr f = {
        .rows = 12 * o->joints, .columns = o->rows, .a = o->packed, .diagonal = o->diagonal, .order = o->order};
    for (int32_t r = 0; r < o->rows; r++) copy(f.rows, o->a + MOST_UNKNOWNS * r, o->packed + f.rows * r);
    qr_factor(&f, fmin(TRUST * residual, LARGEST_PIVOT));
    qr_least_norm(&f, o->b, o->change);
    change_frames(v, c, w, x);
  }
  return 0;
}

static double largest_change(const mobile_loops *o) {
  double largest = 0.0;
  for (int32_t i = 0; i < 12 * o->joints; i++) largest = fmax(largest, fabs(o->total[i]));
  return largest;
}

/* Next to its poses too, but for those next to which there is none. */
static int moves_exactly(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  uint64_t seed = 0x9e3779b97f4a7c15u;
  int moves = 1, tried = 0;
  for (int32_t k = 0; moves && k < o->poses; k++) {
    double d[MOST_COLUMNS] = {0.0};
    go_to_pose(v, c, o, k);
    columns_here(v, c, w, x, NEARLY_LOST);
    if (!turn_direction(o, &seed, d)) continue;
    move_joints(v, c, x, 0.5 * STEP_ALONG, d);
    if (!close_pose(v, c, w, x)) continue;
    moves = size_across(o) < MOVES_EXACTLY && columns_here(v, c, w, x, WELL_LOST) == o->rank;
    tried++;
  }
  go_to_pose(v, c, o, 0);
  return moves && 2 * tried > o->poses;
}

/* ---- all of it ---- */

static void copy_changes(const view *v, const lw_exact_loops *x, int restore) {
  mobile_loops *o = x->mobile;
  for (int32_t i = 0; i < 2 * o->joints; i++) {
    const int32_t joint = o->joint[i / 2].joint, end = i % 2;
    double *now[4] = {(end ? FIELD(v, child_position) : FIELD(v, parent_position)) + 3 * joint,
                      (end ? FIELD(v, child_orientation) : FIELD(v, parent_orientation)) + 4 * joint,
                      x->turn[2 * joint + end], x->shift[2 * joint + end]},
           *saved = o->saved[i];
    const int size[4] = {3, 4, 9, 3};
    for (int k = 0; k < 4; saved += size[k], k++)
      if (restore) copy(size[k], saved, now[k]);
      else copy(size[k], now[k], saved);
  }
}

typedef enum mobile_outcome { NOT_MOBILE, NEARLY_MOBILE, MADE_MOBILE } mobile_outcome;

static mobile_outcome make_mobile(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  double open = INFINITY;
  for (int32_t i = 0; i < 12 * o->joints; i++) o->total[i] = 0.0;
  copy_changes(v, x, 0);
  copy_pose(v, o, o->first, 0);
  if (close_pose(v, c, w, x) && size_across(o) < FURTHEST_OFF) {
    follow(v, c, w, x);
    open = collect_rows(v, c, w, x);
  }
  if (open < FURTHEST_OFF && o->poses > 2 && find_change(v, c, w, x) && moves_exactly(v, c, w, x) &&
      largest_change(o) < fmin(CHANGE_BY_GAP * open, ROUNDED_FRAME))
    return MADE_MOBILE;
  copy_changes(v, x, 1);
  copy_pose(v, o, o->first, 1);
  place_again(v, c);
  return o->poses >= FEWEST_POSES && open > WELL_LOST && open < 10.0 * ROUNDED_FRAME ? NEARLY_MOBILE : NOT_MOBILE;
}

/* What the columns of the loops that were taken lost: nothing or all that they have, rank but for rounding, or rank. */
typedef enum lost_rank { NOT_LOST, NEARLY, LOST } lost_rank;

static lost_rank rank_lost(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  mobile_loops *o = x->mobile;
  o->rank = columns_here(v, c, w, x, NEARLY_LOST);
  if (o->rank == o->equations || o->rank == o->columns) return NOT_LOST;
  return columns_here(v, c, w, x, EXACT_FRAME) == o->rank ? LOST : NEARLY;
}

/* Those that lost rank but for rounding. Those that lost it keep their frames, and so do those that move by now. */
static int make_single_loops_mobile(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x,
                                    int32_t *inexact) {
  int changed = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int32_t i = 0; i < w->cluster->loops; i++) {
      const lw_loop *loop = &v->m->loop[loop_of(v, c, i)];
      if (!take_loops(v, c, x, i, i + 1)) continue;
      const lost_rank lost = rank_lost(v, c, w, x);
      if (lost != (pass ? NEARLY : LOST)) continue;
      const mobile_outcome outcome = pass ? make_mobile(v, c, w, x) : MADE_MOBILE;
      if (outcome == NEARLY_MOBILE) *inexact = loop->joint;
      if (outcome != MADE_MOBILE) continue;
      changed |= pass;
      FOR_JOINTS_ON_LOOP(joint, v, loop) x->is_on[joint] = 1;
    }
  return changed;
}

/* All of them together, where their columns lost rank but for rounding. */
static int make_cluster_mobile(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, int32_t *inexact) {
  if (w->cluster->loops < 2 || !take_loops(v, c, x, 0, w->cluster->loops)) return 0;
  for (int32_t i = 0; i < joints_of(w->cluster); i++) x->is_on[joint_of(v, c, i)] = 0;
  const mobile_outcome outcome = rank_lost(v, c, w, x) == NEARLY ? make_mobile(v, c, w, x) : NOT_MOBILE;
  if (outcome != NEARLY_MOBILE) *inexact = -1;
  if (outcome == NEARLY_MOBILE) *inexact = v->m->loop[x->mobile->loop[0]].joint;
  return outcome == MADE_MOBILE;
}

static int make_loops_mobile(const view *v, int32_t c, lw_exact_loops *x) {
  const cluster_work w = work_of(v, c);
  int32_t inexact = -1;
  x->mobile->joints = 0;
  for (int32_t i = 0; i < joints_of(w.cluster); i++) {
    x->is_on[joint_of(v, c, i)] = 0;
    x->place[joint_of(v, c, i)] = NO_PLACE;
  }
  int changed = make_single_loops_mobile(v, c, &w, x, &inexact);
  changed |= make_cluster_mobile(v, c, &w, x, &inexact);
  if (inexact >= 0) x->inexact_plus_1 = inexact + 1;
  return changed;
}
#endif
