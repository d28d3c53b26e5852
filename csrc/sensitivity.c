/* Exact derivatives by complex step: f(x + i h s) = f(x) + i h f'(x) s, with h so small that its square vanishes
 * beside one, so that no digits cancel. The complex block has the layout of the real one. */
#include "pivots.h"
#include "state.h"
#include <math.h>
#include <stdlib.h>

/* Most states are never differentiated, and the complex block is the larger one: it is made when first needed. */
static lw_status have_complex_block(lw_state *s) {
  const size_t reals = 2 * sizeof(double) * (size_t)s->model->size.reals;
  if (s->complex_memory) return LW_OK;
  s->complex_memory = calloc(1, reals + sizeof(int32_t) * (size_t)s->model->integers);
  if (!s->complex_memory) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for derivatives");
  s->complex_block = (lw_block){.reals = s->complex_memory, .integers = (int32_t *)(s->complex_memory + reals)};
  return LW_OK;
}

/* Interleaved real and imaginary parts, whatever the platform calls a complex number. */
static double *complex_reals(const lw_state *s) { return s->complex_block.reals; }

static void copy_range(const lw_state *s, int32_t from, int32_t to) {
  const double *x = s->block.reals;
  double *z = complex_reals(s);
  for (int32_t i = from; i < to; i++) z[2 * i] = x[i], z[2 * i + 1] = 0.0;
}

/* Of regular poses: found in double alone. */
static void copy_freedoms(const lw_state *s) {
  const lw_model *m = s->model;
  for (int32_t c = 0; c < m->clusters; c++)
    lw_pivots_of(&m->cluster[c], s->complex_block.integers).ranks->mobility =
        lw_pivots_of(&m->cluster[c], s->block.integers).ranks->mobility;
}

static lw_status copy_to_complex(lw_state *s) {
  const lw_model *m = s->model;
  const lw_status e = have_complex_block(s);
  if (e) return e;
  copy_range(s, 0, m->at.qdot);
  copy_range(s, m->at.joint_closed, m->at.acceleration);
  copy_range(s, m->at.cut_reference, m->at.link_constants);
  return LW_OK;
}

lw_status lw_make_complex(lw_state *s) {
  const lw_status e = copy_to_complex(s);
  if (e) return e;
  if (!s->complex_constants) lw_kernels_complex.constants(s->model, s->complex_block);
  s->complex_constants = 1;
  return LW_OK;
}

static lw_status seed_knowns(lw_state *s, const uint32_t *knowns, size_t n, const double *seed, int *parameters) {
  *parameters = 0;
  for (size_t i = 0; i < n; i++) {
    const lw_access a = lw_access_of(s, knowns[i]);
    if (a != LW_PARAMETER && a != LW_INPUT && a != LW_STATE)
      return lw_fail(s, LW_ERROR_USAGE, "variable %u is no parameter, input or state: nothing depends on it here",
                     knowns[i]);
    if (!isfinite(seed[i])) return lw_fail(s, LW_ERROR_VALUE, "the seed of variable %u is not finite", knowns[i]);
    complex_reals(s)[2 * knowns[i] + 1] += LW_COMPLEX_STEP * seed[i];
    *parameters |= a == LW_PARAMETER;
  }
  return LW_OK;
}

static lw_status check_unknowns(lw_state *s, const uint32_t *unknowns, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const lw_access a = lw_access_of(s, unknowns[i]);
    if (a == LW_INTERNAL) return lw_fail(s, LW_ERROR_USAGE, "there is no variable %u", unknowns[i]);
  }
  return LW_OK;
}

lw_status lw_begin_derivative(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                              size_t n_knowns, const double *seed) {
  const lw_model *m = s->model;
  int parameters;
  lw_status e = check_unknowns(s, unknowns, n_unknowns);
  if (e || (e = have_complex_block(s))) return e;
  if ((e = lw_evaluate(s, LW_STAGE_DERIVATIVES))) return e; /* whatever is wrong is reported there */
  if (m->method == LW_DCA) {
    if ((e = lw_provide_assemblies(s, &s->complex_dca, &s->complex_block, 2 * sizeof(double)))) return e;
    if ((e = lw_provide_assemblies(s, &s->dca, &s->block, sizeof(double)))) return e;
    s->complex_dca.in_double = &s->dca;
  }
  if ((e = copy_to_complex(s))) return e;
  if ((e = seed_knowns(s, knowns, n_knowns, seed, &parameters))) return e;
  if (parameters || !s->complex_constants) lw_kernels_complex.constants(m, s->complex_block);
  copy_freedoms(s);
  s->complex_constants = !parameters;
  return LW_OK;
}

void lw_end_derivative(lw_state *s, const uint32_t *unknowns, size_t n, double *sensitivity) {
  const lw_kernels *k = &lw_kernels_complex;
  k->accelerations(s->model, s->complex_block);
  k->derivatives(s->model, s->complex_block);
  k->outputs(s->model, s->complex_block);
  for (size_t i = 0; i < n; i++) sensitivity[i] = complex_reals(s)[2 * unknowns[i] + 1] / LW_COMPLEX_STEP;
}

lw_status lw_directional_derivative(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                    size_t n_knowns, const double *seed, double *sensitivity) {
  const lw_status e = lw_begin_derivative(s, unknowns, n_unknowns, knowns, n_knowns, seed);
  if (e) return e;
  lw_end_derivative(s, unknowns, n_unknowns, sensitivity);
  return LW_OK;
}
