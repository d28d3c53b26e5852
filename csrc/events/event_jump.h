/* The jump of the speeds in an event, also at dead points. In the workspace `constrained`, `target` and `applied_impulse`
 * are given; `speed_after` and the impulses are the result. */
#ifndef LW_EVENT_JUMP_H
#define LW_EVENT_JUMP_H
#include "block/discrete_state.h"

static inline int32_t lw_speeds_of(const lw_state *s) { return s->model->size.nu + s->model->size.nu_cut; }
void lw_clear_jump_constraints(lw_state *s);
void lw_clear_applied_impulses(lw_state *s);
/* Applied impulses act at points; the moment is taken about the centre of mass. */
void lw_add_applied_impulse(lw_state *s, int32_t i);
double lw_fastest_speed(const lw_state *s, const double *speed);
/* The jump by the constrained speeds and the applied impulses; *residual: the rate by which constraints contradict one
 * another. */
lw_status lw_find_event_jump(lw_state *s, double *residual);
/* *residual: 0 where constraints do not contradict one another. */
lw_status lw_find_consistent_jump(lw_state *s, double *residual);
/* Sets the speeds after the jump and adds the impulses to those of the same event so far. */
void lw_apply_event_jump(lw_state *s);
/* The speeds nearest to the present ones, in the metric of the masses, that satisfy all constraints. */
lw_status lw_project_event_speeds(lw_state *s);
/* Speeds that satisfy the rates of all constraints may violate their second derivatives, and where loops are open by a
 * little, rates contradict each other as though the pose were a dead point: then the neighbours decide. */
lw_status lw_decide_at_dead_point(lw_state *s, double residual);
/* Stores the speeds before the event. */
void lw_store_speeds_before(lw_state *s);
#endif
