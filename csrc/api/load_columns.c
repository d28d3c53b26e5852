/* Loads along a motion, and their derivatives by the numbers of a body in which they are linear: mass m, first moments m c
 * and moments of inertia I about its origin, body axes. With the acceleration a of the origin less g, the wrench about the origin is
 *   f = m a + (alpha~ + w~ w~) m c,   n = m c x a + I alpha + w x I w
 * (Atkeson, An and Hollerbach 1986), and its load along a speed of the tree P . [n; f], P the body's twist by that speed. */
#include "block/state.h"
#include "evaluation/body_motion.h"
#include "events/given_motion.h"
#include "math/vec3_template.h"
#include <stdlib.h>
#include <string.h>

enum { OF_BODY = 10, MOTION = 9 }; /* columns of a body; numbers of its motion: w, alpha, a */

/* The wrench [n; f] of a unit first moment along an axis e. */
static void wrench_of_moment(const double motion[MOTION], const double e[3], double wrench[6]) {
  const double *w = motion, *alpha = motion + 3, *a = motion + 6;
  double we[3];
  cross(e, a, wrench);
  cross(alpha, e, wrench + 3);
  cross(w, e, we);
  add_cross(w, we, wrench + 3);
}

/* The torque of the moment of inertia about axes e and f, 1 in both places. */
static void torque_of_inertia(const double motion[MOTION], const double e[3], const double f[3], double torque[3]) {
  const double *w = motion, *alpha = motion + 3;
  double momentum[3];
  const int same = e == f;
  for (int k = 0; k < 3; k++) {
    momentum[k] = e[k] * dot(f, w) + (same ? 0.0 : f[k] * dot(e, w));
    torque[k] = e[k] * dot(f, alpha) + (same ? 0.0 : f[k] * dot(e, alpha));
  }
  add_cross(w, momentum, torque);
}

/* axis: the body's axes in the world, one after the other. */
static void wrenches_of_body(const double motion[MOTION], const double axis[9], double wrench[OF_BODY][6]) {
  memset(wrench, 0, sizeof(double[OF_BODY][6]));
  memcpy(wrench[0] + 3, motion + 6, sizeof(double[3]));
  for (int k = 0; k < 3; k++) wrench_of_moment(motion, axis + 3 * k, wrench[1 + k]);
  for (int i = 0, k = 4; i < 3; i++)
    for (int j = i; j < 3; j++, k++) torque_of_inertia(motion, axis + 3 * i, axis + 3 * j, wrench[k]);
}

static lw_status fill_columns(lw_state *s, const lw_load_columns *of, int32_t b, const double *motion, double *column) {
  const lw_model *m = s->model;
  double position[3], rotation[9], axis[9], wrench[OF_BODY][6];
  const lw_status e = lw_body_motion(s, of->body[b], NULL, position, rotation, NULL);
  if (e) return e;
  for (int i = 0; i < 9; i++) axis[i] = rotation[3 * (i % 3) + i / 3];
  wrenches_of_body(motion, axis, wrench);
  int32_t i = m->size.bodies - 1;
  while (m->link[i].body != of->body[b]) i--;
  for (; i >= 0; i = m->link[i].parent)
    for (int32_t c = 0; c < m->link[i].speeds; c++) {
      double P[6], *to = column + (size_t)(m->link[i].u + c) * (size_t)(OF_BODY * of->bodies) + OF_BODY * b;
      s->kernels->body_column(m, s->block, i, c, position, P);
      for (int k = 0; k < OF_BODY; k++) to[k] = dot(P, wrench[k]) + dot(P + 3, wrench[k] + 3);
    }
  return LW_OK;
}

static lw_status find_row(lw_state *s, const lw_load_columns *of, int32_t row, double *motion) {
  const lw_model *m = s->model;
  const size_t i = (size_t)row, nq = (size_t)m->size.nq, nu = (size_t)m->size.nu;
  const size_t numbers = nu * OF_BODY * (size_t)of->bodies;
  lw_enter_motion_row(
      s, &(lw_motion_row){.q = of->q + i * nq, .u = of->u + i * nu, .inputs = of->inputs + i * lw_motion_inputs(s)});
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  lw_status e = lw_inverse_dynamics(s, of->udot + i * nu, of->load + i * nu);
  if (e || !of->column) return e;
  for (int32_t b = 0; b < of->bodies; b++) {
    double *own = motion + MOTION * b;
    lw_acceleration_of_origin(s, of->body[b], own, own + 3, own + 6);
  }
  memset(of->column + i * numbers, 0, sizeof(double) * numbers);
  for (int32_t b = 0; !e && b < of->bodies; b++)
    e = fill_columns(s, of, b, motion + MOTION * b, of->column + i * numbers);
  return e;
}

lw_status lw_find_load_columns(lw_state *s, lw_load_columns *of) {
  if (!s || !of) return LW_ERROR_USAGE;
  for (int32_t b = 0; b < of->bodies; b++)
    if (of->body[b] < 0 || of->body[b] >= s->model->size.bodies)
      return lw_fail(s, LW_ERROR_USAGE, "there is no body %d in this mechanism", of->body[b]);
  double *motion = calloc((size_t)of->bodies * MOTION + 1, sizeof *motion);
  if (!motion) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for the motion of bodies");
  lw_status e = LW_OK;
  for (int32_t row = 0; !e && row < of->rows; row++) e = find_row(s, of, row, motion);
  free(motion);
  return e;
}
