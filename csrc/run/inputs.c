/* Inputs that change at an instant: samples of a controller, jumps between two parts of a run, values from outside. A jump
 * of loads makes transitions due: parts that rest on a stop are lifted off. */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "run/run.h"

double lw_run_next_sample(const lw_run *r) {
  return r->calls.sample ? r->began + (double)r->samples * r->calls.sample_time : INFINITY;
}

double lw_run_last_sample(const lw_run *r) {
  return r->calls.sample ? r->began + (double)(r->samples - 1) * r->calls.sample_time : -INFINITY;
}

/* Which indicators are positive, but for those of functions, and brings the state to where the run is. */
static lw_status find_signs(lw_run *r, unsigned char *positive) {
  lw_status e = lw_run_enter_here(r);
  if (e || !r->n_checked) return e;
  const int status = r->equations.events(r->equations.context, r->t, r->y, r->indicators);
  if (status < 0 && r->raised) return lw_run_raised(r, r->raised);
  for (int32_t k = 0; k < r->n_checked; k++) positive[k] = !status && r->indicators[k] > 0.0;
  return LW_OK;
}

/* Whether the states alone determine the signs. Those next to zero are looked at. */
static int signs_are_bounded(const lw_run *r) {
  const lw_run_equations *e = &r->equations;
  double *low = r->bounds, *high = low + e->n_events;
  const lw_ode_box box = {r->t, 0.0, r->y, r->y, r->y};
  if (!e->bounds || e->bounds(e->context, &box, low, high)) return 0;
  for (int32_t k = 0; k < r->n_checked; k++)
    if (!(low[k] > 0.0 || high[k] < 0.0)) return 0;
  return 1;
}

static lw_status change_inputs(lw_run *r, lw_status (*change)(lw_run *r, const double *inputs), const double *inputs,
                               int *due) {
  const size_t n = (size_t)r->n_checked;
  lw_status e;
  if (signs_are_bounded(r)) {
    if ((e = lw_run_enter_here(r)) || (e = change(r, inputs))) return e;
    return lw_run_enter_here(r);
  }
  e = find_signs(r, r->positive);
  if (!e) e = change(r, inputs);
  if (!e) e = find_signs(r, r->positive + n);
  *due |= memcmp(r->positive, r->positive + n, n) != 0;
  return e;
}

static lw_status put(lw_run *r, const double *inputs) {
  memcpy(r->inputs, inputs, sizeof *inputs * (size_t)r->n_inputs);
  return lw_record_phase(r);
}

lw_status lw_run_put_inputs(lw_run *r, const double *inputs, int *due) { return change_inputs(r, put, inputs, due); }

static lw_status sample(lw_run *r, const double *inputs) {
  (void)inputs;
  const int status = r->calls.sample(r->calls.context, r->t, r->inputs);
  if (status < 0) return lw_run_raised(r, status);
  r->samples++;
  r->commanded = status > 0;
  return lw_record_phase(r);
}

lw_status lw_run_take_sample(lw_run *r, int *due) {
  const lw_status e = change_inputs(r, sample, NULL, due);
  *due |= r->commanded;
  return e;
}

static lw_status enter_next_part(lw_run *r, const double *inputs) {
  (void)inputs;
  return lw_run_enter_part(r, ++r->part);
}

lw_status lw_run_pass_jump(lw_run *r, int *due) {
  return r->n_checked ? change_inputs(r, enter_next_part, NULL, due) : enter_next_part(r, NULL);
}
