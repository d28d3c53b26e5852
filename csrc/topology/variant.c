/* Of many pins a run meets few combinations: the variant of one is compiled when a state first needs it. */
#include "topology/variant.h"
#include "load/kept_variants.h"
#include "topology/known_topology.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status compile(const lw_model *m, const unsigned char *closed, lw_model **variant, char *why, size_t size) {
  lw_builder b;
  plan p;
  model_bytes out = {0};
  lw_status e = lw_describe_topology(m, &b, &p);
  unsigned char *open = e ? NULL : calloc((size_t)m->size.joints, 1);
  if (!e && !open) e = lw_no_memory(&b);
  for (int32_t k = 0; !e && k < m->removable_joints; k++) open[m->removable_joint[k]] = !closed[k];
  if (!e) e = lw_compile_variant(&p, open, &out, variant);
  if (e) snprintf(why, size, "%s", b.message);
  free(open);
  free(out.bytes);
  lw_free_description(&b, &p);
  return e;
}

/* All numbers of a state stand at the same places in it. */
static int is_alike(const lw_model *a, const lw_model *b) {
  int alike = memcmp(&a->size, &b->size, sizeof a->size) == 0;
  for (int32_t j = 0; alike && j < a->size.joints; j++)
    alike = a->joint[j].u == b->joint[j].u && (a->joint[j].loop < 0) == (b->joint[j].loop < 0);
  return alike;
}

lw_status lw_variant_with(const lw_model *m, const unsigned char *closed, const lw_model **variant, char *why,
                          size_t size) {
  lw_model *made = NULL;
  lw_status e = LW_OK;
  *variant = NULL;
  if (memcmp(m->closed, closed, (size_t)m->removable_joints) == 0) *variant = m;
  else if (m->variants) *variant = lw_use_kept_variant(m, closed);
  if (*variant || !m->variants) return *variant ? LW_OK : LW_ERROR_USAGE;
  if ((e = compile(m, closed, &made, why, size))) return e;
  if (!is_alike(m, made)) {
    lw_model_free(made);
    snprintf(why, size, "the model's links or loops contradict each other");
    return LW_ERROR_FORMAT;
  }
  *variant = lw_keep_variant(m, made);
  if (!*variant) snprintf(why, size, "there is no memory for it");
  return *variant ? LW_OK : LW_ERROR_MEMORY;
}

const lw_model *lw_model_variant(const lw_model *m, const int32_t *open, int32_t count) {
  const lw_model *found = NULL;
  char why[256] = "";
  unsigned char *closed = malloc((size_t)m->removable_joints + 1);
  if (!closed) return NULL;
  memset(closed, 1, (size_t)m->removable_joints + 1);
  for (int32_t k = 0; k < m->removable_joints; k++)
    for (int32_t i = 0; i < count; i++)
      if (open[i] == m->removable_joint[k]) closed[k] = 0;
  if (lw_variant_with(m, closed, &found, why, sizeof why)) found = NULL;
  free(closed);
  return found;
}
