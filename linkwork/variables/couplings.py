"""The variables of couplings, each counted in the unit of the first coordinate that the coupling names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork.mechanism.part_quantities import (
    coupling_coefficients,
    coupling_motion,
    coupling_offset,
    coupling_outputs,
    coupling_units,
)
from linkwork.variables.templates import Entity

if TYPE_CHECKING:
    from linkwork.variables.dependencies import Names
    from linkwork.variables.namer import Namer


def coupling_variables(namer: Namer) -> Iterator[Entity]:
    """Return the variables of couplings: parameters, inputs of motions, and outputs."""
    first_term = first_number = first_value = 0
    for i, coupling in enumerate(namer.mech.couplings.values()):
        units = coupling_units(namer.mech, coupling)
        yield namer.entity(coupling.name, (i,), [coupling_offset(units[0])])
        if coupling.formula is not None:
            places = (i, first_number, 0, first_value)
            yield namer.entity(coupling.name, places, coupling.formula_parameters(namer.mech))
            first_number += len(coupling.program(namer.mech).numbers)
            first_value += coupling.table_values
        for t, (coordinate, unit) in enumerate(zip(coupling.terms, units, strict=True), start=first_term):
            if coordinate in coupling.given_terms:
                quantities = coupling_coefficients(units[0], unit)
                yield namer.entity(coupling.name, (t,), quantities, labels=(str(coordinate), ""))
        first_term += len(coupling.terms)
        if coupling.motion:
            yield namer.entity(coupling.name, (i,), coupling_motion(units[0]))
        yield namer.entity(coupling.name, (i,), coupling_outputs(units[0]), partial(_depends, namer, i))


def _depends(namer: Namer, index: int) -> tuple[Names, ...]:
    return namer.depends.coupling_residual(index), namer.depends.coupling_load(index)
