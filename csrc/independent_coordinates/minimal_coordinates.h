/* Independent coordinates and speeds, and the workspace to solve for the dependent ones. */
#ifndef LW_INDEPENDENT_COORDINATES_MINIMAL_COORDINATES_H
#define LW_INDEPENDENT_COORDINATES_MINIMAL_COORDINATES_H
#include "dae/constraint_pattern.h"
#include "math/sparse_qr.h"
#include "block/state.h"

struct lw_minimal {
  lw_state *state;
  int32_t n_q, n_u;
  int32_t rows, nq, nu;
  int32_t *q, *u;           /* independent */
  int32_t n_dependent;      /* speeds whose coordinates are not, */
  int32_t *dependent;       /* and which: ascending */
  int32_t *place;           /* [nu] of each speed among these; -1 */
  int32_t *link;            /* [nu] whose each speed is */
  unsigned char *q_is_free; /* of each coordinate: independent */
  unsigned char *u_is_free;
  int64_t topologies; /* of the state, to which belong: */
  const lw_constraint_pattern *pattern;
  double *J;     /* entries by the pattern, */
  size_t *entry; /* where those of dependent speeds stand in their factors */
  sparse_qr *dependents;
  double pivot_ratio;                                   /* what factoring them has given */
  int64_t factored;                                     /* changes of the state then; -1: the factors are of no state */
  double *phi, *rate, *first_phi, *rhs, *step, *length; /* length: in which each row counts */
  double *scale;                                        /* of each row for the elimination */
  double *size2;                                        /* [nu] of independent columns */
  double *initial_q, *saved_q, *saved_states;           /* independent coordinates, all coordinates; q and u */
  double *start_q;                                      /* all coordinates; another pose to begin from */
  int has_start;
  struct lw_range_watch *watch; /* NULL: who sets the states does not integrate them */
};

static inline double *lw_minimal_coordinates(const lw_minimal *m) { return lw_reals(m->state) + m->state->model->at.q; }
static inline double *lw_minimal_speeds(const lw_minimal *m) { return lw_reals(m->state) + m->state->model->at.u; }

/* In which a speed's steps count: lengths, and units in trains of gears. */
double lw_minimal_metric(const lw_minimal *m, int32_t u);
/* Of all speeds, angles and lengths of clusters. */
double lw_minimal_largest_speed(const lw_minimal *m);
/* Pattern and factors of the present topology, which is another one where joints have opened or closed. */
lw_status lw_minimal_fit(lw_minimal *m);
/* Factors of the columns of the dependent speeds; NULL: there is no memory. */
sparse_qr *lw_minimal_new_factors(const lw_minimal *m);
/* Writes J, and its columns of the dependent speeds into the factors, rows and columns in the metric. */
lw_status lw_minimal_columns(lw_minimal *m);
/* The independent speed by whose change the loops open most when all others follow, by J_d factored: near the end of the
 * range of an independent coordinate, which they cannot follow further, its speed. */
int32_t lw_minimal_first_to_end(lw_minimal *m, const sparse_qr *dependents);
/* In words the coordinate, or one of those, that belongs to a speed. */
void lw_minimal_describe(const lw_minimal *m, int32_t u, char *text, size_t size);

/* The dependent coordinates and speeds for these independent ones, from the pose that is present or else from the start:
 * kept start. */
lw_status lw_minimal_close(lw_minimal *m, const double *x);

/* range_end.c: before new ones are set, the coordinates of the last evaluation that was not later in time: a step that
 * was rejected may have gone a long way, from which another one leads back to other poses. After they were set. */
void lw_begin_at_pose_before(lw_minimal *m);
void lw_note_evaluation(lw_minimal *m);
void lw_free_watch(struct lw_range_watch *watch);
#endif
