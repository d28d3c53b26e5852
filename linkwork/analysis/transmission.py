"""The transmission angle of a coupler and the joint that it drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import GROUND, Joint

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


def transmission_angle(model: ModelBase, states: Sequence[State], first: str, second: str, output: str) -> FloatArray:
    """Return pi/2 less the angle between the line of two joints and the motion that the output gives the second one."""
    joints = model.mechanism.joints
    for name in (first, second, output):
        if name not in joints:
            raise MechanismNameError(f"there is no joint {name!r}: {suggest(name, joints)}")
    if first == second:
        raise MechanismError(f"a coupler reaches from one joint to another: both are {first!r}")
    rigid = _rigid_bodies(model)
    ends = [{rigid[body] for body in (joints[name].parent, joints[name].child)} for name in (first, second, output)]
    coupler = ends[0] & ends[1] - {rigid[GROUND]}
    if not coupler:
        raise MechanismError(
            f"no body has both joints {first!r} and {second!r}: a coupler reaches from the first to the second, and "
            "the second joins it to the link that the output moves"
        )
    if not (ends[1] - coupler) & ends[2] - {rigid[GROUND]}:
        raise MechanismError(
            f"output {output!r} does not carry a link with joint {second!r}: name the joint of the link that the "
            f"coupler drives at {second!r}"
        )
    if joints[output].kind.nu != 1:
        raise MechanismError(f"joint {output!r} has {joints[output].kind.nu} speeds: an output has one")
    if joints[output].kind.type_name not in ("revolute", "prismatic", "screw"):
        kind = type(joints[output].kind).__name__
        raise MechanismError(f"joint {output!r} is a {kind}: transmission angles are of hinges, slides and screws")
    block = model.block()
    angles = np.empty(len(states))
    for k, state in enumerate(states):
        model.enter(block, state)
        angles[k] = _angle(model, block, joints[first], joints[second], joints[output])
    return angles


def _rigid_bodies(model: ModelBase) -> dict[str, str]:
    """Return of each body the name of one that it is fixed to, the same for all that are fixed together."""
    mech = model.mechanism
    found = {name: name for name in (GROUND, *mech.bodies)}
    for joint in mech.joints.values():
        if joint.kind.nu == 0:
            old, new = found[joint.child], found[joint.parent]
            found = {name: new if one == old else one for name, one in found.items()}
    return found


def _angle(model: ModelBase, block: Block, first: Joint, second: Joint, output: Joint) -> float:
    origin, tip = _frame(model, block, first)[0], _frame(model, block, second)[0]
    motion = _motion(model, block, output, tip)
    line = tip - origin
    size = np.linalg.norm(line) * np.linalg.norm(motion)
    return float(np.arcsin(np.clip(abs(line @ motion) / size, 0.0, 1.0))) if size else np.nan


def _frame(model: ModelBase, block: Block, joint: Joint) -> tuple[FloatArray, FloatArray]:
    """Return position (3,) of a joint and its canonical axes (3, 3) in the parent, in the world."""
    body = -1 if joint.parent == GROUND else model.body_numbers[joint.parent]
    position, rotation, _ = block.body_motion(body, np.asarray(joint.parent_frame.position))
    axes: FloatArray = rotation @ joint.parent_frame.rotation @ joint.kind.canonical_axes
    return position, axes


def _motion(model: ModelBase, block: Block, output: Joint, tip: FloatArray) -> FloatArray:
    """Return the velocity (3,) of a point of the child when the output alone moves."""
    position, axes = _frame(model, block, output)
    axis, kind = axes[:, 2], output.kind
    if kind.type_name == "prismatic":
        return axis
    turning: FloatArray = np.cross(axis, tip - position)
    return turning + kind.value * axis if kind.type_name == "screw" else turning
