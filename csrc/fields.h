/* Every number that a state holds, once: this list drives the layout of the block, the public look-up by
 * name and the checks on setting and reading. The parameters stand first, in the order of the serialised
 * model. X(name, rows, columns, access, stage, meaning); s is the lw_sizes of the model.
 * "all joints" are the tree joints in the order added, then the cut joints. */
#ifndef LW_FIELDS_H
#define LW_FIELDS_H

#define LW_NQ_ALL (s->nq + s->nq_cut)
#define LW_NU_ALL (s->nu + s->nu_cut)

#define LW_PARAMETER_FIELDS(X)                                                                                    \
  X(gravity, 1, 3, LW_PARAMETER, LW_STAGE_NONE, "gravitational acceleration, world axes [m/s2]")                   \
  X(body_mass, s->bodies, 1, LW_PARAMETER, LW_STAGE_NONE, "mass [kg]")                                            \
  X(body_com, s->bodies, 3, LW_PARAMETER, LW_STAGE_NONE, "centre of mass, body axes [m]")                          \
  X(body_inertia, s->bodies, 6, LW_PARAMETER, LW_STAGE_NONE, "xx xy xz yy yz zz about the com, body axes [kg.m2]") \
  X(parent_position, s->joints, 3, LW_PARAMETER, LW_STAGE_NONE, "joint frame's origin in the parent body [m]")    \
  X(parent_orientation, s->joints, 4, LW_PARAMETER, LW_STAGE_NONE, "joint frame in the parent body, axis = z")     \
  X(child_position, s->joints, 3, LW_PARAMETER, LW_STAGE_NONE, "joint frame's origin in the child body [m]")      \
  X(child_orientation, s->joints, 4, LW_PARAMETER, LW_STAGE_NONE, "joint frame in the child body, axis = z")       \
  X(stiffness, LW_NU_ALL, 1, LW_PARAMETER, LW_STAGE_NONE, "joint spring [N.m/rad or N/m]")                         \
  X(damping, LW_NU_ALL, 1, LW_PARAMETER, LW_STAGE_NONE, "joint damper [N.m.s/rad or N.s/m]")                       \
  X(free_coordinate, LW_NU_ALL, 1, LW_PARAMETER, LW_STAGE_NONE, "coordinate at which the spring is free")         \
  X(correction_gain, 1, 2, LW_PARAMETER, LW_STAGE_NONE, "loop feedback on position, speed [1/s]; < 0: by speed")   \
  X(q_start, LW_NQ_ALL, 1, LW_START, LW_STAGE_NONE, "start guess of the coordinates [rad or m]")                   \
  X(u_start, LW_NU_ALL, 1, LW_START, LW_STAGE_NONE, "start guess of the speeds [rad/s or m/s]")                   \
  X(q_held, LW_NQ_ALL, 1, LW_START, LW_STAGE_NONE, "rank: assembly keeps it, the lowest rank longest; 0: no")          \
  X(u_held, LW_NU_ALL, 1, LW_START, LW_STAGE_NONE, "the same for the start speeds")

#define LW_MOTION_FIELDS(X)                                                                                       \
  X(time, 1, 1, LW_INPUT, LW_STAGE_NONE, "time [s]")                                                              \
  X(tau, LW_NU_ALL, 1, LW_INPUT, LW_STAGE_NONE, "driving load in all joints [N.m or N]")                          \
  X(q, s->nq, 1, LW_STATE, LW_STAGE_NONE, "coordinates of the tree joints [rad or m]")                            \
  X(u, s->nu, 1, LW_STATE, LW_STAGE_NONE, "speeds of the tree joints [rad/s or m/s]")                             \
  X(qdot, s->nq, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of q")                                  \
  X(udot, s->nu, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, "time derivative of u")

#define LW_OUTPUT_FIELDS(X)                                                                                       \
  X(acceleration, LW_NU_ALL, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "acceleration in all joints")                  \
  X(q_cut, s->nq_cut, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "coordinates of the cut joints")                       \
  X(u_cut, s->nu_cut, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "speeds of the cut joints")                           \
  X(loop_residual, s->loops, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "gap; misalignment times loop length [m]")     \
  X(loop_conditioning, s->loops, 1, LW_OUTPUT, LW_STAGE_ACCELERATIONS, "smallest pivot of the closure, 0..1")     \
  X(body_position, s->bodies, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "origin of the body frame, world axes [m]")         \
  X(body_orientation, s->bodies, 4, LW_OUTPUT, LW_STAGE_OUTPUTS, "unit quaternion, body to world")                \
  X(body_velocity, s->bodies, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "of the body frame's origin, world axes [m/s]")     \
  X(body_angular_velocity, s->bodies, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "world axes [rad/s]")                       \
  X(reaction_force, s->joints, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "of the joint on its child, world axes [N]")       \
  X(reaction_torque, s->joints, 3, LW_OUTPUT, LW_STAGE_OUTPUTS, "same, about the child's joint frame [N.m]")      \
  X(energy_kinetic, 1, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "kinetic energy [J]")                                      \
  X(energy_potential, 1, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, "of gravity, zero at the world origin, and springs [J]")

/* Working storage of the algorithms: arrays of the records in records.h. */
#define LW_WORK_FIELDS(X)                                                                                         \
  X(cut_reference, s->nq_cut, 1, LW_INTERNAL, LW_STAGE_NONE, "last accepted coordinates: they choose the turn")  \
  X(link_constants, s->bodies, LW_REALS(link_constants), LW_INTERNAL, LW_STAGE_CONSTANTS, "")                     \
  X(cut_constants, s->loops, LW_REALS(cut_constants), LW_INTERNAL, LW_STAGE_CONSTANTS, "")                        \
  X(sincos, s->nq, 2, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                                                    \
  X(load, LW_NU_ALL, 1, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "driving load plus springs and dampers")             \
  X(motion, s->bodies + s->loops, LW_REALS(link_motion), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "links, phantoms")  \
  X(inertia, s->bodies, LW_REALS(link_inertia), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                          \
  X(outboard, s->bodies, LW_REALS(articulated), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                          \
  X(sweep, s->bodies, LW_REALS(column_sweep), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                            \
  X(increment, s->bodies, LW_REALS(twist), LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")                               \
  X(wrench, s->bodies, LW_REALS(twist), LW_INTERNAL, LW_STAGE_OUTPUTS, "")                                        \
  X(loop_work, 1, m->loop_reals, LW_INTERNAL, LW_STAGE_ACCELERATIONS, "")

#define LW_FIELDS(X) LW_PARAMETER_FIELDS(X) LW_MOTION_FIELDS(X) LW_OUTPUT_FIELDS(X) LW_WORK_FIELDS(X)
#endif
