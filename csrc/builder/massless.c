/* Bodies without mass and inertia: what refuses a mechanism, or a method, with them. A joint of the tree needs something
 * with inertia outboard of it, since the articulated-body recursion divides by the inertia that its columns move. On a
 * loop the choice of the cut joints provides it where possible (massless_leaves.c). Methods that solve loops by
 * independent coordinates need inertia along the degrees of freedom of a cluster only. */
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>

static int has_inertia(const lw_model *m, int32_t body) {
  const double *inertia = m->defaults + m->at.body_inertia + 6 * body;
  int has = m->defaults[m->at.body_mass + body] > 0.0;
  for (int i = 0; i < 6; i++) has |= inertia[i] != 0.0;
  return has;
}

/* Marks the links whose bodies, or those outboard of them, have inertia. NULL: there is no massless body (or no memory:
 * nothing is refused then). */
static unsigned char *mark_inertia_outboard(const lw_model *m) {
  int any = 0;
  for (int32_t k = 0; k < m->size.bodies; k++) any |= !has_inertia(m, k);
  unsigned char *found = any ? calloc((size_t)m->size.bodies, 1) : NULL;
  for (int32_t k = m->size.bodies - 1; found && k >= 0; k--) {
    found[k] |= (unsigned char)has_inertia(m, m->link[k].body);
    if (m->link[k].parent >= 0) found[m->link[k].parent] |= found[k];
  }
  return found;
}

/* The joint of a link is regular only with inertia outboard of it, and there is none. */
static int moves_nothing(const lw_model *m, const unsigned char *marks, int32_t link) {
  const double *rotor = m->defaults + m->at.reflected_inertia + m->link[link].u;
  int needs = 0;
  for (int32_t c = 0; c < m->link[link].speeds; c++) needs |= rotor[c] == 0.0;
  return needs && !marks[link];
}

/* Lists the cut joints at a link and the links outboard of it, or those of them that are open. */
static void list_cuts(const lw_model *m, int32_t link, int only_open, char list[LW_LISTED]) {
  unsigned char *outboard = calloc((size_t)m->size.bodies, 1);
  const char **name = malloc(sizeof *name * ((size_t)m->size.loops + 1));
  int32_t n = 0;
  list[0] = 0;
  if (outboard && name) {
    outboard[link] = 1;
    for (int32_t k = link + 1; k < m->size.bodies; k++)
      outboard[k] = m->link[k].parent >= 0 && outboard[m->link[k].parent];
    for (int32_t l = 0; l < m->size.loops; l++) {
      const lw_loop *loop = &m->loop[l];
      if (only_open && loop->cluster >= 0) continue;
      if ((loop->parent >= 0 && outboard[loop->parent]) || (loop->child >= 0 && outboard[loop->child]))
        name[n++] = m->joint_name[loop->joint];
    }
    lw_quote_names(list, name, n);
  }
  free(outboard);
  free(name);
}

static lw_status refuse_link(lw_builder *b, const lw_model *m, int32_t link) {
  char open[LW_LISTED];
  const char *body = m->body_name[m->link[link].body], *joint = m->joint_name[m->link[link].joint];
  list_cuts(m, link, 1, open);
  return lw_refuse(b, LW_ERROR_USAGE,
                   "body '%s' has no mass, and nothing with mass hangs on it%s%s%s, so that joint '%s' moves no "
                   "inertia: give body '%s' a mass or joint '%s' a reflected inertia, or join it to its neighbour by a "
                   "fixed joint",
                   body, open[0] ? " while " : "", open, open[0] ? " is open" : "", joint, body, joint);
}

static void refuse_open_tree(const lw_model *m, char *text, size_t size) {
  unsigned char *marks = mark_inertia_outboard(m);
  char cuts[LW_LISTED];
  for (int32_t k = 0; marks && k < m->size.bodies; k++) {
    if (!moves_nothing(m, marks, k)) continue;
    list_cuts(m, k, 0, cuts);
    snprintf(text, size, "body '%s' has no mass, and nothing with mass hangs on it in the open tree%s%s%s",
             m->body_name[m->link[k].body], cuts[0] ? " with " : "", cuts, cuts[0] ? " cut" : "");
    break;
  }
  free(marks);
}

void lw_refuse_massless_method(const lw_model *m, lw_method_choice method, char *text, size_t size) {
  const char *first = NULL;
  int32_t count = 0;
  text[0] = 0;
  for (int32_t k = 0; k < m->size.bodies; k++)
    if (m->defaults[m->at.body_mass + k] == 0.0 && !count++) first = m->body_name[k];
  if (!count || method == LW_METHOD_AUTO || method == LW_METHOD_RCR || method == LW_METHOD_EMBEDDING) return;
  if (method != LW_METHOD_DCA) {
    refuse_open_tree(m, text, size);
    return;
  }
  char more[32] = " has";
  if (count > 1) snprintf(more, sizeof more, " and %d more have", (int)count - 1);
  snprintf(text, size, "body '%s'%s no mass, and the method takes the inverse of the mass of each body", first, more);
}

/* Bodies that move by themselves, outside of all loops: no pose has a unique acceleration then. */
static lw_status check_trees(lw_builder *b, const lw_model *m, const unsigned char *marks) {
  for (int32_t k = 0; k < m->size.bodies; k++)
    if (m->link[k].cluster < 0 && moves_nothing(m, marks, k)) return refuse_link(b, m, k);
  return LW_OK;
}

/* Loops of massless bodies that move. */
static lw_status check_clusters(lw_builder *b, const lw_model *m, const unsigned char *marks) {
  for (const lw_cluster *c = m->cluster; c < m->cluster + m->clusters; c++) {
    int32_t moving = -1, any = 0;
    for (int32_t i = c->first; i < c->first + c->count; i++) {
      any |= marks[i];
      if (moving < 0 && moves_nothing(m, marks, i)) moving = i;
    }
    if (c->dof > 0 && moving >= 0 && !any) return refuse_link(b, m, moving);
  }
  return LW_OK;
}

lw_status lw_check_massless(lw_builder *b, const lw_model *m) {
  static const char *const word[] = {"auto", "rcr", "embedding", "multipliers", "multipliers", "multipliers", "dca"};
  char why[LW_REASON];
  unsigned char *marks = mark_inertia_outboard(m);
  lw_status e = marks ? check_trees(b, m, marks) : LW_OK;
  lw_refuse_massless_method(m, b->method, why, sizeof why);
  if (!e && why[0])
    e = lw_refuse(b, LW_ERROR_USAGE, "method '%s' cannot take this mechanism: %s; use %s", word[b->method], why,
                  m->clusters ? "'auto', 'rcr' or 'embedding'" : "'auto'");
  if (!e && marks && b->method <= LW_METHOD_EMBEDDING) e = check_clusters(b, m, marks);
  free(marks);
  return e;
}
