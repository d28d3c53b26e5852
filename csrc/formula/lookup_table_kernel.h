/* Lookup tables of formulas, in the arithmetic of the block. Between two rows f0, f1 of one argument, with t from 0 to 1
 * and h their distance,
 *   linear    (1 - t) f0 + t f1
 *   monotone  (1 + 2 t)(1 - t)^2 f0 + t^2 (3 - 2 t) f1 + h t (1 - t)^2 s0 - h t^2 (1 - t) s1
 * with slopes s of Fritsch, F. N., Butland, J.: A method for constructing local monotone piecewise cubic interpolants,
 * SIAM J. Sci. Stat. Comput. 5 (1984) 300-304. Of two arguments both are products, with slopes along each and mixed ones.
 * Outside the end rows count, and their slopes where the table extends. A periodic argument has no last row: it is the
 * first one. Values are tunable, so that slopes are constants of the block; rows are found by bisection. */
#ifndef LW_FORMULA_LOOKUP_TABLE_KERNEL_H
#define LW_FORMULA_LOOKUP_TABLE_KERNEL_H
#include "formula/kink_kernel.h"
#include "formula/program.h"
#include "math/scalar.h"
#include <math.h>

/* ---- slopes ---- */

INLINE int rise_alike(real m0, real m1) { return (re(m0) > 0.0 && re(m1) > 0.0) || (re(m0) < 0.0 && re(m1) < 0.0); }

/* Where rows turn the slope is zero; else a harmonic mean of the secants on both sides. */
static real slope_between(double h0, double h1, real m0, real m1) {
  const double w0 = 2.0 * h1 + h0, w1 = h1 + 2.0 * h0;
  return rise_alike(m0, m1) ? quotient_of(w0 + w1, quotient_of(w0, m0) + quotient_of(w1, m1)) : 0.0;
}

/* At an end that of a parabola by the secants next to it, unless it would exceed a row. */
static real slope_at_end(double h0, double h1, real m0, real m1) {
  const real s = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1);
  if (!rise_alike(s, m0)) return 0.0;
  return !rise_alike(m0, m1) && fabs(re(s)) > 3.0 * fabs(re(m0)) ? 3.0 * m0 : s;
}

/* One line of a table: its rows, and where their values stand. */
typedef struct lookup_line {
  const model_number *knot;
  int32_t knots, periodic, stride;
  const real *value;
} lookup_line;

INLINE double width_of(const lookup_line *l, int32_t k) { return l->knot[k + 1] - l->knot[k]; }

static real secant_of(const lookup_line *l, int32_t k) {
  const int32_t next = l->periodic && k + 2 == l->knots ? 0 : k + 1;
  return (l->value[(int64_t)next * l->stride] - l->value[(int64_t)k * l->stride]) / width_of(l, k);
}

static real slope_in_line(const lookup_line *l, int32_t k) {
  const int32_t last = l->knots - 2; /* interval */
  if (l->periodic || (k > 0 && k <= last)) {
    const int32_t before = k ? k - 1 : last;
    return slope_between(width_of(l, before), width_of(l, k), secant_of(l, before), secant_of(l, k));
  }
  if (last == 0) return secant_of(l, 0);
  const int32_t end = k ? last : 0, next = k ? last - 1 : 1;
  return slope_at_end(width_of(l, end), width_of(l, next), secant_of(l, end), secant_of(l, next));
}

/* Along an argument the slopes of all values from `from` on go to `to`; `mean`: with what stands there. */
static void find_slopes(const lw_lookup *t, int axis, const real *from, real *to, int mean) {
  const int32_t stride = axis ? 1 : t->rows[1], lines = t->rows[!axis];
  for (int32_t i = 0; i < lines; i++) {
    const int32_t first = axis ? i * stride * t->rows[1] : i;
    const lookup_line line = {t->knot[axis], t->knots[axis], t->periodic[axis], stride, from + first};
    for (int32_t k = 0; k < t->rows[axis]; k++) {
      real *slope = to + first + (int64_t)k * stride;
      const real own = slope_in_line(&line, k);
      *slope = mean ? 0.5 * (*slope + own) : own;
    }
  }
}

/* Of a long table the knots at which the slope turns far more than elsewhere, by the distance to their neighbours, bound
 * regions, in which steps may pass several knots. Of each row the first one of its region. */
static void find_regions(const lw_lookup *t, real *x) {
  const lookup_line line = {t->knot[0], t->knots[0], t->periodic[0], 1, x + t->value};
  const int32_t last = t->knots[0] - 1;
  real *region = x + t->region;
  double turned = 0.0;
  for (int32_t k = 1; k < last; k++) turned += fabs(re(secant_of(&line, k) - secant_of(&line, k - 1)));
  turned /= line.knot[last] - line.knot[0];
  region[0] = 0.0;
  for (int32_t k = 1; k < last; k++) {
    const double turn = fabs(re(secant_of(&line, k) - secant_of(&line, k - 1)));
    const double share = 0.5 * turned * (line.knot[k + 1] - line.knot[k - 1]);
    region[k] = turn > STANDS_OUT * share ? k : region[k - 1];
  }
}

/* Along x; of two arguments also along y, and the mixed ones: the mean of both orders, so that x and y are alike. */
static void find_slopes_of_table(const lw_lookup *t, real *x) {
  const int32_t values = t->rows[0] * t->rows[1];
  real *along_x = x + t->slope, *along_y = along_x + values, *mixed = along_y + values;
  if (t->region) find_regions(t, x);
  if (t->interpolation == LW_LOOKUP_LINEAR) return;
  find_slopes(t, 0, x + t->value, along_x, 0);
  if (t->arguments == 1) return;
  find_slopes(t, 1, x + t->value, along_y, 0);
  find_slopes(t, 0, along_y, mixed, 0);
  find_slopes(t, 1, along_x, mixed, 1);
}

/* ---- values ---- */

/* Two rows, and the weights of their values and of their slopes; where the argument is between them, 0 to 1. */
typedef struct row_weights {
  int32_t row[2];
  real value[2], slope[2];
  real at;
  double width;
  int holds, extends; /* beyond the end rows */
} row_weights;

/* By rounding also of a periodic argument. */
static void stop_at(const lw_lookup *t, int axis, double end, real *at, real *beyond, row_weights *w) {
  w->extends = t->periodic[axis] || t->outside == LW_LOOKUP_EXTEND;
  w->holds = !w->extends;
  if (w->extends) *beyond = *at - end;
  *at = end;
}

/* The last row that the argument reaches but one before the end. */
INLINE int32_t row_before(const model_number *knot, int32_t knots, double at) {
  int32_t low = 0, high = knots - 1;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (at >= knot[middle]) low = middle;
    else high = middle;
  }
  return low;
}

/* Where an argument is among the knots: between row k and the next one in a period, or beyond an end of a table without
 * periods, where k is -1 or the last knot. */
typedef struct lookup_place {
  double turns, k;
} lookup_place;

static lookup_place place_in(const lw_lookup *t, int axis, double at) {
  const model_number *knot = t->knot[axis], low = knot[0], high = knot[t->knots[axis] - 1];
  const double turns = t->periodic[axis] ? floor((at - low) / (high - low)) : 0.0;
  at -= (high - low) * turns;
  if (!t->periodic[axis] && !(at >= low && at <= high))
    return (lookup_place){0.0, at < low ? -1.0 : t->knots[axis] - 1.0};
  return (lookup_place){turns, row_before(knot, t->knots[axis], at)};
}

/* The rows of a region, from the first one to before the other. */
typedef struct lookup_rows {
  int32_t first, end;
} lookup_rows;

static lookup_rows region_of(const lw_lookup *t, const real *x, int32_t row) {
  const int32_t rows = t->knots[0] - 1;
  if (!t->region) return (lookup_rows){row, row + 1};
  const real *region = x + t->region;
  const int32_t first = (int32_t)re(region[row]);
  int32_t low = row, high = rows; /* the next region begins above the one and at the other at most */
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (re(region[middle]) > first) high = middle;
    else low = middle;
  }
  return (lookup_rows){first, high};
}

/* The place of a kink that is held, as one whole number. */
static lookup_place place_held(const lw_lookup *t, const real *x, int axis, real at, real *kink) {
  const model_number *knot = t->knot[axis], rows = t->knots[axis] - 1.0, period = knot[t->knots[axis] - 1] - knot[0];
  if (re(kink[LW_KINK_BRANCH]) != LW_KINK_POSITIVE) {
    const lookup_place here = place_in(t, axis, re(at));
    kink[LW_KINK_BRANCH] = LW_KINK_POSITIVE;
    kink[LW_KINK_HELD] = here.turns * rows + here.k;
  }
  const double held = re(kink[LW_KINK_HELD]), turns = t->periodic[axis] ? floor(held / rows) : 0.0;
  const double row = held - turns * rows;
  const lookup_place place = {turns, !(row >= 0.0) ? -1.0 : row < rows ? floor(row) : rows};
  const real in_period = at - period * turns;
  if (place.k < 0.0) set_indicator(kink, knot[0] - in_period, fabs(knot[0]));
  else if (place.k == rows) set_indicator(kink, in_period - knot[t->knots[axis] - 1], fabs(knot[t->knots[axis] - 1]));
  else {
    const lookup_rows rows_held = region_of(t, x, (int32_t)place.k);
    const real below = in_period - knot[rows_held.first], above = knot[rows_held.end] - in_period;
    set_indicator(kink, re(below) < re(above) ? below : above, fabs(re(in_period)));
  }
  return place;
}

/* Whether the place counts that a kink holds. */
INLINE int holds_place(const real *kink, real at) { return kink && !is_free(kink) && isfinite(re(at)); }

/* The row of a region in which an argument is, or the one next to it. */
static int32_t row_in_region(const lw_lookup *t, const real *x, int32_t row, double at) {
  const lookup_rows held = region_of(t, x, row);
  return held.first + row_before(t->knot[0] + held.first, held.end - held.first + 1, at);
}

static void weigh_rows(const lw_lookup *t, const real *x, int axis, real at, row_weights *w, real *kink) {
  const model_number *knot = t->knot[axis];
  const int32_t knots = t->knots[axis];
  const double low = knot[0], high = knot[knots - 1];
  real beyond = 0.0;
  int32_t k;
  w->holds = w->extends = 0;
  if (holds_place(kink, at)) {
    const lookup_place held = place_held(t, x, axis, at, kink);
    at -= (high - low) * held.turns;
    if (held.k < 0.0) stop_at(t, axis, low, &at, &beyond, w);
    if (held.k == knots - 1.0) stop_at(t, axis, high, &at, &beyond, w);
    k = held.k < 0.0 ? 0 : held.k == knots - 1.0 ? knots - 2 : (int32_t)held.k;
    if (t->region) k = row_in_region(t, x, k, re(at));
  } else {
    if (t->periodic[axis]) at -= (high - low) * floor((re(at) - low) / (high - low));
    if (re(at) < low) stop_at(t, axis, low, &at, &beyond, w);
    if (re(at) > high) stop_at(t, axis, high, &at, &beyond, w);
    k = row_before(knot, knots, re(at));
  }
  const double h = knot[k + 1] - knot[k];
  const real s = (at - knot[k]) / h, r = 1.0 - s;
  w->at = s, w->width = h;
  w->row[0] = k, w->row[1] = t->periodic[axis] && k + 2 == knots ? 0 : k + 1;
  if (t->interpolation == LW_LOOKUP_LINEAR) {
    w->value[0] = r - beyond / h, w->value[1] = s + beyond / h;
    w->slope[0] = w->slope[1] = 0.0;
    return;
  }
  w->value[0] = (1.0 + 2.0 * s) * r * r, w->value[1] = s * s * (3.0 - 2.0 * s);
  w->slope[0] = h * s * r * r, w->slope[1] = -h * s * s * r;
  w->slope[re(s) > 0.5] += beyond;
}

/* The first or second derivative of the weights by the argument. */
static row_weights derivative_of_weights(const lw_lookup *t, const row_weights *w, int order) {
  const real s = w->at, r = 1.0 - s;
  const double h = w->width;
  row_weights d = *w;
  real rise = 0.0; /* of the weight of the second value */
  d.slope[0] = d.slope[1] = 0.0;
  if (w->holds || (w->extends && order == 2)) rise = 0.0;
  else if (t->interpolation == LW_LOOKUP_LINEAR) rise = order == 1 ? 1.0 / h : 0.0;
  else if (order == 1) {
    rise = 6.0 * s * r / h;
    d.slope[0] = r * (1.0 - 3.0 * s), d.slope[1] = -s * (2.0 - 3.0 * s);
  } else {
    rise = (6.0 - 12.0 * s) / (h * h);
    d.slope[0] = (6.0 * s - 4.0) / h, d.slope[1] = (6.0 * s - 2.0) / h;
  }
  d.value[0] = -rise, d.value[1] = rise;
  return d;
}

static int is_outside(const lw_lookup *t, int axis, double at) {
  return !t->periodic[axis] && !(at >= t->knot[axis][0] && at <= t->knot[axis][t->knots[axis] - 1]);
}

/* A step that ends at the last row may look beyond it. */
static int is_held_within(const lw_lookup *t, int axis, real at, const real *kink) {
  const real *own = kink + axis * LW_KINK_NUMBERS;
  if (!kink || !isfinite(re(at)) || is_free(own) || re(own[LW_KINK_BRANCH]) != LW_KINK_POSITIVE) return 0;
  return re(own[LW_KINK_HELD]) >= 0.0 && re(own[LW_KINK_HELD]) < t->knots[axis] - 1.0;
}

/* The first argument that the table refuses, counted from 1, with its value; 0: none. */
static int refused_argument(const lw_lookup *t, real *x, const real *at, const real *kink) {
  if (t->outside != LW_LOOKUP_ERROR) return 0;
  for (int axis = 0; axis < t->arguments; axis++)
    if (is_outside(t, axis, re(at[axis])) && !is_held_within(t, axis, at[axis], kink)) {
      x[t->refused] = axis + 1.0, x[t->refused + 1] = re(at[axis]);
      return 1;
    }
  return 0;
}

static real value_of_one(const lw_lookup *t, const real *x, const row_weights *w) {
  const real *f = x + t->value, *s = x + t->slope;
  const real linear = w->value[0] * f[w->row[0]] + w->value[1] * f[w->row[1]];
  if (t->interpolation == LW_LOOKUP_LINEAR) return linear;
  return linear + (w->slope[0] * s[w->row[0]] + w->slope[1] * s[w->row[1]]);
}

static real value_of_two(const lw_lookup *t, const real *x, const row_weights w[2]) {
  const int32_t values = t->rows[0] * t->rows[1];
  const real *f = x + t->value, *along_x = x + t->slope, *along_y = along_x + values, *mixed = along_y + values;
  real sum = 0.0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const int32_t k = w[0].row[i] * t->rows[1] + w[1].row[j];
      sum += w[0].value[i] * w[1].value[j] * f[k];
      if (t->interpolation == LW_LOOKUP_LINEAR) continue;
      sum += w[0].slope[i] * w[1].value[j] * along_x[k] + w[0].value[i] * w[1].slope[j] * along_y[k] +
             w[0].slope[i] * w[1].slope[j] * mixed[k];
    }
  return sum;
}

static real weighted(const lw_lookup *t, const real *x, const row_weights w[2]) {
  return t->arguments == 1 ? value_of_one(t, x, w) : value_of_two(t, x, w);
}

/* No number where the table ends and refuses what lies outside: the report names it by what is left in the block. The kinks
 * of both arguments stand one after the other; NULL: nothing holds the rows. */
static real look_up(const lw_lookup *t, real *x, real first, real second, real *kink) {
  const real at[2] = {first, second};
  row_weights w[2];
  if (refused_argument(t, x, at, kink)) return NAN;
  for (int axis = 0; axis < t->arguments; axis++)
    weigh_rows(t, x, axis, at[axis], &w[axis], kink ? kink + axis * LW_KINK_NUMBERS : NULL);
  return weighted(t, x, w);
}

/* The derivatives of a value, of the first order by each argument, of the second by xx, xy and yy; of the rows at the
 * argument, as look_up() takes them; no numbers where it refused this argument. */
static void differentiate_table(const lw_lookup *t, const real *x, const real at[2], real first[2], real second[3]) {
  row_weights w[2], d[2], dd[2];
  first[0] = first[1] = second[0] = second[1] = second[2] = NAN;
  if (re(x[t->refused]) != 0.0) return;
  for (int axis = 0; axis < t->arguments; axis++) {
    weigh_rows(t, x, axis, at[axis], &w[axis], NULL);
    d[axis] = derivative_of_weights(t, &w[axis], 1), dd[axis] = derivative_of_weights(t, &w[axis], 2);
  }
  const row_weights by_x[2] = {d[0], w[1]}, by_xx[2] = {dd[0], w[1]}, by_y[2] = {w[0], d[1]};
  const row_weights by_xy[2] = {d[0], d[1]}, by_yy[2] = {w[0], dd[1]};
  first[0] = weighted(t, x, by_x);
  second[0] = weighted(t, x, by_xx);
  first[1] = second[1] = second[2] = 0.0;
  if (t->arguments == 1) return;
  first[1] = weighted(t, x, by_y);
  second[1] = weighted(t, x, by_xy);
  second[2] = weighted(t, x, by_yy);
}

/* What earlier evaluations left. */
INLINE void forget_refusals(const lw_program *p, real *x) {
  for (const lw_lookup *t = p->table; t < p->table + p->tables; t++) x[t->refused] = 0.0;
}
#endif
