"""A mechanism given to the builder in C, part by part; bodies and joints, of which there are many, all at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.builder import Builder, formula, frames, joint_kinds, parameters, quantity
from linkwork.core.native import METHOD_CODES
from linkwork.mechanism import (
    Action,
    Command,
    Crossing,
    FormulaForce,
    Frame,
    Impulse,
    JointSpringDamper,
    Lock,
    Mechanism,
    Pin,
    PointDistance,
    Release,
    Stop,
    Time,
    Transition,
    Unlock,
)
from linkwork.mechanism.forces import ForceAlongLine, ForceOnJoints
from linkwork.mechanism.joints import JointKind
from linkwork.mechanism.own_states import all_states
from linkwork.mechanism.points import QUANTITIES
from linkwork.mechanism.quantities import Reading
from linkwork.model.methods import MethodRequest, code_of


def describe(mech: Mechanism, method: MethodRequest = "auto", reference: str = "auto") -> Builder:
    """Return a builder that has all of a mechanism; joints that are pins come from their transitions."""
    b = Builder()
    b.set_gravity(mech.gravity)
    _add_bodies(b, mech)
    _add_joints(b, mech)
    _add_couplings(b, mech)
    _add_forces(b, mech)
    for transition in mech.transitions.values():
        _add_transition(b, mech, transition)
    for point in mech.points.values():
        b.add_point(point.name, point.body, point.point, point.axis)
    for measure in mech.measures.values():
        b.add_measure(measure.name, QUANTITIES.index(measure.quantity), *measure.points)
    for output in mech.outputs.values():
        b.add_output(output.name, formula(output.program(mech), 0))
    for state in all_states(mech):
        program = formula(state.program(mech), len(state.inputs))
        b.add_state(state.name, state.start, state.nominal, program)
    for joint, q in mech.start_q.items():
        b.start_q(joint, np.asarray(q, dtype=np.float64))
    for joint, u in mech.start_u.items():
        b.start_u(joint, np.asarray(u, dtype=np.float64))
    if isinstance(method, Mapping):
        for joint, one in method.items():
            b.set_method(joint, METHOD_CODES[one])
    else:
        b.set_method(None, code_of(method, reference))
    return b


def _texts(names: Iterable[str]) -> str:
    """Return texts one behind the other, each with its zero; C adds that of the last."""
    return "\0".join(names)


def _add_bodies(b: Builder, mech: Mechanism) -> None:
    bodies = list(mech.bodies.values())
    mass = np.array([body.mass for body in bodies], dtype=np.float64)
    com = np.concatenate([body.com for body in bodies])
    inertia = np.concatenate([body.inertia for body in bodies])
    b.add_bodies(len(bodies), _texts(mech.bodies), mass, com, inertia)


def _add_joints(b: Builder, mech: Mechanism) -> None:
    pins = {name for name, one in mech.transitions.items() if isinstance(one.action, Pin)}
    joints = [joint for name, joint in mech.joints.items() if name not in pins]
    if not joints:
        return
    kinds = list({id(joint.kind): joint.kind for joint in joints}.values())
    number = {id(kind): k for k, kind in enumerate(kinds)}
    ends = [frame for joint in joints for frame in (joint.parent_frame, joint.child_frame)]
    b.add_joints(
        len(joints),
        _texts(joint.name for joint in joints),
        _kinds(kinds),
        np.array([number[id(joint.kind)] for joint in joints], dtype=np.int32),
        _texts(joint.parent for joint in joints),
        _texts(joint.child for joint in joints),
        frames(_numbers(ends)),
        np.array([joint.cut for joint in joints], dtype=np.bool_),
    )
    owner = np.repeat(np.arange(len(joints)), [joint.kind.nu for joint in joints])
    rotors = [_of_speeds(joint.kind, joint.reflected_inertia) for joint in joints]
    limits = [_of_speeds(joint.kind, joint.max_load) for joint in joints]
    for k in dict.fromkeys(owner[np.concatenate(rotors) != 0.0].tolist()):
        b.set_reflected_inertia(joints[k].name, rotors[k])
    for k in dict.fromkeys(owner[np.concatenate(limits) < np.inf].tolist()):
        b.set_max_load(joints[k].name, limits[k])


def _of_speeds(kind: JointKind, values: FloatArray) -> FloatArray:
    """Return a number for each speed of a joint, whose kind may have been replaced."""
    return values if values.size == kind.nu else np.broadcast_to(values, (kind.nu,))


def _numbers(given: list[Frame]) -> FloatArray:
    """Return frames as rows of positions and rotations, (n, 12)."""
    positions = np.concatenate([frame.position for frame in given]).reshape(-1, 3)
    rotations = np.concatenate([frame.rotation for frame in given]).reshape(-1, 9)
    return np.concatenate([positions, rotations], axis=1)


def frame_numbers(mech: Mechanism) -> FloatArray:
    """Return the frames of all joints as the core has them, (joints, 2, 12)."""
    ends = [frame for joint in mech.joints.values() for frame in (joint.parent_frame, joint.child_frame)]
    return _numbers(ends).reshape(-1, 2, 12)


def _kinds(kinds: list[JointKind]) -> object:
    return joint_kinds(
        [(kind.type_name, np.ravel(kind.axes).tolist(), kind.value, kind.path_numbers) for kind in kinds]
    )


def _add_couplings(b: Builder, mech: Mechanism) -> None:
    for coupling in mech.couplings.values():
        b.add_coupling(coupling.name, coupling.offset)
        for term in coupling.given_terms.values():
            b.add_term(coupling.name, term.joint, term.element, term.coefficients)
        if (motion := coupling.motion) is not None:
            b.set_motion(coupling.name, motion.coefficients, motion.amplitude, motion.frequency, motion.phase)
        if coupling.formula is not None:
            b.set_coupling_formula(coupling.name, formula(coupling.program(mech), 0))
    for distance in mech.distances.values():
        (first, second), (start, end) = distance.bodies, distance.points
        b.add_distance(distance.name, first, start, second, end, distance.length)


def _add_forces(b: Builder, mech: Mechanism) -> None:
    for force in mech.forces:
        if isinstance(force, JointSpringDamper):
            size = mech.joints[force.joint].kind.nu
            each = (force.stiffness, force.damping, force.free)
            b.add_joint_spring(force.joint, *(np.array(np.broadcast_to(one, size), float) for one in each))
        else:
            _add_force(b, mech, force)


def _add_force(b: Builder, mech: Mechanism, force: Any) -> None:
    """Add a force by its record."""
    values = {one.field: force.core_value(one, mech) for one in force.fields_of("parameter")}
    given = {field: np.ravel(value) for field, value in values.items() if value is not None}
    ends = (None, None) if isinstance(force, ForceAlongLine) else (*force.body_names, None, None)[:2]
    b.add_force(force.core_name, force.name, *ends, parameters(given), len(given))
    if isinstance(force, ForceOnJoints):
        for (joint, element), gear in zip(force.places(mech), force.gears.values(), strict=True):
            b.add_gear(force.name, joint, element, gear)
    if isinstance(force, ForceAlongLine):
        for (body, point), factor in zip(force.ends, (0.0, *force.factor_of_each), strict=True):
            b.add_line_point(force.name, body, point, factor)
    if isinstance(force, FormulaForce):
        b.set_formula(force.name, formula(force.program(mech), len(force.inputs)))


def _add_transition(b: Builder, mech: Mechanism, transition: Transition) -> None:
    name = transition.name
    _add_action(b, mech, name, transition.action)
    match transition.when:
        case Time(t=t):
            b.at_time(name, t)
        case Command():
            b.on_command(name)
        case Crossing() as crossing:
            _add_crossing(b, mech, name, crossing)


def _add_action(b: Builder, mech: Mechanism, name: str, action: Action) -> None:
    match action:
        case Lock():
            b.add_lock(name, action.joint, _mask(action.elements(mech)))
        case Unlock():
            b.add_unlock(name, action.joint, _mask(action.elements(mech)))
        case Pin():
            ends = [
                None if one is None else frames(_numbers([one])) for one in (action.parent_frame, action.child_frame)
            ]
            b.add_pin(name, _kinds([action.kind]), action.parent, action.child, *ends)
        case Release():
            b.add_release(name, action.joint)
        case Stop():
            lower = -math.inf if action.lower is None else action.lower
            upper = math.inf if action.upper is None else action.upper
            b.add_stop(name, action.joint, action.element, lower, upper, action.restitution)
        case Impulse():
            b.add_impulse(name, action.body, action.point, action.force, action.torque)
        case _:
            raise TypeError(f"the core has no call for {action!r}")


def _mask(speeds: Iterable[int]) -> int:
    return sum(1 << speed for speed in speeds)


def _add_crossing(b: Builder, mech: Mechanism, name: str, crossing: Crossing) -> None:
    watched = crossing.watched(mech)
    if isinstance(watched, Reading):
        b.at_variable(name, quantity(watched), crossing.value, crossing.direction)
    elif isinstance(watched, PointDistance):
        (first, second), (start, end) = watched.bodies, watched.points
        at = b.at_distance_rate if watched.rate else b.at_distance
        at(name, first, start, second, end, crossing.value, crossing.direction)
    else:
        at = b.at_speed if watched.is_speed else b.at_crossing
        at(name, watched.joint, watched.element, crossing.value, crossing.direction)
