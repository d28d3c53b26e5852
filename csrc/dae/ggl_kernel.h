/* The stabilised equations of index 1 (Gear, Gupta and Leimkuhler) in the tree's coordinates, y = [q; u; Lambda; Mu]
 * with lambda = Lambda', mu = Mu':
 *   qdot - N(q) (u - J'mu) = 0,   M udot + h - J'lambda = 0,   Phi - s Mu' = 0,   J u + Phi_t + s Lambda' = 0
 * where s, the relaxation of a row, takes the place of a row that is zero or repeats others; its
 * signs draw the state back to what the row asks for. */
#ifndef LW_DAE_GGL_KERNEL_H
#define LW_DAE_GGL_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/kinematics_kernel.h"
#include "tree/forces_kernel.h"
#include "loops/drift_stabilisation_kernel.h"
#include "loops/inverse_dynamics_kernel.h"
#include "dae/constraints_kernel.h"

static void compute_open_loop(const view *v) {
  compute_kinematics(v);
  apply_external_forces(v);
  compute_tree_loads(v);
}

static void augmented_residual(const lw_model *m, lw_block b, const lw_dae_point *in, void *result) {
  const view v = open_view(m, b);
  const int32_t nq = m->size.nq, nu = m->size.nu, rows = lw_constraint_rows(m);
  const real *y = in->y, *ydot = in->ydot, *lambda = ydot + nq + nu, *mu = lambda + rows;
  real *out = result, *phi = out + nq + nu, *rate = phi + rows, *drift = FIELD(&v, rate);
  copy(nq, y, v.q);
  copy(nu, y + nq, v.u);
  compute_open_loop(&v);
  constrain_tree(&v, &(row_flow){lambda, mu, phi, rate, drift, NULL});
  gather_drifts(&v, drift);
  for (int32_t k = 0; k < nu; k++) drift[k] = v.u[k] - drift[k];
  map_rates(&v);
  for (int32_t k = 0; k < nq; k++) out[k] = ydot[k] - FIELD(&v, qdot)[k];
  loads_for(&v, ydot + nq, 1, out + nq);
  for (int32_t k = 0; k < nu; k++) out[nq + k] -= v.load[k];
  for (int32_t k = 0; k < rows; k++) {
    phi[k] -= in->relaxation[rows + k] * mu[k];
    rate[k] += in->relaxation[k] * lambda[k];
  }
}

/* J' times multipliers of the rows, at the block's coordinates, besides Phi, J u + Phi_t and J, which is NULL or zero
 * before. */
static void constraint_values(const lw_model *m, lw_block b, const void *row, void *phi, void *rate, void *column,
                              void *matrix) {
  const view v = open_view(m, b);
  compute_open_loop(&v);
  constrain_tree(&v, &(row_flow){row, row, phi, rate, column, matrix});
  gather_drifts(&v, column);
}
#endif
