/* The compiled model: topology, names and default parameters. Const after loading. */
#ifndef LW_MODEL_H
#define LW_MODEL_H
#include "fields.h"
#include "linkwork.h"
#include "records.h"

/* The first three are inlined in the hot loops; the others keep their columns in the field joint_column. */
typedef enum lw_joint_type {
  LW_FIXED = 0,
  LW_REVOLUTE = 1,
  LW_PRISMATIC = 2,
  LW_UNIVERSAL = 3,
  LW_CYLINDRICAL = 4,
  LW_PLANAR = 5,
  LW_SPHERICAL = 6,
  LW_FREE = 7,
  LW_JOINT_TYPES
} lw_joint_type;

/* How many coordinates and speeds a type of joint has, and which speeds are of displacements (a mask). */
typedef struct lw_joint_size {
  int32_t q, u, translations;
} lw_joint_size;
extern const lw_joint_size lw_joint_sizes[LW_JOINT_TYPES];

/* One moving frame a body, parents first. */
typedef struct lw_link {
  int32_t body, joint, parent; /* parent: a link, -1 the ground */
  int32_t reversed;            /* the joint's declared child is nearer to the ground */
  int32_t type;                /* lw_joint_type of the tree joint */
  int32_t q, u;                /* where its coordinates and speeds start */
  int32_t speeds;              /* of its tree joint */
  int32_t cluster, column;     /* the cluster on whose loops it lies, or -1; its first column there */
  int32_t next;                /* its parent is the next in the inward sweep: handed over without storing */
  int32_t carries;             /* the field outboard holds what others put on it */
  int32_t first_on_parent;     /* in an inward sweep it is the first to store in its parent's */
} lw_link;

typedef struct lw_joint {
  int32_t type; /* lw_joint_type */
  int32_t q, u; /* where its coordinates and speeds start, counted over all joints */
  int32_t link; /* tree joints: the link; -1 for cut joints */
  int32_t loop; /* cut joints: the loop; -1 for tree joints */
} lw_joint;

/* One unknown of a cluster's closures: a column of a tree joint on its loops, or of one of its cut joints. */
typedef struct lw_column {
  int32_t u;           /* speed, counted over all joints */
  int32_t link;        /* the link that it moves; -1 for a cut joint */
  int32_t translation; /* displacement, not angle */
} lw_column;

/* A cut joint and the loop that it closes. */
typedef struct lw_loop {
  int32_t joint, parent, child, root; /* cut joint; links, -1 the ground; root: where the ways from both ends meet */
  int32_t cluster, row;               /* its rows in the cluster's closures */
  int32_t type, q, u;                 /* of the cut joint, over all joints */
  int32_t column, columns;            /* the cut joint's columns in the cluster */
  int32_t coordinates;                /* of the cut joint */
} lw_loop;

/* Loops that share joints are solved together; most clusters are a single loop. */
typedef struct lw_cluster {
  int32_t root;                               /* the one link that all of it stands on, -1 the ground */
  int32_t first, count;                       /* the links whose tree joints lie on its loops, contiguous */
  int32_t member, loops;                      /* its loops in the list of members */
  int32_t first_column, columns, cut_columns; /* in the column list: cut joints' first, then the tree's */
  int32_t first_real;                         /* its part of the field cluster_work */
  int32_t first_on_parent;                    /* in an inward sweep it is the first to store on its root */
} lw_cluster;

/* A run of links that one algorithm sweeps. */
typedef struct lw_segment {
  int32_t cluster, first, count; /* cluster: -1 for tree links */
} lw_segment;

typedef struct lw_offsets {
#define X(name, owner, columns, access, stage, meaning) int32_t name;
  LW_FIELDS(X)
#undef X
  int32_t end;
} lw_offsets;

enum {
#define X(name, owner, columns, access, stage, meaning) +1
  LW_FIELD_COUNT = 0 LW_FIELDS(X)
#undef X
};

struct lw_model {
  lw_sizes size;
  lw_offsets at;
  lw_field field[LW_FIELD_COUNT];
  lw_owner owner[LW_FIELD_COUNT];
  int32_t clusters, segments, columns, cluster_reals, parameters;
  lw_link *link;
  lw_joint *joint;
  lw_loop *loop;
  lw_cluster *cluster;
  int32_t *member;     /* loops, cluster by cluster */
  int32_t *coordinate; /* of each speed of all joints, where one is its integral; else one of the same joint */
  int32_t quaternions; /* tree joints that have one: speeds are not the rates of their coordinates */
  lw_segment *segment;
  lw_column *column;
  double *defaults; /* the parameter and start fields, in block order */
  const char **body_name, **joint_name;
  char *names;
  void *memory; /* one allocation holds all of the above */
};

/* Scalars of working storage for a cluster of n columns, `rows` closure rows and `links` links: see work_of() in
 * mechanics/closure.inc. */
#define LW_CLUSTER_REALS(n, rows, links)                                                                  \
  ((n) * (rows) + (n) + (n) * ((n) + 2) + 2 * (rows) + (n) * ((n) + 2) + 12 * ((links) + 1) * ((n) + 1) + \
   2 * (n) * (n) + 5 * (n) + (rows) * (rows) + 2 * (rows))
#endif
