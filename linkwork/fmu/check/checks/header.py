"""The elements above the variables: identifiers, token, date, default experiment, order of elements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error, note, warning

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_GUID = re.compile(r"\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?")

_BEFORE = ("ModelExchange", "CoSimulation", "ScheduledExecution", "UnitDefinitions", "TypeDefinitions")
_AFTER = ("ModelVariables", "ModelStructure", "Annotations")
_ORDER2 = (*_BEFORE, "LogCategories", "DefaultExperiment", "VendorAnnotations", *_AFTER)
_ORDER3 = (*_BEFORE, "LogCategories", "DefaultExperiment", *_AFTER)
_STRUCTURE2 = ("Outputs", "Derivatives", "DiscreteStates", "InitialUnknowns")
_STRUCTURE3 = ("Output", "ContinuousStateDerivative", "ClockedState", "InitialUnknown", "EventIndicator")


@check("header", "version, name, token, identifiers and date are as the standard writes them")
def header(fmu: Fmu) -> Iterator[Finding]:
    """Look at the attributes of the root and of the interfaces."""
    one, root = fmu.description, fmu.root
    if not (one.version == "2.0" or one.fmi3):
        yield error(f"fmiVersion is {one.version!r}; these checks know 2.0 and 3.0")
    if not root.get("modelName"):
        yield error("modelName is missing or empty; give the model a name")
    name = "guid" if one.fmi2 else "instantiationToken"
    if not one.token:
        yield error(
            f"{name} is missing or empty; without it no importer can decide whether library and XML belong together"
        )
    elif one.fmi2 and not _GUID.fullmatch(one.token):
        yield note(f"guid {one.token!r} does not look like a GUID; some importers expect {{8-4-4-4-12}} digits")
    date = root.get("generationDateAndTime")
    if date is not None and not _DATE.fullmatch(date):
        yield error(f"generationDateAndTime {date!r} is no time in UTC; write it as 2030-01-31T12:00:00Z")
    if not one.kinds:
        yield error("there is neither ModelExchange nor CoSimulation nor ScheduledExecution; declare one")
    for element in one.kinds.values():
        identifier = element.get("modelIdentifier", "")
        if not _IDENTIFIER.fullmatch(identifier):
            yield error(
                f"modelIdentifier {identifier!r} of {element.tag} is no identifier of C; use letters, digits, '_'"
            )


@check("experiment", "the default experiment can be run: times in order, tolerance and step above zero")
def experiment(fmu: Fmu) -> Iterator[Finding]:
    """Look at DefaultExperiment."""
    element = fmu.root.find("DefaultExperiment")
    if element is None:
        yield note("there is no DefaultExperiment; give stop time, step and tolerance with which the FMU runs well")
        return
    numbers = fmu.description.experiment
    for name, value in numbers.items():
        if element.get(name) is not None and (value is None or not math.isfinite(value)):
            yield error(f"{name} of DefaultExperiment is {element.get(name)!r}, not a finite number")
        elif value is not None and value <= 0 and name in ("tolerance", "stepSize"):
            yield error(f"{name} of DefaultExperiment is {value:g}; it must be above zero")
    start, stop = numbers["startTime"] or 0.0, numbers["stopTime"]
    if stop is not None and stop < start:
        yield error(f"stopTime {stop:g} of DefaultExperiment lies before startTime {start:g}")


@check("order", "elements are in the order of the schema, unknowns in that of the variables")
def order(fmu: Fmu) -> Iterator[Finding]:
    """Look at the order of elements."""
    fmi2 = fmu.description.fmi2
    yield from _order("fmiModelDescription", [one.tag for one in fmu.root], _ORDER2 if fmi2 else _ORDER3)
    structure = fmu.root.find("ModelStructure")
    if structure is None:
        yield error("there is no ModelStructure; name outputs, derivatives and initial unknowns there")
        return
    yield from _order("ModelStructure", [one.tag for one in structure], _STRUCTURE2 if fmi2 else _STRUCTURE3)
    if fmi2:
        positions = [one.variable.position for one in fmu.description.unknowns("initial") if one.variable]
        if positions != sorted(positions):
            yield error("the entries of InitialUnknowns are not in the order of the variables; sort them by index")


def _order(parent: str, tags: list[str], known: tuple[str, ...]) -> Iterator[Finding]:
    last = -1
    for tag in tags:
        if tag not in known:
            yield warning(f"{parent} has the element {tag}, which the standard does not know there")
            continue
        if known.index(tag) < last:
            yield error(f"{tag} comes too late in {parent}; the order is {', '.join(known)}")
        last = max(last, known.index(tag))
