/* The words of a lock-up: a user needs the names of the transitions and prescribed motions that contradict each other. */
#include "events/lock_up.h"
#include "evaluation/constraint_names.h"
#include "events/dead_points.h"

static int has_impact(const lw_state *s, int32_t transition) {
  for (int32_t k = 0; k < s->events->contacts; k++)
    if (s->events->contact[k].transition == transition && s->events->contact[k].impacted) return 1;
  return 0;
}

static int acts(const lw_state *s, int32_t i) { return lw_closes(s, i) || has_impact(s, i); }

/* A prescribed motion in the cluster of a transition that acts. */
static int is_opposed(const lw_state *s, int32_t coupling) {
  if (!lw_prescribes_motion(s, coupling) || !lw_is_enforced(s, coupling)) return 0;
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (acts(s, i) && lw_constrained_cluster(s, i) == s->model->coupling[coupling].cluster) return 1;
  return 0;
}

lw_status lw_report_lock_up(lw_state *s, const char *by) {
  lw_name_list acting = {"", 0, 0}, motions = {"", 0, 0};
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (acts(s, i)) lw_name_transition(s, i, &acting);
  for (int32_t i = 0; i < s->model->couplings; i++)
    if (is_opposed(s, i)) lw_name_motion(s, i, &motions);
  return lw_fail(s, LW_ERROR_SOLVER,
                 "no speeds after the event at t = %.9g s satisfy all joints, locks, couplings and prescribed motions: "
                 "%s and %s contradict each other, %s",
                 lw_reals(s)[s->model->at.time], acting.used ? acting.text : "the constraints",
                 motions.used ? motions.text : "the other constraints of the same joints", by);
}
