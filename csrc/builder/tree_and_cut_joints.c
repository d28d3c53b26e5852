/* Which joints carry the bodies, and which are cut. The tree holds the joints that one would rather not cut: those
 * without a request to be cut, then joints with reflected inertia, then fixed joints (they cost no states), then joints
 * at massless bodies (see massless_leaves.c), then joints with a motor (an actuator, a load limit or a prescribed
 * motion), then joints with a start value, a force or a coupling, then those that were added first. Taking the joints in
 * this order and leaving out each one that would close a loop (Kruskal) gives the maximum spanning tree in this order of
 * preference; where it leaves massless leaves, single joints are exchanged. */
#include "plan.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `need`: of the joint, less than MASSLESS_NEEDS; see massless_leaves.c. */
static int preference(const joint_part *j, int need) {
  const int used = j->q_rank || j->u_rank || j->sprung || j->coupled || j->actuated || j->read;
  const int moves = lw_joint_sizes[j->type].q > 0;
  int driven = 0, motor = j->actuated || j->prescribed;
  for (int32_t c = 0; c < lw_joint_sizes[j->type].u; c++) {
    driven |= j->reflected_inertia[c] != 0.0;
    motor |= j->max_load[c] < INFINITY;
  }
  return 4 * (MASSLESS_NEEDS * (4 * (j->cut != 0) + 2 * !driven + moves) + need) + 2 * !motor + !used;
}

/* Marks the joints of the tree. `group`: union-find over bodies, the ground at -1. `place`: of each joint, in the order
 * in which they are taken; before, how much a massless body needs it. */
static void choose_joints(const lw_builder *b, int32_t *group, unsigned char *in_tree, int32_t *place) {
  int32_t taken = 0;
  for (int32_t k = GROUND; k < b->bodies; k++) group[k] = k;
  for (int32_t j = 0; j < b->joints; j++) place[j] = -1 - preference(&b->joint[j], (int)place[j]);
  for (int rank = 0; rank < 32 * MASSLESS_NEEDS; rank++)
    for (int32_t j = 0; j < b->joints; j++) {
      if (place[j] != -1 - rank) continue;
      const int32_t first = lw_find_group(group, b->joint[j].parent), second = lw_find_group(group, b->joint[j].child);
      place[j] = taken++;
      in_tree[j] = first != second;
      group[first] = second;
    }
}

/* From ground outwards: `order` serves as the queue; links of the graph stand in lists by body. */
static int32_t root_in_ground(const lw_builder *b, spanning_tree *t, const unsigned char *in_tree, int32_t *first_edge,
                              int32_t *next_edge) {
  for (int32_t k = GROUND; k < b->bodies; k++) first_edge[k] = -1, t->joint[k] = -1, t->parent[k] = GROUND;
  for (int32_t j = b->joints - 1; j >= 0; j--) {
    if (!in_tree[j]) continue;
    const int32_t end[2] = {b->joint[j].parent, b->joint[j].child};
    for (int k = 0; k < 2; k++) next_edge[2 * j + k] = first_edge[end[k]], first_edge[end[k]] = 2 * j + k;
  }
  int32_t reached = 0;
  t->depth[GROUND] = 0;
  for (int32_t k = -1; k < reached; k++) {
    const int32_t body = k < 0 ? GROUND : t->order[k];
    for (int32_t edge = first_edge[body]; edge >= 0; edge = next_edge[edge]) {
      const joint_part *j = &b->joint[edge / 2];
      const int32_t other = edge % 2 ? j->parent : j->child;
      if (edge / 2 == t->joint[body]) continue;
      t->parent[other] = body, t->joint[other] = edge / 2, t->depth[other] = t->depth[body] + 1;
      t->order[reached++] = other;
    }
  }
  return reached;
}

/* In the order of their joints. */
static void list_children(const lw_builder *b, spanning_tree *t, const unsigned char *in_tree) {
  int32_t *first = t->first_child;
  for (int32_t k = GROUND; k <= b->bodies; k++) first[k] = 0;
  for (int32_t k = 0; k < b->bodies; k++) first[t->parent[k] + 1]++;
  for (int32_t k = GROUND; k < b->bodies; k++) first[k + 1] += first[k];
  int32_t *next = t->head; /* scratch */
  for (int32_t k = GROUND; k < b->bodies; k++) next[k] = first[k];
  for (int32_t j = 0; j < b->joints; j++) {
    if (!in_tree[j]) continue;
    const int32_t end = b->joint[j].child;
    const int32_t body = end != GROUND && t->joint[end] == j ? end : b->joint[j].parent;
    t->child[next[t->parent[body]]++] = body;
  }
}

static void order_depth_first(spanning_tree *t, int32_t *stack) {
  int32_t waiting = 0, found = 0;
  for (int32_t k = t->first_child[0]; k > t->first_child[GROUND];) stack[waiting++] = t->child[--k];
  while (waiting) {
    const int32_t body = t->order[found++] = stack[--waiting];
    for (int32_t k = t->first_child[body + 1]; k > t->first_child[body];) stack[waiting++] = t->child[--k];
  }
}

static void mark_chains(spanning_tree *t, int32_t *size) {
  for (int32_t k = GROUND; k < t->bodies; k++) size[k] = 1, t->head[k] = k;
  for (int32_t k = t->bodies - 1; k >= 0; k--) size[t->parent[t->order[k]]] += size[t->order[k]];
  for (int32_t k = GROUND; k < t->bodies; k++) {
    const int32_t body = k < 0 ? GROUND : t->order[k];
    int32_t heaviest = -1;
    for (int32_t i = t->first_child[body]; i < t->first_child[body + 1]; i++)
      if (heaviest < 0 || size[t->child[i]] > size[heaviest]) heaviest = t->child[i];
    if (heaviest >= 0) t->head[heaviest] = t->head[body];
  }
}

int32_t lw_meeting_body(const spanning_tree *t, int32_t a, int32_t c) {
  while (t->head[a] != t->head[c])
    if (t->depth[t->head[a]] < t->depth[t->head[c]]) c = t->parent[t->head[c]];
    else a = t->parent[t->head[a]];
  return t->depth[a] < t->depth[c] ? a : c;
}

static lw_status refuse_unconnected(lw_builder *b, const spanning_tree *t) {
  int32_t lost = 0, count = 0;
  for (int32_t k = b->bodies - 1; k >= 0; k--)
    if (t->joint[k] < 0) lost = k, count++;
  return lw_refuse(
      b, LW_ERROR_USAGE,
      "%d %s not connected to ground, body '%s' first: add a joint between '%s' and 'ground' or a body that is",
      (int)count, count == 1 ? "body is" : "bodies are", b->body[lost].name, b->body[lost].name);
}

/* The cut joints of all loops through the joint that carries a body. */
static void list_cuts_around(const lw_builder *b, const spanning_tree *t, int32_t carried, char list[LW_LISTED]) {
  unsigned char *outboard = calloc((size_t)b->bodies, 1);
  const char **name = malloc(sizeof *name * ((size_t)t->cuts + 1));
  int32_t n = 0;
  list[0] = 0;
  for (int32_t k = 0; outboard && name && k < b->bodies; k++) { /* parents first */
    const int32_t body = t->order[k], parent = t->parent[body];
    outboard[body] = body == carried || (parent != GROUND && outboard[parent]);
  }
  for (int32_t k = 0; outboard && name && k < t->cuts; k++) {
    const joint_part *j = &b->joint[t->cut[k]];
    const int first = j->parent != GROUND && outboard[j->parent], second = j->child != GROUND && outboard[j->child];
    if (first != second) name[n++] = j->name;
  }
  if (name) lw_quote_names(list, name, n);
  free(outboard);
  free(name);
}

/* A joint that shall be cut, but is needed in the tree. */
static lw_status check_cuts(lw_builder *b, const spanning_tree *t) {
  int32_t refused = -1, carried = -1;
  char others[LW_LISTED];
  for (int32_t k = 0; k < b->bodies; k++)
    if (b->joint[t->joint[k]].cut && (refused < 0 || t->joint[k] < refused)) refused = t->joint[k], carried = k;
  if (refused < 0) return LW_OK;
  list_cuts_around(b, t, carried, others);
  return lw_refuse(b, LW_ERROR_USAGE,
                   "joint '%s' cannot be cut: %s%s, and without it body '%s' would not be connected to ground; leave "
                   "out its cut, or its release",
                   b->joint[refused].name, others[0] ? "every loop through it is cut already, at " : "it is on no loop",
                   others, b->body[carried].name);
}

lw_status lw_span(lw_builder *b, spanning_tree *t) {
  const int32_t n = b->bodies, m = b->joints;
  if (n == 0) return lw_refuse(b, LW_ERROR_USAGE, "the mechanism has no bodies: add one with lw_builder_add_body");
  *t = (spanning_tree){.bodies = n};
  unsigned char *in_tree = calloc((size_t)m + 1, 1);
  int32_t *p = t->memory = malloc(sizeof *p * (10 * ((size_t)n + 2) + 4 * (size_t)m));
  massless_groups groups;
  if (!in_tree || !p || !lw_group_massless(b, &groups)) {
    free(in_tree);
    return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the spanning tree");
  }
  int32_t **over_bodies[] = {&t->parent, &t->joint, &t->depth, &t->head, &t->first_child};
  for (int k = 0; k < 5; k++, p += n + 2) *over_bodies[k] = p + 1;
  int32_t *scratch = p + 1, *first_edge = p + n + 3;
  p += 2 * (n + 2);
  t->order = p, t->child = p + n, t->cut = p + 2 * n;
  int32_t *place = t->cut + 3 * m;
  lw_need_of_massless(b, &groups, place);
  choose_joints(b, scratch, in_tree, place);
  lw_exchange_massless_leaves(b, &groups, in_tree, place);
  free(groups.memory);
  const int32_t reached = root_in_ground(b, t, in_tree, first_edge, t->cut + m);
  for (int32_t j = 0; j < m; j++)
    if (!in_tree[j]) t->cut[t->cuts++] = j;
  lw_status e = reached < n ? refuse_unconnected(b, t) : check_cuts(b, t);
  if (!e) {
    list_children(b, t, in_tree);
    order_depth_first(t, scratch);
    mark_chains(t, scratch);
  }
  free(in_tree);
  return e;
}
