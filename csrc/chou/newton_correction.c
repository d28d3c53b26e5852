/* Newton corrections J dX = E with the factored Jacobian. */
#include "chain.h"
#include "vectors.h"

lw_status lw_chain_factor(lw_chain *chain, const double *x, const double *xdot, double cj) {
  double K[9] = {0.0};
  chain->factorisation = LW_CHAIN_UNFACTORED;
  chain->cj = cj;
  lw_chain_forces(chain, xdot);
  for (int32_t i = chain->n - 1; i >= 0; i--) {
    lw_chain_rows rows;
    lw_chain_linearise(chain, i, x + LW_UNKNOWNS * i, xdot + LW_UNKNOWNS * i, &rows);
    const lw_status status = lw_chain_eliminate(chain, i, &rows, K);
    if (status != LW_OK) return status;
  }
  chain->factorisation = LW_CHAIN_FACTORED;
  return LW_OK;
}

static void solve_recursive(lw_chain *chain, const double *b, double *x) {
  double k[3] = {0.0}, u[3] = {0.0}, lambda[3] = {0.0};
  for (int32_t i = chain->n - 1; i >= 0; i--) {
    double f[3];
    lw_chain_right_hand_side(chain, i, b + LW_UNKNOWNS * i, f);
    lw_chain_inward_step(chain, i, f, k);
  }
  for (int32_t i = 0; i < chain->n; i++) {
    double v[3];
    lw_chain_outward_step(chain, i, u, v);
    lw_chain_recover(chain, i, b + LW_UNKNOWNS * i, v, lambda, x + LW_UNKNOWNS * i);
  }
}

lw_status lw_chain_solve(lw_chain *chain, const double *b, double *x) {
  if (chain->factorisation == LW_CHAIN_UNFACTORED) return LW_ERROR_USAGE;
  if (chain->factorisation == LW_CHAIN_REDUCED) lw_chain_solve_reduced(chain, b, x);
  else solve_recursive(chain, b, x);
  return LW_OK;
}

lw_status lw_chain_rate_times(lw_chain *chain, const double *v, double *out) {
  double sum[3] = {0.0};
  if (chain->factorisation == LW_CHAIN_UNFACTORED) return LW_ERROR_USAGE;
  for (int32_t i = chain->n - 1; i >= 0; i--) {
    const lw_chain_body *body = &chain->bodies[i];
    const lw_chain_link *link = &chain->links[i];
    const double *of = v + LW_UNKNOWNS * i;
    double *to = out + LW_UNKNOWNS * i;
    double p[4], s[4], spin[3], force[3], F[3];
    lw_add(body->mass, of + LW_V, sum);
    lw_conjugate_product(link->p, of + LW_P, p);
    lw_conjugate_product(link->p, of + LW_S, s);
    lw_times(body->inertia, s + 1, spin);
    for (int k = 0; k < 3; k++) F[k] = -2.0 * spin[k];
    lw_transposed_times(link->A, sum, force);
    lw_add_cross(1.0, body->a, force, F);
    lw_transposed_times(link->A, of + LW_V, force);
    lw_add_cross(-body->mass, body->r, force, F);
    for (int k = 0; k < LW_UNKNOWNS; k++) to[k] = 0.0;
    lw_add(1.0, F, to + LW_F);
    lw_add(2.0, p + 1, to + LW_I3);
  }
  return LW_OK;
}
