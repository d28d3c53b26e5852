/* The compiled model: topology, names and default parameters. Const after loading. */
#ifndef LW_MODEL_H
#define LW_MODEL_H
#include "model/subassembly_tree.h"
#include "joints/types.h"
#include "formula/program.h"
#include "model/fields.h"
#include "linkwork.h"
#include "model/records.h"
#include "model/workspace.h"

/* A link in an inward sweep that stores articulated inertias in the field outboard. */
typedef struct lw_sweep_place {
  int32_t next;            /* its parent is the next: passed without storing */
  int32_t has_outboard;    /* the field holds the articulated inertia of its outboard links */
  int32_t first_on_parent; /* it is the first to store in its parent's */
} lw_sweep_place;

/* One moving frame a body, parents first. */
typedef struct lw_link {
  int32_t body, joint, parent; /* parent: a link, -1 the ground */
  int32_t reversed;            /* the joint's declared child is nearer to the ground */
  int32_t type;                /* lw_joint_type of the tree joint */
  int32_t q, u;                /* where its coordinates and speeds start */
  int32_t speeds;              /* of its tree joint */
  int32_t cluster, column;     /* the cluster on whose loops it lies, or -1; its first column there */
  int32_t ear, branch_sign;    /* the loop that adds it; +1 on the branch to the cut joint's parent, -1 to its child */
  lw_sweep_place place;        /* in the sweep of segments */
  int32_t spanned;             /* its joint moves the ends of a distance relative to each other */
} lw_link;

typedef struct lw_joint {
  int32_t type;       /* lw_joint_type */
  int32_t q, u;       /* where its coordinates and speeds start, counted over all joints */
  int32_t link;       /* tree joints: the link; -1 for cut joints */
  int32_t loop;       /* cut joints: the loop; -1 for tree joints */
  int32_t captured;   /* of its frames the one that is found when it closes: 0 none, 1 the parent's, 2 the child's */
  int32_t may_open;   /* it is among the removable joints */
  const double *path; /* numbers of its path (math/path_numbers.h); NULL: it has none */
} lw_joint;

/* A method that was asked for the loops that share joints with a joint; joint -1: for all loops. */
typedef struct lw_method_request {
  int32_t joint, method; /* method: lw_method_choice */
} lw_method_request;

/* A joint along a path, and how many numbers that has. */
typedef struct lw_path {
  int32_t joint, count;
} lw_path;

/* One unknown of a cluster's closures: a column of a tree joint on its loops, or of one of its cut joints. */
typedef struct lw_column {
  int32_t u;           /* speed, counted over all joints */
  int32_t link;        /* the link that it moves; -1 for a cut joint */
  int32_t loop;        /* of the cut joint; -1 for a tree joint */
  int32_t translation; /* displacement, not angle */
  double branch_sign;  /* of its link, 0 for a cut joint */
  double preference;   /* weight of its size in a loop's pivoting */
} lw_column;

/* Whether coordinates of a cut joint are needed: by a coupling or a force that names it, or by a lock alone, as those of
 * frictions are. */
typedef enum lw_coupled { LW_NOT_COUPLED, LW_COUPLED_WHILE_LOCKED, LW_COUPLED } lw_coupled;

/* A cut joint and the loop that it closes. */
typedef struct lw_loop {
  int32_t joint, parent, child, root; /* cut joint; links, -1 the ground; root: common ancestor of both ends */
  int32_t cluster, row;               /* its rows in the cluster's closures */
  int32_t type, q, u;                 /* of the cut joint, over all joints */
  int32_t column, columns;            /* the cut joint's columns in the cluster */
  int32_t coordinates;                /* of the cut joint */
  int32_t coupled;                    /* lw_coupled */
} lw_loop;

/* What one loop adds to those before it in its cluster: new links on at most two branches, which start at the root or
 * at links of earlier loops and end at the cut joint. Without a cut joint: one link that lies on no loop. */
typedef struct lw_ear {
  int32_t cluster, loop;           /* loop: -1 none */
  int32_t first, links;            /* in the list ear_link, parents first */
  int32_t parent_base, child_base; /* base links of the branches to the cut joint's parent and child */
  int32_t column, columns, cuts;   /* in the cluster's columns: the cut joint's first, then the links' */
  int32_t constrained;             /* directions that its cut joint holds */
  int32_t has_translation;         /* some of its columns are displacements */
  int32_t first_real;              /* its part of the workspace */
} lw_ear;

/* Offsets of the arrays of a cluster in the workspace; those of the matrix only where there is one. */
typedef struct lw_cluster_offsets {
#define ARRAY(name, scalars) int32_t name;
  LW_CLUSTER_WORKSPACE(ARRAY)
  LW_MATRIX_WORKSPACE(ARRAY)
#undef ARRAY
} lw_cluster_offsets;

/* Offsets of the changes in the workspace: behind the clusters. */
typedef struct lw_change_offsets {
#define ARRAY(name, scalars) int32_t name;
  LW_CHANGE_WORKSPACE(ARRAY)
#undef ARRAY
  int32_t end;
} lw_change_offsets;

typedef enum lw_cluster_method { LW_RCR = 0, LW_EMBEDDING = 1 } lw_cluster_method;

/* Loops that share joints, and couplings among joints, are solved together; most clusters are a single loop. */
typedef struct lw_cluster {
  int32_t root;                       /* the one link that all of its links are outboard of, -1 the ground */
  int32_t first, count;               /* its links, contiguous */
  int32_t method;                     /* lw_cluster_method */
  int32_t first_ear, ears;            /* in the order in which they are solved */
  int32_t member, loops;              /* its loops in the list of members, in solution order */
  int32_t member_coupling, couplings; /* the same for couplings */
  int32_t locks, distances;           /* the last of these couplings */
  int32_t first_column, columns;      /* in the column list, loop by loop */
  int32_t regular_dof_plus_1;         /* degrees of freedom of regular poses plus one; 0: unknown */
  int32_t independents, dof;          /* expected: columns that single loops leave; degrees of freedom */
  int32_t capacity;                   /* largest width: independent directions of all loops, and two */
  int32_t needs_point_velocities;     /* velocities of points count: for displacements in cut joints, or distances */
  int32_t dense;                      /* the workspace holds all its closures as one matrix */
  int32_t first_integer;              /* its part of the integers */
  lw_cluster_offsets at;
  int32_t first_on_parent; /* in an inward sweep it is the first to store on its root */
} lw_cluster;

/* sum of p(q) over its terms = offset + f(t), p the polynomial c1 q + c2 q^2 + c3 q^3 + c4 q^4; or a distance in
 * place of the sum; or a lock, of one term, or of several where a friction holds their sum, which asks for nothing while
 * it is open. */
typedef struct lw_coupling {
  int32_t cluster, first, terms;
  int32_t distance;   /* -1: none */
  int32_t lock;       /* row of the field `locked` while which it holds: a speed's, or a friction's; -1: no lock */
  int32_t rates_only; /* a lock of a speed that is not the rate of a coordinate */
  int32_t formula;    /* of its coordinates and time; -1: none */
  int32_t reads_time; /* the formula */
} lw_coupling;

typedef struct lw_term {
  int32_t coupling, u; /* u: of a speed that is the rate of its coordinate, over all joints */
  int32_t column;      /* of that speed in the cluster */
  int32_t in_formula;  /* the coupling has one that reads its coordinate */
} lw_term;

/* Two points of two bodies, whose distance a coupling prescribes. */
typedef struct lw_distance {
  int32_t coupling;
  int32_t end[2], root; /* links, -1 the ground; root: common ancestor of both ends */
} lw_distance;

/* A force, by its type: links of its bodies and their common ancestor, -1 the ground; of one on speeds its gears, and
 * whether all of these are rates of coordinates; of one along a line its points. */
typedef struct lw_force {
  int32_t end[2], root;
  int32_t given; /* a mask: which of its parameters are given */
  int32_t first, gears, has_length;
  int32_t joint; /* of its last gear */
  int32_t lock;  /* of a friction across gears the coupling that holds it; -1: the lock of its speed does */
  int32_t first_point, points;
  int32_t next_in_speed; /* of a force that sticks: the next one of the same speed, in a ring */
} lw_force;

typedef struct lw_gear {
  int32_t force, u; /* u: over all joints */
  int32_t loop;     /* of a cut joint; -1 for a tree joint */
  int32_t column;   /* in its cluster; -1: it is in none */
} lw_gear;

typedef struct lw_line_point {
  int32_t force, link, root; /* link: -1 the ground; root: common ancestor of it and that of the point before */
} lw_line_point;

/* A point of interest, and a measure of two of them. */
typedef struct lw_point {
  int32_t link; /* -1 the ground */
} lw_point;

typedef struct lw_measure {
  int32_t kind, point[2]; /* kind: lw_measure_kind */
} lw_measure;

typedef enum lw_action {
  LW_LOCK = 0,
  LW_UNLOCK,
  LW_PIN,
  LW_RELEASE,
  LW_STOP,
  LW_IMPULSE,
  LW_STICK,
  LW_ACTIONS
} lw_action;
typedef enum lw_trigger { LW_AT_TIME = 0, LW_ZERO_CROSSING, LW_COMMAND, LW_NO_TRIGGER, LW_TRIGGERS } lw_trigger;
/* What crosses a value; the points of a distance are those of two bodies. */
typedef enum lw_quantity {
  LW_COORDINATE = 0,
  LW_SPEED,
  LW_DISTANCE,
  LW_DISTANCE_RATE,
  LW_VARIABLE, /* any number of the block */
  LW_QUANTITIES
} lw_quantity;

/* A discontinuous change, and what brings it about. */
typedef struct lw_transition {
  int32_t action; /* lw_action */
  int32_t joint;  /* that it locks, pins, stops, ...; of an impulse the body, across gears the coupling that holds */
  int32_t directions; /* of the joint's speeds those that are meant, a mask; a stop's one bit; 0: across gears */
  int32_t hold;       /* of what stops or sticks: its row of the field `locked`, a speed but for those across gears */
  int32_t bounds;     /* a stop's: 1 lower, 2 upper */
  int32_t trigger;    /* lw_trigger */
  int32_t quantity;   /* that crosses: lw_quantity; -1 for other triggers */
  int32_t number;  /* of the coordinate or speed, over all joints; offset of the variable; force that sticks; else -1 */
  int32_t body[2]; /* of a distance; -1 the ground */
  int32_t direction;     /* +1 rising, -1 falling, 0 both */
  int32_t undone;        /* a command that ends undoes it */
  int32_t indicator;     /* its first one; a stop has one for each bound */
  int32_t next_in_speed; /* of a force that sticks: the next one of the same speed, in a ring */
} lw_transition;

/* A run of links that one algorithm sweeps. */
typedef struct lw_segment {
  int32_t cluster, first, count; /* cluster: -1 for tree links */
} lw_segment;

/* ---- multipliers: which constraints reach a link ----
 * Going inward from the bodies it acts on, a constraint reaches every link down to the ground. Its row of six numbers
 * is stored in one row of Phi; where two branches join, their rows are added. */

/* Constraints of one loop or coupling at a link: `rows` from `row` on, stored from row `phi_row` of Phi on. */
typedef struct lw_active_rows {
  int32_t row, rows, phi_row;
  int32_t contiguous,
      next; /* rows without a gap from `row` on, in this front and others; the first front behind them */
} lw_active_rows;

typedef struct lw_row_sum {
  int32_t to, from, rows; /* slots */
} lw_row_sum;

/* What reaches a link. */
typedef struct lw_constraint_support {
  int32_t first, active;     /* ascending by row */
  int32_t row_sum, row_sums; /* before its joint is articulated */
  int32_t rows, first_z;     /* of all its fronts; its columns' part of z, a row of numbers a column */
  lw_sweep_place place;      /* in the sweep of all links as one tree */
} lw_constraint_support;

/* The constraints of a loop, and the rows of Phi of its ends; -1: the ground. The last of the rows are those of the
 * speeds of the cut joint that have a rotor: a bit for each speed. */
#define ROW_OF_ROTOR (-1)
typedef struct lw_loop_rows {
  int32_t row, rows, rotors, parent_phi, child_phi;
} lw_loop_rows;

/* Where a term of a coupling acts: on a tree column at `z`, or through a cut joint in the rows of Phi of its ends. */
typedef struct lw_term_rows {
  int32_t z, parent_phi, child_phi;
} lw_term_rows;

/* The rows of Phi of a distance's ends; -1: the ground. */
typedef struct lw_distance_rows {
  int32_t phi_row[2];
} lw_distance_rows;

/* All of it; empty for models that are solved cluster by cluster. */
typedef struct lw_multipliers {
  int32_t rows, stride, phi_rows, z; /* `stride`: rows rounded up to a multiple of four */
  int32_t clusters;
  int32_t reals, integers;        /* of the workspace; the first integers: pivoting order and rank */
  lw_constraint_support *support; /* of links */
  lw_active_rows *active_rows;
  lw_row_sum *row_sum;
  lw_loop_rows *loop;
  lw_term_rows *term;
  lw_distance_rows *distance;
  int32_t *coupling_row;
  int32_t *cluster_row; /* first row of each cluster, then the number of rows */
  int32_t *row_cluster; /* of each row; ROW_OF_ROTOR: it constrains no motion */
  void *memory;         /* of all but the two lists */
  size_t bytes;         /* of all three */
} lw_multipliers;

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

/* How a whole model is solved: cluster by cluster; with multipliers about one of three reference points; or by divide
 * and conquer over subassemblies, whose loops are closed cluster by cluster for all but the accelerations. */
typedef enum lw_method {
  LW_BY_CLUSTERS = 0,
  LW_MULTIPLIERS_JOINT = 1,
  LW_MULTIPLIERS_CENTROID = 2,
  LW_MULTIPLIERS_ORIGIN = 3,
  LW_DCA = 4,
  LW_METHODS
} lw_method;

/* Kinds of parts that have names, in the order of these: X(lw_kind, their number in lw_sizes, names). */
#define LW_NAMED(X)                              \
  X(BODY, bodies, body_name)                     \
  X(JOINT, joints, joint_name)                   \
  X(COUPLING, couplings, coupling_name)          \
  X(FORCE, forces, force_name)                   \
  X(TRANSITION, transitions, transition_name)    \
  X(POINT, points, point_name)                   \
  X(MEASURE, measures, measure_name)             \
  X(OUTPUT, formula_outputs, output_name)        \
  X(STATE, formula_states, state_name)           \
  X(TABLE, lookup_tables, table_name)            \
  X(QUANTITY, formula_quantities, quantity_name)

struct lw_model {
  const struct lw_kernels *kernels; /* that this processor runs (block/kernels.h) */
  lw_sizes size;
  lw_offsets at;
  lw_field field[LW_FIELD_COUNT];
  lw_owner owner[LW_FIELD_COUNT];
  uint32_t checksum;                                          /* of its serialised form */
  uint32_t structure;                                         /* the same without parameters and names */
  int32_t clusters, segments, ears, couplings, terms, method; /* method: lw_method */
  int32_t joint_types;
  int32_t columns, cluster_reals, integers, parameters;
  lw_change_offsets change;
  int32_t most_integers; /* whichever of the joints that may open are closed */
  int32_t *type;         /* lw_joint_type of each of the joint types that the serialised model names */
  lw_link *link;
  lw_joint *joint;
  lw_loop *loop;
  lw_cluster *cluster;
  int32_t *member;     /* loops, cluster by cluster */
  int32_t *coordinate; /* of each speed of all joints, where one is its integral; else one of the same joint */
  int32_t *lock_of;    /* of each speed of all joints: the coupling that locks it, or -1 */
  int32_t quaternions, cut_quaternions; /* tree and cut joints whose speeds are not the rates of their coordinates */
  lw_segment *segment;
  lw_ear *ear;
  int32_t *ear_link;
  lw_coupling *coupling;
  int32_t *member_coupling; /* couplings, cluster by cluster */
  lw_term *term;
  lw_distance *distance;
  lw_column *column;
  int32_t first_force[LW_FORCE_TYPES + 1]; /* of each type in the list of forces, and their number */
  int32_t *force_type;                     /* how many of each of the types that the serialised model names */
  lw_force *force;
  lw_gear *gear;
  lw_line_point *line_point;
  lw_formula_rows *formula; /* of the forces by formulas, in their order, of the outputs, of the states, of couplings */
  int32_t *coupling_formula; /* the coupling of each of the last ones */
  lw_program *program;       /* of each */
  lw_instruction *instruction;
  lw_program_step *program_step; /* of each formula from its first instruction on; then the same with free kinks */
  lw_formula_quantity_row *formula_quantity;
  lw_lookup *lookup_table;
  double *lookup_knot;      /* of one table after the other: those of x, then those of y */
  int32_t *formula_result;  /* values of a formula; when loaded offsets in the block */
  int32_t *formula_operand; /* while programs are made: offset in the block of each value of a formula */
  int32_t instructions, formula_results, lookup_knots;
  int32_t forces_know_time;   /* the formula of one of them, or of a state, reads it */
  int32_t forces_read_points; /* of interest, or measures of them */
  int32_t kinks_need_motion;  /* their formulas read more than states, time and inputs */
  int32_t rates_read_outputs; /* the formula of a state reads a field of the last stage */
  int32_t pressed;            /* frictions, if any of them is by the reactions of its joint; else 0 */
  lw_transition *transition;
  lw_point *point;
  int32_t paths, path_numbers;
  lw_path *path;
  double *path_number;
  lw_measure *measure;
  double *defaults;           /* the parameter and start fields, in block order */
  int32_t *removable_joint;   /* cut joints that may open */
  unsigned char *closed;      /* of each of these: it is closed in this model */
  lw_method_request *request; /* where joints may open: what their variants need besides */
  int32_t removable_joints, requests;
  struct lw_kept_variants *variants; /* those met so far, see load/kept_variants.h; NULL: no joint may open, or this is
                                      * one of them */
  struct lw_kept_variant *kept;      /* as which this is kept; NULL: it is none of them */
#define X(KIND, list, name) const char **name;
  LW_NAMED(X) /* one list */
#undef X
  char *names;
  void *memory; /* one allocation holds all of the above */
  size_t memory_bytes;
  lw_multipliers multipliers; /* in allocations of its own */
  lw_dca_plan dca;            /* likewise */
};

/* Scalars of the workspace that an evaluation needs: of the clusters, of changes, then of the multipliers. */
static inline size_t lw_workspace_reals(const lw_model *m) {
  return (size_t)m->change.end + (size_t)m->multipliers.reals;
}

int32_t lw_type_of_force(const lw_model *m, int32_t force);
/* Where the coordinate whose rate is a speed of any joint stands in the block. */
static inline int32_t lw_offset_of_coordinate(const lw_model *m, int32_t u) {
  const int32_t q = m->coordinate[u];
  return q < m->size.nq ? m->at.q + q : m->at.q_cut + q - m->size.nq;
}

/* The first so many formulas are those of forces; those of outputs follow, then, from the second number on, those of
 * states, and from the third on, those of couplings; and the name of whose it is. */
int32_t lw_formulas_of_forces(const lw_model *m);
static inline int32_t lw_first_of_states(const lw_model *m) {
  return m->size.formulas - m->size.coupling_formulas - m->size.formula_states;
}
static inline int32_t lw_first_of_couplings(const lw_model *m) { return m->size.formulas - m->size.coupling_formulas; }
const char *lw_owner_of_formula(const lw_model *m, int32_t formula);

/* Whether a field may hold a value: only max_load and limits of sticking may be infinite. */
int lw_is_valid(const char *field, double value);

static inline int lw_has_multipliers(const lw_model *m) { return m->method != LW_BY_CLUSTERS && m->method != LW_DCA; }

/* These count about other points than the joints'. */
static inline int lw_has_centroids(const lw_model *m) {
  return m->method == LW_MULTIPLIERS_CENTROID || m->method == LW_MULTIPLIERS_ORIGIN;
}

#define LW_DENSE_ROWS 400  /* closures of more rows are not laid out as one dense matrix, which counts dof */
#define LW_MATRIX_ROWS 400 /* up to which loops that share much are assembled by one matrix if not loop by loop */
#endif
