/* The linearised equations of a body in terms of phi (see chain.h):
 *   dF = F phi + F_p xi + F_rate (w I1 + I3) + contribution of the forces
 *   F = p.p (I [s'^ - cj w^] + N [s^ - w^]) + a~ (A^T tau)~ - r~ (A^T z)~,   [x] = x0 U - x~
 *   F_p = -I w' - 2 w x I w + 2 a x A^T tau - 2 r x A^T z,   F_rate = N + cj U I,   N = w~ I - (I w)~
 * These are (31) and (34) applied to p (0, phi / 2) and to p. */
#include "chain.h"
#include "vectors.h"

/* x0 U - x~ */
static void left_product(const double x[4], double out[9]) {
  for (int k = 0; k < 9; k++) out[k] = 0.0;
  lw_add_unit(x[0], out);
  lw_add_tilde(-1.0, x + 1, out);
}

/* B(b): velocity of a point b per phi */
static void velocity_by_turn(const lw_chain_link *link, const double b[3], double B[9]) {
  const double *s = link->s, *w = link->w;
  double sum[3];
  for (int k = 0; k < 3; k++) sum[k] = s[k + 1] + w[k + 1];
  for (int k = 0; k < 9; k++) B[k] = 0.0;
  lw_add_tilde(-(w[0] + s[0]), b, B);
  lw_add_outer(1.0, sum, b, B);
  lw_add_outer(-2.0, b, s + 1, B);
  lw_add_unit(lw_dot(s + 1, b) - lw_dot(w + 1, b), B);
}

/* out += sign b~ f~ */
static void add_moment(double sign, const double b[3], const double f[3], double out[9]) {
  lw_add_outer(sign, f, b, out);
  lw_add_unit(-sign * lw_dot(b, f), out);
}

static void attitude(lw_chain *chain, lw_chain_link *link, const double *x, const double *xdot) {
  double difference[4];
  for (int k = 0; k < 4; k++) {
    link->p[k] = x[LW_P + k];
    difference[k] = chain->cj * x[LW_P + k] - (xdot[LW_P + k] - x[LW_S + k]);
  }
  link->square = lw_dot4(link->p, link->p);
  lw_attitude(link->p, link->A);
  lw_conjugate_product(link->p, x + LW_S, link->s);
  lw_conjugate_product(link->p, difference, link->w);
  for (int k = 0; k < 4; k++) {
    link->s[k] /= link->square;
    link->w[k] /= link->square;
  }
}

/* Contribution of -I w' - w x I w to F, F_p and F_rate. */
static void inertia_torques(const double cj, const lw_chain_body *body, lw_chain_link *link, const double *s_rate,
                            double F[9]) {
  double product[4], w[3], psi[3], spin[3], by_s[4], by_rate[4], L[9], N[9] = {0.0}, part[9];
  lw_conjugate_product(link->p, s_rate, product);
  for (int k = 0; k < 3; k++) w[k] = 2.0 * link->square * link->s[k + 1];
  for (int k = 0; k < 4; k++) {
    by_rate[k] = product[k] - cj * link->square * link->w[k];
    by_s[k] = link->square * (link->s[k] - link->w[k]);
  }
  lw_times(body->inertia, w, psi);
  lw_times(body->inertia, product + 1, spin);
  for (int k = 0; k < 3; k++) link->F_p[k] = -2.0 * spin[k];
  lw_add_cross(-2.0, w, psi, link->F_p);

  lw_add_cross_columns(1.0, w, body->inertia, N);
  lw_add_tilde(-1.0, psi, N);
  for (int k = 0; k < 9; k++) link->F_rate[k] = N[k] + cj * body->inertia[k];
  left_product(by_rate, L);
  lw_product(body->inertia, L, F);
  left_product(by_s, L);
  lw_product(N, L, part);
  for (int k = 0; k < 9; k++) F[k] += part[k];
}

static void force_torques(const lw_chain *chain, int32_t i, const double *acceleration, double F[9]) {
  const lw_chain_body *body = &chain->bodies[i];
  lw_chain_link *link = &chain->links[i];
  double z[3], force[3];
  for (int k = 0; k < 3; k++) z[k] = body->mass * (acceleration[k] - chain->gravity[k]);
  lw_transposed_times(link->A, z, force);
  add_moment(-1.0, body->r, force, F);
  lw_add_cross(-2.0, body->r, force, link->F_p);
  lw_transposed_times(link->A, chain->tau + 3 * i, force);
  add_moment(1.0, body->a, force, F);
  lw_add_cross(2.0, body->a, force, link->F_p);
}

void lw_chain_set_alpha_beta(lw_chain_link *link, const lw_chain_rows *rows) {
  lw_product(link->A, rows->B_a, link->alpha);
  lw_product(link->A, rows->B_c, link->beta);
}

void lw_chain_linearise(lw_chain *chain, int32_t i, const double *x, const double *xdot, lw_chain_rows *rows) {
  const lw_chain_body *body = &chain->bodies[i];
  lw_chain_link *link = &chain->links[i];
  attitude(chain, link, x, xdot);
  inertia_torques(chain->cj, body, link, xdot + LW_S, rows->F);
  force_torques(chain, i, xdot + LW_V, rows->F);
  velocity_by_turn(link, body->a, rows->B_a);
  velocity_by_turn(link, body->c, rows->B_c);
  lw_chain_set_alpha_beta(link, rows);
}
