/* What the integrator keeps, shared by its step and its event location. */
#ifndef LINKWORK_ODE_H
#define LINKWORK_ODE_H

#include <stdbool.h>

#include "linkwork.h"

enum { LW_ODE_STAGES = 7 };

struct lw_ode {
  int32_t n, n_events;
  lw_ode_function derivative, events;
  void *context;
  lw_ode_options options;
  lw_ode_statistics counts;
  int64_t tries;       /* steps accepted and rejected since the start */
  bool started;        /* y is a valid state */
  bool first_same;     /* k[6] is the derivative at (t, y) */
  bool first_looks;    /* no look since the start: an indicator may leave zero at once */
  double t, t_old;     /* the last step went from t_old to t ... */
  double h;            /* ... or, cut short by an event, would have had this length; signed */
  double h_next;       /* length wished for the next step; 0: still to be chosen */
  double error_before; /* of the last accepted step that was not shortened */
  double *y, *y_old, *y_new, *y_look, *k[LW_ODE_STAGES];
  double *z, *z_look; /* indicators at the two ends of the stretch looked at */
  double *z_trial;
  int32_t *side; /* -1: z <= 0; +1: z > 0; 0: exactly zero at the start, so not known yet */
  int32_t *crossings;
};

bool lw_ode_all_finite(const double *x, int32_t n);

/* All return the status of the event function, as lw_ode_function says. */
int lw_ode_start_indicators(lw_ode *ode);
/* Looks along the last step, which ends at *t. If something changes, *t becomes the time just after, *found is set. */
int lw_ode_look_for_event(lw_ode *ode, double *t, bool *found);
/* Takes over what was found. */
void lw_ode_note_crossings(lw_ode *ode);

#endif
