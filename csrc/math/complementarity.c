/* A primal active-set method for the convex quadratic programme. Each major step frees the load whose direction yields the
 * wrong way most and proceeds, through changes of the active set that never raise the objective, to the minimum over the new
 * active set. That minimum is lower than the last one, so that no active set occurs twice: the method ends. */
#include "math/complementarity.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

#define STEPS_PER_ROW 100 /* a bound against cycles by rounding */

static double excess(const lw_complementarity *p, int32_t i) {
  double w = p->b[i];
  for (int32_t j = 0; j < p->n; j++) w += p->W[i * p->n + j] * p->lambda[j];
  return w;
}

/* Rows of the Cholesky factor of W over the active set from `first` on; those before are known. Returns whether its last
 * row, the new one, is independent of the others. */
static int factor(const lw_complementarity *p, int32_t first, int32_t active, double *L) {
  for (int32_t i = first; i < active; i++)
    for (int32_t j = 0; j <= i; j++) {
      double sum = p->W[p->active[i] * p->n + p->active[j]];
      const double diagonal = sum;
      for (int32_t k = 0; k < j; k++) sum -= L[i * p->n + k] * L[j * p->n + k];
      if (i > j) L[i * p->n + j] = sum / L[j * p->n + j];
      else if (sum > DEPENDENT_DIRECTION * diagonal) L[i * p->n + i] = sqrt(sum);
      else return 0;
    }
  return 1;
}

/* The step of the active loads that changes w of the new one, the last, by `rise` and no other: L L' step = rise e. If
 * the new one depends on the others, the step by which no w changes and its load grows by one, in the direction of rise. */
static void find_step(int32_t n, int32_t active, const double *L, int independent, double rise, double *step) {
  const int32_t last = active - 1;
  step[last] = independent ? rise / (L[last * n + last] * L[last * n + last]) : rise > 0.0 ? 1.0 : -1.0;
  for (int32_t i = last - 1; i >= 0; i--) {
    double sum = 0.0;
    for (int32_t k = i + 1; k < active; k++) sum += L[k * n + i] * step[k];
    step[i] = -sum / L[i * n + i];
  }
}

/* Largest part of the step that keeps all loads within their limits; *blocker: the position of the one that reaches its
 * own, or -1. */
static double longest_step(const lw_complementarity *p, int32_t active, const double *step, double most,
                           int32_t *blocker) {
  *blocker = -1;
  for (int32_t i = 0; i < active; i++) {
    const int32_t k = p->active[i];
    const double left = step[i] < 0.0 ? p->lambda[k] - p->lower[k] : p->upper[k] - p->lambda[k];
    if (step[i] != 0.0 && left < most * fabs(step[i])) most = left / fabs(step[i]), *blocker = i;
  }
  return most;
}

/* The load at a limit that its direction shall leave most urgently, and *rise, by how much w shall change; -1: none. */
static int32_t most_pressed(const lw_complementarity *p, const unsigned char *is_active, double *rise) {
  int32_t worst = -1;
  double most = 0.0;
  for (int32_t i = 0; i < p->n; i++) {
    if (is_active[i] || (p->eligible && !p->eligible[i])) continue;
    const double w = excess(p, i), pressed = p->lambda[i] == p->lower[i] ? -w : w;
    const double size = pressed / sqrt(fmax(p->W[i * p->n + i], 1e-300));
    if (pressed > p->tolerance && size > most) most = size, worst = i, *rise = -w;
  }
  return worst;
}

int32_t lw_solve_complementarity(const lw_complementarity *p) {
  double *L = p->scratch, *step = L + p->n * p->n;
  unsigned char *is_active = (unsigned char *)(step + p->n);
  int32_t active = 0;
  memcpy(p->lambda, p->lower, sizeof(double) * (size_t)p->n);
  memset(is_active, 0, (size_t)p->n);
  for (int32_t steps = STEPS_PER_ROW * p->n; steps > 0; steps--) {
    double rise;
    const int32_t entering = most_pressed(p, is_active, &rise);
    if (entering < 0) return active;
    p->active[active++] = entering, is_active[entering] = 1;
    for (int32_t known = active - 1, enters = 1; enters; steps--) {
      int32_t blocker;
      const int independent = factor(p, known, active, L);
      find_step(p->n, active, L, independent, independent ? -excess(p, entering) : rise, step);
      const double part = longest_step(p, active, step, independent ? 1.0 : INFINITY, &blocker);
      if (blocker < 0 && !independent) return -1;
      for (int32_t i = 0; i < active; i++) p->lambda[p->active[i]] += part * step[i];
      if (blocker < 0) break;
      const int32_t at_limit = p->active[blocker];
      p->lambda[at_limit] = step[blocker] < 0.0 ? p->lower[at_limit] : p->upper[at_limit];
      is_active[at_limit] = 0, enters = at_limit != entering;
      active--, known = blocker;
      for (int32_t i = blocker; i < active; i++) p->active[i] = p->active[i + 1];
    }
  }
  return -1;
}

int32_t lw_add_independent(const lw_complementarity *p, int32_t active, const unsigned char *candidate) {
  double *L = p->scratch;
  (void)factor(p, 0, active, L);
  for (int32_t i = 0; i < p->n; i++) {
    if (!candidate[i]) continue;
    p->active[active] = i;
    if (factor(p, active, active + 1, L)) active++;
  }
  return active;
}

int lw_is_dependent(const lw_complementarity *p, const unsigned char *others, int32_t i) {
  const int32_t active = lw_add_independent(p, 0, others);
  p->active[active] = i;
  return !factor(p, active, active + 1, p->scratch);
}
