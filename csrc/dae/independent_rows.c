/* Which rows of the constraints are independent: J' is factored with pivoting (math/pivoted_qr_kernel.h), the largest
 * remainder first. Rows count in the length of their cluster, and so do displacements, so that the rows of a loop have
 * sizes near one, except those that vanish near the pose: these stay small, and the rows in their place are chosen. In
 * loops open by a part of their length, rows that repeat others differ from them by as much. */
#include "dae/constraints.h"
#include "math/pivoted_qr_kernel.h"
#include "math/tolerances.h"

/* Rows of couplings get size one, those of loops at most one. Zero: open ones, those that are left out (relaxation
 * below 0), and those that nothing moves. */
static void scale_rows(const lw_state *s, const double *length, const double *relaxation, double *J) {
  const lw_model *m = s->model;
  const int32_t rows = lw_constraint_rows(m), nu = m->size.nu, loop_rows = rows - m->couplings;
  for (int32_t r = 0; r < rows; r++, J += nu) {
    for (int32_t i = 0; i < m->size.bodies; i++)
      for (int32_t c = 0; c < m->link[i].speeds; c++) {
        const int is_angle = !(lw_joint_sizes[m->link[i].type].translations >> c & 1);
        J[m->link[i].u + c] *= lw_speed_unit(s, &m->link[i], c) / (is_angle && length[r] > 0.0 ? length[r] : 1.0);
      }
    const double size = sqrt(qr_dot(J, J, 0, nu));
    const int counts = length[r] > 0.0 && relaxation[r] == 1.0 && size > REDUNDANT_ROW;
    for (int32_t u = 0; u < nu; u++) J[u] = counts ? J[u] / (r < loop_rows ? fmax(size, 1.0) : size) : 0.0;
  }
}

/* Sets the relaxation of the selected rows to 0. */
static lw_status choose_at(lw_state *s, double tolerance, lw_constraint_workspace *w, double *J, double *relaxation) {
  const lw_status e = lw_constraint_jacobian(s, J);
  if (e) return e;
  pivoted_qr rows = {.rows = s->model->size.nu,
                     .columns = lw_constraint_rows(s->model),
                     .a = J,
                     .diagonal = w->diagonal,
                     .order = w->order};
  scale_rows(s, w->length, relaxation, J);
  qr_factor(&rows, tolerance);
  for (int32_t k = 0; k < rows.rank; k++) relaxation[rows.order[k]] = 0.0;
  return LW_OK;
}

/* The largest gap as a part of its length. */
static double largest_gap(int32_t rows, const double *phi, const double *length) {
  double largest = 0.0;
  for (int32_t r = 0; r < rows; r++)
    if (length[r] > 0.0) largest = fmax(largest, fabs(phi[r]) / length[r]);
  return largest;
}

/* Locks of speeds that are nobody's rate have no position. */
lw_status lw_dae_select_rows(lw_state *s, double *work, double *relaxation) {
  if (!s) return LW_ERROR_USAGE;
  const lw_model *m = s->model;
  const int32_t rows = lw_constraint_rows(m);
  lw_constraint_workspace *w;
  double *positions = relaxation + rows;
  lw_status e = lw_open_constraint_workspace(s, &w);
  if (e || (e = lw_constraints(s, relaxation, positions))) return e;
  lw_constraint_lengths(s, 0.0, w->length);
  const double tolerance = REPEATED_ROW + RESIDUAL_RANK2 * largest_gap(rows, relaxation, w->length);
  for (int32_t r = 0; r < 2 * rows; r++) relaxation[r] = 1.0;
  if ((e = choose_at(s, tolerance, w, work, relaxation))) return e;
  for (int32_t i = 0; i < m->couplings; i++)
    if (m->coupling[i].rates_only) positions[rows - m->couplings + i] = -1.0;
  if ((e = choose_at(s, tolerance, w, work, positions))) return e;
  for (int32_t r = 0; r < rows; r++) positions[r] = positions[r] < 0.0 ? 1.0 : positions[r];
  return LW_OK;
}
