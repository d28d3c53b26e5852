/* Step size control, restarts and output, common to all methods.
 *
 *   norm of an error: |e| = sqrt(mean_i (e_i / (atol + rtol max(|y_0i|, |y_1i|)))^2), accepted if |e| <= 1
 *   next step size: h * 0.9 |e|^-a |e_before|^b, a PI controller (Hairer, Wanner, IV.2): a = 0.17, b = 0.04 for
 *   methods of order 5 with a local error estimate of order 5
 *
 * Powers are computed here, because libm gives different bits on different platforms. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/counted_size.h"
#include "math/tolerances.h"
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

/* x^p to nine digits for finite x > 0, sufficient for step sizes */
static double power(double x, double p) { return exp2_of(p * log2_of(x)); }

/* ---- creation -------------------------------------------------------------------------------------- */

enum { STATE_VECTORS = 5 }; /* y, y_old, y_new, y_sample, atol: the first ones of the memory behind lw_ode */

static void place_vectors(lw_ode *ode, int from, int to, double *memory) {
  for (int i = from; i < to; i++, memory += ode->n) ode->k[i] = memory;
  ode->vectors = to;
}

lw_ode *lw_ode_create(int32_t n, int32_t n_events, lw_ode_function derivative, lw_ode_function events, void *context,
                      const lw_ode_options *options) {
  if (n < 0 || n_events < 0) return NULL;
  if (events == NULL) n_events = 0;
  const size_t states = (size_t)n, indicators = (size_t)n_events;
  const size_t doubles = (STATE_VECTORS + LW_DOPRI5_STAGES) * states + 6 * indicators;
  lw_ode *ode = calloc(1, sizeof *ode + doubles * sizeof(double) + 2 * indicators * sizeof(int32_t));
  if (ode == NULL) return NULL;
  ode->n = n;
  ode->n_events = n_events;
  ode->derivative = derivative;
  ode->events = events;
  ode->context = context;
  ode->options = *options;
  ode->method = &lw_dopri5;
  ode->next_row = NAN;
  double *next = (double *)(void *)(ode + 1);
  double **const arrays[] = {&ode->y, &ode->y_old, &ode->y_new, &ode->y_sample, &ode->atol};
  for (size_t i = 0; i < STATE_VECTORS; i++, next += states) *arrays[i] = next;
  place_vectors(ode, 0, LW_DOPRI5_STAGES, next);
  next += LW_DOPRI5_STAGES * states;
  ode->z = next;
  ode->z_sample = next + indicators;
  ode->z_trial = next + 2 * indicators;
  ode->z_before = next + 3 * indicators;
  ode->z_low = next + 4 * indicators;
  ode->z_high = next + 5 * indicators;
  ode->event_sign = (int32_t *)(void *)(next + 6 * indicators);
  ode->crossings = ode->event_sign + indicators;
  lw_ode_set_absolute_tolerances(ode, NULL);
  return ode;
}

/* Stages that the method has beyond those of lw_dopri5; they stay until the integrator is freed. */
static lw_status allocate_vectors(lw_ode *ode, int vectors) {
  const size_t n = (size_t)ode->n;
  if (vectors <= ode->vectors) return LW_OK;
  double *more = calloc((size_t)(vectors - LW_DOPRI5_STAGES) * n + 1, sizeof *more);
  if (more == NULL) return LW_ERROR_MEMORY;
  free(ode->more_vectors);
  ode->more_vectors = more;
  /* steps swap vectors: all of them return to their memory */
  place_vectors(ode, 0, LW_DOPRI5_STAGES, (double *)(void *)(ode + 1) + STATE_VECTORS * n);
  place_vectors(ode, LW_DOPRI5_STAGES, vectors, more);
  ode->f_known = false;
  return LW_OK;
}

/* Memory of implicit methods; it stays until the integrator is freed. */
static lw_status allocate_implicit(lw_ode *ode) {
  const size_t n = (size_t)ode->n;
  if (ode->implicit_memory) return LW_OK;
  double *next = calloc(2 * n * n + 3 * n + 1, sizeof *next); /* order[] needs less than n doubles */
  if (next == NULL) return LW_ERROR_MEMORY;
  ode->implicit_memory = next;
  ode->implicit.by_time = next;
  ode->implicit.scale = next + n;
  ode->implicit.matrix = next + 2 * n;
  ode->implicit.lu = ode->implicit.matrix + n * n;
  ode->implicit.order = (int32_t *)(void *)(ode->implicit.lu + n * n);
  return LW_OK;
}

static lw_status allocate_for(lw_ode *ode, const lw_ode_operations *method) {
  const lw_status status = allocate_vectors(ode, method->vectors);
  return status == LW_OK && method->implicit ? allocate_implicit(ode) : status;
}

static const lw_ode_operations *operations_of(lw_ode_method method) {
  switch (method) {
    case LW_ODE_DOPRI5: return &lw_dopri5;
    case LW_ODE_RODAS5P: return &lw_rodas5p;
    case LW_ODE_AUTO: return &lw_dopri5;
    case LW_ODE_DOP853: return &lw_dop853;
  }
  return NULL;
}

lw_status lw_ode_set_method(lw_ode *ode, lw_ode_method method, lw_ode_jacobian jacobian) {
  const lw_ode_operations *selected = operations_of(method);
  if (selected == NULL) return LW_ERROR_USAGE;
  const lw_status status = allocate_for(ode, method == LW_ODE_AUTO ? &lw_rodas5p : selected);
  if (status != LW_OK && method != LW_ODE_AUTO) return status;
  ode->method = selected;
  ode->choice = (lw_ode_choice){.automatic = method == LW_ODE_AUTO && status == LW_OK};
  ode->implicit.jacobian = jacobian;
  ode->started = false;
  return LW_OK;
}

void lw_ode_free(lw_ode *ode) {
  if (ode == NULL) return;
  free(ode->implicit_memory);
  free(ode->more_vectors);
  free(ode);
}

void lw_ode_set_options(lw_ode *ode, const lw_ode_options *options) {
  ode->options = *options;
  lw_ode_set_absolute_tolerances(ode, ode->own_atol ? ode->atol : NULL);
}

void lw_ode_set_absolute_tolerances(lw_ode *ode, const double *atol) {
  ode->own_atol = atol != NULL;
  ode->atol_grows = false;
  for (int32_t i = 0; i < ode->n; i++) {
    ode->atol[i] = atol ? atol[i] : ode->options.atol;
    ode->atol_grows |= ode->atol[i] < ode->options.atol;
  }
}

const double *lw_ode_absolute_tolerances(const lw_ode *ode) { return ode->atol; }

/* By the largest size of the state so far, until that of the options is reached. */
static void grow_absolute_tolerances(lw_ode *ode) {
  const double largest = ode->options.atol;
  ode->atol_grows = false;
  for (int32_t i = 0; i < ode->n; i++) {
    if (ode->atol[i] >= largest) continue;
    ode->atol[i] = fmin(fmax(ode->atol[i], largest * lw_counted_size(fabs(ode->y[i]))), largest);
    ode->atol_grows |= ode->atol[i] < largest;
  }
}

void lw_ode_set_on_step(lw_ode *ode, lw_ode_function on_step, int32_t n_step_values, double *step_values) {
  ode->on_step = on_step;
  ode->n_step_values = n_step_values;
  ode->step_values = step_values;
}

void lw_ode_set_angular_speed(lw_ode *ode, lw_ode_function angular_speed, int32_t max_samples) {
  ode->angular_speed = angular_speed;
  ode->max_samples = max_samples;
}

void lw_ode_set_bounds(lw_ode *ode, lw_ode_bounds bounds) { ode->bounds = bounds; }

double lw_ode_time(const lw_ode *ode) { return ode->t; }

const double *lw_ode_y(const lw_ode *ode) { return ode->y; }

const int32_t *lw_ode_crossings(const lw_ode *ode) { return ode->crossings; }

lw_ode_statistics lw_ode_get_statistics(const lw_ode *ode) { return ode->statistics; }

lw_ode_step_control lw_ode_get_step_control(const lw_ode *ode) {
  return (lw_ode_step_control){ode->h_next, ode->previous_error, lw_ode_encode_choice(&ode->choice)};
}

void lw_ode_set_step_control(lw_ode *ode, lw_ode_step_control control) {
  ode->h_next = control.next_step;
  ode->previous_error = control.previous_error;
  lw_ode_decode_choice(control.choice, &ode->choice);
  lw_ode_apply_choice(ode);
}

/* ---- step size ------------------------------------------------------------------------------------- */

/* Hairer, Norsett, Wanner, II.4: from the norms of y, f and, by one Euler step, of y''. */
static int choose_first_step(lw_ode *ode, double remaining) {
  const double *f = ode->k[ode->method->f_stage];
  const double size = lw_ode_norm(ode, ode->y, ode->y), speed = lw_ode_norm(ode, f, ode->y);
  double h = size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed;
  h = fmin(h, fabs(remaining));
  const double signed_h = copysign(h, remaining);
  for (int32_t i = 0; i < ode->n; i++) ode->y_new[i] = ode->y[i] + signed_h * f[i];
  double *change = ode->k[0];
  const int status = lw_ode_derivative(ode, ode->t + signed_h, ode->y_new, change);
  for (int32_t i = 0; i < ode->n; i++) change[i] -= f[i];
  const double largest = fmax(speed, lw_ode_norm(ode, change, ode->y) / h);
  if (status < 0) return status;
  ode->h_next = h;
  if (status == 0 && isfinite(largest) && largest > 1e-15)
    ode->h_next = fmin(100.0 * h, power(0.01 / largest, 1.0 / ode->method->order));
  else if (status == 0 && largest <= 1e-15) ode->h_next = fmin(100.0 * h, fmax(1e-6, 1e-3 * h));
  return 0;
}

static double min_step_size(const lw_ode *ode) { return fmax(16.0 * DBL_EPSILON * fabs(ode->t), DBL_MIN); }

/* Size of the next step: as controlled, exactly up to the bound, or half of the remainder, so that no tiny step is
 * left. */
static double next_step_size(const lw_ode *ode, double remaining) {
  const double distance = fabs(remaining), h = fmax(ode->h_next, min_step_size(ode));
  if (distance <= h * (1.0 + 1e-9)) return distance;
  return distance < 2.0 * h ? 0.5 * distance : h;
}

static void adapt_step_size(lw_ode *ode, double h, double error, bool after_rejection) {
  error = fmax(error, 1e-10);
  const lw_ode_operations *m = ode->method;
  double factor = 0.9 * power(error, -m->error_exponent) * power(ode->previous_error, m->memory_exponent);
  factor = fmin(fmax(factor, 0.2), after_rejection ? 1.0 : 10.0);
  /* the error of a step shortened by a bound has little meaning: it must not reduce the step size */
  if (h < ode->h_next * (1.0 - 1e-9)) {
    ode->h_next = after_rejection ? ode->h_next : fmax(ode->h_next, h * factor);
    return;
  }
  ode->previous_error = fmax(error, FIRST_ERROR);
  ode->h_next = h * factor;
}

static double reduced_step_size(const lw_ode *ode, double h, double error) {
  if (!isfinite(error)) return 0.5 * h;
  return h * fmax(0.2, 0.9 * power(fmin(error, 1e10), -ode->method->error_exponent));
}

/* ---- one step -------------------------------------------------------------------------------------- */

/* Attempts a step from t to t_new. Returns the status of f; *error stays infinite after a recoverable failure. */
static int try_step(lw_ode *ode, double t_new, double *error) {
  *error = INFINITY;
  ode->h = t_new - ode->t;
  ode->dense_ready = false;
  const int status = ode->method->run_stages(ode, t_new);
  if (status == 0) *error = ode->method->error_norm(ode);
  return status;
}

static void swap(double **a, double **b) {
  double *const temporary = *a;
  *a = *b;
  *b = temporary;
}

/* Rows are due between the start of the last step and t: if its dense output fails, a shorter step may succeed. */
static bool has_row(const lw_ode *ode, double t) {
  return (ode->rows_follow && lw_ode_row_intervals(ode, fabs(ode->h)) > 1) ||
         (ode->next_row - ode->t_old) * (ode->next_row - t) < 0.0;
}

/* Accepts the step and searches it for events; undoes it if an indicator cannot be evaluated, or something turns too
 * far. */
static int accept_step(lw_ode *ode, double t_new, bool *event, bool *too_long) {
  ode->t_old = ode->t;
  ode->t = t_new;
  swap(&ode->y, &ode->y_old);
  swap(&ode->y, &ode->y_new);
  double t = t_new;
  int status = lw_ode_measure_rotation(ode, too_long);
  if (status == 0 && !*too_long && ode->n_events > 0) status = lw_ode_locate_event(ode, &t, event);
  if (status == 0 && !*too_long && has_row(ode, t)) status = lw_ode_prepare_dense(ode);
  if (status != 0 || *too_long) {
    swap(&ode->y, &ode->y_new);
    swap(&ode->y, &ode->y_old);
    ode->t = ode->t_old;
    ode->here.speed = -1.0;
    return status;
  }
  ode->f_known = ode->method->first_same_as_last && t == t_new;
  ode->implicit.jacobian_current = false;
  if (*event) {
    (void)lw_ode_dense(ode, t, ode->y_new); /* it is there: the event was found with it, or ends the step */
    swap(&ode->y, &ode->y_new);
    ode->t = t;
    ode->here.speed = -1.0;
    lw_ode_record_crossings(ode);
  }
  return 0;
}

/* Evaluates f(t, y) into k[f_stage] unless it is known. */
static lw_ode_outcome evaluate_here(lw_ode *ode) {
  if (ode->f_known) return LW_ODE_STEP;
  double *f_stage = ode->k[ode->method->f_stage];
  const int status = lw_ode_derivative(ode, ode->t, ode->y, f_stage);
  if (status != 0) return status < 0 ? LW_ODE_STOPPED : LW_ODE_NOT_FINITE;
  if (!lw_ode_all_finite(f_stage, ode->n)) return LW_ODE_NOT_FINITE;
  ode->f_known = true;
  return LW_ODE_STEP;
}

lw_ode_outcome lw_ode_start(lw_ode *ode, double t, const double *y) {
  memmove(ode->y, y, (size_t)ode->n * sizeof *y);
  ode->t = ode->t_old = t;
  ode->h = 0.0;
  ode->h_next = ode->options.first_step;
  ode->previous_error = FIRST_ERROR;
  ode->tries = 0;
  ode->started = ode->f_known = ode->implicit.jacobian_current = false;
  if (!isfinite(t) || !lw_ode_all_finite(y, ode->n)) return LW_ODE_NOT_FINITE;
  const lw_ode_outcome outcome = evaluate_here(ode);
  if (outcome != LW_ODE_STEP) return outcome;
  lw_ode_start_rotation(ode);
  const int status = ode->n_events > 0 ? lw_ode_start_indicators(ode) : 0;
  if (status != 0) return status < 0 ? LW_ODE_STOPPED : LW_ODE_NOT_FINITE;
  ode->started = true;
  return LW_ODE_STEP;
}

/* Reduces the step size until a step is accepted. */
static lw_ode_outcome step_until_accepted(lw_ode *ode, double t_bound) {
  const double remaining = t_bound - ode->t;
  const int64_t most = ode->options.max_steps ? ode->options.max_steps : LW_RUN_MAX_STEPS;
  for (int32_t rejected = 0;; rejected++) {
    if (most > 0 && ode->tries >= most) return LW_ODE_TOO_MANY_STEPS;
    ode->tries++;
    const double h = next_step_size(ode, remaining);
    const double t_new = h == fabs(remaining) ? t_bound : ode->t + copysign(h, remaining);
    double error;
    bool event = false, too_long = false;
    const double size = fabs(t_new - ode->t); /* the same for a step that a bound ends where it would have ended */
    int status = try_step(ode, t_new, &error);
    if (status == 0 && error <= 1.0) status = accept_step(ode, t_new, &event, &too_long);
    if (status < 0) return LW_ODE_STOPPED;
    if (status == 0 && error <= 1.0 && !too_long) {
      ode->statistics.steps++;
      ode->statistics.method_steps[ode->method->method]++;
      adapt_step_size(ode, size, error, rejected > 0);
      if (ode->atol_grows) grow_absolute_tolerances(ode);
      if (!event) lw_ode_weigh_step(ode, rejected);
      return event ? LW_ODE_EVENT : LW_ODE_STEP;
    }
    ode->statistics.rejected++;
    if (status > 0 && lw_ode_abandon_implicit(ode)) continue;
    ode->h_next = too_long ? lw_ode_longest_step(ode) : reduced_step_size(ode, h, status == 0 ? error : INFINITY);
    if (ode->h_next < min_step_size(ode)) return LW_ODE_STEP_TOO_SMALL;
  }
}

/* Swaps k[0] and k[f_stage]: f at the end of the last step becomes the first stage (first same as last). */
static void swap_fsal_stages(lw_ode *ode) {
  if (ode->method->first_same_as_last) swap(&ode->k[0], &ode->k[ode->method->f_stage]);
}

lw_ode_outcome lw_ode_step(lw_ode *ode, double t_bound) {
  const double remaining = t_bound - ode->t;
  if (!ode->started || isnan(remaining)) return LW_ODE_NOT_FINITE;
  if (remaining == 0.0) return LW_ODE_STEP;
  lw_ode_apply_choice(ode);
  const lw_ode_outcome here = evaluate_here(ode);
  if (here != LW_ODE_STEP) return here;
  if (!(ode->h_next > 0.0) && choose_first_step(ode, remaining) < 0) return LW_ODE_STOPPED;
  if (ode->options.max_step > 0.0) ode->h_next = fmin(ode->h_next, ode->options.max_step);
  ode->h_next = fmin(ode->h_next, lw_ode_longest_step(ode));
  swap_fsal_stages(ode);
  const lw_ode_outcome outcome = step_until_accepted(ode, t_bound);
  if (outcome != LW_ODE_STEP && outcome != LW_ODE_EVENT) {
    /* the last state and its derivative remain valid; there is no dense output */
    swap_fsal_stages(ode);
    ode->h = 0.0;
  }
  return outcome;
}
