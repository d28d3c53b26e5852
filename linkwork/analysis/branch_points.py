"""Branch points of a curve of poses: where branches of the motion cross, and the way across.

At a regular point near it, A = U S V' has one small value s_r. Its left vector u and the kernel K = [t, v_r] reduce the
equations G = 0 to one in two unknowns (Lyapunov and Schmidt):

    b(y) = u' G(q(y)),   where   U_(r-1)' G(q) = 0,   K' z(q) = y

b = 0 are the branches; they cross where b = 0 and grad b = 0. Newton's method on grad b finds this pose although A has
no inverse there. The directions d of the branches are those with d' H d = 0, H the Hessian of b: two for a saddle
(Allgower and Georg, Introduction to Numerical Continuation Methods, chapter 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.continuation import CONTRACTION, FARTHEST, Curve, LostBranchError, Point

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
    """A pose in which the constraints drop in rank.

    Attributes
    ----------
    q
        Coordinates (nq,).
    directions
        Unit vectors (n, nu) in weighed displacements along the branches that cross there; empty where they touch, or
        more than two may cross.
    point
        With the rows of the constraints there; its tangent is NaN.
    """

    q: FloatArray
    directions: FloatArray
    point: Point


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
        self.left, self.u = near.left[:, : r - 1], near.left[:, r - 1]
        self.kernel = np.array([near.tangent, near.right[r - 1]])

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
    found = Point(q, np.full(curve.space.nu, np.nan), rows, *np.linalg.svd(rows, full_matrices=False), 0.0)
    if np.abs(left).max() > 1e-11 * curve.scale or found.regularity > SINGULAR:
        return None
    return BranchPoint(q, np.empty((0, curve.space.nu)), found)


def _checked(curve: Curve, reduced: _Reduced, y: FloatArray, q: FloatArray, hessian: FloatArray) -> BranchPoint | None:
    """Return the branch point at a critical point of b, or None where the mechanism is open there."""
    curve.space.enter(q)
    left, rows = curve.equations()
    nowhere = np.full(curve.space.nu, np.nan)
    found = Point(q, nowhere, rows, *np.linalg.svd(rows, full_matrices=False), 0.0)
    if np.abs(left).max() > MET * curve.scale or found.regularity > SINGULAR:
        return None
    values, vectors = np.linalg.eigh(hessian)
    is_saddle = values[0] * values[1] < 0 and np.abs(values).min() > LEAST_SADDLE * np.abs(values).max()
    r = found.rank
    if not is_saddle or (r > 1 and found.values[r - 2] < SECOND_KERNEL * found.values[0]):
        return BranchPoint(q, np.empty((0, curve.space.nu)), found)
    kernel = found.right[r - 1 :]  # (2, nu)
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
