/* Stops and frictions that touch or hold in an event, together: W, the accelerations of all by loads on each, and the loads
 * that their accelerations ask for. */
#ifndef LW_CONTACTS_H
#define LW_CONTACTS_H
#include "events/event_jump.h"
#include "math/complementarity.h"

/* All transitions that share the speed of a friction. */
#define EACH_IN_SPEED(s, c, i)                                                                                         \
  for (int32_t i = (c)->transition, end = -1; i != end; i = transition_of(s, i)->next_in_speed, end = (c)->transition)

/* The rate of what touches, of one number for each speed. */
double lw_rate_along(const lw_state *s, const lw_contact *c, const double *by_speed);
lw_complementarity lw_problem_of_contacts(const lw_state *s, double tolerance);
/* Its state as users see it, and that of those that share its speed. */
void lw_set_active(lw_state *s, const lw_contact *c, int active);
/* The acceleration of contact i, outward, with the loads found. */
double lw_loaded_acceleration(const struct lw_event_workspace *r, int32_t i);
/* W; what cannot move has none. */
lw_status lw_measure_compliance(lw_state *s);
/* The loads for the present excess; returns how many stops are active, -1: no loads do. */
int32_t lw_solve_contact_loads(lw_state *s, double tolerance);
/* lw_rate_along(), positive where it leaves the bound. */
double lw_outward_speed(const lw_state *s, const lw_contact *c, const double *speed);
/* Locks its speed. */
void lw_enter_contact(lw_state *s, const lw_contact *c);
/* Accelerations of all contacts, outward. */
void lw_find_excess(lw_state *s);
#endif
