"""The variables of couplings, each counted in the unit of the first coordinate that the coupling names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork._util.units import LOADS
from linkwork.mechanism.couplings import POWERS
from linkwork.mechanism.quantities import Quantity, load, output, parameter
from linkwork.variables.templates import Entity

if TYPE_CHECKING:
    from linkwork.mechanism import Coupling
    from linkwork.variables.dependencies import Names
    from linkwork.variables.namer import Namer


def coupling_variables(namer: Namer) -> Iterator[Entity]:
    """Return the variables of couplings: parameters, inputs of motions, and outputs."""
    first_term = 0
    for i, coupling in enumerate(namer.mech.couplings.values()):
        units = _units(namer, coupling)
        text = "what the terms add up to"
        yield namer.entity(coupling.name, (i,), [parameter("{0}.offset", "coupling_offset", units[0], text)])
        for t, (coordinate, unit) in enumerate(zip(coupling.terms, units, strict=True), start=first_term):
            yield namer.entity(coupling.name, (t,), _coefficients(units[0], unit), labels=(str(coordinate), ""))
        first_term += len(coupling.terms)
        if coupling.motion:
            yield namer.entity(coupling.name, (i,), _motion(units[0]))
        yield namer.entity(coupling.name, (i,), _outputs(units[0]), partial(_depends, namer, i))


def _units(namer: Namer, coupling: Coupling) -> list[str]:
    """Of the coordinates that are coupled."""
    terms = coupling.terms.values()
    return [namer.mech.joints[term.joint].kind.coordinate_units[term.element] for term in terms]


def _coefficients(unit: str, of_term: str) -> Iterator[Quantity]:
    """Of the powers of one coordinate, which is the second word."""
    for k in range(1, POWERS + 1):
        text = f"coefficient of {_power('q', k)} in the coupling"
        yield parameter(
            f"{{0}}.{{1}}.coefficient[{k}]", "coupling_coefficient", unit_ratio(unit, of_term, k), text, offset=k - 1
        )


def _motion(unit: str) -> Iterator[Quantity]:
    """Parameters and inputs of a motion."""
    for k in range(1, POWERS):
        text = f"coefficient of {_power('t', k)} in the motion"
        yield parameter(f"{{0}}.polynomial[{k}]", "coupling_motion", f"{unit}/{_power('s', k, '')}", text, offset=k)
    for k, (what, of) in enumerate((("amplitude", unit), ("frequency", "Hz"), ("phase", "rad")), start=POWERS):
        yield parameter(f"{{0}}.{what}", "coupling_motion", of, f"{what} of the motion", offset=k)
    inputs = (("q", unit, "value"), ("u", f"{unit}/s", "rate"), ("a", f"{unit}/s2", "acceleration"))
    for k, (what, of, text) in enumerate(inputs):
        yield load(f"{{0}}.{what}_in", "motion_in", of, f"adds to the {text} of the motion", offset=k)


def _outputs(unit: str) -> Iterator[Quantity]:
    """The rules: of the residual, of the load."""
    yield output("{0}.residual", "coupling_residual", unit, "terms less offset and motion")
    text = "on each of its joints acts the slope of its term times this"
    yield output("{0}.load", "coupling_load", LOADS[unit], text, dependency=1)


def _depends(namer: Namer, index: int) -> tuple[Names, ...]:
    return namer.depends.coupling_residual(index), namer.depends.coupling_load(index)


def _power(base: str, exponent: int, sign: str = "^") -> str:
    return base if exponent == 1 else f"{base}{sign}{exponent}"


def unit_ratio(unit: str, of_term: str, power: int = 1) -> str:
    """The unit of the coefficient of a power of a coordinate.

    >>> unit_ratio("m", "rad"), unit_ratio("rad", "rad"), unit_ratio("rad", "rad", 3)
    ('m/rad', '1', '1/rad2')
    """
    if unit != of_term:
        return f"{unit}/{_power(of_term, power, '')}"
    return "1" if power == 1 else f"1/{_power(of_term, power - 1, '')}"
