/* Constraint rows, for all methods, of cut joints, couplings, distances and prescribed motions. A row has its residual
 * Phi, the rate of that, its bias, which is minus the second derivative with all udot zero, and the wrench by which a
 * multiplier of one acts on the links at its two ends.
 *
 * The rows of a cut joint have two forms. In its *constraint frame* the columns of the joint are unit vectors: methods
 * that eliminate columns obtain rows without them, and a row for each of its speeds, but have to place the phantom.
 * *Basic constraints* are functions of the poses of both bodies alone: methods that keep a multiplier for each row
 * (multipliers, GGL) need no coordinates of the cut joint, and the rows are the exact derivatives of the residual
 * wherever the loops are open. */
#ifndef LW_LOOPS_BASIC_CONSTRAINTS_KERNEL_H
#define LW_LOOPS_BASIC_CONSTRAINTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "joints/joint_kernel.h"
#include "joints/table_kernel.h"
#include "formula/derivatives_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/speed_metric_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/forces_kernel.h"
#include "tree/kinematics_kernel.h"
#include "math/tolerances.h"

/* ---- where a row acts ---- */

/* Two links, and the points of them, from the links' points, at which a row acts: by a wrench on the second, the child
 * of a cut joint, and by the opposite on the first, its parent. -1: the ground. */
typedef struct constraint_ends {
  int32_t link[2];
  const real *arm[2];
} constraint_ends;

INLINE double sign_at_end(int end) { return end ? 1.0 : -1.0; }

INLINE void apply_to_ends(const view *v, const constraint_ends *ends, const twist *wrench) {
  for (int end = 0; end < 2; end++) apply_wrench(v, ends->link[end], ends->arm[end], sign_at_end(end), wrench);
}

/* The row that gives a speed of a cut joint from the velocity of its child relative to its parent, and the wrench of a
 * load of one: the part of its column along its free direction. */
INLINE void row_of_cut_speed(const view *v, int32_t l, int32_t c, twist *row) {
  column_of_cut_joint(v, l, c, row);
  keep_free_part(v->m->loop[l].type, c, row);
}

/* The loads of a cut joint's speeds act on both of its links. */
static void apply_cut_load(const view *v, int32_t l, const real *on_parent, const real *on_child) {
  const lw_loop *loop = &v->m->loop[l];
  twist sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t c = 0; c < loop->columns; c++) {
    twist P;
    row_of_cut_speed(v, l, c, &P);
    add_column(&P, v->load[loop->u + c], &sum);
  }
  const constraint_ends ends = {{loop->parent, loop->child}, {on_parent, on_child}};
  apply_to_ends(v, &ends, &sum);
}

/* ---- cut joints: the constraint frame ---- */

/* Constrained directions stand first, then the free ones. A closure in this frame splits into rows without the joint's
 * columns and one row for each of its speeds. A mixed row is across the only column of its joint, which has a part p
 * along it: cos (its own direction) - sin (the free one) with tan = p, lengths counted in the cluster's length. Of a
 * screw of pitch h with the axis e and the column [e; h e] it is cos (displacement along e) - sin (angle about e). */
enum { MIXED_WITH = 5 }; /* the row of the speed */

/* Rows of unit vectors, by the axes R of the joint frame on the child and the joint's columns P; three that are all
 * constrained are the world axes, and not filled. */
INLINE void fill_constraint_frame(int32_t type, const real R[9], const twist *P, real angular[9], real linear[9]) {
  const joint_operations *kind = &joint_operations_of[type];
  if (kind->axes) {
    kind->axes(R, P, angular, linear);
    return;
  }
  if (!has_world_angles(kind->frame)) transpose(R, angular);
  if (!has_world_axes(kind->frame)) transpose(R, linear);
}

/* Cosines and sines of the mixed rows of a placed cut joint, by the parts of its column along them in the metric. */
INLINE void find_mix(const view *v, int32_t l, const real angular[9], const real linear[9], real *mix) {
  const int32_t type = v->m->loop[l].type;
  const constraint_frame *rows = constraint_frame_of(type);
  if (!is_mixed(rows)) return;
  const real length = v->cut[l].length;
  const int displaces = lw_joint_sizes[type].translations & 1;
  twist P;
  column_of_cut_joint(v, l, 0, &P);
  for (int32_t i = rows->mixed[0]; i < rows->mixed[1]; i++, mix += 2) {
    const real part = i < rows->angular ? dot(angular + 3 * i, P.a) : dot(linear + 3 * (i - rows->angular), P.l);
    const real slope = i < rows->angular ? (displaces ? length * part : part) : (displaces ? part : part / length);
    mix[0] = 1.0 / root(1.0 + slope * slope);
    mix[1] = slope * mix[0];
  }
}

INLINE void mix_rows(const constraint_frame *rows, const real *mix, real out[6]) {
  for (int32_t i = rows->mixed[0]; i < rows->mixed[1]; i++, mix += 2)
    out[i] = mix[0] * out[i] - mix[1] * out[MIXED_WITH];
}

INLINE void mix_blocks(const constraint_frame *rows, const real *mix, int32_t blocks, four *out) {
  const four *free = out + MIXED_WITH * blocks;
  for (int32_t i = rows->mixed[0]; i < rows->mixed[1]; i++, mix += 2)
    for (int32_t b = 0; b < blocks; b++)
      out[i * blocks + b] = minus4(times4(mix[0], out[i * blocks + b]), times4(mix[1], free[b]));
}

INLINE void from_constraint_frame(const constraint_frame *rows, const real *mix, const real angular[9],
                                  const real linear[9], real in[6], real w[6]) {
  real a[3], l[3];
  for (int32_t i = rows->mixed[0]; i < rows->mixed[1]; i++, mix += 2) in[MIXED_WITH] -= mix[1] * in[i], in[i] *= mix[0];
  const int32_t na = rows->angular, nl = rows->linear;
  for (int32_t i = 0; i < 3; i++) a[i] = in[i < na ? i : i + nl];
  for (int32_t i = 0; i < 3; i++) l[i] = in[i < nl ? i + na : i + 3];
  if (!has_world_angles(rows)) rotate_back(angular, a, w);
  else copy(3, a, w);
  if (!has_world_axes(rows)) rotate_back(linear, l, w + 3);
  else copy(3, l, w + 3);
}

/* ---- cut joints: basic constraints ---- */

/* Every joint is made of these (Haug 1989; Kang and Yoon 2003, Tables 1 to 4), between body i, the parent of a cut
 * joint, and body j, its child:
 *   d1 (a_i, a_j)  two directions stay perpendicular:                              a_i.a_j = 0
 *   d2 (a_i)       a direction is perpendicular to the line between two points:    a_i.(p_j - p_i) = 0
 *   s              two points coincide:                                            p_j - p_i = 0
 * and, for distances, ss: the distance of two points is constant. The three rows of s are along the world axes, or as
 * three d2 along those of the parent's frame: then a planar loop repeats the same rows wherever its plane turns. */
typedef enum point_of_row { AS_TORQUE, AT_OWN_ORIGINS, AT_CHILD_ORIGIN } point_of_row;

typedef struct basic_row {
  real residual, rate, bias;
  twist wrench;       /* of a multiplier of one, on the child at the joint's origin; the opposite acts on the parent */
  point_of_row point; /* where on the parent */
} basic_row;

typedef enum axes_of_s { WORLD_AXES, PARENT_AXES } axes_of_s;

typedef struct cut_end {
  joint_end joint;
  const link_motion *motion;
} cut_end;

/* Both ends, and their line: its vector in the metric of the rows, its rate, and its second derivative with all udot
 * zero. */
typedef struct cut_ends {
  cut_end parent, child;
  real d[3], dd[3], ddd[3];
} cut_ends;

INLINE void find_cut_end(const view *v, int32_t link, const branch_end *on, cut_end *end, real velocity[3],
                         real bias[3]) {
  end->motion = motion_of(v, link);
  find_joint_end(on, &end->joint);
  copy(3, on->place + 3, velocity);
  add_cross(on->w, end->joint.d, velocity);
  bias_at(on->w, on->aw, on->av, end->joint.d, bias);
}

INLINE void find_cut_ends(const view *v, const cluster_work *w, int32_t l, cut_ends *at) {
  const branch_end parent = parent_end_of(v, w, l), child = child_end_of(v, w, l);
  real velocity[3], bias[3];
  find_cut_end(v, v->m->loop[l].parent, &parent, &at->parent, velocity, bias);
  find_cut_end(v, v->m->loop[l].child, &child, &at->child, at->dd, at->ddd);
  for (int k = 0; k < 3; k++) {
    at->d[k] = at->child.joint.p[k] - at->parent.joint.p[k];
    at->dd[k] -= velocity[k], at->ddd[k] -= bias[k];
  }
}

/* An axis of the frame, its rate, and its second derivative with all udot zero. */
INLINE void axis_derivatives(const cut_end *end, int axis, real e[3], real de[3], real dde[3]) {
  for (int k = 0; k < 3; k++) e[k] = end->joint.R[3 * k + axis];
  cross(end->motion->w, e, de);
  cross(end->motion->w, de, dde);
  add_cross(end->motion->aw, e, dde);
}

INLINE basic_row d1_row(const cut_ends *at, int axis_i, int axis_j, real scale) {
  real e[3], de[3], dde[3], f[3], df[3], ddf[3];
  basic_row row = {.wrench = {.l = {0.0, 0.0, 0.0}}, .point = AS_TORQUE};
  axis_derivatives(&at->parent, axis_i, e, de, dde);
  axis_derivatives(&at->child, axis_j, f, df, ddf);
  for (int k = 0; k < 3; k++) f[k] *= scale, df[k] *= scale, ddf[k] *= scale;
  cross(f, e, row.wrench.a);
  row.residual = dot(e, f), row.rate = dot(de, f) + dot(e, df);
  row.bias = -(dot(f, dde) + 2.0 * dot(de, df) + dot(e, ddf));
  return row;
}

INLINE basic_row d2_row(const cut_ends *at, int axis, real scale) {
  real e[3], de[3], dde[3];
  basic_row row = {.wrench = {.a = {0.0, 0.0, 0.0}}, .point = AT_CHILD_ORIGIN};
  axis_derivatives(&at->parent, axis, e, de, dde);
  for (int k = 0; k < 3; k++) e[k] *= scale, de[k] *= scale, dde[k] *= scale;
  copy(3, e, row.wrench.l);
  row.residual = dot(e, at->d), row.rate = dot(de, at->d) + dot(e, at->dd);
  row.bias = -(dot(at->d, dde) + 2.0 * dot(de, at->dd) + dot(e, at->ddd));
  return row;
}

INLINE basic_row s_row(const cut_ends *at, int axis, real scale) {
  basic_row row = {.wrench = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, .point = AT_OWN_ORIGINS};
  row.wrench.l[axis] = scale;
  row.residual = scale * at->d[axis], row.rate = scale * at->dd[axis], row.bias = -scale * at->ddd[axis];
  return row;
}

/* Of a screw: the displacement along the parent's z axis, a row of d2, is the pitch times the angle about it. */
INLINE void subtract_screw_angle(const cut_ends *at, real pitch, real scale, basic_row *row) {
  const link_motion *i = at->parent.motion, *j = at->child.motion;
  const real h = pitch * scale;
  real e[3], de[3], dde[3], C[9], q, sc[2];
  axis_derivatives(&at->parent, 2, e, de, dde);
  multiply_back(at->parent.joint.R, at->child.joint.R, C);
  screw_angle(C, dot(e, at->d), 0.0, pitch, &q, sc);
  row->residual -= h * q;
  for (int k = 0; k < 3; k++) {
    row->wrench.a[k] -= h * e[k];
    row->rate -= h * e[k] * (j->w[k] - i->w[k]);
    row->bias += h * (e[k] * (j->aw[k] - i->aw[k]) + de[k] * (j->w[k] - i->w[k]));
  }
}

/* Row k of a cut joint: angles count `per_angle`, lengths `per_length`. */
INLINE basic_row row_of_cut_joint(const view *v, const cut_ends *at, int32_t l, int32_t k, axes_of_s axes,
                                  real per_angle, real per_length) {
  const basic_constraint *basic = &joint_operations_of[v->m->loop[l].type].constraints[k];
  if (basic->kind == ROW_D1) return d1_row(at, basic->i, basic->j, per_angle);
  if (basic->kind == ROW_S && axes == WORLD_AXES) return s_row(at, basic->i, per_length);
  basic_row row = d2_row(at, basic->i, per_length);
  if (basic->kind == ROW_SCREW) subtract_screw_angle(at, *parameter_of(v, v->m->loop[l].joint), per_length, &row);
  return row;
}

/* ---- cut joints: orientation without false zeros ---- */

/* Products of directions vanish in poses that are not closed as well: those of three axes at angles of 120 and 180
 * degrees, those of one axis where it is reversed. With Q = (w, v) the unit quaternion of child in parent, w >= 0, and z
 * the product of the axes to be parallel, these rows do not, and near closed poses they are the same:
 *   a_i.a_j of three axes      -+2 v_k, k the third axis, of the rate w omega_k + (omega x v)_k
 *   a_z.a_j of one axis        sqrt(2 / (1 + z)) a_z.a_j, together 2 sin(angle / 2)
 * with omega the angular velocity of the child relative to the parent in its axes. For searches from any pose; no bias. */
typedef struct whole_rotation {
  real Q[4], omega[3];
} whole_rotation;

static void find_whole_rotation(const cut_ends *at, whole_rotation *turn) {
  const link_motion *i = at->parent.motion, *j = at->child.motion;
  real C[9], relative[3];
  multiply_back(at->parent.joint.R, at->child.joint.R, C);
  quaternion_of(C, turn->Q);
  for (int k = 0; k < 3; k++) relative[k] = j->w[k] - i->w[k];
  rotate_back(at->parent.joint.R, relative, turn->omega);
}

/* The row that a_i.a_j, cyclic, is part of. */
static basic_row whole_rotation_row(const cut_ends *at, const whole_rotation *turn, int i, int j, real scale) {
  const int k = 3 - i - j;
  const real *v = turn->Q + 1;
  const real a[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
  real local[3];
  basic_row row = {.wrench = {.l = {0.0, 0.0, 0.0}}, .point = AS_TORQUE};
  cross(v, a, local);
  for (int e = 0; e < 3; e++) local[e] = -scale * (turn->Q[0] * a[e] + local[e]);
  rotate(at->parent.joint.R, local, row.wrench.a);
  row.residual = -2.0 * scale * v[k], row.rate = dot(local, turn->omega);
  return row;
}

static basic_row parallel_axis_row(const cut_ends *at, int i, int j, real scale) {
  basic_row row = d1_row(at, i, j, scale);
  const basic_row along = d1_row(at, i, i, 1.0);
  const real z = 1.0 + along.residual, rest = select_less(z, NEARLY_REVERSED, NEARLY_REVERSED, z);
  const real factor = root(2.0 / rest), slope = select_less(z, NEARLY_REVERSED, 0.0, -0.5 * factor / rest);
  for (int k = 0; k < 3; k++) row.wrench.a[k] = factor * row.wrench.a[k] + slope * row.residual * along.wrench.a[k];
  row.rate = factor * row.rate + slope * row.residual * along.rate;
  row.residual *= factor;
  return row;
}

/* Basic constraints as those above, in metres and along the parent's axes. */
static void rows_without_false_zeros(const view *v, const cut_ends *at, int32_t l, basic_row rows[6]) {
  const joint_operations *kind = &joint_operations_of[v->m->loop[l].type];
  const real length = v->cut[l].length;
  whole_rotation turn;
  if (kind->frame->angular == 3) find_whole_rotation(at, &turn);
  for (int32_t k = 0; k < 6 - v->m->loop[l].columns; k++) {
    const basic_constraint *basic = &kind->constraints[k];
    const int is_direction = basic->kind == ROW_D1;
    if (is_direction && kind->frame->angular == 3) rows[k] = whole_rotation_row(at, &turn, basic->i, basic->j, length);
    else if (is_direction && kind->frame->angular == 2) rows[k] = parallel_axis_row(at, basic->i, basic->j, length);
    else rows[k] = row_of_cut_joint(v, at, l, k, PARENT_AXES, length, 1.0);
  }
}

/* ---- cut joints: rows from the columns ---- */

/* For types without basic constraints: the constrained directions of the constraint frame, which are across the columns
 * at the coordinates nearest to the pose. The residual is the part of the pose error along them, which is smooth as far
 * as the nearest coordinates are; the rows are its derivatives where the loop is closed. */
INLINE int has_basic_constraints(const view *v, int32_t l) {
  return joint_operations_of[v->m->loop[l].type].constraints != NULL;
}

/* Needs the phantom in its place; in the metric. */
static void find_complement(const view *v, int32_t l, real rows[6][6]) {
  const lw_loop *loop = &v->m->loop[l];
  const constraint_frame *frame = constraint_frame_of(loop->type);
  real angular[9], linear[9], mix[6];
  fill_constraint_frame(loop->type, phantom_of(v, l)->R, v->column + loop->u, angular, linear);
  find_mix(v, l, angular, linear, mix);
  for (int32_t k = 0; k < 6 - loop->columns; k++) {
    real in_rows[6] = {0.0};
    in_rows[k] = 1.0;
    from_constraint_frame(frame, mix, angular, linear, in_rows, rows[k]);
  }
}

INLINE basic_row row_of_complement(const real row[6], real per_angle, real per_length) {
  basic_row out = {.point = AT_CHILD_ORIGIN};
  for (int k = 0; k < 3; k++) out.wrench.a[k] = per_angle * row[k], out.wrench.l[k] = per_length * row[3 + k];
  return out;
}

/* For accelerations, with the bias of the child relative to the phantom; no residual. */
static void accelerated_complement(const view *v, int32_t l, const twist *bias, real per_angle, real per_length,
                                   basic_row rows[6]) {
  real complement[6][6];
  find_complement(v, l, complement);
  for (int32_t k = 0; k < 6 - v->m->loop[l].columns; k++) {
    rows[k] = row_of_complement(complement[k], per_angle, per_length);
    rows[k].bias = -dot_twist(&rows[k].wrench, bias);
  }
}

/* For searches from any pose, in metres; no bias. The rotation counts twice the sine of half its angle. */
static void complement_without_false_zeros(const view *v, const cluster_work *w, int32_t l, basic_row rows[6]) {
  const real length = v->cut[l].length, *R = phantom_of(v, l)->R;
  real complement[6][6], error[6], velocity[6], C[9], Q[4], turn[3];
  cut_frames at;
  align_cut_joint(v, w, l, NULL, &at);
  multiply_back(R, at.child.R, C);
  quaternion_of(C, Q);
  rotate(R, Q + 1, turn);
  for (int k = 0; k < 3; k++) error[k] = 2.0 * turn[k], error[3 + k] = (at.on_child[k] - at.on_parent[k]) / length;
  relative_velocity(v, w, l, &at, velocity);
  find_complement(v, l, complement);
  for (int32_t k = 0; k < 6 - v->m->loop[l].columns; k++) {
    rows[k] = row_of_complement(complement[k], length, 1.0);
    rows[k].residual = length * dot6(complement[k], error), rows[k].rate = length * dot6(complement[k], velocity);
  }
}

/* ---- distances ---- */

/* The constraint ss between points of two bodies, as a massless rod with a ball at either end would hold them. With d
 * from the first point to the second, l = |d|, n = d / l, and v, a the velocity and acceleration of the second relative
 * to the first, the offset and motion f of a coupling ask for
 *   l = offset + f,   n.v = f',   n.a = f'' - (v.v - (n.v)^2) / l
 * Rows are counted in the cluster's length, as those of loops are: they fade where nothing separates the ends. */
typedef struct span {
  int32_t link[2];
  real arm[2][3], at[2][3]; /* the ends from their links' points, and from the root's */
  real n[3], length, rate;
  real bias; /* second derivative of the length with all udot zero */
} span;

static span find_span(const view *v, const cluster_work *w, int32_t i) {
  span s;
  real d[3] = {0.0, 0.0, 0.0}, relative[3] = {0.0, 0.0, 0.0}, bias[3] = {0.0, 0.0, 0.0};
  for (int end = 0; end < 2; end++) {
    const int32_t link = v->m->distance[i].end[end];
    const link_motion *motion = motion_of(v, link);
    const real *place = point_motion_of(w, link);
    const double sign = sign_at_end(end);
    real velocity[3], a[3];
    s.link[end] = link;
    arm_to(v, link, FIELD(v, distance_points) + 6 * i + 3 * end, s.arm[end]);
    copy(3, place + 3, velocity);
    add_cross(motion->w, s.arm[end], velocity);
    bias_at(motion->w, motion->aw, motion->av, s.arm[end], a);
    for (int k = 0; k < 3; k++) {
      s.at[end][k] = place[k] + s.arm[end][k];
      d[k] += sign * s.at[end][k];
      relative[k] += sign * velocity[k];
      bias[k] += sign * a[k];
    }
  }
  const real length2 = dot(d, d), length = root(select_less(length2, NO_SPAN2, 1.0, length2));
  for (int k = 0; k < 3; k++) s.n[k] = select_less(length2, NO_SPAN2, k == 0 ? 1.0 : 0.0, d[k] / length);
  s.length = select_less(length2, NO_SPAN2, 0.0, length);
  s.rate = dot(s.n, relative);
  s.bias = dot(s.n, bias) + (dot(relative, relative) - s.rate * s.rate) / length;
  return s;
}

INLINE constraint_ends ends_of_span(const span *s) {
  return (constraint_ends){{s->link[0], s->link[1]}, {s->arm[0], s->arm[1]}};
}

/* The force along it on its second end. */
INLINE twist wrench_along_span(const span *s, real force) {
  return (twist){{0.0, 0.0, 0.0}, {force * s->n[0], force * s->n[1], force * s->n[2]}};
}

/* Velocity that speed `c` of a link between the root and an end gives this end. */
INLINE void end_velocity_by_column(const view *v, const cluster_work *w, const span *s, int end, int32_t link,
                                   int32_t c, real out[3]) {
  real d[3];
  twist P;
  for (int k = 0; k < 3; k++) d[k] = s->at[end][k] - point_motion_of(w, link)[k];
  column_of_link(v, link, c, &P);
  copy(3, P.l, out);
  add_cross(P.a, d, out);
}

/* ---- couplings and prescribed motions ---- */

/* A coupling with polynomials p of its coordinates, a formula g of these and of time, and a motion f of time asks for
 *   sum p(q) + g = offset + f,   sum (p' + dg/dq) u = f' - dg/dt,   sum (p' + dg/dq) udot = f'' - sum p'' u^2 - g''
 * with g'' along the present motion. p, p' and p'' at a coordinate: */
INLINE void polynomial(const real c[4], real q, real p[3]) {
  p[0] = q * (c[0] + q * (c[1] + q * (c[2] + q * c[3])));
  p[1] = c[0] + q * (2.0 * c[1] + q * (3.0 * c[2] + q * (4.0 * c[3])));
  p[2] = 2.0 * c[1] + q * (6.0 * c[2] + q * (12.0 * c[3]));
}

INLINE real coordinate_of(const view *v, int32_t u) { return v->x[lw_offset_of_coordinate(v->m, u)]; }

INLINE real speed_of(const view *v, int32_t u) {
  const int32_t nu = v->m->size.nu;
  return u < nu ? v->u[u] : FIELD(v, u_cut)[u - nu];
}

/* How the quantities of a formula change: one of its coordinates or time alone, or all as they do now. */
enum { BY_TIME = -1, BY_MOTION = -2 };

static real rate_of_quantity(const view *v, const lw_coupling *coupling, int32_t offset, int32_t by) {
  if (offset == v->m->at.time) return by == BY_TIME || by == BY_MOTION ? 1.0 : 0.0;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    if (lw_offset_of_coordinate(v->m, v->m->term[t].u) != offset) continue;
    return by == BY_MOTION ? speed_of(v, v->m->term[t].u) : t == by ? 1.0 : 0.0;
  }
  return 0.0;
}

/* Of a coupling that has one. */
static formula_jet formula_of_coupling(const view *v, const lw_coupling *coupling, int32_t by) {
  const lw_program *p = &v->m->program[coupling->formula];
  real *rate = FIELD(v, quantity_rate);
  for (int32_t k = 0; k < p->quantities; k++) rate[k] = rate_of_quantity(v, coupling, p->quantity[k].offset, by);
  return differentiate_program(p, v->x, rate, FIELD(v, formula_derivative));
}

#define TWO_PI 6.283185307179586

/* Where a coupling moves: coupling_motion = [1 or 0: moves or not; c1 c2 c3; amplitude, frequency in Hz, phase],
 *   f = c1 t + c2 t^2 + c3 t^3 + amplitude sin(2 pi frequency t + phase) + inputs
 * and the inputs, given for one instant, continue from there: value + rate s + acceleration s^2 / 2. */
static void given_motion_at(const view *v, int32_t i, real f[3]) {
  const real *c = FIELD(v, coupling_motion) + 7 * i, *in = FIELD(v, motion_in) + 3 * i;
  f[0] = f[1] = f[2] = 0.0;
  if (re(c[0]) == 0.0) return;
  const real t = FIELD(v, time)[0], s = t - FIELD(v, motion_time)[0], rate = TWO_PI * c[5], angle = rate * t + c[6];
  real sc[2];
  sincos_all(&angle, 1, sc);
  f[0] = t * (c[1] + t * (c[2] + t * c[3])) + c[4] * sc[0] + in[0] + s * (in[1] + 0.5 * s * in[2]);
  f[1] = c[1] + t * (2.0 * c[2] + 3.0 * t * c[3]) + rate * c[4] * sc[1] + in[1] + s * in[2];
  f[2] = 2.0 * c[2] + 6.0 * t * c[3] - rate * rate * c[4] * sc[0] + in[2];
}

/* f - g, f' - dg/dt and f'' - g'': what the polynomials and their changes add up to, beyond the offset. */
static void motion_at(const view *v, int32_t i, real f[3]) {
  const lw_coupling *coupling = &v->m->coupling[i];
  given_motion_at(v, i, f);
  if (coupling->formula < 0) return;
  const formula_jet by_time = formula_of_coupling(v, coupling, BY_TIME);
  f[0] -= by_time.value, f[1] -= by_time.first;
  f[2] -= formula_of_coupling(v, coupling, BY_MOTION).second;
}

/* Of a term in the present pose: p, p' and p'', and what the formula adds to the last two. */
static void term_at(const view *v, int32_t t, real p[3], real by_formula[2]) {
  const lw_coupling *coupling = &v->m->coupling[v->m->term[t].coupling];
  polynomial(FIELD(v, coupling_coefficient) + 4 * t, coordinate_of(v, v->m->term[t].u), p);
  by_formula[0] = by_formula[1] = 0.0;
  if (coupling->formula < 0) return;
  const formula_jet g = formula_of_coupling(v, coupling, t);
  by_formula[0] = g.first, by_formula[1] = g.second;
}

INLINE real slope_of_term(const view *v, int32_t t) {
  real p[3], by_formula[2];
  term_at(v, t, p, by_formula);
  return p[1] + by_formula[0];
}

#if LW_ARITHMETIC == LW_DOUBLE
static double slope_of_one_term(const lw_model *m, lw_block b, int32_t term) {
  const view v = open_view(m, b);
  return slope_of_term(&v, term);
}
#endif

/* A lock that is open asks for nothing: its row is zero. */
INLINE int coupling_is_enforced(const view *v, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  return coupling->cluster >= 0 && (coupling->lock < 0 || re(FIELD(v, locked)[coupling->lock]) != 0.0);
}

/* The sum of its terms, without the motion. */
INLINE real offset_of(const view *v, int32_t i) {
  const int32_t lock = v->m->coupling[i].lock;
  return lock < 0 ? FIELD(v, coupling_offset)[i] : FIELD(v, lock_value)[lock];
}

/* An angle of a cut joint is known up to whole revolutions: the best ones for a coupling that is linear in it. */
static void choose_revolutions(const view *v, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  real f[3], p[3], by_formula[2];
  if (!coupling_is_enforced(v, i) || coupling->rates_only) return;
  motion_at(v, i, f);
  double residual = re(-offset_of(v, i) - f[0]), finest = INFINITY;
  int32_t chosen = -1;
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const lw_term *term = &v->m->term[t];
    const double ratio = re(FIELD(v, coupling_coefficient)[4 * t]);
    const lw_column *column = column_of(v, coupling->cluster, term->column);
    term_at(v, t, p, by_formula);
    residual += re(p[0]);
    if (column->link >= 0 || column->translation || !is_ratio(v, t)) continue;
    if (is_mixed(constraint_frame_of(v->m->loop[column->loop].type)))
      continue; /* its displacement selects the revolution */
    if (fabs(ratio) < fabs(finest)) finest = ratio, chosen = v->m->coordinate[term->u] - v->m->size.nq;
  }
  if (chosen >= 0) FIELD(v, q_cut)[chosen] -= TWO_PI * round(residual / (TWO_PI * finest));
}

static real size2_of_term(const real c[4], real bend, real slope, real metric) {
  const real by_power[4] = {c[0], c[1] + bend, c[2], c[3]};
  real size2 = slope * slope * metric * metric, power = metric;
  for (int k = 0; k < 4; k++, power *= metric)
    size2 += MIN_SLOPE * MIN_SLOPE * by_power[k] * by_power[k] * power * power;
  return size2;
}

/* The row of a coupling over its terms or ends, of size one in the unscaled metric. */
typedef struct coupling_row {
  real per_size;                 /* the row's p' by columns are times this */
  real bias, residual, velocity; /* velocity: the rate that its motion prescribes */
  real rate;                     /* of its sum, or of the distance, at the present speeds */
  real stage;                    /* times this its size is one in metric_of(), too */
} coupling_row;

INLINE coupling_row scaled(coupling_row row, real per_size) {
  row.per_size = per_size;
  row.bias *= per_size, row.residual *= per_size, row.velocity *= per_size, row.rate *= per_size;
  return row;
}

/* What a motion asks for: an acceleration, in a jump a velocity, and rest where there are no speeds before. */
INLINE real target_of(const view *v, const real f[3]) { return !v->impulse ? f[2] : v->before ? f[1] : 0.0; }

static coupling_row row_of_coupling(const view *v, int32_t c, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  real f[3], size2 = 1e-300, scaled2 = 1e-300;
  if (!coupling_is_enforced(v, i)) {
    FIELD(v, coupling_residual)[i] = 0.0;
    return (coupling_row){0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
  }
  motion_at(v, i, f);
  coupling_row row = {0.0, target_of(v, f), -offset_of(v, i) - f[0], f[1], 0.0, 1.0};
  if (coupling->distance >= 0) {
    const cluster_work w = work_of(v, c);
    const span s = find_span(v, &w, coupling->distance);
    row.residual += s.length, row.bias -= s.bias, row.rate = s.rate;
    FIELD(v, coupling_residual)[i] = row.residual;
    return scaled(row, 1.0 / length_of(v, c));
  }
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const lw_term *term = &v->m->term[t];
    const real speed = speed_of(v, term->u);
    const real *coefficient = FIELD(v, coupling_coefficient) + 4 * t;
    real p[3], by_formula[2];
    term_at(v, t, p, by_formula);
    const real slope = p[1] + by_formula[0], bend = 0.5 * by_formula[1];
    row.residual += p[0];
    row.rate += slope * speed;
    row.bias -= v->before ? slope * v->before[term->u] : p[2] * speed * speed;
    const lw_column *column = column_of(v, c, term->column);
    size2 += size2_of_term(coefficient, bend, slope, unscaled_metric(v, c, column));
    scaled2 += size2_of_term(coefficient, bend, slope, metric_of(v, column));
  }
  row.stage = root(size2 / scaled2);
  if (coupling->rates_only) row.residual = 0.0;
  FIELD(v, coupling_residual)[i] = row.residual;
  return scaled(row, 1.0 / root(size2));
}
#endif
