/* The end of a model and of its variants, and what they take. */
#include "load/kept_variants.h"
#include "load/reader.h"
#include <stdlib.h>

void lw_model_free(lw_model *m) {
  if (!m) return;
  lw_free_kept_variants(m);
  lw_free_multipliers(&m->multipliers);
  lw_dca_plan_free(&m->dca);
  free(m->memory);
  free(m);
}

size_t lw_memory_of_model(const lw_model *m) {
  const lw_dca_plan *p = &m->dca;
  return sizeof *m + m->memory_bytes + m->multipliers.bytes + sizeof *p->list * (size_t)p->constraints +
         sizeof(int32_t) * (size_t)(p->handle.capacity + p->remaining.capacity + 3 * p->jacobian_blocks) +
         (sizeof *p->subassembly + 4 * sizeof(int32_t)) * (size_t)p->subassemblies;
}
