/* Every number that a state holds, once: this list drives the layout of the block, the public look-up by
 * name and the checks on setting and reading. The parameters stand first, in the order of the serialised
 * model. X(name, entity of a row, columns, access, stage, meaning); s is the lw_sizes of the model. */
#ifndef LW_FIELDS_H
#define LW_FIELDS_H

/* Whose number a row is, and so how many rows there are. */
typedef enum lw_owner {
  LW_OF_ONE,
  LW_OF_BODY,
  LW_OF_JOINT,
  LW_OF_LOOP,
  LW_OF_COORDINATE, /* of all joints: the tree's, then the cut ones' */
  LW_OF_SPEED,
  LW_OF_TREE_COORDINATE,
  LW_OF_TREE_SPEED,
  LW_OF_CUT_COORDINATE,
  LW_OF_CUT_SPEED,
  LW_OF_COUPLING,
  LW_OF_TERM,     /* of couplings */
  LW_OF_DISTANCE, /* the last couplings */
  LW_OF_FRAME,    /* the links' and the phantoms' */
  LW_OF_SPRING,   /* between points */
  LW_OF_WRENCH,   /* applied from outside */
  LW_OF_ACTUATOR,
  LW_OF_GEAR, /* of a speed in an actuator */
  LW_OF_TRANSITION,
  LW_OF_POINT,  /* of interest */
  LW_OF_MEASURE /* of two of them */
} lw_owner;
#define LW_ROWS_ONE 1
#define LW_ROWS_BODY s->bodies
#define LW_ROWS_JOINT s->joints
#define LW_ROWS_LOOP s->loops
#define LW_ROWS_COORDINATE (s->nq + s->nq_cut)
#define LW_ROWS_SPEED (s->nu + s->nu_cut)
#define LW_ROWS_TREE_COORDINATE s->nq
#define LW_ROWS_TREE_SPEED s->nu
#define LW_ROWS_CUT_COORDINATE s->nq_cut
#define LW_ROWS_CUT_SPEED s->nu_cut
#define LW_ROWS_COUPLING s->couplings
#define LW_ROWS_TERM s->terms
#define LW_ROWS_DISTANCE s->distances
#define LW_ROWS_FRAME (s->bodies + s->loops)
#define LW_ROWS_SPRING s->springs
#define LW_ROWS_WRENCH s->wrenches
#define LW_ROWS_ACTUATOR s->actuators
#define LW_ROWS_GEAR s->gears
#define LW_ROWS_TRANSITION s->transitions
#define LW_ROWS_POINT s->points
#define LW_ROWS_MEASURE s->measures

#define LW_PARAMETER_FIELDS(X)                                                                                        \
  X(gravity, ONE, 3, LW_PARAMETER, LW_STAGE_NONE, "gravitational acceleration, world axes [m/s2]")                    \
  X(body_mass, BODY, 1, LW_PARAMETER, LW_STAGE_NONE, "mass [kg]")                                                     \
  X(body_com, BODY, 3, LW_PARAMETER, LW_STAGE_NONE, "centre of mass, body axes [m]")                                  \
  X(body_inertia, BODY, 6, LW_PARAMETER, LW_STAGE_NONE, "xx xy xz yy yz zz about the com, body axes [kg.m2]")         \
  X(parent_position, JOINT, 3, LW_PARAMETER, LW_STAGE_NONE, "joint frame's origin in the parent body [m]")            \
  X(parent_orientation, JOINT, 4, LW_PARAMETER, LW_STAGE_NONE, "joint frame in the parent body, axis = z")            \
  X(child_position, JOINT, 3, LW_PARAMETER, LW_STAGE_NONE, "joint frame's origin in the child body [m]")              \
  X(child_orientation, JOINT, 4, LW_PARAMETER, LW_STAGE_NONE, "joint frame in the child body, axis = z")              \
  X(stiffness, SPEED, 1, LW_PARAMETER, LW_STAGE_NONE, "joint spring [N.m/rad or N/m]")                                \
  X(damping, SPEED, 1, LW_PARAMETER, LW_STAGE_NONE, "joint damper [N.m.s/rad or N.s/m]")                              \
  X(free_coordinate, SPEED, 1, LW_PARAMETER, LW_STAGE_NONE, "coordinate at which the spring is free")                 \
  X(reflected_inertia, SPEED, 1, LW_PARAMETER, LW_STAGE_NONE, "of the rotor: times udot [kg.m2 or kg]")               \
  X(max_load, SPEED, 1, LW_PARAMETER, LW_STAGE_NONE, "at which tau saturates; infinite: none [N.m or N]")             \
  X(coupling_coefficient, TERM, 4, LW_PARAMETER, LW_STAGE_NONE, "of q, q^2, q^3 and q^4")                             \
  X(coupling_offset, COUPLING, 1, LW_PARAMETER, LW_STAGE_NONE, "what the terms add up to, or the distance [m]")       \
  X(coupling_motion, COUPLING, 7, LW_PARAMETER, LW_STAGE_NONE, "see motion_at() in loops/basic_constraints_kernel.h") \
  X(distance_points, DISTANCE, 6, LW_PARAMETER, LW_STAGE_NONE, "its two ends, each in the frame of its body [m]")     \
  X(spring_points, SPRING, 6, LW_PARAMETER, LW_STAGE_NONE, "its two ends, each in the frame of its body [m]")         \
  X(spring_stiffness, SPRING, 1, LW_PARAMETER, LW_STAGE_NONE, "spring between points [N/m]")                          \
  X(spring_damping, SPRING, 1, LW_PARAMETER, LW_STAGE_NONE, "damper between points [N.s/m]")                          \
  X(spring_free_length, SPRING, 1, LW_PARAMETER, LW_STAGE_NONE, "length at which the spring is free [m]")             \
  X(wrench_point, WRENCH, 3, LW_PARAMETER, LW_STAGE_NONE, "where the applied force acts, body axes [m]")              \
  X(actuator_gain, ACTUATOR, 1, LW_PARAMETER, LW_STAGE_NONE, "force of an input of one [N or N.m]")                   \
  X(actuator_offset, ACTUATOR, 1, LW_PARAMETER, LW_STAGE_NONE, "force at input, length and rate zero [N or N.m]")     \
  X(actuator_stiffness, ACTUATOR, 1, LW_PARAMETER, LW_STAGE_NONE, "force lost per length, if there is one")           \
  X(actuator_damping, ACTUATOR, 1, LW_PARAMETER, LW_STAGE_NONE, "force lost per rate")                                \
  X(actuator_input_range, ACTUATOR, 2, LW_PARAMETER, LW_STAGE_NONE, "limits of the input, where it has limits")       \
  X(actuator_force_range, ACTUATOR, 2, LW_PARAMETER, LW_STAGE_NONE, "limits of the force, where it has limits")       \
  X(actuator_gear, GEAR, 1, LW_PARAMETER, LW_STAGE_NONE, "load of a force of one on the speed")                       \
  X(point_in_body, POINT, 3, LW_PARAMETER, LW_STAGE_NONE, "point of interest, body axes [m]")                         \
  X(axis_in_body, POINT, 3, LW_PARAMETER, LW_STAGE_NONE, "its direction, of any length, body axes")                   \
  X(transition_value, TRANSITION, 2, LW_PARAMETER, LW_STAGE_NONE,                                                     \
    "time [s], value of a zero crossing, or a stop's bounds")                                                         \
  X(restitution, TRANSITION, 1, LW_PARAMETER, LW_STAGE_NONE, "of a stop: speed after an impact, by that before")      \
  X(transition_points, TRANSITION, 6, LW_PARAMETER, LW_STAGE_NONE, "of the distance that is monitored [m]")           \
  X(impulse_point, TRANSITION, 3, LW_PARAMETER, LW_STAGE_NONE, "where an impulse acts, body axes [m]")                \
  X(impulse_start, TRANSITION, 6, LW_INTERNAL, LW_STAGE_NONE, "default of `impulse`")                                 \
  X(correction_gain, ONE, 2, LW_PARAMETER, LW_STAGE_NONE,                                                             \
    "loop feedback on position, speed [1/s]; -c: by speed, c / 10 at least")                                          \
  X(joint_parameter, JOINT, 1, LW_PARAMETER, LW_STAGE_NONE, "of its type: a screw's pitch [m/rad]; else 0")           \
  X(q_start, COORDINATE, 1, LW_START, LW_STAGE_NONE, "start guess of the coordinates [rad or m]")                     \
  X(u_start, SPEED, 1, LW_START, LW_STAGE_NONE, "start guess of the speeds [rad/s or m/s]")                           \
  X(q_priority, COORDINATE, 1, LW_START, LW_STAGE_NONE, "rank: assembly keeps it, the lowest rank longest; 0: no")    \
  X(u_priority, SPEED, 1, LW_START, LW_STAGE_NONE, "the same for the start speeds")

#define LW_MOTION_FIELDS(X)                                                                                       \
  X(time, ONE, 1, LW_INPUT, LW_STAGE_NONE, "time [s]")                                                            \
  X(tau, SPEED, 1, LW_INPUT, LW_STAGE_NONE, "driving load in all joints [N.m or N]")                              \
  X(applied_force, WRENCH, 3, LW_INPUT, LW_STAGE_NONE, "at the wrench's point, world axes [N]")                   \
  X(applied_torque, WRENCH, 3, LW_INPUT, LW_STAGE_NONE, "world axes [N.m]")                                       \
  X(actuator_input, ACTUATOR, 1, LW_INPUT, LW_STAGE_NONE, "in a unit of the user's")                              \
  X(motion_in, COUPLING, 3, LW_INPUT, LW_STAGE_NONE, "adds to its motion: value, rate, acceleration")             \
  X(command, TRANSITION, 1, LW_INPUT, LW_STAGE_NONE, "0 or 1: from without")                                      \
  X(impulse, TRANSITION, 6, LW_INPUT, LW_STAGE_NONE, "to apply, world axes [N.s; N.m.s]")                         \
  X(motion_time, ONE, 1, LW_INTERNAL, LW_STAGE_NONE, "time of motion_in, from which it continues with its rates") \
  X(q, TREE_COORDINATE, 1, LW_STATE, LW_STAGE_NONE, "coordinates of the tree joints [rad or m]")                  \
  X(u, TREE_SPEED, 1, LW_STATE, LW_STAGE_NONE, "speeds of the tree joints [rad/s or m/s]")                        \
  X(qdot, TREE_COORDINATE, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of q")                        \
  X(udot, TREE_SPEED, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of u")

/* What transitions have brought about so far: it stays until the next event. */
#define LW_DISCRETE_FIELDS(X)                                                                                         \
  X(joint_closed, JOINT, LW_IF_TRANSITIONS(1), LW_INTERNAL, LW_STAGE_NONE, "1 or 0, of joints that may open")         \
  X(captured_frame, JOINT, LW_IF_TRANSITIONS(7), LW_INTERNAL, LW_STAGE_NONE, "of a pin, found when it closed: r, Q")  \
  X(locked, SPEED, LW_IF_TRANSITIONS(1), LW_INTERNAL, LW_STAGE_NONE, "who holds it, see block/discrete_state.h")      \
  X(lock_value, SPEED, LW_IF_TRANSITIONS(1), LW_INTERNAL, LW_STAGE_NONE, "coordinate at which it is held")            \
  X(transition_active, TRANSITION, 1, LW_OUTPUT, LW_STAGE_NONE, "1: in effect")                                       \
  X(transition_memory, TRANSITION, LW_REALS(transition_memory), LW_INTERNAL, LW_STAGE_NONE, "for it")                 \
  X(event_memory, ONE, LW_IF_TRANSITIONS(8), LW_INTERNAL, LW_STAGE_NONE,                                              \
    "last event: time, events then; impacts: first, last, mean time between; this second: start, events; max_events") \
  X(event_count, ONE, 1, LW_OUTPUT, LW_STAGE_NONE, "events so far")                                                   \
  X(energy_lost, ONE, 1, LW_OUTPUT, LW_STAGE_NONE, "kinetic energy that events took away so far [J]")                 \
  X(impulse_force, JOINT, LW_IF_TRANSITIONS(3), LW_OUTPUT, LW_STAGE_NONE, "last one of the joint on its child [N.s]") \
  X(impulse_torque, JOINT, LW_IF_TRANSITIONS(3), LW_OUTPUT, LW_STAGE_NONE, "about the child's joint frame [N.m.s]")
#define LW_IF_TRANSITIONS(columns) (s->transitions ? (columns) : 0)

#define LW_OUTPUT_FIELDS(X)                                                                                         \
  X(acceleration, SPEED, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "acceleration in all joints")                        \
  X(q_cut, CUT_COORDINATE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "coordinates of the cut joints")                         \
  X(u_cut, CUT_SPEED, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "speeds of the cut joints")                             \
  X(loop_residual, LOOP, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gap; misalignment times loop length [m]")           \
  X(loop_conditioning, LOOP, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "smallest pivot of the closure, 0..1")           \
  X(coupling_residual, COUPLING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "sum, or distance, minus the offset")        \
  X(spring_length, SPRING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "distance of the spring's points [m]")             \
  X(spring_rate, SPRING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "time derivative of the length [m/s]")               \
  X(spring_force, SPRING, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "of spring and damper, pulling is positive [N]")    \
  X(actuator_length, ACTUATOR, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gears times coordinates [rad or m]")          \
  X(actuator_rate, ACTUATOR, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gears times speeds [rad/s or m/s]")             \
  X(actuator_force, ACTUATOR, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "within its limits [N or N.m]")                 \
  X(body_position, BODY, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "origin of the body frame, world axes [m]")                \
  X(body_orientation, BODY, 4, LW_OUTPUT, LW_STAGE_OUTPUTS, "unit quaternion, body to world")                       \
  X(body_velocity, BODY, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "of the body frame's origin, world axes [m/s]")            \
  X(body_angular_velocity, BODY, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [rad/s]")                              \
  X(reaction_force, JOINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "of the joint on its child, world axes [N]")             \
  X(reaction_torque, JOINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "same, about the child's joint frame [N.m]")            \
  X(coupling_load, COUPLING, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "on each of its joints acts p' times this")            \
  X(distance_force, DISTANCE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "pulls both ends towards each other [N]")             \
  X(point_position, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [m]")                                        \
  X(point_velocity, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [m/s]")                                      \
  X(point_acceleration, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [m/s2]")                                 \
  X(point_axis, POINT, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "its direction, a unit vector, world axes")                  \
  X(measure_value, MEASURE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "distance [m] or angle [rad]")                          \
  X(measure_rate, MEASURE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "its time derivative [m/s or rad/s]")                    \
  X(energy_kinetic, ONE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "kinetic energy [J]")                                      \
  X(energy_potential, ONE, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "of gravity, zero at the world origin, and springs [J]")

/* Working storage of the algorithms: arrays of the records in records.h. */
#define LW_WORK_FIELDS(X)                                                                                             \
  X(cut_reference, CUT_COORDINATE, 1, LW_INTERNAL, LW_STAGE_NONE, "last accepted coordinates: they choose the turn")  \
  X(watch_tolerance, ONE, 2, LW_INTERNAL, LW_STAGE_NONE,                                                              \
    "rtol, atol by which constraints are watched; 0: they are not")                                                   \
  X(loop_allowance, LOOP, 1, LW_INTERNAL, LW_STAGE_NONE, "residual at the start of the watch")                        \
  X(coupling_allowance, COUPLING, 1, LW_INTERNAL, LW_STAGE_NONE, "the same")                                          \
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
  X(has_massless, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "1: a body has no mass; else 0")                           \
  X(has_uneven_masses, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "1: clusters may lose digits by them; else 0")        \
  X(idle_spin, BODY, LW_REALS(idle_spin), LW_INTERNAL, LW_STAGE_CONSTANTS, "of links")                                \
  X(idle_spins, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "how many bodies have an inertia that stands in")            \
  X(may_lack_inertia, ONE, 1, LW_INTERNAL, LW_STAGE_CONSTANTS, "1: joints may move none in some poses; else 0")       \
  X(stand_ins_placed, ONE, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "1: M and F of the bodies have them")              \
  X(link_centroid, BODY, lw_has_centroids(m) ? LW_REALS(link_centroid) : 0, LW_INTERNAL, LW_STAGE_CONSTANTS, "")

#define LW_FIELDS(X)                                                                                     \
  LW_PARAMETER_FIELDS(X) LW_MOTION_FIELDS(X) LW_DISCRETE_FIELDS(X) LW_OUTPUT_FIELDS(X) LW_WORK_FIELDS(X)
#endif
