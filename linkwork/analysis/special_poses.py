"""Special poses of a sweep: dead points, limits and branch points, and the monotonic pieces of the curve between them.

Along the curve the swept coordinate p(s) has the slope p' = (dp/dz) t. It turns back where p' = 0, a dead point: with
p held, the constraints lose rank there. A limit is a bound of a `Stop`. Both are roots along a segment, found to
rounding by Brent's method on points that the corrector has put on the curve.

At a branch point branches of the motion cross. At a regular point near it, A = U S V' has one small value s_r. Its left
vector u and the kernel K = [t, v_r] reduce the equations G = 0 to one in two unknowns (Lyapunov and Schmidt):

    b(y) = u' G(q(y)),   where   U_(r-1)' G(q) = 0,   K' z(q) = y

b = 0 are the branches; they cross where b = 0 and grad b = 0. Newton's method on grad b finds this pose although A has
no inverse there. The directions d of the branches are those with d' H d = 0, H the Hessian of b: two for a saddle
(Allgower and Georg, Introduction to Numerical Continuation Methods, chapter 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq

from linkwork._util.checks import FloatArray
from linkwork.analysis.configuration_space import SMALLEST
from linkwork.analysis.continuation import (
    CONTRACTION,
    FARTHEST,
    ROUNDING,
    TARGET,
    Curve,
    LostBranchError,
    Point,
    Segment,
    Step,
    decomposed,
    next_length,
    next_step,
)
from linkwork.analysis.pose_functions import PoseFunction, joint_rates
from linkwork.mechanism.actions import Stop

Kind = Literal["dead point", "limit", "branch point"]
FIRST_STEP = 0.05  # of the mechanism's length
LONGEST = 0.5  # of the mechanism's length: steps along which functions of the pose may bend
TURN = 1.0  # rad in a step, of angles whose revolutions are counted
NEXT_TO = 1e-5  # of the mechanism's length: a branch that is not continued is left this near to its branch point
MOST_KEPT = 60  # points of a branch, from which a branch point of higher order is found
INSIDE = 1e-12  # by which a bound may be violated at the start


class Tracked:
    """A function of the pose with one value, whose angle is continued over full revolutions."""

    def __init__(self, curve: Curve, function: PoseFunction, element: int = 0) -> None:
        self.function, self.element = function, element
        self._weights = curve.space.weights
        self.name = function.names[element]
        self.reference = float(function.value()[element])

    def value(self) -> float:
        """Return the value at the present pose, next to that of the pose tracked last."""
        reference = self.function.value()
        reference[self.element] = self.reference
        return self.reference - float(self.function.difference(reference)[self.element])

    def slope(self, point: Point) -> float:
        """Return its derivative along the tangent of a point, at which the present pose is, per metre."""
        return float(self.function.rows()[self.element] / self._weights @ point.tangent)

    def track(self) -> None:
        """Count revolutions from the present pose on."""
        self.reference = self.value()


class Limit(NamedTuple):
    """A bound of a `Stop`: the transition, its coordinate, and the bound with the sign of the way in."""

    name: str
    coordinate: Tracked
    bound: float
    sign: float

    def inside(self) -> float:
        """Return the distance from the bound at the present pose."""
        return self.sign * (self.coordinate.value() - self.bound)


def limits_of(curve: Curve) -> list[Limit]:
    """Return the bounds of all stops."""
    found = []
    for name, transition in curve.space.model.mechanism.transitions.items():
        if isinstance(stop := transition.action, Stop):
            for bound, sign in ((stop.lower, 1.0), (stop.upper, -1.0)):
                if bound is not None:
                    tracked = Tracked(curve, joint_rates(curve.space, stop.joint), stop.element)
                    found.append(Limit(name, tracked, bound, sign))
    return found


@dataclass(frozen=True)
class Mark:
    """Where on a segment something special is: its parameter, kind and, for a limit, the transition."""

    parameter: float
    kind: Kind
    name: str = ""


@dataclass(frozen=True)
class Piece:
    """A part of a segment on which the swept coordinate is monotonic, from one value to another.

    `mark` is at its end; the motion `ends` there if it is not continued.
    """

    segment: Segment
    lower: float
    upper: float
    first: float
    last: float
    mark: Mark | None
    ends: bool


class Trace:
    """The way along a curve, in pieces."""

    def __init__(
        self,
        curve: Curve,  # with the degree of freedom that is swept
        swept: Tracked,  # the swept coordinate
        recorded: Sequence[PoseFunction] = (),  # further functions whose revolutions are counted
        *,
        through: bool = False,  # continue around dead points
    ) -> None:
        self.curve, self.swept, self.through = curve, swept, through
        self.limits = limits_of(curve)
        self.tracked = [swept, *(limit.coordinate for limit in self.limits)]
        functions = [*(one.function for one in self.tracked), *recorded]
        self._bending = [function for function in functions if not function.is_linear]
        self._latest: tuple[Point, list[FloatArray]] | None = None

    def value(self, point: Point) -> float:
        """Return the swept coordinate at a point, the block there."""
        self.curve.space.enter(point.q)
        return self.swept.value()

    def slope(self, point: Point) -> float:
        """Return p' at a point, the block there."""
        self.curve.space.enter(point.q)
        return self.swept.slope(point)

    def pieces(self, first: Point) -> Iterator[Piece]:
        """Yield pieces from a point on, along its tangent, until the motion ends.

        Raises
        ------
        LostBranchError
            Where no step can be proven to stay on the branch.
        """
        self._carried = self.value(first)  # exactly the same at the end of a piece and at the beginning of the next
        for segment in self._segments(first):
            if isinstance(segment, Point):  # a branch point that is not crossed
                value = self.value(segment)
                yield Piece(_AtPoint(segment), 0.0, 0.0, value, value, Mark(0.0, "branch point"), ends=True)
                return
            for piece in self._split(segment):
                yield piece
                if piece.ends:
                    return
            self.curve.space.enter(segment.last.q)
            for one in self.tracked:
                one.track()

    def _segments(self, here: Point) -> Iterator[Segment | Point]:
        """Yield steps and ways across branch points; at last a branch point that cannot be crossed."""
        curve, length, best = self.curve, FIRST_STEP * self.curve.scale, here.regularity
        approach: list[Point] = []
        tried = np.inf  # regularity at which a branch point was looked for last
        while True:
            approaches = here.regularity < min(NEAR * best, 0.6 * tried)
            if approaches and (centre := branch_point(curve, here)) is not None:
                chord = curve.between(centre.q, here.q)
                if chord @ here.tangent > 0:
                    if (way := crossing(curve, here, centre)) is not None:
                        yield way
                        here, length, tried = way.last, way.upper, np.inf
                        continue
                    if np.linalg.norm(chord) < NEXT_TO * curve.scale:
                        yield centre.point
                        return
            if approaches:
                tried = here.regularity
            approach = [*approach[-MOST_KEPT:], here]
            try:
                step = next_step(curve, here, length)
            except LostBranchError:
                if (centre := limit_point(curve, approach)) is None:
                    raise
                yield centre.point
                return
            yield step
            tried = np.inf if step.last.regularity > here.regularity else tried
            length = next_length(step, self._longest(step))
            here, best = step.last, max(best, step.last.regularity)

    def _longest(self, step: Step) -> float:
        """Return how long the step after a step may be: as far as no tracked function bends or turns much."""
        longest = np.inf
        first, last = self._rates_of_bending(step.first), self._rates_of_bending(step.last)
        self._latest = step.last, last  # the next step begins there
        for before, after in zip(first, last, strict=True):
            bend = float(np.linalg.norm(after - before)) / max(float(np.linalg.norm(after)), SMALLEST)
            turn = float(np.abs(after @ step.last.tangent).max()) / self.curve.space.length
            longest = min(longest, TARGET * step.upper / max(bend, ROUNDING), TURN / max(turn, ROUNDING))
        return max(longest, LONGEST * self.curve.scale)

    def _rates_of_bending(self, point: Point) -> list[FloatArray]:
        """Return the weighed rows of the tracked functions that bend."""
        if self._latest is not None and self._latest[0] is point:
            return self._latest[1]
        curve = self.curve
        curve.space.enter(point.q)
        return [curve.metres(one)[:, None] * one.rows() / curve.space.weights for one in self._bending]

    def _split(self, segment: Segment) -> Iterator[Piece]:
        """Yield the pieces of a segment between its marks."""
        marks = [Mark(parameter, "dead point") for parameter in self._turning(segment, self.swept)]
        marks += self._limits(segment)
        if segment.lower < 0.0 < segment.upper:
            marks.append(Mark(0.0, "branch point"))
        lower, first = segment.lower, self._carried
        for mark in sorted(marks, key=lambda one: one.parameter):
            last = self.value(segment.at(mark.parameter))
            ends = mark.kind == "limit" or (mark.kind == "dead point" and not self.through)
            yield Piece(segment, lower, mark.parameter, first, last, mark, ends)
            if ends:
                return
            lower, first = mark.parameter, last
        self._carried = self.value(segment.last)
        yield Piece(segment, lower, segment.upper, first, self._carried, None, ends=False)

    def _turning(self, segment: Segment, coordinate: Tracked) -> list[float]:
        """Return where a coordinate turns back: at a root of its slope, or at two with an extremum of it between."""

        def slope(parameter: float) -> float:
            point = segment.at(parameter)
            self.curve.space.enter(point.q)
            return coordinate.slope(point)

        ends = segment.lower, segment.upper
        middle = 0.5 * sum(ends)
        first, last = slope(ends[0]), slope(ends[1])
        if first * last < 0:
            return [root(slope, *ends)]
        bend = first - 2.0 * (between := slope(middle)) + last
        position = -0.25 * (last - first) / bend if bend else np.inf  # of the parabola's extremum, half at the ends
        turn = middle + position * (ends[1] - ends[0])
        if between * first < 0:
            turn = middle
        elif abs(position) >= 0.5 or slope(turn) * first >= 0:
            return []
        return [root(slope, ends[0], turn), root(slope, turn, ends[1])]

    def _limits(self, segment: Segment) -> list[Mark]:
        """Return where bounds of stops are reached first; each ends the motion."""
        found = []
        for limit in self.limits:

            def inside(parameter: float, limit: Limit = limit) -> float:
                self.curve.space.enter(segment.at(parameter).q)
                return limit.inside()

            before = segment.lower
            for parameter in (*self._turning(segment, limit.coordinate), segment.upper):
                if inside(parameter) < 0:
                    where = root(inside, before, parameter) if inside(before) > INSIDE else before
                    found.append(Mark(where, "limit", limit.name))
                    break
                before = parameter
        return found

    def where(self, piece: Piece, value: float) -> Point:
        """Return the point of a piece with a value of the swept coordinate, the block there."""

        def left(parameter: float) -> float:
            return self.value(piece.segment.at(parameter)) - value

        ends = piece.lower, piece.upper
        if piece.first == value or piece.last == value:
            parameter = ends[0] if piece.first == value else ends[1]
        else:
            parameter = root(left, *ends)
        found = piece.segment.at(parameter)
        self.curve.space.enter(found.q)
        return found


class _AtPoint:
    """A segment of one point."""

    lower = upper = 0.0

    def __init__(self, point: Point) -> None:
        self.first = self.last = point

    def at(self, parameter: float) -> Point:
        return self.first


def root(function: Callable[[float], float], lower: float, upper: float) -> float:
    """Return the root of a function that changes sign between two parameters, to rounding."""
    at_lower, at_upper = function(lower), function(upper)
    if at_lower == 0.0 or at_lower * at_upper > 0:  # the latter by rounding at an end
        return lower if abs(at_lower) <= abs(at_upper) else upper
    return float(brentq(function, lower, upper, xtol=1e-300, rtol=4 * np.finfo(float).eps))


NEAR = 0.2  # regularity, relative to the largest on the branch, from which on a branch point is looked for
MOST_STEPS = 30
PROBE = 1e-4  # displacement by which the Hessian is found, relative to the length of the mechanism
LOCATED = 1e-13  # of the mechanism's length: the last correction of a branch point
SINGULAR = 1e-8  # regularity at a branch point
SECOND_KERNEL = 1e-5  # regularity of the next singular value, below which more than two branches may cross
LEAST_SADDLE = 1e-4  # smaller eigenvalue of H relative to the larger: below, the branches touch
ALIGNED = 0.98  # least cosine between the incoming tangent and the direction in which it is continued
DISTINCT = 0.95  # largest cosine between the two directions
MET = 2e-14  # m for a mechanism of 1 m: violation at a branch point; more is a gap between branches that pass
EXTRAPOLATED = 1e-5, 0.03  # regularity of points from which a branch point of higher order is extrapolated
EXTRAPOLATION_POINTS = 6
CENTRE = 1e-6  # of the mechanism's length: nearer to a branch point the curve is taken straight


@dataclass(frozen=True)
class BranchPoint:
    """A pose in which the constraints drop in rank."""

    q: FloatArray  # coordinates (nq,)
    # Unit vectors (n, nu) in weighed displacements along the branches that cross there; empty where they touch, or more
    # than two may cross.
    directions: FloatArray
    point: Point  # with the rows of the constraints there; its tangent is NaN


class Crossing:
    """The smooth continuation of a branch across a branch point, as a segment with the branch point at zero."""

    def __init__(self, curve: Curve, centre: BranchPoint, direction: FloatArray, first: Point, last: Point) -> None:
        self.curve, self.centre, self.direction = curve, centre, direction
        self.first, self.last = first, last
        self.lower = -float(np.linalg.norm(curve.between(first.q, centre.q)))
        self.upper = float(np.linalg.norm(curve.between(last.q, centre.q)))

    def at(self, parameter: float) -> Point:
        """Return a point; next to the branch point the one on the tangent."""
        if parameter in (self.lower, self.upper):
            return self.first if parameter == self.lower else self.last
        q = self.curve.moved(self.centre.q, parameter * self.direction)
        if abs(parameter) <= CENTRE * self.curve.scale:
            self.curve.space.enter(q)
            return replace(self.centre.point, q=q, tangent=self.direction)
        return _next_to(self.curve, q, self.direction, abs(parameter)) or self._lost()

    def _lost(self) -> Point:
        raise LostBranchError(self.first)


class _Reduced:
    """The reduced equation b(y) near a regular point."""

    def __init__(self, curve: Curve, near: Point) -> None:
        self.curve, self.near = curve, near
        r = near.rank
        svd = near.decomposition
        self.left, self.u = svd.left[:, : r - 1], svd.left[:, r - 1]
        self.kernel = np.array([near.tangent, svd.right[r - 1]])

    def solve(self, y: FloatArray, q: FloatArray) -> tuple[FloatArray, float, FloatArray] | None:
        """Return the pose of y (2,) by Newton's method from q, with b and its gradient (2,)."""
        before = np.inf
        for _ in range(10):
            self.curve.space.enter(q)
            left, rows = self.curve.equations()
            residual = np.concatenate([self.left.T @ left, self.kernel @ self.curve.between(q, self.near.q) - y])
            bordered = np.vstack([self.left.T @ rows, self.kernel])
            size = float(np.abs(residual).max())
            if size <= 1e-15 * self.curve.scale or size >= before:
                ahead = np.linalg.solve(bordered, np.eye(len(bordered))[:, -2:])
                return (q, float(self.u @ left), self.u @ rows @ ahead) if size <= 1e-12 * self.curve.scale else None
            if np.linalg.cond(bordered) > 1e8:
                return None
            before, q = size, self.curve.moved(q, -np.linalg.solve(bordered, residual))
        return None

    def hessian(self, y: FloatArray, q: FloatArray) -> FloatArray | None:
        """Return the second derivative (2, 2) of b by central differences."""
        probe = PROBE * self.curve.scale
        columns = []
        for direction in np.eye(2):
            ends = [self.solve(y + sign * probe * direction, q) for sign in (1, -1)]
            if ends[0] is None or ends[1] is None:
                return None
            columns.append((ends[0][2] - ends[1][2]) / (2 * probe))
        return 0.5 * (np.array(columns) + np.array(columns).T)


def branch_point(curve: Curve, near: Point) -> BranchPoint | None:
    """Return the branch point next to a regular point, or None where the curve has none there."""
    if near.rank < 1:
        return None
    reduced = _Reduced(curve, near)
    y, q = np.zeros(2), near.q
    farthest = 2.0 * curve.scale
    for _ in range(MOST_STEPS):
        here = reduced.solve(y, q)
        hessian = None if here is None else reduced.hessian(y, here[0])
        if here is None or hessian is None or abs(np.linalg.det(hessian)) < 1e-12 * np.abs(hessian).max() ** 2:
            return None
        step = -np.linalg.solve(hessian, here[2])
        q, size = here[0], float(np.linalg.norm(step))
        if size <= LOCATED * curve.scale:
            return _checked(curve, reduced, y, q, hessian)
        if size > farthest:
            return None
        y, farthest = y + step, max(0.7 * size, 1e-12 * curve.scale)
    return None


def limit_point(curve: Curve, approach: Sequence[Point]) -> BranchPoint | None:
    """Return the pose where A drops in rank by more than one, to which points of a branch converge; no way across.

    The smallest singular value falls to zero linearly along the branch: the pose is extrapolated to zero by Neville's
    scheme over it.
    """
    near = [one for one in approach if EXTRAPOLATED[0] < one.regularity < EXTRAPOLATED[1]][-EXTRAPOLATION_POINTS:]
    if len(near) < EXTRAPOLATION_POINTS:
        return None
    origin = near[-1].q
    values = [one.regularity for one in near]
    table = [curve.between(one.q, origin) for one in near]
    for order in range(1, len(near)):
        table = [
            (values[k] * table[k + 1] - values[k + order] * table[k]) / (values[k] - values[k + order])
            for k in range(len(table) - 1)
        ]
    q = curve.moved(origin, table[0])
    curve.space.enter(q)
    left, rows = curve.equations()
    svd = decomposed(rows)
    found = Point(curve, q, np.full(curve.space.nu, np.nan), svd.regularity, 0.0, svd)
    if np.abs(left).max() > 1e-11 * curve.scale or found.regularity > SINGULAR:
        return None
    return BranchPoint(q, np.empty((0, curve.space.nu)), found)


def _checked(curve: Curve, reduced: _Reduced, y: FloatArray, q: FloatArray, hessian: FloatArray) -> BranchPoint | None:
    """Return the branch point at a critical point of b, or None where the mechanism is open there."""
    curve.space.enter(q)
    left, rows = curve.equations()
    svd = decomposed(rows)
    found = Point(curve, q, np.full(curve.space.nu, np.nan), svd.regularity, 0.0, svd)
    if np.abs(left).max() > MET * curve.scale or found.regularity > SINGULAR:
        return None
    values, vectors = np.linalg.eigh(hessian)
    is_saddle = values[0] * values[1] < 0 and np.abs(values).min() > LEAST_SADDLE * np.abs(values).max()
    r = found.rank
    if not is_saddle or (r > 1 and svd.values[r - 2] < SECOND_KERNEL * svd.values[0]):
        return BranchPoint(q, np.empty((0, curve.space.nu)), found)
    kernel = svd.right[r - 1 :]  # (2, nu)
    to_kernel = np.linalg.inv(reduced.kernel @ kernel.T)  # of y: K' K_found c = y
    directions = []
    for sign in (1, -1):
        ray = np.sqrt(-values[0]) * vectors[:, 1] + sign * np.sqrt(values[1]) * vectors[:, 0]
        direction = (to_kernel @ ray) @ kernel
        directions.append(direction / np.linalg.norm(direction))
    return BranchPoint(q, np.array(directions), found)


def crossing(curve: Curve, first: Point, centre: BranchPoint) -> Crossing | None:
    """Return the smooth continuation of the branch of a point across a branch point.

    None where the point is too far from it for that to be certain, or the branches do not cross at an angle.
    """
    if not len(centre.directions):
        return None
    chord = curve.between(centre.q, first.q)
    length = float(np.linalg.norm(chord))
    aligned = centre.directions @ chord / length
    best = int(np.argmax(np.abs(aligned)))
    direction = centre.directions[best] * np.sign(aligned[best])
    if abs(aligned[best]) < ALIGNED or first.tangent @ direction < ALIGNED:
        return None
    if abs(centre.directions[0] @ centre.directions[1]) > DISTINCT:
        return None
    back = _next_to(curve, curve.moved(centre.q, -length * direction), direction, length)
    last = _next_to(curve, curve.moved(centre.q, length * direction), direction, length)
    if back is None or last is None or first.contraction(back) > CONTRACTION:
        return None
    if np.linalg.norm(curve.between(back.q, first.q)) > FARTHEST * length:
        return None  # on another branch
    return Crossing(curve, centre, direction, first, last)


def _next_to(curve: Curve, q: FloatArray, direction: FloatArray, distance: float) -> Point | None:
    """Return the point next to a pose at a distance from a branch point, if it is on the branch of a direction."""
    found = curve.point(q)
    if found is None or found.correction > FARTHEST * distance:
        return None
    found = found.along(direction)
    return found if found.tangent @ direction > ALIGNED else None
