/* Which rows of the constraints are independent: Gram-Schmidt on the rows of J, the largest rest first. Rows count in
 * the length of their cluster, and so do displacements, so that a row that is not zero has a size near one. Where
 * gaps are open by a part of the length, rows that repeat others differ from them by as much. */
#include "state/state.h"
#include "events/discrete_state.h"
#include <math.h>

#define NO_ROW 1e-9
#define REPEATED 1e-7
#define OPEN 25.0 /* ratio of a row's remainder to its gaps, at least */

static double length_of_loop(const lw_state *s, int32_t l) {
  return ((const lw_double_cut_constants *)(lw_reals(s) + s->model->at.cut_constants))[l].length;
}

double lw_cluster_length(const lw_state *s, int32_t cluster) {
  const lw_model *m = s->model;
  if (cluster < 0) return 1.0;
  const lw_cluster *c = &m->cluster[cluster];
  if (c->loops) return length_of_loop(s, m->member[c->member]);
  if (c->distances == 0) return 1.0;
  const int32_t last = m->member_coupling[c->member_coupling + c->couplings - 1];
  return lw_reals(s)[m->at.distance_metric + m->coupling[last].distance];
}

/* The length of each row; 0: it is open. */
static void fill_lengths(const lw_state *s, double *length) {
  const lw_model *m = s->model;
  for (int32_t l = 0; l < m->size.loops; l++)
    for (int32_t k = m->loop[l].columns; k < 6; k++) *length++ = m->loop[l].cluster < 0 ? 0.0 : length_of_loop(s, l);
  for (int32_t i = 0; i < m->couplings; i++)
    *length++ = m->coupling[i].cluster < 0 ? 0.0 : lw_cluster_length(s, m->coupling[i].cluster);
}

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Rows of size one, or zero. */
static void scale_rows(const lw_state *s, const double *length, double *J) {
  const lw_model *m = s->model;
  const int32_t rows = lw_constraint_rows(m), nu = m->size.nu;
  for (int32_t r = 0; r < rows; r++, J += nu) {
    for (int32_t i = 0; i < m->size.bodies; i++)
      for (int32_t c = 0; c < m->link[i].speeds; c++)
        if (!(lw_joint_sizes[m->link[i].type].translations >> c & 1))
          J[m->link[i].u + c] /= length[r] > 0.0 ? length[r] : 1.0;
    const double size = sqrt(dot(J, J, nu));
    for (int32_t u = 0; u < nu; u++) J[u] = length[r] > 0.0 && size > NO_ROW ? J[u] / size : 0.0;
  }
}

/* Sets the relaxation of the selected rows to 0; those whose relaxation is below 0 are left out. Rows of J are used
 * up. */
static void choose_rows(int32_t rows, int32_t nu, double least, double *J, double *relaxation) {
  for (int32_t found = 0; found < rows && found < nu; found++) {
    int32_t best = -1;
    double best2 = least * least;
    for (int32_t r = 0; r < rows; r++) {
      const double *row = J + (size_t)r * (size_t)nu, size2 = relaxation[r] == 1.0 ? dot(row, row, nu) : 0.0;
      if (size2 > best2) best = r, best2 = size2;
    }
    if (best < 0) return;
    const double *pivot = J + (size_t)best * (size_t)nu;
    relaxation[best] = 0.0;
    for (int32_t r = 0; r < rows; r++) {
      double *row = J + (size_t)r * (size_t)nu;
      const double part = relaxation[r] == 1.0 ? dot(pivot, row, nu) / best2 : 0.0;
      for (int32_t u = 0; part != 0.0 && u < nu; u++) row[u] -= part * pivot[u];
    }
  }
}

static lw_status choose_at(lw_state *s, double least, const double *length, double *work, double *relaxation) {
  const lw_status e = lw_constraint_jacobian(s, work);
  if (e) return e;
  scale_rows(s, length, work);
  choose_rows(lw_constraint_rows(s->model), s->model->size.nu, least, work, relaxation);
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
  const lw_model *m = s->model;
  const int32_t rows = lw_constraint_rows(m);
  double *workspace, *positions = relaxation + rows;
  lw_status e = lw_newton_workspace(s, &workspace);
  if (e) return e;
  double *length = workspace + 3 * rows; /* where lw_constraint_jacobian() does not work */
  if ((e = lw_constraints(s, relaxation, positions))) return e;
  fill_lengths(s, length);
  const double least = REPEATED + OPEN * largest_gap(rows, relaxation, length);
  for (int32_t r = 0; r < 2 * rows; r++) relaxation[r] = 1.0;
  if ((e = choose_at(s, least, length, work, relaxation))) return e;
  for (int32_t i = 0; i < m->couplings; i++)
    if (m->coupling[i].rates_only) positions[rows - m->couplings + i] = -1.0;
  if ((e = choose_at(s, least, length, work, positions))) return e;
  for (int32_t r = 0; r < rows; r++) positions[r] = positions[r] < 0.0 ? 1.0 : positions[r];
  return LW_OK;
}
