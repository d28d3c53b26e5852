/* The largest angular speed of bodies and joints, by which a run knows how fast its poses repeat. */
#include "state/state.h"
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

/* Where there are no accelerations, the bound has to do. */
int lw_ode_mechanism_angular_speed(void *state, double t, const double *y, double *speeds) {
  lw_state *s = state;
  const double enough = speeds[0];
  double of_joints;
  compare_joints(s->model, y + s->model->size.nq, &speeds[1], &of_joints);
  speeds[0] = speeds[1];
  if (speeds[1] <= enough) return 0;
  lw_set_states(s, t, y);
  if (lw_evaluate(s, LW_STAGE_ACCELERATIONS) == LW_OK) speeds[0] = fmax(of_joints, largest_of_bodies(s));
  return 0;
}
