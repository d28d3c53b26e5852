"""Write a system as an archive of SSP 1.0."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from linkwork._util.files import write_archive
from linkwork.cosim.fmu.model import REAL, FmuModel, Variable, read_model
from linkwork.cosim.ssp.document import STRUCTURE
from linkwork.cosim.ssp.elements import Element, add, annotation, new, to_bytes
from linkwork.cosim.ssp.tables import Tables
from linkwork.cosim.ssp.values import number_text, parameter_set
from linkwork.cosim.system.definition import Component, Connection, SystemDefinition, Value
from linkwork.errors import CosimError

KINDS = {"input": "input", "parameter": "parameter", "structuralParameter": "parameter"}


def write_ssp(system: SystemDefinition, path: Path) -> Path:
    """Write a system with its FMUs; the same system gives the same bytes.

    Raises
    ------
    CosimError
        If an FMU cannot be read or has no such variable, or the file cannot be written.
    """
    sources = _sources(system)
    files: dict[str, bytes | Path] = {}
    try:
        files[STRUCTURE] = to_bytes(_structure(system, sources))
        for name, values in system.parameter_sets.items():
            files[_free(name, ".ssv", files)] = to_bytes(parameter_set(name, values))
    except ValueError as problem:  # of lxml
        raise CosimError(f"a name or text of {system!r} has a character that XML cannot hold: {problem}") from problem
    files |= {source: fmu for fmu, source in sources.items()}
    write_archive(path, files, CosimError)
    return path


def _sources(system: SystemDefinition) -> dict[Path, str]:
    """Where each FMU lies in the archive, by its own path."""
    taken: dict[str, object] = {}
    sources: dict[Path, str] = {}
    for component in system.components.values():
        fmu = component.fmu.resolve()
        if fmu not in sources:
            sources[fmu] = _free(fmu.stem, ".fmu", taken)
            taken[sources[fmu]] = fmu
    return sources


def _free(name: str, suffix: str, taken: Iterable[str]) -> str:
    """A path that needs no escapes and differs from others on every file system."""
    stem = "resources/" + (re.sub(r"[^A-Za-z0-9_.-]", "_", name).strip(".") or "unnamed")
    others, free, number = {one.lower() for one in taken}, stem + suffix, 1
    while free.lower() in others:
        number += 1
        free = f"{stem}_{number}{suffix}"
    return free


def _structure(system: SystemDefinition, sources: dict[Path, str]) -> Element:
    models = {fmu: read_model(fmu) for fmu in sources}
    tables = Tables()
    root = new(
        "ssd:SystemStructureDescription", version="1.0", name=system.name, description=system.description or None
    )
    top = add(root, "ssd:System", name=system.name or "system")
    _external(top, system, models, tables)
    elements = add(top, "ssd:Elements") if system.components else None
    for component in system.components.values():
        fmu = component.fmu.resolve()
        element = add(elements, "ssd:Component", name=component.name, source=sources[fmu])
        _component(element, component, system, models[fmu], tables)
    _connections(top, system)
    tables.write(root)
    begin, end = number_text(system.experiment.t_start), number_text(system.experiment.t_end)
    add(root, "ssd:DefaultExperiment", startTime=begin, stopTime=end)
    return root


def _external(top: Element, system: SystemDefinition, models: dict[Path, FmuModel], tables: Tables) -> None:
    """The connectors of the system itself, each of the type of the first variable that it is connected to."""
    inner = {one.source: ("input", one.target) for one in reversed(system.external_inputs)}
    inner |= {one.target: ("output", one.source) for one in system.external_outputs}
    connectors = add(top, "ssd:Connectors") if inner else None
    for name, (kind, reference) in inner.items():
        place = system.reference(reference)
        model = models[system.components[place.component].fmu.resolve()]
        _type(add(connectors, "ssd:Connector", name=name, kind=kind), model.variable(place.variable), model, tables)


def _component(
    element: Element, component: Component, system: SystemDefinition, model: FmuModel, tables: Tables
) -> None:
    names = [*_connected(component.name, system), *component.required]
    connectors = add(element, "ssd:Connectors") if names else None
    for name in dict.fromkeys(names):
        variable = model.variable(name)
        kind = KINDS.get(variable.causality, "output")
        _type(add(connectors, "ssd:Connector", name=name, kind=kind), variable, model, tables)
    if component.parameters:
        binding = add(add(element, "ssd:ParameterBindings"), "ssd:ParameterBinding")
        values = {name: _of_type(value, model.variable(name)) for name, value in component.parameters.items()}
        add(binding, "ssd:ParameterValues").append(parameter_set(component.name, values))
    if component.required:
        ours = annotation(element, "Component")
        for name in component.required:
            add(ours, "linkwork:Required", name=name)


def _connected(component: str, system: SystemDefinition) -> Iterable[str]:
    references = [end for one in system.connections for end in (one.source, one.target)]
    references += [one.target for one in system.external_inputs] + [one.source for one in system.external_outputs]
    for reference in map(system.reference, references):
        if reference.component == component:
            yield reference.variable


def _type(connector: Element, variable: Variable, model: FmuModel, tables: Tables) -> None:
    """Type and unit of a connector; SSP 1.0 has none for arrays, where the FMU has the information."""
    if variable.size != 1:
        return
    if variable.value_type == REAL:
        add(connector, "ssc:Real", unit=tables.name_unit(model.unit(variable.name)))
    elif variable.items:
        add(connector, "ssc:Enumeration", name=tables.name_enumeration(variable.enumeration, dict(variable.items)))
    elif variable.type in ("Boolean", "String"):
        add(connector, f"ssc:{variable.type}")
    elif variable.value_type is not None:
        add(connector, "ssc:Integer")


def _of_type(value: Value, variable: Variable) -> Value:
    """A value as the variable has it, where that is the same: 900 of a real is 900.0."""
    if isinstance(value, (int, float)):
        if variable.value_type == REAL and not isinstance(value, bool) and float(value) == value:
            return float(value)
        if variable.type == "Boolean" and value in (0, 1):
            return bool(value)
    return value


def _connections(top: Element, system: SystemDefinition) -> None:
    links: list[tuple[Connection, tuple[str | None, str], tuple[str | None, str]]] = []
    for one in system.connections:
        source, target = system.ends(one)
        links.append((one, source.parts, target.parts))
    links += [(one, (None, one.source), system.reference(one.target).parts) for one in system.external_inputs]
    links += [(one, system.reference(one.source).parts, (None, one.target)) for one in system.external_outputs]
    parent = add(top, "ssd:Connections") if links else None
    for connection, (start, output), (end, variable) in links:
        element = add(
            parent,
            "ssd:Connection",
            startElement=start,
            startConnector=output,
            endElement=end,
            endConnector=variable,
            suppressUnitConversion=None if connection.convert_units else "true",
        )
        _transformation(element, connection)


def _transformation(element: Element, connection: Connection) -> None:
    if (connection.factor, connection.offset) != (1.0, 0.0):
        factor, offset = number_text(connection.factor), number_text(connection.offset)
        add(element, "ssc:LinearTransformation", factor=factor, offset=offset)
