"""The variables of couplings, each counted in the unit of the first coordinate that the coupling names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from linkwork.compiler.dependencies import Dependencies
from linkwork.description.couplings import POWERS
from linkwork.quantities import LOADS, Variable

if TYPE_CHECKING:
    from linkwork.description import Coupling
    from linkwork.system import System


def coupling_variables(system: System) -> Iterator[Variable]:
    """Return the variables of all couplings of a system: parameters, inputs of motions, and what is computed."""
    namer = _CouplingNamer(system)
    first_term = 0
    for i, coupling in enumerate(system.mechanism.couplings.values()):
        unit = namer.units(coupling)[0]
        yield namer.parameter(f"{coupling.name}.offset", "coupling_offset", i, unit, "what the terms add up to")
        yield from namer.terms(coupling, first_term)
        first_term += len(coupling.terms)
        if coupling.motion:
            yield from namer.motion(coupling.name, i, unit)
        yield from namer.outputs(coupling.name, i, unit)


class _CouplingNamer:
    """Makes the variables; offsets come from the core's field table."""

    def __init__(self, system: System) -> None:
        self._joints = system.mechanism.joints
        self._fields = system.fields
        self._defaults = system.block().reals
        self._depends = Dependencies(system.mechanism, system.widest_topology, system.numbering)

    def units(self, coupling: Coupling) -> list[str]:
        """Of the coordinates that are coupled."""
        terms = coupling.terms.values()
        return [self._joints[term.joint].kind.coordinate_units[term.element] for term in terms]

    def parameter(self, name: str, field: str, index: int, unit: str, text: str) -> Variable:
        reference = self._fields[field].first + index
        return Variable(name, reference, "parameter", unit, text, start=float(self._defaults[reference]))

    def terms(self, coupling: Coupling, first: int) -> Iterator[Variable]:
        """The coefficients; `first` is the number of the first term among those of all couplings."""
        units = self.units(coupling)
        for t, (coordinate, unit) in enumerate(zip(coupling.terms, units, strict=True), start=first):
            for k in range(1, POWERS + 1):
                name, text = f"{coupling.name}.{coordinate}.c[{k}]", f"coefficient of {_power('q', k)} in the coupling"
                at = POWERS * t + k - 1
                yield self.parameter(name, "coupling_coefficient", at, _ratio(units[0], unit, k), text)

    def motion(self, name: str, index: int, unit: str) -> Iterator[Variable]:
        """Parameters and inputs of a motion."""
        first = self._fields["coupling_motion"].columns * index
        for k in range(1, POWERS):
            text = f"coefficient of {_power('t', k)} in the motion"
            yield self.parameter(f"{name}.c[{k}]", "coupling_motion", first + k, f"{unit}/{_power('s', k, '')}", text)
        for k, (what, of) in enumerate((("amplitude", unit), ("frequency", "Hz"), ("phase", "rad")), start=POWERS):
            yield self.parameter(f"{name}.{what}", "coupling_motion", first + k, of, f"{what} of the motion")
        start = self._fields["motion_in"].first + 3 * index
        for k, (what, of, text) in enumerate(
            (("q", unit, "value"), ("u", f"{unit}/s", "rate"), ("a", f"{unit}/s2", "acceleration"))
        ):
            yield Variable(f"{name}.{what}_in", start + k, "input", of, f"adds to the {text} of the motion", start=0.0)

    def outputs(self, name: str, index: int, unit: str) -> Iterator[Variable]:
        lacks, load = (self._fields[f"coupling_{what}"].first + index for what in ("residual", "load"))
        depends = self._depends.coupling_residual(index)
        yield Variable(f"{name}.residual", lacks, "output", unit, "terms less offset and motion", depends=depends)
        depends = self._depends.coupling_load(index)
        text = "on each of its joints acts the slope of its term times this"
        yield Variable(f"{name}.load", load, "output", LOADS[unit], text, depends=depends)


def _power(base: str, exponent: int, sign: str = "^") -> str:
    return base if exponent == 1 else f"{base}{sign}{exponent}"


def _ratio(unit: str, of_term: str, power: int) -> str:
    """The unit of the coefficient of a power of a coordinate.

    >>> _ratio("m", "rad", 1), _ratio("rad", "rad", 1), _ratio("rad", "rad", 3)
    ('m/rad', '1', '1/rad2')
    """
    if unit != of_term:
        return f"{unit}/{_power(of_term, power, '')}"
    return "1" if power == 1 else f"1/{_power(of_term, power - 1, '')}"
