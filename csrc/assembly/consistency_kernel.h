/* Whether the couplings of a cluster agree in an assembled pose: with each other, with its loops, and with motion. As
 * in independent_constraints_kernel.h each constraint is a row over the independent columns of the loops. The rows of the
 * loops come first, and a coupling is new if its row does not depend on all rows before it. The order of the rows is
 * given, so that this is Gram-Schmidt without pivots (twice, which is enough). Couplings that do not agree are
 * marked in the field coupling_conflict. Distances are the last couplings; a structure that they hold is meant to be
 * one. */
#ifndef LW_ASSEMBLY_CONSISTENCY_KERNEL_H
#define LW_ASSEMBLY_CONSISTENCY_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/workspace_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "math/orthonormal_kernel.h"
#include "math/tolerances.h"
#include <math.h>

/* Rows made orthonormal: basis, count x n. */
typedef struct row_space {
  double *basis, *row;
  int32_t n, count;
  double least; /* size of the new part of a row */
} row_space;

/* Whether a constraint is new; then it joins the basis. */
static int add_constraint(row_space *s, const cluster_work *w, int32_t i) {
  for (int32_t z = 0; z < s->n; z++) s->row[z] = w->C[(FIRST_FREE + z) * w->rows + i];
  const double size = leave_across(s->basis, s->count, s->n, s->row);
  if (size < RANK_TOLERANCE || s->count == s->n) return 0;
  for (int32_t z = 0; z < s->n; z++) s->basis[s->count * s->n + z] = s->row[z] / size;
  s->count++, s->least = fmin(s->least, size);
  return 1;
}

static row_space rows_of_loops(const cluster_work *w) {
  const int32_t n = w->ranks->independent;
  row_space s = {.basis = w->spare, .row = w->spare + n * n, .n = n, .least = 1.0};
  for (int32_t i = 0; i < w->ranks->constraints - w->cluster->couplings; i++) add_constraint(&s, w, i);
  return s;
}

/* A coupling by its position in the cluster: its number, and the row of its constraint. */
INLINE int32_t member_coupling_of(const view *v, const cluster_work *w, int32_t i) {
  return v->m->member_coupling[w->cluster->member_coupling + i];
}
static int32_t row_of(const cluster_work *w, int32_t i) { return w->ranks->constraints - w->cluster->couplings + i; }

/* Whether coupling `last` follows from the loops and the couplings before it, but for one. */
static int follows(const cluster_work *w, int32_t last, int32_t without) {
  row_space s = rows_of_loops(w);
  for (int32_t i = 0; i < last; i++)
    if (i != without) add_constraint(&s, w, row_of(w, i));
  return !add_constraint(&s, w, row_of(w, last));
}

/* Marks the first coupling that follows from others, and these. Returns how many. */
static int32_t mark_redundant(const view *v, const cluster_work *w) {
  row_space s = rows_of_loops(w);
  for (int32_t last = 0; last < w->cluster->couplings; last++) {
    if (add_constraint(&s, w, row_of(w, last))) continue;
    if (v->m->coupling[member_coupling_of(v, w, last)].lock >= 0) continue;
    int32_t marked = 1;
    FIELD(v, coupling_conflict)[member_coupling_of(v, w, last)] = 1.0;
    for (int32_t i = 0; i < last; i++) {
      if (follows(w, last, i)) continue;
      FIELD(v, coupling_conflict)[member_coupling_of(v, w, i)] = 1.0;
      marked++;
    }
    return marked;
  }
  return 0;
}

INLINE int is_distance(const view *v, int32_t coupling) { return v->m->coupling[coupling].distance >= 0; }

/* It moves by itself, or gives one coordinate: that is meant to leave nothing free. A lock may be open. */
static int is_given(const view *v, int32_t coupling) {
  const lw_coupling *of = &v->m->coupling[coupling];
  return of->lock >= 0 || of->terms == 1 || of->reads_time || FIELD(v, coupling_motion)[7 * coupling] != 0.0;
}

/* Whether the rows hold all joints of a coupling. They move at very different speeds where a train of gears ends in
 * loops: only rounding counts as none. */
static int holds_still(const view *v, int32_t c, const cluster_work *w, const row_space *s, int32_t coupling) {
  const lw_coupling *of = &v->m->coupling[coupling];
  for (int32_t t = of->first; t < of->first + of->terms; t++) {
    const int32_t k = v->m->term[t].column;
    const double metric = metric_of(v, column_of(v, c, k));
    for (int32_t z = 0; z < s->n; z++) s->row[z] = w->X[k * w->ranks->width + FIRST_FREE + z] / metric;
    if (leave_across(s->basis, s->count, s->n, s->row) > HELD_BY_ROWS / s->least) return 0;
  }
  return 1;
}

/* Marks the couplings whose joints cannot move at all, whatever is prescribed. Returns how many. */
static int32_t mark_immobile(const view *v, int32_t c, const cluster_work *w) {
  row_space s = rows_of_loops(w);
  int32_t marked = 0;
  for (int32_t i = 0; i < w->cluster->couplings; i++)
    if (!is_given(v, member_coupling_of(v, w, i))) add_constraint(&s, w, row_of(w, i));
  for (int32_t i = 0; i < w->cluster->couplings; i++) {
    const int32_t coupling = member_coupling_of(v, w, i);
    if (is_given(v, coupling) || is_distance(v, coupling) || !holds_still(v, c, w, &s, coupling)) continue;
    FIELD(v, coupling_conflict)[coupling] = 1.0;
    marked++;
  }
  return marked;
}

/* In the present pose, with the rows of the couplings as they are before they are solved. */
static lw_fault_kind check_couplings(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  for (int32_t i = 0; i < w.cluster->couplings; i++) FIELD(v, coupling_conflict)[member_coupling_of(v, &w, i)] = 0.0;
  if (!eliminate_ears(v, c)) return LW_FAULT_NONE;
  for (int32_t i = 0; i < w.cluster->couplings; i++) constrain_coupling(v, c, &w, member_coupling_of(v, &w, i));
  const int32_t redundant = mark_redundant(v, &w);
  if (redundant) return redundant > 1 ? LW_FAULT_COUPLINGS_REDUNDANT : LW_FAULT_COUPLING_OF_LOOPS;
  return mark_immobile(v, c, &w) ? LW_FAULT_COUPLINGS_IMMOBILE : LW_FAULT_NONE;
}
#endif
