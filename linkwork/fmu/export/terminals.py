"""Terminals and icons: variables that belong together, by what a mechanism is connected at, and its picture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork._util.part_names import structured_name, suffixes
from linkwork.fmu.export.content import Content
from linkwork.fmu.export.pictures import icon, icon_pixels
from linkwork.mechanism import Command, Impulse
from linkwork.mechanism.forces import by_kind

if TYPE_CHECKING:
    from linkwork.model.model import Model

MOST_TERMINALS = 500  # of each kind
MOST_JOINTS = 8  # named of an actuator
JOINT, FRAME, ACTUATOR, MOTION, EVENT = (
    f"org.linkwork.{kind}" for kind in ("joint", "frame", "actuator", "motion", "event")
)
_FOLDER = "terminalsAndIcons"
_SIDE = 100.0  # of the icon from its middle
_ICON_PIXELS = 256

Member = tuple[str, str]  # name in the terminal, name of the variable


def terminal_files(content: Content, system: Model, fmi: str) -> dict[str, bytes]:
    """Return by path in the archive: terminals and icons for FMI 3.0, the icon at the root for FMI 2.0.

    FMI 2.0 knows neither terminals nor pictures of lines.
    """
    drawn = icon(system)
    pixels = _pixels(drawn)
    if fmi == "2.0":
        return {"model.png": pixels}
    found = {f"{_FOLDER}/terminalsAndIcons.xml": _document(content, system), f"{_FOLDER}/icon.png": pixels}
    if drawn is not None:
        found[f"{_FOLDER}/icon.svg"] = drawn.encode()
    return found


def _pixels(drawn: str | None) -> bytes:
    """The icon as PNG; the sign of Linkwork without a picture or without matplotlib."""
    if drawn is not None:
        with suppress(ImportError):
            return icon_pixels(drawn, _ICON_PIXELS)
    return (files("linkwork.fmu.export") / "assets" / "icon.png").read_bytes()


def _document(content: Content, system: Model) -> bytes:
    root = Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    graphics = SubElement(root, "GraphicalRepresentation")
    corners = {"x1": f"{-_SIDE}", "y1": f"{-_SIDE}", "x2": f"{_SIDE}", "y2": f"{_SIDE}"}
    SubElement(graphics, "CoordinateSystem", corners, suggestedScalingFactorTo_mm="0.1")
    SubElement(graphics, "Icon", corners)
    found: dict[str, Element] = {}
    for kind, name, text, members in _terminals(system):
        known = [member for member in members if _is_connectable(content, member[1])]
        if known and name not in found:  # a pin's joint and command have one name, and share a terminal
            attributes = {"matchingRule": "bus", "terminalKind": kind, "description": text}
            found[name] = Element("Terminal", {"name": structured_name(name), **attributes})
        for member, variable in known:
            place = {"variableName": structured_name(variable), "memberName": member, "variableKind": "signal"}
            SubElement(found[name], "TerminalMemberVariable", place)
    if found:
        SubElement(root, "Terminals").extend(found.values())
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _is_connectable(content: Content, name: str) -> bool:
    """Whether the FMU has a variable as an input or output."""
    return content.causality_of(structured_name(name)) in ("input", "output")


def _terminals(system: Model) -> Iterator[tuple[str, str, str, list[Member]]]:
    """Kind, name, description and members of every terminal there may be."""
    mech, numbering = system.mechanism, system.numbering
    moving = (name for name, joint in mech.joints.items() if joint.kind.nu)
    for name in islice(moving, MOST_TERMINALS):
        joint = mech.joints[name]
        members = [*_elements(name, "q", joint.kind.nq)]
        members += [member for what in ("u", "tau") for member in _elements(name, what, joint.kind.nu)]
        text = f"joint {name} of {joint.child} on {joint.parent}: coordinate, speed, load"
        yield JOINT, name, text, members
    for forces in by_kind(mech.forces).values():
        for force in islice((one for one in forces if one.listed("input")), MOST_TERMINALS):
            inputs, outputs = force.listed("input"), force.listed("output")
            members = [one for of in (*inputs, *outputs) for one in _elements(force.name, of.stem, of.count)]
            if len(force.body_names) == 1:
                for what, count in (("r", 3), ("Q", 4), ("v", 3), ("w", 3)):
                    members += _elements(force.body_names[0], what, count)
                text = f"force and torque applied to {force.body_names[0]}, and the motion of its frame, world axes"
            else:
                acts_on = ", ".join(islice((*force.joint_names, *force.body_names), MOST_JOINTS))
                text = f"{force.call.lower()} of {acts_on}: {', '.join(of.stem for of in (*inputs, *outputs))}"
            yield FRAME if len(force.body_names) == 1 else ACTUATOR, force.name, text, members
    for name in islice(numbering.motions, MOST_TERMINALS):
        members = [(what, f"{name}.{what}") for what in ("q_in", "u_in", "a_in", "load")]
        yield MOTION, name, "motion added to a prescribed motion, and its load", members
    for name, one in islice(mech.transitions.items(), MOST_TERMINALS):
        members = [("command", f"{name}.command")] if isinstance(one.when, Command) else []
        if isinstance(one.action, Impulse):
            members += [(f"impulse.{m}", v) for what in "ft" for m, v in _elements(f"{name}.impulse", what, 3)]
        if members:
            text = f"{type(one.action).__name__}: what sets it off, and whether it holds"
            yield EVENT, name, text, [*members, ("active", f"{name}.active")]


def _elements(entity: str, what: str, count: int) -> list[Member]:
    """A quantity as it is where variables are arrays, and element by element."""
    ends = suffixes(count) if count == 1 else ["", *suffixes(count)]
    return [(f"{what}{end}", f"{entity}.{what}{end}") for end in ends]
