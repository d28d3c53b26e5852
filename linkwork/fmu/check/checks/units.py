"""Units of variables, and what defines them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error
from linkwork.fmu.description import as_number


@check("units", "units and display units of variables are defined, and types declared exist")
def units(fmu: Fmu) -> Iterator[Finding]:
    """Look at units, display units and declared types."""
    one = fmu.description
    names = [unit.get("name", "") for unit in fmu.root.findall("UnitDefinitions/Unit")]
    yield from (error(f"the unit {name!r} is defined {n} times") for name, n in Counter(names).items() if n > 1)
    for unit in fmu.root.findall("UnitDefinitions/Unit"):
        for other in unit.findall("DisplayUnit"):
            if as_number(other.get("factor", "1")) in (None, 0.0):
                yield error(f"the display unit {other.get('name')!r} of {unit.get('name')!r} has no factor but zero")
    for variable in one.variables:
        declared = variable.given.get("declaredType")
        if declared is not None and declared not in one.types:
            yield error(f"{variable.name} has the type {declared!r}, which TypeDefinitions does not define")
        shown = [("", variable.attribute("displayUnit")), *((f" of its alias {a}", d) for a, d, _ in variable.aliases)]
        yield from _unit(variable.name, variable.unit, shown, one.units)


def _unit(
    name: str, unit: str | None, shown: list[tuple[str, str | None]], defined: dict[str, set[str]]
) -> Iterator[Finding]:
    if unit is not None and unit not in defined:
        yield error(f"{name} has the unit {unit!r}, which UnitDefinitions does not define; add it there")
        return
    for whose, display in shown:
        if display is None or display == unit:
            continue
        if unit is None:
            yield error(f"{name} has the display unit {display!r}{whose} but no unit; give both")
        elif display not in defined[unit]:
            yield error(f"{name} has the display unit {display!r}{whose}, which its unit {unit!r} does not define")
