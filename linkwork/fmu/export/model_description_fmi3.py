"""The model description of FMI 3.0: variables are known by their value reference."""

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, SubElement

from linkwork.fmu.export.content import Content, GroupTemplate, Place
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
    root_attributes,
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
    add_units(root, content)
    add_solvers(SubElement(SubElement(root, "TypeDefinitions"), "EnumerationType", name="Solver"))
    add_log_categories(root)
    add_experiment(root, content.experiment)
    yield head(root)
    yield "  <ModelVariables>\n"
    templates: dict[int, str] = {}
    for row in content.all_rows:
        if id(row.form) not in templates:
            templates[id(row.form)] = _template(row.form)
        yield fill(templates[id(row.form)], row, content)
    yield "  </ModelVariables>\n  <ModelStructure>\n"
    yield from _unknowns("Output", content.outputs)
    yield from _unknowns("ContinuousStateDerivative", content.derivatives)
    # Initialisation solves the loops from all start values: everything depends on everything.
    for row, i in content.initial_unknowns:
        yield f'    <InitialUnknown valueReference="{row.references[i]}" />\n'
    yield from _unknowns("EventIndicator", content.event_indicators)
    yield "  </ModelStructure>\n</fmiModelDescription>\n"


def _template(form: GroupTemplate) -> str:
    """The variables of a form, in which everything of the entity is open."""
    placeholders, states, lines = Placeholders(form), iter(form.states), []
    for i, entry in enumerate(form.entries):
        attributes = describe(entry, placeholders.reference(i)) | value_attributes(
            entry.variable, placeholders.start(i)
        )
        if entry.variable.derivative_of is not None:
            attributes["derivative"] = placeholders.reference(next(states))
        if entry.variability == "continuous" and entry.causality != "independent":
            attributes["intermediateUpdate"] = boolean(True)
        size = element("Dimension", {"start": str(entry.count)}) if entry.count else ""
        lines.append(f"    {element(TYPES_FMI3[entry.variable.type], attributes, size)}\n")
    return "".join(lines)


def _unknowns(tag: str, places: Iterable[Place]) -> Iterator[str]:
    last: list[int] | None = None
    text = ""
    for row, i in places:
        knowns = row.depends[i]
        if knowns is not last:  # neighbours mostly depend on the same
            last, text = knowns, "" if knowns is None else f' dependencies="{" ".join(map(str, knowns))}"'
        yield f'    <{tag} valueReference="{row.references[i]}"{text} />\n'
