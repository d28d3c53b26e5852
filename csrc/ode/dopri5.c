/* Dormand-Prince 5(4), explicit, with dense output of order 4:
 *
 *   k_i = f(t + c_i h, y + h sum_j a_ij k_j),   y_1 = y_0 + h sum_i b_i k_i,   error e = h sum_i (b_i - b^_i) k_i
 *   dense: y(t_0 + x h) = y_0 + h sum_i w_i(x) k_i with
 *     w_i = x^2 (3 - 2x) b_i + x (1-x)^2 [i first] - x^2 (1-x) [i last] + x^2 (1-x)^2 d_i */
#include <math.h>

#include "dopri5_tableau.h"
#include "ode.h"
#include "math/tolerances.h"

/* Stages 2 to 7; the last leaves y_1 in y_new and f(t_1, y_1) in k[6]. */
static int run_stages(lw_ode *ode, double t_new) {
  for (int s = 1; s < LW_DOPRI5_STAGES; s++) {
    for (int32_t i = 0; i < ode->n; i++) {
      double slope = 0.0;
      for (int j = 0; j < s; j++) slope += A[s][j] * ode->k[j][i];
      ode->y_new[i] = ode->y[i] + ode->h * slope;
    }
    const double t = C[s] == 1.0 ? t_new : ode->t + C[s] * ode->h;
    const int status = lw_ode_derivative(ode, t, ode->y_new, ode->k[s]);
    if (status != 0) return status;
  }
  return 0;
}

static double error_norm(const lw_ode *ode) {
  double sum = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    double error = 0.0;
    for (int s = 0; s < LW_DOPRI5_STAGES; s++) error += ERROR[s] * ode->k[s][i];
    const double ratio = lw_ode_error_ratio(ode, i, ode->h * error);
    sum += ratio * ratio;
  }
  return ode->n > 0 ? sqrt(sum / ode->n) : 0.0;
}

static void dense_weights(double x, double w[LW_DOPRI5_STAGES]) {
  const double rest = 1.0 - x, bubble = x * x * rest * rest;
  for (int i = 0; i < LW_DOPRI5_STAGES; i++) w[i] = x * x * (3.0 - 2.0 * x) * B[i] + bubble * BUBBLE[i];
  w[0] += x * rest * rest;
  w[LW_DOPRI5_STAGES - 1] -= x * x * rest;
}

static void dense(const lw_ode *ode, double x, double *y) {
  double w[LW_DOPRI5_STAGES];
  dense_weights(x, w);
  for (int32_t i = 0; i < ode->n; i++) {
    double slope = 0.0;
    for (int s = 0; s < LW_DOPRI5_STAGES; s++) slope += w[s] * ode->k[s][i];
    y[i] = ode->y_old[i] + ode->h * slope;
  }
}

/* The dense output without its bubble is a cubic, which lies within its control points: y_0, y_0 + h k_1 / 3, y_1 - h k_7 / 3
 * and y_1. The bubble is a sixteenth in the middle. */
static void range(const lw_ode *ode, double *low, double *high) {
  for (int32_t i = 0; i < ode->n; i++) {
    const double first = ode->y_old[i], last = ode->y[i];
    const double second = first + ode->h * ode->k[0][i] / 3.0;
    const double third = last - ode->h * ode->k[LW_DOPRI5_STAGES - 1][i] / 3.0;
    double slope = 0.0;
    for (int s = 0; s < LW_DOPRI5_STAGES; s++) slope += BUBBLE[s] * ode->k[s][i];
    const double bubble = fabs(ode->h * slope) / 16.0;
    low[i] = fmin(fmin(first, last), fmin(second, third)) - bubble;
    high[i] = fmax(fmax(first, last), fmax(second, third)) + bubble;
  }
}

/* Stages 6 and 7 have the same time: h |k_7 - k_6| / |y_1 - g_6|, relative to the stability limit. */
static double stability_ratio(lw_ode *ode) {
  double of_slopes = 0.0, of_states = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    double slope = 0.0;
    for (int j = 0; j < LW_DOPRI5_STAGES - 2; j++) slope += A[LW_DOPRI5_STAGES - 2][j] * ode->k[j][i];
    const double scale = lw_ode_scale(ode, i, ode->y[i]);
    const double state = (ode->y[i] - (ode->y_old[i] + ode->h * slope)) / scale;
    const double change = (ode->k[LW_DOPRI5_STAGES - 1][i] - ode->k[LW_DOPRI5_STAGES - 2][i]) / scale;
    of_states += state * state;
    of_slopes += change * change;
  }
  return of_states > 0.0 ? fabs(ode->h) * sqrt(of_slopes / of_states) / LW_DOPRI5_STABLE : 0.0;
}

const lw_ode_operations lw_dopri5 = {
    .method = LW_ODE_DOPRI5,
    .vectors = LW_DOPRI5_STAGES,
    .f_stage = LW_DOPRI5_STAGES - 1,
    .first_same_as_last = true,
    .order = 5,
    .error_exponent = 0.17,
    .memory_exponent = 0.04,
    .row_intervals = 1,
    .run_stages = run_stages,
    .error_norm = error_norm,
    .dense = dense,
    .range = range,
    .stability_ratio = stability_ratio,
};
