"""Lock-up of a driven mechanism: the pose beyond which it cannot follow its prescribed motions, found by assembly.

With the motions prescribed, the pose follows from the time, Phi(q, t) = 0. It ends at a fold: as t approaches t*, the
speeds grow as 1 / sqrt(t* - t), the derivative of Phi by q loses rank, and beyond t* no pose is near. A solver stops
somewhere around it, with any message. Assembly from pose to pose finds t* to the accuracy of the assembly itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork._util.part_names import suffixes
from linkwork.core.native import Block
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.mechanism.couplings import Coupling
from linkwork.model.base import ASSEMBLY_TOLERANCE
from linkwork.simulation.result import Result
from linkwork.simulation.run import Run

AHEAD = 1e-3  # part of the run: distance beyond the time that was reached in which a lock-up explains the failure
FIRST_STEP, LAST_STEP = 1e-4, 1e-14  # of the run: steps from pose to pose
MOST_POSES = 1000  # to be assembled
ON_MOTION = 1e-3  # rad or m by which a row of the run may miss its assembled pose
SMALL, FAR = 1e-2, 0.5  # rad or m: changes of a coordinate that any step, and that no step, may make
RANK = 1e-7  # of the largest singular value: below it a direction counts as free
SHARE = 0.1  # of the largest part in a lock-up: drives with less of it are not named


@dataclass(frozen=True)
class LockUp:
    """Where a driven mechanism locks up.

    Attributes
    ----------
    t
        Last time at which the loops allow the motions, s.
    drives
        Names of the couplings whose motions end there.
    coordinates
        Driven coordinates by name, as "A.q", with their values, rad or m.
    fault
        The error of the assembly just beyond.
    """

    t: float
    drives: tuple[str, ...]
    coordinates: dict[str, tuple[float, str]]
    fault: AssemblyError

    def __str__(self) -> str:
        values = " and ".join(f"{name} = {q:.9g} {unit}" for name, (q, unit) in self.coordinates.items())
        joints = list(dict.fromkeys(name.rpartition(".q")[0] for name in self.coordinates))
        drive, motion, it = ("drive", "its motion", "it") if len(self.drives) == 1 else ("drives", "motions", "them")
        return (
            f"The mechanism locks up: {drive} {quoted(self.drives)} cannot move {'joints' if joints[1:] else 'joint'} "
            f"{quoted(joints)} beyond {values}, reached at t = {self.t:.9g} s, where its loops are at the end "
            f"of their range. Keep {motion} within that range, or drive another joint instead of {it}"
        )


def find_lock_up(run: Run, result: Result) -> LockUp | None:
    """Return the lock-up at which a failed run ended; None if the loops allow the motions, or there are none."""
    if not run.system.numbering.motions or not result.t.size or run.recorder.t_end < run.recorder.t_start:
        return None
    follower = _Follower(run)
    pose = follower.last_followed(result)
    if pose is None:
        return None
    end = run.recorder.t + AHEAD * (run.recorder.t_end - run.recorder.t_start)
    found = follower.end_of_range(pose, end)
    return None if found is None else follower.described(*found)


@dataclass(frozen=True)
class _Pose:
    """An assembled pose: time, coordinates and rates of all joints."""

    t: float
    q: FloatArray
    rate: FloatArray


class _Follower:
    """Follows the prescribed motions of a run from pose to pose."""

    def __init__(self, run: Run) -> None:
        self._run, self._system = run, run.system
        self._block: Block = run.system.block()
        self._span = run.recorder.t_end - run.recorder.t_start
        if run.system.sizes.transitions:
            self._block.put_discrete_state(run.block.discrete_state)
        for field in ("q_priority", "u_priority", "u_start"):
            self._block.put(field, 0.0)

    def last_followed(self, result: Result) -> _Pose | None:
        """Return the pose of the last row that is on the motions, of those since the last event."""
        changes = self._run.recorder.changes
        since = changes[-1].event.t if changes else -math.inf
        row, back = len(result.t) - 1, 1
        while row >= 0 and result.t[row] >= since:
            q = self._coordinates(float(result.t[row]), result.y[row])
            pose = None if q is None else self._assembled(float(result.t[row]), q)
            if q is not None and isinstance(pose, _Pose) and np.abs(pose.q - q).max() <= ON_MOTION:
                return pose
            row, back = row - back, 2 * back
        return None

    def _coordinates(self, t: float, y: FloatArray) -> FloatArray | None:
        """Return the coordinates of all joints in a row of the run; None where they do not exist."""
        try:
            self._run.enter(t, y)
            return np.concatenate([self._run.block["q"], self._run.block["q_cut"]])
        except LinkworkError:
            return None

    def _assembled(self, t: float, guess: FloatArray) -> _Pose | LinkworkError:
        """Return the pose at a time that is nearest to a guess, or the error if there is no such pose."""
        block = self._block
        block.put("q_start", guess)
        try:
            block.put_motion(t, self._run.inputs.at(t)[self._system.numbering.driven])
            block.assemble(ASSEMBLY_TOLERANCE)
            q, rate = (np.concatenate([block[one], block[f"{one}_cut"]]) for one in "qu")
        except LinkworkError as fault:
            return fault
        return _Pose(t, q, rate)

    def end_of_range(self, pose: _Pose, end: float) -> tuple[_Pose, AssemblyError] | None:
        """Return the last pose that can be reached from one on, and the error beyond; None if `end` is reached."""
        step, least = FIRST_STEP * self._span, max(LAST_STEP * self._span, 4 * np.spacing(end))
        fault: AssemblyError | None = None
        for _ in range(MOST_POSES):
            if pose.t >= end:
                return None
            if step < least:
                break
            found = self._assembled(min(pose.t + step, end), pose.q)
            if isinstance(found, _Pose) and _continues(pose, found):
                pose, step = found, 2 * step
                continue
            step /= 4
            if isinstance(found, AssemblyError):
                fault = found
        return (pose, fault) if fault is not None and step < least else None

    def described(self, pose: _Pose, fault: AssemblyError) -> LockUp:
        """Name the drives that lock in a pose."""
        mech, numbering = self._system.mechanism, self._system.numbering
        drives = [mech.couplings[name] for name in numbering.motions]
        if len(drives) > 1:
            drives = self._locked(pose, drives)
        coordinates: dict[str, tuple[float, str]] = {}
        for drive in drives:
            for term in drive.terms.values():
                kind, span = mech.joints[term.joint].kind, numbering.q[term.joint]
                name = f"{term.joint}.q{suffixes(kind.nq)[term.element]}"
                coordinates[name] = float(pose.q[span.start + term.element]), kind.coordinate_units[term.element]
        return LockUp(pose.t, tuple(drive.name for drive in drives), coordinates, fault)

    def _locked(self, pose: _Pose, drives: list[Coupling]) -> list[Coupling]:
        """Return those of several drives that the constraints block: the rows of a combination that no motion changes.

        N: admissible motions without the drives, D: rows of the drives. D N loses rank; its left singular vector of
        the smallest singular value is the combination.
        """
        if not isinstance(self._assembled(pose.t, pose.q), _Pose):
            return drives
        jacobian, names = self._block.constraint_jacobian(), list(self._system.mechanism.couplings)
        first = len(jacobian) - self._system.sizes.couplings
        rows = [first + names.index(drive.name) for drive in drives]
        _, sizes, motions = np.linalg.svd(np.delete(jacobian, rows, axis=0))
        rank = int(np.count_nonzero(sizes > RANK * sizes.max(initial=0.0)))
        driven = jacobian[rows] / np.linalg.norm(jacobian[rows], axis=1, keepdims=True)
        combinations, _, _ = np.linalg.svd(driven @ motions[rank:].T)
        part = np.abs(combinations[:, -1])
        return [drive for drive, size in zip(drives, part, strict=True) if size >= SHARE * part.max()]


def _continues(before: _Pose, after: _Pose) -> bool:
    """Whether a pose is the next one of the same motion, rather than one of another branch."""
    change, linear = np.abs(after.q - before.q).max(), (after.t - before.t) * np.abs(before.rate).max()
    return bool(change <= min(2 * linear + SMALL, FAR))
