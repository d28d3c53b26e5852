/* Which joints the spanning tree needs lest a body without inertia becomes a leaf of it. A joint of the tree needs
 * something with inertia outboard of it, since the articulated-body recursion divides by the inertia that its columns
 * move. Bodies that fixed joints hold together are one group. The tree takes joints at massless groups of two joints
 * first and those at other massless groups next. Leaves that remain are exchanged: the cut joint of the leaf comes into
 * the tree, and another joint of the loop is cut. A tree without such leaves need not exist, and to find it is as hard
 * as a Hamiltonian path. */
#include "plan.h"
#include "model/model.h"
#include <stdlib.h>
#include <string.h>

enum need { NEEDED, USEFUL, FREE };

int lw_has_inertia(const body_part *body) {
  int has = body->mass > 0.0;
  for (int k = 0; k < 9; k++) has |= body->inertia[k] != 0.0;
  return has;
}

static int allocate(const lw_builder *b, massless_groups *g) {
  const size_t n = (size_t)b->bodies + 2, m = (size_t)b->joints;
  int32_t *p = g->memory = malloc(sizeof *p * (7 * n + 2 * m));
  if (!p) return 0;
  int32_t **over_groups[] = {&g->of, &g->massless, &g->degree, &g->first, &g->inboard};
  for (int k = 0; k < 5; k++, p += n) *over_groups[k] = p + 1;
  g->path = p, g->next = p + 2 * n;
  return 1;
}

/* Returns 0 where there is no memory. */
int lw_group_massless(const lw_builder *b, massless_groups *g) {
  *g = (massless_groups){.any = 0};
  for (int32_t k = 0; k < b->bodies; k++) g->any |= !lw_has_inertia(&b->body[k]);
  if (!g->any) return 1;
  if (!allocate(b, g)) return 0;
  for (int32_t k = GROUND; k < b->bodies; k++) g->of[k] = k, g->massless[k] = k >= 0 && !lw_has_inertia(&b->body[k]);
  for (int32_t j = 0; j < b->joints; j++) {
    const joint_part *joint = &b->joint[j];
    if (lw_joint_sizes[joint->type].q > 0 || joint->cut) continue;
    const int32_t one = lw_find_group(g->of, joint->parent), other = lw_find_group(g->of, joint->child);
    g->of[one] = other;
    g->massless[other] = g->massless[one] && g->massless[other];
  }
  for (int32_t k = GROUND; k < b->bodies; k++) g->of[k] = lw_find_group(g->of, k);
  return 1;
}

static void ends_of(const lw_builder *b, const massless_groups *g, int32_t j, int32_t end[2]) {
  end[0] = g->of[b->joint[j].parent], end[1] = g->of[b->joint[j].child];
}

static enum need need_of_group(const massless_groups *g, int32_t group) {
  if (!g->massless[group]) return FREE;
  return g->degree[group] <= 2 ? NEEDED : USEFUL;
}

void lw_need_of_massless(const lw_builder *b, const massless_groups *g, int32_t *need) {
  int32_t end[2];
  for (int32_t j = 0; j < b->joints; j++) need[j] = FREE;
  if (!g->any) return;
  for (int32_t k = GROUND; k < b->bodies; k++) g->degree[k] = 0;
  for (int32_t j = 0; j < b->joints; j++) {
    ends_of(b, g, j, end);
    if (end[0] != end[1] && !b->joint[j].cut) g->degree[end[0]]++, g->degree[end[1]]++;
  }
  for (int32_t j = 0; j < b->joints; j++) {
    ends_of(b, g, j, end);
    const enum need one = need_of_group(g, end[0]), other = need_of_group(g, end[1]);
    need[j] = one < other ? one : other;
  }
}

/* ---- exchange of joints ---- */

typedef struct exchange {
  const lw_builder *b;
  const massless_groups *g;
  unsigned char *in_tree;
  const int32_t *place;
} exchange;

static int32_t other_end(const exchange *x, int32_t joint, int32_t group) {
  int32_t end[2];
  ends_of(x->b, x->g, joint, end);
  return end[group == end[0]];
}

/* Lists of the joints at each group, ascending, and the degrees of the tree. Returns the number of its joints. */
static int32_t list_joints(const exchange *x) {
  const massless_groups *g = x->g;
  int32_t end[2], count = 0;
  for (int32_t k = GROUND; k < x->b->bodies; k++) g->degree[k] = 0, g->first[k] = g->inboard[k] = -1;
  for (int32_t j = x->b->joints - 1; j >= 0; j--) {
    ends_of(x->b, g, j, end);
    count += x->in_tree[j];
    if (end[0] == end[1]) continue;
    for (int k = 0; k < 2; k++) {
      g->degree[end[k]] += x->in_tree[j];
      g->next[2 * j + k] = g->first[end[k]], g->first[end[k]] = 2 * j + k;
    }
  }
  return count;
}

static void root_groups(const exchange *x) {
  const massless_groups *g = x->g;
  int32_t reached = 1;
  g->path[0] = g->of[GROUND];
  for (int32_t k = 0; k < reached; k++)
    for (int32_t at = g->first[g->path[k]]; at >= 0; at = g->next[at]) {
      const int32_t joint = at / 2;
      if (!x->in_tree[joint] || joint == g->inboard[g->path[k]]) continue;
      g->path[reached] = other_end(x, joint, g->path[k]);
      g->inboard[g->path[reached++]] = joint;
    }
}

static int is_leaf(const massless_groups *g, int32_t group) { return g->massless[group] && g->degree[group] == 1; }

static int32_t path_inwards(const exchange *x, int32_t group, int32_t *path) {
  int32_t count = 0;
  while (x->g->inboard[group] >= 0) {
    path[count] = x->g->inboard[group];
    group = other_end(x, path[count++], group);
  }
  return count;
}

/* Whether a joint may be cut for another one, so that no group becomes a massless leaf. */
static int can_go(const exchange *x, int32_t joint, int32_t taken, int32_t leaf) {
  int32_t end[2], new_end[2];
  ends_of(x->b, x->g, joint, end);
  ends_of(x->b, x->g, taken, new_end);
  for (int k = 0; k < 2; k++) {
    if (end[k] == leaf) return 0;
    const int gains = end[k] == new_end[0] || end[k] == new_end[1];
    if (x->g->massless[end[k]] && x->g->degree[end[k]] + gains <= 2) return 0;
  }
  return 1;
}

/* Everything between `start` and the joint that leaves the tree now hangs on the joint taken. */
static void swap_joints(const exchange *x, int32_t taken, int32_t left, int32_t start) {
  const massless_groups *g = x->g;
  int32_t end[2], group = start, joint = taken;
  x->in_tree[taken] = 1, x->in_tree[left] = 0;
  ends_of(x->b, g, taken, end);
  g->degree[end[0]]++, g->degree[end[1]]++;
  ends_of(x->b, g, left, end);
  g->degree[end[0]]--, g->degree[end[1]]--;
  while (joint != left) {
    const int32_t following = g->inboard[group];
    g->inboard[group] = joint;
    group = other_end(x, following, group);
    joint = following;
  }
}

/* Takes a cut joint of a leaf into the tree, for the last joint of its loop in the order of the tree that leaves no new
 * leaf. */
static void support(const exchange *x, int32_t leaf) {
  int32_t *branch[2] = {x->g->path, x->g->path + x->b->bodies + 2};
  for (int32_t at = x->g->first[leaf]; at >= 0; at = x->g->next[at]) {
    const int32_t taken = at / 2;
    int32_t end[2], count[2], left = -1, start = 0;
    if (x->in_tree[taken] || x->b->joint[taken].cut) continue;
    ends_of(x->b, x->g, taken, end);
    for (int k = 0; k < 2; k++) count[k] = path_inwards(x, end[k], branch[k]);
    while (count[0] && count[1] && branch[0][count[0] - 1] == branch[1][count[1] - 1]) count[0]--, count[1]--;
    for (int k = 0; k < 2; k++)
      for (int32_t i = 0; i < count[k]; i++) {
        const int32_t joint = branch[k][i];
        if (!can_go(x, joint, taken, leaf)) continue;
        if (left < 0 || x->place[joint] > x->place[left]) left = joint, start = end[k];
      }
    if (left < 0) continue;
    swap_joints(x, taken, left, start);
    return;
  }
}

void lw_exchange_massless_leaves(const lw_builder *b, const massless_groups *g, unsigned char *in_tree,
                                 const int32_t *place) {
  const exchange x = {b, g, in_tree, place};
  if (!g->any || list_joints(&x) < b->bodies) return; /* not connected */
  root_groups(&x);
  for (int32_t k = 0; k < b->bodies; k++)
    if (g->of[k] == k && is_leaf(g, k)) support(&x, k);
}
