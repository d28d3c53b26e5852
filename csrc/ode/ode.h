/* Internals of the integrator: step size control, methods, event location. */
#ifndef LINKWORK_ODE_H
#define LINKWORK_ODE_H

#include <math.h>
#include <stdbool.h>

#include "linkwork.h"

enum { LW_DOPRI5_STAGES = 7, LW_RODAS5P_STAGES = 8, LW_DOP853_STAGES = 12 };
/* Vectors k of a method: stages, f(t, y), further stages of the dense output. */
enum { LW_RODAS5P_VECTORS = 9, LW_DOP853_VECTORS = 16, LW_ODE_VECTORS = 16 };

/* A method: one step from (t, y) with signed size h, to y_new. */
typedef struct lw_ode_operations {
  lw_ode_method method;
  int vectors;                            /* of k */
  int f_stage;                            /* between steps k[f_stage] is f(t, y) */
  bool first_same_as_last;                /* a step leaves f(t, y) for the next one, which finds it in k[0] */
  bool implicit;                          /* needs the memory of lw_ode_implicit */
  int order;                              /* of the error estimate, by the step size */
  double error_exponent, memory_exponent; /* of step size control: powers of the last error and of the one before */
  int row_intervals; /* of a step where rows follow it: cubic interpolation between them is as exact as at order 5 */
  int (*run_stages)(lw_ode *ode, double t_new); /* returns the status of lw_ode_function */
  double (*error_norm)(const lw_ode *ode);      /* norm of the local error */
  /* NULL, or further stages of the last step, with y_sample as scratch; status likewise */
  int (*prepare_dense)(lw_ode *ode);
  void (*dense)(const lw_ode *ode, double x, double *y); /* y at t_old + x h, from the stages */
  /* NULL, or y in the middle of the step to order 3 without further stages, where no more is needed */
  void (*middle)(const lw_ode *ode, double *y);
  void (*range)(const lw_ode *ode, double *low,
                double *high); /* NULL, or bounds of the dense output in the last step */
  /* of methods of LW_ODE_AUTO, after a step: its size in parts of the largest one with which lw_dopri5 is stable */
  double (*stability_ratio)(lw_ode *ode);
} lw_ode_operations;

extern const lw_ode_operations lw_dopri5, lw_dop853, lw_rodas5p;

typedef struct lw_ode_choice {
  bool automatic, implicit;
  bool paid;         /* the implicit steps since the last change of method have cost less than explicit ones */
  int32_t evidence;  /* steps that spoke for the other method */
  int32_t doublings; /* of the length of the next trial of the implicit method */
  int32_t unchecked; /* explicit steps since stability was last looked at */
} lw_ode_choice;

/* Data of implicit methods, allocated when one is first selected. */
typedef struct lw_ode_implicit {
  lw_ode_jacobian jacobian; /* NULL: finite differences */
  bool jacobian_current;    /* matrix and by_time belong to (t, y) */
  double *matrix, *by_time; /* df/dy, df/dt */
  double *lu, *scale;       /* I / (h gamma) - df/dy, decomposed */
  int32_t *order;
} lw_ode_implicit;

/* The largest angular speed and a bound of it that is at hand [rad/s]; negative: not known. */
typedef struct lw_ode_rotation {
  double speed, bound;
} lw_ode_rotation;

struct lw_ode {
  int32_t n, n_events;
  lw_ode_function derivative, events, on_step, angular_speed;
  lw_ode_bounds bounds;
  void *context;
  int32_t n_step_values;
  double *step_values; /* the caller's */
  lw_ode_options options;
  lw_ode_statistics statistics;
  const lw_ode_operations *method;
  lw_ode_choice choice;
  int64_t tries;         /* steps accepted and rejected since the start */
  bool started;          /* y is a valid state */
  bool f_known;          /* k[f_stage] is f(t, y) */
  double t, t_old;       /* the last step went from t_old to t ... */
  double h;              /* ... or, cut short by an event, would have had this length; signed */
  double h_next;         /* proposed size of the next step; 0: not chosen yet */
  double previous_error; /* error norm of the last accepted step that was not shortened */
  double *y, *y_old, *y_new, *y_sample;
  double *atol;              /* of each state */
  bool own_atol;             /* given for each state, else that of the options */
  bool atol_grows;           /* some are smaller than that of the options, and grow with their states */
  double *k[LW_ODE_VECTORS]; /* stages */
  int vectors;               /* of these, those that are allocated */
  double *more_vectors;      /* memory of those that lw_dopri5 does not have */
  bool dense_ready;          /* the last step has what its dense output needs */
  double next_row;           /* time at which dense output is going to be asked for; NAN: not known */
  double *z, *z_sample;      /* indicators at the two ends of the bracket */
  double *z_trial, *z_before;
  double *z_low, *z_high;  /* bounds of the indicators */
  double t_left, t_before; /* times of z and z_before, the sample before z; NAN: there is none */
  int32_t *event_sign;     /* -1: z <= 0; +1: z > 0; 0: exactly zero at the start, unknown */
  int32_t *crossings;
  int32_t max_samples;  /* to which steps are shortened; 0: those of events and rows, to LW_ODE_MAX_SAMPLES */
  bool rows_follow;     /* rows are requested within steps in which something turns far */
  lw_ode_rotation here; /* at the end of the last step */
  double sample_time;   /* in which nothing turns further than LW_ODE_SAMPLE_ANGLE in the last step; infinite: never */
  double first_sample;  /* from the start of the last step */
  lw_ode_implicit implicit;
  void *implicit_memory;
};

/* rotation.c: */
/* At a start. */
void lw_ode_start_rotation(lw_ode *ode);
/* Sets sample_time of the last step; returns false if it must be shorter. Status as of lw_ode_function. */
int lw_ode_measure_rotation(lw_ode *ode, bool *too_long);
/* In how many intervals the time of this size is divided, `least` or more. */
int32_t lw_ode_intervals(const lw_ode *ode, double size, int32_t least);
/* The same for rows that follow steps; 1 where nothing turns. */
int32_t lw_ode_row_intervals(const lw_ode *ode, double size);
/* The longest step from here. */
double lw_ode_longest_step(const lw_ode *ode);

bool lw_ode_all_finite(const double *x, int32_t n);

/* f(t, y), with evaluation count */
static inline int lw_ode_derivative(lw_ode *ode, double t, const double *y, double *ydot) {
  ode->statistics.evaluations++;
  return ode->derivative(ode->context, t, y, ydot);
}

static inline double lw_ode_scale(const lw_ode *ode, int32_t i, double y) {
  return ode->atol[i] + ode->options.rtol * fabs(y);
}

/* Error of state i relative to its tolerance; 0/0 counts as 0, so that a state that stays zero needs no atol. */
static inline double lw_ode_error_ratio(const lw_ode *ode, int32_t i, double error) {
  const double scale = lw_ode_scale(ode, i, fmax(fabs(ode->y[i]), fabs(ode->y_new[i])));
  return isfinite(ode->y_new[i]) ? (error == 0.0 ? 0.0 : error / scale) : NAN;
}

/* Root mean square of x_i / scale_i; 0/0 counts as 0, and a state without a scale does not count. */
double lw_ode_norm(const lw_ode *ode, const double *x, const double *y);

/* step.c: if a method needs it; returns the status of lw_ode_function, positive also if a stage is not finite. */
int lw_ode_prepare_dense(lw_ode *ode);
/* The time in the middle of the last step, and y there, perhaps to order 3 only. Status of lw_ode_function. */
int lw_ode_middle(lw_ode *ode, double *t, double *y);

/* method_choice.c: takes account of a step that has been accepted, after so many rejected ones; the
 * method chosen for the next step; the way back where the Jacobian does not exist, true if the step is to be tried again. */
void lw_ode_weigh_step(lw_ode *ode, int32_t rejected);
void lw_ode_apply_choice(lw_ode *ode);
bool lw_ode_abandon_implicit(lw_ode *ode);
double lw_ode_encode_choice(const lw_ode_choice *choice);
void lw_ode_decode_choice(double number, lw_ode_choice *choice);
/* spectral_radius.c: of the matrix of the last step; y_new and y_sample are scratch */
double lw_ode_spectral_radius(lw_ode *ode);

/* finite_differences.c: df/dy and df/dt at (t, y), in the direction of h. k[f_stage] is f there; y_new and `change` are
 * scratch. They return the status of lw_ode_function; positive also if f is not finite nearby. */
int lw_ode_difference_jacobian(lw_ode *ode, double *matrix, double *change);
int lw_ode_difference_time(lw_ode *ode, double *by_time, double *change);

/* All return the status of the event function, see lw_ode_function. */
int lw_ode_start_indicators(lw_ode *ode);
/* Searches the last step, which ends at *t. At a sign change *t becomes the time just after it, and *found is set. */
int lw_ode_locate_event(lw_ode *ode, double *t, bool *found);
/* Stores the zero crossings and signs of the located event. */
void lw_ode_record_crossings(lw_ode *ode);

#endif
