"""Joints of Linkwork as joints of MJCF: hinges, slides, balls and free joints that act one after the other.

A joint displaces its child's frame in its parent's by a product of factors, one for each joint of MJCF. Of a joint that
the tree passes from child to parent, the factors come in reverse order about opposite axes, with the same coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.mechanism import Frame, Free, Joint, Screw, Spherical
from linkwork.mechanism.joints import AlongCircle

_NO_AXIS = np.zeros(3)


class Factor(NamedTuple):
    """One joint of MJCF."""

    type: str  # "hinge", "slide", "ball" or "free"
    axis: FloatArray  # in joint-frame axes, (3,); zero of a ball or a free joint
    # coordinate, speed: positions of its first coordinate and speed among those of the joint
    coordinate: int = 0
    speed: int = 0
    pitch: float | None = None  # of the slide of a screw, whose coordinate is this times the joint's; None: any other


def factors(joint: Joint, backward: bool, on_ground: bool) -> list[Factor]:
    """Return the factors of a joint; `backward`: from child to parent; `on_ground`: it joins a body to the ground."""
    found = _forward(joint, on_ground)
    return [one._replace(axis=-one.axis) for one in reversed(found)] if backward else found


def _forward(joint: Joint, on_ground: bool) -> list[Factor]:
    kind = joint.kind
    if kind.simple_motions is not None:
        types = {"turn": "hinge", "slide": "slide"}
        return [Factor(types[motion], axis, k, k) for k, (motion, axis) in enumerate(kind.simple_motions)]
    match kind:
        case Screw():
            return [Factor("slide", kind.axis, pitch=kind.pitch), Factor("hinge", kind.axis)]
        case Spherical():
            return [Factor("ball", _NO_AXIS)]
        case Free() if on_ground:
            return [Factor("free", _NO_AXIS)]
        case Free():
            slides = [Factor("slide", axis, k, k + 3) for k, axis in enumerate(np.eye(3))]
            return [*slides, Factor("ball", _NO_AXIS, 3, 0)]
        case AlongCircle():
            raise MechanismError(
                f"joint {joint.name!r}: MJCF has no joint along a circle; replace the {type(kind).__name__} by hinges "
                "about the centre of the circle"
            )
    raise MechanismError(f"joint {joint.name!r}: MJCF has no {type(kind).__name__}; write JSON")


class Placed(NamedTuple):
    """A factor in a body of MJCF."""

    # joint, factor: of which joint it is which factor
    joint: Joint
    factor: Factor
    frame: Frame  # the joint frame in which it acts, in the frame of the body where all coordinates are zero
    backward: bool  # whether the tree passes the joint from child to parent
    name: str = ""  # the name of the joint of MJCF


def placed(steps: list[tuple[Joint, bool]], on_ground: bool) -> tuple[Frame, list[Placed]]:
    """Return the frame of a body in its parent where all coordinates are zero, and the factors of the joints between.

    `steps` are the joints from the parent to the body and whether each is passed backward; between two of them stands a
    body without mass.
    """
    after = Frame()
    found: list[Placed] = []
    for joint, backward in reversed(steps):
        outer, inner = (joint.parent_frame, joint.child_frame)[:: -1 if backward else 1]
        after = inner.inverse() @ after
        frame = after.inverse()
        free = on_ground and len(steps) == 1
        found[:0] = [Placed(joint, one, frame, backward) for one in factors(joint, backward, free)]
        after = outer @ after
    return after, found
