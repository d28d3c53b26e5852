/* The spectral radius of df/dy by powers of the matrix. */
#include "ode.h"

enum { POWERS = 8, AVERAGED_POWERS = 4 };

/* Norm of x in the units of the tolerances. */
static double scaled_norm(const lw_ode *ode, const double *x) { return lw_ode_norm(ode, x, ode->y); }

double lw_ode_spectral_radius(lw_ode *ode) {
  const size_t n = (size_t)ode->n;
  double *x = ode->y_new, *product = ode->y_sample, radius = 1.0;
  for (size_t i = 0; i < n; i++)
    x[i] = lw_ode_scale(ode, (int32_t)i, ode->y[i]) * (1.0 + (double)(7919 * i % 101) / 101.0);
  for (int power = 0; power < POWERS; power++) {
    for (size_t i = 0; i < n; i++) {
      product[i] = 0.0;
      for (size_t j = 0; j < n; j++) product[i] += ode->implicit.matrix[i * n + j] * x[j];
    }
    const double before = scaled_norm(ode, x), growth = scaled_norm(ode, product) / before;
    if (!(growth > 0.0) || !isfinite(growth)) return 0.0;
    for (size_t i = 0; i < n; i++) x[i] = product[i] / growth;
    if (power >= POWERS - AVERAGED_POWERS) radius *= sqrt(sqrt(growth));
  }
  return radius;
}
