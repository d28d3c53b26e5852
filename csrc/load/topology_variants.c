/* Topology variants: the models of one mechanism, each with other joints closed. A state changes variant at an
 * event, and finds every number where it was: their blocks are laid out alike. */
#include "load/reader.h"
#include <stdlib.h>
#include <string.h>

static int32_t at_least(int32_t a, int32_t b) { return a > b ? a : b; }

/* The same bodies, joints and states; its own transitions would never be looked at. */
static int is_alike(const lw_model *a, const lw_model *b) {
  lw_sizes size = b->size;
  size.reals = a->size.reals, size.event_indicators = a->size.event_indicators;
  if (memcmp(&a->size, &size, sizeof size) != 0 || a->method != b->method || a->removable_joints != b->removable_joints)
    return 0;
  for (int32_t j = 0; j < a->size.joints; j++) {
    const lw_joint *x = &a->joint[j], *y = &b->joint[j];
    if (x->type != y->type || x->q != y->q || x->u != y->u || (x->loop < 0) != (y->loop < 0) ||
        x->captured != y->captured)
      return 0;
  }
  for (int32_t i = 0; i < a->removable_joints; i++)
    if (a->removable_joint[i] != b->removable_joint[i]) return 0;
  for (int32_t i = 0; i < a->couplings; i++)
    if (a->coupling[i].terms != b->coupling[i].terms || a->coupling[i].lock != b->coupling[i].lock) return 0;
  return memcmp(a->coordinate, b->coordinate, sizeof(int32_t) * (size_t)(a->size.nu + a->size.nu_cut)) == 0;
}

/* Arrays that differ in size among them get the largest size. */
static lw_status layout_variants_alike(reader *r, lw_model *m) {
  int32_t cluster_reals = 0, multipliers = 0, integers = 0;
  for (int32_t i = 0; i <= m->variants; i++) {
    const lw_model *variant_model = m->variant[i];
    cluster_reals = at_least(cluster_reals, variant_model->cluster_reals);
    multipliers = at_least(multipliers, variant_model->multipliers.reals);
    integers = at_least(integers, variant_model->integers);
  }
  for (int32_t i = 0; i <= m->variants; i++) {
    lw_model *variant_model = m->variant[i];
    variant_model->cluster_reals = cluster_reals, variant_model->multipliers.reals = multipliers,
    variant_model->integers = integers;
    const lw_status e = lw_layout_block(r, variant_model);
    if (e) return e;
  }
  return LW_OK;
}

static lw_status fail_behind(reader *r) {
  return lw_format_error(r, "the model is truncated or extended: %zu bytes stand behind its end; export it again",
                         r->size - r->position);
}

lw_status lw_read_variants(reader *r, lw_model *m, lw_status (*read)(reader *r, lw_model **model)) {
  if (!m->variants) return r->position == r->size ? LW_OK : fail_behind(r);
  m->variant = calloc((size_t)m->variants + 1, sizeof *m->variant);
  if (!m->variant) return LW_ERROR_MEMORY;
  m->variant[m->closed] = m;
  for (int32_t i = 0; i < m->variants; i++) {
    lw_model *variant_model = NULL;
    const size_t end = r->size;
    const lw_status e = read(r, &variant_model);
    if (e) return e;
    r->size = end;
    if (variant_model->variants || m->variant[variant_model->closed] || !is_alike(m, variant_model)) {
      lw_model_free(variant_model);
      return lw_format_error(r, "the model's structure %d is not of the same mechanism, or comes twice", i);
    }
    m->variant[variant_model->closed] = variant_model;
  }
  if (r->position != r->size) return fail_behind(r);
  return layout_variants_alike(r, m);
}
