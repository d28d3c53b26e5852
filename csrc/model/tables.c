/* The tables of a serialised model, each index checked before it is used. */
#include "model/reader.h"
#include <string.h>

static int within(int32_t i, int32_t low, int32_t count) { return i >= low && i < count; }

const lw_joint_size lw_joint_sizes[LW_JOINT_TYPES] = {
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes) \
  [LW_##TYPE] = {#type, coordinates, speeds, displacements, parameters, motion, axes},
#include "joints/types.inc"
#undef JOINT
};

/* The types of joints by their names, so that a model means the same whatever order a library lists them in. */
static lw_status read_joint_types(reader *r, lw_model *m) {
  if (m->joint_types > LW_JOINT_TYPES)
    return lw_format_error(r, "the model names %d joint types, this library has %d", m->joint_types, LW_JOINT_TYPES);
  for (int32_t i = 0; i < m->joint_types; i++) {
    char name[17] = {0};
    const void *p = lw_read_bytes(r, 16);
    if (!p) return lw_format_error(r, "the model is truncated in its joint types");
    memcpy(name, p, 16);
    int32_t type = 0;
    while (type < LW_JOINT_TYPES && strcmp(lw_joint_sizes[type].name, name) != 0) type++;
    if (type == LW_JOINT_TYPES)
      return lw_format_error(r, "this library has no joint type '%.16s'; use the library of the export's version",
                             name);
    m->type[i] = type;
  }
  return LW_OK;
}

static lw_status read_links(reader *r, lw_model *m) {
  const int32_t n = m->size.bodies;
  for (int32_t k = 0; k < m->size.joints; k++) m->joint[k].link = m->joint[k].loop = -1;
  for (int32_t k = 0; k < n; k++) {
    int32_t v[4];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its links");
    memcpy(v, p, sizeof v);
    if (!within(v[0], 0, n) || !within(v[1], 0, m->size.joints) || !within(v[2], -1, k) || !within(v[3], 0, 2))
      return lw_format_error(r, "the model's link %d points outside the model", k);
    lw_link *link = &m->link[k];
    *link = (lw_link){.body = v[0], .joint = v[1], .parent = v[2], .reversed = v[3], .cluster = -1};
    if (m->joint[v[1]].link >= 0)
      return lw_format_error(r, "the model's links %d and %d share a joint", m->joint[v[1]].link, k);
    m->joint[v[1]].link = k;
  }
  return LW_OK;
}

/* Coordinates and speeds are numbered in joint order: first those of the tree, then those of the cuts. */
static lw_status read_joints(reader *r, lw_model *m) {
  int32_t q[2] = {0, m->size.nq}, u[2] = {0, m->size.nu};
  for (int32_t j = 0; j < m->size.joints; j++) {
    int32_t v[3];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its joints");
    memcpy(v, p, sizeof v);
    lw_joint *joint = &m->joint[j];
    const int cut = joint->link < 0;
    if (!within(v[0], 0, m->joint_types) || v[1] != q[cut] || v[2] != u[cut])
      return lw_format_error(r, "the model's joint %d has an unknown type or wrong numbering", j);
    joint->type = m->type[v[0]], joint->q = v[1], joint->u = v[2];
    const lw_joint_size *size = &lw_joint_sizes[joint->type];
    if (q[cut] + size->q > m->size.nq + m->size.nq_cut || u[cut] + size->u > m->size.nu + m->size.nu_cut)
      return lw_format_error(r, "the model's joints have more coordinates than it has");
    for (int32_t c = 0; c < size->u; c++) m->coordinate[u[cut] + c] = q[cut] + (size->q == size->u ? c : 0);
    q[cut] += size->q, u[cut] += size->u;
    if (cut) m->cut_quaternions += size->q != size->u;
    if (cut) continue;
    lw_link *link = &m->link[joint->link];
    link->type = joint->type, link->q = v[1], link->u = v[2], link->speeds = size->u;
    m->quaternions += size->q != size->u;
  }
  if (q[0] != m->size.nq || u[0] != m->size.nu || q[1] != m->size.nq + m->size.nq_cut ||
      u[1] != m->size.nu + m->size.nu_cut)
    return lw_format_error(r, "the model's joints and its number of coordinates contradict each other");
  return LW_OK;
}

static lw_status read_loops(reader *r, lw_model *m) {
  const int32_t n = m->size.bodies;
  for (int32_t i = 0; i < m->size.loops; i++) {
    int32_t v[5];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its loops");
    memcpy(v, p, sizeof v);
    if (!within(v[0], 0, m->size.joints) || m->joint[v[0]].link >= 0 || m->joint[v[0]].loop >= 0 ||
        !within(v[1], -1, n) || !within(v[2], -1, n) || !within(v[3], -1, n) || !within(v[4], -1, m->clusters))
      return lw_format_error(r, "the model's loop %d points outside the model", i);
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

/* The parent of each link of a cluster belongs to the cluster or is its root. */
static lw_status read_clusters(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->clusters; i++) {
    int32_t v[4];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its clusters");
    memcpy(v, p, sizeof v);
    if (!within(v[1], 0, m->size.bodies + 1) || !within(v[2], 0, m->size.bodies - v[1] + 1) ||
        !within(v[0], -1, m->size.bodies) || (v[2] && v[0] >= v[1]) || !within(v[3], LW_RCR, LW_EMBEDDING + 1))
      return lw_format_error(r, "the model's cluster %d points outside the model", i);
    m->cluster[i] = (lw_cluster){.root = v[0], .first = v[1], .count = v[2], .method = v[3]};
    for (int32_t k = v[1]; k < v[1] + v[2]; k++) {
      lw_link *link = &m->link[k];
      if (link->cluster >= 0 || (link->parent != v[0] && link->parent < v[1]))
        return lw_format_error(r, "the model's cluster %d is not of one piece", i);
      link->cluster = i;
    }
  }
  return LW_OK;
}

/* The segments cover the links in order; each cluster is one segment. */
static lw_status read_segments(reader *r, lw_model *m) {
  int32_t next = 0, clusters = 0;
  for (int32_t i = 0; i < m->segments; i++) {
    lw_segment *s = &m->segment[i];
    const void *p = lw_read_bytes(r, sizeof *s);
    if (!p) return lw_format_error(r, "the model is truncated in its segments");
    memcpy(s, p, sizeof *s);
    if (!within(s->cluster, -1, m->clusters) || s->first != next || !within(s->count, 0, m->size.bodies - next + 1))
      return lw_format_error(r, "the model's segment %d does not follow the one before", i);
    next += s->count;
    for (int32_t k = s->first; k < next; k++)
      if (m->link[k].cluster != s->cluster) return lw_format_error(r, "the model's segment %d mixes clusters", i);
    if (s->cluster < 0) continue;
    lw_cluster *c = &m->cluster[s->cluster];
    clusters++;
    if (s->first != c->first || s->count != c->count || c->first_integer)
      return lw_format_error(r, "the model's segment %d is not its whole cluster", i);
    c->first_integer = 1; /* visited; list_columns() sets the value */
  }
  if (next != m->size.bodies || clusters != m->clusters)
    return lw_format_error(r, "the model's segments do not cover its links");
  return LW_OK;
}

/* Each link of a cluster is added once, after its parent. */
static lw_status read_ears(reader *r, lw_model *m) {
  int32_t next = 0, last = 0;
  for (int32_t i = 0; i < m->ears; i++) {
    int32_t v[3];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in the order of its loops");
    memcpy(v, p, sizeof v);
    if (!within(v[0], last, m->clusters) || !within(v[1], -1, m->size.loops) ||
        !within(v[2], 0, m->size.bodies - next + 1) || (v[1] < 0 && v[2] != 1) ||
        (v[1] >= 0 && (m->loop[v[1]].cluster != v[0] || m->loop[v[1]].row)))
      return lw_format_error(r, "step %d of the model's loop order points outside the model or repeats a loop", i);
    lw_cluster *c = &m->cluster[v[0]];
    if (c->ears == 0) c->first_ear = i;
    if (v[1] >= 0) m->loop[v[1]].row = 1; /* visited; list_members() sets the value */
    c->ears++;
    m->ear[i] = (lw_ear){.cluster = v[0], .loop = v[1], .first = next, .links = v[2]};
    next += v[2], last = v[0];
  }
  int32_t in_clusters = 0;
  for (int32_t i = 0; i < m->clusters; i++) in_clusters += m->cluster[i].count;
  if (next != in_clusters) return lw_format_error(r, "the model's loop order does not cover its clusters");
  return LW_OK;
}

static lw_status read_ear_links(reader *r, lw_model *m) {
  for (int32_t k = 0; k < m->size.bodies; k++) m->link[k].ear = -1;
  for (int32_t i = 0; i < m->ears; i++) {
    const lw_ear *ear = &m->ear[i];
    const lw_cluster *c = &m->cluster[ear->cluster];
    for (int32_t j = ear->first; j < ear->first + ear->links; j++) {
      const void *p = lw_read_bytes(r, sizeof(int32_t));
      if (!p) return lw_format_error(r, "the model is truncated in the links of its loops");
      memcpy(&m->ear_link[j], p, sizeof(int32_t));
      const int32_t k = m->ear_link[j];
      if (!within(k, c->first, c->first + c->count) || m->link[k].ear >= 0 ||
          (m->link[k].parent != c->root && m->link[m->link[k].parent].ear < 0))
        return lw_format_error(r, "step %d of the model's loop order has a foreign or an early link", i);
      m->link[k].ear = i;
    }
  }
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
  return link == c->root || (within(link, c->first, c->first + c->count) && m->link[link].ear < e);
}

static lw_status check_ears(reader *r, lw_model *m) {
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

/* The locks stand between the sums and the distances. */
static int is_lock(const lw_model *m, int32_t coupling) {
  const int32_t last = m->couplings - m->size.distances;
  return within(coupling, last - m->size.locks, last);
}

/* The lock of a joint that is open has no cluster. */
static lw_status read_couplings(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->couplings; i++) {
    int32_t cluster;
    const void *p = lw_read_bytes(r, sizeof cluster);
    if (!p) return lw_format_error(r, "the model is truncated in its couplings");
    memcpy(&cluster, p, sizeof cluster);
    if (!within(cluster, is_lock(m, i) ? -1 : 0, m->clusters))
      return lw_format_error(r, "the model's coupling %d has no cluster", i);
    m->coupling[i] = (lw_coupling){.cluster = cluster, .distance = -1, .lock = -1};
    if (cluster >= 0) m->cluster[cluster].couplings++;
  }
  return LW_OK;
}

/* The cluster in which a speed is a column; -1 none, also where the speed is not the rate of a coordinate unless `any`
 * speed will do. */
static int32_t cluster_of_speed(const lw_model *m, int32_t u, int any) {
  for (int32_t j = 0; j < m->size.joints; j++) {
    const lw_joint *joint = &m->joint[j];
    const lw_joint_size *size = &lw_joint_sizes[joint->type];
    if (!within(u, joint->u, joint->u + size->u)) continue;
    if (size->q != size->u && !any) return -1;
    return joint->link >= 0 ? m->link[joint->link].cluster : m->loop[joint->loop].cluster;
  }
  return -1;
}

static void mark_coupled(lw_model *m, int32_t u) {
  for (int32_t l = 0; l < m->size.loops; l++)
    if (within(u, m->loop[l].u, m->loop[l].u + m->loop[l].columns)) m->loop[l].coupled = 1;
}

static lw_status read_terms(reader *r, lw_model *m) {
  int32_t last = 0;
  for (int32_t i = 0; i < m->terms; i++) {
    int32_t v[2];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in the terms of its couplings");
    memcpy(v, p, sizeof v);
    if (!within(v[0], last, m->couplings) || !within(v[1], 0, m->size.nu + m->size.nu_cut) ||
        cluster_of_speed(m, v[1], is_lock(m, v[0])) != m->coupling[v[0]].cluster ||
        v[0] >= m->couplings - m->size.distances)
      return lw_format_error(r, "the model's term %d lies outside the cluster of its coupling", i);
    lw_coupling *coupling = &m->coupling[v[0]];
    if (is_lock(m, v[0])) {
      coupling->lock = v[1], coupling->rates_only = cluster_of_speed(m, v[1], 0) != coupling->cluster;
      if (coupling->cluster >= 0) m->cluster[coupling->cluster].locks++;
    }
    if (coupling->terms++ == 0) coupling->first = i;
    m->term[i] = (lw_term){.coupling = v[0], .u = v[1]};
    mark_coupled(m, v[1]);
    last = v[0];
  }
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

static lw_status read_springs(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->size.springs; i++) {
    int32_t v[2];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its springs");
    memcpy(v, p, sizeof v);
    if (!within(v[0], -1, m->size.bodies) || !within(v[1], -1, m->size.bodies))
      return lw_format_error(r, "the model's spring %d points outside the model", i);
    m->spring[i] = (lw_spring){.from = v[0], .to = v[1], .root = common_ancestor(m, v[0], v[1])};
  }
  return LW_OK;
}

static lw_status read_wrenches(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->size.wrenches; i++) {
    const void *p = lw_read_bytes(r, sizeof(int32_t));
    if (!p) return lw_format_error(r, "the model is truncated in its wrenches");
    memcpy(&m->wrench[i].link, p, sizeof(int32_t));
    if (!within(m->wrench[i].link, 0, m->size.bodies))
      return lw_format_error(r, "the model's wrench %d points outside the model", i);
  }
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

static lw_status read_distances(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->size.distances; i++) {
    int32_t v[2];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its distances");
    memcpy(v, p, sizeof v);
    if (!within(v[0], -1, m->size.bodies) || !within(v[1], -1, m->size.bodies) || v[0] == v[1])
      return lw_format_error(r, "the model's distance %d points outside the model", i);
    lw_distance *distance = &m->distance[i];
    *distance = (lw_distance){m->couplings - m->size.distances + i, {v[0], v[1]}, common_ancestor(m, v[0], v[1])};
    lw_coupling *coupling = &m->coupling[distance->coupling];
    if (!span_way(m, distance, v[0]) || !span_way(m, distance, v[1]))
      return lw_format_error(r, "the model's distance %d leads out of its cluster", i);
    coupling->distance = i;
    m->cluster[coupling->cluster].distances++;
    m->cluster[coupling->cluster].needs_point_velocities = 1;
  }
  return LW_OK;
}

lw_status lw_read_tables(reader *r, lw_model *m) {
  lw_status e;
  if ((e = read_joint_types(r, m)) || (e = read_links(r, m)) || (e = read_joints(r, m)) || (e = read_loops(r, m)) ||
      (e = read_clusters(r, m)) || (e = read_segments(r, m)) || (e = read_ears(r, m)) || (e = read_ear_links(r, m)) ||
      (e = check_ears(r, m)) || (e = read_couplings(r, m)) || (e = read_terms(r, m)) || (e = read_springs(r, m)) ||
      (e = read_wrenches(r, m)) || (e = read_distances(r, m)) || (e = lw_read_removable_joints(r, m)) ||
      (e = lw_read_transitions(r, m)))
    return e;
  return list_members(r, m);
}
