/* Bodies without mass and inertia: what refuses a mechanism, or a method, with them. */
#include "plan.h"
#include <stdlib.h>

enum { INERTIA_OUTBOARD = 1, IN_CLUSTER = 2 }; /* marks of links */

/* Marks the links whose bodies, or those outboard of them, have inertia, and those in clusters. NULL: no memory, or
 * no massless body. */
unsigned char *lw_mark_inertia_outboard(const plan *p, const topology *t) {
  const lw_builder *b = p->builder;
  int any = 0;
  for (int32_t k = 0; k < b->bodies; k++) any |= !lw_has_inertia(&b->body[k]);
  unsigned char *found = any ? calloc((size_t)b->bodies, 1) : NULL;
  if (!found) return NULL;
  for (int32_t k = b->bodies - 1; k >= 0; k--) {
    if (lw_has_inertia(&b->body[t->link[k][0]])) found[k] = INERTIA_OUTBOARD;
    if (t->link[k][2] >= 0) found[t->link[k][2]] |= found[k];
  }
  for (int32_t k = 0; k < t->clusters; k++)
    for (int32_t i = t->cluster[k][1]; i < t->cluster[k][1] + t->cluster[k][2]; i++) found[i] |= IN_CLUSTER;
  return found;
}

static int moves_nothing(const plan *p, const topology *t, const unsigned char *marks, int32_t link) {
  return !(marks[link] & INERTIA_OUTBOARD) && lw_needs_inertia(&p->builder->joint[t->link[link][1]]);
}

static lw_status refuse_link(const plan *p, const topology *t, int32_t link) {
  lw_builder *b = p->builder;
  const char *body = b->body[t->link[link][0]].name;
  return lw_refuse(
      b, LW_ERROR_USAGE,
      "body '%s' has no mass, and nothing with mass hangs on it, so that joint '%s' moves no inertia: give "
      "body '%s' a mass, or join it to its neighbour by a fixed joint",
      body, b->joint[t->link[link][1]].name, body);
}

static lw_status check_method(const plan *p, const topology *t, const unsigned char *marks) {
  lw_builder *b = p->builder;
  for (int32_t k = 0; b->method == LW_METHOD_DCA && k < b->bodies; k++)
    if (b->body[k].mass == 0.0)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "divide and conquer cannot take body '%s': it has no mass, and the method takes the inverse of "
                       "the mass of each body; use another method",
                       b->body[k].name);
  const int open_tree = b->method == LW_METHOD_MULTIPLIERS || b->method == LW_METHOD_MULTIPLIERS_CENTROID ||
                        b->method == LW_METHOD_MULTIPLIERS_ORIGIN;
  for (int32_t k = 0; open_tree && marks && k < b->bodies; k++)
    if (moves_nothing(p, t, marks, k))
      return lw_refuse(
          b, LW_ERROR_USAGE,
          "multipliers cannot take body '%s': it has no mass, and nothing with mass hangs on it in the open "
          "tree; use another method",
          b->body[t->link[k][0]].name);
  return LW_OK;
}

lw_status lw_check_massless(const plan *p, const topology *t) {
  unsigned char *marks = lw_mark_inertia_outboard(p, t);
  lw_status e = LW_OK;
  for (int32_t k = 0; !e && marks && k < p->builder->bodies; k++)
    if (moves_nothing(p, t, marks, k) && !(marks[k] & IN_CLUSTER)) e = refuse_link(p, t, k);
  if (!e) e = check_method(p, t, marks);
  free(marks);
  return e;
}

lw_status lw_check_massless_cluster(const plan *p, const topology *t, const unsigned char *marks, int32_t k,
                                    int32_t dof) {
  const int32_t first = t->cluster[k][1], end = first + t->cluster[k][2];
  int32_t moving = -1, any = 0;
  for (int32_t i = first; marks && i < end; i++) {
    any |= marks[i] & INERTIA_OUTBOARD;
    if (moving < 0 && moves_nothing(p, t, marks, i)) moving = i;
  }
  return marks && dof > 0 && moving >= 0 && !any ? refuse_link(p, t, moving) : LW_OK;
}
