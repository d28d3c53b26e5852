"""Bodies, joints, stops and points of an MJCF file."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

import numpy as np

from linkwork._util.rotations import rotation_from_z
from linkwork.formats.mjcf.factors import Placed, placed
from linkwork.formats.mjcf.file_parts import NO_COORDINATE, FileParts, place, text_of
from linkwork.mechanism import GROUND, Body, Frame, Joint, Screw, Stop
from linkwork.mechanism.transitions import stop_range

_LEAST = 1e-12  # of a principal moment, kg m^2: MuJoCo takes none of zero
_LEAST_SHARE = 1e-9  # of the total mass, for bodies without mass
_NO_LIMIT = 1e10  # of a range with one bound, rad or m


def write_bodies(parts: FileParts) -> None:
    """Write settings, bodies with their joints, stops and points."""
    compiler = {"angle": "radian", "autolimits": "false", "inertiafromgeom": "false", "fusestatic": "false"}
    parts.sections["compiler"].attrib.update(compiler)
    parts.sections["option"].set("gravity", text_of(parts.mech.gravity))
    parts.report.taken(f"mechanism {parts.mech.name!r} > gravity")
    for name in parts.tree.order:
        _write_body(parts, name)
    for name, body in parts.tree.folded.items():
        parts.report.taken(f"body {name!r}", f"without mass: its joint is one of body {body!r}")
    _write_stops(parts)
    for name, point in parts.mech.points.items():
        axes = None if point.axis is None else rotation_from_z(np.array(point.axis))
        parts.add_site(name, point.body, Frame(point.point, axes))
        parts.report.taken(f"point {name!r}", "site" if axes is None else "site; its z is the axis")


def _write_body(parts: FileParts, name: str) -> None:
    parent, steps = parts.tree.parent[name], parts.tree.steps[name]
    pose, joints = placed(steps, parent == GROUND)
    parts.bodies[name] = parts.name("body", name)
    element = SubElement(parts.elements[parent], "body", name=parts.bodies[name])
    parts.elements[name], parts.poses[name] = element, parts.poses[parent] @ pose
    place(element, pose)
    _write_inertia(parts, element, parts.mech.bodies[name])
    for joint, _ in steps:
        if not joint.kind.nq:
            parts.report.taken(f"joint {joint.name!r}", f"fixed: body {name!r} is a part of its parent")
    for one in joints:
        of_joint = [other for other in joints if other.joint is one.joint]
        number = next(at for at, other in enumerate(of_joint, start=1) if other is one)
        suffix = f"_{number}" if len(of_joint) > 1 else ""
        named = one._replace(name=parts.name("joint", one.joint.name + suffix))
        parts.add_joint(named, _write_joint(element, named))
        if one is of_joint[-1]:
            _report_joint(parts, named, len(of_joint))
            if isinstance(one.joint.kind, Screw):
                _couple_screw(parts, one.joint)


def _write_inertia(parts: FileParts, element: Element, body: Body) -> None:
    mass, inertia = body.mass, body.inertia
    what = f"body {body.name!r}"
    changed = []
    if not mass > 0.0:
        mass = _LEAST_SHARE * max(sum(one.mass for one in parts.mech.bodies.values()), 1e-3)
        changed.append(f"mass {mass:g} kg")
    if (inertia == np.diag(inertia.diagonal())).all():
        moments, axes = inertia.diagonal().copy(), np.eye(3)
    else:
        moments, axes = np.linalg.eigh(inertia)
        axes = axes * np.linalg.det(axes)
    if moments.min() < _LEAST:
        # Adding the same to all keeps the triangle inequality.
        moments = moments + (_LEAST - moments.min())
        changed.append(f"moments of inertia {_LEAST:g} kg m^2 larger")
    given = SubElement(element, "inertial", pos=text_of(body.com), mass=text_of(mass), diaginertia=text_of(moments))
    if (axes != np.eye(3)).any():
        given.set("quat", text_of(Frame((0, 0, 0), axes).quaternion))
    if changed:
        parts.report.approximated(what, f"{', '.join(changed)}, as MuJoCo takes none of zero")
    else:
        parts.report.taken(what)


def _write_joint(element: Element, joint: Placed) -> Element:
    factor = joint.factor
    given = SubElement(element, "joint", name=joint.name, type=factor.type)
    if factor.type == "free":
        return given
    given.set("pos", text_of(joint.frame.position))
    if factor.type != "ball":
        given.set("axis", text_of(joint.frame.rotation @ factor.axis))
    return given


def _report_joint(parts: FileParts, joint: Placed, count: int) -> None:
    kind = type(joint.joint.kind).__name__
    text = kind if count == 1 else f"{kind}: {count} joints of one body"
    if joint.factor.type == "free" and not _is_identity(joint.joint.parent_frame, joint.joint.child_frame):
        text += "; qpos is the pose of the body, not of the joint frame"
    if joint.factor.type == "ball" and (joint.backward or not _is_identity(joint.frame)):
        text += "; qpos is the orientation of the file's child body, in axes of the body"
    parts.report.taken(f"joint {joint.joint.name!r}", text)


def _is_identity(*frames: Frame) -> bool:
    return all((frame.rotation == np.eye(3)).all() for frame in frames)


def _couple_screw(parts: FileParts, joint: Joint) -> None:
    """Couple slide and hinge of a screw."""
    hinge, slide = sorted((one for one, _ in parts.joints_of(joint.name)), key=lambda one: one.factor.type)
    SubElement(
        parts.sections["equality"],
        "joint",
        name=parts.name("equality", f"{joint.name}_pitch"),
        joint1=slide.name,
        joint2=hinge.name,
        polycoef=text_of([0.0, slide.factor.pitch or 0.0, 0.0, 0.0, 0.0]),
    )


def _write_stops(parts: FileParts) -> None:
    for name, transition in parts.mech.transitions.items():
        stop = transition.action
        if not isinstance(stop, Stop):
            continue
        element = f"transition {name!r} > Stop"
        found = parts.coordinate(stop.joint, stop.element)
        if found is None:
            parts.report.left_out(element, f"joint {stop.joint!r} {NO_COORDINATE}")
            continue
        lower, upper = stop_range(parts.mech, stop.joint, stop.element)
        lowest, highest = max(lower, -_NO_LIMIT), min(upper, _NO_LIMIT)
        parts.joint_elements[found].attrib.update(limited="true", range=text_of([lowest, highest]))
        restitution = f", and its restitution {stop.restitution:g} is left out" if stop.restitution else ""
        parts.report.approximated(element, f"a range, which is soft in MuJoCo{restitution}")
