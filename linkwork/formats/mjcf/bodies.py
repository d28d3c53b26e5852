"""Bodies and joints of a compiled MJCF model as links and joints.

MuJoCo's coordinates are the joint's `ref` where the model is as it is written; here, frames of a joint coincide where
its coordinates are zero, so that the child's frame is rotated or displaced by `ref` along the axis. Several joints of
one body act one after the other: massless links that coincide with the body stand between them.
"""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of
from linkwork.formats.mjcf.named import NamedModel, frame
from linkwork.formats.robot import Link, Robot, RobotJoint
from linkwork.mechanism import Fixed, Frame, Free, JointKind, Prismatic, Revolute, Spherical

_FREE, _BALL, _SLIDE, _HINGE = range(4)  # MuJoCo's mjtJoint
_SIZES = {_FREE: (7, 6), _BALL: (4, 3), _SLIDE: (1, 1), _HINGE: (1, 1)}  # numbers of coordinates and speeds


def add_bodies(named: NamedModel, robot: Robot, start: FloatArray, speeds: FloatArray) -> None:
    """Add links and joints to a robot; `start` and `speeds` are the start values of all joints in MuJoCo's order."""
    model = named.model
    for body in range(1, model.nbody):
        name = named.bodies[body]
        assert name is not None
        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        parent, place = named.bodies[model.body_parentid[body]], frame(model.body_pos[body], model.body_quat[body])
        link = _link(named, body, name)
        if not len(joints):
            robot.links[name] = link
            _add_fixed(named, robot, name, parent, place)
        for joint in joints:
            last = joint == joints[-1]
            child = name if last else _between(robot, named, name, named.joints[joint])
            robot.links[child] = link if last else Link(child)
            robot.joints[named.joints[joint]] = _joint(named, joint, parent, child, place)
            _set_start(named, joint, robot.joints[named.joints[joint]], start, speeds)
            parent, place = child, Frame()


def _link(named: NamedModel, body: int, name: str) -> Link:
    model = named.model
    axes = matrix_of(model.body_iquat[body])
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    com = np.array(model.body_ipos[body])
    return Link(name, float(model.body_mass[body]), com, (inertia + inertia.T) / 2)


def _between(robot: Robot, named: NamedModel, body: str, joint: str) -> str:
    """Return a name for the massless link that follows a joint of a body of several."""
    name = f"{body}_after_{joint}"
    while name in robot.links or name in named.bodies:
        name += "_"
    return name


def _add_fixed(named: NamedModel, robot: Robot, name: str, parent: str | None, place: Frame) -> None:
    own = name
    while own in named.joints or own in robot.joints:
        own += "_fixed"
    robot.joints[own] = RobotJoint(own, Fixed(), parent, name, place, element=f"body {name!r} > no joint")


def _joint(named: NamedModel, joint: int, parent: str | None, child: str, place: Frame) -> RobotJoint:
    """Return a joint; `place` is where the child is in its parent where the coordinates are `ref`."""
    model = named.model
    kind = int(model.jnt_type[joint])
    _, nu = _SIZES[kind]
    q, u = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    ref, axis = float(model.qpos0[q]), np.array(model.jnt_axis[joint])
    anchor = frame(model.jnt_pos[joint])
    type_of_joint: JointKind
    if kind == _FREE:
        type_of_joint, parent_frame, child_frame = Free(), Frame(), Frame()
    elif kind == _BALL:
        type_of_joint, parent_frame, child_frame = Spherical(), place @ anchor, anchor
    elif kind == _SLIDE:
        type_of_joint, parent_frame = Prismatic(axis), place @ anchor
        child_frame = frame(model.jnt_pos[joint] + ref * axis)
    else:
        type_of_joint, parent_frame = Revolute(axis), place @ anchor
        child_frame = frame(model.jnt_pos[joint], _about(axis, ref))
    made = RobotJoint(
        named.joints[joint], type_of_joint, None if kind == _FREE else parent, child, parent_frame, child_frame
    )
    made.damping = _of_speeds(kind, model.dof_damping[u : u + nu], not named.disables("damper"))
    made.reflected_inertia = _of_speeds(kind, model.dof_armature[u : u + nu])
    if kind in (_SLIDE, _HINGE):
        if model.jnt_stiffness[joint] and not named.disables("spring"):
            made.stiffness, made.free = (float(model.jnt_stiffness[joint]),), (float(model.qpos_spring[q]),)
        if model.jnt_limited[joint] and not named.disables("limit", "constraint"):
            lowest, highest = model.jnt_range[joint].tolist()
            made.limits = ((lowest, highest),)
    return made


def _set_start(named: NamedModel, joint: int, made: RobotJoint, start: FloatArray, speeds: FloatArray) -> None:
    """Set start values; displacements of a free joint have speeds along world axes in MuJoCo, here along the body's."""
    kind = int(named.model.jnt_type[joint])
    nq, nu = _SIZES[kind]
    q, u = int(named.model.jnt_qposadr[joint]), int(named.model.jnt_dofadr[joint])
    made.start, given = start[q : q + nq].copy(), speeds[u : u + nu].copy()
    if kind == _FREE:
        given = np.concatenate([given[3:], matrix_of(made.start[3:]).T @ given[:3]])
    made.start_u = given if given.any() else None


def _of_speeds(kind: int, values: FloatArray, wanted: bool = True) -> tuple[float, ...]:
    """Return numbers for each speed in Linkwork's order: angular ones first; none if all are zero."""
    if not wanted or not values.any():
        return ()
    ordered = np.roll(values, 3) if kind == _FREE else values
    return tuple(ordered.tolist())


def _about(axis: FloatArray, angle: float) -> FloatArray:
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
