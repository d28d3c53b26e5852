/* One simulation: a state, an integrator, and the record of rows and events. */
#ifndef LW_RUN_H
#define LW_RUN_H
#include "linkwork.h"
#include "math/tolerances.h"

/* Steps in one call, as far as there is no other number. */
#define STEPS_AT_ONCE 256

/* Numbers in rows of equal length, which grow. */
typedef struct lw_number_list {
  double *number;
  int64_t count, capacity; /* rows */
  int32_t width;
} lw_number_list;

/* A new row at the end, not filled; NULL: no memory. */
double *lw_append_row(lw_number_list *list);
/* A row at the end of a list whose capacity stays: of a full one the older half goes. */
void lw_append_recent(lw_number_list *list, const double *numbers);
static inline double *lw_row_of(const lw_number_list *list, int64_t row) {
  return list->number + (size_t)row * (size_t)list->width;
}
static inline double *lw_last_row(const lw_number_list *list) { return lw_row_of(list, list->count - 1); }

/* Rows, events, and the phases between them: inputs and discrete states. */
typedef struct lw_record {
  lw_number_list t, y, revolutions, control, phase_of_row; /* of rows */
  lw_number_list inputs, discrete_row, events_before;      /* of phases */
  lw_number_list discrete;                                 /* states that differ from the one before */
  lw_number_list event_t, fired, before, after;            /* of events */
  lw_number_list crossing_t;                               /* times at which indicators crossed zero */
  int64_t first_crossing;                                  /* of the segment */
  int64_t next_time, end_time; /* of options.times: that is no row yet; behind the segment */
} lw_record;

/* What a stepwise run remembers from one start to the next; behind it follow the absolute tolerances. */
typedef struct lw_run_memory {
  double last_step, choice;           /* of the integrator: its size, and as in lw_ode_step_control */
  double event_at, crossed;           /* the event at which it has stopped; 1: a zero crossing. Not a number: none */
  double segment_start, scaled;       /* as t_start and scaled */
  double crossings;                   /* since the segment began */
  double crossing[CHATTERING_EVENTS]; /* times of the last ones, in a ring */
} lw_run_memory;

struct lw_run {
  const lw_model *model;
  lw_state *state;
  lw_ode *ode;            /* NULL: an integrator from outside */
  lw_run_options options; /* rtol, atol: of the states; `times` is a copy */
  lw_run_calls calls;
  lw_control law; /* calls.law and calls.events with the state of the run */
  lw_run_equations equations;
  lw_sizes size;
  int32_t n, n_inputs, n_discrete; /* states, inputs, numbers that transitions change (0: there are none) */
  int32_t n_checked;               /* indicators of the mechanism and of commands, which loads may change */
  double direction;                /* of time: 1, -1 */
  double duration;                 /* of the motion, by which the sizes of states are chosen */
  double t, t_start, until, began; /* reached; the segment began, and ends there; the run began */
  double *y, *before_event, *inputs, *revolutions, *rates, *indicators, *bounds; /* bounds: low, high */
  int32_t *crossings;          /* per indicator, those asked for; then of functions alone */
  unsigned char *positive;     /* indicators before and after a change of inputs */
  lw_ode_step_control control; /* with which the next segment begins ... */
  int32_t continues;           /* ... unless the method restarts */
  int32_t in_segment, counting, watching;
  int32_t scaled; /* absolute tolerances follow the sizes of the mechanism: 1 from the start, 2 are set */
  int32_t part;
  int64_t samples;     /* taken */
  double continued_at; /* functions that are zero there are so from before: not positive yet */
  int32_t raised;      /* what a function called back returned to stop the run */
  int32_t terminated, too_many_steps, chattering;
  int32_t commanded;             /* the last sample gave commands */
  int32_t stepwise, looks_ahead; /* a host takes it from step to step; and only looks */
  lw_run_memory memory;          /* of such a run */
  double time_event;             /* the next one */
  double *atol;
  lw_run_reach reach;           /* of an integrator from outside */
  int64_t looked_at, next_look; /* attempts at the last look at the progress, and at the next one */
  double looked_t;
  lw_ode_output output;
  lw_record record;
  lw_run_statistics statistics;
  lw_run_outcome outcome;
  lw_status status, cause;
  char message[2400], cause_text[480];
};

static inline int lw_run_reaches(const lw_run *r, double t, double bound) {
  return r->direction * t >= r->direction * bound;
}

/* ---- run.c ---- */
lw_run *lw_run_allocate(const lw_model *model, const lw_run_options *options);
/* Whether constraints are to be compared with the tolerances; and from here on they are, if they do not drift as they are. */
int lw_run_must_watch(const lw_run *r);
void lw_run_watch(lw_run *r);
lw_status lw_run_find_time_event(lw_run *r, double *time); /* infinite: none */
void lw_run_fail(lw_run *r, lw_status e);

/* ---- block.c ---- */
/* Brings the state to a time and states, with the inputs that are held. */
void lw_run_put_states(lw_run *r, double t, const double *y);
/* The same with those of the law. Not 0: it has none there. */
int lw_run_enter(lw_run *r, double t, const double *y);
/* The same where the run is; a failure of the law is its end. */
lw_status lw_run_enter_here(lw_run *r);
/* Calls back. */
void lw_run_bind_calls(lw_run *r);
lw_status lw_run_enter_part(lw_run *r, int32_t part);

/* Sets status and message. */
lw_status lw_run_refuse(lw_run *r, lw_status status, const char *format, ...);
/* The message of the state. */
lw_status lw_run_state_failed(lw_run *r, lw_status status);
/* A function called back has failed. */
lw_status lw_run_raised(lw_run *r, int status);

/* ---- steps.c ---- */
lw_status lw_run_make_integrator(lw_run *r);
lw_status lw_run_start_steps(lw_run *r);
/* After an event; `changed`: the states jumped. */
lw_status lw_run_restart_steps(lw_run *r, int changed);
/* After events of kinks alone. */
lw_status lw_run_pass_kinks(lw_run *r);
/* Some steps, and their rows; *event: the last one ended at one, with r->crossings. */
lw_status lw_run_take_steps(lw_run *r, int64_t tries, int *event);

/* ---- record.c ---- */
void lw_record_create(lw_run *r);
/* For a stepwise run: memory for the last rows alone. */
lw_status lw_record_create_recent(lw_run *r);
void lw_record_free(lw_record *record);
lw_status lw_record_row(lw_run *r, double t, const double *y, const double *revolutions);
/* The inputs and the discrete state of the rows that follow. */
lw_status lw_record_phase(lw_run *r);
/* The same if it has changed, as signs of triggers do without an event. */
lw_status lw_record_discrete(lw_run *r);
/* Transitions since so many events, or functions that have crossed. */
lw_status lw_record_event(lw_run *r, const double *before, double events_before);
lw_status lw_record_functions(lw_run *r, const int32_t *crossed);
/* Rows that the integrator is to fill (NULL: none are left), and those that it has filled. */
lw_status lw_prepare_output(lw_run *r, lw_ode_output **output);
void lw_take_output(lw_run *r);
/* At the start of a segment; on either side of an event; where the states jump at the end. */
lw_status lw_record_start(lw_run *r);
lw_status lw_record_beside_event(lw_run *r, const double *y);
lw_status lw_record_end(lw_run *r);
/* The method restarts behind the last row. */
void lw_forget_control(lw_run *r);

/* ---- transitions.c ---- */
/* Transitions that are due where the run is; *changed: there were any. */
lw_status lw_run_carry_out(lw_run *r, int starting, int *changed);
lw_status lw_run_handle_event(lw_run *r);
lw_status lw_run_handle_due(lw_run *r, int *changed);

/* ---- chattering.c ---- */
/* A zero crossing has been dealt with where the run is. Refuses those that accumulate there. */
lw_status lw_run_note_crossing(lw_run *r);
/* Refuses one more zero crossing, of too many in a unit of time; commands that have changed without end. */
lw_status lw_run_check_number(lw_run *r);
/* The same of kinks, which do not count as events. */
lw_status lw_run_note_kink(lw_run *r);
lw_status lw_run_check_commands(lw_run *r);

/* ---- inputs.c ---- */
/* Inputs from outside; those of the next sample; those of the next part. *due: transitions may be. */
lw_status lw_run_put_inputs(lw_run *r, const double *inputs, int *due);
lw_status lw_run_take_sample(lw_run *r, int *due);
lw_status lw_run_pass_jump(lw_run *r, int *due);
double lw_run_next_sample(const lw_run *r);
double lw_run_last_sample(const lw_run *r);

/* ---- failure.c ---- */
/* Why the integrator stopped, where, and the remedy. */
lw_status lw_run_stopped(lw_run *r, lw_ode_outcome outcome);
/* Refuses a run that cannot come to its end within its steps. */
lw_status lw_run_check_progress(lw_run *r);
/* Adds the cause to the message, as far as the mechanics know it. */
void lw_run_explain(lw_run *r);
void lw_run_add(lw_run *r, const char *format, ...);

/* ---- lock_up.c ---- */
/* Adds to the message the pose beyond which the loops do not allow the prescribed motions, if that is the reason. */
int lw_run_explain_lock_up(lw_run *r);
#endif
