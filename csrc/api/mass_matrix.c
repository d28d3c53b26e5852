/* The joint-space mass matrix, column by column, and the inverse dynamics behind it. */
#include "block/state.h"
#include "events/given_motion.h"

lw_status lw_find_driving_loads(lw_state *s, const int32_t *driven, const double *udot, double *tau) {
  lw_status e = lw_begin_given_motion(s, udot);
  if (!e) e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  lw_state_changed(s, LW_STAGE_CONSTANTS); /* it uses the increments' storage */
  if (!e) e = lw_report(s, s->kernels->inverse_dynamics(s->model, s->block, driven, udot, tau));
  lw_end_given_motion(s);
  return e;
}

lw_status lw_inverse_dynamics(lw_state *s, const double *udot, double *tau) {
  return s ? lw_find_driving_loads(s, NULL, udot, tau) : LW_ERROR_USAGE;
}

lw_status lw_mass_matrix(lw_state *s, double *matrix) {
  if (!s) return LW_ERROR_USAGE;
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  if (e) return e;
  const int32_t n = s->model->size.nu;
  double *unit = lw_reals(s) + s->model->at.acceleration;
  for (int32_t j = 0; j < n; j++) {
    for (int32_t i = 0; i < n; i++) unit[i] = i == j;
    s->kernels->mass_product(s->model, s->block, unit, matrix + (size_t)j * (size_t)n);
  }
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return LW_OK;
}
