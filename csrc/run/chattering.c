/* Events of a run that follow one another without end: zero crossings, and commands that follow the state. Transitions
 * that cause each other are events/chattering.c. */
#include <math.h>
#include <stdio.h>

#include "events/kinks.h"
#include "math/tolerances.h"
#include "model/model.h"
#include "run/run.h"

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

/* Of a kink that has been crossed; NULL: there is none. */
static const char *owner_of_kink(const lw_run *r) {
  const int32_t first = r->size.event_indicators - r->size.kinks;
  for (int32_t k = 0; k < r->size.kinks; k++)
    if (r->crossings[first + k]) return lw_owner_of_kink(r->model, k);
  return NULL;
}

static lw_status refuse_chattering_kink(lw_run *r, const char *owner) {
  r->chattering = 1;
  return lw_run_refuse(
      r, LW_ERROR_SOLVER,
      "the formula of '%s' jumps back and forth without end from t = %.9g s on: its jump holds the motion "
      "where it is; use Friction or Brake where it is dry friction, else a continuous law, such as "
      "tanh(u/u0) in place of sign(u)",
      owner, r->t);
}

lw_status lw_run_check_number(lw_run *r) {
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
  if (owner_of_kink(r)) return refuse_chattering_kink(r, owner_of_kink(r));
  return refuse_chattering(r, "", CHATTERING_EVENTS, " events follow one another without end");
}

lw_status lw_run_note_kink(lw_run *r) {
  lw_run_memory *m = &r->memory;
  double *crossing = &m->crossing[(int64_t)m->crossings % CHATTERING_EVENTS];
  const double before = m->crossings < CHATTERING_EVENTS ? NAN : *crossing;
  *crossing = r->t, m->crossings++;
  const double span = CHATTERING_SPAN * fmax(fabs(r->t - r->t_start), fabs(r->t));
  return fabs(r->t - before) <= span ? refuse_chattering_kink(r, owner_of_kink(r)) : LW_OK;
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
lw_status lw_run_check_commands(lw_run *r) {
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
