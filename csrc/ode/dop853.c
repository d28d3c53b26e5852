/* Dormand-Prince 8(5,3), explicit, with dense output of order 7 (Hairer, Norsett, Wanner, II.5 and II.6):
 *
 *   k_i = f(t + c_i h, y + h sum_j a_ij k_j),   y_1 = y_0 + h sum_i b_i k_i,   k_13 = f(t + h, y_1)
 *   errors of the embedded methods: e_5 = h sum_i (b_i - b^_i) k_i of order 5, e_3 likewise of order 3;
 *   |e| = |e_5| |e_5| / sqrt(|e_5|^2 + 0.01 |e_3|^2), which is of order 8
 *   dense: y(t_0 + x h) = y_0 + h sum_i w_i(x) k_i with three more stages, 14 to 16, and with rest = 1 - x
 *     w_i = x (b_i + rest ([i first] - b_i + x (2 b_i - [i first] - [i 13th]
 *           + rest (d_1i + x (d_2i + rest (d_3i + x d_4i))))))
 *
 * The three stages are computed where the dense output of a step is first asked for. The memory of step size control, as
 * in the program, saves a third of the rejected steps where accuracy limits them, and more where stability does. */
#include <math.h>

#include "dop853_tableau.h"
#include "math/tolerances.h"
#include "ode.h"

enum { END = LW_DOP853_STAGES }; /* index of k_13, at t + h */

static void stage_argument(const lw_ode *ode, const double *from, int s, double *y) {
  for (int32_t i = 0; i < ode->n; i++) {
    double slope = 0.0;
    for (int j = 0; j < s; j++) slope += A[s][j] * ode->k[j][i];
    y[i] = from[i] + ode->h * slope;
  }
}

/* Stages 2 to 13; the last leaves y_1 in y_new and f(t_1, y_1) in k[END]. */
static int run_stages(lw_ode *ode, double t_new) {
  for (int s = 1; s <= END; s++) {
    stage_argument(ode, ode->y, s, ode->y_new);
    const double t = C[s] == 1.0 ? t_new : ode->t + C[s] * ode->h;
    const int status = lw_ode_derivative(ode, t, ode->y_new, ode->k[s]);
    if (status != 0) return status;
  }
  return 0;
}

static double error_norm(const lw_ode *ode) {
  double sum5 = 0.0, sum3 = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    double error5 = 0.0, error3 = 0.0;
    for (int s = 0; s < LW_DOP853_STAGES; s++) {
      error5 += ERROR5[s] * ode->k[s][i];
      error3 += (B[s] - ORDER3[s]) * ode->k[s][i];
    }
    const double ratio5 = lw_ode_error_ratio(ode, i, error5), ratio3 = lw_ode_error_ratio(ode, i, error3);
    sum5 += ratio5 * ratio5;
    sum3 += ratio3 * ratio3;
  }
  if (sum5 == 0.0 && sum3 == 0.0) return 0.0;
  return fabs(ode->h) * sum5 / sqrt((sum5 + 0.01 * sum3) * ode->n);
}

static int prepare_dense(lw_ode *ode) {
  for (int s = END + 1; s < LW_DOP853_VECTORS; s++) {
    stage_argument(ode, ode->y_old, s, ode->y_sample);
    const int status = lw_ode_derivative(ode, ode->t_old + C[s] * ode->h, ode->y_sample, ode->k[s]);
    if (status != 0) return status;
    if (!lw_ode_all_finite(ode->k[s], ode->n)) return 1;
  }
  return 0;
}

static void dense_weights(double x, double w[LW_DOP853_VECTORS]) {
  const double rest = 1.0 - x;
  for (int i = 0; i < LW_DOP853_VECTORS; i++) {
    const double b = i < LW_DOP853_STAGES ? B[i] : 0.0, first = i == 0 ? 1.0 : 0.0, last = i == END ? 1.0 : 0.0;
    const double beyond = DENSE[0][i] + x * (DENSE[1][i] + rest * (DENSE[2][i] + x * DENSE[3][i]));
    w[i] = x * (b + rest * (first - b + x * (2.0 * b - first - last + rest * beyond)));
  }
}

static void dense(const lw_ode *ode, double x, double *y) {
  double w[LW_DOP853_VECTORS];
  dense_weights(x, w);
  for (int32_t i = 0; i < ode->n; i++) {
    double slope = 0.0;
    for (int s = 0; s < LW_DOP853_VECTORS; s++) slope += w[s] * ode->k[s][i];
    y[i] = ode->y_old[i] + ode->h * slope;
  }
}

/* Of the cubic Hermite interpolant. */
static void middle(const lw_ode *ode, double *y) {
  for (int32_t i = 0; i < ode->n; i++) {
    double slope = 0.25 * (ode->k[0][i] - ode->k[END][i]);
    for (int s = 0; s < LW_DOP853_STAGES; s++) slope += B[s] * ode->k[s][i];
    y[i] = ode->y_old[i] + ode->h * (0.5 * slope);
  }
}

const lw_ode_operations lw_dop853 = {
    .method = LW_ODE_DOP853,
    .vectors = LW_DOP853_VECTORS,
    .f_stage = END,
    .first_same_as_last = true,
    .order = 8,
    .error_exponent = 0.121,
    .memory_exponent = 0.02,
    .row_intervals = 4,
    .run_stages = run_stages,
    .error_norm = error_norm,
    .prepare_dense = prepare_dense,
    .dense = dense,
    .middle = middle,
};
