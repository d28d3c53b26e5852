/* Commands latches of a plant: each where its angle is near a target, slowly and long enough; in sequence or alone.
 *
 * Sizes: for each latch the positions of the variables angle, speed, command and target. Variables: for each latch the
 * inputs that no latch before has, command and target; then stage, window, max_speed, hold_time and sequence. */
#include <math.h>
#include <stdio.h>

#include "controller.h"

enum { ANGLE, SPEED, COMMAND, TARGET, N_POSITIONS };
/* Variables behind those of the latches. */
enum { STAGE, WINDOW, MAX_SPEED, HOLD_TIME, SEQUENCE, N_LAST };

static const double slack = 1e-9; /* s, by which a hold time may be missed */

static uint32_t count(const controller_model *m) { return m->n_sizes / N_POSITIONS; }

static uint32_t position(const controller_model *m, uint32_t latch, int which) {
  return m->sizes[N_POSITIONS * (size_t)latch + (size_t)which];
}

/* State: for each latch whether its command was given; then for each how long it has been near its target. */
static double *closed_of(const controller_instance *c) { return c->s; }
static double *held_of(const controller_instance *c) { return c->s + count(&c->model); }

static int is_input(const controller_model *m, uint32_t i) {
  return i < m->n_variables && m->variables[i].role == CONTROLLER_INPUT && m->variables[i].value == CONTROLLER_REAL;
}

static void bind(controller_binding *b) {
  const controller_model *m = b->model;
  if (m->n_sizes == 0 || m->n_sizes % N_POSITIONS) controller_refuse(b, "it has the wrong number of sizes");
  for (uint32_t i = 0; i < count(m) && !b->failed; i++) {
    while (controller_take_if_input(b, CONTROLLER_REAL)) continue;
    const uint32_t command = controller_take(b, NULL, CONTROLLER_OUTPUT, CONTROLLER_BOOLEAN);
    const uint32_t target = controller_take(b, NULL, CONTROLLER_TUNABLE, CONTROLLER_REAL);
    if (b->failed) return;
    if (position(m, i, COMMAND) != command || position(m, i, TARGET) != target || !is_input(m, position(m, i, ANGLE)) ||
        !is_input(m, position(m, i, SPEED)))
      controller_refuse(b, "a latch refers to a variable that is not its own");
  }
  controller_take(b, "stage", CONTROLLER_OUTPUT, CONTROLLER_INTEGER);
  controller_take(b, "window", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  controller_take(b, "max_speed", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  controller_take(b, "hold_time", CONTROLLER_TUNABLE, CONTROLLER_REAL);
  controller_take(b, "sequence", CONTROLLER_TUNABLE, CONTROLLER_BOOLEAN);
  b->model->n_state = 2 * count(m);
}

static const double *last_variables(const controller_instance *c) { return c->x + c->model.n_variables - N_LAST; }

/* Whether it is its turn: all before it were commanded earlier. */
static int is_watched(const controller_instance *c, uint32_t latch) {
  int all = 1;
  if (last_variables(c)[SEQUENCE] == 0) return 1;
  for (uint32_t i = 0; i < latch; i++) all = all && closed_of(c)[i] != 0;
  return all;
}

static int is_still(const controller_instance *c, uint32_t latch) {
  const controller_model *m = &c->model;
  const double away = fabs(c->x[position(m, latch, ANGLE)] - c->x[position(m, latch, TARGET)]);
  const double speed = fabs(c->x[position(m, latch, SPEED)]);
  return away <= last_variables(c)[WINDOW] && speed <= last_variables(c)[MAX_SPEED];
}

static int is_due(const controller_instance *c, uint32_t latch) {
  return is_watched(c, latch) && is_still(c, latch) && held_of(c)[latch] >= last_variables(c)[HOLD_TIME] - slack;
}

static int outputs(controller_instance *c, double t) {
  const controller_model *m = &c->model;
  double given = 0;
  (void)t;
  for (uint32_t i = 0; i < count(m); i++) {
    const int command = closed_of(c)[i] != 0 || is_due(c, i);
    c->x[position(m, i, COMMAND)] = command;
    given += command;
  }
  c->x[m->n_variables - N_LAST + STAGE] = given;
  return 1;
}

/* From the last latch on, because a latch is watched if those before it were commanded earlier. */
static int update(controller_instance *c, double t, double dt) {
  const controller_model *m = &c->model;
  (void)t;
  for (uint32_t i = count(m); i-- > 0;) {
    const int still = is_watched(c, i) && is_still(c, i);
    held_of(c)[i] = still ? held_of(c)[i] + dt : 0;
    closed_of(c)[i] = c->x[position(m, i, COMMAND)];
  }
  return 1;
}

const controller_type controller_latch_supervisor = {
    .name = "latch_supervisor", .n_sizes = UINT32_MAX, .bind = bind, .outputs = outputs, .update = update};
