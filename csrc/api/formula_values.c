/* The formulas of forces as functions of what they read. */
#include "block/state.h"

/* NULL: the force has none. */
static const lw_program *program_of(const lw_model *m, int32_t force) {
  const int32_t formula = force - m->first_force[LW_FIRST_BY_FORMULA];
  return formula >= 0 && force < m->size.forces ? m->program + formula : NULL;
}

int32_t lw_formula_quantities(const lw_model *m, int32_t force, int32_t *offsets) {
  const lw_program *p = m ? program_of(m, force) : NULL;
  if (!p) return -1;
  for (int32_t k = 0; offsets && k < p->quantities; k++) offsets[k] = p->quantity[k].offset;
  return p->quantities;
}

int32_t lw_formula_results(const lw_model *m, int32_t force) {
  const lw_program *p = m ? program_of(m, force) : NULL;
  return p ? p->results : 0;
}

int32_t lw_formula_tables(const lw_model *m, int32_t force) {
  const lw_program *p = m ? program_of(m, force) : NULL;
  return p ? p->tables : 0;
}

/* The last call is read first, so that the first one stays. */
static void read_arguments(const lw_program *p, const double *x, double *arguments) {
  const lw_program_step *end = p->free;
  while (end->operation != LW_PROGRAM_END) end++;
  for (const lw_program_step *i = end; i-- > p->free;)
    if (i->operation == LW_DO_table) arguments[i->operand[2]] = x[i->operand[0]];
}

static void exchange_quantity(const lw_program *p, int32_t k, double *row, double *x) {
  const double other = x[p->quantity[k].offset];
  x[p->quantity[k].offset] = row[k], row[k] = other;
}

lw_status lw_formula_values(lw_state *s, int32_t force, int32_t rows, double *quantities, double *values,
                            double *arguments) {
  if (!s) return LW_ERROR_USAGE;
  const lw_program *p = program_of(s->model, force);
  if (!p) return lw_fail(s, LW_ERROR_USAGE, "force %d has no formula", force);
  const lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e) return e;
  const int32_t formula = (int32_t)(p - s->model->program);
  double *x = lw_reals(s);
  for (int32_t i = 0; i < rows; i++) {
    double *row = quantities + (size_t)i * (size_t)p->quantities;
    for (int32_t k = 0; k < p->quantities; k++) exchange_quantity(p, k, row, x);
    s->kernels->free_formula(s->model, s->block, formula);
    for (int32_t k = 0; k < p->results; k++) values[(size_t)i * (size_t)p->results + (size_t)k] = x[p->result[k]];
    if (arguments) read_arguments(p, x, arguments + (size_t)i * (size_t)p->tables);
    for (int32_t k = p->quantities; k-- > 0;) exchange_quantity(p, k, row, x); /* backwards: one may be there twice */
  }
  s->kernels->free_formula(s->model, s->block, formula); /* what a table refuses is as it was, too */
  return LW_OK;
}
