"""Where the bodies of a mechanism are, by the plain meaning of its joint frames and coordinates.

Values of joints go by name: a number for a joint of one coordinate, an array for one of several; joints without a
coordinate are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from .joint_shapes import neutral, shape_of
from .poses import IDENTITY, Array, Pose

Value = float | Array
Values = Mapping[str, Value]


def vector(value: Value) -> Array:
    return np.atleast_1d(np.asarray(value, float))


def plain(array: Array) -> Value:
    """A number for one component, the array for several."""
    return float(array[0]) if array.size == 1 else array


def body_poses(mechanism: Any, q: Values, tree: Collection[str]) -> dict[str, Pose]:
    """World poses of the ground and of all bodies, found by walking over the joints named in `tree`."""
    poses = {"ground": IDENTITY}
    waiting = [mechanism.joints[name] for name in tree]
    while waiting:
        for joint in waiting:
            motion = joint_pose(joint.kind, q.get(joint.name))
            step = pose_of(joint.parent_frame).then(motion).then(pose_of(joint.child_frame).inverse())
            if joint.parent in poses and joint.child not in poses:
                poses[joint.child] = poses[joint.parent].then(step)
                break
            if joint.child in poses and joint.parent not in poses:
                poses[joint.parent] = poses[joint.child].then(step.inverse())
                break
        else:
            raise ValueError(f"{[joint.name for joint in waiting]} do not continue a tree with its root on the ground")
        waiting.remove(joint)
    return poses


def pose_of(frame: Any) -> Pose:
    return Pose(np.asarray(frame.rotation, float), np.asarray(frame.position, float))


def joint_pose(kind: Any, q: Value | None = None) -> Pose:
    """Child frame in parent frame; without `q` where the frames coincide."""
    shape = shape_of(kind)
    return shape.pose(neutral(shape) if q is None else vector(q))


def joint_frames(joint: Any, poses: Mapping[str, Pose]) -> tuple[Pose, Pose]:
    """The joint frame in the world as the parent and as the child carry it."""
    return poses[joint.parent].then(pose_of(joint.parent_frame)), poses[joint.child].then(pose_of(joint.child_frame))


def joint_coordinate(joint: Any, poses: Mapping[str, Pose]) -> Value:
    """The coordinates that the poses show: angles within half a turn, one of the two quaternions."""
    parent, child = joint_frames(joint, poses)
    return plain(shape_of(joint.kind).coordinates(parent.inverse().then(child)))
