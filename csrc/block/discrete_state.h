/* The discrete state that transitions change: open joints, locked speeds. */
#ifndef LW_DISCRETE_STATE_H
#define LW_DISCRETE_STATE_H
#include "block/state.h"

/* Bits of the field `locked`. */
enum { LW_HELD_BY_LOCK = 1, LW_HELD_BY_STOP = 2, LW_HELD_BY_FRICTION = 4 };

typedef lw_double_transition_memory lw_transition_memory;

/* A bound of a stop that its coordinate touches; or a friction, which holds by a load within its limits. */
typedef struct lw_contact {
  int32_t transition, u, upper; /* u: the speed that the stop limits */
  int32_t is_friction;          /* its load counts along its rate: outward is 1 */
  double state;                 /* of a friction before the event */
  int rests;                    /* a friction that may stick, whatever is decided */
  double outward;               /* sign of the speed that leaves the bound */
  int32_t rested, hit;          /* it carried a load before the event; its bound is reached with a speed */
  int32_t begins;               /* a friction that rested without being held moves */
  int32_t impacted;             /* it has an impulse in the present event */
  int32_t pulls;                /* it would pull */
  double grazing;               /* depth to which a driven coordinate passes the bound by errors alone; else 0 */
  double before, after;         /* speeds away from the bound, by the last impact of the event */
} lw_contact;

/* The field event_memory. */
typedef struct lw_event_memory {
  double last, simultaneous;          /* time of the last event; events at that time */
  double first_impact, last_impact;   /* of the run of impacts on all stops: times */
  double between_impacts;             /* mean time of late; 0: there was no impact, INFINITY: one */
  double second_begin, second_events; /* the present second: its start, events in it */
  double frictions_decided;           /* else an evaluation decides which stick, for its own state and loads alone */
  double max_events; /* in a second; 0: the default, negative: no limit; Python sets it, the last number */
} lw_event_memory;

/* Workspace for events; allocated with a state that has transitions. */
struct lw_event_workspace {
  unsigned char *backup;      /* snapshot before all transitions of this instant */
  unsigned char *before;      /* the same before those that are being applied */
  int32_t *due;               /* of each transition: the due action, LW_DO ... */
  unsigned char *closed;      /* of each removable joint: it shall be closed */
  unsigned char *constrained; /* this and the rest: arguments of lw_velocity_jump */
  double *target, *applied_impulse, *speed_after, *force_impulse, *torque_impulse, *constraint_impulse,
      *coupling_impulse;
  double *speed_before;               /* of all joints, before the event or the last of its jumps */
  double fastest_before;              /* of all joints, before the event and all of its jumps */
  double *neighbour;                  /* mean of the event's neighbours: speeds after, force and torque impulses */
  lw_contact *contact;                /* those of this event, at most one of each stop */
  int32_t contacts, *active;          /* active: those with a load */
  int deciding;                       /* an evaluation is deciding which frictions stick */
  unsigned char *eligible, *unloaded; /* that may carry a load; that touch at rest without one */
  unsigned char *held, *others;       /* frictions at their limits whose speeds others hold; scratch */
  double *compliance, *excess, *load, *lower, *upper, *scratch; /* arguments of lw_solve_complementarity() */
  int32_t *direction;                                           /* speeds of the contacts, one after the other */
  double *by_direction;                                         /* their compliance */
};

static inline lw_event_memory *lw_event_memory_of(const lw_state *s) {
  return (lw_event_memory *)(lw_reals(s) + s->base->at.event_memory);
}
/* The block as it was before the event. */
static inline const double *lw_reals_before(const lw_state *s) {
  return (const double *)(const void *)(s->events->before + ((const unsigned char *)s->block.reals - s->snapshot));
}
static inline const lw_transition *transition_of(const lw_state *s, int32_t i) { return &s->base->transition[i]; }
/* Bits of the field `locked`; any value that a foreign snapshot may contain is accepted. */
int lw_lock_holders(double locked);
lw_transition_memory *lw_memory_of(const lw_state *s, int32_t transition);

/* The coordinate and the speed with speed index u. */
double lw_coordinate_value(const lw_state *s, int32_t u);
double lw_speed_value(const lw_state *s, int32_t u);
/* The speed that is the time derivative of coordinate q; -1: none. */
int32_t lw_speed_of_coordinate(const lw_model *m, int32_t q);
/* The coupling that holds what stops or sticks. */
static inline int32_t lw_lock_of(const lw_model *m, const lw_transition *x) {
  return x->directions ? m->lock_of[x->hold] : x->joint;
}

/* Of a transition that sticks, where its state, the load up to which it sticks and the shares of that by direction stand
 * in the block; -1: one. */
typedef struct lw_friction_places {
  int32_t state, limit, forward, backward;
} lw_friction_places;
lw_friction_places lw_places_of_friction(const lw_state *s, int32_t transition);
double *lw_friction_state(const lw_state *s, int32_t transition);
/* Of a transition that sticks the sum of gear times number, of one number for each speed of all joints. */
double lw_along_friction(const lw_state *s, int32_t transition, const double *by_speed);
double lw_rate_of_friction(const lw_state *s, int32_t transition);
double lw_position_of_friction(const lw_state *s, int32_t transition);
/* Whether a joint is one that a transition has released. */
static inline int lw_is_open(const lw_model *m, int32_t joint) {
  return m->joint[joint].loop >= 0 && m->loop[m->joint[joint].loop].cluster < 0;
}

/* Whether a speed of it is of a cut joint. */
int lw_friction_is_cut(const lw_state *s, int32_t transition);
/* Takes one holder away from a lock, a row of the field `locked`. */
void lw_let_go(lw_state *s, int32_t hold, int holder);
/* What an evaluation decided for itself alone: frictions act by the signs of speeds again. */
void lw_forget_frictions(lw_state *s);

/* Half-width of the band in which an indicator counts as zero: an event is not found twice because of rounding. */
double lw_zero_tolerance(double value);

lw_status lw_create_event_workspace(lw_state *s);
void lw_free_event_workspace(lw_state *s);
#endif
