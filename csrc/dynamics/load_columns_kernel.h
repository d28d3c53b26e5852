/* Accelerations by single loads: the reduction of the present accelerations responds to four unit loads at once. */
#ifndef LW_LOAD_COLUMNS_KERNEL_H
#define LW_LOAD_COLUMNS_KERNEL_H
#include "dynamics/load_response_kernel.h"
#include "singular/near_singular_kernel.h"

static int all_are_regular(const view *v) {
  for (int32_t c = 0; c < v->m->clusters; c++)
    if (ranks_of(v, c)->singularity != REGULAR) return 0;
  return 1;
}

static int load_columns(const lw_model *m, lw_block b, int32_t n, const int32_t *u, double *column) {
  const view v = open_view(m, b);
  const int32_t nu = m->size.nu;
  if (!all_are_regular(&v)) return 0;
  memset(CHANGE(&v, load), 0, sizeof(four) * (size_t)(nu + m->size.nu_cut));
  for (int32_t first = 0; first < n; first += LW_CHANGES) {
    const int32_t count = n - first < LW_CHANGES ? n - first : LW_CHANGES;
    for (int32_t lane = 0; lane < count; lane++) (*load_change_of_four(&v, u[first + lane]))[lane] = 1.0;
    respond_four(&v);
    for (int32_t lane = 0; lane < count; lane++) {
      double *to = column + (int64_t)(first + lane) * nu;
      for (int32_t k = 0; k < nu; k++) to[k] = (*acceleration_change_of_four(&v, k))[lane];
      *load_change_of_four(&v, u[first + lane]) = zero4();
    }
  }
  return 1;
}
#endif
