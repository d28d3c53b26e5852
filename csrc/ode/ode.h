/* What the integrator keeps, shared by the control of its steps, its methods and its event location. */
#ifndef LINKWORK_ODE_H
#define LINKWORK_ODE_H

#include <math.h>
#include <stdbool.h>

#include "linkwork.h"

enum { LW_DOPRI5_STAGES = 7, LW_RODAS5P_STAGES = 8, LW_ODE_VECTORS = 9 };

/* A method: one step from y at t, of signed length h, to y_new. */
typedef struct lw_ode_operations {
  int f_stage;                                  /* k[slope] is f(t, y) between steps */
  bool first_same_as_last;                      /* a step leaves it there for the next one, and finds it in k[0] */
  int (*run_stages)(lw_ode *ode, double t_new); /* returns what lw_ode_function says */
  double (*error_norm)(const lw_ode *ode);      /* its norm */
  void (*dense)(const lw_ode *ode, double x, double *y); /* at t_old + x h, from what the stages left */
} lw_ode_operations;

extern const lw_ode_operations lw_dopri5, lw_rodas5p;

/* What only an implicit method needs, made when it is first chosen. */
typedef struct lw_ode_implicit {
  lw_ode_jacobian jacobian; /* NULL: differences */
  bool jacobian_current;    /* matrix and by_time are at (t, y) */
  double *matrix, *by_time; /* df/dy, df/dt */
  double *lu, *scale;       /* I / (h gamma) - df/dy, decomposed */
  int32_t *order;
} lw_ode_implicit;

struct lw_ode {
  int32_t n, n_events;
  lw_ode_function derivative, events;
  void *context;
  lw_ode_options options;
  lw_ode_statistics statistics;
  const lw_ode_operations *method;
  int64_t tries;         /* steps accepted and rejected since the start */
  bool started;          /* y is a valid state */
  bool f_known;          /* k[slope] is the derivative at (t, y) */
  bool just_started;     /* no look since the start: an indicator may leave zero at once */
  double t, t_old;       /* the last step went from t_old to t ... */
  double h;              /* ... or, cut short by an event, would have had this length; signed */
  double h_next;         /* length wished for the next step; 0: still to be chosen */
  double previous_error; /* of the last accepted step that was not shortened */
  double *y, *y_old, *y_new, *y_sample;
  double *k[LW_ODE_VECTORS]; /* of the stages; those beyond the explicit method's come with the implicit part */
  double *z, *z_sample;      /* indicators at the two ends of the stretch looked at */
  double *z_trial;
  int32_t *event_sign; /* -1: z <= 0; +1: z > 0; 0: exactly zero at the start, so not known yet */
  int32_t *crossings;
  lw_ode_implicit implicit;
  void *implicit_memory;
};

bool lw_ode_all_finite(const double *x, int32_t n);

/* f(t, y), counted */
static inline int lw_ode_derivative(lw_ode *ode, double t, const double *y, double *ydot) {
  ode->statistics.evaluations++;
  return ode->derivative(ode->context, t, y, ydot);
}

static inline double lw_ode_scale(const lw_ode *ode, double y) {
  return ode->options.atol + ode->options.rtol * fabs(y);
}

/* An error of state i against what is allowed; 0/0 counts as 0, so that a state that stays zero needs no atol. */
static inline double lw_ode_error_ratio(const lw_ode *ode, int32_t i, double error) {
  const double scale = lw_ode_scale(ode, fmax(fabs(ode->y[i]), fabs(ode->y_new[i])));
  return isfinite(ode->y_new[i]) ? (error == 0.0 ? 0.0 : error / scale) : NAN;
}

/* Root mean square of x_i / scale_i, with the same remark. */
double lw_ode_norm(const lw_ode *ode, const double *x, const double *y);

/* differences.c: df/dy and df/dt at (t, y), in the direction of h. k[slope] is f there; y_new and `change` are used.
 * They return what lw_ode_function says; positive too where f is not finite nearby. */
int lw_ode_difference_jacobian(lw_ode *ode, double *matrix, double *change);
int lw_ode_difference_time(lw_ode *ode, double *by_time, double *change);

/* All return the status of the event function, as lw_ode_function says. */
int lw_ode_start_indicators(lw_ode *ode);
/* Looks along the last step, which ends at *t. If something changes, *t becomes the time just after, *found is set. */
int lw_ode_locate_event(lw_ode *ode, double *t, bool *found);
/* Takes over what was found. */
void lw_ode_record_crossings(lw_ode *ode);

#endif
