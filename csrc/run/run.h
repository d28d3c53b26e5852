/* One simulation: a state, an integrator, and the record of rows and events. */
#ifndef LW_RUN_H
#define LW_RUN_H
#include "linkwork.h"

/* Numbers in rows of equal length, which grow. */
typedef struct lw_number_list {
  double *number;
  int64_t count, capacity; /* rows */
  int32_t width;
} lw_number_list;

/* A new row at the end, not filled; NULL: no memory. */
double *lw_append_row(lw_number_list *list);
static inline double *lw_row_of(const lw_number_list *list, int64_t row) {
  return list->number + (size_t)row * (size_t)list->width;
}
static inline double *lw_last_row(const lw_number_list *list) { return lw_row_of(list, list->count - 1); }

/* Rows, events, and the phases between them: inputs and discrete states. */
typedef struct lw_record {
  lw_number_list t, y, revolutions, phase_of_row; /* of rows */
  lw_number_list inputs, discrete, events_before; /* of phases */
  lw_number_list event_t, fired, before, after;   /* of events */
  lw_number_list crossing_t;                      /* times at which indicators crossed zero */
  int64_t first_crossing;                         /* of the segment */
} lw_record;

struct lw_run {
  const lw_model *model;
  lw_state *state;
  lw_ode *ode;
  lw_run_options options; /* rtol, atol: of the states; `times` is a copy */
  lw_sizes size;
  int32_t n, n_inputs, n_discrete; /* states, inputs, numbers that transitions change (0: there are none) */
  double t, t_start, until;        /* reached; the segment began, and ends there */
  double *y, *before_event, *inputs, *revolutions;
  lw_ode_step_control control; /* with which the next segment begins ... */
  int32_t continues;           /* ... unless the method restarts */
  int32_t in_segment, counting, watching;
  int32_t scaled;         /* absolute tolerances follow the sizes of the mechanism: 1 from the start, 2 are set */
  int32_t too_many_steps; /* is the failure */
  double *atol;
  int64_t next_time; /* of options.times, that is no row yet */
  lw_ode_output output;
  lw_record record;
  lw_run_outcome outcome;
  lw_status status;
  char message[1600];
};

/* ---- block.c ---- */
/* Brings the state to a time and states, with the inputs of the run. */
void lw_run_enter(lw_run *r, double t, const double *y);

/* Sets status and message. */
lw_status lw_run_refuse(lw_run *r, lw_status status, const char *format, ...);
/* The message of the state. */
lw_status lw_run_state_failed(lw_run *r, lw_status status);

/* ---- record.c ---- */
lw_status lw_record_create(lw_run *r);
void lw_record_free(lw_record *record);
lw_status lw_record_row(lw_run *r, double t, const double *y, const double *revolutions);
/* The inputs and the discrete state of the rows that follow. */
lw_status lw_record_phase(lw_run *r);
/* The same if it has changed, as signs of triggers do without an event. */
lw_status lw_record_discrete(lw_run *r);
lw_status lw_record_event(lw_run *r, const double *before, double events_before);
/* Rows that the integrator is to fill, and those that it has filled. */
lw_status lw_prepare_output(lw_run *r, lw_ode_output **output);
lw_status lw_take_output(lw_run *r);
/* At the start of a segment; on either side of an event; where the states jump at the end. */
lw_status lw_record_start(lw_run *r);
lw_status lw_record_beside_event(lw_run *r, const double *y);
lw_status lw_record_end(lw_run *r);

/* ---- transitions.c ---- */
/* Transitions that are due where the run is; *changed: there were any. */
lw_status lw_run_carry_out(lw_run *r, int starting, int *changed);
lw_status lw_run_handle_event(lw_run *r);
lw_status lw_run_handle_due(lw_run *r);
/* Which event indicators are positive, at the present inputs. */
lw_status lw_run_signs(lw_run *r, double *indicators);

/* ---- failure.c ---- */
/* Why the integrator stopped, where, and the remedy. */
lw_status lw_run_stopped(lw_run *r, lw_ode_outcome outcome);
/* Adds the cause to the message, as far as the mechanics know it. `chattering`: events follow one another without end. */
void lw_run_explain(lw_run *r, int chattering);

/* ---- lock_up.c ---- */
/* The time of the last pose in which the loops allow the prescribed motions; NAN: they allow what was asked for, or nothing is
 * prescribed. */
double lw_run_lock_up(lw_run *r);
#endif
