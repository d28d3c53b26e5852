/* Exact derivatives by complex step: f(x + i h s) = f(x) + i h f'(x) s, with h so small that its square vanishes
 * against one, so that no digits cancel. The complex block has the layout of the real one. */
#include "model/independent_columns.h"
#include "block/state.h"
#include "events/indicators.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

lw_status lw_check_unknowns(lw_state *s, const uint32_t *unknowns, size_t n) {
  const uint32_t first = (uint32_t)s->base->size.reals, events = (uint32_t)s->base->size.event_indicators;
  for (size_t i = 0; i < n; i++)
    if (unknowns[i] - first >= events && lw_access_of(s, unknowns[i]) == LW_INTERNAL)
      return lw_fail(s, LW_ERROR_USAGE, "there is no variable %u", unknowns[i]);
  return LW_OK;
}

/* Up to which unknowns are computed; event indicators may read all of them. */
static lw_stage stage_of(const lw_state *s, const uint32_t *unknowns, size_t n) {
  lw_stage last = LW_STAGE_ACCELERATIONS;
  for (size_t i = 0; i < n && last < LW_STAGE_OUTPUTS; i++) {
    const lw_stage own =
        unknowns[i] < (uint32_t)s->model->size.reals ? lw_field_at(s, unknowns[i])->stage : LW_STAGE_OUTPUTS;
    last = own > last ? own : last;
  }
  return last;
}

void lw_end_derivative(lw_state *s, const uint32_t *unknowns, size_t n, double *sensitivity) {
  const lw_model *m = s->model;
  const uint32_t reals = (uint32_t)m->size.reals;
  const lw_stage last = stage_of(s, unknowns, n);
  lw_copy_regular_dof(s);
  lw_kernels_complex.accelerations(m, s->complex_block);
  if (last >= LW_STAGE_DERIVATIVES) lw_kernels_complex.derivatives(m, s->complex_block);
  if (last >= LW_STAGE_OUTPUTS) lw_kernels_complex.outputs(m, s->complex_block);
  for (size_t i = 0; i < n; i++)
    sensitivity[i] = unknowns[i] < reals ? lw_complex_reals(s)[2 * unknowns[i] + 1] / LW_COMPLEX_STEP
                                         : lw_indicator_derivative(s, (int32_t)(unknowns[i] - reals));
}

static lw_status seed_knowns(lw_state *s, const uint32_t *knowns, size_t n, const double *seed, int *parameters) {
  *parameters = 0;
  for (size_t i = 0; i < n; i++) {
    const lw_access a = lw_access_of(s, knowns[i]);
    if (a != LW_PARAMETER && a != LW_INPUT && a != LW_STATE)
      return lw_fail(s, LW_ERROR_USAGE, "variable %u is no parameter, input or state: nothing depends on it here",
                     knowns[i]);
    const lw_status e = lw_seed(s, knowns[i], seed[i]);
    if (e) return e;
    *parameters |= a == LW_PARAMETER;
  }
  return LW_OK;
}

lw_status lw_seed_derivative(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                             size_t n_knowns, const double *seed) {
  int parameters;
  lw_status e = lw_check_unknowns(s, unknowns, n_unknowns);
  if (e || (e = lw_begin_derivative(s, LW_STAGE_DERIVATIVES))) return e;
  if ((e = seed_knowns(s, knowns, n_knowns, seed, &parameters))) return e;
  lw_complete_constants(s, parameters);
  return LW_OK;
}

int lw_derivatives_agree(const double *found, const double *expected, size_t n) {
  double largest = 0.0;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(expected[i]));
  for (size_t i = 0; i < n; i++)
    if (!(fabs(found[i] - expected[i]) <= LW_TAPE_SAME_DERIVATIVE * largest)) return 0;
  return 1;
}

/* ---- the Jacobian of the mechanism as an ODE ---- */

/* Numbers of the block, and by how much each of them moves. */
typedef struct direction {
  int32_t first, n;
  const double *seed;
} direction;

static void put_seeds(lw_state *s, const direction *along, double scale) {
  double *z = lw_complex_reals(s) + 2 * along->first;
  for (int32_t i = 0; i < along->n; i++) z[2 * i + 1] = scale * along->seed[i];
}

/* Along directions at once: a column of a matrix of so many columns. */
static void differentiate_rates(lw_state *s, const direction *along, int32_t directions, double *column,
                                int32_t columns) {
  const lw_model *m = s->model;
  const double *rates = lw_complex_reals(s) + 2 * m->at.qdot;
  for (int32_t k = 0; k < directions; k++) put_seeds(s, along + k, LW_COMPLEX_STEP);
  lw_kernels_complex.accelerations(m, s->complex_block);
  lw_kernels_complex.derivatives(m, s->complex_block);
  for (int32_t k = 0; k < directions; k++) put_seeds(s, along + k, 0.0);
  for (int32_t i = 0; i < m->size.states; i++) column[(size_t)i * (size_t)columns] = rates[2 * i + 1] / LW_COMPLEX_STEP;
}

/* Only prescribed motions and formulas of couplings, forces and states know the time. */
static bool depends_on_time(const lw_state *s) {
  if (s->model->forces_know_time) return true;
  const double *motion = (const double *)s->block.reals + s->model->at.coupling_motion;
  for (int32_t i = 0; i < s->model->size.couplings; i++)
    if (motion[7 * i] != 0.0 || s->model->coupling[i].reads_time) return true;
  return false;
}

/* Columns of all states, of a law too: along each of them and along the inputs as they follow it. */
static void differentiate_by_states(lw_state *s, const lw_input_slopes *law, double *matrix) {
  const lw_offsets *at = &s->model->at;
  const int32_t own = s->model->size.states, inputs = at->motion_time - at->tau, columns = law ? law->states : own;
  const double one = 1.0;
  for (int32_t k = 0; k < columns; k++) {
    direction along[2];
    int32_t n = 0;
    if (k < own) along[n++] = (direction){at->q + k, 1, &one};
    if (law) along[n++] = (direction){at->tau, inputs, law->by_states + (size_t)k * (size_t)inputs};
    differentiate_rates(s, along, n, matrix + k, columns);
  }
}

static void differentiate_by_time(lw_state *s, double *by_time) {
  const double one = 1.0;
  if (depends_on_time(s)) differentiate_rates(s, &(direction){s->model->at.time, 1, &one}, 1, by_time, 1);
  else memset(by_time, 0, sizeof *by_time * (size_t)s->model->size.states);
}

int lw_find_jacobian(lw_state *s, const lw_input_slopes *law, double *matrix, double *by_time) {
  const lw_jacobians *from = &s->jacobians;
  if (from->find && from->find(from->context, s, law, matrix, by_time)) return 0;
  if (lw_evaluate(s, LW_STAGE_DERIVATIVES)) return 1;
  if (lw_allocate_complex(s) || lw_prepare_complex(s)) return -1;
  lw_copy_regular_dof(s);
  differentiate_by_states(s, law, matrix);
  if (by_time) differentiate_by_time(s, by_time);
  if (from->learn) from->learn(from->context, s, law, matrix, by_time);
  return 0;
}

int lw_ode_mechanism_jacobian(void *state, double t, const double *y, double *matrix, double *by_time) {
  lw_set_states(state, t, y);
  return lw_find_jacobian(state, NULL, matrix, by_time);
}
