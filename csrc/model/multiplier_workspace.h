/* The workspace of the multipliers: the list gives the arrays with their lengths in scalars, and yields the size of the
 * whole and the place of each array. ARRAY(element, name, scalars); p is the plan, s the sizes of the model. */
#ifndef LW_MULTIPLIERS_WORKSPACE_H
#define LW_MULTIPLIERS_WORKSPACE_H

#define LW_MULTIPLIER_WORKSPACE(ARRAY)                                                                              \
  ARRAY(real, arm, 3 * s->bodies) /* of links: from the joint point to the reference point */                       \
  ARRAY(twist, column, 6 * s->nu) /* at the reference point, where that is not the joint point */                   \
  ARRAY(loop_closure, closure, 12 * s->loops)                                                                       \
  ARRAY(real, conditioning, s->loops) /* saved while the clusters are solved */                                     \
  ARRAY(real, phi, 6 * p->phi_rows)                                                                                 \
  ARRAY(real, z, p->z)                         /* phi times column, for each column and row that reaches it */      \
  ARRAY(real, S, (int64_t)p->rows * p->stride) /* Phi M^-1 Phi', upper triangle */                                  \
  ARRAY(real, L, (int64_t)p->rows * p->stride) /* its rows in pivoting order */                                     \
  ARRAY(real, gamma, p->stride)                /* of rows, like all that follow */                                  \
  ARRAY(real, given, p->stride)                /* gamma before the inward sweep, less what rotors have taken */     \
  ARRAY(real, lambda, p->stride)                                                                                    \
  ARRAY(real, scale, p->stride)                                                                                     \
  ARRAY(real, y, p->stride)                                                                                         \
  ARRAY(real, D, p->stride)         /* pivots */                                                                    \
  ARRAY(real, diagonal, p->stride)  /* the unit of a scaled pivot */                                                \
  ARRAY(real, fading, p->stride)    /* of S with a unit diagonal over that with scaled rows */                      \
  ARRAY(real, residual2, p->stride) /* |Phi|^2 of the cluster */                                                    \
  ARRAY(real, largest, p->stride)   /* square of the largest z, in the metric */                                    \
  ARRAY(real, first, p->clusters)   /* of clusters: pivots before scaling, the first and the last one chosen */     \
  ARRAY(real, last, p->clusters)                                                                                    \
  ARRAY(real, least, p->clusters)      /* the least scaled pivot */                                                 \
  ARRAY(real, regularity, p->clusters) /* the least of pivots times their rows' squared size in the metric: 0..1 */
#endif
