/* What methods, events and step size control ask of numbers and of the last step. */
#include "ode.h"
#include <string.h>

bool lw_ode_all_finite(const double *x, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

void lw_ode_dense(const lw_ode *ode, double t, double *y) {
  if (t == ode->t || ode->h == 0.0) {
    memcpy(y, ode->y, (size_t)ode->n * sizeof *y);
    return;
  }
  ode->method->dense(ode, (t - ode->t_old) / ode->h, y);
}

double lw_ode_norm(const lw_ode *ode, const double *x, const double *y) {
  double sum = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    const double scale = lw_ode_scale(ode, i, y[i]), ratio = x[i] == 0.0 || scale == 0.0 ? 0.0 : x[i] / scale;
    sum += ratio * ratio;
  }
  return ode->n > 0 ? sqrt(sum / ode->n) : 0.0;
}
