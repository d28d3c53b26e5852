/* Idle spins: a body that turns about a line of its own while nothing else moves, such as a rod between two balls, and
 * has the same mass distribution at every angle. With an inertia J about the line and no load about it,
 *   J d.alpha = 0,   alpha the body's angular acceleration, d the line's direction,
 * for any J, and so in the limit J = 0, where the equations by themselves leave d.alpha open. An inertia that stands in
 * for the missing one, of the size of the body's other moments, in M u' + h alone and without a gyroscopic torque, has
 * the limit as its exact solution: its own torque  J d (d.alpha)  is zero there. Where that torque is not zero a load
 * acts about the line, and no limit exists.
 *
 * Which lines leave all else at rest is a matter of the joints: all lines through the centre of a ball, the axis of a
 * hinge. Fixed joints and slides carry the spin on to their neighbour. A mass distribution allows its axis of symmetry, or all
 * lines through the centre of mass. A body spins idly about the lines that all of these allow. */
#ifndef LW_TREE_IDLE_SPIN_KERNEL_H
#define LW_TREE_IDLE_SPIN_KERNEL_H
#include "block/field_view_kernel.h"
#include "joints/table_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/link_frames_kernel.h"
#include "math/tolerances.h"
#include <math.h>

typedef enum line_kind { ALL_LINES, LINES_THROUGH_POINT, ONE_LINE, NO_LINE } line_kind;

typedef struct line_set {
  line_kind kind;
  double p[3], d[3]; /* a point, and the direction of one line */
} line_set;

INLINE idle_spin *spin_of(const view *v, int32_t link) { return (idle_spin *)FIELD(v, idle_spin) + link; }
INLINE line_kind spin_kind(const idle_spin *s) { return (line_kind)(int32_t)re(s->kind); }

/* ---- lines ---- */

static double length3(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static void cross3(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static int is_parallel(const double d[3], const double e[3]) {
  double across[3];
  cross3(d, e, across);
  return length3(across) <= SAME_LINE;
}

static int is_on_line(const line_set *line, const double p[3], double size) {
  double arm[3], across[3];
  for (int i = 0; i < 3; i++) arm[i] = p[i] - line->p[i];
  cross3(line->d, arm, across);
  return length3(across) <= SAME_LINE * size;
}

static line_set line_through(const double p[3], const double d[3]) {
  const double length = length3(d);
  line_set line = {ONE_LINE, {p[0], p[1], p[2]}, {0.0, 0.0, 0.0}};
  for (int i = 0; i < 3; i++) line.d[i] = d[i] / length;
  return line;
}

static line_set lines_of_both(const line_set *a, const line_set *b, double size) {
  static const line_set none = {NO_LINE, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  if (a->kind > b->kind) return lines_of_both(b, a, size);
  if (a->kind == ALL_LINES || b->kind == NO_LINE) return *b;
  if (b->kind == ONE_LINE) {
    const int same = is_on_line(b, a->p, size) && (a->kind == LINES_THROUGH_POINT || is_parallel(a->d, b->d));
    return same ? *b : none;
  }
  double between[3];
  for (int i = 0; i < 3; i++) between[i] = b->p[i] - a->p[i];
  return length3(between) <= SAME_LINE * size ? *a : line_through(a->p, between);
}

/* Those along d. All lines stay what they are: they are asked again once they are fewer. */
static line_set lines_along(const line_set *a, const double d[3]) {
  if (a->kind == LINES_THROUGH_POINT) return line_through(a->p, d);
  line_set left = *a;
  if (a->kind == ONE_LINE && !is_parallel(a->d, d)) left.kind = NO_LINE;
  return left;
}

/* ---- what a mass distribution allows ---- */

static void set_lines(const view *v, int32_t link, const line_set *lines) {
  idle_spin *s = spin_of(v, link);
  s->kind = (double)lines->kind;
  for (int i = 0; i < 3; i++) s->p[i] = lines->p[i], s->d[i] = lines->d[i];
}

static line_set lines_of(const view *v, int32_t link) {
  const idle_spin *s = spin_of(v, link);
  return (line_set){spin_kind(s), {re(s->p[0]), re(s->p[1]), re(s->p[2])}, {re(s->d[0]), re(s->d[1]), re(s->d[2])}};
}

/* Returns whether anything has changed. */
static int restrict_lines(const view *v, int32_t link, const line_set *to, double size) {
  const line_set before = lines_of(v, link), after = lines_of_both(&before, to, size);
  if (after.kind == before.kind) return 0;
  set_lines(v, link, &after);
  return 1;
}

/* J = a 1 + b d d', or else J - tr(J)/3 1 is not that of an axis. Returns whether it is; d of length zero: any. */
static int axis_of_symmetry(const double J[6], double d[3]) {
  static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  const double sum = J[0] + J[3] + J[5];
  double rest[6], size2 = 0.0;
  for (int k = 0; k < 6; k++) rest[k] = J[k] - (k == 0 || k == 3 || k == 5 ? sum / 3.0 : 0.0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) size2 += rest[at[i][j]] * rest[at[i][j]];
  d[0] = d[1] = d[2] = 0.0;
  if (sqrt(size2) <= SYMMETRIC * sum) return 1;
  const double determinant = rest[0] * (rest[3] * rest[5] - rest[4] * rest[4]) -
                             rest[1] * (rest[1] * rest[5] - rest[4] * rest[2]) +
                             rest[2] * (rest[1] * rest[4] - rest[3] * rest[2]);
  const double b = (determinant < 0.0 ? -1.0 : 1.0) * sqrt(1.5 * size2);
  int most = 0;
  for (int i = 1; i < 3; i++)
    if (rest[at[i][i]] / b > rest[at[most][most]] / b) most = i;
  for (int i = 0; i < 3; i++) d[i] = rest[at[most][i]] / b + (i == most ? 1.0 / 3.0 : 0.0);
  const double length = length3(d);
  double off = 0.0;
  for (int i = 0; i < 3; i++) d[i] /= length;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) off = fmax(off, fabs(rest[at[i][j]] - b * (d[i] * d[j] - (i == j ? 1.0 / 3.0 : 0.0))));
  return off <= SYMMETRIC * sum;
}

/* Centre of mass and inertia about it, link frame. */
typedef struct mass_distribution {
  double m, c[3], J[6], about_point; /* tr(J) about the link's point */
} mass_distribution;

static mass_distribution mass_of(const view *v, int32_t link) {
  const link_constants *k = &v->constants[link];
  const int32_t body = v->m->link[link].body;
  real c[3], J[6];
  rotate(k->Rb, FIELD(v, body_com) + 3 * body, c);
  rotate_symmetric(k->Rb, FIELD(v, body_inertia) + 6 * body, J);
  mass_distribution out = {.m = re(k->m), .about_point = re(k->J[0] + k->J[3] + k->J[5])};
  for (int i = 0; i < 3; i++) out.c[i] = re(c[i] + k->pb[i]);
  for (int i = 0; i < 6; i++) out.J[i] = re(J[i]);
  return out;
}

static line_set lines_of_mass(const mass_distribution *mass) {
  line_set lines = {NO_LINE, {mass->c[0], mass->c[1], mass->c[2]}, {0.0, 0.0, 0.0}};
  const double sum = mass->J[0] + mass->J[3] + mass->J[5];
  if (sum <= NO_MOMENT * mass->about_point) lines.kind = mass->m == 0.0 ? ALL_LINES : LINES_THROUGH_POINT;
  else if (axis_of_symmetry(mass->J, lines.d)) lines.kind = length3(lines.d) == 0.0 ? LINES_THROUGH_POINT : ONE_LINE;
  return lines;
}

/* The inertia about the lines that are left. */
static double moment_about(const mass_distribution *mass, const line_set *lines) {
  static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  double arm[3], across[3], sum = 0.0;
  for (int i = 0; i < 3; i++) arm[i] = mass->c[i] - lines->p[i];
  if (lines->kind == LINES_THROUGH_POINT) return (mass->J[0] + mass->J[3] + mass->J[5]) / 3.0;
  cross3(lines->d, arm, across);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += lines->d[i] * mass->J[at[i][j]] * lines->d[j];
  return sum + mass->m * length3(across) * length3(across);
}

/* ---- what the joints allow ---- */

static void frame_of_end(const view *v, int32_t link, int32_t joint, int of_child, line_set *axis, double x[3],
                         real R[9]) {
  pose in_body;
  real p[3];
  frame_in_body(v, joint, of_child, 0, &in_body);
  frame_in_link(v, link, &in_body, R, p);
  for (int i = 0; i < 3; i++) axis->p[i] = re(p[i]), axis->d[i] = re(R[3 * i + 2]), x[i] = re(R[3 * i]);
  axis->kind = ONE_LINE;
}

typedef struct ends_of_joint {
  int32_t link[2]; /* of the declared parent and child; -1 the ground */
} ends_of_joint;

static ends_of_joint links_of_joint(const lw_model *m, int32_t j) {
  const lw_joint *joint = &m->joint[j];
  if (joint->loop >= 0) return (ends_of_joint){{m->loop[joint->loop].parent, m->loop[joint->loop].child}};
  const lw_link *link = &m->link[joint->link];
  return link->reversed ? (ends_of_joint){{joint->link, link->parent}} : (ends_of_joint){{link->parent, joint->link}};
}

/* Whether something besides the joint itself holds or drives its speeds: a rotor, a coupling, a lock, a stop. */
static int is_held(const view *v, int32_t j) {
  const lw_model *m = v->m;
  const int32_t first = m->joint[j].u, end = first + lw_joint_sizes[m->joint[j].type].u;
  for (int32_t u = first; u < end; u++)
    if (re(v->rotor[u]) > 0.0 || (m->size.transitions && re(FIELD(v, locked)[u]) != 0.0)) return 1;
  for (int32_t t = 0; t < m->terms; t++) {
    const lw_coupling *of = &m->coupling[m->term[t].coupling];
    if (m->term[t].u >= first && m->term[t].u < end && of->lock < 0 && of->cluster >= 0) return 1;
  }
  for (int32_t i = 0; i < m->size.transitions; i++)
    if (m->transition[i].action == LW_STOP && m->transition[i].joint == j) return 1;
  return 0;
}

static spin_lines spins_of(const view *v, int32_t joint, int of_child) {
  return joint_operations_of[v->m->joint[joint].type].spins[of_child];
}

static int restrict_by_joint(const view *v, int32_t j, int of_child, int held, double size) {
  const int32_t link = links_of_joint(v->m, j).link[of_child];
  if (link < 0 || spin_kind(spin_of(v, link)) == NO_LINE) return 0;
  const spin_lines allowed = held ? SPINS_NONE : spins_of(v, j, of_child);
  if (allowed == SPINS_ALL || allowed == SPINS_PASSED_ON) return 0;
  line_set own;
  double x[3];
  real R[9];
  frame_of_end(v, link, j, of_child, &own, x, R);
  if (allowed == SPINS_ALONG_Z) {
    const line_set before = lines_of(v, link), along = lines_along(&before, own.d);
    return restrict_lines(v, link, &along, size);
  }
  for (int i = 0; allowed == SPINS_AXIS_X && i < 3; i++) own.d[i] = x[i];
  if (allowed == SPINS_THROUGH_ORIGIN) own.kind = LINES_THROUGH_POINT;
  if (allowed == SPINS_NONE) own.kind = NO_LINE;
  return restrict_lines(v, link, &own, size);
}

/* The lines of one end, in the frame of the other one. A slide moves along its axis, and lines along it do not. */
static line_set lines_across(const view *v, int32_t j, int from_child, const line_set *lines) {
  const ends_of_joint ends = links_of_joint(v->m, j);
  line_set axis[2], out = *lines;
  double x[3], in_joint[2][3];
  real R[2][9];
  for (int end = 0; end < 2; end++) frame_of_end(v, ends.link[end], j, end, &axis[end], x, R[end]);
  if (lw_is_translational(v->m->joint[j].type)) out = lines_along(lines, axis[from_child].d);
  for (int i = 0; i < 3; i++) {
    in_joint[0][i] = in_joint[1][i] = 0.0;
    for (int k = 0; k < 3; k++) {
      in_joint[0][i] += re(R[from_child][3 * k + i]) * (out.p[k] - axis[from_child].p[k]);
      in_joint[1][i] += re(R[from_child][3 * k + i]) * out.d[k];
    }
  }
  const line_set *to = &axis[!from_child];
  for (int i = 0; i < 3; i++) {
    out.p[i] = to->p[i], out.d[i] = 0.0;
    for (int k = 0; k < 3; k++) {
      out.p[i] += re(R[!from_child][3 * i + k]) * in_joint[0][k];
      out.d[i] += re(R[!from_child][3 * i + k]) * in_joint[1][k];
    }
  }
  return out;
}

/* Both ends of a joint that carries spins on have the same lines, and an inertia for them if either has one. */
static int pass_on(const view *v, int32_t j, double size) {
  const ends_of_joint ends = links_of_joint(v->m, j);
  int changed = 0;
  for (int end = 0; end < 2; end++) {
    const int32_t from = ends.link[!end], to = ends.link[end];
    if (to < 0 || spin_kind(spin_of(v, to)) == NO_LINE) continue;
    line_set lines = {NO_LINE, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (from >= 0) {
      lines = lines_of(v, from);
      if (lines.kind != NO_LINE) lines = lines_across(v, j, !end, &lines);
    }
    changed |= restrict_lines(v, to, &lines, size);
    if (from >= 0 && re(spin_of(v, from)->axial) > re(spin_of(v, to)->axial))
      spin_of(v, to)->axial = spin_of(v, from)->axial, changed = 1;
  }
  return changed;
}

static int joint_is_closed(const lw_model *m, int32_t j) {
  return m->joint[j].loop < 0 || m->loop[m->joint[j].loop].cluster >= 0;
}

static int restrict_by_joints(const view *v, double size) {
  int changed = 0;
  for (int32_t j = 0; j < v->m->size.joints; j++) {
    if (!joint_is_closed(v->m, j)) continue;
    const ends_of_joint ends = links_of_joint(v->m, j);
    int any = 0;
    for (int end = 0; end < 2; end++) any |= ends.link[end] >= 0 && spin_kind(spin_of(v, ends.link[end])) != NO_LINE;
    if (!any) continue;
    const int held = is_held(v, j);
    if (!held && spins_of(v, j, 0) == SPINS_PASSED_ON) changed |= pass_on(v, j, size);
    else
      for (int end = 0; end < 2; end++) changed |= restrict_by_joint(v, j, end, held, size);
  }
  return changed;
}

/* A distance keeps its points where they are, as a ball does. */
static void restrict_by_distances(const view *v, double size) {
  for (int32_t i = 0; i < v->m->size.distances; i++)
    for (int end = 0; end < 2; end++) {
      const int32_t link = v->m->distance[i].end[end];
      if (link < 0 || spin_kind(spin_of(v, link)) == NO_LINE) continue;
      pose at = {.R = {0.0}};
      real R[9], p[3];
      copy(3, FIELD(v, distance_points) + 6 * i + 3 * end, at.p);
      frame_in_link(v, link, &at, R, p);
      const line_set lines = {LINES_THROUGH_POINT, {re(p[0]), re(p[1]), re(p[2])}, {0.0, 0.0, 0.0}};
      restrict_lines(v, link, &lines, size);
    }
}

/* ---- the inertia that stands in ---- */

typedef struct mechanism_scale {
  double length, mass; /* the largest distance between joints, or to a centre of mass; the mean mass */
} mechanism_scale;

static mechanism_scale scale_of(const view *v) {
  mechanism_scale s = {0.0, 0.0};
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const link_constants *k = &v->constants[i];
    const double p[3] = {re(k->p[0]), re(k->p[1]), re(k->p[2])};
    const mass_distribution mass = mass_of(v, i);
    s.length = fmax(s.length, fmax(length3(p), length3(mass.c)));
    s.mass += mass.m / v->m->size.bodies;
  }
  if (!(s.length > 0.0)) s.length = 1.0;
  if (!(s.mass > 0.0)) s.mass = 1.0;
  return s;
}

static int lacks_moment(const mass_distribution *mass) {
  line_set own = lines_of_mass(mass);
  return own.kind != NO_LINE && (own.kind == ALL_LINES || moment_about(mass, &own) <= NO_MOMENT * mass->about_point);
}

/* As where more than one speed is of an angle. */
static int has_axes_in_any_direction(int32_t type) {
  int32_t angles = 0;
  for (int32_t c = 0; c < lw_joint_sizes[type].u; c++) angles += !(lw_joint_sizes[type].translations >> c & 1);
  return angles > 1;
}

/* Whether the joint on which the tree carries a body moves an inertia of this body itself in every pose. Where all do,
 * the mass matrix of the tree is positive definite, whatever closes loops or hangs on it. */
static int moves_own_inertia(const view *v, int32_t link, const mass_distribution *mass) {
  const int32_t type = v->m->link[link].type;
  if (joint_operations_of[type].spins[0] == SPINS_PASSED_ON) return 1;
  return (type == LW_REVOLUTE || type == LW_SCREW) && re(v->constants[link].J[5]) > NO_MOMENT * mass->about_point;
}

/* Whether a direction without inertia of the body may be free to turn in some poses: a joint at it has more than one
 * axis, or its neighbour has none either, so that their axes together are no less. */
static int may_turn_about_any_line(const view *v, int32_t link) {
  for (int32_t j = 0; j < v->m->size.joints; j++) {
    const ends_of_joint ends = links_of_joint(v->m, j);
    if (ends.link[0] != link && ends.link[1] != link) continue;
    if (has_axes_in_any_direction(v->m->joint[j].type)) return 1;
    const int32_t other = ends.link[ends.link[0] == link];
    if (other < 0) continue;
    const mass_distribution mass = mass_of(v, other);
    if (lacks_moment(&mass)) return 1;
  }
  return 0;
}

static void stand_in(const view *v, int32_t i, const mechanism_scale *scale) {
  const mass_distribution mass = mass_of(v, i);
  idle_spin *s = spin_of(v, i);
  const line_kind kind = spin_kind(s);
  const int lacks = lacks_moment(&mass);
  if (lacks && (kind == ONE_LINE || kind == LINES_THROUGH_POINT) && re(s->axial) == 0.0) {
    const double other = (mass.m > 0.0 ? mass.m : scale->mass) * scale->length * scale->length;
    s->inertia = mass.about_point > NO_MOMENT * other ? mass.about_point / 3.0 : other;
    *FIELD(v, idle_spins) += 1.0;
    if (kind == lines_of_mass(&mass).kind) return;
  }
  if (lacks && !moves_own_inertia(v, i, &mass) && may_turn_about_any_line(v, i)) *FIELD(v, may_lack_inertia) = 1.0;
}

/* After the constants of the links. */
static void find_idle_spins(const view *v) {
  const mechanism_scale scale = scale_of(v);
  *FIELD(v, idle_spins) = 0.0;
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const mass_distribution mass = mass_of(v, i);
    const line_set lines = lines_of_mass(&mass);
    *spin_of(v, i) = (idle_spin){.kind = 0.0};
    set_lines(v, i, &lines);
  }
  restrict_by_distances(v, scale.length);
  while (restrict_by_joints(v, scale.length)) continue;
  int any = 0;
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const line_kind kind = spin_kind(spin_of(v, i));
    if (kind != ONE_LINE && kind != LINES_THROUGH_POINT) continue;
    const mass_distribution mass = mass_of(v, i);
    const line_set lines = lines_of(v, i);
    const double moment = moment_about(&mass, &lines);
    const double off_line = SAME_LINE * scale.length,
                 rounding = NO_MOMENT * mass.about_point + mass.m * off_line * off_line;
    spin_of(v, i)->axial = moment > rounding ? moment : 0.0;
    any = 1;
  }
  while (any && restrict_by_joints(v, scale.length)) continue;
  for (int32_t i = 0; i < v->m->size.bodies; i++) stand_in(v, i, &scale);
}
#endif
