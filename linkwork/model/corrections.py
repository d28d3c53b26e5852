"""Frames of joints that rounding kept from being exact, and that the core made exact (csrc/assembly/exact_loops.c)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import number_of, quoted
from linkwork.mechanism import Frame, Mechanism

NOTHING = 1e-15  # rad or m: not worth a word
ROUNDING = 1e-9  # rad or m


@dataclass(frozen=True)
class FrameCorrection:
    """By how much the frames of a joint were changed to make its loops exact."""

    joint: str  # its name
    # angle, distance: by which its frames were turned, rad, and moved, m; the larger one of the two frames
    angle: float
    distance: float

    @property
    def is_large(self) -> bool:
        """Whether it is larger than the rounding of numbers with ten digits, which nobody means."""
        return max(self.angle, self.distance) > ROUNDING


def with_frames(mech: Mechanism, given: FloatArray, exact: FloatArray) -> tuple[Mechanism, tuple[FrameCorrection, ...]]:
    """Return a mechanism with other frames (joints, 2, 12) of its joints than those given, and how they differ."""
    twin, found = mech.copy(), []
    names = list(mech.joints)
    for number in np.flatnonzero((given != exact).any(axis=(1, 2))).tolist():
        before, after = given[number], exact[number]
        parent, child = (Frame(one[:3], one[3:].reshape(3, 3)) for one in after)
        joint = twin.joints[names[number]]
        twin.joints[joint.name] = replace(joint, parent_frame=parent, child_frame=child)
        angle = max(_angle(one[3:], other[3:]) for one, other in zip(before, after, strict=True))
        found.append(FrameCorrection(joint.name, angle, float(np.linalg.norm((after - before)[:, :3], axis=1).max())))
    return twin, tuple(found)


def describe_corrections(corrections: Sequence[FrameCorrection]) -> str:
    """Return which joints were changed and by how much at most, as the subject of a sentence and its verb."""
    found = sorted(corrections, key=lambda one: -max(one.angle, one.distance))
    angle, distance = max(one.angle for one in found), max(one.distance for one in found)
    sizes = [f"turned by {angle:.2g} rad"] * (angle > NOTHING) + [f"moved by {distance:.2g} m"] * (distance > NOTHING)
    what = number_of(len(found), "joint")
    return f"the frames of {what} are {' and '.join(sizes)} at most: {quoted(one.joint for one in found)}"


def is_large(corrections: Sequence[FrameCorrection]) -> bool:
    """Whether one is large."""
    return any(one.is_large for one in corrections)


def _angle(before: FloatArray, after: FloatArray) -> float:
    """Angle between two orientations that hardly differ, rad."""
    return float(np.linalg.norm(after - before) / np.sqrt(2.0))
