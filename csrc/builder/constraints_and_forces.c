/* Couplings, motions, distances, springs between points, wrenches and actuators of a builder: what ties bodies and joints
 * together or acts on them; and points of interest and measures. */
#include "description.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

/* ---- couplings and distances ---- */

lw_status lw_builder_add_coupling(lw_builder *b, const char *name, double offset) {
  if (!isfinite(offset)) return lw_not_finite(b, "coupling", name ? name : "", "offset");
  const char *kept = lw_new_name(b, A_COUPLING, "coupling", name, b->couplings);
  return kept ? append_coupling(b, (coupling_part){.name = kept, .offset = offset}) : b->status;
}

lw_status lw_builder_add_term(lw_builder *b, const char *coupling, const char *joint, int32_t element,
                              const double coefficients[4]) {
  term_part made = {.element = element};
  lw_status e;
  if ((e = lw_find_among(b, A_COUPLING, "term", coupling, &made.coupling)) ||
      (e = lw_find_joint(b, "coupling", coupling, joint, &made.joint)) ||
      (e = lw_take_numbers(b, "coupling", coupling, "coefficients", coefficients, 4, made.coefficient)))
    return e;
  joint_part *j = &b->joint[made.joint];
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  if (size->q != size->u)
    return lw_refuse(b, LW_ERROR_USAGE,
                     "coupling '%s': joint '%s' (%s) turns by a quaternion, whose elements cannot be coupled; couple "
                     "joints of fixed axes, such as revolutes with small bodies between",
                     coupling, joint, lw_joint_type_name(j->type));
  if (element < 0 || element >= size->q)
    return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s': joint '%s' (%s) has no coordinate %d; it has %d, from 0",
                     coupling, joint, lw_joint_type_name(j->type), (int)element, (int)size->q);
  const double *c = made.coefficient;
  if (c[0] == 0.0 && c[1] == 0.0 && c[2] == 0.0 && c[3] == 0.0)
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "coupling '%s': the coefficient of '%s' is zero: leave the joint out, or give another coefficient",
                     coupling, joint);
  for (int32_t i = b->terms - 1; i >= 0 && b->term[i].coupling == made.coupling; i--)
    if (b->term[i].joint == made.joint && b->term[i].element == element)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "coupling '%s' has a term of joint '%s' already: give one with the sum of both", coupling,
                       joint);
  j->coupled = 1;
  j->prescribed |= b->coupling[made.coupling].motion[0] != 0.0;
  return append_term(b, made);
}

lw_status lw_builder_set_motion(lw_builder *b, const char *coupling, const double polynomial[4], double amplitude,
                                double frequency, double phase) {
  int32_t k;
  double c[7] = {0, 0, 0, 0, amplitude, frequency, phase};
  lw_status e;
  if ((e = lw_find_among(b, A_COUPLING, "motion", coupling, &k)) ||
      (e = lw_take_numbers(b, "coupling", coupling, "motion", polynomial, 4, c)) ||
      (e = lw_take_numbers(b, "coupling", coupling, "motion", c, 7, c)))
    return e;
  coupling_part *one = &b->coupling[k];
  if (one->motion[0] != 0.0)
    return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s' has a motion already: give one with the sum of both", coupling);
  one->offset += c[0];
  one->motion[0] = 1.0;
  memcpy(one->motion + 1, c + 1, 6 * sizeof *c);
  for (int32_t i = 0; i < b->terms; i++)
    if (b->term[i].coupling == k) b->joint[b->term[i].joint].prescribed = 1;
  return LW_OK;
}

lw_status lw_builder_prescribe(lw_builder *b, const char *name, const char *joint, int32_t element,
                               const double polynomial[4], double amplitude, double frequency, double phase) {
  static const double one[4] = {1.0, 0.0, 0.0, 0.0};
  lw_status e;
  if ((e = lw_builder_add_coupling(b, name, 0.0)) || (e = lw_builder_add_term(b, name, joint, element, one))) return e;
  return lw_builder_set_motion(b, name, polynomial, amplitude, frequency, phase);
}

/* Two different bodies and a point of each. */
static lw_status take_ends(lw_builder *b, const char *what, const char *name, const char *first, const double *from,
                           const char *second, const double *to, int32_t body[2], double point[2][3]) {
  lw_status e;
  if ((e = lw_find_body(b, what, name, first, &body[0])) || (e = lw_find_body(b, what, name, second, &body[1])) ||
      (e = lw_take_numbers(b, what, name, "the first point", from, 3, point[0])) ||
      (e = lw_take_numbers(b, what, name, "the second point", to, 3, point[1])))
    return e;
  if (body[0] == body[1])
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': both ends are on '%s', which is rigid: name two bodies", what, name,
                     first);
  return LW_OK;
}

static double reference_distance(const lw_builder *b, const distance_part *d) {
  double apart = 0.0, end[2][3];
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      const body_part *p = d->body[k] == GROUND ? NULL : &b->body[d->body[k]];
      end[k][i] = d->point[k][i];
      if (!p) continue;
      end[k][i] = p->origin[i];
      for (int j = 0; j < 3; j++) end[k][i] += p->rotation[3 * i + j] * d->point[k][j];
    }
  for (int i = 0; i < 3; i++) apart += (end[1][i] - end[0][i]) * (end[1][i] - end[0][i]);
  return sqrt(apart);
}

lw_status lw_builder_add_distance(lw_builder *b, const char *name, const char *first, const double from[3],
                                  const char *second, const double to[3], double length) {
  distance_part made = {.length = length};
  const char *shown = name ? name : "";
  const lw_status e = take_ends(b, "distance", shown, first, from, second, to, made.body, made.point);
  if (e) return e;
  if (length == 0.0) made.length = reference_distance(b, &made);
  if (!isfinite(length) || !(made.length > 0.0))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     length == 0.0
                         ? "distance '%s': its points coincide in the reference poses of its bodies, which so "
                           "give no length: give a length, or origins to the bodies"
                         : "distance '%s': length must be positive; where the points are to coincide join the "
                           "bodies by a spherical joint",
                     shown);
  if (!(made.name = lw_new_name(b, A_DISTANCE, "distance", name, b->distances))) return b->status;
  return append_distance(b, made);
}

/* ---- forces ---- */

lw_status lw_builder_add_spring(lw_builder *b, const char *name, const char *first, const double from[3],
                                const char *second, const double to[3], double stiffness, double damping,
                                double free_length) {
  spring_part made = {.stiffness = stiffness, .damping = damping, .free = free_length};
  const char *shown = name ? name : "";
  const lw_status e = take_ends(b, "spring", shown, first, from, second, to, made.body, made.point);
  if (e) return e;
  if (!isfinite(stiffness) || !isfinite(damping) || !isfinite(free_length))
    return lw_not_finite(b, "spring", shown, "stiffness, damping and free length");
  if (!(made.name = lw_new_name(b, A_FORCE, "spring", name, b->springs))) return b->status;
  return append_spring(b, made);
}

lw_status lw_builder_add_wrench(lw_builder *b, const char *name, const char *body, const double point[3]) {
  wrench_part made = {0};
  const char *shown = name ? name : "";
  lw_status e;
  if ((e = lw_find_body(b, "wrench", shown, body, &made.body)) ||
      (e = lw_take_numbers(b, "wrench", shown, "point", point, 3, made.point)))
    return e;
  if (made.body == GROUND)
    return lw_refuse(b, LW_ERROR_USAGE, "wrench '%s': it acts on the ground, which nothing moves: name a body", shown);
  if (!(made.name = lw_new_name(b, A_FORCE, "wrench", name, b->wrenches))) return b->status;
  return append_wrench(b, made);
}

lw_status lw_builder_add_actuator(lw_builder *b, const char *name, double gain, double offset, double stiffness,
                                  double damping) {
  actuator_part made = {.gain = gain, .offset = offset, .stiffness = stiffness, .damping = damping};
  if (!isfinite(gain) || !isfinite(offset) || !isfinite(stiffness) || !isfinite(damping))
    return lw_not_finite(b, "actuator", name ? name : "", "gain, offset, stiffness and damping");
  if (!(made.name = lw_new_name(b, AN_ACTUATOR, "actuator", name, b->actuators))) return b->status;
  return append_actuator(b, made);
}

/* Gears stand actuator by actuator. */
static void sort_in_last_gear(lw_builder *b) {
  const gear_part last = b->gear[b->gears - 1];
  int32_t k = b->gears - 1;
  for (; k > 0 && b->gear[k - 1].actuator > last.actuator; k--) b->gear[k] = b->gear[k - 1];
  b->gear[k] = last;
}

lw_status lw_builder_add_gear(lw_builder *b, const char *actuator, const char *joint, int32_t element, double gear) {
  gear_part made = {.element = element, .gear = gear};
  lw_status e;
  if ((e = lw_find_among(b, AN_ACTUATOR, "gear", actuator, &made.actuator)) ||
      (e = lw_find_joint(b, "actuator", actuator, joint, &made.joint)))
    return e;
  joint_part *j = &b->joint[made.joint];
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  if (!isfinite(gear) || gear == 0.0)
    return lw_refuse(b, LW_ERROR_PARAMETER, "actuator '%s': the gear of joint '%s' must be finite and not zero",
                     actuator, joint);
  if (element < 0 || element >= size->u)
    return lw_refuse(b, LW_ERROR_USAGE, "actuator '%s': joint '%s' (%s) has no speed %d; it has %d, from 0", actuator,
                     joint, lw_joint_type_name(j->type), (int)element, (int)size->u);
  if (size->q != size->u && b->actuator[made.actuator].stiffness != 0.0)
    return lw_refuse(b, LW_ERROR_USAGE,
                     "actuator '%s': the orientation of joint '%s' (%s) is a quaternion, so that the actuator has no "
                     "length: give it no stiffness",
                     actuator, joint, lw_joint_type_name(j->type));
  for (int32_t i = 0; i < b->gears; i++)
    if (b->gear[i].actuator == made.actuator && b->gear[i].joint == made.joint && b->gear[i].element == element)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "actuator '%s' has a gear of joint '%s' already: give one with the sum of both", actuator,
                       joint);
  if ((e = append_gear(b, made))) return e;
  sort_in_last_gear(b);
  j->actuated = 1;
  return LW_OK;
}

/* Lower and upper limit; NULL: none. */
static lw_status take_range(lw_builder *b, const char *name, const char *what, const double *given, int32_t limit,
                            double range[2], int32_t *limits) {
  const lw_status e = given ? lw_take_numbers(b, "actuator", name, what, given, 2, range) : LW_OK;
  if (e || !given) return e;
  if (!(range[0] < range[1]))
    return lw_refuse(b, LW_ERROR_PARAMETER, "actuator '%s': the lower limit of %s must be less than the upper one",
                     name, what);
  *limits |= limit;
  return LW_OK;
}

lw_status lw_builder_limit_actuator(lw_builder *b, const char *name, const double input_range[2],
                                    const double force_range[2]) {
  int32_t k;
  lw_status e = lw_find_among(b, AN_ACTUATOR, "limits", name, &k);
  if (e) return e;
  actuator_part limited = b->actuator[k];
  if ((e = take_range(b, name, "the input range", input_range, LW_INPUT_RANGE, limited.input_range, &limited.limits)) ||
      (e = take_range(b, name, "the force range", force_range, LW_FORCE_RANGE, limited.force_range, &limited.limits)))
    return e;
  b->actuator[k] = limited;
  return LW_OK;
}

/* ---- points of interest ---- */

lw_status lw_builder_add_point(lw_builder *b, const char *name, const char *body, const double point[3],
                               const double axis[3]) {
  static const double z[3] = {0.0, 0.0, 1.0};
  point_part made = {.has_axis = axis != NULL};
  const char *shown = name ? name : "";
  lw_status e;
  if ((e = lw_find_body(b, "point", shown, body, &made.body)) ||
      (e = lw_take_numbers(b, "point", shown, "position", point, 3, made.point)) ||
      (e = lw_take_numbers(b, "point", shown, "axis", axis ? axis : z, 3, made.axis)))
    return e;
  if (!lw_make_unit(made.axis, 3))
    return lw_refuse(b, LW_ERROR_PARAMETER, "point '%s': its axis is zero and has no direction", shown);
  if (!(made.name = lw_new_name(b, A_POINT, "point", name, b->points))) return b->status;
  return append_point(b, made);
}

lw_status lw_builder_add_measure(lw_builder *b, const char *name, lw_measure_kind kind, const char *first,
                                 const char *second) {
  measure_part made = {.kind = (int32_t)kind};
  const char *const given[2] = {first, second}, *shown = name ? name : "";
  lw_status e;
  if (kind != LW_MEASURE_DISTANCE && kind != LW_MEASURE_ANGLE)
    return lw_refuse(b, LW_ERROR_USAGE, "measure '%s': there is no kind %d of measures", shown, (int)kind);
  for (int i = 0; i < 2; i++) {
    if ((e = lw_find_among(b, A_POINT, "measure", given[i], &made.point[i]))) return e;
    if (kind == LW_MEASURE_ANGLE && !b->point[made.point[i]].has_axis)
      return lw_refuse(b, LW_ERROR_USAGE, "measure '%s': point '%s' has no axis: give it one", shown, given[i]);
  }
  if (b->point[made.point[0]].body == b->point[made.point[1]].body)
    return lw_refuse(b, LW_ERROR_USAGE, "measure '%s': both points are on one body, which is rigid: name points of two",
                     shown);
  if (!(made.name = lw_new_name(b, A_MEASURE, "measure", name, b->measures))) return b->status;
  return append_measure(b, made);
}
