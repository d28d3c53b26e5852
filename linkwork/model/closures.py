"""Closures that cannot be satisfied together: what each misses in a least-squares compromise over all of them.

Closures are the cut joints, couplings, prescribed motions and distances. Assembly closes one after the other and stops
at the first that fails, which need not be the one at fault. The compromise is the pose in which the sum of squares of
all constraint violations in metres is least (by trust regions, scipy's `least_squares`): gaps, misalignments times the
loop's length, and residuals of couplings likewise. A closure without which the others close is a candidate to relax.

A loop may miss its closure by a little, as with an axis that was typed with few digits. A planar loop of revolutes
closes only if all axes are parallel and all points in one plane. With one revolute replaced by a spherical joint a
tilted axis is allowed, with one replaced by a cylindrical joint an offset along the axis: the coordinates that the
replacement takes are the error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of
from linkwork.errors import AssemblyError, ClosureGap, LinkworkError
from linkwork.mechanism import GROUND, Cylindrical, Frame, Joint, Mechanism, Revolute, Spherical
from linkwork.mechanism.joints import JointKind
from linkwork.model.compiled import CompiledMechanism, compile_mechanism
from linkwork.model.trial_pose import TrialPose

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.named_model import NamedModel
    from linkwork.model.state_values import StateValues

MOST_LISTED = 20  # in the text
MOST_UNKNOWNS, MOST_ROWS = 150, 600  # for more only the pose where assembly stopped is described
MOST_RELAXED, RELAXED_UNKNOWNS = 30, 600  # closures left out, one at a time; unknowns of all these searches
MOST_STEPS = 60
_ANGULAR = {"all": 3, "z": 2, "angle": 1, "": 0}  # rotations that a joint constrains, by what it keeps


class _Closure(NamedTuple):
    """A closure, its rows of the constraints, and what names it."""

    name: str
    kind: str
    rows: slice
    number: int  # of the joint, or of the coupling in the core
    joint: Joint | None
    unit: str


def describe_closures(model: NamedModel, block: Block, tolerance: float) -> tuple[tuple[ClosureGap, ...], str]:
    """Return what each closure misses in the compromise, worst first, and a table of it as text.

    The text is empty where there is but one closure, or where all are closed within `tolerance`, m.
    """
    closures = list(_closures(model, block))
    if not closures:
        return (), ""
    pose = _Compromises(model, block)
    try:
        everything = np.ones(block.model.constraint_rows, dtype=bool)
        q = pose.compromise(everything) if pose.is_small else pose.stopped
        found = sorted(_gaps(model, block, closures, pose, q), key=lambda item: -item[0])
        if len(closures) == 1 or not found[0][0] > tolerance:
            return tuple(gap for _, gap, _ in found), ""
        worst = [closures[number] for size, _, number in found if size > tolerance]
        tried = worst[: min(MOST_RELAXED, 1 + RELAXED_UNKNOWNS // max(pose.size, 1))] if pose.is_small else []
        relaxed = [one.name for one in tried if pose.closes(q, one.rows, tolerance)]
    except (LinkworkError, ValueError):  # violations that are not finite have no least squares
        return (), ""
    gaps = tuple(gap for _, gap, _ in found)
    return gaps, _table(gaps, relaxed, compromise=pose.is_small)


class _Compromises(TrialPose):
    """Poses in which some or all rows of the constraints are least."""

    def __init__(self, model: NamedModel, block: Block) -> None:
        super().__init__(model, block)
        self.stopped = block.reals[block.model.fields["q"].span].copy()
        self._start = block.reals[block.model.fields["q_start"].span][: self.size].copy()
        self.is_small = self.size <= MOST_UNKNOWNS and block.model.constraint_rows <= MOST_ROWS

    def compromise(self, rows: FloatArray) -> FloatArray:
        """Return the coordinates at which these rows are least, from the start guess or where assembly stopped."""
        found = [self._least(q, rows) for q in (self._start, self.stopped)]
        return min(found, key=lambda item: item[1])[0]

    def closes(self, q: FloatArray, without: slice, tolerance: float) -> bool:
        """Whether all closes from a pose without some rows."""
        rows = np.ones(self.block.model.constraint_rows, dtype=bool)
        rows[without] = False
        q, _ = self._least(q, rows)
        return bool(np.abs(self.violation(q)[rows]).max(initial=0.0) <= tolerance)

    def _least(self, q: FloatArray, rows: FloatArray) -> tuple[FloatArray, float]:
        """Return the coordinates near some at which rows are least, and the sum of their squares."""
        from scipy.optimize import least_squares

        def residual(x: FloatArray) -> FloatArray:
            phi: FloatArray = self.violation(x)[rows]
            return phi

        limits: dict[str, Any] = {"xtol": 1e-13, "ftol": 1e-13, "gtol": 1e-15, "max_nfev": MOST_STEPS}
        found = least_squares(residual, self.normalised(q), **limits)
        return self.normalised(np.asarray(found.x)), 2.0 * float(found.cost)


def _closures(model: NamedModel, block: Block) -> Sequence[_Closure]:
    """Return all closures in the order of the rows of their constraints."""
    mech, found, row = model.mechanism, [], 0
    joints = list(mech.joints.values())
    for loop in model.topology.loops:
        joint = joints[loop.joint]
        rows = slice(row, row + 6 - joint.kind.nu)
        found.append(_Closure(joint.name, "joint", rows, loop.joint, joint, "m"))
        row = rows.stop
    for number, coupling in enumerate(mech.couplings.values()):
        first = next(iter(coupling.terms.values()))
        unit = mech.joints[first.joint].kind.coordinate_units[first.element]
        kind = "coupling" if coupling.motion is None else "motion"
        found.append(_Closure(coupling.name, kind, slice(row + number, row + number + 1), number, None, unit))
    number = block.model.sizes.couplings - block.model.sizes.distances
    for k, name in enumerate(mech.distances, start=number):
        found.append(_Closure(name, "distance", slice(row + k, row + k + 1), k, None, "m"))
    return found


def _gaps(
    model: NamedModel, block: Block, closures: Sequence[_Closure], pose: _Compromises, q: FloatArray
) -> list[tuple[float, ClosureGap, int]]:
    """Return for each closure its violation in metres, what it misses, and its number."""
    phi = pose.violation(q)
    residual = block.reals[block.model.fields["coupling_residual"].span].copy()
    positions, turns = block.body_poses()
    place: dict[str, Any] = {
        name: (r, matrix_of(turn)) for name, r, turn in zip(model.mechanism.bodies, positions, turns, strict=True)
    }
    place[GROUND] = np.zeros(3), np.eye(3)
    found = []
    for number, one in enumerate(closures):
        size = float(np.linalg.norm(phi[one.rows]))
        if one.joint is not None:
            joint = one.joint
            angle = _misalignment(joint, place)
            gap = float(np.linalg.norm(phi[one.rows][_linear_rows(joint)]))
            found.append((size, ClosureGap(one.name, one.kind, gap, angle, "m", joint.parent, joint.child), number))
            continue
        ends = model.mechanism.distances[one.name].bodies if one.kind == "distance" else ("", "")
        found.append(
            (size, ClosureGap(one.name, one.kind, abs(float(residual[one.number])), 0.0, one.unit, *ends), number)
        )
    return found


def _linear_rows(joint: Joint) -> slice:
    """Rows of displacements: the first where the points coincide, else the last (csrc/joints/)."""
    rows, angular = 6 - joint.kind.nu, _ANGULAR[joint.kind.keeps]
    points_coincide = "m" not in joint.kind.motion_units and joint.kind.parameter is None
    return slice(0, rows - angular) if points_coincide else slice(angular, rows)


def _misalignment(joint: Joint, place: dict[str, Any]) -> float:
    """Return the angle, rad, by which the orientations of a joint's two frames miss what it constrains."""

    def axes(body: str, frame: Frame) -> FloatArray:
        turned: FloatArray = place[body][1] @ frame.rotation @ joint.kind.canonical_axes
        return turned

    of_parent, of_child = axes(joint.parent, joint.parent_frame), axes(joint.child, joint.child_frame)
    keeps = joint.kind.keeps
    if keeps == "z":
        z, other = of_parent[:, 2], of_child[:, 2]
        return float(np.arctan2(np.linalg.norm(np.cross(z, other)), z @ other))
    if keeps == "all":
        turn = of_parent.T @ of_child
        twice_sine = np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        return float(np.arctan2(twice_sine, np.trace(turn) - 1.0))
    sine = abs(float(of_parent[:, 2] @ of_child[:, 0])) if keeps == "angle" else 0.0
    return float(np.arcsin(min(1.0, sine)))


def _table(gaps: Sequence[ClosureGap], relaxed: Sequence[str], *, compromise: bool) -> str:
    where = "in the least-squares compromise over all closures" if compromise else "in the pose where assembly stopped"
    lines = [f"gaps {where}, the worst first:", *(f"  {_line(gap)}" for gap in gaps[:MOST_LISTED])]
    if len(gaps) > MOST_LISTED:
        lines.append(f"  and {len(gaps) - MOST_LISTED} more")
    if relaxed:
        lines.append(f"without {' or without '.join(map(repr, relaxed))} the others close")
    return "\n".join(lines)


def _line(gap: ClosureGap) -> str:
    ends = f" ({gap.parent} - {gap.child})" if gap.parent else ""
    angle = f", misalignment {np.rad2deg(gap.misalignment):.3g} deg" if gap.kind == "joint" else ""
    return f"{gap.kind} {gap.name!r}{ends}: {gap.gap:.3g} {gap.unit}{angle}"


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
