/* Finite differences of f, for implicit methods without a Jacobian. Increments point along the solution, where f is
 * most likely to exist; if f fails there, the opposite direction is tried. */
#include <float.h>

#include "ode.h"
#include "math/tolerances.h"

enum { RECOVERABLE = 1 };

/* Increment of a state, relative to its value and its change in a step, but not below the tolerance. */
static double increment_for(const lw_ode *ode, int32_t i) {
  const double change = ode->h * ode->k[ode->method->f_stage][i];
  const double increment = fmax(SQRT_EPSILON * fmax(fabs(ode->y[i]), fabs(change)), fmin(ode->atol[i], SQRT_EPSILON));
  return copysign(increment > 0.0 ? increment : SQRT_EPSILON, change);
}

static int finite_derivative(lw_ode *ode, double t, const double *y, double *f) {
  const int status = lw_ode_derivative(ode, t, y, f);
  return status != 0 ? status : lw_ode_all_finite(f, ode->n) ? 0 : RECOVERABLE;
}

/* f with state k incremented; *increment becomes the rounded increment. */
static int perturb_state(lw_ode *ode, int32_t k, double *increment, double *f) {
  ode->y_new[k] = ode->y[k] + *increment;
  *increment = ode->y_new[k] - ode->y[k];
  const int status = finite_derivative(ode, ode->t, ode->y_new, f);
  ode->y_new[k] = ode->y[k];
  return status;
}

int lw_ode_difference_jacobian(lw_ode *ode, double *matrix, double *change) {
  const double *f = ode->k[ode->method->f_stage];
  const size_t n = (size_t)ode->n;
  for (size_t i = 0; i < n; i++) ode->y_new[i] = ode->y[i];
  for (int32_t k = 0; k < ode->n; k++) {
    double increment = increment_for(ode, k);
    int status = perturb_state(ode, k, &increment, change);
    if (status > 0) {
      increment = -increment;
      status = perturb_state(ode, k, &increment, change);
    }
    if (status != 0) return status;
    for (size_t i = 0; i < n; i++) matrix[i * n + (size_t)k] = (change[i] - f[i]) / increment;
  }
  return 0;
}

/* (4 (f(t + d) - f(t)) - (f(t + 2d) - f(t))) / 2d, exactly zero where f does not depend on time */
int lw_ode_difference_time(lw_ode *ode, double *by_time, double *change) {
  const double *f = ode->k[ode->method->f_stage];
  const double target = copysign(fmax(TIME_INCREMENT_FACTOR * fabs(ode->h), 4.0 * DBL_EPSILON * fabs(ode->t)), ode->h);
  const double d = (ode->t + target) - ode->t;
  int status = finite_derivative(ode, ode->t + d, ode->y, by_time);
  if (status == 0) status = finite_derivative(ode, ode->t + 2.0 * d, ode->y, change);
  if (status != 0) return status;
  for (int32_t i = 0; i < ode->n; i++) by_time[i] = (4.0 * (by_time[i] - f[i]) - (change[i] - f[i])) / (2.0 * d);
  return 0;
}
