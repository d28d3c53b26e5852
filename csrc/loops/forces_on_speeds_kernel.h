/* Forces F on the speeds u_i of tree joints and cut joints, each by a gear g_i,
 *   l = sum g_i q_i,  l' = sum g_i u_i,  F by the kernel of its type in forces/,
 * add g_i F to the load of each. They need all of their cut joints, which may be of several clusters: they follow when
 * all are placed. Whatever places cut joints again also starts their loads again, and calls load_by_forces() after. */
#ifndef LW_LOOPS_FORCES_ON_SPEEDS_KERNEL_H
#define LW_LOOPS_FORCES_ON_SPEEDS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/closure_kernel.h"
#include "tree/forces_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/points_kernel.h"

INLINE void find_length(const view *v, const lw_force *force, real *length, real *rate) {
  const real *gear = FIELD(v, force_gear);
  *length = *rate = 0.0;
  for (int32_t g = force->first; g < force->first + force->gears; g++) {
    const int32_t u = v->m->gear[g].u;
    if (force->has_length) *length += gear[g] * coordinate_of(v, u);
    *rate += gear[g] * speed_of(v, u);
  }
}

#define FIND_LW_ON_POINT(TYPE, type) /* tree/forces_kernel.h */
#define FIND_LW_BETWEEN_POINTS(TYPE, type)
#define FIND_LW_BETWEEN_FRAMES(TYPE, type)
#define FIND_LW_ALONG_LINE(TYPE, type)
#define FIND_LW_ON_SPEEDS(TYPE, type)                                                                  \
  {                                                                                                    \
    const type##_numbers x = NUMBERS_OF(TYPE);                                                         \
    EACH_OF(TYPE) {                                                                                    \
      const lw_force *force = &v->m->force[FIRST_OF(TYPE) + k];                                        \
      real length, rate;                                                                               \
      find_length(v, force, &length, &rate);                                                           \
      FIELD(v, force_on_speeds)[FIRST_OF(TYPE) + k] = type##_apply(&x, k, force->given, length, rate); \
    }                                                                                                  \
  }

static void find_forces_on_speeds(const view *v){
#define FORCE(TYPE, type, on, points) FIND_##on(TYPE, type)
    LW_FORCE_RECORDS(FORCE)
#undef FORCE
}

/* A friction that has been found without its pressing force, with it. It acts on one speed. */
INLINE void press_friction(const view *v, int32_t k) {
  const friction_numbers x = NUMBERS_OF(FRICTION);
  const int32_t number = FIRST_OF(FRICTION) + k;
  const lw_force *force = &v->m->force[number];
  FIELD(v, force_on_speeds)[number] = friction_press(&x, k);
  v->load[v->m->gear[force->first].u] +=
      FIELD(v, force_gear)[force->first] * (x.friction_slope[k] * x.friction_pressing[k]);
}

/* The loads of their speeds, all parts of them: it may be called again. In a jump impulses are the only ones. */
static void load_by_forces(const view *v) {
  const real *gear = FIELD(v, force_gear), *force = FIELD(v, force_on_speeds);
  if (v->impulse) {
    copy(v->m->size.nu + v->m->size.nu_cut, v->impulse, v->load);
    return;
  }
  find_points(v);
  if (v->m->size.gears == 0) return;
  find_forces_on_speeds(v);
  for (int32_t g = 0; g < v->m->size.gears; g++) {
    const int32_t u = v->m->gear[g].u;
    joint_load(v, u, coordinate_of(v, u), speed_of(v, u));
  }
  for (int32_t g = 0; g < v->m->size.gears; g++) v->load[v->m->gear[g].u] += gear[g] * force[v->m->gear[g].force];
}

/* All that waits for the cut joints, once after the other forces on bodies. */
static void load_and_apply_by_forces(const view *v) {
  load_by_forces(v);
  apply_forces_by_formulas(v);
}

/* For methods that apply loads of cut joints to the links: also the part of the forces in these. */
static void load_by_forces_and_apply(const view *v) {
  load_and_apply_by_forces(v);
  for (int32_t g = 0; g < v->m->size.gears; g++) {
    const lw_gear *gear = &v->m->gear[g];
    const lw_loop *loop = &v->m->loop[gear->loop < 0 ? 0 : gear->loop];
    if (gear->loop < 0 || loop->cluster < 0) continue;
    const real load = FIELD(v, force_gear)[g] * FIELD(v, force_on_speeds)[gear->force];
    twist P, sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    real on_child[3];
    row_of_cut_speed(v, gear->loop, gear->u - loop->u, &P);
    add_column(&P, load, &sum);
    rotate(motion_of(v, loop->child)->R, v->cut[gear->loop].pc, on_child);
    const constraint_ends ends = {{loop->parent, loop->child}, {phantom_of(v, gear->loop)->r, on_child}};
    apply_to_ends(v, &ends, &sum);
  }
}
#endif
