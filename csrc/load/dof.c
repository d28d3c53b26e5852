/* The expected degrees of freedom of the clusters: counted in closed poses around the start; if none is found, at the
 * start values and at the neutral coordinates, of which one is often nearly closed. */
#include "block/kernels.h"
#include "model/independent_columns.h"
#include "load/reader.h"
#include "math/tolerances.h"
#include <stdlib.h>
#include <string.h>

int32_t lw_planar_independent_columns(const lw_model *m, const lw_cluster *c) {
  int64_t left = 0;
  for (int32_t e = c->first_ear; e < c->first_ear + c->ears; e++) {
    const int32_t own = m->ear[e].columns - (m->ear[e].loop < 0 ? 0 : 3);
    left += own > 0 ? own : 0;
  }
  return left > 1 << 20 ? 1 << 20 : (int32_t)left;
}

static void set_neutral(const lw_model *m, double *q) {
  memset(q, 0, sizeof *q * (size_t)(m->size.nq + m->size.nq_cut));
  for (int32_t j = 0; j < m->size.joints; j++) {
    const lw_joint_size *size = &lw_joint_sizes[m->joint[j].type];
    if (size->q != size->u) q[m->joint[j].q + size->q - 4] = 1.0;
  }
}

/* The pose that is nearer to a closed one is preferred; of two closed ones that with fewer degrees of freedom is
 * regular. */
static int says_more(const lw_dof_count *a, const lw_dof_count *b) {
  const double gap_a = a->open2 < CLOSED_AT_START2 ? 0.0 : a->open2,
               gap_b = b->open2 < CLOSED_AT_START2 ? 0.0 : b->open2;
  return gap_a < gap_b || (gap_a == gap_b && a->independents < b->independents);
}

static void count_at(const lw_kernels *k, const lw_model *m, lw_block b, const double *q, lw_dof_count *found) {
  double *x = b.reals;
  memcpy(x + m->at.q, q, sizeof *q * (size_t)m->size.nq);
  memcpy(x + m->at.cut_reference, q + m->size.nq, sizeof *q * (size_t)m->size.nq_cut);
  k->count_dof(m, b, found);
}

static void count_dof_at_both(lw_model *m, lw_block b, double *neutral, lw_dof_count *found) {
  const lw_kernels *k = m->kernels;
  lw_dof_count *other = found + m->clusters;
  double *x = b.reals;
  memcpy(x, m->defaults, sizeof *x * (size_t)m->parameters);
  set_neutral(m, neutral);
  if (k->constants(m, b).kind) return;
  count_at(k, m, b, x + m->at.q_start, found);
  count_at(k, m, b, neutral, other);
  for (int32_t i = 0; i < m->clusters; i++) {
    const lw_dof_count *best = says_more(&other[i], &found[i]) ? &other[i] : &found[i];
    m->cluster[i].independents = best->independents, m->cluster[i].dof = best->dof;
  }
}

lw_status lw_estimate_dof(lw_model *m) {
  for (int32_t i = 0; i < m->clusters; i++)
    m->cluster[i].independents = m->cluster[i].dof = lw_planar_independent_columns(m, &m->cluster[i]);
  if (m->clusters == 0) return LW_OK;
  lw_block b = {.reals = calloc((size_t)m->size.reals, sizeof(double)),
                .work = calloc(lw_workspace_reals(m) + 1, sizeof(double)),
                .integers = calloc((size_t)m->integers, sizeof(int32_t))};
  double *neutral = malloc(sizeof(double) * (size_t)(m->size.nq + m->size.nq_cut + 1));
  lw_dof_count *found = malloc(sizeof *found * 2 * (size_t)m->clusters);
  const int ready = b.reals && b.work && b.integers && neutral && found;
  if (ready) count_dof_at_both(m, b, neutral, found);
  free(b.reals);
  free(b.work);
  free(b.integers);
  free(neutral);
  free(found);
  return ready ? LW_OK : LW_ERROR_MEMORY;
}

static void count_regular_dof(lw_model *m, lw_block b) {
  const lw_kernels *k = m->kernels;
  memcpy(b.reals, m->defaults, sizeof(double) * (size_t)m->parameters);
  if (k->constants(m, b).kind) return;
  k->find_regular_dof(m, b);
  for (int32_t i = 0; i < m->clusters; i++) {
    lw_cluster *c = &m->cluster[i];
    c->regular_dof_plus_1 = lw_pivots_of(c, b.integers).ranks->regular_dof_plus_1;
    if (c->regular_dof_plus_1) c->dof = c->regular_dof_plus_1 - 1;
  }
}

lw_status lw_find_regular_dof(lw_model *m) {
  if (m->clusters == 0) return LW_OK;
  lw_block b = {.reals = calloc((size_t)m->size.reals, sizeof(double)),
                .work = calloc(lw_workspace_reals(m) + 1, sizeof(double)),
                .integers = calloc((size_t)m->integers, sizeof(int32_t))};
  const int ready = b.reals && b.work && b.integers;
  if (ready) count_regular_dof(m, b);
  free(b.reals);
  free(b.work);
  free(b.integers);
  return ready ? LW_OK : LW_ERROR_MEMORY;
}
