/* Lock-up of a driven mechanism: the pose beyond which it cannot follow its prescribed motions, found by assembly.
 *
 * With the motions prescribed, the pose follows from the time, Phi(q, t) = 0. It ends at a fold: as t approaches t*, the
 * speeds grow as 1 / sqrt(t* - t), the derivative of Phi by q loses rank, and beyond t* no pose is near. The integrator
 * stops somewhere around it, with any message. Assembly from pose to pose finds t* to the accuracy of the assembly itself. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/tolerances.h"
#include "model/model.h"
#include "run/run.h"

#define MOST_POSES 1000 /* to be assembled */

typedef struct pose {
  double t;
  double *q, *rate; /* of all joints */
} pose;

typedef struct follower {
  lw_run *run;
  lw_state *state;
  int32_t nq, nu; /* of all joints */
  pose at, found;
  double *guess;
} follower;

static void take_pose(const lw_state *s, const lw_model *m, lw_sizes size, double t, pose *to) {
  const double *x = lw_state_reals((lw_state *)s);
  to->t = t;
  memcpy(to->q, x + m->at.q, sizeof *x * (size_t)size.nq);
  memcpy(to->q + size.nq, x + m->at.q_cut, sizeof *x * (size_t)size.nq_cut);
  memcpy(to->rate, x + m->at.u, sizeof *x * (size_t)size.nu);
  memcpy(to->rate + size.nu, x + m->at.u_cut, sizeof *x * (size_t)size.nu_cut);
}

/* The pose at a time that is nearest to a guess. */
static lw_status assemble(follower *f, double t, const double *guess) {
  double *x = lw_state_reals(f->state);
  const lw_model *m = f->run->model;
  memcpy(x + m->at.q_start, guess, sizeof *x * (size_t)f->nq);
  memcpy(x + m->at.motion_in, lw_state_reals(f->run->state) + m->at.motion_in,
         sizeof *x * 3 * (size_t)f->run->size.couplings);
  x[m->at.time] = x[m->at.motion_time] = t;
  lw_state_changed(f->state, LW_STAGE_NONE);
  lw_status e = lw_assemble(f->state, ASSEMBLY_TOLERANCE);
  if (!e) e = lw_evaluate(f->state, LW_STAGE_OUTPUTS);
  if (!e) take_pose(f->state, m, f->run->size, t, &f->found);
  return e;
}

static double largest_change(const double *a, const double *b, int32_t n) {
  double most = 0.0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

/* Whether the pose that was found is the next one of the same motion, rather than one of another branch. */
static int continues(const follower *f) {
  double fastest = 0.0;
  for (int32_t k = 0; k < f->nu; k++) fastest = fmax(fastest, fabs(f->at.rate[k]));
  const double linear = (f->found.t - f->at.t) * fastest;
  return largest_change(f->found.q, f->at.q, f->nq) <= fmin(2.0 * linear + LOCK_UP_SMALL, LOCK_UP_FAR);
}

static void move_on(follower *f) {
  const pose left = f->at;
  f->at = f->found, f->found = left;
}

/* The last row since the last event that is on the motions. */
static int find_followed(follower *f) {
  lw_run *r = f->run;
  const lw_record *record = &r->record;
  const double since = record->event_t.count ? *lw_last_row(&record->event_t) : -INFINITY;
  int64_t back = 1;
  for (int64_t row = record->t.count - 1; row >= 0; row -= back, back *= 2) {
    const double t = *lw_row_of(&record->t, row);
    if (t < since) return 0;
    lw_run_enter(r, t, lw_row_of(&record->y, row));
    if (lw_evaluate(r->state, LW_STAGE_OUTPUTS)) continue;
    take_pose(r->state, r->model, r->size, t, &f->at);
    memcpy(f->guess, f->at.q, sizeof *f->guess * (size_t)f->nq);
    if (assemble(f, t, f->guess) || largest_change(f->found.q, f->guess, f->nq) > LOCK_UP_ON_MOTION) continue;
    move_on(f);
    return 1;
  }
  return 0;
}

static double find_end(follower *f, double span, double end) {
  double step = LOCK_UP_FIRST_STEP * span;
  const double least = fmax(LOCK_UP_LAST_STEP * span, 4.0 * DBL_EPSILON * fabs(end));
  int fault = 0;
  for (int k = 0; k < MOST_POSES && step >= least; k++) {
    if (f->at.t >= end) return NAN;
    const lw_status e = assemble(f, fmin(f->at.t + step, end), f->at.q);
    if (!e && continues(f)) {
      move_on(f);
      step *= 2.0;
      continue;
    }
    step /= 4.0;
    fault |= e == LW_ERROR_ASSEMBLY;
  }
  return fault && step < least ? f->at.t : NAN;
}

static int is_driven(const lw_run *r) {
  const double *motion = lw_state_reals(r->state) + r->model->at.coupling_motion;
  for (int32_t k = 0; k < 7 * r->size.couplings; k++)
    if (motion[k] != 0.0) return 1;
  return 0;
}

static void forget_starts(follower *f) {
  double *x = lw_state_reals(f->state);
  const lw_model *m = f->run->model;
  memset(x + m->at.q_priority, 0, sizeof *x * (size_t)f->nq);
  memset(x + m->at.u_priority, 0, sizeof *x * (size_t)f->nu);
  memset(x + m->at.u_start, 0, sizeof *x * (size_t)f->nu);
  if (!f->run->n_discrete) return;
  memcpy(x + m->at.joint_closed, lw_state_reals(f->run->state) + m->at.joint_closed,
         sizeof *x * (size_t)f->run->n_discrete);
  lw_discrete_state_changed(f->state);
}

double lw_run_lock_up(lw_run *r) {
  follower f = {.run = r, .nq = r->size.nq + r->size.nq_cut, .nu = r->size.nu + r->size.nu_cut};
  if (!is_driven(r) || !r->record.t.count || lw_state_create(r->model, &f.state)) return NAN;
  const size_t nq = (size_t)f.nq, nu = (size_t)f.nu;
  double *memory = malloc(sizeof *memory * (3 * nq + 2 * nu + 1)), found = NAN;
  if (memory) {
    f.at = (pose){0.0, memory, memory + nq}, f.found = (pose){0.0, memory + nq + nu, memory + 2 * nq + nu};
    f.guess = memory + 2 * (nq + nu);
    forget_starts(&f);
    const double span = r->options.t_end - *r->record.t.number;
    if (find_followed(&f)) found = find_end(&f, span, r->t + LOCK_UP_AHEAD * span);
  }
  free(memory);
  lw_state_free(f.state);
  return found;
}
