/* How a state of size x counts in absolute tolerances: as one from 0.1 on, so that those of mechanisms of about a metre
 * are plain numbers, and as x below 0.01. Above 10 it counts as x / 10. */
#ifndef LW_MATH_COUNTED_SIZE_H
#define LW_MATH_COUNTED_SIZE_H

static inline double lw_counted_size(double x) {
  if (x < 0.01) return x;
  if (x < 0.1) return 100.0 * x * x;
  return x > 10.0 ? 0.1 * x : 1.0;
}

#endif
