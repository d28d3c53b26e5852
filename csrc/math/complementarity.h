/* The linear complementarity problem of contact and dry friction: loads within limits, on directions that yield where
 * these are reached. */
#ifndef LW_COMPLEMENTARITY_H
#define LW_COMPLEMENTARITY_H
#include <stdint.h>

/* Find lambda within its limits such that w = W lambda + b is 0 between them, at least 0 at the lower limit and at most 0
 * at the upper one, which is the minimum of lambda' W lambda / 2 + b' lambda. W [n x n] is symmetric positive semidefinite.
 * A contact only pushes, 0 to infinity; a joint that sticks holds by at most its friction, on either of its directions. */
typedef struct lw_complementarity {
  int32_t n;
  const double *W, *b;
  const double *lower, *upper;   /* limits */
  const unsigned char *eligible; /* others keep their lower limit and may have any w; NULL: all are eligible */
  double tolerance;              /* of w */
  double *lambda;                /* [n] result */
  int32_t *active;               /* [n] result: those between their limits; their rows of W are independent */
  double *scratch;               /* LW_COMPLEMENTARITY_SCRATCH(n) */
} lw_complementarity;
#define LW_COMPLEMENTARITY_SCRATCH(n) ((n) * (n) + 3 * (n))

/* Returns how many are active; -1: there is no solution. */
int32_t lw_solve_complementarity(const lw_complementarity *p);
/* Whether w of a load cannot change while those of the others do not: their rows of W contain its own. Uses `active`. */
int lw_is_dependent(const lw_complementarity *p, const unsigned char *others, int32_t i);
/* Adds to the `active` ones those candidates whose rows of W are independent; returns how many are active then. */
int32_t lw_add_independent(const lw_complementarity *p, int32_t active, const unsigned char *candidate);
#endif
