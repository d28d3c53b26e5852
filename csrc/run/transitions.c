/* Events of a run: transitions, and events that follow one another without end. */
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
  memcpy(r->y, after, sizeof *r->y * (size_t)r->n);
  return lw_record_event(r, earlier, before);
}

/* ---- chattering ---- */

/* The time since the last `count` crossings began; infinite if there were fewer from the `first` on. */
static double duration(const lw_run *r, int64_t count, int64_t first) {
  const lw_number_list *t = &r->record.crossing_t;
  return t->count - first >= count ? fabs(r->t - *lw_row_of(t, t->count - count)) : INFINITY;
}

static lw_status refuse_chattering(lw_run *r, const char *what, int64_t count, const char *then) {
  char list[200] = "";
  size_t used = 0;
  const int32_t *crossings = lw_ode_crossings(r->ode);
  for (int32_t k = 0; k < r->size.event_indicators && used + 16 < sizeof list; k++)
    if (crossings[k]) used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", used ? ", " : "", (int)k);
  lw_run_refuse(r, LW_ERROR_SOLVER,
                "%s%lld%s at t = %.17g, the last of indicator %s; let on_event bring the motion to rest or terminate",
                what, (long long)count, then, r->t, list);
  lw_run_explain(r, 1);
  return r->status;
}

static lw_status check_number(lw_run *r) {
  const int64_t most = r->options.max_events;
  if (most < 0 || duration(r, most, 0) >= 1.0) return LW_OK;
  return refuse_chattering(r, "more than max_events = ", most, " in one unit of time");
}

static lw_status check_accumulation(lw_run *r) {
  const double span = CHATTERING_SPAN * fmax(fabs(r->t - r->t_start), fabs(r->t));
  if (duration(r, CHATTERING_EVENTS, r->record.first_crossing) > span) return LW_OK;
  return refuse_chattering(r, "", CHATTERING_EVENTS, " events follow one another without end");
}

/* ---- events ---- */

static void count_revolutions(lw_run *r) {
  lw_step_accepted(r->state);
  memcpy(r->revolutions, lw_state_reals(r->state) + r->model->at.cut_reference,
         sizeof *r->revolutions * (size_t)r->size.nq_cut);
}

static lw_status carry_out_and_count(lw_run *r, int *changed) {
  const lw_status e = lw_run_carry_out(r, 0, changed);
  if (!e && *changed) count_revolutions(r);
  return e;
}

/* The integrator has stopped just behind a zero crossing. */
lw_status lw_run_handle_event(lw_run *r) {
  int changed = 0;
  lw_status e = check_number(r);
  if (e) return e;
  lw_run_enter(r, r->t, r->y);
  if ((e = lw_record_beside_event(r, r->y)) || (e = carry_out_and_count(r, &changed))) return e;
  double *crossing = lw_append_row(&r->record.crossing_t);
  if (!crossing) return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more events");
  *crossing = r->t;
  if (changed && !r->options.times) e = lw_record_row(r, r->t, r->y, r->revolutions);
  if (!e) e = lw_record_beside_event(r, r->y);
  if (!e) e = check_accumulation(r);
  if (e || r->t == r->until) return e;
  const lw_ode_outcome outcome = lw_ode_start(r->ode, r->t, r->y);
  return outcome == LW_ODE_STEP ? LW_OK : lw_run_stopped(r, outcome);
}

/* Transitions that are due between two segments. */
lw_status lw_run_handle_due(lw_run *r) {
  int changed;
  lw_status e = lw_record_beside_event(r, r->y);
  if (!e) e = carry_out_and_count(r, &changed);
  return e ? e : lw_record_beside_event(r, r->y);
}

lw_status lw_run_signs(lw_run *r, double *indicators) {
  lw_run_enter(r, r->t, r->y);
  if (!r->size.event_indicators) return LW_OK;
  const lw_status e = lw_event_indicators(r->state, indicators);
  return e ? lw_run_state_failed(r, e) : LW_OK;
}
