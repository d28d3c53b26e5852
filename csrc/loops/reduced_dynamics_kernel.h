/* Projection of a cluster onto its root: the acceleration of each link relative to the root is G z + bias, its wrench
 * H = I [G bias] - F; shifted to the root and summed,
 *   D = sum G'H_G + sum J X'X,  e = sum X'(tau - J X_bias) - G'H_bias,  B = sum H_G at the root;
 *   z = T y + particular,
 *   udot_y = (T'D T)^-1 T'(e - D particular - B'A_root)
 *   I_root += Ic - B'D^-1 B,  F_root -= H_bias + B'D^-1 e
 * J is the reflected inertia of a column's speed, cut joints' included. Ic is the inertia of the cluster with its loops
 * frozen. The order of the links does not matter, as in (62)-(66) summed up. */
#ifndef LW_LOOPS_REDUCED_DYNAMICS_KERNEL_H
#define LW_LOOPS_REDUCED_DYNAMICS_KERNEL_H
#include "block/field_view_kernel.h"
#include "math/ldl_kernel.h"
#include "math/spatial_kernel.h"
#include "math/simd_kernel.h"
#include "loops/workspace_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "loops/closure_kernel.h"
#include "loops/recursive_coordinate_reduction_kernel.h"
#include "loops/independent_constraints_kernel.h"

INLINE void subtract_from_biases(const real Fa[3], const real Fl[3], int32_t blocks, four *H) {
  for (int i = 0; i < 3; i++) {
    set_entry(H + i * blocks, BIAS, entry_of(H + i * blocks, BIAS) - Fa[i]);
    set_entry(H + (3 + i) * blocks, BIAS, entry_of(H + (3 + i) * blocks, BIAS) - Fl[i]);
  }
}

/* H = I G, minus F in the bias entry */
INLINE void inertia_times_rows(const articulated *I, block_range r, const four *G, four *H) {
  const int32_t blocks = r.blocks;
  const real *A = I->A, *B = I->B, *C = I->C;
  static const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  FOR_BLOCKS(b, r)
  for (int i = 0; i < 3; i++) {
    four t = times4(A[at[3 * i]], G[b]), f = times4(B[i], G[b]);
    for (int j = 1; j < 3; j++) {
      t = plus4(t, times4(A[at[3 * i + j]], G[j * blocks + b]));
      f = plus4(f, times4(B[3 * j + i], G[j * blocks + b]));
    }
    for (int j = 0; j < 3; j++) {
      t = plus4(t, times4(B[3 * i + j], G[(3 + j) * blocks + b]));
      f = plus4(f, times4(C[at[3 * i + j]], G[(3 + j) * blocks + b]));
    }
    H[i * blocks + b] = t, H[(3 + i) * blocks + b] = f;
  }
  subtract_from_biases(I->Fa, I->Fl, blocks, H);
}

/* The same of a single rigid body: J a + h x l, m l - h x a. */
INLINE void body_inertia_times_rows(const link_inertia *own, block_range r, const four *G, four *H) {
  const int32_t blocks = r.blocks;
  const real *J = own->J, *h = own->h;
  FOR_BLOCKS(b, r) {
    const four a0 = G[b], a1 = G[blocks + b], a2 = G[2 * blocks + b];
    const four l0 = G[3 * blocks + b], l1 = G[4 * blocks + b], l2 = G[5 * blocks + b];
    H[b] = plus4(plus4(plus4(times4(J[0], a0), times4(J[1], a1)), times4(J[2], a2)),
                 minus4(times4(h[1], l2), times4(h[2], l1)));
    H[blocks + b] = plus4(plus4(plus4(times4(J[1], a0), times4(J[3], a1)), times4(J[4], a2)),
                          minus4(times4(h[2], l0), times4(h[0], l2)));
    H[2 * blocks + b] = plus4(plus4(plus4(times4(J[2], a0), times4(J[4], a1)), times4(J[5], a2)),
                              minus4(times4(h[0], l1), times4(h[1], l0)));
    H[3 * blocks + b] = minus4(times4(own->m, l0), minus4(times4(h[1], a2), times4(h[2], a1)));
    H[4 * blocks + b] = minus4(times4(own->m, l1), minus4(times4(h[2], a0), times4(h[0], a2)));
    H[5 * blocks + b] = minus4(times4(own->m, l2), minus4(times4(h[0], a1), times4(h[1], a0)));
  }
  subtract_from_biases(own->Fa, own->Fl, blocks, H);
}

/* M += G'H: rows of independent directions; all columns, or the lower triangle alone */
INLINE void accumulate(int32_t independents, block_range r, int lower, const four *G, const four *H, four *M) {
  const int32_t blocks = r.blocks;
  FOR_DIRECTIONS(z, r, independents) {
    const block_range columns = {blocks, r.begin, lower ? (FIRST_FREE + z) / 4 + 1 : r.end};
    FOR_BLOCKS(b, columns) {
      four s = M[z * blocks + b];
      for (int i = 0; i < 6; i++) s = plus4(s, times4(entry_of(G + i * blocks, FIRST_FREE + z), H[i * blocks + b]));
      M[z * blocks + b] = s;
    }
  }
}

/* at += wrench moved back by r */
INLINE void shift_rows_in(const real r[3], block_range range, const four *from, four *to) {
  const int32_t blocks = range.blocks;
  FOR_BLOCKS(b, range) {
    const four f0 = from[3 * blocks + b], f1 = from[4 * blocks + b], f2 = from[5 * blocks + b];
    to[b] = plus4(to[b], plus4(from[b], minus4(times4(r[1], f2), times4(r[2], f1))));
    to[blocks + b] = plus4(to[blocks + b], plus4(from[blocks + b], minus4(times4(r[2], f0), times4(r[0], f2))));
    to[2 * blocks + b] =
        plus4(to[2 * blocks + b], plus4(from[2 * blocks + b], minus4(times4(r[0], f1), times4(r[1], f0))));
    to[3 * blocks + b] = plus4(to[3 * blocks + b], f0);
    to[4 * blocks + b] = plus4(to[4 * blocks + b], f1);
    to[5 * blocks + b] = plus4(to[5 * blocks + b], f2);
  }
}

/* M += J X'X of a column, the bias included. */
INLINE void accumulate_rotor(int32_t independents, block_range r, real rotor, const four *X, four *M) {
  FOR_DIRECTIONS(z, r, independents) {
    const real s = rotor * entry_of(X, FIRST_FREE + z);
    FOR_BLOCKS(b, r) M[z * r.blocks + b] = plus4(M[z * r.blocks + b], times4(s, X[b]));
  }
}

INLINE void gather_rotors(const view *v, int32_t c, const cluster_work *w, int32_t blocks, int32_t independents,
                          four *M) {
  const lw_column *column = column_of(v, c, 0);
  for (int32_t number = 0; number < count_column_groups(w, blocks); number++) {
    const column_group group = column_group_of(v, w, number, blocks);
    for (int32_t k = group.first; k < group.end; k++) {
      const real rotor = v->rotor[column[k].u];
      if (!adds_nothing(rotor)) accumulate_rotor(independents, group.blocks, rotor, rows_of_N(w, blocks, k), M);
    }
  }
}

/* The load of a column acts on every direction that moves it: X'tau. */
INLINE void project_loads(const view *v, int32_t c, const cluster_work *w, int32_t blocks, four *load) {
  const lw_column *column = column_of(v, c, 0);
  for (int32_t number = 0; number < count_column_groups(w, blocks); number++) {
    const column_group group = column_group_of(v, w, number, blocks);
    for (int32_t k = group.first; k < group.end; k++)
      add_blocks(group.blocks, v->load[column[k].u], rows_of_N(w, blocks, k), load);
  }
}

INLINE void gather_links(const view *v, int32_t c, const cluster_work *w, int32_t blocks, int32_t independents, four *M,
                         four *on_root, articulated *frozen) {
  four *H = M + (independents + 1) * blocks;
  for (int32_t k = 0; k < (independents + 1) * blocks; k++) M[k] = zero4();
  const int lower = blocks > 2 && w->ranks->rank == 0; /* restrict_to_free() reads no more */
  project_loads(v, c, w, blocks, M + independents * blocks);
  gather_rotors(v, c, w, blocks, independents, M);
  for (int32_t i = w->cluster->first; i < w->cluster->first + w->cluster->count; i++) {
    const four *G = partial_velocities_of(w, blocks, i);
    const block_range r = blocks_of_ear(w, v->m->link[i].ear - w->cluster->first_ear, blocks);
    articulated I;
    if (w->cluster->root < 0 && !v->m->link[i].place.has_outboard) {
      body_inertia_times_rows(&v->inertia[i], r, G, H);
      accumulate(independents, r, lower, G, H, M);
      continue;
    }
    clear(&I);
    add_body(&v->inertia[i], &I);
    add_outboard_inertia(v, i, &v->m->link[i].place, &I);
    inertia_times_rows(&I, r, G, H);
    accumulate(independents, r, lower, G, H, M);
    if (w->cluster->root < 0) continue;
    const real *place = point_motion_of(w, i);
    shift_rows_in(place, r, H, on_root);
    shift_inertia(place, I.A, I.B, I.C);
    accumulate_on_parent(frozen, 0, &I);
  }
}

/* To D (whole), e and B, restricted to those that stay free. */
static void restrict_to_free(const cluster_work *w, const real *M, const real *on_root) {
  const int32_t n = w->ranks->independent, width = w->ranks->width;
  const real *load = M + n * width;
  real *z = w->solution, *particular = z + n;
  particular_of(w, BIAS, particular);
  for (int32_t i = 0; i < n; i++) {
    z[i] = load[FIRST_FREE + i] - M[i * width + BIAS];
    for (int32_t j = 0; j < (w->ranks->rank ? n : i + 1); j++) {
      w->D[i * n + j] = M[i * width + FIRST_FREE + j];
      z[i] -= w->ranks->rank ? w->D[i * n + j] * particular[j] : 0.0;
    }
  }
  gather(w, z, w->e);
  const int32_t r = free_of(w);
  for (int k = 0; w->cluster->root >= 0 && k < 6; k++) {
    const real *row = on_root + k * width;
    real bias = row[BIAS];
    for (int32_t j = 0; j < n; j++) bias += row[FIRST_FREE + j] * particular[j];
    gather(w, row + FIRST_FREE, w->B + k * (r + 1));
    w->B[k * (r + 1) + r] = bias;
  }
  gather_matrix(w, w->D);
  ldl_factor(w->D, r);
}

/* Articulated inertia at the root: the frozen cluster, less the projection along the independent directions. */
static void project_onto_root(const view *v, const cluster_work *w, articulated *frozen) {
  const int32_t r = free_of(w);
  real *column = w->solution, *solved = w->spare; /* D^-1 B', six columns, then D^-1 e */
  for (int c = 0; c < 7; c++) {
    for (int32_t j = 0; j < r; j++) column[j] = c < 6 ? w->B[c * (r + 1) + j] : w->e[j];
    ldl_solve(w->D, r, column);
    for (int32_t j = 0; j < r; j++) solved[7 * j + c] = column[j];
  }
  const real *B[6];
  for (int a = 0; a < 6; a++) B[a] = w->B + a * (r + 1);
  for (int a = 0; a < 3; a++) frozen->Fa[a] = -B[a][r], frozen->Fl[a] = -B[3 + a][r];
  for (int32_t j = 0; j < r; j++) {
    const real *s = solved + 7 * j;
    int k = 0;
    for (int a = 0; a < 3; a++) {
      for (int b = a; b < 3; b++, k++) frozen->A[k] -= B[a][j] * s[b], frozen->C[k] -= B[3 + a][j] * s[3 + b];
      for (int b = 0; b < 3; b++) frozen->B[3 * a + b] -= B[a][j] * s[3 + b];
      frozen->Fa[a] -= B[a][j] * s[6], frozen->Fl[a] -= B[3 + a][j] * s[6];
    }
  }
  accumulate_on_parent(&v->outboard[w->cluster->root], w->cluster->first_on_parent, frozen);
}

static void reduce_in(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const int32_t blocks = blocks_of(&w), n = w.ranks->independent;
  four *M = (four *)w.spare, *on_root = M + (n + 7) * blocks;
  articulated frozen;
  if (w.cluster->root >= 0) {
    clear(&frozen);
    for (int32_t k = 0; k < 6 * blocks; k++) on_root[k] = zero4();
  }
  if (blocks == 1 && n == 1) gather_links(v, c, &w, 1, 1, M, on_root, &frozen);
  else if (blocks == 1 && n == 2) gather_links(v, c, &w, 1, 2, M, on_root, &frozen);
  else gather_links(v, c, &w, blocks, n, M, on_root, &frozen);
  restrict_to_free(&w, (const real *)M, (const real *)on_root);
  if (w.cluster->root >= 0) project_onto_root(v, &w, &frozen);
}

/* A link's acceleration over its bias: that of the root, transported, plus G times the independent accelerations. */
INLINE void increment_from_N(const view *v, const cluster_work *w, int32_t i, int32_t blocks, const four *by) {
  const four *G = partial_velocities_of(w, blocks, i);
  const block_range r = blocks_of_ear(w, v->m->link[i].ear - w->cluster->first_ear, blocks);
  twist *out = &v->increment[i];
  transport_twist(v, w->cluster->root, point_motion_of(w, i), out);
  for (int k = 0; k < 3; k++) {
    out->a[k] += dot_of_blocks(r, G + k * blocks, by);
    out->l[k] += dot_of_blocks(r, G + (3 + k) * blocks, by);
  }
}

INLINE void accelerate_columns(const view *v, int32_t c, const cluster_work *w, int32_t blocks, const four *by) {
  const lw_column *column = column_of(v, c, 0);
  for (int32_t number = 0; number < count_column_groups(w, blocks); number++) {
    const column_group group = column_group_of(v, w, number, blocks);
    for (int32_t k = group.first; k < group.end; k++)
      v->acceleration[column[k].u] = dot_of_blocks(group.blocks, rows_of_N(w, blocks, k), by);
  }
  for (int32_t i = w->cluster->first; i < w->cluster->first + w->cluster->count; i++)
    if (v->m->link[i].place.has_outboard) increment_from_N(v, w, i, blocks, by);
}

/* By which the entries of rows of N count, from the acceleration of the root: each direction by its independent
 * acceleration, the bias once. */
INLINE const real *find_independent_accelerations(const view *v, const cluster_work *w) {
  const int32_t r = free_of(w), n = w->ranks->independent, width = w->ranks->width;
  real *y = w->solution, *by = w->solution + width;
  copy(r, w->e, y);
  if (w->cluster->root >= 0) {
    const twist *root = &v->increment[w->cluster->root];
    for (int32_t j = 0; j < r; j++)
      for (int i = 0; i < 3; i++) y[j] -= w->B[i * (r + 1) + j] * root->a[i] + w->B[(3 + i) * (r + 1) + j] * root->l[i];
  }
  ldl_solve(w->D, r, y);
  by[BIAS] = 1.0, by[RESIDUAL] = 0.0;
  extend(w, y, BIAS, by + FIRST_FREE);
  for (int32_t direction = FIRST_FREE + n; direction < width; direction++) by[direction] = 0.0;
  return by;
}

/* Accelerations of all columns. */
static void reduce_out(const view *v, int32_t c) {
  const cluster_work w = work_of(v, c);
  const four *by = (const four *)find_independent_accelerations(v, &w);
  if (w.ranks->width == 4) accelerate_columns(v, c, &w, 1, by);
  else accelerate_columns(v, c, &w, w.ranks->width / 4, by);
}

/* From closed loops to accelerations. */
static void reduce_all(const view *v) {
  for (int32_t s = v->m->segments - 1; s >= 0; s--) {
    const lw_segment *seg = &v->m->segment[s];
    if (seg->cluster >= 0) reduce_in(v, seg->cluster);
    else sweep_segment_in(v, seg);
  }
  for (int32_t s = 0; s < v->m->segments; s++) {
    const lw_segment *seg = &v->m->segment[s];
    if (seg->cluster >= 0) reduce_out(v, seg->cluster);
    else
      for (int32_t i = seg->first; i < seg->first + seg->count; i++) sweep_out(v, i);
  }
}
#endif
