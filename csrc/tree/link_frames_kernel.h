/* Frames that a description gives in bodies, in the frames of their links. */
#ifndef LW_TREE_LINK_FRAMES_KERNEL_H
#define LW_TREE_LINK_FRAMES_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"

typedef struct pose {
  real R[9], p[3];
} pose;

/* A pin's frame may be one that was found when it closed. */
static void frame_in_body(const view *v, int32_t joint, int of_child, int turned, pose *f) {
  const int captured = v->m->joint[joint].captured == 1 + of_child;
  const real *found = FIELD(v, captured_frame) + 7 * joint;
  const real *Q =
      captured ? found + 3 : (of_child ? FIELD(v, child_orientation) : FIELD(v, parent_orientation)) + 4 * joint;
  const real *p = captured ? found : (of_child ? FIELD(v, child_position) : FIELD(v, parent_position)) + 3 * joint;
  rotation_of(Q, f->R);
  copy(3, p, f->p);
  if (turned)
    for (int i = 0; i < 3; i++) f->R[3 * i + 1] = -f->R[3 * i + 1], f->R[3 * i + 2] = -f->R[3 * i + 2];
}

/* A frame given in a body's frame, in the frame of the link of the body. */
static void frame_in_link(const view *v, int32_t link, const pose *in_body, real R[9], real p[3]) {
  if (link < 0) {
    copy(9, in_body->R, R);
    copy(3, in_body->p, p);
    return;
  }
  const link_constants *k = &v->constants[link];
  multiply(k->Rb, in_body->R, R);
  rotate(k->Rb, in_body->p, p);
  for (int i = 0; i < 3; i++) p[i] += k->pb[i];
}
#endif
