/* The constraints between the bodies of a model, for the plan of subassemblies: all joints, then all couplings and
 * distances. Joints and couplings that the present variant leaves out are listed as well, without
 * rows. Then the welds between the fragments of high-degree bodies: a body with many constraints would take them one after
 * another, with as many levels. It is cut into fragments of the same share of its inertia, each with some of
 * the constraints. */
#include "load/reader.h"
#include <stdlib.h>
#include <string.h>

#define JOINT_ROWS 6 /* its own and those of speeds that are constrained or have a rotor */
#define WELD_ROWS 6
#define HIGH_DEGREE 5 /* constraints from which a body is cut */
#define CONSTRAINTS_OF_FRAGMENT 2

typedef struct listing {
  const lw_model *m;
  lw_dca_constraint *list;
  int32_t *end, ends;
  int32_t *joint_of_speed;
  int32_t *stamp; /* of each body: one more than the last constraint that it was listed for */
  int32_t *count; /* of each body: constraints to others */
  int32_t constraints, fragments;
} listing;

static void add_end(listing *l, int32_t constraint, int32_t link) {
  if (link < 0 || l->stamp[link] == constraint + 1) return;
  l->stamp[link] = constraint + 1;
  l->end[l->ends++] = link;
  l->list[constraint].ends++;
}

static void add_joint(listing *l, int32_t constraint, int32_t j) {
  const lw_joint *joint = &l->m->joint[j];
  if (joint->loop >= 0) {
    add_end(l, constraint, l->m->loop[joint->loop].child);
    add_end(l, constraint, l->m->loop[joint->loop].parent);
    return;
  }
  add_end(l, constraint, joint->link);
  add_end(l, constraint, l->m->link[joint->link].parent);
}

static void add_coupling(listing *l, int32_t constraint, int32_t i) {
  const lw_coupling *coupling = &l->m->coupling[i];
  for (int end = 0; coupling->distance >= 0 && end < 2; end++)
    add_end(l, constraint, l->m->distance[coupling->distance].end[end]);
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
    add_joint(l, constraint, l->joint_of_speed[l->m->term[t].u]);
}

static void list_all(listing *l) {
  const lw_sizes *s = &l->m->size;
  for (int32_t j = 0; j < s->joints; j++)
    for (int32_t c = 0; c < lw_joint_sizes[l->m->joint[j].type].u; c++) l->joint_of_speed[l->m->joint[j].u + c] = j;
  for (int32_t k = 0; k < s->joints + s->couplings; k++) {
    l->list[k] = (lw_dca_constraint){.first = l->ends, .rows = k < s->joints ? JOINT_ROWS : 1};
    if (k < s->joints) l->list[k].rotors = lw_joint_sizes[l->m->joint[k].type].u;
    if (k < s->joints) add_joint(l, k, k);
    else add_coupling(l, k, k - s->joints);
  }
}

/* ---- high-degree bodies ---- */

static inline int32_t fragments_of(const listing *l, int32_t link) {
  return l->count[link] < HIGH_DEGREE ? 1 : (l->count[link] + CONSTRAINTS_OF_FRAGMENT - 1) / CONSTRAINTS_OF_FRAGMENT;
}

static void count_constraints(listing *l) {
  const int32_t bodies = l->m->size.bodies;
  memset(l->count, 0, sizeof *l->count * (size_t)bodies);
  for (int32_t k = 0; k < l->constraints; k++)
    for (int32_t i = l->list[k].first; l->list[k].ends > 1 && i < l->list[k].first + l->list[k].ends; i++)
      l->count[l->end[i]]++;
  l->fragments = bodies;
  for (int32_t b = 0; b < bodies; b++) l->fragments += fragments_of(l, b) - 1;
}

/* The first fragment of a body has its number; `next` is that of the second, less one. */
static inline int32_t fragment_of(int32_t link, int32_t next, int32_t i) { return i == 0 ? link : next + i; }

static void weld(listing *l, int32_t a, int32_t b) {
  l->list[l->constraints++] = (lw_dca_constraint){.first = l->ends, .ends = 2, .rows = WELD_ROWS};
  l->end[l->ends++] = a;
  l->end[l->ends++] = b;
}

/* `counted` of each body: how many of its constraints have been assigned. */
static void split_high_degree_bodies(listing *l, int32_t *counted, int32_t *next, lw_dca_fragment *fragment) {
  const int32_t bodies = l->m->size.bodies, joined = l->constraints;
  int32_t last = bodies - 1;
  memset(counted, 0, sizeof *counted * (size_t)bodies);
  for (int32_t b = 0; b < bodies; b++) {
    const int32_t fragments = fragments_of(l, b);
    next[b] = last;
    last += fragments - 1;
    for (int32_t i = 0; i < fragments; i++) fragment[fragment_of(b, next[b], i)] = (lw_dca_fragment){b, fragments};
    for (int32_t i = 1; i < fragments; i++) weld(l, fragment_of(b, next[b], i - 1), fragment_of(b, next[b], i));
  }
  for (int32_t k = 0; k < joined; k++)
    for (int32_t i = l->list[k].first; l->list[k].ends > 1 && i < l->list[k].first + l->list[k].ends; i++) {
      const int32_t b = l->end[i];
      if (l->count[b] >= HIGH_DEGREE) l->end[i] = fragment_of(b, next[b], counted[b]++ / CONSTRAINTS_OF_FRAGMENT);
    }
}

static lw_status plan_listed(listing *l, lw_model *m, int32_t *work) {
  const int32_t bodies = m->size.bodies;
  l->joint_of_speed = (l->stamp = work) + bodies;
  list_all(l);
  l->constraints = m->size.joints + m->size.couplings;
  l->count = work;
  count_constraints(l);
  lw_dca_fragment *fragment = malloc(sizeof *fragment * (size_t)(l->fragments + 1));
  if (fragment) split_high_degree_bodies(l, work + bodies, work + 2 * bodies, fragment);
  if (!fragment) {
    free(l->list);
    free(l->end);
    return LW_ERROR_MEMORY;
  }
  if (!lw_dca_plan_make(l->fragments, l->constraints, l->list, l->end, &m->dca)) {
    free(fragment);
    return LW_ERROR_MEMORY;
  }
  m->dca.fragment = fragment;
  return LW_OK;
}

lw_status lw_dca_plan_model(lw_model *m) {
  const lw_sizes *s = &m->size;
  const size_t constraints = (size_t)s->joints + (size_t)s->couplings;
  const size_t ends = 2 * (constraints + (size_t)s->terms);
  listing l = {.m = m};
  l.list = malloc((constraints + ends / CONSTRAINTS_OF_FRAGMENT + 1) * sizeof *l.list);
  l.end = malloc((ends + 2 * ends / CONSTRAINTS_OF_FRAGMENT + 1) * sizeof *l.end);
  int32_t *work = calloc((size_t)(3 * s->bodies + s->nu + s->nu_cut) + 1, sizeof *work);
  if (!l.list || !l.end || !work) {
    free(l.list);
    free(l.end);
    free(work);
    return LW_ERROR_MEMORY;
  }
  const lw_status e = plan_listed(&l, m, work);
  free(work);
  return e;
}

int32_t lw_dca_levels(const lw_model *m) { return m->dca.levels; }

/* Of one subassembly: C L, its reflections from the right, which turn L as well, the factor that is left, and the
 * loads. Rows of numbers are processed four at a time. Rotors, which few joints have, do not count. */
static double multiplications_of(const lw_dca_plan *plan, const lw_dca_subassembly *x) {
  double entries = 0.0;
  for (int32_t i = 0; i < x->constraints; i++) {
    const lw_dca_constraint *c = &plan->list[plan->constraint[x->first_constraint + i]];
    entries += 6.0 * c->rows * c->ends;
  }
  const double handles = 6.0 * x->handles, rows = x->rows, columns = x->columns - x->rotors, kept = 6.0 * x->remaining;
  const double rank = rows < columns ? rows : columns, left = columns - rank;
  const double reflections = rank * (rows / 2 + handles) * 2 * (columns - rank / 2) / 4 + rank * rows * columns;
  const double compressed = left > kept ? kept * kept * (left - kept / 3) / 4 : 0.0;
  return entries * (columns / 4 + 40) + reflections + compressed + handles * rank * 3 + rank * rank;
}

double lw_dca_multiplications(const lw_model *m) {
  double sum = 0.0;
  for (int32_t a = 0; a < m->dca.subassemblies; a++) sum += multiplications_of(&m->dca, &m->dca.subassembly[a]);
  return sum;
}
