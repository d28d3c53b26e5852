"""What a mechanism consists of."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import JointKind


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body."""

    name: str  # its name, unique among bodies
    mass: float  # kg, zero for a massless body
    com: FloatArray  # centre of mass in body axes from the body's origin, (3,), m
    inertia: FloatArray  # about the centre of mass in body axes, (3, 3), kg m^2
    # origin, rotation: reference pose: the body's origin in the world, (3,), m, and its axes, (3, 3), body to world
    origin: FloatArray
    rotation: FloatArray

    @property
    def has_inertia(self) -> bool:
        """Whether it has mass or a moment of inertia."""
        return self.mass > 0.0 or bool(self.inertia.any())


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between two bodies, or between a body and the ground."""

    name: str  # its name, unique among joints
    kind: JointKind  # what it lets the child do; its axes are unit vectors in joint-frame axes
    # parent, child: names of the bodies, one of them may be "ground". Coordinates are of the child relative to the
    # parent
    parent: str
    child: str
    # parent_frame, child_frame: the joint frame in the parent's and in the child's own frame; they coincide when the
    # coordinates are zero
    parent_frame: Frame
    child_frame: Frame
    cut: bool  # True: the joint shall close its loop, so that its coordinates are no states
    # Inertia of the rotor that drives each speed, times the gear ratio squared, (nu,), kg m^2 or kg.
    reflected_inertia: FloatArray
    # At which the driving load of each speed saturates, (nu,), N m or N; infinite: it has no limit.
    max_load: FloatArray


def check_frame(frame: object, what: str) -> None:
    """Refuse values other than a frame with a finite position and a rotation; `what` names it."""
    if not isinstance(frame, Frame):
        raise MechanismError(f"{what} must be a Frame(position, rotation), not {frame!r}")
    frame.check(what)
