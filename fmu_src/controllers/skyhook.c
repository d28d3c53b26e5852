/* Skyhook damping by a damper whose coefficient is switched or set: of a body, as though it hung from the sky.
 *
 * F on the body = -c (v_body - v_wheel)
 * c = c_max, or continuous c_sky v_body/(v_body - v_wheel) within [c_min, c_max],   where v_body (v_body - v_wheel) > 0
 * c = c_min                                                                         elsewhere: it would push the body on
 */
#include <math.h>
#include <stdio.h>

#include "named.h"

#define VARIABLES(X)              \
  X(v_body, INPUT, REAL)          \
  X(v_wheel, INPUT, REAL)         \
  X(c, OUTPUT, REAL)              \
  X(force, OUTPUT, REAL)          \
  X(force_wheel, OUTPUT, REAL)    \
  X(c_min, TUNABLE, REAL)         \
  X(c_max, TUNABLE, REAL)         \
  X(c_sky, TUNABLE, REAL)         \
  X(continuous, TUNABLE, BOOLEAN)
DEFINE_NAMED(VARIABLES)

static int check(controller_instance *of) {
  const double *x = of->x;
  if (0 <= x[c_min] && x[c_min] <= x[c_max]) return 1;
  snprintf(of->message, sizeof of->message, "c_min = %g and c_max = %g must not be negative or crossed", x[c_min],
           x[c_max]);
  return 0;
}

static double coefficient(const double *x, double difference) {
  if (!(x[v_body] * difference > 0)) return x[c_min];
  const double wanted = x[c_sky] * fabs(x[v_body]);
  if (x[continuous] == 0 || wanted >= x[c_max] * fabs(difference)) return x[c_max]; /* the difference may be tiny */
  return controller_max(x[c_min], wanted / fabs(difference));
}

static int outputs(controller_instance *of, double t) {
  double *x = of->x;
  const double difference = x[v_body] - x[v_wheel];
  (void)t;
  x[c] = coefficient(x, difference);
  x[force_wheel] = x[c] * difference;
  x[force] = -x[force_wheel];
  return 1;
}

const controller_type controller_skyhook = {
    .name = "skyhook", .n_sizes = 0, .bind = take_named, .check = check, .outputs = outputs};
