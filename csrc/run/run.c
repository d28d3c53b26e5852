/* Segments of a run: from one time event, sample or change of inputs to the next, from one discrete state to the next. */
#include "run/run.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/discrete_state.h"
#include "math/tolerances.h"
#include "model/model.h"

#define STEPS_AT_ONCE 256

static double *reals_of(const lw_run *r) { return lw_state_reals(r->state); }

/* ---- creation ---- */

/* Springs, couplings and rows within steps need the revolutions of the cut joints. */
static int must_count_revolutions(const lw_run *r) {
  const double *stiffness = reals_of(r) + r->model->at.stiffness + r->size.nu;
  int springs = 0;
  for (int32_t k = 0; k < r->size.nu_cut; k++) springs |= stiffness[k] != 0.0;
  return r->size.nq_cut > 0 && (r->options.times || r->size.couplings || springs);
}

/* Where nothing moves the automatic feedback does not bound the steps of long runs. */
static void put_gain(lw_run *r) {
  const double longest = fmax(fabs(r->options.t_end), r->options.t_end - r->t);
  const double least = longest != 0.0 ? fmin(1.0, FULL_GAIN_UNTIL / longest) : 1.0;
  double *gain = reals_of(r) + r->model->at.correction_gain;
  for (int k = 0; k < 2; k++) gain[k] = r->options.gain[k] < 0.0 ? r->options.gain[k] * least : r->options.gain[k];
  lw_state_changed(r->state, LW_STAGE_NONE);
}

static lw_status begin(lw_run *r, const lw_run_point *start) {
  int changed;
  if (r->n_discrete) {
    memcpy(reals_of(r) + r->model->at.joint_closed, start->discrete, sizeof(double) * (size_t)r->n_discrete);
    const lw_status e = lw_discrete_state_changed(r->state);
    if (e) return lw_run_state_failed(r, e);
  }
  memcpy(reals_of(r) + r->model->at.cut_reference, start->revolutions, sizeof(double) * (size_t)r->size.nq_cut);
  put_gain(r);
  lw_run_enter(r, r->t, r->y);
  if (!r->n_discrete) return lw_record_phase(r);
  lw_event_memory_of(r->state)->max_events = -1.0; /* the run has a limit */
  const lw_status e = lw_run_carry_out(r, 1, &changed);
  return e || changed ? e : lw_record_phase(r);
}

/* Arrays behind the struct. */
static lw_run *allocate(const lw_model *model, const lw_run_options *options) {
  const lw_sizes size = lw_model_sizes(model);
  const size_t n = (size_t)size.nq + (size_t)size.nu, cuts = (size_t)size.nq_cut;
  const size_t inputs = (size_t)(model->at.motion_time - model->at.tau);
  const size_t times = options->times ? (size_t)options->n_times : 0;
  lw_run *r = calloc(1, sizeof *r + sizeof(double) * (3 * n + inputs + cuts + times + 1));
  if (!r) return NULL;
  double *next = (double *)(void *)(r + 1);
  *r = (lw_run){.model = model, .options = *options, .size = size, .n = (int32_t)n, .n_inputs = (int32_t)inputs};
  r->n_discrete = size.transitions ? model->at.acceleration - model->at.joint_closed : 0;
  r->y = next, r->before_event = next + n, r->atol = next + 2 * n, r->inputs = next + 3 * n;
  r->revolutions = r->inputs + inputs;
  if (options->times) {
    memcpy(r->revolutions + cuts, options->times, sizeof(double) * times);
    r->options.times = r->revolutions + cuts;
  }
  return r;
}

static lw_status make_integrator(lw_run *r) {
  const lw_ode_options options = {.rtol = fmax(r->options.rtol * STEP_SHARE, SMALLEST_RTOL),
                                  .atol = r->options.atol * STEP_SHARE,
                                  .first_step = r->options.first_step,
                                  .max_step = r->options.max_step,
                                  .max_steps = -1,
                                  .event_resolution = LW_EVENT_RESOLUTION};
  r->ode = lw_ode_create(r->n, r->size.event_indicators, lw_ode_mechanism,
                         r->size.event_indicators ? lw_ode_mechanism_events : NULL, r->state, &options);
  if (!r->ode || lw_ode_set_method(r->ode, r->options.method, lw_ode_mechanism_jacobian) != LW_OK)
    return LW_ERROR_MEMORY;
  const lw_ode_function on_step = r->counting ? lw_ode_mechanism_step : r->watching ? lw_ode_mechanism_check : NULL;
  lw_ode_set_on_step(r->ode, on_step, r->size.nq_cut, r->revolutions);
  lw_ode_set_angular_speed(r->ode, lw_ode_mechanism_angular_speed, on_step ? LW_ODE_COUNTED_SAMPLES : 0);
  return LW_OK;
}

static lw_status set_up(lw_run *r, const double *inputs, const lw_run_point *start) {
  lw_status e = lw_state_create(r->model, &r->state);
  if (!e) e = lw_record_create(r);
  if (e) return e;
  r->t = start->t;
  memcpy(r->y, start->y, sizeof *r->y * (size_t)r->n);
  memcpy(r->inputs, inputs ? inputs : reals_of(r) + r->model->at.tau, sizeof *r->inputs * (size_t)r->n_inputs);
  memcpy(r->revolutions, start->revolutions, sizeof *r->revolutions * (size_t)r->size.nq_cut);
  if (start->control) r->control = *start->control, r->continues = 1;
  r->watching = r->size.loops || r->size.couplings || r->size.transitions;
  r->counting = must_count_revolutions(r);
  return make_integrator(r);
}

static lw_status refuse(char *message, size_t size, lw_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  if (message && size) vsnprintf(message, size, format, list);
  va_end(list);
  return status;
}

static lw_status check_options(const lw_run_options *o, double t, char *message, size_t size) {
  int follow = 1;
  for (int64_t k = 0; o->times && k < o->n_times; k++)
    follow &= o->times[k] >= t && o->times[k] <= o->t_end && (k == 0 || o->times[k] > o->times[k - 1]);
  if (!isfinite(o->t_end) || o->t_end < t)
    return refuse(message, size, LW_ERROR_USAGE, "t_end must be a time from %.15g s on", t);
  if (!(o->rtol >= SMALLEST_RTOL && isfinite(o->rtol)))
    return refuse(message, size, LW_ERROR_USAGE,
                  "rtol = %.15g cannot be kept in double precision; give at least 2.2e-14", o->rtol);
  if (!(o->atol >= 0.0 && isfinite(o->atol)))
    return refuse(message, size, LW_ERROR_USAGE, "atol = %.15g; give a positive number", o->atol);
  if (!follow)
    return refuse(message, size, LW_ERROR_USAGE, "the times of the rows must increase strictly within the run");
  return LW_OK;
}

lw_status lw_run_create(const lw_model *model, const lw_run_options *options, const double *inputs,
                        const lw_run_point *start, lw_run **run, char *message, size_t size) {
  *run = NULL;
  lw_status e = check_options(options, start->t, message, size);
  if (e) return e;
  lw_run *r = allocate(model, options);
  if (!r) e = LW_ERROR_MEMORY;
  if (!e) {
    if (options->atol == 0.0) r->options.atol = options->rtol, r->scaled = 1;
    if (!options->max_steps) r->options.max_steps = LW_RUN_MAX_STEPS;
    if (!options->max_events) r->options.max_events = (int64_t)MAX_EVENTS;
    e = set_up(r, inputs, start);
    if (!e && (e = begin(r, start))) refuse(message, size, e, "%s", r->message);
  }
  if (e == LW_ERROR_MEMORY) refuse(message, size, e, "there is no memory for a run");
  if (e) lw_run_free(r);
  else *run = r;
  return e;
}

void lw_run_free(lw_run *r) {
  if (!r) return;
  lw_ode_free(r->ode);
  lw_state_free(r->state);
  lw_record_free(&r->record);
  free(r->output.t);
  free(r);
}

/* ---- segments ---- */

static lw_status next_time_event(lw_run *r, double *time) {
  *time = INFINITY;
  if (!r->n_discrete) return LW_OK;
  const lw_status e = lw_next_event_time(r->state, time);
  return e ? lw_run_state_failed(r, e) : LW_OK;
}

/* By the sizes of the mechanism at the start, unless they are given; later segments go on with what has grown. */
static void set_tolerances(lw_run *r) {
  if (r->scaled != 1) return;
  r->scaled = 2;
  lw_run_enter(r, r->t, r->y);
  lw_absolute_tolerances(r->state, fmax(fabs(r->options.t_end), r->options.t_end - r->t), r->options.atol * STEP_SHARE,
                         r->atol);
  lw_ode_set_absolute_tolerances(r->ode, r->atol);
}

/* From here on residuals of constraints are compared with the tolerances. */
static void watch(lw_run *r) {
  if (!r->watching) return;
  lw_run_enter(r, r->t, r->y);
  lw_watch_constraints(r->state, r->options.rtol, r->options.atol);
}

static lw_status begin_segment(lw_run *r, double until) {
  double event;
  lw_status e = next_time_event(r, &event);
  if (e) return e;
  r->until = fmin(fmin(r->options.t_end, event), until);
  if (r->n_discrete && (e = lw_discrete_state_changed(r->state))) return lw_run_state_failed(r, e);
  set_tolerances(r);
  watch(r);
  r->t_start = r->t;
  r->record.first_crossing = r->record.crossing_t.count;
  if ((e = lw_record_start(r))) return e;
  const lw_ode_outcome outcome = lw_ode_start(r->ode, r->t, r->y);
  if (outcome != LW_ODE_STEP) return lw_run_stopped(r, outcome);
  if (r->continues) lw_ode_set_step_control(r->ode, r->control);
  r->continues = 0, r->in_segment = 1;
  return LW_OK;
}

static int64_t attempts_of(const lw_run *r) {
  const lw_ode_statistics s = lw_ode_get_statistics(r->ode);
  return s.steps + s.rejected;
}

static lw_status take_steps(lw_run *r, int64_t tries) {
  lw_ode_output *output;
  const int64_t left = r->options.max_steps < 0 ? INT64_MAX : r->options.max_steps - attempts_of(r);
  if (left <= 0) return lw_run_stopped(r, LW_ODE_TOO_MANY_STEPS);
  tries = tries > 0 && tries < STEPS_AT_ONCE ? tries : STEPS_AT_ONCE;
  lw_status e = lw_prepare_output(r, &output);
  const lw_ode_outcome outcome = lw_ode_run(r->ode, r->until, tries < left ? tries : left, output);
  if (!e) e = lw_take_output(r);
  r->t = lw_ode_time(r->ode);
  memcpy(r->y, lw_ode_y(r->ode), sizeof *r->y * (size_t)r->n);
  if (e) return e;
  if (outcome == LW_ODE_EVENT) return lw_run_handle_event(r);
  return outcome == LW_ODE_STEP ? LW_OK : lw_run_stopped(r, outcome);
}

static int differ(const double *a, const double *b, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (a[k] != b[k]) return 1;
  return 0;
}

static lw_status end_segment(lw_run *r) {
  double event;
  int jumped = 0;
  lw_status e = next_time_event(r, &event);
  r->control = lw_ode_get_step_control(r->ode), r->continues = 1, r->in_segment = 0;
  if (!e && event <= r->until) {
    lw_run_enter(r, r->until, r->y);
    r->control.next_step = 0.0, r->control.previous_error = FIRST_ERROR; /* the method is kept */
    e = lw_run_handle_due(r);
    jumped = differ(r->y, lw_ode_y(r->ode), r->n);
  }
  if (!e) e = lw_record_discrete(r);
  if (e || r->until != r->options.t_end) return e;
  if (jumped) e = lw_record_end(r);
  r->outcome = LW_RUN_DONE;
  lw_run_refuse(r, LW_OK, "reached t = %.15g", r->t);
  return e;
}

lw_run_outcome lw_run_advance(lw_run *r, double until, int64_t tries) {
  if (r->outcome == LW_RUN_DONE || r->outcome == LW_RUN_FAILED) return r->outcome;
  lw_status e = r->in_segment ? LW_OK : begin_segment(r, until);
  if (!e && r->t != r->until) e = take_steps(r, tries);
  if (!e && r->t == r->until) e = end_segment(r);
  if (e) r->outcome = LW_RUN_FAILED;
  return r->outcome;
}

/* A jump of loads makes transitions due: parts that rest on a stop are lifted off. */
lw_status lw_run_set_inputs(lw_run *r, const double *inputs) {
  const int32_t n = r->size.event_indicators;
  double *before = malloc(sizeof *before * (2 * (size_t)n + 1)), *after = before + n;
  if (!before) return LW_ERROR_MEMORY;
  int due = 0;
  lw_status e = lw_run_signs(r, before);
  memcpy(r->inputs, inputs, sizeof *inputs * (size_t)r->n_inputs);
  if (!e) e = lw_run_signs(r, after);
  if (!e) e = lw_record_phase(r);
  for (int32_t k = 0; k < n && !e; k++) due |= (before[k] > 0.0) != (after[k] > 0.0);
  free(before);
  if (!e && due) e = lw_run_handle_due(r);
  if (e) r->outcome = LW_RUN_FAILED;
  return e;
}

/* ---- what there is ---- */

lw_state *lw_run_state(const lw_run *r) { return r->state; }
lw_run_outcome lw_run_get_outcome(const lw_run *r) { return r->outcome; }
const char *lw_run_message(const lw_run *r) { return r->message; }
lw_status lw_run_status(const lw_run *r) { return r->status; }

lw_run_point lw_run_reached(const lw_run *r) {
  return (lw_run_point){.t = r->t,
                        .y = r->y,
                        .revolutions = r->revolutions,
                        .discrete = reals_of(r) + r->model->at.joint_closed,
                        .control = r->continues ? &r->control : NULL};
}

lw_run_rows lw_run_get_rows(const lw_run *r) {
  const lw_record *from = &r->record;
  return (lw_run_rows){from->t.count, from->t.number, from->y.number, from->revolutions.number,
                       from->phase_of_row.number};
}

lw_run_phases lw_run_get_phases(const lw_run *r) {
  const lw_record *from = &r->record;
  return (lw_run_phases){from->inputs.count, from->inputs.number, from->discrete.number, from->events_before.number};
}

lw_run_events lw_run_get_events(const lw_run *r) {
  const lw_record *from = &r->record;
  return (lw_run_events){from->event_t.count, from->event_t.number, from->fired.number, from->before.number,
                         from->after.number};
}
