"""The variables of distances: where their ends are, how long they are, and the force that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork.variables.templates import Entity, indices, output, parameter

if TYPE_CHECKING:
    from linkwork.variables.dependencies import Names
    from linkwork.variables.namer import Namer

_COUPLING = 1  # among the places of a distance: its number among the couplings; before it stands that among its like

_QUANTITIES = (  # the rules: of the positions, of the force
    parameter(
        "{0}.points[]", "distance_points", "m", "ends of the distance: 1 in {1}, 2 in {2}", elements=indices(2, 3)
    ),
    parameter("{0}.length", "coupling_offset", "m", "distance between its points", of=_COUPLING),
    output("{0}.residual", "coupling_residual", "m", "distance less length", of=_COUPLING),
    output("{0}.force", "distance_force", "N", "pulls both ends towards each other; below zero: pushes", dependency=1),
)


def distance_variables(namer: Namer) -> Iterator[Entity]:
    """Return the variables of distances."""
    couplings = namer.layout.sizes.couplings - namer.layout.sizes.distances
    for i, one in enumerate(namer.mech.distances.values()):
        depends = partial(_depends, namer, i, one.bodies)
        yield namer.entity(one.name, (i, couplings + i), _QUANTITIES, depends, labels=one.bodies)


def _depends(namer: Namer, index: int, bodies: tuple[str, str]) -> tuple[Names, ...]:
    return namer.depends.between(*bodies)[0], namer.depends.distance_force(index)
