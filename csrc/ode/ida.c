/* Compiled implicit equations in the form that IDA's GMRES solves without a preconditioner.
 *
 * The residual is multiplied by P^-1, P being the Newton matrix at an earlier iterate and `factored`, hence
 *   P^-1 (dF/dy + cj dF/dy') v  ~  v + (cj - factored) P^-1 dF/dy' v,
 * which is v alone while cj stays. IDA prepares products after the residual they belong to, so that the P for a new cj
 * waits for the next residual. */
#include <math.h>
#include <string.h>

#include "linkwork.h"

enum { DONE = 0, SHORTER = 1, FATAL = -1 };

static int is_finite(int32_t n, const double *x) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += 0.0 * x[i];
  return sum == 0.0;
}

static int factor(lw_ida *ida, double t, const double *y, const double *ydot) {
  const int found = ida->equations.factor(ida->equations.context, t, y, ydot, ida->cj / ida->time_scale);
  ida->factorisations++;
  if (found < 0) return FATAL;
  if (found) {
    ida->singular = 1;
    ida->cj *= 4.0; /* IDA tries a step of a quarter next */
    return SHORTER;
  }
  ida->factored = ida->cj, ida->stale = 0;
  return DONE;
}

int lw_ida_residual(double s, void *y, void *rate, void *out, void *user) {
  lw_ida *ida = user;
  const lw_implicit *f = &ida->equations;
  const double t = ida->time_origin + ida->time_scale * s, *at = ida->array(y), *turn = ida->array(rate);
  double *to = ida->array(out), *ydot = ida->work;
  ida->residuals++;
  for (int32_t i = 0; i < ida->n; i++) ydot[i] = turn[i] / ida->time_scale;
  const int found = f->residual(f->context, t, at, ydot, to);
  if (found) return found;
  if ((ida->not_finite = !is_finite(ida->n, to))) return SHORTER;
  if (ida->stale) {
    const int factored = factor(ida, t, at, ydot);
    if (factored) return factored;
  }
  if (f->solve(f->context, to, to)) return FATAL;
  ida->not_finite = !is_finite(ida->n, to);
  return ida->not_finite ? SHORTER : DONE;
}

int lw_ida_prepare(double s, void *y, void *rate, void *residual, double cj, void *user) {
  lw_ida *ida = user;
  (void)s, (void)y, (void)rate, (void)residual;
  ida->cj = cj, ida->stale = 1;
  return DONE;
}

int lw_ida_product(double s, void *y, void *rate, void *residual, void *v, void *out, double cj, void *user,
                   void *scratch, void *scratch_too) {
  lw_ida *ida = user;
  const lw_implicit *f = &ida->equations;
  const double *from = ida->array(v), scale = (cj - ida->factored) / ida->time_scale;
  double *to = ida->array(out), *change = ida->work;
  (void)s, (void)y, (void)rate, (void)residual, (void)scratch, (void)scratch_too;
  memcpy(to, from, sizeof *to * (size_t)ida->n);
  if (scale == 0.0) return DONE;
  if (f->rate_times(f->context, from, change) || f->solve(f->context, change, change)) return FATAL;
  for (int32_t i = 0; i < ida->n; i++) to[i] += scale * change[i];
  return DONE;
}
