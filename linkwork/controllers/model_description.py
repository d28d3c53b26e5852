"""The model description of a controller: PythonFMU's, with what it leaves out or gets wrong.

It knows no units and no dependencies, lists no unknowns of the initialisation, gives types other than Real and
parameters a variability that they may not have, writes numbers with one digit too few, and quotes no names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork._util.part_names import structured_name
from linkwork._util.units import base_exponents
from linkwork.errors import ExportError, FmuError

_FIXED_DATE = "2000-01-01T00:00:00Z"  # the same files give the same FMU


def describe(slave: Any, identifier: str, token: str, serialises: bool) -> bytes:
    """Return the XML of a slave."""
    variables = list(slave.vars.values())
    if not variables:
        raise FmuError("it declares no variables: give it inputs and outputs")
    _refuse_twins([variable.name for variable in variables])
    abilities = {"canGetAndSetFMUstate": True, "canSerializeFMUstate": serialises}
    root = slave.to_xml(abilities)
    root.set("guid", token)
    root.set("generationDateAndTime", _FIXED_DATE)
    root.find("CoSimulation").set("modelIdentifier", identifier)
    for variable, node in zip(variables, root.find("ModelVariables"), strict=True):
        _correct(node, variable)
    _add_units(root, getattr(slave, "units", {}))
    _add_structure(root, getattr(slave, "dependencies", {}))
    for node in root.find("ModelVariables"):
        node.set("name", structured_name(node.get("name")))
    indent(root)
    text: bytes = tostring(root, "utf-8", xml_declaration=True)
    return text


def _refuse_twins(names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise FmuError(f"two variables are named {', '.join(twins)}: give each a name of its own")


def _correct(node: Element, variable: Any) -> None:
    kind = node[0]
    variability = node.get("variability")
    if node.get("causality") in ("parameter", "calculatedParameter"):
        if variability not in ("fixed", "tunable"):
            node.set("variability", "fixed")
    elif kind.tag != "Real" and variability in (None, "continuous"):
        node.set("variability", "discrete")
    if kind.tag == "Real" and "start" in kind.attrib:
        kind.set("start", repr(float(variable.start)))


def _add_units(root: Element, units: Mapping[str, str]) -> None:
    """Declare units, after the element CoSimulation, and give them to their variables."""
    nodes = {node.get("name"): node[0] for node in root.find("ModelVariables") or ()}
    for name, unit in units.items():
        if name not in nodes or nodes[name].tag != "Real":
            raise FmuError(f"unit {unit!r} is given to {name!r}, which is no real variable: see `units` of the class")
        if unit != "1":
            nodes[name].set("unit", unit)
    used = sorted({unit for unit in units.values() if unit != "1"})
    if not used:
        return
    definitions = Element("UnitDefinitions")
    for unit in used:
        try:
            exponents = base_exponents(unit)
        except ExportError as error:
            raise FmuError(str(error)) from error
        node = SubElement(definitions, "Unit", name=unit)
        SubElement(node, "BaseUnit", {base: str(exponent) for base, exponent in exponents.items()})
    root.insert(1, definitions)


def _add_structure(root: Element, dependencies: Mapping[str, tuple[str, ...]]) -> None:
    """Write the outputs again with their dependencies, and as unknowns of the initialisation."""
    structure = root.find("ModelStructure")
    nodes = root.find("ModelVariables")
    assert structure is not None
    assert nodes is not None
    structure.clear()
    index = {node.get("name"): str(i) for i, node in enumerate(nodes, start=1)}
    parameters = [index[node.get("name")] for node in nodes if node.get("causality") == "parameter"]
    outputs = [node for node in nodes if node.get("causality") == "output"]
    initial = [node for node in outputs if node.get("initial") != "exact"]
    for part, listed in (("Outputs", outputs), ("InitialUnknowns", initial)):
        if not listed:
            continue
        group = SubElement(structure, part)
        for node in listed:
            name = node.get("name", "")
            unknown = SubElement(group, "Unknown", index=index[name])
            if name in dependencies:
                strangers = [one for one in dependencies[name] if one not in index]
                if strangers:
                    raise FmuError(f"output {name!r} depends on {strangers[0]!r}, which is no variable")
                known = [index[one] for one in dependencies[name]] + parameters * (part == "InitialUnknowns")
                unknown.set("dependencies", " ".join(sorted(known, key=int)))
