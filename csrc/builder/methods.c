/* Which method solves each cluster: the one asked for, else the one that is expected to cost less (costs.c). */
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>

/* A cluster in words: by its cut joints, its couplings or its distances. */
static void name_cluster(const lw_model *m, int32_t k, char *text, size_t size) {
  const lw_cluster *c = &m->cluster[k];
  const char **name = malloc(sizeof *name * ((size_t)c->loops + (size_t)c->couplings + 1));
  char list[LW_LISTED] = "";
  const int32_t first_distance = m->couplings - m->size.distances, first_lock = first_distance - m->size.locks;
  int32_t n = 0, own = 0;
  for (int32_t l = 0; name && l < m->size.loops; l++)
    if (m->loop[l].cluster == k) name[n++] = m->joint_name[m->loop[l].joint];
  for (int32_t i = 0; name && i < m->couplings && !c->loops; i++) {
    const int is_distance = i >= first_distance, is_lock = !is_distance && i >= first_lock;
    own += m->coupling[i].cluster == k && !is_distance && !is_lock;
    if (m->coupling[i].cluster == k && (c->distances ? is_distance : 1)) name[n++] = m->coupling_name[i];
  }
  if (name) lw_quote_names(list, name, !c->loops && !c->distances && own ? own : n);
  free(name);
  if (c->loops) snprintf(text, size, "the loop%s closed by %s", c->loops > 1 ? "s" : "", list);
  else if (c->distances) snprintf(text, size, "the links held by %s", list);
  else if (own) snprintf(text, size, "the joints coupled by %s", list);
  else snprintf(text, size, "the joints that may be locked: %s", list);
}

static int32_t cluster_of_joint(const lw_model *m, int32_t joint) {
  const lw_joint *j = &m->joint[joint];
  return j->link >= 0 ? m->link[j->link].cluster : m->loop[j->loop].cluster;
}

static const char *words_of(int32_t method) {
  static const char *const word[] = {"auto", "rcr", "embedding", "multipliers", "multipliers", "multipliers", "dca"};
  return word[method];
}

/* The joint by which a method is requested for each cluster; -1: none. */
static lw_status find_requests(lw_builder *b, const lw_model *m, int32_t *asking, int partly) {
  for (int32_t k = 0; k < m->clusters; k++) asking[k] = -1;
  for (int32_t j = 0; j < b->joints; j++) {
    const int32_t method = b->joint[j].method;
    if (method < 0) continue;
    const int32_t cluster = cluster_of_joint(m, j);
    if (cluster < 0 && partly) continue;
    if (cluster < 0)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "method '%s': joint '%s' is on no loop and in no coupling or distance; leave it out",
                       words_of(method), b->joint[j].name);
    if (asking[cluster] >= 0 && b->joint[asking[cluster]].method != method)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "joints '%s' and '%s' are in loops that are solved together: give one method for both",
                       b->joint[asking[cluster]].name, b->joint[j].name);
    asking[cluster] = j;
  }
  return LW_OK;
}

static lw_status choose(lw_builder *b, topology *t, const lw_model *m, int32_t k, int32_t requested) {
  char why[LW_REASON], cluster[LW_REASON];
  lw_model_refusal(m, k, LW_METHOD_EMBEDDING, why, sizeof why);
  if (requested == LW_METHOD_EMBEDDING && why[0]) {
    name_cluster(m, k, cluster, sizeof cluster);
    return lw_refuse(b, LW_ERROR_USAGE, "method 'embedding' cannot take %s: %s; use 'auto' or 'rcr' there", cluster,
                     why);
  }
  int embed = requested == LW_METHOD_EMBEDDING;
  if (requested == LW_METHOD_AUTO)
    embed = lw_model_cost(m, k, LW_METHOD_EMBEDDING) < lw_model_cost(m, k, LW_METHOD_RCR);
  t->cluster[k][3] = embed ? LW_EMBEDDING : LW_RCR;
  return LW_OK;
}

lw_status lw_choose_methods(lw_builder *b, topology *t, const lw_model *m, int partly) {
  int32_t *asking = malloc(sizeof *asking * ((size_t)t->clusters + 1));
  lw_status e = asking ? find_requests(b, m, asking, partly) : lw_no_memory(b);
  for (int32_t k = 0; !e && k < t->clusters; k++)
    e = choose(b, t, m, k, asking[k] < 0 ? (int32_t)b->method : b->joint[asking[k]].method);
  free(asking);
  return e;
}
