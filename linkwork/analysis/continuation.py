"""Predictor-corrector continuation along a curve of poses, with steps that are proven to stay on their branch.

The poses q with G(q) = [Phi(q); y(q) - y0] = 0, closed with some functions y of the pose held, form a curve where
A = dG/ds has rank nu - 1. In weighed displacements z (see `ConfigurationSpace.weights`), A = U S V':

    predictor   z = h t,  A t = 0,  |t| = 1
    corrector   z = -V_r S_r^-1 U_r' G   (Gauss-Newton with the rank r = nu - 1, so that redundant rows do no harm)

A step from pose 0 to pose 1 is accepted only if |A0^+ (A1 - A0)| < 1/2, the same holds at the middle of the cubic
through both ends, and the corrector moves little in both. Then A keeps its rank in between and Newton's method from
either end contracts to the same curve: no other branch can have been taken (Allgower and Georg, Introduction to
Numerical Continuation Methods, chapters 2, 3 and 6). A step that fails is repeated at a fraction of its length.

The core makes points and steps where A is regular and what is held are coordinates of tree joints; singular values
decide elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.configuration_space import REDUNDANT, ROUNDINGS, SMALLEST, ConfigurationSpace
from linkwork.analysis.pose_functions import PoseFunction
from linkwork.core.curves import BlockCurve, NearlySingular
from linkwork.core.native import RANK_TOLERANCE
from linkwork.errors import Unfinished

MOST_CORRECTIONS = 8
CLOSED = 1e-12  # m for a mechanism of 1 m: accepted violation; corrections continue down to rounding
ROUNDING = 1e-15
CONTRACTION = 0.5  # largest |A0^+ (A1 - A0)| of a step
TARGET = 0.3  # of step control
FARTHEST = 0.1  # by which the corrector may move, relative to the step
FARTHEST_MIDDLE = 0.02
LEAST_REGULARITY = 1e-9  # of points that are followed: no decision on a rank, which is that of a curve
STEEP = 1e-3  # slope of a coordinate along the curve from which on the core makes rows: no dead point is near
SHORTEST = 1e-9  # of steps, relative to the length of the mechanism


class LostBranchError(Unfinished):
    """No step can be proven to stay on the branch; `point` is the last one on it."""

    def __init__(self, point: Point) -> None:
        super().__init__("no step can be proven to stay on the branch")
        self.point = point


class Decomposition(NamedTuple):
    """A (rows, nu), weighed, and its singular values, descending, as many as speeds, the last that of the tangent."""

    rows: FloatArray
    left: FloatArray
    values: FloatArray
    right: FloatArray

    @property
    def regularity(self) -> float:
        """Smallest singular value besides that of the tangent, relative to the largest; 0 at a branch point."""
        if len(self.values) == 1:
            return 1.0
        return float(self.values[-2] / max(self.values[0], SMALLEST))


def decomposed(rows: FloatArray) -> Decomposition:
    """Return rows with their singular values."""
    return Decomposition(rows, *np.linalg.svd(rows, full_matrices=False))


@dataclass(frozen=True)
class Point:
    """A pose on the curve."""

    curve: Curve = field(repr=False)
    q: FloatArray  # coordinates (nq,)
    tangent: FloatArray  # unit vector t (nu,) in weighed displacements; NaN where the rank of A drops
    regularity: float  # as of `Decomposition`; the core estimates it
    correction: float  # how far the corrector moved, m
    known: Decomposition | None = field(default=None, repr=False)  # None: it is found when it is asked for

    @cached_property
    def decomposition(self) -> Decomposition:
        """A with its singular values; the block comes to the pose."""
        if self.known is not None:
            return self.known
        self.curve.space.enter(self.q)
        return decomposed(self.curve.equations()[1])

    @property
    def rows(self) -> FloatArray:
        """A (rows, nu), weighed."""
        return self.decomposition.rows

    @property
    def rank(self) -> int:
        """Rank of A on a regular curve: nu - 1."""
        return len(self.tangent) - 1

    def along(self, direction: FloatArray) -> Point:
        """Return the same with the tangent that has a positive component along a direction (nu,)."""
        return replace(self, tangent=-self.tangent) if self.tangent @ direction < 0 else self

    def contraction(self, other: Point) -> float:
        """Return |A^+ (A_other - A)|."""
        r = self.rank
        if r == 0:
            return 0.0
        left, values = self.decomposition.left, self.decomposition.values
        change = left[:, :r].T @ (other.rows - self.rows) / values[:r, None]
        return float(np.linalg.norm(change, 2))


class Held(NamedTuple):
    """A function of the pose that is held, and its values (n,)."""

    function: PoseFunction
    values: FloatArray


class Curve:
    """The poses in which a mechanism is closed and some functions of the pose have their values."""

    def __init__(self, space: ConfigurationSpace, held: Sequence[Held] = ()) -> None:
        self.space, self.held = space, tuple(held)
        self.scale = max(space.length, 1e-3)
        self.core = self._in_core()

    def __reduce__(self) -> tuple[type[Curve], tuple[ConfigurationSpace, tuple[Held, ...]]]:
        """Copies and pickles have numbers of their own in the core."""
        return Curve, (self.space, self.held)

    def _in_core(self) -> BlockCurve | None:
        """Return the same curve in the core; None where more is held than coordinates of tree joints."""
        space, start = self.space, self.space.q
        coordinate = np.array(space.coordinate_of_speed)
        gaps, rows = [np.zeros(0)], [np.zeros((0, space.nu))]
        for function, values in self.held:
            by_speed = self.metres(function)[:, None] * function.rows()
            if not function.is_linear or by_speed[:, coordinate < 0].any():
                return None
            moved = by_speed[:, coordinate >= 0] @ start[coordinate[coordinate >= 0]]
            gaps.append(-self.metres(function) * function.difference(values) - moved)
            rows.append(by_speed / space.weights)
        arrays = {"weight": space.weights, "share": space.shares}
        arrays |= {"held_rows": np.vstack(rows), "held_gap": np.concatenate(gaps)}
        numbers = {
            "closed": CLOSED * self.scale,
            "rounding": ROUNDING * self.scale,
            "roundings": ROUNDINGS,
            "least_row": RANK_TOLERANCE * SMALLEST,
            "smallest": SMALLEST,
            "contraction": CONTRACTION,
            "farthest": FARTHEST,
            "farthest_middle": FARTHEST_MIDDLE,
        }
        return BlockCurve(space.block, coordinate, arrays, numbers)

    def speed_of(self, function: PoseFunction) -> int | None:
        """Return the speed that is the rate of a function, of which the core makes rows; None where it does not."""
        if self.core is None or not function.is_linear:
            return None
        speed = int(np.argmax(function.rows()[0]))
        return speed if self.space.coordinate_of_speed[speed] >= 0 else None

    def metres(self, function: PoseFunction) -> FloatArray:
        """Return (n,): the lengths by which values of a function count as metres."""
        return np.array([self.space.length if unit == "rad" else 1.0 for unit in function.units])

    def equations(self) -> tuple[FloatArray, FloatArray]:
        """Return G (rows,), m, and A (rows, nu), weighed, at the present pose."""
        space = self.space
        left, rows = [space.violation()], [space.jacobian()]
        for function, values in self.held:
            metres = self.metres(function)
            left.append(-metres * function.difference(values))
            rows.append(metres[:, None] * function.rows())
        missing = max(0, space.nu - sum(map(len, left)))  # zero rows, so that the decomposition is complete
        left.append(np.zeros(missing))
        rows.append(np.zeros((missing, space.nu)))
        return np.concatenate(left), np.vstack(rows) / space.weights

    def moved(self, q: FloatArray, z: FloatArray) -> FloatArray:
        """Return the pose after a weighed displacement z (nu,)."""
        return self.space.displaced(q, z / self.space.weights)

    def between(self, to: FloatArray, origin: FloatArray) -> FloatArray:
        """Return the weighed displacement (nu,) from one pose to another."""
        return self.space.weights * self.space.difference(to, origin)

    def point(self, q: FloatArray, least: float = LEAST_REGULARITY) -> Point | None:
        """Return the point of the curve next to a pose, the block there; None where Newton's method does not contract.

        `least` is the regularity below which a point counts as singular: None as well.
        """
        if self.core is not None:
            try:
                if (found := self.core.point(q)) is not None:
                    return Point(self, *found)
            except NearlySingular:
                pass
        return self.point_by_singular_values(q, least)

    def point_by_singular_values(self, q: FloatArray, least: float = LEAST_REGULARITY) -> Point | None:
        """Return the same without the core."""
        moved, before = np.zeros(self.space.nu), np.inf
        begin = q
        for _ in range(MOST_CORRECTIONS):
            self.space.enter(q)
            left, rows = self.equations()
            size = float(np.abs(left).max(initial=0.0))
            if not np.isfinite(size):
                return None
            svd = decomposed(rows)
            found = Point(self, q, svd.right[-1], svd.regularity, float(np.linalg.norm(moved)), svd)
            if found.regularity < least:
                return None
            if size <= REDUNDANT:  # rows that others imply but for rounding stay open by it
                independent = svd.left[:, : found.rank]
                size = float(np.abs(independent @ (independent.T @ left)).max(initial=0.0))
            rounding = self.space.rounding(q)
            is_closed = size <= max(CLOSED * self.scale, ROUNDINGS * rounding)
            if is_closed and (size <= max(ROUNDING * self.scale, rounding) or size > 0.1 * before):
                return found
            if size > 0.5 * before:
                return None
            r = found.rank
            step = -svd.right[:r].T @ ((svd.left[:, :r].T @ left) / svd.values[:r])
            before, q = size, self.moved(q, step)
            moved = self.between(q, begin)
        return found if is_closed else None

    def middle(self, first: Point, last: Point) -> FloatArray:
        """Return the pose at the middle of the cubic through two points with their tangents."""
        chord = self.between(last.q, first.q)
        size = float(np.linalg.norm(chord))
        return self.moved(first.q, 0.5 * chord + 0.125 * size * (first.tangent - last.tangent))


class Segment(Protocol):
    """A part of the curve between two points, by a parameter from `lower` to `upper`, m."""

    first: Point
    last: Point
    lower: float
    upper: float

    def at(self, parameter: float) -> Point:
        """Return a point of it; its tangent points forward."""
        ...


class Step:
    """A step that has been accepted, by the length of its predictor."""

    def __init__(self, curve: Curve, first: Point, last: Point, length: float, contraction: float) -> None:
        self.curve, self.first, self.last = curve, first, last
        # contraction: |A0^+ (A1 - A0)|, by which the next step is chosen
        self.lower, self.upper, self.contraction = 0.0, length, contraction

    def at(self, parameter: float) -> Point:
        """Return the point that the corrector finds from the predictor of a part of the step."""
        if parameter in (self.lower, self.upper):
            return self.first if parameter == self.lower else self.last
        found = self.curve.point(self.curve.moved(self.first.q, parameter * self.first.tangent))
        if found is None or found.correction > 2 * FARTHEST * self.upper:
            raise LostBranchError(self.first)
        return found.along(self.first.tangent)


def try_step(curve: Curve, first: Point, length: float) -> Step | None:
    """Return the step of a length from a point, or None where it is not proven to stay on the branch."""
    if curve.core is not None:
        try:
            found = curve.core.step(first.q, first.tangent, length)
        except NearlySingular:
            return _step_by_singular_values(curve, first, length)
        if found is None:
            return None
        return Step(curve, first, Point(curve, *found[0]).along(first.tangent), length, found[1])
    return _step_by_singular_values(curve, first, length)


def _step_by_singular_values(curve: Curve, first: Point, length: float) -> Step | None:
    last = curve.point_by_singular_values(curve.moved(first.q, length * first.tangent))
    if last is None or last.correction > FARTHEST * length:
        return None
    last = last.along(first.tangent)
    contraction = first.contraction(last)
    if contraction > CONTRACTION or last.contraction(first) > 2 * CONTRACTION:
        return None
    middle = curve.point_by_singular_values(curve.middle(first, last))
    if middle is None or middle.correction > FARTHEST_MIDDLE * length or first.contraction(middle) > CONTRACTION:
        return None
    return Step(curve, first, last, length, max(contraction, first.contraction(middle)))


def next_step(curve: Curve, first: Point, length: float) -> Step:
    """Return the longest step up to a length that is proven; LostBranchError where none is."""
    while length > SHORTEST * curve.scale:
        if (step := try_step(curve, first, length)) is not None:
            return step
        length *= 0.4
    raise LostBranchError(first)


def next_length(step: Step, longest: float) -> float:
    """Return the length to try after a step, at most `longest`."""
    growth = np.clip(TARGET / max(step.contraction, 1e-9), 0.3, 2.0)
    return float(min(growth * step.upper, longest))
