"""The contents of an SSP archive, brought into a system.

`Links` are its connections as the flattened system has them: through connectors of nested systems and signal
dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from linkwork._util.temporary import TemporaryFolder
from linkwork.cosim.ssp.archive import Archive
from linkwork.cosim.ssp.document import STRUCTURE, Document, content
from linkwork.cosim.ssp.elements import (
    TABLES,
    Element,
    below,
    fault,
    local,
    number_of,
    own_annotation,
    parse,
    text_of,
    truth_of,
)
from linkwork.cosim.ssp.structure import GIVES, Binding, Link, Node, Structure
from linkwork.cosim.ssp.values import Given, given_values, with_items
from linkwork.cosim.system.definition import Connection, Experiment, SystemDefinition, Value
from linkwork.cosim.system.units import UNKNOWN, Unit, conversion
from linkwork.errors import CosimError


class Folder(TemporaryFolder):
    """A temporary folder that copies of a system share and pickles lose."""

    def __deepcopy__(self, memo: object) -> Folder:
        return self

    def __reduce__(self) -> tuple[type[object], tuple[()]]:
        return object, ()


def read_into(system: SystemDefinition, path: Path, ssd: str = STRUCTURE) -> None:
    """Bring the contents of an archive into an empty system; see `linkwork.cosim.ssp.read`."""
    if not path.is_file():
        raise CosimError(f"there is no file {path}")
    folder = Folder("linkwork_ssp_")
    archive = Archive(str(path), path, folder.path)
    try:
        _fill(system, archive, ssd, folder)
    finally:
        archive.close()


def _fill(system: SystemDefinition, archive: Archive, ssd: str, folder: Folder) -> None:
    document = Document.open(archive, ssd)
    structure = Structure(document)
    links = Links(structure)
    bindings = Bindings(structure, links)
    system.name, system.description = document.root.get("name", ""), document.root.get("description", "")
    for name, component in structure.components.items():
        system.add(name, component.fmu, parameters=bindings.of(name), required=component.required)
    for connection in links.connections():
        system.connect(
            connection.source,
            connection.target,
            factor=connection.factor,
            offset=connection.offset,
            convert_units=connection.convert_units,
        )
    system.external_inputs, system.external_outputs = links.inputs(), links.outputs()
    for experiment in below(document.root, "DefaultExperiment"):
        t_start = number_of(experiment, "startTime", 0.0)
        system.experiment = Experiment(t_start, number_of(experiment, "stopTime", t_start + 1.0))
    _read_sets(system, structure)
    system._unpacked = folder


def _read_sets(system: SystemDefinition, structure: Structure) -> None:
    """Parameter files that nothing refers to; whether components are there is asked when one is used."""
    archive = structure.document.archive
    for file in archive.names:
        if not file.endswith(".ssv") or file in structure.bound:
            continue
        root = parse(archive.read(file), f"{archive.where}: {file}", "ParameterSet")
        name = root.get("name") or Path(file).stem
        if name in system.parameter_sets:
            raise CosimError(f"{archive.where} has two parameter sets {name!r}; rename one of them")
        values = given_values(root, structure.document.tables)
        system.parameter_sets[name] = {one.name: structure.in_own_unit(one) for one in values}


VALUES = "application/x-ssp-parameter-set"
MAPPING = "application/x-ssp-parameter-mapping"


class Bindings:
    """Values by component; a binding of an outer system wins over inner ones, a later one over earlier ones.

    A value that comes through a connection wins over those bound to the parameter itself: the binding is its start
    value, the connection its source. Names that match no variable are left out, as SSP requires: parameter files are
    shared.
    """

    def __init__(self, structure: Structure, links: Links) -> None:
        self._structure = structure
        self._links = links
        self._bound: dict[str, dict[str, Value]] = {name: {} for name in structure.components}
        self._connected: dict[str, dict[str, Value]] = {name: {} for name in structure.components}
        for binding in structure.bindings:
            for given, own in _mapped(binding):
                self._give(binding.owner, given, own)

    def of(self, component: str) -> dict[str, Value]:
        """The values of a component's parameters, start values and inputs."""
        return self._bound[component] | self._connected[component]

    def _give(self, owner: str, given: Given, own: Map) -> None:
        """Find what a name means at `owner`: a variable of a component, or a connector that leads to some."""
        full = f"{owner}.{given.name}" if owner else given.name
        if ("", full) in self._structure.ports:
            self._give_connector(("", full), given, own)
        head, dot, _ = full.rpartition(".")
        while dot:
            name = full[len(head) + 1 :]
            if head in self._structure.components:
                self._set(self._bound, head, name, given, own)
                return
            if (head, name) in self._structure.ports:
                self._give_connector((head, name), given, own)
            head, dot, _ = head.rpartition(".")

    def _give_connector(self, node: tuple[str, str], given: Given, own: Map) -> None:
        declared = self._structure.ports[node].unit
        value = self._in_unit(given, declared, own)
        for (component, name), chain in self._links.fed_by(node):
            along = self._links.map_along(chain, declared or given.unit)
            self._set(self._connected, component, name, replace(given, value=value, unit=None), along)

    def _set(self, values: dict[str, dict[str, Value]], component: str, name: str, given: Given, own: Map) -> None:
        model = self._structure.model(component)
        if name in model.variables:
            values[component][name] = self._in_unit(with_items(given, model.variables[name]), model.unit(name), own)

    def _in_unit(self, given: Given, unit: Unit | None, own: Map) -> Value:
        """A value in a unit, mapped."""
        total = own
        if given.unit is not None and unit is not None and own.convert:
            total = own.after(*self._structure.unit_map(given.unit, unit, given.element))
        if (total.factor, total.offset) == (1.0, 0.0):
            return given.value
        if isinstance(given.value, tuple) and not any(isinstance(one, (bool, str)) for one in given.value):
            return tuple(total.factor * one + total.offset for one in given.value)
        if isinstance(given.value, (bool, str, tuple)):
            raise fault(given.element, f"{given.value!r} cannot be transformed linearly; remove the transformation")
        mapped = total.factor * given.value + total.offset
        return int(mapped) if isinstance(given.value, int) and mapped.is_integer() else mapped


def _mapped(binding: Binding) -> Iterator[tuple[Given, Map]]:
    """The values of a binding by the names that they have in its system or component."""
    element, document = binding.element, binding.document
    _check_type(element, VALUES)
    prefix = element.get("prefix", "")
    values = [
        replace(one, name=prefix + one.name)
        for one in given_values(content(element, document, "ParameterSet"), document.tables)
    ]
    mappings = list(below(element, "ParameterMapping"))
    if not mappings:
        yield from ((one, PLAIN) for one in values)
        return
    _check_type(mappings[0], MAPPING)
    by_name = {one.name: one for one in values}
    for entry in below(content(mappings[0], document, "ParameterMapping"), "MappingEntry"):
        source = text_of(entry, "source")
        if source in by_name:
            yield replace(by_name[source], name=text_of(entry, "target")), map_of(entry)


def _check_type(element: Element, kind: str) -> None:
    if element.get("type", kind) != kind:
        raise fault(element, f"its type {element.get('type')!r} is not supported, only {kind!r}")


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
