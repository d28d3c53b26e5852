"""Connections as the flattened system has them: through connectors of nested systems and signal dictionaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linkwork.cosim.ssp.elements import TABLES, Element, below, fault, local, number_of, own_annotation, truth_of
from linkwork.cosim.ssp.structure import GIVES, Link, Node, Structure
from linkwork.cosim.system.definition import Connection
from linkwork.cosim.system.units import UNKNOWN, Unit, conversion
from linkwork.errors import CosimError


@dataclass(frozen=True)
class Map:
    """``factor * value + offset``, after a conversion of units if it is requested."""

    factor: float = 1.0
    offset: float = 0.0
    convert: bool = True

    def after(self, factor: float, offset: float) -> Map:
        """The map of what another one has given."""
        return Map(self.factor * factor, self.factor * offset + self.offset, self.convert)


PLAIN = Map()


def map_of(element: Element) -> Map:
    """The map that a connection or an entry of a parameter mapping asks for."""
    for child in element:
        if local(child) in TABLES:
            raise fault(child, "tables of values are not supported; map them in a component")
    convert = not truth_of(element, "suppressUnitConversion", False)
    for child in below(element, "LinearTransformation"):
        found = Map(number_of(child, "factor", 1.0), number_of(child, "offset", 0.0), convert)
        return _as_saved(element, found) or found
    return Map(convert=convert)


def _as_saved(element: Element, found: Map) -> Map | None:
    """The map that was written in another form for OMSimulator, unless it has been changed since."""
    ours = own_annotation(element)
    if ours is None or local(ours) != "EquivalentConnection":
        return None
    saved = Map(number_of(ours, "factor"), number_of(ours, "offset"), truth_of(ours, "convertUnits"))
    form = Map(number_of(ours, "writtenFactor"), number_of(ours, "writtenOffset"), not saved.convert)
    return saved if found == form else None


class Links:
    """All connections between components, and from and to the outside."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._maps = {target: map_of(link.element) for target, link in structure.links.items()}

    def connections(self) -> Iterator[Connection]:
        """Those between components, in the order in which the archive has them."""
        for target, chain in self._chains():
            source = chain[0]
            if self._inner(source) and self._inner(target):
                yield self._connection(_name(source), _name(target), chain)

    def inputs(self) -> list[Connection]:
        """Those from inputs of the system itself."""
        found = []
        for target, chain in self._chains():
            owner, name = chain[0]
            if owner == "" and self._structure.ports[chain[0]].kind == "input" and self._inner(target):
                found.append(self._connection(name, _name(target), chain))
        return found

    def outputs(self) -> list[Connection]:
        """Those to outputs of the system itself."""
        found = []
        for target, chain in self._chains():
            is_output = target[0] == "" and self._structure.ports[target].kind in GIVES
            if is_output and self._inner(chain[0]):
                found.append(self._connection(_name(chain[0]), target[1], chain))
        return found

    def fed_by(self, node: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
        """The connectors of components to which a connector of a system leads, and the way there."""
        for target, chain in self._chains():
            if self._inner(target) and node in chain[:-1]:
                yield target, chain[chain.index(node) :]

    def map_along(self, chain: tuple[Node, ...], unit: Unit | None) -> Map:
        """What a value in `unit` undergoes on a way, units included."""
        total = PLAIN
        for node in chain[1:]:
            own, there = self._maps[node], self._unit(node)
            if unit is not None and there is not None and own.convert:
                total = Map(*self._structure.unit_map(unit, there, self._link(node).element)).after(
                    total.factor, total.offset
                )
            unit = there or unit
            total = own.after(total.factor, total.offset)
        return Map(total.factor, total.offset, False)

    def _chains(self) -> Iterator[tuple[Node, tuple[Node, ...]]]:
        """The way to each connector at which one ends, from where it begins."""
        for target in self._structure.links:
            if self._inner(target) or target[0] == "":
                yield target, self._chain(target)

    def _chain(self, target: Node) -> tuple[Node, ...]:
        chain = [target]
        while chain[-1] in self._structure.links and (len(chain) == 1 or not self._inner(chain[-1])):
            link = self._link(chain[-1])
            if link.source in chain:
                raise fault(link.element, f"{_name(target)!r} is connected to itself; remove one of these connections")
            chain.append(link.source)
        return tuple(reversed(chain))

    def _connection(self, source: str, target: str, chain: tuple[Node, ...]) -> Connection:
        maps = [self._maps[node] for node in chain[1:]]
        if all(one == PLAIN for one in maps[1:]) and (not maps[0].convert or self._fmus_agree(chain[0], chain[-1])):
            return Connection(source, target, maps[0].factor, maps[0].offset, maps[0].convert)
        total = self.map_along(chain, self._unit(chain[0]))
        return Connection(source, target, total.factor, total.offset, convert_units=False)

    def _fmus_agree(self, source: Node, target: Node) -> bool:
        """Whether the units of connectors ask for no other conversion than the FMUs' own do."""
        is_inner = self._inner(source) and self._inner(target)
        units = [self._structure.ports[node].unit if is_inner else self._unit(node) for node in (source, target)]
        if units[0] is None or units[1] is None or units[0] == units[1]:
            return True
        asked = self._structure.unit_map(units[0], units[1], self._link(target).element)
        own = [self._fmu_unit(node) if is_inner else UNKNOWN for node in (source, target)]
        try:
            return asked == conversion(own[0], own[1])
        except CosimError:
            return True  # the checks of the system report it

    def _unit(self, node: Node) -> Unit | None:
        unit = self._structure.ports[node].unit
        return self._fmu_unit(node) if unit is None and self._inner(node) else unit

    def _fmu_unit(self, node: Node) -> Unit:
        model = self._structure.model(node[0])
        return model.unit(node[1]) if node[1] in model.variables else UNKNOWN

    def _inner(self, node: Node) -> bool:
        return self._structure.ports[node].inner

    def _link(self, node: Node) -> Link:
        return self._structure.links[node]


def _name(node: Node) -> str:
    return f"{node[0]}.{node[1]}"
