/* Assembly differentiated, in complex arithmetic: how the states follow from start values, parameters and inputs. At
 * the result, with the columns a of the closures that move (closure_matrix_kernel.h), all in the cluster's metric,
 *   coordinates   dq = dq_start + N x,   A x = -dPhi at q + dq_start,   x the least
 *   speeds        u = u_start + x,       A x = h - A u_start,           x the least, in complex numbers throughout
 * the same as to assemble again from there (position_kernel.h). Coordinates that were fixed and did not move stay fixed, save that the
 * last given is freed where the closures cannot follow; and a coordinate that a coupling gives by itself follows this. */
#ifndef LW_ASSEMBLY_SENSITIVITY_KERNEL_H
#define LW_ASSEMBLY_SENSITIVITY_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/pivoted_qr_kernel.h"
#include "math/tolerances.h"
#include "math/spatial_kernel.h"
#include "joints/joint_kernel.h"
#include "joints/table_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/closure_matrix_kernel.h"
#include "loops/clusters_kernel.h"

/* One cluster, with its matrix in the workspace. */
typedef struct sensitivity_problem {
  const view *v;
  int32_t c;
  cluster_work w;
  double priority_limit, scale; /* as in position_kernel.h; size of the seeds */
  pivoted_qr qr;                /* of the rows of A over the columns that move */
  real *b, *x, *moved;          /* right-hand side; all columns; those that move */
  int32_t *column, *given;      /* that move; that a coupling gives */
} sensitivity_problem;

static sensitivity_problem sensitivity_problem_of(const view *v, int32_t c, const lw_sensitivity_workspace *workspace) {
  sensitivity_problem f = {.v = v, .c = c, .w = work_of(v, c), .scale = workspace->scale};
  const int32_t n = f.w.n, rows = f.w.rows;
  f.w.a = workspace->reals, f.w.rhs = f.w.a + n * rows;
  f.b = f.w.rhs + 2 * rows, f.x = f.b + rows, f.moved = f.x + n;
  f.qr = (pivoted_qr){.columns = rows, .diagonal = f.moved + n, .a = f.moved + n + rows};
  f.column = workspace->integers, f.given = f.column + n, f.qr.order = f.given + n;
  return f;
}

/* ---- fixed coordinates ---- */

/* The coordinate that a coupling gives by itself, as in start_prescribed() in position_kernel.h; -1: none. */
static int32_t prescribed_by(const view *v, int32_t i) {
  const lw_coupling *coupling = &v->m->coupling[i];
  if (coupling->cluster < 0 || coupling->terms != 1 || coupling->lock >= 0) return -1;
  const int32_t at = v->m->coordinate[v->m->term[coupling->first].u];
  return is_ratio(v, coupling->first) && at < v->m->size.nq ? at : -1;
}

static void mark_prescribed(const sensitivity_problem *f) {
  for (int32_t k = 0; k < f->w.n; k++) f->given[k] = 0;
  for (int32_t i = 0; i < f->w.cluster->couplings; i++) {
    const int32_t coupling = coupling_of(f->v, f->c, i);
    if (prescribed_by(f->v, coupling) >= 0) f->given[f->v->m->term[f->v->m->coupling[coupling].first].column] = 1;
  }
}

static double priority_in(const sensitivity_problem *f, const real *priority, int32_t k) {
  const int32_t u = column_of(f->v, f->c, k)->u;
  return f->given[k] ? 0.0 : re(priority[priority == FIELD(f->v, q_priority) ? f->v->m->coordinate[u] : u]);
}

static int is_fixed(const sensitivity_problem *f, const real *priority, int32_t k) {
  const double rank = priority_in(f, priority, k);
  return rank > 0.0 && rank <= f->priority_limit;
}

static int differ(double a, double b) { return fabs(a - b) > STILL * (1.0 + fabs(b)); }

/* Both signs of a quaternion are the same pose. */
static int has_turned(const joint_operations *kind, const real *now, const real *start, int32_t n) {
  real from[7];
  double along = 0.0;
  copy(n, start, from);
  kind->normalize(from);
  for (int32_t i = n - 4; i < n; i++) along += re(now[i]) * re(from[i]);
  for (int32_t i = 0; i < n; i++)
    if (differ(re(now[i]), i >= n - 4 && along < 0.0 ? -re(from[i]) : re(from[i]))) return 1;
  return 0;
}

/* Whether a column's coordinate is not at its start value. */
static int has_moved(const sensitivity_problem *f, int32_t k) {
  const view *v = f->v;
  const lw_model *m = v->m;
  const lw_column *column = column_of(v, f->c, k);
  const int32_t type = column->link < 0 ? m->loop[column->loop].type : m->link[column->link].type;
  const real *now = column->link < 0 ? FIELD(v, q_cut) - m->size.nq : v->q, *start = FIELD(v, q_start);
  const int32_t first = column->link < 0 ? m->loop[column->loop].q : m->link[column->link].q;
  if (joint_operations_of[type].normalize)
    return has_turned(&joint_operations_of[type], now + first, start + first, lw_joint_sizes[type].q);
  const int32_t i = m->coordinate[column->u];
  return differ(re(now[i]), re(start[i]));
}

static int has_other_speed(const sensitivity_problem *f, int32_t k) {
  const int32_t u = column_of(f->v, f->c, k)->u;
  return differ(re(speed_of(f->v, u)), re(FIELD(f->v, u_start)[u]));
}

/* The largest rank below `limit`: the next weaker way to hold, 0 in the end. */
static double weaker_priority(const sensitivity_problem *f, const real *priority, double limit) {
  double next = 0.0;
  for (int32_t k = 0; k < f->w.n; k++) {
    const double rank = priority_in(f, priority, k);
    if (rank < limit && rank > next) next = rank;
  }
  return next;
}

/* That with which assembly ended: all ranks below the first that moved. */
static double found_priority(const sensitivity_problem *f, const real *priority,
                             int (*moved)(const sensitivity_problem *, int32_t)) {
  double first = INFINITY;
  for (int32_t k = 0; k < f->w.n; k++) {
    const double rank = priority_in(f, priority, k);
    if (rank > 0.0 && rank < first && moved(f, k)) first = rank;
  }
  return weaker_priority(f, priority, first);
}

/* ---- the least solution ---- */

/* A over the columns that move, row by row. */
static void gather_free_rows(sensitivity_problem *f, const real *priority) {
  f->qr.rows = 0;
  for (int32_t k = 0; k < f->w.n; k++)
    if (!is_fixed(f, priority, k)) f->column[f->qr.rows++] = k;
  for (int32_t i = 0; i < f->w.rows; i++)
    for (int32_t j = 0; j < f->qr.rows; j++) f->qr.a[i * f->qr.rows + j] = f->w.a[f->w.rows * f->column[j] + i];
}

/* The least x with A x = b, zero for fixed columns; returns whether the dependent rows are satisfied. */
static int solve_least_norm(sensitivity_problem *f) {
  double largest = f->scale, residual = 0.0;
  for (int32_t i = 0; i < f->w.rows; i++) largest = fmax(largest, fabs(__imag__ f->b[i]));
  qr_factor(&f->qr, RANK_TOLERANCE);
  qr_least_norm(&f->qr, f->b, f->moved);
  for (int32_t k = 0; k < f->w.n; k++) f->x[k] = 0.0;
  for (int32_t j = 0; j < f->qr.rows; j++) f->x[f->column[j]] = f->moved[j];
  for (int32_t i = f->qr.rank; i < f->w.rows; i++) residual = fmax(residual, fabs(__imag__ f->b[f->qr.order[i]]));
  return residual <= CONSISTENT_ROW * largest;
}

/* ---- coordinates ---- */

/* Columns and right-hand sides in the present pose, which holds cut joints at their start values or lets them fit. */
static void fill_closure_matrix(const sensitivity_problem *f) {
  const view *v = f->v;
  const lw_cluster *cluster = f->w.cluster;
  for (int32_t i = cluster->first; i < cluster->first + cluster->count; i++) find_point_motion(v, &f->w, i);
  clear_matrix(&f->w);
  for (int32_t i = 0; i < cluster->loops; i++) {
    const int32_t l = loop_of(v, f->c, i);
    const lw_loop *loop = &v->m->loop[l];
    const int keeps = loop->columns && is_fixed(f, FIELD(v, q_priority), loop->column);
    cut_frames at;
    fill_loop(v, f->c, &f->w, l, keeps ? FIELD(v, q_start) + loop->q : NULL, columns_in_matrix(&f->w, loop->row), &at);
  }
  fill_couplings(v, f->c, &f->w);
}

/* The tree's share of x, in its speeds. */
static void spread(const sensitivity_problem *f, real *step) {
  for (int32_t k = 0; k < f->w.n; k++) {
    const lw_column *column = column_of(f->v, f->c, k);
    if (column->link >= 0) step[column->u] = f->x[k] * metric_of(f->v, column);
  }
}

static int close_coordinates(sensitivity_problem *f) {
  fill_closure_matrix(f);
  for (int32_t i = 0; i < f->w.rows; i++) f->b[i] = complex_of(0.0, -__imag__ f->w.rhs[f->w.rows + i]);
  gather_free_rows(f, FIELD(f->v, q_priority));
  return solve_least_norm(f);
}

/* How x moves the coordinate of a column, in the metric, as moved() in position_kernel.h counts it: all speeds of a joint
 * with a quaternion by the joint's first coordinate. */
static real moved_by(const sensitivity_problem *f, int32_t k) {
  const view *v = f->v;
  const lw_column *column = column_of(v, f->c, k);
  const lw_link *link = column->link < 0 ? NULL : &v->m->link[column->link];
  const lw_loop *loop = link ? NULL : &v->m->loop[column->loop];
  const int32_t first = link ? link->column : loop->column, speeds = link ? link->speeds : loop->columns;
  const joint_operations *kind = &joint_operations_of[link ? link->type : loop->type];
  const real *q = link ? v->q + link->q : FIELD(v, q_cut) + loop->q - v->m->size.nq;
  real step[6], rate[7];
  if (!kind->qdot) return f->x[k];
  for (int32_t c = 0; c < speeds; c++) step[c] = f->x[first + c] * metric_of(v, column_of(v, f->c, first + c));
  kind->qdot(q, step, rate);
  return rate[v->m->coordinate[column->u] - (link ? link->q : loop->q)] / metric_of(v, column);
}

/* How far the given coordinates on loops leave their start values, in the metric. */
static double moved_along(const sensitivity_problem *f) {
  const view *v = f->v;
  double sum = 0.0;
  for (int32_t k = 0; k < f->w.n; k++) {
    const lw_column *column = column_of(v, f->c, k);
    const int32_t i = v->m->coordinate[column->u];
    const lw_link *link = column->link < 0 ? NULL : &v->m->link[column->link];
    if (!(re(FIELD(v, q_priority)[i]) > 0.0) || (link && !link->spanned && v->m->ear[link->ear].loop < 0)) continue;
    real away = moved_by(f, k);
    if (!link) away += (FIELD(v, q_cut)[i - v->m->size.nq] - FIELD(v, q_start)[i]) / metric_of(v, column);
    sum += __imag__ away / f->scale * (__imag__ away / f->scale);
  }
  return sqrt(sum);
}

/* As is_near() in position_kernel.h: letting go the last given may move them far where letting go all hardly would. */
static int is_near_start(sensitivity_problem *f) {
  const double priority_limit = f->priority_limit, far = moved_along(f);
  if (priority_limit == 0.0 || far == 0.0) return 1;
  f->priority_limit = 0.0;
  const int closes = close_coordinates(f);
  const double least = moved_along(f);
  f->priority_limit = priority_limit;
  close_coordinates(f);
  return !closes || far <= MAX_MOVE_RATIO * least;
}

static int differentiate_coordinates(sensitivity_problem *f, real *step) {
  const real *priority = FIELD(f->v, q_priority);
  const double found = found_priority(f, priority, has_moved);
  for (f->priority_limit = found;; f->priority_limit = weaker_priority(f, priority, f->priority_limit)) {
    if (close_coordinates(f) && (f->priority_limit == found || is_near_start(f))) break;
    if (f->priority_limit == 0.0) return 0;
  }
  spread(f, step);
  return 1;
}

/* ---- speeds ---- */

/* What it starts from, in the metric: the speeds of cut joints that move at zero. */
static real first_speed(const sensitivity_problem *f, int32_t k) {
  const lw_column *column = column_of(f->v, f->c, k);
  if (column->link < 0 && !is_fixed(f, FIELD(f->v, u_priority), k)) return 0.0;
  return FIELD(f->v, u_start)[column->u] / metric_of(f->v, column);
}

/* h - A u_start, in place of h. Columns released along the seed start at their fixed values. */
static void subtract_first_speeds(const sensitivity_problem *f) {
  for (int32_t k = 0; k < f->w.n; k++) {
    const real u = first_speed(f, k);
    for (int32_t i = 0; i < f->w.rows; i++) f->w.rhs[i] -= f->w.a[f->w.rows * k + i] * u;
  }
}

static int differentiate_speeds(sensitivity_problem *f, real *step) {
  const real *priority = FIELD(f->v, u_priority);
  fill_closure_matrix(f);
  f->priority_limit = found_priority(f, priority, has_other_speed);
  subtract_first_speeds(f);
  for (;; f->priority_limit = weaker_priority(f, priority, f->priority_limit)) {
    copy(f->w.rows, f->w.rhs, f->b);
    gather_free_rows(f, priority);
    if (solve_least_norm(f)) break;
    if (f->priority_limit == 0.0) return 0;
  }
  spread(f, step);
  return 1;
}

/* ---- all of them ---- */

static void set_imaginary(real *x, real of) { *x = complex_of(re(*x), __imag__ of); }

static void differentiate_start_values(const view *v) {
  for (int32_t i = 0; i < v->m->size.bodies; i++) {
    const lw_link *link = &v->m->link[i];
    const int32_t n = lw_joint_sizes[link->type].q;
    real start[7];
    copy(n, FIELD(v, q_start) + link->q, start);
    if (joint_operations_of[link->type].normalize) joint_operations_of[link->type].normalize(start);
    for (int32_t k = 0; k < n; k++) set_imaginary(&v->q[link->q + k], start[k]);
  }
  for (int32_t i = 0; i < v->m->couplings; i++) {
    const int32_t at = prescribed_by(v, i);
    real f[3];
    if (at < 0) continue;
    motion_at(v, i, f);
    const real offset = FIELD(v, coupling_offset)[i] + f[0];
    set_imaginary(&v->q[at], offset / FIELD(v, coupling_coefficient)[4 * v->m->coupling[i].first]);
  }
}

/* The states' derivatives along the seeds of all else; needs constants, the states and the speeds of the cut joints.
 * */
static lw_fault assembly_sensitivity(const lw_model *m, lw_block b, const lw_sensitivity_workspace *workspace) {
  const view v = open_view(m, b);
  real *step = workspace->step;
  differentiate_start_values(&v);
  for (int level = 0; level < 2; level++) {
    compute_kinematics(&v);
    for (int32_t u = 0; u < m->size.nu; u++) step[u] = 0.0;
    for (int32_t c = 0; c < m->clusters; c++) {
      sensitivity_problem f = sensitivity_problem_of(&v, c, workspace);
      mark_prescribed(&f);
      if (!(level ? differentiate_speeds(&f, step) : differentiate_coordinates(&f, step)))
        return (lw_fault){LW_FAULT_NO_SENSITIVITY, c, 0.0};
    }
    for (int32_t i = 0; !level && i < m->size.bodies; i++) integrate_position(&v, &m->link[i], step + m->link[i].u);
  }
  for (int32_t u = 0; u < m->size.nu; u++) {
    const real speed = FIELD(&v, u_start)[u] + step[u];
    if (!(fabs(re(speed - v.u[u])) <= STILL * (1.0 + fabs(re(speed)))))
      return (lw_fault){LW_FAULT_NOT_ASSEMBLED, 0, 0.0};
    set_imaginary(&v.u[u], speed);
  }
  for (int32_t k = 0; k < m->size.formula_states; k++) {
    const real start = FIELD(&v, state_start)[k];
    set_imaginary(&FIELD(&v, element_state)[k], start);
  }
  return no_fault;
}
#endif
