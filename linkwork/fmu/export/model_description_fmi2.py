"""The model description of FMI 2.0: variables are known by their position, from 1."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from xml.etree.ElementTree import Element, SubElement

from linkwork.fmu.export.content import Content, GroupTemplate, Place, VariableGroup
from linkwork.fmu.export.xml_parts import (
    TYPES_FMI2,
    Placeholders,
    add_experiment,
    add_log_categories,
    add_solvers,
    add_units,
    boolean,
    describe,
    element,
    fill,
    head,
    initial_unknowns,
    root_attributes,
    unknowns,
    value_attributes,
)


def model_description(content: Content, token: str) -> Iterator[str]:
    """Return the text of `modelDescription.xml` of FMI 2.0, piece by piece; value references are offsets."""
    root = Element("fmiModelDescription", root_attributes(content, "2.0", {"guid": token}))
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
    add_units(root, content)
    if content.co_simulation:
        solver = SubElement(SubElement(root, "TypeDefinitions"), "SimpleType", name="Solver")
        add_solvers(SubElement(solver, "Enumeration"))
    add_log_categories(root)
    add_experiment(root, content.experiment)
    yield head(root)
    yield "  <ModelVariables>\n"
    # The independent variable is optional here, and not every importer expects it.
    rows = [row for row in content.rows if "independent" not in {entry.causality for entry in row.form.entries}]
    templates: dict[int, str] = {}
    nominals = content.nominal.by_unit()
    first: dict[int, int] = {}  # by row, the position of its first variable
    position = 1
    for row in rows:
        if id(row.form) not in templates:
            templates[id(row.form)] = _template(row.form, nominals)
        yield fill(templates[id(row.form)], row, row.offsets, content, [position + i for i in row.form.states])
        first[id(row)] = position
        position += len(row.offsets)
    yield "  </ModelVariables>\n"
    yield from _structure(content, rows, first)
    yield "</fmiModelDescription>\n"


def _add_sources(kind: Element, content: Content) -> None:
    if content.sources:
        listed = SubElement(kind, "SourceFiles")
        for name in content.sources:
            SubElement(listed, "File", name=name)


def _template(form: GroupTemplate, nominals: Mapping[str, float]) -> str:
    """The variables of a form, in which everything of the entity is open."""
    placeholders, derivatives, lines = Placeholders(form), count(), []
    for i, entry in enumerate(form.entries):
        value = value_attributes(entry.variable, placeholders.start(i), nominals)
        if entry.variable.derivative_of is not None:
            value["derivative"] = placeholders.more(next(derivatives))
        inside = element(TYPES_FMI2[entry.variable.type], value)
        lines.append(f"    {element('ScalarVariable', describe(entry, placeholders.reference(i)), inside)}\n")
    return "".join(lines)


def _structure(content: Content, rows: Iterable[VariableGroup], first: dict[int, int]) -> Iterator[str]:
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
