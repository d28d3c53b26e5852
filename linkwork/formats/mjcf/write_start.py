"""Start values of an MJCF file: a keyframe."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple
from xml.etree.ElementTree import SubElement

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import conjugate, matrix_of, product
from linkwork.errors import LinkworkError, LinkworkWarning
from linkwork.formats.mjcf.factors import Placed
from linkwork.formats.mjcf.file_parts import NO_COORDINATE, FileParts, text_of
from linkwork.mechanism import Frame
from linkwork.model.compile import compile


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
