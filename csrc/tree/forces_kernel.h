/* Forces on bodies: springs and dampers between two points, and applied wrenches. They join the wrench F of the
 * bodies, so that every later pass treats them like gravity. With d from a spring's first point to its second,
 * l = |d| and n = d/l, it pulls its ends towards each other by
 *   f = stiffness (l - free) + damping dl/dt,  f n = stiffness d + (damping n.v - stiffness free) n
 * where v is the velocity of the second point relative to the first. Without length there is no n: it counts as zero.
 * Both branches end at the link that their paths have in common, whose own motion would cancel. */
#ifndef LW_TREE_FORCES_KERNEL_H
#define LW_TREE_FORCES_KERNEL_H
#include "block/field_view_kernel.h"
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

static void apply_spring_force(const view *v, int32_t s) {
  const lw_spring *spring = &v->m->spring[s];
  const real *points = FIELD(v, spring_points) + 6 * s, free = FIELD(v, spring_free_length)[s];
  const real stiffness = FIELD(v, spring_stiffness)[s], damping = FIELD(v, spring_damping)[s];
  real from[3], to[3], d[3], velocity[3], start[3], start_velocity[3], n[3];
  twist tension = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  arm_to(v, spring->from, points, from);
  arm_to(v, spring->to, points + 3, to);
  point_motion(v, spring->from, spring->root, from, start, start_velocity);
  point_motion(v, spring->to, spring->root, to, d, velocity);
  for (int k = 0; k < 3; k++) d[k] -= start[k], velocity[k] -= start_velocity[k];
  const real length2 = dot(d, d), length = root(select_less(length2, MIN_LENGTH2, 1.0, length2));
  const real inverse = select_less(length2, MIN_LENGTH2, 0.0, 1.0 / length);
  for (int k = 0; k < 3; k++) n[k] = d[k] * inverse;
  const real rate = dot(n, velocity);
  for (int k = 0; k < 3; k++) tension.l[k] = stiffness * d[k] + (damping * rate - stiffness * free) * n[k];
  apply_wrench(v, spring->from, from, 1.0, &tension);
  apply_wrench(v, spring->to, to, -1.0, &tension);
  FIELD(v, spring_length)[s] = select_less(length2, MIN_LENGTH2, 0.0, length);
  FIELD(v, spring_rate)[s] = rate;
  FIELD(v, spring_force)[s] = select_less(length2, MIN_LENGTH2, 0.0, stiffness * (length - free) + damping * rate);
}

static void apply_external_wrench(const view *v, int32_t w) {
  const int32_t link = v->m->wrench[w].link;
  twist applied;
  real arm[3];
  arm_to(v, link, FIELD(v, wrench_point) + 3 * w, arm);
  copy(3, FIELD(v, applied_torque) + 3 * w, applied.a);
  copy(3, FIELD(v, applied_force) + 3 * w, applied.l);
  apply_wrench(v, link, arm, 1.0, &applied);
}

static void apply_external_forces(const view *v) {
  for (int32_t s = 0; s < v->m->size.springs; s++) apply_spring_force(v, s);
  for (int32_t w = 0; w < v->m->size.wrenches; w++) apply_external_wrench(v, w);
}

/* Driving loads, springs and dampers of the tree joints; those of cut joints follow with the closures. */
static void compute_tree_loads(const view *v) {
  for (int32_t c = 0; c < v->m->size.nu; c++) joint_load(v, c, v->q[v->m->coordinate[c]], v->u[c]);
}

static real energy_of_springs(const view *v) {
  real sum = 0.0;
  for (int32_t s = 0; s < v->m->size.springs; s++) {
    const real stretch = FIELD(v, spring_length)[s] - FIELD(v, spring_free_length)[s];
    sum += 0.5 * FIELD(v, spring_stiffness)[s] * stretch * stretch;
  }
  return sum;
}
#endif
