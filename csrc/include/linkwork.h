/* The public interface of the Linkwork core: closed-chain multibody dynamics in C.
 *
 * A model is const after loading and may be shared by any number of states and threads. A state owns
 * every number that changes, in one flat block of doubles; a variable is an offset into that block.
 * SI units, world axes, spatial vectors [angular; linear], quaternions [w, x, y, z] body to world.
 * Nothing here prints, exits or asserts on a caller's input; nothing allocates after creation, except once at a
 * state's first directional derivative, Jacobian or Newton matrix, its first jump, its first use of divide and
 * conquer, when an integrator is first given an implicit method, and lw_assemble (more than six loops that share
 * joints), lw_jacobian and lw_assembly_sensitivity for as long as they run; and at a change of topology: where a joint that may open
 * closes or opens, at an event, by lw_discrete_state_changed or by lw_state_restore, the topology variant that follows
 * is compiled, unless the model keeps it, and the state's workspace grows if the variant needs more. A model keeps the
 * variants in which states are, and of all others those used last, up to 64 MB. Threads that share a model share these.
 *
 * Growth of this interface: models, states and builders are opaque types, and additions are new functions. The structs
 * below keep their fields and size for a whole version LW_VERSION_MAJOR.MINOR. A caller sets a struct to zero before
 * filling it, and zero is the default of each field: T t = {0} in C, T t = {} in C++.
 *
 * The Python binding reads this file too. It drops preprocessor lines, the lines between #ifdef __cplusplus and its
 * #endif, and the word LW_API. All the rest is plain declarations. */
#ifndef LINKWORK_H
#define LINKWORK_H
#include <stddef.h>
#include <stdint.h>

/* The one place of the version. */
#define LW_VERSION_MAJOR 0
#define LW_VERSION_MINOR 3
#define LW_VERSION_PATCH 0

/* Exports of a shared library. LW_SHARED: the library is a shared one; LW_BUILDING: it is being compiled. */
#if defined(LW_SHARED) && defined(_WIN32) && defined(LW_BUILDING)
#define LW_API __declspec(dllexport)
#elif defined(LW_SHARED) && defined(_WIN32)
#define LW_API __declspec(dllimport)
#elif defined(LW_SHARED)
#define LW_API __attribute__((visibility("default")))
#else
#define LW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lw_status {
  LW_OK = 0,
  LW_ERROR_MEMORY,    /* an allocation failed */
  LW_ERROR_FORMAT,    /* the serialised model is truncated, altered or of another version */
  LW_ERROR_PARAMETER, /* a parameter has a value that no mechanism can have */
  LW_ERROR_VALUE,     /* a state or input is not finite, or a result came out not finite */
  LW_ERROR_USAGE,     /* an unknown variable, or one that may not be set or read this way */
  LW_ERROR_ASSEMBLY,  /* the loops cannot be closed from this guess */
  LW_ERROR_SINGULAR,  /* the equations of motion have no unique solution in this pose */
  LW_ERROR_SOLVER     /* the integrator gave up */
} lw_status;

typedef struct lw_model lw_model;
typedef struct lw_state lw_state;

typedef struct lw_sizes {
  int32_t bodies, joints, loops;
  int32_t couplings, terms; /* distances count among the couplings */
  int32_t distances;
  int32_t locks;         /* and so do locks of single speeds, which come before the distances */
  int32_t held_sums;     /* the last couplings before the locks: sums of speeds in which frictions stick */
  int32_t forces, gears; /* those of lw_builder_add_force; speeds on which they act */
  int32_t line_points;   /* of forces along lines */
  int32_t formulas, formula_numbers, formula_inputs, formula_quantities;
  int32_t formula_values; /* of the longest formula */
  int32_t lookup_tables, lookup_values, lookup_slopes, lookup_regions;
  int32_t coupling_formulas, coupling_numbers, coupling_values; /* of formulas, their numbers, their tables' values */
  int32_t transitions;
  int32_t points, measures; /* points of interest; distances and angles between them */
  int32_t formula_outputs;  /* those of lw_builder_add_output */
  int32_t formula_states;   /* those of lw_builder_add_state */
  int32_t nq, nu;           /* coordinates and speeds of the spanning tree */
  int32_t states;           /* the continuous states: these, then the states of elements */
  int32_t nq_cut, nu_cut;   /* those of the cut joints, which follow from the states */
  int32_t event_indicators; /* of transitions, then of kinks */
  int32_t kinks;            /* of formulas that move something: comparisons, knots of tables */
  int32_t reals;            /* doubles in the block of a state */
} lw_sizes;

typedef enum lw_access {
  LW_INTERNAL = 0,
  LW_PARAMETER,  /* settable until the motion starts */
  LW_START,      /* start guess of a coordinate or speed; settable until the motion starts */
  LW_INPUT,      /* settable at any time */
  LW_STATE,      /* q, u, then element_state: contiguous */
  LW_DERIVATIVE, /* qdot, udot, then element_rate: contiguous, in the order of the states */
  LW_OUTPUT
} lw_access;

/* How far the block has been computed. Each stage includes those before it. */
typedef enum lw_stage {
  LW_STAGE_NONE = 0,
  LW_STAGE_CONSTANTS,     /* functions of the parameters alone */
  LW_STAGE_ACCELERATIONS, /* accelerations of all joints */
  LW_STAGE_DERIVATIVES,   /* time derivatives of the states */
  LW_STAGE_OUTPUTS        /* poses, reactions, energies, residuals */
} lw_stage;

/* A field of the block: rows x columns doubles, row by row, from offset `first`. */
typedef struct lw_field {
  const char *name;
  const char *meaning; /* what it holds, its unit and axes */
  int32_t first, rows, columns;
  lw_access access;
  lw_stage stage;  /* what must have been computed before it can be read */
  int32_t tunable; /* 1: a parameter that may be set while the mechanism moves, without effect on closure and states */
} lw_field;

/* A joint frame in the frame of a body. */
typedef struct lw_frame {
  double position[3]; /* m */
  double rotation[9]; /* its axes are the columns; all zero: parallel to the body's */
} lw_frame;

/* ---- model ---------------------------------------------------------------------------------------- */

/* Reads and checks a serialised model; the bytes are copied. On failure *model is NULL; see the message. */
LW_API lw_status lw_model_load(const void *bytes, size_t size, lw_model **model, char *message, size_t message_size);
LW_API void lw_model_free(lw_model *model);
/* Continues the CRC-32 of preceding bytes, 0 at the beginning: the checksum of serialised models. */
LW_API uint32_t lw_crc32(uint32_t before, const void *data, size_t size);
/* Puts other values of the parameter and start fields, all of them in their order, into the bytes from which a model was
 * loaded. LW_ERROR_USAGE: they are those of another one. */
LW_API lw_status lw_model_put_parameters(const lw_model *model, const double *values, void *bytes, size_t size);
LW_API lw_sizes lw_model_sizes(const lw_model *model);
LW_API int32_t lw_field_count(void);
LW_API lw_status lw_model_field(const lw_model *model, int32_t index, lw_field *field);

/* Pivots and singular values of constraints below this part of the largest count as zero, lengths counted in that of
 * their cluster: in all computations, so that all of them find the same degrees of freedom. */
#define LW_RANK_TOLERANCE 1e-6

/* A cluster: loops and couplings that share joints. Its independent columns are counted at the start values or at
 * neutral coordinates, whichever is nearer to a closed pose. */
typedef struct lw_cluster_info {
  int32_t columns, rows; /* speeds of its tree and cut joints; closure equations, redundant ones included */
  int32_t independents;  /* columns that remain when each loop is solved by itself */
  int32_t dof;           /* degrees of freedom: columns that all closures leave */
} lw_cluster_info;
LW_API lw_status lw_model_cluster(const lw_model *model, int32_t cluster, lw_cluster_info *expected);

/* The plan by which a model is solved, as rows of whole numbers. Links are bodies from ground outwards, -1 the ground. */
typedef enum lw_table {
  LW_TABLE_LINK =
      0,          /* body, joint that carries it, parent link, 1: the joint's declared child is nearer to the ground */
  LW_TABLE_JOINT, /* first coordinate and speed, counted over all joints, tree joints first; number of speeds; the frame
                     that is found when it closes: 0 none, 1 the parent's, 2 the child's */
  LW_TABLE_LOOP,  /* cut joint, links of its parent and child, link from which the branches to them start, cluster */
  LW_TABLE_CLUSTER,   /* root link, first link, number of links, 1: solved by constraint embedding */
  LW_TABLE_SEGMENT,   /* cluster or -1, first link, number of links: all links in runs */
  LW_TABLE_STEP,      /* cluster, loop or -1, number of links that it adds: in the order in which loops are solved */
  LW_TABLE_STEP_LINK, /* links that steps add */
  LW_TABLE_COUPLING,  /* cluster or -1, number of terms: couplings, locks, distances */
  LW_TABLE_TERM,      /* coupling, speed */
  LW_TABLE_DISTANCE,  /* links of both ends */
  LW_TABLE_REMOVABLE, /* joint that may open, 1: it is open in this model */
  LW_TABLES_OF_PLAN
} lw_table;
/* Writes the rows of a table one behind the other, unless `rows` is NULL; returns how many there are. */
LW_API int32_t lw_model_table(const lw_model *model, lw_table table, int32_t *rows);
/* The topology variant in which of the joints that may open only those of a list are open; NULL: it cannot be compiled.
 * It lives as long as `model`, which keeps it beyond its limit. */
LW_API const lw_model *lw_model_variant(const lw_model *model, const int32_t *open, int32_t count);

typedef enum lw_method_choice {
  LW_METHOD_AUTO = 0,             /* for each cluster RCR or embedding, whichever is expected to cost less */
  LW_METHOD_RCR,                  /* recursive coordinate reduction, loop by loop */
  LW_METHOD_EMBEDDING,            /* constraint embedding, the loops of a cluster as one matrix */
  LW_METHOD_MULTIPLIERS,          /* Lagrange multipliers of all loops at once; inertias about the joints' points */
  LW_METHOD_MULTIPLIERS_CENTROID, /* about the centres of mass */
  LW_METHOD_MULTIPLIERS_ORIGIN,   /* about the world's origin: costs least, loses digits far from it */
  LW_METHOD_DCA                   /* divide and conquer */
} lw_method_choice;

/* Multiplications that a method is expected to need for one evaluation of a cluster, -1 the whole mechanism; infinity: it
 * cannot take that, or it takes a whole mechanism only, or there is too much to count. */
LW_API double lw_model_cost(const lw_model *model, int32_t cluster, lw_method_choice method);
/* Why a method cannot take a cluster, -1 the whole mechanism, in words; empty: it can. */
LW_API void lw_model_refusal(const lw_model *model, int32_t cluster, lw_method_choice method, char *text, size_t size);
/* Makes frames[joints][2], those from which the model was made, in the parent and in the child, exact where loops move or
 * close only so: where rounding keeps axes from being parallel, perpendicular or concurrent, or points from lying in a
 * plane. changed: 0 where they are already. inexact: a joint whose loop, alone or with others, nearly moves, but for which
 * no small change was found; -1: none. */
LW_API lw_status lw_model_exact_frames(const lw_model *model, lw_frame *frames, int32_t *changed, int32_t *inexact);

/* ---- names ------------------------------------------------------------------------------------------ */

typedef enum lw_kind {
  LW_KIND_BODY = 0,
  LW_KIND_JOINT,
  LW_KIND_COUPLING, /* couplings, locks ("A lock"), distances */
  LW_KIND_FORCE,    /* type by type */
  LW_KIND_TRANSITION,
  LW_KIND_POINT,
  LW_KIND_MEASURE,
  LW_KIND_OUTPUT,   /* by formulas */
  LW_KIND_STATE,    /* of elements, by formulas */
  LW_KIND_TABLE,    /* of formulas: "spring.gas" of the force "spring" */
  LW_KIND_QUANTITY, /* that formulas read and transitions watch, field and part: "q crank", "time " */
  LW_KIND_FIELD     /* of the block: "q", "udot", "body_mass" */
} lw_kind;

LW_API int32_t lw_model_count(const lw_model *model, lw_kind kind);
/* The name of a thing by its index, from 0, in the order in which they were added; NULL: there is none. */
LW_API const char *lw_model_name(const lw_model *model, lw_kind kind, int32_t index);
/* The index of a thing by its name; -1: there is none. */
LW_API int32_t lw_model_find(const lw_model *model, lw_kind kind, const char *name);
/* Finds the numbers of one body, joint, ... in a field: `count` doubles from offset `first`, as ("q", "A"). The "q"
 * and "u" of a cut joint are found in the fields q_cut and u_cut. `owner` NULL: the whole field. LW_ERROR_USAGE: there
 * is no such field, or it has no number of `owner`. */
LW_API lw_status lw_model_find_variable(const lw_model *model, const char *field, const char *owner, int32_t *first,
                                        int32_t *count);

/* ---- builder: a model from bodies and joints --------------------------------------------------------
 * Add bodies first, then joints, then the elements that refer to them. Names are ASCII letters, digits,
 * blanks between them and the signs ! # $ % & ( ) + - / : ; < > @ ^ _ { | } ~, and do not begin with -. All names
 * differ, except that a body and a joint may share one; "ground" is the world. All arrays and texts are copied; NULL
 * means zeros. Matrices are row by row.
 * A call that fails adds nothing. The first failure leaves its message, and lw_builder_finish fails with it, so that
 * calls may go unchecked until then. LW_ERROR_PARAMETER: an invalid value; LW_ERROR_USAGE: an invalid name or
 * combination; LW_ERROR_MEMORY. A builder serves one thread at a time. */

typedef struct lw_builder lw_builder;

/* The kind of a joint; q and u are those of the child relative to the parent. By type, with its axes and coordinates:
 *   "fixed"        a weld
 *   "revolute"     axis; angle
 *   "prismatic"    axis; displacement
 *   "universal"    two perpendicular axes, the first fixed in the parent; angles about them
 *   "cylindrical"  axis; angle about it, displacement along it
 *   "planar"       normal; displacements along x and y of the joint frame, angle about the normal
 *   "spherical"    quaternion; u: angular velocity, child axes
 *   "free"         position, quaternion; u: angular velocity, velocity, child axes
 *   "screw"        axis; angle about it; `parameter`: the pitch, m/rad
 *   "pin_in_slot"  axis of the pin, perpendicular slot in the parent; displacement along the slot, angle
 *   "curved_slide" axis of a circle, perpendicular direction at zero; its radius in m, not zero, towards axis x direction;
 *                  displacement along the circle, with which the child turns
 *   "curved_slot"  axis of the pin, perpendicular slot at zero; radius of the slot as above; displacement, angle
 *   "path_slide"   axis; length along a path, with whose tangent the child's x axis turns, its z axis as near to the axis
 *                  as it can be
 *   "path_slot"    axis of the pin; length along a path, angle
 * A path is a curve in the parent's joint frame, turned so that the axis is along z: the numbers [pieces, 1 if it is
 * closed, length], then for each piece [length at its start, size, 18 coefficients]: the point at 0 <= a <= size is the
 * sum of a^k times coefficients 3k to 3k + 2, k = 0 to 5; curvature and its rate must be continuous. */
typedef struct lw_joint_kind {
  const char *type;
  double axes[6];     /* one axis or two after each other, joint frame; any length */
  double parameter;   /* of types that have one */
  const double *path; /* of types along a path: its numbers */
  int32_t path_numbers;
} lw_joint_kind;

LW_API lw_status lw_builder_create(lw_builder **builder);
LW_API void lw_builder_free(lw_builder *builder);
LW_API const char *lw_builder_message(const lw_builder *builder); /* of the first failure; empty: there was none */

/* Checks and compiles the mechanism as it is at first, and checks it with all joints closed and with all of those open
 * that may open. The builder is unchanged, so that more can be added for another model. */
LW_API lw_status lw_builder_finish(lw_builder *builder, lw_model **model);
/* The bytes of the model that was finished last, for lw_model_load; NULL: there is none. The builder frees them. */
LW_API const void *lw_builder_bytes(const lw_builder *builder, size_t *size);

/* One topology variant alone, with these of the joints open that may open, and with the frames as they were given.
 * Joints are numbered as they were added, pins behind all others. */
LW_API lw_status lw_builder_finish_variant(lw_builder *builder, const int32_t *open, int32_t count, lw_model **model);
/* Frames of all joints, two each as of lw_model_exact_frames, with which the loops of the model that was finished last are
 * exact; NULL: those that were given are. `inexact`: as of that function. The builder frees them. */
LW_API const lw_frame *lw_builder_exact_frames(const lw_builder *builder, int32_t *inexact);

/* m/s^2, world axes; at first (0, 0, -9.81). */
LW_API lw_status lw_builder_set_gravity(lw_builder *builder, const double gravity[3]);
/* The method of all loops, or of those that share joints with `joint`, which may be a pin (LW_METHOD_AUTO, _RCR or
 * _EMBEDDING). */
LW_API lw_status lw_builder_set_method(lw_builder *builder, const char *joint, lw_method_choice method);

/* kg; centre of mass, m, and inertia about it, kg m^2, in body axes. */
LW_API lw_status lw_builder_add_body(lw_builder *builder, const char *name, double mass, const double com[3],
                                     const double inertia[9]);
/* Many at once: names one behind the other, each with its zero; mass[n], com[n][3], inertia[n][9]. After a failure those
 * before it have been added. */
LW_API lw_status lw_builder_add_bodies(lw_builder *builder, int32_t count, const char *names, const double *mass,
                                       const double *com, const double *inertia);
/* Reference pose in the world, for lw_builder_add_joint_at and lengths: origin and axes (columns); default: those of
 * the world. Call it before the joints that need it are added. */
LW_API lw_status lw_builder_place_body(lw_builder *builder, const char *body, const double origin[3],
                                       const double rotation[9]);

/* A joint by its frame in both bodies; the frames coincide at q = 0. NULL: the body's own frame. A joint that closes a
 * loop is added like any other. */
LW_API lw_status lw_builder_add_joint(lw_builder *builder, const char *name, const lw_joint_kind *kind,
                                      const char *parent, const char *child, const lw_frame *parent_frame,
                                      const lw_frame *child_frame);
/* Many at once: names and bodies one behind the other, each with its zero; the number of each one's kind in a list; frames
 * in parent and child, two each; which of them are cut, NULL: none. After a failure those before it have been added. */
LW_API lw_status lw_builder_add_joints(lw_builder *builder, int32_t count, const char *names,
                                       const lw_joint_kind *kinds, const int32_t *kind, const char *parents,
                                       const char *children, const lw_frame *frames, const unsigned char *cut);
/* A joint by its point and axes in the world, where the bodies are in their reference poses. */
LW_API lw_status lw_builder_add_joint_at(lw_builder *builder, const char *name, const lw_joint_kind *kind,
                                         const char *parent, const char *child, const double at[3]);
/* Cuts the loop at this joint rather than at one that is chosen, so that its coordinates are no states. */
LW_API lw_status lw_builder_cut(lw_builder *builder, const char *joint);
/* tau = -stiffness (q - free) - damping u, a number for each speed. */
LW_API lw_status lw_builder_add_joint_spring(lw_builder *builder, const char *joint, const double *stiffness,
                                             const double *damping, const double *free_coordinate);
/* Inertia of the rotor that drives each speed of a joint, times the gear ratio squared, kg m2 or kg. */
LW_API lw_status lw_builder_set_reflected_inertia(lw_builder *builder, const char *joint,
                                                  const double *reflected_inertia);
/* The driving load of each speed of a joint saturates at +-max_load, N m or N; NULL or infinity: no limit. */
LW_API lw_status lw_builder_set_max_load(lw_builder *builder, const char *joint, const double *max_load);
/* Start guesses: all coordinates or speeds of a joint. Assembly keeps those that were given first longest. */
LW_API lw_status lw_builder_start_q(lw_builder *builder, const char *joint, const double *q);
LW_API lw_status lw_builder_start_u(lw_builder *builder, const char *joint, const double *u);

/* sum of c1 q + c2 q^2 + c3 q^3 + c4 q^4 over its terms = offset + motion(t). With a formula g of coordinates and time,
 * which lw_builder_set_coupling_formula gives: sum + g = offset + motion(t). */
LW_API lw_status lw_builder_add_coupling(lw_builder *builder, const char *name, double offset);
/* `element`: which coordinate of the joint, from 0. */
LW_API lw_status lw_builder_add_term(lw_builder *builder, const char *coupling, const char *joint, int32_t element,
                                     const double coefficients[4]);
/* motion(t) = c0 + c1 t + c2 t^2 + c3 t^3 + amplitude sin(2 pi frequency t + phase), plus the input motion_in. */
LW_API lw_status lw_builder_set_motion(lw_builder *builder, const char *coupling, const double polynomial[4],
                                       double amplitude, double frequency, double phase);
/* A coordinate as a function of time: a coupling of one term with a motion. */
LW_API lw_status lw_builder_prescribe(lw_builder *builder, const char *name, const char *joint, int32_t element,
                                      const double polynomial[4], double amplitude, double frequency, double phase);
/* A massless rod keeps the distance of points of two bodies. `length` 0: as in the reference poses. */
LW_API lw_status lw_builder_add_distance(lw_builder *builder, const char *name, const char *first,
                                         const double first_point[3], const char *second, const double second_point[3],
                                         double length);

/* A parameter of a force by the name of its field in the block, and all of its numbers. */
typedef struct lw_parameter {
  const char *name;
  const double *values;
} lw_parameter;

/* A force by its type, on one body, two bodies or none, with some of its parameters; the others are zero, or no limits.
 *   "spring"    between points of two bodies: pulls with stiffness (length - free length) + damping d(length)/dt;
 *               spring_points[6], spring_stiffness, spring_damping, spring_free_length
 *   "wrench"    a force at a point of a body, and a torque: inputs applied_force and applied_torque; wrench_point[3]
 *   "actuator"  F = gain input + offset - stiffness l - damping l' on speeds u_i by gears g_i: each is loaded by g_i F,
 *               l = sum g_i q_i and l' = sum g_i u_i; its input is actuator_input. On a joint whose orientation is a
 *               quaternion it has no length and takes no stiffness. actuator_gain, actuator_offset, actuator_stiffness,
 *               actuator_damping; lower and upper limits actuator_input_range[2], actuator_force_range[2]
 *   "bushing"   an elastic mount between frames of two bodies, with symmetric matrices [6 x 6] by their upper triangles,
 *               row by row: displacement and rotation vector of the second frame in the first; bushing_points[6],
 *               bushing_rotations[8], quaternions that must not be zero, bushing_stiffness[21], bushing_damping[21],
 *               bushing_preload[6]
 *   "friction"  dry friction on speeds, as an actuator, that slides or sticks: friction_coulomb, friction_static, by
 *               default the same, friction_stribeck, friction_viscous; with friction_smooth it never sticks; with
 *               friction_mu the joint's reaction presses its surfaces, friction_radius for speeds of rotation,
 *               friction_static_mu, by default the same; by a gear of 1 in a revolute, prismatic, cylindrical, universal
 *               or screw joint. friction_forward and friction_backward, by default 1, times the friction at positive and
 *               at negative speeds; with friction_forward 0 friction_static may be infinite: it never slides back
 * Those by a formula, which lw_builder_set_formula gives:
 *   "joint_formula" on speeds, as an actuator; one result
 *   "line_formula"  along the line through points of bodies, as of a cable, which it tightens: lw_builder_add_line_point
 *                   names them; one result, the tension
 *   "point_formula" a force at a point of a body and a torque: six results; point_formula_point[3], point_formula_axes:
 *                   0 for components in world axes, 1 in those of the body
 *   "brake"         dry friction, as "friction", that has its one result while it slides and sticks up to brake_static
 *                   times it, by default 1; brake_forward, brake_backward
 *   "frame_formula" a force and a torque between frames of two bodies, on the second about its frame's origin, in axes of
 *                   the first, which has the opposite: six results; frame_formula_points[6], frame_formula_rotations[8]; it
 *                   reads its frame_formula_displacement, _rotation, _velocity and _angular_velocity */
LW_API lw_status lw_builder_add_force(lw_builder *builder, const char *type, const char *name, const char *body,
                                      const char *other_body, const lw_parameter *parameters, int32_t count);
/* A force on speeds, such as an actuator, needs one gear or more. `element`: which speed of the joint, from 0. */
LW_API lw_status lw_builder_add_gear(lw_builder *builder, const char *force, const char *joint, int32_t element,
                                     double gear);
/* A force along a line needs two points or more, of two bodies at least, one of which may be the ground. `factor`: by
 * which the length of the straight piece from the point before counts in that of the line, and the tension of the piece
 * in that of the force; 0 there is no piece, as before the first point. */
LW_API lw_status lw_builder_add_line_point(lw_builder *builder, const char *force, const char *body,
                                           const double point[3], double factor);

/* What a formula reads: a number of a field, as lw_model_find_variable names it. The formula of a force reads "time", "q"
 * and "u" of any joint, "element_state" of any state, its own "formula_input", and its own length and rate, as
 * "line_formula_length"; that of an output all that is not internal, of outputs those before it. */
typedef struct lw_formula_quantity {
  const char *field, *owner; /* the name of a body, joint, force, ...; NULL: the whole field */
  int32_t index;             /* which of its numbers there, from 0 */
} lw_formula_quantity;
/* An operation has a value, made of those of operations before it: a, b and c count these from 0.
 *   "number", "quantity"                           number a or quantity a of the formula
 *   "add", "subtract", "multiply", "divide"        of a and b;  "minus", "square", "cube" of a
 *   "power" a^b, a > 0;  "integer_power"           the exponent is b itself, -64 to 64
 *   "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh" of a; "atan2" of a and b
 *   "abs", "sign" (-1, 0, 1), "floor" of a;  "min", "max", "mod" (a - b floor(a/b)) of a and b
 *   "less", "less_equal" of a and b (1 or 0);  "select"   b where a is not 0, else c
 *   "table"                                        table c of the formula at a and b; one of one argument at a */
typedef struct lw_operation {
  const char *name;
  int32_t a, b, c;
} lw_operation;

typedef enum lw_interpolation {
  LW_LOOKUP_LINEAR = 0,
  LW_LOOKUP_MONOTONE, /* cubics with a continuous slope that exceed no row */
  LW_INTERPOLATIONS
} lw_interpolation;
typedef enum lw_outside {
  LW_LOOKUP_HOLD = 0, /* the end rows */
  LW_LOOKUP_EXTEND,   /* by their slopes */
  LW_LOOKUP_ERROR,
  LW_OUTSIDES
} lw_outside;
/* A lookup table of one argument or two. Abscissae increase; values row by row: y of each x. Where an argument is
 * periodic the last row equals the first. */
typedef struct lw_lookup_table {
  const char *name;
  const double *x, *y; /* y NULL: one argument */
  const double *values;
  int32_t knots[2], periodic[2]; /* of x and y */
  lw_interpolation interpolation;
  lw_outside outside; /* of the abscissae */
} lw_lookup_table;
typedef struct lw_formula {
  const double *number;
  const lw_formula_quantity *quantity;
  const lw_operation *operation;
  const int32_t *result; /* operations whose values are the results */
  int32_t numbers, inputs, quantities, operations, results;
  int32_t tables;
  const lw_lookup_table *table;
} lw_formula;
/* The formula of a force by one. Its numbers are tunable: the field formula_number; and so are the values of its tables,
 * lookup_value, but for the last rows of periodic ones, which are the first. Its inputs are formula_input. */
LW_API lw_status lw_builder_set_formula(lw_builder *builder, const char *force, const lw_formula *formula);
/* An output by a formula of one result and without inputs: the field formula_output. */
LW_API lw_status lw_builder_add_output(lw_builder *builder, const char *name, const lw_formula *formula);
/* A continuous state of an element, such as a current, whose time derivative is a formula of one result: the fields
 * element_state and element_rate. It starts at `start`, the field state_start; a size of `nominal` counts as one in absolute
 * tolerances. It reads what the formula of an output reads,
 * states as well, but no element_rate, and no output that reads one; its inputs are formula_input. */
LW_API lw_status lw_builder_add_state(lw_builder *builder, const char *name, double start, double nominal,
                                      const lw_formula *formula);
/* The formula of a coupling, of one result and without inputs. It reads "time" and "q" of joints whose coordinates may be
 * coupled; those that are not among the terms join them. Its value has two derivatives: no "abs", "sign", "min", "max",
 * "mod", "floor", comparison or choice, and no linear table. Its numbers and the values of its tables hold from the start
 * of the motion on: the fields coupling_number and coupling_table. */
LW_API lw_status lw_builder_set_coupling_formula(lw_builder *builder, const char *coupling, const lw_formula *formula);

/* A point of interest of a body or the ground, with a direction of any length, both in the body's frame: the outputs
 * point_position, point_velocity, point_acceleration and point_axis. `axis` NULL: z. */
LW_API lw_status lw_builder_add_point(lw_builder *builder, const char *name, const char *body, const double point[3],
                                      const double axis[3]);

typedef enum lw_measure_kind {
  LW_MEASURE_DISTANCE = 0, /* between two points [m] */
  LW_MEASURE_ANGLE         /* between the directions of two points, 0 to pi [rad] */
} lw_measure_kind;

/* A distance or angle of two points: the outputs measure_value and measure_rate. */
LW_API lw_status lw_builder_add_measure(lw_builder *builder, const char *name, lw_measure_kind kind, const char *first,
                                        const char *second);

/* Transitions are instantaneous changes. Each but a stop gets one trigger below. `directions`: a bit for each speed of
 * the joint; 0: all. */
LW_API lw_status lw_builder_add_lock(lw_builder *builder, const char *name, const char *joint, uint32_t directions);
LW_API lw_status lw_builder_add_unlock(lw_builder *builder, const char *name, const char *joint, uint32_t directions);
/* A joint of this name closes. A frame that is NULL is captured where the other is at the event. */
LW_API lw_status lw_builder_add_pin(lw_builder *builder, const char *name, const lw_joint_kind *kind,
                                    const char *parent, const char *child, const lw_frame *parent_frame,
                                    const lw_frame *child_frame);
/* A pin, or a joint that closes a loop, opens. */
LW_API lw_status lw_builder_add_release(lw_builder *builder, const char *name, const char *joint);
/* A coordinate stays within bounds; -INFINITY, INFINITY: no bound. */
LW_API lw_status lw_builder_add_stop(lw_builder *builder, const char *name, const char *joint, int32_t element,
                                     double lower, double upper, double restitution);
/* The input `impulse` acts on a body; its default is force [N.s] and torque [N.m.s], world axes. */
LW_API lw_status lw_builder_add_impulse(lw_builder *builder, const char *name, const char *body, const double point[3],
                                        const double force[3], const double torque[3]);
LW_API lw_status lw_builder_at_time(lw_builder *builder, const char *transition, double time);
/* Where a coordinate crosses a value. `direction`: +1 rising, -1 falling, 0 both. */
LW_API lw_status lw_builder_at_crossing(lw_builder *builder, const char *transition, const char *joint, int32_t element,
                                        double value, int32_t direction);
/* Where a speed of a joint does. */
LW_API lw_status lw_builder_at_speed(lw_builder *builder, const char *transition, const char *joint, int32_t element,
                                     double value, int32_t direction);
/* Where the distance of points of two bodies does, or its rate. */
LW_API lw_status lw_builder_at_distance(lw_builder *builder, const char *transition, const char *first,
                                        const double first_point[3], const char *second, const double second_point[3],
                                        double value, int32_t direction);
LW_API lw_status lw_builder_at_distance_rate(lw_builder *builder, const char *transition, const char *first,
                                             const double first_point[3], const char *second,
                                             const double second_point[3], double value, int32_t direction);
/* Where a number of a field does, as formulas of outputs read it. */
LW_API lw_status lw_builder_at_variable(lw_builder *builder, const char *transition,
                                        const lw_formula_quantity *variable, double value, int32_t direction);
/* Where the input `command` becomes 1. Its end undoes a lock or pin that nothing else undoes. */
LW_API lw_status lw_builder_on_command(lw_builder *builder, const char *transition);

/* ---- state ---------------------------------------------------------------------------------------- */

LW_API lw_status lw_state_create(const lw_model *model, lw_state **state); /* the model must outlive the state */
LW_API void lw_state_free(lw_state *state);
LW_API lw_status lw_state_reset(lw_state *state); /* parameters, starts and inputs back to the model's defaults */
LW_API const char *lw_state_message(const lw_state *state); /* of the last failed call on this state */

/* The block itself. After writing to it call lw_state_changed with the highest stage that is still valid. */
LW_API double *lw_state_reals(lw_state *state);
LW_API void lw_state_changed(lw_state *state, lw_stage valid);
/* As lw_state_changed(state, LW_STAGE_CONSTANTS), where nothing but time, inputs and states was written. */
LW_API void lw_motion_changed(lw_state *state);

/* By offset, checked. Setting refuses read-only variables and values that are not finite; getting computes the stages
 * that it needs. */
LW_API lw_status lw_set_reals(lw_state *state, const uint32_t *offsets, size_t n, const double *values);
LW_API lw_status lw_get_reals(lw_state *state, const uint32_t *offsets, size_t n, double *values);
LW_API lw_access lw_access_of(const lw_state *state, uint32_t offset);
/* Describes the number at an offset: "q of joint 'A'". */
LW_API void lw_describe(const lw_state *state, uint32_t offset, char *text, size_t size);

/* Whole snapshots: parameters, inputs, states and everything computed. Those of another model are refused. */
LW_API size_t lw_state_size(const lw_state *state);
LW_API void lw_state_save(const lw_state *state, void *bytes);
LW_API lw_status lw_state_restore(lw_state *state, const void *bytes, size_t size);

/* ---- mechanics ------------------------------------------------------------------------------------ */

LW_API lw_status lw_evaluate(lw_state *state, lw_stage stage);
/* The rates of the states. Compiled tapes, if the state has any that count, leave out all that rates and checks of a step do
 * not need; otherwise as LW_STAGE_DERIVATIVES, with the same bits but for the sign of a zero. */
LW_API lw_status lw_evaluate_rates(lw_state *state);
/* The tapes of the library that an FMU was exported with, which lives as long as the state; lw_directional_derivative and
 * lw_ode_mechanism_jacobian ask them as well, and agree to rounding then. LW_ERROR_FORMAT: it is of another model or
 * version. */
struct lw_rates_library;
LW_API lw_status lw_use_rates_library(lw_state *state, const struct lw_rates_library *library);

/* Start guesses (fields q_start, u_start) to states (q, u) that close every loop. Coordinates given in the
 * mechanism's description are kept where they can be; the rest is found. `tolerance` is the residual accepted. */
LW_API lw_status lw_assemble(lw_state *state, double tolerance);

/* A given start value that assembly did not keep. */
typedef struct lw_changed_start {
  uint32_t offset;    /* in the block, of the start value */
  int32_t is_guess;   /* the start values that were kept decide it, and it selected a closed pose near by */
  double asked, kept; /* the start value, and the coordinate or speed found */
} lw_changed_start;

/* Just after lw_assemble: writes at most `capacity` of the given start values that it did not keep; returns how many
 * there are. More values than degrees of freedom may be given where they fit each other to about four digits. */
LW_API int32_t lw_changed_starts(lw_state *state, lw_changed_start *changed, int32_t capacity);

/* The speeds that the mechanics chose as independent ones in a cluster at the present state, counted over all joints:
 * writes and returns as many as it has degrees of freedom, at most nu + nu_cut; -1: failed, with a message. */
LW_API int32_t lw_independent_speeds(lw_state *state, int32_t cluster, int32_t *speeds);

/* Tree joint loads tau[nu] that give the accelerations udot[nu] at the state's q, u, without the state's own tau.
 * Forces do their part. With loops many loads do; these are the ones of least norm. */
LW_API lw_status lw_inverse_dynamics(lw_state *state, const double *udot, double *tau);

/* The loads of motors along a motion: request and result. With N a basis of the speeds that all constraints leave, one
 * column for each degree of freedom, and motors that turn by B times the speeds of all joints, loads tau of the motors give
 * the accelerations udot where
 *   matrix tau = load,   matrix = N'B',   load = N'(M udot + h - f)
 * with the loads f of springs, dampers, actuators and inputs. Forces of constraints and of prescribed motions do no work
 * along N. Each row has a basis of its own. */
typedef struct lw_load_equations {
  int32_t rows, motors;
  int32_t capacity;    /* rows of each matrix: at least the degrees of freedom */
  const double *motor; /* [motors][nu + nu_cut]: the speed of a motor by the speeds of all joints */
  const double *t;     /* [rows] */
  const double *q;     /* [rows][nq] */
  const double *u;     /* [rows][nu] */
  const double *udot;  /* [rows][nu] */
  const double
      *turns; /* [rows][nq_cut]: coordinates next to which those of cut joints are; NULL: those of the row before */
  const double *inputs; /* [rows][n]: the fields from tau to impulse, contiguous; NULL: those of the state */
  double *matrix;       /* [rows][capacity][motors] */
  double *load;         /* [rows][capacity] */
  double *speed;        /* [rows][motors] */
  /* [rows][3]: displacement [m], speed [m/s] and acceleration [m/s2] by which the motion misses the constraints, angles
   * counted in a length of the mechanism. Small ones do little harm: loads are those along N alone. */
  double *violation;
  double *actuator; /* [rows][2][actuators]: length and force of each actuator by its input; NULL: not requested */
  /* Of friction by reactions: [rows][motors], loads with which the joints press, and [rows][frictions], the pressing
   * forces so far, which those of these loads replace. Both are given again until they stay. Loads NULL: the pressing
   * forces are those given, in which the equations are linear; both NULL: without pressing. */
  const double *loads;
  double *pressing;
  int32_t dof;  /* degrees of freedom of the first row, which the others have as well */
  int32_t done; /* rows until a failure: all on success */
} lw_load_equations;

/* The state's q, u, time and, if given, inputs are overwritten; its parameters and modes are taken. LW_ERROR_SINGULAR: in row
 * `done` the motion branches, or it has other degrees of freedom; LW_ERROR_USAGE: the capacity is too small. */
LW_API lw_status lw_find_load_equations(lw_state *state, lw_load_equations *equations);

/* Loads of the tree's joints along a motion, row by row, and how they change with masses: with the loops open, as all
 * loads that do the same work in the motions that the loops leave. */
typedef struct lw_load_columns {
  int32_t rows, bodies;
  const int32_t *body;                 /* [bodies] whose columns are asked for, by index; NULL: none */
  const double *q, *u, *udot, *inputs; /* the motion: [rows][nq], [rows][nu], [rows][nu] and [rows][inputs], at t = 0 */
  double *load;                        /* [rows][nu], written: of lw_inverse_dynamics() */
  double *column;                      /* [rows][nu][10 bodies], written: by the mass, the first moments and the moments
                                         * of inertia xx xy xz yy yz zz about the origin, body axes; NULL: none */
} lw_load_columns;

LW_API lw_status lw_find_load_columns(lw_state *state, lw_load_columns *columns);

/* What the formula of a force, by its index among all, reads: offsets in the block of its quantities, in their order, unless
 * `offsets` is NULL; returns how many there are. -1: the force has no formula. */
LW_API int32_t lw_formula_quantities(const lw_model *model, int32_t force, int32_t *offsets);
/* How many results the formula of a force has, and how many tables it calls; 0: it has no formula. */
LW_API int32_t lw_formula_results(const lw_model *model, int32_t force);
LW_API int32_t lw_formula_tables(const lw_model *model, int32_t force);
/* The formula of a force as a function of what it reads, at the parameters of the state, which stays as it is:
 * quantities[rows][of them] to values[rows][results], and to arguments[rows][tables] the first argument of each table
 * where it is first called; NULL: not requested. Kinks are free. No number: there is no value. The quantities stay. */
LW_API lw_status lw_formula_values(lw_state *state, int32_t force, int32_t rows, double *quantities, double *values,
                                   double *arguments);

/* Joint-space mass matrix of the spanning tree (loops open), nu x nu, row by row. */
LW_API lw_status lw_mass_matrix(lw_state *state, double *matrix);

/* Of a point fixed in a body, by its index, -1 for the ground; `point` in the body's frame, NULL: its origin. Twists are
 * [angular; linear at the point], world axes. NULL: not computed. Pose, velocity and Jacobian need no accelerations, so
 * that they exist at singular poses and with open loops as well; they leave no stage but LW_STAGE_CONSTANTS. */
LW_API lw_status lw_body_motion(lw_state *state, int32_t body, const double point[3], double position[3],
                                double rotation[9], double velocity[6]);
/* The velocity by the tree's speeds, 6 x nu, row by row: as though the loops were open. */
LW_API lw_status lw_body_jacobian(lw_state *state, int32_t body, const double point[3], double *jacobian);
LW_API lw_status lw_body_acceleration(lw_state *state, int32_t body, const double point[3], double acceleration[6]);

/* Of a joint whose child's joint frame has a rotation, row by row, and a position in its parent's, both canonical: the
 * coordinates that bring the joint nearest to that pose, q next to those given, and there its columns, a twist
 * [angular; linear] of the child at its origin for each speed, in axes of the parent's frame. */
LW_API lw_status lw_joint_at_pose(lw_state *state, int32_t joint, const double rotation[9], const double position[3],
                                  double *q, double *columns);

/* sensitivity[i] = sum_j d unknown_i / d known_j seed_j, exact to rounding (complex step).
 * Knowns: parameters, inputs, states. Unknowns: anything that may be read, and at offset `reals` + i the event
 * indicator i, as it is in the present modes. At a closed pose the residual of a loop has a kink; the result is 0. */
LW_API lw_status lw_directional_derivative(lw_state *state, const uint32_t *unknowns, size_t n_unknowns,
                                           const uint32_t *knowns, size_t n_knowns, const double *seed,
                                           double *sensitivity);

/* Its matrix[n_unknowns][n_knowns], by each of the knowns alone. */
LW_API lw_status lw_jacobian(lw_state *state, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                             size_t n_knowns, double *matrix);
/* As lw_directional_derivative, but just after lw_assemble: the states follow from parameters, start values and
 * inputs, and are no knowns themselves. Given coordinates and speeds that assembly kept follow their start values;
 * the rest keeps the loops closed, and where that leaves it free, follows its own start values by the least way
 * there, as though assembly began where it ended. Where not all can be kept, those given last are released. The
 * instant of the inputs of motions changes with the time. LW_ERROR_SINGULAR: the loops cannot stay closed along the
 * seed; LW_ERROR_USAGE: the states are not those that assembly finds. */
LW_API lw_status lw_assembly_sensitivity(lw_state *state, const uint32_t *unknowns, size_t n_unknowns,
                                         const uint32_t *knowns, size_t n_knowns, const double *seed,
                                         double *sensitivity);

/* ---- with multipliers: differential-algebraic equations of index 1 -----------------------------------
 * Phi(q, t) = 0 are the constraints of loops, couplings, distances, locks and prescribed motions, in rows of metres.
 * Their number and order are constant: the rows of open or unlocked joints are zero. J = dPhi/dq in the tree's speeds.
 * With y = [q; u; Lambda; Mu], lambda = Lambda', mu = Mu', n = nq + nu + 2 rows, and relaxation = [s of
 * velocities; s of positions]:
 *   qdot - N(q) (u - J'mu) = 0,   M udot + h - J'lambda = 0,   Phi - s Mu' = 0,   J u + Phi_t + s Lambda' = 0
 * A relaxation of zero keeps a row exactly; rows that are zero, or follow from others, need one of order 1 in their
 * place, and then have no multiplier. Inputs, modes and states of elements are the state's; its own q, u and time are
 * overwritten. */

LW_API int32_t lw_constraint_rows(const lw_model *model);
/* Phi and J u + Phi_t, a number for each row, at the state. */
LW_API lw_status lw_constraints(lw_state *state, double *phi, double *rate);
/* J, rows x nu, row by row. */
LW_API lw_status lw_constraint_jacobian(lw_state *state, double *matrix);
/* Which rows hold from the state on: writes relaxation[2 rows], 0 for as many as are independent there, 1 for the
 * others. `work`: rows x nu numbers. */
LW_API lw_status lw_dae_select_rows(lw_state *state, double *work, double *relaxation);
LW_API lw_status lw_dae_residual(lw_state *state, double t, const double *y, const double *ydot,
                                 const double *relaxation, double *residual);
/* d residual / dy + cj d residual / dydot, n x n, row by row, exact to rounding (complex step). */
LW_API lw_status lw_dae_jacobian(lw_state *state, double t, const double *y, const double *ydot,
                                 const double *relaxation, double cj, double *matrix);
/* The rates at the state that fit it: writes ydot[n], with q' and u' of the explicit equations and the multipliers of the
 * rows that hold. `work`: rows x nu numbers. */
LW_API lw_status lw_dae_rates(lw_state *state, const double *relaxation, double *work, double *ydot);
/* The derivative of all residuals along y_seed[n], ydot_seed[n] and seeds of parameters, inputs, states of elements and
 * time, exact to rounding (complex step). */
LW_API lw_status lw_dae_directional_derivative(lw_state *state, double t, const double *y, const double *ydot,
                                               const double *relaxation, const double *y_seed, const double *ydot_seed,
                                               const uint32_t *knowns, size_t n_knowns, const double *seed,
                                               double *sensitivity);

/* ---- fewer states: independent coordinates and speeds only -------------------------------------------
 * x = [q_i; u_i; states of elements], of the tree's coordinates and speeds some that determine all others by
 * Phi(q, t) = 0 and J u + Phi_t = 0 along the branch that the state is on. Nothing is allocated after creation, except by the
 * functions of a state, by lw_minimal_jacobian(), and where joints have opened or closed. */

typedef struct lw_minimal lw_minimal;

/* Indices into the fields q and u, ascending: coordinates, and their rates; of a quaternion's joint all, or none of the
 * coordinates and any of the speeds: derivatives are then taken along the speeds, from the pose of the state. The
 * state must outlive it. LW_ERROR_USAGE: no such choice; whether it determines the rest is checked in every pose. */
LW_API lw_status lw_minimal_create(lw_state *state, const uint32_t *q, int32_t n_q, const uint32_t *u, int32_t n_u,
                                   lw_minimal **minimal);
LW_API void lw_minimal_free(lw_minimal *minimal);
LW_API void lw_minimal_get(const lw_minimal *minimal, double *x);
/* Keeps the present pose as the start, by default that of the first lw_minimal_set(). */
LW_API void lw_minimal_keep_start(lw_minimal *minimal);
/* Writes x into the state and finds all other coordinates and speeds at its time, inputs and parameters: by Newton's
 * iteration from those present, else from the start, in steps so small that it stays on their branch. The result is
 * the same to rounding, whatever was set before. LW_ERROR_SINGULAR: x does not determine the others there, or no pose
 * on this branch has it; the state is as before. */
LW_API lw_status lw_minimal_set(lw_minimal *minimal, const double *x);
LW_API lw_status lw_minimal_derivatives(lw_minimal *minimal, double *xdot); /* of x */
/* lw_directional_derivative() where of the states only the independent ones are knowns, and the others follow. */
LW_API lw_status lw_minimal_directional_derivative(lw_minimal *minimal, const uint32_t *unknowns, size_t n_unknowns,
                                                   const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                   double *sensitivity);
/* Its matrix, as lw_jacobian(). */
LW_API lw_status lw_minimal_jacobian(lw_minimal *minimal, const uint32_t *unknowns, size_t n_unknowns,
                                     const uint32_t *knowns, size_t n_knowns, double *matrix);
/* As an ODE; `minimal` is an lw_minimal. Returns 0, or 1 where there is no such pose or no derivative. */
LW_API int lw_ode_minimal(void *minimal, double t, const double *x, double *xdot);
/* For who integrates x in time. At the end of its range an independent coordinate turns back while others move on, onto
 * another branch: there x and its derivatives do not show which way the motion goes. The first call of
 * lw_minimal_watch() allocates; each begins a motion at the present states. At the end of an accepted step
 * lw_minimal_check_step() returns LW_ERROR_SOLVER if such an end was passed since the last one: the states are then not
 * those of the motion. */
LW_API lw_status lw_minimal_watch(lw_minimal *minimal);
LW_API lw_status lw_minimal_check_step(lw_minimal *minimal);

/* ---- curves of poses: kinematic sweeps ----------------------------------------------------------------
 * Poses in which the mechanism is closed and some coordinates are held, where one motion remains. Displacements are
 * counted in the tree's speeds times `weight`. The time, inputs and discrete state are the state's, whose coordinates and
 * speeds are overwritten. */

typedef struct lw_curve lw_curve;

/* Copied, but for the numbers that the pointers lead to while the curve is created. */
typedef struct lw_curve_options {
  const double *weight;      /* [nu] */
  const double *share;       /* [constraint rows], by which they are multiplied */
  const int32_t *coordinate; /* [nu] of each speed the coordinate whose rate it is, -1: a quaternion's */
  int32_t held;              /* further rows: held_rows times the coordinates in the weights, plus held_gap, is zero */
  const double *held_rows;   /* [held][nu] */
  const double *held_gap;    /* [held] */
  double closed, rounding;   /* m: violation that is accepted; below, nothing is corrected */
  double roundings;          /* of the digits of coordinates that a closed pose may miss by */
  double least_row;          /* m: rows that are smaller altogether hold nothing */
  double smallest;           /* that stands for a smaller largest singular value */
  double contraction;        /* largest |A+ (B - A)| of a step */
  double farthest,
      farthest_middle; /* by which Newton's method may move the end and the middle of a step, by its length */
} lw_curve_options;

typedef struct lw_curve_point {
  double *q;         /* [nq] */
  double *tangent;   /* [nu] of size one */
  double regularity; /* smallest singular value of the rows besides that of the tangent, by the largest: an estimate */
  double correction; /* by which Newton's method moved, m */
} lw_curve_point;

typedef enum lw_curve_outcome {
  LW_CURVE_NEARLY_SINGULAR = -1, /* singular values must decide: nothing is written */
  LW_CURVE_NONE = 0,             /* Newton's method does not contract, or the step is not proven */
  LW_CURVE_FOUND = 1
} lw_curve_outcome;

/* The state must outlive it. */
LW_API lw_status lw_curve_create(lw_state *state, const lw_curve_options *options, lw_curve **curve);
LW_API void lw_curve_free(lw_curve *curve);
/* The point next to coordinates; `point` has a direction of the tangent at first, and then the point. */
LW_API lw_curve_outcome lw_curve_correct(lw_curve *curve, const double *q, lw_curve_point *point);
/* The step of a length along the tangent of a point, if it is proven to stay on the branch. */
LW_API lw_curve_outcome lw_curve_step(lw_curve *curve, const lw_curve_point *from, double length, lw_curve_point *to,
                                      double *contraction);

/* Poses, speeds and accelerations at values of one coordinate, whose rate is constant. */
typedef struct lw_curve_rows {
  lw_curve_point first; /* from which they follow, in their order */
  int32_t speed;        /* the rate of the coordinate */
  double rate;
  double least_slope;            /* of the speed along the tangent, in weights: below, a dead point is near */
  double farthest;               /* m: by which Newton's method may move */
  int32_t rows, done;            /* asked for; written, up to where a pose needs singular values or is not found */
  const double *value;           /* [rows] */
  double *q, *u, *udot;          /* [rows][nq], [rows][nu] and [rows][nu] */
  double *q_cut, *u_cut, *a_cut; /* of the cut joints: [rows][nq_cut], [rows][nu_cut] and [rows][nu_cut] */
  double *turns;                 /* [nq_cut] from which their revolutions are counted: then those of the last row */
} lw_curve_rows;

LW_API lw_status lw_curve_find_rows(lw_curve *curve, lw_curve_rows *rows);

/* An impulsive change of the motion: request and result. Speeds are counted over all joints, the tree's first:
 * nu + nu_cut. World axes. */
typedef struct lw_velocity_jump {
  const unsigned char
      *constrained;     /* of each speed: 1 if its change is prescribed, as of a joint that locks or hits a stop */
  const double *target; /* of each constrained speed: its change [rad/s or m/s] */
  const double *applied_impulse; /* of each body, 6: angular impulse about com [N.m.s], impulse [N.s]; NULL: none */
  const double *before;          /* of each body, 6: w [rad/s] and v of its origin [m/s]; NULL: by the speeds */
  double *after;                 /* each speed afterwards */
  double *force, *torque;        /* 3 a joint: impulse on its child, about the child's joint frame [N.s, N.m.s] */
  double *constraint_impulse;    /* of each constrained speed, along it; else 0 */
  double *coupling_impulse;      /* of each coupling: on each of its joints acts p' times this */
  double residual;               /* largest violation of the targets; not small: they contradict each other */
} lw_velocity_jump;

/* The speeds after an instant in which impulses act on bodies and speeds are constrained, all at once, while joints,
 * loops, couplings and distances hold: violations by the speeds before are corrected. The state itself does not
 * change. */
LW_API lw_status lw_solve_velocity_jump(lw_state *state, lw_velocity_jump *jump);

/* Levels of the tree of subassemblies of divide and conquer: its length where threads are plenty. */
LW_API int32_t lw_dca_levels(const lw_model *model);

/* Expected multiplications of joining them for one evaluation, four in one vector operation counted as one. */
LW_API double lw_dca_multiplications(const lw_model *model);

/* How many threads work on divide and conquer, in this process, from the next one on; 0: as many as there are
 * processors. At first one, because most mechanisms are too small for more, and states can be spread over threads
 * instead. The results do not depend on their number. Returns the present number: 1 in a build without OpenMP. */
LW_API int32_t lw_set_threads(int32_t threads);

/* ---- transitions ----------------------------------------------------------------------------------
 * Discontinuous changes: joints lock and unlock, close and open, hit stops; impulses act on bodies. A state has
 * discrete states for these; its continuous states keep their number and meaning. */

/* Before the motion starts: initialises the signs of the event functions, then carries out transitions that are due.
 * *changed: 1 if the speeds jumped. */
LW_API lw_status lw_start_events(lw_state *state, int32_t *changed);
/* size.event_indicators numbers. A transition is due once its number is below zero, and until it is handled. Those of kinks
 * follow, which are below zero once a formula is held on the wrong branch; of free kinks they are 1. */
LW_API lw_status lw_event_indicators(lw_state *state, double *indicators);
/* An integrator holds the kinks of formulas, comparisons and knots of tables, on their branches at the present state while it
 * takes steps, so that the equations are smooth. A caller that locates these events holds them at each start and after
 * each event; lw_run and lw_ode_run of a run do. They are free at first, and whenever transitions are handled. */
LW_API lw_status lw_hold_kinks(lw_state *state);
LW_API void lw_release_kinks(lw_state *state);
/* Whether a formula is held on the wrong branch of a kink. */
LW_API int32_t lw_has_passed_kinks(lw_state *state);
/* Of the next transition that has its time; infinite: there is none. */
LW_API lw_status lw_next_event_time(lw_state *state, double *time);
/* Carries out the transitions that are due at the present time, states and commands, and their immediate consequences.
 * On failure the state is as before; where a topology variant cannot be compiled, the message names the joints that
 * would close or open. LW_ERROR_SOLVER: contradictory transitions, or events without end: 1000 at one
 * time or 100000 within a second, unless the last element of the field event_memory is another limit. */
LW_API lw_status lw_handle_events(lw_state *state, int32_t *changed);
/* Carries out n transitions by number, whatever their triggers; a stop as though its joint had just reached it. On
 * failure the state is as before. */
LW_API lw_status lw_apply_transitions(lw_state *state, const int32_t *which, int32_t n);
/* Lists the transitions of the last events, with the distances of joints from their bounds and the rates of those, for a
 * report on events that follow one another without end. */
LW_API void lw_recent_transitions(lw_state *state, char *text, size_t size);
/* After the fields from joint_closed to energy_lost were written. */
LW_API lw_status lw_discrete_state_changed(lw_state *state);

/* The mechanism as an ODE; `state` is an lw_state. y = [q; u]. Returns 0, or 1 where the derivative does not exist. */
LW_API int lw_ode_mechanism(void *state, double t, const double *y, double *ydot);
LW_API int lw_ode_mechanism_events(void *state, double t, const double *y, double *indicators);
#define LW_EVENT_RESOLUTION 5e-16 /* of its indicators, for lw_ode_options */
/* States stay within y_low and y_high, [n] each, for so long, and reach y at t. */
typedef struct lw_ode_box {
  double t, duration; /* duration: not negative */
  const double *y, *y_low, *y_high;
} lw_ode_box;
/* For lw_ode_set_bounds. There are bounds where transitions watch coordinates and speeds alone, those of the tree or angles
 * of revolute cut joints, no joint rests on a stop, nothing sticks and no formula has kinks. */
LW_API int lw_ode_mechanism_bounds(void *state, const lw_ode_box *box, double *low, double *high);
/* For lw_ode_set_angular_speed: of bodies and joints. */
LW_API int lw_ode_mechanism_angular_speed(void *state, double t, const double *y, double *speeds);
/* By which angle bodies and joints turn at most in a step between states y = [q; u]: turn[0] at the larger of the speeds
 * at its ends, turn[1] at that in the middle, which follows from those and the change of the coordinates. Cheap: nothing
 * is evaluated. */
LW_API void lw_turn_of_step(const lw_model *model, double step, const double *from, const double *to, double *turn);
/* As lw_ode_jacobian wants it, exact to rounding (complex step). */
LW_API int lw_ode_mechanism_jacobian(void *state, double t, const double *y, double *matrix, double *by_time);
/* Sizes by which errors are measured: of displacements [m], their rates [m/s] and angular rates [rad/s], for a run of so
 * many seconds. Mechanisms of metres and seconds have ones. */
typedef struct lw_motion_sizes {
  double length, speed, rate;
} lw_motion_sizes;
/* At the present state; 1 where a size is unknown. */
LW_API lw_motion_sizes lw_nominal_sizes(lw_state *state, double duration);
/* Of forces [N] of masses and gravity; 1 where it is unknown. `sizes` are nominal ones. */
LW_API double lw_nominal_force(const lw_state *state, lw_motion_sizes sizes);
/* The size of each state [states]; 1 of angles and quaternions. */
LW_API void lw_sizes_of_states(const lw_model *model, lw_motion_sizes sizes, double *size);
/* Absolute tolerances [states] for the states: `tolerance` times their sizes at the present state. */
LW_API void lw_absolute_tolerances(lw_state *state, double duration, double tolerance, double *atol);
/* For lw_ode_set_on_step: lw_step_accepted at (t, y); step_values[nq_cut] are the coordinates of the cut joints. Then
 * lw_check_constraints; -1 where it fails. The second one does no more than this, and where the present states are (t, y)
 * but for less than the tolerances, as the last iterate of an implicit method is, it checks those. */
LW_API int lw_ode_mechanism_step(void *state, double t, const double *y, double *step_values);
LW_API int lw_ode_mechanism_check(void *state, double t, const double *y, double *step_values);

/* A mechanism with a control law, whose loads and other inputs follow from time and state. The law may have continuous
 * states x[n] of its own, and events. Zero the structure, then fill it in. */
typedef struct lw_control {
  lw_state *state;
  void *context;
  /* Writes the inputs that it gives into the numbers of `state`, which has the time and the states q and u and may be
   * evaluated; and the rates xdot[n]. Both functions return as lw_ode_function. */
  int (*law)(void *context, double t, const double *x, double *xdot);
  /* Writes n_events further indicators; the inputs are those of the law. */
  int (*events)(void *context, double t, const double *x, double *indicators);
  int32_t n, n_events;
  int32_t of_time; /* not 0: all that it writes follows from the time alone, so that no differences are taken */
} lw_control;
/* It as an ODE; `control` is an lw_control. y = [q; u; x]; the events of the law stand behind those of the mechanism. */
LW_API int lw_ode_controlled(void *control, double t, const double *y, double *ydot);
LW_API int lw_ode_controlled_events(void *control, double t, const double *y, double *indicators);
LW_API int lw_ode_controlled_bounds(void *control, const lw_ode_box *box, double *low, double *high); /* no events */
/* Exact to rounding but for the law, of which differences are taken. */
LW_API int lw_ode_controlled_jacobian(void *control, double t, const double *y, double *matrix, double *by_time);
LW_API int lw_ode_controlled_step(void *control, double t, const double *y, double *step_values);
LW_API int lw_ode_controlled_check(void *control, double t, const double *y, double *step_values);
LW_API int lw_ode_controlled_angular_speed(void *control, double t, const double *y, double *speeds);

/* An accepted step ends at the present states: remember the revolutions of the cut joints. */
LW_API void lw_step_accepted(lw_state *state);
/* From here on lw_check_constraints() compares the residuals of all constraints with what errors of rtol |q| + atol in
 * the coordinates, and the residuals that there are now, explain; rtol = 0: no more. */
LW_API void lw_watch_constraints(lw_state *state, double rtol, double atol);
/* At an accepted step. LW_ERROR_SOLVER: a lock, motion, coupling, pin or loop is violated; the message names it, the time
 * and what it contradicts. */
LW_API lw_status lw_check_constraints(lw_state *state);

/* ---- chains of spherical joints ---------------------------------------------------------------------
 * Chou's implicit equations F(X, X') = 0 of n bodies in series, connected by spherical joints. Body i has 14 unknowns
 * from X + 14 i: R[3] mass centre, V[3] its velocity, P[4] Euler parameters, a unit quaternion body to world, S[4] its
 * time derivative. Its 14 equations in this order: positions[3], velocities[3], torques[3] in body axes, P.P = 1,
 * P.S = 0, 2 G(P) (P' - S) = 0 [3]. X' holds the derivatives in the order of X. The equations have index 1.
 * A chain must not be used by two threads at the same time. */

typedef struct lw_chain lw_chain;

/* Copied at creation. The outer joint of a body is the inner joint of the next one; that of the last is any point. */
typedef struct lw_chain_bodies {
  int32_t n;
  int32_t dense;         /* 1: allocate the reduced matrix, 9 n^2 doubles; otherwise memory is O(n) */
  const double *mass;    /* [n] kg */
  const double *inertia; /* [n][9] about the mass centre, body axes, kg m^2 */
  const double *inner;   /* [n][3] inner joint relative to the outer joint, body axes, m */
  const double *centre;  /* [n][3] mass centre relative to the outer joint, body axes, m */
  double gravity[3];     /* m/s^2, world axes */
  double support[3];     /* the first inner joint, m */
} lw_chain_bodies;

/* LW_ERROR_PARAMETER: no body, or a parameter that is not valid. *chain is NULL on failure. */
LW_API lw_status lw_chain_create(const lw_chain_bodies *bodies, lw_chain **chain);
LW_API void lw_chain_free(lw_chain *chain);

/* out = F(X, X'). Arguments that are not finite give results that are not finite. */
LW_API void lw_chain_residual(lw_chain *chain, const double *x, const double *xdot, double *out);
/* J = dF/dX + cj dF/dX', 14n x 14n, row by row. */
LW_API void lw_chain_jacobian(lw_chain *chain, const double *x, const double *xdot, double cj, double *matrix);

/* Factor J for lw_chain_solve: lw_chain_factor in O(n); lw_chain_reduce to 3 n unknowns and a dense LU in O(n^3).
 * LW_ERROR_SINGULAR: J is singular; LW_ERROR_VALUE: not finite; LW_ERROR_USAGE: no reduced matrix is allocated. */
LW_API lw_status lw_chain_factor(lw_chain *chain, const double *x, const double *xdot, double cj);
LW_API lw_status lw_chain_reduce(lw_chain *chain, const double *x, const double *xdot, double cj);
/* x = J^-1 b with the J factored last, each [14 n], in place as well. LW_ERROR_USAGE: no J is factored. */
LW_API lw_status lw_chain_solve(lw_chain *chain, const double *b, double *x);
/* out = dF/dX' v at the point factored last, each [14 n], in place as well. */
LW_API lw_status lw_chain_rate_times(lw_chain *chain, const double *v, double *out);

/* Normalises P, makes P.S zero and computes R and V from P and S. LW_ERROR_VALUE: not finite, or P of length zero. */
LW_API lw_status lw_chain_make_consistent(lw_chain *chain, double *x);
/* X' at a consistent X, in O(n). Discards the factored J. */
LW_API lw_status lw_chain_derivative(lw_chain *chain, const double *x, double *xdot);

/* ---- integrator with dense output and event location, for any ODE ---------------------------------- */

typedef enum lw_ode_method {
  LW_ODE_DOPRI5 = 0, /* Dormand-Prince 5(4), explicit */
  LW_ODE_RODAS5P,    /* Rosenbrock-Wanner 5(4), for stiff equations: one LU decomposition in every step */
  LW_ODE_AUTO,       /* LW_ODE_DOPRI5 until stability limits its steps, then LW_ODE_RODAS5P while that costs less */
  LW_ODE_DOP853      /* Dormand-Prince 8(5,3), explicit, for tight tolerances */
} lw_ode_method;

/* out = f(t, y). Returns 0; positive: recoverable failure, try a shorter step; negative: stop. */
typedef int (*lw_ode_function)(void *context, double t, const double *y, double *out);
/* matrix[n][n] = df/dy, row by row, and by_time[n] = df/dt. An unchanged by_time is replaced by finite differences.
 * Returns as lw_ode_function. */
typedef int (*lw_ode_jacobian)(void *context, double t, const double *y, double *matrix, double *by_time);

/* Writes the bounds of all event indicators, [n_events] each, within a box. Returns 0; else there are none. */
typedef int (*lw_ode_bounds)(void *context, const lw_ode_box *box, double *low, double *high);

typedef struct lw_ode lw_ode;

typedef struct lw_ode_options {
  double rtol, atol;
  double first_step;       /* 0: automatic */
  double max_step;         /* 0: unlimited */
  int64_t max_steps;       /* accepted and rejected, since the start; 0: LW_RUN_MAX_STEPS, negative: unlimited */
  double event_resolution; /* smaller indicators are rounding; 0: events are located to the last digits of the time */
} lw_ode_options;

typedef struct lw_ode_statistics {
  int64_t steps, rejected;
  int64_t evaluations; /* of the function, including those for finite differences */
  int64_t event_evaluations;
  int64_t jacobian_evaluations;
  int64_t method_steps[4]; /* of `steps`, those of each method; by lw_ode_method */
  int64_t switches;        /* changes of method by LW_ODE_AUTO */
} lw_ode_statistics;

/* Output rows, written from row `count` on. */
typedef struct lw_ode_output {
  int32_t times_given; /* 0: one row at the end of every step; 1: rows at the given `t`, in the direction of the run */
  int64_t capacity, count; /* rows allocated, rows written */
  double *t, *y;           /* [capacity] and [capacity][n] */
  double *step_values;     /* NULL, or [capacity][n_step_values]: those of the last step that ended before the row */
  double *step_control;    /* NULL, or [capacity][3] in rows at the ends of steps: an lw_ode_step_control each */
  int32_t follow;          /* 1: without given times also rows within steps, where something turns further than
                   * LW_ODE_SAMPLE_ANGLE; the capacity for LW_ODE_MAX_SAMPLES rows is needed for a step */
} lw_ode_output;

/* Functions of the pose have a period of a turn, or of half a turn where they are of two bodies that turn against each
 * other. Errors of the integrator do not show it: a wheel at constant speed takes steps of any length. A twelfth of a turn
 * gives each such period six samples or more, with which the event location finds values that are passed and passed back, and
 * curves six points. */
#define LW_ODE_SAMPLE_ANGLE 0.52359877559829887 /* 2 pi / 12 rad */
/* In so many samples at most a step is divided; where more would turn, it is shorter. */
#define LW_ODE_MAX_SAMPLES 256
/* Where the revolutions of cut joints are counted from step to step: these may turn twice as far as their bodies, and must
 * stay below half a turn. */
#define LW_ODE_COUNTED_SAMPLES 2

/* What the step size control remembers: from here a run continues as though it had not been cut. */
typedef struct lw_ode_step_control {
  double next_step, previous_error;
  double choice; /* of LW_ODE_AUTO: its method and the evidence for the other one; 0 at first */
} lw_ode_step_control;

typedef enum lw_ode_outcome {
  LW_ODE_STEP = 0,       /* one step accepted */
  LW_ODE_EVENT,          /* one step accepted, ending where an indicator changed its sign (z <= 0 against z > 0) */
  LW_ODE_STOPPED,        /* the function returned a negative value */
  LW_ODE_STEP_TOO_SMALL, /* no step size satisfies the tolerance or avoids failures of the function */
  LW_ODE_TOO_MANY_STEPS,
  LW_ODE_NOT_FINITE /* the derivative at the start is not finite */
} lw_ode_outcome;

LW_API lw_ode *lw_ode_create(int32_t n, int32_t n_events, lw_ode_function derivative, lw_ode_function events,
                             void *context, const lw_ode_options *options); /* NULL: no memory */
LW_API void lw_ode_free(lw_ode *ode);
/* Selects the method before a start; the default is LW_ODE_DOPRI5, which needs no Jacobian. jacobian NULL: finite
 * differences. Memory is allocated when a method is first selected, and stays; LW_ERROR_MEMORY leaves the method
 * unchanged, and LW_ODE_AUTO without memory for matrices stays explicit. */
LW_API lw_status lw_ode_set_method(lw_ode *ode, lw_ode_method method, lw_ode_jacobian jacobian);
LW_API void lw_ode_set_options(lw_ode *ode, const lw_ode_options *options);
/* An absolute tolerance for each state, [n], in place of that of the options; NULL: that again. Those that are smaller
 * grow with their states, up to that of the options. */
LW_API void lw_ode_set_absolute_tolerances(lw_ode *ode, const double *atol);
LW_API const double *lw_ode_absolute_tolerances(const lw_ode *ode);
/* A function that lw_ode_run calls at the end of every accepted step, at (t, y), and the n_step_values numbers that it
 * writes; they stay the caller's, who sets them for the start. on_step NULL: none is called. It returns 0, or a
 * negative value to stop. */
LW_API void lw_ode_set_on_step(lw_ode *ode, lw_ode_function on_step, int32_t n_step_values, double *step_values);
/* A function that writes speeds[2], rad/s: the largest angular speed at (t, y), and a bound of it that is at hand. Where
 * the bound is not above speeds[0] as it finds it, it writes the bound twice. It is asked at the ends of steps, for event
 * indicators and rows that follow, or if max_samples > 0, to which steps are shortened. NULL: nothing turns. */
LW_API void lw_ode_set_angular_speed(lw_ode *ode, lw_ode_function angular_speed, int32_t max_samples);
/* Bounds of the event indicators: a step in which none can change its sign is not searched, where the method bounds the
 * states in it, as LW_ODE_DOPRI5 and LW_ODE_RODAS5P do. Where there are bounds, indicators are finite, and depend on the
 * states alone. NULL: every step is searched. */
LW_API void lw_ode_set_bounds(lw_ode *ode, lw_ode_bounds bounds);
/* Starts at (t, y), or restarts after a discontinuity of y or f. Returns LW_ODE_STEP on success. */
LW_API lw_ode_outcome lw_ode_start(lw_ode *ode, double t, const double *y);
LW_API lw_ode_step_control lw_ode_get_step_control(const lw_ode *ode);
LW_API void lw_ode_set_step_control(lw_ode *ode, lw_ode_step_control control); /* after a start */
/* One step towards t_bound, at most exactly to it; in either direction of time. */
LW_API lw_ode_outcome lw_ode_step(lw_ode *ode, double t_bound);
/* Steps until t_bound, an event, a failure, the last output row (NULL: no output), or until max_tries steps have been
 * accepted or rejected (0: unlimited; the last step is completed; an implicit one of LW_ODE_AUTO counts 1 + n / 2).
 * Rows written before a failure stay. */
LW_API lw_ode_outcome lw_ode_run(lw_ode *ode, double t_bound, int64_t max_tries, lw_ode_output *output);
LW_API double lw_ode_time(const lw_ode *ode);
LW_API const double *lw_ode_y(const lw_ode *ode);
/* y at t in the last step, with an error of the order of the method's dense output. LW_ODE_DOP853 evaluates the function
 * three times when it is first called in a step. Returns as lw_ode_function; then y is unchanged. */
LW_API int lw_ode_dense(lw_ode *ode, double t, double *y);
LW_API const int32_t *lw_ode_crossings(const lw_ode *ode); /* per indicator: +1, -1, or 0, for LW_ODE_EVENT */
LW_API lw_ode_statistics lw_ode_get_statistics(const lw_ode *ode);

/* ---- runs --------------------------------------------------------------------------------------------
 * One simulation of a mechanism: segments between time events, samples and jumps of inputs, from one discrete state to the
 * next, with a record of rows and events. The numbers are the same however it is advanced. */

typedef struct lw_run lw_run;

#define LW_RUN_MAX_STEPS 10000000
/* So many rows may lie within steps in which something turns far; those behind are at the ends of steps. */
#define LW_RUN_MOST_FOLLOWING 1000000

/* A part of a run in which inputs change smoothly; it begins where the one before ends. */
typedef struct lw_run_part {
  double end, max_step; /* max_step: infinite: no limit */
} lw_run_part;

/* What an integrator from outside has reached. */
typedef struct lw_run_reach {
  double t, *y;       /* y[n]: states, as the run has them */
  int32_t *crossings; /* per indicator +1, -1, or 0; all 0: no event */
  int64_t attempts;   /* steps accepted and rejected since the start of the run */
} lw_run_reach;

/* Functions that a run calls back, each optional. Zero the structure, then fill it in. A negative result stops the run,
 * LW_RUN_FAILURE with the cause in its message. y = [q; u; states of elements; x], with
 * states x[n] of a law. */
enum { LW_RUN_FAILURE = -2 };
enum { LW_RUN_RESTART = 1, LW_RUN_TERMINATE = 2 }; /* flags that on_event returns */

typedef struct lw_run_calls {
  void *context; /* of all of them */
  /* Inputs that vary, the states x of a controller, and further indicators: n_commands of commands, then n_functions that
   * record an event each, in these directions (0 both). As in lw_control. */
  int (*law)(void *context, double t, const double *x, double *xdot);
  int (*events)(void *context, double t, const double *x, double *indicators);
  int32_t n, n_commands, n_functions;
  int32_t of_state;    /* inputs follow the states, so that an event may change them at once */
  int32_t sees_states; /* something reads the coordinates of cut joints */
  const int32_t *directions;
  /* Functions have crossed zero, those with crossed[k] != 0; the state is there. Returns flags: LW_RUN_RESTART where
   * anything was changed, LW_RUN_TERMINATE to end the run. */
  int (*on_event)(void *context, double t, const double *x, const int32_t *crossed);
  /* Samples at multiples of sample_time from the start on, which has been taken: writes all inputs that hold until the next
   * one. Positive: commands are among them. */
  double sample_time;
  int (*sample)(void *context, double t, double *inputs);
  /* Parts of the run, in its order; enter_part: the law is asked in this one from here on, -1: at any time. */
  int32_t n_parts;
  const lw_run_part *parts; /* read until the run is freed */
  int (*enter_part)(void *context, int32_t part);
  /* The mechanism with the inputs of `law` as an ODE, if the caller has functions of its own for it;
   * copied. NULL: by lw_control. */
  const struct lw_run_equations *equations;
  /* An integrator from outside in place of lw_ode_method, with the equations of lw_run_get_equations(). */
  const char *integrator;    /* its name; NULL: there is none */
  int32_t keeps_constraints; /* by its equations */
  /* Begins a segment at (t, y), or begins again there after an event (y NULL: where it is). */
  int (*start)(void *context, double t, const double *y, double until, double max_step);
  /* Takes so many steps at most, as lw_ode_run does, and fills rows. */
  int (*advance)(void *context, int64_t tries, lw_ode_output *rows, lw_run_reach *reach);
} lw_run_calls;

typedef struct lw_run_options {
  double t_end;      /* before the start: the run goes backward, without transitions and samples */
  double rtol, atol; /* of the states; their steps get a share. atol 0: rtol times the sizes of the mechanism */
  double first_step, max_step;   /* 0: automatic, unlimited */
  double gain[2];                /* feedback that keeps loops closed, on positions and speeds [1/s]; negative: chosen */
  int64_t max_steps, max_events; /* accepted and rejected; in one second. 0: the usual ones, negative: unlimited */
  lw_ode_method method;
  int32_t event_rows;  /* rows on either side of events although times are given */
  int64_t n_times;     /* of the rows, copied; NULL: at the ends of steps, and within steps where something turns far */
  const double *times; /* strictly monotonic from the start to t_end */
  const lw_run_calls *calls; /* copied; NULL: none */
  lw_state *state;           /* in which the run computes; it stays the caller's. NULL: one of its own */
} lw_run_options;

typedef struct lw_run_point {
  double t;
  const double *y, *revolutions; /* states; coordinates of the cut joints where they were last counted */
  const double *discrete;        /* the fields from joint_closed to impulse_torque; read if there are transitions */
  const lw_ode_step_control *control; /* NULL: the method restarts */
} lw_run_point;

typedef enum lw_run_outcome {
  LW_RUN_GOES_ON = 0,
  LW_RUN_DONE,
  LW_RUN_FAILED, /* status and message give the reason */
  LW_RUN_STOPPED /* a function called back asked for it; the message is the cause as far as the mechanics know it */
} lw_run_outcome;

/* From `start` on with these inputs, the fields from tau to impulse (NULL: those of the model). Carries out the transitions
 * that are due there. On failure *run is NULL and `message` gives the reason. */
LW_API lw_status lw_run_create(const lw_model *model, const lw_run_options *options, const double *inputs,
                               const lw_run_point *start, lw_run **run, char *message, size_t size);
LW_API void lw_run_free(lw_run *run);
/* Takes so many steps at most (0: some), none beyond `until`, where inputs may change. */
LW_API lw_run_outcome lw_run_advance(lw_run *run, double until, int64_t tries);
/* Between two segments: at the start, and where lw_run_advance() has come to `until`. */
LW_API lw_status lw_run_set_inputs(lw_run *run, const double *inputs);
LW_API lw_run_outcome lw_run_get_outcome(const lw_run *run);
LW_API lw_status lw_run_status(const lw_run *run);
LW_API const char *lw_run_message(const lw_run *run);
/* The error of the mechanics that is the cause of a failure, with its text; LW_OK: none is known. */
LW_API lw_status lw_run_cause(const lw_run *run, const char **text);
LW_API lw_run_point lw_run_reached(const lw_run *run); /* until the next call */
/* The state in which the run computes. */
LW_API lw_state *lw_run_state(const lw_run *run);

/* The run as an ODE, for integrators from outside. Functions return as lw_ode_function; NULL: there is none. */
typedef struct lw_run_equations {
  int32_t n, n_events;
  void *context;
  lw_ode_function derivative, events, angular_speed;
  lw_ode_function on_step; /* at the end of every accepted step; writes step_values */
  lw_ode_jacobian jacobian;
  double *step_values;  /* [nq_cut] */
  lw_ode_bounds bounds; /* of the event indicators */
} lw_run_equations;
LW_API lw_run_equations lw_run_get_equations(const lw_run *run);

/* A run that a host takes from step to step, as importers do with FMUs of Co-Simulation. The integrator runs ahead, and the
 * host moves within its last step. States, inputs and time are those of `state`: where the host changes them, or an event is
 * due, it carries out the transitions and restarts the run. Nothing is recorded, and nothing allocated after the first start
 * with a method. `calls`: `law`, if inputs depend on time, and `equations`. The functions above that create, advance and
 * list are not for it. */
typedef struct lw_run_settings {
  lw_ode_method method;
  double tolerance;    /* of the states, relative and absolute by their sizes; their steps get a share */
  double duration;     /* of the motion, s, for the sizes */
  int32_t looks_ahead; /* 1: time events do not end steps, constraints are not watched, and failures not explained */
} lw_run_settings;
LW_API lw_status lw_run_create_stepwise(const lw_model *model, lw_state *state, const lw_run_calls *calls,
                                        lw_run **run);
/* Starts where the state is, with the step size and the method of the last step. LW_RUN_FAILED with LW_ERROR_SOLVER: no
 * derivative there, or events that follow one another without end. */
LW_API lw_run_outcome lw_run_restart(lw_run *run, const lw_run_settings *settings);
/* One step, neither beyond `until` nor beyond the next time event. It leaves the state at its end. */
LW_API lw_run_outcome lw_run_step(lw_run *run, double until);
LW_API int32_t lw_run_is_at_event(const lw_run *run);           /* the last step ended at one */
LW_API double lw_run_time(const lw_run *run);                   /* of its end */
LW_API int64_t lw_run_attempts(const lw_run *run);              /* steps accepted and rejected since creation */
LW_API lw_run_outcome lw_run_move_to(lw_run *run, double time); /* brings the state to a time of the last step */
LW_API int32_t lw_run_may_retry(const lw_run *run);             /* after a failure: a shorter step may succeed */
LW_API void lw_run_forget(lw_run *run);                         /* as after creation */
/* What a restart depends on besides the state. It may be restored in another run of the same model; LW_ERROR_VALUE: the
 * bytes are of none. */
LW_API size_t lw_run_memory_size(const lw_run *run);
LW_API void lw_run_save(const lw_run *run, void *bytes);
LW_API lw_status lw_run_restore(lw_run *run, const void *bytes);

typedef struct lw_run_statistics {
  lw_ode_statistics ode; /* of methods in C */
  int64_t segments, events, restarts;
} lw_run_statistics;
LW_API lw_run_statistics lw_run_get_statistics(const lw_run *run);

/* Addresses hold until the run is advanced. */
typedef struct lw_run_rows {
  int64_t count;
  const double *t, *y, *revolutions, *phase; /* [count], [count][states + n], [count][nq_cut]; number of the phase */
  const double *control; /* [count][3]: an lw_ode_step_control where a step ended, else not numbers */
} lw_run_rows;
/* Inputs and discrete states between events and changes of inputs. Phases in turn that have the same discrete state have the
 * same row of `discrete`, which is empty without transitions. */
typedef struct lw_run_phases {
  int64_t count;
  const double *inputs, *row, *events_before; /* of each phase */
  const double *discrete;                     /* [row] */
} lw_run_phases;
typedef struct lw_run_events {
  int64_t count;
  const double *t, *fired, *before, *after; /* fired[transitions + n_functions]: 1 or 0; states before and after */
} lw_run_events;
LW_API lw_run_rows lw_run_get_rows(const lw_run *run);
LW_API lw_run_phases lw_run_get_phases(const lw_run *run);
LW_API lw_run_events lw_run_get_events(const lw_run *run);

/* ---- implicit equations F(t, y, y') = 0 for SUNDIALS IDA, through function pointers only -----------------------  */

/* Functions return as lw_ode_function. J = dF/dy + cj dF/dy'. */
typedef struct lw_implicit {
  void *context;
  int (*residual)(void *context, double t, const double *y, const double *ydot, double *out);
  int (*factor)(void *context, double t, const double *y, const double *ydot, double cj); /* positive: singular */
  int (*solve)(void *context, const double *b, double *x);        /* x = J^-1 b, in place as well */
  int (*rate_times)(void *context, const double *v, double *out); /* dF/dy' v at the point factored last */
} lw_implicit;

/* The equations of a chain; `reduced`: solves with the reduced matrix, which must be allocated. */
LW_API void lw_chain_implicit(lw_chain *chain, int32_t reduced, lw_implicit *equations);

/* User data of the three functions below. IDA's time s begins at 0: t = t0 + time_scale s. */
typedef struct lw_ida {
  lw_implicit equations;
  double *(*get_array)(void *vector); /* N_VGetArrayPointer */
  double *work;                       /* [n] */
  int32_t n;
  int32_t factor_needed; /* the factored J belongs to an earlier cj */
  double t0, time_scale;
  double cj, cj_factored; /* in IDA's time: the present cj, and that of the factored J */
  int64_t residuals, factorisations;
  int32_t not_finite, singular; /* reason of the last recoverable failure */
} lw_ida;

/* IDAResFn, IDALsJacTimesSetupFn and IDALsJacTimesVecFn. The residual is multiplied by J^-1, as a preconditioner. */
LW_API int lw_ida_residual(double s, void *y, void *rate, void *out, void *user);
LW_API int lw_ida_jac_times_setup(double s, void *y, void *rate, void *residual, double cj, void *user);
LW_API int lw_ida_jac_times(double s, void *y, void *rate, void *residual, void *v, void *out, double cj, void *user,
                            void *scratch, void *scratch_too);

LW_API const char *lw_version(void); /* "major.minor.patch" of the library that is loaded */

#ifdef __cplusplus
}
#endif
#endif
