/* Which loads give accelerations: with N a basis of the speeds of all joints, cut ones included, that the constraints
 * leave, and motors that turn by B u,
 *   N'B' tau = N'(M udot + h - f),
 * f are the loads of springs, dampers, actuators and inputs. Constraints do no work along N, prescribed motions among
 * them, so that their forces do not occur. N has a column for each speed of a joint outside of the clusters, then those
 * of each cluster, and is never formed. */
#ifndef LW_LOAD_EQUATIONS_KERNEL_H
#define LW_LOAD_EQUATIONS_KERNEL_H
#include "block/field_view_kernel.h"
#include "dynamics/forward_dynamics_kernel.h"
#include "dynamics/pressing_of_motion_kernel.h"
#include "loops/inverse_dynamics_kernel.h"
#include "loops/workspace_kernel.h"
#include "singular/near_singular_kernel.h"
#include "dynamics/outputs_kernel.h"

/* A joint's speed u moves by `rate` along direction z. */
static void add_to_direction(const view *v, lw_load_row *row, int32_t z, int32_t u, real rate, real needed) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  real *matrix = row->matrix + (size_t)z * (size_t)row->motors;
  row->load[z] += rate * needed;
  for (int32_t k = 0; k < row->motors; k++) matrix[k] += rate * row->motor[(size_t)k * (size_t)speeds + (size_t)u];
}

static int32_t clear_directions(lw_load_row *row, int32_t more) {
  const size_t motors = (size_t)row->motors, first = (size_t)row->dof;
  if (row->dof + more > row->capacity) return 0;
  memset(row->load + first, 0, sizeof(double) * (size_t)more);
  memset(row->matrix + first * motors, 0, sizeof(double) * (size_t)more * motors);
  row->dof += more;
  return 1;
}

static int add_tree_directions(const view *v, const real *needed, lw_load_row *row) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    if (link->cluster >= 0) continue;
    const int32_t first = row->dof;
    if (!clear_directions(row, link->speeds)) return 0;
    for (int32_t c = 0; c < link->speeds; c++)
      add_to_direction(v, row, first + c, link->u + c, 1.0, needed[link->u + c]);
  }
  return 1;
}

static int add_cluster_directions(const view *v, int32_t c, const real *needed, lw_load_row *row) {
  const cluster_work w = work_of(v, c);
  const int32_t n = free_of(&w), first = row->dof;
  real *rates = w.solution;
  if (!clear_directions(row, n)) return 0;
  for (int32_t k = 0; k < w.n; k++) {
    const lw_column *column = column_of(v, c, k);
    gather(&w, w.X + k * w.ranks->width + FIRST_FREE, rates);
    for (int32_t z = 0; z < n; z++)
      add_to_direction(v, row, first + z, column->u, rates[z],
                       column->link < 0 ? -v->load[column->u] : needed[column->u]);
  }
  return 1;
}

/* ---- whether the motion is possible ---- */

/* z of the independent columns of a cluster, from a number for each speed of the tree; 0: a cut joint is among them. */
static int read_independents(const view *v, int32_t c, const cluster_work *w, const real *speeds, real *z) {
  const int32_t embedded = w->cluster->method == LW_EMBEDDING;
  int32_t n = 0;
  for (int32_t e = 0; e < (embedded ? 1 : w->cluster->ears); e++) {
    const lw_ear *ear = &v->m->ear[w->cluster->first_ear + e];
    const int32_t first = embedded ? 0 : ear->column + ear->cuts,
                  rank = embedded ? w->ranks->matrix_rank : w->ear_rank[e];
    const int32_t columns = embedded ? w->n : ear->columns - ear->cuts;
    for (int32_t k = rank; k < columns; k++, n++) {
      const lw_column *column = column_of(v, c, first + w->order[first + k]);
      if (column->link < 0) return 0;
      z[n] = speeds[column->u] / metric_of(v, column);
    }
  }
  return 1;
}

/* By how much numbers for each speed of the tree miss N y + particular solutions of loops (-1: none) and of constraints among
 * the independent columns; angles count in the cluster's length. */
static double violation_by(const view *v, int32_t c, const real *speeds, int of_loops, int of_constraints) {
  const cluster_work w = work_of(v, c);
  const int32_t n = w.ranks->independent, rank = w.ranks->rank, width = w.ranks->width;
  real *z = w.spare, *allowed = z + n, *y = allowed + n;
  double most = 0.0;
  if (!read_independents(v, c, &w, speeds, z)) return 0.0;
  for (int32_t j = 0; j < n - rank; j++) y[j] = z[rank ? w.independent_order[rank + j] : j];
  extend(&w, y, of_constraints, allowed);
  for (int32_t k = 0; k < w.n; k++) {
    const lw_column *column = column_of(v, c, k);
    const real *row = w.X + k * width;
    if (column->link < 0) continue;
    real missed = speeds[column->u] - (of_loops < 0 ? 0.0 : row[of_loops]);
    for (int32_t i = 0; i < n; i++) missed -= row[FIRST_FREE + i] * allowed[i];
    missed = fabs(missed) / metric_of(v, column);
    most = missed > most ? missed : most;
  }
  return most * length_of(v, c);
}

static void find_violations(const view *v, const double *udot, double violation[3]) {
  real *still = FIELD(v, qdot);
  for (int32_t u = 0; u < v->m->size.nu; u++) still[u] = 0.0;
  for (int k = 0; k < 3; k++) violation[k] = 0.0;
  for (int32_t c = 0; c < v->m->clusters; c++) {
    const double by[3] = {violation_by(v, c, still, RESIDUAL, RESIDUAL), violation_by(v, c, v->u, -1, VELOCITY),
                          violation_by(v, c, udot, BIAS, BIAS)};
    for (int k = 0; k < 3; k++) violation[k] = by[k] > violation[k] ? by[k] : violation[k];
  }
}

/* Revolutions are counted from row to row where coordinates of cut joints have an effect. */
static void count_revolutions(const view *v, lw_block b) {
  int located = 0;
  for (int32_t l = 0; l < v->m->size.loops; l++) located |= v->m->loop[l].cluster >= 0 && v->cut[l].located != 0.0;
  if (!located) return;
  locate_cuts(v->m, b);
  copy(v->m->size.nq_cut, FIELD(v, q_cut), FIELD(v, cut_reference));
}

static void find_motor_speeds(const view *v, lw_load_row *row) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  for (int32_t k = 0; k < row->motors; k++) {
    const double *motor = row->motor + (size_t)k * (size_t)speeds;
    row->speed[k] = 0.0;
    for (int32_t u = 0; u < speeds; u++)
      if (motor[u] != 0.0) row->speed[k] += motor[u] * speed_of(v, u);
  }
}

/* Pressing forces of the motion with loads of the motors; without these as they are given, or none. */
static lw_fault press_by_motors(const view *v, const double *udot, const lw_load_row *row) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  real *driving = CHANGE(v, load);
  clear_pressing(v);
  if (!v->m->pressed || !row->pressing) return no_fault;
  copy(v->m->pressed, row->pressing, FIELD(v, friction_pressing));
  if (!row->loads) return no_fault;
  const lw_fault fault = compute_loop_closures(v);
  if (fault.kind) return fault;
  place_stand_ins(v, 0);
  for (int32_t u = 0; u < speeds; u++) driving[u] = 0.0;
  for (int32_t k = 0; k < row->motors; k++)
    for (int32_t u = 0; u < speeds; u++) driving[u] += row->loads[k] * row->motor[k * speeds + u];
  press_by_motion(v, udot, driving);
  copy(v->m->pressed, FIELD(v, friction_pressing), row->pressing);
  return no_fault;
}

static lw_fault load_equations(const lw_model *m, lw_block b, const double *udot, lw_load_row *row) {
  const view v = open_view(m, b);
  real *needed = FIELD(&v, rate);
  lw_fault fault = press_by_motors(&v, udot, row);
  if (!fault.kind) fault = compute_loop_closures(&v);
  if (!fault.kind) fault = check_closed(&v);
  if (fault.kind) return fault;
  for (int32_t c = 0; c < m->clusters; c++)
    if (has_lost_rank(&v, c)) return (lw_fault){LW_FAULT_NO_LOADS, c, 0.0};
  place_stand_ins(&v, 0);
  loads_for(&v, udot, 1, needed);
  load_by_forces(&v); /* the rotors of cut joints have placed these again */
  for (int32_t u = 0; u < m->size.nu; u++) needed[u] -= v.load[u];
  row->dof = 0;
  int all = add_tree_directions(&v, needed, row);
  for (int32_t c = 0; all && c < m->clusters; c++) all = add_cluster_directions(&v, c, needed, row);
  if (!all) return (lw_fault){LW_FAULT_MORE_DOF, 0, 0.0};
  find_motor_speeds(&v, row);
  find_violations(&v, udot, row->violation);
  count_revolutions(&v, b);
  return are_finite(row->dof, row->load) ? no_fault : (lw_fault){LW_FAULT_NOT_FINITE, 0, 0.0};
}
#endif
