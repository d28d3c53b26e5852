/* Couplings, motions, distances and forces of a builder: what ties bodies and joints together or acts on them; and
 * points of interest and measures. */
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

static lw_status find_coordinate(lw_builder *b, const char *coupling, const char *joint, int32_t element,
                                 int32_t *number) {
  const lw_status e = lw_find_joint(b, "coupling", coupling, joint, number);
  if (e) return e;
  const joint_part *j = &b->joint[*number];
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  if (size->q != size->u)
    return lw_refuse(b, LW_ERROR_USAGE,
                     "coupling '%s': joint '%s' (%s) turns by a quaternion, whose elements cannot be coupled; couple "
                     "joints of fixed axes, such as revolutes with small bodies between",
                     coupling, joint, lw_joint_type_name(j->type));
  if (element < 0 || element >= size->q)
    return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s': joint '%s' (%s) has no coordinate %d; it has %d, from 0",
                     coupling, joint, lw_joint_type_name(j->type), (int)element, (int)size->q);
  return LW_OK;
}

static int has_term(const lw_builder *b, const term_part *like) {
  for (int32_t i = b->terms - 1; i >= 0; i--)
    if (b->term[i].coupling == like->coupling && b->term[i].joint == like->joint && b->term[i].element == like->element)
      return 1;
  return 0;
}

static lw_status take_term(lw_builder *b, term_part made) {
  joint_part *j = &b->joint[made.joint];
  j->coupled = 1;
  j->prescribed |= b->coupling[made.coupling].motion[0] != 0.0;
  return append_term(b, made);
}

lw_status lw_join_term(lw_builder *b, int32_t coupling, const char *joint, int32_t element) {
  term_part made = {.coupling = coupling, .element = element};
  const lw_status e = find_coordinate(b, b->coupling[coupling].name, joint, element, &made.joint);
  return e || has_term(b, &made) ? e : take_term(b, made);
}

lw_status lw_builder_add_term(lw_builder *b, const char *coupling, const char *joint, int32_t element,
                              const double coefficients[4]) {
  term_part made = {.element = element};
  lw_status e;
  if ((e = lw_find_among(b, A_COUPLING, "term", coupling, &made.coupling)) ||
      (e = find_coordinate(b, coupling, joint, element, &made.joint)) ||
      (e = lw_take_numbers(b, "coupling", coupling, "coefficients", coefficients, 4, made.coefficient)))
    return e;
  const double *c = made.coefficient;
  if (c[0] == 0.0 && c[1] == 0.0 && c[2] == 0.0 && c[3] == 0.0)
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "coupling '%s': the coefficient of '%s' is zero: leave the joint out, or give another coefficient",
                     coupling, joint);
  if (has_term(b, &made))
    return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s' has a term of joint '%s' already: give one with the sum of both",
                     coupling, joint);
  return take_term(b, made);
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

static lw_status find_ends(lw_builder *b, const char *what, const char *name, const char *first, const char *second,
                           int32_t body[2]) {
  lw_status e;
  if ((e = lw_find_body(b, what, name, first, &body[0])) || (e = lw_find_body(b, what, name, second, &body[1])))
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
  lw_status e;
  if ((e = find_ends(b, "distance", shown, first, second, made.body)) ||
      (e = lw_take_numbers(b, "distance", shown, "the first point", from, 3, made.point[0])) ||
      (e = lw_take_numbers(b, "distance", shown, "the second point", to, 3, made.point[1])))
    return e;
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

static const char *const bodies_of[] = {[LW_ON_POINT] = "one body",
                                        [LW_BETWEEN_POINTS] = "two bodies",
                                        [LW_BETWEEN_FRAMES] = "two bodies",
                                        [LW_ON_SPEEDS] = "no body: lw_builder_add_gear names its joints",
                                        [LW_ALONG_LINE] = "no body: lw_builder_add_line_point names its points"};

static lw_status find_bodies(lw_builder *b, const lw_force_type *type, const char *name, const char *first,
                             const char *second, int32_t body[2]) {
  body[0] = body[1] = GROUND;
  if ((first != NULL) != lw_is_on_bodies(type->on) || (second != NULL) != lw_is_between_bodies(type->on))
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': it acts on %s", type->name, name, bodies_of[type->on]);
  if (lw_is_between_bodies(type->on)) return find_ends(b, type->name, name, first, second, body);
  if (!lw_is_on_bodies(type->on)) return LW_OK;
  const lw_status e = lw_find_body(b, type->name, name, first, &body[0]);
  if (e || body[0] != GROUND) return e;
  return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': it acts on the ground, which nothing moves: name a body", type->name,
                   name);
}

/* The numbers of a parameter behind those before it; zeros where it is not among the given ones. */
static lw_status take_parameter(lw_builder *b, const lw_force_type *type, const char *name, int32_t number,
                                const lw_parameter *given, int32_t count, int32_t *mask) {
  const lw_force_parameter *p = &type->parameter[number];
  double values[LW_MOST_NUMBERS] = {0.0};
  lw_status e;
  int32_t k = 0;
  while (k < count && strcmp(given[k].name, p->name) != 0) k++;
  if (k < count) *mask |= 1 << number;
  for (int32_t i = 0; k < count && i < p->columns; i++) {
    values[i] = given[k].values[i];
    if (!lw_is_valid(p->name, values[i])) return lw_not_finite(b, type->name, name, p->name);
  }
  if (k < count && p->setting == LW_TUNABLE_LIMITS && !(values[0] < values[1]))
    return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': the lower limit of %s must be less than the upper one",
                     type->name, name, p->name);
  for (int32_t i = 0; i < p->columns; i++)
    if ((e = append_force_number(b, values[i]))) return e;
  return LW_OK;
}

static lw_status check_parameters(lw_builder *b, const lw_force_type *type, const char *name, const lw_parameter *given,
                                  int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    int32_t p = 0;
    while (p < type->parameters && strcmp(given[k].name, type->parameter[p].name) != 0) p++;
    if (p < type->parameters) continue;
    const char *names[LW_MOST_PARAMETERS];
    char listed[LW_LISTED];
    for (p = 0; p < type->parameters; p++) names[p] = type->parameter[p].name;
    lw_quote_names(listed, names, type->parameters);
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': it has no parameter '%s', but %s", type->name, name, given[k].name,
                     listed);
  }
  return LW_OK;
}

static lw_status find_force_type(lw_builder *b, const char *name, int32_t *type) {
  const char *names[LW_FORCE_TYPES];
  char listed[LW_LISTED];
  for (*type = 0; *type < LW_FORCE_TYPES; ++*type) {
    names[*type] = lw_force_types[*type].name;
    if (name && strcmp(name, names[*type]) == 0) return LW_OK;
  }
  lw_quote_names(listed, names, LW_FORCE_TYPES);
  return lw_refuse(b, LW_ERROR_USAGE, "there is no type '%s' of forces: give one of %s", name ? name : "", listed);
}

/* Without a limit it never slides back, and so holds in one direction alone. */
static lw_status check_infinite(lw_builder *b, const force_part *made, const char *name) {
  const lw_force_type *type = &lw_force_types[made->type];
  double number[LW_MOST_PARAMETERS]; /* the first one of each parameter */
  if (!lw_is_friction(made->type)) return LW_OK;
  for (int32_t p = 0, at = made->first; p < type->parameters; at += type->parameter[p++].columns)
    number[p] = b->force_number[at];
  const int is_brake = made->type == LW_FORCE_BRAKE;
  const int32_t forward = is_brake ? LW_FORWARD_BRAKE : LW_FORWARD_FRICTION;
  if (!isinf(number[is_brake ? LW_STATIC_BRAKE : LW_STATIC_FRICTION])) return LW_OK;
  if (!lw_force_sticks(made->type, made->given) || (!is_brake && number[LW_STRIBECK_FRICTION] != 0.0))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "%s '%s': an infinite limit has no smooth form and no Stribeck speed: leave them out, or give a "
                     "limit",
                     type->name, name);
  if (made->given >> forward & 1 && number[forward] == 0.0) return LW_OK;
  return lw_refuse(b, LW_ERROR_PARAMETER,
                   "%s '%s': an infinite limit holds against negative speeds alone: give its forward share as 0, or a "
                   "limit",
                   type->name, name);
}

lw_status lw_builder_add_force(lw_builder *b, const char *type, const char *name, const char *body,
                               const char *other_body, const lw_parameter *parameters, int32_t count) {
  force_part made = {.first = b->force_numbers};
  const char *shown = name ? name : "";
  lw_status e;
  if ((e = find_force_type(b, type, &made.type))) return e;
  const lw_force_type *of = &lw_force_types[made.type];
  if ((e = find_bodies(b, of, shown, body, other_body, made.body)) ||
      (e = check_parameters(b, of, shown, parameters, count)))
    return e;
  for (int32_t k = 0; k < of->parameters && !e; k++)
    e = take_parameter(b, of, shown, k, parameters, count, &made.given);
  if (!e) e = check_infinite(b, &made, shown);
  if (!e && !(made.name = lw_new_name(b, A_FORCE, of->name, name, b->forces))) e = b->status;
  made.row = b->of_type[made.type];
  if (!e && !(e = append_force(b, made))) b->of_type[made.type]++;
  if (e) b->force_numbers = made.first;
  return e;
}

/* Whether a force has numbers that only one with a length may have. */
static int needs_length(const lw_builder *b, const force_part *force) {
  const lw_force_type *type = &lw_force_types[force->type];
  int needs = 0;
  for (int32_t p = 0, at = force->first; p < type->parameters; at += type->parameter[p++].columns)
    needs |= type->parameter[p].setting == LW_TUNABLE_OF_LENGTH && b->force_number[at] != 0.0;
  return needs;
}

/* Gears stand force by force. */
static void sort_in_last_gear(lw_builder *b) {
  const gear_part last = b->gear[b->gears - 1];
  int32_t k = b->gears - 1;
  for (; k > 0 && b->gear[k - 1].force > last.force; k--) b->gear[k] = b->gear[k - 1];
  b->gear[k] = last;
}

static int has_pressed_surfaces(int32_t type) {
  return type == LW_REVOLUTE || type == LW_PRISMATIC || type == LW_CYLINDRICAL || type == LW_UNIVERSAL ||
         type == LW_SCREW;
}

static lw_status refuse_sum_of_turns(lw_builder *b, const force_part *of, int32_t joint) {
  return lw_refuse(
      b, LW_ERROR_USAGE,
      "%s '%s': joint '%s' (%s) turns by a quaternion, whose speeds do not add up to one that sticks; name "
      "joints of fixed axes, or that speed alone by a gear of 1",
      lw_force_types[of->type].name, of->name, b->joint[joint].name, lw_joint_type_name(b->joint[joint].type));
}

/* A coupling holds sums of rates of coordinates; a pressing force is of one joint. */
static lw_status check_gear_of_friction(lw_builder *b, const gear_part *made, const char *joint) {
  const force_part *of = &b->force[made->force];
  const char *what = lw_force_types[of->type].name;
  const int32_t type = b->joint[made->joint].type;
  int sums = 0;
  for (int32_t i = 0; i < b->gears; i++) sums |= b->gear[i].force == made->force;
  const int geared = sums || made->gear != 1.0;
  if (of->type == LW_FORCE_FRICTION && of->given >> LW_PRESSED_FRICTION & 1 && (geared || !has_pressed_surfaces(type)))
    return geared ? lw_refuse(b, LW_ERROR_USAGE,
                              "%s '%s': its joint's reaction presses it (friction_mu), and it acts on one speed by a "
                              "gear of 1",
                              what, of->name)
                  : lw_refuse(b, LW_ERROR_USAGE,
                              "%s '%s': the surfaces of joint '%s' (%s) have no one pressing force; give it no "
                              "friction_mu",
                              what, of->name, joint, lw_joint_type_name(type));
  for (int32_t i = 0; i < b->gears; i++) {
    const int32_t other = b->joint[b->gear[i].joint].type;
    if (b->gear[i].force == made->force && lw_joint_sizes[other].q != lw_joint_sizes[other].u)
      return refuse_sum_of_turns(b, of, b->gear[i].joint);
  }
  return sums && lw_joint_sizes[type].q != lw_joint_sizes[type].u ? refuse_sum_of_turns(b, of, made->joint) : LW_OK;
}

lw_status lw_builder_add_gear(lw_builder *b, const char *force, const char *joint, int32_t element, double gear) {
  gear_part made = {.element = element, .gear = gear};
  lw_status e;
  if ((e = lw_find_among(b, A_FORCE, "gear", force, &made.force))) return e;
  const force_part *of = &b->force[made.force];
  const char *what = lw_force_types[of->type].name;
  if (lw_force_types[of->type].on != LW_ON_SPEEDS)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': it acts on bodies and has no gears", what, force);
  if ((e = lw_find_joint(b, what, force, joint, &made.joint))) return e;
  joint_part *j = &b->joint[made.joint];
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  if (!isfinite(gear) || gear == 0.0)
    return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': the gear of joint '%s' must be finite and not zero", what, force,
                     joint);
  if (element < 0 || element >= size->u)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': joint '%s' (%s) has no speed %d; it has %d, from 0", what, force,
                     joint, lw_joint_type_name(j->type), (int)element, (int)size->u);
  if (size->q != size->u && needs_length(b, of))
    return lw_refuse(
        b, LW_ERROR_USAGE,
        "%s '%s': the orientation of joint '%s' (%s) is a quaternion, so that it has no length: give it no "
        "stiffness",
        what, force, joint, lw_joint_type_name(j->type));
  if (lw_is_friction(of->type) && (e = check_gear_of_friction(b, &made, joint))) return e;
  for (int32_t i = 0; i < b->gears; i++)
    if (b->gear[i].force == made.force && b->gear[i].joint == made.joint && b->gear[i].element == element)
      return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' has a gear of joint '%s' already: give one with the sum of both",
                       what, force, joint);
  if ((e = append_gear(b, made))) return e;
  sort_in_last_gear(b);
  j->actuated = 1;
  return LW_OK;
}

/* Points stand force by force, in the order in which they are added. */
lw_status lw_builder_add_line_point(lw_builder *b, const char *force, const char *body, const double point[3],
                                    double factor) {
  line_point_part made = {.factor = factor};
  lw_status e;
  if ((e = lw_find_among(b, A_FORCE, "point", force, &made.force))) return e;
  const char *what = lw_force_types[b->force[made.force].type].name;
  if (lw_force_types[b->force[made.force].type].on != LW_ALONG_LINE)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': it acts along no line and takes no points", what, force);
  if ((e = lw_find_body(b, what, force, body, &made.body)) ||
      (e = lw_take_numbers(b, what, force, "a point of its line", point, 3, made.point)))
    return e;
  if (!isfinite(factor))
    return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': the factor of a piece of its line must be finite", what, force);
  int32_t k = b->line_points;
  if ((e = append_line_point(b, made))) return e;
  for (; k > 0 && b->line_point[k - 1].force > made.force; k--) b->line_point[k] = b->line_point[k - 1];
  b->line_point[k] = made;
  if (k == 0 || b->line_point[k - 1].force != made.force) b->line_point[k].factor = 0.0;
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
