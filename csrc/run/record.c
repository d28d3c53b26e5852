/* The record of a run: rows, events, and the phases between them. */
#include "run/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block/discrete_state.h"
#include "model/model.h"

/* Of steps in one call of the integrator; within a step there may be LW_ODE_MAX_SAMPLES more. */
#define ROWS_AT_ONCE 256
/* Of a stepwise run, for the cause of a failure. */
#define RECENT_ROWS 64

/* Memory for so many rows behind those that there are. */
static lw_status reserve(lw_number_list *list, int64_t rows) {
  if (list->number && list->count + rows <= list->capacity) return LW_OK;
  int64_t capacity = list->capacity ? 2 * list->capacity : 16;
  if (capacity < list->count + rows) capacity = list->count + rows;
  double *larger = realloc(list->number, sizeof *larger * (size_t)capacity * (size_t)(list->width + !list->width));
  if (!larger) return LW_ERROR_MEMORY;
  list->number = larger, list->capacity = capacity;
  return LW_OK;
}

double *lw_append_row(lw_number_list *list) { return reserve(list, 1) ? NULL : lw_row_of(list, list->count++); }

static lw_status append(lw_number_list *list, const double *numbers) {
  double *row = lw_append_row(list);
  if (!row) return LW_ERROR_MEMORY;
  if (list->width) memcpy(row, numbers, sizeof *row * (size_t)list->width);
  return LW_OK;
}

#define LISTS(X, record, r)                                   \
  X(record.t, 1)                                              \
  X(record.y, r->n)                                           \
  X(record.revolutions, r->size.nq_cut)                       \
  X(record.control, 3)                                        \
  X(record.phase_of_row, 1)                                   \
  X(record.inputs, r->n_inputs)                               \
  X(record.discrete_row, 1)                                   \
  X(record.discrete, r->n_discrete)                           \
  X(record.events_before, 1)                                  \
  X(record.event_t, 1)                                        \
  X(record.fired, r->size.transitions + r->calls.n_functions) \
  X(record.before, r->n)                                      \
  X(record.after, r->n)                                       \
  X(record.crossing_t, 1)

void lw_record_create(lw_run *r) {
#define X(list, numbers) list.width = numbers;
  LISTS(X, r->record, r)
#undef X
}

void lw_record_free(lw_record *record) {
#define X(list, numbers) free(list.number);
  LISTS(X, (*record), NULL)
#undef X
}

static lw_status no_memory_for_rows(lw_run *r) {
  return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more rows; ask for fewer of them");
}

static lw_status no_memory_for_events(lw_run *r) {
  return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more events");
}

static double present_phase(const lw_run *r) { return (double)(r->record.inputs.count - 1); }

void lw_append_recent(lw_number_list *list, const double *numbers) {
  const size_t bytes = sizeof *numbers * (size_t)list->width;
  if (list->count == list->capacity) {
    const int64_t kept = list->capacity / 2;
    memmove(list->number, lw_row_of(list, list->count - kept), bytes * (size_t)kept);
    list->count = kept;
  }
  memcpy(lw_row_of(list, list->count++), numbers, bytes);
}

lw_status lw_record_create_recent(lw_run *r) {
  lw_record_create(r);
  return reserve(&r->record.t, RECENT_ROWS) || reserve(&r->record.y, RECENT_ROWS) ? LW_ERROR_MEMORY : LW_OK;
}

lw_status lw_record_row(lw_run *r, double t, const double *y, const double *revolutions) {
  lw_record *to = &r->record;
  const double phase = present_phase(r), control[3] = {NAN, NAN, NAN};
  if (append(&to->t, &t) || append(&to->y, y) || append(&to->revolutions, revolutions) ||
      append(&to->control, control) || append(&to->phase_of_row, &phase))
    return no_memory_for_rows(r);
  return LW_OK;
}

static const double *discrete_state_of(const lw_run *r) { return lw_state_reals(r->state) + r->model->at.joint_closed; }

/* The discrete state is not the last one that was recorded. */
static int is_new(const lw_run *r) {
  const size_t bytes = sizeof(double) * (size_t)r->n_discrete;
  return bytes && memcmp(discrete_state_of(r), lw_last_row(&r->record.discrete), bytes) != 0;
}

lw_status lw_record_phase(lw_run *r) {
  lw_record *to = &r->record;
  const double events = (double)to->event_t.count;
  if ((!to->discrete.count || is_new(r)) && append(&to->discrete, discrete_state_of(r))) return no_memory_for_events(r);
  const double row = (double)(to->discrete.count - 1);
  if (append(&to->inputs, r->inputs) || append(&to->discrete_row, &row) || append(&to->events_before, &events))
    return no_memory_for_events(r);
  return LW_OK;
}

lw_status lw_record_discrete(lw_run *r) { return is_new(r) ? lw_record_phase(r) : LW_OK; }

lw_status lw_record_event(lw_run *r, const double *before, double events_before) {
  lw_record *to = &r->record;
  const int32_t n = r->size.transitions;
  double *fired = lw_append_row(&to->fired);
  if (!fired || append(&to->event_t, &r->t) || append(&to->before, before) || append(&to->after, r->y))
    return no_memory_for_events(r);
  for (int32_t k = 0; k < n; k++) fired[k] = lw_memory_of(r->state, k)->last > events_before ? 1.0 : 0.0;
  for (int32_t k = 0; k < r->calls.n_functions; k++) fired[n + k] = 0.0;
  return lw_record_phase(r);
}

lw_status lw_record_functions(lw_run *r, const int32_t *crossed) {
  lw_record *to = &r->record;
  const int32_t n = r->size.transitions;
  double *fired = lw_append_row(&to->fired);
  if (!fired || append(&to->event_t, &r->t) || append(&to->before, r->y) || append(&to->after, r->y))
    return no_memory_for_events(r);
  for (int32_t k = 0; k < n; k++) fired[k] = 0.0;
  for (int32_t k = 0; k < r->calls.n_functions; k++) fired[n + k] = crossed[k] ? 1.0 : 0.0;
  return lw_record_phase(r);
}

/* ---- rows of the integrator, which it writes where they stay ---- */

/* The times of rows in this segment: its end belongs to the next one, unless there is none. */
static void find_times(lw_run *r) {
  lw_record *of = &r->record;
  const double *t = r->options.times;
  const int64_t n = r->options.n_times;
  if (of->end_time < of->next_time) of->end_time = of->next_time;
  while (of->end_time < n && (r->until == r->options.t_end || !lw_run_reaches(r, t[of->end_time], r->until)))
    of->end_time++;
}

lw_status lw_prepare_output(lw_run *r, lw_ode_output **output) {
  lw_record *to = &r->record;
  const int given = r->options.times != NULL;
  const int64_t rows = given ? to->end_time - to->next_time : ROWS_AT_ONCE + LW_ODE_MAX_SAMPLES;
  *output = NULL;
  if (!rows || r->stepwise) return LW_OK;
  if (reserve(&to->t, rows) || reserve(&to->y, rows) || reserve(&to->revolutions, rows) ||
      reserve(&to->control, rows) || reserve(&to->phase_of_row, rows))
    return no_memory_for_rows(r);
  r->output = (lw_ode_output){.times_given = given,
                              .follow = !given && to->t.count < LW_RUN_MOST_FOLLOWING,
                              .capacity = rows,
                              .t = lw_row_of(&to->t, to->t.count),
                              .y = lw_row_of(&to->y, to->t.count),
                              .step_values = lw_row_of(&to->revolutions, to->t.count),
                              .step_control = given ? NULL : lw_row_of(&to->control, to->t.count)};
  if (given) memcpy(r->output.t, r->options.times + to->next_time, sizeof(double) * (size_t)rows);
  *output = &r->output;
  return LW_OK;
}

void lw_take_output(lw_run *r) {
  lw_record *to = &r->record;
  const int64_t first = to->t.count, rows = r->output.count;
  to->t.count += rows, to->y.count += rows, to->revolutions.count += rows, to->control.count += rows;
  to->phase_of_row.count += rows;
  for (int64_t k = first; k < first + rows; k++) {
    *lw_row_of(&to->phase_of_row, k) = present_phase(r);
    for (int i = 0; i < 3 && r->options.times; i++) lw_row_of(&to->control, k)[i] = NAN;
  }
  if (r->options.times) to->next_time += rows;
  r->output.count = 0;
}

static lw_status row_here(lw_run *r) { return lw_record_row(r, r->t, r->y, r->revolutions); }

lw_status lw_record_start(lw_run *r) {
  if (!r->options.times) return row_here(r);
  find_times(r);
  if (r->record.next_time == r->record.end_time || r->options.times[r->record.next_time] != r->t) return LW_OK;
  r->record.next_time++;
  return row_here(r);
}

static int is_last_row(const lw_run *r, double t, const double *y) {
  const lw_record *record = &r->record;
  if (!record->t.count || *lw_last_row(&record->t) != t) return 0;
  const double *last = lw_last_row(&record->y);
  for (int32_t k = 0; y && k < r->n; k++)
    if (last[k] != y[k]) return 0;
  return 1;
}

lw_status lw_record_beside_event(lw_run *r, const double *y) {
  if (!r->options.event_rows || !r->options.times || is_last_row(r, r->t, y)) return LW_OK;
  return lw_record_row(r, r->t, y, r->revolutions);
}

/* A further row, or the states after the jump in the row of that time if times are given. */
lw_status lw_record_end(lw_run *r) {
  if (!r->options.times) return row_here(r);
  if (!is_last_row(r, r->t, NULL)) return LW_OK;
  memcpy(lw_last_row(&r->record.y), r->y, sizeof *r->y * (size_t)r->n);
  *lw_last_row(&r->record.phase_of_row) = present_phase(r);
  return LW_OK;
}

void lw_forget_control(lw_run *r) {
  if (r->options.times || !r->record.control.count) return;
  for (int i = 0; i < 3; i++) lw_last_row(&r->record.control)[i] = NAN;
}
