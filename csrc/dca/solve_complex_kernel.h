/* The same in complex numbers, without a complex step through pivoting and reflections, where constraints repeat each
 * other and no derivative exists. The equations at the solution of the real parts are differentiated instead: with
 * loads f on bodies, dV = L z, z = L' (f + C' lambda) and C dV = r,
 *   dV' = L' z + L z',  z' = [L' (f + C' lambda)]' + L' C' lambda',  C dV' = r' - C' dV
 * which are the same equations with other right-hand sides. A prime denotes the derivative, behind L and C before a
 * vector also the transpose. */
#ifndef LW_DCA_SOLVE_COMPLEX_KERNEL_H
#define LW_DCA_SOLVE_COMPLEX_KERNEL_H
#include "block/field_view_kernel.h"
#include "dca/bodies_kernel.h"
#include "dca/constraint_rows_kernel.h"

static void get_parts(int64_t n, const real *from, int imaginary, double *to) {
  for (int64_t i = 0; i < n; i++) to[i] = imaginary ? __imag__ from[i] : __real__ from[i];
}

static void set_parts(int64_t n, const double *from, int imaginary, real *to) {
  for (int64_t i = 0; i < n; i++) to[i] = imaginary ? complex_of(__real__ to[i], from[i]) : complex_of(from[i], 0.0);
}

/* The workspace in double, with the same arrays. */
typedef struct plain_work {
#define ARRAY(name, scalars) double *name;
  LW_DCA_WORKSPACE(ARRAY)
#undef ARRAY
  int32_t *rows;
} plain_work;

static plain_work plain_work_of(const view *v) {
  const lw_dca_plan *p = &v->m->dca;
  const lw_sizes *s = &v->m->size;
  plain_work w = {.rows = v->dca->solved_in->integers};
  double *next = v->dca->solved_in->reals;
#define ARRAY(name, scalars) w.name = next, next += scalars;
  LW_DCA_WORKSPACE(ARRAY)
#undef ARRAY
  return w;
}

/* Right-hand sides of the derivative, by the real solution: `unloaded` is L z, `by_load` the transpose of L times all
 * loads, `target` r - C dV. */
static void set_derived_rhs(const dca_work *w) {
  for (int32_t c = 0; c < w->plan->constraints; c++) {
    const lw_dca_constraint *at = &w->plan->list[c];
    for (int32_t k = 0; k < w->rows[c]; k++) {
      const real *jacobian = w->jacobian + 6 * (at->first_jacobian_block + k * at->ends);
      w->target[at->first_row + k] -= apply_row(w, c, k, w->change);
      for (int32_t i = 0; i < at->ends; i++)
        for (int j = 0; j < 6; j++)
          w->before[6 * w->plan->end[at->first + i] + j] += jacobian[6 * i + j] * w->load[at->first_row + k];
    }
  }
  for (int32_t i = 0; i < w->plan->bodies; i++) {
    const real *L = w->factor + 36 * i;
    real by_constraints[6];
    apply_transposed_factor(L, w->before + 6 * i, by_constraints);
    for (int j = 0; j < 6; j++) {
      w->by_load[6 * i + j] += by_constraints[j];
      for (int k = 0; k < 6; k++) w->unloaded[6 * i + j] += L[6 * j + k] * w->z[6 * i + k];
    }
  }
}

typedef enum dca_loads { LOADS_NOT_FOUND } dca_loads;

static void solve_dca(const view *v, const dca_work *w, dca_loads loads) {
  (void)loads; /* always those of independent constraints */
  const plain_work in = plain_work_of(v);
  const lw_kernels *kernels = v->m->kernels;
  const lw_block b = {.reals = v->x, .work = v->work, .integers = v->integers, .dca = v->dca->solved_in};
  const int32_t bodies = w->plan->bodies, rows = w->plan->rows;
  memcpy(in.rows, w->rows, sizeof *in.rows * (size_t)w->plan->constraints);
  memset(w->before, 0, sizeof *w->before * 6 * (size_t)bodies);
  get_parts(36 * (int64_t)bodies, w->factor, 0, in.factor);
  get_parts(bodies, w->length2, 0, in.length2);
  get_parts(bodies, w->unit, 0, in.unit);
  get_parts(6 * (int64_t)w->plan->jacobian_blocks, w->jacobian, 0, in.jacobian);
  get_parts(w->plan->constraints, w->rank_tolerance, 0, in.rank_tolerance);
  get_parts(rows, w->rotor, 0, in.rotor);
  for (int derived = 0; derived < 2; derived++) {
    if (derived) set_derived_rhs(w);
    get_parts(6 * (int64_t)bodies, w->unloaded, derived, in.unloaded);
    get_parts(6 * (int64_t)bodies, w->by_load, derived, in.by_load);
    get_parts(rows, w->target, derived, in.target);
    kernels->solve_subassemblies(v->m, b);
    set_parts(6 * (int64_t)bodies, in.change, derived, w->change);
    set_parts(6 * (int64_t)bodies, in.z, derived, w->z);
    set_parts(rows, in.load, derived, w->load);
  }
}
#endif
