"""ModelStructure: the unknowns it must name, and their dependencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error, warning
from linkwork.fmu.description import REALS, Description, Unknown, Variable

_KINDS = ("dependent", "constant", "fixed", "tunable", "discrete")
_LIST = {
    "output": "outputs",
    "derivative": "derivatives of states",
    "initial": "initial unknowns",
    "indicator": "event indicators",
    "clocked": "clocked states",
}


@check("structure", "ModelStructure names exactly the outputs, derivatives, initial unknowns and event indicators")
def structure(fmu: Fmu) -> Iterator[Finding]:
    """Compare the lists with the variables."""
    one = fmu.description
    for unknown in one.structure:
        if unknown.variable is None:
            yield error(f"the {_LIST[unknown.kind]} name {unknown.reference!r}, which is no variable")
    for kind, said in _LIST.items():
        named = [unknown.variable for unknown in one.unknowns(kind) if unknown.variable]
        for variable, times in Counter(named).items():
            if times > 1:
                yield error(f"the {said} name {variable.name} {times} times; name it once")
    yield from _compare(one, "output", [v for v in one.variables if v.causality == "output"])
    yield from _compare(one, "initial", _initial_unknowns(one))
    yield from _derivatives(one)
    yield from _indicators(fmu)


def _compare(one: Description, kind: str, expected: Iterable[Variable]) -> Iterator[Finding]:
    wanted = {id(variable): variable for variable in expected}
    named = {id(entry.variable): entry.variable for entry in one.unknowns(kind) if entry.variable}
    for key, variable in wanted.items():
        if key not in named and not (one.fmi2 and _alias_named(variable, named.values())):
            yield error(f"{variable.name} is missing among the {_LIST[kind]} of ModelStructure; add it")
    for key, variable in named.items():
        if key not in wanted:
            yield error(f"{variable.name} stands among the {_LIST[kind]} of ModelStructure, but is none; drop it")


def _alias_named(variable: Variable, named: Iterable[Variable]) -> bool:
    return variable.causality != "output" and any(
        one.reference == variable.reference and one.type == variable.type for one in named
    )


def _initial_unknowns(one: Description) -> Iterator[Variable]:
    derivatives = [entry.variable for entry in one.unknowns("derivative") if entry.variable]
    dynamic = {id(variable) for variable in (*derivatives, *one.states)}
    for variable in one.variables:
        open_ = variable.initial in ("approx", "calculated")
        if variable.given.get("clocks") is not None:
            continue
        if variable.causality == "calculatedParameter" or (
            open_ and (variable.causality == "output" or id(variable) in dynamic)
        ):
            yield variable


def _derivatives(one: Description) -> Iterator[Finding]:
    named = {id(entry.variable) for entry in one.unknowns("derivative")}
    for entry in one.unknowns("derivative"):
        if entry.variable and entry.variable.given.get("derivative") is None:
            yield error(f"{entry.name} stands among the derivatives but has no attribute derivative; name its state")
    if "ME" not in one.kinds:
        return
    for variable in one.variables:
        if variable.given.get("derivative") is not None and id(variable) not in named:
            state = one.find(variable.given["derivative"])
            if state is not None and state.causality != "input":
                yield warning(f"{variable.name} has the attribute derivative but is not among the derivatives; add it")


def _indicators(fmu: Fmu) -> Iterator[Finding]:
    one, given = fmu.description, fmu.root.get("numberOfEventIndicators")
    if one.fmi2 and "ME" in one.kinds and given is None:
        yield warning("numberOfEventIndicators is missing; write 0 if there are none")
    if one.fmi2 and given is not None and not given.isdigit():
        yield error(f"numberOfEventIndicators is {given!r}; give a number")
    for entry in one.unknowns("indicator"):
        if entry.variable and (entry.variable.type not in REALS or entry.variable.variability != "continuous"):
            yield error(f"the event indicator {entry.name} is no continuous real")


@check("known", "declared dependencies name what an unknown may depend on, with as many kinds")
def known(fmu: Fmu) -> Iterator[Finding]:
    """Look at dependencies and dependenciesKind."""
    one = fmu.description
    states = {id(state) for state in one.states}
    for entry in one.structure:
        where = f"{entry.name} among the {_LIST[entry.kind]}"
        if entry.kinds is not None:
            yield from _kinds(entry, where)
        repeated = [text for text, times in Counter(entry.dependencies or ()).items() if times > 1]
        if repeated:
            yield error(f"{where} depends twice on {', '.join(repeated)}; name it once")
        for text, variable in zip(entry.dependencies or (), entry.knowns, strict=True):
            if variable is None:
                yield error(f"{where} depends on {text!r}, which is no variable")
            elif not (_known_at_start(variable) if entry.kind == "initial" else _known_later(variable, states, one)):
                wanted = "start values" if entry.kind == "initial" else "states, inputs and the independent variable"
                level = warning if variable.causality == "parameter" else error  # which does no harm where it is fixed
                yield level(f"{where} depends on {variable.name}, which is {variable.causality}; name {wanted}")


def _kinds(entry: Unknown, where: str) -> Iterator[Finding]:
    kinds = entry.kinds or []
    if entry.dependencies is None:
        yield error(f"{where} has dependenciesKind without dependencies; give both")
    elif len(kinds) != len(entry.dependencies):
        yield error(f"{where} has {len(entry.dependencies)} dependencies and {len(kinds)} kinds; give one for each")
    for kind in kinds:
        if kind not in _KINDS or (entry.kind == "initial" and kind not in ("dependent", "constant")):
            yield error(f"{where} has a dependency of the kind {kind!r}, which does not exist there")


def _known_at_start(variable: Variable) -> bool:
    return variable.initial == "exact" or variable.causality in ("input", "independent", "structuralParameter")


def _known_later(variable: Variable, states: set[int], one: Description) -> bool:
    if variable.causality in ("input", "independent") or id(variable) in states:
        return True
    # FMI 3.0 lets discrete states, clocks, and parameters that may change count as known.
    tunable = variable.causality in ("parameter", "structuralParameter") and variable.variability == "tunable"
    discrete = variable.variability == "discrete" and variable.causality in ("local", "output")
    return discrete or (one.fmi3 and (tunable or variable.type == "Clock"))
