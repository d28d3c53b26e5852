/* Typed names for the fields of a block that the mechanics use. */
#ifndef LW_BLOCK_FIELD_VIEW_KERNEL_H
#define LW_BLOCK_FIELD_VIEW_KERNEL_H
#include "math/link_motion_kernel.h"
#include "math/scalar.h"
#include "model/independent_columns.h"
#include "block/kernels.h"

LW_DEFINE_RECORDS(real, )

typedef struct view {
  const lw_model *m;
  real *x;    /* the block */
  real *work; /* see lw_block */
  link_constants *constants;
  cut_constants *cut;
  link_motion *motion; /* of the links, then the constraint frames of the loops (loops/closure_kernel.h) */
  link_inertia *inertia;
  articulated *outboard;
  column_sweep *sweep;
  twist *increment, *wrench;
  twist *column; /* of every speed in joints of several, world axes at the point of the link or constraint frame */
  real *q, *u, *load, *acceleration, *sincos;
  const real *rotor; /* reflected inertia of every speed */
  int32_t *integers;
  const lw_dca_workspace *dca;
  const real *reference;     /* of links: from the joint point to where F is taken; NULL: at the joint points */
  const link_motion *ground; /* at rest, accelerated against gravity */
  /* Of a jump (dynamics/reduced_jump_kernel.h): impulses along all speeds, which are all of the loads, and the speeds before;
   * NULL: none, as in accelerations. */
  const real *impulse, *before;
} view;

#define FIELD(v, name) ((v)->x + (v)->m->at.name)
#define CHANGE(v, name) ((v)->work + (v)->m->change.name)

/* One expression: it is built in place, not copied. */
static view open_view(const lw_model *m, lw_block b) {
  const view at = {.m = m, .x = (real *)b.reals};
  return (view){.m = m,
                .x = at.x,
                .work = (real *)b.work,
                .constants = (link_constants *)FIELD(&at, link_constants),
                .cut = (cut_constants *)FIELD(&at, cut_constants),
                .motion = (link_motion *)FIELD(&at, motion),
                .inertia = (link_inertia *)FIELD(&at, inertia),
                .outboard = (articulated *)FIELD(&at, outboard),
                .sweep = (column_sweep *)FIELD(&at, sweep),
                .increment = (twist *)FIELD(&at, increment),
                .wrench = (twist *)FIELD(&at, wrench),
                .column = (twist *)FIELD(&at, joint_column),
                .q = FIELD(&at, q),
                .u = FIELD(&at, u),
                .load = FIELD(&at, load),
                .acceleration = FIELD(&at, acceleration),
                .sincos = FIELD(&at, sincos),
                .rotor = FIELD(&at, reflected_inertia),
                .integers = b.integers,
                .dca = b.dca,
                .ground = (const link_motion *)FIELD(&at, ground)};
}

/* Of a path its numbers (math/path_kernel.h). */
INLINE const real *parameter_of(const view *v, int32_t joint) {
  const model_number *path = v->m->joint[joint].path;
  return path ? (const real *)path : FIELD(v, joint_parameter) + joint;
}
INLINE const link_motion *motion_of(const view *v, int32_t link) { return link < 0 ? v->ground : &v->motion[link]; }
#endif
