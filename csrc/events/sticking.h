/* Which frictions stick in an event, and in which direction the others slide. */
#ifndef LW_STICKING_H
#define LW_STICKING_H
#include "events/contacts.h"

/* The state of all frictions that share its speed; `shift`: the speed that counts as zero. */
void lw_set_friction(lw_state *s, const lw_contact *c, double state, double shift);
/* Adds the frictions of joints that are closed and not locked, none of which holds its speed any more. */
void lw_find_frictions(lw_state *s);
/* It never slides backwards, whatever load or impulse that takes. */
int lw_never_yields(const lw_state *s, const lw_contact *c);
int lw_has_friction(const lw_state *s);
/* A speed that errors leave short of zero counts from there. */
void lw_let_slide_along(lw_state *s, const lw_contact *c, double direction);
/* Those that slide after a jump; the others, whose speeds are zero but for errors or follow from such, may stick. */
lw_status lw_find_sliding(lw_state *s, double slow);
/* Those whose states have changed take part in the event. */
void lw_note_changed_frictions(lw_state *s);
/* Its holding load has reached the limit. */
int lw_broke_away(const lw_contact *c);
/* A friction that others do not hold. */
int lw_friction_is_at_limit(const lw_state *s, int32_t i);
/* Frictions at a limit slide unless others hold their speeds; returns whether one does. */
int lw_let_frictions_slide(lw_state *s, double tolerance);
/* Notes the frictions at their limits whose speeds the active ones hold. */
void lw_find_held(lw_state *s, int32_t active);
/* A speed that nothing can change, as that of a joint at a dead point, sticks only where it stays. */
void lw_prepare_friction(lw_state *s, int32_t i, double tolerance);
/* Locks of the frictions that others hold give all of them the loads of least norm. Where these exceed a limit, the
 * frictions at their limits rest by these loads. Returns how many locks there are. */
lw_status lw_share_loads(lw_state *s, int32_t *active);
/* Limits by the reactions of a joint depend on the decision that they lead to: from that of all at once on, frictions
 * change one by one until all of them obey the law. */
lw_status lw_decide_frictions_one_by_one(lw_state *s, double tolerance);
#endif
