/* The tables of a serialised model, row by row. Each number is checked against its kind, and then by its row's function
 * against the rows before it, before it is used. */
#include "load/reader.h"
#include "math/path_numbers.h"
#include <math.h>
#include <string.h>

const lw_joint_size lw_joint_sizes[LW_JOINT_TYPES] = {
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes) \
  [LW_##TYPE] = {#type, coordinates, speeds, displacements, parameters, motion, axes},
#include "joints/types_list.h"
#undef JOINT
};

/* The types of joints by their names, so that a model means the same whatever order a library lists them in. */
static lw_status read_joint_type(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  char name[17] = {0};
  int32_t type = 0;
  memcpy(name, v, 16);
  while (type < LW_JOINT_TYPES && strcmp(lw_joint_sizes[type].name, name) != 0) type++;
  m->type[at->row] = type;
  return type < LW_JOINT_TYPES
             ? LW_OK
             : lw_format_error(r, "this library has no joint type '%.16s'; use the library of the export's version",
                               name);
}

static lw_status read_link(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_joint *joint = &m->joint[v[1]];
  if (v[2] >= at->row) return lw_row_error(r, "link", at->row);
  m->link[at->row] = (lw_link){.body = v[0], .joint = v[1], .parent = v[2], .reversed = v[3], .cluster = -1, .ear = -1};
  if (joint->link >= 0) return lw_format_error(r, "the model's links %d and %d share a joint", joint->link, at->row);
  joint->link = at->row;
  return LW_OK;
}

/* Coordinates and speeds are numbered in joint order: first those of the tree, then those of the cuts. */
static lw_status read_joint(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_joint *joint = &m->joint[at->row];
  const int cut = joint->link < 0;
  const int32_t q = at->q[cut] + (cut ? m->size.nq : 0), u = at->u[cut] + (cut ? m->size.nu : 0);
  if (v[1] != q || v[2] != u)
    return lw_format_error(r, "the model's joint %d has a wrong numbering of its coordinates", at->row);
  joint->type = m->type[v[0]], joint->q = q, joint->u = u;
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  if (q + size->q > m->size.nq + m->size.nq_cut || u + size->u > m->size.nu + m->size.nu_cut)
    return lw_format_error(r, "the model's joints have more coordinates than it has");
  for (int32_t c = 0; c < size->u; c++) m->coordinate[u + c] = q + (size->q == size->u ? c : 0), m->lock_of[u + c] = -1;
  at->q[cut] += size->q, at->u[cut] += size->u;
  *(cut ? &m->cut_quaternions : &m->quaternions) += size->q != size->u;
  if (cut) return LW_OK;
  lw_link *link = &m->link[joint->link];
  link->type = joint->type, link->q = q, link->u = u, link->speeds = size->u;
  return LW_OK;
}

static lw_status check_joints(reader *r, lw_model *m, const table_cursor *at) {
  const lw_sizes *s = &m->size;
  if (at->q[0] != s->nq || at->u[0] != s->nu || at->q[1] != s->nq_cut || at->u[1] != s->nu_cut)
    return lw_format_error(r, "the model's joints and its number of coordinates contradict each other");
  return LW_OK;
}

static lw_status read_loop(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_joint *joint = &m->joint[v[0]];
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  if (joint->link >= 0 || joint->loop >= 0) return lw_row_error(r, "loop", at->row);
  joint->loop = at->row;
  m->loop[at->row] = (lw_loop){.joint = v[0],
                               .parent = v[1],
                               .child = v[2],
                               .root = v[3],
                               .cluster = v[4],
                               .type = joint->type,
                               .q = joint->q,
                               .u = joint->u,
                               .columns = size->u,
                               .coordinates = size->q};
  return LW_OK;
}

/* The parent of each link of a cluster belongs to the cluster or is its root. */
static lw_status read_cluster(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  if (v[2] > m->size.bodies - v[1] || (v[2] && v[0] >= v[1])) return lw_row_error(r, "cluster", at->row);
  m->cluster[at->row] = (lw_cluster){.root = v[0], .first = v[1], .count = v[2], .method = v[3]};
  at->next += v[2];
  for (int32_t k = v[1]; k < v[1] + v[2]; k++) {
    lw_link *link = &m->link[k];
    if (link->cluster >= 0 || (link->parent != v[0] && link->parent < v[1]))
      return lw_format_error(r, "the model's cluster %d is not of one piece", at->row);
    link->cluster = at->row;
  }
  return LW_OK;
}

/* The segments cover the links in order; each cluster is one segment. */
static lw_status read_segment(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_segment *s = &m->segment[at->row];
  *s = (lw_segment){.cluster = v[0], .first = v[1], .count = v[2]};
  if (s->first != at->next || s->count > m->size.bodies - at->next)
    return lw_format_error(r, "the model's segment %d does not follow the one before", at->row);
  at->next += s->count;
  for (int32_t k = s->first; k < at->next; k++)
    if (m->link[k].cluster != s->cluster) return lw_format_error(r, "the model's segment %d mixes clusters", at->row);
  if (s->cluster < 0) return LW_OK;
  lw_cluster *c = &m->cluster[s->cluster];
  at->last++;
  if (s->first != c->first || s->count != c->count || c->first_integer)
    return lw_format_error(r, "the model's segment %d is not its whole cluster", at->row);
  c->first_integer = 1; /* visited; list_columns() sets the value */
  return LW_OK;
}

static lw_status check_segments(reader *r, lw_model *m, const table_cursor *at) {
  if (at->next != m->size.bodies || at->last != m->clusters)
    return lw_format_error(r, "the model's segments do not cover its links");
  return LW_OK;
}

/* Each link of a cluster is added once, after its parent. */
static lw_status read_step(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  if (v[0] < at->last || v[2] > m->size.bodies - at->next || (v[1] < 0 && v[2] != 1) ||
      (v[1] >= 0 && (m->loop[v[1]].cluster != v[0] || m->loop[v[1]].row)))
    return lw_format_error(r, "step %d of the model's loop order points outside the model or repeats a loop", at->row);
  lw_cluster *c = &m->cluster[v[0]];
  if (c->ears++ == 0) c->first_ear = at->row;
  if (v[1] >= 0) m->loop[v[1]].row = 1; /* visited; list_members() sets the value */
  m->ear[at->row] = (lw_ear){.cluster = v[0], .loop = v[1], .first = at->next, .links = v[2]};
  at->next += v[2], at->last = v[0];
  return LW_OK;
}

static int32_t links_of_clusters(const lw_model *m) {
  int32_t links = 0;
  for (int32_t i = 0; i < m->clusters; i++) links += m->cluster[i].count;
  return links;
}

static lw_status check_steps(reader *r, lw_model *m, const table_cursor *at) {
  return at->next == links_of_clusters(m) ? LW_OK
                                          : lw_format_error(r, "the model's loop order does not cover its clusters");
}

static lw_status read_step_link(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  while (at->row >= m->ear[at->last].first + m->ear[at->last].links) at->last++;
  const lw_cluster *c = &m->cluster[m->ear[at->last].cluster];
  lw_link *link = &m->link[v[0]];
  m->ear_link[at->row] = v[0];
  if (!lw_within(v[0], c->first, c->first + c->count) || link->ear >= 0 ||
      (link->parent != c->root && m->link[link->parent].ear < 0))
    return lw_format_error(r, "step %d of the model's loop order has a foreign or an early link", at->last);
  link->ear = at->last;
  return LW_OK;
}

/* From an end of the cut joint up to the first link of an earlier loop, or to the cluster's root. */
static int32_t walk_branch(lw_model *m, int32_t e, int32_t link, int32_t branch_sign, int32_t *walked) {
  for (; link >= 0 && m->link[link].ear == e && m->link[link].branch_sign == 0; link = m->link[link].parent) {
    m->link[link].branch_sign = branch_sign;
    ++*walked;
  }
  return link;
}

static int is_base(const lw_model *m, int32_t e, int32_t link) {
  const lw_cluster *c = &m->cluster[m->ear[e].cluster];
  return link == c->root || (lw_within(link, c->first, c->first + c->count) && m->link[link].ear < e);
}

static lw_status check_step_links(reader *r, lw_model *m, const table_cursor *at) {
  (void)at;
  for (int32_t e = 0; e < m->ears; e++) {
    lw_ear *ear = &m->ear[e];
    if (ear->loop < 0) {
      ear->parent_base = ear->child_base = m->link[m->ear_link[ear->first]].parent;
      continue;
    }
    const lw_loop *loop = &m->loop[ear->loop];
    int32_t walked = 0;
    ear->parent_base = walk_branch(m, e, loop->parent, 1, &walked);
    ear->child_base = walk_branch(m, e, loop->child, -1, &walked);
    if (walked != ear->links || !is_base(m, e, ear->parent_base) || !is_base(m, e, ear->child_base))
      return lw_format_error(r, "step %d of the model's loop order does not close", e);
  }
  return LW_OK;
}

/* The locks stand between the sums and the distances. */
static int is_lock(const lw_model *m, int32_t coupling) {
  const int32_t last = m->couplings - m->size.distances;
  return lw_within(coupling, last - m->size.locks, last);
}

/* The lock of a joint that is open has no cluster. */
static lw_status read_coupling(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  if (v[0] < 0 && !is_lock(m, at->row)) return lw_format_error(r, "the model's coupling %d has no cluster", at->row);
  m->coupling[at->row] = (lw_coupling){.cluster = v[0], .distance = -1, .lock = -1, .formula = -1};
  if (v[0] >= 0) m->cluster[v[0]].couplings++;
  return LW_OK;
}

/* The cluster in which a speed is a column; -1 none, also where the speed is not the rate of a coordinate unless `any`
 * speed will do. */
static int32_t cluster_of_speed(const lw_model *m, int32_t u, int any) {
  for (int32_t j = 0; j < m->size.joints; j++) {
    const lw_joint *joint = &m->joint[j];
    const lw_joint_size *size = &lw_joint_sizes[joint->type];
    if (!lw_within(u, joint->u, joint->u + size->u)) continue;
    if (size->q != size->u && !any) return -1;
    return joint->link >= 0 ? m->link[joint->link].cluster : m->loop[joint->loop].cluster;
  }
  return -1;
}

static void mark_coupled(lw_model *m, int32_t u, int32_t how) {
  for (int32_t l = 0; l < m->size.loops; l++)
    if (lw_within(u, m->loop[l].u, m->loop[l].u + m->loop[l].columns) && m->loop[l].coupled < how)
      m->loop[l].coupled = how;
}

static lw_status read_term(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_coupling *coupling = &m->coupling[v[0]];
  if (v[0] < at->last || v[0] >= m->couplings - m->size.distances ||
      cluster_of_speed(m, v[1], is_lock(m, v[0])) != coupling->cluster)
    return lw_format_error(r, "the model's term %d lies outside the cluster of its coupling", at->row);
  if (is_lock(m, v[0])) {
    coupling->lock = v[1], m->lock_of[v[1]] = v[0];
    coupling->rates_only = cluster_of_speed(m, v[1], 0) != coupling->cluster;
    if (coupling->cluster >= 0) m->cluster[coupling->cluster].locks++;
  }
  if (coupling->terms++ == 0) coupling->first = at->row;
  m->term[at->row] = (lw_term){.coupling = v[0], .u = v[1]};
  mark_coupled(m, v[1], is_lock(m, v[0]) ? LW_COUPLED_WHILE_LOCKED : LW_COUPLED);
  at->last = v[0];
  return LW_OK;
}

static lw_status check_terms(reader *r, lw_model *m, const table_cursor *at) {
  (void)at;
  for (int32_t i = 0; i < m->couplings; i++)
    if (is_lock(m, i) && m->coupling[i].terms != 1)
      return lw_format_error(r, "the model's lock %d has not one speed", i);
  return LW_OK;
}

/* By index: that of a parent is smaller than its child's. */
static int32_t common_ancestor(const lw_model *m, int32_t a, int32_t b) {
  while (a != b) {
    if (a > b) a = m->link[a].parent;
    else b = m->link[b].parent;
  }
  return a;
}

static lw_status read_force_type(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  (void)r;
  m->force_type[at->row] = v[4];
  return LW_OK;
}

/* Type by type. */
static lw_status read_force(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  while (at->row >= m->first_force[at->last + 1]) at->last++;
  const lw_force_type *type = &lw_force_types[at->last];
  if ((v[0] < 0 && type->on == LW_ON_POINT) || (v[0] >= 0 && !lw_is_on_bodies(type->on)) ||
      (v[1] >= 0 && !lw_is_between_bodies(type->on)) || v[2] < 0 || v[2] >> type->parameters)
    return lw_row_error(r, "force", at->row);
  m->force[at->row] = (lw_force){
      .end = {v[0], v[1]}, .root = common_ancestor(m, v[0], v[1]), .given = v[2], .has_length = 1, .lock = -1};
  return LW_OK;
}

static int acts(const lw_model *m, int32_t force, lw_force_on on) {
  int32_t type = 0;
  while (force >= m->first_force[type + 1]) type++;
  return lw_force_types[type].on == (int32_t)on;
}

static const lw_joint *joint_of_speed(const lw_model *m, int32_t u) {
  const lw_joint *joint = m->joint;
  while (!lw_within(u, joint->u, joint->u + lw_joint_sizes[joint->type].u)) joint++;
  return joint;
}

/* Force by force. */
static lw_status read_gear(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_force *force = &m->force[v[0]];
  const lw_joint *joint = joint_of_speed(m, v[1]);
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  if (v[0] < at->last || !acts(m, v[0], LW_ON_SPEEDS)) return lw_row_error(r, "gear", at->row);
  if (force->gears++ == 0) force->first = at->row;
  const int is_friction = lw_within(v[0], m->first_force[LW_FORCE_FRICTION], m->first_force[LW_FORCE_FRICTION + 1]);
  force->has_length &= size->q == size->u && !is_friction;
  force->joint = (int32_t)(joint - m->joint);
  m->gear[at->row] = (lw_gear){.force = v[0], .u = v[1], .loop = joint->loop};
  mark_coupled(m, v[1], is_friction ? LW_COUPLED_WHILE_LOCKED : LW_COUPLED);
  at->last = v[0];
  return LW_OK;
}

static lw_status check_gears(reader *r, lw_model *m, const table_cursor *at) {
  (void)at;
  for (int32_t k = 0; k < m->size.forces; k++)
    if (!m->force[k].gears && acts(m, k, LW_ON_SPEEDS))
      return lw_format_error(r, "the model's force %d acts on no joint", k);
  return LW_OK;
}

/* Force by force. */
static lw_status read_line_point(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_force *force = &m->force[v[0]];
  if (v[0] < at->last || !acts(m, v[0], LW_ALONG_LINE)) return lw_row_error(r, "line_point", at->row);
  if (force->points++ == 0) force->first_point = at->row;
  const int32_t before = force->points == 1 ? v[1] : m->line_point[at->row - 1].link;
  m->line_point[at->row] = (lw_line_point){.force = v[0], .link = v[1], .root = common_ancestor(m, before, v[1])};
  at->last = v[0];
  return LW_OK;
}

static lw_status check_line_points(reader *r, lw_model *m, const table_cursor *at) {
  (void)at;
  for (int32_t k = 0; k < m->size.forces; k++)
    if (m->force[k].points < 2 && acts(m, k, LW_ALONG_LINE))
      return lw_format_error(r, "the model's force %d acts along no line", k);
  return LW_OK;
}

static lw_status read_point(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  (void)r;
  m->point[at->row].link = v[0];
  return LW_OK;
}

static lw_status read_measure(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  (void)r;
  m->measure[at->row] = (lw_measure){.kind = v[0], .point = {v[1], v[2]}};
  return LW_OK;
}

/* The links on the path from an end belong to the cluster. */
static int span_way(lw_model *m, const lw_distance *distance, int32_t link) {
  for (; link != distance->root; link = m->link[link].parent) {
    if (m->link[link].cluster != m->coupling[distance->coupling].cluster) return 0;
    m->link[link].spanned = 1;
  }
  return 1;
}

static lw_status read_distance(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  if (v[0] == v[1]) return lw_row_error(r, "distance", at->row);
  lw_distance *distance = &m->distance[at->row];
  *distance = (lw_distance){m->couplings - m->size.distances + at->row, {v[0], v[1]}, common_ancestor(m, v[0], v[1])};
  lw_coupling *coupling = &m->coupling[distance->coupling];
  if (!span_way(m, distance, v[0]) || !span_way(m, distance, v[1]))
    return lw_format_error(r, "the model's distance %d leads out of its cluster", at->row);
  coupling->distance = at->row;
  m->cluster[coupling->cluster].distances++;
  m->cluster[coupling->cluster].needs_point_velocities = 1;
  return LW_OK;
}

/* The loops and couplings of each cluster; every loop has its place in the order. */
static lw_status list_members(reader *r, lw_model *m) {
  int32_t next = 0, loops = 0, next_coupling = 0;
  for (int32_t i = 0; i < m->clusters; i++) {
    lw_cluster *c = &m->cluster[i];
    c->member = next;
    for (int32_t e = c->first_ear; e < c->first_ear + c->ears; e++) {
      if (m->ear[e].loop < 0) continue;
      m->loop[m->ear[e].loop].row = 6 * (next - c->member);
      m->member[next++] = m->ear[e].loop;
    }
    c->loops = next - c->member;
    loops += c->loops;
    c->member_coupling = next_coupling;
    next_coupling += c->couplings;
    c->couplings = 0;
  }
  for (int32_t i = 0; i < m->couplings; i++) {
    if (m->coupling[i].cluster < 0) continue;
    lw_cluster *c = &m->cluster[m->coupling[i].cluster];
    m->member_coupling[c->member_coupling + c->couplings++] = i;
  }
  for (int32_t l = 0; l < m->size.loops; l++) loops += m->loop[l].cluster < 0; /* open */
  return loops == m->size.loops ? LW_OK : lw_format_error(r, "the model's loop order does not hold all of its loops");
}

/* ---- the tables in their order ---- */

/* Numbers of a kind are at least `low` and below `end`. */
typedef struct number_range {
  int32_t low, end;
} number_range;

static number_range range_of(const lw_model *m, lw_number_kind kind) {
  switch (kind) {
    case LW_ANY: break;
    case LW_FLAG: return (number_range){0, 2};
    case LW_A_TYPE: return (number_range){0, m->joint_types};
    case LW_A_METHOD: return (number_range){LW_RCR, LW_EMBEDDING + 1};
    case LW_A_LINK: return (number_range){0, m->size.bodies};
    case LW_LINK_OR_GROUND: return (number_range){-1, m->size.bodies};
    case LW_LINKS: return (number_range){0, m->size.bodies + 1};
    case LW_A_JOINT: return (number_range){0, m->size.joints};
    case LW_JOINT_OR_ALL: return (number_range){-1, m->size.joints};
    case LW_A_SPEED: return (number_range){0, m->size.nu + m->size.nu_cut};
    case LW_LOOP_OR_NONE: return (number_range){-1, m->size.loops};
    case LW_A_CLUSTER: return (number_range){0, m->clusters};
    case LW_CLUSTER_OR_NONE: return (number_range){-1, m->clusters};
    case LW_A_COUPLING: return (number_range){0, m->couplings};
    case LW_A_POINT: return (number_range){0, m->size.points};
    case LW_A_FORCE: return (number_range){0, m->size.forces};
  }
  return (number_range){INT32_MIN, INT32_MAX};
}

typedef struct table {
  const char *name;
  int32_t rows, columns;
  lw_number_kind kind[LW_MOST_COLUMNS];
  lw_status (*read)(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
  lw_status (*check)(reader *r, lw_model *m, const table_cursor *at);
} table;

static lw_status read_table(reader *r, lw_model *m, const table *t) {
  table_cursor at = {0};
  lw_status e;
  for (; at.row < t->rows; at.row++) {
    int32_t v[LW_MOST_COLUMNS];
    const void *p = lw_read_bytes(r, sizeof *v * (size_t)t->columns);
    if (!p) return lw_format_error(r, "the model is truncated in its table of every %s", t->name);
    memcpy(v, p, sizeof *v * (size_t)t->columns);
    for (int32_t k = 0; k < t->columns; k++) {
      const number_range range = range_of(m, t->kind[k]);
      if (!lw_within(v[k], range.low, range.end)) return lw_row_error(r, t->name, at.row);
    }
    if ((e = t->read(r, m, &at, v))) return e;
  }
  return t->check ? t->check(r, m, &at) : LW_OK;
}

/* ---- paths ---- */

static lw_status read_path(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  const int32_t head = LW_PATH_HEAD, piece = LW_PATH_PIECE;
  if (lw_joint_sizes[m->joint[v[0]].type].parameters != LW_ANY_NUMBER || m->joint[v[0]].path || v[1] < head + piece ||
      v[1] > head + piece * LW_MOST_PATH_PIECES || (v[1] - head) % piece != 0)
    return lw_row_error(r, "path", at->row);
  m->path[at->row] = (lw_path){v[0], v[1]};
  m->joint[v[0]].path = m->path_number; /* its place is set when all are read */
  m->paths++;
  return LW_OK;
}

static lw_status read_path_number(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  memcpy(&m->path_number[at->row], v, sizeof(double));
  m->path_numbers++;
  return isfinite(m->path_number[at->row]) ? LW_OK : lw_row_error(r, "path_number", at->row);
}

/* Pieces of increasing starts and of some size. */
static int is_path(const double *path, int32_t count) {
  const int32_t pieces = (count - LW_PATH_HEAD) / LW_PATH_PIECE;
  double start = 0.0;
  if (path[LW_PATH_PIECES] != pieces || (path[LW_PATH_CLOSED] != 0.0 && path[LW_PATH_CLOSED] != 1.0)) return 0;
  for (const double *piece = path + LW_PATH_HEAD; piece < path + count; piece += LW_PATH_PIECE) {
    if (piece == path + LW_PATH_HEAD ? piece[0] != 0.0 : !(piece[0] > start)) return 0;
    if (!(piece[1] > 0.0)) return 0;
    start = piece[0];
  }
  return path[LW_PATH_LENGTH] > start;
}

static lw_status check_paths(reader *r, lw_model *m, const table_cursor *at) {
  int32_t used = 0;
  for (int32_t k = 0; k < m->paths; k++) {
    if (m->path[k].count > at->row - used) return lw_row_error(r, "path", k);
    if (!is_path(m->path_number + used, m->path[k].count)) return lw_row_error(r, "path", k);
    m->joint[m->path[k].joint].path = m->path_number + used;
    used += m->path[k].count;
  }
  for (int32_t j = 0; j < m->size.joints; j++)
    if (lw_joint_sizes[m->joint[j].type].parameters == LW_ANY_NUMBER && !m->joint[j].path)
      return lw_format_error(r, "the model's joint %d has no path", j);
  return used == at->row ? LW_OK : lw_format_error(r, "the model has more numbers of paths than its joints");
}

#define read_removable_joint lw_read_removable_joint
#define read_request lw_read_request
#define read_transition lw_read_transition
#define read_formula lw_read_formula
#define read_coupling_formula lw_read_coupling_formula
#define read_formula_quantity lw_read_formula_quantity
#define read_instruction lw_read_instruction
#define read_formula_result lw_read_formula_result
#define read_lookup_table lw_read_lookup_table
#define read_lookup_knot lw_read_lookup_knot

lw_status lw_read_tables(reader *r, lw_model *m, const counts *c) {
  lw_status e;
  for (int32_t k = 0; k < m->size.joints; k++) m->joint[k].link = m->joint[k].loop = -1;
#define LW_STEP_LINKS links_of_clusters(m)
#define X(name, list, rows, check, ...)                                                                           \
  if ((e = read_table(r, m, &(table){#name, rows, LW_COUNT_OF(__VA_ARGS__), {__VA_ARGS__}, read_##name, check}))) \
    return e;
  LW_TABLES(X)
#undef X
#undef LW_STEP_LINKS
  return list_members(r, m);
}
