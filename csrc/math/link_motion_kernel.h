/* The motion of a link, in the scalars of the arithmetic. */
#ifndef LW_MATH_LINK_MOTION_KERNEL_H
#define LW_MATH_LINK_MOTION_KERNEL_H
#include "math/motion.h"
#include "math/scalar.h"

LW_DEFINE_MOTION(real, )

/* The joint axis of a link, world axes: z of its frame. */
INLINE void axis_of(const link_motion *motion, real e[3]) {
  for (int i = 0; i < 3; i++) e[i] = motion->R[3 * i + 2];
}
#endif
