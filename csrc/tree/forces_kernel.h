/* The forces on bodies, of every type, by the records and kernels of forces/. They join the wrench F of the bodies, so
 * that every later pass treats them like gravity; those by formulas, which may read cut joints, when these are placed.
 * The branches to both ends of one between points end at the link that their paths have in common, whose own motion
 * would cancel. */
#ifndef LW_TREE_FORCES_KERNEL_H
#define LW_TREE_FORCES_KERNEL_H
#include "block/field_view_kernel.h"
#include "forces/types_list.h"
#include "math/spatial_kernel.h"
#include "tree/kinematics_kernel.h"
#include "math/tolerances.h"

/* From a link's point to a point given in the frame of its body; from the world's origin on the ground. */
INLINE void arm_to(const view *v, int32_t link, const real point[3], real arm[3]) {
  real in_link[3];
  if (link < 0) {
    copy(3, point, arm);
    return;
  }
  const link_constants *k = &v->constants[link];
  rotate(k->Rb, point, in_link);
  for (int i = 0; i < 3; i++) in_link[i] += k->pb[i];
  rotate(v->motion[link].R, in_link, arm);
}

/* Position and velocity, relative to the root's point, of a point at an arm from a link's point. */
static void point_motion(const view *v, int32_t link, int32_t root, const real arm[3], real position[3],
                         real velocity[3]) {
  copy(3, arm, position);
  cross(motion_of(v, link)->w, arm, velocity);
  for (int32_t i = link; i != root; i = v->m->link[i].parent) {
    const real *r = v->motion[i].r;
    real own[3];
    joint_velocity(v, i, own);
    add_cross(motion_of(v, v->m->link[i].parent)->w, r, velocity);
    for (int k = 0; k < 3; k++) position[k] += r[k], velocity[k] += own[k];
  }
}

/* From a point of one link to that of another, at arms from the links' own points; root: their common ancestor. */
static void measure_between(const view *v, const int32_t link[2], int32_t root, const real from[3], const real to[3],
                            span_motion *s) {
  real d[3], velocity[3], start[3], start_velocity[3];
  point_motion(v, link[0], root, from, start, start_velocity);
  point_motion(v, link[1], root, to, d, velocity);
  for (int k = 0; k < 3; k++) d[k] -= start[k], velocity[k] -= start_velocity[k];
  measure_span(d, velocity, s);
}

/* From a force's first point to its second; `from`, `to`: arms from the points of their links. */
static void measure_force_span(const view *v, const lw_force *force, const real *points, real from[3], real to[3],
                               span_motion *s) {
  arm_to(v, force->end[0], points, from);
  arm_to(v, force->end[1], points + 3, to);
  measure_between(v, force->end, force->root, from, to, s);
}

/* The line of a force, whose arms and directions are kept for pull_along_line(). */
static void measure_line(const view *v, const lw_force *force, line_motion *of) {
  const real *factor = FIELD(v, line_factor), *point = FIELD(v, line_point);
  real *arm = FIELD(v, line_arm), *direction = FIELD(v, line_direction);
  *of = (line_motion){0.0, 0.0, 0.0};
  for (int32_t i = force->first_point; i < force->first_point + force->points; i++) {
    const lw_line_point *at = &v->m->line_point[i];
    span_motion s;
    arm_to(v, at->link, point + 3 * i, arm + 3 * i);
    if (i == force->first_point) continue;
    const int32_t link[2] = {at[-1].link, at->link};
    measure_between(v, link, at->root, arm + 3 * i - 3, arm + 3 * i, &s);
    copy(3, s.n, direction + 3 * i);
    of->length += factor[i] * where_apart(&s, s.length), of->rate += factor[i] * s.rate;
    of->longest2 = select_less(of->longest2, s.length2, s.length2, of->longest2);
  }
}

static void pull_along_line(const view *v, const lw_force *force, real tension) {
  const real *factor = FIELD(v, line_factor), *arm = FIELD(v, line_arm), *direction = FIELD(v, line_direction);
  for (int32_t i = force->first_point + 1; i < force->first_point + force->points; i++) {
    const lw_line_point *at = &v->m->line_point[i];
    twist pull = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int k = 0; k < 3; k++) pull.l[k] = factor[i] * tension * direction[3 * i + k];
    apply_wrench(v, at[-1].link, arm + 3 * i - 3, 1.0, &pull);
    apply_wrench(v, at->link, arm + 3 * i, -1.0, &pull);
  }
}

/* Axes of a frame in the world, by its quaternion in the body of a link. */
static void turn_of_frame(const view *v, int32_t link, const real Q[4], real R[9]) {
  real own[9], body[9];
  rotation_of(Q, own);
  if (link < 0) {
    copy(9, own, R);
    return;
  }
  multiply(v->motion[link].R, v->constants[link].Rb, body);
  multiply(body, own, R);
}

/* Of the frames of a force; R: axes of the first one in the world; arms: from the points of both links to the second
 * frame's origin. */
static void measure_frames(const view *v, const lw_force *force, const real *points, const real *rotations,
                           real arm[2][3], real R[9], frame_motion *s) {
  const real *w[2] = {motion_of(v, force->end[0])->w, motion_of(v, force->end[1])->w};
  real place[2][3], velocity[2][3], other[9], d[3], rate[3], turning[3];
  for (int i = 0; i < 2; i++) {
    arm_to(v, force->end[i], points + 3 * i, arm[i]);
    point_motion(v, force->end[i], force->root, arm[i], place[i], velocity[i]);
  }
  turn_of_frame(v, force->end[0], rotations, R);
  turn_of_frame(v, force->end[1], rotations + 4, other);
  for (int i = 0; i < 3; i++) {
    d[i] = place[1][i] - place[0][i], turning[i] = w[1][i] - w[0][i];
    rate[i] = velocity[1][i] - velocity[0][i];
    arm[0][i] += d[i];
  }
  add_cross(d, w[0], rate);
  rotate_back(R, d, s->d);
  rotate_back(R, rate, s->v);
  rotate_back(R, turning, s->w);
  multiply_back(R, other, s->C);
}

INLINE const lw_program *first_program(const lw_model *m, int32_t type) {
  return type < LW_FIRST_BY_FORMULA ? NULL : m->program + (m->first_force[type] - m->first_force[LW_FIRST_BY_FORMULA]);
}

/* From body axes to the world. */
INLINE void turn_of_body(const view *v, int32_t link, real R[9]) {
  multiply(v->motion[link].R, v->constants[link].Rb, R);
}

/* The numbers of all forces of a type; a loop over these, k counts them in its fields. */
#define NUMBER_OF_FIELD(name, owner, columns, access, stage, meaning) .name = FIELD(v, name),
#define NUMBERS_OF(TYPE)                                                                                            \
  {.program = first_program(v->m, LW_FORCE_##TYPE),                                                                 \
   .block = v->x,                                                                                                   \
   LW_##TYPE##_PARAMETERS(NUMBER_OF_FIELD) LW_##TYPE##_INPUTS(NUMBER_OF_FIELD) LW_##TYPE##_OUTPUTS(NUMBER_OF_FIELD) \
       LW_##TYPE##_DISCRETE(NUMBER_OF_FIELD)}
#define FIRST_OF(TYPE) v->m->first_force[LW_FORCE_##TYPE]
#define EACH_OF(TYPE) for (int32_t k = 0; k < v->m->first_force[LW_FORCE_##TYPE + 1] - FIRST_OF(TYPE); k++)

/* What force k of a type gives the bodies; those at points excepted, whose velocities follow with the outputs. */
#define POWER_OF(TYPE) FIELD(v, force_power)[FIRST_OF(TYPE) + k]

#define APPLY_LW_ON_POINT(TYPE, type, points)                      \
  {                                                                \
    const type##_numbers x = NUMBERS_OF(TYPE);                     \
    EACH_OF(TYPE) {                                                \
      const int32_t link = v->m->force[FIRST_OF(TYPE) + k].end[0]; \
      twist applied;                                               \
      real arm[3], R[9];                                           \
      arm_to(v, link, x.points + 3 * k, arm);                      \
      turn_of_body(v, link, R);                                    \
      type##_apply(&x, k, R, &applied);                            \
      apply_wrench(v, link, arm, 1.0, &applied);                   \
    }                                                              \
  }
#define APPLY_LW_BETWEEN_POINTS(TYPE, type, points)                 \
  {                                                                 \
    const type##_numbers x = NUMBERS_OF(TYPE);                      \
    EACH_OF(TYPE) {                                                 \
      const lw_force *force = &v->m->force[FIRST_OF(TYPE) + k];     \
      twist pull = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};              \
      span_motion s;                                                \
      real from[3], to[3];                                          \
      measure_force_span(v, force, x.points + 6 * k, from, to, &s); \
      type##_apply(&x, k, &s, pull.l);                              \
      POWER_OF(TYPE) = -dot(pull.l, s.n) * s.rate;                  \
      apply_wrench(v, force->end[0], from, 1.0, &pull);             \
      apply_wrench(v, force->end[1], to, -1.0, &pull);              \
    }                                                               \
  }
#define APPLY_LW_BETWEEN_FRAMES(TYPE, type, points)                                       \
  {                                                                                       \
    const type##_numbers x = NUMBERS_OF(TYPE);                                            \
    EACH_OF(TYPE) {                                                                       \
      const lw_force *force = &v->m->force[FIRST_OF(TYPE) + k];                           \
      real arm[2][3], R[9];                                                               \
      frame_motion s;                                                                     \
      twist in_frame, applied;                                                            \
      measure_frames(v, force, x.points + 6 * k, x.type##_rotations + 8 * k, arm, R, &s); \
      type##_apply(&x, k, &s, &in_frame);                                                 \
      POWER_OF(TYPE) = dot(in_frame.l, s.v) + dot(in_frame.a, s.w);                       \
      rotate(R, in_frame.a, applied.a);                                                   \
      rotate(R, in_frame.l, applied.l);                                                   \
      apply_wrench(v, force->end[0], arm[0], -1.0, &applied);                             \
      apply_wrench(v, force->end[1], arm[1], 1.0, &applied);                              \
    }                                                                                     \
  }
#define APPLY_LW_ALONG_LINE(TYPE, type, points)                 \
  {                                                             \
    const type##_numbers x = NUMBERS_OF(TYPE);                  \
    EACH_OF(TYPE) {                                             \
      const lw_force *force = &v->m->force[FIRST_OF(TYPE) + k]; \
      line_motion s;                                            \
      measure_line(v, force, &s);                               \
      const real tension = type##_apply(&x, k, &s);             \
      POWER_OF(TYPE) = -tension * s.rate;                       \
      pull_along_line(v, force, tension);                       \
    }                                                           \
  }
#define APPLY_LW_ON_SPEEDS(TYPE, type, points) /* loops/forces_on_speeds_kernel.h */

static void apply_external_forces(const view *v) {
  if (v->m->size.forces == 0) return;
#define FORCE(TYPE, type, on, points) APPLY_##on(TYPE, type, points)
  LW_BUILT_IN_FORCE_RECORDS(FORCE)
#undef FORCE
}

static void apply_forces_by_formulas(const view *v) {
  if (v->m->size.formulas == 0) return;
#define FORCE(TYPE, type, on, points) APPLY_##on(TYPE, type, points)
  LW_FORMULA_FORCE_RECORDS(FORCE)
#undef FORCE
}

#define POWER_LW_ON_POINT(TYPE, type, points)                        \
  {                                                                  \
    const type##_numbers x = NUMBERS_OF(TYPE);                       \
    EACH_OF(TYPE) {                                                  \
      const int32_t link = v->m->force[FIRST_OF(TYPE) + k].end[0];   \
      const real *w = v->motion[link].w;                             \
      real arm[3], velocity[3];                                      \
      twist applied;                                                 \
      arm_to(v, link, x.points + 3 * k, arm);                        \
      type##_wrench(&x, k, &applied);                                \
      copy(3, v->wrench[link].l, velocity);                          \
      add_cross(w, arm, velocity);                                   \
      POWER_OF(TYPE) = dot(applied.l, velocity) + dot(applied.a, w); \
    }                                                                \
  }
#define POWER_LW_BETWEEN_POINTS(TYPE, type, points)
#define POWER_LW_BETWEEN_FRAMES(TYPE, type, points)
#define POWER_LW_ALONG_LINE(TYPE, type, points)
#define POWER_LW_ON_SPEEDS(TYPE, type, points) /* dynamics/outputs_kernel.h */

/* Of those at points of bodies, while the wrench records have the velocities of the links' points. */
static void find_powers_at_points(const view *v) {
#define FORCE(TYPE, type, on, points) POWER_##on(TYPE, type, points)
  LW_FORCE_RECORDS(FORCE)
#undef FORCE
}

/* Driving loads, springs and dampers of the tree joints; those of cut joints follow with the closures. */
static void compute_tree_loads(const view *v) {
  for (int32_t c = 0; c < v->m->size.nu; c++) joint_load(v, c, v->q[v->m->coordinate[c]], v->u[c]);
}

static real energy_of_forces(const view *v) {
  real sum = 0.0;
#define FORCE(TYPE, type, on, points)          \
  {                                            \
    const type##_numbers x = NUMBERS_OF(TYPE); \
    EACH_OF(TYPE) sum += type##_energy(&x, k); \
  }
  LW_FORCE_RECORDS(FORCE)
#undef FORCE
  return sum;
}
#endif
