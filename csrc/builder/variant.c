/* One topology variant: its loops, their order and methods; then bytes, which are read as those of any file. */
#include "plan.h"
#include <stdlib.h>

static lw_status load(lw_builder *b, const model_bytes *bytes, lw_model **model) {
  char message[256];
  if (bytes->failed) return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the model");
  const lw_status e = lw_read_model(bytes->bytes, bytes->size, model, message, sizeof message);
  return e ? lw_refuse(b, e, "%s", message) : LW_OK;
}

static int32_t whole_method(lw_method_choice choice) {
  switch (choice) {
    case LW_METHOD_MULTIPLIERS: return LW_MULTIPLIERS_JOINT;
    case LW_METHOD_MULTIPLIERS_CENTROID: return LW_MULTIPLIERS_CENTROID;
    case LW_METHOD_MULTIPLIERS_ORIGIN: return LW_MULTIPLIERS_ORIGIN;
    case LW_METHOD_DCA: return LW_DCA;
    case LW_METHOD_AUTO:
    case LW_METHOD_RCR:
    case LW_METHOD_EMBEDDING: break;
  }
  return LW_BY_CLUSTERS;
}

static int any_open(const plan *p, const unsigned char *open) {
  int any = 0;
  for (int32_t k = 0; k < p->variants.removable_joints; k++) any |= open[p->variants.removable_joint[k]];
  return any;
}

/* The choice of methods needs what a model that is solved loop by loop expects of its clusters. */
lw_status lw_compile_variant(const plan *p, const unsigned char *open, model_bytes *out, lw_model **model) {
  lw_builder *b = p->builder;
  topology t;
  lw_status e = lw_lay_topology(p, open, &t);
  const int32_t method = whole_method(b->method);
  int embedded = 0;
  *model = NULL;
  if (!e) lw_write_model(p, &t, method, out);
  if (!e && !(e = load(b, out, model)) && !(e = lw_check_massless(b, *model)) && method == LW_BY_CLUSTERS)
    e = lw_choose_methods(b, &t, *model, any_open(p, open));
  for (int32_t k = 0; !e && k < t.clusters; k++) embedded |= t.cluster[k][3];
  if (!e && embedded) {
    lw_model_free(*model);
    *model = NULL, out->size = 0;
    lw_write_model(p, &t, method, out);
    e = load(b, out, model);
  }
  if (e) lw_model_free(*model), *model = NULL;
  free(t.memory);
  return e;
}

void lw_free_plan(plan *p) {
  lw_free_variants(&p->variants);
  free(p->tree.memory);
  free(p->memory);
}
