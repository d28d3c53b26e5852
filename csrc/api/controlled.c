/* A mechanism whose inputs follow from time and state by a law from without. */
#include "block/state.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t states_of(const lw_state *s) { return s->model->size.states; }

/* The inputs stand together, from the loads to the time that they belong to. */
static double *inputs_of(const lw_state *s) { return lw_reals(s) + s->model->at.tau; }
static int32_t n_inputs_of(const lw_state *s) { return s->model->at.motion_time - s->model->at.tau; }

/* Brings the mechanism to a time and states, with the inputs that the law has for them. */
static int apply_law(const lw_control *c, double t, const double *y, double *xdot) {
  lw_state *s = c->state;
  lw_set_states(s, t, y);
  lw_reals(s)[s->model->at.motion_time] = t;
  const int status = c->law(c->context, t, y + states_of(s), xdot);
  lw_motion_changed(s);
  return status;
}

int lw_ode_controlled(void *control, double t, const double *y, double *ydot) {
  const lw_control *c = control;
  const int status = apply_law(c, t, y, ydot + states_of(c->state));
  return status ? status : lw_ode_mechanism(c->state, t, y, ydot);
}

int lw_ode_controlled_events(void *control, double t, const double *y, double *indicators) {
  const lw_control *c = control;
  const int32_t own = c->state->base->size.event_indicators;
  double *rates = calloc((size_t)c->n + 1, sizeof *rates);
  if (!rates) return -1;
  int status = apply_law(c, t, y, rates);
  free(rates);
  if (!status && own) status = lw_ode_mechanism_events(c->state, t, y, indicators);
  if (!status && c->n_events) status = c->events(c->context, t, y + states_of(c->state), indicators + own);
  return status;
}

int lw_ode_controlled_bounds(void *control, const lw_ode_box *box, double *low, double *high) {
  const lw_control *c = control;
  return c->n_events ? 1 : lw_ode_mechanism_bounds(c->state, box, low, high);
}

int lw_ode_controlled_step(void *control, double t, const double *y, double *step_values) {
  return lw_ode_mechanism_step(((const lw_control *)control)->state, t, y, step_values);
}

int lw_ode_controlled_check(void *control, double t, const double *y, double *step_values) {
  return lw_ode_mechanism_check(((const lw_control *)control)->state, t, y, step_values);
}

int lw_ode_controlled_angular_speed(void *control, double t, const double *y, double *speeds) {
  return lw_ode_mechanism_angular_speed(((const lw_control *)control)->state, t, y, speeds);
}

/* ---- Jacobian ---- */

/* How the inputs and the rates of the law's own states change with each state, from differences. */
typedef struct law_slopes {
  double *inputs, *rates; /* inputs[states][n_inputs]; rates[states][n] */
} law_slopes;

/* What the law answers: its inputs, then the rates of its states. */
static int ask_law(const lw_control *c, double t, const double *y, double *answer) {
  const int32_t n_inputs = n_inputs_of(c->state);
  const int status = apply_law(c, t, y, answer + n_inputs);
  memcpy(answer, inputs_of(c->state), sizeof *answer * (size_t)n_inputs);
  return status;
}

static void take_slopes(const lw_control *c, int32_t k, const double *here, const double *there, double increment,
                        const law_slopes *to) {
  const int32_t n_inputs = n_inputs_of(c->state);
  for (int32_t i = 0; i < n_inputs; i++)
    to->inputs[(size_t)k * (size_t)n_inputs + (size_t)i] = (there[i] - here[i]) / increment;
  for (int32_t i = 0; i < c->n; i++)
    to->rates[(size_t)k * (size_t)c->n + (size_t)i] = (there[n_inputs + i] - here[n_inputs + i]) / increment;
}

/* Slopes that are zero so far. Ends at (t, y). */
static int differentiate_law(const lw_control *c, double t, const double *y, const law_slopes *to, double *scratch) {
  const int32_t n = states_of(c->state) + c->n, answers = n_inputs_of(c->state) + c->n;
  double *moved = scratch, *here = scratch + n, *there = here + answers;
  memcpy(moved, y, sizeof *moved * (size_t)n);
  int status = ask_law(c, t, y, here);
  if (c->of_time) return status;
  for (int32_t k = 0; !status && k < n; k++) {
    moved[k] = y[k] + SQRT_EPSILON * fmax(1.0, fabs(y[k]));
    status = ask_law(c, t, moved, there);
    take_slopes(c, k, here, there, moved[k] - y[k], to);
    moved[k] = y[k];
  }
  return status ? status : ask_law(c, t, y, here);
}

static void put_rates_of_law(const lw_control *c, const law_slopes *slopes, double *matrix) {
  const size_t own = (size_t)states_of(c->state), law = (size_t)c->n, n = own + law;
  for (size_t i = 0; i < law; i++)
    for (size_t k = 0; k < n; k++) matrix[(own + i) * n + k] = slopes->rates[k * law + i];
}

/* by_time stays as it is, so that the caller takes differences of the whole. */
int lw_ode_controlled_jacobian(void *control, double t, const double *y, double *matrix, double *by_time) {
  const lw_control *c = control;
  const size_t n = (size_t)(states_of(c->state) + c->n), n_inputs = (size_t)n_inputs_of(c->state), own = (size_t)c->n;
  (void)by_time;
  double *memory = calloc(n * (n_inputs + own) + n + 2 * (n_inputs + own), sizeof *memory);
  if (!memory) return -1;
  const law_slopes slopes = {memory, memory + n * n_inputs};
  int status = differentiate_law(c, t, y, &slopes, memory + n * (n_inputs + own));
  if (!status) status = lw_find_jacobian(c->state, &(lw_input_slopes){slopes.inputs, (int32_t)n}, matrix, NULL);
  if (!status) put_rates_of_law(c, &slopes, matrix);
  free(memory);
  return status;
}
