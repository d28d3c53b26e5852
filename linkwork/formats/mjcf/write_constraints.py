"""Loops, couplings and distances of an MJCF file: equalities."""

from __future__ import annotations

from xml.etree.ElementTree import SubElement

import numpy as np

from linkwork.formats.mjcf.file_parts import NO_COORDINATE, FileParts, text_of
from linkwork.mechanism import Coupling, Fixed, Frame, Free, Joint, Revolute, Spherical

_ARM = 0.1  # m, between the two points that make a hinge


def write_closures(parts: FileParts) -> None:
    """Write the joints that close loops."""
    for joint in parts.tree.cuts:
        element = f"joint {joint.name!r}"
        if isinstance(joint.kind, Free):
            parts.report.taken(element, "it closes a loop and constrains nothing")
        elif isinstance(joint.kind, Fixed):
            _close(parts, joint, "weld", joint.name, np.zeros(3))
            parts.report.taken(element, "weld")
        elif isinstance(joint.kind, Spherical):
            _close(parts, joint, "connect", joint.name, np.zeros(3))
            parts.report.taken(element, "connect")
        elif isinstance(joint.kind, Revolute):
            for number, at in enumerate((-_ARM / 2, _ARM / 2), start=1):
                _close(parts, joint, "connect", f"{joint.name}_{number}", at * joint.kind.axis)
            parts.report.taken(element, "two points on its axis are connected")
        else:
            kind = type(joint.kind).__name__
            parts.report.left_out(
                element,
                f"equalities of MJCF cannot state a {kind}, and the spanning tree has no place for it: the loop stays "
                "open. Give the loop a joint that can be cut: a Revolute, a Spherical or a Fixed",
            )


def _close(parts: FileParts, joint: Joint, tag: str, name: str, point: np.ndarray) -> None:
    sites = [
        parts.add_site(f"{name}_{end}", body, frame @ Frame(point))
        for end, body, frame in (
            ("parent", joint.parent, joint.parent_frame),
            ("child", joint.child, joint.child_frame),
        )
    ]
    SubElement(parts.sections["equality"], tag, name=parts.name("equality", name), site1=sites[0], site2=sites[1])


def write_couplings(parts: FileParts) -> None:
    """Write couplings: equalities of one or two joints, or of tendons that are sums of joints."""
    for coupling in parts.mech.couplings.values():
        element = f"coupling {coupling.name!r}"
        reason = _write_coupling(parts, coupling)
        if reason:
            parts.report.left_out(element, reason)
        else:
            parts.report.taken(element)


def _write_coupling(parts: FileParts, coupling: Coupling) -> str:
    """Write a coupling; return why it cannot be written."""
    if coupling.motion is not None and (any(coupling.motion.coefficients[1:]) or coupling.motion.amplitude):
        return "MJCF has no functions of time: the coordinates move freely"
    offset = coupling.offset + (coupling.motion.constant if coupling.motion is not None else 0.0)
    terms = {}
    for term in coupling.terms.values():
        found = parts.coordinate(term.joint, term.element)
        if found is None:
            return f"joint {term.joint!r} {NO_COORDINATE}"
        terms[found] = np.array(term.coefficients)
    curved = [name for name, of in terms.items() if of[1:].any()]
    straight = [name for name in terms if name not in curved]
    if len(curved) > 1 or not straight:
        return "MJCF has polynomials of one coordinate only, equal to a sum of others; the coordinates move freely"
    if len(terms) <= 2:
        first, *others = straight[:1] + curved + straight[1:]
        scale = terms[first][0]
        polynomial = [offset / scale, *(-terms[others[0]] / scale if others else np.zeros(4))]
        _equate(parts, "joint", coupling.name, [first, *others], polynomial)
        return ""
    tendons = [sum_tendon(parts, coupling.name, {name: terms[name][0] for name in straight})]
    tendons += [sum_tendon(parts, f"{coupling.name}_{name}", {name: 1.0}) for name in curved]
    _equate(parts, "tendon", coupling.name, tendons, [offset, *(-terms[curved[0]] if curved else np.zeros(4))])
    return ""


def _equate(parts: FileParts, tag: str, name: str, ends: list[str], polynomial: list[float]) -> None:
    names = {f"{tag}{number}": end for number, end in enumerate(ends, start=1)}
    name = parts.name("equality", name)
    SubElement(parts.sections["equality"], tag, {"name": name, **names, "polycoef": text_of(polynomial)})


def sum_tendon(parts: FileParts, name: str, gears: dict[str, float]) -> str:
    """Add a tendon whose length is a sum of coordinates; return its name."""
    tendon = SubElement(parts.sections["tendon"], "fixed", name=parts.name("tendon", name))
    for joint, gear in gears.items():
        SubElement(tendon, "joint", joint=joint, coef=text_of(gear))
    return tendon.attrib["name"]


def write_distances(parts: FileParts) -> None:
    """Write distances: tendons between two points whose length is held."""
    for name, distance in parts.mech.distances.items():
        tendon = two_point_tendon(parts, name, distance.bodies, distance.points)
        ends = [parts.poses[body].apply(point) for body, point in zip(distance.bodies, distance.points, strict=True)]
        before = float(np.linalg.norm(ends[1] - ends[0]))
        _equate(parts, "tendon", name, [tendon], [distance.length - before, 0.0, 0.0, 0.0, 0.0])
        parts.report.taken(f"distance {name!r}", "a tendon of constant length")


def two_point_tendon(parts: FileParts, name: str, bodies: tuple[str, str], points: object, **attributes: str) -> str:
    """Add a tendon between points of two bodies; return its name."""
    tendon = SubElement(parts.sections["tendon"], "spatial", {"name": parts.name("tendon", name), **attributes})
    for body, point, end in zip(bodies, points, ("a", "b"), strict=True):  # type: ignore[call-overload]
        SubElement(tendon, "site", site=parts.add_site(f"{name}_{end}", body, Frame(point)))
    return tendon.attrib["name"]
