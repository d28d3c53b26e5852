/* The complex block of a state, in which a derivative by complex step goes: what it holds of the real one, and seeds. */
#include "block/state.h"
#include "model/independent_columns.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most states are never differentiated, and the complex block is the larger one: it is made when first needed. */
static lw_status allocate_complex_block(lw_state *s) {
  const size_t reals = 2 * sizeof(double) * (size_t)s->model->size.reals;
  if (!s->complex_memory) {
    s->complex_memory = calloc(1, reals + sizeof(int32_t) * (size_t)s->model->most_integers);
    if (!s->complex_memory) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for derivatives");
    s->complex_block = (lw_block){.reals = s->complex_memory, .integers = (int32_t *)(s->complex_memory + reals)};
  }
  return lw_fit_workspace(s, &s->complex_block, &s->complex_work_reals, 2 * sizeof(double));
}

/* Interleaved real and imaginary parts, whatever the platform calls a complex number. */
double *lw_complex_reals(const lw_state *s) { return s->complex_block.reals; }

static void copy_range(const lw_state *s, int32_t from, int32_t to) {
  const double *x = s->block.reals;
  double *z = lw_complex_reals(s);
  for (int32_t i = from; i < to; i++) z[2 * i] = x[i], z[2 * i + 1] = 0.0;
}

/* Of regular poses: found in double alone. */
void lw_copy_regular_dof(const lw_state *s) {
  const lw_model *m = s->model;
  for (int32_t c = 0; c < m->clusters; c++)
    lw_pivots_of(&m->cluster[c], s->complex_block.integers).ranks->regular_dof_plus_1 =
        lw_pivots_of(&m->cluster[c], s->block.integers).ranks->regular_dof_plus_1;
}

/* What the joints that are open hold stays as it is, and nothing is left of those that were. */
static void enter_variant(lw_state *s) {
  const lw_model *m = s->model;
  if (s->complex_model == m) return;
  copy_range(s, 0, m->at.link_constants);
  memset(s->complex_block.integers, 0, sizeof(int32_t) * (size_t)m->most_integers);
  s->complex_model = m, s->complex_constants = 0;
}

static lw_status copy_to_complex(lw_state *s) {
  const lw_model *m = s->model;
  const lw_status e = allocate_complex_block(s);
  if (e) return e;
  enter_variant(s);
  copy_range(s, 0, m->at.qdot);
  copy_range(s, m->at.joint_closed, m->at.acceleration);
  copy_range(s, m->at.cut_reference, m->at.link_constants);
  return LW_OK;
}

/* Of divide and conquer, which follows in complex what it has chosen in double. */
static lw_status allocate_complex_dca(lw_state *s) {
  lw_status e;
  if (!lw_may_divide(s)) return LW_OK;
  if ((e = lw_dca_allocate(s, &s->complex_dca, &s->complex_block, 2 * sizeof(double)))) return e;
  if ((e = lw_dca_allocate(s, &s->dca, &s->block, sizeof(double)))) return e;
  s->complex_dca.solved_in = &s->dca;
  return LW_OK;
}

lw_status lw_allocate_complex(lw_state *s) {
  const lw_status e = allocate_complex_block(s);
  return e ? e : allocate_complex_dca(s);
}

lw_status lw_prepare_complex(lw_state *s) {
  const lw_status e = copy_to_complex(s);
  if (e) return e;
  if (!s->complex_constants) lw_kernels_complex.constants(s->model, s->complex_block);
  s->complex_constants = 1;
  return LW_OK;
}

lw_status lw_begin_derivative(lw_state *s, lw_stage stage) {
  lw_status e = allocate_complex_block(s);
  if (e || (e = lw_evaluate(s, stage))) return e; /* whatever is wrong is reported there */
  if ((e = allocate_complex_dca(s))) return e;
  return copy_to_complex(s);
}

lw_status lw_seed(lw_state *s, uint32_t known, double seed) {
  if (!isfinite(seed)) return lw_fail(s, LW_ERROR_VALUE, "the seed of variable %u is not finite", known);
  lw_complex_reals(s)[2 * known + 1] += LW_COMPLEX_STEP * seed;
  return LW_OK;
}

void lw_copy_cuts(lw_state *s) {
  const lw_offsets *at = &s->model->at;
  copy_range(s, at->q_cut, at->q_cut + s->model->size.nq_cut);
  copy_range(s, at->u_cut, at->u_cut + s->model->size.nu_cut);
}

void lw_complete_constants(lw_state *s, int parameters) {
  if (parameters || !s->complex_constants) lw_kernels_complex.constants(s->model, s->complex_block);
  s->complex_constants = !parameters;
}
