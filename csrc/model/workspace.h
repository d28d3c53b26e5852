/* The working storage of clusters: each list says what a room holds and how many scalars, and gives both where the rooms
 * lie and how large the whole is. ROOM(name, scalars). */
#ifndef LW_WORKSPACE_H
#define LW_WORKSPACE_H

/* Of an ear, by `groups`: its columns in fours. Rows are those of its cut joint's frame (loops/constraint_frame.inc), held
 * directions first. What does not depend on the number of columns stands first: then its place is a constant. */
#define LW_EAR_WORKSPACE(ARRAY)                                                                      \
  ARRAY(phi, 6)     /* residual */                                                                   \
  ARRAY(y, 6)       /* minus the relative bias acceleration */                                       \
  ARRAY(angular, 9) /* rows of unit vectors */                                                       \
  ARRAY(linear, 9)                                                                                   \
  ARRAY(on_parent, 3) /* closing point by either branch, from the root's point */                    \
  ARRAY(on_child, 3)                                                                                 \
  ARRAY(rank_threshold, 1)       /* size squared that counts as nothing */                           \
  ARRAY(W, 36)                   /* dependent columns by the side, 6 x 6 */                          \
  ARRAY(a, 24 * groups)          /* 6 x groups x 4: rows, and columns side by side; in the metric */ \
  ARRAY(T, 24 * groups)          /* dependent columns by independent ones */                         \
  ARRAY(orthogonal, 24 * groups) /* as a, held rows only */                                          \
  ARRAY(size2, 4 * groups)       /* of each column */

/* Of a cluster of `n` columns, `links` and `rows` of constraints, with room for `lanes`. */
#define LW_CLUSTER_WORKSPACE(ARRAY)                                                                 \
  ARRAY(X, n *width)                /* each column's speed by lanes */                              \
  ARRAY(G, 6 * (links + 1) * width) /* each link's motion relative to the root; last: none */       \
  ARRAY(point, 6 * links)           /* position and velocity of its point relative to the root's */ \
  ARRAY(added_wrench, 6 * links)    /* wrench that ears add to what stands on it */                 \
  ARRAY(mu, rows)                   /* loads of the constraints */                                  \
  ARRAY(coupled, n)                 /* loads of couplings on columns */                             \
  ARRAY(C, rows *width)             /* constraints, lanes x rows */                                 \
  ARRAY(C_coefficient, width *width)                                                                \
  ARRAY(C_size2, width)                                                                             \
  ARRAY(C_velocity, rows)                                                                           \
  ARRAY(T, width *(width + 3)) /* independents x (free + PARTICULARS): by those that stay free */   \
  ARRAY(D, width *width)       /* reduced mass */                                                   \
  ARRAY(Q, width *width)       /* X'X */                                                            \
  ARRAY(e, width)              /* load */                                                           \
  ARRAY(B, 6 * width)          /* wrench on the root */                                             \
  ARRAY(solution, 4 * width)                                                                        \
  ARRAY(spare, 4 * width * width + 8 * width + n)

/* Of its closures as one matrix. */
#define LW_MATRIX_WORKSPACE(ARRAY) \
  ARRAY(a, n *rows)                \
  ARRAY(size2, n)                  \
  ARRAY(coefficient, n *(n + 2))   \
  ARRAY(rhs, 2 * rows)             \
  ARRAY(K, rows *rows)             \
  ARRAY(lambda, 2 * rows)
#endif
