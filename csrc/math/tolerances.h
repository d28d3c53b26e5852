/* The thresholds of the core, each with its reason: a name has one value. First, when a pivot counts as zero: the one
 * policy of all factorisations that find ranks.
 *
 * Rows and columns are scaled first: displacements and the rows of cut joints are counted in the length of their
 * cluster, so that independent ones have a size near one. A pivot counts as zero below RANK_TOLERANCE times the
 * largest. Off the constraint manifold singular values that vanish on it are of the size of the residual: in loops that
 * are open by |phi|, the columns' sizes squared summing up to s, a pivot also counts as zero where its square is below
 * RESIDUAL_RANK2 |phi|^2 / s of the largest. Sizes are compared by their squares.
 *
 * All other constants are exceptions, each with its reason. */
#ifndef LW_MATH_TOLERANCES_H
#define LW_MATH_TOLERANCES_H
#include "linkwork.h"
#include <float.h>

#define RANK_TOLERANCE LW_RANK_TOLERANCE
#define RESIDUAL_RANK2 25.0

/* In poses known to be singular, which lose their pivots only gradually: these are left out at once. */
#define COARSE_RANK_TOLERANCE 1e-2
/* Not a matter of rank: loop by loop, columns with smaller pivots wait where later loops can choose instead. */
#define SMALL_PIVOT 0.02
/* Nor this: what a pivot's square has at least of the largest column's. The first column that has it is taken, so that
 * neighbouring poses choose the same pivots where sizes are close, or equal but for rounding. No part of a column along a
 * pivot exceeds 1.6 of it then, 3.2 by SUPPORT, which is less than the share and keeps its effect. */
#define PIVOT_SHARE2 0.4
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

/* ---- Kinematics and rows ---- */

#define LARGEST_UNIT 200     /* logarithm of a unit of speeds: squares of units are numbers */
#define NEARLY_REVERSED 1e-9 /* 1 + cosine: a direction that is nearly the opposite one */
#define NO_SPAN2 1e-200      /* m2; points that coincide have no direction, and any will do */
/* Of a coupling: where all slopes vanish the coefficients themselves stand for the size of the row. */
#define MIN_SLOPE 1e-3
#define MIN_LENGTH2 1e-300    /* m2; squares of shorter lengths lose their digits */
#define MIN_SINE2 1e-28       /* of an angle that is zero within rounding */
#define PATH_STEPS 60         /* of the search for the nearest place on a path */
#define PATH_LEAST_SECOND 0.2 /* of the second derivative of half the squared distance: a longer step overshoots */
#define PATH_NEAR 1e-3        /* of the length of a path: a place so near is taken without a look at all others */
#define NO_PITCH 1e-9         /* m/rad: then displacements do not select the revolution of a screw */
#define QUATERNION_GAIN 1.0   /* 1/s, feedback on the length */
/* 1/s, of the constraint stabilisation: a larger one would bound the steps while nothing moves. */
#define FIRST_GAIN 0.1
#define ROUNDING_OF_ROWS (16.0 * DBL_EPSILON) /* of the length of the cluster */
#define LW_OPEN_LOOP_LIMIT 0.05               /* gap of a loop, as part of its length, with which nothing is computed */
#define LW_SINCOS_LIMIT 8e5                   /* rad; larger angles lose their revolutions first */
#define LW_COMPLEX_STEP 1e-40                 /* its square vanishes against one */

/* ---- Inertias ---- */

#define INERTIA_TOLERANCE 1e-9 /* of the moments' sum: how far rounding may take an inertia from one of a rigid body */
#define UNEVEN_MASSES 1e4      /* ratio of the largest to the smallest: less costs no digits that matter */
#define SAME_LINE 1e-9         /* distances by the size of the mechanism, and angles */
#define SYMMETRIC 1e-9         /* moments of inertia by their sum */
#define NO_MOMENT 1e-13        /* the same: rounding */
#define LOADED_SPIN 1e-8       /* torque about the line, by that of what else acts on the body */
#define LEAST_INERTIA 1e-13    /* by that with joints frozen: rounding */
#define LEAST_CLUSTER_INERTIA 1e-24 /* by that of all bodies: the square of rounding */
/* Of the frozen inertia: where a joint or a pivot moves less than this part of it, as much is lost. */
#define LOSES_DIGITS 1e-3
#define MIN_INERTIA 1e-16 /* of that about its joint: rounding of the inertia in world axes */
#define NO_INERTIA 1e-200 /* kg m2: there is none */

/* ---- Multipliers: off the closed poses pivots that vanish there are of the size |Phi|, weighted by the masses. Those
 * within the limits are none where a gap divides them from the others. ---- */

#define LEAST_SIZE2 1e-18  /* of a constraint's largest z, squared: smaller ones are rounding */
#define SIZES_OFF 10.0     /* by |Phi|^2: limit of squared sizes */
#define PIVOTS_OFF 100.0   /* by |Phi|^2: limit of pivots */
#define GAP_OF_PIVOTS 0.05 /* of a pivot to the one before */
#define FADING 1e-2        /* of squared sizes */
#define CANCELLED 1e-3     /* of a load's acceleration without constraints, the part that remains */
#define LEAST_LOAD 1e-14   /* of the largest: smaller ones are rounding */
/* Scaled: as many digits are lost as it has zeros, and more where loads cancel; fewer do no harm. */
#define PIVOT_OF_MULTIPLIERS 1e-3

/* ---- Divide and conquer ---- */

#define NO_SIZE2 1e-280     /* squares of shorter rows lose their digits */
#define NEARLY_LARGEST 0.25 /* of squares: any of these pivots may be taken */
#define DISPARATE 1e8       /* ratio of compliances, of which the remainder of a row has the root */
#define HELD_SPEED 1e-13    /* compliance of a speed that others hold, relative to that of its free bodies and rotor */
#define PASSES_OF_CONSTRAINED 2   /* the second one removes what rounding leaves of the first */
#define DEPENDENT_DIRECTION 1e-11 /* pivot relative to the diagonal: the direction depends on active ones */

/* ---- Singular poses ---- */

/* Below, a pose is near a singular one: accelerations are those of the closest closed pose. */
#define NEAR_CONDITIONING 0.05
#define DOUBTFUL_CONDITIONING 0.1      /* below, the other elimination is asked as well */
#define ROUNDING_OF_RESIDUAL 1e-15     /* what it leaves of a residual */
#define BIFURCATION_CONDITIONING 1e-2  /* below, a bifurcation is crossed by interpolation */
#define HIDING_VIOLATION 0.1           /* of the conditioning */
#define FAR_FROM_CLOSED 0.1            /* rad or lengths */
#define PROBE_SPACING 0.04             /* between the poses, rad or lengths */
#define BETTER_CONDITIONED 2.0         /* how much better the conditioning is there */
#define ACCELERATION_UNCERTAINTY 3e-13 /* acceleration by v^2 / conditioning^3 */
#define LOAD_UNCERTAINTY 1e-15         /* of an acceleration, by 1 / conditioning^2 */
#define BRANCH_TOLERANCE 0.02          /* part of the speeds that may be along no branch */
#define SPEED_AT_REST 1e-9             /* rad/s or lengths per second */
#define LOAD_AT_REST 1e-6              /* accelerations that count as rest: rad/s2, m/s2 or lengths per s2 */
#define SPEED_OF_ERRORS 1e-6           /* slower, the direction of speeds may be that of a solver's errors */

/* ---- Degrees of freedom: when loops count as closed. */

#define CLOSED_TO_COUNT 1e-6  /* residual in lengths: degrees of freedom are counted again there */
#define CLOSED_NEARBY 1e-9    /* |Phi| in the metric, of a pose in which they are counted */
#define CLOSED_AT_START2 1e-6 /* sum of squared gaps in the metric, where poses are compared */
#define PROBE_STEP 0.1        /* rad, or lengths of the cluster */
#define ANOTHER_POSE 0.02     /* of such: a pose that closes nearer to the present one is this one */
#define COUNTED_GAP2 1e-4     /* squared: a gap beyond is no evidence of the rank of a closed loop */
#define SUPPORT 0.25          /* preference, by one, of columns inboard of a later loop: they stay free for it */

/* ---- Curves of poses (continuation/): the thresholds of their steps are those of analysis/continuation.py. ---- */

#define CURVE_RIDGE 1e-13     /* of the largest entry of A A', where rows are chosen: rounding leaves 1e-16 */
#define CURVE_PIVOT 1e-11     /* of the same: a smaller pivot is a row that repeats others */
#define CURVE_LEFT_OUT 1e200  /* pivot of a row that is not kept */
#define CURVE_REGULARITY 1e-4 /* smaller ones leave too few digits of A A': singular values decide */
#define ACROSS_TANGENT 1e-3   /* a unit vector that keeps less is no direction for the tangent */

/* ---- Assembly ---- */

#define JUDGED_GAP 0.01    /* up to which the tolerance for ranks follows a gap: beyond, hardly any pivot would do */
#define MAX_WORK 4e8       /* multiplications of all trials for one cluster of many loops together */
#define MAX_MOVE_RATIO 4.0 /* of the nearest closed pose: how far holding some coordinates may move the others */
#define LARGEST_ASSEMBLY_STEP 0.7 /* rad, or loop lengths, of a damped step */
#define SMALLEST_DAMPING 1e-12    /* relative: rows that no column moves (redundant ones) then ask for nothing */
#define NEAREST 1e-8              /* rad, or lengths: how well the end of a range is found */
/* How far off it the value stays, about 1e-3 rad of a crank: the end itself is a dead point. */
#define OFF_THE_END 1e-6
#define AS_WELL 1e-12 /* how well poses there must close: those beyond the end are open by how far they are beyond */
#define SPEED_TOLERANCE 1e-11  /* what assembled speeds may miss of the constraints */
#define ROUNDING_OF_LOOP 1e-12 /* |Phi| of a loop that may not get less */
#define OPEN_BY_ITSELF 1e-6    /* |Phi| of a loop that does not close by itself */
#define FAR_MOVE 0.3           /* rad or m: how far coordinates move without another way being tried */
#define KEPT_START 1e-6        /* rad, or lengths of the cluster, or of the largest speed: a smaller change is none */
#define ROUNDED_START 1e-3     /* a change of values given with four digits */
#define GUESSED_START 1.0      /* how far guesses may be from the pose that they select */
/* Of the fastest speed or 1 rad/s: KEPT_START times as much is rounding of speeds that are zero. */
#define SLOWEST 1e-7
#define STILL 1e-6         /* relative: a coordinate that moved less is fixed */
#define HELD_BY_ROWS 1e-14 /* by the smallest size of a new row: rounding */

/* ---- Loops that become exact ---- */

#define MAJORITY 0.5 /* of a group's directions: more than that agree to the last bit, and are taken as they are */
#define NEARLY_CLOSED (10.0 * ROUNDED_FRAME) /* a pose from which the exact one is looked for */
#define NEARLY_LOST 1e-3    /* a pivot: what rounding leaves of one that vanishes, with columns of size one */
#define WELL_LOST 1e-10     /* a pivot or residual that every factorisation takes for zero */
#define STEP_ALONG 0.25     /* rad, or lengths of the cluster, from a pose to the next */
#define FURTHEST_OFF 2e-3   /* |Phi| of a pose of nearly mobile loops */
#define CLOSED_ALONG 1e-10  /* the rest of Phi along J, or SMALL_ALONG of the part across it */
#define SMALL_ALONG 1e-3    /* see CLOSED_ALONG */
#define TRUST 300.0         /* by the residual: what poses that are not exact leave of dependent rows */
#define LARGEST_PIVOT 0.05  /* that is ever left out */
#define MOVES_EXACTLY 1e-12 /* residual of loops that are exact */
#define CHANGE_BY_GAP 300.0 /* the largest change of a frame by what the loops were open or their columns missed */

/* ---- Independent coordinates: at a relative pivot of p a fold of the motion is about p away, speeds grow as 1/p, and
 * rounding leaves the dependent coordinates uncertain by 1e-16/p. ---- */

#define LARGEST_DEPENDENT_STEP 0.3 /* of a dependent coordinate at once: rad, or lengths of its cluster */
#define FOLD_SHARE 0.5             /* of the way to a fold, about: a longer step could come to another branch */
#define CONTRACTION 0.25           /* of a Newton step to the one before: it is well inside its domain */
#define STALE 1e-6                 /* after a step that is smaller the matrix is as good as new */
#define FOLD_PIVOT 1e-3            /* of this pivot the matrix changes on such a way after all */
#define ROUNDING_NEAR_FOLD 1e-8    /* steps of this size that do not contract are rounding, near a fold */
#define EXACT_STEP 1e-15           /* steps of this size are not worth another one */
#define SHORTEST_STEP 0x1p-24      /* part of the way from the pose that is present: none leads on */
#define SHORT_MOVE 1e-4            /* rad or lengths: moves along nearly singular poses stay shorter */
#define OPEN_ROW 1e-7              /* what may remain of a row, in its length: of repeated rows that differ a little */
#define REACH 4.0            /* the end of a range is within reach where the pivot is less than so many times the way */
#define RANGE_TOLERANCE 1e-7 /* of the motion of all coordinates, to the end of the range */

/* ---- Events ---- */

#define OUTSIDE_TOLERANCE 1e-9 /* of a bound: larger than rounding and integration errors */
#define LEAST_CORRECTION 1e-9  /* of the fastest speed */
#define RATE_STEP 1e-6         /* s: by the rate then a variable without a rate is known to rise or fall */
#define INSTANT 1e-6           /* s: after it a speed that begins has its sign */
#define MOVING 1e-9            /* rad/s or m/s: what rested without being held slides */
#define TOGETHER_AT_REST (100.0 * LW_ZERO_TOLERANCE) /* rad/s or m/s: joints that one motion takes to rest at once */
#define SAME_LOADS                                                                                           \
  1e-14 /* of the largest pressing force: loads of friction that follow from each other have come to rest */
#define SAME_PRESSING 1e-13     /* the same, of whole evaluations near singular poses */
#define LAW_TOLERANCE 1e-10     /* and by how much the law of friction may be missed */
#define SAME_SOLUTION 1e-8      /* relative: solutions of the law of friction that differ by less are one */
#define SMALL_GAIN 0.1          /* of loads of friction on themselves: a chord is faster than the method of Newton */
#define SLOW_TURNS 0.3          /* loads that follow one another so slowly are found by the method of Newton */
#define KRYLOV_TOLERANCE 1e-12  /* of the residuals of Newton's step by GMRES, relative */
#define FAR_LOADS 1e3           /* by those of the first try: starts for second solutions */
#define TURNING_BACK 1e-9       /* of the largest acceleration: friction does not turn a motion back */
#define SMALL_HALF_ANGLE2 1e-4  /* sin^2 of half the angle of a bushing below which series replace quotients */
#define HOLDING_MARGIN 1e-11    /* of a limit of friction: what sticks exactly at it does */
#define BREAKAWAY_MARGIN 1e-10  /* the same, of a friction that held more: it slides where it still holds nearly that */
#define CLEARLY_WITHIN 1e-6     /* of a limit that is reached: others hold in its place if they do with so much less */
#define MIN_CONTACT_FORCE 1e-12 /* N or N m: the indicator of a contact is positive at no force */
#define MOST_ACCELERATION 5e6   /* m/s2 or rad/s2 */
#define SIMULTANEOUS 1e-9       /* relative time difference of simultaneous events */
#define MAX_SIMULTANEOUS 1000   /* events at one time: taken for an infinite sequence */
#define MAX_EVENTS 1e5          /* within a second */
#define RECENT_EVENTS 32.0      /* transitions in so many of the last events are reported */
#define MAX_RELATIVE_GAP 1e-4   /* relative to the length of the loop */
#define LONG_LINEAR 200         /* knots: longer tables are smooth as a rule, so that steps pass several */
#define LONG_MONOTONE 32        /* the same of monotone ones, whose slopes are continuous */
#define STANDS_OUT 4.0 /* of the mean curvature of its table: a knot of a long one that is a kink nevertheless */
/* Half-width of the band in which an indicator counts as zero, for a bound of zero. */
#define LW_ZERO_TOLERANCE (8.0 * LW_EVENT_RESOLUTION)

/* ---- Dead points ---- */

#define AT_REST 1e-4            /* of the fastest before the event: slower, nothing moves */
#define ROUNDING_SPEED 1e-9     /* rad/s or m/s: smaller speeds are rounding errors */
#define NEIGHBOUR_STEP 1e-4     /* rad or m of the fastest coordinate: for differences, and to the neighbours */
#define NEARLY_NO_SPEED 1e-6    /* of the fastest before the event */
#define ALONG_ENDED_MOTION 1e-3 /* cosine in the mass metric between the accelerations and the motion that has ended */
#define FAR_FROM_GAP 100.0      /* the neighbours' distance by the gap of the loops, which hides rows as small */
#define LONGEST_NEIGHBOUR_STEP 0.05 /* rad or m */

/* ---- Watch of the constraints ---- */

#define WATCH_BOUND 10.0      /* in sound motions residuals are below 0.3 of the solver's tolerances */
#define LARGEST_WATCHED 0.1   /* rad, or lengths of the cluster */
#define LEAST_WATCHED 1e-5    /* the same; past singular poses residuals are below 1e-6 */
#define ROUNDING_WATCHED 1e-9 /* the same, as tolerance at least */

/* ---- Impacts ---- */

#define MAX_RELATIVE_RESIDUAL 1e-6 /* of the largest speed */
#define SECOND_ORDER 1e-4 /* second derivative of a constraint, as part of the speed squared: the motion violates it */
#define SAME_SPEEDS 1e-2  /* of the fastest: by how much the decisions of both neighbours may differ */
#define REST_TIME_FRACTION 2e-7       /* of the time since the first impact; the remaining impacts are skipped */
#define REST_HEIGHT_FACTOR 2.0        /* height of a bounce relative to the zero tolerance of the indicator */
#define TIME_RESOLUTION 1.5e-14       /* of the time: shortest flight that event location resolves */
#define LOW_BOUNCE 1e-11              /* height, relative to 1 and the bound */
#define LOW_REST_FRACTION 1e-4        /* of the time since the first impact on the stop ... */
#define LOW_RUN_FRACTION 1e-5         /* ... or since the first of the run: a low bounce that takes less is skipped */
#define IMPACTS_OF_RUN 16.0           /* impacts over which the time between them is averaged */
#define RECENT_IMPACT 64.0            /* an impact so many mean times ago, or less, belongs to a run that dies away */
#define NEGLIGIBLE_SPEED 1e-12        /* of the fastest */
#define TOUCHING 2.0                  /* gap relative to the zero tolerance of the indicator */
#define DIED_AWAY 1e-9                /* gap, relative to 1 and the bound, of a run of impacts that has died away */
#define UNLOADED_GAP 1e-10            /* a stop that touches without a load acts again beyond; more than rounding */
#define GRAZING 1e-10                 /* depth, relative to 1 and the bound; more where the solver is less accurate */
#define NEGLIGIBLE_LOAD 1e-9          /* of the largest: a stop reported as pulling has no load */
#define NEGLIGIBLE_ACCELERATION 1e-11 /* of the largest */
#define NEGLIGIBLE_DEPENDENT 1e-9     /* the same, of a coordinate that others hold */
#define SEPARATION 1e-12              /* rad/s2 or m/s2: below it what touches does not separate */

/* ---- Integration ---- */

#define SQRT_EPSILON 0x1p-26 /* square root of the machine epsilon: increment of a state or of one, for differences */
#define TIME_INCREMENT_FACTOR 0x1p-13 /* of a step: a truncation error below that of order 5, and more than rounding */
#define SHORTER 0.875                 /* of the longest step that is taken: speeds change */
#define FIRST_SAMPLE 0x1p-18 /* of the interval between samples, after a start: for indicators that leave zero */
/* Of the same interval, to the sample before, through which the secant is the tangent. */
#define TANGENT_SPACING 0x1p-20
/* Of the smaller end value: a minimum is searched where its lower bound is less; no indicator is exactly convex. */
#define SAFETY 0.5
/* Of a secant between samples: before a kink the distance of points that will coincide falls ever faster. */
#define STEEPENING 2.0
#define MAX_TANGENTS 40 /* of a search for a minimum */
/* Where an indicator falls towards zero and rises again, it may have two minima: a body that is thrown past a point passes
 * it twice. So many parts of the interval are searched, the first one first. */
#define SEARCHED_PARTS 8
#define LIMITED 0.75        /* r from which on stability limits an explicit step; oscillations stay below it */
#define UNDAMPED 0.25       /* the same for steps that had to be repeated */
#define RETURN_SHARE 0.9    /* of the largest stable step, with which the explicit method continues */
#define REPETITION_COST 1.5 /* of an implicit step, without a Jacobian, in explicit ones */
/* Spectral radius of df/dy up to which a step of size one of lw_dopri5 is stable, for all damping. */
#define LW_DOPRI5_STABLE 3.3
#define LONG_RUN 10.0       /* s: in shorter runs errors of rates below those of coordinates do no harm */
#define LEAST_LENGTH 1e-3   /* of the radius of gyration: displacements of a body that turns count at least so */
#define SMALLEST_SIZE 1e-15 /* rad, m or per second: below, a size is rounding */

/* ---- Descriptions ---- */

#define EXACT_BITS 1e-14   /* what rounding leaves is not touched, so that it stays the same bits */
#define TYPED 1e-3         /* a rotation typed with four digits is made exact */
#define PERPENDICULAR 1e-5 /* cosine of axes that are perpendicular but for the digits they were typed with */

/* ---- Runs ---- */

#define STEP_SHARE 0.1                      /* of the accuracy asked for: the errors of the steps add up */
#define SMALLEST_RTOL (100.0 * DBL_EPSILON) /* that double precision keeps */
#define FULL_GAIN_UNTIL 10.0                /* s, of the end; after it the least gain of the feedback decreases */
#define FIRST_ERROR 1e-4                    /* the norm of the last error that a start assumes, and the least */
#define PROBABLY_SINGULAR                                                                          \
  1e-3 /* conditioning of a loop below which a singular pose is the probable cause of a failure */
#define CHATTERING_EVENTS 100    /* so many in succession ... */
#define CHATTERING_SPAN 1e-10    /* ... within this part of the elapsed time accumulate at a point */
#define CHATTERING_COMMANDS 1000 /* changes of commands in succession ... */
#define CHATTERING_PART 1e-2     /* ... within this part of the run */
#define EVENT_SHARE 0.2          /* events for each step from which on they are what the steps were used for */
#define FIRST_LOOK 100000  /* steps, and again each time that their number has doubled: can the run come to its end? */
#define HOPELESS 10.0      /* times the steps that are left: it cannot */
#define LOCK_UP_AHEAD 1e-3 /* part of the run that a lock-up is ahead at most where it explains a failure */
#define LOCK_UP_FIRST_STEP 1e-4 /* part of the run, from pose to pose ... */
#define LOCK_UP_LAST_STEP 1e-14 /* ... halved until the rounding of times */
#define LOCK_UP_POSES 1000      /* to be assembled at most */
#define LOCK_UP_ON_MOTION 1e-3  /* rad or m by which a row may miss its assembled pose */
#define LOCK_UP_SMALL 1e-2      /* rad or m: a change of a coordinate that any step may make ... */
#define LOCK_UP_FAR 0.5         /* ... and one that no step may make */
#define LOCK_UP_RANK 1e-7       /* of the largest constraint: below it a row depends on the others */
#define LOCK_UP_SHARE 0.1       /* of the largest part in a lock-up: drives with less of it are not named */
#define ASSEMBLY_TOLERANCE 1e-8 /* m */

/* ---- Tapes: bounds of numbers ---- */

#define LW_TAPE_LARGEST_INPUT 1e9 /* of given numbers; the kernels evaluate states with larger ones */

#define LW_TAPE_SAME_DERIVATIVE 1e-6 /* of the largest: what rounding leaves between complex steps and a tape */

#define LW_TAPE_LARGER_PARAMETERS 1000.0 /* times as large as where they were recorded, at most */

/* ---- Tapes: when they pay ---- */

#define LW_TAPE_STATES_BEFORE 1000 /* by kernels before each recording, which takes as long, or twice */
#define LW_RATES_TIMED 8     /* evaluations by a compiled tape, and by the kernels, before the first run that uses it */
#define LW_RATES_COMPARED 16 /* compiled tapes with the kernels, at first, and then at times */
#define LW_RATES_COMPARED_EVERY 256
#define LW_RATES_LONGEST_WAIT 16       /* evaluations for which compiled tapes that all miss are passed over */
#define LW_JACOBIANS_BEFORE 16         /* by complex steps before a tape of them, which takes as long to record; */
#define LW_JACOBIANS_BEFORE_SHARE 8    /* where there are many states, their square through this */
#define LW_JACOBIAN_ADOPTIONS 32       /* in a run, */
#define LW_JACOBIAN_MOST_STEPS 4000000 /* of all tapes that it adopts, or that are kept for later runs: 100 MB */
#define LW_TAPE_MOST 8                 /* for the same numbers: one for each order of pivots along a motion */
#define LW_TAPE_LONGEST_WAIT 16        /* blocks for which a tape that counts for none is passed over */
#define LW_TAPE_FEWEST_STATES 6        /* at once: 64 cost as much */
#define LW_TAPE_MOST_STEPS 200000      /* memory of one: 5 MB, and 512 B a register */
#define LW_TAPE_MOST_DERIVATIVE_STEPS 1000000 /* these gain more */
#define LW_TAPE_MOST_NODES 5000000            /* of a record, before what nothing needs is left out */
#define LW_TAPE_MOST_STEPS_BY_ROW 100000      /* longer ones take too long to record for each order of pivots */
#define LW_TAPE_MOST_BY_ROW 32                /* of these orders */
#endif
