/* Instances of controllers: samples and the block. */
#include "controller.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double sample_slack = 1e-9; /* of a sample time, by which communication points may miss a sample */
static const double max_samples = 1e7;   /* in one communication step: a tiny sample time must not block the importer */

/* ---- creation and destruction ------------------------------------------------------------------------------ */

static size_t block_length(const controller_instance *c) {
  return (size_t)c->model.n_variables + c->model.n_state + CONTROLLER_N_CLOCK;
}

size_t controller_block_size(const controller_instance *c) { return block_length(c) * sizeof *c->block; }

int controller_create(controller_instance *c, const unsigned char *bytes, size_t size) {
  memset(c, 0, sizeof *c);
  if (!controller_read(&c->model, bytes, size, c->message)) return 0;
  c->block = calloc(block_length(c), sizeof *c->block);
  c->backup = calloc(block_length(c), sizeof *c->block);
  if (!c->block || !c->backup) {
    snprintf(c->message, sizeof c->message, "out of memory");
    return 0;
  }
  c->x = c->block;
  c->s = c->x + c->model.n_variables;
  c->clock = c->s + c->model.n_state;
  controller_reset(c);
  return 1;
}

void controller_free(controller_instance *c) {
  controller_model_free(&c->model);
  free(c->block);
  free(c->backup);
}

void controller_reset(controller_instance *c) {
  memset(c->block, 0, controller_block_size(c));
  for (uint32_t i = 0; i < c->model.n_variables; i++) c->x[i] = c->model.variables[i].start;
}

void controller_start(controller_instance *c, double t) {
  c->clock[CONTROLLER_START_TIME] = t;
  c->clock[CONTROLLER_FRESH] = 0;
}

/* ---- samples ------------------------------------------------------------------------------------------------- */

static double sample_time_of(const controller_instance *c) {
  return c->model.sample_time == CONTROLLER_NONE ? 0 : c->x[c->model.sample_time];
}

static double sample_due(const controller_instance *c) {
  return c->clock[CONTROLLER_START_TIME] + c->clock[CONTROLLER_SAMPLES] * sample_time_of(c);
}

int controller_check(controller_instance *c) {
  const double sample_time = sample_time_of(c);
  if (!(sample_time >= 0)) {
    snprintf(c->message, sizeof c->message, "sample_time must not be negative, as %g is", sample_time);
    return 0;
  }
  return !c->model.type->check || c->model.type->check(c);
}

int controller_refresh(controller_instance *c, double t) {
  if (c->clock[CONTROLLER_FRESH] != 0) return 1;
  const double sample_time = sample_time_of(c);
  const int due = sample_time <= 0 || sample_due(c) <= t + sample_slack * sample_time;
  if (due && !c->model.type->outputs(c, t)) return 0;
  c->clock[CONTROLLER_FRESH] = 1;
  return 1;
}

static int sample(controller_instance *c, double t, double dt) {
  if (!controller_refresh(c, t)) return 0;
  return !c->model.type->update || c->model.type->update(c, t, dt);
}

/* Takes the samples that are due from `begin` on and before `end`. */
static int take_samples(controller_instance *c, double t, double begin, double end) {
  const double sample_time = sample_time_of(c), slack = sample_slack * sample_time;
  const double last = c->clock[CONTROLLER_SAMPLES] + max_samples;
  for (double due; (due = sample_due(c)) < end - slack; c->clock[CONTROLLER_SAMPLES] += 1) {
    if (c->clock[CONTROLLER_SAMPLES] >= last) {
      snprintf(c->message, sizeof c->message, "after %g samples of sample_time = %g the step has only reached t = %.9g",
               max_samples, sample_time, due);
      return 0;
    }
    if (due > begin + slack) {
      t = due;
      c->clock[CONTROLLER_FRESH] = 0;
    }
    if (!sample(c, t, sample_time)) return 0;
  }
  return 1;
}

int controller_step(controller_instance *c, double t, double begin, double length) {
  memcpy(c->backup, c->block, controller_block_size(c));
  const int done = sample_time_of(c) > 0 ? take_samples(c, t, begin, begin + length) : sample(c, begin, length);
  if (!done) memcpy(c->block, c->backup, controller_block_size(c));
  else c->clock[CONTROLLER_FRESH] = 0;
  return done;
}

/* ---- saved blocks ---------------------------------------------------------------------------------------------- */

static int is_valid_value(const controller_variable *variable, double x) {
  if (variable->value == CONTROLLER_BOOLEAN) return x == 0 || x == 1;
  if (variable->value == CONTROLLER_INTEGER) return fabs(x) <= INT32_MAX && x == floor(x);
  return variable->role == CONTROLLER_OUTPUT || !isnan(x);
}

int controller_is_valid(const controller_instance *c, const double *block) {
  for (uint32_t i = 0; i < c->model.n_variables; i++)
    if (!is_valid_value(&c->model.variables[i], block[i])) return 0;
  const double *clock = block + (c->clock - c->block);
  const double samples = clock[CONTROLLER_SAMPLES], fresh = clock[CONTROLLER_FRESH];
  return isfinite(clock[CONTROLLER_START_TIME]) && samples >= 0 && samples < 1e15 && samples == floor(samples) &&
         (fresh == 0 || fresh == 1);
}

/* ---- arithmetic of Python -------------------------------------------------------------------------------------- */

/* fmod() is exact, so all platforms agree. */
double controller_remainder(double a, double b) {
  const double r = fmod(a, b);
  if (r == 0) return 0;
  return r < 0 ? r + b : r;
}

/* The number of elements up to `value`; NaN compares as the largest. */
uint32_t controller_bisect(const double *ascending, uint32_t n, double value) {
  uint32_t low = 0, high = n;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (value < ascending[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}
