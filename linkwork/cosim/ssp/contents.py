"""The contents of an SSP archive, brought into a system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from linkwork._util.temporary import TemporaryFolder
from linkwork.cosim.ssp.archive import Archive
from linkwork.cosim.ssp.document import STRUCTURE, Document, content
from linkwork.cosim.ssp.elements import Element, below, fault, number_of, parse, text_of
from linkwork.cosim.ssp.links import PLAIN, Links, Map, map_of
from linkwork.cosim.ssp.structure import Binding, Structure
from linkwork.cosim.ssp.values import Given, given_values, with_items
from linkwork.cosim.system.definition import Experiment, SystemDefinition, Value
from linkwork.cosim.system.units import Unit
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
