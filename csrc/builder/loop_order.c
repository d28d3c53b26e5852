/* The order in which a cluster's loops are solved: its ear decomposition. A step is a loop and the links that it adds
 * to those before it: a branch to the parent of its cut joint and a branch to its child, disjoint, one or both
 * perhaps empty. The loop that adds the fewest links comes next, so that neighbours follow one another, whatever the
 * order in which joints were added. A link that lies on no loop is a step of its own, just before the first one
 * that it supports, or at the end. */
#include "plan.h"
#include <stdlib.h>

/* What a loop would add is counted on each of its two branches, and falls when links of a branch are taken. So that
 * this costs little, only the NEAR links next to a branch's end refer to the loop. Until one is taken the whole
 * branch counts. Loops that add fewer than NEAR are thus counted right. */
#define NEAR 16

typedef struct notice {
  int32_t loop, branch, adds, next; /* what the branch adds once the link is taken; the next notice at this link */
} notice;

typedef struct loop_order {
  topology *t;
  int32_t cluster, ear_links;
  unsigned char *taken, *laid;           /* of links, of loops */
  int32_t *first_notice, *carrier;       /* of links */
  int32_t *first_waiting, *next_waiting; /* of links: loops that can be laid once it is taken; the root is at -1 */
  int32_t (*adds)[2];                    /* of loops */
  int32_t *branch;                       /* links that are being taken */
  notice *notice;
  int32_t notices, offers;
  int64_t *offer; /* a heap of loops by what they add, with outdated ones between */
} loop_order;

static void push_offer(loop_order *o, int32_t loop) {
  const int64_t key = (int64_t)(o->adds[loop][0] + o->adds[loop][1]) << 32 | loop;
  int32_t k = o->offers++;
  for (; k > 0 && o->offer[(k - 1) / 2] > key; k = (k - 1) / 2) o->offer[k] = o->offer[(k - 1) / 2];
  o->offer[k] = key;
}

static int32_t pop_offer(loop_order *o) {
  const int64_t least = o->offer[0], key = o->offer[--o->offers];
  int32_t k = 0;
  for (int32_t child; (child = 2 * k + 1) < o->offers; k = child) {
    if (child + 1 < o->offers && o->offer[child + 1] < o->offer[child]) child++;
    if (o->offer[child] >= key) break;
    o->offer[k] = o->offer[child];
  }
  o->offer[k] = key;
  return (int32_t)(least & 0x7fffffff);
}

static void offer_waiting(loop_order *o, int32_t link) {
  for (int32_t loop = o->first_waiting[link]; loop >= 0; loop = o->next_waiting[loop]) push_offer(o, loop);
  o->first_waiting[link] = -1;
}

static void take_link(loop_order *o, int32_t link) {
  o->taken[link] = 1;
  o->t->ear_link[o->ear_links++] = link;
  offer_waiting(o, link);
  for (int32_t i = o->first_notice[link]; i >= 0; i = o->notice[i].next) {
    const notice *n = &o->notice[i];
    o->adds[n->loop][n->branch] = n->adds;
    push_offer(o, n->loop);
  }
}

/* Takes the links up to `end` that are not taken, parents first; returns how many. */
static int32_t take_branch(loop_order *o, int32_t end) {
  const int32_t root = o->t->cluster[o->cluster][0];
  int32_t n = 0;
  for (; end != root && !o->taken[end]; end = o->t->link[end][2]) o->branch[n++] = end;
  for (int32_t k = n; k > 0;) take_link(o, o->branch[--k]);
  return n;
}

static void add_ear(loop_order *o, int32_t loop, int32_t links) {
  int32_t *ear = o->t->ear[o->t->ears++];
  ear[0] = o->cluster, ear[1] = loop, ear[2] = links;
}

static void add_unlooped(loop_order *o, int32_t end) {
  for (int32_t n = take_branch(o, end); n > 0; n--) add_ear(o, -1, 1);
}

static void tell(loop_order *o, const plan *p, int32_t loop, int32_t branch) {
  const int32_t *row = o->t->loop[loop], root = row[3] < 0 ? GROUND : o->t->link[row[3]][0];
  int32_t end = row[1 + branch];
  o->adds[loop][branch] = p->tree.depth[end < 0 ? GROUND : o->t->link[end][0]] - p->tree.depth[root];
  for (int32_t k = 0; k < NEAR && k < o->adds[loop][branch]; k++, end = o->t->link[end][2]) {
    o->notice[o->notices] = (notice){loop, branch, k, o->first_notice[end]};
    o->first_notice[end] = o->notices++;
  }
}

static void lay_cluster(loop_order *o, const plan *p, const cluster_groups *g, const int32_t *loop, int32_t loops) {
  topology *t = o->t;
  const int32_t *row = t->cluster[o->cluster], first = row[1], end = row[1] + row[2], root = row[0];
  o->offers = 0, o->notices = 0;
  for (int32_t k = first; k < end; k++) {
    const int32_t parent = t->link[k][2];
    if (!g->on_loop[t->link[k][0]]) o->carrier[k] = parent >= first ? o->carrier[parent] : parent;
  }
  for (int32_t i = 0; i < loops; i++) {
    const int32_t on = t->loop[loop[i]][3], at = on >= first ? o->carrier[on] : root;
    const int32_t slot = at == root ? -1 : at;
    o->next_waiting[loop[i]] = o->first_waiting[slot], o->first_waiting[slot] = loop[i];
    tell(o, p, loop[i], 0);
    tell(o, p, loop[i], 1);
  }
  offer_waiting(o, -1);
  while (o->offers) {
    const int32_t next = pop_offer(o);
    if (o->laid[next]) continue;
    o->laid[next] = 1;
    add_unlooped(o, t->loop[next][3]);
    const int32_t links = take_branch(o, t->loop[next][1]);
    add_ear(o, next, links + take_branch(o, t->loop[next][2]));
  }
  for (int32_t k = first; k < end; k++)
    if (!g->on_loop[t->link[k][0]]) add_unlooped(o, k);
}

/* Loops of each cluster, ascending: CSR. */
static void list_loops(const topology *t, int32_t *first, int32_t *loop) {
  for (int32_t k = 0; k <= t->clusters; k++) first[k] = 0;
  for (int32_t k = 0; k < t->loops; k++)
    if (t->loop[k][4] >= 0) first[t->loop[k][4]]++;
  for (int32_t k = 1; k <= t->clusters; k++) first[k] += first[k - 1];
  for (int32_t k = t->loops - 1; k >= 0; k--)
    if (t->loop[k][4] >= 0) loop[--first[t->loop[k][4]]] = k;
}

lw_status lw_order_loops(const plan *p, const cluster_groups *g, topology *t) {
  const size_t n = (size_t)p->tree.bodies, m = (size_t)t->loops;
  loop_order o = {.t = t};
  int32_t *list = malloc(sizeof *list * (4 * n + 4 * m + (size_t)t->clusters + 8));
  o.notice = malloc(sizeof *o.notice * (2 * NEAR * m + 1));
  o.offer = malloc(sizeof *o.offer * ((2 * NEAR + 2) * m + 1));
  o.taken = calloc(n + m + 1, 1);
  const int ready = list && o.notice && o.offer && o.taken;
  if (ready) {
    int32_t *first_loop = list + 4 * n + 4 * m + 2, *loop = list + 4 * n + 3 * m + 2;
    o.laid = o.taken + n;
    o.first_notice = list, o.carrier = list + n, o.branch = list + 2 * n, o.first_waiting = list + 3 * n + 1;
    o.next_waiting = list + 4 * n + 1, o.adds = (int32_t (*)[2])(list + 4 * n + m + 1);
    for (size_t k = 0; k < n; k++) o.first_notice[k] = -1, o.carrier[k] = (int32_t)k, o.first_waiting[k] = -1;
    o.first_waiting[-1] = -1;
    list_loops(t, first_loop, loop);
    for (o.cluster = 0; o.cluster < t->clusters; o.cluster++)
      lay_cluster(&o, p, g, loop + first_loop[o.cluster], first_loop[o.cluster + 1] - first_loop[o.cluster]);
  }
  free(list);
  free(o.notice);
  free(o.offer);
  free(o.taken);
  return ready ? LW_OK : LW_ERROR_MEMORY;
}
