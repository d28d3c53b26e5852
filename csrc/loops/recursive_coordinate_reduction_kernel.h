/* Recursive coordinate reduction (Anderson and Critchley 2003): a cluster is solved loop by loop, in the order of its
 * ear decomposition (see lw_ear in model/model.h). The closure of a loop,  sum a_k u_k = rhs,  has only the columns
 * that the loop adds on its left; the motion of the bases of its two branches is on the right. In the constraint frame of the
 * cut joint the columns of that joint drop out. Pivoted Gram-Schmidt makes as many columns dependent as the rank
 * permits, u_k = W_k.rhs + sum T_ki u_i;  the others become independent directions. With the rows X of the columns
 * known, the partial velocities G of the new links follow outward (44-50, without the 6-column anchor: an independent
 * direction is an independent column itself).
 *
 * Rows that the columns of a loop cannot satisfy become constraints among the independent directions, solved after the
 * last loop (independent_constraints_kernel.h); couplings enter there too, and columns with small pivots wait for it.
 * Redundant rows (a planar loop of spatial joints) only lower the rank. The rank tolerance follows the residual:
 * singular values that vanish on the constraint manifold are of the size of the residual. */
#ifndef LW_LOOPS_RECURSIVE_COORDINATE_REDUCTION_KERNEL_H
#define LW_LOOPS_RECURSIVE_COORDINATE_REDUCTION_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/tolerances.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/kinematics_kernel.h"
#include "math/pivoted_gram_schmidt_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/basic_constraints_kernel.h"
#include "loops/loop_closures_kernel.h"

/* The least pivot, squared, relative to the largest column. */
INLINE double pivot_tolerance2(const cluster_work *w) {
  const double tolerance2 = w->ranks->coarse_tolerance ? COARSE_RANK_TOLERANCE : RANK_TOLERANCE;
  return tolerance2 * tolerance2;
}

INLINE void set_entry(four *rows, int32_t direction, real value) { ((real *)rows)[direction] = value; }
INLINE real entry_of(const four *rows, int32_t direction) { return ((const real *)rows)[direction]; }

/* ---- pivoting: W and T ---- */

/* How small a pivot may be, squared. */
typedef struct pivot_limits {
  double rank_threshold, small_pivot2;
  real largest;
} pivot_limits;

INLINE real dot_of(const real *a, const real *b, int32_t rows) {
  real s = a[0] * b[0];
  for (int32_t j = 1; j < rows; j++) s += a[j] * b[j];
  return s;
}

INLINE pivot_limits limits_of(const ear_work *x, double tolerance2, double sum, real largest, int alone) {
  const double rank_threshold = rank_threshold2(re(largest), sum, re(dot_of(x->phi, x->phi, 6)), tolerance2);
  const double small_pivot2 = re(largest) * SMALL_PIVOT * SMALL_PIVOT;
  return (pivot_limits){rank_threshold, alone ? rank_threshold : larger(small_pivot2, rank_threshold), largest};
}

/* Copies of the columns and their sizes squared. */
INLINE pivot_limits start_pivoting(const ear_work *x, int32_t groups, int32_t rows, double tolerance2, int alone,
                                   four *q, four *size2) {
  double sum = 1.0;
  real largest = 1.0;
  const four *a = (const four *)x->a;
  for (int32_t g = 0; g < groups; g++) size2[g] = zero4();
  for (int32_t j = 0; j < rows; j++)
    for (int32_t g = 0; g < groups; g++) {
      q[j * groups + g] = a[j * groups + g];
      size2[g] = plus4(size2[g], product4(a[j * groups + g], a[j * groups + g]));
    }
  for (int32_t k = 0; k < x->n; k++) {
    const real s = entry_of(size2, k);
    x->order[k] = k;
    sum += re(s);
    largest = select_less(largest, s, s, largest);
  }
  return limits_of(x, tolerance2, sum, largest, alone);
}

/* A size squared, by real parts; zero for one that is small. Columns of links that support later loops count less: as
 * independent columns they keep later loops simple, while in a row of singular loops each that makes them dependent about
 * doubles the entries of the null-space basis. */
INLINE double pivot_weight(const lw_model *m, const ear_work *x, double small_pivot2, const four *size2, int32_t k) {
  return unless_small(re(entry_of(size2, k)), small_pivot2) * m->column[x->first_column + k].preference;
}

/* The first remaining column that counts nearly as much as any comes to place p; -1: all are small. */
INLINE int32_t choose_pivot(const lw_model *m, const ear_work *x, int32_t p, double small_pivot2, const four *size2) {
  double largest = 0.0;
  for (int32_t i = p; i < x->n; i++) largest = larger(largest, pivot_weight(m, x, small_pivot2, size2, x->order[i]));
  for (int32_t i = p; largest > 0.0 && i < x->n; i++)
    if (pivot_weight(m, x, small_pivot2, size2, x->order[i]) >= PIVOT_SHARE2 * largest)
      return bring_forward(x->order, i, p);
  return -1;
}

/* Takes each pivot out of all columns at once; returns the rank. Earlier pivots stand across it already. */
INLINE int32_t orthogonalise_ear(const lw_model *m, const ear_work *x, int32_t groups, int32_t rows,
                                 const pivot_limits *limits, real *smallest, four *q, four *size2) {
  int32_t p = 0;
  *smallest = limits->largest;
  for (; p < rows && p < x->n; p++) {
    const int32_t pivot = choose_pivot(m, x, p, limits->small_pivot2, size2);
    if (pivot < 0) break;
    const real size = entry_of(size2, pivot), inverse = 1.0 / size;
    four *f = (four *)x->T + p * groups;
    real own[6];
    *smallest = select_less(size, *smallest, size, *smallest);
    for (int32_t j = 0; j < rows; j++) own[j] = entry_of(q + j * groups, pivot);
    for (int32_t g = 0; g < groups; g++) {
      four along = times4(own[0], q[g]), size = zero4();
      for (int32_t j = 1; j < rows; j++) along = plus4(along, times4(own[j], q[j * groups + g]));
      f[g] = along = times4(inverse, along);
      for (int32_t j = 0; j < rows; j++) {
        const four rest = minus4(q[j * groups + g], times4(own[j], along));
        q[j * groups + g] = rest;
        size = plus4(size, product4(rest, rest));
      }
      size2[g] = size;
    }
    for (int32_t j = 0; j < rows; j++) x->W[6 * p + j] = own[j] * inverse;
  }
  return p;
}

/* From a_k = sum_p T_pk q_p to the dependent columns by the right-hand side and the independent ones; W_p = q_p/q_p^2 so far. */
INLINE void invert_ear(const ear_work *x, int32_t groups, int32_t rows, int32_t rank) {
  const int32_t n = x->n;
  for (int32_t p = rank - 1; p >= 0; p--) {
    real W[6], *T = x->T + 4 * groups * p;
    copy(rows, x->W + 6 * p, W);
    for (int32_t i = rank; i < n; i++) T[x->order[i]] = -T[x->order[i]];
    for (int32_t s = p + 1; s < rank; s++) {
      const real f = T[x->order[s]], *later = x->W + 6 * s;
      for (int32_t j = 0; j < rows; j++) W[j] -= f * later[j];
      for (int32_t i = rank; i < n; i++) T[x->order[i]] -= f * x->T[4 * groups * s + x->order[i]];
    }
    copy(rows, W, x->W + 6 * p);
  }
}

INLINE int32_t pivot_rows(const view *v, const ear_work *x, int32_t groups, int32_t rows, double tolerance2,
                          int alone) {
  real smallest;
  four few[7], *q = groups == 1 ? few : (four *)x->orthogonal, *size2 = groups == 1 ? few + 6 : (four *)x->size2;
  const pivot_limits limits = start_pivoting(x, groups, rows, tolerance2, alone, q, size2);
  const int32_t rank = orthogonalise_ear(v->m, x, groups, rows, &limits, &smallest, q, size2);
  invert_ear(x, groups, rows, rank);
  *x->rank_threshold = limits.rank_threshold;
  FIELD(v, loop_conditioning)[x->ear->loop] = root((smallest + 1e-300) / (limits.largest + 1e-300));
  return rank;
}

INLINE void pivot_ear(const view *v, const cluster_work *w, int32_t e) {
  const ear_work x = work_of_ear(v, w, e);
  const int32_t number = e - w->cluster->first_ear, alone = w->cluster->ears == 1 && w->cluster->couplings == 0;
  const int32_t rows = x.ear->constrained;
  const double tolerance2 = pivot_tolerance2(w);
  int32_t rank = 0;
  if (x.ear->loop < 0)
    for (int32_t k = 0; k < x.n; k++) x.order[k] = k;
  else if (rows == 5 && x.groups == 1)
    rank = pivot_rows(v, &x, 1, 5, tolerance2, alone); /* constants let the compiler unroll */
  else if (rows == 3 && x.groups == 1) rank = pivot_rows(v, &x, 1, 3, tolerance2, alone);
  else rank = pivot_rows(v, &x, x.groups, rows, tolerance2, alone);
  w->ear_rank[number] = rank;
  w->ranks->independent += x.n - rank;
}

/* ---- recursion: X of the loop's columns, G of its links ---- */

/* rhs += sign times the motion of a base at the closing point, d from its point */
INLINE void add_base(const cluster_work *w, block_range r, int32_t base, const real *closure_point, double sign,
                     real per_length, four *rhs) {
  if (base == w->cluster->root) return;
  const int32_t blocks = r.blocks;
  const four *G = partial_velocities_of(w, blocks, base);
  const real s = sign * per_length, *place = point_motion_of(w, base);
  const real d[3] = {s * (closure_point[0] - place[0]), s * (closure_point[1] - place[1]),
                     s * (closure_point[2] - place[2])};
  FOR_BLOCKS(b, r) {
    const four a0 = G[b], a1 = G[blocks + b], a2 = G[2 * blocks + b];
    rhs[b] = plus4(rhs[b], times4(sign, a0));
    rhs[blocks + b] = plus4(rhs[blocks + b], times4(sign, a1));
    rhs[2 * blocks + b] = plus4(rhs[2 * blocks + b], times4(sign, a2));
    rhs[3 * blocks + b] =
        plus4(rhs[3 * blocks + b], plus4(times4(s, G[3 * blocks + b]), minus4(times4(d[2], a1), times4(d[1], a2))));
    rhs[4 * blocks + b] =
        plus4(rhs[4 * blocks + b], plus4(times4(s, G[4 * blocks + b]), minus4(times4(d[0], a2), times4(d[2], a0))));
    rhs[5 * blocks + b] =
        plus4(rhs[5 * blocks + b], plus4(times4(s, G[5 * blocks + b]), minus4(times4(d[1], a0), times4(d[0], a1))));
  }
}

INLINE void rotate_rows(const real axes[9], block_range r, const four *from, int32_t constrained, four *to_constrained,
                        four *to_free) {
  const int32_t blocks = r.blocks;
  for (int32_t i = 0; i < 3; i++) FOR_BLOCKS(b, r) {
      const four s = plus4(plus4(times4(axes[3 * i], from[b]), times4(axes[3 * i + 1], from[blocks + b])),
                           times4(axes[3 * i + 2], from[2 * blocks + b]));
      (i < constrained ? to_constrained + i * blocks : to_free + (i - constrained) * blocks)[b] = s;
    }
}

/* The motion of the bases, and bias and residual, in the rows of the cut joint's frame. */
INLINE void ear_rhs(const view *v, const cluster_work *w, const ear_work *x, block_range r, four *world, four *rhs) {
  const int32_t blocks = r.blocks;
  const lw_ear *ear = x->ear;
  const constraint_frame *rows = constraint_frame_of(v->m->loop[ear->loop].type);
  const int32_t na = rows->angular, nl = rows->linear, constrained = na + nl;
  const real per_length = 1.0 / v->cut[ear->loop].length;
  for (int32_t k = 0; k < 6; k++) FOR_BLOCKS(b, r) world[k * blocks + b] = zero4();
  add_base(w, r, ear->parent_base, x->on_parent, -1.0, per_length, world);
  add_base(w, r, ear->child_base, x->on_child, 1.0, per_length, world);
  if (!has_world_angles(rows)) rotate_rows(x->angular, r, world, na, rhs, rhs + constrained * blocks);
  else
    for (int32_t k = 0; k < 3; k++) FOR_BLOCKS(b, r) rhs[k * blocks + b] = world[k * blocks + b];
  four *constrained_linear = rhs + na * blocks, *free_linear = rhs + (constrained + 3 - na) * blocks;
  if (!has_world_axes(rows)) rotate_rows(x->linear, r, world + 3 * blocks, nl, constrained_linear, free_linear);
  else
    for (int32_t k = 0; k < 3; k++) FOR_BLOCKS(b, r) constrained_linear[k * blocks + b] = world[(3 + k) * blocks + b];
  mix_blocks(rows, x->mix, blocks, rhs);
  for (int k = 0; k < 6; k++) rhs[k * blocks] = plus4(rhs[k * blocks], first4(x->y[k], x->phi[k]));
}

/* X of the tree columns in the metric: dependent ones by the right-hand side, the others as directions from `first`
 * on. */
INLINE void express_tree(const ear_work *x, int32_t rows, int32_t rank, block_range r, int32_t first, const four *rhs,
                         four *X) {
  const int32_t n = x->n, blocks = r.blocks;
  for (int32_t p = 0; p < rank; p++) {
    const real *W = x->W + 6 * p;
    four *row = X + blocks * x->order[p];
    clear_other_blocks(r, row);
    FOR_BLOCKS(b, r) {
      four s = times4(W[0], rhs[b]);
      for (int32_t j = 1; j < rows; j++) s = plus4(s, times4(W[j], rhs[j * blocks + b]));
      row[b] = s;
    }
    for (int32_t i = rank; i < n; i++)
      set_entry(row, FIRST_FREE + first + i - rank, x->T[4 * x->groups * p + x->order[i]]);
  }
  for (int32_t i = rank; i < n; i++) {
    four *row = X + blocks * x->order[i];
    for (int32_t b = 0; b < blocks; b++) row[b] = zero4();
    set_entry(row, FIRST_FREE + first + i - rank, 1.0);
  }
}

/* rhs -= sum over tree columns a_k X_k: the motion of the cut joint's columns, and in the constrained rows the rest. */
INLINE void subtract_columns(const ear_work *x, int32_t from, int32_t to, block_range r, const four *X, four *rhs) {
  for (int32_t k = 0; k < x->n; k++)
    for (int32_t j = from; j < to; j++)
      subtract_blocks(r, x->a[4 * x->groups * j + k], X + r.blocks * k, rhs + j * r.blocks);
}

/* Constrained rows that remain become rows of C: sum C_z z = rhs; they vanish where the loop has full rank. */
INLINE void constrain(const cluster_work *w, const ear_work *x, int32_t number, int32_t rows, int32_t blocks,
                      const four *rhs) {
  double largest = 0.0;
  for (int32_t direction = FIRST_FREE; direction < 4 * blocks; direction++) {
    double s = 0.0;
    for (int32_t k = 0; k < rows; k++) {
      const double one = re(entry_of(rhs + k * blocks, direction));
      s += one * one;
    }
    largest = larger(largest, s);
  }
  if (!(largest > re(*x->rank_threshold))) return;
  const int32_t at = w->ranks->constraints;
  for (int32_t direction = 0; direction < 4 * blocks; direction++)
    for (int32_t k = 0; k < 6; k++) {
      const real s = k < rows ? entry_of(rhs + k * blocks, direction) : 0.0;
      w->C[direction * w->rows + at + k] = direction < FIRST_FREE ? s : -s;
    }
  w->ear_constraint[number] = at;
  w->ranks->constraints += 6;
}

/* G of a link: that of its parent, plus its own columns, half of which is zero in joints that only rotate or only
 * translate. */
INLINE void add_column_motion(const twist *P, int32_t type, block_range r, const four *X, four *G) {
  for (int c = 0; !lw_is_translational(type) && c < 3; c++) add_blocks(r, P->a[c], X, G + c * r.blocks);
  for (int c = 0; !lw_is_rotational(type) && c < 3; c++) add_blocks(r, P->l[c], X, G + (3 + c) * r.blocks);
}

/* l += a x r for every column: the velocity of a point moved by r */
INLINE void shift_rows_out(const real r[3], block_range range, const four *from, four *to) {
  const int32_t blocks = range.blocks;
  FOR_BLOCKS(b, range) {
    const four a0 = from[b], a1 = from[blocks + b], a2 = from[2 * blocks + b];
    to[b] = a0, to[blocks + b] = a1, to[2 * blocks + b] = a2;
    to[3 * blocks + b] = plus4(from[3 * blocks + b], minus4(times4(r[2], a1), times4(r[1], a2)));
    to[4 * blocks + b] = plus4(from[4 * blocks + b], minus4(times4(r[0], a2), times4(r[2], a0)));
    to[5 * blocks + b] = plus4(from[5 * blocks + b], minus4(times4(r[1], a0), times4(r[0], a1)));
  }
}

INLINE void compute_partial_velocities(const view *v, const cluster_work *w, int32_t i, block_range r) {
  const lw_link *link = &v->m->link[i];
  const int32_t blocks = r.blocks;
  four *G = partial_velocities_of(w, blocks, i);
  const four *X = rows_of_N(w, blocks, link->column);
  for (int32_t k = 0; k < 6; k++) clear_other_blocks(r, G + k * blocks);
  if (link->parent == w->cluster->root)
    for (int32_t k = 0; k < 6; k++) FOR_BLOCKS(b, r) G[k * blocks + b] = zero4();
  else shift_rows_out(v->motion[i].r, r, partial_velocities_of(w, blocks, link->parent), G);
  if (link->type == LW_REVOLUTE) {
    const real *R = v->motion[i].R;
    for (int c = 0; c < 3; c++) add_blocks(r, R[3 * c + 2], X, G + c * blocks);
    return;
  }
  for (int32_t k = 0; k < link->speeds; k++) {
    twist P;
    column_of_link(v, i, k, &P);
    add_column_motion(&P, link->type, r, X + k * blocks, G);
  }
}

/* From the metric to metres, and from the units of the shafts of gears to radians. */
INLINE void to_physical_units(const view *v, int32_t c, const lw_ear *ear, block_range r, four *X) {
  const lw_column *column = column_of(v, c, ear->column);
  for (int32_t k = 0; k < ear->columns; k++) {
    if (!column[k].translation && ear->loop >= 0) continue;
    FOR_BLOCKS(b, r) X[r.blocks * k + b] = times4(metric_of(v, &column[k]), X[r.blocks * k + b]);
  }
}

/* The range includes that of another loop, whose links carry those of this one. */
INLINE void include_blocks(const view *v, const cluster_work *w, int32_t number, int32_t base) {
  if (base == w->cluster->root) return;
  const int32_t other = v->m->link[base].ear - w->cluster->first_ear;
  if (other == number) return;
  if (w->ear_begin[other] < w->ear_begin[number]) w->ear_begin[number] = w->ear_begin[other];
  if (w->ear_end[other] > w->ear_end[number]) w->ear_end[number] = w->ear_end[other];
}

/* The directions that move a loop: its own, from `first` on, and those of the loops on which it is built. */
static void find_blocks(const view *v, const cluster_work *w, const lw_ear *ear, int32_t number, int32_t first,
                        int32_t own) {
  const int32_t begin = (FIRST_FREE + first) / 4, end = (FIRST_FREE + first + own + 3) / 4;
  w->ear_begin[number] = own == 0 ? w->ranks->width / 4 : begin ? begin : 1;
  w->ear_end[number] = own == 0 ? 1 : end;
  if (ear->loop >= 0) {
    include_blocks(v, w, number, ear->parent_base);
    include_blocks(v, w, number, ear->child_base);
  }
  for (int32_t j = ear->first; j < ear->first + ear->links; j++)
    include_blocks(v, w, number, v->m->link[v->m->ear_link[j]].parent);
}

INLINE void express_ear(const view *v, int32_t c, const cluster_work *w, const ear_work *x, int32_t number,
                        int32_t rows, int32_t blocks, int32_t first, four *rhs) {
  const lw_ear *ear = x->ear;
  const int32_t rank = w->ear_rank[number];
  if (blocks > 2) find_blocks(v, w, ear, number, first, x->n - rank);
  const block_range r = blocks_of_ear(w, number, blocks);
  four *X = rows_of_N(w, blocks, ear->column + ear->cuts), *own = rows_of_N(w, blocks, ear->column);
  w->ear_constraint[number] = -1;
  if (ear->loop >= 0) ear_rhs(v, w, x, r, rhs + 6 * blocks, rhs);
  express_tree(x, rows, rank, r, first, rhs, X);
  if (ear->loop >= 0) {
    if (rank < rows) {
      subtract_columns(x, 0, 6, r, X, rhs);
      for (int32_t k = 0; k < 6; k++) clear_other_blocks(r, rhs + k * blocks);
      constrain(w, x, number, rows, blocks, rhs);
    } else subtract_columns(x, rows, 6, r, X, rhs);
    const int32_t *speed = constraint_frame_of(v->m->loop[ear->loop].type)->speed;
    for (int32_t j = 0; j < ear->cuts; j++) {
      clear_other_blocks(r, own + speed[j] * blocks);
      FOR_BLOCKS(b, r) own[speed[j] * blocks + b] = rhs[(rows + j) * blocks + b];
    }
  }
  if (ear->has_translation || ear->loop < 0) to_physical_units(v, c, ear, r, own);
  for (int32_t j = ear->first; j < ear->first + ear->links; j++) compute_partial_velocities(v, w, v->m->ear_link[j], r);
}

INLINE void express_ears(const view *v, int32_t c, const cluster_work *w, int32_t blocks, four *rhs) {
  int32_t first = 0;
  for (int32_t number = 0; number < w->cluster->ears; number++) {
    const ear_work x = work_of_ear(v, w, w->cluster->first_ear + number);
    const int32_t rows = x.ear->constrained;
    if (rows == 5) express_ear(v, c, w, &x, number, 5, blocks, first, rhs);
    else if (rows == 3) express_ear(v, c, w, &x, number, 3, blocks, first, rhs);
    else express_ear(v, c, w, &x, number, rows, blocks, first, rhs);
    first += x.n - w->ear_rank[number];
  }
}

/* Phase by phase, so that the loops of each do not wait for each other. Returns 0 where the independent directions
 * exceed the capacity. */
static int eliminate_ears(const view *v, int32_t c) {
  const cluster_work work = work_of(v, c), *w = &work;
  const lw_cluster *cluster = w->cluster;
  w->ranks->independent = w->ranks->constraints = w->ranks->rank = 0;
  if (cluster->needs_point_velocities) find_point_motions(v, w);
  else find_point_positions(v, w);
  ear_closures(v, c, w);
  for (int32_t e = cluster->first_ear; e < cluster->first_ear + cluster->ears; e++) pivot_ear(v, w, e);
  w->ranks->width = (FIRST_FREE + w->ranks->independent + 3) / 4 * 4;
  if (w->ranks->width > cluster->capacity) return 0;
  four *rhs = (four *)w->spare;
  if (w->ranks->width == 4) express_ears(v, c, w, 1, rhs);
  else if (w->ranks->width == 8) express_ears(v, c, w, 2, rhs);
  else express_ears(v, c, w, w->ranks->width / 4, rhs);
  return 1;
}
#endif
