/* Inverse dynamics of a mechanism that is driven along as many speeds S u of the tree as it has degrees of freedom. With
 * N y + b all accelerations that the constraints leave, those of the driven speeds give the others, and all loads are theirs:
 *   S N y = S udot - S b,   udot = N y + b,   (S N)' tau = N' (M udot + h - f).
 * `driven` marks them by speed; they must determine all others. */
#ifndef LW_LOOPS_DRIVEN_SPEEDS_KERNEL_H
#define LW_LOOPS_DRIVEN_SPEEDS_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/clusters_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/workspace_kernel.h"
#include "math/square_system_kernel.h"
#include "tree/forces_kernel.h"

INLINE int drives(const int32_t *driven, const lw_column *column) { return column->link >= 0 && driven[column->u]; }

/* How many columns of a cluster are driven. */
INLINE int32_t count_driven(const view *v, int32_t c, const cluster_work *w, const int32_t *driven) {
  int32_t found = 0;
  for (int32_t k = 0; k < w->n; k++) found += drives(driven, column_of(v, c, k));
  return found;
}

/* The acceleration of a column with the independent ones z. */
INLINE real acceleration_along(const cluster_work *w, int32_t k, const real *z) {
  const real *X = w->X + k * w->ranks->width;
  real sum = X[BIAS];
  for (int32_t i = 0; i < w->ranks->independent; i++) sum += X[FIRST_FREE + i] * z[i];
  return sum;
}

/* From the accelerations of the driven speeds to those of all speeds of the tree, in place. */
static lw_fault accelerate_by_driven_speeds(const view *v, const int32_t *driven, real *udot) {
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const cluster_work w = work_of(v, c);
    const int32_t n = free_of(&w);
    real *SN = w.spare, *y = SN + n * n, *z = w.solution;
    if (count_driven(v, c, &w, driven) != n) return (lw_fault){LW_FAULT_NO_LOADS, c, 0.0};
    for (int32_t i = 0; i < n; i++) y[i] = 0.0;
    extend(&w, y, BIAS, z);
    for (int32_t k = 0, row = 0; k < w.n; k++) {
      if (!drives(driven, column_of(v, c, k))) continue;
      gather(&w, w.X + k * w.ranks->width + FIRST_FREE, SN + n * row);
      y[row++] = udot[column_of(v, c, k)->u] - acceleration_along(&w, k, z);
    }
    solve_square(n, SN, y);
    extend(&w, y, BIAS, z);
    for (int32_t k = 0; k < w.n; k++) {
      const lw_column *column = column_of(v, c, k);
      if (column->link >= 0 && !driven[column->u]) udot[column->u] = acceleration_along(&w, k, z);
    }
  }
  return no_fault;
}

/* From loads of all speeds of the tree, with those of springs and forces in cut joints, to loads of the driven ones. */
static void load_driven_speeds(const view *v, int32_t c, const int32_t *driven, real *tau) {
  const cluster_work w = work_of(v, c);
  const int32_t n = free_of(&w);
  real *transposed = w.spare, *load = transposed + n * n, *rates = w.solution;
  for (int32_t i = 0; i < n; i++) load[i] = 0.0;
  for (int32_t k = 0, row = 0; k < w.n; k++) {
    const lw_column *column = column_of(v, c, k);
    const int32_t u = column->u;
    const real own = column->link < 0 ? -(v->load[u] - driving_load(v, u)) : tau[u];
    gather(&w, w.X + k * w.ranks->width + FIRST_FREE, rates);
    for (int32_t i = 0; i < n; i++) load[i] += rates[i] * own;
    if (!drives(driven, column)) continue;
    for (int32_t i = 0; i < n; i++) transposed[n * i + row] = rates[i];
    row++;
  }
  solve_square(n, transposed, load);
  for (int32_t k = 0, row = 0; k < w.n; k++) {
    const lw_column *column = column_of(v, c, k);
    if (column->link >= 0) tau[column->u] = driven[column->u] ? load[row++] : 0.0;
  }
}
#endif
