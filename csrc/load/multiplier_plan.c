/* The path of every constraint through the tree, for the method of multipliers. Each end is propagated inward, up to a
 * link that the same constraint has reached before: there its row is added to the stored one. */
#include "load/reader.h"
#include "model/multiplier_workspace.h"
#include <stdlib.h>

#define MAX_REALS (INT32_MAX / 16) /* of multiplier_work: 1 GB */

typedef struct planner {
  lw_model *m;
  int32_t *stamp, *phi_row_of; /* of each link: the constraint that reached it last, and its row of Phi */
  int32_t group;               /* the constraints being propagated: of one loop or coupling */
  int64_t active, row_sums, phi_rows;
  int store; /* the lists are allocated: fill them */
} planner;

/* Propagates the constraints of the group from one of its ends; returns their row of Phi. */
static int32_t propagate_rows(planner *p, int32_t link, int32_t row, int32_t rows) {
  lw_multipliers *plan = &p->m->multipliers;
  if (link < 0 || rows == 0) return -1;
  const int32_t phi_row = (int32_t)p->phi_rows;
  p->phi_rows += rows;
  for (; link >= 0; link = p->m->link[link].parent) {
    lw_constraint_support *support = &plan->support[link];
    if (p->stamp[link] == p->group) {
      if (p->store)
        plan->row_sum[support->row_sum + support->row_sums] = (lw_row_sum){p->phi_row_of[link], phi_row, rows};
      support->row_sums++, p->row_sums++;
      break;
    }
    p->stamp[link] = p->group, p->phi_row_of[link] = phi_row;
    if (p->store)
      plan->active_rows[support->first + support->active] =
          (lw_active_rows){.row = row, .rows = rows, .phi_row = phi_row};
    support->active++, p->active++;
    support->rows += rows;
    if (p->active > MAX_REALS) break; /* too many, which the caller reports */
  }
  return phi_row;
}

/* The speeds of a cut joint that have a rotor, and the number of these: those of the model's defaults. */
static int32_t rotors_of_cut_joint(const lw_model *m, const lw_loop *loop, int32_t *count) {
  int32_t found = 0;
  *count = 0;
  for (int32_t c = 0; c < loop->columns; c++)
    if (m->defaults[m->at.reflected_inertia + loop->u + c] > 0.0) found |= 1 << c, ++*count;
  return found;
}

static void propagate_loop_rows(planner *p, int32_t l, int32_t *row) {
  const lw_loop *loop = &p->m->loop[l];
  int32_t count;
  const int32_t rotors = rotors_of_cut_joint(p->m, loop, &count), rows = 6 - loop->columns + count;
  lw_loop_rows out = {.row = *row, .rows = rows, .rotors = rotors};
  p->group++;
  out.parent_phi = propagate_rows(p, loop->parent, *row, rows);
  out.child_phi = propagate_rows(p, loop->child, *row, rows);
  p->m->multipliers.loop[l] = out;
  *row += rows;
}

/* The joint that has a speed. */
static const lw_joint *joint_of_speed(const lw_model *m, int32_t u) {
  const lw_joint *joint = m->joint;
  while (u < joint->u || u >= joint->u + lw_joint_sizes[joint->type].u) joint++;
  return joint;
}

static void propagate_coupling_rows(planner *p, int32_t i, int32_t *row) {
  const lw_coupling *coupling = &p->m->coupling[i];
  p->group++;
  for (int end = 0; coupling->distance >= 0 && end < 2; end++)
    p->m->multipliers.distance[coupling->distance].phi_row[end] =
        propagate_rows(p, p->m->distance[coupling->distance].end[end], *row, 1);
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++) {
    const lw_joint *joint = joint_of_speed(p->m, p->m->term[t].u);
    lw_term_rows out = {.z = -1, .parent_phi = -1, .child_phi = -1};
    if (joint->link >= 0) propagate_rows(p, joint->link, *row, 1);
    else {
      out.parent_phi = propagate_rows(p, p->m->loop[joint->loop].parent, *row, 1);
      out.child_phi = propagate_rows(p, p->m->loop[joint->loop].child, *row, 1);
    }
    p->m->multipliers.term[t] = out;
  }
  p->m->multipliers.coupling_row[i] = (*row)++;
}

static void mark_rows_of_rotors(lw_multipliers *plan, const lw_model *m, int32_t l) {
  const lw_loop_rows *loop = &plan->loop[l];
  for (int32_t k = 6 - m->loop[l].columns; k < loop->rows; k++) plan->row_cluster[loop->row + k] = ROW_OF_ROTOR;
}

/* Rows are numbered cluster by cluster, loops before couplings. */
static void propagate_all_rows(planner *p, int store) {
  const lw_model *m = p->m;
  lw_multipliers *plan = &p->m->multipliers;
  int32_t row = 0;
  p->store = store, p->group = 0, p->active = p->row_sums = p->phi_rows = 0;
  for (int32_t i = 0; i < m->size.bodies; i++) {
    p->stamp[i] = 0;
    plan->support[i].active = plan->support[i].row_sums = plan->support[i].rows = 0;
  }
  for (int32_t c = 0; c < m->clusters && p->active <= MAX_REALS; c++) {
    const lw_cluster *cluster = &m->cluster[c];
    plan->cluster_row[c] = row;
    for (int32_t i = 0; i < cluster->loops; i++) propagate_loop_rows(p, m->member[cluster->member + i], &row);
    for (int32_t i = 0; i < cluster->couplings; i++)
      propagate_coupling_rows(p, m->member_coupling[cluster->member_coupling + i], &row);
    for (int32_t i = plan->cluster_row[c]; i < row; i++) plan->row_cluster[i] = c;
    for (int32_t i = 0; i < cluster->loops; i++) mark_rows_of_rotors(plan, m, m->member[cluster->member + i]);
  }
  plan->cluster_row[m->clusters] = plan->rows = row;
}

/* Size of z: one number for each column of a link and each constraint that reaches it. */
static int64_t place_row_lists(lw_model *m) {
  int32_t active_rows = 0, row_sum = 0;
  int64_t z = 0;
  for (int32_t i = 0; i < m->size.bodies; i++) {
    lw_constraint_support *support = &m->multipliers.support[i];
    support->first = active_rows, support->row_sum = row_sum, support->first_z = (int32_t)z;
    active_rows += support->active, row_sum += support->row_sums;
    z += (int64_t)m->link[i].speeds * support->rows;
    if (z > MAX_REALS) break;
  }
  return z;
}

static void find_contiguous_rows(lw_model *m) {
  for (int32_t i = 0; i < m->size.bodies; i++) {
    const lw_constraint_support *support = &m->multipliers.support[i];
    const int32_t end = support->first + support->active;
    for (int32_t f = end - 1; f >= support->first; f--) {
      lw_active_rows *active_rows = &m->multipliers.active_rows[f];
      active_rows->contiguous = active_rows->rows, active_rows->next = f + 1;
      if (f + 1 == end || active_rows[1].row != active_rows->row + active_rows->rows) continue;
      active_rows->contiguous += active_rows[1].contiguous, active_rows->next = active_rows[1].next;
    }
  }
}

/* A term on a tree joint acts on the joint's column itself. */
static void place_terms(lw_model *m) {
  for (int32_t t = 0; t < m->terms; t++) {
    const lw_joint *joint = joint_of_speed(m, m->term[t].u);
    if (joint->link < 0) continue;
    const lw_constraint_support *support = &m->multipliers.support[joint->link];
    const int32_t row = m->multipliers.coupling_row[m->term[t].coupling], column = m->term[t].u - joint->u;
    int32_t before = 0;
    const lw_active_rows *active_rows = m->multipliers.active_rows + support->first;
    while (active_rows->row != row) before += active_rows++->rows;
    m->multipliers.term[t].z = support->first_z + column * support->rows + before;
  }
}

/* Pieces of one allocation, each aligned for any type. */
static void *carve(unsigned char *memory, size_t *used, size_t n) {
  void *p = memory ? memory + *used : NULL;
  *used += (n + 15) / 16 * 16;
  return p;
}

static size_t place(lw_model *m, unsigned char *memory) {
  lw_multipliers *plan = &m->multipliers;
  size_t used = 0;
#define PLACE(what, count) plan->what = carve(memory, &used, sizeof *plan->what * (size_t)(count))
  PLACE(support, m->size.bodies);
  PLACE(loop, m->size.loops);
  PLACE(term, m->terms);
  PLACE(distance, m->size.distances);
  PLACE(coupling_row, m->couplings);
  PLACE(cluster_row, m->clusters + 1);
  PLACE(row_cluster, 6 * (int64_t)m->size.loops + m->couplings);
#undef PLACE
  return used;
}

static int allocate(lw_model *m) {
  m->multipliers.bytes = place(m, NULL);
  m->multipliers.memory = calloc(1, m->multipliers.bytes);
  if (m->multipliers.memory) place(m, m->multipliers.memory);
  return m->multipliers.memory != NULL;
}

static int allocate_lists(lw_multipliers *plan, int64_t active, int64_t row_sums) {
  plan->active_rows = calloc((size_t)active + 1, sizeof *plan->active_rows);
  plan->row_sum = calloc((size_t)row_sums + 1, sizeof *plan->row_sum);
  return plan->active_rows && plan->row_sum;
}

static lw_status too_many(reader *r, const lw_model *m) {
  return lw_format_error(r,
                         "the method of multipliers has no memory for %d loops and %d couplings on %d bodies, whose "
                         "constraints it solves all at once; compile the mechanism with another method",
                         m->size.loops, m->couplings, m->size.bodies);
}

static int64_t count_reals(const lw_multipliers *p, const lw_sizes *s) {
  int64_t reals = 0;
#define ARRAY(element, name, scalars) reals += (int64_t)(scalars);
  LW_MULTIPLIER_WORKSPACE(ARRAY)
#undef ARRAY
  return reals;
}

static lw_status plan_with(reader *r, planner *p) {
  lw_model *m = p->m;
  lw_multipliers *plan = &m->multipliers;
  if (!allocate(m)) return LW_ERROR_MEMORY;
  propagate_all_rows(p, 0);
  if (p->active > MAX_REALS) return too_many(r, m);
  const int64_t z = place_row_lists(m), stride = (plan->rows + 3) / 4 * 4;
  if (z > MAX_REALS) return too_many(r, m);
  if (!allocate_lists(plan, p->active, p->row_sums)) return LW_ERROR_MEMORY;
  propagate_all_rows(p, 1);
  find_contiguous_rows(m);
  place_terms(m);
  plan->phi_rows = (int32_t)p->phi_rows, plan->z = (int32_t)z, plan->stride = (int32_t)stride;
  plan->clusters = m->clusters;
  const int64_t reals = p->phi_rows > MAX_REALS ? p->phi_rows : count_reals(plan, &m->size);
  if (reals > MAX_REALS) return too_many(r, m);
  plan->reals = (int32_t)reals;
  plan->integers = plan->rows + 1;
  plan->bytes += sizeof *plan->active_rows * (size_t)p->active + sizeof *plan->row_sum * (size_t)p->row_sums;
  return LW_OK;
}

void lw_free_multipliers(lw_multipliers *plan) {
  free(plan->active_rows);
  free(plan->row_sum);
  free(plan->memory);
}

lw_status lw_plan_multipliers(reader *r, lw_model *m) {
  if (!lw_has_multipliers(m)) return LW_OK;
  planner p = {.m = m};
  p.stamp = calloc(2 * (size_t)m->size.bodies, sizeof *p.stamp);
  if (!p.stamp) return LW_ERROR_MEMORY;
  p.phi_row_of = p.stamp + m->size.bodies;
  const lw_status e = plan_with(r, &p);
  free(p.stamp);
  return e;
}
