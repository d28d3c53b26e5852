/* Built-in controllers: sampled laws between inputs and outputs.
 *
 * Its outputs follow its inputs without a step:
 *   y = outputs(t; state, inputs)                 whenever an output is read
 *   state := update(t, dt; state, inputs, y)      at the end of a step, inputs held
 * With a sample time both happen at its multiples alone, counted from the start time, and outputs are held in between.
 * tests/support/laws/ has the same laws in Python: tests/controllers/test_native.py compares the bits.
 *
 * Each law is one file with one controller_type; table.c lists them. */
#ifndef LINKWORK_CONTROLLER_H
#define LINKWORK_CONTROLLER_H
#include <stddef.h>
#include <stdint.h>

enum { CONTROLLER_MESSAGE = 200 }; /* size of messages */

/* ---- the file: which law, its sizes, variables and numbers ------------------------------------------------- */

/* As fmu_type. */
typedef enum controller_value { CONTROLLER_REAL = 1, CONTROLLER_BOOLEAN = 2, CONTROLLER_INTEGER = 4 } controller_value;

typedef enum controller_role {
  CONTROLLER_INPUT = 1,
  CONTROLLER_OUTPUT = 2,
  CONTROLLER_FIXED = 3, /* parameter, set until the initialisation ends */
  CONTROLLER_TUNABLE = 4,
  CONTROLLER_INDEPENDENT = 5 /* time, which is in no file */
} controller_role;

typedef struct controller_variable {
  const char *name;
  uint32_t value, role; /* controller_value, controller_role */
  double start;
} controller_variable;

typedef struct controller_type controller_type;

/* The content of a file: constant, shared by no other instance. An offset is a position in `variables`. */
typedef struct controller_model {
  const controller_type *type;
  uint32_t n_sizes, n_variables, n_numbers;
  uint32_t *sizes;
  controller_variable *variables;
  double *numbers;
  char *names; /* of all variables, each with its terminating 0 */
  /* What the law's `bind` finds. */
  uint32_t n_state;     /* doubles of state */
  uint32_t sample_time; /* position of the parameter; CONTROLLER_NONE: each communication step is a sample */
} controller_model;

#define CONTROLLER_NONE UINT32_MAX

int controller_is_file(const unsigned char *bytes, size_t size);
/* Reads and checks a file. Returns 0 and a message on an error; `controller_model_free` is due in either case. */
int controller_read(controller_model *model, const unsigned char *bytes, size_t size, char message[CONTROLLER_MESSAGE]);
void controller_model_free(controller_model *model);

/* ---- binding: a law goes through its variables and numbers in their order ------------------------------------ */

typedef struct controller_binding {
  controller_model *model;
  uint32_t next; /* variable */
  uint64_t next_number;
  int failed; /* all further calls return 0 */
  char *message;
} controller_binding;

/* Takes the next variable, which must have this role and type and, if it is not NULL, this name. Returns its position. */
uint32_t controller_take(controller_binding *b, const char *name, controller_role role, controller_value value);
/* Takes the next variable if it is an input of this type. */
int controller_take_if_input(controller_binding *b, controller_value value);
/* A size of the file, at least `least`. */
uint32_t controller_size(controller_binding *b, uint32_t i, uint32_t least);
/* Takes the next rows * columns numbers, all finite, or positive, or ascending. Returns the position of the first. */
typedef enum controller_numbers { CONTROLLER_FINITE, CONTROLLER_POSITIVE, CONTROLLER_ASCENDING } controller_numbers;
size_t controller_take_numbers(controller_binding *b, uint64_t rows, uint64_t columns, controller_numbers kind);
void controller_refuse(controller_binding *b, const char *why);

/* ---- an instance: one block of doubles ------------------------------------------------------------------------- */

/* Values of the variables, state of the law, clock. A copy of `block` saves all of it. */
typedef struct controller_instance {
  controller_model model;
  double *block, *backup;
  double *x; /* [n_variables] values; booleans are 0 or 1 */
  double *s; /* [n_state] state of the law; 0 at the start */
  double *clock;
  char message[CONTROLLER_MESSAGE];
} controller_instance;

enum { CONTROLLER_START_TIME, CONTROLLER_SAMPLES, CONTROLLER_FRESH, CONTROLLER_N_CLOCK };

/* All functions that return an int return 0 and fill in `message` on a failure. */
struct controller_type {
  const char *name;
  uint32_t n_sizes; /* UINT32_MAX: any number */
  /* Takes all variables and numbers and sets `n_state` and `sample_time`. */
  void (*bind)(controller_binding *b);
  /* Refuses parameters, at the end of the initialisation. NULL: all are allowed. */
  int (*check)(controller_instance *c);
  int (*outputs)(controller_instance *c, double t);
  /* NULL: the law has no state. */
  int (*update)(controller_instance *c, double t, double dt);
};

extern const controller_type *const controller_types[]; /* ends with NULL */

int controller_create(controller_instance *c, const unsigned char *bytes, size_t size);
void controller_free(controller_instance *c);
size_t controller_block_size(const controller_instance *c);
void controller_reset(controller_instance *c);
void controller_start(controller_instance *c, double t);
int controller_check(controller_instance *c);
/* Brings the outputs up to date where they may have changed: always, or when a sample is due. */
int controller_refresh(controller_instance *c, double t);
/* Brings the state over a step; `t` is the time that the instance has reached, which `begin` may miss by rounding. A
 * failure changes nothing. */
int controller_step(controller_instance *c, double t, double begin, double length);
/* Whether a block of invented bytes could be of an instance. */
int controller_is_valid(const controller_instance *c, const double *block);

/* Python's max(a, b), min(a, b), a % b for b > 0 and bisect.bisect_right(), NaN included. */
static inline double controller_max(double a, double b) { return b > a ? b : a; }
static inline double controller_min(double a, double b) { return b < a ? b : a; }
double controller_remainder(double a, double b);
uint32_t controller_bisect(const double *ascending, uint32_t n, double value);
#endif
