/* The integrator of a mechanism for JavaScript, which has no addresses of C functions. */
#include "linkwork.h"

/* As lw_ode_create, with the method by need; NULL: no memory. */
lw_ode *lw_web_ode_create(lw_state *state, int32_t states, int32_t indicators, const lw_ode_options *options) {
  lw_ode *ode =
      lw_ode_create(states, indicators, lw_ode_mechanism, indicators ? lw_ode_mechanism_events : NULL, state, options);
  if (ode && lw_ode_set_method(ode, LW_ODE_AUTO, lw_ode_mechanism_jacobian) == LW_OK) return ode;
  lw_ode_free(ode);
  return NULL;
}

/* As lw_ode_set_on_step and lw_ode_set_angular_speed. At every step, the revolutions of the cut joints are counted if
 * `counting`, else left as they are, and constraints are checked if `watching`; with either, nothing turns far in one. */
void lw_web_ode_set_on_step(lw_ode *ode, int32_t counting, int32_t watching, int32_t count, double *revolutions) {
  const lw_ode_function on_step = counting ? lw_ode_mechanism_step : watching ? lw_ode_mechanism_check : NULL;
  lw_ode_set_on_step(ode, on_step, count, revolutions);
  lw_ode_set_angular_speed(ode, lw_ode_mechanism_angular_speed, on_step ? LW_ODE_COUNTED_SAMPLES : 0);
}
