"""Gives everything in a compiled mechanism its quantities; knows of it only a plain description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.mechanism import FormulaForce, Release, Unlock
from linkwork.mechanism.forces import by_kind
from linkwork.mechanism.friction import sticking
from linkwork.mechanism.quantities import Quantity
from linkwork.variables.dependencies import Dependencies, Names
from linkwork.variables.numbering import formula_kinds
from linkwork.variables.templates import Entity, Pattern, Place

if TYPE_CHECKING:
    from linkwork.core.native import Field
    from linkwork.core.plan import Topology
    from linkwork.mechanism import Mechanism
    from linkwork.variables.numbering import Numbering

_NO_NAMES: tuple[Names, ...] = (None,)


@dataclass(frozen=True, eq=False)
class Layout:
    """What the variables of a compiled mechanism follow from.

    Attributes
    ----------
    mechanism, numbering
        The description, and where each joint's numbers stand.
    topology
        The graph with all joints closed that may be.
    fields, sizes
        Of the core's block.
    """

    mechanism: Mechanism
    topology: Topology
    numbering: Numbering
    fields: Mapping[str, Field]
    sizes: Any


class Namer:
    """Gives everything in a system its quantities; offsets come from the core's field table."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.mech = layout.mechanism
        self.numbering = layout.numbering
        self.tree = set(layout.numbering.tree)
        self.fields: dict[str, Field | Place] = {**layout.fields, "indicator": Place(layout.sizes.reals, 1)}
        self.depends = Dependencies(layout.mechanism, layout.topology, layout.numbering)
        self.jumps = speeds_jump(self.mech)
        kinds = by_kind(self.mech.forces)
        built_in = [kind for kind in kinds if not issubclass(kind, FormulaForce)]
        built_in.sort(key=lambda kind: self.fields[kind.record[0].field].first)
        self.force_kinds = [(kind, kinds[kind]) for kind in (*built_in, *formula_kinds(kinds, layout.fields))]
        self._patterns: dict[object, Pattern] = {}

    def pattern(self, key: object, quantities: Callable[[], Iterable[Quantity]]) -> Pattern:
        """Return the pattern that is known by a key, after making it of its quantities if it is new."""
        if key not in self._patterns:
            self._patterns[key] = Pattern(tuple(quantities()), self.fields)
        return self._patterns[key]

    def entity(
        self,
        name: str,
        places: tuple[int, ...],
        quantities: Iterable[Quantity],
        depends: Callable[[], tuple[Names, ...]] = lambda: _NO_NAMES,
        labels: tuple[str, str] = ("", ""),
    ) -> Entity:
        """Return the entity of some quantities."""
        of_it = tuple(quantities)
        return Entity(self.pattern(of_it, lambda: of_it), (name, *labels), places, depends)


def speeds_jump(mech: Mechanism) -> bool:
    """Return whether events may change speeds."""
    changes = any(not isinstance(one.action, Unlock | Release) for one in mech.transitions.values())
    return changes or bool(sticking(mech))
