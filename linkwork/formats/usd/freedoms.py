"""Kinds of joints for the freedoms of a generic joint, and their coordinates at a relative pose."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.mechanism import Cylindrical, Fixed, Frame, Free, Planar, Prismatic, Revolute, Spherical, Universal
from linkwork.mechanism.joints import JointKind

SLIDES, TURNS = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")
_AXES = np.eye(3)


class Step(NamedTuple):
    """One of the joints in series that have the freedoms together: its kind, and the freedom of each coordinate."""

    kind: JointKind
    freedoms: tuple[str, ...]


def steps_of(free: set[str]) -> list[Step]:
    """Return the joints in series with these freedoms, from the parent on; massless links stand between them.

    Slides are fixed in the parent. Of two turns the first is about an axis of the parent, the second of the child.

    >>> [type(step.kind).__name__ for step in steps_of({"transX", "rotX"})]
    ['Cylindrical']
    """
    slides = [name for name in SLIDES if name in free]
    turns = [name for name in TURNS if name in free]
    if len(slides) == 3 and len(turns) == 3:
        return [Step(Free(), ())]
    if len(slides) == 2 and len(turns) == 1:
        normal = TURNS.index(turns[0])
        if SLIDES[normal] not in slides:
            kind = Planar(_AXES[normal])
            x = int(np.argmax(kind.canonical_axes[:, 0]))
            y = int(np.argmax(abs(kind.canonical_axes[:, 1])))
            if kind.canonical_axes[y, 1] > 0.0:
                return [Step(kind, (SLIDES[x], SLIDES[y], turns[0]))]
    if len(slides) == len(turns) == 1 and slides[0][-1] == turns[0][-1]:
        return [Step(Cylindrical(_AXES[TURNS.index(turns[0])]), (turns[0], slides[0]))]
    steps = [Step(Prismatic(_AXES[SLIDES.index(name)]), (name,)) for name in slides]
    axes = [_AXES[TURNS.index(name)] for name in turns]
    if len(turns) == 1:
        steps.append(Step(Revolute(axes[0]), (turns[0],)))
    elif len(turns) == 2:
        steps.append(Step(Universal(axes[0], axes[1]), (turns[0], turns[1])))
    elif turns:
        steps.append(Step(Spherical(), ()))
    return steps or [Step(Fixed(), ())]


def coordinates_at(kind: JointKind, pose: Frame) -> tuple[FloatArray, float, float]:
    """Return the coordinates at which a joint is nearest to a relative pose of its frames, and what remains.

    Returns
    -------
    q, gap, angle
        (nq,); m and rad by which the pose is off the joint's.
    """
    q = kind.neutral.copy()
    if isinstance(kind, Free):
        return np.concatenate([pose.position, pose.quaternion]), 0.0, 0.0
    if isinstance(kind, Spherical):
        return pose.quaternion, float(np.linalg.norm(pose.position)), 0.0
    rest = pose
    if isinstance(kind, Revolute | Cylindrical | Planar):
        turn = _angle_about(kind.axes[0], pose)
        q[-1 if isinstance(kind, Planar) else 0] = turn
    if isinstance(kind, Prismatic | Cylindrical):
        q[-1] = kind.axes[0] @ pose.position
    if isinstance(kind, Planar):
        q[:2] = kind.canonical_axes[:, :2].T @ pose.position
    if isinstance(kind, Universal):
        # The child's axis2 is turned about axis1 only, and the parent's axis1 seen from the child about axis2 only.
        first, second = kind.axis1, kind.axis2
        seen, back = pose.rotation @ second, pose.rotation.T @ first
        q[0] = math.atan2(np.cross(first, second) @ seen, second @ seen)
        q[1] = math.atan2(np.cross(first, second) @ back, first @ back)
    rest = pose_at(kind, q).inverse() @ pose
    return (
        q,
        float(np.linalg.norm(rest.position)),
        2.0 * math.atan2(float(np.linalg.norm(rest.quaternion[1:])), abs(rest.quaternion[0])),
    )


def pose_at(kind: JointKind, q: FloatArray) -> Frame:
    """Return the pose of the child's joint frame in the parent's."""
    if isinstance(kind, Revolute):
        return _turned(kind.axis, q[0])
    if isinstance(kind, Prismatic):
        return Frame(kind.axis * q[0])
    if isinstance(kind, Cylindrical):
        return Frame(kind.axis * q[1]) @ _turned(kind.axis, q[0])
    if isinstance(kind, Planar):
        return Frame(kind.canonical_axes[:, :2] @ q[:2]) @ _turned(kind.normal, q[2])
    if isinstance(kind, Universal):
        return _turned(kind.axis1, q[0]) @ _turned(kind.axis2, q[1])
    return Frame()


def _turned(axis: FloatArray, angle: float) -> Frame:
    return Frame((0, 0, 0), np.append(math.cos(angle / 2.0), math.sin(angle / 2.0) * axis))


def _angle_about(axis: FloatArray, pose: Frame) -> float:
    quaternion = pose.quaternion
    return 2.0 * math.atan2(float(axis @ quaternion[1:]), float(quaternion[0]))
