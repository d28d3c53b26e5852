"""Quantities that everything of one kind has, all bodies for example: many variables, described once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.variables.schema import Kind, Type, Variable

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.core.native import Field
    from linkwork.variables.dependencies import Names

# Fields that may be set while the mechanism moves: neither its closure nor its topology hangs on them.
_TUNABLE = {
    *("gravity", "body_mass", "body_com", "body_inertia", "stiffness", "damping", "free_coordinate"),
    *("reflected_inertia", "max_load"),
    *("spring_points", "spring_stiffness", "spring_damping", "spring_free_length", "wrench_point"),
    *("actuator_gain", "actuator_offset", "actuator_stiffness", "actuator_damping", "actuator_gear"),
    *("actuator_input_range", "actuator_force_range"),
    *("restitution", "correction_gain", "point_in_body", "axis_in_body"),
}
_LIMITS: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(("body_mass", "reflected_inertia", "max_load"), (0.0, None)),
    "restitution": (0.0, 1.0),
}
COMPUTED = ("derivative", "output", "indicator")
WITH_START = ("parameter", "start", "input")


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number, or several adjacent ones in the block, that every entity of one kind has: the mass of bodies.

    Attributes
    ----------
    name, text
        Name and description with ``{0}`` for the entity's name, ``{1}`` and ``{2}`` for what else it names, and ``[]``
        where the index of a number stands, as in ``"der({0}.q[])"``.
    kind, type, discrete, jumps, minimum, maximum, tunable
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
    rule
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

    @property
    def count(self) -> int:
        """How many numbers."""
        return len(self.elements)

    @property
    def is_vector(self) -> bool:
        """Several numbers of one unit that count from 1."""
        units = 1 if isinstance(self.unit, str) else len(set(self.unit))
        return self.count > 1 and units == 1 and self.elements == indices(self.count)

    def variable(self, i: int, first: int) -> Variable:
        """Return the variable of number `i`, in which the entity's name and index are still open."""
        name, unit = (
            self.name.replace("[]", self.elements[i]),
            self.unit if isinstance(self.unit, str) else self.unit[i],
        )
        text = self.text.replace("[]", self.elements[i])
        state = name[len("der(") : -len(")")] if self.kind == "derivative" else None
        at, bounds, flags = (
            first + self.offset + i,
            (self.minimum, self.maximum),
            (self.discrete, self.jumps, self.tunable),
        )
        return Variable(name, at, self.kind, unit, text, None, state, None, *bounds, self.type, *flags)


def parameter(name: str, field: str, unit: str | tuple[str, ...], text: str, **more: Any) -> Quantity:
    """Return a parameter, or a start value; limits and whether it is tunable follow from the field."""
    kind: Kind = "start" if field in ("q_start", "u_start") else "parameter"
    low, high = _LIMITS.get(field, (None, None))
    of_field: dict[str, Any] = {"minimum": low, "maximum": high, "tunable": field in _TUNABLE}
    return Quantity(name, kind, field, unit, text, **of_field, **more)


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


class Place(NamedTuple):
    """Where numbers stand that are behind the block: of the first entity, and how many each has."""

    first: int
    columns: int


class Pattern:
    """Quantities that everything of one kind has, in the order in which they are listed.

    Attributes
    ----------
    quantities
        As given.
    variables
        Their numbers one by one, in which the entity's name and index are still open.
    spans
        Where the numbers of each quantity stand among all.
    rules
        For each number, which of its entity's dependencies holds.
    """

    def __init__(self, quantities: Sequence[Quantity], fields: Mapping[str, Field | Place]) -> None:
        self.quantities = tuple(quantities)
        self.variables: list[Variable] = []
        self.spans: list[range] = []
        self.rules: list[int] = []
        self._steps: list[tuple[int, int, int]] = []
        for quantity in self.quantities:
            field, count = fields[quantity.field], quantity.count
            more = [quantity.variable(i, field.first) for i in range(count)]
            self.spans.append(range(len(self.variables), len(self.variables) + count))
            self.variables += more
            self.rules += [quantity.dependency] * count if isinstance(quantity.dependency, int) else quantity.dependency
            self._steps += [(v.reference, field.columns, quantity.of) for v in more]

    def references(self, places: tuple[int, ...]) -> list[int]:
        """Return the offsets of the numbers in the block, for an entity with these indices."""
        return [first + step * places[of] for first, step, of in self._steps]

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of its variables."""
        return frozenset(quantity.kind for quantity in self.quantities)


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that has the quantities of a pattern.

    Attributes
    ----------
    pattern
        Its quantities.
    words
        Its name, and two more words for descriptions.
    places
        Its numbers among its like, by which it stands in the fields.
    depends
        Returns the dependencies that the rules of the pattern choose from: of each names, or None for all.
    """

    pattern: Pattern
    labels: tuple[str, str, str]
    places: tuple[int, ...]
    depends: Callable[[], tuple[Names, ...]]

    @property
    def references(self) -> list[int]:
        """The offsets of its numbers in the block."""
        return self.pattern.references(self.places)

    def variables(self, block: FloatArray) -> Iterator[Variable]:
        """Return its variables; start values are what a block holds."""
        depends = self.depends()
        for v, at, dependency in zip(self.pattern.variables, self.references, self.pattern.rules, strict=True):
            yield made(v, self.labels, at, block, depends[dependency] if v.kind in COMPUTED else None)


def made(v: Variable, labels: Sequence[str], at: int, block: FloatArray, depends: Names = None) -> Variable:
    """Return a variable of a pattern with the names, index, start value and dependencies of its entity."""
    return Variable(
        v.name.format(*labels),
        at,
        v.kind,
        v.unit,
        v.description.format(*labels),
        float(block[at]) if v.kind in WITH_START else None,
        None if v.derivative_of is None else v.derivative_of.format(*labels),
        depends,
        v.minimum,
        v.maximum,
        v.type,
        v.discrete,
        v.jumps,
        v.tunable,
    )
