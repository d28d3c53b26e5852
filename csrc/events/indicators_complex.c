/* Derivatives of event indicators by a complex step: the indicators of the same kernel, in complex numbers; and those of
 * variables that transitions watch, along the motion and by the speeds. */
#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#include "events/indicators_kernel.h"
#include "events/indicators.h"
#include "math/tolerances.h"
#include <math.h>

double lw_indicator_derivative(const lw_state *s, int32_t indicator) {
  const indicator_view w = {s, s->complex_block.reals};
  const int32_t kink = indicator - (s->base->size.event_indicators - s->base->size.kinks);
  real z[2];
  if (kink >= 0) return __imag__ w.x[s->model->at.kink + LW_KINK_NUMBERS * kink + LW_KINK_INDICATOR] / LW_COMPLEX_STEP;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const int32_t k = indicator - transition_of(s, i)->indicator;
    if (k >= 0 && k < transition_indicators(&w, i, z)) return __imag__ z[k] / LW_COMPLEX_STEP;
  }
  return 0.0;
}

static real *complex_reals(const lw_state *s) { return s->complex_block.reals; }

static void evaluate_complex(const lw_state *s) {
  lw_copy_regular_dof(s);
  lw_kernels_complex.accelerations(s->model, s->complex_block);
  lw_kernels_complex.derivatives(s->model, s->complex_block);
  lw_kernels_complex.outputs(s->model, s->complex_block);
}

/* The next derivative begins with a copy of the state, so that the complex block may keep this one. */
double lw_rate_of_variable(lw_state *s, int32_t offset, int later) {
  const lw_offsets *at = &s->model->at;
  const int32_t states = s->model->size.states;
  if (lw_begin_derivative(s, LW_STAGE_OUTPUTS)) return 0.0;
  lw_complete_constants(s, 0);
  real *x = complex_reals(s);
  const double *rate = lw_reals(s) + at->qdot;
  if (later) {
    x[at->time] += RATE_STEP;
    for (int32_t i = 0; i < states; i++) x[at->q + i] += RATE_STEP * rate[i];
    evaluate_complex(s);
  }
  for (int32_t i = 0; i < states; i++)
    x[at->q + i] = complex_of(re(x[at->q + i]), LW_COMPLEX_STEP * (later ? re(x[at->qdot + i]) : rate[i]));
  x[at->time] = complex_of(re(x[at->time]), LW_COMPLEX_STEP);
  evaluate_complex(s);
  return __imag__ x[offset] / LW_COMPLEX_STEP;
}

/* By two patterns of signs, in which no pair of speeds cancels. */
double lw_change_by_speeds(lw_state *s, int32_t offset, double change) {
  const lw_offsets *at = &s->model->at;
  double most = 0.0;
  for (int pattern = 0; pattern < 2; pattern++) {
    if (lw_begin_derivative(s, LW_STAGE_OUTPUTS)) return 0.0;
    lw_complete_constants(s, 0);
    real *x = complex_reals(s);
    for (int32_t i = 0; i < s->model->size.nu; i++)
      x[at->u + i] = complex_of(re(x[at->u + i]), (pattern && i % 2 ? -1.0 : 1.0) * LW_COMPLEX_STEP);
    evaluate_complex(s);
    most = fmax(most, fabs(__imag__ x[offset]) / LW_COMPLEX_STEP);
  }
  return change * most;
}
