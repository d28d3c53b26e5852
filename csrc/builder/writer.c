/* The tables, parameters and names of one variant as bytes, in the layout of load/reader.c. */
#include "plan.h"
#include "model/model.h"
#include "load/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(model_bytes *out, const void *from, size_t n) {
  if (out->size + n > out->capacity && !out->failed) {
    size_t capacity = out->capacity ? out->capacity : 4096;
    while (capacity < out->size + n) capacity *= 2;
    void *larger = realloc(out->bytes, capacity);
    out->failed = !larger;
    if (larger) out->bytes = larger, out->capacity = capacity;
  }
  if (out->failed || !n) return;
  memcpy(out->bytes + out->size, from, n);
  out->size += n;
}

static void put_integers(model_bytes *out, const void *from, int32_t n) { put(out, from, sizeof(int32_t) * (size_t)n); }
static void put_numbers(model_bytes *out, const double *from, int32_t n) { put(out, from, sizeof(double) * (size_t)n); }
static void put_integer(model_bytes *out, int32_t value) { put_integers(out, &value, 1); }
static void put_number(model_bytes *out, double value) { put_numbers(out, &value, 1); }
static void put_zeros(model_bytes *out, int32_t n) {
  for (; n > 0; n--) put_number(out, 0.0);
}

/* ---- whole numbers ---- */

/* The types of joints that occur, in the order of their first joints; returns their number. */
static int32_t list_types(const lw_builder *b, int32_t type[LW_JOINT_TYPES], int32_t position[LW_JOINT_TYPES]) {
  int32_t count = 0;
  for (int32_t k = 0; k < LW_JOINT_TYPES; k++) position[k] = -1;
  for (int32_t j = 0; j < b->joints; j++)
    if (position[b->joint[j].type] < 0) position[b->joint[j].type] = count, type[count++] = b->joint[j].type;
  return count;
}

/* The methods that were asked for, which variants need. */
static int32_t put_requests(const plan *p, model_bytes *out) {
  const lw_builder *b = p->builder;
  int32_t count = 0;
  for (int32_t j = -1; j < b->joints && p->variants.removable_joints; j++) {
    const int32_t row[2] = {j, j < 0 ? (int32_t)b->method : b->joint[j].method};
    if (row[1] < (j < 0) || row[1] > LW_METHOD_EMBEDDING) continue;
    count++;
    if (out) put_integers(out, row, 2);
  }
  return count;
}

static int has_path(const joint_part *j) { return lw_joint_sizes[j->type].parameters == LW_ANY_NUMBER; }

static int32_t count_paths(const lw_builder *b) {
  int32_t count = 0;
  for (int32_t j = 0; j < b->joints; j++) count += has_path(&b->joint[j]);
  return count;
}

static int32_t numbers_of_paths(const lw_builder *b) {
  int32_t count = 0;
  for (int32_t j = 0; j < b->joints; j++) count += has_path(&b->joint[j]) ? b->joint[j].path_numbers : 0;
  return count;
}

/* The types of forces that occur, with the numbers of their forces; returns how many. */
static int32_t put_force_types(const lw_builder *b, model_bytes *out) {
  int32_t count = 0;
  for (int32_t type = 0; type < LW_FORCE_TYPES; type++) {
    char name[16] = {0};
    if (!b->of_type[type]) continue;
    count++;
    if (!out) continue;
    memcpy(name, lw_force_types[type].name, strlen(lw_force_types[type].name));
    put(out, name, sizeof name);
    put_integer(out, b->of_type[type]);
  }
  return count;
}

/* Forces f and gears g of a builder b, type by type. */
#define EACH_FORCE(f)                                                                       \
  for (int32_t type = 0; type < LW_FORCE_TYPES; type++)                                     \
    for (const force_part *f = b->force; b->of_type[type] && f < b->force + b->forces; f++) \
      if (f->type == type)
#define EACH_LINE_POINT(g)                                                                                      \
  for (int32_t type = 0; type < LW_FORCE_TYPES; type++)                                                         \
    for (const line_point_part *g = b->line_point; b->of_type[type] && g < b->line_point + b->line_points; g++) \
      if (b->force[g->force].type == type)
#define EACH_GEAR(g)                                                                    \
  for (int32_t type = 0; type < LW_FORCE_TYPES; type++)                                 \
    for (const gear_part *g = b->gear; b->of_type[type] && g < b->gear + b->gears; g++) \
      if (b->force[g->force].type == type)

/* Formulas f of a builder b; of couplings alone or all others, and tables t of these. */
#define EACH_FORMULA(f) for (const formula_part *f = b->formula; f < b->formula + b->formulas; f++)

#define EACH_FORMULA_OF(f, couplings)          \
  EACH_FORMULA(f)                              \
  if ((f->type == OF_COUPLING) == (couplings))
#define EACH_TABLE_OF(t, couplings)                                                                           \
  EACH_FORMULA_OF(f, couplings)                                                                               \
  for (const lookup_part *t = b->lookup + f->rows.first_table, *const end = t + f->rows.tables; t < end; t++)

/* Numbers k of what they read. */
#define EACH_QUANTITY(k)                                                                         \
  EACH_FORMULA(f)                                                                                \
  for (int32_t k = f->rows.first_quantity; k < f->rows.first_quantity + f->rows.quantities; k++)

/* Transitions t that watch a variable. */
#define EACH_WATCHED(t)                                                                   \
  for (const transition_part *t = b->transition; t < b->transition + b->transitions; t++) \
    if (t->quantity == LW_VARIABLE)

/* Their lookup tables t. */
#define EACH_TABLE(t)                                                                                         \
  EACH_FORMULA(f)                                                                                             \
  for (const lookup_part *t = b->lookup + f->rows.first_table, *const end = t + f->rows.tables; t < end; t++)

/* The row of a force among those of all types. */
static int32_t row_of_force(const lw_builder *b, const force_part *f) {
  int32_t row = f->row;
  for (int32_t type = 0; type < f->type; type++) row += b->of_type[type];
  return row;
}

/* How many formulas of couplings, numbers of these, and values of their tables. */
static void count_of_couplings(const lw_builder *b, counts *c) {
  EACH_FORMULA_OF(f, 1) c->coupling_formulas++, c->coupling_numbers += f->rows.numbers;
  EACH_TABLE_OF(t, 1) c->coupling_values += t->values;
}

static void put_counts(const plan *p, const topology *t, int32_t method, model_bytes *out) {
  const lw_builder *b = p->builder;
  int32_t type[LW_JOINT_TYPES], position[LW_JOINT_TYPES];
  counts c = {.bodies = b->bodies,
              .joints = b->joints,
              .loops = t->loops,
              .clusters = t->clusters,
              .segments = t->segments,
              .nq = p->at.nq,
              .nu = p->at.nu,
              .nq_cut = p->at.nq_cut,
              .nu_cut = p->at.nu_cut,
              .ears = t->ears,
              .couplings = t->ties,
              .terms = b->terms + p->variants.locks,
              .method = method,
              .force_types = put_force_types(b, NULL),
              .forces = b->forces,
              .distances = b->distances,
              .locks = p->variants.locks,
              .transitions = b->transitions,
              .removable_joints = p->variants.removable_joints,
              .requests = put_requests(p, NULL),
              .joint_types = list_types(b, type, position),
              .points = b->points,
              .measures = b->measures,
              .gears = b->gears,
              .line_points = b->line_points,
              .paths = count_paths(b),
              .path_numbers = numbers_of_paths(b),
              .formulas = b->formulas,
              .formula_instructions = b->instructions,
              .formula_quantities = b->quantities,
              .formula_results = b->results,
              .formula_numbers = b->formula_numbers,
              .formula_inputs = b->formula_inputs,
              .formula_outputs = b->formula_outputs,
              .formula_states = b->formula_states,
              .lookup_tables = b->lookups,
              .lookup_knots = b->lookup_knots,
              .lookup_values = b->lookup_values};
  count_of_couplings(b, &c);
  put(out, &c, sizeof c);
}

static int32_t links_of_steps(const topology *t) {
  int32_t links = 0;
  for (int32_t k = 0; k < t->ears; k++) links += t->ear[k][2];
  return links;
}

static void put_topology(const plan *p, const topology *t, model_bytes *out) {
  const lw_builder *b = p->builder;
  int32_t type[LW_JOINT_TYPES], position[LW_JOINT_TYPES];
  const int32_t types = list_types(b, type, position);
  put_force_types(b, out);
  for (int32_t k = 0; k < types; k++) {
    char name[16] = {0};
    memcpy(name, lw_joint_sizes[type[k]].name, strlen(lw_joint_sizes[type[k]].name));
    put(out, name, sizeof name);
  }
  put_integers(out, t->link, 4 * b->bodies);
  for (int32_t j = 0; j < b->joints; j++) {
    const int32_t row[3] = {position[b->joint[j].type], p->at.q[j], p->at.u[j]};
    put_integers(out, row, 3);
  }
  put_integers(out, t->loop, 5 * t->loops);
  put_integers(out, t->cluster, 4 * t->clusters);
  put_integers(out, t->segment, 3 * t->segments);
  put_integers(out, t->ear, 3 * t->ears);
  put_integers(out, t->ear_link, links_of_steps(t));
  put_integers(out, t->tie_cluster, t->ties);
}

static void put_terms_and_forces(const plan *p, const topology *t, model_bytes *out) {
  const lw_builder *b = p->builder;
  for (int32_t k = 0; k < b->terms; k++) {
    const term_part *term = &b->term[p->term_order[k]];
    put_integer(out, term->coupling);
    put_integer(out, p->at.u[term->joint] + term->element);
  }
  for (int32_t k = 0; k < p->variants.locks; k++) {
    put_integer(out, b->couplings + k);
    put_integer(out, p->at.u[p->variants.lock[k][0]] + p->variants.lock[k][1]);
  }
  EACH_FORCE(f) {
    const int32_t row[3] = {t->link_of[f->body[0]], t->link_of[f->body[1]], f->given};
    put_integers(out, row, 3);
  }
  EACH_GEAR(g) {
    put_integer(out, row_of_force(b, &b->force[g->force]));
    put_integer(out, p->at.u[g->joint] + g->element);
  }
  EACH_LINE_POINT(g) {
    put_integer(out, row_of_force(b, &b->force[g->force]));
    put_integer(out, t->link_of[g->body]);
  }
  for (int32_t k = 0; k < b->distances; k++)
    for (int i = 0; i < 2; i++) put_integer(out, t->link_of[b->distance[k].body[i]]);
  put_integers(out, p->variants.removable_joint, p->variants.removable_joints);
  put_requests(p, out);
}

static int is_of_points(const transition_part *t) {
  return t->quantity == LW_DISTANCE || t->quantity == LW_DISTANCE_RATE;
}

static int32_t number_of_quantity(const plan *p, const transition_part *t) {
  if (t->action == LW_STICK) return row_of_force(p->builder, &p->builder->force[t->friction]);
  if (t->quantity < 0 || t->quantity == LW_VARIABLE || is_of_points(t)) return -1;
  return (t->quantity == LW_SPEED ? p->at.u : p->at.q)[t->crossing_joint] + t->element;
}

static void put_transitions(const plan *p, model_bytes *out) {
  const lw_builder *b = p->builder;
  const int32_t first_pin = b->joints - b->pins;
  for (int32_t k = 0; k < b->transitions; k++) {
    const transition_part *t = &b->transition[k];
    const int32_t subject = t->pin >= 0     ? first_pin + t->pin
                            : t->joint >= 0 ? t->joint
                            : t->body >= 0  ? t->body
                                            : t->coupling;
    const int32_t row[12] = {t->action,
                             subject,
                             t->directions,
                             t->bounds,
                             t->trigger,
                             t->quantity,
                             number_of_quantity(p, t),
                             is_of_points(t) ? t->watched[0] : -1,
                             is_of_points(t) ? t->watched[1] : -1,
                             t->direction,
                             lw_is_undone(b, t),
                             t->action == LW_PIN ? b->pin[t->pin].captured : 0};
    put_integers(out, row, 12);
  }
}

static void put_points(const plan *p, const topology *t, model_bytes *out) {
  const lw_builder *b = p->builder;
  for (int32_t k = 0; k < b->points; k++) put_integer(out, t->link_of[b->point[k].body]);
  for (int32_t k = 0; k < b->measures; k++) {
    put_integer(out, b->measure[k].kind);
    put_integers(out, b->measure[k].point, 2);
  }
}

static void put_paths(const lw_builder *b, model_bytes *out) {
  for (int32_t j = 0; j < b->joints; j++)
    if (has_path(&b->joint[j])) put_integer(out, j), put_integer(out, b->joint[j].path_numbers);
  for (int32_t j = 0; j < b->joints; j++)
    if (has_path(&b->joint[j])) put_numbers(out, b->path_number + b->joint[j].path, b->joint[j].path_numbers);
}

static void put_formulas(const lw_builder *b, model_bytes *out) {
  EACH_FORMULA(f) put_integers(out, &f->rows, 6);
  EACH_FORMULA_OF(f, 1) put_integer(out, f->row);
  EACH_QUANTITY(k) put_integer(out, b->quantity[k].index);
  EACH_WATCHED(t) put_integer(out, b->quantity[t->element].index);
  EACH_FORMULA(f) put_integers(out, b->instruction + f->rows.first_instruction, 4 * f->rows.instructions);
  EACH_FORMULA(f) put_integers(out, b->result + f->rows.first_result, f->rows.results);
  EACH_TABLE(t) put_integers(out, t->row, 6);
  EACH_TABLE(t) put_numbers(out, b->lookup_knot + t->first_knot, t->row[0] + t->row[1]);
}

/* ---- parameters: put_FIELD() for each parameter field of fields.h, in their order; those of forces are lists ---- */

#define PUT(field) static void put_##field(const plan *p, model_bytes *out)
/* n numbers of each part of a list of the builder b; k counts the parts. */
#define PUT_EACH(field, list, numbers, n)                               \
  PUT(field) {                                                          \
    const lw_builder *b = p->builder;                                   \
    for (int32_t k = 0; k < b->list; k++) put_numbers(out, numbers, n); \
  }
/* Numbers of every joint j, one for each of its coordinates (q) or speeds (u), in the order of the numbering: tree
 * joints, then cut joints. */
#define PUT_JOINTS(field, of, number)                                                                        \
  PUT(field) {                                                                                               \
    for (int pass = 0; pass < 2; pass++)                                                                     \
      for (const joint_part *j = p->builder->joint; j < p->builder->joint + p->builder->joints; j++)         \
        for (int32_t i = 0; i < lw_joint_sizes[j->type].of && p->is_cut[j - p->builder->joint] == pass; i++) \
          put_number(out, j->number);                                                                        \
  }

static void put_orientations(const lw_builder *b, int of_child, model_bytes *out) {
  for (int32_t k = 0; k < b->joints; k++) {
    double canonical[9], turned[9], q[4];
    lw_canonical_axes(b->joint[k].type, b->joint[k].axes, canonical);
    lw_multiply(b->joint[k].frame[of_child].rotation, canonical, turned);
    lw_quaternion_of(turned, q);
    put_numbers(out, q, 4);
  }
}

PUT(gravity) { put_numbers(out, p->builder->gravity, 3); }
PUT_EACH(body_mass, bodies, &b->body[k].mass, 1)
PUT_EACH(body_com, bodies, b->body[k].com, 3)
PUT(body_inertia) {
  static const int upper[6] = {0, 1, 2, 4, 5, 8};
  for (int32_t k = 0; k < p->builder->bodies; k++)
    for (int i = 0; i < 6; i++) put_number(out, p->builder->body[k].inertia[upper[i]]);
}
PUT_EACH(parent_position, joints, b->joint[k].frame[0].position, 3)
PUT(parent_orientation) { put_orientations(p->builder, 0, out); }
PUT_EACH(child_position, joints, b->joint[k].frame[1].position, 3)
PUT(child_orientation) { put_orientations(p->builder, 1, out); }
PUT_JOINTS(stiffness, u, stiffness[i])
PUT_JOINTS(damping, u, damping[i])
PUT_JOINTS(free_coordinate, u, free[i])
PUT_JOINTS(reflected_inertia, u, reflected_inertia[i])
PUT_JOINTS(max_load, u, max_load[i])

/* Sums, then locks, then distances. */
PUT(coupling_coefficient) {
  static const double lock[4] = {1.0, 0.0, 0.0, 0.0};
  for (int32_t k = 0; k < p->builder->terms; k++) put_numbers(out, p->builder->term[p->term_order[k]].coefficient, 4);
  for (int32_t k = 0; k < p->variants.locks; k++) put_numbers(out, lock, 4);
}
PUT_EACH(sum_offset, couplings, &b->coupling[k].offset, 1)
PUT_EACH(length, distances, &b->distance[k].length, 1)
PUT(coupling_offset) {
  put_sum_offset(p, out);
  put_zeros(out, p->variants.locks);
  put_length(p, out);
}
PUT_EACH(sum_motion, couplings, b->coupling[k].motion, 7)
PUT(coupling_motion) {
  put_sum_motion(p, out);
  put_zeros(out, 7 * (p->variants.locks + p->builder->distances));
}
PUT_EACH(distance_points, distances, b->distance[k].point[0], 6)

PUT(force_gear) {
  const lw_builder *b = p->builder;
  EACH_GEAR(g) put_number(out, g->gear);
}
PUT(line_point) {
  const lw_builder *b = p->builder;
  EACH_LINE_POINT(g) put_numbers(out, g->point, 3);
}
PUT(line_factor) {
  const lw_builder *b = p->builder;
  EACH_LINE_POINT(g) put_number(out, g->factor);
}

static void put_formula_numbers(const lw_builder *b, int of_couplings, model_bytes *out) {
  EACH_FORMULA_OF(f, of_couplings) put_numbers(out, b->formula_number + f->rows.first_number, f->rows.numbers);
}
PUT(formula_number) { put_formula_numbers(p->builder, 0, out); }
PUT(coupling_number) { put_formula_numbers(p->builder, 1, out); }

static void put_table_values(const lw_builder *b, int of_couplings, model_bytes *out) {
  EACH_TABLE_OF(t, of_couplings) put_numbers(out, b->lookup_value + t->first_value, t->values);
}
PUT(lookup_value) { put_table_values(p->builder, 0, out); }
PUT(coupling_table) { put_table_values(p->builder, 1, out); }

PUT_EACH(point_in_body, points, b->point[k].point, 3)
PUT_EACH(axis_in_body, points, b->point[k].axis, 3)

PUT_EACH(transition_value, transitions, b->transition[k].value, 2)
PUT_EACH(restitution, transitions, &b->transition[k].restitution, 1)
PUT_EACH(transition_points, transitions, b->transition[k].watched_point[0], 6)
PUT_EACH(impulse_point, transitions, b->transition[k].point, 3)
PUT_EACH(impulse_start, transitions, b->transition[k].impulse, 6)

PUT(correction_gain) {
  static const double automatic[2] = {-1.0, -1.0};
  (void)p;
  put_numbers(out, automatic, 2);
}
PUT_EACH(joint_parameter, joints, &b->joint[k].parameter, 1)
PUT_JOINTS(q_start, q, q[i])
PUT_JOINTS(u_start, u, u[i])
PUT_JOINTS(q_priority, q, q_rank)
PUT_JOINTS(u_priority, u, u_rank)
PUT_EACH(state_start, formula_states, &b->state[k].start, 1)
PUT_EACH(state_nominal, formula_states, &b->state[k].nominal, 1)

/* Type by type each parameter of all forces. */
static void put_force_parameters(const lw_builder *b, model_bytes *out) {
  for (int32_t type = 0; type < LW_FORCE_TYPES; type++)
    for (int32_t p = 0, at = 0; p < lw_force_types[type].parameters; at += lw_force_types[type].parameter[p++].columns)
      for (int32_t k = 0; b->of_type[type] && k < b->forces; k++)
        if (b->force[k].type == type)
          put_numbers(out, b->force_number + b->force[k].first + at, lw_force_types[type].parameter[p].columns);
}

static void put_parameters(const plan *p, model_bytes *out) {
#define X(name, owner, columns, access, stage, meaning) put_##name(p, out);
  LW_PARAMETERS_BEFORE_FORCES(X)
  put_force_parameters(p->builder, out);
  LW_PARAMETERS_AFTER_FORCES(X)
#undef X
}

static void put_quantity_name(const lw_builder *b, int32_t k, model_bytes *out) {
  const char *name = b->quantity_name + b->quantity[k].name;
  put(out, name, strlen(name) + 1);
}

static void put_names(const plan *p, model_bytes *out) {
  const lw_builder *b = p->builder;
#define NAMES(list, part)                                                                      \
  for (int32_t k = 0; k < b->list; k++) put(out, b->part[k].name, strlen(b->part[k].name) + 1)
  NAMES(bodies, body);
  NAMES(joints, joint);
  NAMES(couplings, coupling);
  for (int32_t k = 0; k < p->variants.locks; k++) {
    const char *name = b->joint[p->variants.lock[k][0]].name;
    put(out, name, strlen(name));
    put(out, " lock", 6);
  }
  NAMES(distances, distance);
  EACH_FORCE(f) put(out, f->name, strlen(f->name) + 1);
  NAMES(transitions, transition);
  NAMES(points, point);
  NAMES(measures, measure);
  EACH_FORMULA(f)
  if (f->type == OF_OUTPUT || f->type == OF_STATE) put(out, f->owner, strlen(f->owner) + 1);
  EACH_TABLE(t) {
    const char *name = b->lookup_name + t->name;
    put(out, f->owner, strlen(f->owner));
    put(out, ".", 1);
    put(out, name, strlen(name) + 1);
  }
  EACH_QUANTITY(k) put_quantity_name(b, k, out);
  EACH_WATCHED(t) put_quantity_name(b, t->element, out);
#undef NAMES
}

/* ---- a variant from the bytes of another ---- */

enum {
#define X(name, list, rows, check, ...) TABLE_##name,
  LW_TABLES(X)
#undef X
      TABLES
};

typedef struct known_table {
  int32_t rows, columns, kind[LW_MOST_COLUMNS];
} known_table;

/* Copies a table in which links have other numbers than in the known model. */
static void put_renumbered(const plan *p, const topology *t, const known_table *table, const unsigned char *from,
                           model_bytes *out) {
  for (int32_t k = 0; k < table->rows * table->columns; k++, from += sizeof(int32_t)) {
    const int32_t kind = table->kind[k % table->columns];
    int32_t value;
    memcpy(&value, from, sizeof value);
    const int is_link = value >= 0 && (kind == LW_A_LINK || kind == LW_LINK_OR_GROUND);
    put_integer(out, is_link ? t->link_of[p->known->link[value].body] : value);
  }
}

/* All but the topology is as in the known model. */
static void put_known(const plan *p, const topology *t, model_bytes *out) {
  lw_model_header header;
  counts known, *c = &known, own;
  const unsigned char *at = p->known_bytes;
  memcpy(&header, at, sizeof header);
  memcpy(&known, at += sizeof header, sizeof known);
  at += sizeof known;
  own = known;
  own.clusters = t->clusters, own.segments = t->segments, own.ears = t->ears;
  put(out, &own, sizeof own);
  const int32_t *const changed[TABLES] = {[TABLE_link] = t->link[0],        [TABLE_loop] = t->loop[0],
                                          [TABLE_cluster] = t->cluster[0],  [TABLE_segment] = t->segment[0],
                                          [TABLE_step] = t->ear[0],         [TABLE_step_link] = t->ear_link,
                                          [TABLE_coupling] = t->tie_cluster};
  const int32_t rows[TABLES] = {[TABLE_link] = c->bodies,      [TABLE_loop] = t->loops,
                                [TABLE_cluster] = t->clusters, [TABLE_segment] = t->segments,
                                [TABLE_step] = t->ears,        [TABLE_step_link] = links_of_steps(t),
                                [TABLE_coupling] = t->ties};
  const int32_t known_steps =
      p->known->ears ? p->known->ear[known.ears - 1].first + p->known->ear[known.ears - 1].links : 0;
#define LW_STEP_LINKS known_steps
#define X(name, list, rows, check, ...) {rows, LW_COUNT_OF(__VA_ARGS__), {__VA_ARGS__}},
  const known_table table[TABLES] = {LW_TABLES(X)};
#undef X
#undef LW_STEP_LINKS
  for (int32_t k = 0; k < TABLES; k++) {
    if (changed[k]) put_integers(out, changed[k], rows[k] * table[k].columns);
    else put_renumbered(p, t, &table[k], at, out);
    at += sizeof(int32_t) * (size_t)(table[k].rows * table[k].columns);
  }
  put(out, at, (size_t)(p->known_bytes + header.size - at));
}

static void put_described(const plan *p, const topology *t, int32_t method, model_bytes *out) {
  put_counts(p, t, method, out);
  put_topology(p, t, out);
  put_terms_and_forces(p, t, out);
  put_transitions(p, out);
  put_points(p, t, out);
  put_paths(p->builder, out);
  put_formulas(p->builder, out);
  put_parameters(p, out);
  put_names(p, out);
}

void lw_write_model(const plan *p, const topology *t, int32_t method, model_bytes *out) {
  lw_model_header header = {"LWMODEL", LW_MODEL_VERSION, 0, 0};
  put(out, &header, sizeof header);
  if (p->known) put_known(p, t, out);
  else put_described(p, t, method, out);
  if (out->failed) return;
  header.size = (uint32_t)out->size;
  header.checksum = lw_crc32(0, out->bytes + sizeof header, out->size - sizeof header);
  memcpy(out->bytes, &header, sizeof header);
}
