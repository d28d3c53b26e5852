/* Events of a run: transitions, and functions that cross zero. */
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
    if (r->calls.of_state && (e = lw_run_check_commands(r))) return e;
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

static lw_status pass_kinks(lw_run *r) {
  const lw_status e = lw_run_note_kink(r);
  return e || r->t == r->until ? e : lw_run_pass_kinks(r);
}

/* The integrator has stopped just behind a zero crossing. */
lw_status lw_run_handle_event(lw_run *r) {
  const int32_t *functions = r->crossings + r->n_checked;
  const int32_t all = r->size.event_indicators, own = all - r->size.kinks;
  const int mechanism = any_of(r->crossings, own) || any_of(r->crossings + all, r->n_checked - all),
            function = any_of(functions, r->calls.n_functions);
  int changed = 0, restarts = mechanism || any_of(r->crossings + own, r->size.kinks);
  if (!(mechanism || function) && any_of(r->crossings + own, r->size.kinks)) return pass_kinks(r);
  lw_status e = lw_run_check_number(r);
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
