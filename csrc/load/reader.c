/* Reading the serialised model. Layout, little-endian, without padding:
 *   "LWMODEL\0", uint32 version, uint32 size of the whole, uint64 CRC-32 of all that follows,
 *   int32 counts         counts of reader.h; couplings count locks and distances, the last of them in this order
 *   int32 tables         LW_TABLES of reader.h, in their order
 *   double               the parameter and start fields of fields.h, in their order
 *   names                zero-terminated: bodies, joints, couplings, forces, transitions, points, measures, outputs,
 *                        states, tables, quantities, each a field, a blank and the owner
 * It is the mechanism as it is at first. Variants, in which other joints are closed, are compiled from these bytes.
 * Every index is checked before it is used, so that no byte of a bad file can lead out of bounds. */
#include "block/kernels.h"
#include "load/kept_variants.h"
#include "load/reader.h"
#include <stdlib.h>
#include <string.h>

#define MAX_COUNT 4000000 /* of anything: keeps every size within 32 bits until it is checked against the file */

static lw_status read_header(reader *r, uint32_t *checksum) {
  lw_model_header h;
  const void *p = lw_read_bytes(r, sizeof h);
  if (!p)
    return lw_format_error(r, "the model is truncated: %zu bytes are too few for a header; export it again", r->size);
  memcpy(&h, p, sizeof h);
  if (memcmp(h.magic, "LWMODEL", 8) != 0)
    return lw_format_error(r, "this is no Linkwork model: its first bytes are wrong");
  if (h.version != LW_MODEL_VERSION)
    return lw_format_error(r, "the model has format version %u, this library reads %u; export it again", h.version,
                           LW_MODEL_VERSION);
  if (h.size != r->size)
    return lw_format_error(r, "the model is truncated or extended: %zu bytes, its header gives %u; export it again",
                           r->size, h.size);
#ifndef LW_FUZZING
  if (h.checksum != lw_crc32(0, r->bytes + r->position, h.size - sizeof h))
    return lw_format_error(r, "the model was altered: its checksum does not match; export it again");
#endif
  *checksum = (uint32_t)h.checksum;
  return LW_OK;
}

static lw_status read_counts(reader *r, counts *c) {
  const void *p = lw_read_bytes(r, sizeof *c);
  if (!p) return lw_format_error(r, "the model is truncated in its counts");
  memcpy(c, p, sizeof *c);
  const int32_t *v = (const int32_t *)c;
  for (size_t i = 0; i < sizeof *c / sizeof *v; i++)
    if (v[i] < 0 || v[i] > MAX_COUNT) return lw_format_error(r, "the model has an impossible count (%d)", v[i]);
  if (c->joint_types > LW_JOINT_TYPES)
    return lw_format_error(r, "the model names %d joint types, this library has %d", c->joint_types, LW_JOINT_TYPES);
  if (c->bodies < 1 || c->joints != c->bodies + c->loops || c->clusters > c->loops + c->couplings ||
      c->distances + (int64_t)c->locks > c->couplings || c->method >= LW_METHODS || c->removable_joints > c->loops)
    return lw_format_error(r, "the model's counts contradict each other: %d bodies, %d joints, %d loops", c->bodies,
                           c->joints, c->loops);
  return LW_OK;
}

/* Pieces of the one allocation, each aligned for any type. */
static void *carve(unsigned char *memory, size_t *used, size_t n) {
  void *p = memory ? memory + *used : NULL;
  *used += (n + 15) / 16 * 16;
  return p;
}

static size_t place(lw_model *m, unsigned char *memory, const counts *c, size_t parameters, size_t names) {
  size_t used = 0;
#define PLACE(what, count) m->what = carve(memory, &used, sizeof *m->what * (size_t)(count))
#define LW_STEP_LINKS c->bodies
#define X(name, list, rows, check, ...) PLACE(list, rows);
  LW_TABLES(X)
#undef X
#undef LW_STEP_LINKS
  PLACE(closed, c->removable_joints);
  PLACE(member, c->loops);
  PLACE(member_coupling, c->couplings);
  PLACE(column, c->nu + c->nu_cut);
  PLACE(coordinate, c->nu + c->nu_cut);
  PLACE(lock_of, c->nu + c->nu_cut);
  PLACE(program, c->formulas);
  PLACE(program_step, 2 * (size_t)c->formula_instructions);
  PLACE(formula_operand, c->formula_instructions);
  PLACE(defaults, parameters);
#define X(KIND, list, name) PLACE(name, c->list);
  LW_NAMED(X)
#undef X
  PLACE(names, names);
#undef PLACE
  return used;
}

static lw_status read_parameters(reader *r, lw_model *m) {
  const size_t bytes = sizeof(double) * (size_t)m->parameters;
  const void *p = lw_read_bytes(r, bytes);
  if (!p) return lw_format_error(r, "the model is truncated in its parameters");
  memcpy(m->defaults, p, bytes);
  const lw_sizes *s = &m->size;
  int32_t i = 0;
#define X(name, owner, columns, access, stage, meaning)                                                              \
  for (const int32_t end = i + lw_rows_of(s, m->first_force, LW_OF_##owner) * (columns); i < end; i++)               \
    if (!lw_is_valid(#name, m->defaults[i])) return lw_format_error(r, "the model's parameter %d is not finite", i);
  LW_PARAMETER_FIELDS(X)
#undef X
  return LW_OK;
}

static lw_status read_names(reader *r, lw_model *m) {
  const size_t size = r->size - r->position;
  memcpy(m->names, lw_read_bytes(r, size), size);
  const char *next = m->names, *end = m->names + size;
#define X(KIND, list, name)                                                       \
  for (int32_t i = 0; i < m->size.list; i++) {                                    \
    const char *stop = next < end ? memchr(next, 0, (size_t)(end - next)) : NULL; \
    if (!stop) return lw_format_error(r, "the model is truncated in its names");  \
    m->name[i] = next, next = stop + 1;                                           \
  }
  LW_NAMED(X)
#undef X
  return next == end ? LW_OK : lw_format_error(r, "the model has bytes behind its names");
}

/* Without the links that steps add, whose number is in the tables. */
static int64_t least_integers(const counts *c) {
#define LW_STEP_LINKS 0
#define X(name, list, rows, check, ...) +(int64_t)(rows) * LW_COUNT_OF(__VA_ARGS__)
  return 0 LW_TABLES(X);
#undef X
#undef LW_STEP_LINKS
}

static lw_sizes sizes_of(const counts *c) {
#define OF(name) .name = c->name
  return (lw_sizes){OF(bodies),
                    OF(joints),
                    OF(loops),
                    OF(couplings),
                    OF(terms),
                    OF(distances),
                    OF(locks),
                    OF(forces),
                    OF(gears),
                    OF(line_points),
                    OF(transitions),
                    OF(points),
                    OF(measures),
                    OF(formula_outputs),
                    OF(formula_states),
                    .states = c->nq + c->nu + c->formula_states,
                    OF(formula_quantities),
                    OF(nq),
                    OF(nu),
                    OF(nq_cut),
                    OF(nu_cut),
                    OF(formula_numbers),
                    OF(formula_inputs),
                    OF(formulas),
                    OF(lookup_tables),
                    OF(lookup_values),
                    OF(coupling_formulas),
                    OF(coupling_numbers),
                    OF(coupling_values)};
#undef OF
}

/* The types of forces by their names, which stand behind the counts; `first`: where those of each type begin. */
static lw_status find_force_types(reader *r, const counts *c, int32_t first[LW_FORCE_TYPES + 1]) {
  const size_t row = 5 * sizeof(int32_t);
  int32_t type = -1, forces = 0;
  if (row * (size_t)c->force_types > r->size - r->position) return lw_format_error(r, "the model is truncated");
  for (const unsigned char *p = r->bytes + r->position; p < r->bytes + r->position + row * (size_t)c->force_types;
       p += row) {
    char name[17] = {0};
    int32_t count;
    memcpy(name, p, 16);
    memcpy(&count, p + 16, sizeof count);
    for (first[++type] = forces; type < LW_FORCE_TYPES && strcmp(lw_force_types[type].name, name) != 0;)
      first[++type] = forces;
    if (type == LW_FORCE_TYPES)
      return lw_format_error(
          r, "this library has no force type '%.16s', or in another order; use the library of the export's version",
          name);
    if (count < 0 || count > c->forces - forces) return lw_row_error(r, "force_type", type);
    forces += count;
  }
  while (type < LW_FORCE_TYPES) first[++type] = forces;
  return forces == c->forces ? LW_OK : lw_format_error(r, "the model's forces are not those of its types");
}

static lw_model *allocate_model(const counts *c, size_t parameters, size_t names) {
  lw_model *m = calloc(1, sizeof *m);
  const size_t need = m ? place(m, NULL, c, parameters, names) : 0;
  if (m) m->memory = calloc(1, need), m->memory_bytes = need;
  if (!m || !m->memory) {
    free(m);
    return NULL;
  }
  place(m, m->memory, c, parameters, names);
  m->size = sizes_of(c), m->segments = c->segments, m->clusters = c->clusters, m->ears = c->ears;
  m->method = c->method, m->couplings = c->couplings, m->terms = c->terms, m->parameters = (int32_t)parameters;
  m->removable_joints = c->removable_joints, m->requests = c->requests, m->joint_types = c->joint_types;
  m->instructions = c->formula_instructions;
  m->formula_results = c->formula_results, m->lookup_knots = c->lookup_knots;
  return m;
}

static lw_status read_model(reader *r, lw_model **model) {
  counts c;
  lw_status e;
  uint32_t checksum = 0;
  if ((e = read_header(r, &checksum))) return e;
  const size_t first = r->position;
  if ((e = read_counts(r, &c))) return e;
  int32_t first_force[LW_FORCE_TYPES + 1];
  if ((e = find_force_types(r, &c, first_force))) return e;
  const lw_sizes size_of = sizes_of(&c);
  int64_t parameters = 0;
#define X(name, owner, columns, access, stage, meaning)                                \
  parameters += (int64_t)lw_rows_of(&size_of, first_force, LW_OF_##owner) * (columns);
  LW_PARAMETER_FIELDS(X)
#undef X
  const int64_t fixed = 4 * least_integers(&c) + 8 * parameters;
  const int64_t names = (int64_t)(r->size - r->position) - fixed;
  if (names < 0) return lw_format_error(r, "the model is truncated: %lld bytes are missing", (long long)-names);
  lw_model *m = allocate_model(&c, (size_t)parameters, (size_t)names);
  if (!m) return LW_ERROR_MEMORY;
  m->checksum = checksum, m->kernels = lw_best_kernels();
  m->structure = lw_crc32(0, r->bytes + first, r->size - first - (size_t)names - sizeof(double) * (size_t)parameters);
  memcpy(m->first_force, first_force, sizeof first_force);
  if ((e = lw_read_tables(r, m, &c)) || (e = read_parameters(r, m)) || (e = read_names(r, m)) ||
      (e = lw_layout_model(r, m)) || (e = lw_dca_plan_model(m))) {
    lw_model_free(m);
    return e;
  }
  *model = m;
  return LW_OK;
}

lw_status lw_read_model(const void *bytes, size_t size, lw_model **model, char *message, size_t message_size) {
  reader r = {bytes, size, 0, message, message_size};
  *model = NULL;
  if (message && message_size) message[0] = 0;
  if (!bytes) return lw_format_error(&r, "there is no model: its bytes are missing");
  return read_model(&r, model);
}

lw_status lw_model_load(const void *bytes, size_t size, lw_model **model, char *message, size_t message_size) {
  lw_status e = lw_read_model(bytes, size, model, message, message_size);
  if (!e && (e = lw_keep_variants_of(*model, bytes, size))) lw_model_free(*model), *model = NULL;
  return e;
}

lw_status lw_model_put_parameters(const lw_model *m, const double *values, void *bytes, size_t size) {
  lw_model_header h;
  if (!m || !values || !bytes || size < sizeof h) return LW_ERROR_USAGE;
  memcpy(&h, bytes, sizeof h);
  size_t behind = 0; /* names */
#define X(KIND, list, name)                                                    \
  for (int32_t i = 0; i < m->size.list; i++) behind += strlen(m->name[i]) + 1;
  LW_NAMED(X)
#undef X
  const size_t numbers = sizeof *values * (size_t)m->parameters;
  if (h.size > size || h.size < sizeof h + numbers + behind || h.checksum != m->checksum) return LW_ERROR_USAGE;
  unsigned char *start = bytes;
  memcpy(start + h.size - behind - numbers, values, numbers);
  h.checksum = lw_crc32(0, start + sizeof h, h.size - sizeof h);
  memcpy(start, &h, sizeof h);
  return LW_OK;
}
