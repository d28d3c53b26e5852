/* Jumps of the speeds. */
#include "block/state.h"
#include <math.h>
#include <stdlib.h>

static int has_massless_bodies(const lw_state *s) { return lw_reals(s)[s->model->at.has_massless] != 0.0; }

/* With massless bodies the speeds are solved for by themselves. */
static lw_status allocate_dense_jump(lw_state *state) {
  const lw_dca_plan *p = &state->model->dca;
  const lw_sizes *s = &state->model->size;
  lw_dca_workspace *workspace = &state->dca;
  int64_t reals = 1;
#define ARRAY(name, scalars) reals += (int64_t)(scalars);
  LW_JUMP_ARRAYS(ARRAY)
#undef ARRAY
  if (!workspace->dense && reals < LW_MOST_DCA_REALS) {
    workspace->dense = malloc(sizeof(double) * (size_t)reals);
    workspace->dense_integers = malloc(sizeof(int32_t) * (size_t)(LW_JUMP_INTEGERS + 1));
  }
  return workspace->dense && workspace->dense_integers
             ? LW_OK
             : lw_fail(state, LW_ERROR_MEMORY, "there is no memory for a jump of the speeds with massless bodies");
}

static lw_status allocate_jump(lw_state *s) {
  const lw_status e = lw_dca_allocate(s, &s->dca, &s->block, sizeof(double));
  return e || !has_massless_bodies(s) ? e : allocate_dense_jump(s);
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

lw_status lw_find_velocity_jump(lw_state *s, lw_velocity_jump *jump) {
  const lw_model *m = s->model;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e) return e;
  if (!is_finite(m, jump)) return lw_fail(s, LW_ERROR_VALUE, "a number given for the velocity jump is not finite");
  if ((e = allocate_jump(s))) return e;
  lw_state_changed(s, LW_STAGE_CONSTANTS); /* it uses the motion's storage */
  s->kernels->velocity_jump(m, s->block, jump);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (!all_finite((size_t)(m->size.nu + m->size.nu_cut), jump->after) || !isfinite(jump->residual))
    return fail_not_finite(s, "the jump of the speeds");
  return LW_OK;
}

lw_status lw_find_speed_compliance(lw_state *s, int32_t n, const int32_t *u, double *W) {
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e || (e = allocate_jump(s))) return e;
  lw_state_changed(s, LW_STAGE_CONSTANTS); /* it uses the motion's storage */
  s->kernels->speed_compliance(s->model, s->block, n, u, W);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
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
