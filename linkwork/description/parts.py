"""What a mechanism consists of."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.description.checks import FloatArray
from linkwork.description.frames import Frame
from linkwork.description.joints import JointKind


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body.

    Attributes
    ----------
    name
        Its name, unique among bodies.
    mass
        kg.
    com
        Centre of mass in body axes from the body's origin, (3,), m.
    inertia
        About the centre of mass in body axes, (3, 3), kg m^2.
    origin, rotation
        Reference pose: the body's origin in the world, (3,), m, and its axes, (3, 3), body to world.
    """

    name: str
    mass: float
    com: FloatArray
    inertia: FloatArray
    origin: FloatArray
    rotation: FloatArray


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between two bodies, or between a body and the ground.

    Attributes
    ----------
    name
        Its name, unique among joints.
    kind
        What it lets the child do; its axes are unit vectors in joint-frame axes.
    parent, child
        Names of the bodies, one of them may be "ground". Coordinates are of the child relative to the parent.
    parent_frame, child_frame
        The joint frame in the parent's and in the child's own frame; they coincide when the coordinates are zero.
    cut
        True: the joint shall close its loop, so that its coordinates are no states.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    parent_frame: Frame
    child_frame: Frame
    cut: bool
