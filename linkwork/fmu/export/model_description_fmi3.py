"""The model description of FMI 3.0: variables are known by their value reference, their number in the document."""

from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement

from linkwork.fmu.export.content import Content, GroupTemplate, Place
from linkwork.fmu.export.dae_mode import MANIFEST
from linkwork.fmu.export.xml_parts import (
    TYPES_FMI3,
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
    """Return the text of `modelDescription.xml` of FMI 3.0, piece by piece."""
    root = Element("fmiModelDescription", root_attributes(content, "3.0", {"instantiationToken": token}))
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
        _add_co_simulation(root, abilities)
    add_units(root, content)
    if content.co_simulation:
        add_solvers(SubElement(SubElement(root, "TypeDefinitions"), "EnumerationType", name="Solver"))
    add_log_categories(root)
    add_experiment(root, content.experiment)
    yield head(root)
    yield "  <ModelVariables>\n"
    templates: dict[int, str] = {}
    nominals = content.nominal.by_unit()
    number = content.numbered()
    for row in content.all_rows:
        if id(row.form) not in templates:
            templates[id(row.form)] = _template(row.form, nominals)
        yield fill(templates[id(row.form)], row, [number[at] for at in row.offsets], content)
    if content.dae is not None:
        yield from content.dae.variables(number)
    yield "  </ModelVariables>\n  <ModelStructure>\n"
    yield from _unknowns("Output", content.outputs, content, number)
    yield from _unknowns("ContinuousStateDerivative", content.derivatives, content, number)
    yield from _initial_unknowns(content, number)
    yield from _unknowns("EventIndicator", content.event_indicators, content, number)
    yield "  </ModelStructure>\n</fmiModelDescription>\n"


def _add_co_simulation(root: Element, abilities: dict[str, str]) -> None:
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


def dae_manifest(content: Content) -> dict[str, bytes]:
    """Return the manifest of DAE mode by its path in the archive, if the FMU has it."""
    if content.dae is None:
        return {}
    number = content.numbered()
    others = [*_unknowns("Output", content.outputs, content, number), *_initial_unknowns(content, number)]
    return {MANIFEST: content.dae.manifest(others, number)}


def _template(form: GroupTemplate, nominals: Mapping[str, float]) -> str:
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
