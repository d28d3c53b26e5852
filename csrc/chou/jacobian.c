/* The matrix of all 14 n equations, for schemes that solve it whole; blocks (i, k) of bodies:
 *   Gp, Gv by R, V: U;   Gp by P, and Gv by S: 2 E(p) a^ (k < i), 2 E(p) c^ (k = i);   Gv by P: the same with E(s)
 *   F by V: cj m_k a~ A^T (k > i), cj m_i c~ A^T (k = i)                                             (28)
 *   F by P: 2 I G(s') + 2 (w~ I - (I w)~) G(s) - 2 r~ G(p) z_ + 2 a~ G(p) tau_                       (31)
 *   F by S: -2 (w~ I - (I w)~ + cj I) G(p)                                                           (34)
 * where b^ q = q b and z_ q = z q as quaternions, so that a column is found by applying it to a unit quaternion. */
#include <string.h>

#include "chain.h"
#include "vectors.h"

typedef struct block {
  double *at;     /* of the block of two bodies */
  size_t columns; /* in the whole matrix */
} block;

static void put_column(block to, int row, int column, double factor, const double value[3]) {
  for (int k = 0; k < 3; k++) to.at[(size_t)(row + k) * to.columns + (size_t)column] = factor * value[k];
}

/* Columns by P and S of the position and velocity of a point b: vec(q b p*), vec(q b s*) for unit quaternions q. */
static void put_point(block to, const double *x, const double b[3]) {
  const double pure[4] = {0.0, b[0], b[1], b[2]};
  for (int k = 0; k < 4; k++) {
    double unit[4] = {0.0}, q[4], column[3];
    unit[k] = 1.0;
    lw_quaternion_product(unit, pure, q);
    lw_product_conjugate(q, x + LW_P, column);
    put_column(to, LW_GP, LW_P + k, 2.0, column);
    put_column(to, LW_GV, LW_S + k, 2.0, column);
    lw_product_conjugate(q, x + LW_S, column);
    put_column(to, LW_GV, LW_P + k, 2.0, column);
  }
}

/* factor b~ A^T */
static void put_force(block to, const double A[9], const double b[3], double factor) {
  for (int k = 0; k < 3; k++) {
    double column[3];
    lw_cross(b, A + 3 * k, column);
    put_column(to, LW_F, LW_V + k, factor, column);
  }
}

/* out += 2 sign b x vec(p* f q) */
static void add_force_by_turn(const double *p, const double b[3], const double f[3], const double q[4], double sign,
                              double out[3]) {
  const double pure[4] = {0.0, f[0], f[1], f[2]};
  double fq[4], turned[4];
  lw_quaternion_product(pure, q, fq);
  lw_conjugate_product(p, fq, turned);
  lw_add_cross(2.0 * sign, b, turned + 1, out);
}

/* w~ I - (I w)~ */
static void gyroscopic(const lw_chain_body *body, const double *x, double N[9]) {
  double q[4], w[3], psi[3];
  lw_conjugate_product(x + LW_P, x + LW_S, q);
  for (int k = 0; k < 3; k++) w[k] = 2.0 * q[k + 1];
  lw_times(body->inertia, w, psi);
  memset(N, 0, 9 * sizeof *N);
  lw_add_cross_columns(1.0, w, body->inertia, N);
  lw_add_tilde(-1.0, psi, N);
}

static void put_torques(const lw_chain *chain, int32_t i, block to, const double *x, const double *xdot, double cj) {
  const lw_chain_body *body = &chain->bodies[i];
  double N[9], z[3];
  gyroscopic(body, x, N);
  for (int k = 0; k < 3; k++) z[k] = body->mass * (xdot[LW_V + k] - chain->gravity[k]);
  for (int k = 0; k < 4; k++) {
    double unit[4] = {0.0}, q[4], part[3], column[3] = {0.0};
    unit[k] = 1.0;
    lw_conjugate_product(xdot + LW_S, unit, q);
    lw_times(body->inertia, q + 1, part);
    lw_add(2.0, part, column);
    lw_conjugate_product(x + LW_S, unit, q);
    lw_times(N, q + 1, part);
    lw_add(2.0, part, column);
    add_force_by_turn(x + LW_P, body->r, z, unit, -1.0, column);
    add_force_by_turn(x + LW_P, body->a, chain->tau + 3 * i, unit, 1.0, column);
    put_column(to, LW_F, LW_P + k, 1.0, column);

    lw_conjugate_product(x + LW_P, unit, q);
    lw_times(N, q + 1, column);
    lw_times(body->inertia, q + 1, part);
    lw_add(cj, part, column);
    put_column(to, LW_F, LW_S + k, -2.0, column);
  }
}

static void put_parameters(block to, const double *x, const double *xdot, double cj) {
  for (int k = 0; k < 4; k++) {
    double unit[4] = {0.0}, difference[4], q[4];
    unit[k] = 1.0;
    to.at[(size_t)LW_I1 * to.columns + (size_t)(LW_P + k)] = 2.0 * x[LW_P + k];
    to.at[(size_t)LW_I2 * to.columns + (size_t)(LW_P + k)] = x[LW_S + k];
    to.at[(size_t)LW_I2 * to.columns + (size_t)(LW_S + k)] = x[LW_P + k];
    for (int j = 0; j < 4; j++) difference[j] = cj * x[LW_P + j] - (xdot[LW_P + j] - x[LW_S + j]);
    lw_conjugate_product(difference, unit, q);
    put_column(to, LW_I3, LW_P + k, 2.0, q + 1);
    lw_conjugate_product(x + LW_P, unit, q);
    put_column(to, LW_I3, LW_S + k, -2.0, q + 1);
  }
}

static void put_units(block to) {
  for (size_t k = 0; k < 3; k++) {
    to.at[(LW_GP + k) * to.columns + LW_R + k] = 1.0;
    to.at[(LW_GV + k) * to.columns + LW_V + k] = 1.0;
  }
}

void lw_chain_jacobian(lw_chain *chain, const double *x, const double *xdot, double cj, double *matrix) {
  const size_t n = (size_t)chain->n, columns = LW_UNKNOWNS * n;
  memset(matrix, 0, columns * columns * sizeof *matrix);
  lw_chain_forces(chain, xdot);
  for (size_t k = 0; k < n; k++) {
    const lw_chain_body *body = &chain->bodies[k];
    const double *of = x + LW_UNKNOWNS * k, *rates = xdot + LW_UNKNOWNS * k;
    block to = {matrix + LW_UNKNOWNS * k, columns};
    for (size_t i = 0; i < k; i++, to.at += LW_UNKNOWNS * columns) {
      double A[9];
      lw_attitude(x + LW_UNKNOWNS * i + LW_P, A);
      put_force(to, A, chain->bodies[i].a, cj * body->mass);
    }
    double A[9];
    lw_attitude(of + LW_P, A);
    put_units(to);
    put_point(to, of, body->c);
    put_force(to, A, body->c, cj * body->mass);
    put_torques(chain, (int32_t)k, to, of, rates, cj);
    put_parameters(to, of, rates, cj);
    for (size_t i = k + 1; i < n; i++) {
      to.at += LW_UNKNOWNS * columns;
      put_point(to, of, body->a);
    }
  }
}
