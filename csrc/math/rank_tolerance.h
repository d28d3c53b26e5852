/* When a pivot counts as zero: the one policy of all factorisations that find ranks.
 *
 * Rows and columns are scaled first: displacements and the rows of cut joints are counted in the length of their
 * cluster, so that independent ones have a size near one. A pivot counts as zero below RANK_TOLERANCE times the
 * largest. Off the constraint manifold singular values that vanish on it are of the size of the residual: in loops that
 * are open by |phi|, the columns' sizes squared summing up to s, a pivot also counts as zero where its square is below
 * RESIDUAL_RANK2 |phi|^2 / s of the largest. Sizes are compared by their squares.
 *
 * All other constants are exceptions, each with its reason. */
#ifndef LW_MATH_RANK_TOLERANCE_H
#define LW_MATH_RANK_TOLERANCE_H
#include "linkwork.h"

#define RANK_TOLERANCE LW_RANK_TOLERANCE
#define RESIDUAL_RANK2 25.0

/* In poses known to be singular, which lose their pivots only gradually: these are left out at once. */
#define COARSE_RANK_TOLERANCE 1e-2
/* Not a matter of rank: loop by loop, columns with smaller pivots wait where later loops can choose instead. */
#define SMALL_PIVOT 0.02
/* Multipliers factor S = J M^-1 J', whose pivots are squares. */
#define SQUARED_RANK_TOLERANCE 1e-12
/* Rows of unit size: constraints of divide and conquer, where |phi| counts as 20 |phi|, and those of
 * differential-algebraic equations, where it is added as RESIDUAL_RANK2 |phi|. */
#define REDUNDANT_ROW RANK_TOLERANCE
#define REPEATED_ROW RANK_TOLERANCE
/* Of the largest residual of an assembly's derivative, what dependent rows may leave of it. */
#define CONSISTENT_ROW 1e-7
/* Not a matter of rank either: what frames with five digits or more miss of exact ones, rad or parts of the cluster's
 * length, and what the arithmetic leaves of exact ones. Between both loops are made exact (assembly/exact_loops_kernel.h),
 * so that the rows that then vanish do so to rounding, and every factorisation finds the same rank. */
#define ROUNDED_FRAME 1e-4
#define EXACT_FRAME 1e-12
#define EXACT_PIVOT 1e-13
/* Square matrices by LU (math/lu.h) are singular by rounding alone: DBL_EPSILON of a row for Chou's equations, exactly
 * zero for Rosenbrock stages, where the step size bounds the matrix. Damped least squares (assembly/position_kernel.h) need
 * no rank: SMALLEST_DAMPING keeps their matrix regular. */
#endif
