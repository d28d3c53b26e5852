/* Why a run cannot continue, in words: what the integrator found, and the cause as far as the mechanics know it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "events/indicators.h"
#include "math/tolerances.h"
#include "model/model.h"
#include "run/run.h"

static const char *words_of(lw_ode_outcome outcome) {
  switch (outcome) {
    case LW_ODE_STEP:
    case LW_ODE_EVENT: return "";
    case LW_ODE_STOPPED: return "the compiled derivative or event function asked to stop; see its own message";
    case LW_ODE_STEP_TOO_SMALL:
      return "the error or the domain of the derivative cannot be met with any step; the solution may grow without "
             "bound there, or be discontinuous (give it as an event); else relax the tolerances";
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
    case LW_ODE_DOP853: return "dop853";
  }
  return "";
}

static lw_status stopped(lw_run *r, const char *why) {
  const char *name = r->calls.integrator ? r->calls.integrator : name_of(r->options.method);
  double sum = 0.0;
  for (int32_t k = 0; k < r->n; k++) sum += r->y[k] * r->y[k];
  return lw_run_refuse(r, LW_ERROR_SOLVER, "%s stopped at t = %.17g, where the norm of the state is %.6g: %s", name,
                       r->t, sqrt(sum), why);
}

lw_status lw_run_stopped(lw_run *r, lw_ode_outcome outcome) {
  if (outcome == LW_ODE_STOPPED) {
    if (r->raised) return lw_run_raised(r, r->raised);
    const lw_status e = lw_check_constraints(r->state);
    if (e) return lw_run_state_failed(r, e);
  }
  r->too_many_steps = outcome == LW_ODE_TOO_MANY_STEPS;
  return stopped(r, words_of(outcome));
}

lw_status lw_run_check_progress(lw_run *r) {
  const int64_t taken = r->reach.attempts, most = r->options.max_steps;
  if (most < 0 || taken < r->next_look) return LW_OK;
  const double step = fabs(r->t - r->looked_t) / (double)(taken - r->looked_at);
  r->looked_at = taken, r->looked_t = r->t, r->next_look = 2 * taken;
  const double needed = step > 0.0 ? fabs(r->options.t_end - r->t) / step : INFINITY;
  if (!(needed > HOPELESS * (double)(most - taken))) return LW_OK;
  r->too_many_steps = 1;
  stopped(
      r,
      "max_steps would be used up long before the end; raise it, relax rtol and atol, or try a stiff solver such as "
      "'rodas5p'");
  lw_run_add(r, "; after %lld steps, the last ones of about %.2g each, %.2g more would be needed to the end at %.6g",
             (long long)taken, step, needed, r->options.t_end);
  return r->status;
}

/* ---- causes ---- */

/* The joint around a loop that moves fastest, and its speed. */
static int32_t find_fastest(const lw_run *r, const lw_loop *loop, double *speed) {
  const lw_model *m = r->model;
  const double *u = lw_state_reals(r->state) + m->at.u, *u_cut = lw_state_reals(r->state) + m->at.u_cut;
  const int32_t ends[] = {loop->parent, loop->child};
  int32_t fastest = loop->joint;
  *speed = 0.0;
  for (int side = 0; side < 3; side++) {
    int32_t link = side < 2 ? ends[side] : -1;
    while (side == 2 || link != loop->root) {
      const int32_t joint = side < 2 ? m->link[link].joint : loop->joint, first = m->joint[joint].u;
      for (int32_t k = first; k < first + lw_joint_sizes[m->joint[joint].type].u; k++) {
        const double size = fabs(k < r->size.nu ? u[k] : u_cut[k - r->size.nu]);
        if (size > *speed) *speed = size, fastest = joint;
      }
      if (side == 2) break;
      link = m->link[link].parent;
    }
  }
  return fastest;
}

/* The loop that is nearest to a singular pose at the last row. With explicit equations a pose that is far from singular is
 * no cause. */
static void add_nearest_singular(lw_run *r) {
  if (!r->record.t.count || !r->size.loops) return;
  if (lw_run_enter(r, *lw_last_row(&r->record.t), lw_last_row(&r->record.y))) return;
  if (lw_evaluate(r->state, LW_STAGE_ACCELERATIONS)) return;
  const double *conditioning = lw_state_reals(r->state) + r->model->at.loop_conditioning;
  int32_t least = 0;
  for (int32_t k = 1; k < r->size.loops; k++)
    if (conditioning[k] < conditioning[least]) least = k;
  if (conditioning[least] > PROBABLY_SINGULAR && !r->calls.keeps_constraints) return;
  double speed;
  const int32_t fastest = find_fastest(r, &r->model->loop[least], &speed);
  lw_run_add(
      r,
      ". There, the loop closed by joint '%s' is the nearest to a singular pose, with conditioning %.2g; of its joints "
      "'%s' moves fastest, at %.3g",
      r->model->joint_name[r->model->loop[least].joint], conditioning[least], r->model->joint_name[fastest], speed);
}

static int is_finite(const lw_run *r) {
  const double *y = lw_state_reals(r->state) + r->model->at.q;
  for (int32_t k = 0; k < r->n - r->calls.n; k++)
    if (!isfinite(y[k])) return 0;
  return 1;
}

/* The error at the last state that the integrator tried. Unknowns of Newton's method that are no numbers are the
 * integrator's: what it solved had no solution. */
static void find_fault(lw_run *r) {
  if (r->calls.keeps_constraints && !is_finite(r)) return;
  r->cause = lw_evaluate(r->state, LW_STAGE_DERIVATIVES);
  if (!r->cause) r->cause = lw_check_watched(r->state);
  if (r->cause) snprintf(r->cause_text, sizeof r->cause_text, "%s", lw_state_message(r->state));
}

static void add_recent_transitions(lw_run *r) {
  char recent[400] = "";
  if (!r->size.transitions || lw_run_enter(r, r->t, r->y)) return;
  lw_recent_transitions(r->state, recent, sizeof recent);
  if (!*recent) return;
  lw_run_add(
      r,
      ". The last transitions were %s; lower the restitution, do not let a lock and its release cause each other, or "
      "raise the limit",
      recent);
}

void lw_run_explain(lw_run *r) {
  const double events = (double)r->record.crossing_t.count;
  const double steps = (double)(r->ode ? lw_ode_get_statistics(r->ode).steps : r->reach.attempts);
  find_fault(r);
  if (r->chattering || (r->too_many_steps && events > EVENT_SHARE * steps)) add_recent_transitions(r);
  if (lw_run_explain_lock_up(r)) return;
  if (r->cause) lw_run_add(r, ". There, %s", r->cause_text);
  else if (!r->too_many_steps) add_nearest_singular(r);
}
