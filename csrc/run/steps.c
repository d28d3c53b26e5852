/* The integrator of a run: a method in C, or one from outside behind the same functions. */
#include <math.h>
#include <string.h>

#include "math/tolerances.h"
#include "model/model.h"
#include "run/run.h"

/* ---- creation ---- */

static void find_equations(lw_run *r) {
  const lw_ode_function on_step = r->counting ? lw_ode_mechanism_step : r->watching ? lw_ode_mechanism_check : NULL;
  const int32_t n_events = r->size.event_indicators + r->law.n_events;
  lw_run_equations *e = &r->equations;
  *e = (lw_run_equations){r->n,
                          n_events,
                          r->state,
                          lw_ode_mechanism,
                          lw_ode_mechanism_events,
                          lw_ode_mechanism_angular_speed,
                          on_step,
                          lw_ode_mechanism_jacobian,
                          r->revolutions,
                          lw_ode_mechanism_bounds};
  if (r->calls.law) {
    e->context = &r->law, e->derivative = lw_ode_controlled, e->events = lw_ode_controlled_events;
    e->angular_speed = lw_ode_controlled_angular_speed, e->jacobian = lw_ode_controlled_jacobian;
    e->bounds = lw_ode_controlled_bounds;
    if (on_step) e->on_step = r->counting ? lw_ode_controlled_step : lw_ode_controlled_check;
  }
  if (r->calls.equations) {
    *e = *r->calls.equations;
    e->n = r->n, e->n_events = n_events, e->step_values = r->revolutions;
  }
  if (!n_events) e->events = NULL, e->bounds = NULL;
}

static lw_ode_options options_of(const lw_run *r, double first_step, double max_step) {
  return (lw_ode_options){.rtol = fmax(r->options.rtol * STEP_SHARE, SMALLEST_RTOL),
                          .atol = r->options.atol * STEP_SHARE,
                          .first_step = first_step,
                          .max_step = max_step,
                          .max_steps = -1,
                          /* the indicators of the mechanism are rounded, functions need not be */
                          .event_resolution = r->calls.n_functions ? 0.0 : LW_EVENT_RESOLUTION};
}

lw_status lw_run_make_integrator(lw_run *r) {
  find_equations(r);
  if (r->calls.integrator) return LW_OK;
  const lw_run_equations *e = &r->equations;
  const lw_ode_options options = options_of(r, r->options.first_step, r->options.max_step);
  r->ode = lw_ode_create(r->n, e->n_events, e->derivative, e->events, e->context, &options);
  if (!r->ode || lw_ode_set_method(r->ode, r->options.method, e->jacobian) != LW_OK) return LW_ERROR_MEMORY;
  lw_ode_set_on_step(r->ode, e->on_step, r->size.nq_cut, r->revolutions);
  const int shortens = r->stepwise ? r->counting : e->on_step != NULL;
  lw_ode_set_bounds(r->ode, e->bounds);
  lw_ode_set_angular_speed(r->ode, e->angular_speed, shortens ? LW_ODE_COUNTED_SAMPLES : 0);
  return LW_OK;
}

/* ---- starts ---- */

/* By the sizes of the mechanism at the start, unless they are given; later segments go on with what has grown. */
static lw_status set_tolerances(lw_run *r) {
  const double largest = r->options.atol * STEP_SHARE;
  int differ = 0;
  r->scaled = 2;
  const int status = lw_run_enter(r, r->t, r->y);
  if (status) return status < 0 ? lw_run_raised(r, status) : LW_OK; /* the integrator will find out */
  lw_absolute_tolerances(r->state, r->duration, largest, r->atol);
  for (int32_t k = 0; k < r->n; k++) {
    if (k >= r->n - r->calls.n) r->atol[k] = largest;
    differ |= r->atol[k] != largest;
  }
  if (differ) lw_ode_set_absolute_tolerances(r->ode, r->atol);
  return LW_OK;
}

static double max_step_of(const lw_run *r) {
  const double given = r->options.max_step, part = r->calls.n_parts ? r->calls.parts[r->part].max_step : INFINITY;
  return !isinf(part) && (given == 0.0 || part < given) ? part : given;
}

static lw_status outcome_of_start(lw_run *r, lw_ode_outcome outcome) {
  return outcome == LW_ODE_STEP ? LW_OK : lw_run_stopped(r, outcome);
}

static lw_status start_outside(lw_run *r, const double *y) {
  const int status = r->calls.start(r->calls.context, r->t, y, r->until, max_step_of(r));
  return status < 0 ? lw_run_raised(r, status) : LW_OK;
}

/* On their branches where the run is; if that cannot be evaluated the integrator will find out. */
static lw_status hold_kinks(lw_run *r) {
  if (!r->size.kinks) return LW_OK;
  const int status = lw_run_enter(r, r->t, r->y);
  if (status) return status < 0 ? lw_run_raised(r, status) : LW_OK;
  (void)lw_hold_kinks(r->state);
  return LW_OK;
}

lw_status lw_run_start_steps(lw_run *r) {
  lw_status e = hold_kinks(r);
  if (e) return e;
  if (r->calls.integrator) return start_outside(r, r->y);
  if ((e = r->scaled == 1 ? set_tolerances(r) : LW_OK)) return e;
  if (r->statistics.segments > 1 || r->calls.n_parts || r->stepwise) { /* the first step is that of the first segment */
    const double first_step = r->statistics.segments > 1 ? 0.0 : r->options.first_step;
    const lw_ode_options options = options_of(r, first_step, max_step_of(r));
    lw_ode_set_options(r->ode, &options);
  }
  e = outcome_of_start(r, lw_ode_start(r->ode, r->t, r->y));
  if (!e && r->continues) lw_ode_set_step_control(r->ode, r->control);
  return e;
}

lw_status lw_run_restart_steps(lw_run *r, int changed) {
  r->statistics.restarts++;
  lw_forget_control(r);
  const lw_status e = hold_kinks(r);
  if (e) return e;
  if (r->calls.integrator) return start_outside(r, changed ? r->y : NULL);
  return outcome_of_start(r, lw_ode_start(r->ode, r->t, r->y));
}

/* The states go on, and so does the step size, by another law. */
lw_status lw_run_pass_kinks(lw_run *r) {
  const lw_ode_step_control control = r->ode ? lw_ode_get_step_control(r->ode) : (lw_ode_step_control){0};
  r->statistics.restarts++;
  lw_status e = hold_kinks(r);
  if (e) return e;
  if (r->calls.integrator) return start_outside(r, NULL);
  if (!(e = outcome_of_start(r, lw_ode_start(r->ode, r->t, r->y)))) lw_ode_set_step_control(r->ode, control);
  return e;
}

/* ---- steps ---- */

/* Those in the directions asked for. */
static int find_crossings(lw_run *r, const int32_t *found) {
  int any = 0;
  for (int32_t k = 0; k < r->equations.n_events; k++) {
    const int32_t asked = k < r->n_checked ? 0 : r->calls.directions[k - r->n_checked];
    r->crossings[k] = !asked || asked == found[k] ? found[k] : 0;
    any |= found[k] != 0;
  }
  return any;
}

static lw_status step_outside(lw_run *r, int64_t tries, lw_ode_output *output, int *event) {
  lw_run_reach *to = &r->reach;
  memset(to->crossings, 0, sizeof *to->crossings * (size_t)r->equations.n_events);
  const int status = r->calls.advance(r->calls.context, tries, output, to);
  r->t = to->t;
  memcpy(r->y, to->y, sizeof *r->y * (size_t)r->n);
  *event = find_crossings(r, to->crossings);
  return status < 0 ? lw_run_raised(r, status) : LW_OK;
}

static lw_status step_inside(lw_run *r, int64_t tries, lw_ode_output *output, int *event) {
  if (r->options.method == LW_ODE_RODAS5P) tries = (int64_t)fmax(1.0, (double)(tries / (1 + r->n / 2)));
  const lw_ode_outcome outcome = lw_ode_run(r->ode, r->until, tries, output);
  const lw_ode_statistics s = lw_ode_get_statistics(r->ode);
  r->t = lw_ode_time(r->ode);
  memcpy(r->y, lw_ode_y(r->ode), sizeof *r->y * (size_t)r->n);
  r->reach.attempts = s.steps + s.rejected;
  *event = outcome == LW_ODE_EVENT;
  if (*event) find_crossings(r, lw_ode_crossings(r->ode));
  return *event || outcome == LW_ODE_STEP ? LW_OK : lw_run_stopped(r, outcome);
}

lw_status lw_run_take_steps(lw_run *r, int64_t tries, int *event) {
  lw_ode_output *output;
  const int64_t left = r->options.max_steps < 0 ? INT64_MAX : r->options.max_steps - r->reach.attempts;
  if (left <= 0) return lw_run_stopped(r, LW_ODE_TOO_MANY_STEPS);
  tries = tries < left ? tries : left;
  lw_status e = lw_prepare_output(r, &output);
  if (e) return e;
  e = r->calls.integrator ? step_outside(r, tries, output, event) : step_inside(r, tries, output, event);
  if (output) lw_take_output(r);
  return e ? e : lw_run_check_progress(r);
}
