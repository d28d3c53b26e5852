/* The stages of evaluation, each computed once for the present states, inputs and parameters. */
#include "block/state.h"

lw_status lw_evaluate(lw_state *s, lw_stage stage) {
  if (!s) return LW_ERROR_USAGE;
  const lw_kernels *k = s->kernels;
  lw_status e = LW_OK;
  if (*s->stage >= (int32_t)stage) return e;
  if (*s->stage < LW_STAGE_CONSTANTS) {
    if ((e = lw_report(s, k->constants(s->model, s->block)))) return e;
    *s->stage = LW_STAGE_CONSTANTS;
  }
  if (stage >= LW_STAGE_ACCELERATIONS && *s->stage < LW_STAGE_ACCELERATIONS && s->before_accelerations &&
      (e = s->before_accelerations(s)))
    return e;
  if (stage >= LW_STAGE_ACCELERATIONS && *s->stage < LW_STAGE_ACCELERATIONS) {
    if (lw_may_divide(s) && (e = lw_dca_allocate(s, &s->dca, &s->block, sizeof(double)))) return e;
    if ((e = lw_report(s, k->accelerations(s->model, s->block)))) return e;
    *s->stage = LW_STAGE_ACCELERATIONS;
  }
  if (stage >= LW_STAGE_DERIVATIVES && *s->stage < LW_STAGE_DERIVATIVES) {
    if ((e = lw_report(s, k->derivatives(s->model, s->block)))) return e;
    *s->stage = LW_STAGE_DERIVATIVES;
  }
  if (stage >= LW_STAGE_OUTPUTS && *s->stage < LW_STAGE_OUTPUTS) {
    if ((e = lw_report(s, k->outputs(s->model, s->block)))) return e;
    *s->stage = LW_STAGE_OUTPUTS;
  }
  return e;
}
