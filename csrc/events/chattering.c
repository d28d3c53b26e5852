#include "events/chattering.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIMULTANEOUS 1e-9     /* relative time difference of simultaneous events */
#define MAX_SIMULTANEOUS 1000 /* taken for an infinite sequence */
#define MAX_EVENTS 1e5        /* within a second */
#define RECENT_EVENTS 32.0    /* transitions in so many of the last events are reported */

/* The second part of the field event_memory. */
typedef struct event_counter {
  double begin, count; /* of the present second: its start, events in it */
  double most;         /* limit of the events in a second; 0: MAX_EVENTS, negative: none */
} event_counter;

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
                 "%s at t = %.9g s: %s; lower the restitution, do not let a lock and its release cause each other, or "
                 "raise max_events",
                 what, lw_reals(s)[s->model->at.time], names);
}

static int is_simultaneous(double *memory, double t) {
  const int again = memory[1] > 0.0 && fabs(t - memory[0]) <= SIMULTANEOUS * (fabs(t) + 1e-3);
  memory[1] = again ? memory[1] + 1.0 : 1.0;
  if (!again) memory[0] = t;
  return memory[1] > MAX_SIMULTANEOUS;
}

lw_status lw_count_event(lw_state *s) {
  double *memory = lw_reals(s) + s->base->at.event_memory, t = lw_reals(s)[s->base->at.time];
  event_counter *counter = (event_counter *)(memory + 5);
  if (is_simultaneous(memory, t)) return fail(s, "events follow one another without end");
  if (!(counter->count > 0.0 && t >= counter->begin && t < counter->begin + 1.0))
    counter->begin = t, counter->count = 0.0;
  counter->count += 1.0;
  const double most = counter->most == 0.0 ? MAX_EVENTS : counter->most;
  return most > 0.0 && counter->count > most ? fail(s, "more events than max_events in one second") : LW_OK;
}
