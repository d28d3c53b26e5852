"""Axes that are parallel but for the digits of single precision, in which USD states the frames of joints.

A planar loop whose axes are off by 1e-8 rad is no planar loop: it neither closes nor moves. Such axes are made exactly
parallel, and the frames of their joints meet exactly where the stage has the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.formats.report import Report
from linkwork.formats.robot import RobotJoint
from linkwork.formats.usd.freedoms import pose_at
from linkwork.mechanism import Frame

_DIGITS = 2e-6  # rad, and parts of the largest coordinate: some roundings of single precision in a row
_ROUNDING = 1e-12


@dataclass
class StagedJoint:
    """A joint with one axis, closed in the stage: the poses of its links there, and its coordinates.

    Attributes
    ----------
    gap, angle
        By which it is open, m and rad.
    """

    joint: RobotJoint
    parent: Frame
    child: Frame
    q: FloatArray
    gap: float
    angle: float

    @property
    def direction(self) -> FloatArray:
        """Its axis in the stage."""
        return self.parent.rotate(self.joint.parent_frame.rotate(self.joint.kind.axes[0]))

    @property
    def size(self) -> float:
        """The largest coordinate of which it is made, m."""
        positions = (self.parent, self.child, self.joint.parent_frame, self.joint.child_frame)
        return max(float(abs(frame.position).max()) for frame in positions)


def align(staged: list[StagedJoint], report: Report) -> None:
    """Make axes exactly parallel that are so within single precision; a report gets what changes."""
    groups: list[list[StagedJoint]] = []
    for one in staged:
        if one.angle > _DIGITS or one.gap > _DIGITS * one.size:
            continue
        for group in groups:
            if np.linalg.norm(np.cross(group[0].direction, one.direction)) < _DIGITS:
                group.append(one)
                break
        else:
            groups.append([one])
    names, turned, moved = [], 0.0, 0.0
    for group in groups:
        for one in group if len(group) > 1 else ():
            angle, distance = _align(one, group[0].direction)
            if max(angle, distance) > _ROUNDING:
                names.append(one.joint.name)
                turned, moved = max(turned, angle), max(moved, distance)
    if names:
        report.taken(
            f"axes of joints {quoted(names)}",
            f"made exactly parallel, from single precision: turned by up to {turned:.1g} rad, moved by {moved:.1g} m",
        )


def _align(one: StagedJoint, direction: FloatArray) -> tuple[float, float]:
    """Turn a joint's axis to a direction of the stage, and let its frames meet; return by how much, rad and m."""
    joint, before = one.joint, one.direction
    if before @ direction < 0.0:
        direction = -direction
    across = np.cross(before, direction)
    # A rotation this small is its own first order; the frame makes it orthonormal.
    half = np.append(1.0, across / 2.0)
    turn = Frame((0, 0, 0), half / np.linalg.norm(half))
    frame = one.parent @ joint.parent_frame
    exact = Frame(frame.position, turn.rotation @ frame.rotation)
    meeting = exact @ pose_at(joint.kind, one.q)
    child_frame = one.child.inverse() @ meeting
    moved = float(np.linalg.norm(child_frame.position - joint.child_frame.position))
    joint.parent_frame, joint.child_frame = one.parent.inverse() @ exact, child_frame
    return float(np.linalg.norm(across)), moved
