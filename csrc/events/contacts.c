#include "events/contacts.h"
#include "math/tolerances.h"
#include <math.h>

double lw_rate_along(const lw_state *s, const lw_contact *c, const double *by_speed) {
  return c->is_friction ? lw_along_friction(s, c->transition, by_speed) : by_speed[c->u];
}

lw_complementarity lw_problem_of_contacts(const lw_state *s, double tolerance) {
  const struct lw_event_workspace *r = s->events;
  return (lw_complementarity){.n = r->contacts,
                              .W = r->compliance,
                              .b = r->excess,
                              .lower = r->lower,
                              .upper = r->upper,
                              .eligible = r->eligible,
                              .tolerance = tolerance,
                              .lambda = r->load,
                              .active = r->active,
                              .scratch = r->scratch};
}

void lw_set_active(lw_state *s, const lw_contact *c, int active) {
  double *of = lw_reals(s) + s->model->at.transition_active;
  if (c->is_friction) EACH_IN_SPEED(s, c, i) of[i] = active;
  else of[c->transition] = active;
}

double lw_loaded_acceleration(const struct lw_event_workspace *r, int32_t i) {
  double a = r->excess[i];
  for (int32_t j = 0; j < r->contacts; j++) a += r->compliance[i * r->contacts + j] * r->load[j];
  return a;
}

/* A contact along speeds, each by a gear. */
typedef struct speeds_of_contact {
  int32_t first, count;
  const lw_gear *gear;  /* NULL: its one speed */
  const double *factor; /* of each gear */
} speeds_of_contact;

static speeds_of_contact speeds_along(const lw_state *s, const lw_contact *c, int32_t first) {
  const lw_transition *x = transition_of(s, c->transition);
  if (!c->is_friction) return (speeds_of_contact){first, 1, NULL, &c->outward};
  const lw_force *of = &s->model->force[x->number];
  return (speeds_of_contact){first, of->gears, s->model->gear + of->first,
                             lw_reals(s) + s->model->at.force_gear + of->first};
}

/* The speeds of all contacts, one after the other; returns how many. */
static int32_t list_directions(const lw_state *s) {
  struct lw_event_workspace *r = s->events;
  int32_t n = 0;
  for (int32_t i = 0; i < r->contacts; i++) {
    const speeds_of_contact along = speeds_along(s, &r->contact[i], n);
    for (int32_t k = 0; k < along.count; k++) r->direction[n++] = along.gear ? along.gear[k].u : r->contact[i].u;
  }
  return n;
}

/* An element of W from that of its speeds; *size: the sum of its parts regardless of sign. */
static double compliance_of_pair(const lw_state *s, speeds_of_contact a, speeds_of_contact b, int32_t n, double *size) {
  double sum = 0.0;
  *size = 0.0;
  for (int32_t i = 0; i < a.count; i++)
    for (int32_t j = 0; j < b.count; j++) {
      const double part = a.factor[i] * b.factor[j] * s->events->by_direction[(a.first + i) * n + b.first + j];
      sum += part, *size += fabs(part);
    }
  return sum;
}

lw_status lw_measure_compliance(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  const int32_t n = r->contacts, speeds = list_directions(s);
  const lw_status e = n ? lw_find_speed_compliance(s, speeds, r->direction, r->by_direction) : LW_OK;
  double size;
  for (int32_t i = 0, first = 0; !e && i < n; i++) {
    const speeds_of_contact a = speeds_along(s, &r->contact[i], first);
    for (int32_t j = 0, other = 0; j < n; j++) {
      const speeds_of_contact b = speeds_along(s, &r->contact[j], other);
      const double W = compliance_of_pair(s, a, b, speeds, &size);
      r->compliance[i * n + j] = i == j && W <= DEPENDENT_DIRECTION * size ? 0.0 : W;
      other += b.count;
    }
    first += a.count;
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      if (r->compliance[i * n + i] == 0.0 || r->compliance[j * n + j] == 0.0) r->compliance[i * n + j] = 0.0;
  return e;
}

int32_t lw_solve_contact_loads(lw_state *s, double tolerance) {
  const lw_complementarity problem = lw_problem_of_contacts(s, tolerance);
  return lw_solve_complementarity(&problem);
}

double lw_outward_speed(const lw_state *s, const lw_contact *c, const double *speed) {
  return c->outward * lw_rate_along(s, c, speed);
}

void lw_enter_contact(lw_state *s, const lw_contact *c) {
  double *x = lw_reals(s);
  const int holder = c->is_friction ? LW_HELD_BY_FRICTION : LW_HELD_BY_STOP;
  x[s->model->at.locked + c->u] = (double)(lw_lock_holders(x[s->model->at.locked + c->u]) | holder);
  x[s->model->at.lock_value + c->u] = transition_of(s, c->transition)->directions
                                          ? lw_coordinate_value(s, c->u)
                                          : lw_position_of_friction(s, c->transition);
  lw_set_active(s, c, 1);
  if (!c->is_friction) lw_memory_of(s, c->transition)->event_sign = -c->outward;
}

void lw_find_excess(lw_state *s) {
  struct lw_event_workspace *r = s->events;
  for (int32_t i = 0; i < r->contacts; i++)
    r->excess[i] = lw_outward_speed(s, &r->contact[i], lw_reals(s) + s->model->at.acceleration);
}
