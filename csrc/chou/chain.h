/* Data of a chain of spherical joints, shared by the files of this folder.
 *
 * Quaternion products are juxtaposed, p* is the conjugate: A a = p a p*, G(p) x = vec(p* x), E(p) x = vec(x
 * p*). Index b is a or r, a~ b = a x b, U the unit matrix. J dX = E is one Newton correction, with E = (Gp, Gv, F, I1,
 * I2, I3) in the order of the equations, and cj is the paper's sigma.
 *
 * The general solution of I1 to I3, with three unknowns phi for each body, its rotation in body axes (s^ = p* s / p.p
 * ...):
 *   dP = p (xi, phi / 2),  dS = p (d0 - s^.phi / 2, dv + (w0 phi - w x phi) / 2),  w^ = (w0, w) of cj p - (p' - s)
 *   xi = I1 / (2 p.p),  d0 = (I2 - s^0 I1 / 2) / p.p,  dv = -(w I1 + I3) / (2 p.p)
 * It replaces the paper's three independent parameters, (44)-(46). It divides by p.p only, so it is regular at every
 * attitude and no parameters have to be selected. With it
 *   d(A b) = A (phi x b + 2 xi b),  d(A b)' = A (B(b) phi + eta b + gam x b)
 * where
 *   B(b) = -(w0 + s^0) b~ + b~ w~ + s^ b' + (b.s^) U - 2 b s^',  eta = 2 I2 / p.p,  gam = ((s^ - w) I1 - I3) / p.p */
#ifndef LW_CHOU_CHAIN_H
#define LW_CHOU_CHAIN_H
#include <stdbool.h>

#include "linkwork.h"

enum { LW_R = 0, LW_V = 3, LW_P = 6, LW_S = 10, LW_UNKNOWNS = 14 };         /* offsets in X */
enum { LW_GP = 0, LW_GV = 3, LW_F = 6, LW_I1 = 9, LW_I2 = 10, LW_I3 = 11 }; /* offsets in F(X, X') */

typedef struct lw_chain_body {
  double mass, inertia[9];
  double a[3], r[3]; /* inner joint and mass centre from the outer joint */
  double c[3];       /* a - r */
} lw_chain_body;

/* A body, linearised at the last point factored. */
typedef struct lw_chain_link {
  double p[4], square;      /* p.p */
  double A[9];              /* p.p times the rotation, body to world */
  double s[4], w[4];        /* s^ and w^ */
  double F_p[3], F_rate[9]; /* torque coefficients besides phi: F_p = F_P p; F_S = -2 F_rate G */
  double alpha[9], beta[9]; /* A B(a), A B(c) */
  double K[9];              /* force at the outer joint on the next body per velocity of the joint */
  double Q[9], W[9], D[9];  /* D is LU-decomposed */
  int8_t row[3];            /* pivot order of D */
} lw_chain_link;

/* The Newton correction of a body. */
typedef struct lw_chain_correction {
  double phi[3];
  double e[3], g[3]; /* velocity residuals at the mass centre and at the outer joint */
} lw_chain_correction;

/* Coefficients of a body for the two sweeps, in body axes. */
typedef struct lw_chain_rows {
  double F[9];           /* torque per phi */
  double B_a[9], B_c[9]; /* B(a), B(c) */
  double f[3];           /* torque residual */
} lw_chain_rows;

typedef enum lw_chain_factorisation {
  LW_CHAIN_UNFACTORED = 0,
  LW_CHAIN_FACTORED,
  LW_CHAIN_REDUCED
} lw_chain_factorisation;

struct lw_chain {
  int32_t n;
  lw_chain_factorisation factorisation;
  double cj;
  double gravity[3], support[3];
  lw_chain_body *bodies;
  lw_chain_link *links;
  lw_chain_correction *corrections;
  double *tau;    /* [n + 1][3] force of the inner joint on each body, world axes; the last is zero */
  double *matrix; /* [3n][3n] reduced and decomposed; NULL: not allocated */
  double *scale;  /* [3n] row scales */
  double *rhs;    /* [3n] */
  int32_t *order; /* [3n] pivot order */
};

/* z = m (V' - g), and tau from the tip inwards. */
void lw_chain_forces(lw_chain *chain, const double *xdot);

/* Linearises body i; x and xdot are its own. `chain->tau` must be valid. */
void lw_chain_linearise(lw_chain *chain, int32_t i, const double *x, const double *xdot, lw_chain_rows *rows);

/* Computes alpha and beta of a link from B_a and B_c. */
void lw_chain_set_alpha_beta(lw_chain_link *link, const lw_chain_rows *rows);

/* The inward sweep at body i: K enters for its outer joint and leaves for its inner joint. */
lw_status lw_chain_eliminate(lw_chain *chain, int32_t i, const lw_chain_rows *rows, double K[9]);
/* The inward sweep of a right-hand side: phi of correction i for a fixed inner joint; k as K. f is overwritten. */
void lw_chain_inward_step(lw_chain *chain, int32_t i, double f[3], double k[3]);
/* The outward sweep at body i: corrects phi for the joint velocity u, and returns u of the next joint and v. */
void lw_chain_outward_step(lw_chain *chain, int32_t i, double u[3], double v[3]);

/* Right-hand side from the equations b[14] of body i: f, and e and g of its correction. */
void lw_chain_right_hand_side(lw_chain *chain, int32_t i, const double *b, double f[3]);
/* x[14] of body i from phi of its correction; lambda is the sum of d(A a) of the bodies before it. */
void lw_chain_recover(lw_chain *chain, int32_t i, const double *b, const double v[3], double lambda[3], double *x);
/* v of body i and u of the next joint, from phi. */
void lw_chain_propagate_velocity(const lw_chain_link *link, const lw_chain_correction *step, double u[3], double v[3]);

void lw_chain_solve_reduced(lw_chain *chain, const double *b, double *x);
#endif
