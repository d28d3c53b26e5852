/* Inputs that move during a step, as FMI 2.0 lets an importer describe them at a communication point tc:
 *   u(t) = u(tc) + sum_k u^(k)(tc) (t - tc)^k / k!
 * They hold for the next step. What the integrator is given is therefore a function of time of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

/* ---- the inputs there are ---------------------------------------------------------------------------- */

static void extend(fmu_span *span, const lw_field *field) {
  const uint32_t first = (uint32_t)field->first, end = first + (uint32_t)(field->rows * field->columns);
  if (span->count == 0) span->first = first;
  span->count = end - span->first;
}

/* Outputs that are kept rather than computed change at events only. */
static void note_field(fmu *f, const lw_field *field) {
  if (field->access == LW_INPUT) extend(&f->input, field);
  if (field->access == LW_OUTPUT && field->stage == LW_STAGE_NONE) extend(&f->discrete, field);
  if (strcmp(field->name, "motion_in") == 0) extend(&f->motion, field);
  if (strcmp(field->name, "motion_time") == 0) f->motion_instant = (uint32_t)field->first;
}

int fmu_find_inputs(fmu *f) {
  lw_field field;
  for (int32_t i = 0; i < lw_field_count(); i++)
    if (lw_model_field(f->model, i, &field) == LW_OK && field.rows * field.columns > 0) note_field(f, &field);
  const size_t states = (size_t)(f->size.nq + f->size.nu), inputs = f->input.count;
  f->polynomial = calloc(inputs + 1, sizeof *f->polynomial);
  f->moving = malloc((2 * states + inputs + 1) * sizeof *f->moving);
  f->rate = malloc((2 * states + inputs + 1) * sizeof *f->rate);
  if (!f->polynomial || !f->moving || !f->rate) return 0;
  for (uint32_t i = 0; i < states; i++) f->moving[i] = f->first_state + i;
  for (uint32_t i = 0; i < inputs; i++) f->moving[states + i] = f->input.first + i;
  for (uint32_t i = 0; i < states; i++) f->moving[states + inputs + i] = f->first_derivative + i;
  return 1;
}

int fmu_is_continuous_input(const fmu *f, uint32_t reference) {
  return fmu_is_within(f->input, reference) && reference != f->time_reference &&
         !fmu_is_within(f->command, reference) && !fmu_is_within(f->impulse, reference);
}

/* ---- polynomials ------------------------------------------------------------------------------------- */

/* By whom an input moves. */
enum { BY_NOBODY, BY_IMPORTER, BY_ITSELF };

static double value_at(const fmu_polynomial *p, double s) {
  const double *c = p->rate;
  return p->value + s * (c[0] + s / 2 * (c[1] + s / 3 * (c[2] + s / 4 * c[3])));
}

static double rate_at(const fmu_polynomial *p, double s) {
  const double *c = p->rate;
  return c[0] + s * (c[1] + s / 2 * (c[2] + s / 3 * c[3]));
}

static fmu_status check_rate(const fmu *f, uint32_t reference, int32_t order, double value) {
  if (!fmu_is_continuous_input(f, reference)) return fmu_refuse(f, reference, "is no continuous input");
  if (order < 1 || order > FMU_INPUT_ORDERS) return fmu_refuse(f, reference, "takes derivatives of the orders 1 to 4");
  if (!isfinite(value)) return fmu_refuse(f, reference, "was given a derivative that is not finite");
  return FMU_OK;
}

fmu_status fmu_set_input_rates(fmu *f, const uint32_t *references, size_t n, const int32_t *orders,
                               const double *values) {
  if (n == 0) return FMU_OK;
  if (!references || !orders || !values) return fmu_say(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_rate(f, references[i], orders[i], values[i]);
  if (status != FMU_OK) return status;
  if (f->run.interpolation != FMU_INPUTS_GIVEN) memset(f->polynomial, 0, f->input.count * sizeof *f->polynomial);
  f->run.interpolation = FMU_INPUTS_GIVEN;
  for (size_t i = 0; i < n; i++) {
    fmu_polynomial *p = f->polynomial + (references[i] - f->input.first);
    p->given = BY_IMPORTER;
    p->rate[orders[i] - 1] = values[i];
  }
  return FMU_OK;
}

/* ---- during a step ----------------------------------------------------------------------------------- */

/* Value, rate and acceleration of motion i. */
static fmu_polynomial *motion_of(const fmu *f, uint32_t i) {
  return f->polynomial + (f->motion.first - f->input.first) + 3 * i;
}

static int is_driven(const fmu_polynomial p[3]) {
  return p[0].given == BY_IMPORTER || p[1].given == BY_IMPORTER || p[2].given == BY_IMPORTER;
}

static int any_driven(const fmu *f) {
  for (uint32_t i = 0; i < f->motion.count / 3; i++)
    if (is_driven(motion_of(f, i))) return 1;
  return 0;
}

/* The core lets all motions go on with their rates from one instant. Once it moves along, those for which no derivatives
 * are given go on here. */
static void begin_motions(fmu *f) {
  for (uint32_t i = 0; i < f->motion.count / 3; i++) {
    fmu_polynomial *p = motion_of(f, i);
    const double *in = lw_state_reals(f->state) + f->motion.first + 3 * i;
    if (!is_driven(p)) p[0].rate[0] = in[1], p[0].rate[1] = p[1].rate[0] = in[2];
    for (int k = 0; k < 3; k++)
      if (p[k].given != BY_IMPORTER) p[k].given = BY_ITSELF;
  }
}

void fmu_begin_inputs(fmu *f) {
  if (f->run.interpolation == FMU_INPUTS_HELD) return;
  f->run.restart = 1; /* they move otherwise than in the step before */
  if (f->run.interpolation == FMU_INPUTS_MOVED) {
    f->run.interpolation = FMU_INPUTS_HELD;
    return;
  }
  if (any_driven(f)) begin_motions(f);
  const double *x = lw_state_reals(f->state) + f->input.first;
  for (uint32_t i = 0; i < f->input.count; i++) f->polynomial[i].value = x[i];
  f->run.interpolation = FMU_INPUTS_MOVING;
  f->run.inputs_since = f->run.time;
  f->run.input_changed = 1;
}

void fmu_end_inputs(fmu *f) {
  if (f->run.interpolation == FMU_INPUTS_MOVING) f->run.interpolation = FMU_INPUTS_MOVED;
}

void fmu_put_inputs(fmu *f, double time) {
  if (f->run.interpolation != FMU_INPUTS_MOVING) return;
  double *x = lw_state_reals(f->state);
  const double s = time - f->run.inputs_since;
  for (uint32_t i = 0; i < f->input.count; i++)
    if (f->polynomial[i].given) x[f->input.first + i] = value_at(f->polynomial + i, s);
  if (f->motion.count && motion_of(f, 0)->given) x[f->motion_instant] = time;
  lw_state_changed(f->state, LW_STAGE_CONSTANTS);
}

void fmu_input_rates(const fmu *f, double *rates) {
  memset(rates, 0, f->input.count * sizeof *rates);
  if (f->run.interpolation == FMU_INPUTS_HELD) return;
  const double *x = lw_state_reals(f->state);
  const double s = f->run.interpolation == FMU_INPUTS_GIVEN ? 0 : x[f->time_reference] - f->run.inputs_since;
  for (uint32_t i = 0; i < f->input.count; i++)
    if (f->polynomial[i].given) rates[i] = rate_at(f->polynomial + i, s);
  /* the core adds the rates of a motion itself */
  for (uint32_t i = 0; i < f->motion.count / 3; i++) {
    const fmu_polynomial *p = motion_of(f, i);
    const double *in = x + f->motion.first + 3 * i;
    double *rate = rates + (f->motion.first - f->input.first) + 3 * i;
    if (p[0].given || p[1].given || p[2].given) rate[0] -= in[1], rate[1] -= in[2];
  }
}

/* ---- what the integrator is given -------------------------------------------------------------------- */

int fmu_derivative(void *context, double t, const double *y, double *ydot) {
  fmu *f = context;
  fmu_put_inputs(f, t);
  return lw_ode_mechanism(f->state, t, y, ydot);
}

int fmu_event_functions(void *context, double t, const double *y, double *indicators) {
  fmu *f = context;
  fmu_put_inputs(f, t);
  return lw_ode_mechanism_events(f->state, t, y, indicators);
}

/* The inputs add to what changes with time. */
int fmu_jacobian(void *context, double t, const double *y, double *matrix, double *by_time) {
  fmu *f = context;
  fmu_put_inputs(f, t);
  const int status = lw_ode_mechanism_jacobian(f->state, t, y, matrix, by_time);
  if (status != 0 || f->run.interpolation != FMU_INPUTS_MOVING) return status;
  const size_t states = (size_t)(f->size.nq + f->size.nu), inputs = f->input.count;
  const uint32_t *input = f->moving + states, *derivative = input + inputs;
  double *rate = f->rate + states, *by_inputs = rate + inputs;
  fmu_input_rates(f, rate);
  if (lw_directional_derivative(f->state, derivative, states, input, inputs, rate, by_inputs) != LW_OK) return 1;
  for (size_t i = 0; i < states; i++) by_time[i] += by_inputs[i];
  return 0;
}
