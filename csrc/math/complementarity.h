/* The linear complementarity problem of contacts: loads that only push, on directions that only separate. */
#ifndef LW_COMPLEMENTARITY_H
#define LW_COMPLEMENTARITY_H
#include <stdint.h>

/* Find lambda >= 0 such that w = W lambda + b >= 0 and lambda_i w_i = 0, which is the minimum of lambda' W lambda / 2 +
 * b' lambda over lambda >= 0. W [n x n] is symmetric positive semidefinite. */
typedef struct lw_complementarity {
  int32_t n;
  const double *W, *b;
  const unsigned char *eligible; /* others have no load and may have any w; NULL: all are eligible */
  double tolerance;              /* of w */
  double *lambda;                /* [n] result */
  int32_t *active;               /* [n] result: those with a load; their rows of W are independent */
  double *scratch;               /* LW_COMPLEMENTARITY_SCRATCH(n) */
} lw_complementarity;
#define LW_COMPLEMENTARITY_SCRATCH(n) ((n) * (n) + 3 * (n))

/* Returns how many are active; -1: there is no solution. */
int32_t lw_solve_complementarity(const lw_complementarity *p);
/* Adds to the `active` ones those candidates whose rows of W are independent; returns how many are active then. */
int32_t lw_add_independent(const lw_complementarity *p, int32_t active, const unsigned char *candidate);
#endif
