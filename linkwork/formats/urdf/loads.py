"""Loads and limits of joints in a URDF that is written: damping, springs, stops, largest loads, rotor inertia."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.urdf.draft import Draft
from linkwork.formats.urdf.elements import NO_BOUND, add
from linkwork.mechanism import Force, Joint, JointSpringDamper, PointSpringDamper, Stop, Transition
from linkwork.mechanism.transitions import stop_range

_SINGLE = ("continuous", "revolute", "prismatic", "screw")


def write_loads(writing: Draft) -> None:
    """Write what acts in joints and between points; the joints must have been written."""
    for force in writing.mech.forces:
        _write_force(writing, force)
    for joint in writing.mech.joints.values():
        _write_drive(writing, joint)
    for transition in writing.mech.transitions.values():
        _write_transition(writing, transition)


def _places(writing: Draft, joint: str) -> list[ElementTree.Element]:
    """Return the `<joint>` of each speed of a joint; empty where one has none, as in a loop."""
    kind = writing.mech.joints[joint].kind
    found = [writing.places.get((joint, k)) for k in range(kind.nu)]
    single = [element for element in found if element is not None and element.attrib["type"] in _SINGLE]
    return single if len(single) == kind.nu else []


# ---- forces ----


def _write_force(writing: Draft, force: Force) -> None:
    if isinstance(force, JointSpringDamper):
        _write_damping(writing, force)
        _write_stiffness(writing, force)
    elif isinstance(force, PointSpringDamper):
        _write_spring(writing, force)
    else:
        name = getattr(force, "name", "")
        writing.report.left_out(f"{type(force).__name__} {name!r}", "URDF has no such force; it does not act")


def _each(writing: Draft, force: JointSpringDamper, name: str) -> FloatArray:
    """Return the values of a spring and damper for each speed, (nu,)."""
    return np.broadcast_to(np.asarray(getattr(force, name), dtype=float), (writing.mech.joints[force.joint].kind.nu,))


def _write_damping(writing: Draft, force: JointSpringDamper) -> None:
    values = _each(writing, force, "damping")
    if not values.any():
        return
    label = f"damping of joint {force.joint!r}"
    ball = next((e for e in writing.root.findall("ball") if e.attrib["name"] == force.joint), None)
    places = _places(writing, force.joint)
    if not (values >= 0.0).all():
        writing.report.left_out(label, "URDF has no negative damping; the joint is not damped")
    elif places:
        for element, value in zip(places, values, strict=True):
            add(element, "dynamics", damping=value)
        writing.report.taken(label)
    elif ball is not None and (values == values[0]).all():
        add(ball, "dynamics", damping=values[0])
        writing.report.taken(label)
    else:
        writing.report.left_out(label, "URDF has none for this joint; it is not damped")


def _write_stiffness(writing: Draft, force: JointSpringDamper) -> None:
    stiffness, free = _each(writing, force, "stiffness"), _each(writing, force, "free")
    if not stiffness.any():
        return
    label, places = f"stiffness of joint {force.joint!r}", _places(writing, force.joint)
    if not places or not (stiffness >= 0.0).all():
        writing.report.left_out(label, "URDF has none for this joint; there is no spring")
        return
    for element, k, q in zip(places, stiffness, free, strict=True):
        gazebo = ElementTree.SubElement(writing.root, "gazebo", reference=element.attrib["name"])
        for tag, value in (("springStiffness", k), ("springReference", q)):
            ElementTree.SubElement(gazebo, tag).text = repr(float(value))
    writing.report.taken(label, "<gazebo> with springStiffness and springReference")


def _write_spring(writing: Draft, spring: PointSpringDamper) -> None:
    label = f"spring {spring.name!r}"
    if min(spring.stiffness, spring.damping, spring.free) < 0.0:
        writing.report.left_out(label, "Drake's springs have no negative numbers; there is no spring")
        return
    tag = "drake:linear_spring_damper"
    element = ElementTree.SubElement(writing.root, tag)
    for end, body, point in zip(("A", "B"), spring.bodies, spring.points, strict=True):
        at = writing.tree.frames[body].inverse().apply(np.array(point))
        ElementTree.SubElement(element, f"{tag}_body_{end}", name=writing.links[body])
        add(element, f"{tag}_p_{'AP' if end == 'A' else 'BQ'}", value=at)
    for name, value in (
        ("free_length", spring.free),
        ("stiffness", spring.stiffness),
        ("damping", spring.damping),
    ):
        add(element, f"{tag}_{name}", value=value)
    writing.report.taken(label, f"<{tag}>")


# ---- drives and stops ----


def _write_drive(writing: Draft, joint: Joint) -> None:
    """Write the largest load and the rotor of each speed."""
    places = _places(writing, joint.name)
    if np.isfinite(joint.max_load).any():
        label = f"max_load of joint {joint.name!r}"
        for element, value in zip(places, joint.max_load, strict=False):
            if np.isfinite(value):
                _set_limit(element, effort=value)
        _report(writing, label, places, "the load has no limit")
    if joint.reflected_inertia.any():
        label = f"reflected_inertia of joint {joint.name!r}"
        for element, value in zip(places, joint.reflected_inertia, strict=False):
            if value:
                _write_rotor(writing, element, value)
        _report(writing, label, places, "the joint accelerates without it")


def _report(writing: Draft, label: str, places: list[ElementTree.Element], effect: str) -> None:
    if places:
        writing.report.taken(label)
    else:
        writing.report.left_out(label, f"URDF has none for this joint; {effect}")


def _write_rotor(writing: Draft, element: ElementTree.Element, inertia: float) -> None:
    """Write a transmission with Drake's rotor inertia, which has the gear ratio 1."""
    name = element.attrib["name"]
    transmission = ElementTree.SubElement(writing.root, "transmission", name=f"{name}_transmission")
    ElementTree.SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
    ElementTree.SubElement(transmission, "joint", name=name)
    actuator = ElementTree.SubElement(transmission, "actuator", name=f"{name}_motor")
    add(actuator, "drake:rotor_inertia", value=inertia)
    add(actuator, "drake:gear_ratio", value=1.0)


def _write_transition(writing: Draft, transition: Transition) -> None:
    stop = transition.action
    if not isinstance(stop, Stop):
        kind = type(stop).__name__
        writing.report.left_out(f"transition {transition.name!r}", f"URDF has no {kind}; it does not happen")
        return
    label = f"stop {transition.name!r}"
    element = writing.places.get((stop.joint, stop.element))
    if element is None or element.attrib["type"] not in _SINGLE:
        writing.report.left_out(label, "URDF has no limits for this joint; it has no bounds")
        return
    lower, upper = stop_range(writing.mech, stop.joint, stop.element)
    _set_limit(element, lower=max(lower, -NO_BOUND), upper=min(upper, NO_BOUND))
    if element.attrib["type"] == "continuous":
        element.set("type", "revolute")
    if stop.restitution:
        writing.report.approximated(label, f"a limit without its coefficient of restitution {stop.restitution:g}")
    else:
        writing.report.taken(label, "a limit, which limits=True makes a stop")


def _set_limit(element: ElementTree.Element, **values: float) -> None:
    """Set values of `<limit>`, which has all that URDF demands."""
    limit = element.find("limit")
    if limit is None:
        limit = add(element, "limit", effort=NO_BOUND, velocity=NO_BOUND)
    if "effort" not in values:
        values = {"lower": -NO_BOUND, "upper": NO_BOUND, **values}
    for name, value in values.items():
        limit.set(name, repr(float(value)))
