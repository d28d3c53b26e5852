"""Points of interest of bodies, and distances and angles between them: outputs of a mechanism that change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from linkwork._util.checks import finite
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.forces import Point
from linkwork.mechanism.frames import unit
from linkwork.mechanism.part_checks import check_body_known

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

DISTANCE, ANGLE = "distance", "angle"
QUANTITIES = (DISTANCE, ANGLE)


@dataclass(frozen=True)
class PointOfInterest:
    """A point that is fixed in a body or in the world, and a direction at it."""

    name: str  # its name
    body: str  # name of a body, or "ground"
    point: Point  # in the frame of the body, m
    axis: Point | None = None  # A unit vector in the frame of the body; None: it has no direction

    def check(self, mech: Surroundings) -> None:
        """Refuse a body that does not exist (any more)."""
        check_body_known(mech, f"point {self.name!r}", self.body)


@dataclass(frozen=True)
class Measure:
    """A distance or an angle of two points of interest."""

    name: str  # its name
    quantity: str  # "distance" of the points, m; "angle" between their axes, 0 to pi rad
    points: tuple[str, str]  # names of two points of interest

    def check(self, mech: Surroundings) -> None:
        """Refuse points that do not exist (any more), that have no axis for an angle, or are on one body."""
        what = f"measure {self.name!r}"
        for name in self.points:
            if name not in mech.points:
                raise MechanismNameError(f"{what}: there is no point {name!r}: {suggest(name, mech.points)}")
            if self.quantity == ANGLE and mech.points[name].axis is None:
                raise MechanismError(f"{what}: point {name!r} has no axis; give it one in add_point(..., axis=...)")
        first, second = (mech.points[name].body for name in self.points)
        if first == second:
            raise MechanismError(f"{what}: both points are on {first!r}, which is rigid: name points of two bodies")


def point_of_interest(
    mech: Surroundings, name: str, body: str, point: ArrayLike, axis: ArrayLike | None
) -> PointOfInterest:
    """Return a point of interest of a body of `mech`; errors name the point."""
    what = f"point {name!r}"
    x, y, z = finite(point, (3,), f"{what}: position").tolist()
    direction: Point | None = None
    if axis is not None:
        given = unit(finite(axis, (3,), f"{what}: axis"))
        if not given.any():
            raise MechanismError(f"{what}: its axis is zero and has no direction")
        direction = (float(given[0]), float(given[1]), float(given[2]))
    made = PointOfInterest(name, body, (x, y, z), direction)
    made.check(mech)
    return made


def measure(mech: Surroundings, name: str, quantity: str, points: Sequence[str]) -> Measure:
    """Return a measure of points of interest of `mech`; errors name the measure."""
    what = f"measure {name!r}"
    if quantity not in QUANTITIES:
        raise MechanismNameError(f"{what}: there is no quantity {quantity!r}: {suggest(quantity, QUANTITIES)}")
    named = tuple(points) if isinstance(points, tuple | list) else ()
    if len(named) != 2 or not all(isinstance(point, str) for point in named):
        raise MechanismError(f"{what}: points must be the names of two points of interest, not {points!r}")
    made = Measure(name, quantity, (named[0], named[1]))
    made.check(mech)
    return made
