/* Divide and conquer over a plan: bodies join to subassemblies. Constraints are made in the upward pass,
 * loads in the downward pass (Mukherjee and Anderson 2007, section 3). The equations of a subassembly are those of
 * its handles: the change of their velocities is
 *   dV = phi + L z,   z = w + L' f
 * by the loads f on them; phi is due to the inner constraints, w to the loads inside. The compliance is stored as its
 * factor L: formed, it loses half of the digits where bodies are thin or subassemblies long. Constraints C dV = r of
 * handles, by an orthogonal Q of (C L)' = Q [R; 0], leave
 *   phi + L Q1 y,  y = R^-T (r - C phi),  the factor L Q2 and Q2' w,
 * and their loads are lambda = R^-1 (y - Q1' w - (L Q1)' f). The downward pass hands on z = Q [y; Q2' w + (L Q2)' f]
 * and not the loads: where L is large, as about the axis of a thin body, z is small, and its digits are those of the
 * motion. This is the null-space method for least squares with weights; reflections with the largest element
 * ahead and the largest row first are stable for any weights (Powell and Reid 1969; Cox and Higham 1998).
 * Columns of R are pivoted, so that redundant constraints drop out; they carry no loads, or share them for a lambda of
 * least norm. Linear in the number of bodies.
 *
 * Which constraints are redundant does not depend on the inertia, nor on ratios of gears. Where compliances differ so
 * much that the remainder of a row does not show it, or such ratios multiply to so much, a first pass over bodies of
 * unit compliance decides, each in the unit of its joint (loops/speed_metric_kernel.h). */
#ifndef LW_DCA_SOLVE_KERNEL_H
#define LW_DCA_SOLVE_KERNEL_H
#include "model/subassembly_tree.h"
#include "dca/threads.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "math/tolerances.h"

typedef enum dca_loads { LOADS_NOT_FOUND, LOADS_OF_INDEPENDENT, LOADS_SHARED } dca_loads;

/* Redundant constraints are found in the only pass, or by a pass over bodies of unit compliance for the next one. */
typedef enum dca_pass { ONLY_PASS, FIND_REDUNDANT, REDUNDANT_KNOWN } dca_pass;

typedef struct dca_problem {
  const lw_dca_plan *plan;
  const real *factor;         /* of each body's compliance, 6 x 6 */
  const real *length2;        /* of each body: inertia about its joint by mass */
  const real *unit;           /* of each body, in which it moves: not one in trains of gears */
  const real *unloaded;       /* of each body, 6: phi */
  const real *by_load;        /* of each body, 6: w, its factor's transpose times the load on it */
  const int32_t *rows;        /* of each constraint, at most as many as in the plan */
  const real *rank_tolerance; /* of each constraint: remainder of a unit row that the others imply */
  const real *jacobian;       /* coefficients of the velocities of a row's ends, as in the plan */
  const real *target;         /* of each row: C dV, less the velocity of its rotor */
  const real *rotor;          /* of each row: 1 if it has a rotor, a body of one velocity and mass one; else 0 */
  real *change;               /* found: dV of each body, 6 */
  real *z;                    /* found: of each body, 6 */
  real *load;                 /* found: of each row */
  real *reals;                /* workspace of the plan's size; also the integers */
  int32_t *integers, *redundant;
  dca_loads loads;
  dca_pass pass;
  int32_t factored; /* the last solution differs in `unloaded`, `by_load` and `target` alone: its factors hold */
} dca_problem;

typedef struct dca_ranks {
  int32_t columns, rows, rank; /* in use: of L as stored; of constraints */
  int32_t gathered;            /* columns of both children together */
  int32_t compressed;          /* reflections that compress L */
} dca_ranks;

/* A sequence of reflections of columns, in rows of `stride`: the i-th from place i on, after the exchange of place i with
 * the one at `lead`. */
typedef struct reflections {
  real *v, *s;
  int32_t *lead, stride;
} reflections;

/* Data of a subassembly for the downward pass, and for its parent. */
typedef struct subassembly_data {
  real *basis;             /* L Q1: handles' velocities x rows */
  reflections triangular;  /* of C L: R' below the diagonal */
  reflections compressing; /* of L Q2 */
  real *diagonal;          /* of R */
  real *y, *scale;         /* of each row */
  real *z;                 /* upward: w, the first of the rank, those of the stored columns, the rest; downward: z */
  real *f;                 /* loads on its handles */
  real *L, *phi;           /* of the handles that it keeps, L with `remaining_columns` places in a row */
  int32_t *constraint;     /* of each row, in pivoting order */
  int32_t *number;         /* of each row among those of its constraint */
  dca_ranks *ranks;
} subassembly_data;

INLINE subassembly_data subassembly_data_of(const dca_problem *d, int32_t a) {
  const lw_dca_subassembly *x = &d->plan->subassembly[a];
  const int32_t compressing = lw_dca_compressing(x);
  real *p = d->reals + x->first_real;
  int32_t *n = d->integers + x->first_integer;
  subassembly_data r = {.basis = p};
  r.triangular.v = p += 6 * x->handles * x->rows;
  r.triangular.s = p += x->columns * x->rows;
  r.diagonal = p += x->rows;
  r.y = p += x->rows;
  r.scale = p += x->rows;
  r.z = p += x->rows;
  r.f = p += x->columns;
  r.compressing.v = p += 6 * x->handles;
  r.compressing.s = p += compressing * x->columns;
  r.L = p += compressing;
  r.phi = p + 6 * x->remaining * x->remaining_columns;
  r.constraint = n;
  r.number = n += x->rows;
  r.triangular.lead = n += x->rows;
  r.compressing.lead = n += x->rows;
  r.ranks = (dca_ranks *)(n + compressing);
  r.triangular.stride = r.compressing.stride = x->columns;
  return r;
}

/* A row in pivoting order: the handles at its ends, and its coefficients. */
typedef struct dca_row {
  int32_t number, ends;
  const int32_t *handle_index; /* of the ends among the handles */
  const real *jacobian;        /* of each end */
} dca_row;

INLINE dca_row dca_row_of(const dca_problem *d, const subassembly_data *r, int32_t i) {
  const lw_dca_constraint *c = &d->plan->list[r->constraint[i]];
  return (dca_row){c->first_row + r->number[i], c->ends, d->plan->handle_index + c->first,
                   d->jacobian + 6 * (c->first_jacobian_block + r->number[i] * c->ends)};
}

/* ---- reflections ---- */

/* The reflection that leaves only the first of n elements at a stride: v takes its place, 1 - v v' s is the
 * reflection; returns s, and the first element. A zero row is unchanged. */
static real reflect_to_first(int32_t n, int32_t stride, real *v, real *left) {
  real size2 = 0.0;
  for (int32_t i = 0; i < n; i++) size2 += v[i * stride] * v[i * stride];
  *left = v[0];
  if (re(size2) < NO_SIZE2) return 0.0;
  const real size = root(size2);
  *left = re(v[0]) > 0.0 ? -size : size;
  v[0] -= *left;
  return -1.0 / (*left * v[0]);
}

INLINE void reflect_row(int32_t n, real s, const real *v, real *x) { add_row(n, -s * dot_row(n, v, x), v, x); }

static void reflect(int32_t n, real s, int32_t stride, const real *v, int32_t stride_x, real *x) {
  real sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += v[i * stride] * x[i * stride_x];
  sum *= s;
  for (int32_t i = 0; i < n; i++) x[i * stride_x] -= sum * v[i * stride];
}

/* Columns may differ by orders of magnitude, as a thin body's inertia does. Reflections lose nothing of the small ones
 * where the largest element leads (Powell and Reid 1969); returns where it stands. */
INLINE int32_t leading(int32_t n, const real *v) {
  int32_t best = 0;
  for (int32_t k = 1; k < n; k++)
    if (fabs(re(v[k])) > fabs(re(v[best]))) best = k;
  return best;
}

INLINE void swap_columns(int32_t rows, int32_t stride, real *at, int32_t k) {
  for (int32_t i = 0; k > 0 && i < rows; i++) {
    const real remaining = at[i * stride];
    at[i * stride] = at[i * stride + k], at[i * stride + k] = remaining;
  }
}

/* The i-th reflection of the columns from place i on: with the row that is kept in the sequence, of n columns in all,
 * its first element is left, and the other rows are turned with it. Returns that element. */
static real reflect_columns(const reflections *h, int32_t i, int32_t columns, int32_t rows, int32_t stride,
                            real *others) {
  const int32_t n = columns - i, lead = h->lead[i];
  real left, *v = h->v + i * h->stride + i;
  h->s[i] = reflect_to_first(n, 1, v, &left);
  swap_columns(rows, stride, others + i, lead);
  for (int32_t k = 0; k < rows; k++) reflect_row(n, h->s[i], v, others + k * stride + i);
  return left;
}

/* A matrix, rows x columns, is made lower triangular from the right, and so many more rows are turned with it. Returns
 * how many columns are left. */
static int32_t compress(const reflections *h, int32_t rows, int32_t more, int32_t columns, int32_t stride, real *L) {
  if (columns <= rows) return columns;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t n = columns - i;
    real *at = L + i * stride + i, *v = h->v + i * h->stride + i;
    h->lead[i] = leading(n, at);
    swap_columns(1, stride, at, h->lead[i]);
    copy(n, at, v);
    for (int32_t j = 1; j < n; j++) at[j] = 0.0;
    at[0] = reflect_columns(h, i, columns, rows + more - i - 1, stride, L + (i + 1) * stride);
  }
  return rows;
}

/* A further row is reflected as the columns were. */
static void reflect_forward(const reflections *h, int32_t count, int32_t columns, real *z) {
  for (int32_t i = 0; i < count; i++) {
    swap_columns(1, 1, z + i, h->lead[i]);
    reflect_row(columns - i, h->s[i], h->v + i * h->stride + i, z + i);
  }
}

/* z of all columns from that of the reflected ones. */
static void reflect_back(const reflections *h, int32_t count, int32_t columns, real *z) {
  for (int32_t i = count - 1; i >= 0; i--) {
    reflect_row(columns - i, h->s[i], h->v + i * h->stride + i, z + i);
    swap_columns(1, 1, z + i, h->lead[i]);
  }
}

/* ---- upward: constraints are made ---- */

/* Of a body's compliance; where redundant constraints are found, that of a unit mass with a unit gyration, times the
 * unit in which the body moves. */
static const real *body_factor(const dca_problem *d, int32_t body, real unit[36]) {
  if (d->pass != FIND_REDUNDANT) return d->factor + 36 * body;
  for (int k = 0; k < 36; k++) unit[k] = 0.0;
  const real moves = d->unit[body];
  for (int k = 0; k < 3; k++) unit[7 * k] = moves / root(d->length2[body]), unit[7 * (3 + k)] = moves;
  return unit;
}

static void clear_reals(int32_t n, real *x) {
  for (int32_t k = 0; k < n; k++) x[k] = 0.0;
}

/* phi and w of both children; of a body its own. Rotors have neither. */
static void gather_changes(const dca_problem *d, const lw_dca_subassembly *x, real *phi, real *w) {
  if (x->child[1] < 0) {
    const int32_t body = d->plan->handle.at[x->first_handle];
    copy(6, d->unloaded + 6 * body, phi);
    copy(6, d->by_load + 6 * body, w);
    clear_reals(x->rotors, w + 6);
    return;
  }
  for (int which = 0; which < 2; which++) {
    const int32_t n = 6 * d->plan->subassembly[x->child[which]].remaining;
    const subassembly_data r = subassembly_data_of(d, x->child[which]);
    copy(n, r.phi, phi);
    copy(r.ranks->columns, r.z + r.ranks->rank, w);
    phi += n, w += r.ranks->columns;
  }
  clear_reals(x->rotors, w);
}

/* The compliances of both children, which share no column; of a body its own. w is a further row of L. Returns the
 * columns, behind which those of rotors are zero. */
static int32_t gather_children(const dca_problem *d, const lw_dca_subassembly *x, real *L, real *phi) {
  const int32_t stride = x->columns;
  gather_changes(d, x, phi, L + 6 * x->handles * stride);
  clear_reals(6 * x->handles * stride, L);
  if (x->child[1] < 0) {
    real unit[36];
    const real *own = body_factor(d, d->plan->handle.at[x->first_handle], unit);
    for (int32_t j = 0; j < 6; j++) copy(6, own + 6 * j, L + j * stride);
    return 6;
  }
  int32_t row = 0, column = 0;
  for (int which = 0; which < 2; which++) {
    const lw_dca_subassembly *child = &d->plan->subassembly[x->child[which]];
    const subassembly_data r = subassembly_data_of(d, x->child[which]);
    const int32_t columns = r.ranks->columns;
    for (int32_t j = 0; j < 6 * child->remaining; j++, row++)
      copy(columns, r.L + j * child->remaining_columns, L + row * stride + column);
    column += columns;
  }
  return column;
}

static void list_rows(const dca_problem *d, const lw_dca_subassembly *x, const subassembly_data *r) {
  int32_t n = 0;
  for (int32_t i = 0; i < x->constraints; i++) {
    const int32_t c = d->plan->constraint[x->first_constraint + i];
    for (int32_t k = 0; k < d->rows[c]; k++, n++) r->constraint[n] = c, r->number[n] = k;
  }
  r->ranks->rows = n;
}

/* Adds the square of a row's size in the compliance of single bodies. */
static real body_size2(const dca_problem *d, int32_t body, const real *row) {
  real sum = 0.0, unit[36];
  const real *L = body_factor(d, body, unit);
  for (int k = 0; k < 6; k++) {
    real one = 0.0;
    for (int j = 0; j < 6; j++) one += row[j] * L[6 * j + k];
    sum += one * one;
  }
  return sum;
}

/* r - C phi of a row. */
static real row_residual(const dca_problem *d, const dca_row *row, const real *phi) {
  real residual = d->target[row->number];
  for (int32_t end = 0; end < row->ends; end++)
    for (int32_t j = 0; j < 6; j++) residual -= row->jacobian[6 * end + j] * phi[6 * row->handle_index[end] + j];
  return residual;
}

static int32_t count_rotors(const dca_problem *d, const subassembly_data *r) {
  int32_t count = 0;
  for (int32_t i = 0; i < r->ranks->rows; i++) count += re(d->rotor[dca_row_of(d, r, i).number]) != 0.0;
  return count;
}

/* Of a rotor's compliance; where redundant constraints are found, as large as what the bodies add to its row: it then
 * repeats none and hides none, heavy as it may be. */
INLINE real rotor_factor(const dca_problem *d, real of_bodies2) {
  return d->pass == FIND_REDUNDANT ? root(of_bodies2) : 1.0;
}

/* C L of each row to R, `stride` places each, and r - C phi to y; both scaled. The last columns are those of the
 * rotors. */
static void express_rows(const dca_problem *d, const lw_dca_subassembly *x, const subassembly_data *r, int32_t rotors,
                         const real *L, const real *phi, real *CL) {
  const int32_t columns = r->ranks->gathered;
  for (int32_t i = 0, next = columns - rotors; i < r->ranks->rows; i++) {
    const dca_row row = dca_row_of(d, r, i);
    real size2 = 1e-300, *out = CL + i * x->columns;
    for (int32_t k = 0; k < columns; k++) out[k] = 0.0;
    for (int32_t end = 0; end < row.ends; end++) {
      const int32_t first = 6 * row.handle_index[end];
      size2 += body_size2(d, d->plan->handle.at[x->first_handle + row.handle_index[end]], row.jacobian + 6 * end);
      for (int32_t j = 0; j < 6; j++) add_row(columns, row.jacobian[6 * end + j], L + (first + j) * x->columns, out);
    }
    if (re(d->rotor[row.number]) != 0.0) {
      const real rotor = rotor_factor(d, size2);
      out[next++] = -rotor, size2 += rotor * rotor;
    }
    r->scale[i] = 1.0 / root(size2);
    r->y[i] = row_residual(d, &row, phi) * r->scale[i];
    for (int32_t k = 0; k < columns; k++) out[k] *= r->scale[i];
  }
}

static void swap_reals(int32_t n, real *a, real *b) {
  for (int32_t k = 0; k < n; k++) {
    const real remaining = a[k];
    a[k] = b[k], b[k] = remaining;
  }
}

static void exchange_rows(const subassembly_data *r, int32_t columns, int32_t stride, real *CL, int32_t i, int32_t j) {
  if (i == j) return;
  swap_reals(columns, CL + i * stride, CL + j * stride);
  swap_reals(1, r->y + i, r->y + j);
  swap_reals(1, r->scale + i, r->scale + j);
  int32_t *lists[2] = {r->constraint, r->number};
  for (int k = 0; k < 2; k++) {
    const int32_t remaining = lists[k][i];
    lists[k][i] = lists[k][j], lists[k][j] = remaining;
  }
}

static int counts_as_redundant(const dca_problem *d, const subassembly_data *r, int32_t i, double size2) {
  if (d->pass == REDUNDANT_KNOWN) return d->redundant[dca_row_of(d, r, i).number];
  const double none = re(d->rank_tolerance[r->constraint[i]]);
  return !(size2 > none * none);
}

/* The first row, from p on, that is nearly as large as any; -1: others imply all that are left. Rows are often of one
 * size, where rounding must not choose, since in loops that are open by a little it matters which row is redundant. */
static int32_t choose_row(const dca_problem *d, const subassembly_data *r, int32_t p, int32_t columns, int32_t stride,
                          const real *CL, double *size2) {
  double largest = 0.0;
  for (int32_t i = p; i < r->ranks->rows; i++) {
    const real *row = CL + i * stride;
    size2[i] = 0.0;
    for (int32_t k = p; k < columns; k++) size2[i] += re(row[k]) * re(row[k]);
    if (counts_as_redundant(d, r, i, size2[i])) size2[i] = 0.0;
    largest = larger(largest, size2[i]);
  }
  for (int32_t i = p; i < r->ranks->rows; i++)
    if (size2[i] > NEARLY_LARGEST * largest) return i;
  return -1;
}

/* Reflections from the right make C L lower triangular, large rows first, and turn L with it. Returns the rank. */
static int32_t triangulate(const dca_problem *d, const lw_dca_subassembly *x, const subassembly_data *r,
                           int32_t columns, real *L, real *size2) {
  const reflections *h = &r->triangular;
  const int32_t stride = x->columns, rows = r->ranks->rows, all = 6 * x->handles + 1;
  int32_t p = 0;
  for (; p < rows && p < columns; p++) {
    real *row = h->v + p * stride + p;
    const int32_t chosen = choose_row(d, r, p, columns, stride, h->v, size2);
    if (chosen < 0) break;
    exchange_rows(r, columns, stride, h->v, p, chosen);
    h->lead[p] = leading(columns - p, row);
    swap_columns(1, stride, row, h->lead[p]);
    r->diagonal[p] = reflect_columns(h, p, columns, rows - p - 1, stride, h->v + (p + 1) * stride);
    swap_columns(all, stride, L + p, h->lead[p]);
    for (int32_t j = 0; j < all; j++) reflect_row(columns - p, h->s[p], row, L + j * stride + p);
  }
  return p;
}

/* y = R^-T (r - C phi) in place, and its effect on the handles by L Q1, of `stride` places in a row. */
static void solve_rows(const lw_dca_subassembly *x, const subassembly_data *r, const real *L, int32_t stride,
                       real *phi) {
  const int32_t rank = r->ranks->rank;
  for (int32_t p = 0; p < rank; p++) {
    const real *R = r->triangular.v + p * x->columns;
    for (int32_t q = 0; q < p; q++) r->y[p] -= R[q] * r->y[q];
    r->y[p] /= r->diagonal[p];
  }
  for (int32_t j = 0; j < 6 * x->handles; j++) phi[j] += dot_row(rank, L + j * stride, r->y);
}

static void store_basis(const lw_dca_subassembly *x, const subassembly_data *r, const real *L) {
  for (int32_t j = 0; j < 6 * x->handles; j++) copy(r->ranks->rank, L + j * x->columns, r->basis + j * x->rows);
}

/* The rows of the handles that stay, and only so many columns as they need. */
static void store_factor(const lw_dca_plan *plan, const lw_dca_subassembly *x, const subassembly_data *r, real *L,
                         const real *phi) {
  const int32_t rank = r->ranks->rank, stride = x->columns, columns = r->ranks->gathered - rank;
  const real *w = L + 6 * x->handles * stride;
  real *turned = L + 6 * x->remaining * stride; /* w as a further row */
  copy(rank, w, r->z);
  for (int32_t i = 0; i < x->remaining; i++) {
    const int32_t from = 6 * plan->remaining.at[x->first_remaining + i];
    for (int32_t j = 0; j < 6; j++) {
      for (int32_t k = 0; k < columns; k++) L[(6 * i + j) * stride + k] = L[(from + j) * stride + rank + k];
      r->phi[6 * i + j] = phi[from + j];
    }
  }
  for (int32_t k = 0; k < columns; k++) turned[k] = w[rank + k];
  r->ranks->columns = compress(&r->compressing, 6 * x->remaining, 1, columns, stride, L);
  r->ranks->compressed = r->ranks->columns < columns ? r->ranks->columns : 0;
  copy(columns, turned, r->z + rank);
  for (int32_t j = 0; j < 6 * x->remaining; j++)
    copy(r->ranks->columns, L + j * stride, r->L + j * x->remaining_columns);
}

/* A body without constraints of its own. */
static void copy_body(const dca_problem *d, const lw_dca_subassembly *x, const subassembly_data *r) {
  const int32_t body = d->plan->handle.at[x->first_handle];
  *r->ranks = (dca_ranks){.columns = 6, .gathered = 6};
  copy(6, d->by_load + 6 * body, r->z);
  if (!x->remaining) return;
  real unit[36];
  copy(36, body_factor(d, body, unit), r->L);
  copy(6, d->unloaded + 6 * body, r->phi);
}

/* For the pass with the compliances. */
static void note_redundant(const dca_problem *d, const subassembly_data *r) {
  for (int32_t i = 0; i < r->ranks->rows; i++) d->redundant[dca_row_of(d, r, i).number] = i >= r->ranks->rank;
}

static void combine_subassembly(const dca_problem *d, int32_t a, real *scratch) {
  const lw_dca_subassembly *x = &d->plan->subassembly[a];
  const subassembly_data r = subassembly_data_of(d, a);
  real *L = scratch, *phi = L + (6 * x->handles + 1) * x->columns, *size2 = phi + 6 * x->handles;
  list_rows(d, x, &r);
  if (x->child[1] < 0 && r.ranks->rows == 0) {
    copy_body(d, x, &r);
    return;
  }
  const int32_t rotors = count_rotors(d, &r);
  r.ranks->gathered = gather_children(d, x, L, phi) + rotors;
  express_rows(d, x, &r, rotors, L, phi, r.triangular.v);
  r.ranks->rank = triangulate(d, x, &r, r.ranks->gathered, L, size2);
  if (d->pass == FIND_REDUNDANT) note_redundant(d, &r);
  solve_rows(x, &r, L, x->columns, phi);
  if (d->loads) store_basis(x, &r, L);
  store_factor(d->plan, x, &r, L, phi);
}

/* phi and w by the factors of the last solution, which has found loads. */
static void recombine_subassembly(const dca_problem *d, int32_t a, real *scratch) {
  const lw_dca_subassembly *x = &d->plan->subassembly[a];
  const subassembly_data r = subassembly_data_of(d, a);
  const int32_t rank = r.ranks->rank, columns = r.ranks->gathered;
  real *phi = scratch;
  gather_changes(d, x, phi, r.z);
  for (int32_t i = 0; i < r.ranks->rows; i++) {
    const dca_row row = dca_row_of(d, &r, i);
    r.y[i] = row_residual(d, &row, phi) * r.scale[i];
  }
  solve_rows(x, &r, r.basis, x->rows, phi);
  reflect_forward(&r.triangular, rank, columns, r.z);
  reflect_forward(&r.compressing, r.ranks->compressed, columns - rank, r.z + rank);
  for (int32_t i = 0; i < x->remaining; i++)
    copy(6, phi + 6 * d->plan->remaining.at[x->first_remaining + i], r.phi + 6 * i);
}

/* ---- downward: loads are found ---- */

/* lambda with R lambda = z, of independent constraints alone. Where loops are open by a little, redundant ones differ
 * from what they repeat, and their loads would violate constraints of the subassemblies above. */
static void solve_independent(const lw_dca_subassembly *x, const subassembly_data *r, const real *z, real *lambda) {
  const int32_t rank = r->ranks->rank, stride = x->columns;
  for (int32_t i = rank; i < r->ranks->rows; i++) lambda[i] = 0.0;
  for (int32_t p = rank - 1; p >= 0; p--) {
    lambda[p] = z[p];
    for (int32_t i = p + 1; i < rank; i++) lambda[p] -= r->triangular.v[i * stride + p] * lambda[i];
    lambda[p] /= r->diagonal[p];
  }
}

/* The same of all constraints, of least norm. */
static void least_norm_loads(const lw_dca_subassembly *x, const subassembly_data *r, const real *z, real *lambda,
                             real *T, real *v) {
  const int32_t rows = r->ranks->rows, rank = r->ranks->rank, stride = x->columns;
  /* R' = Q T: lambda = Q T^-T z; the reflections stay below the diagonal of T, their factors in v */
  real *diagonal = v + rank;
  for (int32_t i = 0; i < rows; i++)
    for (int32_t k = 0; k < rank; k++)
      T[i * rank + k] = k < i ? r->triangular.v[i * stride + k] : k == i ? r->diagonal[i] : 0.0;
  for (int32_t p = 0; p < rank; p++) {
    v[p] = reflect_to_first(rows - p, rank, T + p * rank + p, &diagonal[p]);
    for (int32_t k = p + 1; k < rank; k++) reflect(rows - p, v[p], rank, T + p * rank + p, rank, T + p * rank + k);
  }
  for (int32_t i = 0; i < rows; i++) lambda[i] = 0.0;
  for (int32_t p = 0; p < rank; p++) {
    lambda[p] = z[p];
    for (int32_t q = 0; q < p; q++) lambda[p] -= T[q * rank + p] * lambda[q];
    lambda[p] /= diagonal[p];
  }
  for (int32_t p = rank - 1; p >= 0; p--) reflect(rows - p, v[p], rank, T + p * rank + p, 1, lambda + p);
}

/* Loads of its constraints, added to those on its handles. */
static void find_loads(const dca_problem *d, const lw_dca_subassembly *x, const subassembly_data *r, real *scratch) {
  const int32_t rows = r->ranks->rows, rank = r->ranks->rank;
  real *along = scratch, *lambda = along + x->rows, *v = lambda + x->rows, *T = v + 2 * x->rows;
  for (int32_t p = 0; p < rank; p++) {
    along[p] = r->y[p] - r->z[p];
    for (int32_t j = 0; j < 6 * x->handles; j++) along[p] -= r->basis[j * x->rows + p] * r->f[j];
  }
  if (d->loads == LOADS_SHARED && rows > rank) least_norm_loads(x, r, along, lambda, T, v);
  else solve_independent(x, r, along, lambda);
  for (int32_t i = 0; i < rows; i++) {
    const dca_row row = dca_row_of(d, r, i);
    const real load = lambda[i] * r->scale[i];
    d->load[row.number] = load;
    for (int32_t end = 0; end < row.ends; end++)
      for (int32_t j = 0; j < 6; j++) r->f[6 * row.handle_index[end] + j] += load * row.jacobian[6 * end + j];
  }
}

/* From z of the columns that it keeps to that of the columns of its children. */
static void restore_columns(const subassembly_data *r) {
  const int32_t rank = r->ranks->rank, columns = r->ranks->gathered;
  reflect_back(&r->compressing, r->ranks->compressed, columns - rank, r->z + rank);
  copy(rank, r->y, r->z);
  reflect_back(&r->triangular, rank, columns, r->z);
}

static void change_body_velocity(const dca_problem *d, int32_t body, const real *z) {
  real *dV = d->change + 6 * body;
  copy(6, z, d->z + 6 * body);
  for (int j = 0; j < 6; j++) {
    dV[j] = d->unloaded[6 * body + j];
    for (int k = 0; k < 6; k++) dV[j] += d->factor[36 * body + 6 * j + k] * z[k];
  }
}

static void back_substitute_subassembly(const dca_problem *d, int32_t a, real *scratch) {
  const lw_dca_subassembly *x = &d->plan->subassembly[a];
  const subassembly_data r = subassembly_data_of(d, a);
  if (d->loads) find_loads(d, x, &r, scratch);
  restore_columns(&r);
  if (x->child[1] < 0) {
    change_body_velocity(d, d->plan->handle.at[x->first_handle], r.z);
    return;
  }
  int32_t from = 0, column = 0;
  for (int which = 0; which < 2; which++) {
    const lw_dca_subassembly *child = &d->plan->subassembly[x->child[which]];
    const subassembly_data below = subassembly_data_of(d, x->child[which]);
    copy(below.ranks->columns, r.z + column, below.z + below.ranks->rank);
    column += below.ranks->columns;
    for (int32_t i = 0; d->loads && i < child->remaining; i++, from += 6)
      copy(6, r.f + from, below.f + 6 * d->plan->remaining.at[child->first_remaining + i]);
  }
}

/* ---- all of it ---- */

typedef struct dca_sweep {
  const dca_problem *problem;
  real *scratch; /* of each thread, of the plan's size */
} dca_sweep;

static void combine_all(const dca_problem *d, int32_t first, int32_t end, real *scratch) {
  for (int32_t i = first; i < end; i++) {
    const int32_t a = d->plan->order[i];
    const subassembly_data r = subassembly_data_of(d, a);
    for (int32_t k = 0; d->loads && k < 6 * d->plan->subassembly[a].handles; k++) r.f[k] = 0.0;
    if (d->factored) recombine_subassembly(d, a, scratch);
    else combine_subassembly(d, a, scratch);
  }
}

static void back_substitute_all(const dca_problem *d, int32_t first, int32_t end, real *scratch) {
  for (int32_t i = end - 1; i >= first; i--) back_substitute_subassembly(d, d->plan->order[i], scratch);
}

static void combine_task(void *sweep, int32_t i, int32_t thread) {
  const dca_sweep *s = sweep;
  const lw_dca_plan *plan = s->problem->plan;
  combine_all(s->problem, plan->task[i], plan->task[i + 1], s->scratch + thread * plan->scratch);
}

static void back_substitute_task(void *sweep, int32_t i, int32_t thread) {
  const dca_sweep *s = sweep;
  const lw_dca_plan *plan = s->problem->plan;
  back_substitute_all(s->problem, plan->task[i], plan->task[i + 1], s->scratch + thread * plan->scratch);
}

#define FEW_ASSEMBLIES 200 /* to wake threads for less would cost more than they save */

static void combine_subassemblies(const dca_problem *d, real *scratch, int32_t threads) {
  const lw_dca_plan *plan = d->plan;
  dca_sweep s = {.problem = d, .scratch = scratch};
  lw_for_each(plan->tasks, threads, combine_task, &s);
  combine_all(d, plan->task[plan->tasks], plan->subassemblies, scratch);
}

static void back_substitute_subassemblies(const dca_problem *d, real *scratch, int32_t threads) {
  const lw_dca_plan *plan = d->plan;
  dca_sweep s = {.problem = d, .scratch = scratch};
  back_substitute_all(d, plan->task[plan->tasks], plan->subassemblies, scratch);
  lw_for_each(plan->tasks, threads, back_substitute_task, &s);
}

/* Whether a rotor has that much less than the bodies that it turns with. */
static int rotors_are_heavy(const dca_problem *d) {
  for (int32_t c = 0; c < d->plan->constraints; c++) {
    const lw_dca_constraint *of = &d->plan->list[c];
    for (int32_t k = 0; k < d->rows[c]; k++) {
      real size2 = 0.0;
      if (re(d->rotor[of->first_row + k]) == 0.0) continue;
      for (int32_t i = 0; i < of->ends; i++)
        size2 +=
            body_size2(d, d->plan->end[of->first + i], d->jacobian + 6 * (of->first_jacobian_block + k * of->ends + i));
      if (re(size2) > DISPARATE) return 1;
    }
  }
  return 0;
}

/* Whether the largest of all bodies, about their joints, is that much above the least, or the square of a unit. */
static int compliances_are_disparate(const dca_problem *d) {
  double most = 0.0, least = INFINITY, largest_unit = 1.0, least_unit = 1.0;
  for (int32_t i = 0; i < d->plan->bodies; i++) {
    const real *L = d->factor + 36 * i;
    double rotational = 0.0;
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 3; j++) rotational += re(L[6 * k + j]) * re(L[6 * k + j]);
    const double linear = re(L[21]) * re(L[21]), largest = rotational * re(d->length2[i]);
    most = largest > most ? largest : most;
    most = linear > most ? linear : most;
    least = linear < least ? linear : least;
    largest_unit = fmax(largest_unit, re(d->unit[i])), least_unit = fmin(least_unit, re(d->unit[i]));
  }
  const double units = largest_unit / least_unit;
  return most > DISPARATE * least || units * units > DISPARATE || rotors_are_heavy(d);
}

static void dca_solve(dca_problem d, real *scratch, int32_t threads) {
  const int32_t some = d.plan->subassemblies < FEW_ASSEMBLIES ? 1 : threads;
  if (!d.factored && compliances_are_disparate(&d)) {
    d.pass = FIND_REDUNDANT;
    combine_subassemblies(&d, scratch, some);
    d.pass = REDUNDANT_KNOWN;
  }
  combine_subassemblies(&d, scratch, some);
  back_substitute_subassemblies(&d, scratch, some);
}
#endif
