"""Frames of joints that rounding keeps from being exact, made exact where loops move or close only so.

The C core finds them (csrc/assembly/exact_loops_kernel.h); here they enter the description, which is compiled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import number_of, quoted
from linkwork.core.native import NativeModel
from linkwork.mechanism import Frame, Mechanism

NOTHING = 1e-15  # rad or m: not worth a word
ROUNDING = 1e-9  # rad or m


@dataclass(frozen=True)
class FrameCorrection:
    """By how much the frames of a joint were changed to make its loops exact.

    Attributes
    ----------
    joint
        Its name.
    angle, distance
        By which its frames were turned, rad, and moved, m; the larger one of the two frames.
    """

    joint: str
    angle: float
    distance: float

    @property
    def is_large(self) -> bool:
        """Whether it is larger than the rounding of numbers with ten digits, which nobody means."""
        return max(self.angle, self.distance) > ROUNDING


def exact_frames(mech: Mechanism, native: NativeModel) -> tuple[Mechanism, tuple[FrameCorrection, ...], str | None]:
    """Return a mechanism whose loops are exact, and its corrections; the same one where there are none.

    Then the name of a joint whose loop, alone or with others, nearly moves, but for which no small change was found.

    Parameters
    ----------
    mech
        The description, with pins among its joints as in `Changes.mech`.
    native
        Its model.
    """
    joints = list(mech.joints.values())
    given = np.array([[_numbers(frame) for frame in (one.parent_frame, one.child_frame)] for one in joints])
    exact, number = native.exact_frames(given)
    inexact = None if number is None else joints[number].name
    if exact is None:
        return mech, (), inexact
    twin, found = mech.copy(), []
    for joint, before, after in zip(joints, given, exact, strict=True):
        if np.array_equal(before, after):
            continue
        frames = (Frame(one[:3], one[3:].reshape(3, 3)) for one in after)
        parent, child = frames
        twin.joints[joint.name] = replace(joint, parent_frame=parent, child_frame=child)
        angle = max(_angle(one[3:], other[3:]) for one, other in zip(before, after, strict=True))
        found.append(FrameCorrection(joint.name, angle, float(np.linalg.norm((after - before)[:, :3], axis=1).max())))
    return twin, tuple(found), inexact


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


def _numbers(frame: Frame) -> FloatArray:
    return np.concatenate([frame.position, np.ravel(frame.rotation)])


def _angle(before: FloatArray, after: FloatArray) -> float:
    """Angle between two orientations that hardly differ, rad."""
    return float(np.linalg.norm(after - before) / np.sqrt(2.0))
