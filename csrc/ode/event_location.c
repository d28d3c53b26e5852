/* Event location: an indicator z changes sign, where z <= 0 counts as negative.
 *
 * The indicators are sampled along the dense output of a step; a sign change is then bracketed to a few units in the
 * last place of t. The step ends just after the sign change. An indicator that is exactly zero at the start takes its
 * sign when it leaves zero, without an event; if it is still zero at the first regular sample, its sign is negative.
 *
 * An indicator may change its sign and change it back between two samples a and b. Its size s = sign z > 0 then has a
 * minimum there. Where s is convex, it lies above its secant through a and the sample before, and above each tangent:
 *   s(t) >= s(a) + (t - a) (s(a) - s(a_before)) / (a - a_before)
 * Only where this line comes down to a part of s(b), the tangent at b is computed, by one more sample. If s rises there,
 * the minimum is searched between a and b, until s is negative or the falling tangent is clear of zero.
 *
 * Most steps are far from events. Where the states in a step are bounded, and the indicators by these, none can change its
 * sign, and none is computed: the next step that is searched begins as after a start. */
#include <float.h>
#include <math.h>

#include "ode.h"
#include "math/tolerances.h"

/* Samples of a step, more where something turns far in it. A tiny part of the interval between them is used after a
 * start, for indicators that leave zero. */
enum { LEAST_SAMPLES = 4 };

/* A value that is not finite counts as a recoverable failure. */
static int evaluate_indicators(lw_ode *ode, double t, const double *y, double *z) {
  ode->statistics.event_evaluations++;
  const int status = ode->events(ode->context, t, y, z);
  return status != 0 ? status : !lw_ode_all_finite(z, ode->n_events);
}

static int sample_indicators(lw_ode *ode, double t, double *z) {
  const int status = lw_ode_dense(ode, t, ode->y_sample);
  return status != 0 ? status : evaluate_indicators(ode, t, ode->y_sample, z);
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

/* Where an indicator is zero between the newest of three samples and the other end of the bracket, as a fraction;
 * the oldest is the end that the newest has replaced. By inverse quadratic interpolation where that is monotone, in the
 * middle otherwise (Chandrupatla 1997). */
static double zero_between(double newest, double other, double oldest, double width_ratio) {
  const double ratio = (newest - other) / (oldest - other);
  if (!(ratio * ratio < width_ratio && (1.0 - ratio) * (1.0 - ratio) < 1.0 - width_ratio)) return 0.5;
  return newest / (other - newest) * (oldest / (other - oldest)) +
         (1.0 - 1.0 / width_ratio) * (newest / (oldest - newest)) * (other / (oldest - other));
}

static double clamp(double x, double margin) { return fmin(fmax(x, margin), 1.0 - margin); }

/* The bracket of an event: no indicator has changed at `left`, at least one at `right`. */
typedef struct bracket {
  double left, right;
  double width_ratio; /* of the bracket to the one before, of which z_trial holds the end that was replaced; 1: none */
  bool right_is_newest;
} bracket;

/* Earliest zero of the indicators that have changed, as a fraction of the bracket. It keeps so far from the ends that
 * the sign is likely to be another than there: both ends of the bracket move. */
static double earliest_zero(const lw_ode *ode, const bracket *w) {
  double earliest = 1.0;
  for (int32_t i = 0; i < ode->n_events; i++) {
    if (!has_changed(ode, i, ode->z_sample[i])) continue;
    const double left = ode->z[i], right = ode->z_sample[i], oldest = ode->z_trial[i];
    double zero = left / (left - right);
    if (w->width_ratio < 1.0)
      zero = w->right_is_newest ? 1.0 - zero_between(right, left, oldest, w->width_ratio)
                                : zero_between(left, right, oldest, w->width_ratio);
    earliest = fmin(earliest, clamp(zero, fmin(0.5 * ode->options.event_resolution / fabs(left - right), 0.5)));
  }
  return earliest;
}

/* All indicators that have changed are rounding, at both ends. */
static bool is_resolved(const lw_ode *ode) {
  for (int32_t i = 0; i < ode->n_events; i++)
    if (has_changed(ode, i, ode->z_sample[i]) &&
        fmax(fabs(ode->z[i]), fabs(ode->z_sample[i])) > ode->options.event_resolution)
      return false;
  return true;
}

/* Brackets the first sign change between `left` (none yet) and `right` (at least one). Leaves *right just after it,
 * and the indicators there in z_sample. */
static int bracket_event(lw_ode *ode, double left, double *right) {
  const double tolerance = time_tolerance(left, *right);
  bracket w = {left, *right, 1.0, false};
  for (double width = fabs(w.right - w.left); width > tolerance && !is_resolved(ode);) {
    const double trial = w.left + clamp(earliest_zero(ode, &w), 0.5 * tolerance / width) * (w.right - w.left);
    const int status = sample_indicators(ode, trial, ode->z_trial);
    if (status != 0) return status;
    w.right_is_newest = any_changed(ode, ode->z_trial);
    swap(w.right_is_newest ? &ode->z_sample : &ode->z, &ode->z_trial);
    *(w.right_is_newest ? &w.right : &w.left) = trial;
    w.width_ratio = fabs(w.right - w.left) / width;
    width = fabs(w.right - w.left);
  }
  *right = w.right;
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

/* ---- steps far from events ------------------------------------------------------------------------- */

static bool find_bounds(lw_ode *ode, double t, const double *y, double duration, const double *low,
                        const double *high) {
  const lw_ode_box box = {t, duration, y, low, high};
  return ode->bounds && ode->bounds(ode->context, &box, ode->z_low, ode->z_high) == 0;
}

/* No indicator can change its sign in the last step. */
static bool keeps_signs(lw_ode *ode) {
  double *low = ode->y_sample, *high = ode->y_new;
  if (!ode->bounds || !ode->method->range) return false;
  ode->method->range(ode, low, high);
  if (!find_bounds(ode, ode->t, ode->y, fabs(ode->h), low, high)) return false;
  for (int32_t i = 0; i < ode->n_events; i++)
    if (!(ode->event_sign[i] > 0 ? ode->z_low[i] > 0.0 : ode->event_sign[i] < 0 && ode->z_high[i] <= 0.0)) return false;
  return true;
}

/* The signs at a start, where bounds of a point show all. */
static bool find_signs(lw_ode *ode) {
  if (!find_bounds(ode, ode->t, ode->y, 0.0, ode->y, ode->y)) return false;
  for (int32_t i = 0; i < ode->n_events; i++) {
    if (!(ode->z_low[i] > 0.0 || ode->z_high[i] < 0.0)) return false;
    ode->event_sign[i] = ode->z_low[i] > 0.0 ? 1 : -1;
  }
  return true;
}

/* ---- a minimum between two samples ----------------------------------------------------------------- */

/* Samples `left` and `right`, and x = (t - left) / (right - left). */
typedef struct interval {
  double left, right, spacing;
} interval;

/* Size s of an indicator at x, and ds/dx. */
typedef struct tangent {
  double x, size, slope;
} tangent;

static double size_of(const lw_ode *ode, int32_t i, const double *z) { return ode->event_sign[i] * z[i]; }

static double time_at(const interval *w, double x) { return w->left + x * (w->right - w->left); }

/* Whether the falling tangent stays clear of zero. */
static bool lies_above(const tangent *from, const tangent *to) {
  return from->size + STEEPENING * from->slope * (to->x - from->x) > SAFETY * fmin(from->size, to->size);
}

/* Where to look next: where the slope would be zero if it were linear, where the tangents intersect, which finds kinks,
 * and in the middle. */
static double next_position(const tangent *from, const tangent *to, int turn, double spacing) {
  const double width = to->x - from->x, margin = fmax(0.01 * width, 1.5 * spacing);
  const double descent = from->slope / (from->slope - to->slope);
  const double drop = (to->size - from->size) / (width * (from->slope - to->slope));
  const double fraction[] = {descent, drop - to->slope / (from->slope - to->slope), 0.5};
  return fmin(fmax(from->x + width * fraction[turn % 3], from->x + margin), to->x - 0.5 * margin);
}

/* Computes the tangent at x. If the sign of the indicator has changed there, or at the sample before it, z_trial holds
 * the indicators at *t, and *changed is set. */
static int compute_tangent(lw_ode *ode, int32_t i, const interval *w, tangent *here, double *t, bool *changed) {
  double size[2];
  for (int k = 0; k < 2 && !*changed; k++) {
    *t = time_at(w, k ? here->x : here->x - w->spacing);
    const int status = sample_indicators(ode, *t, ode->z_trial);
    if (status != 0) return status;
    size[k] = size_of(ode, i, ode->z_trial);
    *changed = has_changed(ode, i, ode->z_trial[i]);
  }
  if (*changed) return 0;
  here->size = size[1];
  here->slope = (size[1] - size[0]) / w->spacing;
  return 0;
}

/* Narrows the minimum between two tangents. If it is beyond zero, z_trial holds the indicators at *t. */
static int search_minimum(lw_ode *ode, int32_t i, const interval *w, tangent from, tangent to, double *t, bool *found) {
  for (int turn = 0; turn < MAX_TANGENTS && to.x - from.x > 4.0 * w->spacing; turn++) {
    if (lies_above(&from, &to)) return 0;
    tangent here = {next_position(&from, &to, turn, w->spacing), 0.0, 0.0};
    const int status = compute_tangent(ode, i, w, &here, t, found);
    if (status != 0 || *found || here.slope == 0.0) return status;
    *(here.slope < 0.0 ? &from : &to) = here;
  }
  return 0;
}

/* Searches the parts of an interval, from a falling tangent to a rising one, in order. */
static int search_minima(lw_ode *ode, int32_t i, const interval *w, tangent from, tangent end, double *t, bool *found) {
  const double start = from.x;
  int status = 0;
  for (int part = 1; status == 0 && !*found && part <= SEARCHED_PARTS; part++) {
    tangent to = {start + part * (end.x - start) / SEARCHED_PARTS, 0.0, 0.0};
    if (part == SEARCHED_PARTS) to = end;
    else status = compute_tangent(ode, i, w, &to, t, found);
    if (status == 0 && !*found && from.slope < 0.0 && to.slope > 0.0)
      status = search_minimum(ode, i, w, from, to, t, found);
    from = to;
  }
  return status;
}

/* The slope of indicator i at the left end, per interval: its secant from the sample before. */
static double left_slope(const lw_ode *ode, int32_t i, const interval *w) {
  const double change = size_of(ode, i, ode->z) - size_of(ode, i, ode->z_before);
  return change * (w->right - w->left) / (w->left - ode->t_before);
}

/* Searches the interval for a sign change of indicator i that is undone within it. If there is one, *right becomes a time
 * between the two changes, with its indicators in z_sample. */
static int find_excursion(lw_ode *ode, int32_t i, double left, double *right) {
  const double spacing = fmax(TANGENT_SPACING, 4.0 * time_tolerance(left, *right) / fabs(*right - left));
  const interval w = {left, *right, spacing};
  const tangent from = {0.0, size_of(ode, i, ode->z), left_slope(ode, i, &w)};
  tangent to = {1.0, size_of(ode, i, ode->z_sample), 0.0};
  if (!(from.slope < 0.0) || lies_above(&from, &to) || !(spacing < 0.1)) return 0;
  bool found = false;
  double t;
  int status = compute_tangent(ode, i, &w, &to, &t, &found);
  if (status == 0 && !found && to.slope > 0.0) status = search_minima(ode, i, &w, from, to, &t, &found);
  if (found) {
    swap(&ode->z_sample, &ode->z_trial);
    *right = t;
  }
  return status;
}

static int find_excursions(lw_ode *ode, double left, double *right) {
  int status = 0;
  for (int32_t i = 0; i < ode->n_events && status == 0; i++)
    if (ode->event_sign[i] != 0 && !has_changed(ode, i, ode->z_sample[i])) status = find_excursion(ode, i, left, right);
  return status;
}

/* ---- a step ---------------------------------------------------------------------------------------- */

void lw_ode_record_crossings(lw_ode *ode) {
  for (int32_t i = 0; i < ode->n_events; i++) {
    ode->crossings[i] = has_changed(ode, i, ode->z_sample[i]) ? sign_of(ode->z_sample[i]) : 0;
    ode->event_sign[i] = sign_of(ode->z_sample[i]);
  }
  swap(&ode->z, &ode->z_sample);
  ode->t_left = ode->t;
  ode->t_before = NAN;
}

int lw_ode_start_indicators(lw_ode *ode) {
  ode->t_left = ode->t_before = NAN; /* not computed */
  if (find_signs(ode)) return 0;
  const int status = evaluate_indicators(ode, ode->t, ode->y, ode->z);
  for (int32_t i = 0; i < ode->n_events; i++) ode->event_sign[i] = ode->z[i] == 0.0 ? 0 : sign_of(ode->z[i]);
  ode->t_left = ode->t;
  ode->t_before = NAN;
  return status;
}

/* The right end becomes the left one. */
static void move_on(lw_ode *ode, double right) {
  swap(&ode->z_before, &ode->z);
  swap(&ode->z, &ode->z_sample);
  ode->t_before = ode->t_left;
  ode->t_left = right;
}

/* The last sample is the tiny one after a start. */
static bool is_start_sample(const lw_ode *ode) {
  return !isnan(ode->t_before) && fabs(ode->t_left - ode->t_before) < 2.0 * fabs(ode->first_sample);
}

/* Searches from t_left to the sample *right. At an event *right becomes the time just after it. */
static int search_interval(lw_ode *ode, double *right, bool *found) {
  double left = ode->t_left;
  int status = sample_indicators(ode, *right, ode->z_sample);
  if (status == 0 && !isnan(ode->t_before)) status = find_excursions(ode, left, right);
  if (status != 0 || !any_changed(ode, ode->z_sample)) return status;
  const double limit = *right;
  *found = true;
  if (is_start_sample(ode) && !any_changed(ode, ode->z_before)) { /* the bracket that a run without the start has */
    swap(&ode->z, &ode->z_before);
    left = ode->t_before;
  }
  ode->t_left = NAN; /* bracketing moves the left end */
  status = bracket_event(ode, left, right);
  return status == 0 ? include_simultaneous(ode, right, limit) : status;
}

/* Indicators at the start of the step, unless the last search ended there. */
static int enter_step(lw_ode *ode) {
  if (ode->t_left == ode->t_old) return 0;
  ode->t_left = ode->t_old;
  ode->t_before = NAN;
  return sample_indicators(ode, ode->t_old, ode->z);
}

int lw_ode_locate_event(lw_ode *ode, double *t, bool *found) {
  if (keeps_signs(ode)) return 0;
  const double t_new = *t;
  const int32_t samples = lw_ode_intervals(ode, fabs(ode->h), LEAST_SAMPLES);
  int status = enter_step(ode);
  ode->first_sample = FIRST_SAMPLE / samples * ode->h;
  for (int32_t sample = isnan(ode->t_before) ? 0 : 1; status == 0 && sample <= samples; sample++) {
    double right = ode->t_old + (sample ? sample / (double)samples * ode->h : ode->first_sample);
    right = sample == samples ? t_new : right;
    if (right == ode->t_left) continue;
    status = search_interval(ode, &right, found);
    *t = *found ? right : t_new;
    if (status != 0 || *found) return status;
    assign_signs(ode, ode->z_sample, sample > 0);
    move_on(ode, right);
  }
  return status;
}
