"""The parts of a model description that both versions of the standard write alike."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork._util.units import base_exponents, display_unit
from linkwork.fmu.export.content import Content, Entry, Experiment, GroupTemplate, Place, VariableGroup
from linkwork.fmu.export.settings import SOLVERS
from linkwork.variables.schema import Variable

# Fixed, so that the same mechanism always gives the same bytes.
DATE = "1980-01-01T00:00:00Z"

# The elements of variables, by the type of these.
TYPES_FMI2 = {"real": "Real", "boolean": "Boolean", "integer": "Integer", "enumeration": "Enumeration"}
TYPES_FMI3 = {"real": "Float64", "boolean": "Boolean", "integer": "Int32", "enumeration": "Enumeration"}

WORDS = 3  # of an entity
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_WRITTEN: dict[str, Callable[[float], str]] = {
    "real": lambda value: repr(value) if math.isfinite(value) else "INF",
    "boolean": lambda value: boolean(value != 0.0),
    "integer": lambda value: str(int(value)),
    "enumeration": lambda value: str(int(value)),
}
_LOG_CATEGORIES = {
    "logEvents": "changes of mode, and events",
    "logStatusWarning": "warnings",
    "logStatusDiscard": "calls that cannot be answered here, but may be elsewhere",
    "logStatusError": "calls that are wrong",
    "logAll": "all of these",
}


def boolean(value: bool) -> str:
    """Return a truth value as XML writes it."""
    return "true" if value else "false"


def root_attributes(content: Content, version: str, token: dict[str, str]) -> dict[str, str]:
    """Return the attributes of `fmiModelDescription`; `token` has its value by the attribute's name."""
    return {
        "fmiVersion": version,
        "modelName": content.name,
        **token,
        "description": f"The mechanism {content.name}: multibody dynamics with closed loops",
        "generationTool": content.tool,
        "generationDateAndTime": DATE,
        "variableNamingConvention": "structured",
    }


def add_units(root: Element, content: Content) -> None:
    """Append `UnitDefinitions`."""
    definitions = SubElement(root, "UnitDefinitions")
    for name in content.units:
        unit = SubElement(definitions, "Unit", name=name)
        SubElement(unit, "BaseUnit", {base: str(exponent) for base, exponent in base_exponents(name).items()})
        shown = display_unit(name)
        if shown is not None:
            SubElement(unit, "DisplayUnit", name=shown[0], factor=repr(shown[1]))


def add_solvers(parent: Element) -> None:
    """Append the items of the enumeration of solvers."""
    for name, value, description in SOLVERS:
        SubElement(parent, "Item", name=name, value=str(value), description=description)


def add_log_categories(root: Element) -> None:
    """Append `LogCategories`."""
    categories = SubElement(root, "LogCategories")
    for name, description in _LOG_CATEGORIES.items():
        SubElement(categories, "Category", name=name, description=description)


def add_experiment(root: Element, experiment: Experiment) -> None:
    """Append `DefaultExperiment`."""
    SubElement(
        root,
        "DefaultExperiment",
        startTime=repr(experiment.start),
        stopTime=repr(experiment.stop),
        tolerance=repr(experiment.tolerance),
        stepSize=repr(experiment.step),
    )


def head(root: Element) -> str:
    """Return an element as text without its end, so that more can follow inside."""
    indent(root)
    text = tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text.removesuffix(f'</{root.tag}>')}"


def element(tag: str, attributes: dict[str, str], inside: str = "") -> str:
    """Return an element as text, in which marks such as {3} may still stand."""
    written = "".join(f' {name}="{value.translate(_ESCAPED)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written} />"


def describe(entry: Entry, reference: str) -> dict[str, str]:
    """Return the attributes of a variable that do not depend on its type."""
    variable = entry.variable
    attributes = {"name": variable.name, "valueReference": reference}
    if variable.description:
        attributes["description"] = variable.description
    attributes |= {"causality": entry.causality, "variability": entry.variability}
    if entry.initial is not None:
        attributes["initial"] = entry.initial
    return attributes


def value_attributes(variable: Variable, start: str | None, nominals: Mapping[str, float]) -> dict[str, str]:
    """Return the attributes of a variable that belong to its type; `nominals` has nominal values by unit."""
    attributes = _real_attributes(variable, nominals) if variable.type == "real" else {}
    if variable.type == "enumeration":
        attributes["declaredType"] = "Solver"
    return attributes if start is None else attributes | {"start": start}


def _real_attributes(variable: Variable, nominals: Mapping[str, float]) -> dict[str, str]:
    attributes = {"unit": variable.unit}
    shown = display_unit(variable.unit)
    if shown is not None:
        attributes["displayUnit"] = shown[0]
    for name, limit in (("min", variable.minimum), ("max", variable.maximum)):
        if limit is not None:
            attributes[name] = repr(float(limit))
    if variable.unit in nominals:
        attributes["nominal"] = repr(nominals[variable.unit])
    if variable.jumps:
        attributes["reinit"] = boolean(True)
    return attributes


class Placeholders:
    """Marks in the text of a form, for what `fill` puts in: words of the entity, references, start values, more."""

    def __init__(self, form: GroupTemplate) -> None:
        self._form = form
        self._first_start = WORDS + len(form.entries)
        self._first_more = self._first_start + len(form.with_start)
        self._starts = {entry: k for k, entry in enumerate(form.with_start)}

    def reference(self, i: int) -> str:
        """Of the value reference of an entry."""
        return f"{{{WORDS + i}}}"

    def start(self, i: int) -> str | None:
        """Of the start value of an entry, if it has one."""
        return f"{{{self._first_start + self._starts[i]}}}" if i in self._starts else None

    def more(self, k: int) -> str:
        """Of additional marks."""
        return f"{{{self._first_more + k}}}"


def fill(
    template: str, row: VariableGroup, references: Iterable[int], content: Content, more: Iterable[object] = ()
) -> str:
    """Return the text of a row whose entries have some value references."""
    labels = (label.translate(_ESCAPED) for label in row.labels)
    return template.format(*labels, *references, *_starts(row, content), *more)


def _starts(row: VariableGroup, content: Content) -> Sequence[object]:
    form = row.form
    if form.plain:
        values = content.plain_starts(row)
        return ["INF" if value == math.inf else value for value in values] if math.inf in values else values
    types = [form.entries[i].variable.type for i in form.with_start]
    return [" ".join(map(_WRITTEN[type], values)) for type, values in zip(types, content.starts(row), strict=True)]


def unknowns(places: Iterable[Place], content: Content, number: Mapping[int, int]) -> Iterator[tuple[Place, str]]:
    """Yield unknowns with their attribute of dependencies, in which variables are known by a number by offset."""
    on_all = _dependencies(content.everything, number) if content.lists_everything else ""
    last: list[int] | None = None
    text = on_all
    for row, i in places:
        knowns = row.depends[i]
        if knowns is not last:  # neighbours mostly depend on the same
            last, text = knowns, on_all if knowns is None else _dependencies(knowns, number)
        yield (row, i), text


def initial_unknowns(content: Content, number: Mapping[int, int]) -> Iterator[tuple[Place, str]]:
    """Yield the same at initialisation, which solves the loops from all start values."""
    texts: dict[int, str] = {}  # by the lists, of which there are two
    for row, i in content.initial_unknowns:
        knowns = content.at_start(row.form.entries[i])
        if id(knowns) not in texts:
            texts[id(knowns)] = _dependencies(knowns, number) if content.lists_everything else ""
        yield (row, i), texts[id(knowns)]


def _dependencies(offsets: Iterable[int], number: Mapping[int, int]) -> str:
    """Time, which is no variable in FMI 2.0, has no number there."""
    known = sorted(number[at] for at in offsets if at in number)
    return f' dependencies="{" ".join(map(str, known))}"'


def in_chunks(lines: Iterable[str]) -> Iterator[bytes]:
    """Return lines as few large pieces."""
    lines = iter(lines)
    while chunk := "".join(islice(lines, 4096)):
        yield chunk.encode()
