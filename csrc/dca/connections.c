/* What connects the bodies of a model, for the plan of assemblies: all joints by number, then all couplings and distances.
 * Joints and couplings that a model's present variant leaves out are connections all the same, without rows. */
#include "../reading.h"
#include <stdlib.h>

#define JOINT_ROWS 6 /* its own and those of held speeds */

typedef struct listing {
  const lw_model *m;
  lw_dca_connection *list;
  int32_t *end, ends;
  int32_t *joint_of_speed;
  int32_t *stamp; /* of each body: one more than the last connection that it was listed for */
} listing;

static void add_end(listing *l, int32_t connection, int32_t link) {
  if (link < 0 || l->stamp[link] == connection + 1) return;
  l->stamp[link] = connection + 1;
  l->end[l->ends++] = link;
  l->list[connection].ends++;
}

static void add_joint(listing *l, int32_t connection, int32_t j) {
  const lw_joint *joint = &l->m->joint[j];
  if (joint->loop >= 0) {
    add_end(l, connection, l->m->loop[joint->loop].child);
    add_end(l, connection, l->m->loop[joint->loop].parent);
    return;
  }
  add_end(l, connection, joint->link);
  add_end(l, connection, l->m->link[joint->link].parent);
}

static void add_coupling(listing *l, int32_t connection, int32_t i) {
  const lw_coupling *coupling = &l->m->coupling[i];
  for (int end = 0; coupling->distance >= 0 && end < 2; end++)
    add_end(l, connection, l->m->distance[coupling->distance].end[end]);
  for (int32_t t = coupling->first; t < coupling->first + coupling->terms; t++)
    add_joint(l, connection, l->joint_of_speed[l->m->term[t].u]);
}

static void list_all(listing *l) {
  const lw_sizes *s = &l->m->size;
  for (int32_t j = 0; j < s->joints; j++)
    for (int32_t c = 0; c < lw_joint_sizes[l->m->joint[j].type].u; c++) l->joint_of_speed[l->m->joint[j].u + c] = j;
  for (int32_t k = 0; k < s->joints + s->couplings; k++) {
    l->list[k] = (lw_dca_connection){.first = l->ends, .rows = k < s->joints ? JOINT_ROWS : 1};
    if (k < s->joints) add_joint(l, k, k);
    else add_coupling(l, k, k - s->joints);
  }
}

lw_status lw_plan_assemblies(lw_model *m) {
  const lw_sizes *s = &m->size;
  const size_t connections = (size_t)s->joints + (size_t)s->couplings;
  const size_t ends = 2 * (connections + (size_t)s->terms);
  listing l = {.m = m};
  l.list = malloc((connections + 1) * sizeof *l.list);
  l.end = malloc((ends + 1) * sizeof *l.end);
  l.stamp = calloc((size_t)(s->bodies + s->nu + s->nu_cut) + 1, sizeof *l.stamp);
  if (!l.list || !l.end || !l.stamp) {
    free(l.list);
    free(l.end);
    free(l.stamp);
    return LW_ERROR_MEMORY;
  }
  l.joint_of_speed = l.stamp + s->bodies;
  list_all(&l);
  free(l.stamp);
  return lw_dca_plan_make(s->bodies, (int32_t)connections, l.list, l.end, &m->dca) ? LW_OK : LW_ERROR_MEMORY;
}

int32_t lw_dca_levels(const lw_model *m) { return m->dca.levels; }
