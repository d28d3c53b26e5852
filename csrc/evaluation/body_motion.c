/* Position, velocity, Jacobian and acceleration of any point that is fixed in a body, world axes; and what a joint makes
 * of the poses of its two frames. With d from the body's origin to the point:
 *   r = r_b + d,  v = v_b + w x d
 * and with d from the link's own point, whose acceleration is a_0 with all udot zero, the ground at -g, and (alpha, a_i)
 * its increment by the accelerations of the joints:
 *   a = a_0 + g + a_i + (alpha_0 + alpha) x d + w x (w x d) */
#include "math/quaternion_kernel.h"
#include "math/vec3_template.h"
#include "block/state.h"
#include "evaluation/body_motion.h"

static const double origin[3] = {0.0, 0.0, 0.0};

static lw_status check_body(lw_state *s, int32_t body) {
  return body >= -1 && body < s->model->size.bodies
             ? LW_OK
             : lw_fail(s, LW_ERROR_USAGE, "there is no body %d in this mechanism", body);
}

static int32_t link_of(const lw_model *m, int32_t body) {
  int32_t link = m->size.bodies - 1;
  while (m->link[link].body != body) link--;
  return link;
}

static const double *field_of(const lw_state *s, int32_t offset, int32_t body, int32_t columns) {
  return lw_reals(s) + offset + columns * body;
}

/* From the body's origin to a point, world axes. */
static void arm_of(const lw_state *s, int32_t body, const double *point, double arm[3]) {
  rotate_by_quaternion(field_of(s, s->model->at.body_orientation, body, 4), point ? point : origin, arm);
}

static void rotation_of_body(const lw_state *s, int32_t body, double rotation[9]) {
  for (int j = 0; j < 3; j++) {
    const double axis[3] = {j == 0, j == 1, j == 2};
    double column[3];
    arm_of(s, body, axis, column);
    for (int i = 0; i < 3; i++) rotation[3 * i + j] = column[i];
  }
}

static lw_status compute_motions(lw_state *s, int32_t body) {
  lw_status e = check_body(s, body);
  if (e || (e = lw_evaluate(s, LW_STAGE_CONSTANTS))) return e;
  lw_state_changed(s, LW_STAGE_CONSTANTS); /* it uses the motion's storage */
  s->kernels->body_motions(s->model, s->block);
  return LW_OK;
}

static void place_on_ground(const double *point, double *position, double *rotation, double *velocity) {
  for (int k = 0; position && k < 3; k++) position[k] = point ? point[k] : 0.0;
  for (int k = 0; rotation && k < 9; k++) rotation[k] = k % 4 == 0;
  for (int k = 0; velocity && k < 6; k++) velocity[k] = 0.0;
}

static void report_velocity(const lw_state *s, int32_t body, const double arm[3], double velocity[6]) {
  const lw_offsets *at = &s->model->at;
  const double *w = field_of(s, at->body_angular_velocity, body, 3);
  for (int k = 0; k < 3; k++) velocity[k] = w[k], velocity[3 + k] = field_of(s, at->body_velocity, body, 3)[k];
  add_cross(w, arm, velocity + 3);
}

lw_status lw_body_motion(lw_state *s, int32_t body, const double point[3], double position[3], double rotation[9],
                         double velocity[6]) {
  if (!s) return LW_ERROR_USAGE;
  const lw_status e = compute_motions(s, body);
  if (e) return e;
  if (body < 0) {
    place_on_ground(point, position, rotation, velocity);
    return LW_OK;
  }
  double arm[3];
  arm_of(s, body, point, arm);
  const double *r = field_of(s, s->model->at.body_position, body, 3);
  for (int k = 0; position && k < 3; k++) position[k] = r[k] + arm[k];
  if (rotation) rotation_of_body(s, body, rotation);
  if (velocity) report_velocity(s, body, arm, velocity);
  return LW_OK;
}

lw_status lw_body_jacobian(lw_state *s, int32_t body, const double point[3], double *jacobian) {
  if (!s) return LW_ERROR_USAGE;
  const lw_model *m = s->model;
  double position[3];
  const lw_status e = lw_body_motion(s, body, point, position, NULL, NULL);
  if (e) return e;
  for (int32_t k = 0; k < 6 * m->size.nu; k++) jacobian[k] = 0.0;
  for (int32_t i = body < 0 ? -1 : link_of(m, body); i >= 0; i = m->link[i].parent)
    for (int32_t c = 0; c < m->link[i].speeds; c++) {
      double twist[6];
      s->kernels->body_column(m, s->block, i, c, position, twist);
      for (int32_t k = 0; k < 6; k++) jacobian[k * m->size.nu + m->link[i].u + c] = twist[k];
    }
  return LW_OK;
}

/* Of a point by its arm from the body's origin: angular acceleration, and acceleration where the ground has g. */
static void accelerate(const lw_state *s, int32_t body, const double to_point[3], const double g[3], double alpha[3],
                       double a[3]) {
  const lw_offsets *at = &s->model->at;
  const int32_t i = link_of(s->model, body);
  const lw_double_link_motion *motion = (const lw_double_link_motion *)(lw_reals(s) + at->motion) + i;
  const lw_double_link_constants *k = (const lw_double_link_constants *)(lw_reals(s) + at->link_constants) + i;
  const lw_double_twist *increment = (const lw_double_twist *)(lw_reals(s) + at->increment) + i;
  double arm[3], wd[3];
  rotate(motion->R, k->pb, arm);
  for (int j = 0; j < 3; j++) {
    arm[j] += to_point[j];
    alpha[j] = motion->aw[j] + increment->a[j];
    a[j] = motion->av[j] + g[j] + increment->l[j];
  }
  cross(motion->w, arm, wd);
  add_cross(alpha, arm, a);
  add_cross(motion->w, wd, a);
}

void lw_acceleration_of_origin(const lw_state *s, int32_t body, double w[3], double alpha[3], double a[3]) {
  const lw_double_link_motion *motion = (const lw_double_link_motion *)(lw_reals(s) + s->model->at.motion);
  accelerate(s, body, origin, origin, alpha, a);
  for (int j = 0; j < 3; j++) w[j] = motion[link_of(s->model, body)].w[j];
}

lw_status lw_body_acceleration(lw_state *s, int32_t body, const double point[3], double acceleration[6]) {
  if (!s) return LW_ERROR_USAGE;
  double to_point[3];
  lw_status e = check_body(s, body);
  if (e || (e = lw_evaluate(s, LW_STAGE_OUTPUTS))) return e;
  for (int k = 0; k < 6; k++) acceleration[k] = 0.0;
  if (body < 0) return LW_OK;
  arm_of(s, body, point, to_point);
  accelerate(s, body, to_point, lw_reals(s) + s->model->at.gravity, acceleration, acceleration + 3);
  return LW_OK;
}

lw_status lw_joint_at_pose(lw_state *s, int32_t joint, const double rotation[9], const double position[3], double *q,
                           double *columns) {
  if (!s) return LW_ERROR_USAGE;
  if (joint < 0 || joint >= s->model->size.joints)
    return lw_fail(s, LW_ERROR_USAGE, "there is no joint %d in this mechanism", joint);
  s->kernels->joint_at_pose(s->model, s->block, joint, rotation, position, q, columns);
  return LW_OK;
}
