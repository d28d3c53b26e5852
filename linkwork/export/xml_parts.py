"""The parts of a model description that both versions of the standard write alike."""

from xml.etree.ElementTree import Element, SubElement

from linkwork.export.content import Content, Entry, Experiment
from linkwork.export.units import base_exponents, display_unit
from linkwork.quantities import Variable

# Fixed, so that the same mechanism always gives the same bytes.
DATE = "1980-01-01T00:00:00Z"

# The elements of variables, by the type of these.
TYPES_FMI2 = {"real": "Real", "boolean": "Boolean", "integer": "Integer", "enumeration": "Enumeration"}
TYPES_FMI3 = {"real": "Float64", "boolean": "Boolean", "integer": "Int32", "enumeration": "Enumeration"}

# The enumerations: what is an integer for the FMU, and what an importer shows.
SOLVERS = (
    ("dopri5", 1, "Dormand-Prince 5(4), explicit"),
    ("rodas5p", 2, "Rodas5P, linearly implicit: for stiff springs and dampers"),
)

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


def describe(entry: Entry) -> dict[str, str]:
    """Return the attributes of a variable that do not depend on its type."""
    variable = entry.variable
    attributes = {"name": variable.name, "valueReference": str(variable.reference)}
    if variable.description:
        attributes["description"] = variable.description
    attributes |= {"causality": entry.causality, "variability": entry.variability}
    if entry.initial is not None:
        attributes["initial"] = entry.initial
    return attributes


def value_attributes(entry: Entry) -> dict[str, str]:
    """Return the attributes of a variable that belong to its type."""
    attributes = _real_attributes(entry.variable) if entry.variable.type == "real" else {}
    if entry.variable.type == "enumeration":
        attributes["declaredType"] = "Solver"
    if entry.causality in ("parameter", "input"):
        attributes["start"] = _start(entry.variable)
    return attributes


def _start(variable: Variable) -> str:
    value = variable.start or 0.0
    if variable.type == "boolean":
        return boolean(value != 0.0)
    return repr(float(value)) if variable.type == "real" else str(int(value))


def _real_attributes(variable: Variable) -> dict[str, str]:
    attributes = {"unit": variable.unit}
    shown = display_unit(variable.unit)
    if shown is not None:
        attributes["displayUnit"] = shown[0]
    for name, limit in (("min", variable.minimum), ("max", variable.maximum)):
        if limit is not None:
            attributes[name] = repr(float(limit))
    if variable.jumps:
        attributes["reinit"] = boolean(True)
    return attributes
