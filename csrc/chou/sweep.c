/* Solves the linear system in phi and v exactly, in two sweeps:
 *   v_i = e_i + u_(i-1) - beta_i phi_i,   u_i = u_(i-1) - alpha_i phi_i - g_i,   u_0 = 0
 *   F_i phi_i + cj (a~ A^T t_i - m r~ A^T v_i) = f_i,   t_i = t_(i+1) + m_i v_i,   t_(n+1) = 0
 * Inwards with t_(i+1) = K u_i + k, which is zero at the tip:
 *   Q = K alpha + m beta,   D = F - cj (a~ A^T Q - m r~ A^T beta),   W = D^-1 cj (a~ A^T K + m c~ A^T)
 *   k' = k - K g + m e,   phi0 = D^-1 (f - cj (a~ A^T k' - m r~ A^T e)),   K <- K + m U + Q W,   k <- k' - Q phi0
 * Outwards: phi = phi0 - W u. The paper forms and factors J_R with (3 n)^2 elements; the sweeps form no such matrix. */
#include <float.h>
#include <math.h>

#include "chain.h"
#include "vectors.h"

static void swap(double *a, double *b) {
  const double t = *a;
  *a = *b;
  *b = t;
}

/* LU decomposition of M with row pivoting: row[] is the permutation, and the pivots are inverted. An explicit inverse
 * would lose digits where light bodies hang between heavy ones and M is nearly singular. A pivot at rounding level
 * means singular. */
static lw_status decompose(double M[9], int8_t row[3]) {
  double size = 0.0;
  for (int k = 0; k < 9; k++) size += fabs(M[k]);
  if (!isfinite(size)) return LW_ERROR_VALUE;
  for (int8_t k = 0; k < 3; k++) row[k] = k;
  for (int step = 0; step < 3; step++) {
    int best = step;
    for (int i = step + 1; i < 3; i++)
      if (fabs(M[3 * i + step]) > fabs(M[3 * best + step])) best = i;
    if (!(fabs(M[3 * best + step]) > DBL_EPSILON * size)) return LW_ERROR_SINGULAR;
    if (best != step) {
      for (int k = 0; k < 3; k++) swap(&M[3 * best + k], &M[3 * step + k]);
      const int8_t moved = row[best];
      row[best] = row[step];
      row[step] = moved;
    }
    M[4 * step] = 1.0 / M[4 * step];
    for (int i = step + 1; i < 3; i++) {
      M[3 * i + step] *= M[4 * step];
      for (int k = step + 1; k < 3; k++) M[3 * i + k] -= M[3 * i + step] * M[3 * step + k];
    }
  }
  return LW_OK;
}

/* out = M^-1 b for a column with this stride */
static void solve(const double M[9], const int8_t row[3], const double *b, int stride, double *out) {
  const double y0 = b[stride * row[0]];
  const double y1 = b[stride * row[1]] - M[3] * y0;
  const double y2 = b[stride * row[2]] - M[6] * y0 - M[7] * y1;
  const double x2 = M[8] * y2;
  const double x1 = M[4] * (y1 - M[5] * x2);
  out[0] = M[0] * (y0 - M[1] * x1 - M[2] * x2);
  out[stride] = x1;
  out[2 * stride] = x2;
}

lw_status lw_chain_eliminate(lw_chain *chain, int32_t i, const lw_chain_rows *rows, double K[9]) {
  const lw_chain_body *body = &chain->bodies[i];
  lw_chain_link *link = &chain->links[i];
  const double m = body->mass, cj = chain->cj, squares = link->square * link->square; /* A^T A = squares U */
  const double *A = link->A;
  const double At[9] = {A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]};
  double part[9], by_u[9] = {0.0};
  lw_product(K, link->alpha, link->Q);
  for (int k = 0; k < 9; k++) {
    link->K[k] = K[k];
    link->Q[k] += m * link->beta[k];
    link->D[k] = rows->F[k];
  }
  lw_product(At, link->Q, part);
  lw_add_cross_columns(-cj, body->a, part, link->D);
  lw_add_cross_columns(cj * m * squares, body->r, rows->B_c, link->D);
  const lw_status status = decompose(link->D, link->row);
  if (status != LW_OK) return status;

  lw_product(At, K, part);
  lw_add_cross_columns(cj, body->a, part, by_u);
  lw_add_cross_columns(cj * m, body->c, At, by_u);
  for (int k = 0; k < 3; k++) solve(link->D, link->row, by_u + k, 3, link->W + k);
  lw_product(link->Q, link->W, part);
  for (int k = 0; k < 9; k++) K[k] += part[k];
  lw_add_unit(m, K);
  return LW_OK;
}

void lw_chain_inward_step(lw_chain *chain, int32_t i, double f[3], double k[3]) {
  const lw_chain_body *body = &chain->bodies[i];
  const lw_chain_link *link = &chain->links[i];
  lw_chain_correction *step = &chain->corrections[i];
  double part[3];
  lw_times(link->K, step->g, part);
  lw_add(-1.0, part, k);
  lw_add(body->mass, step->e, k);
  lw_transposed_times(link->A, k, part);
  lw_add_cross(-chain->cj, body->a, part, f);
  lw_transposed_times(link->A, step->e, part);
  lw_add_cross(chain->cj * body->mass, body->r, part, f);
  solve(link->D, link->row, f, 1, step->phi);
  lw_times(link->Q, step->phi, part);
  lw_add(-1.0, part, k);
}

void lw_chain_propagate_velocity(const lw_chain_link *link, const lw_chain_correction *step, double u[3], double v[3]) {
  double by_beta[3], by_alpha[3];
  lw_times(link->beta, step->phi, by_beta);
  lw_times(link->alpha, step->phi, by_alpha);
  for (int k = 0; k < 3; k++) {
    v[k] = step->e[k] + u[k] - by_beta[k];
    u[k] -= by_alpha[k] + step->g[k];
  }
}

void lw_chain_outward_step(lw_chain *chain, int32_t i, double u[3], double v[3]) {
  const lw_chain_link *link = &chain->links[i];
  lw_chain_correction *step = &chain->corrections[i];
  double part[3];
  lw_times(link->W, u, part);
  lw_add(-1.0, part, step->phi);
  lw_chain_propagate_velocity(link, step, u, v);
}
