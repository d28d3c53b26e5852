/* Curves of closed poses, in displacements z of the tree's speeds times weights: G(q) = 0 are the constraints Phi and some
 * coordinates that are held, A = dG/dz has one motion t less than full rank, A t = 0. A is sparse; of its rows as many as
 * the rank are kept, and the others, which repeat them, must close by themselves. K = A A', factored as a skyline, gives
 *   A+ b = A' K^-1 b (refined),   t = v - A+ A v,   |A+ (B - A)|, the smallest and largest singular value by iteration,
 * all linear in the number of loops where these share joints with their neighbours. Newton's method, the test of a step
 * and the thresholds are those of linkwork/analysis/continuation.py, which takes singular values where A is nearly
 * singular. */
#include "block/state.h"
#include "dae/constraints.h"
#include "math/skyline_kernel.h"
#include "math/tolerances.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CORRECTIONS 8
#define PASSES_OF_TANGENT 3
#define PASSES_OF_NORM 6
#define PASSES_OF_REGULARITY 6

/* A pose with its A, row by row without zeros, and K. */
typedef struct curve_pose {
  int is_factored;
  double *q, *tangent;
  double regularity;
  int32_t *start, *column, *row, *previous; /* of each row its first entry; of each entry, and the one above it */
  double *value;
  int64_t entries;
  skyline K;
  int64_t profile;
} curve_pose;

struct lw_curve {
  lw_state *state;
  lw_curve_options options;
  int32_t nq, nu, rows;                     /* rows: of constraints, then of held coordinates */
  double *weight, *share, *held, *held_gap; /* copies of what the options point to */
  int32_t *coordinate;
  double *J, *G;                        /* dense rows of the constraints; G of the present pose */
  double *y, *rest;                     /* by rows */
  double *x, *v, *moved, *weak, *found; /* by speeds; moved: by Newton's method so far */
  double *first_rate, *second_rate;     /* of z by the swept coordinate */
  double *pose;                         /* coordinates to begin at */
  int32_t *last, *lowest;               /* by columns */
  unsigned char *kept;                  /* by rows, where they are chosen */
  int is_chosen;
  curve_pose at[3]; /* ends of a step; any other pose */
};

enum { FIRST, LAST, OTHER };

/* ---- memory ---- */

static void free_pose(curve_pose *p) {
  free(p->q);
  free(p->start);
  free(p->column);
  free(p->value);
  free(p->K.first);
  free(p->K.value);
}

void lw_curve_free(lw_curve *c) {
  if (!c) return;
  for (int i = 0; i < 3; i++) free_pose(&c->at[i]);
  free(c->weight);
  free(c->coordinate);
  free(c->kept);
  free(c);
}

static int allocate_pose(const lw_curve *c, curve_pose *p) {
  const size_t rows = (size_t)c->rows, n = (size_t)c->nq + (size_t)c->nu + 1;
  p->q = calloc(n, sizeof *p->q);
  p->start = calloc(rows + 1, sizeof *p->start);
  p->K.first = calloc(2 * rows + 1, sizeof *p->K.first);
  if (!p->q || !p->start || !p->K.first) return 0;
  p->tangent = p->q + c->nq, p->K.rows = c->rows, p->K.at = p->K.first + rows;
  return 1;
}

static int allocate_curve(lw_curve *c) {
  const size_t nq = (size_t)c->nq, nu = (size_t)c->nu, rows = (size_t)c->rows, held = (size_t)c->options.held,
               own = rows - held, n = (8 + held) * nu + held + own + own * nu + 3 * rows + nq + 1;
  double *next = c->weight = calloc(n, sizeof *next);
  c->coordinate = calloc(3 * nu + 1, sizeof *c->coordinate);
  c->kept = calloc(rows + 1, sizeof *c->kept);
  if (!next || !c->coordinate || !c->kept) return 0;
  double **const by_speeds[] = {&c->weight, &c->x,     &c->v,          &c->moved,
                                &c->weak,   &c->found, &c->first_rate, &c->second_rate};
  for (size_t i = 0; i < sizeof by_speeds / sizeof *by_speeds; i++) *by_speeds[i] = next, next += nu;
  c->held = next, next += held * nu;
  c->held_gap = next, next += held;
  c->share = next, next += own;
  c->J = next, next += own * nu;
  c->G = next, c->y = c->G + rows, c->rest = c->y + rows, c->pose = c->rest + rows;
  c->last = c->coordinate + nu, c->lowest = c->last + nu;
  for (int i = 0; i < 3; i++)
    if (!allocate_pose(c, &c->at[i])) return 0;
  return 1;
}

lw_status lw_curve_create(lw_state *s, const lw_curve_options *options, lw_curve **curve) {
  if (!s || !options || !curve || options->held < 0) return LW_ERROR_USAGE;
  const lw_sizes *size = &s->model->size;
  const int32_t own = lw_constraint_rows(s->model);
  *curve = NULL;
  lw_curve *c = calloc(1, sizeof *c);
  if (!c) return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a curve of poses");
  *c = (lw_curve){.state = s, .options = *options, .nq = size->nq, .nu = size->nu, .rows = own + options->held};
  if (!allocate_curve(c)) {
    lw_curve_free(c);
    return lw_fail(s, LW_ERROR_MEMORY, "there is no memory for a curve of poses");
  }
  const size_t nu = (size_t)c->nu, held = (size_t)options->held;
  memcpy(c->weight, options->weight, sizeof(double) * nu);
  memcpy(c->coordinate, options->coordinate, sizeof(int32_t) * nu);
  if (own) memcpy(c->share, options->share, sizeof(double) * (size_t)own);
  if (held) memcpy(c->held, options->held_rows, sizeof(double) * held * nu);
  if (held) memcpy(c->held_gap, options->held_gap, sizeof(double) * held);
  *curve = c;
  return LW_OK;
}

/* ---- G and A ---- */

static double *q_of(const lw_curve *c) { return lw_reals(c->state) + c->state->model->at.q; }

static void enter_pose(const lw_curve *c, const double *q) {
  memcpy(q_of(c), q, sizeof *q * (size_t)c->nq);
  lw_state_changed(c->state, LW_STAGE_CONSTANTS);
}

/* to = from + z */
static void displace(const lw_curve *c, const double *from, const double *z, double *to) {
  const lw_state *s = c->state;
  enter_pose(c, from);
  for (int32_t i = 0; i < s->model->size.bodies; i++) {
    const lw_link *link = &s->model->link[i];
    double step[6] = {0.0};
    for (int32_t k = 0; k < link->speeds; k++) step[k] = z[link->u + k] / c->weight[link->u + k];
    s->kernels->integrate_position(s->model, s->block, i, step);
  }
  memcpy(to, q_of(c), sizeof *to * (size_t)c->nq);
}

/* The violation that the digits of coordinates leave. */
static double rounding_of(const lw_curve *c, const double *q) {
  double largest = 0.0;
  for (int32_t u = 0; u < c->nu; u++)
    if (c->coordinate[u] >= 0) largest = fmax(largest, fabs(c->weight[u] * q[c->coordinate[u]]));
  return DBL_EPSILON * largest;
}

/* Rows that are all but zero close in every pose but for the rounding of their frames: they hold nothing. */
static double least_entry(const lw_curve *c) {
  double largest = 0.0;
  const int32_t own = c->rows - c->options.held;
  for (int32_t r = 0; r < own; r++)
    for (int32_t u = 0; u < c->nu; u++) largest = fmax(largest, fabs(c->J[r * c->nu + u] * c->share[r] / c->weight[u]));
  return largest > c->options.least_row ? 0.0 : INFINITY;
}

static int fit_entries(curve_pose *p, int64_t entries) {
  if (entries <= p->entries) return 1;
  free(p->column);
  free(p->value);
  p->entries = 0;
  p->column = malloc(3 * sizeof *p->column * (size_t)entries);
  p->value = malloc(sizeof *p->value * (size_t)entries);
  if (!p->column || !p->value) return 0;
  p->entries = entries, p->row = p->column + entries, p->previous = p->row + entries;
  return 1;
}

/* One entry of A behind the others. */
static void put_entry(const lw_curve *c, curve_pose *p, int32_t row, int32_t column, double value, int32_t *count) {
  const int32_t e = (*count)++;
  p->column[e] = column, p->row[e] = row, p->value[e] = value;
  p->previous[e] = c->last[column], c->last[column] = e;
}

static lw_status fill_matrix(lw_curve *c, curve_pose *p) {
  const int32_t nu = c->nu, own = c->rows - c->options.held;
  int32_t count = 0;
  const lw_status e = lw_constraint_equations(c->state, c->G, c->J);
  if (e) return e;
  const double least = least_entry(c);
  int64_t entries = 1 + (int64_t)c->options.held * nu;
  for (int64_t i = 0; i < (int64_t)own * nu; i++) entries += c->J[i] != 0.0;
  if (!fit_entries(p, entries)) return LW_ERROR_MEMORY;
  for (int32_t u = 0; u < nu; u++) c->last[u] = -1;
  for (int32_t r = 0; r < own; r++) {
    p->start[r] = count;
    c->G[r] *= c->share[r];
    for (int32_t u = 0; u < nu; u++)
      if (fabs(c->J[r * nu + u]) > least) put_entry(c, p, r, u, c->J[r * nu + u] * c->share[r] / c->weight[u], &count);
  }
  for (int32_t k = 0; k < c->options.held; k++) {
    p->start[own + k] = count;
    c->G[own + k] = c->held_gap[k];
    for (int32_t u = 0; u < nu; u++) {
      const double a = c->held[k * nu + u];
      if (a == 0.0) continue;
      put_entry(c, p, own + k, u, a, &count);
      c->G[own + k] += a * c->weight[u] * p->q[c->coordinate[u]];
    }
  }
  p->start[c->rows] = count;
  return LW_OK;
}

/* b = A x */
static void multiply_by_rows(const lw_curve *c, const curve_pose *p, const double *x, double *b) {
  for (int32_t r = 0; r < c->rows; r++) {
    b[r] = 0.0;
    for (int32_t e = p->start[r]; e < p->start[r + 1]; e++) b[r] += p->value[e] * x[p->column[e]];
  }
}

/* x += factor A' y */
static void add_rows(const lw_curve *c, const curve_pose *p, double factor, const double *y, double *x) {
  for (int32_t r = 0; r < c->rows; r++)
    for (int32_t e = p->start[r]; e < p->start[r + 1]; e++) x[p->column[e]] += factor * y[r] * p->value[e];
}

static double norm_of(int32_t n, const double *x) { return sqrt(skyline_dot(n, x, x)); }

static double largest_of(int32_t n, const double *x) {
  double largest = 0.0;
  for (int32_t i = 0; i < n; i++) largest = fabs(x[i]) > largest || isnan(x[i]) ? fabs(x[i]) : largest;
  return largest;
}

/* ---- K ---- */

static int64_t shape_profile(const lw_curve *c, curve_pose *p) {
  int64_t size = 0;
  for (int32_t u = 0; u < c->nu; u++) c->lowest[u] = c->rows;
  for (int32_t r = 0; r < c->rows; r++) {
    int32_t first = r;
    for (int32_t e = p->start[r]; e < p->start[r + 1]; e++) {
      int32_t *lowest = &c->lowest[p->column[e]];
      if (*lowest > r) *lowest = r;
      if (*lowest < first) first = *lowest;
    }
    p->K.first[r] = first, p->K.at[r] = (int32_t)(size - first);
    size += r - first + 1;
    if (size > INT32_MAX) return size;
  }
  return size;
}

static int fit_profile(curve_pose *p, int64_t size) {
  if (size <= p->profile) return 1;
  free(p->K.value);
  p->profile = 0;
  p->K.value = size > INT32_MAX ? NULL : malloc(sizeof *p->K.value * (size_t)size);
  if (p->K.value) p->profile = size;
  return p->K.value != NULL;
}

/* K, with a ridge, or without rows that are not kept: these get a pivot so large that they count as nothing. */
static double factor(const lw_curve *c, curve_pose *p, double ridge, const unsigned char *kept) {
  skyline_clear(&p->K);
  for (int32_t e = 0; e < p->start[c->rows]; e++)
    for (int32_t other = e; other >= 0; other = p->previous[other])
      skyline_row(&p->K, p->row[e])[p->row[other]] += p->value[e] * p->value[other];
  const double largest = skyline_add_ridge(&p->K, 0.0, ridge);
  for (int32_t r = 0; kept && r < c->rows; r++)
    if (!kept[r]) skyline_row(&p->K, r)[r] = CURVE_LEFT_OUT;
  skyline_factor(&p->K);
  return largest;
}

static int has_regular_pivots(const lw_curve *c, const curve_pose *p, double largest) {
  for (int32_t r = 0; r < c->rows; r++)
    if (!(skyline_row(&p->K, r)[r] > CURVE_PIVOT * largest)) return 0;
  return 1;
}

/* Chooses the rows that are kept; returns their number. */
static int32_t choose_rows(lw_curve *c, curve_pose *p) {
  const double largest = factor(c, p, CURVE_RIDGE, NULL);
  int32_t rank = 0;
  for (int32_t r = 0; r < c->rows; r++) rank += c->kept[r] = skyline_row(&p->K, r)[r] > CURVE_PIVOT * largest;
  return rank;
}

/* Returns whether the rows have their rank, with pivots by which it is certain. */
static int factor_kept(lw_curve *c, curve_pose *p) {
  if (!fit_profile(p, shape_profile(c, p))) return 0;
  if (c->is_chosen && has_regular_pivots(c, p, factor(c, p, 0.0, c->kept))) return 1;
  c->is_chosen = choose_rows(c, p) == c->nu - 1;
  return c->is_chosen && has_regular_pivots(c, p, factor(c, p, 0.0, c->kept));
}

/* x = A+ b; the rest stays in b. */
static void solve_least(const lw_curve *c, const curve_pose *p, double *b, double *x, int passes) {
  for (int32_t u = 0; u < c->nu; u++) x[u] = 0.0;
  for (int i = 0; i < passes; i++) {
    memcpy(c->y, b, sizeof *b * (size_t)c->rows);
    skyline_solve(&p->K, c->y);
    for (int32_t u = 0; u < c->nu; u++) c->found[u] = 0.0;
    add_rows(c, p, 1.0, c->y, c->found);
    for (int32_t u = 0; u < c->nu; u++) x[u] += c->found[u];
    multiply_by_rows(c, p, c->found, c->y);
    for (int32_t r = 0; r < c->rows; r++) b[r] -= c->y[r];
  }
}

/* A direction that is the same on every machine, along none of the axes. */
static void fill_any(int32_t n, double *x) {
  for (int32_t i = 0; i < n; i++) x[i] = 0.5 + fmod(0.61803398874989485 * (i + 1), 1.0) * (i & 1 ? -1.0 : 1.0);
}

/* Returns the size that was left of it; 0: it is none. */
static double normalise(int32_t n, double *x) {
  const double size = norm_of(n, x);
  for (int32_t i = 0; size > 0.0 && i < n; i++) x[i] /= size;
  return size;
}

/* The tangent with a positive component along `hint`, or any where that is across it. */
static void find_tangent(const lw_curve *c, curve_pose *p, const double *hint) {
  double *t = p->tangent;
  memmove(t, hint, sizeof *t * (size_t)c->nu);
  for (int i = 0; i < PASSES_OF_TANGENT; i++) {
    multiply_by_rows(c, p, t, c->y);
    skyline_solve(&p->K, c->y);
    add_rows(c, p, -1.0, c->y, t);
    if (normalise(c->nu, t) > (i ? 0.0 : ACROSS_TANGENT)) continue;
    fill_any(c->nu, t);
    i = -1;
  }
}

/* The smallest singular value by the largest, besides that of the tangent, both by iteration. */
static double find_regularity(const lw_curve *c, const curve_pose *p) {
  double largest = 0.0, growth = 0.0, *x = c->x;
  if (c->nu == 1) return 1.0;
  fill_any(c->nu, x);
  for (int i = 0; i < PASSES_OF_REGULARITY; i++) {
    normalise(c->nu, x);
    multiply_by_rows(c, p, x, c->y);
    largest = norm_of(c->rows, c->y);
    for (int32_t u = 0; u < c->nu; u++) x[u] = 0.0;
    add_rows(c, p, 1.0, c->y, x);
  }
  fill_any(c->nu, x);
  for (int32_t u = 0; u < c->nu; u++) x[u] = 0.1 * x[u] + c->weak[u];
  for (int i = 0; i < PASSES_OF_REGULARITY; i++) {
    normalise(c->nu, x);
    multiply_by_rows(c, p, x, c->y);
    skyline_solve(&p->K, c->y);
    skyline_solve(&p->K, c->y);
    for (int32_t u = 0; u < c->nu; u++) x[u] = 0.0;
    add_rows(c, p, 1.0, c->y, x);
    growth = norm_of(c->nu, x);
  }
  normalise(c->nu, x);
  memcpy(c->weak, x, sizeof *x * (size_t)c->nu);
  return growth > 0.0 ? 1.0 / (sqrt(growth) * fmax(largest, c->options.smallest)) : 0.0;
}

/* |A+ (B - A)| by iteration. */
static double contraction_of(const lw_curve *c, const curve_pose *p, const curve_pose *other) {
  double *v = c->v, *x = c->x, size = 0.0;
  if (c->nu == 1) return 0.0;
  fill_any(c->nu, v);
  for (int i = 0; i < PASSES_OF_NORM && normalise(c->nu, v) > 0.0; i++) {
    multiply_by_rows(c, p, v, c->y);
    multiply_by_rows(c, other, v, c->rest);
    for (int32_t r = 0; r < c->rows; r++) c->rest[r] -= c->y[r];
    solve_least(c, p, c->rest, x, 1);
    size = norm_of(c->nu, x);
    multiply_by_rows(c, p, x, c->y);
    skyline_solve(&p->K, c->y);
    for (int32_t u = 0; u < c->nu; u++) v[u] = 0.0;
    add_rows(c, other, 1.0, c->y, v);
    add_rows(c, p, -1.0, c->y, v);
  }
  return size;
}

/* ---- points ---- */

/* G, A and K at the coordinates of p. */
static lw_curve_outcome measure(lw_curve *c, curve_pose *p) {
  p->is_factored = 0;
  enter_pose(c, p->q);
  if (fill_matrix(c, p)) return LW_CURVE_NEARLY_SINGULAR;
  if (!isfinite(largest_of(c->rows, c->G))) return LW_CURVE_NONE;
  if (!factor_kept(c, p)) return LW_CURVE_NEARLY_SINGULAR;
  p->is_factored = 1;
  return LW_CURVE_FOUND;
}

typedef struct closeness {
  double size, before;
  int is_closed, is_done;
} closeness;

static double largest_kept(const lw_curve *c) {
  double largest = 0.0;
  for (int32_t r = 0; r < c->rows; r++) largest = c->kept[r] ? fmax(largest, fabs(c->G[r])) : largest;
  return largest;
}

/* Whether G is as small as rounding leaves it; x: A+ G. Rows that others imply but for rounding stay open by it: singular
 * values show which these are. */
static lw_curve_outcome judge(const lw_curve *c, const curve_pose *p, closeness *now) {
  const double rounding = rounding_of(c, p->q), closed = fmax(c->options.closed, c->options.roundings * rounding);
  now->size = largest_of(c->rows, c->G);
  memcpy(c->rest, c->G, sizeof *c->G * (size_t)c->rows);
  solve_least(c, p, c->rest, c->x, 2);
  now->is_closed = now->size <= closed;
  now->is_done = now->is_closed && (now->size <= fmax(c->options.rounding, rounding) || now->size > 0.1 * now->before);
  return now->is_closed || largest_kept(c) > closed ? LW_CURVE_FOUND : LW_CURVE_NEARLY_SINGULAR;
}

static lw_curve_outcome measure_and_judge(lw_curve *c, curve_pose *p, closeness *now) {
  const lw_curve_outcome outcome = measure(c, p);
  return outcome == LW_CURVE_FOUND ? judge(c, p, now) : outcome;
}

/* The step x is taken. */
static void move_on(const lw_curve *c, curve_pose *p, const closeness *now, double *before) {
  for (int32_t u = 0; u < c->nu; u++) c->moved[u] += c->x[u];
  displace(c, p->q, c->x, p->q);
  *before = now->size;
}

static lw_curve_outcome end_at(const lw_curve *c, curve_pose *p, const double *hint) {
  find_tangent(c, p, hint);
  p->regularity = find_regularity(c, p);
  return p->regularity >= CURVE_REGULARITY ? LW_CURVE_FOUND : LW_CURVE_NEARLY_SINGULAR;
}

/* Newton's method from the coordinates of p. */
static lw_curve_outcome correct(lw_curve *c, curve_pose *p, const double *hint) {
  closeness now = {.before = INFINITY};
  for (int32_t u = 0; u < c->nu; u++) c->moved[u] = 0.0;
  for (int i = 0; i < MOST_CORRECTIONS; i++) {
    const lw_curve_outcome outcome = measure_and_judge(c, p, &now);
    if (outcome != LW_CURVE_FOUND) return outcome;
    if (now.is_done) return end_at(c, p, hint);
    if (now.size > 0.5 * now.before) return LW_CURVE_NONE;
    if (i == MOST_CORRECTIONS - 1) break;
    for (int32_t u = 0; u < c->nu; u++) c->x[u] = -c->x[u];
    move_on(c, p, &now, &now.before);
  }
  return now.is_closed ? end_at(c, p, hint) : LW_CURVE_NONE;
}

static void report_point(const lw_curve *c, const curve_pose *p, lw_curve_point *point) {
  memcpy(point->q, p->q, sizeof(double) * (size_t)c->nq);
  memcpy(point->tangent, p->tangent, sizeof(double) * (size_t)c->nu);
  point->regularity = p->regularity, point->correction = norm_of(c->nu, c->moved);
}

lw_curve_outcome lw_curve_correct(lw_curve *c, const double *q, lw_curve_point *point) {
  curve_pose *p = &c->at[OTHER];
  memcpy(p->q, q, sizeof *q * (size_t)c->nq);
  const lw_curve_outcome outcome = correct(c, p, point->tangent);
  if (outcome == LW_CURVE_FOUND) report_point(c, p, point);
  return outcome;
}

/* ---- steps ---- */

/* Enters the first point of a step, unless it is the last one of the step before. */
static lw_curve_outcome enter_first(lw_curve *c, const lw_curve_point *first) {
  curve_pose *p = &c->at[FIRST];
  const size_t size = sizeof(double) * (size_t)c->nq;
  memcpy(p->tangent, first->tangent, sizeof(double) * (size_t)c->nu);
  if (p->is_factored && !memcmp(p->q, first->q, size)) return LW_CURVE_FOUND;
  memcpy(p->q, first->q, size);
  return measure(c, p);
}

/* The pose at the middle of the cubic through both ends, from the way between them. */
static void enter_middle(lw_curve *c, double length) {
  const curve_pose *first = &c->at[FIRST], *last = &c->at[LAST];
  double *chord = c->v;
  for (int32_t u = 0; u < c->nu; u++) chord[u] = length * first->tangent[u] + c->moved[u];
  const double size = norm_of(c->nu, chord);
  for (int32_t u = 0; u < c->nu; u++) chord[u] = 0.5 * chord[u] + 0.125 * size * (first->tangent[u] - last->tangent[u]);
  displace(c, first->q, chord, c->at[OTHER].q);
}

static lw_curve_outcome check_middle(lw_curve *c, double length, double *contraction) {
  curve_pose *middle = &c->at[OTHER];
  enter_middle(c, length);
  const lw_curve_outcome outcome = correct(c, middle, c->at[FIRST].tangent);
  if (outcome != LW_CURVE_FOUND) return outcome;
  if (norm_of(c->nu, c->moved) > c->options.farthest_middle * length) return LW_CURVE_NONE;
  const double there = contraction_of(c, &c->at[FIRST], middle);
  *contraction = fmax(*contraction, there);
  return there <= c->options.contraction ? LW_CURVE_FOUND : LW_CURVE_NONE;
}

lw_curve_outcome lw_curve_step(lw_curve *c, const lw_curve_point *from, double length, lw_curve_point *to,
                               double *contraction) {
  curve_pose *first = &c->at[FIRST], *last = &c->at[LAST];
  lw_curve_outcome outcome = enter_first(c, from);
  if (outcome != LW_CURVE_FOUND) return outcome;
  for (int32_t u = 0; u < c->nu; u++) c->v[u] = length * first->tangent[u];
  displace(c, first->q, c->v, last->q);
  if ((outcome = correct(c, last, first->tangent)) != LW_CURVE_FOUND) return outcome;
  report_point(c, last, to);
  if (to->correction > c->options.farthest * length) return LW_CURVE_NONE;
  *contraction = contraction_of(c, first, last);
  if (!(*contraction <= c->options.contraction)) return LW_CURVE_NONE;
  if (!(contraction_of(c, last, first) <= 2.0 * c->options.contraction)) return LW_CURVE_NONE;
  if ((outcome = check_middle(c, length, contraction)) != LW_CURVE_FOUND) return outcome;
  const curve_pose swapped = *first;
  *first = *last, *last = swapped;
  return LW_CURVE_FOUND;
}

/* ---- rows ---- */

/* The step x, along the tangent as far as the swept coordinate has to its value. */
static int step_to_value(const lw_curve *c, const lw_curve_rows *r, curve_pose *p, double value) {
  const double *t = p->tangent, slope = t[r->speed];
  if (!(fabs(slope) >= r->least_slope)) return 0;
  const double along = (c->weight[r->speed] * (value - p->q[c->coordinate[r->speed]]) + c->x[r->speed]) / slope;
  for (int32_t u = 0; u < c->nu; u++) c->x[u] = along * t[u] - c->x[u];
  return 1;
}

static lw_curve_outcome correct_to_value(lw_curve *c, const lw_curve_rows *r, curve_pose *p, double value) {
  closeness now = {.before = INFINITY};
  for (int32_t u = 0; u < c->nu; u++) c->moved[u] = 0.0;
  for (int i = 0; i < MOST_CORRECTIONS; i++) {
    lw_curve_outcome outcome = measure_and_judge(c, p, &now);
    if (outcome != LW_CURVE_FOUND) return outcome;
    if (now.is_done) {
      outcome = end_at(c, p, p->tangent);
      return fabs(p->tangent[r->speed]) >= r->least_slope ? outcome : LW_CURVE_NONE;
    }
    if (now.size > 0.5 * now.before) return LW_CURVE_NONE;
    memcpy(c->v, c->x, sizeof *c->x * (size_t)c->nu);
    find_tangent(c, p, p->tangent);
    memcpy(c->x, c->v, sizeof *c->x * (size_t)c->nu);
    if (!step_to_value(c, r, p, value)) return LW_CURVE_NONE;
    move_on(c, p, &now, &now.before);
    p->q[c->coordinate[r->speed]] = value;
  }
  return LW_CURVE_NONE;
}

/* To a value, from the pose and its rates there; not far from where these lead. */
static int go_to_value(lw_curve *c, const lw_curve_rows *r, double value) {
  curve_pose *p = &c->at[OTHER];
  const double change = value - c->pose[c->coordinate[r->speed]];
  for (int32_t u = 0; u < c->nu; u++) c->v[u] = change * (c->first_rate[u] + 0.5 * change * c->second_rate[u]);
  displace(c, c->pose, c->v, p->q);
  p->q[c->coordinate[r->speed]] = value;
  return correct_to_value(c, r, p, value) == LW_CURVE_FOUND && norm_of(c->nu, c->moved) <= r->farthest;
}

/* Accelerations in x, times weights, from those of the motion without loads, which satisfy the constraints. */
static void find_accelerations(const lw_curve *c, const lw_curve_rows *r, const double *unloaded) {
  const curve_pose *p = &c->at[OTHER];
  for (int32_t u = 0; u < c->nu; u++) c->v[u] = c->weight[u] * unloaded[u];
  multiply_by_rows(c, p, c->v, c->rest);
  for (int32_t k = c->rows - c->options.held; k < c->rows; k++) c->rest[k] = 0.0;
  solve_least(c, p, c->rest, c->x, 3);
  const double along = c->x[r->speed] / p->tangent[r->speed];
  for (int32_t u = 0; u < c->nu; u++) c->x[u] -= along * p->tangent[u];
}

/* Coordinates, speeds and accelerations of the cut joints: their speeds are linear in those of the tree, and these move
 * by what the accelerations differ from those of the block. */
static lw_status find_cut_motion(lw_curve *c, const lw_curve_rows *r, int32_t row, const double *u,
                                 const double *udot) {
  lw_state *s = c->state;
  const lw_model *m = s->model;
  const size_t nq_cut = (size_t)m->size.nq_cut, nu_cut = (size_t)m->size.nu_cut;
  double *x = lw_reals(s), *speeds = x + m->at.u;
  const double *unloaded = x + m->at.acceleration;
  double *u_cut = r->u_cut + nu_cut * (size_t)row, *a_cut = r->a_cut + nu_cut * (size_t)row;
  lw_status e = lw_evaluate(s, LW_STAGE_OUTPUTS);
  if (e || !nu_cut) return e;
  memcpy(r->q_cut + nq_cut * (size_t)row, x + m->at.q_cut, sizeof *x * nq_cut);
  memcpy(u_cut, x + m->at.u_cut, sizeof *x * nu_cut);
  for (size_t k = 0; k < nu_cut; k++) a_cut[k] = unloaded[(size_t)c->nu + k] - u_cut[k];
  for (int32_t k = 0; k < c->nu; k++) speeds[k] = u[k] + udot[k] - unloaded[k];
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  for (size_t k = 0; k < nu_cut; k++) a_cut[k] += x[m->at.u_cut + (int32_t)k];
  memcpy(speeds, u, sizeof *u * (size_t)c->nu);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  return e;
}

/* Revolutions are counted from the last row on; a quaternion has none. */
static void count_turns(const lw_curve *c, const lw_curve_rows *r, int32_t row) {
  const lw_model *m = c->state->model;
  for (int32_t l = 0; l < m->size.loops; l++) {
    const lw_loop *loop = &m->loop[l];
    const int32_t first = loop->q - m->size.nq;
    if (loop->coordinates != loop->columns) continue;
    for (int32_t k = first; k < first + loop->coordinates; k++) r->turns[k] = r->q_cut[row * m->size.nq_cut + k];
  }
}

static lw_status write_row(lw_curve *c, const lw_curve_rows *r, int32_t row) {
  lw_state *s = c->state;
  const lw_model *m = s->model;
  const curve_pose *p = &c->at[OTHER];
  const size_t nu = (size_t)c->nu, nq_cut = (size_t)m->size.nq_cut;
  double *x = lw_reals(s), *u = r->u + nu * (size_t)row, *udot = r->udot + nu * (size_t)row;
  const double rate = r->rate * c->weight[r->speed] / p->tangent[r->speed];
  for (size_t k = 0; k < nu; k++) u[k] = rate * p->tangent[k] / c->weight[k];
  memcpy(r->q + (size_t)c->nq * (size_t)row, p->q, sizeof *x * (size_t)c->nq);
  memcpy(x + m->at.u, u, sizeof *u * nu);
  memcpy(x + m->at.cut_reference, r->turns, sizeof *x * nq_cut);
  enter_pose(c, p->q);
  lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  if (e) return e;
  find_accelerations(c, r, x + m->at.acceleration);
  for (size_t k = 0; k < nu; k++) udot[k] = c->x[k] / c->weight[k];
  if ((e = find_cut_motion(c, r, row, u, udot))) return e;
  count_turns(c, r, row);
  memcpy(c->pose, p->q, sizeof *x * (size_t)c->nq);
  for (size_t k = 0; k < nu; k++) {
    c->first_rate[k] = c->weight[k] * u[k] / r->rate;
    c->second_rate[k] = c->weight[k] * udot[k] / (r->rate * r->rate);
  }
  return LW_OK;
}

lw_status lw_curve_find_rows(lw_curve *c, lw_curve_rows *r) {
  if (!c || !r || r->speed < 0 || r->speed >= c->nu || c->coordinate[r->speed] < 0) return LW_ERROR_USAGE;
  curve_pose *p = &c->at[OTHER];
  const double slope = r->first.tangent[r->speed];
  r->done = 0;
  if (!(fabs(slope) >= r->least_slope)) return LW_OK;
  memcpy(c->pose, r->first.q, sizeof(double) * (size_t)c->nq);
  memcpy(p->tangent, r->first.tangent, sizeof(double) * (size_t)c->nu);
  for (int32_t u = 0; u < c->nu; u++) {
    c->first_rate[u] = c->weight[r->speed] * r->first.tangent[u] / slope;
    c->second_rate[u] = 0.0;
  }
  for (; r->done < r->rows; r->done++)
    if (!go_to_value(c, r, r->value[r->done]) || write_row(c, r, r->done)) break;
  return LW_OK;
}
