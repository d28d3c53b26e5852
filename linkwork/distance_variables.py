"""The variables of distances: where their ends are, how long they are, and the force that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.quantities import Variable
    from linkwork.variables import _Namer


def distance_variables(namer: _Namer) -> Iterator[Variable]:
    """Return the variables of all distances of a system."""
    couplings = namer.system.sizes.couplings - namer.system.sizes.distances
    for i, one in enumerate(namer.mech.distances.values()):
        for end, body in enumerate(one.bodies):
            for k in range(3):
                name, text = f"{one.name}.r{end + 1}[{k + 1}]", f"end of the distance in {body}"
                yield namer.parameter(name, "distance_points", 6 * i + 3 * end + k, "m", text)
        at, positions = couplings + i, namer.depends.between(*one.bodies)[0]
        yield namer.parameter(f"{one.name}.length", "coupling_offset", at, "m", "how far apart its points are")
        yield namer.output(f"{one.name}.residual", "coupling_residual", at, "m", "distance less length", positions)
        text, depends = "pulls both ends towards each other; below zero: pushes", namer.depends.distance_force(i)
        yield namer.output(f"{one.name}.force", "distance_force", i, "N", text, depends)
