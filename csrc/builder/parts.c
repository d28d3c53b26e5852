/* Bodies, joints, couplings, distances, springs, wrenches and start values of a builder: each is checked when it is
 * added, and nothing is added that cannot be. */
#include "description.h"
#include "../model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *lw_grown(void *list, int32_t count, int32_t *capacity, size_t size) {
  if (count == *capacity) {
    const int32_t more = *capacity ? 2 * *capacity : 8;
    void *larger = realloc(list, size * (size_t)more);
    if (!larger) return list;
    list = larger, *capacity = more;
  }
  memset((char *)list + size * (size_t)count, 0, size);
  return list;
}

int lw_all_finite(const double *values, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return 0;
  return 1;
}

static lw_status no_memory(lw_builder *b) {
  return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for another part");
}

static lw_status not_finite(lw_builder *b, const char *what, const char *name, const char *value) {
  return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': %s must be finite", what, name, value);
}

static lw_status take(lw_builder *b, const char *what, const char *name, const char *value, const double *from,
                      int32_t n, double *to) {
  if (!from) return LW_OK;
  if (!lw_all_finite(from, n)) return not_finite(b, what, name, value);
  memcpy(to, from, sizeof *to * (size_t)n);
  return LW_OK;
}

lw_status lw_builder_create(lw_builder **builder) {
  lw_builder *b = *builder = calloc(1, sizeof *b);
  if (!b) return LW_ERROR_MEMORY;
  b->gravity[2] = -9.81;
  return LW_OK;
}

void lw_builder_free(lw_builder *b) {
  if (!b) return;
#define X(list, type, element) free(b->element);
  BUILDER_LISTS(X)
#undef X
  lw_free_names(&b->names);
  free(b->joint_method);
  free(b->bytes);
  free(b);
}

const char *lw_builder_message(const lw_builder *b) { return b->message; }

lw_status lw_builder_set_gravity(lw_builder *b, const double gravity[3]) {
  return take(b, "mechanism", "", "gravity", gravity, 3, b->gravity);
}

/* ---- bodies ---- */

lw_status lw_builder_add_body(lw_builder *b, const char *name, double mass, const double com[3],
                              const double inertia[9]) {
  body_part made = {.mass = mass, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  lw_status e;
  const char *shown = name ? name : "", *wrong;
  if ((e = take(b, "body", shown, "com", com, 3, made.com)) ||
      (e = take(b, "body", shown, "inertia", inertia, 9, made.inertia)))
    return e;
  if (!isfinite(mass) || mass <= 0.0)
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "body '%s': mass must be positive, not %g kg; join a massless part to its neighbour instead",
                     shown, mass);
  if ((wrong = lw_make_inertia(made.inertia))) return lw_refuse(b, LW_ERROR_PARAMETER, "body '%s': %s", shown, wrong);
  ADDED(b, bodies, body);
  if (b->bodies == b->body_capacity) return no_memory(b);
  if (!(made.name = lw_new_name(b, A_BODY, "body", name, b->bodies))) return b->status;
  b->body[b->bodies++] = made;
  return LW_OK;
}

lw_status lw_builder_place_body(lw_builder *b, const char *name, const double origin[3], const double rotation[9]) {
  int32_t body;
  double turned[9];
  lw_status e = lw_find_among(b, A_BODY, "reference pose", name, &body);
  if (e) return e;
  memcpy(turned, b->body[body].rotation, sizeof turned);
  if ((e = take(b, "body", name, "origin", origin, 3, b->body[body].origin)) ||
      (e = take(b, "body", name, "rotation", rotation, 9, turned)))
    return e;
  if (!lw_make_rotation(turned))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "body '%s': rotation must be a rotation matrix (orthonormal, determinant +1), row by row", name);
  memcpy(b->body[body].rotation, turned, sizeof turned);
  return LW_OK;
}

/* ---- joints ---- */

const char *lw_joint_type_name(int32_t type) {
  static const char *const names[LW_JOINT_TYPES] = {"fixed",       "revolute", "prismatic", "universal",
                                                    "cylindrical", "planar",   "spherical", "free"};
  return names[type];
}

lw_status lw_make_joint(lw_builder *b, joint_part *made, const char *what, const char *name, lw_joint_type type,
                        const double *axes, const char *parent, const char *child) {
  lw_status e;
  if ((int32_t)type < 0 || type >= LW_JOINT_TYPES)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': there is no joint type %d", what, name, (int)type);
  *made = (joint_part){.name = name, .type = (int32_t)type};
  if ((e = take(b, what, name, "axes", axes, type == LW_UNIVERSAL ? 6 : 3, made->axes)) ||
      (e = lw_find_body(b, what, name, parent, &made->parent)) ||
      (e = lw_find_body(b, what, name, child, &made->child)))
    return e;
  if (made->parent == made->child)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' joins '%s' to itself: give two different bodies", what, name, parent);
  const char *wrong = lw_make_axes((int32_t)type, made->axes);
  if (wrong) return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': %s", what, name, wrong);
  const int32_t quaternion = lw_joint_sizes[type].q - 4;
  if (lw_joint_sizes[type].q != lw_joint_sizes[type].u) made->q[quaternion] = 1.0;
  return LW_OK;
}

lw_status lw_given_frame(lw_builder *b, const char *what, const char *name, const char *end, const lw_frame *given,
                         lw_frame *frame) {
  *frame = (lw_frame){{0}, {0}};
  if (given) *frame = *given;
  if (!lw_all_finite(frame->position, 3) || !lw_all_finite(frame->rotation, 9)) return not_finite(b, what, name, end);
  if (!lw_make_rotation(frame->rotation))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "%s '%s': the rotation of %s must be a rotation matrix (orthonormal, determinant +1), row by row, "
                     "or all zero: parallel",
                     what, name, end);
  return LW_OK;
}

static lw_status add_joint(lw_builder *b, joint_part made) {
  ADDED(b, joints, joint);
  if (b->joints == b->joint_capacity) return no_memory(b);
  if (!(made.name = lw_new_name(b, A_JOINT, "joint", made.name, b->joints))) return b->status;
  b->joint[b->joints++] = made;
  return LW_OK;
}

lw_status lw_builder_add_joint(lw_builder *b, const char *name, lw_joint_type type, const double *axes,
                               const char *parent, const char *child, const lw_frame *parent_frame,
                               const lw_frame *child_frame) {
  joint_part made;
  lw_status e = lw_make_joint(b, &made, "joint", name ? name : "", type, axes, parent, child);
  if (e || (e = lw_given_frame(b, "joint", made.name, "parent_frame", parent_frame, &made.frame[0])) ||
      (e = lw_given_frame(b, "joint", made.name, "child_frame", child_frame, &made.frame[1])))
    return e;
  return add_joint(b, made);
}

/* The frame at a world point, parallel to the world, in the frame of a body in its reference pose. */
static lw_frame frame_in(const lw_builder *b, int32_t body, const double point[3]) {
  lw_frame f = {{point[0], point[1], point[2]}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (body == GROUND) return f;
  const body_part *p = &b->body[body];
  for (int i = 0; i < 3; i++) {
    f.position[i] = 0.0;
    for (int j = 0; j < 3; j++) {
      f.position[i] += p->rotation[3 * j + i] * (point[j] - p->origin[j]);
      f.rotation[3 * i + j] = p->rotation[3 * j + i];
    }
  }
  return f;
}

lw_status lw_builder_add_joint_at(lw_builder *b, const char *name, lw_joint_type type, const double *axes,
                                  const char *parent, const char *child, const double at[3]) {
  joint_part made;
  double point[3] = {0};
  lw_status e = lw_make_joint(b, &made, "joint", name ? name : "", type, axes, parent, child);
  if (e || (e = take(b, "joint", made.name, "at", at, 3, point))) return e;
  made.frame[0] = frame_in(b, made.parent, point);
  made.frame[1] = frame_in(b, made.child, point);
  return add_joint(b, made);
}

lw_status lw_builder_cut(lw_builder *b, const char *name) {
  int32_t joint;
  const lw_status e = lw_find_joint(b, "cut", NULL, name, &joint);
  if (!e) b->joint[joint].cut = 1;
  return e;
}

static lw_status find_moving(lw_builder *b, const char *what, const char *name, joint_part **found) {
  int32_t joint;
  const lw_status e = lw_find_joint(b, what, NULL, name, &joint);
  if (e) return e;
  *found = &b->joint[joint];
  if (lw_joint_sizes[(*found)->type].u == 0)
    return lw_refuse(b, LW_ERROR_USAGE, "%s: joint '%s' (%s) has no coordinates: name another joint", what, name,
                     lw_joint_type_name((*found)->type));
  return LW_OK;
}

lw_status lw_builder_start_q(lw_builder *b, const char *name, const double *q) {
  joint_part *j;
  lw_status e = find_moving(b, "start q", name, &j);
  if (e) return e;
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  double given[7];
  if (!q) return lw_refuse(b, LW_ERROR_USAGE, "start q of joint '%s': no values are given", name);
  if ((e = take(b, "start q of joint", name, "it", q, size->q, given))) return e;
  if (size->q != size->u && !lw_make_unit(given + size->q - 4, 4))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "start q of joint '%s' has a quaternion of length zero; give [w, x, y, z] of a rotation, such as "
                     "(1, 0, 0, 0)",
                     name);
  memcpy(j->q, given, sizeof given);
  if (!j->q_rank) j->q_rank = ++b->q_starts;
  return LW_OK;
}

lw_status lw_builder_start_u(lw_builder *b, const char *name, const double *u) {
  joint_part *j;
  lw_status e = find_moving(b, "start u", name, &j);
  if (e || (e = take(b, "start u of joint", name, "it", u, lw_joint_sizes[j->type].u, j->u))) return e;
  if (!j->u_rank) j->u_rank = ++b->u_starts;
  return LW_OK;
}

lw_status lw_builder_add_joint_spring(lw_builder *b, const char *name, const double *stiffness, const double *damping,
                                      const double *free_coordinate) {
  joint_part *j;
  lw_status e = find_moving(b, "spring", name, &j);
  if (e) return e;
  const lw_joint_size *size = &lw_joint_sizes[j->type];
  if (j->sprung)
    return lw_refuse(b, LW_ERROR_USAGE, "joint '%s' has a spring and damper already: give one with the sum of both",
                     name);
  if ((e = take(b, "spring in joint", name, "stiffness", stiffness, size->u, j->stiffness)) ||
      (e = take(b, "spring in joint", name, "damping", damping, size->u, j->damping)) ||
      (e = take(b, "spring in joint", name, "the free coordinate", free_coordinate, size->u, j->free)))
    return e;
  for (int32_t i = 0; size->q != size->u && i < size->u; i++)
    if (j->stiffness[i] != 0.0 || j->free[i] != 0.0)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "spring in joint '%s': the orientation of a %s joint is a quaternion, on which no spring acts: "
                       "give damping only, and put springs between points of the two bodies instead",
                       name, lw_joint_type_name(j->type));
  j->sprung = 1;
  return LW_OK;
}

/* ---- couplings and distances ---- */

lw_status lw_builder_add_coupling(lw_builder *b, const char *name, double offset) {
  if (!isfinite(offset)) return not_finite(b, "coupling", name ? name : "", "offset");
  ADDED(b, couplings, coupling);
  if (b->couplings == b->coupling_capacity) return no_memory(b);
  const char *kept = lw_new_name(b, A_COUPLING, "coupling", name, b->couplings);
  if (!kept) return b->status;
  b->coupling[b->couplings++] = (coupling_part){.name = kept, .offset = offset};
  return LW_OK;
}

lw_status lw_builder_add_term(lw_builder *b, const char *coupling, const char *joint, int32_t element,
                              const double coefficients[4]) {
  term_part made = {.element = element};
  lw_status e;
  if ((e = lw_find_among(b, A_COUPLING, "term", coupling, &made.coupling)) ||
      (e = lw_find_joint(b, "coupling", coupling, joint, &made.joint)) ||
      (e = take(b, "coupling", coupling, "coefficients", coefficients, 4, made.coefficient)))
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
  ADDED(b, terms, term);
  if (b->terms == b->term_capacity) return no_memory(b);
  b->term[b->terms++] = made;
  j->coupled = 1;
  return LW_OK;
}

lw_status lw_builder_set_motion(lw_builder *b, const char *coupling, const double polynomial[4], double amplitude,
                                double frequency, double phase) {
  int32_t k;
  double c[7] = {0, 0, 0, 0, amplitude, frequency, phase};
  lw_status e;
  if ((e = lw_find_among(b, A_COUPLING, "motion", coupling, &k)) ||
      (e = take(b, "coupling", coupling, "motion", polynomial, 4, c)) ||
      (e = take(b, "coupling", coupling, "motion", c, 7, c)))
    return e;
  coupling_part *one = &b->coupling[k];
  if (one->motion[0] != 0.0)
    return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s' has a motion already: give one with the sum of both", coupling);
  one->offset += c[0];
  one->motion[0] = 1.0;
  memcpy(one->motion + 1, c + 1, 6 * sizeof *c);
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
      (e = take(b, what, name, "the first point", from, 3, point[0])) ||
      (e = take(b, what, name, "the second point", to, 3, point[1])))
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
  ADDED(b, distances, distance);
  if (b->distances == b->distance_capacity) return no_memory(b);
  if (!(made.name = lw_new_name(b, A_DISTANCE, "distance", name, b->distances))) return b->status;
  b->distance[b->distances++] = made;
  return LW_OK;
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
    return not_finite(b, "spring", shown, "stiffness, damping and free length");
  ADDED(b, springs, spring);
  if (b->springs == b->spring_capacity) return no_memory(b);
  if (!(made.name = lw_new_name(b, A_FORCE, "spring", name, b->springs))) return b->status;
  b->spring[b->springs++] = made;
  return LW_OK;
}

lw_status lw_builder_add_wrench(lw_builder *b, const char *name, const char *body, const double point[3]) {
  wrench_part made = {0};
  const char *shown = name ? name : "";
  lw_status e;
  if ((e = lw_find_body(b, "wrench", shown, body, &made.body)) ||
      (e = take(b, "wrench", shown, "point", point, 3, made.point)))
    return e;
  if (made.body == GROUND)
    return lw_refuse(b, LW_ERROR_USAGE, "wrench '%s': it acts on the ground, which nothing moves: name a body", shown);
  ADDED(b, wrenches, wrench);
  if (b->wrenches == b->wrench_capacity) return no_memory(b);
  if (!(made.name = lw_new_name(b, A_FORCE, "wrench", name, b->wrenches))) return b->status;
  b->wrench[b->wrenches++] = made;
  return LW_OK;
}

lw_status lw_builder_set_method(lw_builder *b, const char *name, lw_method_choice method) {
  int32_t joint;
  if ((int32_t)method < 0 || method > LW_METHOD_DCA)
    return lw_refuse(b, LW_ERROR_USAGE, "there is no method %d", (int)method);
  if (!name) {
    b->method = method;
    return LW_OK;
  }
  if (method > LW_METHOD_EMBEDDING)
    return lw_refuse(b, LW_ERROR_USAGE, "this method takes the whole mechanism: give it without a joint, not for '%s'",
                     name);
  const lw_status e = lw_find_joint(b, "method", NULL, name, &joint);
  if (e) return e;
  if (joint >= b->joint_methods) {
    int32_t *larger = realloc(b->joint_method, sizeof *larger * (size_t)b->joints);
    if (!larger) return no_memory(b);
    for (int32_t i = b->joint_methods; i < b->joints; i++) larger[i] = -1;
    b->joint_method = larger, b->joint_methods = b->joints;
  }
  b->joint_method[joint] = (int32_t)method;
  return LW_OK;
}
