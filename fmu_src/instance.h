/* One FMU instance, independent of the FMI version: fmi2.c and fmi3.c translate their calls to these functions and
 * hold no state. A variable is an offset into the core's block of doubles, and its value reference in FMI 2.0; fmi3.c
 * replaces value references by offsets. A call that fails logs the reason; a call that is not allowed changes nothing. */
#ifndef LINKWORK_INSTANCE_H
#define LINKWORK_INSTANCE_H
#include "interface_file.h"
#include "linkwork.h"
#include "log.h"
#include "modes.h"
#include "resources.h"

/* Types of variables. They are bits, because FMI 2.0 does not separate integers from enumerations. */
typedef enum fmu_type { FMU_REAL = 1, FMU_BOOLEAN = 2, FMU_INTEGER = 4, FMU_ENUMERATION = 8 } fmu_type;

/* ---- instance --------------------------------------------------------------------------------------- */

/* All mutable data except the core's block and the input polynomials. It holds no pointers, so a copy saves it. */
typedef struct fmu_run {
  double time, stop_time, tolerance;
  double set_tolerance;       /* the parameter `tolerance`; 0: use the importer's */
  double interpolation_start; /* communication point at which the input polynomials begin */
  uint32_t solver;            /* the parameter `solver`: fmu_solver */
  uint32_t interpolation;     /* fmu_interpolation */
  uint32_t mode;              /* fmu_mode */
  uint32_t stop_defined;
  uint32_t assembled;        /* the states are consistent with the parameters and start values */
  uint32_t states_invalid;   /* minimal states: `y` is set, the block's dependent states are not yet computed */
  uint32_t restart_needed;   /* the integrator's data do not belong to the present states and inputs */
  uint32_t input_changed;    /* an input changed since the last communication step */
  uint32_t dynamics_changed; /* an event or a value set in Event Mode changed states or their derivatives, and
                              * UpdateDiscreteStates has not reported it */
  uint32_t dae;              /* the structural parameter `dae.enabled` */
  uint32_t looked_ahead;     /* Model Exchange: the three times below are known */
  double ahead_from, ahead_to, completed; /* last look ahead, and up to where; end of the importer's last step */
  lw_motion_sizes nominal;                /* from which the nominal values of the states follow */
  uint32_t nominals_changed;              /* UpdateDiscreteStates has not reported it */
  uint32_t sizes_changed;                 /* a parameter changed in Event Mode, perhaps the nominal values with it */
} fmu_run;

#define FMU_DEFAULT_TOLERANCE 1e-7 /* in Co-Simulation, if the importer gives none */

/* Integration methods of Co-Simulation: the items of the enumeration `solver`. */
typedef enum fmu_solver { FMU_DOPRI5 = 1, FMU_RODAS5P = 2, FMU_AUTO = 3, FMU_DOP853 = 4 } fmu_solver;

typedef enum fmu_interpolation {
  FMU_INPUTS_CONSTANT,
  FMU_INPUTS_RATES_SET,     /* derivatives are set for the next step */
  FMU_INPUTS_INTERPOLATING, /* during the step */
  FMU_INPUTS_INTERPOLATED   /* during the step before */
} fmu_interpolation;

/* An input as a polynomial in time. */
#define FMU_MAX_INPUT_ORDER 4
typedef struct fmu_polynomial {
  double value, rate[FMU_MAX_INPUT_ORDER]; /* value and derivatives at the communication point */
  uint64_t source;                         /* 0: the input is constant */
} fmu_polynomial;

/* A range of offsets. Event indicators follow the block, the settings follow the indicators, and the variables of DAE
 * mode follow the settings. */
typedef struct fmu_range {
  uint32_t first, count;
} fmu_range;

enum { FMU_SOLVER, FMU_TOLERANCE, FMU_N_SETTINGS };
static inline int fmu_in_range(fmu_range range, uint32_t offset) {
  return offset >= range.first && offset - range.first < range.count;
}

/* DAE mode (layered standard FMI-LS-DAE): F(x, x', z, t) = 0, see lw_dae_residual, with z = [lambda; mu]. */
typedef struct fmu_dae {
  uint32_t rows, n;                        /* constraints; residuals. n = 0: the FMU has no DAE mode */
  fmu_range enabled, algebraic, residual;  /* offsets */
  double *rates;                           /* [n] x' and z, then [2 rows] the relaxation: saved in snapshots */
  double *y, *y_seed, *rate_seed, *result; /* [n] */
  double *work;                            /* [rows nu] */
} fmu_dae;

/* An intermediate update: its time, and the importer's request for an early return. */
typedef struct fmu_intermediate_update {
  double time;
  int can_return_early, early_return_requested;
  double return_time;
} fmu_intermediate_update;

/* The importer's intermediateUpdate; `invoke` is NULL without one. */
typedef struct fmu_update_callback {
  void (*invoke)(const struct fmu_update_callback *update_callback,
                 fmu_intermediate_update *update); /* calls it with the types of the FMI version */
  void (*callback)(void);                          /* `invoke` casts it back to its type */
  void *environment;
} fmu_update_callback;

typedef struct fmu_snapshot fmu_snapshot;

struct fmu {
  fmu_kind kind;
  const struct fmu_content *content;         /* a mechanism or a controller */
  struct controller_instance *controller;    /* of a controller; the members from `model` on are of a mechanism */
  int event_mode_used, early_return_allowed; /* Co-Simulation in FMI 3.0 */
  char *name;
  char token[FMU_TOKEN_SIZE];
  fmu_log log;
  lw_model *model;
  lw_state *state;
  void *library; /* of compiled tapes; NULL: none is loaded */
  lw_run *steps; /* with states, and in Model Exchange event indicators, else NULL */
  fmu_interface interface;
  fmu_dae dae;
  lw_minimal *minimal; /* NULL: all states are exposed */
  lw_sizes size;
  uint32_t n_states, first_state, first_derivative, time_reference; /* as offsets, except n_states */
  uint32_t first_start_q, first_start_u;                            /* start guesses of the coordinates and speeds */
  uint32_t first_start_element;                                     /* start values of the states of elements */
  double *declared_start; /* [n_states] start values of the states in the model description; NULL: not yet computed */
  uint32_t n_exposed_states;                             /* continuous states that the importer sees */
  fmu_range command, impulse, active, events, indicator; /* fields of transitions */
  fmu_range setting;
  fmu_range *tunable; /* tunable parameters */
  uint32_t n_tunable;
  uint32_t *parameter_input; /* tunable parameters that are inputs of this FMU: offsets */
  uint32_t n_parameter_inputs;
  fmu_range input, motion, discrete; /* all inputs, motion inputs, discrete outputs */
  uint32_t motion_time_reference;    /* of the time at which the motion inputs were set */
  fmu_polynomial *polynomial;        /* of each input */
  uint32_t *varying;                 /* offsets of states, inputs and derivatives */
  double *rate;                      /* their time derivatives */
  unsigned char *intermediate_input; /* of each input: may be set during an intermediate update */
  fmu_update_callback update_callback;
  double *y;       /* [n_states] states for the integrator, or minimal states as set */
  double *z;       /* event indicators */
  double *scratch; /* values converted from or to other types */
  size_t scratch_size;
  uint32_t *offsets[2]; /* of the scalars of a call: variables or unknowns, and knowns */
  size_t offsets_size[2];
  void *backup;            /* snapshot of the core, restored after a failure; in Co-Simulation what the run remembers
                            * follows */
  fmu_snapshot *snapshots; /* the FMU states that the importer holds */
  fmu_run run;
};

typedef struct fmu_instantiation {
  fmu_kind kind;
  const char *token, *resources;
  int event_mode_used, early_return_allowed;
  fmu_log log;
  fmu_update_callback update_callback;
  const uint32_t *intermediate_references; /* requiredIntermediateVariables */
  size_t n_intermediate;
} fmu_instantiation;

fmu *fmu_create(const fmu_instantiation *instantiation);
void fmu_free(fmu *f);

/* The values of `run` at instantiation. */
void fmu_initialize_run(fmu *f);
/* Fails if n > 0: the FMU has no variables of this type. */
fmu_status fmu_refuse_type(fmu *f, const char *type, size_t n);

/* Restores the core from the backup. */
fmu_status fmu_restore_backup(fmu *f);
/* Updates the states of the block: by assembly in Initialization Mode, by loop closure with minimal states. */
fmu_status fmu_update_states(fmu *f);
/* Marks the states as outdated before a change of what they depend on. */
void fmu_invalidate_states(fmu *f);
/* Finds the start guess for which a state stands before the simulation. 0: `value` is the start value that the model
 * description declares, which changes nothing. */
fmu_status fmu_find_start(fmu *f, uint32_t state, double value, uint32_t *start);
/* Translates a status of the core; `action` names what failed. */
fmu_status fmu_core_status(const fmu *f, lw_status status, const char *action);

/* Finds the parameters that are inputs. 0: no memory. */
int fmu_locate_parameter_inputs(fmu *f);

/* ---- variables -------------------------------------------------------------------------------------- */

/* `types`: fmu_type bits that the FMI function accepts. */
fmu_status fmu_get(fmu *f, unsigned types, const uint32_t *offsets, size_t n, double *values);
fmu_status fmu_set(fmu *f, unsigned types, const uint32_t *offsets, size_t n, const double *values);
const char *fmu_type_name(fmu_type type);
/* variable_kinds.c: */
fmu_type fmu_type_of(const fmu *f, uint32_t offset);
lw_access fmu_access_of(const fmu *f, uint32_t offset);
int fmu_is_of_dae(const fmu *f, uint32_t offset); /* algebraic variable or residual */
int fmu_is_tunable(const fmu *f, uint32_t offset);
typedef struct fmu_variable_name {
  char text[140];
} fmu_variable_name;
fmu_variable_name fmu_name_of(const fmu *f, uint32_t offset);
/* Reserves `scratch` for n values of another type; `values` must not be NULL. */
fmu_status fmu_reserve_scratch(fmu *f, const void *values, size_t n);
/* Logs an error that begins with the name of the variable and continues with `why`. */
fmu_status fmu_refuse_variable(const fmu *f, uint32_t offset, const char *why);

/* Warns of a start value that assembly did not keep. */
void fmu_log_changed_start(const fmu *f, const lw_changed_start *start);
/* Replaces value references of FMI 3.0 by the offsets of their scalars, n_values in total. `which` (0 or 1) selects the
 * buffer; the call overwrites the result of the last one with the same buffer. */
fmu_status fmu_resolve(fmu *f, int which, const uint32_t **references, size_t *n, size_t n_values);

/* ---- dependencies ----------------------------------------------------------------------------------- */

/* The dependencies of an output, derivative or event indicator, as value references of the model description. */
fmu_status fmu_get_dependencies(fmu *f, uint32_t unknown, fmu_list *knowns);
fmu_status fmu_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                      size_t n_knowns, const double *seed, double *sensitivity);
fmu_status fmu_adjoint_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity);

/* ---- DAE mode ---------------------------------------------------------------------------------------- */

/* Lays out the variables behind the settings, if the interface file has DAE mode. 0: no memory. */
int fmu_dae_create(fmu *f);
void fmu_dae_free(fmu *f);
size_t fmu_dae_size(const fmu *f); /* of the data in a snapshot */
/* Whether the importer solves the equations: the rates and the algebraic variables are what it sets. */
int fmu_dae_is_on(const fmu *f);
/* Whether a variable is one that the importer sets in DAE mode: the derivative of a state, or algebraic. */
int fmu_dae_is_unknown(const fmu *f, uint32_t offset);
void fmu_dae_set_unknown(fmu *f, uint32_t offset, double value);
/* Selects the rows of the constraints that hold, and sets the unknowns to values that fit the states. */
fmu_status fmu_dae_start(fmu *f);
/* Evaluates the residuals; in ODE mode, the unknowns as well. */
fmu_status fmu_dae_evaluate(fmu *f);
/* A derivative, algebraic variable or residual, after fmu_dae_evaluate(). */
double fmu_dae_value(const fmu *f, uint32_t offset);
/* As fmu_directional_derivative(), in DAE mode. */
fmu_status fmu_dae_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                          size_t n_knowns, const double *seed, double *sensitivity);

/* ---- events ----------------------------------------------------------------------------------------- */

typedef struct fmu_event_info {
  int states_changed; /* valuesOfContinuousStatesChanged: the importer's integrator must begin again */
  int nominals_changed;
  int time_defined;
  double time; /* of the next time event */
} fmu_event_info;

/* Handles the events at the start time. */
fmu_status fmu_start_events(fmu *f);
/* Handles all events at the present time, and the events that they cause. */
fmu_status fmu_handle_events(fmu *f);
/* Handles events in Event Mode and reports the result to the importer. */
fmu_status fmu_update_discrete_states(fmu *f, fmu_event_info *info);
double fmu_next_event_time(const fmu *f); /* infinite: none */

/* Looks for the next state event in Model Exchange: a time that the importer must not step over; infinite: none. */
double fmu_look_ahead(fmu *f);
/* At the end of an importer's step: whether Event Mode is needed to look ahead again. */
int fmu_must_look_ahead(fmu *f);
/* Method and accuracy as the importer and the parameters ask. */
lw_run_settings fmu_run_settings(const fmu *f);
double fmu_duration(const fmu *f); /* of the run, s */

/* ---- Model Exchange --------------------------------------------------------------------------------- */

fmu_status fmu_set_time(fmu *f, double time);
fmu_status fmu_set_states(fmu *f, const double *x, size_t n);
fmu_status fmu_get_states(fmu *f, double *x, size_t n);
fmu_status fmu_get_derivatives(fmu *f, double *derivatives, size_t n);
/* Nominal values: those of the model description, then by the start, and larger ones after changes of parameters. */
fmu_status fmu_get_nominals(fmu *f, double *nominals, size_t n);
void fmu_start_nominals(fmu *f);  /* at the end of Initialization Mode */
void fmu_update_nominals(fmu *f); /* after changes of parameters */
fmu_status fmu_get_event_indicators(fmu *f, double *indicators, size_t n);
/* With minimal states: the motion begins at the present states. */
void fmu_watch_range(fmu *f);
fmu_status fmu_enter_continuous_time_mode(fmu *f);
fmu_status fmu_completed_integrator_step(fmu *f, int *event_mode_needed);
void fmu_write_states(fmu *f, const double *x); /* all states of the block, unchecked */
/* The position of a variable among the continuous states; -1: it is none. */
int64_t fmu_find_state(const fmu *f, uint32_t offset);
/* Sets one continuous state. */
fmu_status fmu_set_state(fmu *f, uint32_t offset, double value);

/* ---- Co-Simulation ---------------------------------------------------------------------------------- */

typedef struct fmu_step {
  double last_time;          /* time reached */
  int event_handling_needed; /* Event Mode is required */
  int early_return;          /* the step ended before its communication point */
} fmu_step;

fmu_status fmu_do_step(fmu *f, double time, double length, fmu_step *step);

/* Time derivatives of continuous outputs, states and derivatives; first order only. */
int fmu_is_continuous_output(const fmu *f, uint32_t offset);
fmu_status fmu_check_output_derivatives(const fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders);
/* Of scalar variables whose orders have been checked. */
fmu_status fmu_get_output_derivatives(fmu *f, const uint32_t *offsets, size_t n, double *values);

/* Input interpolation: input_interpolation.c */
int fmu_locate_inputs(fmu *f); /* 0: no memory */
int fmu_is_continuous_input(const fmu *f, uint32_t offset);
fmu_status fmu_set_input_derivatives(fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders,
                                     const double *values);
void fmu_begin_interpolation(fmu *f); /* at the beginning of a step */
void fmu_end_interpolation(fmu *f);
void fmu_interpolate_inputs(fmu *f, double time);
/* Time derivatives of the input.count inputs at the block's time. */
void fmu_get_input_rates(const fmu *f, double *rates);
/* Creates the run, whose equations have the inputs as they vary. 0: no memory. */
int fmu_create_steps(fmu *f);

/* Intermediate updates: intermediate_update.c */
fmu_status fmu_set_update_callback(fmu *f, const fmu_instantiation *instantiation);
int fmu_may_set_in_update(const fmu *f, uint32_t offset);
/* Calls intermediateUpdate at the present time. The step ends at `last` at the latest; an early return may restore
 * `from`. Sets *end to the requested return time, if any. */
void fmu_call_intermediate_update(fmu *f, double from, double last, double *end);

/* ---- snapshots: the serialised form is the form in memory ------------------------------------------- */

/* A handle that is none of this instance is refused. */
fmu_status fmu_snapshot_get(fmu *f, void **handle);
fmu_status fmu_snapshot_set(fmu *f, const void *handle);
fmu_status fmu_snapshot_free(fmu *f, void **handle);
fmu_status fmu_snapshot_size(fmu *f, const void *handle, size_t *size);
fmu_status fmu_snapshot_write(fmu *f, const void *handle, void *bytes, size_t size);
fmu_status fmu_snapshot_read(fmu *f, const void *bytes, size_t size, void **handle);
void fmu_snapshot_free_all(fmu *f);
#endif
