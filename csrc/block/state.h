/* A state: the block in double, a second one in complex for derivatives, and the last message. */
#ifndef LW_STATE_H
#define LW_STATE_H
#include "block/compiled_rates.h"
#include "block/kernels.h"

typedef struct lw_constraint_workspace lw_constraint_workspace;

/* Functions that are asked for rates, see evaluation/rates.h. */
typedef struct lw_rates {
  const lw_compiled_rates *function[LW_MOST_COMPILED_RATES];
  int32_t n;
  int checked; /* `holds` is of the present numbers but for states, inputs and time */
  int known;   /* the block has the rates of the present state, by the first function in order */
  int checks;  /* and what checks of a step ask for */
  unsigned char holds[LW_MOST_COMPILED_RATES], differs[LW_MOST_COMPILED_RATES];
  unsigned char order[LW_MOST_COMPILED_RATES];
  int32_t missed, waits;                    /* times in a row that none counted; that they are passed over */
  uint32_t counted[LW_MOST_COMPILED_RATES]; /* times */
  double *found;                            /* to compare; */
  double *left;                             /* by the function that ran last; */
  double *missed_at;                        /* the given numbers of one of the states for which none counted, */
  uint32_t all_missed;                      /* of so many */
  int64_t by_kernels;
} lw_rates;

/* How inputs follow from the states by a law: [states][inputs], from tau to motion_time; its own states stand behind those
 * of the mechanism. */
typedef struct lw_input_slopes {
  const double *by_states;
  int32_t states;
} lw_input_slopes;

/* Where Jacobians of the rates come from, if not from complex steps: `find` returns 0 where it has none; then `learn` is
 * given that of complex steps, unless it is NULL. With a law the matrix has a column for each of its states, along which
 * the inputs change, and by_time is NULL. NULL: there is no such place. See tape/run_jacobians.h. */
typedef struct lw_jacobians {
  int (*find)(void *context, lw_state *s, const lw_input_slopes *law, double *matrix, double *by_time);
  void (*learn)(void *context, lw_state *s, const lw_input_slopes *law, const double *matrix, const double *by_time);
  void *context;
} lw_jacobians;

/* The Jacobian of one kind by the compiled tapes of a library, see api/compiled_jacobians.c. */
typedef struct lw_kept_jacobian {
  double *matrix;                                 /* [rows][columns] of the present state, if known */
  int known;                                      /* 1; -1: no tape counts at the present state; 0: none was asked */
  unsigned char holds[LW_MOST_COMPILED_RATES];    /* as lw_rates */
  unsigned char compared[LW_MOST_COMPILED_RATES]; /* with complex steps, */
  unsigned char differs[LW_MOST_COMPILED_RATES];  /* and refused */
} lw_kept_jacobian;

typedef struct lw_compiled_derivatives {
  const lw_rates_library *library; /* NULL: there is none */
  int32_t *place;                  /* by offset: number of its row, the kinds one by one, or of its column; -1 */
  lw_kept_jacobian kept[LW_JACOBIAN_KINDS];
} lw_compiled_derivatives;

struct lw_state {
  const lw_model *model;             /* of the joints that are closed */
  const lw_model *base;              /* of those that are closed at first: it has the others, and the transitions */
  struct lw_event_workspace *events; /* see block/discrete_state.h; NULL: there are no transitions */
  const lw_kernels *kernels;         /* double */
  unsigned char *memory;             /* the snapshot: stage, origin, pivots, reals */
  unsigned char *complex_memory;     /* the complex block, once it has been needed */
  int32_t *stage;
  uint32_t *origin;   /* checksum of the model, by which a snapshot knows it */
  int64_t changes;    /* how often given numbers may have changed, */
  int64_t topologies; /* and how often joints have opened or closed */
  lw_block block, complex_block;
  size_t work_reals, complex_work_reals; /* scalars of their workspaces */
  lw_rates rates;
  lw_jacobians jacobians;
  lw_compiled_derivatives compiled;
  lw_dca_workspace dca, complex_dca; /* for divide and conquer, once they have been needed */
  lw_jump_workspace jump;            /* likewise */
  size_t snapshot_size;
  unsigned char *snapshot;                        /* where the snapshot part starts */
  lw_constraint_workspace *constraint_workspace;  /* see dae/constraints.h; NULL until it is needed */
  const lw_model *complex_model;                  /* of the complex block */
  lw_status (*before_accelerations)(lw_state *s); /* decides what these depend on; NULL: nothing */
  int complex_constants;                          /* the complex block's constants belong to the present parameters */
  char message[480];
};

static inline double *lw_reals(const lw_state *s) { return (double *)s->block.reals; }

/* What compiled tapes gave, and where they hold, is not of the present numbers any more. */
static inline void lw_forget_compiled(lw_state *s) {
  s->rates.checked = s->rates.known = 0;
  for (int kind = 0; kind < LW_JACOBIAN_KINDS; kind++) s->compiled.kept[kind].known = 0;
}
/* dae/dae.c */
void lw_free_constraint_workspace(lw_state *s);
/* api/compiled_jacobians.c */
void lw_free_compiled_derivatives(lw_state *s);

/* Accelerations may be by divide and conquer: always, or where uneven masses cost the clusters digits. */
static inline int lw_may_divide(const lw_state *s) {
  return s->model->method == LW_DCA || lw_reals(s)[s->model->at.has_uneven_masses] != 0.0;
}

/* evaluation/complex_block.c: the complex block with the parameters, inputs, states and modes of the real one and all that follows
 * from the parameters alone; needs constants. */
lw_status lw_prepare_complex(lw_state *s);
lw_status lw_allocate_complex(lw_state *s);  /* needs accelerations */
double *lw_complex_reals(const lw_state *s); /* real and imaginary parts in turn */
void lw_copy_regular_dof(const lw_state *s); /* found in double alone */
/* A derivative in steps: the block computed up to a stage and copied, seeds, quantities that depend on parameters
 * (`parameters`: some are seeded), and all the rest, of which unknowns are read. */
lw_status lw_check_unknowns(lw_state *s, const uint32_t *unknowns, size_t n);
lw_status lw_begin_derivative(lw_state *s, lw_stage stage);
lw_status lw_seed(lw_state *s, uint32_t known, double seed);
void lw_copy_cuts(lw_state *s); /* coordinates and speeds of the cut joints too */
void lw_complete_constants(lw_state *s, int parameters);
void lw_end_derivative(lw_state *s, const uint32_t *unknowns, size_t n, double *sensitivity);
/* All of lw_directional_derivative() but its end: before it more numbers of the complex block may be moved. */
lw_status lw_seed_derivative(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                             size_t n_knowns, const double *seed);

/* api/jacobian.c: matrix[n][m] by a function for derivatives along seeds. The columns of driving loads, which move no
 * constraint, are found at once where that is possible. */
typedef lw_status lw_derivative_function(void *of, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                         size_t n_knowns, const double *seed, double *sensitivity);
lw_status lw_fill_jacobian(lw_state *s, lw_derivative_function *derivative, void *of, const uint32_t *unknowns,
                           size_t n, const uint32_t *knowns, size_t m, double *matrix);

/* d [qdot; udot; element_rate] by the states at the present time, states and inputs, from `jacobians` or by complex steps; and
 * by the time, unless by_time is NULL. Returns as lw_ode_function. */
int lw_find_jacobian(lw_state *s, const lw_input_slopes *law, double *matrix, double *by_time);
/* Whether derivatives that were found in two ways are the same to rounding. */
int lw_derivatives_agree(const double *found, const double *expected, size_t n);

/* Time and states, past all checks. */
void lw_set_states(lw_state *s, double t, const double *y);

lw_status lw_fail(lw_state *s, lw_status status, const char *format, ...);

/* Which variable an offset is: its field, with the access LW_INTERNAL where there is none; its name in words. */
const lw_field *lw_field_at(const lw_state *s, uint32_t offset);
typedef struct lw_variable_name {
  char text[120];
} lw_variable_name;
lw_variable_name lw_name_of_variable(const lw_state *s, uint32_t offset);
/* The joint of a coordinate (of_q) or a speed. */
const lw_joint *lw_joint_with(const lw_model *m, int of_q, int32_t index);

/* block/messages_and_stages.c: makes the workspace of a block, of `reals` scalars of this size, large enough for the
 * state's model. */
lw_status lw_fit_workspace(lw_state *s, lw_block *block, size_t *reals, size_t scalar);
/* evaluation/dca_workspace.c: workspace for scalars of this size, and scratch for the present number of threads. */
lw_status lw_dca_allocate(lw_state *s, lw_dca_workspace *workspace, lw_block *block, size_t scalar);
void lw_dca_release(lw_dca_workspace *workspace);
/* api/mass_matrix.c: lw_inverse_dynamics(), of all speeds of the tree or of `driven` ones, as in block/kernels.h. */
lw_status lw_find_driving_loads(lw_state *s, const int32_t *driven, const double *udot, double *tau);
/* events/velocity_jump.c: lw_solve_velocity_jump() in a pose whose accelerations need not exist. */
lw_status lw_find_velocity_jump(lw_state *s, lw_velocity_jump *jump);
/* W[n][n]: changes of the speeds u[n] by unit impulses along them, with the present joints and locks; symmetric. The row
 * and the column of a speed that cannot change are zero. */
lw_status lw_find_speed_compliance(lw_state *s, int32_t n, const int32_t *u, double *W);

/* evaluation/messages.c: a fault as status and message; the same for a value of a joint that is not finite; the first
 * loop that is wide open, by its residual, or -1; and the first joint whose quaternion among the coordinates
 * from an offset on has no direction, or -1. */
lw_status lw_report(lw_state *s, lw_fault fault);
lw_status lw_report_not_finite(lw_state *s, int32_t joint);
int32_t lw_open_loop(const lw_state *s);
int32_t lw_zero_quaternion(const lw_state *s, int32_t first);
#endif
