/* The end of a model and of its variants. */
#include "load/reader.h"
#include <stdlib.h>

/* The model is one of its own variants. */
static void free_variants(lw_model *m) {
  for (int32_t i = 0; m->variant && i <= m->variants; i++)
    if (m->variant[i] != m) lw_model_free(m->variant[i]);
  free(m->variant);
}

void lw_model_free(lw_model *m) {
  if (!m) return;
  free_variants(m);
  lw_free_multipliers(&m->multipliers);
  lw_dca_plan_free(&m->dca);
  free(m->memory);
  free(m);
}
