/* Scheme 3 of the paper: all unknowns but phi are eliminated; J_R (41), 3n x 3n, is formed and decomposed.
 *   J_R(i, k) = [k = i] (F_i + cj m_i r~_i A_i^T beta_i) - (k < i: cj (M_i a~ - m_i r~)_i A_i^T alpha_k)
 *             - (k >= i: cj a~_i A_i^T C_k),   C_k = M_(k+1) alpha_k + m_k beta_k,   M_k = m_k + ... + m_n
 *   E_R(i) = f_i - cj (a~_i A_i^T T_i - m_i r~_i A_i^T v_i),   T_i = m_i v_i + ... + m_n v_n,   v for phi = 0  (42) */
#include <float.h>

#include "chain.h"
#include "math/lu.h"
#include "vectors.h"

/* ---- the matrix ------------------------------------------------------------------------------------ */

static void put_block(const lw_chain *chain, int32_t i, int32_t k, double sign, const double block[9], bool add) {
  const size_t columns = 3 * (size_t)chain->n;
  double *to = chain->matrix + 3 * (size_t)i * columns + 3 * (size_t)k;
  for (int row = 0; row < 3; row++, to += columns)
    for (int j = 0; j < 3; j++) to[j] = sign * block[3 * row + j] + (add ? to[j] : 0.0);
}

/* C of body k, stored in Q; outboard_mass is M_(k+1) */
static void column_factor(lw_chain_link *link, double mass, double outboard_mass) {
  for (int j = 0; j < 9; j++) link->Q[j] = outboard_mass * link->alpha[j] + mass * link->beta[j];
}

/* cj (M a~ - m r~) A^T */
static void row_factor(const lw_chain *chain, int32_t i, double M, double m, double out[9]) {
  const double *A = chain->links[i].A;
  const double At[9] = {A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]};
  for (int j = 0; j < 9; j++) out[j] = 0.0;
  lw_add_cross_columns(chain->cj * M, chain->bodies[i].a, At, out);
  lw_add_cross_columns(-chain->cj * m, chain->bodies[i].r, At, out);
}

static void put_rows(lw_chain *chain, int32_t i, double M) {
  const double m = chain->bodies[i].mass;
  double inner[9], outer[9], own[9], block[9];
  row_factor(chain, i, M, m, inner);
  row_factor(chain, i, 1.0, 0.0, outer);
  row_factor(chain, i, 0.0, m, own);
  for (int32_t k = 0; k < chain->n; k++) {
    lw_product(k < i ? inner : outer, k < i ? chain->links[k].alpha : chain->links[k].Q, block);
    put_block(chain, i, k, -1.0, block, k == i);
  }
  lw_product(own, chain->links[i].beta, block);
  put_block(chain, i, i, -1.0, block, true);
}

static void form(lw_chain *chain, const double *x, const double *xdot) {
  double M = 0.0;
  for (int32_t i = chain->n - 1; i >= 0; i--) {
    lw_chain_rows rows;
    lw_chain_linearise(chain, i, x + LW_UNKNOWNS * i, xdot + LW_UNKNOWNS * i, &rows);
    column_factor(&chain->links[i], chain->bodies[i].mass, M);
    put_block(chain, i, i, 1.0, rows.F, false);
    M += chain->bodies[i].mass;
  }
  for (int32_t i = 0; i < chain->n; i++) {
    put_rows(chain, i, M);
    M -= chain->bodies[i].mass;
  }
}

lw_status lw_chain_reduce(lw_chain *chain, const double *x, const double *xdot, double cj) {
  chain->factorisation = LW_CHAIN_UNFACTORED;
  if (!chain->matrix) return LW_ERROR_USAGE;
  chain->cj = cj;
  lw_chain_forces(chain, xdot);
  form(chain, x, xdot);
  const lw_status status = lw_lu_decompose(chain->matrix, 3 * chain->n, DBL_EPSILON, chain->order, chain->scale);
  if (status == LW_OK) chain->factorisation = LW_CHAIN_REDUCED;
  return status;
}

/* ---- solution -------------------------------------------------------------------------------------- */

/* E_R of all bodies; rhs holds f already */
static void right_hand_side(lw_chain *chain) {
  double u[3] = {0.0}, T[3] = {0.0}, part[3];
  for (int32_t i = 0; i < chain->n; i++) {
    lw_chain_correction *step = &chain->corrections[i];
    for (int k = 0; k < 3; k++) {
      step->phi[k] = step->e[k] + u[k]; /* v until phi is known */
      u[k] -= step->g[k];
    }
  }
  for (int32_t i = chain->n - 1; i >= 0; i--) {
    const lw_chain_body *body = &chain->bodies[i];
    const double *A = chain->links[i].A, *v = chain->corrections[i].phi;
    lw_add(body->mass, v, T);
    lw_transposed_times(A, T, part);
    lw_add_cross(-chain->cj, body->a, part, chain->rhs + 3 * i);
    lw_transposed_times(A, v, part);
    lw_add_cross(chain->cj * body->mass, body->r, part, chain->rhs + 3 * i);
  }
}

static void solve_for_phi(lw_chain *chain) {
  double *phi = chain->scale; /* of use to the decomposition only */
  lw_lu_solve(chain->matrix, 3 * chain->n, chain->order, chain->rhs, phi);
  for (int32_t i = 0; i < 3 * chain->n; i++) chain->corrections[i / 3].phi[i % 3] = phi[i];
}

void lw_chain_solve_reduced(lw_chain *chain, const double *b, double *x) {
  double u[3] = {0.0}, lambda[3] = {0.0};
  for (int32_t i = 0; i < chain->n; i++) lw_chain_right_hand_side(chain, i, b + LW_UNKNOWNS * i, chain->rhs + 3 * i);
  right_hand_side(chain);
  solve_for_phi(chain);
  for (int32_t i = 0; i < chain->n; i++) {
    double v[3];
    lw_chain_propagate_velocity(&chain->links[i], &chain->corrections[i], u, v);
    lw_chain_recover(chain, i, b + LW_UNKNOWNS * i, v, lambda, x + LW_UNKNOWNS * i);
  }
}
