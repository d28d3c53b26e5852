"""What OMSimulator needs of an archive to open it and to compute the same numbers.

It opens a system only if the first annotation of the system is of its own type and has simulation information, refuses
annotations of components, and has two readers. The Python reader takes the attributes of the simulation information,
and the one in C++ takes its element FixedStepMaster. Both multiply by the ratio of the units' factors and ignore the
offsets of units. The Python reader does so by the units of the FMUs and in spite of ``suppressUnitConversion``, the
other one by the units of connectors and without linear transformations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from linkwork.cosim.ssp.elements import Element, add, annotation
from linkwork.cosim.system.definition import Connection
from linkwork.cosim.system.units import Unit, conversion
from linkwork.errors import CosimError

ANNOTATION = "org.openmodelica"
SOLVER = "oms_ma_default"  # the name under which the Python reader looks for the master of FMUs that name none


def simulation_information(system: Element, step: float, tolerance: float) -> None:
    """Annotate a system with its master: fixed steps, all components in parallel, as Jacobi's."""
    settings = {"relativeTolerance": repr(tolerance)}
    information = add(
        annotation(system, "oms:Annotations", ANNOTATION),
        "oms:SimulationInformation",
        name=SOLVER,
        method="oms_ma",
        fixedStepSize=repr(step),
        **settings,
    )
    settings["absoluteTolerance"] = repr(tolerance)
    add(information, "oms:FixedStepMaster", description="oms-ma", stepSize=repr(step), **settings)


def identifier(name: str) -> str:
    """A name as that of the outermost system has to be.

    >>> identifier("quarter car"), identifier("3 masses")
    ('quarter_car', '_3_masses')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name) or "system"
    return f"_{plain}" if plain[0].isdigit() else plain


@dataclass(frozen=True)
class Written:
    """A connection as it is written; `has_unit` is False where the input's connector is to name no unit."""

    factor: float
    offset: float
    convert: bool
    has_unit: bool


def written(connection: Connection, source: Unit, target: Unit) -> Written:
    """The form of a connection that means the same by SSP and, as far as there is one, to OMSimulator.

    Temperatures become a linear transformation. Where a conversion is suppressed, the linear transformation undoes it.

    >>> degC, K = (Unit(name, (0, 0, 0, 0, 1, 0, 0, 0), 1.0, offset) for name, offset in (("degC", 273.15), ("K", 0)))
    >>> written(Connection("a.y", "b.x"), degC, K)
    Written(factor=1.0, offset=273.15, convert=False, has_unit=False)
    """
    factor, offset, convert = connection.factor, connection.offset, connection.convert_units
    as_is = Written(factor, offset, convert, has_unit=True)
    if source.exponents is None or target.exponents is None:
        return as_is
    try:
        scale, shift = conversion(source, target)
    except CosimError:  # different quantities, which only a suppressed conversion may connect
        return Written(factor, offset, convert, has_unit=False)
    if source.exponents != target.exponents:  # by a radian
        return Written(factor, offset, convert, has_unit=convert and (scale, shift) != (1.0, 0.0))
    if convert and shift and scale == 1.0:
        return Written(factor, factor * shift + offset, convert=False, has_unit=False)
    if not convert and scale != 1.0 and not shift:
        return Written(factor / scale, offset, convert=True, has_unit=False)
    return as_is
