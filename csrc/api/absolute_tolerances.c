/* Absolute tolerances that follow the mechanism's own lengths and times: a mechanism of a micrometre has errors of parts
 * of a micrometre. lw_counted_size() has the rule for sizes; mechanisms of the usual size have the tolerance itself.
 *
 * Angles have size one. Displacements have the largest of: distances between joints and centres of mass of bodies that
 * turn, coordinates, deflections of springs. Rates have the largest of: speeds, the roots of sizes times accelerations;
 * those of angles at most one. States of elements have their nominal values. Errors of rates that do no harm to the coordinates over the duration are allowed.
 *
 * FMUs have the same sizes as nominal values, from which importers make absolute tolerances. */
#include <math.h>
#include <string.h>

#include "joints/types.h"
#include "math/counted_size.h"
#include "block/state.h"
#include "math/tolerances.h"

typedef struct sizes {
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

/* Distances from a joint to the centres of mass of the bodies that turn there. */
static double arm_of(const lw_model *m, const double *x, int32_t i) {
  const lw_link *link = &m->link[i];
  const double *ends[2] = {x + m->at.parent_position + 3 * link->joint, x + m->at.child_position + 3 * link->joint};
  double arm = 0.0;
  if (turns(m, i)) arm = distance(ends[!link->reversed], x + m->at.body_com + 3 * link->body);
  if (link->parent < 0 || !turns(m, link->parent)) return arm;
  return fmax(arm, distance(ends[link->reversed], x + m->at.body_com + 3 * m->link[link->parent].body));
}

static void add_link(const lw_model *m, const double *x, int32_t i, int accelerations, sizes *s) {
  const lw_link *link = &m->link[i];
  const lw_joint_size *size = &lw_joint_sizes[link->type];
  s->length = fmax(s->length, arm_of(m, x, i));
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
