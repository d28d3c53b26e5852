"""Poses, forces and equations of a neutral `Robot`, from its description alone."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from linkwork.formats.robot import Robot, RobotJoint
from linkwork.mechanism import Fixed, Frame, Free, Prismatic, Revolute, Spherical

Coordinates = dict[str, np.ndarray]


def _matrix(frame: Frame) -> np.ndarray:
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = frame.rotation, frame.position
    return placed


def motion(joint: RobotJoint, q: np.ndarray) -> np.ndarray:
    """Return the displacement (4, 4) of the child's joint frame in the parent's."""
    moved, kind = np.eye(4), joint.kind
    if isinstance(kind, Revolute):
        moved[:3, :3] = Rotation.from_rotvec(kind.axis * q[0]).as_matrix()
    elif isinstance(kind, Prismatic):
        moved[:3, 3] = kind.axis * q[0]
    elif isinstance(kind, Spherical):
        moved[:3, :3] = Rotation.from_quat(q, scalar_first=True).as_matrix()
    elif isinstance(kind, Free):
        moved[:3, :3], moved[:3, 3] = Rotation.from_quat(q[3:], scalar_first=True).as_matrix(), q[:3]
    else:
        assert isinstance(kind, Fixed)
    return moved


def poses(robot: Robot, q: Coordinates) -> dict[str | None, np.ndarray]:
    """Return the pose (4, 4) of each link in the world."""
    found: dict[str | None, np.ndarray] = {None: np.eye(4)}
    waiting = [joint for joint in robot.joints.values() if not joint.closes]
    while waiting:
        joint = next(one for one in waiting if one.parent in found)
        waiting.remove(joint)
        across = motion(joint, q.get(joint.name, np.zeros(0)))
        pose = found[joint.parent] @ _matrix(joint.parent_frame) @ across
        found[joint.child] = pose @ np.linalg.inv(_matrix(joint.child_frame))
    return found


def gaps(robot: Robot, q: Coordinates) -> dict[str, float]:
    """Return by how much closures, couplings and rigid rods are open."""
    at, found = poses(robot, q), {}
    for joint in robot.joints.values():
        if joint.closes:
            ends = [at[joint.parent] @ _matrix(joint.parent_frame), at[joint.child] @ _matrix(joint.child_frame)]
            difference = ends[0] - ends[1]
            welded = isinstance(joint.kind, Fixed)
            found[joint.name] = np.abs(difference if welded else difference[:3, 3]).max()
    for coupling in robot.couplings:
        terms = [c * q[name][i] ** (k + 1) for (name, i), given in coupling.terms.items() for k, c in enumerate(given)]
        found[coupling.name] = abs(sum(terms) - coupling.offset)
    for rod in robot.rods:
        if rod.rigid:
            found[rod.name] = abs(_length(rod, at) - rod.free)
    return found


def loads(robot: Robot, q: Coordinates, u: Coordinates, inputs: dict[str, float]) -> Coordinates:
    """Return the loads of springs, dampers and actuators on hinges, slides and balls, without those of rods."""
    found = {name: np.zeros_like(value) for name, value in u.items()}
    for joint in robot.joints.values():
        if joint.damping:
            found[joint.name] -= np.array(joint.damping) * u[joint.name]
        if joint.stiffness:
            found[joint.name] -= np.array(joint.stiffness) * (q[joint.name] - np.array(joint.free))
    for one in robot.actuators:
        given = inputs.get(one.name, 0.0)
        given = np.clip(given, *one.input_range) if one.input_range else given
        length = sum(gear * q[name][i] for (name, i), gear in one.gears.items()) if one.stiffness else 0.0
        rate = sum(gear * u[name][i] for (name, i), gear in one.gears.items())
        force = one.gain * given + one.offset - one.stiffness * length - one.damping * rate
        force = np.clip(force, *one.force_range) if one.force_range else force
        for (name, i), gear in one.gears.items():
            found[name][i] += gear * force
    return found


def rod_energy(robot: Robot, q: Coordinates) -> float:
    """Return the potential energy of the springs between points."""
    at = poses(robot, q)
    return sum(0.5 * rod.stiffness * (_length(rod, at) - rod.free) ** 2 for rod in robot.rods if not rod.rigid)


def _length(rod, at) -> float:
    ends = [(at[link] @ [*point, 1.0])[:3] for link, point in zip(rod.links, rod.points, strict=True)]
    return float(np.linalg.norm(ends[1] - ends[0]))
