/* Structures: the models of one mechanism, each with other joints closed. A state goes from one to another at an event, and
 * finds every number where it was: their blocks are laid out alike. */
#include "reading.h"
#include <stdlib.h>
#include <string.h>

static int32_t at_least(int32_t a, int32_t b) { return a > b ? a : b; }

/* The same bodies, joints and states; its own transitions would never be looked at. */
static int is_alike(const lw_model *a, const lw_model *b) {
  lw_sizes size = b->size;
  size.reals = a->size.reals, size.event_indicators = a->size.event_indicators;
  if (memcmp(&a->size, &size, sizeof size) != 0 || a->method != b->method || a->switches != b->switches) return 0;
  for (int32_t j = 0; j < a->size.joints; j++) {
    const lw_joint *x = &a->joint[j], *y = &b->joint[j];
    if (x->type != y->type || x->q != y->q || x->u != y->u || (x->loop < 0) != (y->loop < 0) || x->taken != y->taken)
      return 0;
  }
  for (int32_t i = 0; i < a->switches; i++)
    if (a->switch_joint[i] != b->switch_joint[i]) return 0;
  for (int32_t i = 0; i < a->couplings; i++)
    if (a->coupling[i].terms != b->coupling[i].terms || a->coupling[i].lock != b->coupling[i].lock) return 0;
  return memcmp(a->coordinate, b->coordinate, sizeof(int32_t) * (size_t)(a->size.nu + a->size.nu_cut)) == 0;
}

/* What differs in size among them gets room for the largest. */
static lw_status lay_out_alike(reader *r, lw_model *m) {
  int32_t cluster_reals = 0, multipliers = 0, integers = 0;
  for (int32_t i = 0; i <= m->structures; i++) {
    const lw_model *one = m->structure[i];
    cluster_reals = at_least(cluster_reals, one->cluster_reals);
    multipliers = at_least(multipliers, one->multipliers.reals);
    integers = at_least(integers, one->integers);
  }
  for (int32_t i = 0; i <= m->structures; i++) {
    lw_model *one = m->structure[i];
    one->cluster_reals = cluster_reals, one->multipliers.reals = multipliers, one->integers = integers;
    const lw_status e = lw_lay_out_block(r, one);
    if (e) return e;
  }
  return LW_OK;
}

static lw_status fail_behind(reader *r) {
  return lw_read_fail(r, "the model is truncated or extended: %zu bytes stand behind its end; export it again",
                      r->size - r->position);
}

lw_status lw_read_structures(reader *r, lw_model *m, lw_status (*read)(reader *r, lw_model **model)) {
  if (!m->structures) return r->position == r->size ? LW_OK : fail_behind(r);
  m->structure = calloc((size_t)m->structures + 1, sizeof *m->structure);
  if (!m->structure) return LW_ERROR_MEMORY;
  m->structure[m->closed] = m;
  for (int32_t i = 0; i < m->structures; i++) {
    lw_model *one = NULL;
    const size_t end = r->size;
    const lw_status e = read(r, &one);
    if (e) return e;
    r->size = end;
    if (one->structures || m->structure[one->closed] || !is_alike(m, one)) {
      lw_model_free(one);
      return lw_read_fail(r, "the model's structure %d is not of the same mechanism, or comes twice", i);
    }
    m->structure[one->closed] = one;
  }
  if (r->position != r->size) return fail_behind(r);
  return lay_out_alike(r, m);
}

void lw_free_structures(lw_model *m) {
  for (int32_t i = 0; m->structure && i <= m->structures; i++)
    if (m->structure[i] != m) lw_model_free(m->structure[i]);
  free(m->structure);
}
