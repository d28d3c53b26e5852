"""What URDF can say of a kind of joint: one joint, or a chain of hinges and slides with massless links between them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.mechanism.joints import (
    CurvedSlide,
    CurvedSlot,
    Cylindrical,
    Fixed,
    Free,
    JointKind,
    PathSlide,
    PathSlot,
    PinInSlot,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)


class Step(NamedTuple):
    """A URDF joint.

    Attributes
    ----------
    type
        "revolute", "prismatic" and so on; "screw" is a type of `<drake:joint>`.
    axis
        (3,), None without one.
    coordinates
        Which coordinates of the joint it has, from 0.
    lead
        Of a screw: advance in one revolution, m.
    """

    type: str
    axis: FloatArray | None
    coordinates: tuple[int, ...]
    lead: float = 0.0


def steps_of(kind: JointKind, outward: bool, apart: bool) -> list[Step]:
    """Return the joints that make a joint, from its inner body to its outer one.

    Parameters
    ----------
    outward
        Whether the inner body is the parent; otherwise the chain is reversed, and each axis with it.
    apart
        Whether the coordinates of a planar joint are needed as those of single joints.
    """
    found = _steps(kind, apart or not outward)
    if outward or isinstance(kind, Spherical):  # a ball is one in either direction
        return found
    return [step._replace(axis=None if step.axis is None else -step.axis) for step in reversed(found)]


def _steps(kind: JointKind, apart: bool) -> list[Step]:
    match kind:
        case Revolute():
            return [_turn(kind.axis, 0)]
        case Prismatic():
            return [_slide(kind.axis, 0)]
        case Universal():
            return [_turn(kind.axis1, 0), _turn(kind.axis2, 1)]
        case Cylindrical():
            return [_turn(kind.axis, 0), _slide(kind.axis, 1)]
        case PinInSlot():
            return [_slide(kind.slot, 0), _turn(kind.axis, 1)]
        case Planar() if apart:
            x, y, normal = np.asarray(kind.canonical_axes).T
            return [_slide(x, 0), _slide(y, 1), _turn(normal, 2)]
        case Planar():
            return [Step("planar", kind.normal, (0, 1, 2))]
        case Screw():
            return [Step("screw", kind.axis, (0,), 2.0 * math.pi * kind.pitch)]
        case Spherical():
            return [Step("continuous", axis, ()) for axis in np.eye(3)]
        case Free():
            return [Step("floating", None, ())]
        case Fixed():
            return [Step("fixed", None, ())]
        case PathSlide() | PathSlot():
            raise MechanismError(f"URDF has no {type(kind).__name__}, a joint along a path; write JSON")
        case CurvedSlide() | CurvedSlot():
            raise MechanismError(
                f"URDF has no joint along a circle outside loops; replace the {type(kind).__name__} by revolute joints "
                "about the centre of the circle"
            )
    raise AssertionError(kind)


def _turn(axis: FloatArray, coordinate: int) -> Step:
    return Step("continuous", axis, (coordinate,))


def _slide(axis: FloatArray, coordinate: int) -> Step:
    return Step("prismatic", axis, (coordinate,))
