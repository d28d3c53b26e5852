/* Kinks of formulas at a state. */
#include "events/kinks.h"

static double *kink_of(const lw_state *s, int32_t k) { return lw_reals(s) + s->model->at.kink + LW_KINK_NUMBERS * k; }

static int are_free(const lw_state *s) {
  for (int32_t k = 0; k < s->model->size.kinks; k++)
    if (kink_of(s, k)[LW_KINK_BRANCH] != LW_KINK_FREE) return 0;
  return 1;
}

static void set_all(lw_state *s, lw_kink_branch branch) {
  for (int32_t k = 0; k < s->model->size.kinks; k++) {
    kink_of(s, k)[LW_KINK_BRANCH] = branch;
    kink_of(s, k)[LW_KINK_INDICATOR] = 1.0;
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

static lw_status evaluate_kinks(lw_state *s) {
  lw_status e;
  if (s->model->kinks_need_motion) return lw_evaluate(s, LW_STAGE_DERIVATIVES);
  if ((e = lw_evaluate(s, LW_STAGE_CONSTANTS))) return e;
  s->kernels->kinks(s->model, s->block);
  return LW_OK;
}

lw_status lw_hold_kinks(lw_state *s) {
  if (!s) return LW_ERROR_USAGE;
  if (!s->model->size.kinks) return LW_OK;
  set_all(s, LW_KINK_SOUGHT);
  return evaluate_kinks(s);
}

void lw_release_kinks(lw_state *s) {
  if (s && !are_free(s)) set_all(s, LW_KINK_FREE);
}

lw_status lw_kink_indicators(lw_state *s, double *indicators) {
  const lw_status e = are_free(s) ? LW_OK : evaluate_kinks(s);
  for (int32_t k = 0; k < s->model->size.kinks; k++)
    indicators[k] = kink_of(s, k)[LW_KINK_BRANCH] == LW_KINK_FREE ? 1.0 : kink_of(s, k)[LW_KINK_INDICATOR];
  return e;
}

int32_t lw_has_passed_kinks(lw_state *s) {
  if (!s || are_free(s) || evaluate_kinks(s)) return 0;
  for (int32_t k = 0; k < s->model->size.kinks; k++)
    if (kink_of(s, k)[LW_KINK_INDICATOR] <= 0.0) return 1;
  return 0;
}

const char *lw_owner_of_kink(const lw_model *m, int32_t kink) {
  int32_t formula = 0;
  while (formula + 1 < m->size.formulas && kink >= m->program[formula].kinks) kink -= m->program[formula++].kinks;
  return lw_owner_of_formula(m, formula);
}
