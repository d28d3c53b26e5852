/* Every number that a state holds, once: this list drives the layout of the block, the public look-up by
 * name and the checks on setting and reading. The parameters stand first, in the order of the serialised
 * model. X(name, entity of a row, columns, access, stage, meaning); s is the lw_sizes of the model. */
#ifndef LW_FIELDS_H
#define LW_FIELDS_H
#include "forces/types.h"
#include "formula/program.h"
#include "linkwork.h"

/* Whose number a row is, and so how many rows there are. */
typedef enum lw_owner {
  LW_OF_ONE,
  LW_OF_BODY,
  LW_OF_JOINT,
  LW_OF_LOOP,
  LW_OF_COORDINATE, /* of all joints: the tree's, then the cut ones' */
  LW_OF_SPEED,
  LW_OF_HOLD, /* what may be held at rest: speeds of all joints, then sums of speeds in which frictions stick */
  LW_OF_TREE_COORDINATE,
  LW_OF_TREE_SPEED,
  LW_OF_CUT_COORDINATE,
  LW_OF_CUT_SPEED,
  LW_OF_COUPLING,
  LW_OF_TERM,       /* of couplings */
  LW_OF_DISTANCE,   /* the last couplings */
  LW_OF_FRAME,      /* the links' and the phantoms' */
  LW_OF_FORCE,      /* of any type, type by type */
  LW_OF_GEAR,       /* of a speed on which a force acts */
  LW_OF_LINE_POINT, /* of a force along a line */
  LW_OF_FORMULA_NUMBER,
  LW_OF_FORMULA_INPUT,
  LW_OF_FORMULA_VALUE, /* of the longest formula */
  LW_OF_FORMULA_QUANTITY,
  LW_OF_KINK,            /* of formulas that move something */
  LW_OF_COUPLING_NUMBER, /* of the formulas of couplings, which are the last ones */
  LW_OF_COUPLING_VALUE,  /* of their lookup tables */
  LW_OF_LOOKUP_TABLE,
  LW_OF_LOOKUP_VALUE,
  LW_OF_LOOKUP_SLOPE,
  LW_OF_LOOKUP_REGION,
  LW_OF_TRANSITION,
  LW_OF_POINT,   /* of interest */
  LW_OF_MEASURE, /* of two of them */
  LW_OF_FORMULA_OUTPUT,
  LW_OF_FORMULA_STATE,
#define FORCE(TYPE, type, on, points) LW_OF_##TYPE,
  LW_FORCE_RECORDS(FORCE) /* of one type */
#undef FORCE
} lw_owner;

/* Parameters that may be set while the mechanism moves: neither closure nor topology depends on them. Of forces, two
 * limits, the lower one first, which may be left out; and numbers that only a force with a length may have. */
typedef enum lw_setting { LW_TUNABLE = LW_OUTPUT + 1, LW_TUNABLE_LIMITS, LW_TUNABLE_OF_LENGTH } lw_setting;

static inline int32_t lw_rows_of(const lw_sizes *s, const int32_t *first_force, lw_owner owner) {
  switch (owner) {
    case LW_OF_ONE: return 1;
    case LW_OF_BODY: return s->bodies;
    case LW_OF_JOINT: return s->joints;
    case LW_OF_LOOP: return s->loops;
    case LW_OF_COORDINATE: return s->nq + s->nq_cut;
    case LW_OF_SPEED: return s->nu + s->nu_cut;
    case LW_OF_HOLD: return s->nu + s->nu_cut + s->held_sums;
    case LW_OF_TREE_COORDINATE: return s->nq;
    case LW_OF_TREE_SPEED: return s->nu;
    case LW_OF_CUT_COORDINATE: return s->nq_cut;
    case LW_OF_CUT_SPEED: return s->nu_cut;
    case LW_OF_COUPLING: return s->couplings;
    case LW_OF_TERM: return s->terms;
    case LW_OF_DISTANCE: return s->distances;
    case LW_OF_FRAME: return s->bodies + s->loops;
    case LW_OF_FORCE: return s->forces;
    case LW_OF_GEAR: return s->gears;
    case LW_OF_LINE_POINT: return s->line_points;
    case LW_OF_FORMULA_NUMBER: return s->formula_numbers - s->coupling_numbers;
    case LW_OF_COUPLING_NUMBER: return s->coupling_numbers;
    case LW_OF_FORMULA_INPUT: return s->formula_inputs;
    case LW_OF_FORMULA_VALUE: return s->formula_values;
    case LW_OF_FORMULA_QUANTITY: return s->formula_quantities;
    case LW_OF_KINK: return s->kinks;
    case LW_OF_LOOKUP_TABLE: return s->lookup_tables;
    case LW_OF_LOOKUP_VALUE: return s->lookup_values - s->coupling_values;
    case LW_OF_COUPLING_VALUE: return s->coupling_values;
    case LW_OF_LOOKUP_SLOPE: return s->lookup_slopes;
    case LW_OF_LOOKUP_REGION: return s->lookup_regions;
    case LW_OF_TRANSITION: return s->transitions;
    case LW_OF_POINT: return s->points;
    case LW_OF_MEASURE: return s->measures;
    case LW_OF_FORMULA_OUTPUT: return s->formula_outputs;
    case LW_OF_FORMULA_STATE: return s->formula_states;
#define FORCE(TYPE, type, on, points)                                                        \
  case LW_OF_##TYPE: return first_force[LW_FORCE_##TYPE + 1] - first_force[LW_FORCE_##TYPE];
      LW_FORCE_RECORDS(FORCE)
#undef FORCE
  }
  return 0;
}

#define LW_PARAMETERS_BEFORE_FORCES(X)                                                                                \
  X(gravity, ONE, 3, LW_TUNABLE, LW_STAGE_NONE, "gravitational acceleration, world axes [m/s2]")                      \
  X(body_mass, BODY, 1, LW_TUNABLE, LW_STAGE_NONE, "mass [kg]")                                                       \
  X(body_com, BODY, 3, LW_TUNABLE, LW_STAGE_NONE, "centre of mass, body axes [m]")                                    \
  X(body_inertia, BODY, 6, LW_TUNABLE, LW_STAGE_NONE, "xx xy xz yy yz zz about the com, body axes [kg.m2]")           \
  X(parent_position, JOINT, 3, LW_PARAMETER, LW_STAGE_NONE, "joint frame's origin in the parent body [m]")            \
  X(parent_orientation, JOINT, 4, LW_PARAMETER, LW_STAGE_NONE, "joint frame in the parent body, axis = z")            \
  X(child_position, JOINT, 3, LW_PARAMETER, LW_STAGE_NONE, "joint frame's origin in the child body [m]")              \
  X(child_orientation, JOINT, 4, LW_PARAMETER, LW_STAGE_NONE, "joint frame in the child body, axis = z")              \
  X(stiffness, SPEED, 1, LW_TUNABLE, LW_STAGE_NONE, "joint spring [N.m/rad or N/m]")                                  \
  X(damping, SPEED, 1, LW_TUNABLE, LW_STAGE_NONE, "joint damper [N.m.s/rad or N.s/m]")                                \
  X(free_coordinate, SPEED, 1, LW_TUNABLE, LW_STAGE_NONE, "coordinate at which the spring is free")                   \
  X(reflected_inertia, SPEED, 1, LW_TUNABLE, LW_STAGE_NONE, "of the rotor: times udot [kg.m2 or kg]")                 \
  X(max_load, SPEED, 1, LW_TUNABLE, LW_STAGE_NONE, "at which tau saturates; infinite: none [N.m or N]")               \
  X(coupling_coefficient, TERM, 4, LW_PARAMETER, LW_STAGE_NONE, "of q, q^2, q^3 and q^4")                             \
  X(coupling_offset, COUPLING, 1, LW_PARAMETER, LW_STAGE_NONE, "what the terms add up to, or the distance [m]")       \
  X(coupling_motion, COUPLING, 7, LW_PARAMETER, LW_STAGE_NONE, "see motion_at() in loops/basic_constraints_kernel.h") \
  X(distance_points, DISTANCE, 6, LW_PARAMETER, LW_STAGE_NONE, "its two ends, each in the frame of its body [m]")

#define LW_PARAMETERS_AFTER_FORCES(X)                                                                              \
  X(force_gear, GEAR, 1, LW_TUNABLE, LW_STAGE_NONE, "load of a force of one on the speed")                         \
  X(line_point, LINE_POINT, 3, LW_TUNABLE, LW_STAGE_NONE, "of a force along a line, in the frame of its body [m]") \
  X(line_factor, LINE_POINT, 1, LW_TUNABLE, LW_STAGE_NONE, "tension of the piece before it, by the force")         \
  X(formula_number, FORMULA_NUMBER, 1, LW_TUNABLE, LW_STAGE_NONE, "of a formula, in a unit of its own")            \
  X(coupling_number, COUPLING_NUMBER, 1, LW_PARAMETER, LW_STAGE_NONE, "the same of couplings: right behind them")  \
  X(lookup_value, LOOKUP_VALUE, 1, LW_TUNABLE, LW_STAGE_NONE, "of a table of a formula, rows of x one by one")     \
  X(coupling_table, COUPLING_VALUE, 1, LW_PARAMETER, LW_STAGE_NONE, "the same of couplings: right behind them")    \
  X(point_in_body, POINT, 3, LW_TUNABLE, LW_STAGE_NONE, "point of interest, body axes [m]")                        \
  X(axis_in_body, POINT, 3, LW_TUNABLE, LW_STAGE_NONE, "its direction, of any length, body axes")                  \
  X(transition_value, TRANSITION, 2, LW_PARAMETER, LW_STAGE_NONE,                                                  \
    "time [s], value of a zero crossing, or a stop's bounds")                                                      \
  X(restitution, TRANSITION, 1, LW_TUNABLE, LW_STAGE_NONE, "of a stop: speed after an impact, by that before")     \
  X(transition_points, TRANSITION, 6, LW_PARAMETER, LW_STAGE_NONE, "of the distance that is monitored [m]")        \
  X(impulse_point, TRANSITION, 3, LW_PARAMETER, LW_STAGE_NONE, "where an impulse acts, body axes [m]")             \
  X(impulse_start, TRANSITION, 6, LW_INTERNAL, LW_STAGE_NONE, "default of `impulse`")                              \
  X(correction_gain, ONE, 2, LW_TUNABLE, LW_STAGE_NONE,                                                            \
    "loop feedback on position, speed [1/s]; -c: by speed, c / 10 at least")                                       \
  X(joint_parameter, JOINT, 1, LW_PARAMETER, LW_STAGE_NONE, "of its type: a screw's pitch [m/rad]; else 0")        \
  X(q_start, COORDINATE, 1, LW_START, LW_STAGE_NONE, "start guess of the coordinates [rad or m]")                  \
  X(u_start, SPEED, 1, LW_START, LW_STAGE_NONE, "start guess of the speeds [rad/s or m/s]")                        \
  X(q_priority, COORDINATE, 1, LW_START, LW_STAGE_NONE, "rank: assembly keeps it, the lowest rank longest; 0: no") \
  X(u_priority, SPEED, 1, LW_START, LW_STAGE_NONE, "the same for the start speeds")                                \
  X(state_start, FORMULA_STATE, 1, LW_START, LW_STAGE_NONE, "of a state of an element, in a unit of its own")      \
  X(state_nominal, FORMULA_STATE, 1, LW_INTERNAL, LW_STAGE_NONE, "size of it that counts as one")

#define LW_PARAMETER_FIELDS(X) LW_PARAMETERS_BEFORE_FORCES(X) LW_FORCE_PARAMETERS(X) LW_PARAMETERS_AFTER_FORCES(X)

#define LW_MOTION_FIELDS(X)                                                                                       \
  X(time, ONE, 1, LW_INPUT, LW_STAGE_NONE, "time [s]")                                                            \
  X(tau, SPEED, 1, LW_INPUT, LW_STAGE_NONE, "driving load in all joints [N.m or N]")                              \
  LW_FORCE_INPUTS(X)                                                                                              \
  X(formula_input, FORMULA_INPUT, 1, LW_INPUT, LW_STAGE_NONE, "of a formula, in a unit of the user's")            \
  X(motion_in, COUPLING, 3, LW_INPUT, LW_STAGE_NONE, "adds to its motion: value, rate, acceleration")             \
  X(command, TRANSITION, 1, LW_INPUT, LW_STAGE_NONE, "0 or 1: from without")                                      \
  X(impulse, TRANSITION, 6, LW_INPUT, LW_STAGE_NONE, "to apply, world axes [N.s; N.m.s]")                         \
  X(motion_time, ONE, 1, LW_INTERNAL, LW_STAGE_NONE, "time of motion_in, from which it continues with its rates") \
  X(q, TREE_COORDINATE, 1, LW_STATE, LW_STAGE_NONE, "coordinates of the tree joints [rad or m]")                  \
  X(u, TREE_SPEED, 1, LW_STATE, LW_STAGE_NONE, "speeds of the tree joints [rad/s or m/s]")                        \
  X(element_state, FORMULA_STATE, 1, LW_STATE, LW_STAGE_NONE, "of an element, in a unit of its own")              \
  X(qdot, TREE_COORDINATE, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of q")                        \
  X(udot, TREE_SPEED, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of u")                             \
  X(element_rate, FORMULA_STATE, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of element_state")

/* What transitions have brought about so far: it stays until the next event. */
#define LW_DISCRETE_FIELDS(X)                                                                                         \
  X(joint_closed, JOINT, LW_IF_TRANSITIONS(1), LW_INTERNAL, LW_STAGE_NONE, "1 or 0, of joints that may open")         \
  X(captured_frame, JOINT, LW_IF_TRANSITIONS(7), LW_INTERNAL, LW_STAGE_NONE, "of a pin, found when it closed: r, Q")  \
  X(locked, HOLD, LW_IF_TRANSITIONS(1), LW_INTERNAL, LW_STAGE_NONE, "who holds it, see block/discrete_state.h")       \
  X(lock_value, HOLD, LW_IF_TRANSITIONS(1), LW_INTERNAL, LW_STAGE_NONE, "coordinate at which it is held")             \
  X(transition_active, TRANSITION, 1, LW_OUTPUT, LW_STAGE_NONE, "1: in effect")                                       \
  X(transition_memory, TRANSITION, LW_REALS(transition_memory), LW_INTERNAL, LW_STAGE_NONE, "for it")                 \
  X(event_memory, ONE, LW_IF_TRANSITIONS(9), LW_INTERNAL, LW_STAGE_NONE,                                              \
    "last event: time, events then; impacts: first, last, mean time between; this second: start, events; max_events") \
  X(event_count, ONE, 1, LW_OUTPUT, LW_STAGE_NONE, "events so far")                                                   \
  X(energy_lost, ONE, 1, LW_OUTPUT, LW_STAGE_NONE, "kinetic energy that events took away so far [J]")                 \
  X(impulse_force, JOINT, LW_IF_TRANSITIONS(3), LW_OUTPUT, LW_STAGE_NONE, "last one of the joint on its child [N.s]") \
  X(impulse_torque, JOINT, LW_IF_TRANSITIONS(3), LW_OUTPUT, LW_STAGE_NONE, "about the child's joint frame [N.m.s]")   \
  LW_FORCE_DISCRETE(X)
#define LW_IF_TRANSITIONS(columns) (s->transitions ? (columns) : 0)

#define LW_OUTPUT_FIELDS(X)                                                                                         \
  X(acceleration, SPEED, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "acceleration in all joints")                        \
  X(q_cut, CUT_COORDINATE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "coordinates of the cut joints")                         \
  X(u_cut, CUT_SPEED, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "speeds of the cut joints")                             \
  X(loop_residual, LOOP, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gap; misalignment times loop length [m]")           \
  X(loop_conditioning, LOOP, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "smallest pivot of the closure, 0..1")           \
  X(coupling_residual, COUPLING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "sum, or distance, minus the offset")        \
  LW_FORCE_OUTPUTS(X)                                                                                               \
  X(body_position, BODY, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "origin of the body frame, world axes [m]")                \
  X(body_orientation, BODY, 4, LW_OUTPUT, LW_STAGE_OUTPUTS, "unit quaternion, body to world")                       \
  X(body_velocity, BODY, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "of the body frame's origin, world axes [m/s]")            \
  X(body_angular_velocity, BODY, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [rad/s]")                              \
  X(reaction_force, JOINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "of the joint on its child, world axes [N]")             \
  X(reaction_torque, JOINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "same, about the child's joint frame [N.m]")            \
  X(coupling_load, COUPLING, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "on each of its joints acts p' times this")            \
  X(distance_force, DISTANCE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "pulls both ends towards each other [N]")             \
  X(force_power, FORCE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "that it gives the bodies and rotors [W]")                  \
  X(spring_power, JOINT, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "the same of the springs and dampers of joints [W]")       \
  X(point_position, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [m]")                                        \
  X(point_velocity, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [m/s]")                                      \
  X(point_acceleration, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [m/s2]")                                 \
  X(point_axis, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "its direction, a unit vector, world axes")                  \
  X(measure_value, MEASURE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "distance [m] or angle [rad]")                          \
  X(measure_rate, MEASURE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "its time derivative [m/s or rad/s]")                    \
  X(energy_kinetic, ONE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "kinetic energy [J]")                                      \
  X(energy_potential, ONE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "of gravity, zero at the world origin, and springs [J]") \
  X(formula_output, FORMULA_OUTPUT, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "of an output, in a unit of its own")

/* Working storage of the algorithms: arrays of the records in records.h. */
#define LW_WORK_FIELDS(X)                                                                                             \
  X(cut_reference, CUT_COORDINATE, 1, LW_INTERNAL, LW_STAGE_NONE, "last accepted coordinates: they choose the turn")  \
  X(watch_tolerance, ONE, 2, LW_INTERNAL, LW_STAGE_NONE,                                                              \
    "rtol, atol by which constraints are watched; 0: they are not")                                                   \
  X(loop_allowance, LOOP, 1, LW_INTERNAL, LW_STAGE_NONE, "residual at the start of the watch")                        \
  X(coupling_allowance, COUPLING, 1, LW_INTERNAL, LW_STAGE_NONE, "the same")                                          \
  X(kink, KINK, LW_KINK_NUMBERS, LW_INTERNAL, LW_STAGE_NONE, "branch, see formula/program.h; number held; indicator") \
  X(link_constants, BODY, LW_REALS(link_constants), LW_INTERNAL, LW_STAGE_CONSTANTS, "")                              \
  X(cut_constants, LOOP, LW_REALS(cut_constants), LW_INTERNAL, LW_STAGE_CONSTANTS, "")                                \
  X(distance_metric, DISTANCE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "length of the cluster [m]")                       \
  X(speed_metric, SPEED, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "of clusters, see loops/speed_metric_kernel.h")          \
  X(coupling_conflict, COUPLING, 1, LW_INTERNAL, LW_STAGE_NONE, "1: takes part in what assembly could not satisfy")   \
  X(ground, ONE, LW_REALS(link_motion), LW_INTERNAL, LW_STAGE_CONSTANTS, "")                                          \
  X(sincos, TREE_COORDINATE, 2, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                              \
  X(load, SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "driving load plus springs and dampers")                     \
  X(motion, FRAME, LW_REALS(link_motion), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "links, phantoms")                     \
  X(inertia, BODY, LW_REALS(link_inertia), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                   \
  X(outboard, BODY, LW_REALS(articulated), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                   \
  X(sweep, TREE_SPEED, LW_REALS(column_sweep), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                               \
  X(joint_column, SPEED, LW_REALS(twist), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "of joints of several")                \
  X(rate, TREE_SPEED, 1, LW_INTERNAL, LW_STAGE_DERIVATIVES, "speeds with which the coordinates follow")               \
  X(violation, SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "near singular poses: from the closed pose nearest by") \
  X(newton_step, SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                                   \
  X(saved_q, TREE_COORDINATE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "the state, while others are tried")            \
  X(saved_cut, CUT_COORDINATE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                            \
  X(saved_u, TREE_SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                                  \
  X(saved_residual, LOOP, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                                 \
  X(saved_conditioning, LOOP, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                             \
  X(saved_coupling_residual, COUPLING, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                    \
  X(base_q, TREE_COORDINATE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "pose from which a bifurcation is judged")       \
  X(base_u, TREE_SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                                   \
  X(base_violation, TREE_SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                           \
  X(base_conditioning, LOOP, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                              \
  X(interpolated_acceleration, SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                     \
  X(interpolated_u, TREE_SPEED, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                           \
  X(increment, BODY, LW_REALS(twist), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                        \
  X(wrench, BODY, LW_REALS(twist), LW_INTERNAL, LW_STAGE_OUTPUTS, "")                                                 \
  X(force_on_speeds, FORCE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "of those that act on speeds")                    \
  X(line_arm, LINE_POINT, 3, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "from the point of its link, world axes")           \
  X(line_direction, LINE_POINT, 3, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "of the piece before it, unit vector")        \
  X(pressing_at_first, FRICTION, LW_IF_PRESSED(3), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "without pressed frictions")  \
  X(friction_found, FRICTION, LW_IF_PRESSED(5), LW_INTERNAL, LW_STAGE_ACCELERATIONS,                                  \
    "load; what it misses; direction")                                                                                \
  X(friction_krylov, FRICTION, LW_IF_PRESSED(LW_KRYLOV_VECTORS), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")             \
  X(formula_value, FORMULA_VALUE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS,                                             \
    "of its instructions, one formula's at a time")                                                                   \
  X(formula_derivative, FORMULA_VALUE, LW_IF_DIFFERENTIATED(2), LW_INTERNAL, LW_STAGE_ACCELERATIONS,                  \
    "first and second ones of these")                                                                                 \
  X(quantity_rate, FORMULA_QUANTITY, LW_IF_DIFFERENTIATED(1), LW_INTERNAL, LW_STAGE_ACCELERATIONS,                    \
    "of what one formula reads, for these")                                                                           \
  X(lookup_slope, LOOKUP_SLOPE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "of tables: along x; along y, mixed ones")        \
  X(lookup_region, LOOKUP_REGION, 1, LW_INTERNAL, LW_STAGE_CONSTANTS,                                                 \
    "of each row of a long table: first row of its region")                                                           \
  X(lookup_refused, LOOKUP_TABLE, 2, LW_INTERNAL, LW_STAGE_ACCELERATIONS,                                             \
    "argument from 1 that its table refuses, and what it is; 0: none")                                                \
  X(has_massless, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "1: a body has no mass; else 0")                           \
  X(has_uneven_masses, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "1: clusters may lose digits by them; else 0")        \
  X(idle_spin, BODY, LW_REALS(idle_spin), LW_INTERNAL, LW_STAGE_CONSTANTS, "of links")                                \
  X(idle_spins, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "how many bodies have an inertia that stands in")            \
  X(may_lack_inertia, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "1: joints may move none in some poses; else 0")       \
  X(stand_ins_placed, ONE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "1: M and F of the bodies have them")              \
  X(link_centroid, BODY, lw_has_centroids(m) ? LW_REALS(link_centroid) : 0, LW_INTERNAL, LW_STAGE_CONSTANTS, "")
#define LW_IF_PRESSED(columns) (m->pressed ? (columns) : 0)
enum { LW_MOST_KRYLOV = 24, LW_KRYLOV_VECTORS = LW_MOST_KRYLOV + 4 };
#define LW_IF_DIFFERENTIATED(columns) (s->coupling_formulas ? (columns) : 0)

#define LW_FIELDS(X)                                                                                     \
  LW_PARAMETER_FIELDS(X) LW_MOTION_FIELDS(X) LW_DISCRETE_FIELDS(X) LW_OUTPUT_FIELDS(X) LW_WORK_FIELDS(X)
#endif
