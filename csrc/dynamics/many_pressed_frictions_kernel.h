/* Any number of frictions by pressing forces: their loads follow one another until they stay, which contracts by about
 * mu r / length each time; where that is slow Newton's linear equations are solved by GMRES (Saad and Schultz 1986), of
 * which each step asks for one response: the work is linear in their number, and so is the storage. There rows of |R b|
 * (dynamics/pressed_friction_kernel.h) are found too, one response for each load, and other solutions are sought
 * where they reach one. */
#ifndef LW_MANY_PRESSED_FRICTIONS_KERNEL_H
#define LW_MANY_PRESSED_FRICTIONS_KERNEL_H
#include "dynamics/load_response_kernel.h"
#include "dynamics/pressing_forces_kernel.h"
#include "math/tolerances.h"

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
#if LW_ARITHMETIC != LW_COMPLEX
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

static lw_fault add_many(const view *v) {
  find_joint_forces(v);
  memset(CHANGE(v, acceleration), 0, sizeof(real) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  EACH_PRESSED(v, k) {
    surfaces s;
    find_surfaces(v, k, &s);
    measure_pressing(v, &s, FIELD(v, friction_force)[k], FIELD(v, pressing_at_first) + 3 * k);
  }
  const lw_fault fault = solve_many(v);
  if (fault.kind) return fault;
  for (int32_t u = 0; u < v->m->size.nu + v->m->size.nu_cut; u++)
    v->acceleration[u] += *acceleration_change_of_one(v, u);
  EACH_PRESSED(v, k) press_friction(v, k);
  return no_fault;
}
#endif
