"""Quantities of the parts of a mechanism, by which users, results and FMUs know their numbers in the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

Kind = Literal["parameter", "start", "input", "state", "derivative", "output", "time", "indicator"]
Type = Literal["real", "boolean", "integer", "enumeration"]

OF_NUMBER, OF_INPUT, OF_TABLE, OF_LINE = 1, 2, 3, 4  # among the places of a force: its first number and so on
OF_FORCE = 5  # and its number among the forces of all types

_LIMITS: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(("body_mass", "reflected_inertia", "max_load"), (0.0, None)),
    **dict.fromkeys((f"friction_{one}" for one in ("coulomb", "static", "stribeck", "viscous", "smooth")), (0.0, None)),
    "brake_static": (1.0, None),
    **dict.fromkeys(
        (f"{kind}_{one}" for kind in ("friction", "brake") for one in ("forward", "backward")), (0.0, None)
    ),
    "restitution": (0.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number, or several adjacent ones in the block, that every entity of one kind has: the mass of bodies.

    Attributes
    ----------
    name, text
        Name and description with ``{0}`` for the entity's name, ``{1}`` and ``{2}`` for what else it names, and ``[]``
        where the index of a number stands, as in ``"der({0}.q[])"``.
    kind, type, discrete, jumps, minimum, maximum, tunable, nominal
        As of the variables.
    field
        Where the numbers are in the core.
    unit
        Of all numbers, or of each.
    elements
        Replacement of ``[]`` in the name of each number.
    of
        Which of its entity's indices counts in the field.
    offset
        Of the first number behind that place.
    dependency
        Which of its entity's dependencies holds, or which for each number.
    """

    name: str
    kind: Kind
    field: str
    unit: str | tuple[str, ...]
    text: str
    elements: tuple[str, ...] = ("",)
    of: int = 0
    offset: int = 0
    dependency: int | tuple[int, ...] = 0
    type: Type = "real"
    discrete: bool = False
    jumps: bool = False
    minimum: float | None = None
    maximum: float | None = None
    tunable: bool = False
    nominal: float | None = None

    @property
    def count(self) -> int:
        """How many numbers."""
        return len(self.elements)

    @property
    def stem(self) -> str:
        """Its name behind that of its entity, without index: of a parameter the argument that gives it.

        >>> parameter("{0}.points[]", "spring_points", "m", "", elements=indices(2, 3)).stem
        'points'
        """
        return self.name.partition(".")[2].removesuffix("[]")

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its numbers as an array; () for one number.

        >>> parameter("{0}.points[]", "spring_points", "m", "", elements=indices(2, 3)).shape
        (2, 3)
        """
        return tuple(int(size) for size in self.elements[-1].strip("[]").split(",") if size)

    @property
    def is_vector(self) -> bool:
        """Several numbers of one unit that count from 1."""
        units = 1 if isinstance(self.unit, str) else len(set(self.unit))
        return self.count > 1 and units == 1 and self.elements == indices(self.count)


class Reading(NamedTuple):
    """What a formula reads: a number of a field of the core, as the core finds it.

    Attributes
    ----------
    field, part, number
        The field, the part whose numbers are meant or None for those of all, and which of these, from 0.
    unit
        Its unit; None: the one that follows.
    """

    field: str
    part: str | None
    number: int
    unit: str | None


def parameter(name: str, field: str, unit: str | tuple[str, ...], text: str, **more: Any) -> Quantity:
    """Return a parameter, or a start value; limits follow from the field, and in the core whether it is tunable."""
    kind: Kind = "start" if field in ("q_start", "u_start", "state_start") else "parameter"
    low, high = _LIMITS.get(field, (None, None))
    return Quantity(name, kind, field, unit, text, minimum=low, maximum=high, **more)


def load(name: str, field: str, unit: str | tuple[str, ...], text: str, **more: Any) -> Quantity:
    """Return an input."""
    return Quantity(name, "input", field, unit, text, **more)


def output(name: str, field: str, unit: str | tuple[str, ...], text: str, **more: Any) -> Quantity:
    """Return an output."""
    return Quantity(name, "output", field, unit, text, **more)


def indices(*shape: int) -> tuple[str, ...]:
    """Return what the names of the numbers of an array end in, row by row.

    >>> indices(2), indices(2, 2)
    (('[1]', '[2]'), ('[1,1]', '[1,2]', '[2,1]', '[2,2]'))
    """
    return tuple(f"[{','.join(str(i + 1) for i in place)}]" for place in np.ndindex(shape))
