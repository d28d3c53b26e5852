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

/* As lw_ode_set_on_step: revolutions of the cut joints, counted at every step if `counting`, else left as they are. */
void lw_web_ode_set_revolutions(lw_ode *ode, int32_t counting, int32_t count, double *revolutions) {
  lw_ode_set_on_step(ode, counting ? lw_ode_mechanism_step : NULL, count, revolutions);
}
