/* Links from ground outwards, and what the cut joints close. Loops, couplings and distances that share joints form
 * clusters; no two clusters share a joint, so that contracting each to a point leaves a tree, whose depth-first order
 * is that of the links. */
#include "plan.h"
#include <stdlib.h>

/* Bodies of each group depth-first, CSR. */
typedef struct members {
  int32_t *first, *body;
} members;

static void list_members(const spanning_tree *tree, const cluster_groups *g, members *m) {
  for (int32_t k = 0; k <= g->groups; k++) m->first[k] = 0;
  for (int32_t k = 0; k < tree->bodies; k++)
    if (g->of_body[k] >= 0) m->first[g->of_body[k]]++;
  for (int32_t k = 1; k <= g->groups; k++) m->first[k] += m->first[k - 1]; /* the ends: filled from behind */
  for (int32_t k = tree->bodies - 1; k >= 0; k--)
    if (g->of_body[tree->order[k]] >= 0) m->body[--m->first[g->of_body[tree->order[k]]]] = tree->order[k];
}

/* Children of a body, last first: bodies that belong to no group, and groups by their first body. */
static int32_t push_standing(const spanning_tree *tree, const cluster_groups *g, const members *m, int32_t on,
                             int32_t *stack, int32_t waiting) {
  for (int32_t k = tree->first_child[on + 1]; k > tree->first_child[on];) {
    const int32_t body = tree->child[--k], group = g->of_body[body];
    if (group < 0 || m->body[m->first[group]] == body) stack[waiting++] = body;
  }
  return waiting;
}

/* Writes the bodies in the order of the links into link[][0], and the segments. */
static void order_links(const spanning_tree *tree, const cluster_groups *g, const members *m, topology *t,
                        int32_t *stack) {
  int32_t links = 0, waiting = push_standing(tree, g, m, GROUND, stack, 0);
  while (waiting) {
    const int32_t body = stack[--waiting], group = g->of_body[body];
    const int32_t *added = group < 0 ? &body : m->body + m->first[group];
    const int32_t count = group < 0 ? 1 : m->first[group + 1] - m->first[group];
    if (group < 0 && t->segments && t->segment[t->segments - 1][0] < 0) {
      t->segment[t->segments - 1][2]++;
    } else {
      int32_t *segment = t->segment[t->segments++];
      segment[0] = group, segment[1] = links, segment[2] = count;
    }
    for (int32_t k = 0; k < count; k++) t->link[links++][0] = added[k];
    for (int32_t k = count; k > 0;) waiting = push_standing(tree, g, m, added[--k], stack, waiting);
  }
}

static void fill_tables(const plan *p, const cluster_groups *g, const members *m, topology *t) {
  const spanning_tree *tree = &p->tree;
  const joint_part *joint = p->builder->joint;
  t->link_of[GROUND] = -1;
  for (int32_t k = 0; k < tree->bodies; k++) t->link_of[t->link[k][0]] = k;
  for (int32_t k = 0; k < tree->bodies; k++) {
    int32_t *link = t->link[k];
    link[1] = tree->joint[link[0]];
    link[2] = t->link_of[tree->parent[link[0]]];
    link[3] = joint[link[1]].parent == link[0];
  }
  for (int32_t k = 0; k < tree->cuts; k++) {
    const joint_part *cut = &joint[tree->cut[k]];
    int32_t *loop = t->loop[k];
    loop[0] = tree->cut[k], loop[1] = t->link_of[cut->parent], loop[2] = t->link_of[cut->child];
    loop[3] = t->link_of[lw_meeting_body(tree, cut->parent, cut->child)];
    loop[4] = g->of_loop[k];
  }
  for (int32_t k = 0; k < g->groups; k++) {
    int32_t *cluster = t->cluster[k];
    cluster[0] = t->link_of[g->root[k]], cluster[1] = t->link_of[m->body[m->first[k]]];
    cluster[2] = m->first[k + 1] - m->first[k], cluster[3] = 0;
  }
  for (int32_t k = 0; k < t->ties; k++) t->tie_cluster[k] = g->of_tie[k];
}

/* Joints that may open and are closed, or all others that are cut. */
static void mark_closed(const plan *p, const unsigned char *open, unsigned char *closed) {
  for (int32_t k = 0; k < p->tree.cuts; k++) closed[k] = !open[p->tree.cut[k]];
}

/* Couplings, locks of joints that are not open, and distances, by the bodies that they join. */
static lw_status list_ties(const plan *p, const unsigned char *open, tie_list *ties) {
  lw_builder *b = p->builder;
  const variants *v = &p->variants;
  const int32_t all = b->couplings + v->locks + b->distances;
  *ties = (tie_list){.ties = all};
  ties->memory = malloc(sizeof(int32_t) * ((size_t)all + 1 + 2 * (size_t)(b->terms + v->locks + b->distances)));
  if (!ties->memory) return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the couplings");
  ties->first = ties->memory, ties->body = ties->memory + all + 1;
  int32_t tie = 0, n = 0;
  for (int32_t k = 0; k < b->couplings; k++) {
    ties->first[tie++] = n;
    for (int32_t i = p->first_term[k]; i < p->first_term[k + 1]; i++) {
      const joint_part *j = &b->joint[b->term[p->term_order[i]].joint];
      ties->body[n++] = j->parent, ties->body[n++] = j->child;
    }
  }
  for (int32_t k = 0; k < v->locks; k++) {
    ties->first[tie++] = n;
    if (open[v->lock[k][0]]) continue;
    ties->body[n++] = b->joint[v->lock[k][0]].parent, ties->body[n++] = b->joint[v->lock[k][0]].child;
  }
  for (int32_t k = 0; k < b->distances; k++) {
    ties->first[tie++] = n;
    ties->body[n++] = b->distance[k].body[0], ties->body[n++] = b->distance[k].body[1];
  }
  ties->first[tie] = n;
  return LW_OK;
}

static int make_tables(topology *t, const spanning_tree *tree, int32_t clusters, int32_t ties) {
  const size_t n = (size_t)tree->bodies, m = (size_t)tree->cuts, c = (size_t)clusters;
  int32_t *p = t->memory = malloc(sizeof *p * (12 * n + 8 * m + 8 * c + (size_t)ties + 8));
  if (!p) return 0;
  t->loops = tree->cuts, t->clusters = clusters, t->ties = ties;
  t->link = (int32_t (*)[4])p, p += 4 * n;
  t->loop = (int32_t (*)[5])p, p += 5 * m;
  t->cluster = (int32_t (*)[4])p, p += 4 * c;
  t->segment = (int32_t (*)[3])p, p += 3 * (n < 2 * c + 1 ? n : 2 * c + 1); /* between clusters one at most */
  t->ear = (int32_t (*)[3])p, p += 3 * (n + m);
  t->ear_link = p, p += n;
  t->tie_cluster = p, p += ties;
  t->link_of = p + 1;
  return 1;
}

lw_status lw_lay_topology(const plan *p, const unsigned char *open, topology *t) {
  const spanning_tree *tree = &p->tree;
  tie_list ties = {0};
  cluster_groups groups = {0};
  *t = (topology){0};
  unsigned char *closed = malloc((size_t)tree->cuts + 1);
  int32_t *scratch = NULL;
  lw_status e = closed ? LW_OK : LW_ERROR_MEMORY;
  if (!e) mark_closed(p, open, closed);
  if (!e && !(e = list_ties(p, open, &ties)) && !(e = lw_group(p->builder, tree, closed, &ties, &groups))) {
    scratch = malloc(sizeof *scratch * (3 * (size_t)tree->bodies + 2));
    if (!scratch || !make_tables(t, tree, groups.groups, ties.ties)) e = LW_ERROR_MEMORY;
  }
  if (!e) {
    members m = {scratch, scratch + tree->bodies + 2};
    list_members(tree, &groups, &m);
    order_links(tree, &groups, &m, t, m.body + tree->bodies);
    fill_tables(p, &groups, &m, t);
    e = lw_order_loops(p, &groups, t);
  }
  free(closed);
  free(scratch);
  free(ties.memory);
  free(groups.memory);
  return e ? lw_refuse(p->builder, e, "there is no memory for the topology") : LW_OK;
}
