/* Compiled implicit equations in the form that IDA's GMRES solves without a preconditioner.
 *
 * The residual is multiplied by P^-1, P being the Newton matrix at an earlier iterate and `factored`, hence
 *   P^-1 (dF/dy + cj dF/dy') v  ~  v + (cj - factored) P^-1 dF/dy' v,
 * which is v alone while cj stays. IDA prepares products after the residual they belong to, so that the P for a new cj
 * waits for the next residual. */
#include <math.h>
#include <string.h>

#include "linkwork.h"

enum { SUCCESS = 0, RECOVERABLE = 1, UNRECOVERABLE = -1 };

static int is_finite(int32_t n, const double *x) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += 0.0 * x[i];
  return sum == 0.0;
}

static int factor(lw_ida *ida, double t, const double *y, const double *ydot) {
  const int status = ida->equations.factor(ida->equations.context, t, y, ydot, ida->cj / ida->time_scale);
  ida->factorisations++;
  if (status < 0) return UNRECOVERABLE;
  if (status) {
    ida->singular = 1;
    ida->cj *= 4.0; /* IDA tries a step of a quarter next */
    return RECOVERABLE;
  }
  ida->cj_factored = ida->cj, ida->factor_needed = 0;
  return SUCCESS;
}

int lw_ida_residual(double s, void *y, void *rate, void *out, void *user) {
  lw_ida *ida = user;
  const lw_implicit *f = &ida->equations;
  const double t = ida->t0 + ida->time_scale * s, *state = ida->get_array(y), *scaled_rate = ida->get_array(rate);
  double *result = ida->get_array(out), *ydot = ida->work;
  ida->residuals++;
  for (int32_t i = 0; i < ida->n; i++) ydot[i] = scaled_rate[i] / ida->time_scale;
  const int status = f->residual(f->context, t, state, ydot, result);
  if (status) return status;
  if ((ida->not_finite = !is_finite(ida->n, result))) return RECOVERABLE;
  if (ida->factor_needed) {
    const int factored = factor(ida, t, state, ydot);
    if (factored) return factored;
  }
  if (f->solve(f->context, result, result)) return UNRECOVERABLE;
  ida->not_finite = !is_finite(ida->n, result);
  return ida->not_finite ? RECOVERABLE : SUCCESS;
}

int lw_ida_jac_times_setup(double s, void *y, void *rate, void *residual, double cj, void *user) {
  lw_ida *ida = user;
  (void)s, (void)y, (void)rate, (void)residual;
  ida->cj = cj, ida->factor_needed = 1;
  return SUCCESS;
}

int lw_ida_jac_times(double s, void *y, void *rate, void *residual, void *v, void *out, double cj, void *user,
                     void *scratch, void *scratch_too) {
  lw_ida *ida = user;
  const lw_implicit *f = &ida->equations;
  const double *from = ida->get_array(v), scale = (cj - ida->cj_factored) / ida->time_scale;
  double *result = ida->get_array(out), *change = ida->work;
  (void)s, (void)y, (void)rate, (void)residual, (void)scratch, (void)scratch_too;
  memcpy(result, from, sizeof *result * (size_t)ida->n);
  if (scale == 0.0) return SUCCESS;
  if (f->rate_times(f->context, from, change) || f->solve(f->context, change, change)) return UNRECOVERABLE;
  for (int32_t i = 0; i < ida->n; i++) result[i] += scale * change[i];
  return SUCCESS;
}
