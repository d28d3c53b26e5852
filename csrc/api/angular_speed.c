/* The largest angular speed of bodies and joints, by which a run knows how fast its poses repeat. */
#include "block/state.h"
#include "evaluation/rates.h"
#include <math.h>

/* Sum and largest of the joints' speeds that are angles. Joints turn their links relative to each other: no link turns
 * faster than all joints together. */
static void compare_joints(const lw_model *m, const double *u, double *sum, double *largest) {
  *sum = *largest = 0.0;
  for (int32_t i = 0; i < m->size.bodies; i++) {
    const lw_link *link = &m->link[i];
    for (int32_t c = 0; c < link->speeds; c++) {
      if (lw_joint_sizes[link->type].translations >> c & 1) continue;
      const double speed = fabs(u[link->u + c]);
      *sum += speed, *largest = fmax(*largest, speed);
    }
  }
}

static double largest_of_bodies(const lw_state *s) {
  const lw_model *m = s->model;
  const lw_double_link_motion *motion = (const lw_double_link_motion *)(lw_reals(s) + m->at.motion);
  double largest2 = 0.0;
  for (int32_t i = 0; i < m->size.bodies; i++) {
    const double *w = motion[i].w;
    largest2 = fmax(largest2, w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  }
  return sqrt(largest2);
}

/* |b - a| of n numbers. */
static double norm_of_change(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (b[i] - a[i]) * (b[i] - a[i]);
  return sqrt(sum);
}

/* The same of a quaternion, which changes by half the angle, and of a speed in magnitude. */
static double middle_of_quaternion(double step, const double *q0, const double *q1, const double *w0,
                                   const double *w1) {
  static const double zero[3] = {0.0, 0.0, 0.0};
  const double angle = 2.0 * norm_of_change(4, q0, q1);
  return fmax(1.5 * angle - 0.25 * fabs(step) * (norm_of_change(3, zero, w0) + norm_of_change(3, zero, w1)), 0.0);
}

/* By Simpson's rule, change of angle = step (speed at the start + 4 speed in the middle + speed at the end) / 6: the
 * speed in the middle of the step times the step, summed over joints. */
static double middle_of_joints(const lw_model *m, double step, const double *from, const double *to) {
  const double *u0 = from + m->size.nq, *u1 = to + m->size.nq;
  double sum = 0.0;
  for (int32_t i = 0; i < m->size.bodies; i++) {
    const lw_link *link = &m->link[i];
    const int32_t q = link->q, u = link->u;
    if (lw_joint_sizes[link->type].q != link->speeds) { /* a quaternion stands first */
      sum += middle_of_quaternion(step, from + q, to + q, u0 + u, u1 + u);
      continue;
    }
    for (int32_t c = 0; c < link->speeds; c++)
      if (!(lw_joint_sizes[link->type].translations >> c & 1))
        sum += fabs(1.5 * (to[q + c] - from[q + c]) - 0.25 * step * (u0[u + c] + u1[u + c]));
  }
  return sum;
}

void lw_turn_of_step(const lw_model *model, double step, const double *from, const double *to, double *turn) {
  double start, end, largest;
  compare_joints(model, from + model->size.nq, &start, &largest);
  compare_joints(model, to + model->size.nq, &end, &largest);
  turn[0] = fabs(step) * fmax(start, end);
  turn[1] = middle_of_joints(model, step, from, to);
}

/* Where there are no accelerations, the bound has to do. */
int lw_ode_mechanism_angular_speed(void *state, double t, const double *y, double *speeds) {
  lw_state *s = state;
  const double enough = speeds[0];
  double of_joints;
  compare_joints(s->model, y + s->model->size.nq, &speeds[1], &of_joints);
  speeds[0] = speeds[1];
  if (speeds[1] <= enough) return 0;
  lw_set_states(s, t, y);
  if (lw_rates_give_checks(s) || lw_evaluate(s, LW_STAGE_ACCELERATIONS) == LW_OK)
    speeds[0] = fmax(of_joints, largest_of_bodies(s));
  return 0;
}
