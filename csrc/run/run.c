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

static double *reals_of(const lw_run *r) { return lw_state_reals(r->state); }

/* ---- creation ---- */

/* Where their revolutions matter: for springs, couplings and transitions, where something reads them, and where the spacing of
 * rows exceeds the steps. */
static int must_count_revolutions(const lw_run *r) {
  const double *stiffness = reals_of(r) + r->model->at.stiffness + r->size.nu;
  int needed = 0;
  for (int32_t k = 0; k < r->size.nu_cut; k++) needed |= stiffness[k] != 0.0;
  for (int32_t k = 0; k < r->model->terms; k++) needed |= r->model->term[k].u >= r->size.nu;
  const int read = r->options.times || r->calls.sees_states || r->size.transitions;
  return r->size.nq_cut > 0 && (read || needed);
}

/* Where nothing moves the automatic feedback does not bound the steps of long runs. Backward, it would open the loops. */
static void put_gain(lw_run *r) {
  const double least = r->duration != 0.0 ? fmin(1.0, FULL_GAIN_UNTIL / r->duration) : 1.0;
  double *gain = reals_of(r) + r->model->at.correction_gain;
  for (int k = 0; k < 2; k++) {
    gain[k] = r->options.gain[k] < 0.0 ? r->options.gain[k] * least : r->options.gain[k];
    if (r->direction < 0.0) gain[k] = 0.0;
  }
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
  lw_status e = lw_run_enter_part(r, 0);
  if (e || !r->n_discrete) return e ? e : lw_record_phase(r);
  lw_event_memory_of(r->state)->max_events = -1.0; /* the run has a limit */
  if ((e = lw_run_enter_here(r)) || (e = lw_run_carry_out(r, 1, &changed))) return e;
  if (changed) r->continues = 0;
  return changed ? LW_OK : lw_record_phase(r);
}

/* Arrays behind the struct. */
lw_run *lw_run_allocate(const lw_model *model, const lw_run_options *options) {
  const lw_sizes size = lw_model_sizes(model);
  const lw_run_calls none = {0}, *calls = options->calls ? options->calls : &none;
  const size_t n = (size_t)(size.states + calls->n), cuts = (size_t)size.nq_cut;
  const size_t inputs = (size_t)(model->at.motion_time - model->at.tau);
  const size_t checked = (size_t)(size.event_indicators + calls->n_commands);
  const size_t events = checked + (size_t)calls->n_functions, times = options->times ? (size_t)options->n_times : 0;
  const size_t numbers = 4 * n + inputs + cuts + (size_t)calls->n + 3 * events + times;
  lw_run *r = calloc(1, sizeof *r + sizeof(double) * numbers + sizeof(int32_t) * 2 * events + 2 * checked);
  if (!r) return NULL;
  double *next = (double *)(void *)(r + 1);
  *r = (lw_run){.model = model, .state = options->state, .options = *options, .calls = *calls, .size = size};
  r->n = (int32_t)n, r->n_inputs = (int32_t)inputs, r->n_checked = (int32_t)checked;
  r->n_discrete = size.transitions ? model->at.acceleration - model->at.joint_closed : 0;
  double **const arrays[] = {&r->y,           &r->before_event, &r->atol,       &r->reach.y, &r->inputs,
                             &r->revolutions, &r->rates,        &r->indicators, &r->bounds};
  const size_t sizes[] = {n, n, n, n, inputs, cuts, (size_t)calls->n, events, 2 * events};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; next += sizes[k], k++) *arrays[k] = next;
  if (options->times) {
    memcpy(next, options->times, sizeof(double) * times);
    r->options.times = next;
  }
  r->crossings = (int32_t *)(void *)(next + times), r->reach.crossings = r->crossings + events;
  r->positive = (unsigned char *)(r->reach.crossings + events);
  return r;
}

static lw_status set_up(lw_run *r, const double *inputs, const lw_run_point *start) {
  if (!r->state) {
    const lw_status e = lw_state_create(r->model, &r->state);
    if (e) return e;
  }
  lw_record_create(r);
  r->t = r->began = r->looked_t = start->t;
  r->direction = r->options.t_end < r->t ? -1.0 : 1.0;
  r->samples = 1, r->continued_at = NAN, r->next_look = FIRST_LOOK;
  memcpy(r->y, start->y, sizeof *r->y * (size_t)r->n);
  memcpy(r->inputs, inputs ? inputs : reals_of(r) + r->model->at.tau, sizeof *r->inputs * (size_t)r->n_inputs);
  memcpy(r->revolutions, start->revolutions, sizeof *r->revolutions * (size_t)r->size.nq_cut);
  if (start->control) r->control = *start->control, r->continues = 1;
  r->duration = fmax(fabs(r->options.t_end), r->options.t_end - r->t);
  r->watching = lw_run_must_watch(r);
  r->counting = must_count_revolutions(r);
  if (r->calls.law) lw_run_bind_calls(r);
  return lw_run_make_integrator(r);
}

static lw_status refuse(char *message, size_t size, lw_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  if (message && size) vsnprintf(message, size, format, list);
  va_end(list);
  return status;
}

static lw_status check_options(const lw_run_options *o, const lw_model *model, double t, char *message, size_t size) {
  const double sign = o->t_end < t ? -1.0 : 1.0;
  int follow = 1;
  for (int64_t k = 0; o->times && k < o->n_times; k++)
    follow &= sign * o->times[k] >= sign * t && sign * o->times[k] <= sign * o->t_end &&
              (k == 0 || sign * o->times[k] > sign * o->times[k - 1]);
  if (!isfinite(o->t_end) || (sign < 0.0 && (model->size.transitions || (o->calls && o->calls->sample))))
    return refuse(message, size, LW_ERROR_USAGE, "t_end must be a time from %.15g s on", t);
  if (!(o->rtol >= SMALLEST_RTOL && isfinite(o->rtol)))
    return refuse(message, size, LW_ERROR_USAGE, "rtol = %.15g cannot be kept in double precision; give at least %.2g",
                  o->rtol, SMALLEST_RTOL);
  if (!(o->atol >= 0.0 && isfinite(o->atol)))
    return refuse(message, size, LW_ERROR_USAGE, "atol = %.15g; give a positive number", o->atol);
  if (!follow)
    return refuse(message, size, LW_ERROR_USAGE, "the times of the rows must increase strictly within the run");
  return LW_OK;
}

lw_status lw_run_create(const lw_model *model, const lw_run_options *options, const double *inputs,
                        const lw_run_point *start, lw_run **run, char *message, size_t size) {
  *run = NULL;
  lw_status e = check_options(options, model, start->t, message, size);
  if (e) return e;
  lw_run *r = lw_run_allocate(model, options);
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
  if (!r->options.state) lw_state_free(r->state);
  lw_record_free(&r->record);
  free(r);
}

/* ---- segments ---- */

lw_status lw_run_find_time_event(lw_run *r, double *time) {
  *time = INFINITY;
  if (!r->n_discrete) return LW_OK;
  const lw_status e = lw_next_event_time(r->state, time);
  return e ? lw_run_state_failed(r, e) : LW_OK;
}

int lw_run_must_watch(const lw_run *r) { return r->size.loops || r->size.couplings || r->size.transitions; }

void lw_run_watch(lw_run *r) {
  if (!r->watching) return;
  const double *gain = reals_of(r) + r->model->at.correction_gain;
  const int drifts = (gain[0] == 0.0 || gain[1] == 0.0) && !r->calls.keeps_constraints;
  lw_run_put_states(r, r->t, r->y); /* loads do not matter */
  lw_watch_constraints(r->state, drifts ? 1.0 : r->options.rtol, drifts ? 1.0 : r->options.atol);
}

static double sooner(const lw_run *r, double a, double b) { return lw_run_reaches(r, a, b) ? b : a; }

static lw_status begin_segment(lw_run *r, double until) {
  double event;
  lw_status e = lw_run_find_time_event(r, &event);
  if (e) return e;
  r->until = sooner(r, sooner(r, r->options.t_end, until), r->direction * fmin(event, lw_run_next_sample(r)));
  if (r->calls.n_parts) r->until = sooner(r, r->until, r->calls.parts[r->part].end);
  lw_run_watch(r);
  r->t_start = r->t;
  r->record.first_crossing = r->record.crossing_t.count;
  r->statistics.segments++;
  if ((e = lw_record_start(r)) || (e = lw_run_start_steps(r))) return e;
  r->continues = 0, r->in_segment = 1;
  return LW_OK;
}

static void finish(lw_run *r, const char *how) {
  if (r->ode) r->control = lw_ode_get_step_control(r->ode);
  lw_release_kinks(r->state);
  r->in_segment = 0, r->continues = r->ode != NULL;
  r->outcome = LW_RUN_DONE;
  lw_run_refuse(r, LW_OK, how, r->t);
}

static int differ(const double *a, const double *b, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (a[k] != b[k]) return 1;
  return 0;
}

/* Inputs and transitions that change between two segments; *loads: nothing but loads has, so that steps continue as they
 * were. */
static lw_status change_between(lw_run *r, double event, int *changed, int *loads) {
  lw_status e = LW_OK;
  int due = 0;
  const int ends = r->until == r->options.t_end;
  if (r->calls.n_parts && r->until == r->calls.parts[r->part].end && !ends) e = lw_run_pass_jump(r, &due), *loads = 1;
  if (!e && lw_run_next_sample(r) <= r->until && !ends) e = lw_run_take_sample(r, &due), *loads = 1;
  if (!e && r->n_discrete && (due || event <= r->until)) e = lw_run_handle_due(r, changed);
  return e;
}

static lw_status end_segment(lw_run *r) {
  double event;
  int changed = 0, loads = 0;
  double *reached = r->reach.y;
  if (r->ode) r->control = lw_ode_get_step_control(r->ode), r->continues = 1;
  memcpy(reached, r->y, sizeof *reached * (size_t)r->n);
  r->in_segment = 0;
  lw_status e = lw_run_find_time_event(r, &event);
  if (!e) e = change_between(r, event, &changed, &loads);
  if (!e) e = lw_record_discrete(r);
  if (e) return e;
  if (r->until != r->options.t_end) {
    if (!loads && event <= r->until)
      r->control.next_step = 0.0, r->control.previous_error = FIRST_ERROR; /* the method is kept */
    r->continued_at = loads && !changed ? r->until : NAN;
    return LW_OK;
  }
  const int jumped = differ(r->y, reached, r->n);
  if (jumped) e = lw_record_end(r);
  finish(r, "reached t = %.15g");
  if (jumped) r->continues = 0;
  return e;
}

/* To the end of the segment, an event, or as many steps as one call takes; *more: not the last. */
static lw_status advance(lw_run *r, double until, int64_t tries, int *more) {
  int event = 0;
  lw_status e = r->in_segment ? LW_OK : begin_segment(r, until);
  if (!e && r->t != r->until) e = lw_run_take_steps(r, tries, &event);
  if (!e && event) e = lw_run_handle_event(r);
  if (!e && r->terminated) finish(r, "ended at t = %.17g, as the event handler or step hook asked");
  else if (!e && r->t == r->until) e = end_segment(r);
  *more = !e && (event || !r->in_segment) && r->outcome == LW_RUN_GOES_ON;
  return e;
}

/* Attempts so far, implicit ones as in lw_run_take_steps(). */
static int64_t effort_of(const lw_run *r) {
  const int64_t implicit = r->ode ? lw_ode_get_statistics(r->ode).jacobian_evaluations : 0;
  return r->reach.attempts + implicit * (r->n / 2);
}

void lw_run_fail(lw_run *r, lw_status e) {
  r->outcome = r->raised ? LW_RUN_STOPPED : LW_RUN_FAILED;
  r->continues = 0;
  lw_release_kinks(r->state);
  if (!r->looks_ahead && e == LW_ERROR_SOLVER && (!r->raised || r->raised == LW_RUN_FAILURE)) lw_run_explain(r);
}

lw_run_outcome lw_run_advance(lw_run *r, double until, int64_t tries) {
  if (r->outcome != LW_RUN_GOES_ON) return r->outcome;
  const int64_t last = effort_of(r) + (tries > 0 && tries < STEPS_AT_ONCE ? tries : STEPS_AT_ONCE);
  int more;
  do {
    const lw_status e = advance(r, until, last - effort_of(r), &more);
    if (e) lw_run_fail(r, e);
  } while (more && effort_of(r) < last && (r->in_segment || !lw_run_reaches(r, r->t, until)));
  return r->outcome;
}

lw_status lw_run_set_inputs(lw_run *r, const double *inputs) {
  int due = 0, changed = 0;
  lw_status e = lw_run_put_inputs(r, inputs, &due);
  if (!e && due && r->n_discrete) e = lw_run_handle_due(r, &changed);
  if (e) lw_run_fail(r, e);
  return e;
}

/* ---- what there is ---- */

lw_state *lw_run_state(const lw_run *r) { return r->state; }
lw_run_outcome lw_run_get_outcome(const lw_run *r) { return r->outcome; }
const char *lw_run_message(const lw_run *r) { return r->message; }
lw_status lw_run_status(const lw_run *r) { return r->status; }

lw_run_equations lw_run_get_equations(const lw_run *r) { return r->equations; }

lw_status lw_run_cause(const lw_run *r, const char **text) {
  *text = r->cause_text;
  return r->cause;
}

lw_run_statistics lw_run_get_statistics(const lw_run *r) {
  lw_run_statistics s = r->statistics;
  if (r->ode) s.ode = lw_ode_get_statistics(r->ode);
  return s;
}

lw_run_point lw_run_reached(const lw_run *r) {
  return (lw_run_point){.t = r->t,
                        .y = r->y,
                        .revolutions = r->revolutions,
                        .discrete = reals_of(r) + r->model->at.joint_closed,
                        .control = r->continues ? &r->control : NULL};
}

lw_run_rows lw_run_get_rows(const lw_run *r) {
  const lw_record *from = &r->record;
  return (lw_run_rows){
      from->t.count,       from->t.number, from->y.number, from->revolutions.number, from->phase_of_row.number,
      from->control.number};
}

lw_run_phases lw_run_get_phases(const lw_run *r) {
  const lw_record *from = &r->record;
  return (lw_run_phases){from->inputs.count, from->inputs.number, from->discrete_row.number, from->events_before.number,
                         from->discrete.number};
}

lw_run_events lw_run_get_events(const lw_run *r) {
  const lw_record *from = &r->record;
  return (lw_run_events){from->event_t.count, from->event_t.number, from->fired.number, from->before.number,
                         from->after.number};
}
