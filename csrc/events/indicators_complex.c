/* Derivatives of event indicators by a complex step: the indicators of the same kernel, in complex numbers. */
#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#include "events/indicators_kernel.h"
#include "events/indicators.h"
#include "math/tolerances.h"

double lw_indicator_derivative(const lw_state *s, int32_t indicator) {
  const indicator_view w = {s, s->complex_block.reals};
  real z[2];
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const int32_t k = indicator - transition_of(s, i)->indicator;
    if (k >= 0 && k < transition_indicators(&w, i, z)) return __imag__ z[k] / LW_COMPLEX_STEP;
  }
  return 0.0;
}
