/* The equations of the loads of motors, row by row along a motion. */
#include "block/state.h"
#include "events/given_motion.h"
#include <string.h>

static size_t count_forces(const lw_model *m, int type) {
  return (size_t)(m->first_force[type + 1] - m->first_force[type]);
}

static size_t count_actuators(const lw_model *m) { return count_forces(m, LW_FORCE_ACTUATOR); }

static void report_actuators(lw_state *s, double *lengths) {
  const size_t n = count_actuators(s->model);
  memcpy(lengths, lw_reals(s) + s->model->at.actuator_length, sizeof(double) * n);
  memcpy(lengths + n, lw_reals(s) + s->model->at.actuator_force, sizeof(double) * n);
}

static lw_status find_row(lw_state *s, lw_load_equations *of, int32_t row) {
  const size_t i = (size_t)row, capacity = (size_t)of->capacity, motors = (size_t)of->motors;
  lw_load_row at = {.motors = of->motors,
                    .capacity = of->capacity,
                    .motor = of->motor,
                    .matrix = of->matrix + i * capacity * motors,
                    .load = of->load + i * capacity,
                    .speed = of->speed + i * motors,
                    .violation = of->violation + 3 * i};
  if (of->pressing) at.pressing = of->pressing + i * count_forces(s->model, LW_FORCE_FRICTION);
  if (of->loads) at.loads = of->loads + i * motors;
  const double *udot = of->udot + i * (size_t)s->model->size.nu;
  const size_t nq = (size_t)s->model->size.nq, nu = (size_t)s->model->size.nu, cut = (size_t)s->model->size.nq_cut;
  lw_enter_motion_row(s, &(lw_motion_row){.t = of->t[i],
                                          .q = of->q + i * nq,
                                          .u = of->u + i * nu,
                                          .turns = of->turns ? of->turns + i * cut : NULL,
                                          .inputs = of->inputs ? of->inputs + i * lw_motion_inputs(s) : NULL});
  lw_status e = lw_begin_given_motion(s, udot);
  if (!e) e = lw_report(s, s->kernels->load_equations(s->model, s->block, udot, &at));
  if (of->actuator && !e) report_actuators(s, of->actuator + 2 * i * count_actuators(s->model));
  lw_end_given_motion(s);
  if (e) return e;
  if (row == 0) of->dof = at.dof;
  if (at.dof != of->dof)
    return lw_fail(s, LW_ERROR_SINGULAR,
                   "the mechanism has %d degrees of freedom here, and %d at the start of the motion: keep the motion "
                   "away from poses in which they change",
                   at.dof, of->dof);
  return LW_OK;
}

lw_status lw_find_load_equations(lw_state *s, lw_load_equations *of) {
  if (!s) return LW_ERROR_USAGE;
  of->done = of->dof = 0;
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  for (; !e && of->done < of->rows; of->done += !e) e = find_row(s, of, of->done);
  return e;
}
