"""Closures that cannot be satisfied together: what each misses in a least-squares compromise over all of them.

Closures are the cut joints, couplings, prescribed motions and distances. Assembly closes one after the other and stops
at the first that fails, which need not be the one at fault. The compromise is the pose in which the sum of squares of
all constraint violations in metres is least (Levenberg and Marquardt): gaps, misalignments times the loop's length, and
residuals of couplings likewise. A closure without which the others close is a candidate to relax.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of
from linkwork.errors import ClosureGap, LinkworkError
from linkwork.mechanism import GROUND, Frame, Joint
from linkwork.model.trial_pose import TrialPose

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.named_model import NamedModel

MOST_LISTED = 20  # in the text
MOST_UNKNOWNS, MOST_ROWS = 150, 600  # for more only the pose where assembly stopped is described
MOST_RELAXED, RELAXED_UNKNOWNS = 30, 600  # closures left out, one at a time; unknowns of all these searches
MOST_STEPS = 60
_INCREMENT = 1e-7
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
    except LinkworkError:
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
        """Levenberg and Marquardt; returns the coordinates and the sum of squares."""
        q = self.normalised(q)
        phi = self.violation(q)[rows]
        cost, damping = float(phi @ phi), 1e-3
        for _ in range(MOST_STEPS):
            slope = np.stack([self._slope(q, k, rows, phi) for k in range(q.size)], axis=1)
            before = cost
            while damping < 1e10:
                system = np.vstack([slope, np.sqrt(damping) * np.eye(q.size)])
                step = np.linalg.lstsq(system, np.concatenate([-phi, np.zeros(q.size)]), rcond=None)[0]
                trial = self.normalised(q + step)
                trial_phi = self.violation(trial)[rows]
                if (trial_cost := float(trial_phi @ trial_phi)) < cost:
                    q, phi, cost, damping = trial, trial_phi, trial_cost, max(0.1 * damping, 1e-15)
                    break
                damping *= 10.0
            if before - cost <= 1e-13 * before or cost < 1e-26:
                break
        return q, cost

    def _slope(self, q: FloatArray, k: int, rows: FloatArray, phi: FloatArray) -> FloatArray:
        moved = q.copy()
        moved[k] += _INCREMENT
        change: FloatArray = (self.violation(moved)[rows] - phi) / _INCREMENT
        return change


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


def _angular(joint: Joint) -> int:
    """Return how many rotations a joint constrains."""
    return _ANGULAR[joint.kind.keeps]


def _linear_rows(joint: Joint) -> slice:
    """Rows of displacements: the first where the points coincide, else the last (csrc/joints/)."""
    rows, angular = 6 - joint.kind.nu, _angular(joint)
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
