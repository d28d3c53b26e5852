/* Up to FEW_FRICTIONS frictions by pressing forces (R and b: dynamics/pressed_friction_kernel.h): the method of Newton
 * with the whole matrix R, and a chord of it where R b is small. Where rows of |R b| reach one, other solutions are
 * sought from loads far away. */
#ifndef LW_FEW_PRESSED_FRICTIONS_KERNEL_H
#define LW_FEW_PRESSED_FRICTIONS_KERNEL_H
#include "dynamics/load_response_kernel.h"
#include "dynamics/pressing_forces_kernel.h"
#include "math/tolerances.h"

enum { FEW_FRICTIONS = 8 }; /* R at once */
#define MOST_IN_TURN 12     /* steps of the chord */

/* Rows and columns are those of all pressed frictions; where one has no slope, as one that sticks, its column is zero. */
typedef struct few_frictions {
  int32_t n, blocks; /* of four */
  int32_t number[FEW_FRICTIONS];
  real slope[FEW_FRICTIONS], load[FEW_FRICTIONS], size[FEW_FRICTIONS];
  real at_first[3][FEW_FRICTIONS], now[3][FEW_FRICTIONS];
  real R[FEW_FRICTIONS][3][FEW_FRICTIONS]; /* of a load, by components */
  surfaces surface[FEW_FRICTIONS];
#if LW_ARITHMETIC != LW_COMPLEX
  int32_t directions; /* of one small cluster: its accelerations y along these, by loads on its columns; 0: not so */
  int32_t column[FEW_COLUMNS]; /* those of the frictions first */
  four y[FEW_COLUMNS / 4][FEW_DIRECTIONS];
#endif
} few_frictions;

#define EACH_ACTIVE(x, j)              \
  for (int32_t j = 0; j < (x)->n; j++) \
    if (!is_zero((x)->slope[j]))

/* Loads of one of `count` frictions, each in a SIMD lane of its own; others are zero. */
static void set_unit_loads(const view *v, const few_frictions *x, int32_t first, int32_t count) {
  real *load = CHANGE(v, load);
  memset(load, 0, (size_t)count * sizeof(real) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  for (int32_t j = first; j < x->n && j < first + count; j++)
    if (!is_zero(x->slope[j])) load[count * speed_of_friction(v, x->number[j]) + j - first] = 1.0;
}

static void measure_at_first(const view *v, few_frictions *x) {
  find_joint_forces(v);
  for (int32_t k = 0; k < x->n; k++) {
    real n[3];
    measure_pressing(v, &x->surface[k], FIELD(v, friction_force)[x->number[k]], n);
    for (int i = 0; i < 3; i++) x->at_first[i][k] = n[i];
  }
}

#if LW_ARITHMETIC != LW_COMPLEX
/* measure_pressing() of four changes. */
INLINE void measure_four(const view *v, const surfaces *s, four load, four n[3]) {
  const four *F = force_change_of_four(v, s->joint), along = dot_by_four(s->e, F);
  for (int i = 0; i < 3; i++) n[i] = F[i] - s->e[i] * along;
  if (!s->is_thread) return;
  if (s->lock >= 0) load += *coupling_change_of_four(v, s->lock);
  n[0] = s->by_force * along - s->by_load * load, n[1] = n[2] = zero4();
}

/* Rows of R, of each joint by loads, to columns. */
typedef real rows_of_R[3][FEW_FRICTIONS];
INLINE void store_columns(few_frictions *x, int32_t blocks, rows_of_R *rows) {
  for (int32_t k = x->n; k < 4 * blocks; k++) memset(rows[k], 0, sizeof rows[k]);
  for (int32_t b = 0; b < blocks; b++)
    for (int32_t j = 0; j < 4 * blocks; j++)
      for (int i = 0; i < 3; i++)
        ((four *)x->R[j][i])[b] =
            (four){rows[4 * b][i][j], rows[4 * b + 1][i][j], rows[4 * b + 2][i][j], rows[4 * b + 3][i][j]};
}

static void find_responses(const view *v, few_frictions *x) {
  rows_of_R rows[FEW_FRICTIONS];
  memset(CHANGE(v, acceleration), 0, sizeof(four) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  for (int32_t b = 0; b < x->blocks; b++) {
    set_unit_loads(v, x, 4 * b, 4);
    respond_with_forces_four(v);
    for (int32_t k = 0; k < x->n; k++) {
      const int32_t own = k - 4 * b;
      four n[3];
      measure_four(v, &x->surface[k], (four){own == 0, own == 1, own == 2, own == 3}, n);
      for (int i = 0; i < 3; i++) ((four *)rows[k][i])[b] = n[i];
    }
  }
  store_columns(x, x->blocks, rows);
}

/* The columns of the frictions, then the others. Returns whether each friction has one of its own. */
static int order_columns(const view *v, few_frictions *x) {
  const int32_t columns = v->m->cluster[v->m->segment->cluster].columns;
  int32_t placed = 0;
  uint32_t of_frictions = 0;
  for (; placed < x->n; placed++) {
    const int32_t k = x->column[placed] = v->m->gear[friction_at(v, x->number[placed])->first].column;
    if (of_frictions >> k & 1) return 0;
    of_frictions |= 1u << k;
  }
  for (int32_t k = 0; k < columns; k++)
    if (!(of_frictions >> k & 1)) x->column[placed++] = k;
  return 1;
}

/* The same of one small cluster, and the forces at first. Its columns fill the blocks. */
INLINE void press_by_columns(const view *v, few_frictions *x, int32_t blocks, int32_t directions) {
  const int32_t columns = v->m->cluster[v->m->segment->cluster].columns;
  rows_of_R rows[FEW_FRICTIONS];
  four unbalanced[FEW_COLUMNS];
  for (int32_t b = 0; b < blocks; b++) {
    load_columns_at_rest(v, x->column + 4 * b, columns - 4 * b < 4 ? columns - 4 * b : 4, x->y[b]);
    for (int32_t k = 0; k < x->n; k++) {
      four n[3];
      measure_four(v, &x->surface[k], zero4(), n);
      for (int i = 0; i < 3; i++) ((four *)rows[k][i])[b] = n[i];
    }
  }
  find_needs_of_motions(v, x->column, unbalanced);
  for (int32_t l = columns; l < 4 * blocks; l++) unbalanced[l] = zero4();
  for (int32_t k = 0; k < x->n; k++) {
    four n[3];
    measure_four(v, &x->surface[k], (four){FIELD(v, friction_force)[x->number[k]]}, n);
    for (int i = 0; i < 3; i++) {
      four *row = (four *)rows[k][i], sum = n[i];
      for (int32_t l = 0; l < 4 * blocks; l++) sum += rows[k][i][l] * unbalanced[l];
      x->at_first[i][k] = sum[0];
      for (int32_t b = 0; b < blocks; b++)
        for (int32_t j = 0; j < directions; j++) row[b] += sum[1 + j] * x->y[b][j];
    }
    if (x->surface[k].is_thread) rows[k][0][k] -= x->surface[k].by_load;
  }
  store_columns(x, blocks, rows);
}

static void find_responses_by_columns(const view *v, few_frictions *x) {
  if (x->blocks == 1 && x->directions == 1) press_by_columns(v, x, 1, 1);
  else press_by_columns(v, x, x->blocks, x->directions);
}
#else
static void find_responses(const view *v, few_frictions *x) {
  memset(x->R, 0, sizeof x->R);
  memset(CHANGE(v, acceleration), 0, sizeof(real) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  EACH_ACTIVE(x, j) {
    set_unit_loads(v, x, j, 1);
    respond_with_forces_one(v);
    for (int32_t k = 0; k < x->n; k++) {
      real n[3];
      measure_pressing(v, &x->surface[k], k == j ? 1.0 : 0.0, n);
      for (int i = 0; i < 3; i++) x->R[j][i][k] = n[i];
    }
  }
}
#endif

/* Square roots of numbers that are not negative; zero has no derivative. */
INLINE four root4(four a) {
#if LW_ARITHMETIC != LW_COMPLEX
  return sqrt4(a);
#else
  for (int i = 0; i < 4; i++) a.x[i] = re(a.x[i]) > 0.0 ? root(a.x[i]) : 0.0;
  return a;
#endif
}

/* The sum of columns by factors, in two parts that need not wait for each other. Here and below the number of blocks is a
 * constant, so that compilers unroll. */
INLINE four sum_of_columns(int32_t blocks, const real *by, const real *column, int32_t stride) {
  four even = zero4(), odd = zero4();
  for (int32_t j = 0; j < 4 * blocks; j += 2, column += 2 * stride) {
    even = plus4(even, times4(by[j], *(const four *)column));
    odd = plus4(odd, times4(by[j + 1], *(const four *)(column + stride)));
  }
  return plus4(even, odd);
}

/* The pressing forces of the loads. */
INLINE void press_blocks(few_frictions *x, int32_t blocks) {
  for (int32_t b = 0; b < blocks; b++) {
    four n[3], size2 = zero4();
    for (int i = 0; i < 3; i++) {
      n[i] = plus4(((const four *)x->at_first[i])[b],
                   sum_of_columns(blocks, x->load, x->R[0][i] + 4 * b, 3 * FEW_FRICTIONS));
      ((four *)x->now[i])[b] = n[i];
      size2 = plus4(size2, product4(n[i], n[i]));
    }
    ((four *)x->size)[b] = root4(size2);
  }
}

/* Those of no loads. */
static void size_at_first(few_frictions *x) {
  for (int32_t b = 0; b < x->blocks; b++) {
    four size2 = zero4();
    for (int i = 0; i < 3; i++)
      size2 = plus4(size2, product4(((const four *)x->at_first[i])[b], ((const four *)x->at_first[i])[b]));
    ((four *)x->size)[b] = root4(size2);
  }
}

static void press(few_frictions *x) {
  if (x->blocks == 1) press_blocks(x, 1);
  else press_blocks(x, 2);
}

/* Rows R_kj along n_k, by columns: of the derivative of N. */
INLINE void find_slopes_of_pressing(const few_frictions *x, int32_t blocks, real H[][FEW_FRICTIONS]) {
  real by[FEW_FRICTIONS];
#if LW_ARITHMETIC != LW_COMPLEX
  for (int32_t b = 0; b < blocks; b++) /* where there is no pressing force it is along nothing */
    ((four *)by)[b] = all4(1.0) / (((const four *)x->size)[b] + all4(1e-300));
#else
  for (int32_t k = 0; k < 4 * blocks; k++) by[k] = re(x->size[k]) > 0.0 ? 1.0 / x->size[k] : 0.0;
#endif
  for (int32_t j = 0; j < 4 * blocks; j++)
    for (int32_t b = 0; b < blocks; b++) {
      four s = product4(((const four *)x->now[0])[b], ((const four *)x->R[j][0])[b]);
      for (int i = 1; i < 3; i++) s = plus4(s, product4(((const four *)x->now[i])[b], ((const four *)x->R[j][i])[b]));
      ((four *)H[j])[b] = product4(s, ((const four *)by)[b]);
    }
}

/* ---- Newton's method ---- */

/* Solves the n rows of n + 1 numbers for the last column, in place. Returns 0 where they are singular. */
static int solve_newton_rows(real *A, int32_t n, int32_t stride) {
  for (int32_t k = 0; k < n; k++) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(re(A[i * stride + k])) > fabs(re(A[best * stride + k]))) best = i;
    if (!(fabs(re(A[best * stride + k])) > 1e-300)) return 0;
    for (int32_t j = k; best != k && j <= n; j++) {
      const real swapped = A[k * stride + j];
      A[k * stride + j] = A[best * stride + j], A[best * stride + j] = swapped;
    }
    for (int32_t i = k + 1; i < n; i++) {
      const real by = A[i * stride + k] / A[k * stride + k];
      for (int32_t j = k + 1; j <= n && !adds_nothing(by); j++) A[i * stride + j] -= by * A[k * stride + j];
    }
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    for (int32_t j = k + 1; j < n; j++) A[k * stride + n] -= A[k * stride + j] * A[j * stride + n];
    A[k * stride + n] /= A[k * stride + k];
  }
  return 1;
}

/* One step from the loads. Returns the largest step relative to the loads; negative: there is none. */
static double newton_step(few_frictions *x) {
  enum { STRIDE = FEW_FRICTIONS + 1 };
  real A[FEW_FRICTIONS * STRIDE], H[FEW_FRICTIONS][FEW_FRICTIONS];
  int32_t row = 0, n = 0;
  double step = 0.0, most = 1e-300;
  press(x);
  find_slopes_of_pressing(x, x->blocks, H);
  EACH_ACTIVE(x, k) n++;
  EACH_ACTIVE(x, k) {
    int32_t column = 0;
    EACH_ACTIVE(x, j) {
      A[row * STRIDE + column] = (k == j ? 1.0 : 0.0) - x->slope[k] * H[j][k];
      column++;
    }
    A[row++ * STRIDE + n] = x->load[k] - x->slope[k] * x->size[k];
  }
  if (!solve_newton_rows(A, n, STRIDE)) return -1.0;
  row = 0;
  EACH_ACTIVE(x, k) {
    const real by = A[row++ * STRIDE + n];
    x->load[k] -= by;
    step = larger(step, fabs(re(by) / re(x->slope[k])));
    most = larger(most, fabs(re(x->load[k]) / re(x->slope[k])));
  }
  return step / most;
}

/* From the loads on. A further step gives derivatives, which follow one after the values. */
static int converge(few_frictions *x) {
  for (int32_t i = 0; i < MOST_NEWTON_STEPS; i++) {
    const double step = newton_step(x);
    if (!(step >= 0.0) || !isfinite(step)) return 0;
    if (step > SAME_LOADS) continue;
    return LW_ARITHMETIC != LW_COMPLEX || newton_step(x) >= 0.0;
  }
  return 0;
}

/* Whether loads change no more, by what they missed before a step. */
INLINE int have_settled(const few_frictions *x, int32_t blocks, const real *rest) {
  const double tolerance = SAME_LOADS / (SMALL_GAIN * SMALL_GAIN * SMALL_GAIN);
#if LW_ARITHMETIC != LW_COMPLEX
  four change = zero4(), size = zero4();
  for (int32_t b = 0; b < blocks; b++) {
    const four by = ((const four *)rest)[b], now = ((const four *)x->load)[b];
    change += by * by, size += now * now;
  }
  return sum4(change) <= tolerance * tolerance * sum4(size);
#else
  changes all = no_changes;
  for (int32_t k = 0; k < 4 * blocks; k++) add_change(&all, rest[k], x->load[k]);
  return relative_change(&all) <= tolerance;
#endif
}

/* out = H a */
INLINE void times_slopes(int32_t blocks, real H[][FEW_FRICTIONS], const real *a, four *out) {
  for (int32_t b = 0; b < blocks; b++) out[b] = sum_of_columns(blocks, a, H[0] + 4 * b, FEW_FRICTIONS);
}

/* For small G = b H: the inverse of 1 - G is nearly 1 + G + G^2, with which errors shrink by about G^3 each time. */
INLINE int follow_chord(few_frictions *x, int32_t blocks) {
  real H[FEW_FRICTIONS][FEW_FRICTIONS], rest[FEW_FRICTIONS], step[FEW_FRICTIONS];
  four by[FEW_FRICTIONS / 4], *load = (four *)x->load, *size = (four *)x->size;
  const four *slope = (const four *)x->slope;
  for (int32_t b = 0; b < blocks; b++) load[b] = product4(slope[b], size[b]);
  press_blocks(x, blocks);
  find_slopes_of_pressing(x, blocks, H);
  for (int32_t turn = 0; turn < MOST_IN_TURN; turn++) {
    for (int32_t b = 0; b < blocks; b++)
      ((four *)rest)[b] = ((four *)step)[b] = minus4(product4(slope[b], size[b]), load[b]);
    for (int power = 0; power < 2; power++) {
      times_slopes(blocks, H, step, by);
      for (int32_t b = 0; b < blocks; b++)
        ((four *)step)[b] = plus4(((const four *)rest)[b], product4(slope[b], by[b]));
    }
    for (int32_t b = 0; b < blocks; b++) load[b] = plus4(load[b], ((const four *)step)[b]);
    if (have_settled(x, blocks, rest)) {
      times_slopes(blocks, H, step, by);
      for (int32_t b = 0; b < blocks; b++) size[b] = plus4(size[b], by[b]);
      return 1;
    }
    press_blocks(x, blocks);
  }
  return 0;
}

static int converge_by_chord(few_frictions *x) { return x->blocks == 1 ? follow_chord(x, 1) : follow_chord(x, 2); }

/* At least the square of the largest row of |R b|: n times its squares. */
INLINE double bound_of_gain2(const few_frictions *x, int32_t blocks) {
  double most = 0.0;
  for (int32_t b = 0; b < blocks; b++) {
    four sum = zero4();
    for (int32_t j = 0; j < 4 * blocks; j++) {
      four size2 = zero4();
      for (int i = 0; i < 3; i++)
        size2 = plus4(size2, product4(((const four *)x->R[j][i])[b], ((const four *)x->R[j][i])[b]));
      sum = plus4(sum, times4(x->slope[j] * x->slope[j], size2));
    }
    for (int k = 0; k < 4; k++) {
      const double one = re(entry_of(&sum, k));
      if (!(one <= most)) most = one;
    }
  }
  return most * x->n;
}

/* The largest row of |R b| of those that slide, and whose it is: below one there is one solution. */
static double largest_gain(const few_frictions *x, int32_t *whose) {
  double most = 0.0;
  EACH_ACTIVE(x, k) {
    double sum = 0.0;
    EACH_ACTIVE(x, j) {
      const real R[3] = {x->R[j][0][k], x->R[j][1][k], x->R[j][2][k]};
      sum += fabs(re(x->slope[j])) * sqrt(re(dot(R, R)));
    }
    if (sum > most) most = sum, *whose = x->number[k];
  }
  return most;
}

/* Keeps the first solution, and finds whether the loads are another one. */
static int is_another(const few_frictions *x, real first[FEW_FRICTIONS], int *solutions) {
  double most = 0.0, apart = 0.0;
  EACH_ACTIVE(x, k) {
    const double b = re(x->slope[k]), now = re(x->load[k]) / b;
    most = larger(most, fabs(now));
    apart = larger(apart, fabs(now - re(first[k]) / b));
  }
  if ((*solutions)++ > 0) return apart > SAME_SOLUTION * most;
  copy(x->n, x->load, first);
  return 0;
}

static void clear_loads(few_frictions *x) {
  for (int32_t b = 0; b < x->blocks; b++) ((four *)x->load)[b] = zero4();
}

/* Tries from no loads, and then from large ones of one friction after the other, either way. */
static lw_fault search_solutions(few_frictions *x, int32_t whose, int32_t first_friction, double gain) {
  int solutions = 0;
  double scale = 0.0;
  real first[FEW_FRICTIONS] = {0.0};
  for (int32_t k = 0; k < x->n; k++) scale = larger(scale, re(x->size[k]));
  clear_loads(x);
  if (converge(x)) is_another(x, first, &solutions);
  EACH_ACTIVE(x, j) for (int way = -1; way <= 1; way += 2) {
    clear_loads(x);
    x->load[j] = way * FAR_LOADS * scale * x->slope[j];
    if (converge(x) && is_another(x, first, &solutions))
      return (lw_fault){LW_FAULT_JAMS_OR_SLIDES, first_friction + whose, gain};
  }
  copy(x->n, first, x->load);
  return solutions ? no_fault : (lw_fault){LW_FAULT_JAMS, first_friction + whose, gain};
}

static lw_fault solve_few(const view *v, few_frictions *x) {
  int32_t whose = 0;
  const double bound2 = x->blocks == 1 ? bound_of_gain2(x, 1) : bound_of_gain2(x, 2);
  if (!isfinite(bound2)) return (lw_fault){LW_FAULT_NOT_FINITE, friction_at(v, x->number[0])->joint, 0.0};
  size_at_first(x);
  if (bound2 < SMALL_GAIN * SMALL_GAIN && converge_by_chord(x)) return no_fault;
  const double gain = largest_gain(x, &whose);
  lw_fault fault = no_fault;
  clear_loads(x);
  if (!(gain < 1.0)) fault = search_solutions(x, whose, FIRST_OF(FRICTION), gain);
  else if (!converge(x)) fault = (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION) + whose, gain};
  press(x);
  return fault;
}

/* Accelerations of the loads that have been found. */
static void add_responses(const view *v, const few_frictions *x) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
#if LW_ARITHMETIC != LW_COMPLEX
  const four *load = (const four *)x->load;
  if (x->directions) {
    real y[FEW_DIRECTIONS] = {0.0};
    for (int32_t j = 0; j < x->directions; j++)
      for (int32_t b = 0; b < x->blocks; b++) y[j] += sum4(x->y[b][j] * load[b]);
    accelerate_along_directions(v, y);
    return;
  }
  if (x->blocks == 1) {
    for (int32_t u = 0; u < speeds; u++) v->acceleration[u] += sum4(*acceleration_change_of_four(v, u) * *load);
    return;
  }
#endif
  memset(CHANGE(v, load), 0, sizeof(real) * (size_t)speeds);
  memset(CHANGE(v, acceleration), 0, sizeof(real) * (size_t)speeds);
  EACH_ACTIVE(x, j) CHANGE(v, load)[speed_of_friction(v, x->number[j])] += x->load[j];
  respond_one(v);
  for (int32_t u = 0; u < speeds; u++) v->acceleration[u] += *acceleration_change_of_one(v, u);
}

static void fill_blocks(few_frictions *x, int32_t count) {
  x->blocks = (count + 3) / 4;
  clear_loads(x);
  for (int32_t k = x->n; k < 4 * x->blocks; k++)
    x->slope[k] = x->at_first[0][k] = x->at_first[1][k] = x->at_first[2][k] = 0.0;
}

/* The forces at first, and R where one slides. */
static void find_few(const view *v, few_frictions *x, int active) {
#if LW_ARITHMETIC != LW_COMPLEX
  if (active && (x->directions = directions_of_small_cluster(v)) && order_columns(v, x)) {
    fill_blocks(x, v->m->cluster[v->m->segment->cluster].columns);
    find_responses_by_columns(v, x);
    return;
  }
  x->directions = 0;
#endif
  fill_blocks(x, x->n);
  measure_at_first(v, x);
  if (active) find_responses(v, x);
}

static lw_fault add_few(const view *v) {
  few_frictions x;
  int active = 0;
  x.n = 0;
  EACH_PRESSED(v, k) {
    x.number[x.n] = k;
    active |= !is_zero(x.slope[x.n] = FIELD(v, friction_slope)[k]);
    find_surfaces(v, k, &x.surface[x.n++]);
  }
  find_few(v, &x, active);
  if (active) {
    const lw_fault fault = solve_few(v, &x);
    if (fault.kind) return fault;
    add_responses(v, &x);
  } else size_at_first(&x);
  for (int32_t k = 0; k < x.n; k++) {
    FIELD(v, friction_pressing)[x.number[k]] = x.size[k];
    press_friction(v, x.number[k]);
  }
  return no_fault;
}
#endif
