/* Frictions by the pressing forces of their joints: loads f_k = a_k + b_k N_k (forces/friction_kernel.h), where N_k, the
 * part of the joint's reaction that presses its surfaces together, is affine in all of them within its norm,
 *   f_k = b_k |n_k + sum R_kj f_j|.
 * N is the radial force of a bearing, and the transverse force of a slide. That of a screw of mean radius r and pitch h
 * is the normal force of its thread over the cosine of the lead angle, |F (1 + h^2 / r^2) - t h / r^2| with the axial
 * force F and the load t of its friction.
 *
 * Accelerations without these loads are known, and of changed loads dynamics/load_response_kernel.h gives the responses.
 * Few frictions are found by the method of Newton with R, by a chord of it where R b is small. Where rows of |R b| reach
 * one there may be no solution, or two (Painleve 1895; Leine, Brogliato and Nijmeijer: European Journal of Mechanics A 21
 * (2002) 869-887): both are faults. Of many the loads follow one another until they stay, which contracts by about
 * mu r / length each time; where that is slow Newton's linear equations are solved by GMRES (Saad and Schultz 1986), of
 * which each step asks for one response: the work is linear in their number, and so is the storage. There rows of |R b|
 * are found too, one response for each load, and other solutions are sought where they reach one. Nothing depends on an
 * earlier solution. */
#ifndef LW_PRESSED_FRICTION_KERNEL_H
#define LW_PRESSED_FRICTION_KERNEL_H
#include "dynamics/load_response_kernel.h"
#include "math/tolerances.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/forces_on_speeds_kernel.h"

enum { FEW_FRICTIONS = 8 }; /* R at once */
#define MOST_IN_TURN 12     /* steps of the chord */
#define MOST_NEWTON_STEPS 40
#define MOST_REPEATED 60 /* whole evaluations, near singular poses */

static const lw_force *friction_at(const view *v, int32_t k) { return v->m->force + FIRST_OF(FRICTION) + k; }
static int32_t speed_of_friction(const view *v, int32_t k) { return v->m->gear[friction_at(v, k)->first].u; }
static int is_pressed(const view *v, int32_t k) { return friction_at(v, k)->given >> LW_PRESSED_FRICTION & 1; }

/* A joint that is open has none. */
static int has_surfaces(const view *v, int32_t k) {
  const lw_joint *joint = &v->m->joint[friction_at(v, k)->joint];
  return joint->loop < 0 || v->m->loop[joint->loop].cluster >= 0;
}

#define EACH_PRESSED(v, k)                      \
  for (int32_t k = 0; k < (v)->m->pressed; k++) \
    if (is_pressed(v, k) && has_surfaces(v, k))

/* The load of a friction that holds its speed; a friction that slides holds none. */
static int holds(const view *v, int32_t k) {
  return v->m->lock_of[speed_of_friction(v, k)] >= 0 && re(FIELD(v, friction_state)[k]) == LW_FRICTION_STICKS &&
         !(friction_at(v, k)->given >> LW_SMOOTH_FRICTION & 1);
}

/* ---- pressing forces ---- */

/* The direction along which the surfaces of a joint slide; of a screw also how much its load and its force along e count,
 * and the lock that holds it, or -1. */
typedef struct surfaces {
  const lw_joint *joint;
  int32_t is_thread, lock;
  real e[3], by_force, by_load;
} surfaces;

static void find_thread(const view *v, int32_t k, const twist *P, surfaces *s) {
  const real h = dot(P->l, s->e), r2 = FIELD(v, friction_radius)[k] * FIELD(v, friction_radius)[k];
  s->by_force = 1.0 + h * h / r2, s->by_load = h / r2;
  s->lock = holds(v, k) ? v->m->lock_of[speed_of_friction(v, k)] : -1;
}

INLINE void find_surfaces(const view *v, int32_t k, surfaces *s) {
  const lw_joint *joint = s->joint = &v->m->joint[friction_at(v, k)->joint];
  s->is_thread = joint->type == LW_SCREW;
  if (!has_stored_columns(joint->type)) {
    axis_of(joint->loop >= 0 ? phantom_of(v, joint->loop) : &v->motion[joint->link], s->e);
    return;
  }
  const int32_t u = speed_of_friction(v, k);
  copy(3, lw_joint_sizes[joint->type].translations >> (u - joint->u) & 1 ? v->column[u].l : v->column[u].a, s->e);
  if (s->is_thread) find_thread(v, k, &v->column[u], s);
}

/* The pressing force as a vector, of the forces of joints that have been found. `load`: of the friction. */
static void measure_pressing(const view *v, const surfaces *s, real load, real out[3]) {
  const real *F = force_change_of_one(v, s->joint), along = dot(F, s->e);
  for (int i = 0; i < 3; i++) out[i] = s->is_thread ? 0.0 : F[i] - along * s->e[i];
  if (!s->is_thread) return;
  const real held = s->lock < 0 ? 0.0 : *coupling_change_of_one(v, s->lock);
  out[0] = along * s->by_force - (load + held) * s->by_load;
}

/* |n|, with its direction; zero has none. */
static real size_of_pressing(const real n[3], real direction[3]) {
  const real size2 = dot(n, n);
  if (!(re(size2) > 0.0)) {
    for (int i = 0; i < 3; i++) direction[i] = 0.0;
    return 0.0;
  }
  const real size = root(size2);
  for (int i = 0; i < 3; i++) direction[i] = n[i] / size;
  return size;
}

INLINE double size_of_derivative(real x) {
#if LW_ARITHMETIC == LW_DOUBLE
  return fabs(x);
#else
  return fabs(__imag__ x);
#endif
}

/* How much numbers change, relative to the largest; of derivatives the same. */
typedef struct changes {
  double change[2], most[2];
} changes;
static const changes no_changes = {{0.0, 0.0}, {1e-300, 1e-300}};

INLINE void add_change(changes *c, real by, real now) {
  c->change[0] = larger(c->change[0], fabs(re(by))), c->most[0] = larger(c->most[0], fabs(re(now)));
  if (LW_ARITHMETIC == LW_DOUBLE) return;
  c->change[1] = larger(c->change[1], size_of_derivative(by));
  c->most[1] = larger(c->most[1], size_of_derivative(now));
}

INLINE double relative_change(const changes *c) { return larger(c->change[0] / c->most[0], c->change[1] / c->most[1]); }

/* ---- few frictions ---- */

/* Rows and columns are those of all pressed frictions; where one has no slope, as one that sticks, its column is zero. */
typedef struct few_frictions {
  int32_t n, blocks; /* of four */
  int32_t number[FEW_FRICTIONS];
  real slope[FEW_FRICTIONS], load[FEW_FRICTIONS], size[FEW_FRICTIONS];
  real at_first[3][FEW_FRICTIONS], now[3][FEW_FRICTIONS];
  real R[FEW_FRICTIONS][3][FEW_FRICTIONS]; /* of a load, by components */
  surfaces surfaces[FEW_FRICTIONS];
#if LW_ARITHMETIC == LW_DOUBLE
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
  real *load = FIELD(v, load_change);
  memset(load, 0, (size_t)count * sizeof(real) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  for (int32_t j = first; j < x->n && j < first + count; j++)
    if (!is_zero(x->slope[j])) load[count * speed_of_friction(v, x->number[j]) + j - first] = 1.0;
}

static void measure_at_first(const view *v, const friction_numbers *numbers, few_frictions *x) {
  find_joint_forces(v);
  for (int32_t k = 0; k < x->n; k++) {
    real n[3];
    measure_pressing(v, &x->surfaces[k], numbers->friction_force[x->number[k]], n);
    for (int i = 0; i < 3; i++) x->at_first[i][k] = n[i];
  }
}

#if LW_ARITHMETIC == LW_DOUBLE
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
  memset(FIELD(v, acceleration_change), 0, sizeof(four) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  for (int32_t b = 0; b < x->blocks; b++) {
    set_unit_loads(v, x, 4 * b, 4);
    respond_with_forces_four(v);
    for (int32_t k = 0; k < x->n; k++) {
      const int32_t own = k - 4 * b;
      four n[3];
      measure_four(v, &x->surfaces[k], (four){own == 0, own == 1, own == 2, own == 3}, n);
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
INLINE void press_by_columns(const view *v, const friction_numbers *numbers, few_frictions *x, int32_t blocks,
                             int32_t directions) {
  const int32_t columns = v->m->cluster[v->m->segment->cluster].columns;
  rows_of_R rows[FEW_FRICTIONS];
  four unbalanced[FEW_COLUMNS];
  for (int32_t b = 0; b < blocks; b++) {
    load_columns_at_rest(v, x->column + 4 * b, columns - 4 * b < 4 ? columns - 4 * b : 4, x->y[b]);
    for (int32_t k = 0; k < x->n; k++) {
      four n[3];
      measure_four(v, &x->surfaces[k], zero4(), n);
      for (int i = 0; i < 3; i++) ((four *)rows[k][i])[b] = n[i];
    }
  }
  find_needs_of_motions(v, x->column, unbalanced);
  for (int32_t l = columns; l < 4 * blocks; l++) unbalanced[l] = zero4();
  for (int32_t k = 0; k < x->n; k++) {
    four n[3];
    measure_four(v, &x->surfaces[k], (four){numbers->friction_force[x->number[k]]}, n);
    for (int i = 0; i < 3; i++) {
      four *row = (four *)rows[k][i], sum = n[i];
      for (int32_t l = 0; l < 4 * blocks; l++) sum += rows[k][i][l] * unbalanced[l];
      x->at_first[i][k] = sum[0];
      for (int32_t b = 0; b < blocks; b++)
        for (int32_t j = 0; j < directions; j++) row[b] += sum[1 + j] * x->y[b][j];
    }
    if (x->surfaces[k].is_thread) rows[k][0][k] -= x->surfaces[k].by_load;
  }
  store_columns(x, blocks, rows);
}

static void find_responses_by_columns(const view *v, const friction_numbers *numbers, few_frictions *x) {
  if (x->blocks == 1 && x->directions == 1) press_by_columns(v, numbers, x, 1, 1);
  else press_by_columns(v, numbers, x, x->blocks, x->directions);
}
#else
static void find_responses(const view *v, few_frictions *x) {
  memset(x->R, 0, sizeof x->R);
  memset(FIELD(v, acceleration_change), 0, sizeof(real) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  EACH_ACTIVE(x, j) {
    set_unit_loads(v, x, j, 1);
    respond_with_forces_one(v);
    for (int32_t k = 0; k < x->n; k++) {
      real n[3];
      measure_pressing(v, &x->surfaces[k], k == j ? 1.0 : 0.0, n);
      for (int i = 0; i < 3; i++) x->R[j][i][k] = n[i];
    }
  }
}
#endif

/* Square roots of numbers that are not negative; zero has no derivative. */
INLINE four root4(four a) {
#if LW_ARITHMETIC == LW_DOUBLE
  return (four){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
#else
  for (int i = 0; i < 4; i++) a.x[i] = re(a.x[i]) > 0.0 ? root(a.x[i]) : 0.0;
  return a;
#endif
}

/* The pressing forces of the loads. Here and below the number of blocks is a constant, so that compilers unroll. */
INLINE void press_blocks(few_frictions *x, int32_t blocks) {
  for (int32_t b = 0; b < blocks; b++) {
    four n[3], size2 = zero4();
    for (int i = 0; i < 3; i++) {
      n[i] = ((const four *)x->at_first[i])[b];
      for (int32_t j = 0; j < 4 * blocks; j++) n[i] = plus4(n[i], times4(x->load[j], ((const four *)x->R[j][i])[b]));
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
#if LW_ARITHMETIC == LW_DOUBLE
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
      for (int32_t j = k + 1; j <= n && !is_zero(by); j++) A[i * stride + j] -= by * A[k * stride + j];
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
    return LW_ARITHMETIC == LW_DOUBLE || newton_step(x) >= 0.0;
  }
  return 0;
}

/* Whether loads change no more, by what they missed before a step. */
INLINE int have_settled(const few_frictions *x, int32_t blocks, const real *rest) {
  const double tolerance = SAME_LOADS / (SMALL_GAIN * SMALL_GAIN * SMALL_GAIN);
#if LW_ARITHMETIC == LW_DOUBLE
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
  for (int32_t b = 0; b < blocks; b++) {
    out[b] = times4(a[0], ((const four *)H[0])[b]);
    for (int32_t j = 1; j < 4 * blocks; j++) out[b] = plus4(out[b], times4(a[j], ((const four *)H[j])[b]));
  }
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
static double bound_of_gain2(const few_frictions *x) {
  double most = 0.0;
  for (int32_t b = 0; b < x->blocks; b++) {
    four sum = zero4();
    EACH_ACTIVE(x, j) {
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
  for (int32_t k = 0; k < 4 * x->blocks; k++) x->load[k] = 0.0;
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
  const double bound2 = bound_of_gain2(x);
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
#if LW_ARITHMETIC == LW_DOUBLE
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
  memset(FIELD(v, load_change), 0, sizeof(real) * (size_t)speeds);
  memset(FIELD(v, acceleration_change), 0, sizeof(real) * (size_t)speeds);
  EACH_ACTIVE(x, j) FIELD(v, load_change)[speed_of_friction(v, x->number[j])] += x->load[j];
  respond_one(v);
  for (int32_t u = 0; u < speeds; u++) v->acceleration[u] += *acceleration_change_of_one(v, u);
}

/* ---- many frictions ---- */

enum { MOST_KRYLOV = LW_MOST_KRYLOV }; /* directions of GMRES before it starts again */
#define MOST_RESTARTS 12

INLINE const real *slope_of_friction(const view *v, int32_t k) { return FIELD(v, friction_slope) + k; }
INLINE real *load_tried(const view *v, int32_t k) { return FIELD(v, friction_found) + 5 * k; }
INLINE real *rest_of_law(const view *v, int32_t k) { return FIELD(v, friction_found) + 5 * k + 1; }
INLINE real *direction_of_pressing(const view *v, int32_t k) { return FIELD(v, friction_found) + 5 * k + 2; }

#define EACH_SLIDING(v, k) EACH_PRESSED(v, k) if (!is_zero(*slope_of_friction(v, k)))

static void clear_load_changes(const view *v) {
  for (int32_t u = 0; u < v->m->size.nu + v->m->size.nu_cut; u++) *load_change_of_one(v, u) = 0.0;
}

/* The pressing forces of the loads tried, and by how much these miss the law. Returns the latter relative to the loads;
 * of derivatives the same. */
static double press_many(const view *v) {
  changes all = no_changes;
  clear_load_changes(v);
  EACH_SLIDING(v, k) * load_change_of_one(v, speed_of_friction(v, k)) += *load_tried(v, k);
  respond_with_forces_one(v);
  EACH_PRESSED(v, k) {
    surfaces s;
    real n[3];
    find_surfaces(v, k, &s);
    measure_pressing(v, &s, *load_tried(v, k), n);
    for (int i = 0; i < 3; i++) n[i] += FIELD(v, pressing_at_first)[3 * k + i];
    FIELD(v, friction_pressing)[k] = size_of_pressing(n, direction_of_pressing(v, k));
    const real follows = *slope_of_friction(v, k) * FIELD(v, friction_pressing)[k];
    *rest_of_law(v, k) = follows - *load_tried(v, k);
    add_change(&all, *rest_of_law(v, k), follows);
  }
  return relative_change(&all);
}

/* out = (1 - G) in, of the values: G by their directions. */
static void times_newton(const view *v, const double *in, double *out) {
  clear_load_changes(v);
  EACH_SLIDING(v, k) * load_change_of_one(v, speed_of_friction(v, k)) += in[k];
  respond_with_forces_one(v);
  for (int32_t k = 0; k < v->m->pressed; k++) out[k] = in[k];
  EACH_SLIDING(v, k) {
    surfaces s;
    real n[3];
    find_surfaces(v, k, &s);
    measure_pressing(v, &s, in[k], n);
    out[k] -= re(*slope_of_friction(v, k)) * re(dot(direction_of_pressing(v, k), n));
  }
}

static double dot_of_doubles(int32_t n, const double *a, const double *b) {
  double s = 0.0;
  for (int32_t k = 0; k < n; k++) s += a[k] * b[k];
  return s;
}

/* One cycle of GMRES on x, from its residual in basis[0]: Arnoldi's vectors by modified Gram-Schmidt, and rotations that
 * keep the triangle of the least squares. Returns the residual's size. */
static double gmres_cycle(const view *v, double *basis, double size, double wanted, double *x) {
  double H[MOST_KRYLOV][MOST_KRYLOV + 1], c[MOST_KRYLOV], s[MOST_KRYLOV], g[MOST_KRYLOV + 1] = {size};
  const int32_t n = v->m->pressed;
  int32_t count = 0;
  for (int32_t k = 0; k < n; k++) basis[k] /= size;
  for (int32_t j = 0; j < MOST_KRYLOV && fabs(g[j]) > wanted; j++) {
    double *next = basis + (j + 1) * n, *h = H[j];
    times_newton(v, basis + j * n, next);
    for (int twice = 0; twice < 2; twice++)
      for (int32_t i = 0; i <= j; i++) {
        const double along = dot_of_doubles(n, basis + i * n, next);
        h[i] = twice ? h[i] + along : along;
        for (int32_t k = 0; k < n; k++) next[k] -= along * basis[i * n + k];
      }
    h[j + 1] = sqrt(dot_of_doubles(n, next, next));
    for (int32_t k = 0; k < n && h[j + 1] > 0.0; k++) next[k] /= h[j + 1];
    for (int32_t i = 0; i < j; i++) {
      const double first = c[i] * h[i] + s[i] * h[i + 1];
      h[i + 1] = c[i] * h[i + 1] - s[i] * h[i], h[i] = first;
    }
    const double r = sqrt(h[j] * h[j] + h[j + 1] * h[j + 1]);
    if (!(r > 0.0)) break;
    c[j] = h[j] / r, s[j] = h[j + 1] / r, h[j] = r;
    g[j + 1] = -s[j] * g[j], g[j] *= c[j];
    count = j + 1;
  }
  for (int32_t j = count - 1; j >= 0; j--) {
    double y = g[j];
    for (int32_t i = j + 1; i < count; i++) y -= H[i][j] * s[i];
    s[j] = y / H[j][j]; /* the rotations are no longer needed */
  }
  for (int32_t j = 0; j < count; j++)
    for (int32_t k = 0; k < n; k++) x[k] += s[j] * basis[j * n + k];
  return count ? fabs(g[count]) : size;
}

/* (1 - G) x = b; both are rows of `basis`, whose first ones serve the cycles. Returns 0 where it does not converge. */
static int solve_gmres(const view *v, double *basis, const double *b, double *x) {
  const int32_t n = v->m->pressed;
  const double wanted = KRYLOV_TOLERANCE * sqrt(dot_of_doubles(n, b, b));
  double before = INFINITY;
  for (int32_t k = 0; k < n; k++) x[k] = 0.0, basis[k] = b[k];
  for (int32_t cycle = 0; cycle < MOST_RESTARTS; cycle++) {
    const double size = sqrt(dot_of_doubles(n, basis, basis));
    if (!isfinite(size)) return 0;
    if (size <= 10.0 * wanted || size == 0.0) return 1;
    if (!(size < 0.9 * before)) return 0;
    before = size;
    gmres_cycle(v, basis, size, wanted, x);
    times_newton(v, x, basis);
    for (int32_t k = 0; k < n; k++) basis[k] = b[k] - basis[k];
  }
  return 0;
}

/* Replaces the residuals by Newton's step; of derivatives, which the same equations give, in the same way. */
static int find_newton_step(const view *v) {
  double *basis = (double *)FIELD(v, friction_krylov), *b = basis + (MOST_KRYLOV + 1) * v->m->pressed,
         *x = b + v->m->pressed;
  for (int32_t k = 0; k < v->m->pressed; k++) b[k] = 0.0;
  EACH_SLIDING(v, k) b[k] = re(*rest_of_law(v, k));
  if (!solve_gmres(v, basis, b, x)) return 0;
#if LW_ARITHMETIC == LW_DOUBLE
  EACH_SLIDING(v, k) * rest_of_law(v, k) = x[k];
#else
  double *derivative = x + v->m->pressed;
  for (int32_t k = 0; k < v->m->pressed; k++) b[k] = 0.0;
  EACH_SLIDING(v, k) b[k] = __imag__ * rest_of_law(v, k);
  if (!solve_gmres(v, basis, b, derivative)) return 0;
  EACH_SLIDING(v, k) * rest_of_law(v, k) = complex_of(x[k], derivative[k]);
#endif
  return 1;
}

static void add_rest(const view *v) { EACH_SLIDING(v, k) * load_tried(v, k) += *rest_of_law(v, k); }

/* Newton's method from the loads tried. Returns whether it converges. */
static int converge_many(const view *v) {
  double before = INFINITY;
  for (int32_t step = 0; step < MOST_NEWTON_STEPS; step++) {
    const double change = press_many(v);
    if (change <= SAME_LOADS || (change <= LAW_TOLERANCE && !(change < SLOW_TURNS * before))) return 1;
    if (!isfinite(change) || !find_newton_step(v)) return 0;
    add_rest(v);
    before = change;
  }
  return 0;
}

/* The largest row of |R b| of those that slide, and whose it is, by one response for each. */
static double gain_of_many(const view *v, int32_t *whose) {
  double *row = (double *)FIELD(v, friction_krylov), most = 0.0;
  for (int32_t k = 0; k < v->m->pressed; k++) row[k] = 0.0;
  EACH_SLIDING(v, j) {
    clear_load_changes(v);
    *load_change_of_one(v, speed_of_friction(v, j)) = 1.0;
    respond_with_forces_one(v);
    EACH_SLIDING(v, k) {
      surfaces s;
      real R[3];
      find_surfaces(v, k, &s);
      measure_pressing(v, &s, k == j ? 1.0 : 0.0, R);
      row[k] += fabs(re(*slope_of_friction(v, j))) * sqrt(re(dot(R, R)));
    }
  }
  EACH_SLIDING(v, k) if (row[k] > most) most = row[k], *whose = k;
  return most;
}

/* Behind the vectors of GMRES. */
static real *first_solution(const view *v) {
  return FIELD(v, friction_krylov) + (LW_KRYLOV_VECTORS - 1) * v->m->pressed;
}

/* As is_another(). */
static int is_another_of_many(const view *v, int *solutions) {
  double most = 0.0, apart = 0.0;
  real *first = first_solution(v);
  EACH_SLIDING(v, k) {
    const double b = re(*slope_of_friction(v, k)), now = re(*load_tried(v, k)) / b;
    most = larger(most, fabs(now));
    apart = larger(apart, fabs(now - re(first[k]) / b));
  }
  if ((*solutions)++ > 0) return apart > SAME_SOLUTION * most;
  EACH_SLIDING(v, k) first[k] = *load_tried(v, k);
  return 0;
}

/* As search_solutions(). */
static lw_fault search_solutions_of_many(const view *v, int32_t whose, double gain) {
  const int32_t force = FIRST_OF(FRICTION) + whose;
  int solutions = 0;
  double scale = 0.0;
  EACH_PRESSED(v, k) {
    real direction[3];
    scale = larger(scale, re(size_of_pressing(FIELD(v, pressing_at_first) + 3 * k, direction)));
    *load_tried(v, k) = 0.0;
  }
  if (converge_many(v)) is_another_of_many(v, &solutions);
  EACH_SLIDING(v, j) for (int way = -1; way <= 1; way += 2) {
    EACH_PRESSED(v, k) * load_tried(v, k) = 0.0;
    *load_tried(v, j) = way * FAR_LOADS * scale * *slope_of_friction(v, j);
    if (converge_many(v) && is_another_of_many(v, &solutions)) return (lw_fault){LW_FAULT_JAMS_OR_SLIDES, force, gain};
  }
  if (!solutions) return (lw_fault){LW_FAULT_JAMS, force, gain};
  EACH_SLIDING(v, k) * load_tried(v, k) = first_solution(v)[k];
  press_many(v);
  return no_fault;
}

/* Newton's method, where there is one solution; else it is sought whether there are others. */
static lw_fault solve_slow_turns(const view *v) {
  int32_t whose = 0;
  const double gain = gain_of_many(v, &whose);
  if (!(gain < 1.0)) return search_solutions_of_many(v, whose, gain);
  return converge_many(v) ? no_fault : (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION) + whose, gain};
}

static lw_fault solve_many(const view *v) {
  double before = INFINITY;
  EACH_PRESSED(v, k) * load_tried(v, k) = 0.0;
  for (int32_t turn = 0;; turn++) {
    const double change = press_many(v);
    if (change <= SAME_LOADS) return no_fault;
    if (!isfinite(change)) return (lw_fault){LW_FAULT_NOT_FINITE, friction_at(v, 0)->joint, 0.0};
    if (turn > 0 && !(change < SLOW_TURNS * before))
      return change <= 10.0 * SAME_LOADS ? no_fault : solve_slow_turns(v);
    add_rest(v);
    before = change;
  }
}

/* ---- all of it ---- */

static void clear_pressing(const view *v) {
  for (int32_t k = 0; k < v->m->pressed; k++) FIELD(v, friction_pressing)[k] = 0.0;
}

/* Of the present wrenches. Returns by how much the largest of the pressing forces change, relative to it. */
static double measure_all_pressing(const view *v) {
  changes all = no_changes;
  EACH_PRESSED(v, k) {
    surfaces s;
    real n[3], direction[3];
    find_surfaces(v, k, &s);
    measure_pressing(v, &s, FIELD(v, friction_force)[k], n);
    const real now = size_of_pressing(n, direction);
    add_change(&all, now - FIELD(v, friction_pressing)[k], now);
    FIELD(v, friction_pressing)[k] = now;
  }
  return relative_change(&all);
}

static void fill_blocks(few_frictions *x, int32_t count) {
  x->blocks = (count + 3) / 4;
  clear_loads(x);
  for (int32_t k = x->n; k < 4 * x->blocks; k++)
    x->slope[k] = x->at_first[0][k] = x->at_first[1][k] = x->at_first[2][k] = 0.0;
}

/* The forces at first, and R where one slides. */
static void find_few(const view *v, const friction_numbers *numbers, few_frictions *x, int active) {
#if LW_ARITHMETIC == LW_DOUBLE
  if (active && (x->directions = directions_of_small_cluster(v)) && order_columns(v, x)) {
    fill_blocks(x, v->m->cluster[v->m->segment->cluster].columns);
    find_responses_by_columns(v, numbers, x);
    return;
  }
  x->directions = 0;
#endif
  fill_blocks(x, x->n);
  measure_at_first(v, numbers, x);
  if (active) find_responses(v, x);
}

static lw_fault add_few(const view *v, const friction_numbers *numbers) {
  few_frictions x;
  int active = 0;
  x.n = 0;
  EACH_PRESSED(v, k) {
    x.number[x.n] = k;
    active |= !is_zero(x.slope[x.n] = numbers->friction_slope[k]);
    find_surfaces(v, k, &x.surfaces[x.n++]);
  }
  find_few(v, numbers, &x, active);
  if (active) {
    const lw_fault fault = solve_few(v, &x);
    if (fault.kind) return fault;
    add_responses(v, &x);
  } else size_at_first(&x);
  for (int32_t k = 0; k < x.n; k++) {
    numbers->friction_pressing[x.number[k]] = x.size[k];
    press_friction(v, numbers, x.number[k]);
  }
  return no_fault;
}

static lw_fault add_many(const view *v, const friction_numbers *numbers) {
  find_joint_forces(v);
  memset(FIELD(v, acceleration_change), 0, sizeof(real) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  EACH_PRESSED(v, k) {
    surfaces s;
    find_surfaces(v, k, &s);
    measure_pressing(v, &s, numbers->friction_force[k], FIELD(v, pressing_at_first) + 3 * k);
  }
  const lw_fault fault = solve_many(v);
  if (fault.kind) return fault;
  for (int32_t u = 0; u < v->m->size.nu + v->m->size.nu_cut; u++)
    v->acceleration[u] += *acceleration_change_of_one(v, u);
  EACH_PRESSED(v, k) press_friction(v, numbers, k);
  return no_fault;
}

/* Just after a reduction without pressed loads: adds them, and their accelerations. */
static lw_fault add_pressed_frictions(const view *v) {
  const friction_numbers numbers = NUMBERS_OF(FRICTION);
  int32_t pressed = v->m->pressed;
  if (pressed > FEW_FRICTIONS) {
    pressed = 0;
    EACH_PRESSED(v, k) pressed++;
  }
  return pressed <= FEW_FRICTIONS ? add_few(v, &numbers) : add_many(v, &numbers);
}
#endif
