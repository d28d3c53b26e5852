"""The elements of an SSP archive, flattened: components with their FMUs, connectors, links, parameter bindings."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

from linkwork._util.names import suggest
from linkwork._util.stack import levels_of_package
from linkwork.cosim.fmu.model import FmuModel, read_model
from linkwork.cosim.ssp.archive import Archive
from linkwork.cosim.ssp.document import STRUCTURE, Document, content
from linkwork.cosim.ssp.elements import (
    FLOATS,
    Element,
    below,
    fault,
    integer_of,
    local,
    own_annotation,
    place_of,
    text_of,
)
from linkwork.cosim.ssp.tables import Tables, tables_of
from linkwork.cosim.ssp.values import Given, with_items
from linkwork.cosim.system.definition import Value
from linkwork.cosim.system.references import parse
from linkwork.cosim.system.units import Unit, conversion
from linkwork.errors import CosimError, UnitWarning

FMU = "application/x-fmu-sharedlibrary"
ARCHIVE = "application/x-ssp-package"
DESCRIPTION = "application/x-ssp-definition"
GIVES = {"output", "calculatedParameter", "local", "constant"}
TAKES = {"input"}
EITHER = {"parameter", "inout", "structuralParameter", "unspecified"}
KINDS = {
    "1.0": {"input", "output", "parameter", "calculatedParameter", "inout"},
    "2.0": GIVES | TAKES | EITHER,
}
RUN = {"any", "CoSimulation", "ModelExchange"}  # implementations
NOT_RUN = {"ScheduledExecution"}
DEEPEST = 16

Node = tuple[str, str]  # system or component, and connector


@dataclass(frozen=True)
class Part:
    """A component."""

    fmu: Path
    required: tuple[str, ...]


@dataclass(frozen=True)
class Port:
    """A connector; `inner` if it belongs to a component, not to a system or dictionary."""

    kind: str
    unit: Unit | None
    inner: bool


@dataclass(frozen=True)
class Link:
    """The connection to a connector."""

    source: Node
    element: Element


@dataclass
class Binding:
    """Parameters bound to a component or system (its path in the flattened system)."""

    owner: str
    element: Element
    document: Document


@dataclass
class Structure:
    """The content of a description and of those within it."""

    document: Document
    components: dict[str, Part] = field(default_factory=dict)
    ports: dict[Node, Port] = field(default_factory=dict)
    links: dict[Node, Link] = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)  # inner ones first: outer ones win
    bound: set[str] = field(default_factory=set)  # parameter files of the outermost archive
    _models: dict[Path, FmuModel] = field(default_factory=dict)
    _warned: set[tuple[str, str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._system(self.document.system(), "", self.document, {})

    def model(self, component: str) -> FmuModel:
        """The model description of a component's FMU."""
        fmu = self.components[component].fmu
        if fmu not in self._models:
            self._models[fmu] = read_model(fmu)
        return self._models[fmu]

    def in_own_unit(self, given: Given) -> Value:
        """A value for a ``component.variable``, in the variable's unit; unchanged if there is no such component."""
        try:
            place = parse(given.name, self.components)
            model = self.model(place.component)
        except CosimError:
            return given.value
        given = with_items(given, model.variables.get(place.variable))
        if given.unit is None:
            return given.value
        unit = model.unit(place.variable)
        factor, offset = self.unit_map(given.unit, unit, given.element)
        if isinstance(given.value, tuple):
            return tuple(factor * float(one) + offset for one in given.value)
        return factor * float(given.value) + offset

    def unit_map(self, source: Unit, target: Unit, element: Element) -> tuple[float, float]:
        """Factor and offset from one unit to another; a unit that the file does not define is not converted."""
        if source.exponents is None and target.name not in ("", source.name):
            self._warn(
                (str(element.getroottree().docinfo.URL), source.name, target.name),
                f"{place_of(element)}: the file does not define the unit {source.name!r}, so the value is taken in "
                f"{target.name!r}, the unit of the variable, without conversion; define the unit under Units",
            )
            return 1.0, 0.0
        try:
            return conversion(source, target)
        except CosimError as problem:
            raise fault(element, f"{problem}; give the value in the variable's unit") from problem

    def _warn(self, about: tuple[str, str, str], text: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            warnings.warn(UnitWarning(text), stacklevel=levels_of_package())

    def _system(self, element: Element, path: str, document: Document, dictionaries: dict[str, str]) -> None:
        self._connectors(element, path, document, inner=False)
        dictionaries = dictionaries | self._dictionaries(element, path, document)
        owners: dict[str, str] = {}
        for child in (one for group in below(element, "Elements") for one in group):
            name = text_of(child, "name")
            if name in owners:
                raise fault(child, "another element has this name; rename one of them")
            if local(child) == "SignalDictionaryReference":
                owners[name] = _dictionary(child, dictionaries)
                continue
            owners[name] = f"{path}.{_plain(name)}" if path else _plain(name)
            if local(child) == "System":
                self._system(child, owners[name], document, dictionaries)
            elif local(child) == "Component":
                self._component(child, owners[name], document)
        for connection in below(element, "Connections", "Connection"):
            self._connection(connection, path, owners)
        self._bindings(element, path, document)
        self._required(element, path)

    def _required(self, element: Element, path: str) -> None:
        """Note inputs that must be connected, which an annotation of the system names."""
        ours = own_annotation(element)
        for one in below(ours, "Required") if ours is not None else ():
            name = text_of(one, "component")
            full = f"{path}.{name}" if path else name
            if full not in self.components:
                raise fault(one, f"there is no component {full!r}; {suggest(full, self.components)}")
            part = self.components[full]
            self.components[full] = replace(part, required=(*part.required, text_of(one, "name")))

    def _component(self, element: Element, path: str, document: Document) -> None:
        kind, source = element.get("type", FMU), element.get("source")
        if source is None:
            raise fault(element, "it has no source, and nothing to run; give the FMU in its attribute 'source'")
        if kind == FMU:
            _check_implementation(element)
            if path in self.components:
                raise fault(element, f"there are two components {path!r} once nested systems are flattened; rename one")
            fmu = document.archive.unpack(document.archive.resolve(element, document.file))
            self.components[path] = Part(fmu, _required(element))
            self._connectors(element, path, document, inner=True)
            self._bindings(element, path, document)
        elif kind in (ARCHIVE, DESCRIPTION) and not source.startswith("#"):
            inner = self._inner(element, kind, document)
            self._system(inner.system(), path, inner, {})
            self._bindings(element, path, document)
        else:
            raise fault(element, f"components of type {kind!r} from {source!r} are not supported, only FMUs and SSPs")

    def _inner(self, element: Element, kind: str, document: Document) -> Document:
        archive = document.archive
        if document.depth == DEEPEST:
            raise fault(element, f"archives and descriptions are nested more than {DEEPEST} deep")
        file = archive.resolve(element, document.file)
        if kind == DESCRIPTION:
            return Document.open(archive, file, document.depth + 1)
        data = BytesIO(archive.read(file))
        inner = Archive(f"{archive.where}: {file}", data, archive.folder / f"{file}.unpacked")
        chosen = element.get("source").partition("#")[2]
        return Document.open(inner, chosen or STRUCTURE, document.depth + 1)

    def _connectors(self, element: Element, owner: str, document: Document, inner: bool) -> None:
        for one in below(element, "Connectors", "Connector"):
            unit = _unit(one, document.tables)
            name, kind = text_of(one, "name"), text_of(one, "kind")
            if kind not in KINDS[document.version]:
                raise fault(one, f"its kind {kind!r} is none of SSP {document.version}")
            shape = _shape(one)
            if inner and shape is not None:
                self._check_shape(one, owner, name, shape)
            self.ports[owner, name] = Port(kind, unit, inner)

    def _check_shape(self, element: Element, component: str, name: str, shape: tuple[int, ...]) -> None:
        variable = self.model(component).variables.get(name)
        if variable is not None and any(by is not None for by in variable.structural):
            return  # structural parameters, which are not known yet, give its sizes
        if variable is not None and variable.dimensions != shape:
            there = " x ".join(map(str, variable.dimensions)) or "no array"
            mine = " x ".join(map(str, shape))
            raise fault(element, f"its dimensions are {mine}, and those of the FMU's variable {there}; correct them")

    def _dictionaries(self, element: Element, path: str, document: Document) -> dict[str, str]:
        """Note the entries of signal dictionaries as connectors; each under the dictionary's name."""
        owners = {}
        for one in below(element, "SignalDictionaries", "SignalDictionary"):
            name = text_of(one, "name")
            owner = owners[name] = f"{path}\n{name}"  # no component is called so
            root = content(one, document, "SignalDictionary")
            tables = tables_of(root, document.tables)
            for entry in below(root, "DictionaryEntry"):
                self.ports[owner, text_of(entry, "name")] = Port("inout", _unit(entry, tables), False)
        return owners

    def _connection(self, element: Element, path: str, owners: dict[str, str]) -> None:
        for side in ("start", "end"):
            if element.get(f"{side}Indices", "").strip():
                raise fault(
                    element,
                    f"connections of single elements of arrays are not supported; remove {side}Indices to connect the "
                    "whole array, or export the FMU with a variable for each element",
                )
        start, end = (self._end(element, side, path, owners) for side in ("start", "end"))
        if not (self._may(start, path, GIVES) and self._may(end, path, TAKES)):
            if not (self._may(end, path, GIVES) and self._may(start, path, TAKES)):
                ends = " and ".join(repr(".".join(node)) for node in (start, end))
                raise fault(element, f"{ends} both give or both take values; connect an output to an input")
            start, end = end, start
        if end in self.links:
            raise fault(element, f"{'.'.join(end)!r} has another connection already; remove one")
        self.links[end] = Link(start, element)

    def _end(self, element: Element, side: str, path: str, owners: dict[str, str]) -> Node:
        name, connector = element.get(f"{side}Element") or None, text_of(element, f"{side}Connector")
        if name is not None and name not in owners:
            raise fault(element, f"there is no element {name!r}; {suggest(name, owners)}")
        node = (path if name is None else owners[name], connector)
        if node not in self.ports:
            there = [other for owner, other in self.ports if owner == node[0]]
            whose = "the system" if name is None else repr(name)
            raise fault(element, f"{whose} has no connector {connector!r}; {suggest(connector, there)}")
        return node

    def _may(self, node: Node, path: str, role: set[str]) -> bool:
        """Whether a connector may give or take values within the system at `path`; its own ones do the opposite."""
        kind = self.ports[node].kind
        return kind in EITHER or (kind in role) == (node[0] != path or self.ports[node].inner)

    def _bindings(self, element: Element, owner: str, document: Document) -> None:
        for one in below(element, "ParameterBindings", "ParameterBinding"):
            self.bindings.append(Binding(owner, one, document))
            is_here = document.archive is self.document.archive and one.get("sourceBase", "SSD") == "SSD"
            if one.get("source") and is_here:
                self.bound.add(document.archive.resolve(one, document.file))


def _unit(element: Element, tables: Tables) -> Unit | None:
    """The unit of a connector or entry, where the file defines it; else the FMU does."""
    for kind in element:
        if local(kind) in FLOATS:
            unit = tables.unit(kind.get("unit", ""))
            return None if unit.exponents is None else unit
    return None


def _shape(element: Element) -> tuple[int, ...] | None:
    """The dimensions of a connector; None if there are none, or the FMU or a structural parameter gives a size."""
    dimensions = list(below(element, "Dimension"))
    for one in dimensions:
        if one.get("size") is not None and one.get("sizeConnector") is not None:
            raise fault(one, "it has both size and sizeConnector; remove one of them")
    if not dimensions or any(one.get("size") is None for one in dimensions):
        return None
    return tuple(integer_of(one, "size") for one in dimensions)


def _check_implementation(element: Element) -> None:
    given = element.get("implementation", "any")
    if given in NOT_RUN:
        raise fault(
            element, f"its implementation {given!r} is not supported; export it for Co-Simulation or Model Exchange"
        )
    if given not in RUN:
        raise fault(element, f"its implementation {given!r} is none of SSP; {suggest(given, sorted(RUN))}")


def _dictionary(reference: Element, dictionaries: dict[str, str]) -> str:
    name = text_of(reference, "dictionary")
    if name not in dictionaries:
        raise fault(reference, f"there is no signal dictionary {name!r}; {suggest(name, dictionaries)}")
    return dictionaries[name]


def _required(element: Element) -> tuple[str, ...]:
    ours = own_annotation(element)
    return () if ours is None else tuple(text_of(one, "name") for one in below(ours, "Required"))


def _plain(name: str) -> str:
    """A name without what names of components cannot have."""
    return re.sub(r"[\s/\\]", "_", name)
