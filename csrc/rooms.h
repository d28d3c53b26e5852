/* The working storage of clusters: each list says what a room holds and how many scalars, and gives both where the rooms
 * lie and how large the whole is. ROOM(name, scalars). */
#ifndef LW_ROOMS_H
#define LW_ROOMS_H

/* Of an ear, by `groups`: its columns in fours. Rows are those of its cut joint's frame (mechanics/cut_frame.inc), held
 * directions first. What does not depend on the number of columns stands first: then its place is a constant. */
#define LW_EAR_ROOMS(ROOM)                                                                          \
  ROOM(phi, 6)     /* residual */                                                                   \
  ROOM(y, 6)       /* minus the relative bias acceleration */                                       \
  ROOM(angular, 9) /* rows of unit vectors */                                                       \
  ROOM(linear, 9)                                                                                   \
  ROOM(on_parent, 3) /* closing point by either branch, from the root's point */                    \
  ROOM(on_child, 3)                                                                                 \
  ROOM(none, 1)                 /* size squared that counts as nothing */                           \
  ROOM(W, 36)                   /* dependent columns by the side, 6 x 6 */                          \
  ROOM(a, 24 * groups)          /* 6 x groups x 4: rows, and columns side by side; in the metric */ \
  ROOM(T, 24 * groups)          /* dependent columns by independent ones */                         \
  ROOM(orthogonal, 24 * groups) /* as a, held rows only */                                          \
  ROOM(size2, 4 * groups)       /* of each column */

/* Of a cluster of `n` columns, `links` and `rows` of constraints, with room for `lanes`. */
#define LW_CLUSTER_ROOMS(ROOM)                                                                     \
  ROOM(X, n *lanes)                /* each column's speed by lanes */                              \
  ROOM(G, 6 * (links + 1) * lanes) /* each link's motion relative to the root; last: none */       \
  ROOM(place, 6 * links)           /* position and velocity of its point relative to the root's */ \
  ROOM(added, 6 * links)           /* wrench that ears add to what stands on it */                 \
  ROOM(mu, rows)                   /* loads of the constraints */                                  \
  ROOM(coupled, n)                 /* loads of couplings on columns */                             \
  ROOM(C, rows *lanes)             /* constraints, lanes x rows */                                 \
  ROOM(C_coefficient, lanes *lanes)                                                                \
  ROOM(C_size2, lanes)                                                                             \
  ROOM(C_velocity, rows)                                                                           \
  ROOM(T, lanes *(lanes + 3)) /* independents x (free + PARTICULARS): by those that stay free */   \
  ROOM(D, lanes *lanes)       /* reduced mass */                                                   \
  ROOM(Q, lanes *lanes)       /* X'X */                                                            \
  ROOM(e, lanes)              /* load */                                                           \
  ROOM(B, 6 * lanes)          /* wrench on the root */                                             \
  ROOM(solution, 4 * lanes)                                                                        \
  ROOM(spare, 4 * lanes * lanes + 8 * lanes + n)

/* Of its closures as one matrix. */
#define LW_MATRIX_ROOMS(ROOM)   \
  ROOM(a, n *rows)              \
  ROOM(size2, n)                \
  ROOM(coefficient, n *(n + 2)) \
  ROOM(side, 2 * rows)          \
  ROOM(K, rows *rows)           \
  ROOM(lambda, 2 * rows)
#endif
