/* Points of interest and measures between them, from the motion of their bodies. With d from the body's origin to the
 * point and D from its link's own point, n the direction, a_0 the acceleration of the link's point with all udot zero,
 * the ground at -g, and (alpha, a_i) the increment by the joints' accelerations:
 *   r = r_b + d,  v = v_b + w x d,  a = a_0 + g + a_i + (alpha_0 + alpha) x D + w x (w x D)
 *   distance l = |r_2 - r_1|,  l' = (r_2 - r_1).(v_2 - v_1) / l
 *   angle    tan = |n_1 x n_2| / n_1.n_2,  rate = (n_1 x n_2).(w_2 - w_1) / |n_1 x n_2|
 * Where the points coincide or the directions are parallel there is no rate; it counts as zero. */
#ifndef LW_TREE_POINTS_KERNEL_H
#define LW_TREE_POINTS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/forces_kernel.h"
#include "math/tolerances.h"

static void unit_vector(const real a[3], real out[3]) {
  const real length2 = dot(a, a), length = root(select_less(length2, MIN_LENGTH2, 1.0, length2));
  for (int k = 0; k < 3; k++) out[k] = a[k] / length;
}

/* A vector in the frame of a link's body in world axes. */
static void turn_from_body(const view *v, int32_t link, const real in_body[3], real out[3]) {
  real in_link[3];
  rotate(v->constants[link].Rb, in_body, in_link);
  rotate(v->motion[link].R, in_link, out);
}

static void report_fixed_point(const view *v, int32_t k) {
  copy(3, FIELD(v, point_in_body) + 3 * k, FIELD(v, point_position) + 3 * k);
  unit_vector(FIELD(v, axis_in_body) + 3 * k, FIELD(v, point_axis) + 3 * k);
  for (int j = 0; j < 3; j++) FIELD(v, point_velocity)[3 * k + j] = FIELD(v, point_acceleration)[3 * k + j] = 0.0;
}

/* Before forces that read them: position, velocity and direction. */
static void find_moving_point(const view *v, int32_t k, int32_t link) {
  real arm[3], axis[3];
  arm_to(v, link, FIELD(v, point_in_body) + 3 * k, arm);
  point_motion(v, link, -1, arm, FIELD(v, point_position) + 3 * k, FIELD(v, point_velocity) + 3 * k);
  turn_from_body(v, link, FIELD(v, axis_in_body) + 3 * k, axis);
  unit_vector(axis, FIELD(v, point_axis) + 3 * k);
}

/* After compute_reactions(), which finds the increments. */
static void report_moving_point(const view *v, int32_t k, int32_t link) {
  const link_motion *motion = &v->motion[link];
  const twist *increment = &v->increment[link];
  const int32_t body = v->m->link[link].body;
  real *r = FIELD(v, point_position) + 3 * k, *vel = FIELD(v, point_velocity) + 3 * k;
  real *a = FIELD(v, point_acceleration) + 3 * k;
  real arm[3], from_link[3], axis[3], alpha[3], wd[3];
  turn_from_body(v, link, FIELD(v, point_in_body) + 3 * k, arm);
  arm_to(v, link, FIELD(v, point_in_body) + 3 * k, from_link);
  turn_from_body(v, link, FIELD(v, axis_in_body) + 3 * k, axis);
  unit_vector(axis, FIELD(v, point_axis) + 3 * k);
  for (int j = 0; j < 3; j++) {
    r[j] = FIELD(v, body_position)[3 * body + j] + arm[j];
    vel[j] = FIELD(v, body_velocity)[3 * body + j];
    alpha[j] = motion->aw[j] + increment->a[j];
    a[j] = motion->av[j] + FIELD(v, gravity)[j] + increment->l[j];
  }
  cross(motion->w, from_link, wd);
  add_cross(motion->w, arm, vel);
  add_cross(alpha, from_link, a);
  add_cross(motion->w, wd, a);
}

static void measure_distance(const view *v, const lw_measure *of, real *value, real *rate) {
  real d[3], velocity[3];
  for (int j = 0; j < 3; j++) {
    const int32_t first = 3 * of->point[0] + j, second = 3 * of->point[1] + j;
    d[j] = FIELD(v, point_position)[second] - FIELD(v, point_position)[first];
    velocity[j] = FIELD(v, point_velocity)[second] - FIELD(v, point_velocity)[first];
  }
  const real length2 = dot(d, d), length = root(select_less(length2, MIN_LENGTH2, 1.0, length2));
  *value = select_less(length2, MIN_LENGTH2, 0.0, length);
  *rate = select_less(length2, MIN_LENGTH2, 0.0, dot(d, velocity) / length);
}

static void measure_angle(const view *v, const lw_measure *of, real *value, real *rate) {
  const real *first = FIELD(v, point_axis) + 3 * of->point[0], *second = FIELD(v, point_axis) + 3 * of->point[1];
  real normal[3], w[3];
  cross(first, second, normal);
  for (int j = 0; j < 3; j++)
    w[j] = motion_of(v, v->m->point[of->point[1]].link)->w[j] - motion_of(v, v->m->point[of->point[0]].link)->w[j];
  const real cosine = dot(first, second), sine2 = dot(normal, normal);
  const real sine = root(select_less(sine2, MIN_SINE2, 1.0, sine2));
  *value = arctan2(select_less(sine2, MIN_SINE2, 0.0, sine), cosine);
  *rate = select_less(sine2, MIN_SINE2, 0.0, dot(normal, w) / sine);
}

static void measure_points(const view *v) {
  for (int32_t k = 0; k < v->m->size.measures; k++) {
    const lw_measure *of = &v->m->measure[k];
    real *value = FIELD(v, measure_value) + k, *rate = FIELD(v, measure_rate) + k;
    if (of->kind == LW_MEASURE_ANGLE) measure_angle(v, of, value, rate);
    else measure_distance(v, of, value, rate);
  }
}

static void report_points(const view *v) {
  for (int32_t k = 0; k < v->m->size.points; k++) {
    const int32_t link = v->m->point[k].link;
    if (link < 0) report_fixed_point(v, k);
    else report_moving_point(v, k, link);
  }
  measure_points(v);
}

/* All that formulas of forces may read of them. */
static void find_points(const view *v) {
  if (!v->m->forces_read_points) return;
  for (int32_t k = 0; k < v->m->size.points; k++) {
    const int32_t link = v->m->point[k].link;
    if (link < 0) report_fixed_point(v, k);
    else find_moving_point(v, k, link);
  }
  measure_points(v);
}
#endif
