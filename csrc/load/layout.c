/* Columns, marks and offsets of a model, from its tables. */
#include "model/independent_columns.h"
#include "load/reader.h"
#include "math/tolerances.h"
#include <stdlib.h>
#include <string.h>

static void add_columns(lw_model *m, int32_t u, int32_t link, int32_t loop, int32_t type) {
  const lw_joint_size *size = &lw_joint_sizes[type];
  const double branch_sign = link < 0 ? 0.0 : m->link[link].branch_sign;
  for (int32_t c = 0; c < size->u; c++)
    m->column[m->columns++] = (lw_column){u + c, link, loop, size->translations >> c & 1, branch_sign, 1.0};
}

/* The columns that a loop adds: its cut joint's, then its links'. */
static void list_ear(lw_model *m, lw_ear *ear, int32_t first_column) {
  ear->column = m->columns - first_column;
  if (ear->loop >= 0) {
    lw_loop *loop = &m->loop[ear->loop];
    m->cluster[ear->cluster].needs_point_velocities |= lw_joint_sizes[loop->type].translations != 0;
    loop->column = ear->column;
    add_columns(m, loop->u, -1, ear->loop, loop->type);
  }
  ear->cuts = m->columns - first_column - ear->column;
  ear->constrained = ear->loop >= 0 ? 6 - ear->cuts : 0;
  for (int32_t j = ear->first; j < ear->first + ear->links; j++) {
    lw_link *link = &m->link[m->ear_link[j]];
    link->column = m->columns - first_column;
    add_columns(m, link->u, m->ear_link[j], -1, link->type);
  }
  ear->columns = m->columns - first_column - ear->column;
  ear->has_translation = 0;
  for (int32_t k = first_column + ear->column; k < m->columns; k++) ear->has_translation |= m->column[k].translation;
}

static void mark_support_columns(lw_model *m, int32_t first_column, const lw_cluster *c, int32_t base) {
  for (int32_t i = base; i != c->root && m->link[i].ear == m->link[base].ear; i = m->link[i].parent)
    for (int32_t k = 0; k < m->link[i].speeds; k++)
      m->column[first_column + m->link[i].column + k].preference = SUPPORT;
}

#define FEW_INDEPENDENTS 62          /* capacity for independent directions of a small cluster */
#define MAX_WIDTH_TIMES_LINKS 100000 /* beyond, only the capacity that regular poses need */
#define MIN_WIDTH 4                  /* while it is being counted what those need */

static int32_t at_least(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t at_most(int32_t a, int32_t b) { return a < b ? a : b; }

/* Capacity for the independent directions of all loops: the need of regular poses, and where memory allows as much as
 * if each loop were planar, because near singular poses loops pass on more. Two more entries are for the bias and the
 * residual. */
static int32_t capacity_of(const lw_model *m, const lw_cluster *c) {
  const int32_t headroom = 8;
  if (c->independents < 0) return MIN_WIDTH;
  const int32_t planar = lw_planar_independent_columns(m, c), links = at_least(c->count, 1);
  const int32_t generous_width =
      at_least(12, at_most(at_least(FEW_INDEPENDENTS, planar + headroom), MAX_WIDTH_TIMES_LINKS / links));
  const int32_t width = at_most(c->columns, at_least(c->independents + headroom, generous_width));
  return (width + 2 + 3) / 4 * 4;
}

#define MAX_REALS (INT32_MAX / 8)

/* Offsets of the arrays of a loop and of a cluster from `next` on; return the next offset. */
static int64_t layout_ear(lw_ear *ear, int64_t next) {
  const int64_t groups = ((int64_t)ear->columns + 3) / 4;
  ear->first_real = (int32_t)next;
#define ARRAY(name, scalars) next += scalars;
  LW_EAR_WORKSPACE(ARRAY)
#undef ARRAY
  return next;
}

static int64_t layout_cluster(lw_cluster *c, int64_t next) {
  const int64_t n = c->columns, links = c->count, width = c->capacity, rows = 6 * (int64_t)c->loops + c->couplings;
  const int64_t blocks = (int64_t)c->loops + c->couplings;
  c->dense = rows <= LW_DENSE_ROWS || c->method == LW_EMBEDDING;
#define ARRAY(name, scalars) c->at.name = (int32_t)next, next += scalars;
  LW_CLUSTER_WORKSPACE(ARRAY)
  if (!c->dense) return next;
  LW_MATRIX_WORKSPACE(ARRAY)
#undef ARRAY
  return next;
}

/* The way from an end of a cut joint to its loop's root, which only a matrix of all closures needs. */
static int leads_to_root(const lw_model *m, const lw_loop *loop, int32_t link) {
  for (; link != loop->root; link = m->link[link].parent)
    if (link < 0 || m->link[link].cluster != loop->cluster) return 0;
  return 1;
}

static lw_status check_roots(reader *r, const lw_model *m) {
  for (int32_t l = 0; l < m->size.loops; l++) {
    const lw_loop *loop = &m->loop[l];
    if (loop->cluster < 0) continue;
    if (!m->cluster[loop->cluster].dense) continue;
    if (!leads_to_root(m, loop, loop->parent) || !leads_to_root(m, loop, loop->child))
      return lw_format_error(r, "the model's loop %d is not a closed path", l);
  }
  return LW_OK;
}

/* Of a speed in a cluster; -1: it is not there. */
static int32_t column_of_speed(const lw_model *m, int32_t cluster, int32_t u) {
  for (int32_t k = 0; cluster >= 0 && k < m->cluster[cluster].columns; k++)
    if (m->column[m->cluster[cluster].first_column + k].u == u) return k;
  return -1;
}

static void find_columns_of_terms_and_gears(lw_model *m) {
  for (int32_t t = 0; t < m->terms; t++) {
    const int32_t column = column_of_speed(m, m->coupling[m->term[t].coupling].cluster, m->term[t].u);
    if (column >= 0) m->term[t].column = column;
  }
  for (int32_t g = 0; g < m->size.gears; g++) {
    const lw_joint *joint = m->joint;
    while (!lw_within(m->gear[g].u, joint->u, joint->u + lw_joint_sizes[joint->type].u)) joint++;
    const int32_t cluster = joint->loop >= 0 ? m->loop[joint->loop].cluster : m->link[joint->link].cluster;
    m->gear[g].column = column_of_speed(m, cluster, m->gear[g].u);
  }
}

/* Behind the clusters; returns where they end. */
static int64_t layout_changes(lw_model *m) {
  const int64_t speeds = m->size.nu + m->size.nu_cut, links = m->size.bodies, loops = m->size.loops;
  const int64_t couplings = m->couplings;
  int64_t next = m->cluster_reals;
#define ARRAY(name, scalars) m->change.name = (int32_t)next, next += scalars;
  LW_CHANGE_WORKSPACE(ARRAY)
#undef ARRAY
  m->change.end = (int32_t)next;
  return next;
}

static lw_status list_columns(reader *r, lw_model *m) {
  m->columns = m->cluster_reals = m->integers = 0;
  int64_t reals = 0, integers = m->multipliers.integers;
  for (int32_t i = 0; i < m->clusters; i++) {
    lw_cluster *c = &m->cluster[i];
    c->first_column = m->columns;
    for (int32_t e = c->first_ear; e < c->first_ear + c->ears; e++) list_ear(m, &m->ear[e], c->first_column);
    c->columns = m->columns - c->first_column;
    for (int32_t e = c->first_ear; e < c->first_ear + c->ears; e++) {
      if (m->ear[e].loop < 0) continue;
      mark_support_columns(m, c->first_column, c, m->ear[e].parent_base);
      mark_support_columns(m, c->first_column, c, m->ear[e].child_base);
    }
    c->capacity = capacity_of(m, c);
    c->first_integer = (int32_t)integers;
    for (int32_t e = c->first_ear; e < c->first_ear + c->ears && reals <= MAX_REALS; e++)
      reals = layout_ear(&m->ear[e], reals);
    reals = layout_cluster(c, reals);
    integers += LW_CLUSTER_INTEGERS((int64_t)c->columns, (int64_t)c->ears, (int64_t)c->capacity);
    if (reals > MAX_REALS || integers > MAX_REALS)
      return lw_format_error(r, "too many loops of the model share joints with each other");
  }
  m->cluster_reals = (int32_t)reals, m->integers = (int32_t)integers;
  if (layout_changes(m) > MAX_REALS) return lw_format_error(r, "the model has too many bodies");
  find_columns_of_terms_and_gears(m);
  return LW_OK;
}

static lw_sweep_place *place_of(lw_model *m, int32_t link, int as_tree) {
  return as_tree ? &m->multipliers.support[link].place : &m->link[link].place;
}

/* In an inward sweep the first to reach a link stores, the others add: no pass that zeroes. */
static void mark_first(lw_model *m, unsigned char *reached, int as_tree) {
  const lw_segment whole = {-1, 0, m->size.bodies};
  memset(reached, 0, (size_t)m->size.bodies);
  for (int32_t s = as_tree ? 0 : m->segments - 1; s >= 0; s--) {
    const lw_segment *seg = as_tree ? &whole : &m->segment[s];
    if (seg->cluster >= 0) {
      lw_cluster *cluster = &m->cluster[seg->cluster];
      if (cluster->root < 0 || seg->count == 0) continue;
      cluster->first_on_parent = !reached[cluster->root];
      reached[cluster->root] = 1;
      continue;
    }
    for (int32_t k = seg->first + seg->count - 1; k >= seg->first; k--) {
      const int32_t parent = m->link[k].parent;
      lw_sweep_place *place = place_of(m, k, as_tree);
      place->next = k > seg->first && parent == k - 1;
      if (parent < 0 || place->next) continue;
      place->first_on_parent = !reached[parent];
      reached[parent] = 1;
    }
  }
  for (int32_t k = 0; k < m->size.bodies; k++) place_of(m, k, as_tree)->has_outboard = reached[k];
}

static lw_field made_field(const char *name, const char *meaning, int64_t first, int32_t rows, int32_t columns,
                           int32_t access, lw_stage stage) {
  const int32_t tunable = access > LW_OUTPUT; /* lw_setting */
  return (lw_field){.name = name,
                    .meaning = meaning,
                    .first = (int32_t)first,
                    .rows = rows,
                    .columns = columns,
                    .access = tunable ? LW_PARAMETER : (lw_access)access,
                    .stage = stage,
                    .tunable = tunable};
}

lw_status lw_layout_block(reader *r, lw_model *m) {
  const lw_sizes *s = &m->size;
  int64_t next = 0;
  lw_field *f = m->field;
  lw_owner *o = m->owner;
#define X(name, owner, columns, access, stage, meaning)                                                        \
  m->at.name = (int32_t)next;                                                                                  \
  *o++ = LW_OF_##owner;                                                                                        \
  *f = made_field(#name, meaning, next, lw_rows_of(s, m->first_force, LW_OF_##owner), columns, access, stage); \
  next += (int64_t)f++->rows * (columns);                                                                      \
  if (next > INT32_MAX / 4) return lw_format_error(r, "the model is too large for its block of numbers");
  LW_FIELDS(X)
#undef X
  m->at.end = m->size.reals = (int32_t)next;
  return LW_OK;
}

/* What the integers of no variant exceed, so that snapshots of a state have one size: every cluster has a loop or a
 * coupling, each column, link and loop lies in one cluster, and the capacity is the columns and five at most. */
static lw_status count_most_integers(reader *r, lw_model *m) {
  const lw_sizes *s = &m->size;
  const int64_t clusters = (int64_t)s->loops + m->couplings, columns = (int64_t)s->nu + s->nu_cut,
                ears = (int64_t)s->loops + s->bodies, rows = 6 * (int64_t)s->loops + m->couplings + 1;
  const int64_t most = clusters * LW_CLUSTER_INTEGERS(0, 0, 5) + LW_CLUSTER_INTEGERS(columns, ears, columns) +
                       (lw_has_multipliers(m) ? rows : 0);
  m->most_integers = m->integers;
  if (!m->removable_joints) return LW_OK;
  m->most_integers = (int32_t)most;
  return most < MAX_REALS ? LW_OK : lw_format_error(r, "the model is too large for joints that may open");
}

/* Reactions that press frictions need the loops one by one: no cluster is solved as a matrix then. */
static void prepare_pressed_frictions(lw_model *m) {
  const int32_t first = m->first_force[LW_FORCE_FRICTION], end = m->first_force[LW_FORCE_FRICTION + 1];
  m->pressed = 0;
  for (int32_t k = first; k < end; k++)
    if (m->force[k].given >> LW_PRESSED_FRICTION & 1) m->pressed = end - first;
  for (int32_t c = 0; m->pressed && c < m->clusters; c++) m->cluster[c].method = LW_RCR;
}

/* Adds one to the ring that `last` ends; returns the next one in it. */
static int32_t enter_ring(int32_t *last, int32_t one, int32_t *next_of_last) {
  const int32_t next = *last < 0 ? one : *next_of_last;
  if (*last >= 0) *next_of_last = one;
  *last = one;
  return next;
}

/* Whether a force holds its one speed together with others: it sticks, alike in both directions. */
static int shares_speed(const lw_model *m, int32_t force) {
  const int32_t type = lw_type_of_force(m, force), given = m->force[force].given;
  if (!lw_force_sticks(type, given) || m->force[force].gears != 1) return 0;
#define BY_DIRECTION(TYPE, of)                                                                           \
  if (type == LW_FORCE_##TYPE) return !((given >> LW_FORWARD_##TYPE | given >> LW_BACKWARD_##TYPE) & 1);
  LW_EACH_STICKING_FORCE(BY_DIRECTION)
#undef BY_DIRECTION
  return 0;
}

/* Forces that stick in one speed hold it together. */
static lw_status link_frictions(lw_model *m) {
  const size_t speeds = (size_t)(m->size.nu + m->size.nu_cut);
  int32_t *last = malloc(2 * sizeof *last * (speeds + 1)), *last_transition = last + speeds;
  if (!last) return LW_ERROR_MEMORY;
  for (size_t u = 0; u < 2 * speeds; u++) last[u] = -1;
  for (int32_t k = 0; k < m->size.forces; k++) {
    m->force[k].next_in_speed = k;
    if (!shares_speed(m, k)) continue;
    int32_t *end = last + m->gear[m->force[k].first].u;
    m->force[k].next_in_speed = enter_ring(end, k, *end < 0 ? NULL : &m->force[*end].next_in_speed);
  }
  for (int32_t i = 0; i < m->size.transitions; i++) {
    m->transition[i].next_in_speed = i;
    if (m->transition[i].action != LW_STICK || !shares_speed(m, m->transition[i].number)) continue;
    int32_t *end = last_transition + m->gear[m->force[m->transition[i].number].first].u;
    m->transition[i].next_in_speed = enter_ring(end, i, *end < 0 ? NULL : &m->transition[*end].next_in_speed);
  }
  free(last);
  return LW_OK;
}

/* The columns twice: the first time with the minimal width, which suffices to count the independent directions. */
lw_status lw_layout_model(reader *r, lw_model *m) {
  lw_status e;
  for (int32_t i = 0; i < m->clusters; i++) m->cluster[i].independents = -1;
  prepare_pressed_frictions(m);
  lw_count_kinks(m);
  if ((e = link_frictions(m))) return e;
  if ((e = lw_layout_block(r, m)) || (e = lw_make_programs(r, m)) || (e = lw_plan_multipliers(r, m)) ||
      (e = list_columns(r, m)) || (e = check_roots(r, m)))
    return e;
  unsigned char *reached = calloc((size_t)m->size.bodies, 1);
  if (!reached) return LW_ERROR_MEMORY;
  mark_first(m, reached, 0);
  if (lw_has_multipliers(m)) mark_first(m, reached, 1); /* which sweep by segments as well, in singular poses */
  free(reached);
  if ((e = lw_estimate_dof(m)) || (e = list_columns(r, m)) || (e = count_most_integers(r, m))) return e;
  return lw_find_regular_dof(m);
}
