/* Event location: an indicator z changes sign, where z <= 0 counts as negative.
 *
 * The indicators are sampled along the dense output of a step; a sign change is then bracketed to a few units in the
 * last place of t. The step ends just after the sign change. An indicator that is exactly zero at the start takes its
 * sign when it leaves zero, without an event; if it is still zero at the first regular sample, its sign is negative. */
#include <float.h>
#include <math.h>

#include "ode.h"

/* Sample points as fractions of a step. The tiny one is used after a start, for indicators that leave zero. */
static const double FIRST_SAMPLE = 0x1p-20;
static const double SAMPLES[] = {0.25, 0.5, 0.75, 1.0};
enum { N_SAMPLES = sizeof SAMPLES / sizeof *SAMPLES };

/* ITP may take log2(HEADROOM) more iterations than bisection. */
static const double HEADROOM = 4.0;

/* A value that is not finite counts as a recoverable failure. */
static int evaluate_indicators(lw_ode *ode, double t, const double *y, double *z) {
  ode->statistics.event_evaluations++;
  const int status = ode->events(ode->context, t, y, z);
  return status != 0 ? status : !lw_ode_all_finite(z, ode->n_events);
}

static int sample_indicators(lw_ode *ode, double t, double *z) {
  lw_ode_dense(ode, t, ode->y_sample);
  return evaluate_indicators(ode, t, ode->y_sample, z);
}

static void swap(double **a, double **b) {
  double *const temporary = *a;
  *a = *b;
  *b = temporary;
}

static int32_t sign_of(double z) { return z > 0.0 ? 1 : -1; }

static bool has_changed(const lw_ode *ode, int32_t i, double z) {
  return ode->event_sign[i] != 0 && ode->event_sign[i] != sign_of(z);
}

static bool any_changed(const lw_ode *ode, const double *z) {
  for (int32_t i = 0; i < ode->n_events; i++)
    if (has_changed(ode, i, z[i])) return true;
  return false;
}

/* An indicator that was zero takes its sign when it leaves zero; `last`: in any case. */
static void assign_signs(lw_ode *ode, const double *z, bool last) {
  for (int32_t i = 0; i < ode->n_events; i++)
    if (ode->event_sign[i] == 0 && (z[i] != 0.0 || last)) ode->event_sign[i] = sign_of(z[i]);
}

static double time_tolerance(double left, double right) {
  return fmax(4.0 * DBL_EPSILON * fmax(fabs(left), fabs(right)), DBL_MIN);
}

/* Earliest zero of the secants, as a fraction of the bracket. */
static double earliest_secant(const lw_ode *ode) {
  double earliest = 1.0;
  for (int32_t i = 0; i < ode->n_events; i++)
    if (has_changed(ode, i, ode->z_sample[i]))
      earliest = fmin(earliest, fabs(ode->z[i]) / (fabs(ode->z[i]) + fabs(ode->z_sample[i])));
  return earliest;
}

/* ITP (interpolate, truncate, project; Oliveira, Takahashi 2020): the secant point, moved towards the middle and kept
 * so close to it that bisection could still finish within `allowed`, the present bracket width allowed. */
static double itp_fraction(double secant, double width, double allowed, double first_width) {
  const double to_middle = 0.5 - secant;
  const double truncated = secant + copysign(fmin(0.2 * width / first_width, fabs(to_middle)), to_middle);
  const double radius = fmax(0.5 * (allowed / width - 1.0), 0.0);
  return fmin(fmax(truncated, 0.5 - radius), 0.5 + radius);
}

/* Brackets the first sign change between `left` (none yet) and `right` (at least one). Leaves *right just after it,
 * and the indicators there in z_sample. */
static int bracket_event(lw_ode *ode, double left, double *right) {
  const double tolerance = time_tolerance(left, *right), first_width = fabs(*right - left);
  double allowed = HEADROOM * first_width;
  for (double width = first_width; width > tolerance; width = fabs(*right - left), allowed *= 0.5) {
    const double margin = 0.5 * tolerance / width;
    const double fraction = itp_fraction(earliest_secant(ode), width, allowed, first_width);
    const double trial = left + fmin(fmax(fraction, margin), 1.0 - margin) * (*right - left);
    const int status = sample_indicators(ode, trial, ode->z_trial);
    if (status != 0) return status;
    const bool beyond = any_changed(ode, ode->z_trial);
    swap(beyond ? &ode->z_sample : &ode->z, &ode->z_trial);
    *(beyond ? right : &left) = trial;
  }
  return 0;
}

/* Steps a little further: sign changes that differ only by rounding are one event. */
static int include_simultaneous(lw_ode *ode, double *t, double limit) {
  const double past = *t + copysign(4.0 * time_tolerance(*t, limit), ode->h);
  if ((limit - past) * ode->h < 0.0) return 0;
  const int status = sample_indicators(ode, past, ode->z_trial);
  if (status == 0 && any_changed(ode, ode->z_trial)) {
    swap(&ode->z_sample, &ode->z_trial);
    *t = past;
  }
  return status;
}

void lw_ode_record_crossings(lw_ode *ode) {
  for (int32_t i = 0; i < ode->n_events; i++) {
    ode->crossings[i] = has_changed(ode, i, ode->z_sample[i]) ? sign_of(ode->z_sample[i]) : 0;
    ode->event_sign[i] = sign_of(ode->z_sample[i]);
  }
  swap(&ode->z, &ode->z_sample);
}

int lw_ode_start_indicators(lw_ode *ode) {
  const int status = evaluate_indicators(ode, ode->t, ode->y, ode->z);
  for (int32_t i = 0; i < ode->n_events; i++) ode->event_sign[i] = ode->z[i] == 0.0 ? 0 : sign_of(ode->z[i]);
  return status;
}

int lw_ode_locate_event(lw_ode *ode, double *t, bool *found) {
  const double t_new = *t;
  double left = ode->t_old;
  for (int sample = ode->just_started ? -1 : 0; sample < N_SAMPLES; sample++) {
    double right = sample < 0 ? ode->t_old + FIRST_SAMPLE * ode->h : ode->t_old + SAMPLES[sample] * ode->h;
    right = sample == N_SAMPLES - 1 ? t_new : right;
    int status = sample_indicators(ode, right, ode->z_sample);
    if (status == 0 && any_changed(ode, ode->z_sample)) {
      const double limit = right;
      status = bracket_event(ode, left, &right);
      status = status == 0 ? include_simultaneous(ode, &right, limit) : status;
      *t = right;
      *found = true;
    }
    if (status != 0 || *found) return status;
    assign_signs(ode, ode->z_sample, sample >= 0);
    swap(&ode->z, &ode->z_sample);
    left = right;
  }
  return 0;
}
