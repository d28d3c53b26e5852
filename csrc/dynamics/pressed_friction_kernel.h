/* Frictions by the pressing forces of their joints: loads f_k = a_k + b_k N_k (forces/friction_kernel.h), where N_k, the
 * part of the joint's reaction that presses its surfaces together, is affine in all of them within its norm,
 *   f_k = b_k |n_k + sum R_kj f_j|.
 * N is the radial force of a bearing, and the transverse force of a slide. That of a screw of mean radius r and pitch h
 * is the normal force of its thread over the cosine of the lead angle, |F (1 + h^2 / r^2) - t h / r^2| with the axial
 * force F and the load t of its friction.
 *
 * Accelerations without these loads are known, and of changed loads dynamics/load_response_kernel.h gives the responses.
 * Few frictions are found by Newton's method with R; of many the loads follow one another until they stay, which
 * contracts by about mu r / length each time, and R is found where that is slow. Where rows of |R b| reach one there may
 * be no solution, or two (Painleve 1895; Leine, Brogliato and Nijmeijer: European Journal of Mechanics A 21 (2002)
 * 869-887): both are faults. Nothing depends on an earlier solution. */
#ifndef LW_PRESSED_FRICTION_KERNEL_H
#define LW_PRESSED_FRICTION_KERNEL_H
#include "dynamics/load_response_kernel.h"
#include "math/tolerances.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/forces_on_speeds_kernel.h"

#define FEW_FRICTIONS 8 /* R at once */
#define MOST_IN_TURN 12 /* times that loads follow one another */
#define MOST_NEWTON_STEPS 40
#define MOST_REPEATED 60 /* whole evaluations, near singular poses */

static const lw_force *friction_at(const view *v, int32_t k) { return v->m->force + FIRST_OF(FRICTION) + k; }
static int32_t speed_of_friction(const view *v, int32_t k) { return v->m->gear[friction_at(v, k)->first].u; }
static int is_pressed(const view *v, int32_t k) { return friction_at(v, k)->given >> LW_PRESSED_FRICTION & 1; }

INLINE real *slope_of_friction(const view *v, int32_t k) { return FIELD(v, friction_found) + 3 * k; }
INLINE real *pressed_load(const view *v, int32_t k) { return FIELD(v, friction_found) + 3 * k + 1; }
INLINE real *load_tried(const view *v, int32_t k) { return FIELD(v, friction_found) + 3 * k + 2; }
INLINE real *pressing_by(const view *v, int32_t k, int32_t j) {
  return FIELD(v, pressing_by_load) + 3 * (v->m->pressed * k + j);
}

/* A joint that is open has none. */
static int has_surfaces(const view *v, int32_t k) {
  const lw_joint *joint = &v->m->joint[friction_at(v, k)->joint];
  return joint->loop < 0 || v->m->loop[joint->loop].cluster >= 0;
}

#define EACH_PRESSED(v, k)                      \
  for (int32_t k = 0; k < (v)->m->pressed; k++) \
    if (is_pressed(v, k) && has_surfaces(v, k))
#define EACH_ACTIVE(v, k) EACH_PRESSED(v, k) if (!is_zero(*slope_of_friction(v, k)))

/* The load of a friction that holds its speed; a friction that slides holds none. */
static real holding_part(const view *v, int32_t k) {
  const int32_t lock = v->m->lock_of[speed_of_friction(v, k)];
  const int sticks = re(FIELD(v, friction_state)[k]) == LW_FRICTION_STICKS;
  return sticks && lock >= 0 && !(friction_at(v, k)->given >> LW_SMOOTH_FRICTION & 1) ? FIELD(v, coupling_load)[lock]
                                                                                      : 0.0;
}

/* The pressing force as a vector, of the wrenches that are known. `load`: of the friction. */
static void measure_pressing(const view *v, int32_t k, real load, real out[3]) {
  const lw_joint *joint = &v->m->joint[friction_at(v, k)->joint];
  const int32_t c = speed_of_friction(v, k) - joint->u;
  const real *F = joint->loop >= 0 ? FIELD(v, reaction_force) + 3 * friction_at(v, k)->joint : v->wrench[joint->link].l;
  twist P;
  if (joint->loop >= 0) column_of_cut_joint(v, joint->loop, c, &P);
  else column_of_link(v, joint->link, c, &P);
  const real *e = lw_joint_sizes[joint->type].translations >> c & 1 ? P.l : P.a;
  const real along = dot(F, e);
  if (joint->type == LW_SCREW) {
    const real h = dot(P.l, e), r2 = FIELD(v, friction_radius)[k] * FIELD(v, friction_radius)[k];
    out[0] = along * (1.0 + h * h / r2) - (load + holding_part(v, k)) * h / r2, out[1] = out[2] = 0.0;
    return;
  }
  for (int i = 0; i < 3; i++) out[i] = F[i] - along * e[i];
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

/* n_k + sum R_kj f_j of the loads tried. */
static void pressing_of_loads(const view *v, int32_t k, real n[3]) {
  copy(3, FIELD(v, pressing_at_first) + 3 * k, n);
  EACH_ACTIVE(v, j) {
    const real *R = pressing_by(v, k, j), f = *load_tried(v, j);
    for (int i = 0; i < 3; i++) n[i] += R[i] * f;
  }
}

/* ---- responses ---- */

static void clear_changes(const view *d) {
  for (int32_t u = 0; u < d->m->size.nu + d->m->size.nu_cut; u++) d->load[u] = d->acceleration[u] = 0.0;
}

static void find_responses(const view *v) {
  const view d = view_of_changes(v);
  EACH_ACTIVE(v, j) {
    d.load[speed_of_friction(v, j)] = 1.0;
    respond_with_reactions(&d);
    EACH_PRESSED(v, k) measure_pressing(&d, k, k == j ? 1.0 : 0.0, pressing_by(v, k, j));
    d.load[speed_of_friction(v, j)] = 0.0;
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

/* f - b N, minus its step in the loads tried. Returns the largest step relative to the loads; negative: there is none. */
static double newton_step(const view *v) {
  real *A = FIELD(v, friction_newton);
  const int32_t stride = v->m->pressed + 1;
  int32_t n = 0, row = 0;
  double step = 0.0, most = 1e-300;
  EACH_ACTIVE(v, k) n++;
  EACH_ACTIVE(v, k) {
    const real b = *slope_of_friction(v, k);
    real pressing[3], direction[3];
    int32_t column = 0;
    pressing_of_loads(v, k, pressing);
    A[row * stride + n] = *load_tried(v, k) - b * size_of_pressing(pressing, direction);
    EACH_ACTIVE(v, j) {
      A[row * stride + column] = (k == j ? 1.0 : 0.0) - b * dot(direction, pressing_by(v, k, j));
      column++;
    }
    row++;
  }
  if (!solve_newton_rows(A, n, stride)) return -1.0;
  row = 0;
  EACH_ACTIVE(v, k) {
    const real by = A[row++ * stride + n], b = *slope_of_friction(v, k);
    *load_tried(v, k) -= by;
    step = larger(step, fabs(re(by) / re(b)));
    most = larger(most, fabs(re(*load_tried(v, k)) / re(b)));
  }
  return step / most;
}

/* From the loads tried on. A further step gives derivatives, which follow one after the values. */
static int converge(const view *v) {
  for (int32_t i = 0; i < MOST_NEWTON_STEPS; i++) {
    const double step = newton_step(v);
    if (!(step >= 0.0) || !isfinite(step)) return 0;
    if (step > SAME_LOADS) continue;
    return LW_ARITHMETIC == LW_DOUBLE || newton_step(v) >= 0.0;
  }
  return 0;
}

/* The largest row of |R b|, and whose it is: below one there is one solution. */
static double largest_gain(const view *v, int32_t *whose) {
  double most = 0.0;
  EACH_ACTIVE(v, k) {
    double sum = 0.0;
    EACH_ACTIVE(v, j) {
      const real *R = pressing_by(v, k, j);
      sum += fabs(re(*slope_of_friction(v, j))) * sqrt(re(dot(R, R)));
    }
    if (sum > most) most = sum, *whose = k;
  }
  return most;
}

/* Keeps the first solution, and finds whether the loads tried are another one. */
static int is_another(const view *v, int *solutions) {
  double most = 0.0, apart = 0.0;
  EACH_ACTIVE(v, k) {
    const double b = re(*slope_of_friction(v, k)), now = re(*load_tried(v, k)) / b;
    most = larger(most, fabs(now));
    apart = larger(apart, fabs(now - re(*pressed_load(v, k)) / b));
  }
  if ((*solutions)++ > 0) return apart > SAME_SOLUTION * most;
  EACH_ACTIVE(v, k) * pressed_load(v, k) = *load_tried(v, k);
  return 0;
}

/* Tries from no loads, and then from large ones of one friction after the other, either way. */
static lw_fault search_solutions(const view *v, int32_t whose, double gain) {
  int solutions = 0;
  double scale = 0.0;
  EACH_PRESSED(v, k) {
    real direction[3];
    scale = larger(scale, re(size_of_pressing(FIELD(v, pressing_at_first) + 3 * k, direction)));
  }
  EACH_ACTIVE(v, k) * load_tried(v, k) = 0.0;
  if (converge(v)) is_another(v, &solutions);
  EACH_ACTIVE(v, j) for (int way = -1; way <= 1; way += 2) {
    EACH_ACTIVE(v, k) * load_tried(v, k) = 0.0;
    *load_tried(v, j) = way * FAR_LOADS * scale * *slope_of_friction(v, j);
    if (converge(v) && is_another(v, &solutions))
      return (lw_fault){LW_FAULT_JAMS_OR_SLIDES, FIRST_OF(FRICTION) + whose, gain};
  }
  EACH_ACTIVE(v, k) * load_tried(v, k) = *pressed_load(v, k);
  return solutions ? no_fault : (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION) + whose, gain};
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
  c->change[1] = larger(c->change[1], size_of_derivative(by));
  c->most[1] = larger(c->most[1], size_of_derivative(now));
}

INLINE double relative_change(const changes *c) { return larger(c->change[0] / c->most[0], c->change[1] / c->most[1]); }

/* Loads and pressing forces in turn, by R: for small gains. */
static int converge_slowly(const view *v) {
  for (int32_t turn = 0; turn < MOST_IN_TURN; turn++) {
    changes all = no_changes;
    EACH_ACTIVE(v, k) {
      real n[3];
      pressing_of_loads(v, k, n);
      const real size2 = dot(n, n);
      const real now = re(size2) > 0.0 ? *slope_of_friction(v, k) * root(size2) : 0.0;
      add_change(&all, now - *load_tried(v, k), now);
      *load_tried(v, k) = now;
    }
    if (relative_change(&all) <= SAME_LOADS) return 1;
  }
  return 0;
}

static lw_fault solve_by_responses(const view *v) {
  int32_t whose = 0;
  find_responses(v);
  const double gain = largest_gain(v, &whose);
  if (!isfinite(gain)) return (lw_fault){LW_FAULT_NOT_FINITE, friction_at(v, whose)->joint, 0.0};
  EACH_ACTIVE(v, k) * load_tried(v, k) = 0.0;
  if (!(gain < 1.0)) {
    const lw_fault fault = search_solutions(v, whose, gain);
    if (fault.kind) return fault;
  } else if (!(gain < SMALL_GAIN && converge_slowly(v)) && !converge(v))
    return (lw_fault){LW_FAULT_JAMS, FIRST_OF(FRICTION) + whose, gain};
  EACH_PRESSED(v, k) {
    real n[3], direction[3];
    pressing_of_loads(v, k, n);
    FIELD(v, friction_pressing)[k] = size_of_pressing(n, direction);
  }
  return no_fault;
}

/* ---- in turn ---- */

/* The loads of the pressing forces so far, and the pressing forces of these. Returns by how much the latter changed,
 * relative to the largest; of derivatives the same. */
static double take_turn(const view *v, const view *d) {
  changes all = no_changes;
  EACH_ACTIVE(v, k) {
    *load_tried(v, k) = *slope_of_friction(v, k) * FIELD(v, friction_pressing)[k];
    d->load[speed_of_friction(v, k)] = 0.0;
  }
  EACH_ACTIVE(v, k) d->load[speed_of_friction(v, k)] += *load_tried(v, k);
  respond_with_reactions(d);
  EACH_PRESSED(v, k) {
    real n[3], direction[3];
    measure_pressing(d, k, *load_tried(v, k), n);
    for (int i = 0; i < 3; i++) n[i] += FIELD(v, pressing_at_first)[3 * k + i];
    const real now = size_of_pressing(n, direction);
    add_change(&all, now - FIELD(v, friction_pressing)[k], now);
    FIELD(v, friction_pressing)[k] = now;
  }
  return relative_change(&all);
}

/* Returns whether they stay. */
static int solve_in_turn(const view *v) {
  const view d = view_of_changes(v);
  double before = INFINITY;
  for (int32_t turn = 0; turn < MOST_IN_TURN; turn++) {
    const double change = take_turn(v, &d);
    if (change <= SAME_LOADS) return 1;
    if (!(change < 0.3 * before) && turn > 0) return change <= 10.0 * SAME_LOADS;
    before = change;
  }
  return 0;
}

/* ---- all of it ---- */

static void clear_pressing(const view *v) {
  for (int32_t k = 0; k < v->m->pressed; k++) FIELD(v, friction_pressing)[k] = 0.0;
}

/* Of the present wrenches. Returns by how much the largest of the pressing forces change, relative to it. */
static double measure_all_pressing(const view *v) {
  changes all = no_changes;
  EACH_PRESSED(v, k) {
    real n[3], direction[3];
    measure_pressing(v, k, FIELD(v, friction_force)[k], n);
    const real now = size_of_pressing(n, direction);
    add_change(&all, now - FIELD(v, friction_pressing)[k], now);
    FIELD(v, friction_pressing)[k] = now;
  }
  return relative_change(&all);
}

/* What it needs of the law, and n. */
static int32_t start_pressed(const view *v) {
  int32_t active = 0;
  find_wrenches(v);
  EACH_PRESSED(v, k) {
    real direction[3];
    *slope_of_friction(v, k) = load_by_pressing(v, k);
    active += !is_zero(*slope_of_friction(v, k));
    real *n = FIELD(v, pressing_at_first) + 3 * k;
    measure_pressing(v, k, FIELD(v, friction_force)[k], n);
    FIELD(v, friction_pressing)[k] = size_of_pressing(n, direction);
  }
  return active;
}

/* Just after a reduction without pressed loads: adds them, and their accelerations. */
static lw_fault add_pressed_frictions(const view *v) {
  const view d = view_of_changes(v);
  clear_changes(&d);
  const int32_t active = start_pressed(v);
  if (active && (active <= FEW_FRICTIONS || !solve_in_turn(v))) {
    clear_changes(&d);
    const lw_fault fault = solve_by_responses(v);
    if (fault.kind) return fault;
  }
  if (active) {
    clear_changes(&d);
    EACH_ACTIVE(v, k)
    d.load[speed_of_friction(v, k)] += *slope_of_friction(v, k) * FIELD(v, friction_pressing)[k];
    respond(&d);
    for (int32_t u = 0; u < v->m->size.nu + v->m->size.nu_cut; u++) v->acceleration[u] += d.acceleration[u];
  }
  load_by_forces(v);
  return no_fault;
}
#endif
