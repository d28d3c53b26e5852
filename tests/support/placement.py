"""Where the bodies of a mechanism are, by the plain meaning of its joint frames and coordinates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from .poses import IDENTITY, Array, Pose, turn

Values = Mapping[str, float]  # by joint name; joints without a coordinate are left out


def body_poses(mechanism: Any, q: Values, tree: Collection[str]) -> dict[str, Pose]:
    """World poses of the ground and of all bodies, found by walking over the joints named in `tree`."""
    poses = {"ground": IDENTITY}
    waiting = [mechanism.joints[name] for name in tree]
    while waiting:
        for joint in waiting:
            motion = joint_pose(joint.kind, q.get(joint.name, 0.0))
            step = pose_of(joint.parent_frame).then(motion).then(pose_of(joint.child_frame).inverse())
            if joint.parent in poses and joint.child not in poses:
                poses[joint.child] = poses[joint.parent].then(step)
                break
            if joint.child in poses and joint.parent not in poses:
                poses[joint.parent] = poses[joint.child].then(step.inverse())
                break
        else:
            raise ValueError(f"{[joint.name for joint in waiting]} do not continue a tree that stands on the ground")
        waiting.remove(joint)
    return poses


def pose_of(frame: Any) -> Pose:
    return Pose(np.asarray(frame.rotation, float), np.asarray(frame.position, float))


def joint_pose(kind: Any, q: float) -> Pose:
    """Child frame in parent frame."""
    if kind.type_name == "revolute":
        return Pose(turn(kind.axis, q), np.zeros(3))
    if kind.type_name == "prismatic":
        return Pose(np.eye(3), q * kind.axis)
    assert kind.type_name == "fixed", kind
    return IDENTITY


def joint_frames(joint: Any, poses: Mapping[str, Pose]) -> tuple[Pose, Pose]:
    """The joint frame in the world as the parent and as the child carry it."""
    return poses[joint.parent].then(pose_of(joint.parent_frame)), poses[joint.child].then(pose_of(joint.child_frame))


def joint_coordinate(joint: Any, poses: Mapping[str, Pose]) -> float:
    """The coordinate that the poses show; an angle within half a turn."""
    parent, child = joint_frames(joint, poses)
    relative = parent.inverse().then(child)
    if joint.kind.type_name == "prismatic":
        return float(joint.kind.axis @ relative.position)
    if joint.kind.type_name == "fixed":
        return 0.0
    axis = joint.kind.axis
    cosine = (np.trace(relative.rotation) - axis @ relative.rotation @ axis) / 2.0
    return float(np.arctan2(axis @ sine_axis(relative.rotation), cosine))


def sine_axis(rotation: Array) -> Array:
    """Axis of a rotation times the sine of its angle."""
    r = rotation
    return np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]) / 2.0
