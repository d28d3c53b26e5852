"""Units and enumerations of an SSP file, both ways."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork._util.units import BASE_UNITS
from linkwork.cosim.ssp.elements import Element, add, below, fault, integer_of, number_of, text_of
from linkwork.cosim.system.units import Unit


@dataclass
class Tables:
    """Units and enumerations (value by item) by their names."""

    units: dict[str, Unit] = field(default_factory=dict)
    enumerations: dict[str, dict[str, int]] = field(default_factory=dict)

    def unit(self, name: str) -> Unit:
        """Look a unit up; one that the file does not define is known by its name alone."""
        return self.units.get(name) or Unit(name)

    def name_unit(self, unit: Unit) -> str | None:
        """Note a unit; its name in the file, or None if nobody knows what it measures."""
        if not unit.name or unit.exponents is None:
            return None
        name = _free(unit.name, self.units, Unit(unit.name, unit.exponents, unit.factor, unit.offset))
        self.units[name] = unit
        return name

    def name_enumeration(self, name: str, items: dict[str, int]) -> str:
        """Note an enumeration; its name in the file."""
        name = _free(name, self.enumerations, items)
        self.enumerations[name] = items
        return name

    def write(self, root: Element) -> None:
        """Add the entries to a file."""
        if self.enumerations:
            parent = add(root, "ssd:Enumerations")
            for name, items in self.enumerations.items():
                one = add(parent, "ssc:Enumeration", name=name)
                for item, value in items.items():
                    add(one, "ssc:Item", name=item, value=str(value))
        if self.units:
            parent = add(root, "ssd:Units")
            for name, unit in self.units.items():
                powers = {key: str(n) for key, n in zip(BASE_UNITS, unit.exponents or (), strict=True) if n}
                if unit.factor != 1.0:
                    powers["factor"] = repr(unit.factor)
                if unit.offset != 0.0:
                    powers["offset"] = repr(unit.offset)
                add(add(parent, "ssc:Unit", name=name), "ssc:BaseUnit", **powers)


def _free(name: str, taken: dict[str, object] | dict[str, Unit] | dict[str, dict[str, int]], content: object) -> str:
    """`name`, with a number if FMUs use it for different things."""
    free, number = name, 1
    while free in taken and taken[free] != content:
        number += 1
        free = f"{name}_{number}"
    return free


def tables_of(root: Element, outside: Tables | None = None) -> Tables:
    """Read the units and enumerations of a file, and add those of the file around it."""
    tables = Tables(dict(outside.units), dict(outside.enumerations)) if outside else Tables()
    for unit in below(root, "Units", "Unit"):
        name = text_of(unit, "name")
        tables.units[name] = _unit(name, unit)
    for one in below(root, "Enumerations", "Enumeration"):
        items = {text_of(item, "name"): integer_of(item, "value") for item in below(one, "Item")}
        tables.enumerations[text_of(one, "name")] = items
    return tables


def _unit(name: str, element: Element) -> Unit:
    for base in below(element, "BaseUnit"):
        exponents = tuple(int(number_of(base, key, 0)) for key in BASE_UNITS)
        factor = number_of(base, "factor", 1.0)
        if not factor:
            raise fault(base, "its factor is zero")
        return Unit(name, exponents, factor, number_of(base, "offset", 0.0))
    raise fault(element, "it has no BaseUnit")
