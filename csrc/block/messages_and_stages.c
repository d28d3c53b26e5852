/* The last message of a state, the stages that stay valid, and its states as an integrator sets them. */
#include "block/discrete_state.h"
#include "block/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lw_status lw_fail(lw_state *s, lw_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(s->message, sizeof s->message, format, list);
  va_end(list);
  return status;
}

const char *lw_state_message(const lw_state *s) { return s ? s->message : "there is no state: it is NULL"; }

double *lw_state_reals(lw_state *s) { return s ? lw_reals(s) : NULL; }

void lw_state_changed(lw_state *s, lw_stage valid) {
  if (valid < LW_STAGE_CONSTANTS) s->complex_constants = 0;
  if (valid < LW_STAGE_ACCELERATIONS) lw_forget_frictions(s);
  if (*s->stage > (int32_t)valid) *s->stage = (int32_t)valid;
  lw_forget_compiled(s);
  s->changes++;
}

void lw_motion_changed(lw_state *s) {
  const int checked = s->rates.checked;
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  s->rates.checked = checked;
}

void lw_set_states(lw_state *s, double t, const double *y) {
  const lw_model *m = s->model;
  const size_t size = sizeof(double) * (size_t)m->size.states;
  double *time = lw_reals(s) + m->at.time, *states = lw_reals(s) + m->at.q;
  if (*time == t && memcmp(states, y, size) == 0) return; /* such as for an indicator after the derivative */
  *time = t;
  memcpy(states, y, size);
  lw_motion_changed(s);
}

lw_status lw_fit_workspace(lw_state *s, lw_block *block, size_t *reals, size_t scalar) {
  const size_t needed = lw_workspace_reals(s->model);
  if (block->work && needed <= *reals) return LW_OK;
  void *larger = calloc(needed + 1, scalar);
  if (!larger) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for the loops");
  free(block->work);
  block->work = larger, *reals = needed;
  return LW_OK;
}

void lw_dca_release(lw_dca_workspace *workspace) {
  free(workspace->reals);
  free(workspace->integers);
  free(workspace->scratch);
  *workspace = (lw_dca_workspace){.reals = NULL};
}
