/* What one body adds to a Newton correction J dX = E: its right-hand side, and its unknowns once phi is known. */
#include "chain.h"
#include "vectors.h"

void lw_chain_right_hand_side(lw_chain *chain, int32_t i, const double *b, double f[3]) {
  const lw_chain_body *body = &chain->bodies[i];
  const lw_chain_link *link = &chain->links[i];
  lw_chain_correction *step = &chain->corrections[i];
  const double I1 = b[LW_I1], xi = I1 / (2.0 * link->square), eta = 2.0 * b[LW_I2] / link->square;
  double rate[3], gam[3], by_rate[3], part[3];
  for (int k = 0; k < 3; k++) {
    rate[k] = link->w[k + 1] * I1 + b[LW_I3 + k];
    gam[k] = (link->s[k + 1] * I1 - rate[k]) / link->square;
  }
  lw_times(link->F_rate, rate, by_rate);
  for (int k = 0; k < 3; k++) f[k] = b[LW_F + k] - xi * link->F_p[k] - by_rate[k];

  lw_cross(gam, body->a, part);
  lw_add(eta, body->a, part);
  lw_times(link->A, part, step->g);
  lw_cross(gam, body->c, part);
  lw_add(eta, body->c, part);
  lw_times(link->A, part, step->e);
  for (int k = 0; k < 3; k++) step->e[k] = b[LW_GV + k] - step->e[k];
}

/* A (phi x b + 2 xi b) */
static void point_change(const lw_chain_link *link, const double phi[3], double xi, const double b[3], double out[3]) {
  double part[3];
  lw_cross(phi, b, part);
  lw_add(2.0 * xi, b, part);
  lw_times(link->A, part, out);
}

void lw_chain_recover(lw_chain *chain, int32_t i, const double *b, const double v[3], double lambda[3], double *x) {
  const lw_chain_body *body = &chain->bodies[i];
  const lw_chain_link *link = &chain->links[i];
  const double *phi = chain->corrections[i].phi, *s = link->s, *w = link->w, I1 = b[LW_I1];
  const double xi = I1 / (2.0 * link->square);
  double product[4] = {xi}, rate[4], by_turn[3], r[3], a[3];
  rate[0] = (b[LW_I2] - 0.5 * s[0] * I1) / link->square - 0.5 * lw_dot(s + 1, phi);
  lw_cross(w + 1, phi, by_turn);
  for (int k = 0; k < 3; k++) {
    product[k + 1] = 0.5 * phi[k];
    rate[k + 1] = 0.5 * (w[0] * phi[k] - by_turn[k] - (w[k + 1] * I1 + b[LW_I3 + k]) / link->square);
  }
  point_change(link, phi, xi, body->c, r);
  point_change(link, phi, xi, body->a, a);
  for (int k = 0; k < 3; k++) {
    x[LW_R + k] = b[LW_GP + k] - lambda[k] - r[k];
    x[LW_V + k] = v[k];
    lambda[k] += a[k];
  }
  lw_quaternion_product(link->p, product, x + LW_P);
  lw_quaternion_product(link->p, rate, x + LW_S);
}
