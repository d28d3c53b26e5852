/* Independent coordinates and speeds, and the workspace to solve for the dependent ones. */
#ifndef LW_INDEPENDENT_COORDINATES_MINIMAL_COORDINATES_H
#define LW_INDEPENDENT_COORDINATES_MINIMAL_COORDINATES_H
#include "math/pivoted_qr.inc"
#include "state/state.h"

struct lw_minimal {
  lw_state *state;
  int32_t n_q, n_u;
  int32_t rows, nq, nu;
  int32_t *q, *u;           /* independent */
  int32_t *dependent;       /* speeds whose coordinates are not */
  unsigned char *q_is_free; /* of each coordinate: independent */
  unsigned char *u_is_free;
  pivoted_qr dependents;
  double pivot_ratio;                                       /* what factoring them has given */
  double *J, *phi, *rate, *first_phi, *rhs, *step, *length; /* length: in which each row counts */
  double *scale;                                            /* of each row for the elimination */
  double *initial_q, *saved_q, *saved_states;               /* independent coordinates, all coordinates; q and u */
  double *start_q;                                          /* all coordinates; another pose to begin from */
  int has_start;
};
#endif
