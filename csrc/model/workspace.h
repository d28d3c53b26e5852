/* The workspace of clusters: each list gives the arrays with their lengths in scalars, and yields the offset of each
 * array and the size of the whole. ARRAY(name, scalars). */
#ifndef LW_WORKSPACE_H
#define LW_WORKSPACE_H
#include <stdint.h>

/* Of a loop, by `groups`: its columns in fours. Rows are those of its cut joint's frame (loops/basic_constraints_kernel.h),
 * constrained directions first. What does not depend on the number of columns stands first: then its place is a
 * constant. */
#define LW_EAR_WORKSPACE(ARRAY)                                                                   \
  ARRAY(phi, 6)     /* residual */                                                                \
  ARRAY(y, 6)       /* minus the relative bias acceleration */                                    \
  ARRAY(angular, 9) /* rows of unit vectors */                                                    \
  ARRAY(linear, 9)                                                                                \
  ARRAY(mix, 6)       /* of mixed rows: cosine and sine */                                        \
  ARRAY(on_parent, 3) /* closing point by either branch, from the root's point */                 \
  ARRAY(on_child, 3)                                                                              \
  ARRAY(rank_threshold, 1)       /* size squared that counts as nothing */                        \
  ARRAY(W, 36)                   /* dependent columns, copied, 6 x 6 */                           \
  ARRAY(a, 24 * groups)          /* 6 x groups x 4: rows, and columns in groups; in the metric */ \
  ARRAY(T, 24 * groups)          /* dependent columns by independent ones */                      \
  ARRAY(orthogonal, 24 * groups) /* as a, constrained rows only */                                \
  ARRAY(size2, 4 * groups)       /* of each column */

/* Of a cluster of `n` columns, `links` and `rows` of constraints, of `width` entries. */
#define LW_CLUSTER_WORKSPACE(ARRAY)                                                                        \
  ARRAY(X, n *width)                /* rows of the null-space basis for the columns */                     \
  ARRAY(G, 6 * (links + 1) * width) /* partial velocities of the links relative to the root; last: zero */ \
  ARRAY(point, 6 * links)           /* position and velocity of its point relative to the root's */        \
  ARRAY(added_wrench, 6 * links)    /* wrench that loops add to the outboard wrench */                     \
  ARRAY(mu, 4 * rows)               /* loads of the constraints; of four changes */                        \
  ARRAY(coupled, n)                 /* loads of couplings on columns */                                    \
  ARRAY(C, rows *width)             /* constraints, width x rows */                                        \
  ARRAY(C_coefficient, width *width)                                                                       \
  ARRAY(C_size2, width)                                                                                    \
  ARRAY(C_velocity, rows)                                                                                  \
  ARRAY(T, width *(width + 3)) /* independents x (free + PARTICULARS): by those that stay free */          \
  ARRAY(D, width *width)       /* reduced mass */                                                          \
  ARRAY(Q, width *width)       /* X'X */                                                                   \
  ARRAY(e, width)              /* load */                                                                  \
  ARRAY(B, 6 * width)          /* wrench on the root */                                                    \
  ARRAY(step, n)               /* assembly: of the columns, in the metric; speeds of cut joints */         \
  ARRAY(solution, 4 * width)                                                                               \
  ARRAY(spare, 4 * width * width + 8 * width + n) /* scratch of one function at a time, like `solution` */

/* Of dynamics/load_response_kernel.h, of so many changes at once: of the loads of all speeds, and of the accelerations by
 * them; loads on columns and wrenches on links, of both passes; motions of links, then wrenches of their joints; forces of
 * cut joints; loads of couplings. */
enum { LW_CHANGES = 4 };
#define LW_CHANGE_WORKSPACE(ARRAY)         \
  ARRAY(load, LW_CHANGES *speeds)          \
  ARRAY(acceleration, LW_CHANGES *speeds)  \
  ARRAY(column, LW_CHANGES *speeds)        \
  ARRAY(wrench, LW_CHANGES * 6 * links)    \
  ARRAY(motion, LW_CHANGES * 6 * links)    \
  ARRAY(cut_force, LW_CHANGES * 3 * loops) \
  ARRAY(coupling, LW_CHANGES *couplings)

#define LW_FEW_ROWS 36 /* of six loops: their sparse closure has a place in the state, and larger ones are allocated */

/* Reals of a sparse closure (assembly/sparse_closure_kernel.h) without its normal matrix; and with it, in a state. */
static inline int64_t lw_closure_reals(int64_t blocks, int64_t rows, int64_t n, int64_t entries) {
  return 6 * entries + 4 * rows + n + (2 * blocks + 1 + n + 2 * rows + 3 * entries) / 2 + 1;
}

static inline int64_t lw_closure_reals_in_state(int64_t blocks, int64_t rows, int64_t n) {
  return rows > LW_FEW_ROWS ? 0 : lw_closure_reals(blocks, rows, n, blocks * n) + rows * (rows + 1) / 2;
}

/* Of its closures as one matrix; `blocks`: its loops and couplings. */
#define LW_MATRIX_WORKSPACE(ARRAY)                           \
  ARRAY(a, n *rows)                                          \
  ARRAY(coefficient, n *(n + 2))                             \
  ARRAY(rhs, 2 * rows)                                       \
  ARRAY(closure, lw_closure_reals_in_state(blocks, rows, n))
#endif
