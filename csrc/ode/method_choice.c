/* LW_ODE_AUTO: Dormand-Prince 5(4) until stability limits its steps, Rodas5P while it pays, and back.
 *
 * r = h rho / STABLE, with the spectral radius rho of df/dy, is the number of explicit steps that a step of size h
 * stands for. An implicit step costs `implicit_cost` explicit ones: it pays where r exceeds that number.
 *
 *   explicit: h rho ~ h |k_7 - k_6| / |y_1 - g_6|, whose stages have the same time (Hairer, Wanner, IV.2). Steps near
 *     r = 1 are evidence for the implicit method, others against it; where nothing is damped the limit is lower and
 *     shows by repeated steps. Enough evidence begins a trial.
 *   implicit: rho from powers of the matrix of the step. Losses and gains of the steps add up.
 *     After a trial that has not paid, the next one needs four times the evidence and lasts twice as long: fast
 *     oscillations, which the explicit method has kept alive, fade slowly.
 *
 * The choice counts steps and no time, so that results are reproducible. It survives restarts. */
#include <string.h>

#include "ode.h"
#include "math/tolerances.h"

enum { REPEATED_WEIGHT = 4, CHECK_INTERVAL = 8, STEPS_TO_TRY = 15, MOST_DOUBLINGS = 12, MOST_EVIDENCE = 1 << 28 };
enum { PARTS = 16, ENOUGH = 8 * PARTS }; /* losses are counted in parts of an implicit step; what decides */

/* Cost of an implicit step in explicit ones: six evaluations. A column of the mechanics' Jacobian takes three, one of
 * differences takes one; the decomposition of the matrix is compared with an evaluation of linear cost. */
static double implicit_cost(const lw_ode *ode) {
  const double n = ode->n, evaluations = ode->implicit.jacobian ? 8.0 + 3.0 * n : 10.0 + n;
  return (evaluations + n * n / 600.0) / 6.0;
}

static int32_t evidence_to_try(const lw_ode *ode) {
  const double least = fmax(STEPS_TO_TRY, 4.0 * implicit_cost(ode));
  return (int32_t)fmin(ldexp(least, 2 * ode->choice.doublings), MOST_EVIDENCE);
}

static int32_t evidence_of(lw_ode *ode, int32_t rejected) {
  const double ratio = ode->method->stability_ratio(ode);
  if (rejected && ratio > UNDAMPED) return REPEATED_WEIGHT;
  return ratio > LIMITED ? 1 : ode->choice.evidence > 0 ? -1 : 0;
}

static void weigh_explicit_step(lw_ode *ode, int32_t rejected) {
  lw_ode_choice *choice = &ode->choice;
  if (choice->evidence == 0 && rejected == 0 && ++choice->unchecked < CHECK_INTERVAL) return;
  choice->unchecked = 0;
  choice->evidence += evidence_of(ode, rejected);
  if (choice->evidence < evidence_to_try(ode)) return;
  choice->implicit = true;
  ode->statistics.switches++;
  choice->paid = false;
  choice->evidence = 0;
}

static void return_to_explicit(lw_ode *ode) {
  const lw_ode_choice before = ode->choice;
  const int32_t longer = before.doublings < MOST_DOUBLINGS ? before.doublings + 1 : MOST_DOUBLINGS;
  ode->choice = (lw_ode_choice){.automatic = true, .doublings = before.paid ? 0 : longer};
  ode->statistics.switches++;
}

/* What a step has lost against explicit ones, in parts of its cost. */
static int32_t loss_of(lw_ode *ode, double ratio, int32_t rejected) {
  const double cost = implicit_cost(ode), loss = 1.0 + (rejected * REPETITION_COST - ratio) / cost;
  return (int32_t)fmax(fmin(PARTS * loss, ENOUGH), -2.0 * ENOUGH);
}

static void weigh_implicit_step(lw_ode *ode, int32_t rejected) {
  lw_ode_choice *choice = &ode->choice;
  const double ratio = ode->method->stability_ratio(ode);
  choice->evidence += loss_of(ode, ratio, rejected);
  if (choice->evidence <= -ENOUGH) {
    choice->evidence = -ENOUGH;
    choice->paid = true;
  }
  if (choice->evidence < (choice->paid ? 0 : ENOUGH << choice->doublings)) return;
  const double stable = RETURN_SHARE * fabs(ode->h) / ratio;
  ode->h_next = ratio > 0.0 ? fmin(ode->h_next, stable) : ode->h_next;
  return_to_explicit(ode);
}

void lw_ode_weigh_step(lw_ode *ode, int32_t rejected) {
  if (!ode->choice.automatic || ode->n == 0) return;
  if (ode->choice.implicit) weigh_implicit_step(ode, rejected);
  else weigh_explicit_step(ode, rejected);
}

/* The derivative at the present state moves along with the method. */
static void use(lw_ode *ode, const lw_ode_operations *method) {
  if (ode->method == method) return;
  if (ode->f_known) memcpy(ode->k[method->f_stage], ode->k[ode->method->f_stage], (size_t)ode->n * sizeof(double));
  ode->method = method;
}

void lw_ode_apply_choice(lw_ode *ode) {
  if (ode->choice.automatic) use(ode, ode->choice.implicit ? &lw_rodas5p : &lw_dopri5);
}

bool lw_ode_abandon_implicit(lw_ode *ode) {
  if (!ode->choice.automatic || !ode->choice.implicit || ode->implicit.jacobian_current) return false;
  return_to_explicit(ode);
  memcpy(ode->k[0], ode->k[ode->method->f_stage], (size_t)ode->n * sizeof(double)); /* in a step: first stage */
  ode->method = &lw_dopri5;
  return true;
}

/* ---- as a number, for restarts ---------------------------------------------------------------------- */

/* implicit + 2 paid + 4 doublings + 64 unchecked + 512 evidence, of implicit steps above its least */
double lw_ode_encode_choice(const lw_ode_choice *choice) {
  return choice->implicit + 2.0 * choice->paid + 4.0 * choice->doublings + 64.0 * choice->unchecked +
         512.0 * (choice->evidence + (choice->implicit ? ENOUGH : 0));
}

void lw_ode_decode_choice(double number, lw_ode_choice *choice) {
  if (!choice->automatic || !(number >= 0.0 && number < 512.0 * (MOST_EVIDENCE + 1.0))) return;
  const double evidence = floor(number / 512.0);
  const int32_t rest = (int32_t)(number - 512.0 * evidence);
  choice->implicit = rest & 1;
  choice->paid = (rest >> 1) & 1;
  choice->doublings = (rest >> 2 & 15) < MOST_DOUBLINGS ? rest >> 2 & 15 : MOST_DOUBLINGS;
  choice->unchecked = rest >> 6;
  choice->evidence = (int32_t)evidence - (choice->implicit ? ENOUGH : 0);
}
