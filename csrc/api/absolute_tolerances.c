/* Absolute tolerances that follow the mechanism's own lengths and times: a mechanism of a micrometre has errors of parts
 * of a micrometre. lw_counted_size() has the rule for sizes; mechanisms of the usual size have the tolerance itself.
 *
 * Angles have size one. Displacements have the largest of: distances of joints from centres of mass and points of forces
 * of bodies that turn, coordinates, deflections of springs; at least a small part of the radii of gyration of these
 * bodies, since all of the others may begin at zero. Rates have the largest of: speeds, the roots of sizes times
 * accelerations; those of angles at most one. States of elements have their nominal values. Errors of rates that do no
 * harm to the coordinates over the duration are allowed.
 *
 * FMUs have the same sizes as nominal values, from which importers make absolute tolerances. */
#include <math.h>
#include <string.h>

#include "joints/types.h"
#include "math/counted_size.h"
#include "block/state.h"
#include "math/tolerances.h"

typedef struct sizes {
  double body;                /* radius of gyration of the largest body that turns */
  double length, speed, rate; /* of displacements, of their rates, of angular rates */
  double acceleration;        /* of displacements */
} sizes;

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static int is_displacement_speed(int32_t type, int32_t k) { return lw_joint_sizes[type].translations >> k & 1; }

/* With quaternions the displacements stand first. */
static int is_displacement(int32_t type, int32_t k) {
  const lw_joint_size *size = &lw_joint_sizes[type];
  if (size->q == size->u) return size->translations >> k & 1;
  int32_t displacements = 0;
  for (int32_t c = 0; c < size->u; c++) displacements += size->translations >> c & 1;
  return k < displacements;
}

/* Some joint from the ground to the link turns. */
static int turns(const lw_model *m, int32_t link) {
  for (; link >= 0; link = m->link[link].parent)
    if (m->link[link].type != LW_FIXED && !lw_is_translational(m->link[link].type)) return 1;
  return 0;
}

/* The place of a link's joint in its body, or in that of its parent. */
static const double *place_of_joint(const lw_model *m, const double *x, const lw_link *link, int in_parent) {
  return x + (link->reversed == in_parent ? m->at.child_position : m->at.parent_position) + 3 * link->joint;
}

static void add_arm(const lw_model *m, int32_t link, const double *from, const double *to, sizes *s) {
  if (turns(m, link)) s->length = fmax(s->length, distance(from, to));
}

/* Of the joint from the centres of mass of both its bodies, and the radius of gyration. */
static void add_arms(const lw_model *m, const double *x, int32_t i, sizes *s) {
  const lw_link *link = &m->link[i];
  const double mass = x[m->at.body_mass + link->body], *inertia = x + m->at.body_inertia + 6 * link->body;
  add_arm(m, i, place_of_joint(m, x, link, 0), x + m->at.body_com + 3 * link->body, s);
  if (mass > 0.0 && turns(m, i)) s->body = fmax(s->body, sqrt(fmax(inertia[0], fmax(inertia[3], inertia[5])) / mass));
  if (link->parent < 0) return;
  add_arm(m, link->parent, place_of_joint(m, x, link, 1), x + m->at.body_com + 3 * m->link[link->parent].body, s);
}

static void add_point(const lw_model *m, const double *x, int32_t link, int32_t point, sizes *s) {
  if (link >= 0) add_arm(m, link, place_of_joint(m, x, &m->link[link], 0), x + point, s);
}

#define POINTS_LW_ON_POINT(field) add_point(m, x, of->end[0], m->at.field + 3 * k, s);
#define POINTS_LW_BETWEEN_POINTS(field)                                                              \
  for (int end = 0; end < 2; end++) add_point(m, x, of->end[end], m->at.field + 6 * k + 3 * end, s);
#define POINTS_LW_BETWEEN_FRAMES POINTS_LW_BETWEEN_POINTS
#define POINTS_LW_ON_SPEEDS(field) (void)of;
#define POINTS_LW_ALONG_LINE(field)                                        \
  for (int32_t p = of->first_point; p < of->first_point + of->points; p++) \
    add_point(m, x, m->line_point[p].link, m->at.line_point + 3 * p, s);

static void add_points_of_forces(const lw_model *m, const double *x, sizes *s) {
#define FORCE(TYPE, type, on, points)                                                                                  \
  for (int32_t first = m->first_force[LW_FORCE_##TYPE], k = 0; k < m->first_force[LW_FORCE_##TYPE + 1] - first; k++) { \
    const lw_force *of = &m->force[first + k];                                                                         \
    POINTS_##on(points)                                                                                                \
  }
  LW_FORCE_RECORDS(FORCE)
#undef FORCE
}

static void add_link(const lw_model *m, const double *x, int32_t i, int accelerations, sizes *s) {
  const lw_link *link = &m->link[i];
  const lw_joint_size *size = &lw_joint_sizes[link->type];
  add_arms(m, x, i, s);
  for (int32_t k = 0; k < size->q; k++)
    if (is_displacement(link->type, k)) s->length = fmax(s->length, fabs(x[m->at.q + link->q + k]));
  for (int32_t k = 0; k < size->u; k++) {
    const int32_t u = link->u + k;
    const double speed = fabs(x[m->at.u + u]), change = accelerations ? fabs(x[m->at.udot + u]) : 0.0;
    if (!is_displacement_speed(link->type, k)) {
      s->rate = fmax(s->rate, fmax(speed, sqrt(change)));
      continue;
    }
    s->speed = fmax(s->speed, speed);
    s->acceleration = fmax(s->acceleration, change);
    if (x[m->at.stiffness + u] != 0.0 && size->q == size->u)
      s->length = fmax(s->length, fabs(x[m->at.q + link->q + k] - x[m->at.free_coordinate + u]));
  }
}

/* At the present state; 0: unknown. */
static lw_motion_sizes motion_sizes(lw_state *state, double duration) {
  const lw_model *m = state->model;
  const int accelerations = lw_evaluate(state, LW_STAGE_DERIVATIVES) == LW_OK;
  const double *x = state->block.reals, over = duration > LONG_RUN ? LONG_RUN / duration : 1.0;
  sizes s = {0};
  for (int32_t i = 0; i < m->size.bodies; i++) add_link(m, x, i, accelerations, &s);
  add_points_of_forces(m, x, &s);
  s.length = fmax(s.length, LEAST_LENGTH * s.body);
  const double length = lw_counted_size(s.length);
  const double speed = fmax(fmax(s.speed, s.length * s.rate), sqrt(s.length * s.acceleration));
  return (lw_motion_sizes){
      .length = length,
      .speed = fmin(fmax(lw_counted_size(speed), length * over), fmax(1.0, length)),
      .rate = fmin(fmax(lw_counted_size(s.rate), over), 1.0),
  };
}

void lw_sizes_of_states(const lw_model *m, lw_motion_sizes sizes, double *size) {
  for (int32_t i = 0; i < m->size.bodies; i++) {
    const lw_link *link = &m->link[i];
    for (int32_t k = 0; k < lw_joint_sizes[link->type].q; k++)
      size[link->q + k] = is_displacement(link->type, k) ? sizes.length : 1.0;
    for (int32_t k = 0; k < lw_joint_sizes[link->type].u; k++)
      size[m->size.nq + link->u + k] = is_displacement_speed(link->type, k) ? sizes.speed : sizes.rate;
  }
  memcpy(size + m->size.nq + m->size.nu, m->defaults + m->at.state_nominal,
         sizeof *size * (size_t)m->size.formula_states);
}

void lw_absolute_tolerances(lw_state *state, double duration, double tolerance, double *atol) {
  const lw_model *m = state->model;
  lw_sizes_of_states(m, motion_sizes(state, duration), atol);
  for (int32_t i = 0; i < m->size.states; i++) atol[i] *= tolerance;
}

lw_motion_sizes lw_nominal_sizes(lw_state *state, double duration) {
  lw_motion_sizes sizes = motion_sizes(state, duration);
  if (sizes.speed < SMALLEST_SIZE) sizes.speed = sizes.length < SMALLEST_SIZE ? 1.0 : sizes.length;
  if (sizes.length < SMALLEST_SIZE) sizes.length = sizes.speed;
  return sizes;
}

double lw_nominal_force(const lw_state *state, lw_motion_sizes sizes) {
  const lw_model *m = state->model;
  const double *x = state->block.reals, *g = x + m->at.gravity, none[3] = {0};
  double mass = 0.0;
  for (int32_t i = 0; i < m->size.bodies; i++) mass += x[m->at.body_mass + i];
  const double force = lw_counted_size(mass * fmax(distance(g, none), sizes.speed * sizes.speed / sizes.length));
  return force > 0.0 ? force : 1.0;
}
