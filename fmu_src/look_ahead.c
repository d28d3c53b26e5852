/* Time events for state events in Model Exchange.
 *
 * Importers look for zero crossings at the ends of their steps. Where something turns at constant speed no error limits
 * these, and an event that lasts for a part of a turn lies between two of them. The FMU therefore integrates ahead, with
 * the inputs as they are, to the next zero crossing, and announces a time at which the indicator has still changed: the
 * importer stops there, sees the change and locates it. Where it finds none, it announces the time up to which it has
 * looked if something turns that far. Inputs may change: then the look ahead holds for a part of a turn only. */
#include <math.h>

#include "instance.h"

/* Limits of a look ahead: the angle that something turns, with inputs that stay and with inputs that vary, and the
 * number of integrator steps. */
static const double far_angle = 48 * LW_ODE_SAMPLE_ANGLE, near_angle = 3 * LW_ODE_SAMPLE_ANGLE;
enum { MAX_STEPS = 256 };

static const double unlimited = 1e100; /* stands for "no bound on time", s */

/* An importer's step may be so many times as long as the last one. */
static const double growth = 10;

static int looks_ahead(const fmu *f) {
  return f->kind == FMU_MODEL_EXCHANGE && f->steps && !fmu_dae_is_on(f) && f->run.mode & (FMU_EVENT | FMU_CONTINUOUS);
}

/* The largest angular speed, or a bound of it that is less than `enough`. */
static double angular_speed(const fmu *f, double enough) {
  double speeds[2] = {enough, 0};
  lw_ode_mechanism_angular_speed(f->state, lw_state_reals(f->state)[f->time_reference],
                                 lw_state_reals(f->state) + f->first_state, speeds);
  return speeds[0];
}

/* Behind a zero crossing: the middle of the time until the next one, at most of a twelfth of a turn. Where nothing turns,
 * at most of as long a time as until the first one. */
static double middle_of_event(fmu *f) {
  const double event = lw_run_time(f->steps), speed = angular_speed(f, 0);
  const double last = event + (speed > 0 ? LW_ODE_SAMPLE_ANGLE / speed : event - f->run.time);
  for (int i = 0; i < MAX_STEPS && lw_run_time(f->steps) < last; i++)
    if (lw_run_step(f->steps, last) != LW_RUN_GOES_ON || lw_run_is_at_event(f->steps)) break;
  return event + 0.5 * (lw_run_time(f->steps) - event);
}

static double search(fmu *f, double angle) {
  const double stop = f->run.stop_defined ? f->run.stop_time : unlimited;
  double turned = 0;
  for (int i = 0; i < MAX_STEPS && turned < angle; i++) {
    const double from = lw_run_time(f->steps), speed = angular_speed(f, 0);
    if (from >= stop) return INFINITY;
    const lw_run_outcome outcome = lw_run_step(f->steps, fmin(from + angle / fmax(speed, 1 / unlimited), stop));
    f->run.ahead_to = lw_run_time(f->steps);
    if (outcome != LW_RUN_GOES_ON) break;
    if (lw_run_is_at_event(f->steps)) return middle_of_event(f);
    turned += (f->run.ahead_to - from) * fmax(speed, angular_speed(f, 0));
  }
  return turned >= near_angle ? f->run.ahead_to : INFINITY;
}

double fmu_look_ahead(fmu *f) {
  if (!looks_ahead(f)) return INFINITY;
  const double angle = f->run.input_changed && f->run.looked_ahead ? near_angle : far_angle;
  f->run.looked_ahead = 1;
  f->run.input_changed = 0;
  f->run.completed = f->run.ahead_from = f->run.ahead_to = f->run.time;
  lw_state_save(f->state, f->backup);
  lw_run_settings settings = fmu_run_settings(f);
  settings.looks_ahead = 1;
  const double time = lw_run_restart(f->steps, &settings) == LW_RUN_GOES_ON ? search(f, angle) : INFINITY;
  fmu_restore_backup(f);
  return time > f->run.time ? time : INFINITY;
}

int fmu_must_look_ahead(fmu *f) {
  if (!looks_ahead(f) || !f->run.looked_ahead) return 0;
  const double step = f->run.time - f->run.completed, from_last = f->run.time - f->run.ahead_from;
  f->run.completed = f->run.time;
  if (f->run.time < f->run.ahead_to && !f->run.input_changed) return 0;
  const double speed = angular_speed(f, near_angle / (growth * fmax(step, from_last)));
  if (growth * step * speed < near_angle) return 0;
  return f->run.time >= f->run.ahead_to || from_last * speed >= near_angle;
}
