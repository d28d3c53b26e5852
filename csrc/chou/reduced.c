/* The paper's scheme 3: everything but phi is eliminated, and J_R (41), 3n x 3n, is formed and factored as it stands.
 *   J_R(i, k) = [k = i] (F_i + cj m_i r~_i A_i^T beta_i) - (k < i: cj (M_i a~ - m_i r~)_i A_i^T alpha_k)
 *             - (k >= i: cj a~_i A_i^T C_k),   C_k = M_(k+1) alpha_k + m_k beta_k,   M_k = m_k + ... + m_n
 *   E_R(i) = f_i - cj (a~_i A_i^T T_i - m_i r~_i A_i^T v_i),   T_i = m_i v_i + ... + m_n v_n,   v where phi = 0      (42) */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "chain.h"
#include "vectors.h"

/* ---- the matrix ------------------------------------------------------------------------------------ */

static void put_block(const lw_chain *chain, int32_t i, int32_t k, double sign, const double block[9], bool add) {
  const size_t columns = 3 * (size_t)chain->n;
  double *to = chain->matrix + 3 * (size_t)i * columns + 3 * (size_t)k;
  for (int row = 0; row < 3; row++, to += columns)
    for (int j = 0; j < 3; j++) to[j] = sign * block[3 * row + j] + (add ? to[j] : 0.0);
}

/* C of body k, kept in Q; `behind` is M_(k+1) */
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

/* ---- LU with row exchanges, each row measured by its own largest element --------------------------- */

/* NaN is the largest of all. */
static double largest_of(const double *row, size_t n) {
  double largest = 0.0;
  for (size_t j = 0; j < n; j++) {
    if (isnan(row[j])) return row[j];
    if (fabs(row[j]) > largest) largest = fabs(row[j]);
  }
  return largest;
}

/* The position in `order`, from `step` on, of the row with the largest pivot; *ratio is that to its scale. */
static size_t best_row(const lw_chain *chain, size_t step, size_t n, double *ratio) {
  size_t best = step;
  *ratio = -1.0;
  for (size_t i = step; i < n; i++) {
    const size_t row = (size_t)chain->order[i];
    const double size = fabs(chain->matrix[row * n + step]) / chain->scale[row];
    if (size > *ratio) {
      *ratio = size;
      best = i;
    }
  }
  return best;
}

static void subtract_row(double *row, const double *pivot_row, size_t step, size_t n) {
  const double factor = row[step] / pivot_row[step];
  row[step] = factor;
  for (size_t j = step + 1; j < n; j++) row[j] -= factor * pivot_row[j];
}

static lw_status decompose(lw_chain *chain) {
  const size_t n = 3 * (size_t)chain->n;
  for (size_t i = 0; i < n; i++) {
    chain->order[i] = (int32_t)i;
    chain->scale[i] = largest_of(chain->matrix + i * n, n);
    if (!isfinite(chain->scale[i])) return LW_ERROR_VALUE;
  }
  for (size_t step = 0; step < n; step++) {
    double ratio;
    const size_t best = best_row(chain, step, n, &ratio);
    if (!(ratio > DBL_EPSILON)) return LW_ERROR_SINGULAR;
    const int32_t row = chain->order[best];
    chain->order[best] = chain->order[step];
    chain->order[step] = row;
    const double *pivot_row = chain->matrix + (size_t)row * n;
    for (size_t i = step + 1; i < n; i++) subtract_row(chain->matrix + (size_t)chain->order[i] * n, pivot_row, step, n);
  }
  return LW_OK;
}

lw_status lw_chain_reduce(lw_chain *chain, const double *x, const double *xdot, double cj) {
  chain->factorisation = LW_CHAIN_UNFACTORED;
  if (!chain->matrix) return LW_ERROR_USAGE;
  chain->cj = cj;
  lw_chain_forces(chain, xdot);
  form(chain, x, xdot);
  const lw_status status = decompose(chain);
  if (status == LW_OK) chain->factorisation = LW_CHAIN_REDUCED;
  return status;
}

/* ---- solution -------------------------------------------------------------------------------------- */

/* E_R of all bodies; what is left of F is in rhs already */
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

/* L U phi = rhs, into the steps */
static void substitute(lw_chain *chain) {
  const size_t n = 3 * (size_t)chain->n;
  double *y = chain->scale; /* no longer needed */
  for (size_t i = 0; i < n; i++) {
    const double *row = chain->matrix + (size_t)chain->order[i] * n;
    double sum = chain->rhs[chain->order[i]];
    for (size_t j = 0; j < i; j++) sum -= row[j] * y[j];
    y[i] = sum;
  }
  for (size_t i = n; i-- > 0;) {
    const double *row = chain->matrix + (size_t)chain->order[i] * n;
    double sum = y[i];
    for (size_t j = i + 1; j < n; j++) sum -= row[j] * y[j];
    y[i] = sum / row[i];
    chain->corrections[i / 3].phi[i % 3] = y[i];
  }
}

void lw_chain_solve_reduced(lw_chain *chain, const double *b, double *x) {
  double u[3] = {0.0}, lambda[3] = {0.0};
  for (int32_t i = 0; i < chain->n; i++) lw_chain_right_hand_side(chain, i, b + LW_UNKNOWNS * i, chain->rhs + 3 * i);
  right_hand_side(chain);
  substitute(chain);
  for (int32_t i = 0; i < chain->n; i++) {
    double v[3];
    lw_chain_propagate_velocity(&chain->links[i], &chain->corrections[i], u, v);
    lw_chain_recover(chain, i, b + LW_UNKNOWNS * i, v, lambda, x + LW_UNKNOWNS * i);
  }
}
