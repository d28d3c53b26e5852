"""Particles, their segments and the joints between these, as they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, finite, length, numbers
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.mechanism import Spherical
from linkwork.mechanism.joints import JointKind

IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class Particles:
    """Positions and velocities (n, 3), and masses (n,)."""

    positions: FloatArray
    velocities: FloatArray
    masses: FloatArray


@dataclass(frozen=True)
class GivenJoint:
    """A joint at a point (3,) between segments by number."""

    parent: int
    child: int
    kind: JointKind
    point: FloatArray


def read_particles(positions: ArrayLike, velocities: ArrayLike, masses: ArrayLike) -> Particles:
    """Return the particles; errors name the first particle concerned."""
    n = length(positions)
    if n == 0:
        raise MechanismError("coarse_grain: there are no particles: positions must be n x 3 numbers")
    given = Particles(
        _rows(positions, (n, 3), "positions"), _rows(velocities, (n, 3), "velocities"), _rows(masses, (n,), "masses")
    )
    if (given.masses <= 0).any():
        k = int(np.argmax(given.masses <= 0))
        raise MechanismError(
            f"coarse_grain: particle {k} has mass {given.masses[k]:g}: a mass must be positive; leave massless ones out"
        )
    return given


def _rows(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    rows = numbers(value, shape, f"coarse_grain: {what}")
    bad = ~np.isfinite(rows).reshape(len(rows), -1).all(axis=1)
    if bad.any():
        k = int(np.argmax(bad))
        raise MechanismError(f"coarse_grain: {what} must be finite, but particle {k} has {rows[k].tolist()}")
    return rows


def read_segments(segments: Any, n: int) -> list[IndexArray]:
    """Return the particles of each segment, from the number of each particle's segment or from their lists."""
    flat = isinstance(segments, np.ndarray) and segments.ndim == 1 and segments.dtype.kind != "O"
    if flat or (length(segments) and all(np.ndim(item) == 0 for item in segments)):
        number = _indices(segments, "segments")
        if number.size != n:
            raise MechanismError(
                f"coarse_grain: segments has {number.size} numbers for {n} particles: give that of each particle's "
                "segment, or a list with the particles of each segment"
            )
        return _by_number(number)
    if not length(segments):
        raise MechanismError("coarse_grain: there are no segments: give the number of each particle's segment")
    lists = [_indices(item, f"segment {k}") for k, item in enumerate(segments)]
    _check_partition(lists, n)
    return lists


def _by_number(number: IndexArray) -> list[IndexArray]:
    if number.min() < 0:
        k = int(np.argmax(number < 0))
        raise MechanismError(f"coarse_grain: particle {k} is in segment {number[k]}: segments are numbered from 0")
    empty = np.setdiff1d(np.arange(number.max() + 1), number)
    if empty.size:
        raise MechanismError(
            f"coarse_grain: {_plural('segment', empty)} no particles: number segments from 0 without a gap"
        )
    order = np.argsort(number, kind="stable")
    return np.split(order, np.cumsum(np.bincount(number))[:-1])


def _check_partition(lists: Sequence[IndexArray], n: int) -> None:
    empty = np.flatnonzero([item.size == 0 for item in lists])
    if empty.size:
        raise MechanismError(f"coarse_grain: {_plural('segment', empty)} no particles: leave it out of segments")
    for k, item in enumerate(lists):
        off = item[(item < 0) | (item >= n)]
        if off.size:
            raise MechanismError(f"coarse_grain: segment {k}: there is no particle {off[0]}; there are 0 to {n - 1}")
    count = np.bincount(np.concatenate(lists), minlength=n)
    for wrong, how in ((count == 0, "in no segment"), (count > 1, "in segments more than once")):
        if wrong.any():
            raise MechanismError(
                f"coarse_grain: particle {np.argmax(wrong)} is {how}: put every particle in exactly one"
            )


def _indices(value: Any, what: str) -> IndexArray:
    """Return integers (m,); an empty list has none."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.ndim == 1 and array.size == 0:
        return np.zeros(0, np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise MechanismError(f"coarse_grain: {what} must be whole numbers, counted from 0, not {array!r:.80}")
    return array.astype(np.intp)


def _plural(what: str, found: NDArray[Any]) -> str:
    """Return "segment 3 has" or "segments 3, 5 have"."""
    listed = quoted(map(int, found)).replace("'", "")  # type: ignore[arg-type]
    return f"{what} {listed} has" if len(found) == 1 else f"{what}s {listed} have"


def read_joints(joints: Any, segments: int) -> list[GivenJoint]:
    """Return the joints; all segments must hang together by them."""
    if not isinstance(joints, Sequence):
        raise MechanismError(
            f"coarse_grain: joints must be a list such as [(0, 1, point)], not a {type(joints).__name__}"
        )
    read = [_joint(item, f"coarse_grain: joint {k}", segments) for k, item in enumerate(joints)]
    _check_connected(read, segments)
    return read


def _joint(item: Any, what: str, segments: int) -> GivenJoint:
    if length(item) not in (3, 4) or isinstance(item, str):
        raise MechanismError(f"{what} must be (segment, segment, point) or (segment, segment, kind, point)")
    parent, child, *kind, point = item
    for end in (parent, child):
        if not isinstance(end, int | np.integer) or isinstance(end, bool) or not 0 <= end < segments:
            raise MechanismError(f"{what}: there is no segment {end!r}: they are numbered 0 to {segments - 1}")
    if parent == child:
        raise MechanismError(f"{what} joins segment {parent} to itself: give two different segments")
    if kind and not isinstance(kind[0], JointKind):
        raise MechanismError(f"{what}: the third of four must be a joint such as Spherical(), not {kind[0]!r}")
    return GivenJoint(int(parent), int(child), kind[0] if kind else Spherical(), finite(point, (3,), f"{what}: point"))


def _check_connected(joints: Sequence[GivenJoint], segments: int) -> None:
    neighbours: list[list[int]] = [[] for _ in range(segments)]
    for joint in joints:
        neighbours[joint.parent].append(joint.child)
        neighbours[joint.child].append(joint.parent)
    reached, waiting = {0}, [0]
    while waiting:
        new = set(neighbours[waiting.pop()]) - reached
        reached |= new
        waiting += new
    lost = np.setdiff1d(np.arange(segments), sorted(reached))
    if lost.size:
        raise MechanismError(
            f"coarse_grain: {_plural('segment', lost)} no path of joints to segment 0: add a joint between "
            f"{lost[0]} and a segment that has one"
        )
