"""The model description of FMI 2.0: variables are known by their position, from 1."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from linkwork.export.content import Content, Entry
from linkwork.export.xml_parts import (
    TYPES_FMI2,
    add_experiment,
    add_log_categories,
    add_units,
    boolean,
    describe,
    root_attributes,
    value_attributes,
)


def model_description(content: Content) -> Element:
    """Return the element `fmiModelDescription` of FMI 2.0."""
    root = Element("fmiModelDescription", root_attributes(content, "2.0", "guid"))
    root.set("numberOfEventIndicators", str(len(content.indicators)))
    abilities = {
        "modelIdentifier": content.identifier,
        "canNotUseMemoryManagementFunctions": boolean(True),
        "canGetAndSetFMUstate": boolean(True),
        "canSerializeFMUstate": boolean(True),
        "providesDirectionalDerivative": boolean(True),
    }
    SubElement(root, "ModelExchange", abilities)
    SubElement(
        root,
        "CoSimulation",
        abilities,
        canHandleVariableCommunicationStepSize=boolean(True),
        canInterpolateInputs=boolean(True),
        maxOutputDerivativeOrder="1",
    )
    add_units(root, content)
    add_log_categories(root)
    add_experiment(root, content.experiment)
    # The independent variable is optional here, and not every importer expects it.
    entries = [entry for entry in content.entries if entry.causality != "independent"]
    index = {entry.variable.name: i for i, entry in enumerate(entries, start=1)}
    variables = SubElement(root, "ModelVariables")
    for entry in entries:
        _add_variable(variables, entry, index)
    _add_structure(root, content, index)
    return root


def _add_variable(parent: Element, entry: Entry, index: dict[str, int]) -> None:
    value = value_attributes(entry)
    if entry.variable.derivative_of is not None:
        value["derivative"] = str(index[entry.variable.derivative_of])
    SubElement(SubElement(parent, "ScalarVariable", describe(entry)), TYPES_FMI2[entry.variable.type], value)


def _add_structure(root: Element, content: Content, index: dict[str, int]) -> None:
    structure = SubElement(root, "ModelStructure")
    for name, entries in (("Outputs", content.outputs), ("Derivatives", content.derivatives)):
        _add_unknowns(structure, name, ((entry, content.depends_on(entry)) for entry in entries), index)
    # Initialisation solves the loops from all start values: everything depends on everything.
    _add_unknowns(structure, "InitialUnknowns", ((entry, None) for entry in content.initial_unknowns), index)


def _add_unknowns(
    parent: Element, name: str, unknowns: Iterable[tuple[Entry, list[Entry] | None]], index: dict[str, int]
) -> None:
    group = Element(name)
    for entry, knowns in unknowns:
        unknown = SubElement(group, "Unknown", index=str(index[entry.variable.name]))
        if knowns is not None:
            positions = (index[known.variable.name] for known in knowns if known.variable.name in index)
            unknown.set("dependencies", " ".join(map(str, positions)))
    if len(group):
        parent.append(group)
