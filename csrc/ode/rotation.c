/* How far something turns in a step, for event indicators and rows along its dense output. */
#include <math.h>

#include "ode.h"
#include "math/tolerances.h"

static bool is_measured(const lw_ode *ode) {
  return ode->angular_speed && (ode->n_events > 0 || ode->rows_follow || ode->max_samples > 0);
}

static int32_t max_samples_of(const lw_ode *ode) {
  return ode->max_samples > 0 ? ode->max_samples : LW_ODE_MAX_SAMPLES;
}

/* `enough`: a bound below it will do. */
static int ask(lw_ode *ode, double t, const double *y, double enough, lw_ode_rotation *found) {
  double speeds[2] = {enough, 0.0};
  const int status = ode->angular_speed(ode->context, t, y, speeds);
  *found = (lw_ode_rotation){speeds[0], speeds[1]};
  return status != 0 ? status : !lw_ode_all_finite(speeds, 2);
}

void lw_ode_start_rotation(lw_ode *ode) {
  ode->sample_time = INFINITY;
  ode->here.speed = -1.0;
}

/* Largest speed between the ends. Something may be at rest at both and turn between them, as in a move from point to
 * point: the bound in the middle shows it. */
static double speed_of_step(const lw_ode_rotation *from, const lw_ode_rotation *to, double middle) {
  const double speed = fmax(from->speed, to->speed), bound = fmax(from->bound, to->bound);
  if (middle <= bound) return speed;
  return bound > 0.0 ? speed * (middle / bound) : middle;
}

int lw_ode_measure_rotation(lw_ode *ode, bool *too_long) {
  if (!is_measured(ode)) return 0;
  const double enough = LW_ODE_SAMPLE_ANGLE / fabs(ode->h);
  double half;
  lw_ode_rotation from = ode->here, to, middle;
  int status = ask(ode, ode->t, ode->y, enough, &to); /* first: the derivative there is the last that was computed */
  if (status == 0 && from.speed < 0.0) status = ask(ode, ode->t_old, ode->y_old, enough, &from);
  if (status != 0) return status;
  if ((status = lw_ode_middle(ode, &half, ode->y_sample)) != 0) return status;
  if ((status = ask(ode, half, ode->y_sample, INFINITY, &middle)) != 0) return status;
  ode->sample_time = LW_ODE_SAMPLE_ANGLE / speed_of_step(&from, &to, middle.bound);
  *too_long = fabs(ode->h) > max_samples_of(ode) * ode->sample_time;
  ode->here = to;
  return 0;
}

int32_t lw_ode_intervals(const lw_ode *ode, double size, int32_t least) {
  if (!is_measured(ode)) return least;
  const double intervals = ceil(size / ode->sample_time);
  return (int32_t)fmin(fmax(intervals, least), LW_ODE_MAX_SAMPLES);
}

int32_t lw_ode_row_intervals(const lw_ode *ode, double size) {
  return is_measured(ode) ? lw_ode_intervals(ode, size, ode->method->row_intervals) : 1;
}

double lw_ode_longest_step(const lw_ode *ode) {
  return is_measured(ode) ? SHORTER * max_samples_of(ode) * ode->sample_time : INFINITY;
}
