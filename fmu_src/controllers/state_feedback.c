/* State feedback u = u0 - K (x - x0), each u within its limits.
 *
 * Sizes: numbers of states and of inputs of the plant. Variables: the states; the inputs of the plant; x0; for each
 * input of the plant u0, its row of K, u_min and u_max; sample_time. */
#include <stdio.h>

#include "controller.h"

enum { N_X, N_U, N_SIZES };

/* Positions of the variables of a row; K is between the first two. */
typedef struct row {
  uint32_t u0, k, u_min, u_max;
} row;

static row row_of(const controller_model *m, uint32_t i) {
  const uint32_t n_x = m->sizes[N_X], first = 2 * n_x + m->sizes[N_U] + i * (n_x + 3);
  return (row){first, first + 1, first + n_x + 1, first + n_x + 2};
}

static void bind(controller_binding *b) {
  const uint32_t n_x = controller_size(b, N_X, 1), n_u = controller_size(b, N_U, 1);
  char name[40];
  for (uint32_t j = 0; j < n_x && !b->failed; j++) controller_take(b, NULL, CONTROLLER_INPUT, CONTROLLER_REAL);
  for (uint32_t i = 0; i < n_u && !b->failed; i++) controller_take(b, NULL, CONTROLLER_OUTPUT, CONTROLLER_REAL);
#define TAKE(...)                                                  \
  do {                                                             \
    snprintf(name, sizeof name, __VA_ARGS__);                      \
    controller_take(b, name, CONTROLLER_TUNABLE, CONTROLLER_REAL); \
  } while (0)
  for (unsigned j = 1; j <= n_x && !b->failed; j++) TAKE("x0[%u]", j);
  for (unsigned i = 1; i <= n_u && !b->failed; i++) {
    TAKE("u0[%u]", i);
    for (unsigned j = 1; j <= n_x && !b->failed; j++) TAKE("K[%u,%u]", i, j);
    TAKE("u_min[%u]", i);
    TAKE("u_max[%u]", i);
  }
#undef TAKE
  b->model->sample_time = controller_take(b, "sample_time", CONTROLLER_FIXED, CONTROLLER_REAL);
}

static int check(controller_instance *c) {
  const controller_model *m = &c->model;
  for (uint32_t i = 0; i < m->sizes[N_U]; i++) {
    const row r = row_of(m, i);
    if (c->x[r.u_min] <= c->x[r.u_max]) continue;
    snprintf(c->message, sizeof c->message, "u_min[%u] = %g is above u_max[%u] = %g, the limits of %.80s", i + 1,
             c->x[r.u_min], i + 1, c->x[r.u_max], m->variables[m->sizes[N_X] + i].name);
    return 0;
  }
  return 1;
}

static int outputs(controller_instance *c, double t) {
  const controller_model *m = &c->model;
  const uint32_t n_x = m->sizes[N_X], n_u = m->sizes[N_U];
  double *x = c->x, *u = x + n_x;
  const double *x0 = u + n_u;
  (void)t;
  for (uint32_t i = 0; i < n_u; i++) {
    const row r = row_of(m, i);
    double feedback = 0;
    for (uint32_t j = 0; j < n_x; j++) feedback += x[r.k + j] * (x[j] - x0[j]);
    u[i] = controller_min(controller_max(x[r.u0] - feedback, x[r.u_min]), x[r.u_max]);
  }
  return 1;
}

const controller_type controller_state_feedback = {
    .name = "state_feedback", .n_sizes = N_SIZES, .bind = bind, .check = check, .outputs = outputs};
