/* Actuators: a force F on the speeds u_i of tree joints and cut joints, each by a gear g_i,
 *   l = sum g_i q_i,  l' = sum g_i u_i,  F = within(gain within(input) + offset - stiffness l - damping l'),
 * adds g_i F to the load of each. It needs all of its cut joints, which may be of several clusters: it follows when all
 * are placed. Whatever places cut joints again also starts their loads again, and calls load_by_actuators() after. */
#ifndef LW_LOOPS_ACTUATORS_KERNEL_H
#define LW_LOOPS_ACTUATORS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/closure_kernel.h"
#include "tree/kinematics_kernel.h"

/* Beyond a limit nothing changes, so that the derivative is zero there. */
INLINE real within(const real range[2], real x) {
  const real above = select_less(x, range[0], range[0], x);
  return select_less(range[1], above, range[1], above);
}

static real actuator_force_of(const view *v, int32_t a) {
  const int32_t limits = v->m->actuator[a].limits;
  const real *length = FIELD(v, actuator_length), *rate = FIELD(v, actuator_rate);
  real input = FIELD(v, actuator_input)[a];
  if (limits & LW_INPUT_RANGE) input = within(FIELD(v, actuator_input_range) + 2 * a, input);
  const real force = FIELD(v, actuator_gain)[a] * input + FIELD(v, actuator_offset)[a] -
                     FIELD(v, actuator_stiffness)[a] * length[a] - FIELD(v, actuator_damping)[a] * rate[a];
  return limits & LW_FORCE_RANGE ? within(FIELD(v, actuator_force_range) + 2 * a, force) : force;
}

static void find_actuator_force(const view *v, int32_t a) {
  const lw_actuator *actuator = &v->m->actuator[a];
  const real *gear = FIELD(v, actuator_gear);
  real length = 0.0, rate = 0.0;
  for (int32_t g = actuator->first; g < actuator->first + actuator->gears; g++) {
    const int32_t u = v->m->gear[g].u;
    if (actuator->has_length) length += gear[g] * coordinate_of(v, u);
    rate += gear[g] * speed_of(v, u);
  }
  FIELD(v, actuator_length)[a] = length, FIELD(v, actuator_rate)[a] = rate;
  FIELD(v, actuator_force)[a] = actuator_force_of(v, a);
}

/* The loads of their speeds, all parts of them: it may be called again. */
static void load_by_actuators(const view *v) {
  const real *gear = FIELD(v, actuator_gear), *force = FIELD(v, actuator_force);
  for (int32_t a = 0; a < v->m->size.actuators; a++) find_actuator_force(v, a);
  for (int32_t g = 0; g < v->m->size.gears; g++) {
    const int32_t u = v->m->gear[g].u;
    joint_load(v, u, coordinate_of(v, u), speed_of(v, u));
  }
  for (int32_t g = 0; g < v->m->size.gears; g++) v->load[v->m->gear[g].u] += gear[g] * force[v->m->gear[g].actuator];
}

/* For methods that apply loads of cut joints to the links: the part of the actuators. */
static void load_by_actuators_and_apply(const view *v) {
  load_by_actuators(v);
  for (int32_t g = 0; g < v->m->size.gears; g++) {
    const lw_gear *gear = &v->m->gear[g];
    const lw_loop *loop = &v->m->loop[gear->loop < 0 ? 0 : gear->loop];
    if (gear->loop < 0 || loop->cluster < 0) continue;
    const real load = FIELD(v, actuator_gear)[g] * FIELD(v, actuator_force)[gear->actuator];
    twist P, sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    real on_child[3];
    row_of_cut_speed(v, gear->loop, gear->u - loop->u, &P);
    add_column(&P, load, &sum);
    rotate(motion_of(v, loop->child)->R, v->cut[gear->loop].pc, on_child);
    apply_to_ends(v, &(constraint_ends){{loop->parent, loop->child}, {phantom_of(v, gear->loop)->r, on_child}}, &sum);
  }
}
#endif
