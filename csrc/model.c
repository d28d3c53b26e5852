/* Reading the serialised model. Layout, little-endian, without padding:
 *   "LWMODEL\0", uint32 version, uint32 size of the whole, uint64 FNV-1a of all that follows,
 *   int32 counts[9]     bodies joints loops clusters segments nq nu nq_cut nu_cut
 *   int32 links[][4]    body joint parent reversed, parents first
 *   int32 joints[][3]   type, first coordinate, first speed
 *   int32 loops[][5]    joint parent child root cluster
 *   int32 clusters[][3] root first_link links
 *   int32 segments[][3] cluster first count
 *   double              the parameter and start fields of fields.h, in their order
 *   names               zero-terminated: bodies, then joints
 * Every index is checked before it is used, so that no byte of a bad file can lead out of bounds. */
#include "model.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_VERSION 1u
#define MAX_COUNT 4000000 /* of anything: keeps every size within 32 bits until it is checked against the file */

typedef struct reader {
  const unsigned char *bytes;
  size_t size, position;
  char *message;
  size_t message_size;
} reader;

static lw_status fail(reader *r, const char *format, ...) {
  if (r->message && r->message_size) {
    va_list list;
    va_start(list, format);
    vsnprintf(r->message, r->message_size, format, list);
    va_end(list);
  }
  return LW_ERROR_FORMAT;
}

static const void *take(reader *r, size_t n) {
  if (n > r->size - r->position) return NULL;
  const void *p = r->bytes + r->position;
  r->position += n;
  return p;
}

static uint64_t fnv1a(const unsigned char *p, size_t n) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

typedef struct header {
  char magic[8];
  uint32_t version, size;
  uint64_t checksum;
} header;

static lw_status read_header(reader *r) {
  header h;
  const void *p = take(r, sizeof h);
  if (!p) return fail(r, "the model is truncated: %zu bytes are too few for a header; export it again", r->size);
  memcpy(&h, p, sizeof h);
  if (memcmp(h.magic, "LWMODEL", 8) != 0) return fail(r, "this is no Linkwork model: its first bytes are wrong");
  if (h.version != MODEL_VERSION)
    return fail(r, "the model has format version %u, this library reads %u; export it again", h.version, MODEL_VERSION);
  if (h.size != r->size)
    return fail(r, "the model is truncated or extended: %zu bytes, its header says %u; export it again", r->size,
                h.size);
#ifndef LW_FUZZING
  if (h.checksum != fnv1a(r->bytes + r->position, r->size - r->position))
    return fail(r, "the model was altered: its checksum does not match; export it again");
#else
  (void)fnv1a;
#endif
  return LW_OK;
}

typedef struct counts {
  int32_t bodies, joints, loops, clusters, segments, nq, nu, nq_cut, nu_cut;
} counts;

static lw_status read_counts(reader *r, counts *c) {
  const void *p = take(r, sizeof *c);
  if (!p) return fail(r, "the model is truncated in its counts");
  memcpy(c, p, sizeof *c);
  const int32_t *v = (const int32_t *)c;
  for (size_t i = 0; i < sizeof *c / sizeof *v; i++)
    if (v[i] < 0 || v[i] > MAX_COUNT) return fail(r, "the model has an impossible count (%d)", v[i]);
  if (c->bodies < 1 || c->joints != c->bodies + c->loops || c->clusters > c->loops)
    return fail(r, "the model's counts contradict each other: %d bodies, %d joints, %d loops", c->bodies, c->joints,
                c->loops);
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
  m->link = carve(memory, &used, sizeof *m->link * (size_t)c->bodies);
  m->joint = carve(memory, &used, sizeof *m->joint * (size_t)c->joints);
  m->loop = carve(memory, &used, sizeof *m->loop * (size_t)c->loops);
  m->cluster = carve(memory, &used, sizeof *m->cluster * (size_t)c->clusters);
  m->member = carve(memory, &used, sizeof *m->member * (size_t)c->loops);
  m->segment = carve(memory, &used, sizeof *m->segment * (size_t)c->segments);
  m->column = carve(memory, &used, sizeof *m->column * (size_t)(c->nu + c->nu_cut));
  m->coordinate = carve(memory, &used, sizeof *m->coordinate * (size_t)(c->nu + c->nu_cut));
  m->defaults = carve(memory, &used, sizeof *m->defaults * parameters);
  m->body_name = carve(memory, &used, sizeof *m->body_name * (size_t)c->bodies);
  m->joint_name = carve(memory, &used, sizeof *m->joint_name * (size_t)c->joints);
  m->names = carve(memory, &used, names);
  return used;
}

static int within(int32_t i, int32_t low, int32_t count) { return i >= low && i < count; }

const lw_joint_size lw_joint_sizes[LW_JOINT_TYPES] = {
    [LW_FIXED] = {0, 0, 0},       [LW_REVOLUTE] = {1, 1, 0}, [LW_PRISMATIC] = {1, 1, 1}, [LW_UNIVERSAL] = {2, 2, 0},
    [LW_CYLINDRICAL] = {2, 2, 2}, [LW_PLANAR] = {3, 3, 3},   [LW_SPHERICAL] = {4, 3, 0}, [LW_FREE] = {7, 6, 0x38},
};

static lw_status read_links(reader *r, lw_model *m) {
  const int32_t n = m->size.bodies;
  for (int32_t k = 0; k < m->size.joints; k++) m->joint[k].link = m->joint[k].loop = -1;
  for (int32_t k = 0; k < n; k++) {
    int32_t v[4];
    const void *p = take(r, sizeof v);
    if (!p) return fail(r, "the model is truncated in its links");
    memcpy(v, p, sizeof v);
    if (!within(v[0], 0, n) || !within(v[1], 0, m->size.joints) || !within(v[2], -1, k) || !within(v[3], 0, 2))
      return fail(r, "the model's link %d points outside the model", k);
    lw_link *link = &m->link[k];
    *link = (lw_link){.body = v[0], .joint = v[1], .parent = v[2], .reversed = v[3], .cluster = -1};
    if (m->joint[v[1]].link >= 0) return fail(r, "the model's links %d and %d share a joint", m->joint[v[1]].link, k);
    m->joint[v[1]].link = k;
  }
  return LW_OK;
}

/* Coordinates and speeds are numbered in joint order: first those of the tree, then those of the cuts. */
static lw_status read_joints(reader *r, lw_model *m) {
  int32_t q[2] = {0, m->size.nq}, u[2] = {0, m->size.nu};
  for (int32_t j = 0; j < m->size.joints; j++) {
    int32_t v[3];
    const void *p = take(r, sizeof v);
    if (!p) return fail(r, "the model is truncated in its joints");
    memcpy(v, p, sizeof v);
    lw_joint *joint = &m->joint[j];
    const int cut = joint->link < 0;
    if (!within(v[0], LW_FIXED, LW_JOINT_TYPES) || v[1] != q[cut] || v[2] != u[cut])
      return fail(r, "the model's joint %d has an unknown type or wrong numbering", j);
    joint->type = v[0], joint->q = v[1], joint->u = v[2];
    const lw_joint_size *size = &lw_joint_sizes[v[0]];
    if (q[cut] + size->q > m->size.nq + m->size.nq_cut || u[cut] + size->u > m->size.nu + m->size.nu_cut)
      return fail(r, "the model's joints have more coordinates than it has");
    for (int32_t c = 0; c < size->u; c++) m->coordinate[u[cut] + c] = q[cut] + (size->q == size->u ? c : 0);
    q[cut] += size->q, u[cut] += size->u;
    if (cut) continue;
    lw_link *link = &m->link[joint->link];
    link->type = v[0], link->q = v[1], link->u = v[2], link->speeds = size->u;
    m->quaternions += size->q != size->u;
  }
  if (q[0] != m->size.nq || u[0] != m->size.nu || q[1] != m->size.nq + m->size.nq_cut ||
      u[1] != m->size.nu + m->size.nu_cut)
    return fail(r, "the model's joints and its number of coordinates contradict each other");
  return LW_OK;
}

static lw_status read_loops(reader *r, lw_model *m) {
  const int32_t n = m->size.bodies;
  for (int32_t i = 0; i < m->size.loops; i++) {
    int32_t v[5];
    const void *p = take(r, sizeof v);
    if (!p) return fail(r, "the model is truncated in its loops");
    memcpy(v, p, sizeof v);
    if (!within(v[0], 0, m->size.joints) || m->joint[v[0]].link >= 0 || m->joint[v[0]].loop >= 0 ||
        !within(v[1], -1, n) || !within(v[2], -1, n) || !within(v[3], -1, n) || !within(v[4], 0, m->clusters))
      return fail(r, "the model's loop %d points outside the model", i);
    lw_joint *joint = &m->joint[v[0]];
    joint->loop = i;
    m->loop[i] = (lw_loop){.joint = v[0],
                           .parent = v[1],
                           .child = v[2],
                           .root = v[3],
                           .cluster = v[4],
                           .type = joint->type,
                           .q = joint->q,
                           .u = joint->u,
                           .columns = lw_joint_sizes[joint->type].u,
                           .coordinates = lw_joint_sizes[joint->type].q};
  }
  return LW_OK;
}

/* The links of a cluster stand on one another or on its root. */
static lw_status read_clusters(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->clusters; i++) {
    int32_t v[3];
    const void *p = take(r, sizeof v);
    if (!p) return fail(r, "the model is truncated in its clusters");
    memcpy(v, p, sizeof v);
    if (!within(v[1], 0, m->size.bodies + 1) || !within(v[2], 0, m->size.bodies - v[1] + 1) ||
        !within(v[0], -1, m->size.bodies) || (v[2] && v[0] >= v[1]))
      return fail(r, "the model's cluster %d points outside the model", i);
    m->cluster[i] = (lw_cluster){.root = v[0], .first = v[1], .count = v[2]};
    for (int32_t k = v[1]; k < v[1] + v[2]; k++) {
      lw_link *link = &m->link[k];
      if (link->cluster >= 0 || (link->parent != v[0] && link->parent < v[1]))
        return fail(r, "the model's cluster %d is not of one piece", i);
      link->cluster = i;
    }
  }
  return LW_OK;
}

/* Going from an end of a cut joint to its loop's root meets only links of its cluster. */
static int leads_to_root(const lw_model *m, const lw_loop *loop, int32_t link) {
  for (; link != loop->root; link = m->link[link].parent)
    if (link < 0 || m->link[link].cluster != loop->cluster) return 0;
  return 1;
}

static lw_status check_loops(reader *r, lw_model *m) {
  int32_t next = 0;
  for (int32_t i = 0; i < m->size.loops; i++)
    if (!leads_to_root(m, &m->loop[i], m->loop[i].parent) || !leads_to_root(m, &m->loop[i], m->loop[i].child))
      return fail(r, "the model's loop %d is not a closed path", i);
  for (int32_t c = 0; c < m->clusters; c++) {
    m->cluster[c].member = next;
    for (int32_t i = 0; i < m->size.loops; i++)
      if (m->loop[i].cluster == c) {
        m->loop[i].row = 6 * (next - m->cluster[c].member);
        m->member[next++] = i;
      }
    m->cluster[c].loops = next - m->cluster[c].member;
    if (m->cluster[c].loops == 0) return fail(r, "the model's cluster %d has no loop", c);
  }
  return LW_OK;
}

/* The segments cover the links in order; each cluster is one segment. */
static lw_status read_segments(reader *r, lw_model *m) {
  int32_t next = 0, clusters = 0;
  for (int32_t i = 0; i < m->segments; i++) {
    lw_segment *s = &m->segment[i];
    const void *p = take(r, sizeof *s);
    if (!p) return fail(r, "the model is truncated in its segments");
    memcpy(s, p, sizeof *s);
    if (!within(s->cluster, -1, m->clusters) || s->first != next || !within(s->count, 0, m->size.bodies - next + 1))
      return fail(r, "the model's segment %d does not follow the one before", i);
    next += s->count;
    for (int32_t k = s->first; k < next; k++)
      if (m->link[k].cluster != s->cluster) return fail(r, "the model's segment %d mixes clusters", i);
    if (s->cluster < 0) continue;
    lw_cluster *c = &m->cluster[s->cluster];
    clusters++;
    if (s->first != c->first || s->count != c->count || c->first_real)
      return fail(r, "the model's segment %d is not its whole cluster", i);
    c->first_real = 1; /* seen; list_columns() sets it right */
  }
  if (next != m->size.bodies || clusters != m->clusters) return fail(r, "the model's segments do not cover its links");
  return LW_OK;
}

static lw_status read_parameters(reader *r, lw_model *m) {
  const size_t bytes = sizeof(double) * (size_t)m->parameters;
  const void *p = take(r, bytes);
  if (!p) return fail(r, "the model is truncated in its parameters");
  memcpy(m->defaults, p, bytes);
  for (int32_t i = 0; i < m->parameters; i++)
    if (!isfinite(m->defaults[i])) return fail(r, "the model's parameter %d is not finite", i);
  return LW_OK;
}

static lw_status read_names(reader *r, lw_model *m, size_t size) {
  memcpy(m->names, take(r, size), size);
  const char *next = m->names, *end = m->names + size;
  for (int32_t i = 0; i < m->size.bodies + m->size.joints; i++) {
    const char *stop = next < end ? memchr(next, 0, (size_t)(end - next)) : NULL;
    if (!stop) return fail(r, "the model is truncated in its names");
    if (i < m->size.bodies) m->body_name[i] = next;
    else m->joint_name[i - m->size.bodies] = next;
    next = stop + 1;
  }
  return next == end ? LW_OK : fail(r, "the model has bytes behind its names");
}

static void add_columns(lw_model *m, int32_t u, int32_t link, int32_t type) {
  const lw_joint_size *size = &lw_joint_sizes[type];
  for (int32_t c = 0; c < size->u; c++)
    m->column[m->columns++] = (lw_column){.u = u + c, .link = link, .translation = size->translations >> c & 1};
}

static void list_columns(lw_model *m) {
  m->columns = m->cluster_reals = 0;
  for (int32_t i = 0; i < m->clusters; i++) {
    lw_cluster *cluster = &m->cluster[i];
    cluster->first_column = m->columns;
    for (int32_t k = cluster->member; k < cluster->member + cluster->loops; k++) {
      lw_loop *loop = &m->loop[m->member[k]];
      loop->column = m->columns - cluster->first_column;
      add_columns(m, loop->u, -1, loop->type);
    }
    cluster->cut_columns = m->columns - cluster->first_column;
    for (int32_t k = cluster->first; k < cluster->first + cluster->count; k++) {
      m->link[k].column = m->columns - cluster->first_column;
      add_columns(m, m->link[k].u, k, m->link[k].type);
    }
    cluster->columns = m->columns - cluster->first_column;
    cluster->first_real = m->cluster_reals;
    const int64_t n = cluster->columns, rows = 6 * (int64_t)cluster->loops;
    const int64_t reals = m->cluster_reals + LW_CLUSTER_REALS(n, rows, (int64_t)cluster->count);
    m->cluster_reals = reals > INT32_MAX / 8 ? -1 : (int32_t)reals;
    if (m->cluster_reals < 0) return;
  }
}

/* In an inward sweep the first to reach a link stores, the others add: no pass that zeroes. */
static void mark_first(lw_model *m, unsigned char *reached) {
  for (int32_t s = m->segments - 1; s >= 0; s--) {
    const lw_segment *seg = &m->segment[s];
    if (seg->cluster >= 0) {
      lw_cluster *cluster = &m->cluster[seg->cluster];
      if (cluster->root < 0 || seg->count == 0) continue;
      cluster->first_on_parent = !reached[cluster->root];
      reached[cluster->root] = 1;
      continue;
    }
    for (int32_t k = seg->first + seg->count - 1; k >= seg->first; k--) {
      const int32_t parent = m->link[k].parent;
      m->link[k].next = k > seg->first && parent == k - 1;
      if (parent < 0 || m->link[k].next) continue;
      m->link[k].first_on_parent = !reached[parent];
      reached[parent] = 1;
    }
  }
  for (int32_t k = 0; k < m->size.bodies; k++) m->link[k].carries = reached[k];
}

static lw_status lay_out(reader *r, lw_model *m) {
  const lw_sizes *s = &m->size;
  int64_t next = 0;
  lw_field *f = m->field;
  lw_owner *o = m->owner;
#define X(name, owner, columns, access, stage, meaning)                                                 \
  m->at.name = (int32_t)next;                                                                           \
  *f++ = (lw_field){#name, meaning, (int32_t)next, LW_ROWS_##owner, (int32_t)(columns), access, stage}; \
  *o++ = LW_OF_##owner;                                                                                 \
  next += (int64_t)LW_ROWS_##owner * (columns);                                                         \
  if (next > INT32_MAX / 4) return fail(r, "the model is too large for its block of numbers");
  LW_FIELDS(X)
#undef X
  m->at.end = m->size.reals = (int32_t)next;
  return LW_OK;
}

static lw_status read_all(reader *r, lw_model *m, size_t names) {
  lw_status e;
  if ((e = read_links(r, m)) || (e = read_joints(r, m)) || (e = read_loops(r, m)) || (e = read_clusters(r, m)) ||
      (e = check_loops(r, m)) || (e = read_segments(r, m)) || (e = read_parameters(r, m)) ||
      (e = read_names(r, m, names)))
    return e;
  list_columns(m);
  if (m->cluster_reals < 0) return fail(r, "too many loops of the model share joints with each other");
  unsigned char *reached = calloc((size_t)m->size.bodies, 1);
  if (!reached) return LW_ERROR_MEMORY;
  mark_first(m, reached);
  free(reached);
  return lay_out(r, m);
}

lw_status lw_model_load(const void *bytes, size_t size, lw_model **model, char *message, size_t message_size) {
  reader r = {bytes, size, 0, message, message_size};
  *model = NULL;
  if (message && message_size) message[0] = 0;
  if (!bytes) return fail(&r, "there is no model: its bytes are missing");
  counts c;
  lw_status e;
  if ((e = read_header(&r)) || (e = read_counts(&r, &c))) return e;
  const lw_sizes size_of = {c.bodies, c.joints, c.loops, c.nq, c.nu, c.nq_cut, c.nu_cut, 0, 0}, *s = &size_of;
  int64_t parameters = 0;
#define X(name, owner, columns, access, stage, meaning) parameters += (int64_t)LW_ROWS_##owner * (columns);
  LW_PARAMETER_FIELDS(X)
#undef X
  const int64_t fixed = 4 * (4 * (int64_t)c.bodies + 3 * (int64_t)c.joints + 5 * (int64_t)c.loops +
                             3 * (int64_t)c.clusters + 3 * (int64_t)c.segments) +
                        8 * parameters;
  const int64_t names = (int64_t)(r.size - r.position) - fixed;
  if (names < 0) return fail(&r, "the model is truncated: %lld bytes are missing", (long long)-names);

  lw_model *m = calloc(1, sizeof *m);
  const size_t need = m ? place(m, NULL, &c, (size_t)parameters, (size_t)names) : 0;
  if (m) m->memory = calloc(1, need);
  if (!m || !m->memory) {
    free(m);
    return LW_ERROR_MEMORY;
  }
  place(m, m->memory, &c, (size_t)parameters, (size_t)names);
  m->size = size_of, m->segments = c.segments, m->clusters = c.clusters, m->parameters = (int32_t)parameters;
  if ((e = read_all(&r, m, (size_t)names))) {
    lw_model_free(m);
    return e;
  }
  *model = m;
  return LW_OK;
}

void lw_model_free(lw_model *m) {
  if (!m) return;
  free(m->memory);
  free(m);
}

lw_sizes lw_model_sizes(const lw_model *m) { return m->size; }

int32_t lw_field_count(void) { return LW_FIELD_COUNT; }

lw_status lw_model_field(const lw_model *m, int32_t index, lw_field *field) {
  if (!within(index, 0, LW_FIELD_COUNT)) return LW_ERROR_USAGE;
  *field = m->field[index];
  return LW_OK;
}
