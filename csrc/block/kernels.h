/* What the mechanics offer to the rest of the core: the same table for each arithmetic. */
#ifndef LW_KERNELS_H
#define LW_KERNELS_H
#include "block/compiled_rates.h"
#include "model/exact_loops.h"
#include "model/dca_workspace.h"
#include "model/model.h"

/* Of jumps by the reduced equations, grown as it is needed: see lw_jump_reals(). */
typedef struct lw_jump_workspace {
  double *reals;
  int32_t *integers;
  int64_t capacity; /* reals */
} lw_jump_workspace;

/* Of a jump in which so many speeds are constrained; it needs fewer integers. */
static inline int64_t lw_jump_reals(const lw_model *m, int32_t constrained) {
  return 3 * (int64_t)(m->size.nu + m->size.nu_cut) + (int64_t)constrained * (constrained + 4) + 1;
}

/* The mutable part of a state as the mechanics see it. */
typedef struct lw_block {
  void *reals;       /* size.reals scalars of the arithmetic */
  void *work;        /* workspace of the clusters, of changes, of the multipliers: lw_workspace_reals() scalars */
  int32_t *integers; /* ranks and pivots of the clusters */
  const lw_dca_workspace *dca; /* NULL until it is asked for */
} lw_block;

/* What went wrong and where; index is a body, joint, loop, coupling, cluster or force. */
typedef enum lw_fault_kind {
  LW_FAULT_NONE = 0,
  LW_FAULT_MASS,
  LW_FAULT_MASSLESS,           /* a body, which the method does not take */
  LW_FAULT_NO_INERTIA,         /* a joint moves none */
  LW_FAULT_NO_INERTIA_IN_TREE, /* while loops are open */
  LW_FAULT_LOADED_SPIN,        /* of a body without inertia about its line */
  LW_FAULT_INERTIA,
  LW_FAULT_ORIENTATION,
  LW_FAULT_LENGTH, /* of a distance */
  LW_FAULT_REFLECTED_INERTIA,
  LW_FAULT_MAX_LOAD,
  LW_FAULT_ROTOR_OF_CUT_JOINT, /* multipliers have no row for it */
  LW_FAULT_NOT_FINITE,
  LW_FAULT_OPEN_LOOP,
  LW_FAULT_DOF_CAPACITY, /* of a cluster */
  LW_FAULT_COUPLING,     /* cannot be satisfied */
  /* couplings are marked in the field coupling_conflict: */
  LW_FAULT_COUPLED_LOOP,        /* open, and so are others, or couplings of its cluster */
  LW_FAULT_COUPLINGS_REDUNDANT, /* one follows from the others */
  LW_FAULT_COUPLING_OF_LOOPS,   /* follows from the loops */
  LW_FAULT_COUPLINGS_IMMOBILE,  /* nothing can move */
  LW_FAULT_AT_REST,             /* a cluster rests where its motion branches */
  LW_FAULT_NO_BRANCH,           /* its speeds there lead along none */
  LW_FAULT_NO_SENSITIVITY,      /* a cluster cannot stay closed along the seed */
  LW_FAULT_NOT_ASSEMBLED,       /* the speeds are not those that assembly finds */
  LW_FAULT_NO_LOADS,            /* a cluster is where its motion branches, and so are the loads that it needs */
  LW_FAULT_MORE_DOF,            /* than there were rows for */
  LW_FAULT_ELEMENT_RATE,        /* of a state, has no finite value */
  LW_FAULT_JAMS,                /* a friction: no load satisfies its law */
  LW_FAULT_JAMS_OR_SLIDES       /* a friction: two do */
} lw_fault_kind;

typedef struct lw_fault {
  lw_fault_kind kind;
  int32_t index;
  double value; /* the remaining gap of an open loop [m], or the residual of a coupling */
} lw_fault;

/* Independent columns of a cluster at a pose: by single loops, and by all of its constraints. */
typedef struct lw_dof_count {
  int32_t independents, dof;
  double open2; /* sum of the squared gaps of its loops, in the metric */
} lw_dof_count;

/* Where the equations with multipliers are asked for: y = [q; u; Lambda; Mu] and its rates in scalars of the
 * arithmetic, and the relaxation of each row, of velocities and then of positions. */
typedef struct lw_dae_point {
  const void *y, *ydot;
  const double *relaxation;
} lw_dae_point;

/* To differentiate assembly: scratch for its largest cluster, step[nu], and the size of the seeds. */
typedef struct lw_sensitivity_workspace {
  void *reals, *step;
  int32_t *integers;
  double scale;
} lw_sensitivity_workspace;

/* The equations of the loads of motors at one state; see lw_load_equations. */
typedef struct lw_load_row {
  int32_t motors, capacity;
  int32_t dof;                   /* written */
  const double *motor;           /* [motors][nu + nu_cut] */
  double *matrix, *load, *speed; /* [capacity][motors], [capacity], [motors] */
  double *violation;             /* [3] */
  const double *loads;           /* [motors], with which joints press; NULL: pressing forces stay */
  double *pressing;              /* [frictions]: replaced by those of the loads; NULL: nothing presses joints */
} lw_load_row;

typedef struct lw_kernels {
  lw_fault (*constants)(const lw_model *m, lw_block b);
  /* Degrees of freedom of regular poses around the start; double only. */
  void (*find_regular_dof)(const lw_model *m, lw_block b);
  /* Frames of joints with which loops are exact; needs constants; double only. */
  void (*make_loops_exact)(const lw_model *m, lw_block b, lw_exact_loops *x);
  lw_fault (*accelerations)(const lw_model *m, lw_block b);
  lw_fault (*derivatives)(const lw_model *m, lw_block b);
  lw_fault (*outputs)(const lw_model *m, lw_block b);
  /* Indicators of kinks, unless these need the motion; needs constants. */
  void (*kinks)(const lw_model *m, lw_block b);
  /* A formula at what it reads in the block, with its kinks free; needs constants. */
  void (*free_formula)(const lw_model *m, lw_block b, int32_t formula);
  /* Poses and velocities of bodies, points of interest and measures in their fields, and in the wrench records positions and
   * velocities of the links' points; needs constants, and leaves no later stage; double only. */
  void (*body_motions)(const lw_model *m, lw_block b);
  /* Just after body_motions: the twist of a link at a point[3] of the world by one of its joint's speeds; double only. */
  void (*body_column)(const lw_model *m, lw_block b, int32_t link, int32_t speed, const void *point, void *twist);
  /* By which the sum of a coupling changes with the coordinate of a term; double only. */
  double (*slope_of_term)(const lw_model *m, lw_block b, int32_t term);
  /* Of a joint whose child is at a pose in its parent, canonical frames: the coordinates nearest to q, and its columns
   * there, a twist a speed; double only. */
  void (*joint_at_pose)(const lw_model *m, lw_block b, int32_t joint, const double *rotation, const double *position,
                        double *q, void *columns);
  /* Coordinates of the cut joints at the accelerations stage. */
  void (*locate_cuts)(const lw_model *m, lw_block b);
  /* Tree joint loads tau[nu] for udot[nu] at the present accelerations stage, which is lost. `driven` marks as many speeds of
   * the tree as degrees of freedom, of which alone udot is read and which alone have loads; NULL: all, of least norm. */
  lw_fault (*inverse_dynamics)(const lw_model *m, lw_block b, const int32_t *driven, const void *udot, void *tau);
  /* The equations of motors for udot[nu]; needs constants, and leaves no later stage; double only. */
  lw_fault (*load_equations)(const lw_model *m, lw_block b, const double *udot, lw_load_row *row);
  /* Loads that accelerate the tree at rest without gravity: a product with the mass matrix. */
  void (*mass_product)(const lw_model *m, lw_block b, const void *udot, void *tau);
  /* Of the equations with multipliers; needs constants, and leaves no later stage. */
  void (*augmented)(const lw_model *m, lw_block b, const lw_dae_point *at, void *residual);
  /* Constraints at the block's state, J' times `row`, and J, rows x nu, added to `matrix`, NULL: not; all in scalars of
   * the arithmetic, and the same remarks. */
  void (*constraints)(const lw_model *m, lw_block b, const void *row, void *phi, void *rate, void *column,
                      void *matrix);
  /* Moves the coordinates of a link's joint by a small step, six scalars of the arithmetic, counted in its speeds. */
  void (*integrate_position)(const lw_model *m, lw_block b, int32_t link, const void *step);
  /* Start guesses to states that close the loops; double only. */
  lw_fault (*assemble)(const lw_model *m, lw_block b, double tolerance);
  /* Just after it, the given start values that it did not keep, at most `capacity`; returns their number; leaves no
   * later stage; double only. */
  int32_t (*changed_starts)(const lw_model *m, lw_block b, lw_changed_start *out, int32_t capacity);
  /* What each cluster leaves at the block's coordinates; double only. */
  void (*count_dof)(const lw_model *m, lw_block b, lw_dof_count *found);
  /* The jump of all speeds at the state; needs constants, and leaves no later stage. Returns 0 where divide and conquer
   * decides; double only. */
  int (*reduced_jump)(const lw_model *m, lw_block b, lw_velocity_jump *jump, const lw_jump_workspace *workspace);
  /* W[n][n]: changes of the speeds u[n] by unit impulses along them. A speed that cannot change has a zero on the
   * diagonal. The same remarks. */
  int (*reduced_compliance)(const lw_model *m, lw_block b, int32_t n, const int32_t *u, double *W,
                            const lw_jump_workspace *workspace);
  /* Both by divide and conquer; need its workspace; double only. */
  void (*velocity_jump)(const lw_model *m, lw_block b, lw_velocity_jump *velocity_jump);
  void (*speed_compliance)(const lw_model *m, lw_block b, int32_t n, const int32_t *u, double *W);
  /* Changes and loads of the workspace of divide and conquer; double only. */
  void (*solve_subassemblies)(const lw_model *m, lw_block b);
  /* How the states follow start values, parameters and inputs by assembly; complex only. */
  lw_fault (*assembly_sensitivity)(const lw_model *m, lw_block b, const lw_sensitivity_workspace *room);
  lw_number_function *number_function; /* of compiled tapes; double only */
  /* Changes of the tree's accelerations by unit loads on n speeds: column[n][nu]. Needs accelerations by clusters, and
   * leaves them; returns 0 near singular poses; double only. */
  int (*load_columns)(const lw_model *m, lw_block b, int32_t n, const int32_t *u, double *column);
} lw_kernels;

extern const lw_kernels lw_kernels_double, lw_kernels_double_avx2, lw_kernels_complex;

/* The fastest double kernels that this processor runs. All give the same bits. */
const lw_kernels *lw_best_kernels(void);

#if defined(__x86_64__) && defined(__GNUC__)
#define LW_HAVE_AVX2 1
#endif
#endif
