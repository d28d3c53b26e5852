/* Jumps of the speeds. */
#include "block/state.h"
#include <math.h>
#include <stdlib.h>

static int has_massless_bodies(const lw_state *s) { return lw_reals(s)[s->model->at.has_massless] != 0.0; }

static lw_status allocate_jump(lw_state *s, int32_t constrained) {
  const int64_t needed = lw_jump_reals(s->model, constrained);
  lw_jump_workspace *w = &s->jump;
  if (needed <= w->capacity) return LW_OK;
  free(w->reals);
  free(w->integers);
  w->reals = malloc(sizeof *w->reals * (size_t)needed);
  w->integers = malloc(sizeof *w->integers * (size_t)needed);
  w->capacity = w->reals && w->integers ? needed : 0;
  return w->capacity ? LW_OK : lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a jump of the speeds");
}

static lw_status fail_not_finite(lw_state *s, const char *what) {
  if (lw_reals(s)[s->model->at.idle_spins] != 0.0)
    return lw_fail(
        s, LW_ERROR_SINGULAR,
        "%s is not determined: an impulse acts about the line of a body that turns freely about it and has no "
        "inertia about it, or the state is not finite; give the body an inertia about the line",
        what);
  if (has_massless_bodies(s))
    return lw_fail(
        s, LW_ERROR_SINGULAR,
        "%s is not determined: in this pose joints move nothing but bodies without mass, or the state is not "
        "finite; give these bodies a mass or an inertia, or start from another pose",
        what);
  return lw_fail(s, LW_ERROR_VALUE, "%s came out not finite; is the state?", what);
}

static int all_finite(size_t n, const double *x) {
  for (size_t i = 0; x && i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

static int is_finite(const lw_model *m, const lw_velocity_jump *jump) {
  const size_t bodies = (size_t)m->size.bodies;
  for (int32_t u = 0; u < m->size.nu + m->size.nu_cut; u++)
    if (jump->constrained[u] && !isfinite(jump->target[u])) return 0;
  return all_finite(6 * bodies, jump->applied_impulse) && all_finite(6 * bodies, jump->before);
}

static int32_t count_constrained(const lw_model *m, const lw_velocity_jump *jump) {
  int32_t n = 0;
  for (int32_t u = 0; u < m->size.nu + m->size.nu_cut; u++) n += jump->constrained[u] != 0;
  return n;
}

static lw_status allocate_dca(lw_state *s) { return lw_dca_allocate(s, &s->dca, &s->block, sizeof(double)); }

/* The kernels use the motion's storage. */
lw_status lw_find_velocity_jump(lw_state *s, lw_velocity_jump *jump) {
  const lw_model *m = s->model;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e) return e;
  if (!is_finite(m, jump)) return lw_fail(s, LW_ERROR_VALUE, "a number given for the velocity jump is not finite");
  if ((e = allocate_jump(s, count_constrained(m, jump)))) return e;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (m->method == LW_DCA || !s->kernels->reduced_jump(m, s->block, jump, &s->jump)) {
    if ((e = allocate_dca(s))) return e;
    s->kernels->velocity_jump(m, s->block, jump);
  }
  if (!all_finite((size_t)(m->size.nu + m->size.nu_cut), jump->after) || !isfinite(jump->residual))
    return fail_not_finite(s, "the jump of the speeds");
  return LW_OK;
}

lw_status lw_find_speed_compliance(lw_state *s, int32_t n, const int32_t *u, double *W) {
  const lw_model *m = s->model;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e || (e = allocate_jump(s, 0))) return e;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (m->method == LW_DCA || !s->kernels->reduced_compliance(m, s->block, n, u, W, &s->jump)) {
    if ((e = allocate_dca(s))) return e;
    s->kernels->speed_compliance(m, s->block, n, u, W);
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++)
      W[i * n + j] = W[j * n + i] =
          W[i * n + i] > 0.0 && W[j * n + j] > 0.0 ? 0.5 * (W[i * n + j] + W[j * n + i]) : 0.0;
  return all_finite((size_t)n * (size_t)n, W) ? LW_OK : fail_not_finite(s, "the compliance of the speeds");
}

lw_status lw_solve_velocity_jump(lw_state *s, lw_velocity_jump *jump) {
  if (!s) return LW_ERROR_USAGE;
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  return e ? e : lw_find_velocity_jump(s, jump);
}
