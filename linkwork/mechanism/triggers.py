"""When transitions happen: at a time, where a quantity crosses a value, or by an input."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from linkwork._util.checks import finite, number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.forces import Point
from linkwork.mechanism.part_checks import check_body_known, check_joint_known
from linkwork.mechanism.quantities import Reading

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

TRIGGERS: dict[str, type[Trigger]] = {}


class Trigger:
    """When a transition happens; the fields of a kind of trigger are its keys in files."""

    type_name: ClassVar[str]  # its name in files

    def __init_subclass__(cls) -> None:
        TRIGGERS[cls.type_name] = cls

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse what it watches where that does not exist (any more); `what` names the transition."""

    def meets(self, mech: Surroundings, other: Trigger) -> bool:
        """Return whether both make transitions at one event, whatever the motion."""
        return False


@checks_keywords
@dataclass(frozen=True)
class Time(Trigger):
    """At a time in s; one that is not after the start of a simulation happens at its start.

    >>> Time(0.7)
    Time(t=0.7)
    """

    type_name = "time"
    t: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", number(self.t, "Time: t"))

    def meets(self, mech: Surroundings, other: Trigger) -> bool:
        """Return whether the times are equal."""
        return isinstance(other, Time) and self.t == other.t


@checks_keywords
@dataclass(frozen=True)
class Command(Trigger):
    """By a boolean input, "latch.command" of the transition "latch": it happens where this becomes true.

    Where it becomes false again, a `Lock` or a `Pin` is undone, unless an `Unlock` or a `Release` in the mechanism
    does that.
    """

    type_name = "command"


@checks_keywords
@dataclass(frozen=True)
class PointDistance:
    """The distance in m between points of two bodies, or its rate in m/s, for a `Crossing`.

    Parameters
    ----------
    bodies
        Names of two bodies, one of them may be "ground".
    points
        A point of each, (2, 3), m, in the frame of its body.
    rate
        Whether the rate of the distance is meant, positive where it grows, rather than the distance.

    Examples
    --------
    >>> PointDistance(bodies=("hook", "ground"), points=((0.1, 0, 0), (1, 0, 0)))
    PointDistance(bodies=('hook', 'ground'), points=((0.1, 0.0, 0.0), (1.0, 0.0, 0.0)), rate=False)
    """

    bodies: tuple[str, str]
    points: tuple[Point, Point]
    rate: bool = False

    def __post_init__(self) -> None:
        bodies = tuple(self.bodies) if isinstance(self.bodies, tuple | list) else ()
        if len(bodies) != 2 or not all(isinstance(body, str) for body in bodies):
            raise MechanismError(f"PointDistance: bodies must be the names of two bodies, not {self.bodies!r}")
        if bodies[0] == bodies[1]:
            raise MechanismError(
                f"PointDistance: both points are on {bodies[0]!r}, where their distance never changes: name two bodies"
            )
        points = finite(self.points, (2, 3), "PointDistance: points (one in the frame of each body)")
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "points", tuple(map(tuple, points.tolist())))
        if not isinstance(self.rate, bool | np.bool_):
            raise MechanismError(f"PointDistance: rate must be True or False, not {self.rate!r}")
        object.__setattr__(self, "rate", bool(self.rate))


@checks_keywords
@dataclass(frozen=True)
class Crossing(Trigger):
    """Where a quantity crosses a value, also by an impact.

    Parameters
    ----------
    quantity
        A coordinate such as "hinge.q", or "plane.q[2]" in a joint of several, but none of a quaternion; a speed such
        as "hinge.u" or "ball.u[3]"; a `PointDistance`; or any other variable that formulas of outputs read, such as
        "tip.r[3]" of a point of interest, "travel.length" of a measure, "spring.force" or an output by a formula.
    value
        In the unit of the quantity: rad or m; of a speed or rate, rad/s or m/s.
    direction
        +1: where it rises through the value; -1: where it falls; 0: both.

    Examples
    --------
    >>> Crossing("hinge.q", 0.5)
    Crossing(quantity='hinge.q', value=0.5, direction=1)
    >>> Crossing("hinge.u", 0.0, direction=-1)
    Crossing(quantity='hinge.u', value=0.0, direction=-1)
    """

    type_name = "crossing"
    quantity: str | PointDistance
    value: float
    direction: int = +1

    def __post_init__(self) -> None:
        if not isinstance(self.quantity, str | PointDistance):
            raise MechanismError(
                "Crossing: quantity must be a coordinate such as 'hinge.q', a speed such as 'hinge.u', another "
                f"variable such as 'tip.r[3]' or a PointDistance, not {self.quantity!r}"
            )
        what = f"Crossing of {self.quantity!r}" if isinstance(self.quantity, str) else "Crossing of a PointDistance"
        object.__setattr__(self, "value", number(self.value, f"{what}: value"))
        if isinstance(self.quantity, PointDistance) and not self.quantity.rate and self.value <= 0.0:
            raise MechanismError(f"{what}: value must be positive, not {self.value:g} m; no distance passes it")
        direction = number(self.direction, f"{what}: direction")
        if direction not in (-1.0, 0.0, 1.0):
            raise MechanismError(
                f"{what}: direction must be +1 (rising), -1 (falling) or 0 (both), not {self.direction!r}"
            )
        object.__setattr__(self, "direction", int(direction))

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse coordinates, speeds and bodies that do not exist (any more), and elements of quaternions."""
        if isinstance(self.quantity, PointDistance):
            for body in self.quantity.bodies:
                check_body_known(mech, f"{what}: PointDistance", body)
        else:
            self._find(mech, what)

    def watched(self, mech: Surroundings) -> PointDistance | InJoint | Reading:
        """Return the quantity: a coordinate or speed by its joint, another variable as formulas read it."""
        return self.quantity if isinstance(self.quantity, PointDistance) else self._find(mech, "Crossing")

    def _find(self, mech: Surroundings, what: str) -> InJoint | Reading:
        """A coordinate or speed of a joint, with messages of its own; else a variable."""
        assert isinstance(self.quantity, str)
        variable = mech.variables.find(self.quantity)
        of_joint = variable.field in ("q", "u") if variable else re.split(r"[.\[]", self.quantity)[0] in mech.joints
        if of_joint or (variable is None and _LIKE_A_JOINTS.fullmatch(self.quantity)):
            return find_in_joint(mech, what, self.quantity)
        if variable is None:
            raise MechanismNameError(
                f"{what}: there is no variable {self.quantity!r}: {suggest(self.quantity, mech.variables)}"
            )
        if variable.field in ("time", "command"):
            raise MechanismError(f"{what}: {self.quantity!r} crosses no value: give Time(t) or Command()")
        return variable

    def meets(self, mech: Surroundings, other: Trigger) -> bool:
        """Return whether the same quantity crosses the same value, in a direction of both."""
        return (
            isinstance(other, Crossing)
            and self.value == other.value
            and self.direction * other.direction >= 0
            and self._identity(mech) == other._identity(mech)
        )

    def _identity(self, mech: Surroundings) -> Hashable:
        """The monitored quantity, independent of its notation."""
        watched = self.watched(mech)
        if not isinstance(watched, PointDistance):
            return watched
        return frozenset(zip(watched.bodies, watched.points, strict=True)), watched.rate


_LIKE_A_JOINTS = re.compile(r"[^.\[]+\.[qu](\[[0-9]+\])?")


class InJoint(NamedTuple):
    """A coordinate or a speed of a joint: its number among them, from 0."""

    joint: str
    element: int
    is_speed: bool = False


def find_in_joint(mech: Surroundings, what: str, name: str) -> InJoint:
    """Return a coordinate that is an angle or a displacement, "A.q", "A" or "U.q[2]", or a speed, "A.u" or "U.u[2]"."""
    joint = re.split(r"[.\[]", name)[0]
    check_joint_known(mech, joint, what)
    kind = mech.joints[joint].kind
    described = f"{what}: joint {joint!r} ({type(kind).__name__})"
    if kind.nq == 0:
        raise MechanismError(f"{described} has no coordinates: name another joint")
    coordinates, speeds = ([f"[{i + 1}]" for i in range(n)] if n > 1 else [""] for n in (kind.nq, kind.nu))
    known = {f"{joint}.q{index}": InJoint(joint, i) for i, index in enumerate(coordinates)}
    known |= {f"{joint}.u{index}": InJoint(joint, i, is_speed=True) for i, index in enumerate(speeds)}
    found = known.get(name) or known.get(name.replace(joint, f"{joint}.q", 1))
    plain = plain_coordinates(mech, joint)
    usable = [text for text, one in known.items() if one.is_speed or one.element in plain]
    if found and (found.is_speed or found.element in plain):
        return found
    if found or (not plain and name == joint):
        raise MechanismError(
            f"{described}: {name!r} is of a quaternion, whose elements are no angles: name a coordinate of a joint of "
            f"fixed axes or a speed such as {usable[-1]!r}, or give a PointDistance"
        )
    raise MechanismError(f"{described} has no coordinate or speed {name!r}: name {' or '.join(map(repr, usable))}")


def plain_coordinates(mech: Surroundings, joint: str) -> list[int]:
    """Return which coordinates of a joint, from 0, are angles or displacements rather than of a quaternion."""
    return np.flatnonzero([unit != "1" for unit in mech.joints[joint].kind.coordinate_units]).tolist()
