"""Quantities that everything of one kind has, all bodies for example: many variables, described once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from linkwork.core.native import Field
from linkwork.mechanism.quantities import Kind, Quantity
from linkwork.variables.schema import Variable

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.variables.dependencies import Names

COMPUTED = ("derivative", "output", "indicator")
WITH_START = ("parameter", "start", "input")


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
            if quantity.kind == "parameter" and isinstance(field, Field):
                quantity = replace(quantity, tunable=field.tunable)
            more = [_variable(quantity, i, field.first) for i in range(count)]
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


def _variable(of: Quantity, i: int, first: int) -> Variable:
    """Return the variable of number `i`, in which the entity's name and index are still open."""
    name, text = (one.replace("[]", of.elements[i]) for one in (of.name, of.text))
    unit = of.unit if isinstance(of.unit, str) else of.unit[i]
    state = name[len("der(") : -len(")")] if of.kind == "derivative" else None
    bounds, flags = (of.minimum, of.maximum), (of.discrete, of.jumps, of.tunable)
    place = first + of.offset + i
    return Variable(name, place, of.kind, unit, text, None, state, None, *bounds, of.type, *flags, nominal=of.nominal)


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
        v.nominal,
    )
