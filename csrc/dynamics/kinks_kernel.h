/* Indicators of kinks without accelerations, where the formulas that have them read nothing but states, time and inputs. */
#ifndef LW_KINKS_KERNEL_H
#define LW_KINKS_KERNEL_H
#include "formula/evaluate_kernel.h"
#include "loops/forces_on_speeds_kernel.h"

/* What formulas on speeds of joints read of themselves. */
static void find_lengths_at_kinks(const view *v) {
  const lw_program *program = first_program(v->m, LW_FORCE_JOINT_FORMULA);
  EACH_OF(JOINT_FORMULA)
  if (program[k].kinks)
    find_length(v, &v->m->force[FIRST_OF(JOINT_FORMULA) + k], FIELD(v, joint_formula_length) + k,
                FIELD(v, joint_formula_rate) + k);
}

static void kinks(const lw_model *m, lw_block b) {
  const view v = open_view(m, b);
  find_lengths_at_kinks(&v);
  for (int32_t k = 0; k < m->size.formulas; k++)
    if (m->program[k].kinks) evaluate_program(m->program + k, v.x);
}

/* A formula as it is, at what it reads in the block. */
static void free_formula(const lw_model *m, lw_block b, int32_t formula) {
  const view v = open_view(m, b);
  run_program(m->program + formula, m->program[formula].free, v.x);
}
#endif
