"""Distances: two points of two bodies keep their distance, as by a massless rod with a ball joint at either end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, number
from linkwork.errors import MechanismError
from linkwork.mechanism.forces import Point
from linkwork.mechanism.part_checks import GROUND, check_body_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linkwork.mechanism.surroundings import Surroundings


@dataclass(frozen=True)
class Distance:
    """A constant distance between points of two bodies."""

    name: str  # its name, unique among bodies, joints, couplings and distances
    bodies: tuple[str, str]  # names of two bodies, one of them may be "ground"
    points: tuple[Point, Point]  # A point of each in the frame of its body, m
    length: float  # m, positive

    def check(self, mech: Surroundings) -> None:
        """Refuse bodies that do not exist (any more), and one that is given twice."""
        what = f"distance {self.name!r}"
        for body in self.bodies:
            check_body_known(mech, what, body)
        if self.bodies[0] == self.bodies[1]:
            raise MechanismError(f"{what}: both ends are on {self.bodies[0]!r}, which is rigid: name two bodies")


def distance(mech: Surroundings, name: str, bodies: Sequence[str], points: ArrayLike, length: float | None) -> Distance:
    """Return a distance between bodies of `mech`; errors name the distance."""
    what = f"distance {name!r}"
    named = tuple(bodies) if isinstance(bodies, tuple | list) else ()
    if len(named) != 2:
        raise MechanismError(f"{what}: bodies must be the names of two bodies, not {bodies!r}")
    first, second = finite(points, (2, 3), f"{what}: points (one in the frame of each body)").tolist()
    made = Distance(name, (named[0], named[1]), (tuple(first), tuple(second)), 1.0)
    made.check(mech)
    return Distance(name, made.bodies, made.points, _length(mech, made, length, what))


def _length(mech: Surroundings, made: Distance, given: float | None, what: str) -> float:
    if given is None:
        first, second = (_in_world(mech, body, p) for body, p in zip(made.bodies, made.points, strict=True))
        apart = float(np.linalg.norm(second - first))
        if apart == 0.0:
            raise MechanismError(
                f"{what}: its points coincide in the reference poses of its bodies, which so give no length: "
                "give length=, or origins to the bodies"
            )
        return apart
    value = number(given, f"{what}: length")
    if value <= 0.0:
        raise MechanismError(
            f"{what}: length must be positive, not {value:g} m; where the points are to coincide join the bodies by "
            "a Spherical joint"
        )
    return value


def _in_world(mech: Surroundings, body: str, point: Point) -> FloatArray:
    """Return where a point of a body is in its reference pose."""
    if body == GROUND:
        return np.array(point)
    pose = mech.bodies[body]
    placed: FloatArray = pose.origin + pose.rotation @ np.array(point)
    return placed
