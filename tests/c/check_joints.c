/* Each joint type agrees with itself: its pose, differentiated by a complex step, is the motion of its columns; their
 * rate is its bias; its inverse finds the coordinates of its pose; its columns move none of its basic constraints and
 * constrained directions, which with its speeds are six; and its bodies spin about the lines that it names, no others.
 * Runs when it is built. */
#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#include <complex.h>

#include "expect.h"
#include "joints/table_kernel.h"

#define STEP 1e-40
#define NEAR 1e-13
#define PITCH 0.3 /* of all joints that have one parameter */

static double path[LW_PATH_HEAD + LW_PATH_PIECE] = {1.0,  0.0,  0.0,  0.0,   2.0,  0.1,   -0.2, 0.3,
                                                    1.0,  0.2,  0.1,  0.05,  0.3,  -0.1,  0.1,  -0.05,
                                                    0.04, 0.02, 0.01, -0.03, 0.01, -0.02, 0.01};

static const real *parameter_of_type(int32_t type) {
  static real pitch = PITCH;
  path[LW_PATH_LENGTH] = length_in_piece(path + LW_PATH_HEAD, path[LW_PATH_HEAD + 1]);
  return lw_joint_sizes[type].parameters == LW_ANY_NUMBER ? (const real *)path : &pitch;
}

static double slope(real x) { return cimag(x) / STEP; }
static double random_number(void) { return random_below(1u << 30) / (double)(1u << 29) - 1.0; }

/* A child on a parent at rest: its pose, its velocity and its acceleration with all udot zero, in the parent's axes. */
typedef struct moved_child {
  link_motion motion;
  twist P[6], velocity;
} moved_child;

/* `inlined`: by the functions of the types that hot loops inline. */
static moved_child move_child(int32_t type, int inlined, const real *q, const real *u) {
  static const real zero[3] = {0.0, 0.0, 0.0};
  const real *parameter = parameter_of_type(type);
  const joint_operations *kind = &joint_operations_of[type];
  const int32_t speeds = lw_joint_sizes[type].u;
  real sc[14];
  link_motion parent = {.w = {0.0}}, *child;
  moved_child out = {.P = {{.a = {0.0}}}};
  child = &out.motion;
  identity_rotation(parent.R);
  sincos_all(q, lw_joint_sizes[type].q, sc);
  if (type == LW_FIXED) {
    fixed_position(parent.R, zero, &parent, child);
    fixed_velocity(&parent, child);
  } else if (type == LW_REVOLUTE) {
    revolute_position(parent.R, zero, &parent, sc, child);
    revolute_velocity(&parent, u, child);
    axis_of(child, out.P[0].a);
  } else if (type == LW_PRISMATIC) {
    prismatic_position(parent.R, zero, &parent, q, child);
    prismatic_velocity(&parent, u, child);
    axis_of(child, out.P[0].l);
  } else if (type == LW_UNIVERSAL && inlined) {
    universal_position(parent.R, zero, &parent, sc, child, out.P);
    universal_velocity(&parent, out.P, u, child);
  } else {
    multi_dof_position(kind, speeds, 0, parameter, parent.R, zero, &parent, q, sc, child, out.P);
    multi_dof_velocity(kind, speeds, q, parameter, &parent, out.P, u, child);
  }
  combine(speeds, out.P, u, &out.velocity);
  return out;
}

/* Coordinates at random, those of a quaternion of length one. */
static void random_coordinates(int32_t type, real *q) {
  for (int32_t i = 0; i < lw_joint_sizes[type].q; i++) q[i] = random_number();
  if (joint_operations_of[type].normalize) joint_operations_of[type].normalize(q);
}

/* q + i STEP qdot */
static void move(int32_t type, const real *u, real *q) {
  real qdot[7];
  copy(lw_joint_sizes[type].u, u, qdot);
  if (joint_operations_of[type].qdot) joint_operations_of[type].qdot(q, u, qdot);
  for (int32_t i = 0; i < lw_joint_sizes[type].q; i++) q[i] += I * STEP * qdot[i];
}

/* w of dR/dt R' = [w x] */
static double angular_velocity(const real R[9], int k) {
  const int i = (k + 2) % 3, j = (k + 1) % 3;
  double w = 0.0;
  for (int c = 0; c < 3; c++) w += slope(R[3 * i + c]) * re(R[3 * j + c]);
  return w;
}

static void check_columns_and_bias(int32_t type, int inlined) {
  const lw_joint_size *size = &lw_joint_sizes[type];
  real q[7], u[6] = {0.0};
  random_coordinates(type, q);
  for (int32_t c = 0; c < size->u; c++) u[c] = random_number();
  move(type, u, q);
  const moved_child child = move_child(type, inlined, q, u);
  for (int k = 0; k < 3; k++) {
    EXPECT(fabs(angular_velocity(child.motion.R, k) - re(child.velocity.a[k])) < NEAR);
    EXPECT(fabs(slope(child.motion.r[k]) - re(child.velocity.l[k])) < NEAR);
    EXPECT(fabs(re(child.motion.w[k] - child.velocity.a[k])) < NEAR);
    EXPECT(fabs(slope(child.velocity.a[k]) - re(child.motion.aw[k])) < NEAR);
    EXPECT(fabs(slope(child.velocity.l[k]) - re(child.motion.av[k])) < NEAR);
  }
  for (int32_t c = 0; c < size->u; c++) { /* its unit, and the kind of motion */
    double turned = 0.0, shifted = 0.0;
    twist along = child.P[c];
    for (int k = 0; k < 3; k++) turned += fabs(re(child.P[c].a[k])), shifted += fabs(re(child.P[c].l[k]));
    keep_free_part(type, c, &along);
    for (int32_t other = 0; other < size->u; other++)
      EXPECT(fabs(re(dot(along.a, child.P[other].a) + dot(along.l, child.P[other].l)) - (other == c)) < NEAR);
    EXPECT(is_mixed(joint_operations_of[type].frame) || turned == 0.0 || shifted == 0.0);
    EXPECT(!lw_is_rotational(type) || shifted == 0.0);
    EXPECT(!lw_is_translational(type) || turned == 0.0);
  }
}

static void check_inverse(int32_t type) {
  const int32_t n = lw_joint_sizes[type].q;
  const real u[6] = {0.0};
  real q[7], near[7], found[7], sc[14], expected[14];
  random_coordinates(type, q);
  for (int32_t i = 0; i < n; i++) near[i] = q[i] + 0.1 * random_number();
  const moved_child child = move_child(type, 0, q, u);
  sincos_all(q, n, expected);
  copy(2 * n, expected, sc); /* those that no pose depends on are not written */
  joint_operations_of[type].inverse(child.motion.R, child.motion.r, near, parameter_of_type(type), found, sc);
  for (int32_t i = 0; i < n; i++) EXPECT(fabs(re(found[i] - q[i])) < NEAR);
  for (int32_t i = 0; i < 2 * n; i++) EXPECT(fabs(re(sc[i] - expected[i])) < NEAR);
}

/* ---- what a joint holds ---- */

/* How a basic constraint is moved by a twist of the child at its origin, in the parent's axes. */
static void gradient_of(const basic_constraint *row, const link_motion *pose, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  if (row->kind == ROW_D1) { /* e_i . (w x R e_j) */
    const int next = (row->i + 1) % 3, last = (row->i + 2) % 3;
    out[next] = re(pose->R[3 * last + row->j]), out[last] = -re(pose->R[3 * next + row->j]);
    return;
  }
  out[3 + row->i] = 1.0;
  if (row->kind == ROW_SCREW) out[row->i] = -PITCH;
}

static double value_of(const basic_constraint *row, const link_motion *pose, double angle) {
  if (row->kind == ROW_D1) return re(pose->R[3 * row->i + row->j]);
  return re(pose->r[row->i]) - (row->kind == ROW_SCREW ? PITCH * angle : 0.0);
}

/* Gram and Schmidt: how many of n rows are independent. */
static int rank_of(int n, double (*rows)[6]) {
  int rank = 0;
  for (int i = 0; i < n; i++) {
    double size2 = 0.0;
    for (int k = 0; k < rank; k++) {
      double along = 0.0;
      for (int c = 0; c < 6; c++) along += rows[i][c] * rows[k][c];
      for (int c = 0; c < 6; c++) rows[i][c] -= along * rows[k][c];
    }
    for (int c = 0; c < 6; c++) size2 += rows[i][c] * rows[i][c];
    if (!(size2 > 1e-8)) continue;
    for (int c = 0; c < 6; c++) rows[rank][c] = rows[i][c] / sqrt(size2);
    rank++;
  }
  return rank;
}

static void expect_held(const double row[6], int32_t speeds, const twist *P) {
  for (int32_t c = 0; c < speeds; c++) {
    double moved = 0.0;
    for (int k = 0; k < 3; k++) moved += row[k] * re(P[c].a[k]) + row[3 + k] * re(P[c].l[k]);
    EXPECT(fabs(moved) < NEAR);
  }
}

static void check_basic_constraints(int32_t type, const link_motion *pose, const twist *P, double angle) {
  const int32_t speeds = lw_joint_sizes[type].u, held = 6 - speeds;
  double rows[6][6];
  if (!joint_operations_of[type].constraints) return;
  for (int32_t i = 0; i < held; i++) {
    const basic_constraint *row = &joint_operations_of[type].constraints[i];
    gradient_of(row, pose, rows[i]);
    EXPECT(fabs(value_of(row, pose, angle)) < NEAR);
    expect_held(rows[i], speeds, P);
  }
  EXPECT(rank_of(held, rows) == held);
}

/* The directions that stand first are held, but for mixed ones; the others are the free parts of the columns that it
 * names. */
static void check_constraint_frame(int32_t type, const link_motion *pose, const twist *P) {
  const constraint_frame *frame = joint_operations_of[type].frame;
  const int32_t speeds = lw_joint_sizes[type].u, held[2] = {frame->angular, frame->linear};
  real directions[2][9];
  for (int part = 0; part < 2; part++) transpose(pose->R, directions[part]);
  if (joint_operations_of[type].axes) joint_operations_of[type].axes(pose->R, P, directions[0], directions[1]);
  for (int part = 0; part < 2; part++)
    if (held[part] == 3 && !is_mixed(frame)) identity_rotation(directions[part]);
  EXPECT(frame->angular + frame->linear == 6 - speeds);
  EXPECT(!is_mixed(frame) || (speeds == 1 && frame->mixed[1] <= 5));
  for (int part = 0; part < 2; part++)
    for (int i = 0; i < held[part]; i++) {
      double row[6] = {0.0}, length2 = 0.0;
      for (int k = 0; k < 3; k++)
        row[3 * part + k] = re(directions[part][3 * i + k]), length2 += row[3 * part + k] * row[3 * part + k];
      const int32_t number = part * frame->angular + i;
      EXPECT(fabs(length2 - 1.0) < NEAR);
      if (number < frame->mixed[0] || number >= frame->mixed[1]) expect_held(row, speeds, P);
    }
  for (int32_t i = 0; i < speeds; i++) { /* the free directions: angular ones first */
    const int32_t c = frame->speed[i], angular = 3 - frame->angular;
    const int part = i >= angular, at = part ? i - angular + held[1] : i + frame->angular;
    const real *direction = directions[part] + 3 * at;
    for (int k = 0; k < 3; k++) EXPECT(fabs(re(direction[k] - (part ? P[c].l : P[c].a)[k])) < NEAR);
  }
}

static void check_constraints(int32_t type) {
  const real u[6] = {0.0};
  real q[7] = {0.0};
  random_coordinates(type, q);
  const moved_child child = move_child(type, 0, q, u);
  check_basic_constraints(type, &child.motion, child.P, re(q[0]));
  check_constraint_frame(type, &child.motion, child.P);
}

/* ---- about which lines its bodies spin ---- */

/* Whether its speeds turn and move the child by this at its origin, in the parent's axes. */
static int is_free(int32_t speeds, const twist *P, const double a[3], const double l[3]) {
  double rows[7][6];
  for (int32_t c = 0; c < speeds; c++)
    for (int k = 0; k < 3; k++) rows[c][k] = re(P[c].a[k]), rows[c][3 + k] = re(P[c].l[k]);
  const int rank = rank_of(speeds, rows);
  for (int k = 0; k < 3; k++) rows[rank][k] = a[k], rows[rank][3 + k] = l[k];
  return rank_of(rank + 1, rows) == rank;
}

/* Axes x, y and z of an end about which its body spins, a mask, and as far as z is among them, whether along any line. */
static int spins_at(int32_t type, const link_motion *pose, const twist *P, int of_child) {
  const int32_t speeds = lw_joint_sizes[type].u;
  int found = 0;
  for (int axis = 0; axis < 3; axis++) {
    double a[3] = {0.0}, l[3] = {0.0}, r[3];
    for (int k = 0; k < 3; k++) a[k] = of_child ? re(pose->R[3 * k + axis]) : k == axis, r[k] = re(pose->r[k]);
    for (int k = 0; k < 3 && !of_child; k++) /* the child's origin moves, a x r */
      l[k] = a[(k + 1) % 3] * r[(k + 2) % 3] - a[(k + 2) % 3] * r[(k + 1) % 3];
    found |= is_free(speeds, P, a, l) << axis;
  }
  static const double none[3] = {0.0}, unit[2][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  const int slides = is_free(speeds, P, none, unit[0]) && is_free(speeds, P, none, unit[1]);
  return found | slides << 3;
}

static void check_spins(int32_t type) {
  static const int of_lines[] = {[SPINS_ALL] = 15,     [SPINS_THROUGH_ORIGIN] = 7, [SPINS_ALONG_Z] = 12,
                                 [SPINS_AXIS_Z] = 4,   [SPINS_AXIS_X] = 1,         [SPINS_NONE] = 0,
                                 [SPINS_PASSED_ON] = 0};
  const spin_lines *spins = joint_operations_of[type].spins;
  const real u[6] = {0.0};
  const int turns_together = lw_is_translational(type) || lw_joint_sizes[type].u == 0;
  real q[7] = {0.0};
  random_coordinates(type, q);
  const moved_child child = move_child(type, 0, q, u);
  for (int end = 0; end < 2; end++) {
    EXPECT(spins_at(type, &child.motion, child.P, end) == of_lines[spins[end]]);
    EXPECT((spins[end] == SPINS_PASSED_ON) == turns_together);
  }
}

int main(void) {
  for (int32_t type = 0; type < LW_JOINT_TYPES; type++) {
    subject = lw_joint_sizes[type].name;
    for (int i = 0; i < 20; i++) {
      for (int inlined = 0; inlined < 2; inlined++) check_columns_and_bias(type, inlined);
      check_inverse(type);
      check_constraints(type);
      check_spins(type);
    }
  }
  return failures ? 1 : 0;
}
