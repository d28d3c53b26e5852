"""Couplings: equations between joint coordinates, such as those of gears, belts and racks; a drive is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import finite, number
from linkwork.errors import MechanismError
from linkwork.mechanism.motions import Motion
from linkwork.mechanism.part_checks import check_joint_known

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

POWERS = 4

Coefficients = tuple[float, float, float, float]


@dataclass(frozen=True)
class Term:
    """One coordinate in a coupling, and a polynomial in it."""

    # joint, element: name of the joint, and which of its coordinates, from 0
    joint: str
    element: int
    coefficients: Coefficients  # of q, q^2, q^3 and q^4


@dataclass(frozen=True)
class Coupling:
    """An equation of joint coordinates: the polynomials of its terms add up to `offset` and, if any, the motion."""

    name: str  # its name, unique among bodies, joints and couplings
    terms: dict[str, Term]  # by coordinate as it was named: "A", or "U[2]" in a joint of several
    offset: float  # in the unit of the first coordinate named, as everything in the equation
    motion: Motion | None = None  # prescribed function of time that is added; None: none

    def check(self, mech: Surroundings) -> None:
        """Refuse a coupling of coordinates that do not exist (any more)."""
        for coordinate in self.terms:
            _find(mech, f"coupling {self.name!r}", coordinate)


def coupling(
    mech: Surroundings, name: str, terms: Mapping[str, ArrayLike], offset: float, motion: Motion | None
) -> Coupling:
    """Return a coupling of joints of `mech`; errors name coupling and joint."""
    what = f"coupling {name!r}"
    if not isinstance(terms, Mapping) or not terms:
        raise MechanismError(
            f"{what}: terms must be a dictionary such as {{'motor': 1.0, 'arm': -20.0}}, not {terms!r}"
        )
    found = {}
    for coordinate, value in terms.items():
        joint, element = _find(mech, what, coordinate)
        found[coordinate] = Term(joint, element, _coefficients(value, f"{what}: coefficient of {coordinate!r}"))
    if not isinstance(motion, Motion | None):
        raise MechanismError(f"{what}: motion must be a Motion such as Motion((0.0, 1.0)), not {motion!r}")
    return Coupling(name, found, number(offset, f"{what}: offset"), motion)


def name_of_drive(mech: Surroundings, coordinate: str) -> str:
    """Return the name of a drive that is given none: "A_drive", or "U_2_drive" for "U[2]"."""
    joint, element = _find(mech, "prescribe", coordinate)
    return f"{joint}_{element + 1}_drive" if mech.joints[joint].kind.nq > 1 else f"{joint}_drive"


def _find(mech: Surroundings, what: str, coordinate: str) -> tuple[str, int]:
    """Return joint and element of a coordinate by name."""
    joint = coordinate.partition("[")[0] if isinstance(coordinate, str) else coordinate
    check_joint_known(mech, joint, what)
    kind = mech.joints[joint].kind
    described = f"{what}: joint {joint!r} ({type(kind).__name__})"
    if kind.nq != kind.nu:
        raise MechanismError(
            f"{described} turns by a quaternion, whose elements cannot be coupled; "
            "couple joints of fixed axes, such as revolutes with small bodies between"
        )
    if kind.nq == 0:
        raise MechanismError(f"{described} has no coordinates: leave it out")
    names = [joint] if kind.nq == 1 else [f"{joint}[{i + 1}]" for i in range(kind.nq)]
    if coordinate not in names:
        raise MechanismError(f"{described} has no coordinate {coordinate!r}: name {' or '.join(map(repr, names))}")
    return joint, names.index(coordinate)


def _coefficients(value: ArrayLike, what: str) -> Coefficients:
    given: Any = value.tolist() if isinstance(value, np.ndarray) else value
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not 0 < len(listed) <= POWERS:
        raise MechanismError(
            f"{what} must be a number c, or up to {POWERS} numbers (c1, c2, ...) for c1 q + c2 q^2 + ..., not {value!r}"
        )
    numbers = finite(listed, (len(listed),), what)
    if not numbers.any():
        raise MechanismError(f"{what} is zero: leave the joint out, or give another coefficient")
    c1, c2, c3, c4 = [*numbers.tolist(), 0.0, 0.0, 0.0][:POWERS]
    return c1, c2, c3, c4
