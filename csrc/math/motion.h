/* The motion of a link, and twists and wrenches: records of scalars alone (model/records.h). */
#ifndef LW_MOTION_H
#define LW_MOTION_H

#define LW_DEFINE_MOTION(T, prefix)                                                                           \
  typedef struct prefix##twist { /* motion [angular; linear] or wrench [torque; force] at the link's point */ \
    T a[3], l[3];                                                                                             \
  } prefix##twist;                                                                                            \
  typedef struct prefix##link_motion { /* world axes */                                                       \
    T R[9];                            /* link frame to world */                                              \
    T r[3];                            /* from the parent's point to this link's point */                     \
    T w[3];                            /* angular velocity */                                                 \
    T aw[3], av[3]; /* acceleration of the link's point with all udot zero and the ground at -gravity */      \
  } prefix##link_motion;
#endif
