/* The contract of a type of force: all of it stands in one file, which types_list.h lists. It begins with its
 * record (types.h); what kernels know of it follows. FORCE_NUMBERS(type, TYPE) declares type_numbers, the fields of its
 * record, of which row k is that of a force. Then, by what the type acts on:
 *   LW_ON_POINT        void type_apply(const type_numbers *x, int32_t k, const real R[9], twist *applied), a wrench at
 *                      the point, world axes; R turns to these from those of the body
 *   LW_BETWEEN_POINTS  void type_apply(const type_numbers *x, int32_t k, const span_motion *s, real pull[3]), a force
 *                      on the first point, opposite to that on the second, world axes
 *   LW_BETWEEN_FRAMES  void type_apply(const type_numbers *x, int32_t k, const frame_motion *s, twist *applied), a wrench
 *                      on the second body about the origin of its frame, axes of the first frame; the opposite one acts
 *                      on the first body; the field type_rotations has the quaternions of both frames
 *   LW_ON_SPEEDS       real type_apply(const type_numbers *x, int32_t k, int32_t given, real length, real rate), the
 *                      force, which each speed's gear times; `given`: which parameters are, GIVEN(mask, field)
 *   LW_ALONG_LINE      real type_apply(const type_numbers *x, int32_t k, const line_motion *s), the tension, which each
 *                      piece has by its factor
 * each of which sets the outputs, and where the type is by formulas evaluates its program, number k of `program` in the
 * `block`; and real type_energy(const type_numbers *x, int32_t k), what it stores, after these; `no_energy`: nothing. One
 * on a point has void type_wrench(const type_numbers *x, int32_t k, twist *applied) besides, what it applied last. */
#ifndef LW_FORCES_FORCE_KERNEL_H
#define LW_FORCES_FORCE_KERNEL_H
#include "formula/program.h"
#include "math/link_motion_kernel.h"
#include "math/spatial_kernel.h"
#include "math/tolerances.h"

#define NUMBERS_OF_FIELD(name, owner, columns, access, stage, meaning) real *name;
#define PLACE_OF_FIELD(name, owner, columns, access, stage, meaning) PLACE_OF_##name,
#define FORCE_NUMBERS(type, TYPE)                                                                          \
  typedef struct type##_numbers {                                                                          \
    const lw_program *program;                                                                             \
    real *block;                                                                                           \
    LW_##TYPE##_PARAMETERS(NUMBERS_OF_FIELD) LW_##TYPE##_INPUTS(NUMBERS_OF_FIELD) LW_##TYPE##_OUTPUTS(     \
        NUMBERS_OF_FIELD) LW_##TYPE##_DISCRETE(NUMBERS_OF_FIELD)                                           \
  } type##_numbers;                                                                                        \
  enum { LW_##TYPE##_PARAMETERS(PLACE_OF_FIELD) PLACES_OF_##TYPE }; /* among the parameters of its type */

#define GIVEN(mask, field) ((mask) >> PLACE_OF_##field & 1)
#define no_energy(x, k) ((void)(x), (void)(k), 0.0)

/* From the first point d to the second, l = |d|, n = d/l and l'. Without length there is no n: it counts as zero, and l
 * as one. */
typedef struct span_motion {
  real d[3], n[3], length2, length, rate;
} span_motion;

/* Of a second frame as the first one sees it: origin, its rate, axes, angular velocity. */
typedef struct frame_motion {
  real d[3], v[3], C[9], w[3];
} frame_motion;

/* Of a line through points: the sum of factor times length of its pieces, its rate, and the square of the longest. */
typedef struct line_motion {
  real length, rate, longest2;
} line_motion;

/* What is zero where the points coincide. */
INLINE real where_apart(const span_motion *s, real value) { return select_less(s->length2, MIN_LENGTH2, 0.0, value); }

INLINE void measure_span(const real d[3], const real velocity[3], span_motion *s) {
  copy(3, d, s->d);
  s->length2 = dot(d, d), s->length = root(select_less(s->length2, MIN_LENGTH2, 1.0, s->length2));
  const real inverse = where_apart(s, 1.0 / s->length);
  for (int k = 0; k < 3; k++) s->n[k] = d[k] * inverse;
  s->rate = dot(s->n, velocity);
}

/* a / tan(a) with a = arctan2(n, w); and a / n. The series are exact to rounding where they are taken. */
typedef struct half_angle {
  real a2, by_n, by_tan;
} half_angle;

INLINE half_angle half_angle_of(const real Q[4]) {
  const real n2 = dot(Q + 1, Q + 1);
  half_angle h;
  if (re(n2) < SMALL_HALF_ANGLE2) {
    const real x2 = n2 / (Q[0] * Q[0]); /* tan^2 */
    h.by_n = (1.0 - x2 * (1.0 / 3.0 - x2 * (1.0 / 5.0 - x2 * (1.0 / 7.0)))) / Q[0];
  } else {
    const real n = root(n2);
    h.by_n = arctan2(n, Q[0]) / n;
  }
  h.a2 = h.by_n * h.by_n * n2;
  h.by_tan = h.by_n * Q[0];
  return h;
}

/* Of the rotation by a matrix, at most half a turn. */
INLINE void rotation_vector(const real C[9], real r[3]) {
  real Q[4];
  quaternion_of(C, Q);
  const half_angle h = half_angle_of(Q);
  for (int i = 0; i < 3; i++) r[i] = 2.0 * h.by_n * Q[1 + i];
}

/* Beyond a limit nothing changes, so that the derivative is zero there. */
INLINE real within(const real range[2], real x) {
  const real above = select_less(x, range[0], range[0], x);
  return select_less(range[1], above, range[1], above);
}
#endif
