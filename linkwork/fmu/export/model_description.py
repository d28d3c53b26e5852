"""The model description of a mechanism, in FMI 2.0 and 3.0.

FMI 2.0 knows variables by their position, from 1, FMI 3.0 by their value reference, their number in the document.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork._util.units import base_exponents, display_unit
from linkwork.fmu.export.content import Content, Entry, GroupTemplate, Place, VariableGroup
from linkwork.fmu.export.dae_mode import MANIFEST
from linkwork.fmu.export.settings import SOLVERS
from linkwork.variables.schema import Variable

VERSIONS = ("2.0", "3.0")
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


def model_description(content: Content, token: str, fmi: str) -> Iterator[bytes]:
    """Return the text of `modelDescription.xml`, piece by piece; value references are offsets in FMI 2.0."""
    root = Element("fmiModelDescription")
    about = f"The mechanism {content.name}: multibody dynamics with closed loops"
    set_attributes(root, fmi, content.name, token, about, content.tool)
    (_add_interfaces_fmi2 if fmi == "2.0" else _add_interfaces_fmi3)(root, content)
    add_units(root, content.units, displayed=True)
    if content.co_simulation:
        types = SubElement(root, "TypeDefinitions")
        if fmi == "2.0":
            items = SubElement(SubElement(types, "SimpleType", name="Solver"), "Enumeration")
        else:
            items = SubElement(types, "EnumerationType", name="Solver")
        for name, value, description in SOLVERS:
            SubElement(items, "Item", name=name, value=str(value), description=description)
    add_log_categories(root)
    given = content.experiment
    times = {"startTime": repr(given.start), "stopTime": repr(given.stop)}
    SubElement(root, "DefaultExperiment", times, tolerance=repr(given.tolerance), stepSize=repr(given.step))
    variables = _variables_fmi2(content) if fmi == "2.0" else _variables_fmi3(content)
    return in_chunks(chain([head(root)], variables, ["</fmiModelDescription>\n"]))


def set_attributes(root: Element, fmi: str, name: str, token: str, description: str, tool: str) -> None:
    """Set the attributes of `fmiModelDescription`."""
    root.attrib |= {
        "fmiVersion": fmi,
        "modelName": name,
        "guid" if fmi == "2.0" else "instantiationToken": token,
        "description": description,
        "generationTool": tool,
        "generationDateAndTime": DATE,
        "variableNamingConvention": "structured",
    }


def add_units(root: Element, names: Iterable[str], *, displayed: bool) -> None:
    """Append `UnitDefinitions`, with the display units where they are to be."""
    definitions = SubElement(root, "UnitDefinitions")
    for name in names:
        unit = SubElement(definitions, "Unit", name=name)
        SubElement(unit, "BaseUnit", {base: str(exponent) for base, exponent in base_exponents(name).items()})
        shown = display_unit(name) if displayed else None
        if shown is not None:
            SubElement(unit, "DisplayUnit", name=shown[0], factor=repr(shown[1]))


def boolean(value: bool) -> str:
    """Return a truth value as XML writes it."""
    return "true" if value else "false"


def add_log_categories(root: Element) -> None:
    """Append `LogCategories`."""
    categories = SubElement(root, "LogCategories")
    for name, description in _LOG_CATEGORIES.items():
        SubElement(categories, "Category", name=name, description=description)


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
    nominal = nominals.get(variable.unit) if variable.nominal is None else variable.nominal
    if nominal not in (None, 1.0):
        attributes["nominal"] = repr(nominal)
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


def _add_interfaces_fmi2(root: Element, content: Content) -> None:
    root.set("numberOfEventIndicators", str(len(content.indicators)))
    abilities = {
        "modelIdentifier": content.identifier,
        "canNotUseMemoryManagementFunctions": boolean(True),
        "canGetAndSetFMUstate": boolean(True),
        "canSerializeFMUstate": boolean(True),
        "providesDirectionalDerivative": boolean(True),
    }
    _add_sources(SubElement(root, "ModelExchange", abilities), content)
    if content.co_simulation:
        steps = {
            "canHandleVariableCommunicationStepSize": boolean(True),
            "canInterpolateInputs": boolean(True),
            "maxOutputDerivativeOrder": "1",
        }
        _add_sources(SubElement(root, "CoSimulation", abilities | steps), content)


def _variables_fmi2(content: Content) -> Iterator[str]:
    yield "  <ModelVariables>\n"
    # The independent variable is optional here, and not every importer expects it.
    rows = [row for row in content.rows if "independent" not in {entry.causality for entry in row.form.entries}]
    templates: dict[int, str] = {}
    nominals = content.nominal.by_unit()
    first: dict[int, int] = {}  # by row, the position of its first variable
    position = 1
    for row in rows:
        if id(row.form) not in templates:
            templates[id(row.form)] = _template_fmi2(row.form, nominals)
        yield fill(templates[id(row.form)], row, row.offsets, content, [position + i for i in row.form.states])
        first[id(row)] = position
        position += len(row.offsets)
    yield "  </ModelVariables>\n"
    yield from _structure_fmi2(content, rows, first)


def _add_sources(kind: Element, content: Content) -> None:
    if content.sources:
        listed = SubElement(kind, "SourceFiles")
        for name in content.sources:
            SubElement(listed, "File", name=name)


def _template_fmi2(form: GroupTemplate, nominals: Mapping[str, float]) -> str:
    """The variables of a form, in which everything of the entity is open."""
    placeholders, derivatives, lines = Placeholders(form), count(), []
    for i, entry in enumerate(form.entries):
        value = value_attributes(entry.variable, placeholders.start(i), nominals)
        if entry.variable.derivative_of is not None:
            value["derivative"] = placeholders.more(next(derivatives))
        inside = element(TYPES_FMI2[entry.variable.type], value)
        lines.append(f"    {element('ScalarVariable', describe(entry, placeholders.reference(i)), inside)}\n")
    return "".join(lines)


def _structure_fmi2(content: Content, rows: Iterable[VariableGroup], first: dict[int, int]) -> Iterator[str]:
    position = {
        row.offsets[i]: first[id(row)] + i for row in rows for i in {*row.form.knowns, *row.form.known_at_start}
    }
    yield "  <ModelStructure>\n"
    yield from _group("Outputs", unknowns(content.outputs, content, position), first)
    yield from _group("Derivatives", unknowns(content.derivatives, content, position), first)
    yield from _group("InitialUnknowns", initial_unknowns(content, position), first)
    yield "  </ModelStructure>\n"


def _group(name: str, members: Iterable[tuple[Place, str]], first: dict[int, int]) -> Iterator[str]:
    """Return a group of unknowns; there is no empty one."""
    lines = (f'      <Unknown index="{first[id(row)] + i}"{text} />\n' for (row, i), text in members)
    for line in lines:
        yield f"    <{name}>\n{line}"
        yield from lines
        yield f"    </{name}>\n"


def _add_interfaces_fmi3(root: Element, content: Content) -> None:
    abilities = {
        "modelIdentifier": content.identifier,
        "canGetAndSetFMUState": boolean(True),
        "canSerializeFMUState": boolean(True),
        "providesDirectionalDerivatives": boolean(True),
        "providesAdjointDerivatives": boolean(True),
        "providesPerElementDependencies": boolean(True),
    }
    SubElement(root, "ModelExchange", abilities, needsCompletedIntegratorStep=boolean(True))
    if content.co_simulation:
        SubElement(
            root,
            "CoSimulation",
            abilities,
            canHandleVariableCommunicationStepSize=boolean(True),
            hasEventMode=boolean(True),
            maxOutputDerivativeOrder="1",
            providesIntermediateUpdate=boolean(True),
            canReturnEarlyAfterIntermediateUpdate=boolean(True),
            mightReturnEarlyFromDoStep=boolean(True),
        )


def _variables_fmi3(content: Content) -> Iterator[str]:
    yield "  <ModelVariables>\n"
    templates: dict[int, str] = {}
    nominals = content.nominal.by_unit()
    number = content.numbered()
    for row in content.all_rows:
        if id(row.form) not in templates:
            templates[id(row.form)] = _template_fmi3(row.form, nominals)
        yield fill(templates[id(row.form)], row, [number[at] for at in row.offsets], content)
    if content.dae is not None:
        yield from content.dae.variables(number)
    yield "  </ModelVariables>\n  <ModelStructure>\n"
    yield from _unknowns("Output", content.outputs, content, number)
    yield from _unknowns("ContinuousStateDerivative", content.derivatives, content, number)
    yield from _initial_unknowns(content, number)
    yield from _unknowns("EventIndicator", content.event_indicators, content, number)
    yield "  </ModelStructure>\n"


def dae_manifest(content: Content) -> dict[str, bytes]:
    """Return the manifest of DAE mode by its path in the archive, if the FMU has it."""
    if content.dae is None:
        return {}
    number = content.numbered()
    others = [*_unknowns("Output", content.outputs, content, number), *_initial_unknowns(content, number)]
    return {MANIFEST: content.dae.manifest(others, number)}


def _template_fmi3(form: GroupTemplate, nominals: Mapping[str, float]) -> str:
    """The variables of a form, in which everything of the entity is open."""
    placeholders, states, lines = Placeholders(form), iter(form.states), []
    for i, entry in enumerate(form.entries):
        attributes = describe(entry, placeholders.reference(i)) | value_attributes(
            entry.variable, placeholders.start(i), nominals
        )
        if entry.variable.derivative_of is not None:
            attributes["derivative"] = placeholders.reference(next(states))
        if entry.variability == "continuous" and entry.causality != "independent":
            attributes["intermediateUpdate"] = boolean(True)
        size = element("Dimension", {"start": str(entry.count)}) if entry.count else ""
        lines.append(f"    {element(TYPES_FMI3[entry.variable.type], attributes, size)}\n")
    return "".join(lines)


def _unknowns(tag: str, places: Iterable[Place], content: Content, number: dict[int, int]) -> Iterator[str]:
    for (row, i), text in unknowns(places, content, number):
        yield _unknown(tag, number[row.offsets[i]], text)


def _initial_unknowns(content: Content, number: dict[int, int]) -> Iterator[str]:
    for (row, i), text in initial_unknowns(content, number):
        yield _unknown("InitialUnknown", number[row.offsets[i]], text)


def _unknown(tag: str, reference: int, dependencies: str) -> str:
    return f'    <{tag} valueReference="{reference}"{dependencies} />\n'
