#include "plan.h"
#include <stdlib.h>
#include <string.h>

/* What is known while neighbours are matched, round by round. */
typedef struct matching {
  lw_dca_plan *plan;
  int32_t *first, *of_body; /* connections of each body, without those to nothing else but the ground */
  int32_t *left;            /* of each body: how many are still to be made */
  int32_t *owner;           /* of a body that is a handle: its assembly */
  int32_t *round;           /* in which an assembly was made */
  char *made;               /* of each connection */
  int32_t connections;
} matching;

static int append(lw_dca_list *list, int32_t value) {
  if (list->length == list->room) {
    const int32_t room = 2 * list->room + 64;
    int32_t *at = realloc(list->at, sizeof *at * (size_t)room);
    if (!at) return 0;
    list->at = at, list->room = room;
  }
  list->at[list->length++] = value;
  return 1;
}

/* All its bodies belong to one of two assemblies, and one to each. */
static int connects_just(const matching *m, int32_t connection, int32_t a, int32_t b) {
  const lw_dca_connection *c = &m->plan->list[connection];
  if (m->made[connection]) return 0;
  for (int32_t i = c->first; i < c->first + c->ends; i++)
    if (m->owner[m->plan->end[i]] != a && m->owner[m->plan->end[i]] != b) return 0;
  return 1;
}

static int32_t handle_of(const matching *m, int32_t a, int32_t i) {
  const lw_dca_assembly *x = &m->plan->assembly[a];
  return m->plan->handle.at[x->first_handle + m->plan->kept.at[x->first_kept + i]];
}

/* ---- how two assemblies would do ---- */

/* Handles of `a` that stay handles when it is joined to `b`. */
static int32_t staying(const matching *m, int32_t a, int32_t b) {
  int32_t count = 0;
  for (int32_t i = 0; i < m->plan->assembly[a].kept; i++) {
    const int32_t body = handle_of(m, a, i);
    int32_t rest = m->left[body];
    for (int32_t k = m->first[body]; k < m->first[body + 1]; k++) rest -= connects_just(m, m->of_body[k], a, b);
    count += rest > 0;
  }
  return count;
}

static int32_t open_connections(const matching *m, int32_t a) {
  int32_t count = 0;
  for (int32_t i = 0; i < m->plan->assembly[a].kept; i++) count += m->left[handle_of(m, a, i)];
  return count;
}
/* Whether a join makes assemblies no more complex: one handle less, or a longer chain. */
static int is_simple(const matching *m, int32_t a, int32_t b, int32_t handles) {
  const int32_t before = m->plan->assembly[a].kept + m->plan->assembly[b].kept;
  return handles < before || (open_connections(m, a) == 2 && open_connections(m, b) == 2);
}

typedef struct neighbour {
  int32_t assembly, handles; /* that would be left */
} neighbour;

static void try_ends(const matching *m, int32_t a, int32_t connection, int32_t round, int simple, neighbour *best) {
  const lw_dca_connection *c = &m->plan->list[connection];
  if (m->made[connection]) return;
  for (int32_t i = c->first; i < c->first + c->ends; i++) {
    const int32_t b = m->owner[m->plan->end[i]];
    if (b == a || b == best->assembly || m->round[b] >= round) continue;
    const int32_t handles = staying(m, a, b) + staying(m, b, a);
    if (handles < best->handles && (!simple || is_simple(m, a, b, handles))) *best = (neighbour){b, handles};
  }
}

/* The neighbour with which fewest handles are left; -1: none is free. */
static int32_t best_neighbour(const matching *m, int32_t a, int32_t round, int simple) {
  neighbour best = {-1, INT32_MAX};
  for (int32_t i = 0; i < m->plan->assembly[a].kept; i++) {
    const int32_t body = handle_of(m, a, i);
    for (int32_t k = m->first[body]; k < m->first[body + 1]; k++) try_ends(m, a, m->of_body[k], round, simple, &best);
  }
  return best.assembly;
}

/* ---- joining ---- */

static int list_handle(matching *m, lw_dca_assembly *x, int32_t body) {
  x->handles++;
  return append(&m->plan->handle, body);
}

static int32_t find_handle(const matching *m, const lw_dca_assembly *x, int32_t body) {
  int32_t i = 0;
  while (m->plan->handle.at[x->first_handle + i] != body) i++;
  return i;
}

static void make_connection(matching *m, lw_dca_assembly *x, int32_t connection) {
  const lw_dca_connection *c = &m->plan->list[connection];
  m->plan->connection[m->connections++] = connection;
  m->made[connection] = 1;
  x->connections++, x->rows += c->rows;
  for (int32_t i = c->first; i < c->first + c->ends; i++) {
    m->plan->place[i] = find_handle(m, x, m->plan->end[i]);
    m->left[m->plan->end[i]]--;
  }
}

static int keep_handles(matching *m, int32_t number) {
  lw_dca_assembly *x = &m->plan->assembly[number];
  x->first_kept = m->plan->kept.length;
  for (int32_t i = 0; i < x->handles; i++) {
    const int32_t body = m->plan->handle.at[x->first_handle + i];
    if (m->left[body] == 0) continue;
    if (!append(&m->plan->kept, i)) return 0;
    m->owner[body] = number;
    x->kept++;
  }
  return 1;
}

static int join(matching *m, int32_t a, int32_t b, int32_t round) {
  const int32_t number = m->plan->assemblies++;
  const lw_dca_assembly *part = m->plan->assembly;
  lw_dca_assembly *x = &m->plan->assembly[number];
  *x = (lw_dca_assembly){.part = {a, b}, .first_handle = m->plan->handle.length, .first_connection = m->connections};
  x->level = 1 + (part[a].level > part[b].level ? part[a].level : part[b].level);
  for (int32_t side = 0; side < 2; side++)
    for (int32_t i = 0; i < part[x->part[side]].kept; i++)
      if (!list_handle(m, x, handle_of(m, x->part[side], i))) return 0;
  for (int32_t i = 0; i < part[a].kept; i++) {
    const int32_t body = handle_of(m, a, i);
    for (int32_t k = m->first[body]; k < m->first[body + 1]; k++)
      if (connects_just(m, m->of_body[k], a, b)) make_connection(m, x, m->of_body[k]);
  }
  for (int32_t side = 0; side < 2; side++) m->round[x->part[side]] = INT32_MAX; /* no longer on its own */
  m->round[number] = round;
  if (x->level >= m->plan->levels) m->plan->levels = x->level + 1;
  return keep_handles(m, number);
}

static void list_connections(matching *m, int32_t bodies, int32_t connections) {
  const lw_dca_plan *plan = m->plan;
  int32_t *next = m->owner; /* not in use yet */
  for (int32_t k = 0; k < connections; k++)
    for (int32_t i = 0; plan->list[k].ends > 1 && i < plan->list[k].ends; i++)
      m->left[plan->end[plan->list[k].first + i]]++;
  for (int32_t b = 0; b < bodies; b++) m->first[b + 1] = m->first[b] + m->left[b];
  memcpy(next, m->first, sizeof *next * (size_t)bodies);
  for (int32_t k = 0; k < connections; k++)
    for (int32_t i = 0; plan->list[k].ends > 1 && i < plan->list[k].ends; i++)
      m->of_body[next[plan->end[plan->list[k].first + i]]++] = k;
}

/* Bodies by themselves, fastened to the ground where they are. */
static int start(matching *m, int32_t bodies, int32_t connections) {
  list_connections(m, bodies, connections);
  for (int32_t b = 0; b < bodies; b++) {
    m->plan->assembly[b] = (lw_dca_assembly){.part = {-1, -1}, .first_handle = m->plan->handle.length};
    if (!list_handle(m, &m->plan->assembly[b], b) || !keep_handles(m, b)) return 0;
  }
  m->plan->assemblies = bodies;
  m->plan->levels = bodies > 0;
  return 1;
}

/* What acts on one body alone is made by the body itself, and listed behind all others. */
static void fasten(matching *m, int32_t bodies, int32_t connections) {
  const lw_dca_plan *plan = m->plan;
  int32_t *alone = m->first; /* no longer in use */
  memset(alone, 0, sizeof *alone * (size_t)(bodies + 1));
  for (int32_t k = 0; k < connections; k++)
    if (plan->list[k].ends == 1) alone[plan->end[plan->list[k].first]]++;
  for (int32_t b = 0; b < bodies; b++) {
    plan->assembly[b].first_connection = m->connections;
    m->connections += alone[b];
  }
  for (int32_t k = 0; k < connections; k++) {
    if (plan->list[k].ends != 1) continue;
    lw_dca_assembly *x = &plan->assembly[plan->end[plan->list[k].first]];
    plan->connection[x->first_connection + x->connections++] = k;
    plan->place[plan->list[k].first] = 0;
    x->rows += plan->list[k].rows;
  }
}

/* Joins what is left from `first` on to neighbours. Returns how many it joined, -1: there is no memory; and how many
 * stay alone. */
static int32_t match_some(matching *m, int32_t first, int32_t end, int32_t round, int simple, int32_t *alone) {
  int32_t joined = 0;
  *alone = 0;
  for (int32_t a = first; a < end; a++) {
    if (m->round[a] >= round || m->plan->assembly[a].kept == 0) continue;
    const int32_t b = best_neighbour(m, a, round, simple);
    if (b >= 0 && !join(m, a, b, round)) return -1;
    if (b >= 0) joined++;
    else ++*alone;
  }
  return joined;
}

#define ENOUGH 4 /* one in so many: else assemblies become more complex in this round */

static int match_all(matching *m) {
  int32_t before = 0;
  for (int32_t round = 1; before < m->plan->assemblies; round++) {
    const int32_t end = m->plan->assemblies;
    int32_t alone, joined = match_some(m, before, end, round, 1, &alone);
    if (joined >= 0 && ENOUGH * joined < alone) joined = match_some(m, before, end, round, 0, &alone);
    if (joined < 0) return 0;
    while (before < end && (m->round[before] == INT32_MAX || m->plan->assembly[before].kept == 0)) before++;
  }
  return 1;
}

/* Room for a solution, one assembly after the other as they are joined: basis, R, y, scale, f, L and phi; two numbers for each row and three more. */
static void lay_out(lw_dca_plan *plan) {
  for (int32_t i = 0; i < plan->assemblies; i++) {
    lw_dca_assembly *x = &plan->assembly[plan->order[i]];
    x->columns = x->part[1] < 0 ? 6 : plan->assembly[x->part[0]].columns_kept + plan->assembly[x->part[1]].columns_kept;
    x->columns_kept = x->columns < 6 * x->kept ? x->columns : 6 * x->kept;
    x->first_real = plan->reals, x->first_integer = plan->integers;
    plan->reals += (int64_t)x->rows * (6 * x->handles + x->rows + 2) + 6 * x->handles;
    plan->reals += (int64_t)6 * x->kept * (x->columns_kept + 1);
    plan->integers += 2 * x->rows + 3;
    if (LW_DCA_SCRATCH(x) > plan->scratch) plan->scratch = LW_DCA_SCRATCH(x);
  }
  for (int32_t k = 0; k < plan->connections; k++) {
    lw_dca_connection *c = &plan->list[k];
    c->first_row = plan->rows, c->first_six = plan->sixes;
    plan->rows += c->rows, plan->sixes += c->rows * c->ends;
  }
}

/* ---- pieces ---- */

#define PIECES 32 /* enough to keep some threads busy to the end; the rest, which joins them, is short */

static void list_below(lw_dca_plan *plan, int32_t a, int32_t *next, int32_t *stack) {
  int32_t depth = 0, end = *next;
  for (stack[depth++] = a; depth > 0;) { /* wholes first, backwards */
    const int32_t top = stack[--depth];
    plan->order[end++] = top;
    for (int32_t side = 0; side < 2 && plan->assembly[top].part[1] >= 0; side++)
      stack[depth++] = plan->assembly[top].part[side];
  }
  for (int32_t i = *next, j = end - 1; i < j; i++, j--) {
    const int32_t kept = plan->order[i];
    plan->order[i] = plan->order[j], plan->order[j] = kept;
  }
  *next = end;
}

/* The largest assemblies that are no more than a part of all become pieces; small ones share one. */
static void list_pieces(lw_dca_plan *plan, int32_t *size, int32_t *stack) {
  const int32_t n = plan->assemblies, most = n / PIECES + 1;
  int32_t next = 0, started = 0;
  char *below = (char *)(stack + n); /* of each: it belongs to a larger one that is small enough */
  for (int32_t a = 0; a < n; a++) {
    const int32_t *part = plan->assembly[a].part;
    size[a] = part[1] < 0 ? 1 : 1 + size[part[0]] + size[part[1]];
    below[a] = 0;
  }
  for (int32_t a = 0; a < n; a++)
    for (int32_t side = 0; side < 2 && size[a] <= most && plan->assembly[a].part[1] >= 0; side++)
      below[plan->assembly[a].part[side]] = 1;
  plan->piece[0] = 0;
  for (int32_t a = 0; a < n; a++) {
    if (size[a] > most || below[a]) continue;
    list_below(plan, a, &next, stack);
    if (next - started > most / 2) plan->piece[++plan->pieces] = started = next;
  }
  if (next > started) plan->piece[++plan->pieces] = next;
  for (int32_t a = 0; a < n; a++)
    if (size[a] > most) plan->order[next++] = a;
}

static int cut_to_pieces(lw_dca_plan *plan) {
  const size_t n = (size_t)plan->assemblies;
  int32_t *work = malloc((3 * n + 1) * sizeof *work);
  plan->order = malloc((n + 1) * sizeof *plan->order);
  plan->piece = malloc((n + 2) * sizeof *plan->piece);
  if (work && plan->order && plan->piece) list_pieces(plan, work, work + n);
  free(work);
  return work && plan->order && plan->piece;
}

static int32_t count_ends(const lw_dca_plan *plan) {
  int32_t ends = 0;
  for (int32_t k = 0; k < plan->connections; k++) ends += plan->list[k].ends;
  return ends;
}

/* What stays, and one block for what the matching needs. */
static int provide(matching *m, int32_t bodies, int32_t connections) {
  const size_t n = (size_t)bodies, c = (size_t)connections, ends = (size_t)count_ends(m->plan);
  m->first = calloc(5 * n + 2 + ends, sizeof *m->first);
  m->made = calloc(c + 1, 1);
  m->plan->assembly = malloc((2 * n + 1) * sizeof *m->plan->assembly);
  m->plan->connection = malloc((c + 1) * sizeof *m->plan->connection);
  m->plan->place = malloc((ends + 1) * sizeof *m->plan->place);
  if (!m->first || !m->made || !m->plan->assembly || !m->plan->connection || !m->plan->place) return 0;
  m->of_body = m->first + n + 1;
  m->left = m->of_body + ends;
  m->owner = m->left + n;
  m->round = m->owner + n;
  return 1;
}

int lw_dca_plan_make(int32_t bodies, int32_t connections, lw_dca_connection *list, int32_t *end, lw_dca_plan *plan) {
  matching m = {.plan = plan};
  *plan = (lw_dca_plan){.bodies = bodies, .connections = connections, .list = list, .end = end};
  int enough = provide(&m, bodies, connections) && start(&m, bodies, connections) && match_all(&m);
  if (enough) {
    fasten(&m, bodies, connections);
    enough = cut_to_pieces(plan);
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
  free(plan->part);
  free(plan->place);
  free(plan->assembly);
  free(plan->order);
  free(plan->piece);
  free(plan->connection);
  free(plan->handle.at);
  free(plan->kept.at);
  memset(plan, 0, sizeof *plan);
}
