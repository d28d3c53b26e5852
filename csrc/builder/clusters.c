/* Which joints of the tree move together: those of a loop, coupling, lock or distance, and of all that share joints
 * with it. A tree joint is named by the body it carries. A coupling joins the smallest part of the tree that holds
 * both bodies of each of its joints: the child bodies alone would miss the joint of a hinge that carries another one
 * named. */
#include "plan.h"
#include <stdlib.h>

/* Sets of tree joints, each a connected part of the tree. Joining a path skips the joints of one set. */
typedef struct joint_sets {
  const spanning_tree *tree;
  int32_t *leader, *foot; /* foot: of a leader's set, the body that supports it */
} joint_sets;

static int32_t leader_of(const joint_sets *s, int32_t body) {
  int32_t *leader = s->leader;
  while (leader[body] != body) body = leader[body] = leader[leader[body]];
  return body;
}

static int32_t unite(joint_sets *s, int32_t first, int32_t second) {
  first = leader_of(s, first), second = leader_of(s, second);
  if (first == second) return first;
  s->leader[second] = first;
  if (s->tree->depth[s->foot[second]] < s->tree->depth[s->foot[first]]) s->foot[first] = s->foot[second];
  return first;
}

/* Makes one set of the joints between two bodies; -1: they are one body. */
static int32_t join_path(joint_sets *s, int32_t a, int32_t c) {
  const int32_t *depth = s->tree->depth;
  int32_t path = -1;
  while (a != c) {
    const int32_t deeper = depth[a] < depth[c] ? c : a, set = leader_of(s, deeper), below = s->foot[set];
    if (deeper == a) a = below;
    else c = below;
    path = path < 0 ? set : unite(s, path, set);
  }
  return path;
}

/* Makes one set of the smallest part of the tree that holds the bodies, at least two of them different. Each path is
 * complete before it joins the others: the foot of a set that is not connected would skip joints. */
static void join(joint_sets *s, const int32_t *body, int32_t n) {
  int32_t all = -1;
  for (int32_t k = 1; k < n; k++) {
    const int32_t path = join_path(s, body[0], body[k]);
    if (path >= 0) all = all < 0 ? path : unite(s, all, path);
  }
}

/* Representative of the set that a body belongs to. */
static int32_t set_of(const joint_sets *s, const int32_t *body, int32_t n) {
  int32_t deepest = body[0];
  for (int32_t k = 1; k < n; k++)
    if (s->tree->depth[body[k]] > s->tree->depth[deepest]) deepest = body[k];
  return leader_of(s, deepest);
}

static int32_t group_of(cluster_groups *g, const joint_sets *s, int32_t leader, int32_t *number) {
  if (number[leader] < 0) {
    g->root[g->groups] = s->foot[leader];
    number[leader] = g->groups++;
  }
  return number[leader];
}

lw_status lw_group(lw_builder *b, const spanning_tree *tree, const unsigned char *closed, const tie_list *ties,
                   cluster_groups *g) {
  const int32_t n = tree->bodies;
  *g = (cluster_groups){0};
  int32_t *p = g->memory = malloc(sizeof *p * (5 * (size_t)n + 2 * (size_t)tree->cuts + 2 * (size_t)ties->ties + 1));
  if (!p) return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the clusters");
  joint_sets s = {tree, p, p + n};
  int32_t *number = p + 2 * n;
  g->of_body = p + 3 * n, g->on_loop = p + 4 * n, g->of_loop = p + 5 * n, g->of_tie = g->of_loop + tree->cuts;
  g->root = g->of_tie + ties->ties;
  for (int32_t k = 0; k < n; k++) s.leader[k] = k, s.foot[k] = tree->parent[k], number[k] = -1, g->on_loop[k] = 0;
  for (int32_t k = 0; k < tree->cuts; k++)
    if (closed[k]) join(&s, &b->joint[tree->cut[k]].parent, 2);
  for (int32_t k = 0; k < tree->cuts; k++)
    if (closed[k]) g->on_loop[set_of(&s, &b->joint[tree->cut[k]].parent, 2)] = 1;
  for (int32_t k = 0; k < n; k++) g->on_loop[k] = g->on_loop[leader_of(&s, k)];
  for (int32_t k = 0; k < ties->ties; k++) join(&s, ties->body + ties->first[k], ties->first[k + 1] - ties->first[k]);
  for (int32_t k = 0; k < tree->cuts; k++)
    g->of_loop[k] = closed[k] ? group_of(g, &s, set_of(&s, &b->joint[tree->cut[k]].parent, 2), number) : -1;
  for (int32_t k = 0; k < ties->ties; k++) {
    const int32_t count = ties->first[k + 1] - ties->first[k];
    g->of_tie[k] = count ? group_of(g, &s, set_of(&s, ties->body + ties->first[k], count), number) : -1;
  }
  for (int32_t k = 0; k < n; k++) g->of_body[k] = number[leader_of(&s, k)];
  return LW_OK;
}
