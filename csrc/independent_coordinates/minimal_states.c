/* The independent coordinates and speeds, and the states of elements, as the states of an ODE. */
#include "independent_coordinates/minimal_coordinates.h"
#include <math.h>
#include <string.h>

static double *elements_of(const lw_minimal *m) { return lw_reals(m->state) + m->state->model->at.element_state; }
static int32_t n_elements(const lw_minimal *m) { return m->state->model->size.formula_states; }
static size_t size_of_elements(const lw_minimal *m) { return sizeof(double) * (size_t)n_elements(m); }

void lw_minimal_get(const lw_minimal *m, double *x) {
  for (int32_t i = 0; i < m->n_q; i++) x[i] = lw_minimal_coordinates(m)[m->q[i]];
  for (int32_t i = 0; i < m->n_u; i++) x[m->n_q + i] = lw_minimal_speeds(m)[m->u[i]];
  memcpy(x + m->n_q + m->n_u, elements_of(m), size_of_elements(m));
}

static int32_t offset_of(const lw_minimal *m, int32_t i) {
  const lw_offsets *at = &m->state->model->at;
  const int32_t element = i - m->n_q - m->n_u;
  return element >= 0 ? at->element_state + element : i < m->n_q ? at->q + m->q[i] : at->u + m->u[i - m->n_q];
}

static lw_status check_finite(const lw_minimal *m, const double *x) {
  for (int32_t i = 0; i < m->n_q + m->n_u + n_elements(m); i++)
    if (!isfinite(x[i])) {
      char text[120];
      const int32_t offset = offset_of(m, i);
      lw_describe(m->state, (uint32_t)offset, text, sizeof text);
      return lw_fail(m->state, LW_ERROR_VALUE, "the independent %s is not finite", text);
    }
  return LW_OK;
}

lw_status lw_minimal_set(lw_minimal *m, const double *x) {
  const size_t n = sizeof(double) * (size_t)(m->nq + m->nu); /* q and u are contiguous */
  lw_status e = check_finite(m, x);
  if (e) return e;
  if (!m->has_start) lw_minimal_keep_start(m);
  memcpy(m->saved_states, lw_minimal_coordinates(m), n);
  lw_begin_at_pose_before(m);
  e = lw_minimal_close(m, x);
  if (e) memcpy(lw_minimal_coordinates(m), m->saved_states, n);
  else {
    memcpy(elements_of(m), x + m->n_q + m->n_u, size_of_elements(m));
    lw_note_evaluation(m);
  }
  lw_state_changed(m->state, LW_STAGE_CONSTANTS);
  return e;
}

lw_status lw_minimal_derivatives(lw_minimal *m, double *xdot) {
  const lw_offsets *at = &m->state->model->at;
  const lw_status e = lw_evaluate_rates(m->state);
  if (e) return e;
  for (int32_t i = 0; i < m->n_q; i++) xdot[i] = lw_reals(m->state)[at->qdot + m->q[i]];
  for (int32_t i = 0; i < m->n_u; i++) xdot[m->n_q + i] = lw_reals(m->state)[at->udot + m->u[i]];
  memcpy(xdot + m->n_q + m->n_u, lw_reals(m->state) + at->element_rate, size_of_elements(m));
  return LW_OK;
}

int lw_ode_minimal(void *minimal, double t, const double *x, double *xdot) {
  lw_minimal *m = minimal;
  double *time = lw_reals(m->state) + m->state->model->at.time, saved_q = *time;
  *time = t;
  lw_state_changed(m->state, LW_STAGE_CONSTANTS);
  if (lw_minimal_set(m, x)) {
    *time = saved_q;
    return 1;
  }
  return lw_minimal_derivatives(m, xdot) != LW_OK;
}
