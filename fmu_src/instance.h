/* One instance of an FMU, as neither version of the standard calls it: fmi2.c and fmi3.c translate to these
 * functions and hold nothing themselves. A variable is its value reference, and that is its offset in the core's
 * block of doubles. Every call that fails logs why; a call that is refused has changed nothing. */
#ifndef LINKWORK_INSTANCE_H
#define LINKWORK_INSTANCE_H
#include "interface_file.h"
#include "linkwork.h"

#ifdef __GNUC__
#define FMU_PRINTF __attribute__((format(printf, 3, 4)))
#else
#define FMU_PRINTF
#endif

/* Numbered as the statuses of both versions. */
typedef enum fmu_status { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL } fmu_status;

typedef enum fmu_kind { FMU_MODEL_EXCHANGE, FMU_CO_SIMULATION } fmu_kind;

/* What the number of a variable stands for: bits, as FMI 2.0 does not tell whole numbers from enumerations. */
typedef enum fmu_type { FMU_REAL = 1, FMU_BOOLEAN = 2, FMU_INTEGER = 4, FMU_ENUMERATION = 8 } fmu_type;

typedef enum fmu_mode {
  FMU_INSTANTIATED = 1,
  FMU_INITIALIZATION = 2,
  FMU_EVENT = 4,
  FMU_CONTINUOUS = 8, /* Model Exchange only */
  FMU_STEP = 16,      /* Co-Simulation only */
  FMU_TERMINATED = 32,
  FMU_INTERMEDIATE = 64 /* in a callback during a step */
} fmu_mode;
#define FMU_INITIALIZED (FMU_EVENT | FMU_CONTINUOUS | FMU_STEP)
#define FMU_ANY (FMU_INSTANTIATED | FMU_INITIALIZATION | FMU_INITIALIZED | FMU_TERMINATED)

/* A row of a version's table: the modes in which a function may be called, for each kind of instance. */
typedef struct fmu_call {
  const char *name;
  uint32_t modes[2]; /* by fmu_kind */
} fmu_call;

/* ---- logging ---------------------------------------------------------------------------------------- */

typedef enum fmu_category {
  FMU_LOG_EVENTS = 1, /* changes of mode, and events; only when logging is on */
  FMU_LOG_WARNING = 2,
  FMU_LOG_DISCARD = 4,
  FMU_LOG_ERROR = 8,
  FMU_LOG_ALL = 15
} fmu_category;

typedef struct fmu_log {
  /* How this version passes a line on to the importer's callback, which may be NULL. */
  void (*write)(const struct fmu_log *log, fmu_status status, const char *category, const char *text);
  void (*callback)(void); /* cast back by `write` to what it is */
  void *environment;
  const char *instance_name;
  uint32_t enabled;     /* fmu_category bits; failures are logged whether or not logging is on */
  const char *function; /* the function under way, which opens every line */
} fmu_log;

/* Logs, and returns the status it was given. */
fmu_status fmu_log_message(const fmu_log *log, fmu_status status, const char *format, ...) FMU_PRINTF;
fmu_status fmu_set_logging(fmu_log *log, int on, size_t n, const char *const categories[]);

/* ---- resources -------------------------------------------------------------------------------------- */

#define FMU_TOKEN_SIZE 40 /* "{8-4-4-4-12}" in hexadecimal digits and a 0 */

typedef struct fmu_resources {
  const unsigned char *model, *interface;
  size_t model_size, interface_size;
  unsigned char *allocated[2]; /* what was allocated for them */
} fmu_resources;

/* From files of the folder, a path or a file: URI, or compiled in (embedded.h). 0: it says why. */
int fmu_open_resources(const fmu_log *log, const char *folder, fmu_resources *resources);
void fmu_close_resources(fmu_resources *resources);
/* Of bytes behind others; at first 0. */
uint32_t fmu_crc32(uint32_t before, const unsigned char *bytes, size_t size);
/* What ties a model description to its resources: CRC-32, Adler-32 and size of both, one behind the other. */
void fmu_make_token(const fmu_resources *resources, char token[FMU_TOKEN_SIZE]);

/* ---- instance --------------------------------------------------------------------------------------- */

/* All that changes beside the core's block and the polynomials of inputs. Flat: an instance is saved by copies. */
typedef struct fmu_run {
  double time, stop_time, tolerance;
  double set_tolerance;       /* the setting `tolerance`; 0: the importer's */
  double last_step;           /* of the integrator: the first guess when it starts again; 0: none */
  double interpolation_start; /* the communication point at which the polynomials of inputs begin */
  uint32_t solver;            /* the setting `solver`: fmu_solver */
  uint32_t interpolation;     /* fmu_interpolation */
  uint32_t mode;              /* fmu_mode */
  uint32_t stop_defined;
  uint32_t assembled;      /* the states follow from the present parameters and start values */
  uint32_t states_invalid; /* of minimal states: `y` holds them, and the block's own are still to be found */
  uint32_t restart_needed; /* the integrator's memory is not of the present states and inputs */
  uint32_t input_changed;  /* since the last communication step */
  uint32_t event_pending;  /* the integrator stands at an event that is still ahead */
  uint32_t states_changed; /* events have changed states, which the importer has not been told yet */
} fmu_run;

/* How Co-Simulation integrates; the items of the enumeration. */
typedef enum fmu_solver { FMU_DOPRI5 = 1, FMU_RODAS5P = 2 } fmu_solver;

typedef enum fmu_interpolation {
  FMU_INPUTS_CONSTANT,
  FMU_INPUTS_RATES_SET,     /* derivatives, for the next step */
  FMU_INPUTS_INTERPOLATING, /* a step is under way */
  FMU_INPUTS_INTERPOLATED   /* in the step before */
} fmu_interpolation;

/* An input as a polynomial in time. */
#define FMU_MAX_INPUT_ORDER 4
typedef struct fmu_polynomial {
  double value, rate[FMU_MAX_INPUT_ORDER]; /* and its derivatives, at the communication point */
  uint64_t source;                         /* 0: it is held */
} fmu_polynomial;

/* A run of value references. Those of the event indicators lie behind the block, and then those of the settings. */
typedef struct fmu_range {
  uint32_t first, count;
} fmu_range;

enum { FMU_SOLVER, FMU_TOLERANCE, FMU_N_SETTINGS };
enum { FMU_MAX_TUNABLE = 16 };
static inline int fmu_in_range(fmu_range range, uint32_t reference) {
  return reference >= range.first && reference - range.first < range.count;
}

/* At an intermediate update: when, and what the importer asks for. */
typedef struct fmu_intermediate_update {
  double time;
  int can_return_early, early_return_requested;
  double return_time;
} fmu_intermediate_update;

/* The importer's callback during a step; `call` is NULL if it has none. */
typedef struct fmu_update_callback {
  void (*invoke)(const struct fmu_update_callback *update_callback,
                 fmu_intermediate_update *update); /* how this version passes it on */
  void (*callback)(void);                          /* cast back by `call` */
  void *environment;
} fmu_update_callback;

typedef struct fmu {
  fmu_kind kind;
  int event_mode_used, early_return_allowed; /* Co-Simulation in FMI 3.0 */
  char *name;
  char token[FMU_TOKEN_SIZE];
  fmu_log log;
  lw_model *model;
  lw_state *state;
  lw_ode *ode; /* Co-Simulation with states, else NULL */
  fmu_interface interface;
  lw_minimal *minimal; /* NULL: the importer sees all states */
  lw_sizes size;
  uint32_t n_states, first_state, first_derivative, time_reference; /* of the block */
  uint32_t n_exposed_states;                                        /* states that the importer sees */
  fmu_range command, impulse, active, events, indicator;            /* of transitions */
  fmu_range setting;
  fmu_range tunable[FMU_MAX_TUNABLE]; /* parameters that may change while time goes on */
  fmu_range input, motion, discrete;  /* all inputs, those of motions; outputs that events change */
  uint32_t motion_time_reference;     /* when the motions' inputs were set */
  fmu_polynomial *polynomial;         /* of each input */
  uint32_t *varying;                  /* the references of states and inputs, then of the derivatives */
  double *rate;                       /* as many */
  unsigned char *intermediate_input;  /* of each input: it may be set in a callback during a step */
  fmu_update_callback update_callback;
  double *y;       /* n_states: handed to and from the integrator, or minimal states just set */
  double *z;       /* the event indicators */
  double *scratch; /* for numbers on their way to and from other types */
  size_t scratch_size;
  uint32_t *elements[2]; /* references of the elements of arrays: of variables, or of unknowns and knowns */
  size_t elements_size[2];
  void *backup; /* the core's snapshot, to come back to where a call fails */
  fmu_run run;
} fmu;

typedef struct fmu_instantiation {
  fmu_kind kind;
  const char *token, *resources;
  int event_mode_used, early_return_allowed;
  fmu_log log;
  fmu_update_callback update_callback;
  const uint32_t *intermediate_references; /* variables that it may want to see or set */
  size_t n_intermediate;
} fmu_instantiation;

fmu *fmu_create(const fmu_instantiation *instantiation);
void fmu_free(fmu *f);

/* Opens every call: the instance if the call is allowed in its present mode, else NULL after logging. */
fmu *fmu_begin_call(void *instance, const fmu_call *call);
/* Getting and setting n variables of a type that no mechanism has. */
fmu_status fmu_refuse_type(fmu *f, const char *type, size_t n);

fmu_status fmu_set_up_experiment(fmu *f, int tolerance_defined, double tolerance, double start, int stop_defined,
                                 double stop);
fmu_status fmu_enter_mode(fmu *f, fmu_mode mode);
fmu_status fmu_exit_initialization(fmu *f);
fmu_status fmu_reset(fmu *f);
/* To the snapshot that was kept. */
fmu_status fmu_restore_backup(fmu *f);
/* Brings the block's states up to date: in Initialization Mode by assembly, of minimal states by closing the loops. */
fmu_status fmu_update_states(fmu *f);
/* What the block's states follow from is about to change. */
void fmu_invalidate_states(fmu *f);
/* Translates what the core says; `doing` tells what was attempted. */
fmu_status fmu_core_status(const fmu *f, lw_status status, const char *action);

/* ---- variables -------------------------------------------------------------------------------------- */

/* `types`: fmu_type bits of the variables that the calling function is for. */
fmu_status fmu_get(fmu *f, unsigned types, const uint32_t *references, size_t n, double *values);
fmu_status fmu_set(fmu *f, unsigned types, const uint32_t *references, size_t n, const double *values);
/* Gives `room` n numbers for the values of another type, which must not be NULL. */
fmu_status fmu_reserve_scratch(fmu *f, const void *values, size_t n);
/* Refuses a variable by name; `why` goes on after it. */
fmu_status fmu_refuse_variable(const fmu *f, uint32_t reference, const char *why);
/* The references of all numbers that variables stand for, of which there must be n_values; arrays are taken apart. `room` is
 * 0 or 1: what was found with the same room before is gone. */
fmu_status fmu_expand_arrays(fmu *f, int which, const uint32_t **references, size_t *n, size_t n_values);

/* ---- dependencies ----------------------------------------------------------------------------------- */

/* What an output, derivative or event indicator depends on, as the model description has it. */
fmu_status fmu_get_dependencies(fmu *f, uint32_t unknown, fmu_list *knowns);
fmu_status fmu_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                      size_t n_knowns, const double *seed, double *sensitivity);
fmu_status fmu_adjoint_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity);

/* ---- events ----------------------------------------------------------------------------------------- */

typedef struct fmu_event_info {
  int states_changed;
  int time_defined;
  double time; /* of the next event that has one */
} fmu_event_info;

/* When the motion starts: what is due at once happens. */
fmu_status fmu_start_events(fmu *f);
/* What is due at the present time, states and commands happens, and what follows from it at once. */
fmu_status fmu_handle_events(fmu *f);
/* The same in Event Mode, with what the importer is told. */
fmu_status fmu_update_discrete_states(fmu *f, fmu_event_info *info);
double fmu_next_event_time(const fmu *f); /* infinite: none */

/* ---- Model Exchange --------------------------------------------------------------------------------- */

fmu_status fmu_set_time(fmu *f, double time);
fmu_status fmu_set_states(fmu *f, const double *x, size_t n);
fmu_status fmu_get_states(fmu *f, double *x, size_t n);
fmu_status fmu_get_derivatives(fmu *f, double *derivatives, size_t n);
fmu_status fmu_get_nominals(fmu *f, double *nominals, size_t n);
fmu_status fmu_get_event_indicators(fmu *f, double *indicators, size_t n);
fmu_status fmu_completed_integrator_step(fmu *f);
void fmu_write_states(fmu *f, const double *x); /* all of the block, unchecked */

/* ---- Co-Simulation ---------------------------------------------------------------------------------- */

typedef struct fmu_step {
  double last_time;          /* how far it came */
  int event_handling_needed; /* an event wants Event Mode */
  int early_return;          /* it stopped before the end */
} fmu_step;

fmu_status fmu_do_step(fmu *f, double time, double length, fmu_step *step);

/* Derivatives by time, of computed outputs, states and their derivatives; the first order only. */
int fmu_is_continuous_output(const fmu *f, uint32_t reference);
fmu_status fmu_check_output_derivatives(const fmu *f, const uint32_t *references, size_t n, const int32_t *orders);
/* Of numbers; the orders were checked. */
fmu_status fmu_get_output_derivatives(fmu *f, const uint32_t *references, size_t n, double *values);

/* Inputs that move during a step: interpolation.c */
int fmu_locate_inputs(fmu *f); /* 0: no memory */
int fmu_is_continuous_input(const fmu *f, uint32_t reference);
fmu_status fmu_set_input_derivatives(fmu *f, const uint32_t *references, size_t n, const int32_t *orders,
                                     const double *values);
void fmu_begin_interpolation(fmu *f); /* of a step */
void fmu_end_interpolation(fmu *f);
void fmu_interpolate_inputs(fmu *f, double time);
/* Of the numbers that stand for the inputs in the block, input.count of them, at the block's time. */
void fmu_get_input_rates(const fmu *f, double *rates);
/* For the integrator, whose context is the instance. */
int fmu_ode_derivative(void *context, double t, const double *y, double *ydot);
int fmu_ode_indicators(void *context, double t, const double *y, double *indicators);
int fmu_ode_jacobian(void *context, double t, const double *y, double *matrix, double *by_time);

/* Callbacks during a step: intermediate.c */
fmu_status fmu_set_update_callback(fmu *f, const fmu_instantiation *instantiation);
int fmu_may_set_in_update(const fmu *f, uint32_t reference);
/* Tells the importer that the step has come to the present time; it must end at `last` at the latest. `from`: how far
 * back it may still return. *end becomes the time to which it returns, if it wants to. */
void fmu_call_intermediate_update(fmu *f, double from, double last, double *end);

/* ---- snapshots: the serialised form is the form in memory ------------------------------------------- */

fmu_status fmu_snapshot_get(fmu *f, void **snapshot);
fmu_status fmu_snapshot_set(fmu *f, const void *snapshot);
fmu_status fmu_snapshot_free(fmu *f, void **snapshot);
fmu_status fmu_snapshot_size(fmu *f, const void *snapshot, size_t *size);
fmu_status fmu_snapshot_write(fmu *f, const void *snapshot, void *bytes, size_t size);
fmu_status fmu_snapshot_read(fmu *f, const void *bytes, size_t size, void **snapshot);
#endif
