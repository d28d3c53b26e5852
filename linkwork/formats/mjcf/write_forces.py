"""Springs, dampers, rotors, limits of loads and actuators of an MJCF file."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import SubElement

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.factors import Placed
from linkwork.formats.mjcf.file_parts import NO_COORDINATE, FileParts, text_of
from linkwork.formats.mjcf.write_constraints import sum_tendon, two_point_tendon
from linkwork.mechanism import Force, Free, Joint, JointSpringDamper, PointSpringDamper


def write_forces(parts: FileParts) -> None:
    """Write springs, dampers and actuators, and what the joints have of rotors and limits."""
    acting: set[str] = set()
    for force in parts.mech.forces:
        if isinstance(force, JointSpringDamper):
            _write_joint_spring(parts, force)
        elif isinstance(force, PointSpringDamper):
            _write_point_spring(parts, force)
        elif force.type_name == "actuator":
            acting.update(force.joint_names)
            _write_actuator(parts, force)
        else:
            parts.report.left_out(force.label, "inputs from outside; MuJoCo takes forces on bodies as xfrc_applied")
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


def _write_actuator(parts: FileParts, force: Force) -> None:
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
