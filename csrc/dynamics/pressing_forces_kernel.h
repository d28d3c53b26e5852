/* Forces that press the surfaces of joints together: N, the part of the joint's reaction that does. It is the radial force
 * of a bearing, and the transverse force of a slide. That of a screw of mean radius r and pitch h is the normal force of
 * its thread over the cosine of the lead angle, |F (1 + h^2 / r^2) - t h / r^2| with the axial force F and the load t of
 * its friction. */
#ifndef LW_PRESSING_FORCES_KERNEL_H
#define LW_PRESSING_FORCES_KERNEL_H
#include "dynamics/load_response_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/forces_on_speeds_kernel.h"

#define MOST_NEWTON_STEPS 40
#define MOST_REPEATED 60 /* whole evaluations, near singular poses */

static const lw_force *friction_at(const view *v, int32_t k) { return v->m->force + FIRST_OF(FRICTION) + k; }
static int32_t speed_of_friction(const view *v, int32_t k) { return v->m->gear[friction_at(v, k)->first].u; }
static int is_pressed(const view *v, int32_t k) { return friction_at(v, k)->given >> LW_PRESSED_FRICTION & 1; }

/* A joint that is open has none. */
static int has_surfaces(const view *v, int32_t k) {
  const lw_joint *joint = &v->m->joint[friction_at(v, k)->joint];
  return joint->loop < 0 || v->m->loop[joint->loop].cluster >= 0;
}

#define EACH_PRESSED(v, k)                      \
  for (int32_t k = 0; k < (v)->m->pressed; k++) \
    if (is_pressed(v, k) && has_surfaces(v, k))

/* The load of a friction that holds its speed; a friction that slides holds none. */
static int holds(const view *v, int32_t k) {
  return v->m->lock_of[speed_of_friction(v, k)] >= 0 && re(FIELD(v, friction_state)[k]) == LW_FRICTION_STICKS &&
         !(friction_at(v, k)->given >> LW_SMOOTH_FRICTION & 1);
}

/* The direction along which the surfaces of a joint slide; of a screw also how much its load and its force along e count,
 * and the lock that holds it, or -1. */
typedef struct surfaces {
  const lw_joint *joint;
  int32_t is_thread, lock;
  real e[3], by_force, by_load;
} surfaces;

static void find_thread(const view *v, int32_t k, const twist *P, surfaces *s) {
  const real h = dot(P->l, s->e), r2 = FIELD(v, friction_radius)[k] * FIELD(v, friction_radius)[k];
  s->by_force = 1.0 + h * h / r2, s->by_load = h / r2;
  s->lock = holds(v, k) ? v->m->lock_of[speed_of_friction(v, k)] : -1;
}

INLINE void find_surfaces(const view *v, int32_t k, surfaces *s) {
  const lw_joint *joint = s->joint = &v->m->joint[friction_at(v, k)->joint];
  s->is_thread = joint->type == LW_SCREW;
  if (!has_stored_columns(joint->type)) {
    axis_of(joint->loop >= 0 ? phantom_of(v, joint->loop) : &v->motion[joint->link], s->e);
    return;
  }
  const int32_t u = speed_of_friction(v, k);
  copy(3, lw_joint_sizes[joint->type].translations >> (u - joint->u) & 1 ? v->column[u].l : v->column[u].a, s->e);
  if (s->is_thread) find_thread(v, k, &v->column[u], s);
}

/* The pressing force as a vector, of the forces of joints that have been found. `load`: of the friction. */
static void measure_pressing(const view *v, const surfaces *s, real load, real out[3]) {
  const real *F = force_change_of_one(v, s->joint), along = dot(F, s->e);
  for (int i = 0; i < 3; i++) out[i] = s->is_thread ? 0.0 : F[i] - along * s->e[i];
  if (!s->is_thread) return;
  const real held = s->lock < 0 ? 0.0 : *coupling_change_of_one(v, s->lock);
  out[0] = along * s->by_force - (load + held) * s->by_load;
}

/* |n|, with its direction; zero has none. */
static real size_of_pressing(const real n[3], real direction[3]) {
  const real size2 = dot(n, n);
  if (!(re(size2) > 0.0)) {
    for (int i = 0; i < 3; i++) direction[i] = 0.0;
    return 0.0;
  }
  const real size = root(size2);
  for (int i = 0; i < 3; i++) direction[i] = n[i] / size;
  return size;
}

INLINE double size_of_derivative(real x) {
#if LW_ARITHMETIC != LW_COMPLEX
  return fabs(x);
#else
  return fabs(__imag__ x);
#endif
}

/* How much numbers change, relative to the largest; of derivatives the same. */
typedef struct changes {
  double change[2], most[2];
} changes;
static const changes no_changes = {{0.0, 0.0}, {1e-300, 1e-300}};

INLINE void add_change(changes *c, real by, real now) {
  c->change[0] = larger(c->change[0], fabs(re(by))), c->most[0] = larger(c->most[0], fabs(re(now)));
  if (LW_ARITHMETIC != LW_COMPLEX) return;
  c->change[1] = larger(c->change[1], size_of_derivative(by));
  c->most[1] = larger(c->most[1], size_of_derivative(now));
}

INLINE double relative_change(const changes *c) { return larger(c->change[0] / c->most[0], c->change[1] / c->most[1]); }

static void clear_pressing(const view *v) {
  for (int32_t k = 0; k < v->m->pressed; k++) FIELD(v, friction_pressing)[k] = 0.0;
}

/* Of the present wrenches. Returns by how much the largest of the pressing forces change, relative to it. */
static double measure_all_pressing(const view *v) {
  changes all = no_changes;
  EACH_PRESSED(v, k) {
    surfaces s;
    real n[3], direction[3];
    find_surfaces(v, k, &s);
    measure_pressing(v, &s, FIELD(v, friction_force)[k], n);
    const real now = size_of_pressing(n, direction);
    add_change(&all, now - FIELD(v, friction_pressing)[k], now);
    FIELD(v, friction_pressing)[k] = now;
  }
  return relative_change(&all);
}
#endif
