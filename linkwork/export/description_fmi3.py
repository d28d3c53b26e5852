"""The model description of FMI 3.0: variables are known by their value reference."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from linkwork.export.content import Content, Entry
from linkwork.export.xml_parts import (
    TYPES_FMI3,
    add_experiment,
    add_log_categories,
    add_units,
    boolean,
    describe,
    root_attributes,
    value_attributes,
)


def model_description(content: Content) -> Element:
    """Return the element `fmiModelDescription` of FMI 3.0."""
    root = Element("fmiModelDescription", root_attributes(content, "3.0", "instantiationToken"))
    abilities = {
        "modelIdentifier": content.identifier,
        "canGetAndSetFMUState": boolean(True),
        "canSerializeFMUState": boolean(True),
        "providesDirectionalDerivatives": boolean(True),
        "providesAdjointDerivatives": boolean(True),
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
        mightReturnEarlyFromDoStep=boolean(content.has_events),
    )
    add_units(root, content)
    add_log_categories(root)
    add_experiment(root, content.experiment)
    variables = SubElement(root, "ModelVariables")
    for entry in (*content.entries, *content.indicators):
        _add_variable(variables, entry, content)
    _add_structure(root, content)
    return root


def _reference(entry: Entry) -> str:
    return str(entry.variable.reference)


def _add_variable(parent: Element, entry: Entry, content: Content) -> None:
    attributes = describe(entry) | value_attributes(entry)
    if entry.variability == "continuous" and entry.causality != "independent":
        attributes["intermediateUpdate"] = boolean(True)
    if entry.variable.derivative_of is not None:
        attributes["derivative"] = _reference(content.by_name[entry.variable.derivative_of])
    SubElement(parent, TYPES_FMI3[entry.variable.type], attributes)


def _add_structure(root: Element, content: Content) -> None:
    structure = SubElement(root, "ModelStructure")
    for name, entries in (("Output", content.outputs), ("ContinuousStateDerivative", content.derivatives)):
        _add_unknowns(structure, name, entries, content)
    # Initialisation solves the loops from all start values: everything depends on everything.
    for entry in content.initial_unknowns:
        SubElement(structure, "InitialUnknown", valueReference=_reference(entry))
    _add_unknowns(structure, "EventIndicator", content.indicators, content)


def _add_unknowns(structure: Element, name: str, entries: Iterable[Entry], content: Content) -> None:
    for entry in entries:
        unknown = SubElement(structure, name, valueReference=_reference(entry))
        knowns = content.depends_on(entry)
        if knowns is not None:
            unknown.set("dependencies", " ".join(map(_reference, knowns)))
