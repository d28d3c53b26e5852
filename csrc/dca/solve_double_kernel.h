/* All constraints of all bodies at once, by divide and conquer. */
#ifndef LW_DCA_SOLVE_DOUBLE_KERNEL_H
#define LW_DCA_SOLVE_DOUBLE_KERNEL_H
#include "block/field_view_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/solve_kernel.h"

static dca_problem dca_problem_of(const dca_work *w, dca_loads loads) {
  return (dca_problem){.plan = w->plan,
                       .factor = w->factor,
                       .length2 = w->length2,
                       .unit = w->unit,
                       .unloaded = w->unloaded,
                       .by_load = w->by_load,
                       .rows = w->rows,
                       .rank_tolerance = w->rank_tolerance,
                       .jacobian = w->jacobian,
                       .target = w->target,
                       .rotor = w->rotor,
                       .change = w->change,
                       .z = w->z,
                       .load = w->load,
                       .reals = w->subassemblies,
                       .integers = w->subassembly_integers,
                       .redundant = w->redundant,
                       .loads = loads};
}

static void solve_dca(const view *v, const dca_work *w, dca_loads loads) {
  dca_solve(dca_problem_of(w, loads), v->dca->scratch, v->dca->threads);
}

/* The same for other `unloaded`, `by_load` and `target`, at a part of the cost. */
static void solve_dca_again(const view *v, const dca_work *w, dca_loads loads) {
  dca_problem d = dca_problem_of(w, loads);
  d.factored = 1;
  dca_solve(d, v->dca->scratch, v->dca->threads);
}

static void solve_subassemblies(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  const dca_work w = dca_work_of(&v);
  solve_dca(&v, &w, LOADS_OF_INDEPENDENT);
}
#endif
