/* Derivatives column by column. Those of accelerations by driving loads need no complex step: the reduction of the present
 * accelerations responds to all of these loads. */
#include "block/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns of loads ---- */

static int is_load(const lw_state *s, uint32_t known) {
  const int32_t k = (int32_t)known - s->model->at.tau;
  return k >= 0 && k < s->model->size.nu + s->model->size.nu_cut;
}

/* The tree's speed whose acceleration an unknown is; -1: it is the rate of a coordinate, on which loads have no effect. */
static int32_t speed_of(const lw_state *s, uint32_t unknown) {
  const lw_offsets *at = &s->model->at;
  const int32_t k = (int32_t)unknown;
  return k < at->udot ? -1 : k - (k < at->element_rate ? at->udot : at->acceleration);
}

/* Accelerations and rates of coordinates alone: other rows may depend on loads in other ways. */
static int are_rows_of_loads(const lw_state *s, const uint32_t *unknowns, size_t n) {
  const lw_offsets *at = &s->model->at;
  for (size_t i = 0; i < n; i++) {
    const int32_t k = (int32_t)unknowns[i];
    const int is_rate = k >= at->qdot && k < at->element_rate;
    if (!is_rate && !(k >= at->acceleration && k < at->acceleration + s->model->size.nu)) return 0;
  }
  return 1;
}

/* Where the accelerations are those of a reduction, which is affine in the loads. */
static int responds_to_loads(const lw_state *s) {
  return !lw_has_multipliers(s->model) && !lw_may_divide(s) && !s->model->pressed && !s->compiled.library;
}

/* A driving load counts up to its largest value. */
static double slope_of_load(const lw_state *s, int32_t u) {
  const lw_offsets *at = &s->model->at;
  return fabs(lw_reals(s)[at->tau + u]) <= lw_reals(s)[at->max_load + u] ? 1.0 : 0.0;
}

typedef struct load_columns {
  int32_t n;
  int32_t *u;     /* [n] speeds, */
  size_t *place;  /* [n] and their columns in the matrix */
  double *column; /* [n][nu] */
} load_columns;

static void fill_columns(const lw_state *s, const load_columns *loads, const uint32_t *unknowns, size_t n,
                         double *matrix, size_t columns) {
  for (int32_t j = 0; j < loads->n; j++) {
    const double *from = loads->column + (size_t)j * (size_t)s->model->size.nu, slope = slope_of_load(s, loads->u[j]);
    for (size_t i = 0; i < n; i++) {
      const int32_t u = speed_of(s, unknowns[i]);
      matrix[i * columns + loads->place[j]] = u < 0 ? 0.0 : slope * from[u];
    }
  }
}

static int allocate_loads(load_columns *loads, size_t n, size_t nu) {
  loads->column = malloc(sizeof(double) * (n * nu + 1));
  loads->place = malloc((sizeof *loads->place + sizeof *loads->u) * (n + 1));
  loads->u = (int32_t *)(loads->place + n + 1);
  return loads->column && loads->place;
}

/* Fills the columns of all loads, or none; returns whether it has. */
static lw_status find_load_columns(lw_state *s, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m,
                                   double *matrix, int *found) {
  size_t count = 0;
  for (size_t k = 0; k < m; k++) count += (size_t)is_load(s, knowns[k]);
  *found = 0;
  if (!count || !responds_to_loads(s) || !are_rows_of_loads(s, unknowns, n)) return LW_OK;
  lw_status e = lw_evaluate(s, LW_STAGE_DERIVATIVES);
  if (e) return e;
  load_columns loads = {.n = 0};
  if (allocate_loads(&loads, count, (size_t)s->model->size.nu)) {
    for (size_t k = 0; k < m; k++)
      if (is_load(s, knowns[k])) loads.place[loads.n] = k, loads.u[loads.n++] = (int32_t)knowns[k] - s->model->at.tau;
    *found = s->kernels->load_columns(s->model, s->block, loads.n, loads.u, loads.column);
    if (*found) fill_columns(s, &loads, unknowns, n, matrix, m);
  } else e = lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a Jacobian");
  free(loads.column);
  free(loads.place);
  return e;
}

/* ---- all columns ---- */

lw_status lw_fill_jacobian(lw_state *s, lw_derivative_function *derivative, void *of, const uint32_t *unknowns,
                           size_t n, const uint32_t *knowns, size_t m, double *matrix) {
  const double one = 1.0;
  int has_loads;
  lw_status e = find_load_columns(s, unknowns, n, knowns, m, matrix, &has_loads);
  if (e) return e;
  double *column = malloc(sizeof *column * (n + 1));
  if (!column) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a Jacobian");
  for (size_t k = 0; !e && k < m; k++) {
    if (has_loads && is_load(s, knowns[k])) continue;
    e = derivative(of, unknowns, n, knowns + k, 1, &one, column);
    for (size_t i = 0; !e && i < n; i++) matrix[i * m + k] = column[i];
  }
  free(column);
  return e;
}

static lw_status along(void *state, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity) {
  return lw_directional_derivative(state, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

lw_status lw_jacobian(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns, size_t n_knowns,
                      double *matrix) {
  if (!s) return LW_ERROR_USAGE;
  return lw_fill_jacobian(s, along, s, unknowns, n_unknowns, knowns, n_knowns, matrix);
}
