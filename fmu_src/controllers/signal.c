/* Signals from a table over time: polynomials between its times, by Horner's scheme with its derivative.
 *
 * Sizes: numbers of signals, of times and of factors of each polynomial, 1 if the table repeats. Numbers: the times; for
 * each signal the factors of its pieces, lowest power of the time since their begin first. Variables: of each signal
 * value and rate; delay and scale. */
#include <math.h>

#include "controller.h"

enum { N_SIGNALS, N_TIMES, N_FACTORS, PERIODIC, N_SIZES };

static void bind(controller_binding *b) {
  const uint32_t n = controller_size(b, N_SIGNALS, 0), times = controller_size(b, N_TIMES, 2);
  const uint32_t factors = controller_size(b, N_FACTORS, 0);
  for (uint32_t i = 0; i < n && !b->failed; i++) {
    controller_take(b, NULL, CONTROLLER_OUTPUT, CONTROLLER_REAL);
    controller_take(b, NULL, CONTROLLER_OUTPUT, CONTROLLER_REAL);
  }
  controller_take(b, "delay", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  controller_take(b, "scale", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  if (b->failed) return;
  controller_take_numbers(b, times, 1, CONTROLLER_ASCENDING);
  for (uint32_t i = 0; i < n && !b->failed; i++) controller_take_numbers(b, times - 1, factors, CONTROLLER_FINITE);
  if (!b->failed && !(b->model->numbers[0] < b->model->numbers[times - 1]))
    controller_refuse(b, "its table takes no time");
}

static int outputs(controller_instance *c, double t) {
  const uint32_t *size = c->model.sizes, n = size[N_TIMES], factors = size[N_FACTORS];
  const double *times = c->model.numbers, *piece = times + n, first = times[0], last = times[n - 1];
  const double delay = c->x[c->model.n_variables - 2], scale = c->x[c->model.n_variables - 1];
  double clock = t - delay;
  if (size[PERIODIC]) clock = first + controller_remainder(clock - first, last - first);
  const int within = first <= clock && clock <= last;
  clock = controller_min(controller_max(clock, first), last);
  const uint32_t begun = controller_bisect(times, n, clock), k = (begun < n - 1 ? begun : n - 1) - 1;
  const double s = clock - times[k];
  for (uint32_t i = 0; i < size[N_SIGNALS]; i++, piece += (size_t)(n - 1) * factors) {
    double value = 0, rate = 0;
    for (uint32_t p = factors; p-- > 0;) {
      rate = rate * s + value;
      value = value * s + piece[(size_t)k * factors + p];
    }
    c->x[2 * (size_t)i] = scale * value;
    c->x[2 * (size_t)i + 1] = within ? scale * rate : 0;
  }
  return 1;
}

const controller_type controller_signal = {.name = "signal", .n_sizes = N_SIZES, .bind = bind, .outputs = outputs};
