"""Writes a built-in controller as an FMU of the C library, with its model description and page of documentation."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork._util.files import check_target, with_suffix, write_archive
from linkwork._util.part_names import structured_name
from linkwork._util.progress import ProgressOption
from linkwork._util.version import version
from linkwork.controllers.controller import Controller
from linkwork.controllers.native.controller import NativeController
from linkwork.controllers.native.file import dependency_bytes
from linkwork.controllers.native.interface import FIRST_REFERENCE, Interface, Variable, interface_of
from linkwork.errors import ExportError, FmuError, FmuNameError
from linkwork.fmu.export.content import Experiment
from linkwork.fmu.export.instantiation_token import instantiation_token
from linkwork.fmu.export.libraries import library_files
from linkwork.fmu.export.model_description import (
    TYPES_FMI2,
    TYPES_FMI3,
    VERSIONS,
    add_log_categories,
    add_units,
    boolean,
    set_attributes,
)


def write_controller(
    controller: NativeController,
    path: str | Path,
    fmi: str = "2.0",
    platforms: Iterable[str] | None = None,
    progress: ProgressOption = None,
) -> Path:
    """Write an instance of a built-in controller's class as an FMU; return the path."""
    if fmi not in VERSIONS:
        raise FmuNameError(f"there is no FMI version {fmi!r} here; choose {' or '.join(map(repr, VERSIONS))}")
    target = with_suffix(path, ".fmu", "an FMU", FmuError)
    check_target(target, FmuError)
    law, interface = controller.law, interface_of(controller, controller.depends_on_time)
    model, dependencies = controller.file(), dependency_bytes(interface, fmi)
    token = instantiation_token(model, dependencies)
    files = {
        "modelDescription.xml": model_description(interface, law, token, fmi),
        "documentation/index.html": index_page(controller, interface, law).encode(),
        "resources/model.lwm": model,
        "resources/interface.lwi": dependencies,
        **library_files(law, fmi, platforms, progress),
    }
    write_archive(target, files, FmuError)
    return target


def model_description(interface: Interface, identifier: str, token: str, fmi: str) -> bytes:
    """Return the text of ``modelDescription.xml``."""
    root = Element("fmiModelDescription")
    set_attributes(root, fmi, interface.name, token, f"The controller {identifier}", f"Linkwork {version()}")
    SubElement(root, "CoSimulation", _abilities(identifier, fmi))
    _add_units(root, interface, fmi)
    add_log_categories(root)
    SubElement(root, "DefaultExperiment", startTime="0.0", stopTime=repr(Experiment.stop))
    variables = SubElement(root, "ModelVariables")
    first = FIRST_REFERENCE[fmi]
    for reference, one in enumerate(interface.variables, start=first):
        (_add_fmi2 if fmi == "2.0" else _add_fmi3)(variables, reference, one)
    if fmi == "3.0":  # optional in FMI 2.0, and not every importer expects it there
        names = {one.name for one in interface.variables}
        name = next(name for name in ("time", "simulation.time", "fmu.time") if name not in names)
        time = {"name": name, "valueReference": str(interface.time + first), "description": "simulation time"}
        SubElement(variables, "Float64", time, causality="independent", variability="continuous", unit="s")
    structure = SubElement(root, "ModelStructure")
    (_add_structure_fmi2 if fmi == "2.0" else _add_structure_fmi3)(structure, interface)
    indent(root)
    return bytes(tostring(root, "utf-8", xml_declaration=True)) + b"\n"


def _abilities(identifier: str, fmi: str) -> dict[str, str]:
    own = ("canGetAndSetFMUstate", "canSerializeFMUstate", "canNotUseMemoryManagementFunctions")
    names = own if fmi == "2.0" else ("canGetAndSetFMUState", "canSerializeFMUState")
    found = {name: boolean(True) for name in ("canHandleVariableCommunicationStepSize", *names)}
    return {"modelIdentifier": identifier} | found


def _add_units(root: Element, interface: Interface, fmi: str) -> None:
    used = sorted({one.unit for one in interface.variables if one.unit != "1"} | ({"s"} if fmi == "3.0" else set()))
    try:
        if used:
            add_units(root, used, displayed=False)
    except ExportError as error:
        raise FmuError(str(error)) from error


def _common(reference: int, one: Variable) -> dict[str, str]:
    found = {"name": structured_name(one.name), "valueReference": str(reference)}
    if one.description:
        found["description"] = one.description
    return found | {"causality": one.causality, "variability": one.variability}


def _value(one: Variable) -> dict[str, str]:
    """Return unit and start value; those of outputs are calculated."""
    found = {"unit": one.unit} if one.unit != "1" else {}
    return found if one.causality == "output" else found | {"start": _start(one)}


def _start(one: Variable) -> str:
    if one.type == "boolean":
        return boolean(one.start != 0.0)
    if one.type == "integer":
        return str(int(one.start))
    if math.isinf(one.start):
        return "INF" if one.start > 0.0 else "-INF"
    return repr(one.start)


def _add_fmi2(parent: Element, reference: int, one: Variable) -> None:
    node = SubElement(parent, "ScalarVariable", _common(reference, one))
    SubElement(node, TYPES_FMI2[one.type], _value(one))


def _add_fmi3(parent: Element, reference: int, one: Variable) -> None:
    SubElement(parent, TYPES_FMI3[one.type], _common(reference, one) | _value(one))


def _add_structure_fmi2(structure: Element, interface: Interface) -> None:
    """Variables are known by their position, from 1, and time is none of them."""
    if not interface.dependencies:
        return
    outputs, initial = SubElement(structure, "Outputs"), SubElement(structure, "InitialUnknowns")
    for position, knowns in interface.dependencies.items():
        at, listed = str(position + 1), [known for known in knowns if known != interface.time]
        SubElement(outputs, "Unknown", index=at, dependencies=_text(listed))
        SubElement(initial, "Unknown", index=at, dependencies=_text(_known_at_start(interface, listed)))


def _add_structure_fmi3(structure: Element, interface: Interface) -> None:
    for position, knowns in interface.dependencies.items():
        SubElement(structure, "Output", valueReference=str(position + 1), dependencies=_text(knowns))
    for position, knowns in interface.dependencies.items():
        at_start = _text(_known_at_start(interface, knowns))
        SubElement(structure, "InitialUnknown", valueReference=str(position + 1), dependencies=at_start)


def _known_at_start(interface: Interface, knowns: Iterable[int]) -> list[int]:
    return sorted([*knowns, *interface.positions("parameter")])


def _text(positions: Iterable[int]) -> str:
    """Positions from 1: indices in FMI 2.0, value references in FMI 3.0."""
    return " ".join(str(position + 1) for position in positions)


_STYLE = """body { font: 15px/1.5 sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 0.6em 0 1.4em }
td, th { border-bottom: 1px solid #ddd; text-align: left; padding: 2px 14px 2px 0; vertical-align: top }"""

_USE = """<h2>Use</h2>
<p>The FMU is for Co-Simulation and needs no other program. Outputs follow the inputs without a step: in Initialization
Mode and between steps they match the inputs that are set. Parameters declared tunable may be set between steps, those
declared fixed until initialisation ends.</p>
<p>With a <code>sample_time</code> above 0 the controller acts at multiples of it, counted from the start time, and
holds its outputs in between; a communication step that covers several samples computes each of them with constant
inputs. Otherwise each communication step is a sample.</p>
<p>Values that are not numbers are refused, and so are parameters without sense when initialisation ends. The log gives
the reason.</p>"""


def index_page(controller: Controller, interface: Interface, law: str) -> str:
    """Return the page, which is well-formed XML as well."""
    equations = inspect.cleandoc(sys.modules[type(controller).__module__].__doc__ or "")
    parts = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>{law}</title>',
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>{law}</h1>",
        f"<pre>{escape(equations)}</pre>",
        _USE,
        "<h2>Variables</h2>",
        _table(interface.variables),
        "</body>\n</html>\n",
    )
    return "\n".join(parts)


def _table(variables: tuple[Variable, ...]) -> str:
    heads = ("name", "causality", "variability", "unit", "start", "meaning")
    lines = [_row("th", heads), *(_row("td", _cells(one)) for one in variables)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _cells(one: Variable) -> tuple[str, ...]:
    start = "" if one.causality == "output" else f"{one.start:.6g}"
    return one.name, one.causality, one.variability, "" if one.unit == "1" else one.unit, start, one.description


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
