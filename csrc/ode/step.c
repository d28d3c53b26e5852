/* What methods, events and step size control ask of numbers and of the last step. */
#include "ode.h"
#include <string.h>

bool lw_ode_all_finite(const double *x, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

int lw_ode_prepare_dense(lw_ode *ode) {
  if (ode->dense_ready || ode->method->prepare_dense == NULL) return 0;
  const int status = ode->method->prepare_dense(ode);
  ode->dense_ready = status == 0;
  return status;
}

int lw_ode_dense(lw_ode *ode, double t, double *y) {
  if (t == ode->t || ode->h == 0.0) {
    memcpy(y, ode->y, (size_t)ode->n * sizeof *y);
    return 0;
  }
  if (t == ode->t_old) {
    memcpy(y, ode->y_old, (size_t)ode->n * sizeof *y);
    return 0;
  }
  const int status = lw_ode_prepare_dense(ode);
  if (status == 0) ode->method->dense(ode, (t - ode->t_old) / ode->h, y);
  return status;
}

int lw_ode_middle(lw_ode *ode, double *t, double *y) {
  *t = ode->t_old + 0.5 * ode->h;
  if (ode->method->middle == NULL) return lw_ode_dense(ode, *t, y);
  ode->method->middle(ode, y);
  return 0;
}

double lw_ode_norm(const lw_ode *ode, const double *x, const double *y) {
  double sum = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    const double scale = lw_ode_scale(ode, i, y[i]), ratio = x[i] == 0.0 || scale == 0.0 ? 0.0 : x[i] / scale;
    sum += ratio * ratio;
  }
  return ode->n > 0 ? sqrt(sum / ode->n) : 0.0;
}
