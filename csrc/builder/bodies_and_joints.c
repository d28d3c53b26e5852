/* Bodies and joints of a builder, with start values, springs in joints and methods: each is checked when it is added,
 * and nothing is added that cannot be. */
#include "math/path_numbers.h"
#include "description.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int lw_all_finite(const double *values, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return 0;
  return 1;
}

lw_status lw_not_finite(lw_builder *b, const char *what, const char *name, const char *value) {
  return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': %s must be finite", what, name, value);
}

lw_status lw_take_numbers(lw_builder *b, const char *what, const char *name, const char *value, const double *from,
                          int32_t n, double *to) {
  if (!from) return LW_OK;
  if (!lw_all_finite(from, n)) return lw_not_finite(b, what, name, value);
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
  free(b->bytes);
  free(b->exact);
  free(b);
}

const char *lw_builder_message(const lw_builder *b) { return b->message; }

lw_status lw_builder_set_gravity(lw_builder *b, const double gravity[3]) {
  if (!gravity || !lw_all_finite(gravity, 3)) return lw_refuse(b, LW_ERROR_PARAMETER, "gravity must be finite");
  memcpy(b->gravity, gravity, sizeof b->gravity);
  return LW_OK;
}

/* ---- bodies ---- */

lw_status lw_builder_add_body(lw_builder *b, const char *name, double mass, const double com[3],
                              const double inertia[9]) {
  body_part made = {.mass = mass + 0.0, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  lw_status e;
  const char *shown = name ? name : "", *wrong;
  if ((e = lw_take_numbers(b, "body", shown, "com", com, 3, made.com)) ||
      (e = lw_take_numbers(b, "body", shown, "inertia", inertia, 9, made.inertia)))
    return e;
  if (!isfinite(mass) || mass < 0.0)
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "body '%s': mass must be finite and not negative, not %g kg; a massless body has mass 0", shown,
                     mass);
  if ((wrong = lw_make_inertia(made.inertia))) return lw_refuse(b, LW_ERROR_PARAMETER, "body '%s': %s", shown, wrong);
  if (!(made.name = lw_new_name(b, A_BODY, "body", name, b->bodies))) return b->status;
  return append_body(b, made);
}

/* The text behind one in a row of texts. */
static const char *behind(const char *text) { return text + strlen(text) + 1; }

lw_status lw_builder_add_bodies(lw_builder *b, int32_t count, const char *names, const double *mass, const double *com,
                                const double *inertia) {
  lw_status e = LW_OK;
  for (int32_t k = 0; k < count && !e; k++, names = behind(names))
    e = lw_builder_add_body(b, names, mass[k], com + 3 * k, inertia + 9 * k);
  return e;
}

lw_status lw_builder_place_body(lw_builder *b, const char *name, const double origin[3], const double rotation[9]) {
  int32_t body;
  double turned[9];
  lw_status e = lw_find_among(b, A_BODY, "reference pose", name, &body);
  if (e) return e;
  memcpy(turned, b->body[body].rotation, sizeof turned);
  if ((e = lw_take_numbers(b, "body", name, "origin", origin, 3, b->body[body].origin)) ||
      (e = lw_take_numbers(b, "body", name, "rotation", rotation, 9, turned)))
    return e;
  if (!lw_make_rotation(turned))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "body '%s': rotation must be a rotation matrix (orthonormal, determinant +1), row by row", name);
  memcpy(b->body[body].rotation, turned, sizeof turned);
  return LW_OK;
}

/* ---- joints ---- */

const char *lw_joint_type_name(int32_t type) { return lw_joint_sizes[type].name; }

static lw_status find_type(lw_builder *b, const char *what, const char *name, const char *given, int32_t *type) {
  for (*type = 0; given && *type < LW_JOINT_TYPES; ++*type)
    if (strcmp(lw_joint_sizes[*type].name, given) == 0) return LW_OK;
  char known[16 * LW_JOINT_TYPES + 2 * LW_JOINT_TYPES] = "";
  for (int32_t i = 0; i < LW_JOINT_TYPES; i++) {
    strcat(known, i ? ", " : "");
    strcat(known, lw_joint_sizes[i].name);
  }
  return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': there is no joint type '%s'; the types are %s", what, name,
                   given ? given : "", known);
}

/* Of a type along a path its numbers, copied behind those of other joints. */
static lw_status take_path(lw_builder *b, const char *what, const char *name, const lw_joint_kind *kind,
                           joint_part *made) {
  const int32_t head = LW_PATH_HEAD, piece = LW_PATH_PIECE, n = kind->path_numbers;
  if (!kind->path || n < head + piece || n > head + piece * LW_MOST_PATH_PIECES || (n - head) % piece != 0)
    return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': a path has %d numbers and %d for each piece, not %d", what, name,
                     head, piece, kind->path ? n : 0);
  if (!lw_all_finite(kind->path, n))
    return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': the numbers of its path must be finite", what, name);
  made->path = b->path_numbers, made->path_numbers = n;
  for (int32_t k = 0; k < n; k++) {
    double *list = lw_grown(b->path_number, b->path_numbers, &b->path_number_capacity, sizeof *list);
    if (!list) return lw_no_memory(b);
    b->path_number = list;
    list[b->path_numbers++] = kind->path[k];
  }
  return LW_OK;
}

lw_status lw_make_joint(lw_builder *b, joint_part *made, const char *what, const char *name, const lw_joint_kind *kind,
                        const char *parent, const char *child) {
  lw_status e;
  int32_t type;
  if ((e = find_type(b, what, name, kind ? kind->type : NULL, &type))) return e;
  const lw_joint_size *size = &lw_joint_sizes[type];
  *made = (joint_part){.name = name, .type = type, .method = -1};
  if ((e = lw_take_numbers(b, what, name, "axes", kind->axes, size->axes == LW_AXES_Z_X ? 6 : 3, made->axes)) ||
      (e = size->parameters == LW_ANY_NUMBER
               ? take_path(b, what, name, kind, made)
               : lw_take_numbers(b, what, name, "parameter", &kind->parameter, size->parameters, &made->parameter)) ||
      (e = lw_find_body(b, what, name, parent, &made->parent)) ||
      (e = lw_find_body(b, what, name, child, &made->child)))
    return e;
  if (made->parent == made->child)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' joins '%s' to itself: give two different bodies", what, name, parent);
  const char *wrong = lw_make_axes(type, made->axes);
  if (wrong) return lw_refuse(b, LW_ERROR_PARAMETER, "%s '%s': %s", what, name, wrong);
  for (int32_t i = 0; i < 6; i++) made->max_load[i] = INFINITY;
  const int32_t quaternion = size->q - 4;
  if (size->q != size->u) made->q[quaternion] = 1.0;
  return LW_OK;
}

lw_status lw_given_frame(lw_builder *b, const char *what, const char *name, const char *end, const lw_frame *given,
                         lw_frame *frame) {
  *frame = (lw_frame){{0}, {0}};
  if (given) *frame = *given;
  if (!lw_all_finite(frame->position, 3) || !lw_all_finite(frame->rotation, 9))
    return lw_not_finite(b, what, name, end);
  if (!lw_make_rotation(frame->rotation))
    return lw_refuse(b, LW_ERROR_PARAMETER,
                     "%s '%s': the rotation of %s must be a rotation matrix (orthonormal, determinant +1), row by row, "
                     "or all zero: parallel",
                     what, name, end);
  return LW_OK;
}

static lw_status add_joint(lw_builder *b, joint_part made) {
  if (!(made.name = lw_new_name(b, A_JOINT, "joint", made.name, b->joints))) return b->status;
  return append_joint(b, made);
}

lw_status lw_builder_add_joint(lw_builder *b, const char *name, const lw_joint_kind *kind, const char *parent,
                               const char *child, const lw_frame *parent_frame, const lw_frame *child_frame) {
  joint_part made;
  lw_status e = lw_make_joint(b, &made, "joint", name ? name : "", kind, parent, child);
  if (e || (e = lw_given_frame(b, "joint", made.name, "parent_frame", parent_frame, &made.frame[0])) ||
      (e = lw_given_frame(b, "joint", made.name, "child_frame", child_frame, &made.frame[1])))
    return e;
  return add_joint(b, made);
}

lw_status lw_builder_add_joints(lw_builder *b, int32_t count, const char *names, const lw_joint_kind *kinds,
                                const int32_t *kind, const char *parents, const char *children, const lw_frame *frames,
                                const unsigned char *cut) {
  for (int32_t k = 0; k < count; k++) {
    const lw_frame *frame = frames + 2 * k;
    const lw_status e = lw_builder_add_joint(b, names, &kinds[kind[k]], parents, children, frame, frame + 1);
    if (e) return e;
    b->joint[b->joints - 1].cut = cut && cut[k];
    names = behind(names), parents = behind(parents), children = behind(children);
  }
  return LW_OK;
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

lw_status lw_builder_add_joint_at(lw_builder *b, const char *name, const lw_joint_kind *kind, const char *parent,
                                  const char *child, const double at[3]) {
  joint_part made;
  double point[3] = {0};
  lw_status e = lw_make_joint(b, &made, "joint", name ? name : "", kind, parent, child);
  if (e || (e = lw_take_numbers(b, "joint", made.name, "at", at, 3, point))) return e;
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
  if ((e = lw_take_numbers(b, "start q of joint", name, "it", q, size->q, given))) return e;
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
  if (e || (e = lw_take_numbers(b, "start u of joint", name, "it", u, lw_joint_sizes[j->type].u, j->u))) return e;
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
  if ((e = lw_take_numbers(b, "spring in joint", name, "stiffness", stiffness, size->u, j->stiffness)) ||
      (e = lw_take_numbers(b, "spring in joint", name, "damping", damping, size->u, j->damping)) ||
      (e = lw_take_numbers(b, "spring in joint", name, "the free coordinate", free_coordinate, size->u, j->free)))
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

lw_status lw_builder_set_reflected_inertia(lw_builder *b, const char *name, const double *reflected_inertia) {
  joint_part *j;
  double given[6] = {0};
  lw_status e = find_moving(b, "reflected inertia", name, &j);
  if (e) return e;
  const int32_t n = lw_joint_sizes[j->type].u;
  if ((e = lw_take_numbers(b, "reflected inertia of joint", name, "it", reflected_inertia, n, given))) return e;
  for (int32_t i = 0; i < n; i++)
    if (given[i] < 0.0)
      return lw_refuse(b, LW_ERROR_PARAMETER, "reflected inertia of joint '%s' is below zero: give 0 for none", name);
  memcpy(j->reflected_inertia, given, sizeof given);
  return LW_OK;
}

lw_status lw_builder_set_max_load(lw_builder *b, const char *name, const double *max_load) {
  joint_part *j;
  const lw_status e = find_moving(b, "largest load", name, &j);
  if (e) return e;
  for (int32_t i = 0; i < lw_joint_sizes[j->type].u; i++)
    if (max_load && !(max_load[i] >= 0.0))
      return lw_refuse(b, LW_ERROR_PARAMETER,
                       "the largest load of joint '%s' is below zero or no number: give infinity for no limit", name);
  for (int32_t i = 0; i < lw_joint_sizes[j->type].u; i++) j->max_load[i] = max_load ? max_load[i] : INFINITY;
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
  const int32_t t = lw_named(b, A_TRANSITION, name);
  if (t >= 0 && b->transition[t].action == LW_PIN) {
    b->pin[b->transition[t].pin].method = (int32_t)method;
    return LW_OK;
  }
  const lw_status e = lw_find_joint(b, "method", NULL, name, &joint);
  if (!e) b->joint[joint].method = (int32_t)method;
  return e;
}
