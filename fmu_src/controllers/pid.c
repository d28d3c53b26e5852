/* PID with filtered derivative, limits and anti-windup, for a sample time h.
 *
 * v = feedforward + kp (b w - y) + I + kd r,     u = v within [u_min, u_max]
 * r = (Tf r_ + z - z_)/(Tf + h_), z = c w - y    backward difference of Tf r' + r = z'; _: of the sample before
 * I := I + h (ki (w - y) + (u - v)/Tt)           back-calculation, or for Tt = 0 clamping:
 * I stays while u is at a limit and ki (w - y) drives it further. */
#include <stdio.h>

#include "named.h"

#define VARIABLES(X)                  \
  X(setpoint, INPUT, REAL)            \
  X(measurement, INPUT, REAL)         \
  X(feedforward, INPUT, REAL)         \
  X(u, OUTPUT, REAL)                  \
  X(kp, TUNABLE, REAL)                \
  X(ki, TUNABLE, REAL)                \
  X(kd, TUNABLE, REAL)                \
  X(filter_time, TUNABLE, REAL)       \
  X(u_min, TUNABLE, REAL)             \
  X(u_max, TUNABLE, REAL)             \
  X(tracking_time, TUNABLE, REAL)     \
  X(setpoint_weight, TUNABLE, REAL)   \
  X(derivative_weight, TUNABLE, REAL) \
  X(integral_start, FIXED, REAL)      \
  X(sample_time, FIXED, REAL)
DEFINE_NAMED(VARIABLES)

/* `started`: the integral part and the sample before are known. */
enum { INTEGRAL, STARTED, RATE, Z_BEFORE, TIME_BEFORE, UNLIMITED, N_STATE };

static void bind(controller_binding *b) {
  take_named(b);
  b->model->n_state = N_STATE;
  b->model->sample_time = sample_time;
}

static int check(controller_instance *c) {
  const double *x = c->x;
  if (!(x[u_min] <= x[u_max]))
    snprintf(c->message, sizeof c->message, "u_min = %g is above u_max = %g", x[u_min], x[u_max]);
  else if (x[filter_time] < 0) snprintf(c->message, sizeof c->message, "filter_time = %g is negative", x[filter_time]);
  else if (x[tracking_time] < 0)
    snprintf(c->message, sizeof c->message, "tracking_time = %g is negative", x[tracking_time]);
  else return 1;
  return 0;
}

static double integral_of(const controller_instance *c) {
  return c->s[STARTED] != 0 ? c->s[INTEGRAL] : c->x[integral_start];
}

static double differentiated(const double *x) { return x[derivative_weight] * x[setpoint] - x[measurement]; }

/* A tuned filter_time may be negative. */
static int find_rate(controller_instance *c, double *rate) {
  const double *x = c->x, *s = c->s, span = x[filter_time] + s[TIME_BEFORE];
  *rate = 0; /* of the first sample */
  if (s[STARTED] == 0) return 1;
  if (span == 0) {
    snprintf(c->message, sizeof c->message, "filter_time = %g and the time between samples cancel: they divide by zero",
             x[filter_time]);
    return 0;
  }
  *rate = (x[filter_time] * s[RATE] + differentiated(x) - s[Z_BEFORE]) / span;
  return 1;
}

static int outputs(controller_instance *c, double t) {
  double *x = c->x, rate;
  (void)t;
  if (!find_rate(c, &rate)) return 0;
  const double proportional = x[kp] * (x[setpoint_weight] * x[setpoint] - x[measurement]);
  const double v = x[feedforward] + proportional + integral_of(c) + x[kd] * rate;
  c->s[UNLIMITED] = v;
  x[u] = controller_min(controller_max(v, x[u_min]), x[u_max]);
  return 1;
}

static int update(controller_instance *c, double t, double dt) {
  const double *x = c->x, integral = integral_of(c);
  double *s = c->s, rate;
  (void)t;
  if (!find_rate(c, &rate)) return 0;
  double drive = x[ki] * (x[setpoint] - x[measurement]);
  const double excess = x[u] - s[UNLIMITED];
  if (x[tracking_time] > 0) drive += excess / x[tracking_time];
  else if (excess * drive < 0) drive = 0;
  s[RATE] = rate;
  s[Z_BEFORE] = differentiated(x);
  s[TIME_BEFORE] = dt;
  s[INTEGRAL] = integral + dt * drive;
  s[STARTED] = 1;
  return 1;
}

const controller_type controller_pid = {
    .name = "pid", .n_sizes = 0, .bind = bind, .check = check, .outputs = outputs, .update = update};
