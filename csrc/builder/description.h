/* What a builder collects: the parts of a mechanism in the order in which they were added. */
#ifndef LW_BUILDER_DESCRIPTION_H
#define LW_BUILDER_DESCRIPTION_H
#include "forces/types.h"
#include "formula/program.h"
#include "linkwork.h"

#define GROUND (-1) /* as a body */

/* Kinds of names. A body and a joint may share a name; all others differ. */
typedef enum name_kind {
  A_BODY = 0,
  A_JOINT,
  A_COUPLING,
  A_DISTANCE,
  A_TRANSITION,
  A_FORCE,
  A_POINT,
  A_MEASURE,
  AN_OUTPUT,
  A_STATE,
  NAME_KINDS
} name_kind;

typedef struct name_entry {
  char *name;
  int32_t number[NAME_KINDS]; /* position among its kind, from 1; 0: no such thing */
} name_entry;

/* Open addressing; `slots` is a power of two. */
typedef struct name_table {
  name_entry *entry;
  size_t slots, used;
} name_table;

typedef struct body_part {
  const char *name;
  double mass, com[3], inertia[9], origin[3], rotation[9];
} body_part;

typedef struct joint_part {
  const char *name;
  int32_t type, parent, child; /* lw_joint_type; bodies */
  double axes[6], parameter;   /* unit vectors in joint-frame axes; a screw's pitch */
  int32_t path, path_numbers;  /* where those of its path begin, and how many */
  lw_frame frame[2];           /* in the parent, in the child */
  int32_t cut;                 /* it shall close a loop */
  int32_t captured;            /* of a pin, the frame that is found where it is at the event: 1 parent's, 2 child's */
  int32_t method;              /* asked for, lw_method_choice; -1: none is */
  int32_t q_rank, u_rank;      /* priority of its start values, from 1; 0: none are given */
  double q[7], u[6];
  int32_t sprung, coupled, actuated, prescribed; /* prescribed: by the motion of a coupling */
  int32_t read;                                  /* by a formula */
  double stiffness[6], damping[6], free[6], reflected_inertia[6], max_load[6];
} joint_part;

typedef struct coupling_part {
  const char *name;
  double offset, motion[7];         /* motion: a row of the field coupling_motion */
  int32_t has_formula, of_friction; /* of_friction: it holds while a friction across gears sticks */
} coupling_part;

typedef struct term_part {
  int32_t coupling, joint, element;
  double coefficient[4];
} term_part;

typedef struct distance_part {
  const char *name;
  int32_t body[2];
  double point[2][3], length;
} distance_part;

/* Where its name begins among those of all, a field, a blank and a part; which number. Results of formulas and
 * instructions as in models. */
typedef struct quantity_part {
  int32_t name, index;
} quantity_part;

/* Of an element: where it starts, and the size that counts as one. */
typedef struct state_part {
  double start, nominal;
} state_part;

enum { OF_OUTPUT = LW_FORCE_TYPES, OF_STATE, OF_COUPLING };

typedef struct formula_part {
  lw_formula_rows rows; /* what it has begins in the lists of the builder */
  const char *owner;    /* a force, an output or a coupling */
  int32_t type, row;    /* of a force: its type, and its number among those; OF_OUTPUT ... of others */
} formula_part;

typedef struct lookup_part {
  int32_t row[6];                                /* as in models */
  int32_t name, first_knot, first_value, values; /* where each begins in its list */
} lookup_part;

typedef struct force_part {
  const char *name;
  int32_t type, row, body[2]; /* row: number among those of its type; bodies that it does not have are the ground */
  int32_t given, first;       /* mask of the parameters that are given; all of them begin here among the numbers */
  int32_t has_formula;
} force_part;

typedef struct gear_part {
  int32_t force, joint, element;
  double gear;
} gear_part;

typedef struct line_point_part {
  int32_t force, body;
  double point[3], factor;
} line_point_part;

typedef struct point_part {
  const char *name;
  int32_t body;
  double point[3], axis[3];
  int32_t has_axis;
} point_part;

typedef struct measure_part {
  const char *name;
  int32_t kind, point[2]; /* lw_measure_kind */
} measure_part;

typedef struct transition_part {
  const char *name;
  int32_t action, trigger;          /* lw_action, lw_trigger; LW_NO_TRIGGER until one is given */
  int32_t joint, pin, body;         /* what it acts on; -1: nothing of that kind */
  int32_t coupling;                 /* that holds a friction across gears; -1: none */
  int32_t directions, bounds;       /* as in lw_transition */
  int32_t quantity, crossing_joint; /* lw_quantity that crosses, -1 none; its joint, -1 for a distance */
  int32_t element, direction;       /* element: of the joint's coordinates or speeds; of a variable: among quantities */
  int32_t friction;                 /* of one that sticks: its force */
  int32_t watched[2];               /* bodies of a distance, and a point of each */
  double watched_point[2][3];
  double value[2], restitution; /* value: the field transition_value */
  double point[3], impulse[6];  /* of an impulse: force, then torque */
} transition_part;

/* X(list, type, elements). Pins are joints that transitions add behind all others. */
#define BUILDER_LISTS(X)                       \
  X(bodies, body_part, body)                   \
  X(joints, joint_part, joint)                 \
  X(pins, joint_part, pin)                     \
  X(couplings, coupling_part, coupling)        \
  X(terms, term_part, term)                    \
  X(distances, distance_part, distance)        \
  X(forces, force_part, force)                 \
  X(force_numbers, double, force_number)       \
  X(gears, gear_part, gear)                    \
  X(line_points, line_point_part, line_point)  \
  X(formulas, formula_part, formula)           \
  X(formula_numbers, double, formula_number)   \
  X(formula_states, state_part, state)         \
  X(quantities, quantity_part, quantity)       \
  X(quantity_names, char, quantity_name)       \
  X(instructions, lw_instruction, instruction) \
  X(results, int32_t, result)                  \
  X(lookups, lookup_part, lookup)              \
  X(lookup_knots, double, lookup_knot)         \
  X(lookup_values, double, lookup_value)       \
  X(lookup_names, char, lookup_name)           \
  X(points, point_part, point)                 \
  X(measures, measure_part, measure)           \
  X(transitions, transition_part, transition)  \
  X(path_numbers, double, path_number)

struct lw_builder {
#define X(list, type, element)      \
  type *element;                    \
  int32_t list, element##_capacity;
  BUILDER_LISTS(X)
#undef X
  int32_t of_type[LW_FORCE_TYPES]; /* forces */
  int32_t formula_inputs, formula_outputs;
  double gravity[3];
  int32_t q_starts, u_starts; /* joints with start values */
  lw_method_choice method;
  name_table names;
  unsigned char *bytes; /* the serialised model, once it is finished */
  size_t size;
  lw_frame *exact;  /* frames of all joints of that model, where they were made exact; NULL: as they were given */
  int32_t inexact;  /* a joint whose loop nearly moves; -1: none */
  lw_status status; /* the first failure */
  char message[1024];
};

/* Records a failure unless there was one before; returns `status`. */
lw_status lw_refuse(lw_builder *b, lw_status status, const char *format, ...);

/* ---- names.c ---- */
/* Position of a thing by name; -1: there is none. */
int32_t lw_named(const lw_builder *b, name_kind kind, const char *name);
/* Registers a new name. NULL: the name is invalid or in use; see the message. */
const char *lw_new_name(lw_builder *b, name_kind kind, const char *what, const char *name, int32_t number);
/* Looks up a name given by the element `owner` of kind `what`. Unknown: LW_ERROR_USAGE with the nearest name. */
lw_status lw_find_body(lw_builder *b, const char *what, const char *owner, const char *name, int32_t *body);
lw_status lw_find_joint(lw_builder *b, const char *what, const char *owner, const char *name, int32_t *joint);
lw_status lw_find_among(lw_builder *b, name_kind kind, const char *what, const char *name, int32_t *number);
void lw_free_names(name_table *names);
#define LW_LISTED 400 /* bytes of a list of names */
/* Lists names for a message, the middle of a long list left out. */
void lw_quote_names(char text[LW_LISTED], const char *const *name, int32_t count);

/* ---- bodies_and_joints.c: bodies and joints; constraints_and_forces.c: couplings, distances, forces, points of
 * interest and measures ---- */
/* The list with capacity for one element more; NULL: no memory, and the list is as before. */
void *lw_grown(void *list, int32_t count, int32_t *capacity, size_t size);
lw_status lw_no_memory(lw_builder *b);
/* append_body(b, made) and so on: one element behind a list. */
#define X(list, type, element)                                                         \
  static inline lw_status append_##element(lw_builder *b, type made) {                 \
    type *larger = lw_grown(b->element, b->list, &b->element##_capacity, sizeof made); \
    if (!larger) return lw_no_memory(b);                                               \
    b->element = larger;                                                               \
    b->element[b->list++] = made;                                                      \
    return LW_OK;                                                                      \
  }
BUILDER_LISTS(X)
#undef X
int lw_all_finite(const double *values, int32_t n);
/* Formulas in the order of models: those of forces type by type, then those of outputs and of couplings. formulas.c */
void lw_sort_formulas(lw_builder *b);
/* Takes what `of` reads behind the quantities so far. That there is such a number, and that it may be read, is found when
 * the model is laid out. */
lw_status lw_take_quantity(lw_builder *b, const char *of, const lw_formula_quantity *given);
/* The coordinate joins the terms of a coupling, whose formula reads it, unless it is one. */
lw_status lw_join_term(lw_builder *b, int32_t coupling, const char *joint, int32_t element);
lw_status lw_not_finite(lw_builder *b, const char *what, const char *name, const char *value);
/* Copies n finite numbers; `from` NULL: none. */
lw_status lw_take_numbers(lw_builder *b, const char *what, const char *name, const char *value, const double *from,
                          int32_t n, double *to);
/* A joint from what a caller gives; frames are the caller's or NULL, which is the body's own. */
lw_status lw_make_joint(lw_builder *b, joint_part *made, const char *what, const char *name, const lw_joint_kind *kind,
                        const char *parent, const char *child);
lw_status lw_given_frame(lw_builder *b, const char *what, const char *name, const char *end, const lw_frame *given,
                         lw_frame *frame);
const char *lw_joint_type_name(int32_t type);

/* ---- frames.c: 3 x 3 matrices row by row ---- */
void lw_multiply(const double a[9], const double b[9], double product[9]);
/* Orthonormalises a matrix that is nearly a rotation; returns 0 for any other. All zero: identity. */
int lw_make_rotation(double r[9]);
/* Makes the length 1 unless it is so already; 0: it has no direction. */
int lw_make_unit(double *v, int32_t n);
/* Axes of a joint, made unit vectors; NULL: they fit, else why not. */
const char *lw_make_axes(int32_t type, double axes[6]);
/* The frame in which the mechanics of a joint are written: its axes, one a column, in joint-frame axes. */
void lw_canonical_axes(int32_t type, double axes[6], double frame[9]);
/* The unit quaternion [w, x, y, z], w >= 0, of a rotation. */
void lw_quaternion_of(const double r[9], double q[4]);
/* Makes an inertia symmetric; NULL: a body can have it, else why not. */
const char *lw_make_inertia(double inertia[9]);
#endif
