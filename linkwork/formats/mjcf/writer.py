"""Writes MJCF files: bodies with geoms along a spanning tree, loops as equalities, forces, a keyframe."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import free_name
from linkwork._util.rotations import conjugate, matrix_of, product, rotation_from_z
from linkwork.errors import LinkworkError, LinkworkWarning, MechanismError
from linkwork.formats.frictions import JointFriction, is_of_joint, joint_frictions
from linkwork.formats.mjcf.factors import Placed, placed
from linkwork.formats.mjcf.tree import Tree
from linkwork.formats.report import Report
from linkwork.formats.visuals import parts_of
from linkwork.formats.xml_tree import MAX_DEPTH
from linkwork.mechanism import (
    GROUND,
    Body,
    Coupling,
    Fixed,
    ForceElement,
    Frame,
    Free,
    GravityCompensation,
    Joint,
    JointSpringDamper,
    Mechanism,
    PointSpringDamper,
    Revolute,
    Screw,
    Spherical,
    Stop,
    Wrench,
)
from linkwork.mechanism.shapes import Box, Capsule, Cylinder, Mesh, Shape, Size, Sphere
from linkwork.mechanism.transitions import stop_range
from linkwork.model.compile import compile


def write(mech: Mechanism, report: Report) -> str:
    """Return a mechanism as the text of an MJCF file, and report what became of each part.

    Numbers are written with all their digits. Coordinates of the file are those of the mechanism, but for orientations,
    which MJCF counts in axes of the body.
    """
    parts = FileParts(mech, Tree(mech), report)
    write_bodies(parts)
    write_shapes(parts)
    write_closures(parts)
    write_couplings(parts)
    write_distances(parts)
    write_forces(parts)
    write_start(parts)
    _report_rest(parts)
    report.names = {"body": dict(parts.bodies), "joint": parts.joint_names}
    return parts.text()


def _report_rest(parts: FileParts) -> None:
    """Report what MJCF has not."""
    for name, transition in parts.mech.transitions.items():
        if not isinstance(transition.action, Stop):
            kind = type(transition.action).__name__
            parts.report.left_out(f"transition {name!r} > {kind}", "MJCF has no events: the structure stays as it is")
    for name in parts.mech.measures:
        parts.report.left_out(f"measure {name!r}", "an output that changes nothing; a sensor can measure it")
    for name in parts.mech.outputs:
        parts.report.left_out(f"output {name!r}", "MJCF has no formulas; it changes nothing in the motion")
    for name in parts.mech.states:
        parts.report.left_out(f"state {name!r}", "MJCF has no formulas")


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


def write_forces(parts: FileParts) -> None:
    """Write forces, and what the joints have of rotors and limits."""
    acting: set[str] = set()
    for force in parts.mech.forces:
        if isinstance(force, JointSpringDamper):
            _write_joint_spring(parts, force)
        elif isinstance(force, PointSpringDamper):
            _write_point_spring(parts, force)
        elif force.type_name == "actuator":
            acting.update(force.joint_names)
            _write_actuator(parts, force)
        elif isinstance(force, GravityCompensation):
            _write_gravity_compensation(parts, force)
        elif is_of_joint(force):
            continue  # below, as its viscous part is added to the dampers
        elif isinstance(force, Wrench):
            parts.report.left_out(force.label, "inputs from outside; MuJoCo takes forces on bodies as xfrc_applied")
        else:
            parts.report.left_out(force.label, "MJCF has no such force; it does not act")
    for friction in joint_frictions(parts.mech):
        _write_friction(parts, friction)
    for joint in parts.mech.joints.values():
        _write_rotor(parts, joint)
        _write_max_load(parts, joint, joint.name in acting)


def _write_joint_spring(parts: FileParts, force: JointSpringDamper) -> None:
    joint, element = parts.mech.joints[force.joint], f"joint {force.joint!r} > SpringDamper"
    stiffness, damping, free = (
        np.broadcast_to(values, (joint.kind.nu,)) for values in (force.stiffness, force.damping, force.free)
    )
    found = parts.joints_of(force.joint)
    if not found:
        parts.report.left_out(element, f"the joint {NO_COORDINATE}")
        return
    if (stiffness < 0.0).any() or (damping < 0.0).any():
        parts.report.left_out(element, "MuJoCo takes no stiffness and no damping below zero")
        return
    dampers = _by_joint(parts, joint, damping)
    if dampers is None:
        parts.report.left_out(element, "MJCF has one damping for all speeds of a joint that turns by a quaternion")
        return
    for one, given in found:
        if dampers[one.name]:
            given.set("damping", text_of(dampers[one.name]))
        if _is_scalar(one) and stiffness[one.factor.speed]:
            given.set("stiffness", text_of(stiffness[one.factor.speed]))
            given.set("springref", text_of(free[one.factor.speed]))
    parts.report.taken(element)


def _write_friction(parts: FileParts, friction: JointFriction) -> None:
    found = parts.joints_of(friction.joint.name)
    losses, dampers = (_by_joint(parts, friction.joint, values) for values in (friction.coulomb, friction.viscous))
    if not found:
        friction.leave_out(parts.report, f"its joint {NO_COORDINATE}")
        return
    if losses is None or dampers is None:
        friction.leave_out(parts.report, "MJCF has one value for all speeds of a joint that turns by a quaternion")
        return
    for one, given in found:
        if losses[one.name]:
            given.set("frictionloss", text_of(losses[one.name]))
        if dampers[one.name]:
            given.set("damping", text_of(float(given.get("damping", "0")) + dampers[one.name]))
    turning = [one for one, _ in found if one.factor.type in ("ball", "free")]
    turned = any(one.factor.type == "free" or one.backward or not _is_identity(one.frame) for one in turning)
    friction.report(parts.report, "frictionloss", turned)


def _write_gravity_compensation(parts: FileParts, force: GravityCompensation) -> None:
    if force.point is not None:
        parts.report.left_out(force.label, "gravcomp acts at the centre of mass alone")
    elif force.body in parts.elements:
        given = parts.elements[force.body]
        given.set("gravcomp", text_of(float(given.get("gravcomp", "0")) + force.fraction))
        parts.report.taken(force.label, "gravcomp")
    else:
        parts.report.taken(force.label, "its body has no weight")


def _is_scalar(one: Placed) -> bool:
    """Return whether a joint of the file is a hinge or slide with the coordinate of a joint."""
    return one.factor.type in ("hinge", "slide") and one.factor.pitch is None


def _by_joint(parts: FileParts, joint: Joint, values: FloatArray) -> dict[str, float] | None:
    """Return values of speeds by joint of the file; None: MJCF cannot say them."""
    found = {}
    for one, _ in parts.joints_of(joint.name):
        if _is_scalar(one):
            found[one.name] = float(values[one.factor.speed])
        elif one.factor.type in ("hinge", "slide"):
            found[one.name] = 0.0
        else:
            of_speeds = values if one.factor.type == "free" else values[:3]
            if (of_speeds != of_speeds[0]).any():
                return None
            found[one.name] = float(of_speeds[0])
    if isinstance(joint.kind, Free) and values.any():
        # The file has the velocity of the body's origin on a free joint, and rates in axes of the parent elsewhere.
        moved = any(one.factor.type == "free" and one.frame.position.any() for one, _ in parts.joints_of(joint.name))
        if moved or (values[3:] != values[3]).any():
            return None
    return found


def _write_rotor(parts: FileParts, joint: Joint) -> None:
    rotors = np.atleast_1d(getattr(joint, "reflected_inertia", 0.0))
    if not rotors.any():
        return
    element = f"joint {joint.name!r} > reflected_inertia"
    if not parts.joints_of(joint.name):
        parts.report.left_out(element, f"the joint {NO_COORDINATE}")
        return
    found = _by_joint(parts, joint, rotors)
    if found is None or (isinstance(joint.kind, Free) and rotors[3:].any()):
        parts.report.left_out(element, "MJCF has one armature for all speeds of such a joint")
        return
    for one, given in parts.joints_of(joint.name):
        if found[one.name]:
            given.set("armature", text_of(found[one.name]))
    parts.report.taken(element, "armature")


def _write_max_load(parts: FileParts, joint: Joint, actuated: bool) -> None:
    limits = np.atleast_1d(getattr(joint, "max_load", np.inf))
    if not np.isfinite(limits).any():
        return
    element = f"joint {joint.name!r} > max_load"
    scalars = [(one, given) for one, given in parts.joints_of(joint.name) if _is_scalar(one)]
    if actuated or not scalars:
        why = "MuJoCo would limit its actuators by it" if actuated else "only hinges and slides of MJCF have it"
        parts.report.left_out(element, f"{why}; driving loads are not limited")
        return
    for one, given in scalars:
        limit = float(limits[one.factor.speed])
        if np.isfinite(limit) and limit > 0.0:
            given.attrib.update(actuatorfrclimited="true", actuatorfrcrange=text_of([-limit, limit]))
    parts.report.taken(element, "actuatorfrcrange")


def _write_point_spring(parts: FileParts, force: PointSpringDamper) -> None:
    element = f"SpringDamper {force.name!r}"
    if min(force.stiffness, force.damping, force.free) < 0.0:
        parts.report.left_out(element, "MuJoCo takes no stiffness, damping or length below zero")
        return
    values = {"stiffness": force.stiffness, "damping": force.damping, "springlength": force.free}
    given = {name: text_of(value) for name, value in values.items()}
    two_point_tendon(parts, force.name, force.bodies, force.points, **given)
    parts.report.taken(element, "a tendon between two sites")


def _write_actuator(parts: FileParts, force: ForceElement) -> None:
    given: Any = force  # an Actuator
    element = f"actuator {given.name!r}"
    target = _target(parts, given)
    if isinstance(target, str):
        parts.report.left_out(element, target)
        return
    bias = [given.offset, -given.stiffness, -given.damping]
    made = SubElement(
        parts.sections["actuator"],
        "general",
        {"name": parts.name("actuator", given.name), **target, "gainprm": text_of(given.gain)},
    )
    if any(bias):
        made.attrib.update(biastype="affine", biasprm=text_of(bias))
    for attribute, limits in (("ctrl", given.input_range), ("force", given.force_range)):
        if limits is not None:
            made.attrib.update({f"{attribute}limited": "true", f"{attribute}range": text_of(limits)})
    parts.report.taken(element)


def _target(parts: FileParts, given: Any) -> dict[str, str] | str:
    """Return transmission and gear of an actuator, or why MJCF cannot say them."""
    places = dict(zip(given.places(parts.mech), given.gears.values(), strict=True))
    joints = dict.fromkeys(joint for joint, _ in places)
    found = {place: parts.coordinate(*place) for place in places}
    plain = {name: places[place] for place, name in found.items() if name is not None}
    if len(plain) == len(places):
        if len(plain) == 1:
            ((name, gear),) = plain.items()
            return {"joint": name, "gear": text_of(gear)}
        return {"tendon": sum_tendon(parts, given.name, plain)}
    if len(joints) == 1:
        (joint,) = joints
        turning = [one for one, _ in parts.joints_of(joint) if one.factor.type in ("ball", "free")]
        speeds = [speed for _, speed in places]
        if turning and not turning[0].backward and max(speeds) < 3:
            one = turning[0]
            axis = np.zeros(3)
            axis[speeds] = list(places.values())
            axis = one.frame.rotation @ axis
            gear = [0.0, 0.0, 0.0, *axis] if one.factor.type == "free" else [*axis]
            return {"joint": one.name, "gear": text_of(gear)}
    return "MJCF has no transmission to its coordinates: they are of a closure, or of several joints with quaternions"


_MESHES = (".stl", ".obj")  # that MuJoCo reads
_LOOKS_ONLY = {"contype": "0", "conaffinity": "0", "mass": "0", "group": "2"}


def write_shapes(parts: FileParts) -> None:
    """Write the shapes of all bodies that the file has, and of the world."""
    meshes: dict[tuple[str, Size], str] = {}
    for body, shapes in parts.mech.shapes.items():
        for number, shape in enumerate(shapes, start=1):
            element = f"body {body!r} > shape {number}"
            why = _refusal(parts, body, shape)
            if why:
                parts.report.left_out(element, why)
                continue
            geom = SubElement(parts.elements[body], "geom", {"type": shape.type_name, **_LOOKS_ONLY})
            place(geom, shape.frame)
            if isinstance(shape, Mesh):
                geom.set("mesh", _mesh(parts, meshes, shape))
            else:
                geom.set("size", text_of(_sizes(shape)))
            if shape.colour is not None:
                geom.set("rgba", text_of([*parts_of(shape.colour), 1.0]))
            parts.report.taken(element, "geom")


def _refusal(parts: FileParts, body: str, shape: Shape) -> str:
    """Return why a shape is not written; "": it is."""
    if body not in parts.elements:
        return "its body has no mass and is none of the file"
    if not isinstance(shape, Mesh):
        return ""
    if Path(shape.path).suffix.lower() not in _MESHES:
        return f"MuJoCo reads meshes {' and '.join(_MESHES)}"
    if not (Path(parts.report.path).absolute().parent / shape.path).is_file():
        return "its mesh is missing, and MuJoCo reads no file without it"
    return ""


def _mesh(parts: FileParts, meshes: dict[tuple[str, Size], str], shape: Mesh) -> str:
    """Return the name of a mesh in the file, which has each once."""
    key = shape.path, shape.scale
    if key not in meshes:
        meshes[key] = parts.name("mesh", Path(shape.path).stem)
        given = {"name": meshes[key], "file": shape.path, "scale": text_of(shape.scale), "inertia": "shell"}
        SubElement(parts.sections["asset"], "mesh", given)
    return meshes[key]


def _sizes(shape: Shape) -> list[float]:
    """Return what MuJoCo has for a size: halves of edges and lengths."""
    match shape:
        case Box(size=size):
            return [one / 2.0 for one in size]
        case Sphere(radius=radius):
            return [radius]
        case Cylinder(radius=radius, length=length) | Capsule(radius=radius, length=length):
            return [radius, length / 2.0]
    raise TypeError(f"no size of {shape!r} is known in MJCF")


class _Start(NamedTuple):
    """Coordinates and speeds of the joints that have some at the start, by name."""

    q: Mapping[str, FloatArray]
    u: Mapping[str, FloatArray]


def write_start(parts: FileParts) -> None:
    """Write the start, with its loops closed, as the first keyframe."""
    mech, report = parts.mech, parts.report
    start = _closed_start(parts)
    moved = any(not np.array_equal(q, mech.joints[name].kind.neutral) for name, q in start.q.items())
    if not (mech.start_q or mech.start_u or moved):
        return
    qpos = [_coordinates(start, one) for one in parts.joints]
    key = SubElement(
        parts.sections["keyframe"], "key", name="start", qpos=text_of(np.concatenate([np.zeros(0), *qpos]))
    )
    if any(values.any() for values in start.u.values()):
        key.set("qvel", text_of(np.concatenate([np.zeros(0), *(_speeds(start, one) for one in parts.joints)])))
    for name in dict.fromkeys((*mech.start_q, *mech.start_u)):
        if parts.joints_of(name):
            report.taken(f"joint {name!r} > start")
        elif mech.joints[name].kind.nq:
            report.left_out(f"joint {name!r} > start", f"the joint {NO_COORDINATE}")


def _closed_start(parts: FileParts) -> _Start:
    """Return the assembled start of a mechanism with constraints, which MuJoCo would pull together in the motion."""
    mech, given = parts.mech, _Start(parts.mech.start_q, parts.mech.start_u)
    if not (parts.tree.cuts or mech.couplings or mech.distances):
        return given
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)  # shown where the mechanism is compiled
            model = compile(mech)
        state = model.assemble()
    except LinkworkError as error:
        parts.report.left_out(f"mechanism {mech.name!r} > closed start", f"it is not found: {error}")
        return given
    q, u = ({name: np.atleast_1d(x) for name, x in model.by_joint(all_).items()} for all_ in (state.q, state.u))
    return _Start(q, u)


def _coordinates(start: _Start, one: Placed) -> FloatArray:
    kind, factor = one.joint.kind, one.factor
    q = start.q.get(one.joint.name, kind.neutral)
    if factor.type in ("hinge", "slide"):
        return _ratio(one) * q[factor.coordinate : factor.coordinate + 1]
    if factor.type == "ball":
        return _turned(one, q[factor.coordinate : factor.coordinate + 4])
    pose = _free_pose(one, q)
    return np.concatenate([pose.position, pose.quaternion])


def _ratio(one: Placed) -> float:
    return 1.0 if one.factor.pitch is None else one.factor.pitch


def _turned(one: Placed, quaternion: FloatArray) -> FloatArray:
    """Return a quaternion of a joint in axes of the body."""
    given = conjugate(quaternion) if one.backward else quaternion
    axes = one.frame.quaternion
    return product(product(axes, given), conjugate(axes))


def _free_pose(one: Placed, q: FloatArray) -> Frame:
    """Return the pose of a body on a free joint in the world."""
    joint, moved = one.joint, Frame(q[:3], matrix_of(q[3:]))
    if one.backward:
        return joint.child_frame @ moved.inverse() @ joint.parent_frame.inverse()
    return joint.parent_frame @ moved @ joint.child_frame.inverse()


def _speeds(start: _Start, one: Placed) -> FloatArray:
    kind, factor = one.joint.kind, one.factor
    u = start.u.get(one.joint.name, np.zeros(kind.nu))
    q = start.q.get(one.joint.name, kind.neutral)
    if factor.type in ("hinge", "slide") and kind.quaternion is None:
        return _ratio(one) * u[factor.speed : factor.speed + 1]
    turn = matrix_of(q[kind.quaternion])
    if factor.type == "slide":  # of a free joint between bodies: the rate of its position, in axes of the parent
        return (turn @ u[3:])[factor.coordinate : factor.coordinate + 1]
    if factor.type == "ball":
        return one.frame.rotation @ (-turn @ u[:3] if one.backward else u[:3])
    spin, velocity = u[:3], u[3:]
    if one.backward:  # of the ground, in its axes, relative to the body
        spin, velocity = -turn @ spin, turn @ (np.cross(spin, turn.T @ q[:3]) - velocity)
        turn = turn.T
    inner = one.joint.parent_frame if one.backward else one.joint.child_frame
    outer = one.joint.child_frame if one.backward else one.joint.parent_frame
    origin = inner.inverse().position
    world = outer.rotation @ turn
    return np.concatenate([world @ (velocity + np.cross(spin, origin)), inner.rotation @ spin])


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
    if coupling.formula is not None:
        return "MJCF has no formulas of coordinates or time: the coordinates move freely"
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


NO_COORDINATE = "closes a loop in the file and has no coordinate there"

_SECTIONS = ("compiler", "option", "asset", "worldbody", "tendon", "equality", "actuator", "keyframe")


class FileParts:
    """The XML as it grows, and where the parts of the mechanism are in it."""

    def __init__(self, mech: Mechanism, tree: Tree, report: Report) -> None:
        # mech, tree, report: the mechanism, its tree, and what became of its parts
        self.mech, self.tree, self.report = mech, tree, report
        lost = [name for name in mech.bodies if name not in tree.steps and name not in tree.folded]
        if lost:
            raise MechanismError(f"body {lost[0]!r}: no joint connects it to the ground: give it one, such as a Free")
        self.root = Element("mujoco", model=mech.name)
        self.sections = {tag: SubElement(self.root, tag) for tag in _SECTIONS}  # the sections of the file by tag
        # Names in the file of the bodies of the file, by those in the mechanism; the ground is "world".
        self.bodies = {GROUND: "world"}
        # The XML element of each body, and of the ground.
        self.elements: dict[str, Element] = {GROUND: self.sections["worldbody"]}
        # The pose of each body in the world where all coordinates are zero.
        self.poses: dict[str, Frame] = {GROUND: Frame()}
        self.joints: list[Placed] = []  # the joints of the file in its order
        self.joint_elements: dict[str, Element] = {}  # the XML elements of the joints by name
        self._of_joint: dict[str, list[Placed]] = {}
        self.joint_names: dict[str, str] = {}  # for each joint of the mechanism the name of its last joint of the file
        self._coordinates: dict[tuple[str, int], str] = {}
        self._used: dict[str, set[str]] = {"body": {"world"}}

    def name(self, kind: str, wanted: str) -> str:
        """Return a free name for an element of a kind."""
        used = self._used.setdefault(kind, set())
        found = free_name(wanted, used)
        used.add(found)
        return found

    def add_joint(self, joint: Placed, element: Element) -> None:
        """Note a joint of the file, which its coordinates then find."""
        self.joints.append(joint)
        self.joint_elements[joint.name] = element
        self._of_joint.setdefault(joint.joint.name, []).append(joint)
        self.joint_names[joint.joint.name] = joint.name
        if joint.factor.type in ("hinge", "slide") and joint.factor.pitch is None:
            self._coordinates[joint.joint.name, joint.factor.coordinate] = joint.name

    def coordinate(self, joint: str, element: int) -> str | None:
        """Return the hinge or slide whose coordinate is that of a joint; None: there is none."""
        return self._coordinates.get((joint, element))

    def joints_of(self, joint: str) -> list[tuple[Placed, Element]]:
        """Return the joints of the file, with their elements, of a joint of the mechanism; none of a cut joint."""
        return [(one, self.joint_elements[one.name]) for one in self._of_joint.get(joint, ())]

    def add_site(self, name: str, body: str, frame: Frame) -> str:
        """Add a site to a body and return its name."""
        element = SubElement(self.elements[body], "site", name=self.name("site", name))
        place(element, frame)
        return element.attrib["name"]

    def text(self) -> str:
        """Return the XML; empty sections are left out."""
        if (levels := _levels(self.root)) > MAX_DEPTH:
            raise MechanismError(
                f"MJCF nests the bodies of a chain, here {levels} levels deep, and at most {MAX_DEPTH} are read: "
                "write URDF or JSON"
            )
        for section in list(self.root):
            if not len(section) and not section.attrib and section.tag != "worldbody":
                self.root.remove(section)
        indent(self.root)
        return tostring(self.root, encoding="unicode") + "\n"


def _levels(root: Element) -> int:
    """Return how deep elements are nested."""
    level, count = [root], 0
    while level:
        level, count = [child for element in level for child in element], count + 1
    return count


def place(element: Element, frame: Frame) -> None:
    """Set position and orientation of an element; those that are zero are left out."""
    if frame.position.any():
        element.set("pos", text_of(frame.position))
    if (frame.rotation != np.eye(3)).any():
        element.set("quat", text_of(frame.quaternion))


def text_of(numbers: FloatArray | Iterable[float] | float) -> str:
    """Return numbers with all their digits."""
    return " ".join(repr(float(number) + 0.0) for number in np.atleast_1d(np.asarray(numbers, dtype=np.float64)))
