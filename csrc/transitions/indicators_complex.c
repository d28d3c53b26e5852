#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#include "indicators.inc"
#include "watch.h"

double lw_indicator_slope(const lw_state *s, int32_t indicator) {
  const watched w = {s, s->complex_block.reals};
  real z[2];
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    const int32_t k = indicator - transition_of(s, i)->indicator;
    if (k >= 0 && k < indicators_of(&w, i, z)) return __imag__ z[k] / LW_COMPLEX_STEP;
  }
  return 0.0;
}
