/* The record of a run: rows, events, and the phases between them. */
#include "run/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block/discrete_state.h"
#include "model/model.h"

#define ROWS_AT_ONCE                                                                                   \
  256 /* of steps in one call of the integrator; within a step there may be LW_ODE_MAX_SAMPLES more */

double *lw_append_row(lw_number_list *list) {
  if (list->count == list->capacity) {
    const int64_t more = list->capacity ? 2 * list->capacity : 16;
    double *larger = realloc(list->number, sizeof *larger * (size_t)more * (size_t)(list->width + !list->width));
    if (!larger) return NULL;
    list->number = larger, list->capacity = more;
  }
  return lw_row_of(list, list->count++);
}

static lw_status append(lw_number_list *list, const double *numbers) {
  double *row = lw_append_row(list);
  if (!row) return LW_ERROR_MEMORY;
  if (list->width) memcpy(row, numbers, sizeof *row * (size_t)list->width);
  return LW_OK;
}

#define LISTS(X, record, r)             \
  X(record.t, 1)                        \
  X(record.y, r->n)                     \
  X(record.revolutions, r->size.nq_cut) \
  X(record.phase_of_row, 1)             \
  X(record.inputs, r->n_inputs)         \
  X(record.discrete, r->n_discrete)     \
  X(record.events_before, 1)            \
  X(record.event_t, 1)                  \
  X(record.fired, r->size.transitions)  \
  X(record.before, r->n)                \
  X(record.after, r->n)                 \
  X(record.crossing_t, 1)

lw_status lw_record_create(lw_run *r) {
#define X(list, numbers) list.width = numbers;
  LISTS(X, r->record, r)
#undef X
  const size_t rows = ROWS_AT_ONCE + LW_ODE_MAX_SAMPLES, n = (size_t)r->n, cuts = (size_t)r->size.nq_cut;
  double *numbers = malloc(sizeof *numbers * rows * (1 + n + cuts));
  if (!numbers) return LW_ERROR_MEMORY;
  r->output = (lw_ode_output){.times_given = r->options.times != NULL,
                              .follow = r->options.times == NULL,
                              .t = numbers,
                              .y = numbers + rows,
                              .step_values = numbers + rows * (1 + n)};
  return LW_OK;
}

void lw_record_free(lw_record *record) {
#define X(list, numbers) free(list.number);
  LISTS(X, (*record), NULL)
#undef X
}

lw_status lw_record_row(lw_run *r, double t, const double *y, const double *revolutions) {
  lw_record *to = &r->record;
  const double phase = (double)(to->inputs.count - 1);
  if (append(&to->t, &t) || append(&to->y, y) || append(&to->revolutions, revolutions) ||
      append(&to->phase_of_row, &phase))
    return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more rows; ask for fewer of them");
  return LW_OK;
}

lw_status lw_record_phase(lw_run *r) {
  const double events = (double)r->record.event_t.count;
  const double *discrete = lw_state_reals(r->state) + r->model->at.joint_closed;
  if (append(&r->record.inputs, r->inputs) || append(&r->record.discrete, discrete) ||
      append(&r->record.events_before, &events))
    return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more events");
  return LW_OK;
}

lw_status lw_record_discrete(lw_run *r) {
  const size_t bytes = sizeof(double) * (size_t)r->n_discrete;
  const double *discrete = lw_state_reals(r->state) + r->model->at.joint_closed;
  return bytes && memcmp(discrete, lw_last_row(&r->record.discrete), bytes) != 0 ? lw_record_phase(r) : LW_OK;
}

lw_status lw_record_event(lw_run *r, const double *before, double events_before) {
  lw_record *to = &r->record;
  const int32_t n = r->size.transitions;
  double *fired = lw_append_row(&to->fired);
  if (!fired || append(&to->event_t, &r->t) || append(&to->before, before) || append(&to->after, r->y))
    return lw_run_refuse(r, LW_ERROR_MEMORY, "there is no memory for more events");
  for (int32_t k = 0; k < n; k++) fired[k] = lw_memory_of(r->state, k)->last > events_before ? 1.0 : 0.0;
  return lw_record_phase(r);
}

/* ---- rows of the integrator ---- */

/* The times of rows in this segment: its end belongs to the next one, unless there is none. */
static int64_t times_until(const lw_run *r) {
  int64_t end = r->next_time;
  const double *t = r->options.times;
  while (end < r->options.n_times && end < r->next_time + ROWS_AT_ONCE &&
         (t[end] < r->until || r->until == r->options.t_end))
    end++;
  return end - r->next_time;
}

lw_status lw_prepare_output(lw_run *r, lw_ode_output **output) {
  lw_ode_output *to = &r->output;
  to->count = 0, to->capacity = ROWS_AT_ONCE + LW_ODE_MAX_SAMPLES;
  if (r->options.times) {
    to->capacity = times_until(r);
    memcpy(to->t, r->options.times + r->next_time, sizeof *to->t * (size_t)to->capacity);
  }
  *output = to->capacity ? to : NULL;
  return LW_OK;
}

lw_status lw_take_output(lw_run *r) {
  const lw_ode_output *from = &r->output;
  lw_status e = LW_OK;
  for (int64_t k = 0; k < from->count && !e; k++)
    e = lw_record_row(r, from->t[k], from->y + k * r->n, from->step_values + k * r->size.nq_cut);
  if (r->options.times) r->next_time += from->count;
  r->output.count = 0;
  return e;
}

static lw_status row_here(lw_run *r) { return lw_record_row(r, r->t, r->y, r->revolutions); }

lw_status lw_record_start(lw_run *r) {
  if (!r->options.times) return row_here(r);
  if (!times_until(r) || r->options.times[r->next_time] != r->t) return LW_OK;
  r->next_time++;
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
  *lw_last_row(&r->record.phase_of_row) = (double)(r->record.inputs.count - 1);
  return LW_OK;
}
