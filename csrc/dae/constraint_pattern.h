/* Which speeds of the tree each constraint moves: its loop's alone. So J has few entries, and constraints that move no
 * speed in common have their rows from one product J' row. */
#ifndef LW_DAE_CONSTRAINT_PATTERN_H
#define LW_DAE_CONSTRAINT_PATTERN_H
#include "model/model.h"

/* Constraints are the cut joints, then the couplings, as their rows. Without entries: those of open joints. */
typedef struct lw_constraint_pattern {
  int32_t constraints, products;
  int32_t *row;     /* [constraints + 1] first row of each */
  int32_t *first;   /* [constraints + 1] of each in the list of speeds */
  int32_t *speed;   /* its speeds */
  int32_t *product; /* [constraints] that has its first row; the next ones have the others */
  size_t *entry;    /* [constraints + 1] first entry of each: rows one by one, in the order of its speeds */
} lw_constraint_pattern;

/* NULL: there is no memory. */
lw_constraint_pattern *lw_make_constraint_pattern(const lw_model *m);
void lw_free_constraint_pattern(lw_constraint_pattern *pattern);
#endif
