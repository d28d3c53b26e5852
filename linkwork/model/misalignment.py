"""Loops that miss their closure by a little, as with an axis that was typed with few digits: which joint, and by what.

A planar loop of revolutes closes only if all axes are parallel and all points in one plane. With one revolute replaced
by a spherical joint a tilted axis is allowed, with one replaced by a cylindrical joint an offset along the axis: the
coordinates that the replacement takes are the error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.mechanism import GROUND, Cylindrical, Mechanism, Revolute, Spherical
from linkwork.mechanism.joints import JointKind
from linkwork.model.compiled import CompiledMechanism, compile_mechanism

if TYPE_CHECKING:
    from linkwork.model.named_model import NamedModel
    from linkwork.model.state_values import StateValues

Assemble = Callable[[CompiledMechanism, str], "StateValues"]

LARGEST = 1e-2  # rad, or part of the size: larger errors are no matter of digits
MOST_LOOPS, MOST_JOINTS = 8, 16  # that are tried
_GAP = re.compile(r"leaves a gap of (\S+) m")
DIGITS = 1e-5  # of the size: what lengths with five digits miss
DECADES = 4  # of tolerances that are tried
CLEAR = 0.1  # of the error: by which the other axes may be off if one joint is to be blamed


def describe_misalignment(
    model: NamedModel,  # whose assembly failed
    error: AssemblyError,  # the failure; its text gives the gap that is left
    assemble: Assemble,  # assembles another mechanism with the same guesses, without those of a joint that is named
) -> str:
    """Return what keeps a loop of a model from closing, and the remedy; an empty text if no small error does."""
    gaps = _GAP.findall(str(error))  # the last: names may be anything
    if not gaps or float(gaps[-1]) > LARGEST * _size(model):
        return ""
    for closing in model.loop_names[:MOST_LOOPS]:
        revolutes = _revolutes_of_loop(model, closing)
        if (tilt := _tilt_of_loop(model, revolutes, assemble)) is not None:
            return _describe_tilt(model, *tilt)
        if revolutes and (offset := _offset(model, revolutes[0], assemble)) is not None:
            return (
                f"it would close if joint {revolutes[0]!r} were Cylindrical: along its axis, the loop misses by "
                f"{offset:.3g} m. Move a frame of one of its joints by that along the axis, or use a Cylindrical joint"
            )
    return ""


def describe_tolerance(model: NamedModel, error: AssemblyError, accepts: Callable[[float], bool]) -> str:
    """Return the tolerance that accepts the gap of a failure; an empty text if it is more than digits would explain.

    `accepts` tries whether the model assembles with a tolerance, one of loops of about a metre, so that smaller
    loops need a larger one than their gap.
    """
    gaps = _GAP.findall(str(error))
    if not gaps or not 0.0 < float(gaps[-1]) <= DIGITS * _size(model):
        return ""
    first = math.ceil(math.log10(2.0 * float(gaps[-1])))
    enough = next(
        (number for number in (10.0**power for power in range(first, first + DECADES)) if accepts(number)), None
    )
    if enough is None:
        return ""
    return (
        f"numbers with few digits leave such a gap: assemble(tolerance={enough:.0e}) accepts it, and simulate(state=) "
        "starts from its result"
    )


def _size(model: NamedModel) -> float:
    """Largest distance of a joint from the origin of a body, m."""
    joints = model.mechanism.joints.values()
    return max(float(np.linalg.norm(frame.position)) for j in joints for frame in (j.parent_frame, j.child_frame))


def _describe_tilt(model: NamedModel, names: list[str], angle: float) -> str:
    """Describe a tilt that one of two joints on a body has against the other, or one joint that closes a loop."""
    joints = [model.mechanism.joints[name] for name in names]
    bodies = [body for body in (joints[0].parent, joints[0].child) if all(body in (j.parent, j.child) for j in joints)]
    where = f"in {bodies[0]!r}" if len(bodies) == 1 else f"in {joints[0].parent!r} and {joints[0].child!r}"
    axes = f"the axes of joints {' and '.join(map(repr, names))}" if names[1:] else "its axes"
    return (
        f"it would close if joint {names[0]!r} were Spherical: {axes} {where} are off by {angle:.3g} rad. Give axes, "
        "and the rotations of frames and bodies, with all digits, or use a Spherical or Universal joint there, which "
        "takes such an error"
    )


def _is_used(mech: Mechanism, joint: str) -> bool:
    """Whether couplings or transitions name a joint, so that it cannot be replaced."""
    coupled = {term.joint for coupling in mech.couplings.values() for term in coupling.terms.values()}
    return joint in coupled or bool(mech.transitions)


def _with(model: NamedModel, joint: str, kind: JointKind, assemble: Assemble) -> StateValues | None:
    """Return the assembled state of a mechanism in which a joint is of another kind; None if it does not close."""
    twin = model.mechanism.copy()
    twin.joints[joint] = replace(twin.joints[joint], kind=kind)
    twin.forces = []
    for starts in (twin.start_q, twin.start_u):
        starts.pop(joint, None)
    try:
        return assemble(compile_mechanism(twin), joint)
    except LinkworkError:
        return None


def _tilt_of_loop(model: NamedModel, revolutes: list[str], assemble: Assemble) -> tuple[list[str], float] | None:
    """Return the joints of a loop whose axes are off, and the angle: those without which the others are parallel.

    They are two on one body: either of them may be wrong. Where none stands out, as in loops that are not planar, it is
    the one that closes the loop.
    """
    found: list[tuple[str, float]] = []
    clear: list[tuple[str, float]] = []
    for name in revolutes:
        state = _with(model, name, Spherical(), assemble)
        if state is None:
            continue
        axis = _axis(model, name)
        angle = _angle(axis, matrix_of(np.asarray(state[f"{name}.q"])) @ axis)
        if angle > LARGEST:
            continue
        found.append((name, angle))
        others = [_axis_in_world(model, other, state) for other in revolutes if other != name]
        spread = max((_angle(one, other) for one, other in combinations(others, 2)), default=np.inf)
        if spread <= CLEAR * angle:
            clear.append((name, angle))
    if clear:
        return [name for name, _ in clear], clear[0][1]
    return ([found[0][0]], found[0][1]) if found and found[0][0] == revolutes[0] else None


def _offset(model: NamedModel, joint: str, assemble: Assemble) -> float | None:
    """Return the displacement of a joint that may slide along its axis; None if it is large."""
    state = _with(model, joint, Cylindrical(_axis(model, joint)), assemble)
    if state is None:
        return None
    offset = abs(float(np.asarray(state[f"{joint}.q"])[1]))
    return offset if offset <= LARGEST * _size(model) else None


def _revolutes_of_loop(model: NamedModel, closing: str) -> list[str]:
    """Return the revolutes of a loop that can be replaced, the one that closes it first."""
    names, topology = list(model.mechanism.joints), model.topology
    loop = topology.loops[model.loop_names.index(closing)]
    around = [closing, *(names[topology.links[link].joint] for link in topology.around(loop))]
    joints = model.mechanism.joints
    revolutes = [name for name in around if isinstance(joints[name].kind, Revolute)]
    return [name for name in revolutes if not _is_used(model.mechanism, name)][:MOST_JOINTS]


def _axis(model: NamedModel, joint: str) -> FloatArray:
    """Axis of a revolute in its frame."""
    return model.mechanism.joints[joint].kind.axes[0]


def _axis_in_world(model: NamedModel, name: str, state: StateValues) -> FloatArray:
    joint = model.mechanism.joints[name]
    axis = joint.parent_frame.rotation @ joint.kind.axes[0]
    if joint.parent == GROUND:
        return axis
    turned: FloatArray = matrix_of(np.asarray(state[f"{joint.parent}.Q"])) @ axis
    return turned


def _angle(one: FloatArray, other: FloatArray) -> float:
    """Angle between two unit vectors as lines, 0 to pi/2."""
    return float(np.arctan2(np.linalg.norm(np.cross(one, other)), abs(one @ other)))
