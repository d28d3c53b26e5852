/* Why a run cannot continue, in words: what the integrator found, and the cause as far as the mechanics know it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/tolerances.h"
#include "model/model.h"
#include "run/run.h"

static void add(lw_run *r, const char *format, ...) {
  const size_t used = strlen(r->message);
  va_list list;
  va_start(list, format);
  vsnprintf(r->message + used, sizeof r->message - used, format, list);
  va_end(list);
}

static const char *words_of(lw_ode_outcome outcome) {
  switch (outcome) {
    case LW_ODE_STEP:
    case LW_ODE_EVENT: return "";
    case LW_ODE_STOPPED: return "the compiled derivative or event function asked to stop; see its own message";
    case LW_ODE_STEP_TOO_SMALL:
      return "the error or the domain of the derivative cannot be met with any step; the solution may grow without "
             "bound "
             "there, or be discontinuous (give it as an event); else relax rtol and atol";
    case LW_ODE_TOO_MANY_STEPS:
      return "max_steps is used up; raise it, relax rtol and atol, or try a stiff solver such as 'rodas5p'";
    case LW_ODE_NOT_FINITE:
      return "the state, its derivative or an event indicator is not finite there; check the start values and "
             "parameters";
  }
  return "";
}

static const char *name_of(lw_ode_method method) {
  switch (method) {
    case LW_ODE_DOPRI5: return "dopri5";
    case LW_ODE_RODAS5P: return "rodas5p";
    case LW_ODE_AUTO: return "auto";
  }
  return "";
}

lw_status lw_run_stopped(lw_run *r, lw_ode_outcome outcome) {
  double sum = 0.0;
  if (outcome == LW_ODE_STOPPED) {
    const lw_status e = lw_check_constraints(r->state);
    if (e) {
      lw_run_state_failed(r, e);
      if (e == LW_ERROR_SOLVER) lw_run_explain(r, 0);
      return e;
    }
  }
  for (int32_t k = 0; k < r->n; k++) sum += r->y[k] * r->y[k];
  lw_run_refuse(r, LW_ERROR_SOLVER, "%s stopped at t = %.17g, where the norm of the state is %.6g: %s",
                name_of(r->options.method), r->t, sqrt(sum), words_of(outcome));
  r->too_many_steps = outcome == LW_ODE_TOO_MANY_STEPS;
  lw_run_explain(r, 0);
  return r->status;
}

/* The loop that is nearest to a singular pose at the last row. */
static void add_nearest_singular(lw_run *r) {
  if (!r->record.t.count || !r->size.loops) return;
  lw_run_enter(r, *lw_last_row(&r->record.t), lw_last_row(&r->record.y));
  if (lw_evaluate(r->state, LW_STAGE_ACCELERATIONS)) return;
  const double *conditioning = lw_state_reals(r->state) + r->model->at.loop_conditioning;
  int32_t least = 0;
  for (int32_t k = 1; k < r->size.loops; k++)
    if (conditioning[k] < conditioning[least]) least = k;
  if (conditioning[least] <= PROBABLY_SINGULAR)
    add(r, ". There, the loop closed by joint '%s' is the nearest to a singular pose, with conditioning %.2g",
        r->model->joint_name[r->model->loop[least].joint], conditioning[least]);
}

static void add_lock_up(lw_run *r, double t) {
  const double *motion = lw_state_reals(r->state) + r->model->at.coupling_motion;
  char list[400] = "";
  size_t used = 0;
  int32_t drives = 0;
  for (int32_t k = 0; k < r->size.couplings && used < sizeof list; k++) {
    int moved = 0;
    for (int i = 0; i < 7; i++) moved |= motion[7 * k + i] != 0.0;
    if (moved)
      used +=
          (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", drives++ ? ", " : "", r->model->coupling_name[k]);
  }
  const int one = drives == 1;
  add(r,
      ". The mechanism locks up: %s %s cannot move its joints beyond the pose reached at t = %.9g s, where its loops "
      "are at "
      "the end of their range. Keep %s within that range, or drive another joint instead of %s",
      one ? "drive" : "drives", list, t, one ? "its motion" : "motions", one ? "it" : "them");
}

void lw_run_explain(lw_run *r, int chattering) {
  char fault[480] = "", recent[400] = "";
  if (lw_evaluate(r->state, LW_STAGE_DERIVATIVES)) snprintf(fault, sizeof fault, "%s", lw_state_message(r->state));
  if (chattering && r->record.event_t.count) {
    lw_run_enter(r, r->t, r->y);
    lw_recent_transitions(r->state, recent, sizeof recent);
    add(r,
        ". The last transitions were %s; lower the restitution, do not let a lock and its release cause each other, or "
        "raise the limit",
        recent);
  }
  const double locked = lw_run_lock_up(r);
  if (!isnan(locked)) add_lock_up(r, locked);
  else if (fault[0]) add(r, ". There, %s", fault);
  else if (!r->too_many_steps) add_nearest_singular(r);
}
