/* Inputs as polynomials in time. FMI 2.0 lets an importer set derivatives of inputs at a communication point tc:
 *   u(t) = u(tc) + sum_k u^(k)(tc) (t - tc)^k / k!
 * They apply to the next communication step. During this step the integrator's right-hand side depends on time through
 * the inputs as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"

/* ---- the inputs there are ---------------------------------------------------------------------------- */

static void extend_range(fmu_range *range, const lw_field *field) {
  const uint32_t first = (uint32_t)field->first, end = first + (uint32_t)(field->rows * field->columns);
  if (range->count == 0) range->first = first;
  range->count = end - range->first;
}

/* Outputs that are stored, not computed, change at events only. */
static void locate_field(fmu *f, const lw_field *field) {
  if (field->access == LW_INPUT) extend_range(&f->input, field);
  if (field->access == LW_OUTPUT && field->stage == LW_STAGE_NONE) extend_range(&f->discrete, field);
  if (strcmp(field->name, "motion_in") == 0) extend_range(&f->motion, field);
  if (strcmp(field->name, "motion_time") == 0) f->motion_time_reference = (uint32_t)field->first;
}

int fmu_locate_inputs(fmu *f) {
  lw_field field;
  for (int32_t i = 0; i < lw_field_count(); i++)
    if (lw_model_field(f->model, i, &field) == LW_OK && field.rows * field.columns > 0) locate_field(f, &field);
  const size_t states = (size_t)f->size.states, inputs = f->input.count;
  f->polynomial = calloc(inputs + 1, sizeof *f->polynomial);
  f->varying = malloc((2 * states + inputs + 1) * sizeof *f->varying);
  f->rate = malloc((2 * states + inputs + 1) * sizeof *f->rate);
  if (!f->polynomial || !f->varying || !f->rate) return 0;
  for (uint32_t i = 0; i < states; i++) f->varying[i] = f->first_state + i;
  for (uint32_t i = 0; i < inputs; i++) f->varying[states + i] = f->input.first + i;
  for (uint32_t i = 0; i < states; i++) f->varying[states + inputs + i] = f->first_derivative + i;
  return 1;
}

int fmu_is_continuous_input(const fmu *f, uint32_t offset) {
  return fmu_in_range(f->input, offset) && offset != f->time_reference && !fmu_in_range(f->command, offset) &&
         !fmu_in_range(f->impulse, offset);
}

/* ---- polynomials ------------------------------------------------------------------------------------- */

/* Source of the derivatives of an input. */
enum { NOT_INTERPOLATED, FROM_IMPORTER, FROM_MOTION_RATES };

static double polynomial_value(const fmu_polynomial *p, double s) {
  const double *c = p->rate;
  return p->value + s * (c[0] + s / 2 * (c[1] + s / 3 * (c[2] + s / 4 * c[3])));
}

static double polynomial_rate(const fmu_polynomial *p, double s) {
  const double *c = p->rate;
  return c[0] + s * (c[1] + s / 2 * (c[2] + s / 3 * c[3]));
}

static fmu_status check_rate(const fmu *f, uint32_t offset, int32_t order, double value) {
  if (!fmu_is_continuous_input(f, offset)) return fmu_refuse_variable(f, offset, "is not a continuous input");
  if (order < 1 || order > FMU_MAX_INPUT_ORDER)
    return fmu_refuse_variable(f, offset, "accepts derivatives of orders 1 to 4");
  if (!isfinite(value)) return fmu_refuse_variable(f, offset, "cannot have a derivative that is not finite");
  return FMU_OK;
}

fmu_status fmu_mechanism_set_input_derivatives(fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders,
                                               const double *values) {
  if (n == 0) return FMU_OK;
  if (!offsets || !orders || !values) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) status = check_rate(f, offsets[i], orders[i], values[i]);
  if (status != FMU_OK) return status;
  if (f->run.interpolation != FMU_INPUTS_RATES_SET) memset(f->polynomial, 0, f->input.count * sizeof *f->polynomial);
  f->run.interpolation = FMU_INPUTS_RATES_SET;
  for (size_t i = 0; i < n; i++) {
    fmu_polynomial *p = f->polynomial + (offsets[i] - f->input.first);
    p->source = FROM_IMPORTER;
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
  return p[0].source == FROM_IMPORTER || p[1].source == FROM_IMPORTER || p[2].source == FROM_IMPORTER;
}

static int any_driven(const fmu *f) {
  for (uint32_t i = 0; i < f->motion.count / 3; i++)
    if (is_driven(motion_of(f, i))) return 1;
  return 0;
}

/* The core extrapolates all motions from one instant by their rates. This instant moves during an interpolated step,
 * so that motions without derivatives from the importer are extrapolated here. */
static void begin_motions(fmu *f) {
  for (uint32_t i = 0; i < f->motion.count / 3; i++) {
    fmu_polynomial *p = motion_of(f, i);
    const double *in = lw_state_reals(f->state) + f->motion.first + 3 * i;
    if (!is_driven(p)) p[0].rate[0] = in[1], p[0].rate[1] = p[1].rate[0] = in[2];
    for (int k = 0; k < 3; k++)
      if (p[k].source != FROM_IMPORTER) p[k].source = FROM_MOTION_RATES;
  }
}

void fmu_begin_interpolation(fmu *f) {
  if (f->run.interpolation == FMU_INPUTS_CONSTANT) return;
  f->run.restart_needed = 1; /* the polynomials differ from those of the last step */
  if (f->run.interpolation == FMU_INPUTS_INTERPOLATED) {
    f->run.interpolation = FMU_INPUTS_CONSTANT;
    return;
  }
  if (any_driven(f)) begin_motions(f);
  const double *x = lw_state_reals(f->state) + f->input.first;
  for (uint32_t i = 0; i < f->input.count; i++) f->polynomial[i].value = x[i];
  f->run.interpolation = FMU_INPUTS_INTERPOLATING;
  f->run.interpolation_start = f->run.time;
  f->run.input_changed = 1;
}

void fmu_end_interpolation(fmu *f) {
  if (f->run.interpolation == FMU_INPUTS_INTERPOLATING) f->run.interpolation = FMU_INPUTS_INTERPOLATED;
}

void fmu_interpolate_inputs(fmu *f, double time) {
  if (f->run.interpolation != FMU_INPUTS_INTERPOLATING) return;
  double *x = lw_state_reals(f->state);
  const double s = time - f->run.interpolation_start;
  for (uint32_t i = 0; i < f->input.count; i++)
    if (f->polynomial[i].source) x[f->input.first + i] = polynomial_value(f->polynomial + i, s);
  if (f->motion.count && motion_of(f, 0)->source) x[f->motion_time_reference] = time;
  lw_motion_changed(f->state);
}

void fmu_get_input_rates(const fmu *f, double *rates) {
  memset(rates, 0, f->input.count * sizeof *rates);
  if (f->run.interpolation == FMU_INPUTS_CONSTANT) return;
  const double *x = lw_state_reals(f->state);
  const double s = f->run.interpolation == FMU_INPUTS_RATES_SET ? 0 : x[f->time_reference] - f->run.interpolation_start;
  for (uint32_t i = 0; i < f->input.count; i++)
    if (f->polynomial[i].source) rates[i] = polynomial_rate(f->polynomial + i, s);
  /* the core adds the rates of a motion itself */
  for (uint32_t i = 0; i < f->motion.count / 3; i++) {
    const fmu_polynomial *p = motion_of(f, i);
    const double *in = x + f->motion.first + 3 * i;
    double *rate = rates + (f->motion.first - f->input.first) + 3 * i;
    if (p[0].source || p[1].source || p[2].source) rate[0] -= in[1], rate[1] -= in[2];
  }
}

/* ---- what the run is given: `context` is the instance -------------------------------------------------- */

static int law(void *context, double t, const double *x, double *xdot) {
  (void)x, (void)xdot;
  fmu_interpolate_inputs(context, t);
  return 0;
}

static int derivative_of(void *context, double t, const double *y, double *ydot) {
  fmu *f = context;
  fmu_interpolate_inputs(f, t);
  return lw_ode_mechanism(f->state, t, y, ydot);
}

static int indicators_of(void *context, double t, const double *y, double *indicators) {
  fmu *f = context;
  fmu_interpolate_inputs(f, t);
  return lw_ode_mechanism_events(f->state, t, y, indicators);
}

static int bounds_of(void *context, const lw_ode_box *box, double *low, double *high) {
  fmu *f = context;
  fmu_interpolate_inputs(f, box->t);
  return lw_ode_mechanism_bounds(f->state, box, low, high);
}

static int on_step(void *context, double t, const double *y, double *step_values) {
  fmu *f = context;
  fmu_interpolate_inputs(f, t);
  return lw_ode_mechanism_step(f->state, t, y, step_values);
}

/* Speeds are states. */
static int angular_speed_of(void *context, double t, const double *y, double *speeds) {
  return lw_ode_mechanism_angular_speed(((fmu *)context)->state, t, y, speeds);
}

/* The interpolated inputs contribute to the time derivative. */
static int jacobian_of(void *context, double t, const double *y, double *matrix, double *by_time) {
  fmu *f = context;
  fmu_interpolate_inputs(f, t);
  const int status = lw_ode_mechanism_jacobian(f->state, t, y, matrix, by_time);
  if (status != 0 || f->run.interpolation != FMU_INPUTS_INTERPOLATING) return status;
  const size_t states = (size_t)f->size.states, inputs = f->input.count;
  const uint32_t *input = f->varying + states, *derivative = input + inputs;
  double *rate = f->rate + states, *by_inputs = rate + inputs;
  fmu_get_input_rates(f, rate);
  if (lw_directional_derivative(f->state, derivative, states, input, inputs, rate, by_inputs) != LW_OK) return 1;
  for (size_t i = 0; i < states; i++) by_time[i] += by_inputs[i];
  return 0;
}

int fmu_create_steps(fmu *f) {
  const lw_run_equations equations = {.context = f,
                                      .derivative = derivative_of,
                                      .events = indicators_of,
                                      .angular_speed = angular_speed_of,
                                      .on_step = on_step,
                                      .jacobian = jacobian_of,
                                      .bounds = bounds_of};
  const lw_run_calls calls = {.context = f, .law = law, .equations = &equations};
  return lw_run_create_stepwise(f->model, f->state, &calls, &f->steps) == LW_OK;
}
