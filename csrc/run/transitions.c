/* Events of a run: transitions, functions that cross zero, and events that follow one another without end. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/tolerances.h"
#include "model/model.h"
#include "run/run.h"

static double events_of(const lw_run *r) { return lw_state_reals(r->state)[r->model->at.event_count]; }

lw_status lw_run_carry_out(lw_run *r, int starting, int *changed) {
  int32_t jumped;
  const double before = events_of(r);
  const lw_status e = starting ? lw_start_events(r->state, &jumped) : lw_handle_events(r->state, &jumped);
  *changed = 0;
  if (e) return lw_run_state_failed(r, e);
  if (events_of(r) == before) return LW_OK;
  *changed = 1;
  const double *after = lw_state_reals(r->state) + r->model->at.q; /* the speeds follow the coordinates */
  double *earlier = r->before_event;
  memcpy(earlier, r->y, sizeof *r->y * (size_t)r->n);
  memcpy(r->y, after, sizeof *r->y * (size_t)(r->n - r->calls.n));
  return lw_record_event(r, earlier, before);
}

/* ---- chattering ---- */

/* The time since the last `count` times of a list began; infinite if there were fewer from the `first` on. */
static double duration(const lw_run *r, const lw_number_list *t, int64_t count, int64_t first) {
  return t->count - first >= count ? fabs(r->t - *lw_row_of(t, t->count - count)) : INFINITY;
}

static lw_status refuse_chattering(lw_run *r, const char *what, int64_t count, const char *then) {
  char list[200] = "";
  size_t used = 0;
  for (int32_t k = 0; k < r->equations.n_events && used + 16 < sizeof list; k++)
    if (r->crossings[k]) used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", used ? ", " : "", (int)k);
  r->chattering = 1;
  return lw_run_refuse(r, LW_ERROR_SOLVER, "%s%lld%s at t = %.17g, the last of indicator %s%s", what, (long long)count,
                       then, r->t, list, r->stepwise ? "" : "; let on_event bring the motion to rest or terminate");
}

static lw_status check_number(lw_run *r) {
  const int64_t most = r->options.max_events;
  if (most < 0 || duration(r, &r->record.crossing_t, most, 0) >= 1.0) return LW_OK;
  return refuse_chattering(r, "more than max_events = ", most, " in one unit of time");
}

/* The same of zero crossings in the segment. */
static double duration_of_crossings(const lw_run *r) {
  const lw_run_memory *m = &r->memory;
  if (!r->stepwise) return duration(r, &r->record.crossing_t, CHATTERING_EVENTS, r->record.first_crossing);
  if (m->crossings < CHATTERING_EVENTS) return INFINITY;
  return fabs(r->t - m->crossing[(int64_t)m->crossings % CHATTERING_EVENTS]);
}

lw_status lw_run_note_crossing(lw_run *r) {
  lw_run_memory *m = &r->memory;
  double *crossing =
      r->stepwise ? &m->crossing[(int64_t)m->crossings % CHATTERING_EVENTS] : lw_append_row(&r->record.crossing_t);
  if (!crossing) return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more events");
  *crossing = r->t, m->crossings++;
  const double span = CHATTERING_SPAN * fmax(fabs(r->t - r->t_start), fabs(r->t));
  if (duration_of_crossings(r) > span) return LW_OK;
  return refuse_chattering(r, "", CHATTERING_EVENTS, " events follow one another without end");
}

/* Whether the last of these many events were commands alone; their names. */
static int are_commands(const lw_run *r, char *names, size_t size) {
  const lw_number_list *fired = &r->record.fired;
  size_t used = 0;
  for (int32_t k = 0; k < r->size.transitions; k++) {
    int any = 0;
    for (int64_t row = fired->count - CHATTERING_COMMANDS; row < fired->count; row++)
      any |= lw_row_of(fired, row)[k] != 0.0;
    if (any && r->model->transition[k].trigger != LW_COMMAND) return 0;
    if (any && used < size)
      used += (size_t)snprintf(names + used, size - used, "%s'%s'", used ? ", " : "", r->model->transition_name[k]);
  }
  return 1;
}

/* Commands that follow the state may change without end, so fast that the run would not end. */
static lw_status check_commands(lw_run *r) {
  char names[400] = "";
  const double span = CHATTERING_PART * fabs(r->options.t_end - r->began);
  if (duration(r, &r->record.event_t, CHATTERING_COMMANDS, 0) > span || !are_commands(r, names, sizeof names))
    return LW_OK;
  r->chattering = 1;
  return lw_run_refuse(
      r, LW_ERROR_SOLVER,
      "the commands of %s are functions of the state and change without end: %d times before t = %.9g s, within %g of "
      "the run; let them change back at another state than that at which they change (hysteresis), or sample them",
      names, CHATTERING_COMMANDS, r->t, CHATTERING_PART);
}

/* ---- events ---- */

static void count_revolutions(lw_run *r) {
  lw_step_accepted(r->state);
  memcpy(r->revolutions, lw_state_reals(r->state) + r->model->at.cut_reference,
         sizeof *r->revolutions * (size_t)r->size.nq_cut);
}

/* All that are due where the run is; commands that follow the state may change with it. */
static lw_status carry_out_all(lw_run *r, int *changed) {
  int again;
  do {
    lw_status e = lw_run_enter_here(r);
    if (!e) e = lw_run_carry_out(r, 0, &again);
    if (e) return e;
    if (!again) return LW_OK;
    *changed = 1;
    count_revolutions(r);
    if (r->calls.of_state && (e = check_commands(r))) return e;
  } while (r->calls.of_state);
  return LW_OK;
}

/* Events of functions, at which no state jumps, but what they do may make transitions due. */
static lw_status handle_functions(lw_run *r, const int32_t *crossed, int *changed, int *acted) {
  lw_status e = lw_run_enter_here(r);
  if (!e) e = lw_record_functions(r, crossed);
  if (e) return e;
  const int action = r->calls.on_event(r->calls.context, r->t, r->y + r->n - r->calls.n, crossed);
  if (action < 0) return lw_run_raised(r, action);
  *acted |= action & LW_RUN_RESTART;
  r->terminated = action & LW_RUN_TERMINATE;
  return *acted && r->size.transitions ? carry_out_all(r, changed) : LW_OK;
}

static int any_of(const int32_t *crossings, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (crossings[k]) return 1;
  return 0;
}

/* The integrator has stopped just behind a zero crossing. */
lw_status lw_run_handle_event(lw_run *r) {
  const int32_t *functions = r->crossings + r->n_checked;
  const int mechanism = any_of(r->crossings, r->n_checked), function = any_of(functions, r->calls.n_functions);
  int changed = 0, restarts = mechanism;
  lw_status e = check_number(r);
  if (e || !(mechanism || function)) return e;
  r->statistics.events++;
  if ((e = lw_record_beside_event(r, r->y))) return e;
  if (mechanism) e = carry_out_all(r, &changed);
  if (!e && function) e = handle_functions(r, functions, &changed, &restarts);
  if (e) return e;
  if (changed && !r->options.times) e = lw_record_row(r, r->t, r->y, r->revolutions);
  if (!e) e = lw_record_beside_event(r, r->y);
  if (!e) e = lw_run_note_crossing(r);
  if (e || r->terminated || !restarts || r->t == r->until) return e;
  return lw_run_restart_steps(r, changed);
}

/* Transitions that are due between two segments. */
lw_status lw_run_handle_due(lw_run *r, int *changed) {
  lw_status e = lw_record_beside_event(r, r->y);
  if (!e) e = carry_out_all(r, changed);
  return e ? e : lw_record_beside_event(r, r->y);
}
