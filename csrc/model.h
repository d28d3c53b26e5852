/* The compiled model: topology, names and default parameters. Const after loading. */
#ifndef LW_MODEL_H
#define LW_MODEL_H
#include "fields.h"
#include "linkwork.h"
#include "records.h"

typedef enum lw_joint_type { LW_FIXED = 0, LW_REVOLUTE = 1, LW_PRISMATIC = 2 } lw_joint_type;

/* One moving frame a body, parents first. */
typedef struct lw_link {
  int32_t body, joint, parent; /* parent: a link, -1 the ground */
  int32_t reversed;            /* the joint's declared child is nearer to the ground */
  int32_t type;                /* lw_joint_type of the tree joint */
  int32_t q, u;                /* where its coordinates and speeds start */
  int32_t loop, column;        /* the loop whose path it lies on, or -1; its first column there */
  int32_t next;                /* its parent is the next in the inward sweep: handed over without storing */
  int32_t carries;             /* the field outboard holds what others put on it */
  int32_t first_on_parent;     /* in an inward sweep it is the first to store in its parent's */
} lw_link;

typedef struct lw_joint {
  int32_t type;             /* lw_joint_type */
  int32_t q, u;             /* where its coordinates and speeds start, counted over all joints */
  int32_t link;             /* tree joints: the link; -1 for cut joints */
  int32_t loop;             /* cut joints: the loop; -1 for tree joints */
} lw_joint;

/* One unknown of a loop's closure: a column of a tree joint on the loop or of the cut joint itself. */
typedef struct lw_column {
  int32_t u;           /* speed, counted over all joints */
  int32_t link;        /* the link that it moves; -1 for the cut joint */
  int32_t side;        /* +1 on the way root to the cut joint's parent (and the cut joint), -1 on its child's */
  int32_t translation; /* displacement, not angle */
} lw_column;

typedef struct lw_loop {
  int32_t joint, parent, child, root; /* cut joint; links, -1 the ground */
  int32_t type, q, u;                 /* of the cut joint, over all joints */
  int32_t first, count;               /* its links, contiguous */
  int32_t first_column, columns;      /* in the column list: cut joint's first, then the tree's */
  int32_t cut_columns;
  int32_t first_real;      /* its part of the field loop_work */
  int32_t first_on_parent; /* in an inward sweep it is the first to store on its root */
} lw_loop;

/* A run of links that one algorithm sweeps. */
typedef struct lw_segment {
  int32_t loop, first, count; /* loop: -1 for tree links */
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
  int32_t segments, columns, loop_reals, parameters;
  lw_link *link;
  lw_joint *joint;
  lw_loop *loop;
  int32_t *on_parent_side; /* of each link: its side of the loop */
  lw_segment *segment;
  lw_column *column;
  double *defaults; /* the parameter and start fields, in block order */
  const char **body_name, **joint_name;
  char *names;
  void *memory; /* one allocation holds all of the above */
};

/* Scalars of working storage for a loop of n columns and `links` links: see mechanics/loop.inc. */
#define LW_LOOP_REALS(n, links) (6 * (n) + (n) + 6 * ((n) + 2) + 12 + (n) * ((n) + 2) + 12 * ((links) + 1) * ((n) + 1) + 2 * (n) * (n) + 5 * (n))
#endif
