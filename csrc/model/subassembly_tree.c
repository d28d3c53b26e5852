/* Matches neighbours round by round, so that the tree is low and subassemblies keep few handles. */
#include "model/subassembly_tree.h"
#include <stdlib.h>
#include <string.h>

/* State of the matching of neighbours, round by round. */
typedef struct matching {
  lw_dca_plan *plan;
  int32_t *first, *of_body; /* constraints of each body, without those to the ground alone */
  int32_t *left;            /* of each body: how many are still to be made */
  int32_t *subassembly_of;  /* of a body that is a handle: its subassembly */
  int32_t *round;           /* in which a subassembly was made */
  char *made;               /* of each constraint */
  int32_t constraints;
} matching;

static int append(lw_dca_list *list, int32_t value) {
  if (list->length == list->capacity) {
    const int32_t capacity = 2 * list->capacity + 64;
    int32_t *at = realloc(list->at, sizeof *at * (size_t)capacity);
    if (!at) return 0;
    list->at = at, list->capacity = capacity;
  }
  list->at[list->length++] = value;
  return 1;
}

/* All its bodies belong to one of two subassemblies, and one to each. */
static int joins_only(const matching *m, int32_t constraint, int32_t a, int32_t b) {
  const lw_dca_constraint *c = &m->plan->list[constraint];
  if (m->made[constraint]) return 0;
  for (int32_t i = c->first; i < c->first + c->ends; i++)
    if (m->subassembly_of[m->plan->end[i]] != a && m->subassembly_of[m->plan->end[i]] != b) return 0;
  return 1;
}

static int32_t handle_of(const matching *m, int32_t a, int32_t i) {
  const lw_dca_subassembly *x = &m->plan->subassembly[a];
  return m->plan->handle.at[x->first_handle + m->plan->remaining.at[x->first_remaining + i]];
}

/* ---- cost of a join ---- */

/* Handles of `a` that stay handles when it is joined to `b`. */
static int32_t remaining_handles(const matching *m, int32_t a, int32_t b) {
  int32_t count = 0;
  for (int32_t i = 0; i < m->plan->subassembly[a].remaining; i++) {
    const int32_t body = handle_of(m, a, i);
    int32_t rest = m->left[body];
    for (int32_t k = m->first[body]; k < m->first[body + 1]; k++) rest -= joins_only(m, m->of_body[k], a, b);
    count += rest > 0;
  }
  return count;
}

static int32_t unmade_constraints(const matching *m, int32_t a) {
  int32_t count = 0;
  for (int32_t i = 0; i < m->plan->subassembly[a].remaining; i++) count += m->left[handle_of(m, a, i)];
  return count;
}
/* Whether a join makes no subassembly more complex: one handle less, or a longer chain. */
static int is_simple(const matching *m, int32_t a, int32_t b, int32_t handles) {
  const int32_t before = m->plan->subassembly[a].remaining + m->plan->subassembly[b].remaining;
  return handles < before || (unmade_constraints(m, a) == 2 && unmade_constraints(m, b) == 2);
}

typedef struct neighbour {
  int32_t subassembly, handles; /* that would be left */
} neighbour;

static void try_ends(const matching *m, int32_t a, int32_t constraint, int32_t round, int simple, neighbour *best) {
  const lw_dca_constraint *c = &m->plan->list[constraint];
  if (m->made[constraint]) return;
  for (int32_t i = c->first; i < c->first + c->ends; i++) {
    const int32_t b = m->subassembly_of[m->plan->end[i]];
    if (b == a || b == best->subassembly || m->round[b] >= round) continue;
    const int32_t handles = remaining_handles(m, a, b) + remaining_handles(m, b, a);
    if (handles < best->handles && (!simple || is_simple(m, a, b, handles))) *best = (neighbour){b, handles};
  }
}

/* The neighbour with which fewest handles are left; -1: none is free. */
static int32_t best_neighbour(const matching *m, int32_t a, int32_t round, int simple) {
  neighbour best = {-1, INT32_MAX};
  for (int32_t i = 0; i < m->plan->subassembly[a].remaining; i++) {
    const int32_t body = handle_of(m, a, i);
    for (int32_t k = m->first[body]; k < m->first[body + 1]; k++) try_ends(m, a, m->of_body[k], round, simple, &best);
  }
  return best.subassembly;
}

/* ---- joining ---- */

static int list_handle(matching *m, lw_dca_subassembly *x, int32_t body) {
  x->handles++;
  return append(&m->plan->handle, body);
}

static int32_t find_handle(const matching *m, const lw_dca_subassembly *x, int32_t body) {
  int32_t i = 0;
  while (m->plan->handle.at[x->first_handle + i] != body) i++;
  return i;
}

static void make_constraint(matching *m, lw_dca_subassembly *x, int32_t constraint) {
  const lw_dca_constraint *c = &m->plan->list[constraint];
  m->plan->constraint[m->constraints++] = constraint;
  m->made[constraint] = 1;
  x->constraints++, x->rows += c->rows, x->rotors += c->rotors;
  for (int32_t i = c->first; i < c->first + c->ends; i++) {
    m->plan->handle_index[i] = find_handle(m, x, m->plan->end[i]);
    m->left[m->plan->end[i]]--;
  }
}

static int list_remaining_handles(matching *m, int32_t number) {
  lw_dca_subassembly *x = &m->plan->subassembly[number];
  x->first_remaining = m->plan->remaining.length;
  for (int32_t i = 0; i < x->handles; i++) {
    const int32_t body = m->plan->handle.at[x->first_handle + i];
    if (m->left[body] == 0) continue;
    if (!append(&m->plan->remaining, i)) return 0;
    m->subassembly_of[body] = number;
    x->remaining++;
  }
  return 1;
}

static int join(matching *m, int32_t a, int32_t b, int32_t round) {
  const int32_t number = m->plan->subassemblies++;
  const lw_dca_subassembly *child = m->plan->subassembly;
  lw_dca_subassembly *x = &m->plan->subassembly[number];
  *x =
      (lw_dca_subassembly){.child = {a, b}, .first_handle = m->plan->handle.length, .first_constraint = m->constraints};
  x->level = 1 + (child[a].level > child[b].level ? child[a].level : child[b].level);
  for (int32_t which = 0; which < 2; which++)
    for (int32_t i = 0; i < child[x->child[which]].remaining; i++)
      if (!list_handle(m, x, handle_of(m, x->child[which], i))) return 0;
  for (int32_t i = 0; i < child[a].remaining; i++) {
    const int32_t body = handle_of(m, a, i);
    for (int32_t k = m->first[body]; k < m->first[body + 1]; k++)
      if (joins_only(m, m->of_body[k], a, b)) make_constraint(m, x, m->of_body[k]);
  }
  for (int32_t which = 0; which < 2; which++) m->round[x->child[which]] = INT32_MAX; /* no longer on its own */
  m->round[number] = round;
  if (x->level >= m->plan->levels) m->plan->levels = x->level + 1;
  return list_remaining_handles(m, number);
}

static void list_constraints(matching *m, int32_t bodies, int32_t constraints) {
  const lw_dca_plan *plan = m->plan;
  int32_t *next = m->subassembly_of; /* not in use yet */
  for (int32_t k = 0; k < constraints; k++)
    for (int32_t i = 0; plan->list[k].ends > 1 && i < plan->list[k].ends; i++)
      m->left[plan->end[plan->list[k].first + i]]++;
  for (int32_t b = 0; b < bodies; b++) m->first[b + 1] = m->first[b] + m->left[b];
  memcpy(next, m->first, sizeof *next * (size_t)bodies);
  for (int32_t k = 0; k < constraints; k++)
    for (int32_t i = 0; plan->list[k].ends > 1 && i < plan->list[k].ends; i++)
      m->of_body[next[plan->end[plan->list[k].first + i]]++] = k;
}

/* Bodies by themselves, fastened to the ground where they are. */
static int start(matching *m, int32_t bodies, int32_t constraints) {
  list_constraints(m, bodies, constraints);
  for (int32_t b = 0; b < bodies; b++) {
    m->plan->subassembly[b] = (lw_dca_subassembly){.child = {-1, -1}, .first_handle = m->plan->handle.length};
    if (!list_handle(m, &m->plan->subassembly[b], b) || !list_remaining_handles(m, b)) return 0;
  }
  m->plan->subassemblies = bodies;
  m->plan->levels = bodies > 0;
  return 1;
}

/* Constraints of one body alone are made by the body itself, and listed behind all others. */
static void make_body_constraints(matching *m, int32_t bodies, int32_t constraints) {
  const lw_dca_plan *plan = m->plan;
  int32_t *alone = m->first; /* no longer in use */
  memset(alone, 0, sizeof *alone * (size_t)(bodies + 1));
  for (int32_t k = 0; k < constraints; k++)
    if (plan->list[k].ends == 1) alone[plan->end[plan->list[k].first]]++;
  for (int32_t b = 0; b < bodies; b++) {
    plan->subassembly[b].first_constraint = m->constraints;
    m->constraints += alone[b];
  }
  for (int32_t k = 0; k < constraints; k++) {
    if (plan->list[k].ends != 1) continue;
    lw_dca_subassembly *x = &plan->subassembly[plan->end[plan->list[k].first]];
    plan->constraint[x->first_constraint + x->constraints++] = k;
    plan->handle_index[plan->list[k].first] = 0;
    x->rows += plan->list[k].rows, x->rotors += plan->list[k].rotors;
  }
}

/* Joins the remaining ones from `first` on to neighbours. Returns how many it joined, -1: no memory; and how many
 * stay alone. */
static int32_t match_some(matching *m, int32_t first, int32_t end, int32_t round, int simple, int32_t *alone) {
  int32_t joined = 0;
  *alone = 0;
  for (int32_t a = first; a < end; a++) {
    if (m->round[a] >= round || m->plan->subassembly[a].remaining == 0) continue;
    const int32_t b = best_neighbour(m, a, round, simple);
    if (b >= 0 && !join(m, a, b, round)) return -1;
    if (b >= 0) joined++;
    else ++*alone;
  }
  return joined;
}

#define ENOUGH 4 /* one in so many: else subassemblies become more complex in this round */

static int match_all(matching *m) {
  int32_t before = 0;
  for (int32_t round = 1; before < m->plan->subassemblies; round++) {
    const int32_t end = m->plan->subassemblies;
    int32_t alone, joined = match_some(m, before, end, round, 1, &alone);
    if (joined >= 0 && ENOUGH * joined < alone) joined = match_some(m, before, end, round, 0, &alone);
    if (joined < 0) return 0;
    while (before < end && (m->round[before] == INT32_MAX || m->plan->subassembly[before].remaining == 0)) before++;
  }
  return 1;
}

/* Offsets of a solution, one subassembly after the other in the order of combination:
 * see subassembly_data in dca/solve_kernel.h. */
static void lay_out(lw_dca_plan *plan) {
  for (int32_t i = 0; i < plan->subassemblies; i++) {
    lw_dca_subassembly *x = &plan->subassembly[plan->order[i]];
    x->columns = x->child[1] < 0 ? 6
                                 : plan->subassembly[x->child[0]].remaining_columns +
                                       plan->subassembly[x->child[1]].remaining_columns;
    x->columns += x->rotors;
    x->remaining_columns = x->columns < 6 * x->remaining ? x->columns : 6 * x->remaining;
    x->first_real = plan->reals, x->first_integer = plan->integers;
    const int32_t compressing = lw_dca_compressing(x);
    plan->reals += (int64_t)x->rows * (6 * x->handles + x->columns + 4) + 6 * x->handles + x->columns;
    plan->reals += (int64_t)6 * x->remaining * (x->remaining_columns + 1) + (int64_t)compressing * (x->columns + 1);
    plan->integers += 3 * x->rows + compressing + 5;
    if (LW_DCA_SCRATCH(x) > plan->scratch) plan->scratch = LW_DCA_SCRATCH(x);
  }
  for (int32_t k = 0; k < plan->constraints; k++) {
    lw_dca_constraint *c = &plan->list[k];
    c->first_row = plan->rows, c->first_jacobian_block = plan->jacobian_blocks;
    plan->rows += c->rows, plan->jacobian_blocks += c->rows * c->ends;
  }
}

/* ---- pieces ---- */

#define TASKS 32 /* enough to keep some threads busy to the end; the rest, which joins them, is short */

static void list_below(lw_dca_plan *plan, int32_t a, int32_t *next, int32_t *stack) {
  int32_t depth = 0, end = *next;
  for (stack[depth++] = a; depth > 0;) { /* wholes first, backwards */
    const int32_t top = stack[--depth];
    plan->order[end++] = top;
    for (int32_t which = 0; which < 2 && plan->subassembly[top].child[1] >= 0; which++)
      stack[depth++] = plan->subassembly[top].child[which];
  }
  for (int32_t i = *next, j = end - 1; i < j; i++, j--) {
    const int32_t remaining = plan->order[i];
    plan->order[i] = plan->order[j], plan->order[j] = remaining;
  }
  *next = end;
}

/* The largest subassemblies that are no more than a part of all become pieces; small ones share one. */
static void list_tasks(lw_dca_plan *plan, int32_t *size, int32_t *stack) {
  const int32_t n = plan->subassemblies, most = n / TASKS + 1;
  int32_t next = 0, started = 0;
  char *below = (char *)(stack + n); /* of each: it belongs to a larger one that is small enough */
  for (int32_t a = 0; a < n; a++) {
    const int32_t *child = plan->subassembly[a].child;
    size[a] = child[1] < 0 ? 1 : 1 + size[child[0]] + size[child[1]];
    below[a] = 0;
  }
  for (int32_t a = 0; a < n; a++)
    for (int32_t which = 0; which < 2 && size[a] <= most && plan->subassembly[a].child[1] >= 0; which++)
      below[plan->subassembly[a].child[which]] = 1;
  plan->task[0] = 0;
  for (int32_t a = 0; a < n; a++) {
    if (size[a] > most || below[a]) continue;
    list_below(plan, a, &next, stack);
    if (next - started > most / 2) plan->task[++plan->tasks] = started = next;
  }
  if (next > started) plan->task[++plan->tasks] = next;
  for (int32_t a = 0; a < n; a++)
    if (size[a] > most) plan->order[next++] = a;
}

static int split_into_tasks(lw_dca_plan *plan) {
  const size_t n = (size_t)plan->subassemblies;
  int32_t *work = malloc((3 * n + 1) * sizeof *work);
  plan->order = malloc((n + 1) * sizeof *plan->order);
  plan->task = malloc((n + 2) * sizeof *plan->task);
  if (work && plan->order && plan->task) list_tasks(plan, work, work + n);
  free(work);
  return work && plan->order && plan->task;
}

static int32_t count_ends(const lw_dca_plan *plan) {
  int32_t ends = 0;
  for (int32_t k = 0; k < plan->constraints; k++) ends += plan->list[k].ends;
  return ends;
}

/* What stays, and one block for what the matching needs. */
static int provide(matching *m, int32_t bodies, int32_t constraints) {
  const size_t n = (size_t)bodies, c = (size_t)constraints, ends = (size_t)count_ends(m->plan);
  m->first = calloc(5 * n + 2 + ends, sizeof *m->first);
  m->made = calloc(c + 1, 1);
  m->plan->subassembly = malloc((2 * n + 1) * sizeof *m->plan->subassembly);
  m->plan->constraint = malloc((c + 1) * sizeof *m->plan->constraint);
  m->plan->handle_index = malloc((ends + 1) * sizeof *m->plan->handle_index);
  if (!m->first || !m->made || !m->plan->subassembly || !m->plan->constraint || !m->plan->handle_index) return 0;
  m->of_body = m->first + n + 1;
  m->left = m->of_body + ends;
  m->subassembly_of = m->left + n;
  m->round = m->subassembly_of + n;
  return 1;
}

int lw_dca_plan_make(int32_t bodies, int32_t constraints, lw_dca_constraint *list, int32_t *end, lw_dca_plan *plan) {
  matching m = {.plan = plan};
  *plan = (lw_dca_plan){.bodies = bodies, .constraints = constraints, .list = list, .end = end};
  int enough = provide(&m, bodies, constraints) && start(&m, bodies, constraints) && match_all(&m);
  if (enough) {
    make_body_constraints(&m, bodies, constraints);
    enough = split_into_tasks(plan);
    if (enough) lay_out(plan);
  }
  free(m.first);
  free(m.made);
  if (!enough) lw_dca_plan_free(plan);
  return enough;
}

void lw_dca_plan_free(lw_dca_plan *plan) {
  free(plan->list);
  free(plan->end);
  free(plan->fragment);
  free(plan->handle_index);
  free(plan->subassembly);
  free(plan->order);
  free(plan->task);
  free(plan->constraint);
  free(plan->handle.at);
  free(plan->remaining.at);
  memset(plan, 0, sizeof *plan);
}
