"""Whether a system fits its FMUs: all errors are found before anything runs, and reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from linkwork.cosim.system.definition import Connection, Value
from linkwork.cosim.system.references import Reference
from linkwork.cosim.system.system import System
from linkwork.cosim.system.units import Unit, conversion
from linkwork.cosim.system.value_checks import count, misfit, why_not_exchanged
from linkwork.errors import CosimError, CosimNameError

if TYPE_CHECKING:
    from linkwork.cosim.fmu.model import FmuModel
    from linkwork.fmu.description import Variable

Models = Mapping[str, "FmuModel"]
SOURCES = ("output", "local", "parameter", "calculatedParameter", "structuralParameter")
FEW = 3  # names in a notice


class UnknownName(str):
    """The report of an unknown name, which decides the type of the error."""


def check_system(
    system: System,
    models: Models,  # the model description of each component's FMU, by the component's name
    *,
    # All values that a run sets, by ``component.variable``; None: check those of the components and all sets.
    values: Mapping[str, Value] | None = None,
    external: Iterable[str] = (),  # external inputs: ``component.variable``, or names in `System.external_inputs`
) -> list[str]:
    """Check a system against its FMUs.

    Returns
    -------
    list of str
        What a user should know, though nothing is wrong.

    Raises
    ------
    CosimError
        If something is wrong: all of it, a line each.
    """
    external = _external(system, external)
    models = configured(system, models, system.parameters() if values is None else values)
    errors = [
        *_clocks_of_time(system, models),
        *_wrong_connections(system, models),
        *_wrong_values(system, models, values),
        *_unconnected(system, models, external, values or {}),
        *_used_twice(system, models),
    ]
    if errors:
        listed = f" {errors[0]}" if len(errors) == 1 else "".join(f"\n- {error}" for error in errors)
        kind = CosimNameError if all(isinstance(one, UnknownName) for one in errors) else CosimError
        raise kind(f"the system {system.name!r} does not fit its FMUs:{listed}")
    return list(_notices(system, models, external, values or {}))


def converted(connection: Connection, source: Unit, target: Unit) -> tuple[float, float]:
    """Return factor and offset of a connection, conversion of units included.

    SSP converts first and transforms then.

    Raises
    ------
    CosimError
        If the units measure different quantities and are not to be left alone.

    >>> from linkwork.cosim.system.units import Unit
    >>> m, mm = Unit("m", (0, 1, 0, 0, 0, 0, 0, 0)), Unit("mm", (0, 1, 0, 0, 0, 0, 0, 0), 0.001)
    >>> converted(Connection("a.y", "b.x", factor=2.0, offset=1.0), m, mm)
    (2000.0, 1.0)
    """
    if not connection.convert_units:
        return connection.factor, connection.offset
    factor, offset = conversion(source, target)
    return connection.factor * factor, connection.factor * offset + connection.offset


# ---- connections


def _wrong_connections(system: System, models: Models) -> Iterator[str]:
    targets = Counter(one.target for one in system.connections)
    yield from (f"{name!r} has {n} connections; an input takes one" for name, n in targets.items() if n > 1)
    for one in system.connections:
        try:
            source, target = (_variable(end, models) for end in system.ends(one))
        except CosimError as problem:
            yield _reported(problem, f"{_text(one)}: ")
            continue
        yield from (f"{_text(one)}: {problem}" for problem in _misfits(one, source, target))
        yield from _unit_misfit(one, system, models)
    for one in system.external_inputs:
        yield from _wrong_end(one, one.target, ("input",), system, models)
    for one in system.external_outputs:
        yield from _wrong_end(one, one.source, SOURCES, system, models)


def _wrong_end(one: Connection, inner: str, wanted: tuple[str, ...], system: System, models: Models) -> Iterator[str]:
    try:
        causality = _variable(system.reference(inner), models).causality
    except CosimError as problem:
        yield _reported(problem, f"{_text(one)}: ")
        return
    if causality not in wanted:
        yield f"{_text(one)}: {inner!r} is of causality {causality}; choose one of {', '.join(wanted)}"


def _variable(reference: Reference, models: Models) -> Variable:
    try:
        return models[reference.component].variable(reference.variable)
    except CosimError as problem:
        raise type(problem)(f"{problem} (instance {reference.component!r})") from problem


def _misfits(one: Connection, source: Variable, target: Variable) -> Iterator[str]:
    if source.causality not in SOURCES:
        yield f"{one.source!r} is of causality {source.causality} and gives nothing; choose an output"
    if target.causality != "input":
        yield f"{one.target!r} is of causality {target.causality}, and only inputs can be set; {_instead(target)}"
    if source.value_type is None or target.value_type is None:
        wrong, name = (source, one.source) if source.value_type is None else (target, one.target)
        yield f"{name!r} {why_not_exchanged(wrong)}"
    elif not _types_fit(source, target):
        yield f"a {source.type} cannot be connected to a {target.type}; put an FMU between that converts it"
    elif not _map_fits(one, target):
        yield f"a {target.type} cannot be {one.factor:g} times another one plus {one.offset:g}; use whole numbers"
    if source.size != target.size:
        yield f"{one.source!r} has {count(source.size)} and {one.target!r} {count(target.size)}; sizes must agree"


def _instead(target: Variable) -> str:
    return "set it as a parameter" if "arameter" in target.causality else "choose an input"


def _types_fit(source: Variable, target: Variable) -> bool:
    """Integers may be connected to reals; Booleans, texts and the rest do not mix."""
    if "Boolean" in (source.type, target.type):
        return source.type == target.type
    return source.value_type == target.value_type or (source.value_type, target.value_type) == ("whole", "real")


def _map_fits(one: Connection, target: Variable) -> bool:
    if (one.factor, one.offset) == (1.0, 0.0) or target.value_type == "real":
        return True
    whole = float(one.factor).is_integer() and float(one.offset).is_integer()
    return target.value_type == "whole" and target.type != "Boolean" and whole


def _unit_misfit(one: Connection, system: System, models: Models) -> Iterator[str]:
    ends = system.ends(one)
    units = [models[end.component].unit(end.variable) for end in ends]
    try:
        converted(one, units[0], units[1])
    except CosimError as problem:
        places = [f"{end.variable!r} of instance {end.component!r} ({models[end.component].path.name})" for end in ends]
        yield (
            f"{_text(one)}: the units of {places[0]} and {places[1]} do not fit: {problem}; "
            "connect it with convert_units=False if that is meant"
        )


def _text(one: Connection) -> str:
    return f"{one.source} -> {one.target}"


# ---- values


def _wrong_values(system: System, models: Models, values: Mapping[str, Value] | None) -> Iterator[str]:
    if values is not None:
        yield from _wrong_set(values, system, models)
        return
    for component in system.components.values():
        model = models[component.name]
        for name, value in component.parameters.items():
            if name not in model.variables:
                yield _unknown(model, name, f"parameters of {component.name!r}: ")
            else:
                yield from misfit(component.name, value, model.variables[name], model.path.name)
    for name, chosen in system.parameter_sets.items():
        yield from (f"parameter set {name!r}: {error}" for error in _wrong_set(chosen, system, models))


def _wrong_set(values: Mapping[str, Value], system: System, models: Models) -> Iterator[str]:
    models = configured(system, models, values)
    for text, value in values.items():
        try:
            reference = system.reference(text)
            variable = _variable(reference, models)
        except CosimError as problem:
            yield _reported(problem)
            continue
        component = reference.component
        yield from misfit(component, value, variable, models[component].path.name)


def _unknown(model: FmuModel, name: str, begin: str) -> str:
    try:
        model.variable(name)
    except CosimError as problem:
        return _reported(problem, begin)
    raise AssertionError(name)


def _reported(problem: CosimError, begin: str = "") -> str:
    """Return the text of an error, and keep whether it is about an unknown name."""
    text = f"{begin}{problem}"
    return UnknownName(text) if isinstance(problem, CosimNameError) else text


# ---- the system as a whole


def configured(system: System, models: Models, values: Mapping[str, Value]) -> dict[str, FmuModel]:
    """Return the FMUs of the components with the sizes that structural parameters give to their arrays.

    `values` are those of variables, by ``component.variable``; wrong names are ignored here.
    """
    own: dict[str, dict[str, Value]] = {}
    for text, value in values.items():
        try:
            reference = system.reference(text)
        except CosimError:
            continue
        own.setdefault(reference.component, {})[reference.variable] = value
    return {name: model.configured(own.get(name, {})) for name, model in models.items()}


def _clocks_of_time(system: System, models: Models) -> Iterator[str]:
    """Clocks that an importer has to activate at times that the FMU determines; without Event Mode none can."""
    for name in system.components:
        model = models[name]
        if model.interface == "CS" and not model.abilities.event_mode:
            continue
        for one in model.clocks():
            interval = one.attribute("intervalVariability")
            if one.causality == "input" and interval != "triggered":
                yield (
                    f"FMU {model.path.name} (instance {name!r}): the importer has to activate its clock {one.name!r} "
                    f"at times that the FMU determines (intervalVariability {interval or 'unknown'!r}), which a "
                    "run does not; export it without clocks, so that it samples on its own"
                )


def _external(system: System, more: Iterable[str]) -> set[str]:
    more = set(more)
    through = {one.target for one in system.external_inputs if one.source in more}
    return {one.target for one in system.connections} | more | through


def _unconnected(system: System, models: Models, external: set[str], values: Mapping[str, Value]) -> Iterator[str]:
    for component in system.components.values():
        model = models[component.name]
        for name in component.required:
            if name not in model.variables:
                yield _unknown(model, name, f"required inputs of {component.name!r}: ")
            elif (reference := f"{component.name}.{name}") not in external:
                yield f"the input {reference!r} is required and not connected; connect it or give it as an input"
        for one in model.of_causality("input"):
            given = one.start is not None or one.name in component.parameters or one.name in component.required
            if not given and (reference := f"{component.name}.{one.name}") not in external and reference not in values:
                yield (
                    f"the input {reference!r} has no start value in {model.path.name} and is not connected; "
                    "connect it or give it a value"
                )


def _used_twice(system: System, models: Models) -> Iterator[str]:
    """FMUs that may be instantiated once in a process only."""
    users: dict[tuple[str, str | None], list[str]] = {}
    for name in system.components:
        model = models[name]
        if model.abilities.only_once:
            library = model.description.identifier(model.interface), model.description.token
            users.setdefault(library, []).append(name)
    for names in users.values():
        if len(names) > 1:
            fmu = models[names[0]].path.name
            yield f"the FMU {fmu} can be instantiated only once in a process, and {', '.join(names)} are of it"


def _notices(system: System, models: Models, external: set[str], values: Mapping[str, Value]) -> Iterator[str]:
    given = {*external, *(system.reference(text) for text in values)}
    for component in system.components.values():
        model = models[component.name]
        if clocks := model.clocks():
            rest = f" and {len(clocks) - FEW} more" if len(clocks) > FEW else ""
            listed = ", ".join(one.name for one in clocks[:FEW])
            yield (
                f"clocks of {component.name!r} are not activated: {listed}{rest}; what belongs to them is not "
                "computed, connected or recorded"
            )
        resized = [one.name for one in model.of_causality("parameter") if one.dimensions and one.start is None]
        if void := [name for name in resized if f"{component.name}.{name}" not in given]:
            yield f"structural parameters of {component.name!r} change the size of {', '.join(void)}: give the values"
        if model.abilities.needs_tool:
            yield f"the FMU {model.path.name} of {component.name!r} needs the tool that exported it"
        inputs = [one.name for one in model.of_causality("input")]
        unconnected = [name for name in inputs if f"{component.name}.{name}" not in external]
        if len(system.components) == 1 and len(unconnected) == len(inputs):
            continue  # it is looked at by itself
        held = [n for n in unconnected if n not in component.parameters and f"{component.name}.{n}" not in given]
        if held:
            rest = f" and {len(held) - FEW} more" if len(held) > FEW else ""
            yield f"inputs of {component.name!r} held at their start values: {', '.join(held[:FEW])}{rest}"
