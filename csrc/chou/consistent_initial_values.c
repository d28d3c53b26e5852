/* Consistent initial values. R and V follow from P and S by the equations. The derivatives follow from the sweeps of
 * sweep.c with accelerations in place of corrections: phi is w', v is V' - gravity, and for unit p
 *   B(b) = -b~,   F = -I,   f = w x I w,   g = A (w x (w x a)),   e = -A (w x (w x c)),   u_0 = -gravity,   cj = 1 */
#include <math.h>
#include <string.h>

#include "chain.h"
#include "vectors.h"

/* ---- R, V from P, S -------------------------------------------------------------------------------- */

static lw_status normalise(double *p, double *s) {
  const double length = sqrt(lw_dot4(p, p));
  if (!(length > 0.0) || !isfinite(length)) return LW_ERROR_VALUE;
  for (int k = 0; k < 4; k++) p[k] /= length;
  const double along = lw_dot4(p, s);
  if (!isfinite(along)) return LW_ERROR_VALUE;
  for (int k = 0; k < 4; k++) s[k] -= along * p[k];
  return LW_OK;
}

/* A b, and A (w x b) */
static void point(const double A[9], const double w[3], const double b[3], double position[3], double velocity[3]) {
  double part[3];
  lw_times(A, b, position);
  lw_cross(w, b, part);
  lw_times(A, part, velocity);
}

lw_status lw_chain_make_consistent(lw_chain *chain, double *x) {
  double position[3], velocity[3] = {0.0}, to[3], rate[3];
  memcpy(position, chain->support, sizeof position);
  for (int32_t i = 0; i < chain->n; i++, x += LW_UNKNOWNS) {
    const lw_chain_body *body = &chain->bodies[i];
    const lw_status status = normalise(x + LW_P, x + LW_S);
    if (status != LW_OK) return status;
    double A[9], product[4], w[3];
    lw_attitude(x + LW_P, A);
    lw_conjugate_product(x + LW_P, x + LW_S, product);
    for (int k = 0; k < 3; k++) w[k] = 2.0 * product[k + 1];
    point(A, w, body->c, to, rate);
    for (int k = 0; k < 3; k++) {
      x[LW_R + k] = position[k] - to[k];
      x[LW_V + k] = velocity[k] - rate[k];
    }
    point(A, w, body->a, to, rate);
    lw_add(-1.0, to, position);
    lw_add(-1.0, rate, velocity);
  }
  return LW_OK;
}

/* ---- X' -------------------------------------------------------------------------------------------- */

/* factor A (w x (w x b)) */
static void centripetal(const double A[9], const double w[3], double factor, const double b[3], double out[3]) {
  double once[3], twice[3];
  lw_cross(w, b, once);
  lw_cross(w, once, twice);
  lw_times(A, twice, out);
  for (int k = 0; k < 3; k++) out[k] *= factor;
}

static void accelerations_of(lw_chain *chain, int32_t i, const double *x, lw_chain_rows *rows) {
  const lw_chain_body *body = &chain->bodies[i];
  lw_chain_link *link = &chain->links[i];
  double product[4], w[3], psi[3];
  memset(rows, 0, sizeof *rows);
  memcpy(link->p, x + LW_P, sizeof link->p);
  link->square = 1.0;
  lw_attitude(link->p, link->A);
  lw_conjugate_product(link->p, x + LW_S, product);
  for (int k = 0; k < 3; k++) w[k] = 2.0 * product[k + 1];
  for (int k = 0; k < 9; k++) rows->F[k] = -body->inertia[k];
  lw_times(body->inertia, w, psi);
  lw_cross(w, psi, rows->f);
  lw_add_tilde(-1.0, body->a, rows->B_a);
  lw_add_tilde(-1.0, body->c, rows->B_c);
  lw_chain_set_alpha_beta(link, rows);
  centripetal(link->A, w, 1.0, body->a, chain->corrections[i].g);
  centripetal(link->A, w, -1.0, body->c, chain->corrections[i].e);
}

/* V' = v + gravity; S' has 2 G(p) S' = phi and p.S' = -s.s */
static void put_rates(const lw_chain *chain, int32_t i, const double *x, const double v[3], double *xdot) {
  const double *phi = chain->corrections[i].phi;
  const double second[4] = {-lw_dot4(x + LW_S, x + LW_S), 0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2]};
  for (int k = 0; k < 3; k++) {
    xdot[LW_R + k] = x[LW_V + k];
    xdot[LW_V + k] = v[k] + chain->gravity[k];
  }
  memcpy(xdot + LW_P, x + LW_S, 4 * sizeof *xdot);
  lw_quaternion_product(x + LW_P, second, xdot + LW_S);
}

lw_status lw_chain_derivative(lw_chain *chain, const double *x, double *xdot) {
  double K[9] = {0.0}, k[3] = {0.0}, u[3];
  chain->factorisation = LW_CHAIN_UNFACTORED;
  chain->cj = 1.0;
  for (int32_t i = chain->n - 1; i >= 0; i--) {
    lw_chain_rows rows;
    accelerations_of(chain, i, x + LW_UNKNOWNS * i, &rows);
    const lw_status status = lw_chain_eliminate(chain, i, &rows, K);
    if (status != LW_OK) return status;
    lw_chain_inward_step(chain, i, rows.f, k);
  }
  for (int j = 0; j < 3; j++) u[j] = -chain->gravity[j];
  for (int32_t i = 0; i < chain->n; i++) {
    double v[3];
    lw_chain_outward_step(chain, i, u, v);
    put_rates(chain, i, x + LW_UNKNOWNS * i, v, xdot + LW_UNKNOWNS * i);
  }
  return LW_OK;
}
