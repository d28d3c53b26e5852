/* A motion from point to point, at rest in each, with waits: a polynomial of degree five between two points.
 *
 * q = p + (10 s^3 - 15 s^4 + 6 s^5) (p' - p),   s from 0 to 1 over the move: the least jerk from rest to rest
 *
 * Sizes: numbers of coordinates and of points, 1 if the motion repeats. Numbers: when each rest in a point ends; the time
 * of each move; the points. Variables: of each coordinate q_d, u_d and a_d; start and speed. */
#include <stdio.h>

#include "controller.h"

enum { N_COORDINATES, N_POINTS, CYCLE, N_SIZES };
enum { Q, U, A, N_OUTPUTS };

static void bind(controller_binding *b) {
  const uint32_t n = controller_size(b, N_COORDINATES, 1), points = controller_size(b, N_POINTS, 2);
  for (uint32_t i = 0; i < n && !b->failed; i++)
    for (int k = 0; k < N_OUTPUTS; k++) controller_take(b, NULL, CONTROLLER_OUTPUT, CONTROLLER_REAL);
  controller_take(b, "start", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  controller_take(b, "speed", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  if (b->failed) return;
  controller_take_numbers(b, points, 1, CONTROLLER_ASCENDING);
  controller_take_numbers(b, points - 1, 1, CONTROLLER_POSITIVE);
  controller_take_numbers(b, points, n, CONTROLLER_FINITE);
  if (!b->failed && b->model->sizes[CYCLE] && !(b->model->numbers[points - 1] > 0))
    controller_refuse(b, "a motion that repeats takes no time");
}

static double speed_of(const controller_instance *c) { return c->x[c->model.n_variables - 1]; }
static double start_of(const controller_instance *c) { return c->x[c->model.n_variables - 2]; }

static int check(controller_instance *c) {
  if (speed_of(c) > 0) return 1;
  snprintf(c->message, sizeof c->message, "speed must be positive, not %g", speed_of(c));
  return 0;
}

/* Position between two points, with the time derivatives of the share. */
static void put(controller_instance *c, const double *from, const double *to, double share, double rate,
                double change) {
  for (uint32_t i = 0; i < c->model.sizes[N_COORDINATES]; i++) {
    double *y = c->x + N_OUTPUTS * (size_t)i;
    const double distance = to[i] - from[i];
    y[Q] = from[i] + share * distance;
    y[U] = rate * distance;
    y[A] = change * distance;
  }
}

/* In a point; the values are those that Python computes with distances of zero. */
static void rest(controller_instance *c, const double *at, double share, double rate, double change) {
  for (uint32_t i = 0; i < c->model.sizes[N_COORDINATES]; i++) {
    double *y = c->x + N_OUTPUTS * (size_t)i;
    y[Q] = at[i] + share * 0.0;
    y[U] = rate * 0.0;
    y[A] = change * 0.0;
  }
}

static int outputs(controller_instance *c, double t) {
  const uint32_t *size = c->model.sizes, points = size[N_POINTS], n = size[N_COORDINATES];
  const double *begins = c->model.numbers, *moves = begins + points, *point = moves + (points - 1);
  const double speed = speed_of(c);
  double clock = controller_max(0, (t - start_of(c)) * speed);
  if (size[CYCLE]) clock = controller_remainder(clock, begins[points - 1]);
  const uint32_t begun = controller_bisect(begins, points, clock);
  if (begun == 0 || begun == points) {
    rest(c, begun ? point + (size_t)(points - 1) * n : point, 0, 0, 0);
    return 1;
  }
  const uint32_t k = begun - 1;
  const double rate = speed / moves[k], s = controller_min(1, (clock - begins[k]) / moves[k]);
  const double share = s * s * s * (10 + s * (6 * s - 15));
  const double share_rate = 30 * s * s * (1 - s) * (1 - s) * rate;
  const double share_change = 60 * s * (1 - s) * (1 - 2 * s) * rate * rate;
  const double *from = point + (size_t)k * n;
  if (s >= 1) rest(c, from + n, share, share_rate, share_change);
  else put(c, from, from + n, share, share_rate, share_change);
  return 1;
}

const controller_type controller_trajectory = {
    .name = "trajectory", .n_sizes = N_SIZES, .bind = bind, .check = check, .outputs = outputs};
