/* Impacts or locks that cause each other would end no run: events are counted, and too many are an error with their
 * names. */
#include "events/chattering.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_recent(const lw_state *s, int32_t i) {
  const double last = lw_memory_of(s, i)->last;
  return last > 0.0 && last > lw_reals(s)[s->base->at.event_count] - RECENT_EVENTS;
}

void lw_recent_transitions(lw_state *s, char *text, size_t size) {
  size_t used = 0;
  int32_t left_off = 0;
  if (size) *text = '\0';
  if (!s->events || lw_evaluate(s, LW_STAGE_OUTPUTS)) return;
  for (int32_t i = 0; i < s->base->size.transitions; i++) {
    if (!is_recent(s, i)) continue;
    double gap, speed;
    char one[160];
    if (lw_trigger_distance(s, i, &gap, &speed))
      snprintf(one, sizeof one, "%s'%.50s' (joint '%.50s', gap %.3g, speed %.3g)", used ? ", " : "",
               s->base->transition_name[i], s->base->joint_name[transition_of(s, i)->joint], gap, speed);
    else snprintf(one, sizeof one, "%s'%.50s'", used ? ", " : "", s->base->transition_name[i]);
    const size_t length = strlen(one);
    if (used + length + 20 > size) left_off++;
    else memcpy(text + used, one, length + 1), used += length;
  }
  if (left_off && used + 20 <= size) snprintf(text + used, size - used, " and %d more", left_off);
}

static lw_status fail(lw_state *s, const char *what) {
  char names[340];
  lw_recent_transitions(s, names, sizeof names);
  return lw_fail(s, LW_ERROR_SOLVER,
                 "%s at t = %.9g s: %s; lower the restitution, or do not let a lock and its release cause each other",
                 what, lw_reals(s)[s->model->at.time], names);
}

static int are_too_many_at_once(lw_event_memory *memory, double t) {
  const int again = memory->simultaneous > 0.0 && fabs(t - memory->last) <= SIMULTANEOUS * (fabs(t) + 1e-3);
  memory->simultaneous = again ? memory->simultaneous + 1.0 : 1.0;
  if (!again) memory->last = t;
  return memory->simultaneous > MAX_SIMULTANEOUS;
}

static int are_too_many_in_a_second(lw_event_memory *memory, double t, double most) {
  if (!(memory->second_events > 0.0 && t >= memory->second_begin && t < memory->second_begin + 1.0))
    memory->second_begin = t, memory->second_events = 0.0;
  memory->second_events += 1.0;
  return most > 0.0 && memory->second_events > most;
}

lw_status lw_count_event(lw_state *s) {
  lw_event_memory *memory = lw_event_memory_of(s);
  const double t = lw_reals(s)[s->base->at.time], most = memory->max_events == 0.0 ? MAX_EVENTS : memory->max_events;
  if (are_too_many_at_once(memory, t)) return fail(s, "events follow one another without end");
  if (!are_too_many_in_a_second(memory, t, most)) return LW_OK;
  char what[60];
  snprintf(what, sizeof what, "more than %.0f events in one second", most);
  return fail(s, what);
}
