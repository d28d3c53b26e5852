"""Springs and dampers in joints of a compiled MJCF model beyond those of linear coordinates: powers, and rotations."""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.named import NamedModel, frame
from linkwork.formats.mjcf.tendons import Elasticity, nonlinear_force
from linkwork.formats.robot import Robot, RobotFrames, RobotJoint, RobotLaw, RobotMount
from linkwork.mechanism import Frame

_FREE, _BALL = 0, 1  # MuJoCo's mjtJoint


def add_joint_forces(named: NamedModel, robot: Robot, damping: FloatArray) -> None:
    """Add to a robot springs of balls and free joints, and of all joints powers of deflection and rate.

    `damping` is what actuators add to the latter, (njnt, mjNPOLY).
    """
    model = named.model
    for joint in range(model.njnt):
        made = robot.joints[named.joints[joint]]
        first, springs = int(model.jnt_dofadr[joint]), not named.disables("spring")
        stiff = springs * np.concatenate([[model.jnt_stiffness[joint]], model.jnt_stiffnesspoly[joint]])
        damp = (not named.disables("damper")) * (model.dof_dampingpoly[first] + damping[joint])
        if named.is_scalar(joint):
            _add_powers(named, robot, joint, made, stiff[1:], damp)
            continue
        if stiff.any():
            _add_rotation_spring(named, robot, joint, made, stiff)
        if damp.any():
            _add_damping_powers(named, robot, joint, made, damp)


def _add_powers(
    named: NamedModel, robot: Robot, joint: int, made: RobotJoint, stiff: FloatArray, damp: FloatArray
) -> None:
    """Add the powers from the second on of a hinge or slide; the first one is in the joint."""
    if not stiff.any() and not damp.any():
        return
    free = float(named.model.qpos_spring[named.model.jnt_qposadr[joint]])
    elastic = Elasticity(np.concatenate([[0.0], stiff]), np.concatenate([[0.0], damp]), (free, free))
    formula, parameters = nonlinear_force(elastic)
    place = {named.joint_coordinate(joint): 1.0}
    element, what = f"{made.element} > stiffness, damping", "terms of higher order, by a formula"
    robot.laws.append(
        RobotLaw(f"{made.name}_spring", place, formula, parameters, kind="spring", what=what, element=element)
    )


def _add_rotation_spring(named: NamedModel, robot: Robot, joint: int, made: RobotJoint, stiff: FloatArray) -> None:
    """Add the spring of a ball or free joint: on its rotation vector, and of the latter on its displacement."""
    model = named.model
    first, free = int(model.jnt_qposadr[joint]), int(model.jnt_type[joint]) == _FREE
    rest = model.qpos_spring[first : first + 7] if free else model.qpos_spring[first : first + 4]
    at_rest = frame(rest[:3], rest[3:]) if free else frame(np.zeros(3), rest)
    links, frames = (made.parent, made.child), (made.parent_frame @ at_rest, made.child_frame)
    name, element = f"{made.name}_spring", f"{made.element} > stiffness"
    if not stiff[1:].any() and stiff[0] >= 0.0:
        linear = float(stiff[0])
        robot.mounts.append(RobotMount(name, links, frames, (linear * free, linear), element))
        return
    numbers = {f"k{power}": float(one) for power, one in enumerate(stiff, start=1) if one}
    place = RobotFrames(links, frames)
    for what, key, acts in (("displacement", "force", free), ("rotation", "torque", True)):
        if acts:
            size = f"sqrt({' + '.join(f'{what}[{k}]^2' for k in (1, 2, 3))})"
            by = " + ".join(f"{what[0]}{one}" + f"*{size}" * (int(one[1:]) - 1) for one in numbers)
            place.parameters |= {f"{what[0]}{one}": value for one, value in numbers.items()}
            setattr(place, key, tuple(f"-({by})*{what}[{k}]" for k in (1, 2, 3)))
    robot.laws.append(RobotLaw(name, place, "0", kind="spring", what="spring by a formula", element=element))


def _add_damping_powers(named: NamedModel, robot: Robot, joint: int, made: RobotJoint, damp: FloatArray) -> None:
    """Add the powers from the second on of the speeds of a ball or free joint.

    Rates of displacement are along axes of the world, angular velocities along axes of the child.
    """
    elastic = Elasticity(np.zeros(1), np.concatenate([[0.0], damp]), (0.0, 0.0))
    formula, parameters = nonlinear_force(elastic)
    element, what = f"{made.element} > damping", "terms of higher order, by a formula"
    for k in range(3):
        name = f"{made.name}_damper_{k + 1}"
        place = {(made.name, k): 1.0}
        robot.laws.append(RobotLaw(name, place, formula, parameters, kind="spring", what=what, element=element))
    if int(named.model.jnt_type[joint]) != _FREE:
        return
    components = tuple(formula.format(x="0", v=f"velocity[{k}]") for k in (1, 2, 3))
    at = RobotFrames((None, made.child), (Frame(), made.child_frame), force=components, parameters=dict(parameters))
    robot.laws.append(RobotLaw(f"{made.name}_damper", at, "0", kind="spring", what=what, element=element))
