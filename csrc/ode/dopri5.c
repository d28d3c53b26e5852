/* Dormand-Prince 5(4) with step control, dense output and event location.
 *
 *   k_i = f(t + c_i h, y + h sum_j a_ij k_j),   y_1 = y_0 + h sum_i b_i k_i,   error e = h sum_i (b_i - b^_i) k_i
 *   norm: |e| = sqrt(mean_i (e_i / (atol + rtol max(|y_0i|, |y_1i|)))^2), accepted if |e| <= 1
 *   next step: h * 0.9 |e|^-0.17 |e_before|^0.04, a proportional-integral control (Hairer, Wanner, IV.2)
 *   dense: y(t_0 + x h) = y_0 + h sum_i w_i(x) k_i with
 *     w_i = x^2 (3 - 2x) b_i + x (1-x)^2 [i first] - x^2 (1-x) [i last] + x^2 (1-x)^2 d_i
 *
 * Powers are computed here: libm's differ between platforms, and with them every step would. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dopri5_tableau.h"
#include "ode.h"

/* ---- arithmetic that is the same everywhere ------------------------------------------------------- */

/* log2 x = e + (2 / ln 2) artanh((m - 1) / (m + 1)) for x = m 2^e; error below 1e-9 */
static double log2_of(double x) {
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2.0;
    exponent--;
  }
  const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
  return exponent + 2.8853900817779268 * s * (1.0 + s2 * (1.0 / 3 + s2 * (1.0 / 5 + s2 * (1.0 / 7 + s2 / 9))));
}

static double exp2_of(double x) {
  const double whole = floor(x + 0.5), r = (x - whole) * 0.69314718055994531;
  double sum = 1.0;
  for (int i = 9; i > 0; i--) sum = 1.0 + sum * r / i;
  return ldexp(sum, (int)whole);
}

/* x^p to nine digits for finite x > 0, plenty for step sizes */
static double power(double x, double p) { return exp2_of(p * log2_of(x)); }

bool lw_ode_all_finite(const double *x, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static double scale_of(const lw_ode *ode, double y) { return ode->options.atol + ode->options.rtol * fabs(y); }

/* ---- creation -------------------------------------------------------------------------------------- */

lw_ode *lw_ode_create(int32_t n, int32_t n_events, lw_ode_function derivative, lw_ode_function events, void *context,
                      const lw_ode_options *options) {
  if (n < 0 || n_events < 0) return NULL;
  if (events == NULL) n_events = 0;
  const size_t states = (size_t)n, indicators = (size_t)n_events;
  const size_t doubles = (4 + LW_ODE_STAGES) * states + 3 * indicators;
  lw_ode *ode = calloc(1, sizeof *ode + doubles * sizeof(double) + 2 * indicators * sizeof(int32_t));
  if (ode == NULL) return NULL;
  ode->n = n;
  ode->n_events = n_events;
  ode->derivative = derivative;
  ode->events = events;
  ode->context = context;
  ode->options = *options;
  double *next = (double *)(void *)(ode + 1);
  double **const arrays[] = {&ode->y, &ode->y_old, &ode->y_new, &ode->y_look};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++, next += states) *arrays[i] = next;
  for (int i = 0; i < LW_ODE_STAGES; i++, next += states) ode->k[i] = next;
  ode->z = next;
  ode->z_look = next + indicators;
  ode->z_trial = next + 2 * indicators;
  ode->side = (int32_t *)(void *)(next + 3 * indicators);
  ode->crossings = ode->side + indicators;
  return ode;
}

void lw_ode_free(lw_ode *ode) { free(ode); }

void lw_ode_set_options(lw_ode *ode, const lw_ode_options *options) { ode->options = *options; }

double lw_ode_time(const lw_ode *ode) { return ode->t; }

const double *lw_ode_y(const lw_ode *ode) { return ode->y; }

const int32_t *lw_ode_crossings(const lw_ode *ode) { return ode->crossings; }

lw_ode_statistics lw_ode_counts(const lw_ode *ode) { return ode->counts; }

/* ---- the caller's functions ------------------------------------------------------------------------ */

static int derivative_at(lw_ode *ode, double t, const double *y, double *ydot) {
  ode->counts.evaluations++;
  return ode->derivative(ode->context, t, y, ydot);
}

/* ---- dense output ---------------------------------------------------------------------------------- */

static void dense_weights(double x, double w[LW_ODE_STAGES]) {
  const double rest = 1.0 - x, bubble = x * x * rest * rest;
  for (int i = 0; i < LW_ODE_STAGES; i++) w[i] = x * x * (3.0 - 2.0 * x) * B[i] + bubble * BUBBLE[i];
  w[0] += x * rest * rest;
  w[LW_ODE_STAGES - 1] -= x * x * rest;
}

void lw_ode_dense(const lw_ode *ode, double t, double *y) {
  if (t == ode->t || ode->h == 0.0) {
    memcpy(y, ode->y, (size_t)ode->n * sizeof *y);
    return;
  }
  double w[LW_ODE_STAGES];
  dense_weights((t - ode->t_old) / ode->h, w);
  for (int32_t i = 0; i < ode->n; i++) {
    double slope = 0.0;
    for (int s = 0; s < LW_ODE_STAGES; s++) slope += w[s] * ode->k[s][i];
    y[i] = ode->y_old[i] + ode->h * slope;
  }
}

/* ---- step size ------------------------------------------------------------------------------------- */

/* Root mean square of x_i / scale_i; 0/0 counts as 0, so that a state that stays zero needs no atol. */
static double norm_of(const lw_ode *ode, const double *x, const double *y) {
  double sum = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    const double ratio = x[i] == 0.0 ? 0.0 : x[i] / scale_of(ode, y[i]);
    sum += ratio * ratio;
  }
  return ode->n > 0 ? sqrt(sum / ode->n) : 0.0;
}

/* Hairer, Norsett, Wanner, II.4: from the sizes of y, f and, by one Euler step, of y''. */
static int choose_first_step(lw_ode *ode, double remaining) {
  const double *f = ode->k[LW_ODE_STAGES - 1];
  const double size = norm_of(ode, ode->y, ode->y), speed = norm_of(ode, f, ode->y);
  double h = size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed;
  h = fmin(h, fabs(remaining));
  const double signed_h = copysign(h, remaining);
  for (int32_t i = 0; i < ode->n; i++) ode->y_new[i] = ode->y[i] + signed_h * f[i];
  double *change = ode->k[0];
  const int status = derivative_at(ode, ode->t + signed_h, ode->y_new, change);
  for (int32_t i = 0; i < ode->n; i++) change[i] -= f[i];
  const double largest = fmax(speed, norm_of(ode, change, ode->y) / h);
  if (status < 0) return status;
  ode->h_next = h;
  if (status == 0 && isfinite(largest) && largest > 1e-15) ode->h_next = fmin(100.0 * h, power(0.01 / largest, 0.2));
  else if (status == 0 && largest <= 1e-15) ode->h_next = fmin(100.0 * h, fmax(1e-6, 1e-3 * h));
  return 0;
}

static double shortest_step(const lw_ode *ode) { return fmax(16.0 * DBL_EPSILON * fabs(ode->t), DBL_MIN); }

/* The length of the next try: as wished, up to the bound exactly, or half of what remains, so that no crumb is left. */
static double length_of_try(const lw_ode *ode, double remaining) {
  const double distance = fabs(remaining), h = fmax(ode->h_next, shortest_step(ode));
  if (distance <= h * (1.0 + 1e-9)) return distance;
  return distance < 2.0 * h ? 0.5 * distance : h;
}

static void wish_after_success(lw_ode *ode, double h, double error, bool after_rejection) {
  error = fmax(error, 1e-10);
  double factor = 0.9 * power(error, -0.17) * power(ode->error_before, 0.04);
  factor = fmin(fmax(factor, 0.2), after_rejection ? 1.0 : 10.0);
  /* a step shortened to meet a bound says little about the error and must not shrink the wish */
  if (h < ode->h_next * (1.0 - 1e-9)) {
    ode->h_next = after_rejection ? ode->h_next : fmax(ode->h_next, h * factor);
    return;
  }
  ode->error_before = fmax(error, 1e-4);
  ode->h_next = h * factor;
}

static double length_after_rejection(double h, double error) {
  if (!isfinite(error)) return 0.5 * h;
  return h * fmax(0.2, 0.9 * power(fmin(error, 1e10), -0.17));
}

/* ---- one step -------------------------------------------------------------------------------------- */

/* Stages 2 to 7; the last one leaves y_1 in y_new and f(t_1, y_1) in k[6]. */
static int run_stages(lw_ode *ode, double t_new) {
  for (int s = 1; s < LW_ODE_STAGES; s++) {
    for (int32_t i = 0; i < ode->n; i++) {
      double slope = 0.0;
      for (int j = 0; j < s; j++) slope += A[s][j] * ode->k[j][i];
      ode->y_new[i] = ode->y[i] + ode->h * slope;
    }
    const double t = C[s] == 1.0 ? t_new : ode->t + C[s] * ode->h;
    const int status = derivative_at(ode, t, ode->y_new, ode->k[s]);
    if (status != 0) return status;
  }
  return 0;
}

static double error_of_try(const lw_ode *ode) {
  double sum = 0.0;
  for (int32_t i = 0; i < ode->n; i++) {
    double error = 0.0;
    for (int s = 0; s < LW_ODE_STAGES; s++) error += ERROR[s] * ode->k[s][i];
    const double scale = scale_of(ode, fmax(fabs(ode->y[i]), fabs(ode->y_new[i])));
    const double ratio = error == 0.0 ? 0.0 : ode->h * error / scale;
    sum += isfinite(ode->y_new[i]) ? ratio * ratio : NAN;
  }
  return ode->n > 0 ? sqrt(sum / ode->n) : 0.0;
}

/* One try from t to t_new. Returns the function's status; *error is left infinite where it says "not here". */
static int try_step(lw_ode *ode, double t_new, double *error) {
  *error = INFINITY;
  ode->h = t_new - ode->t;
  const int status = run_stages(ode, t_new);
  if (status == 0) *error = error_of_try(ode);
  return status;
}

static void swap(double **a, double **b) {
  double *const spare = *a;
  *a = *b;
  *b = spare;
}

/* Makes the try the last step and looks for events on it; undone if an indicator does not exist there. */
static int take_step(lw_ode *ode, double t_new, bool *event) {
  ode->t_old = ode->t;
  ode->t = t_new;
  swap(&ode->y, &ode->y_old);
  swap(&ode->y, &ode->y_new);
  double t = t_new;
  const int status = ode->n_events > 0 ? lw_ode_look_for_event(ode, &t, event) : 0;
  if (status != 0) {
    swap(&ode->y, &ode->y_new);
    swap(&ode->y, &ode->y_old);
    ode->t = ode->t_old;
    return status;
  }
  ode->first_same = t == t_new;
  ode->first_looks = false;
  if (*event) {
    lw_ode_dense(ode, t, ode->y_new);
    swap(&ode->y, &ode->y_new);
    ode->t = t;
    lw_ode_note_crossings(ode);
  }
  return 0;
}

/* The derivative at (t, y) into k[6] if it is not there. */
static lw_ode_outcome derivative_here(lw_ode *ode) {
  if (ode->first_same) return LW_ODE_STEP;
  const int status = derivative_at(ode, ode->t, ode->y, ode->k[LW_ODE_STAGES - 1]);
  if (status != 0) return status < 0 ? LW_ODE_STOPPED : LW_ODE_NOT_FINITE;
  if (!lw_ode_all_finite(ode->k[LW_ODE_STAGES - 1], ode->n)) return LW_ODE_NOT_FINITE;
  ode->first_same = true;
  return LW_ODE_STEP;
}

lw_ode_outcome lw_ode_start(lw_ode *ode, double t, const double *y) {
  memmove(ode->y, y, (size_t)ode->n * sizeof *y);
  ode->t = ode->t_old = t;
  ode->h = 0.0;
  ode->h_next = ode->options.first_step;
  ode->error_before = 1e-4;
  ode->tries = 0;
  ode->started = ode->first_same = false;
  ode->first_looks = true;
  if (!isfinite(t) || !lw_ode_all_finite(y, ode->n)) return LW_ODE_NOT_FINITE;
  const lw_ode_outcome outcome = derivative_here(ode);
  if (outcome != LW_ODE_STEP) return outcome;
  const int status = ode->n_events > 0 ? lw_ode_start_indicators(ode) : 0;
  if (status != 0) return status < 0 ? LW_ODE_STOPPED : LW_ODE_NOT_FINITE;
  ode->started = true;
  return LW_ODE_STEP;
}

/* Tries with ever shorter steps until one is accepted; k[0] holds the derivative at (t, y) throughout. */
static lw_ode_outcome step_until_accepted(lw_ode *ode, double t_bound) {
  const double remaining = t_bound - ode->t;
  for (bool after_rejection = false;; after_rejection = true) {
    if (ode->options.max_steps > 0 && ode->tries >= ode->options.max_steps) return LW_ODE_TOO_MANY_STEPS;
    ode->tries++;
    const double h = length_of_try(ode, remaining);
    const double t_new = h == fabs(remaining) ? t_bound : ode->t + copysign(h, remaining);
    double error;
    bool event = false;
    int status = try_step(ode, t_new, &error);
    if (status == 0 && error <= 1.0) status = take_step(ode, t_new, &event);
    if (status < 0) return LW_ODE_STOPPED;
    if (status == 0 && error <= 1.0) {
      ode->counts.steps++;
      wish_after_success(ode, h, error, after_rejection);
      return event ? LW_ODE_EVENT : LW_ODE_STEP;
    }
    ode->counts.rejected++;
    ode->h_next = length_after_rejection(h, status == 0 ? error : INFINITY);
    if (ode->h_next < shortest_step(ode)) return LW_ODE_STEP_TOO_SMALL;
  }
}

lw_ode_outcome lw_ode_step(lw_ode *ode, double t_bound) {
  const double remaining = t_bound - ode->t;
  if (!ode->started || isnan(remaining)) return LW_ODE_NOT_FINITE;
  if (remaining == 0.0) return LW_ODE_STEP;
  const lw_ode_outcome here = derivative_here(ode);
  if (here != LW_ODE_STEP) return here;
  if (!(ode->h_next > 0.0) && choose_first_step(ode, remaining) < 0) return LW_ODE_STOPPED;
  if (ode->options.max_step > 0.0) ode->h_next = fmin(ode->h_next, ode->options.max_step);
  swap(&ode->k[0], &ode->k[LW_ODE_STAGES - 1]);
  const lw_ode_outcome outcome = step_until_accepted(ode, t_bound);
  if (outcome != LW_ODE_STEP && outcome != LW_ODE_EVENT) {
    /* the last state stands, and its derivative with it; the dense output is gone */
    swap(&ode->k[0], &ode->k[LW_ODE_STAGES - 1]);
    ode->h = 0.0;
  }
  return outcome;
}
