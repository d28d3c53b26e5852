/* Constraints in effect, and their names. */
#include "evaluation/constraint_names.h"
#include <stdio.h>

#define NAMED 3

void lw_add_name(lw_name_list *list, const char *kind, const char *name) {
  if (list->names++ >= NAMED) return;
  const int n = snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s '%.40s'",
                         list->used ? " and " : "", kind, name);
  if (n > 0 && list->used + (size_t)n < sizeof list->text) list->used += (size_t)n;
}

void lw_name_transition(const lw_state *s, int32_t i, lw_name_list *list) {
  const int32_t action = transition_of(s, i)->action;
  const char *kind = action == LW_STOP ? "stop" : action == LW_PIN ? "pin" : action == LW_STICK ? "friction" : "lock";
  lw_add_name(list, kind, s->base->transition_name[i]);
}

void lw_name_motion(const lw_state *s, int32_t coupling, lw_name_list *list) {
  lw_add_name(list, "the motion of", s->model->coupling_name[coupling]);
}

int lw_is_enforced(const lw_state *s, int32_t coupling) {
  const lw_coupling *c = &s->model->coupling[coupling];
  return c->cluster >= 0 && (c->lock < 0 || lw_reals(s)[s->model->at.locked + c->lock] != 0.0);
}

int lw_prescribes_motion(const lw_state *s, int32_t coupling) {
  const lw_model *m = s->model;
  return m->coupling[coupling].reads_time || lw_reals(s)[m->at.coupling_motion + 7 * coupling] != 0.0;
}

int32_t lw_constrained_cluster(const lw_state *s, int32_t i) {
  const lw_transition *x = transition_of(s, i);
  if (x->action == LW_IMPULSE) return -1;
  if (x->action == LW_PIN) return s->model->loop[s->model->joint[x->joint].loop].cluster;
  if (!x->directions) return s->model->coupling[x->joint].cluster;
  for (int32_t c = 0; x->directions >> c; c++) {
    const int32_t lock = x->directions >> c & 1 ? s->model->lock_of[s->model->joint[x->joint].u + c] : -1;
    if (lock >= 0) return s->model->coupling[lock].cluster;
  }
  return -1;
}
