/* Overconstrained loops move because their axes are parallel, pass one point, or lie in a line, and close because
 * their points lie in a plane. Frames written with a few digits miss that by a little: the loop is then another one, which
 * does not move, or does not close. Here such frames are made exact, in a pose that is as closed as it can be, with all
 * bodies where they are:
 *   directions  of joint axes within ROUNDED_FRAME of their mean become the same one: that of most of them, or the mean;
 *               those nearly perpendicular to others become perpendicular
 *   lines       the axes of a loop that pass a point within ROUNDED_FRAME pass it
 *   motion      of loops that nearly move still: mobile_loops_kernel.h
 *   gaps        what no joint of a loop moves is taken out of its cut joint's frame on the child: the part of Phi across
 *               the columns of all its joints. Where loops still do not close, but the start pose is as good as closed,
 *               its gaps are taken out as well: lengths that fit each other but for rounding, as of parallel cranks
 * Directions and lines change only where the rank of the columns of a loop falls by it, here and in a pose next to it;
 * other mechanisms stay as they are. */
#ifndef LW_ASSEMBLY_EXACT_LOOPS_KERNEL_H
#define LW_ASSEMBLY_EXACT_LOOPS_KERNEL_H
#include "model/exact_loops.h"
#include "assembly/loop_frames_kernel.h"
#include "assembly/mobile_loops_kernel.h"
#include "assembly/regular_dof_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/closure_kernel.h"
#include "math/spatial_kernel.h"
#include "block/field_view_kernel.h"
#include "math/tolerances.h"

#define BOTH_ENDS 2
#define NO_CENTRE (-1)
#define GUESSES 6 /* from which a closed pose is looked for */
#define CLOSING_PASSES 3

static void note_direction(lw_exact_loops *x, int32_t joint, int end, const real R[9], int axis) {
  const double d[3] = {R[axis], R[3 + axis], R[6 + axis]};
  lw_joint_direction *at = &x->direction[x->directions++];
  *at = (lw_joint_direction){joint, end, -1, {d[0], d[1], d[2]}};
}

/* Those that a joint gives to its bodies: others of its frame are arbitrary. */
static void note_directions(const view *v, const cluster_work *w, lw_exact_loops *x, int32_t joint) {
  const lw_joint_size *size = &lw_joint_sizes[v->m->joint[joint].type];
  if (size->axes == LW_NO_AXES) return;
  const int is_cut = v->m->joint[joint].link < 0, crossed = size->axes == LW_AXES_Z_X && size->motion == LW_ROTATION;
  const end_frame parent = frame_at_end(v, w, joint, 0), child = frame_at_end(v, w, joint, 1);
  note_direction(x, joint, is_cut ? 0 : BOTH_ENDS, parent.R, 2);
  if (crossed) note_direction(x, joint, is_cut ? 1 : BOTH_ENDS, child.R, 0);
  else {
    if (size->axes == LW_AXES_Z_X) note_direction(x, joint, is_cut ? 0 : BOTH_ENDS, parent.R, 0);
    if (is_cut) note_direction(x, joint, 1, child.R, 2);
  }
}

/* Sine of the angle between two unit vectors. */
static double sine_between(const double a[3], const double b[3]) {
  double c[3];
  cross(a, b, c);
  return sqrt(dot(c, c));
}

/* Returns 0 where there are too many. */
static int group_directions(lw_exact_loops *x) {
  x->groups = 0;
  for (int32_t i = 0; i < x->directions; i++) {
    lw_joint_direction *one = &x->direction[i];
    int32_t g = 0;
    while (g < x->groups && sine_between(one->d, x->group[g].d) > EXACT_FRAME) g++;
    if (g == MOST_DIRECTIONS) return 0;
    if (g == x->groups) x->group[x->groups++] = (lw_direction_group){0, -1, {one->d[0], one->d[1], one->d[2]}, {0}};
    x->group[g].count++;
    one->group = g;
  }
  return 1;
}

/* The largest group that has no leader yet; -1: all have. */
static int32_t largest_without_leader(const lw_exact_loops *x) {
  int32_t best = -1;
  for (int32_t g = 0; g < x->groups; g++)
    if (x->group[g].leader < 0 && (best < 0 || x->group[g].count > x->group[best].count)) best = g;
  return best;
}

/* Groups that differ by 2 ROUNDED_FRAME at most follow the largest; their exact direction is its own where most have it,
 * or the mean. */
static void agree_on_direction(lw_exact_loops *x, int32_t leader) {
  lw_direction_group *largest = &x->group[leader];
  double sum[3] = {0.0};
  int32_t count = 0;
  for (int32_t g = 0; g < x->groups; g++) {
    lw_direction_group *one = &x->group[g];
    if (one->leader >= 0 || !(sine_between(one->d, largest->d) <= 2.0 * ROUNDED_FRAME)) continue;
    const double sign = dot(one->d, largest->d) < 0.0 ? -one->count : one->count;
    for (int i = 0; i < 3; i++) sum[i] += sign * one->d[i];
    one->leader = leader, count += one->count;
  }
  const double size = sqrt(dot(sum, sum));
  for (int i = 0; i < 3; i++) largest->exact[i] = largest->count > MAJORITY * count ? largest->d[i] : sum[i] / size;
}

/* Makes a direction perpendicular to those chosen before to which it is nearly so: one, or two. */
static void make_perpendicular(lw_exact_loops *x, const int32_t *chosen, int32_t before, double d[3]) {
  double across[2][3];
  int count = 0, off = 0;
  for (int32_t k = 0; k < before && count < 2; k++) {
    double e[3];
    copy(3, x->group[chosen[k]].exact, e);
    if (!(fabs(dot(d, e)) <= ROUNDED_FRAME)) continue;
    off |= fabs(dot(d, e)) > EXACT_FRAME;
    const double along = count ? dot(e, across[0]) : 0.0;
    for (int i = 0; count && i < 3; i++) e[i] -= along * across[0][i];
    const double size = sqrt(dot(e, e));
    if (size < 1e-2) continue;
    for (int i = 0; i < 3; i++) across[count][i] = e[i] / size;
    count++;
  }
  for (int k = 0; off && k < count; k++) {
    const double along = dot(d, across[k]);
    for (int i = 0; i < 3; i++) d[i] -= along * across[k][i];
  }
  const double size = sqrt(dot(d, d));
  for (int i = 0; off && i < 3; i++) d[i] /= size;
}

static void choose_directions(lw_exact_loops *x) {
  int32_t chosen[MOST_DIRECTIONS], count = 0;
  for (int32_t g = largest_without_leader(x); g >= 0; g = largest_without_leader(x)) {
    agree_on_direction(x, g);
    make_perpendicular(x, chosen, count, x->group[g].exact);
    chosen[count++] = g;
  }
}

/* turn := the shortest rotation from one unit vector to another, after turn. */
static void turn_further(const double from[3], const double to[3], double turn[9]) {
  double n[3], before[9];
  cross(from, to, n);
  const double c = dot(from, to), f = 1.0 / (1.0 + c);
  const double R[9] = {c + f * n[0] * n[0],    f * n[0] * n[1] - n[2], f * n[0] * n[2] + n[1],
                       f * n[0] * n[1] + n[2], c + f * n[1] * n[1],    f * n[1] * n[2] - n[0],
                       f * n[0] * n[2] - n[1], f * n[1] * n[2] + n[0], c + f * n[2] * n[2]};
  copy(9, turn, before);
  multiply(R, before, turn);
}

/* The rotation that makes the directions of a joint on one end exact, z before x; returns whether there is one. */
static int turn_of_end(const lw_exact_loops *x, const lw_joint_direction *first, int32_t count, int end,
                       double turn[9]) {
  int turned = 0;
  identity_rotation(turn);
  for (int32_t k = 0; k < count; k++) {
    if (first[k].end != end && first[k].end != BOTH_ENDS) continue;
    const double *exact = x->group[x->group[first[k].group].leader].exact;
    double now[3], to[3];
    rotate(turn, first[k].d, now);
    const double sign = dot(now, exact) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++) to[i] = sign * exact[i];
    if (!(sine_between(now, to) > EXACT_FRAME)) continue;
    turn_further(now, to, turn);
    turned = 1;
  }
  return turned;
}

static int turn_joint(const view *v, const cluster_work *w, lw_exact_loops *x, const lw_joint_direction *first,
                      int32_t count) {
  const int32_t joint = first->joint;
  const end_frame frame[2] = {frame_at_end(v, w, joint, 0), frame_at_end(v, w, joint, 1)};
  int changed = 0;
  for (int end = 0; end < 2; end++) {
    double turn[9], shift[3] = {0.0};
    if (!turn_of_end(x, first, count, end, turn)) continue;
    if (end && v->m->joint[joint].link >= 0) { /* the displacement of a joint turns as well */
      double apart[3];
      for (int i = 0; i < 3; i++) apart[i] = frame[1].p[i] - frame[0].p[i];
      rotate(turn, apart, shift);
      for (int i = 0; i < 3; i++) shift[i] -= apart[i];
    }
    change_frame(v, x, joint, end, frame[end].body, turn, shift);
    changed = 1;
  }
  return changed;
}

/* Returns whether any changes. */
static int align_directions(const view *v, int32_t c, lw_exact_loops *x) {
  const cluster_work w = work_of(v, c);
  int changed = 0;
  x->directions = 0;
  for (int32_t i = 0; i < joints_of(w.cluster); i++) note_directions(v, &w, x, joint_of(v, c, i));
  if (!group_directions(x)) return 0;
  choose_directions(x);
  for (int32_t i = 0, end; i < x->directions; i = end) {
    for (end = i + 1; end < x->directions && x->direction[end].joint == x->direction[i].joint; end++) continue;
    changed |= turn_joint(v, &w, x, &x->direction[i], end - i);
  }
  if (changed) place_again(v, c);
  return changed;
}

/* ---- lines through a point ---- */

/* From the axis of a frame, or for joints that turn about a point, from its origin, to a point. */
static void arm_from_axis(const view *v, int32_t joint, const end_frame *frame, const double point[3], double arm[3]) {
  const double z[3] = {frame->R[2], frame->R[5], frame->R[8]};
  for (int i = 0; i < 3; i++) arm[i] = point[i] - frame->p[i];
  if (v->m->joint[joint].type != LW_REVOLUTE) return;
  const double along = dot(z, arm);
  for (int i = 0; i < 3; i++) arm[i] -= along * z[i];
}

/* Distance of the axes of a loop from a point, and what they ask of a nearer one: A by = b, summed up. */
typedef struct centre_sums {
  double A[9], b[3], largest, count;
} centre_sums;

/* Returns 0 where a joint does not turn about a point. */
static int add_axes_of_loop(const view *v, const cluster_work *w, const lw_loop *loop, const double centre[3],
                            centre_sums *sums) {
  FOR_JOINTS_ON_LOOP(joint, v, loop) {
    const int32_t type = v->m->joint[joint].type;
    if (type == LW_FIXED) continue;
    if (!lw_is_rotational(type)) return 0;
    for (int end = 0; end < (v->m->joint[joint].link < 0 ? 2 : 1); end++) {
      const end_frame frame = frame_at_end(v, w, joint, end);
      const double z[3] = {frame.R[2], frame.R[5], frame.R[8]};
      double arm[3];
      arm_from_axis(v, joint, &frame, centre, arm);
      sums->largest = fmax(sums->largest, sqrt(dot(arm, arm)));
      for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) sums->A[3 * i + k] += (i == k) - (type == LW_REVOLUTE ? z[i] * z[k] : 0.0);
        sums->b[i] -= arm[i];
      }
      sums->count += 1.0;
    }
  }
  return 1;
}

/* The point whose squared distances from the axes of the loops of a group, those of the cluster from `first` to before
 * `end`, add up to least; returns the largest of these
 * distances, or INFINITY where a joint does not turn about a point. */
static double find_centre(const view *v, int32_t c, const cluster_work *w, const lw_exact_loops *x, int32_t group,
                          int32_t first, int32_t end, double centre[3]) {
  double largest = INFINITY;
  for (int pass = 0; pass < 5; pass++) {
    centre_sums sums = {{0.0}, {0.0}, 0.0, 0.0};
    for (int32_t i = first; i < end; i++) {
      const int32_t l = loop_of(v, c, i);
      if (x->centre[l].group == group && !add_axes_of_loop(v, w, &v->m->loop[l], centre, &sums)) return INFINITY;
    }
    for (int i = 0; i < 3; i++) sums.A[4 * i] += 1e-9 * sums.count + 1e-300; /* parallel axes leave it where it is */
    largest = sums.largest;
    ldl_factor(sums.A, 3);
    ldl_solve(sums.A, 3, sums.b);
    for (int i = 0; i < 3; i++) centre[i] += sums.b[i];
  }
  return largest;
}

/* Loops whose axes all pass the same point are one group. */
static void group_centres(const view *v, int32_t c, lw_exact_loops *x) {
  const cluster_work w = work_of(v, c);
  const double near = ROUNDED_FRAME * re(length_of(v, c));
  for (int32_t i = 0; i < w.cluster->loops; i++) x->centre[loop_of(v, c, i)].group = 0;
  for (int32_t i = 0; i < w.cluster->loops; i++) {
    const int32_t l = loop_of(v, c, i), group = 1 + i;
    if (x->centre[l].group) continue;
    const end_frame start = frame_at_end(v, &w, v->m->loop[l].joint, 0);
    double centre[3];
    copy(3, start.p, centre);
    x->centre[l].group = group;
    if (!(find_centre(v, c, &w, x, group, i, i + 1, centre) <= near)) {
      x->centre[l].group = NO_CENTRE;
      continue;
    }
    for (int32_t k = i + 1; k < w.cluster->loops; k++) {
      lw_loop_centre *other = &x->centre[loop_of(v, c, k)];
      centre_sums sums = {{0.0}, {0.0}, 0.0, 0.0};
      if (other->group == 0 && add_axes_of_loop(v, &w, &v->m->loop[loop_of(v, c, k)], centre, &sums) &&
          sums.largest <= 2.0 * near)
        other->group = group;
    }
    find_centre(v, c, &w, x, group, i, w.cluster->loops, centre);
    for (int32_t k = i; k < w.cluster->loops; k++)
      if (x->centre[loop_of(v, c, k)].group == group) copy(3, centre, x->centre[loop_of(v, c, k)].point);
  }
}

static int move_to_centre(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, int32_t joint,
                          const double centre[3]) {
  const int is_cut = v->m->joint[joint].link < 0;
  int changed = 0;
  for (int end = 0; end < 2; end++) {
    const end_frame frame = frame_at_end(v, w, joint, end);
    double arm[3];
    arm_from_axis(v, joint, &frame, centre, arm);
    if (!(sqrt(dot(arm, arm)) > EXACT_FRAME * re(length_of(v, c)))) continue;
    if (!is_cut && end == 0) {
      const end_frame other = frame_at_end(v, w, joint, 1);
      change_frame(v, x, joint, 1, other.body, NULL, arm);
    }
    change_frame(v, x, joint, end, frame.body, NULL, arm);
    changed = 1;
    if (!is_cut) break;
  }
  return changed;
}

static int align_lines(const view *v, int32_t c, lw_exact_loops *x) {
  const cluster_work w = work_of(v, c);
  int changed = 0;
  group_centres(v, c, x);
  for (int32_t i = 0; i < w.cluster->loops; i++) {
    const int32_t l = loop_of(v, c, i);
    if (x->centre[l].group == NO_CENTRE) continue;
    FOR_JOINTS_ON_LOOP(joint, v, &v->m->loop[l]) {
      if (v->m->joint[joint].type != LW_FIXED) changed |= move_to_centre(v, c, &w, x, joint, x->centre[l].point);
    }
  }
  if (changed) place_again(v, c);
  return changed;
}

/* ---- gaps of single loops ---- */

/* Takes a part of Phi, in the metric, out of the cut joint's frame on the child. */
static void take_from_frame(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, int32_t l,
                            const double phi[6]) {
  const int32_t joint = v->m->loop[l].joint;
  const end_frame child = frame_at_end(v, w, joint, 1);
  const double half[4] = {1.0, 0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2]};
  double turn[9], shift[3];
  rotation_of(half, turn);
  for (int i = 0; i < 3; i++) shift[i] = phi[3 + i] * re(length_of(v, c));
  change_frame(v, x, joint, 1, child.body, dot(phi, phi) > EXACT_FRAME * EXACT_FRAME ? turn : NULL, shift);
}

/* A displacement with a given part across the basis: a shift, and a turn only for what no shift does, since turns would
 * take axes from the directions that they have by now. */
static void prefer_shift(const double basis[36], int32_t rank, const double across[6], double out[6]) {
  double K[9], s[3], left[6] = {0.0};
  for (int j = 0; j < 3; j++) {
    double unit[6] = {0.0};
    unit[3 + j] = 1.0;
    leave_across(basis, rank, 6, unit);
    for (int i = 0; i < 3; i++) K[3 * i + j] = unit[3 + i];
    K[4 * j] += 1e-12; /* what the joints move needs no shift */
    s[j] = across[3 + j];
  }
  ldl_factor(K, 3);
  ldl_solve(K, 3, s);
  copy(3, s, left + 3);
  leave_across(basis, rank, 6, left);
  for (int i = 0; i < 6; i++) out[i] = across[i] - left[i];
  for (int i = 0; i < 3; i++) out[3 + i] += s[i];
}

/* Takes out what no joint of the loop moves. */
static int close_loop(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x, int32_t l) {
  double phi[6], basis[36], taken[6];
  const int32_t n = columns_of_loop(v, c, w, x, l, phi);
  const int32_t rank = orthonormalise(x->column, 6, n, RANK_TOLERANCE, basis);
  const double gap = leave_across(basis, rank, 6, phi);
  if (!(gap > EXACT_FRAME && gap <= 2.0 * ROUNDED_FRAME)) return 0;
  prefer_shift(basis, rank, phi, taken);
  take_from_frame(v, c, w, x, l, taken);
  return 1;
}

/* ---- all of it ---- */

/* |Phi|, in the metric, as small as it becomes in a moment; from NEARLY_CLOSED on without a search: along the motion of
 * loops that nearly move, gaps may vanish far away, where branches cross. */
static double gap_nearby(const view *v, int32_t c) {
  assembly_problem at = {.v = v, .c = c, .w = work_of(v, c), .near = NEARLY_CLOSED};
  if (at.w.rows <= MANY_ROWS) return close_by_matrix(&at, NEARLY_CLOSED);
  keep_pose(&at, FIRST);
  return close_from_pose(&at, NEARLY_CLOSED);
}

/* Start values, neutral coordinates, or others around the start that are tried after them. */
static void start_from(const view *v, int32_t c, int trial, uint64_t *seed) {
  const assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  const lw_cluster *cluster = at.w.cluster;
  guess(&at, trial > 1 ? trial * RESTARTS / GUESSES : 0, seed);
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) {
    const lw_link *link = &v->m->link[i];
    const lw_joint_size *size = &lw_joint_sizes[link->type];
    for (int32_t k = 0; trial == 1 && k < size->q; k++) v->q[link->q + k] = 0.0;
    if (trial == 1 && size->q != size->u) v->q[link->q + size->q - 4] = 1.0;
    if (joint_operations_of[link->type].normalize) joint_operations_of[link->type].normalize(v->q + link->q);
  }
  place_again(v, c);
}

/* To a pose whose loops are closed but for what rounding leaves open. Where none is found loops in a plane or about a
 * point can be made exact all the same, where they start. Returns whether the start leads to a closed pose. */
static int go_where_nearly_closed(const view *v, int32_t c) {
  uint64_t seed = 0x9e3779b97f4a7c15u;
  for (int trial = 0; trial < GUESSES; trial++) {
    start_from(v, c, trial, &seed);
    const double gap = gap_nearby(v, c);
    place_again(v, c);
    if (gap <= NEARLY_CLOSED) return trial == 0 && gap <= CLOSED_NEARBY;
  }
  start_from(v, c, 0, &seed);
  return 0;
}

/* Loops that lost no rank for good gain nothing: next to this pose, they have it. */
static void check_in_next_pose(const view *v, int32_t c, lw_exact_loops *x, const int32_t *before) {
  const cluster_work w = work_of(v, c);
  uint32_t seed = 12345u;
  save_pose(v);
  compute_kinematics(v);
  const int known = !compute_loop_closures(v).kind;
  if (known && free_of(&w) == 0)
    for (int32_t i = 0; i < w.cluster->loops; i++) x->gains[loop_of(v, c, i)] = 0;
  if (known && free_of(&w)) {
    move_to_next_pose(v, c, &seed);
    place_again(v, c);
    gap_nearby(v, c);
    place_again(v, c);
    for (int32_t i = 0; i < w.cluster->loops; i++) {
      const int32_t l = loop_of(v, c, i);
      x->gains[l] = x->gains[l] && rank_of_loop(v, c, &w, x, l, RANK_TOLERANCE) < before[l];
    }
  }
  restore_pose(v);
  place_again(v, c);
}

/* Of each loop what no joint of it moves, from poses where the joints close what they can. */
static int close_single_loops(const view *v, int32_t c, const cluster_work *w, lw_exact_loops *x) {
  int changed = 0;
  for (int pass = 0, any = 1; any && pass < CLOSING_PASSES; pass++) {
    any = 0;
    gap_nearby(v, c);
    place_again(v, c);
    for (int32_t i = 0; i < w->cluster->loops; i++) any |= close_loop(v, c, w, x, loop_of(v, c, i));
    changed |= any;
  }
  return changed;
}

/* Joints of loops that gain nothing become as they were; returns whether others remain. */
static int keep_what_gains(const view *v, int32_t c, lw_exact_loops *x) {
  const cluster_work w = work_of(v, c);
  int any = 0;
  for (int32_t i = 0; i < joints_of(w.cluster); i++) x->is_on[joint_of(v, c, i)] = 0;
  for (int32_t i = 0; i < w.cluster->loops; i++) {
    const int32_t l = loop_of(v, c, i);
    if (!x->gains[l]) continue;
    any = 1;
    FOR_JOINTS_ON_LOOP(joint, v, &v->m->loop[l]) x->is_on[joint] = 1;
  }
  for (int32_t i = 0; i < joints_of(w.cluster); i++)
    if (!x->is_on[joint_of(v, c, i)]) copy_frames(v, x, joint_of(v, c, i), 1);
  place_again(v, c);
  return any;
}

/* Takes all of Phi out where the cluster is, if it is small and the loops', not the couplings'. */
static int close_here(const view *v, int32_t c, lw_exact_loops *x) {
  assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  double of_couplings2 = 0.0;
  int changed = 0;
  if (!(gap_of_ears(&at).size <= 2.0 * ROUNDED_FRAME)) return 0;
  for (int32_t i = 0; i < at.w.cluster->couplings; i++) {
    const double gap = gap_of_coupling(&at, coupling_of(v, c, i));
    of_couplings2 += gap * gap;
  }
  if (of_couplings2 > CLOSED_NEARBY * CLOSED_NEARBY) return 0;
  for (int32_t e = at.w.cluster->first_ear; e < at.w.cluster->first_ear + at.w.cluster->ears; e++) {
    const ear_work of = work_of_ear(v, &at.w, e);
    if (of.ear->loop < 0 || !(dot6(of.phi, of.phi) > EXACT_FRAME * EXACT_FRAME)) continue;
    take_from_frame(v, c, &at.w, x, of.ear->loop, of.phi);
    changed = 1;
  }
  if (changed) place_again(v, c);
  return changed;
}

/* Loops that do not close from the start, although each is exact by itself. Made exact in the pose of the least gap,
 * which is singular, they would not move. */
static int close_at_start(const view *v, int32_t c, lw_exact_loops *x) {
  uint64_t seed = 0;
  assembly_problem at = {.v = v, .c = c, .w = work_of(v, c)};
  if (at.w.rows > LW_MATRIX_ROWS) return 0;
  start_from(v, c, 0, &seed);
  const double gap = close_by_matrix(&at, CLOSED_NEARBY);
  if (!(gap > CLOSED_NEARBY && gap <= 2.0 * ROUNDED_FRAME)) return 0;
  start_from(v, c, 0, &seed);
  return close_here(v, c, x);
}

static int make_cluster_exact(const view *v, int32_t c, lw_exact_loops *x) {
  const cluster_work w = work_of(v, c);
  int changed = 0;
  const int closes = go_where_nearly_closed(v, c);
  for (int32_t i = 0; i < w.cluster->loops; i++)
    x->rank[loop_of(v, c, i)] = rank_of_loop(v, c, &w, x, loop_of(v, c, i), EXACT_PIVOT);
  for (int32_t i = 0; i < joints_of(w.cluster); i++) copy_frames(v, x, joint_of(v, c, i), 0);
  const int turned = align_directions(v, c, x), moved = align_lines(v, c, x);
  if (turned || moved) {
    for (int32_t i = 0; i < w.cluster->loops; i++) {
      const int32_t l = loop_of(v, c, i);
      x->gains[l] = rank_of_loop(v, c, &w, x, l, EXACT_PIVOT) < x->rank[l];
    }
    check_in_next_pose(v, c, x, x->rank);
    changed = keep_what_gains(v, c, x);
  }
  changed |= make_loops_mobile(v, c, x);
  changed |= close_single_loops(v, c, &w, x);
  return (closes ? 0 : close_at_start(v, c, x)) || changed;
}

/* Needs constants; the parameters are then exact. */
static void make_loops_exact(const lw_model *m, lw_block b, lw_exact_loops *x) {
  const view v = open_view(m, b);
  for (int32_t k = 0; k < m->size.nu; k++) v.u[k] = 0.0;
  copy(m->size.nq, FIELD(&v, q_start), v.q);
  copy(m->size.nq_cut, FIELD(&v, q_start) + m->size.nq, FIELD(&v, cut_reference));
  compute_kinematics(&v);
  for (int32_t c = 0; c < m->clusters; c++) x->changed |= make_cluster_exact(&v, c, x);
}
#endif
