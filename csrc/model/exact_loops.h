/* Loops that would move more freely, or would close, if the frames of their joints were exact: what rounding changed. */
#ifndef LW_ASSEMBLY_EXACT_LOOPS_H
#define LW_ASSEMBLY_EXACT_LOOPS_H
#include "math/tolerances.h"
#include <stdint.h>

#define MOST_DIRECTIONS 256 /* different ones in a cluster: with more none is made exact */

/* A direction of a joint, world axes: z or x of its frame on the parent, on the child, or on both as they coincide. */
typedef struct lw_joint_direction {
  int32_t joint, end; /* end: 0 the parent's, 1 the child's, BOTH_ENDS */
  int32_t group;
  double d[3];
} lw_joint_direction;

/* Directions that agree but for the rounding of double precision, and the exact one that they become. */
typedef struct lw_direction_group {
  int32_t count, leader;
  double d[3], exact[3];
} lw_direction_group;

/* A point on all axes of a loop, and on those of the other loops of its group. */
typedef struct lw_loop_centre {
  int32_t group;
  double point[3];
} lw_loop_centre;

/* Of loops that are made to move together; clusters with more keep their frames. */
#define MOST_LOOPS 8
#define MOST_JOINTS 40
#define MOST_COLUMNS 96
#define MOST_POSES 16 /* in addition to the first */
#define MOST_EQUATIONS (6 * MOST_LOOPS)
#define MOST_ROWS (MOST_EQUATIONS * (MOST_POSES + 1))
#define MOST_UNKNOWNS (12 * MOST_JOINTS)

/* A joint of such loops: its link, -1: it is cut; and its first column. */
typedef struct lw_mobile_joint {
  int32_t joint, link, column;
} lw_mobile_joint;

/* Work on such loops, one or several; see mobile_loops_kernel.h. Columns of J, and vectors of the bases, have `equations`
 * numbers. */
typedef struct lw_mobile_loops {
  int32_t loops, loop[MOST_LOOPS], equations, joints, columns, rank, poses, rows, order[MOST_ROWS];
  lw_mobile_joint joint[MOST_JOINTS];
  double metric[MOST_COLUMNS], J[MOST_EQUATIONS * MOST_COLUMNS], A[MOST_EQUATIONS * MOST_COLUMNS];
  double phi[MOST_EQUATIONS], basis[MOST_EQUATIONS * MOST_EQUATIONS], across[MOST_EQUATIONS * MOST_EQUATIONS];
  double unit[MOST_EQUATIONS * MOST_EQUATIONS], K[MOST_EQUATIONS * MOST_EQUATIONS], y[MOST_EQUATIONS];
  double first[MOST_COLUMNS + MOST_JOINTS], pose[MOST_POSES + 1][MOST_COLUMNS + MOST_JOINTS]; /* coordinates */
  double a[MOST_ROWS * MOST_UNKNOWNS], b[MOST_ROWS]; /* of the changes, which have six numbers for each frame */
  double packed[MOST_ROWS * MOST_UNKNOWNS], diagonal[MOST_ROWS], change[MOST_UNKNOWNS], total[MOST_UNKNOWNS];
  double saved[2 * MOST_JOINTS][19]; /* frames and their changes before */
} lw_mobile_loops;

/* Scratch and result, one for a model. */
typedef struct lw_exact_loops {
  lw_joint_direction *direction; /* [3 joints] */
  lw_direction_group group[MOST_DIRECTIONS];
  int32_t directions, groups;
  lw_loop_centre *centre;        /* [loops] */
  int32_t *rank, *gains, *is_on; /* [loops], [loops]; [joints]: on a loop that gains, or is exact */
  int32_t *place;                /* [joints]: among those of `mobile` */
  lw_mobile_loops *mobile;
  double *saved, *column, (*turn)[9], (*shift)[3]; /* saved: frames; turn, shift: [2 joints], in axes of the bodies */
  int32_t changed;        /* frames were changed: the rest is set in the block's parameters too */
  int32_t inexact_plus_1; /* a cut joint whose loop, alone or with others, nearly moves but is not exact; 0: none */
} lw_exact_loops;
#endif
