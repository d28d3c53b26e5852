/* The equations, recursively as in the paper:
 *   Gp = R - support + lambda_(i-1) + A c,   lambda_i = lambda_(i-1) + A a                             (6)
 *   Gv = V + lambda'_(i-1) + A' c,   A' b = 2 vec(s b p*)                                              (13)
 *   F = -I w' - w x I w - r x A^T z + a x A^T tau_i,   z = m (V' - gravity),   tau_i = tau_(i+1) + z   (23)
 *   I1 = p.p - 1,   I2 = p.s,   I3 = 2 G(p) (p' - s);   w = 2 G(p) s,   w' = 2 G(p) s'
 * The paper's I3 are three elements of p' - s; these are as many for every attitude. */
#include <string.h>

#include "chain.h"
#include "vectors.h"

void lw_chain_forces(lw_chain *chain, const double *xdot) {
  double *tau = chain->tau + 3 * chain->n;
  memset(tau, 0, 3 * sizeof *tau);
  for (int32_t i = chain->n - 1; i >= 0; i--, tau -= 3) {
    const double *acceleration = xdot + LW_UNKNOWNS * i + LW_V, m = chain->bodies[i].mass;
    for (int k = 0; k < 3; k++) tau[k - 3] = tau[k] + m * (acceleration[k] - chain->gravity[k]);
  }
}

/* sum += A b */
static void add_position(const double A[9], const double b[3], double sum[3]) {
  double x[3];
  lw_times(A, b, x);
  lw_add(1.0, x, sum);
}

/* sum += A' b = (2 / p.p) A vec(q b), q = p* s */
static void add_velocity(const double A[9], const double q[4], double square, const double b[3], double sum[3]) {
  double x[3];
  lw_cross(q + 1, b, x);
  lw_add(q[0], b, x);
  for (int k = 0; k < 3; k++) x[k] *= 2.0 / square;
  add_position(A, x, sum);
}

static void torques(const lw_chain *chain, int32_t i, const double A[9], const double w[3], const double *x,
                    const double *xdot, double out[3]) {
  const lw_chain_body *body = &chain->bodies[i];
  double z[3], force[3], product[4], psi[3], Iw[3];
  for (int k = 0; k < 3; k++) z[k] = body->mass * (xdot[LW_V + k] - chain->gravity[k]);
  lw_conjugate_product(x + LW_P, xdot + LW_S, product);
  lw_times(body->inertia, product + 1, Iw);
  lw_times(body->inertia, w, psi);
  for (int k = 0; k < 3; k++) out[k] = -2.0 * Iw[k];
  lw_add_cross(-1.0, w, psi, out);
  lw_transposed_times(A, z, force);
  lw_add_cross(-1.0, body->r, force, out);
  lw_transposed_times(A, chain->tau + 3 * i, force);
  lw_add_cross(1.0, body->a, force, out);
}

static void parameters(const double *x, const double *xdot, double *out) {
  double difference[4], product[4];
  for (int k = 0; k < 4; k++) difference[k] = xdot[LW_P + k] - x[LW_S + k];
  lw_conjugate_product(x + LW_P, difference, product);
  out[LW_I1] = lw_dot4(x + LW_P, x + LW_P) - 1.0;
  out[LW_I2] = lw_dot4(x + LW_P, x + LW_S);
  for (int k = 0; k < 3; k++) out[LW_I3 + k] = 2.0 * product[k + 1];
}

void lw_chain_residual(lw_chain *chain, const double *x, const double *xdot, double *out) {
  double lambda[3], lambda_rate[3] = {0.0};
  for (int k = 0; k < 3; k++) lambda[k] = -chain->support[k];
  lw_chain_forces(chain, xdot);
  for (int32_t i = 0; i < chain->n; i++, x += LW_UNKNOWNS, xdot += LW_UNKNOWNS, out += LW_UNKNOWNS) {
    const lw_chain_body *body = &chain->bodies[i];
    const double square = lw_dot4(x + LW_P, x + LW_P);
    double A[9], q[4], w[3];
    lw_attitude(x + LW_P, A);
    lw_conjugate_product(x + LW_P, x + LW_S, q);
    for (int k = 0; k < 3; k++) {
      out[LW_GP + k] = x[LW_R + k] + lambda[k];
      out[LW_GV + k] = x[LW_V + k] + lambda_rate[k];
      w[k] = 2.0 * q[k + 1];
    }
    add_position(A, body->c, out + LW_GP);
    add_velocity(A, q, square, body->c, out + LW_GV);
    add_position(A, body->a, lambda);
    add_velocity(A, q, square, body->a, lambda_rate);
    torques(chain, i, A, w, x, xdot, out + LW_F);
    parameters(x, xdot, out);
  }
}
