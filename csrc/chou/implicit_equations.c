/* The chain as compiled implicit equations, lw_implicit. */
#include "chain.h"

static int residual(void *chain, double t, const double *x, const double *xdot, double *out) {
  (void)t;
  lw_chain_residual(chain, x, xdot, out);
  return 0;
}

static int sweep(void *chain, double t, const double *x, const double *xdot, double cj) {
  (void)t;
  return lw_chain_factor(chain, x, xdot, cj) == LW_OK ? 0 : 1;
}

static int reduce(void *chain, double t, const double *x, const double *xdot, double cj) {
  (void)t;
  return lw_chain_reduce(chain, x, xdot, cj) == LW_OK ? 0 : 1;
}

static int solve(void *chain, const double *b, double *x) { return lw_chain_solve(chain, b, x) == LW_OK ? 0 : -1; }

static int rate_times(void *chain, const double *v, double *out) {
  return lw_chain_rate_times(chain, v, out) == LW_OK ? 0 : -1;
}

void lw_chain_implicit(lw_chain *chain, int32_t reduced, lw_implicit *equations) {
  *equations = (lw_implicit){chain, residual, reduced ? reduce : sweep, solve, rate_times};
}
