/* Work memory for divide and conquer, which a state gets when it is first needed. */
#include "block/state.h"
#include "dca/threads.h"
#include <stdlib.h>

static int64_t count_reals(const lw_model *m) {
  const lw_dca_plan *p = &m->dca;
  const lw_sizes *s = &m->size;
  int64_t reals = 0;
#define ARRAY(name, scalars) reals += (int64_t)(scalars);
  LW_DCA_WORKSPACE(ARRAY)
#undef ARRAY
  return reals;
}

lw_status lw_dca_allocate(lw_state *s, lw_dca_workspace *workspace, lw_block *block, size_t scalar) {
  const lw_dca_plan *p = &s->model->dca;
  const int64_t reals = count_reals(s->model), scratch = p->scratch;
  const int32_t threads = lw_threads();
  if (!workspace->reals && reals < LW_MOST_DCA_REALS) {
    workspace->reals = malloc(scalar * (size_t)reals);
    workspace->integers = malloc(sizeof(int32_t) * (size_t)(p->integers + p->constraints + p->rows));
  }
  if (workspace->scratches < threads) {
    free(workspace->scratch);
    workspace->scratch = scratch < LW_MOST_DCA_REALS / threads ? malloc(scalar * (size_t)(scratch * threads)) : NULL;
    workspace->scratches = workspace->scratch ? threads : 0;
  }
  workspace->threads = threads;
  if (!workspace->reals || !workspace->integers || !workspace->scratch)
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for joining the bodies to subassemblies");
  block->dca = workspace;
  return LW_OK;
}
