"""Write a system as an archive of SSP 1.0 or 2.0, with what OMSimulator needs to compute the same numbers.

OMSimulator opens a system only if the first annotation of the system is of its own type and has simulation information,
refuses annotations of components, and has two readers. The Python reader takes the attributes of the simulation
information, and the one in C++ takes its element FixedStepMaster. Both multiply by the ratio of the units' factors and
ignore the offsets of units. The Python reader does so by the units of the FMUs and in spite of
``suppressUnitConversion``, the other one by the units of connectors and without linear transformations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from linkwork._util.files import with_suffix, write_archive
from linkwork._util.names import quoted
from linkwork.cosim.fmu.model import FmuModel, read_model, usual_step
from linkwork.cosim.ssp.document import STRUCTURE
from linkwork.cosim.ssp.elements import TYPES, VERSIONS, Element, add, annotation, new, to_bytes
from linkwork.cosim.ssp.tables import Tables
from linkwork.cosim.ssp.values import LARGEST, number_text, parameter_set
from linkwork.cosim.system.definition import Component, Connection, SystemDefinition, Value
from linkwork.cosim.system.references import Reference
from linkwork.cosim.system.units import Unit, conversion
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, Variable

FMU = "application/x-fmu-sharedlibrary"  # the default type, which OMSimulator wants to see
KINDS = {
    "1.0": {"input": "input", "parameter": "parameter", "structuralParameter": "parameter"},
    "2.0": {kind: kind for kind in ("input", "parameter", "structuralParameter", "calculatedParameter", "local")},
}
TYPED = ("Real", "Float64", "Integer", "Int32", "Boolean", "String", "Enumeration")  # by SSP 1.0
TOLERANCE = 1e-6


def write_ssp(
    system: SystemDefinition,
    path: Path,
    # Of SSP; None: 2.0 where variables are of types or arrays that 1.0 does not know, else 1.0.
    version: str | None = None,
    # The communication step for OMSimulator [s]; None: that of a run whose master is not given.
    step: float | None = None,
) -> Path:
    """Write a system with its FMUs; the same system gives the same bytes."""
    if version is not None and version not in VERSIONS:
        raise CosimError(f"there is no version {version!r} of SSP here; choose one of {quoted(VERSIONS)}")
    if step is not None and not (isinstance(step, (int, float)) and math.isfinite(step) and step > 0):
        raise CosimError(f"the step must be a positive time, not {step!r} s")
    with_suffix(path, ".ssp", "a system", CosimError)
    sources = _sources(system)
    models = {fmu: read_model(fmu) for fmu in sources}
    of = {name: models[one.fmu.resolve()].configured(one.parameters) for name, one in system.components.items()}
    used = dict(_used(system, of))
    content = Content(system, of, version or _version(used.values()), step, used)
    files: dict[str, bytes | Path] = {}
    try:
        files[STRUCTURE] = to_bytes(_structure(content, sources))
        for name, values in system.parameter_sets.items():
            files[_free(name, ".ssv", files)] = to_bytes(parameter_set(name, values, content.version, content.used))
    except ValueError as problem:  # of lxml
        raise CosimError(f"a name or text of {system!r} has a character that XML cannot hold: {problem}") from problem
    files |= {source: fmu for fmu, source in sources.items()}
    write_archive(path, files, CosimError)
    return path


@dataclass(frozen=True)
class Content:
    """A system to be written; `used` are the variables that occur in it, by reference."""

    system: SystemDefinition
    models: dict[str, FmuModel]
    version: str
    step: float | None
    used: dict[str, Variable]


def _used(system: SystemDefinition, models: dict[str, FmuModel]) -> Iterator[tuple[str, Variable]]:
    names = [end for one in system.connections for end in (one.source, one.target)]
    names += [one.target for one in system.external_inputs] + [one.source for one in system.external_outputs]
    names += [Reference(one.name, name) for one in system.components.values() for name in one.required]
    names += [Reference(one.name, name) for one in system.components.values() for name in one.parameters]
    names += [name for values in system.parameter_sets.values() for name in values]
    for name in dict.fromkeys(names):
        try:
            reference = system.reference(name)
        except CosimError:  # a run with that parameter set reports it
            continue
        variable = models[reference.component].variables.get(reference.variable)
        if variable is not None:
            yield name, variable


def _version(variables: Iterable[Variable]) -> str:
    """The version that knows the types of variables."""
    for one in variables:
        if one.type not in TYPED or one.dimensions or any(abs(value) >= LARGEST for _, value in one.items):
            return "2.0"
    return "1.0"


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


def _structure(content: Content, sources: dict[Path, str]) -> Element:
    system = content.system
    tables = Tables()
    root = new(
        "ssd:SystemStructureDescription",
        version=content.version,
        name=system.name,
        description=system.description or None,
    )
    top = add(root, "ssd:System", name=identifier(system.name))
    written = [_written(one, content) for one in system.connections]
    no_unit = {one.target for one, its in zip(system.connections, written, strict=True) if not its.has_unit}
    _external(top, content, tables)
    elements = add(top, "ssd:Elements") if system.components else None
    for component in system.components.values():
        source = sources[component.fmu.resolve()]
        by = "CoSimulation" if content.models[component.name].interface == "CS" else "ModelExchange"
        element = add(elements, "ssd:Component", name=component.name, type=FMU, source=source, implementation=by)
        _component(element, component, content, tables, no_unit)
    _connections(top, system, written)
    _annotations(top, content)
    tables.write(root)
    begin, end = number_text(system.experiment.t_start), number_text(system.experiment.t_end)
    add(root, "ssd:DefaultExperiment", startTime=begin, stopTime=end)
    return root


def _annotations(top: Element, content: Content) -> None:
    """Annotations of the system: that of OMSimulator, which has to be the first one, and required inputs."""
    length = content.system.experiment.t_end - content.system.experiment.t_start
    usual = usual_step(content.models.values(), length if 0 < length < math.inf else 1.0)
    given = (one.description.experiment["tolerance"] for one in content.models.values())
    tolerances = [one for one in given if one and one > 0]
    simulation_information(top, float(content.step or usual), min(tolerances, default=TOLERANCE))
    required = [(one.name, name) for one in content.system.components.values() for name in one.required]
    ours = annotation(top, "linkwork:RequiredInputs") if required else None
    for component, name in required:
        add(ours, "linkwork:Required", component=component, name=name)


def _external(top: Element, content: Content, tables: Tables) -> None:
    """The connectors of the system itself, each of the type of the first variable that it is connected to."""
    system = content.system
    inner = {one.source: ("input", one.target) for one in reversed(system.external_inputs)}
    inner |= {one.target: ("output", one.source) for one in system.external_outputs}
    connectors = add(top, "ssd:Connectors") if inner else None
    for name, (kind, text) in inner.items():
        place = system.reference(text)
        model = content.models[place.component]
        connector = add(connectors, "ssd:Connector", name=name, kind=kind)
        _type(connector, model.variable(place.variable), model, tables, content.version)


def _component(element: Element, component: Component, content: Content, tables: Tables, no_unit: set[str]) -> None:
    model = content.models[component.name]
    names = [*_connected(component.name, content.system), *component.required]
    connectors = add(element, "ssd:Connectors") if names else None
    for name in dict.fromkeys(names):
        variable = model.variable(name)
        kind = KINDS[content.version].get(variable.causality, "output")
        connector = add(connectors, "ssd:Connector", name=name, kind=kind)
        has_unit = f"{component.name}.{name}" not in no_unit
        _type(connector, variable, model, tables, content.version, has_unit=has_unit)
    if component.parameters:
        binding = add(add(element, "ssd:ParameterBindings"), "ssd:ParameterBinding")
        variables = {name: model.variable(name) for name in component.parameters}
        values = {name: _of_type(value, variables[name]) for name, value in component.parameters.items()}
        inline = parameter_set(component.name, values, content.version, variables)
        add(binding, "ssd:ParameterValues").append(inline)


def _connected(component: str, system: SystemDefinition) -> Iterable[str]:
    references = [end for one in system.connections for end in (one.source, one.target)]
    references += [one.target for one in system.external_inputs] + [one.source for one in system.external_outputs]
    for reference in map(system.reference, references):
        if reference.component == component:
            yield reference.variable


def _type(
    connector: Element, variable: Variable, model: FmuModel, tables: Tables, version: str, *, has_unit: bool = True
) -> None:
    """Type, unit and dimensions of a connector; SSP 1.0 has none for arrays, where the FMU has the information."""
    if version == "1.0" and variable.dimensions:
        return
    unit = tables.name_unit(model.unit(variable.name)) if has_unit and variable.value_type == REAL else None
    if variable.items:
        name = tables.name_enumeration(variable.given["declaredType"], dict(variable.items))
        add(connector, "ssc:Enumeration", name=name)
    elif version == "2.0" and variable.type in TYPES and variable.type != "Enumeration":
        add(connector, f"ssc:{variable.type}", unit=unit)
    elif variable.value_type == REAL:
        add(connector, "ssc:Real", unit=unit)
    elif variable.type in ("Boolean", "String"):
        add(connector, f"ssc:{variable.type}")
    elif variable.value_type is not None:
        add(connector, "ssc:Integer")
    for size in variable.dimensions:
        add(connector, "ssc:Dimension", size=str(size))


def _of_type(value: Value, variable: Variable) -> Value:
    """A value as the variable has it, where that is the same: 900 of a real is 900.0."""
    if isinstance(value, (int, float)):
        if variable.value_type == REAL and not isinstance(value, bool) and float(value) == value:
            return float(value)
        if variable.type == "Boolean" and value in (0, 1):
            return bool(value)
    return value


def _written(connection: Connection, content: Content) -> Written:
    ends = content.system.ends(connection)
    source, target = (content.models[end.component].unit(end.variable) for end in ends)
    return written(connection, source, target)


def _connections(top: Element, system: SystemDefinition, written: list[Written]) -> None:
    outside = [*system.external_inputs, *system.external_outputs]
    parent = add(top, "ssd:Connections") if system.connections or outside else None
    for connection, its in zip(system.connections, written, strict=True):
        source, target = system.ends(connection)
        element = _connection(parent, source.parts, target.parts, its.factor, its.offset, its.convert)
        if its.convert != connection.convert_units:
            ours = annotation(element, "linkwork:EquivalentConnection")
            for name, value in (("factor", connection.factor), ("offset", connection.offset)):
                ours.set(name, number_text(value))
            for name, value in (("writtenFactor", its.factor), ("writtenOffset", its.offset)):
                ours.set(name, number_text(value))
            ours.set("convertUnits", str(connection.convert_units).lower())
    for one in system.external_inputs:
        end = system.reference(one.target).parts
        _connection(parent, (None, one.source), end, one.factor, one.offset, one.convert_units)
    for one in system.external_outputs:
        start = system.reference(one.source).parts
        _connection(parent, start, (None, one.target), one.factor, one.offset, one.convert_units)


def _connection(
    parent: Element,
    start: tuple[str | None, str],
    end: tuple[str | None, str],
    factor: float,
    offset: float,
    convert: bool,
) -> Element:
    element = add(
        parent,
        "ssd:Connection",
        startElement=start[0],
        startConnector=start[1],
        endElement=end[0],
        endConnector=end[1],
        suppressUnitConversion=None if convert else "true",
    )
    if (factor, offset) != (1.0, 0.0):
        add(element, "ssc:LinearTransformation", factor=number_text(factor), offset=number_text(offset))
    return element


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
