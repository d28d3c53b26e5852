/* Records of the working storage. They hold nothing but scalars T, so that one list of offsets serves every
 * arithmetic; LW_REALS(record) is a record's length in scalars. The axes of each vector stand in its comment;
 * "link frame" is the child's joint frame of a body's tree joint, with the joint axis along z. */
#ifndef LW_RECORDS_H
#define LW_RECORDS_H
#include "math/model_number.h"
#include "math/motion.h"

#define LW_DEFINE_RECORDS(T, prefix)                                                                                  \
  typedef struct prefix##link_constants {                                                                             \
    T R[9], p[3];    /* joint frame at zero coordinate in the parent's link frame */                                  \
    T J[6], h[3], m; /* inertia about the link's point, mass times com, mass; link frame */                           \
    T Rb[9], pb[3];  /* body frame in the link frame */                                                               \
  } prefix##link_constants;                                                                                           \
  typedef struct prefix##link_centroid { /* about the centre of mass, which lies at c; link frame */                  \
    T J[6], c[3];                                                                                                     \
  } prefix##link_centroid;                                                                                            \
  typedef struct prefix##idle_spin { /* which lines a body turns about while nothing else moves; link frame */        \
    T kind, p[3], d[3];              /* line_kind (tree/idle_spin_kernel.h), a point, a direction */                  \
    T axial, inertia;                /* about them; the inertia that stands in for none */                            \
  } prefix##idle_spin;                                                                                                \
  typedef struct prefix##cut_constants {                                                                              \
    T R[9], p[3];   /* cut joint's frame in the parent's link frame */                                                \
    T Rc[9], pc[3]; /* cut joint's frame in the child's link frame */                                                 \
    T length;       /* of the cluster: the metric between angles and displacements */                                 \
    T located;      /* lw_coupled: its coordinates are needed for its load or a coupling */                           \
  } prefix##cut_constants;                                                                                            \
  typedef struct prefix##link_inertia { /* one body, world axes, about the link's point */                            \
    T J[6], h[3], m, Fa[3], Fl[3];      /* F = -(M A0 + gyroscopic wrench) */                                         \
  } prefix##link_inertia;                                                                                             \
  typedef struct prefix##articulated { /* articulated inertia of a link: [A B; B' C] and F, about the link's point */ \
    T A[6], B[9], C[6], Fa[3], Fl[3];                                                                                 \
  } prefix##articulated;                                                                                              \
  typedef struct prefix##transition_memory {                                                                          \
    T event_sign;                   /* a trigger: +1 or -1, the sign; a stop: the bound it rests on, or 0 */          \
    T shift[2];                     /* a stop's gaps, a monitored speed: counted from there since an impact */        \
    T command, done;                /* as last seen; of a time that has come */                                       \
    T first_impact, impact, flight; /* of impacts that follow one another ever faster */                              \
    T last;                         /* number of the event at which it was last carried out */                        \
  } prefix##transition_memory;                                                                                        \
  typedef struct prefix##column_sweep { /* of a tree column: I P, 1/D, tau + P.F; at the parent's point where
                                              the joint has one column, at the link's where it has several */         \
    T Ua[3], Ul[3], Di, e;                                                                                            \
  } prefix##column_sweep;

LW_DEFINE_MOTION(double, lw_double_)
LW_DEFINE_RECORDS(double, lw_double_)
#define LW_REALS(record) ((int32_t)(sizeof(lw_double_##record) / sizeof(model_number)))
#endif
