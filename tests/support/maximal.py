"""Dynamics in maximal coordinates: bodies with six accelerations each, and constraints written by hand as rows.

It knows nothing of joints, mechanisms or files: a test that reads a file in its own way states which points, directions
and angles are bound. Rows may be redundant. Everything is in world axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray
GROUND = None


def skew(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


@dataclass
class Moving:
    """A body: pose and velocity of its frame, and its mass properties in that frame."""

    mass: float
    com: Array
    inertia: Array
    p: Array
    R: Array
    v: Array
    w: Array

    def at(self, point: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """Position, velocity, bias acceleration and arm from the centre of mass of a point of the body."""
        arm = self.R @ (np.asarray(point, dtype=float) - self.com)
        whole = self.R @ np.asarray(point, dtype=float)
        return self.p + whole, self.v + np.cross(self.w, whole), np.cross(self.w, np.cross(self.w, arm)), arm


_STILL = Moving(0.0, np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))


@dataclass
class Row:
    """One equation: residual of the positions, of the velocities, and J a + bias = 0 of the accelerations."""

    value: float
    rate: float
    J: dict[str, Array]  # (6,) a body: [angular acceleration; acceleration of the centre of mass]
    bias: float

    def times(self, factor: float) -> Row:
        return Row(
            factor * self.value, factor * self.rate, {k: factor * j for k, j in self.J.items()}, factor * self.bias
        )

    def plus(self, other: Row) -> Row:
        J = {k: self.J.get(k, 0.0) + other.J.get(k, 0.0) for k in [*self.J, *other.J]}
        return Row(self.value + other.value, self.rate + other.rate, J, self.bias + other.bias)


@dataclass
class Maximal:
    """Bodies by name, in one state; None is the ground."""

    bodies: dict[str, Moving]
    gravity: Array
    rows: list[Row] = field(default_factory=list)
    loads: dict[str, Array] = field(default_factory=dict)  # (6,) [torque about; force at] the centre of mass

    def body(self, name: str | None) -> Moving:
        return _STILL if name is None else self.bodies[name]

    # ---- rows ----

    def gap(
        self, a: str | None, pa: ArrayLike, b: str | None, pb: ArrayLike, e: ArrayLike, fixed_in: str | None
    ) -> Row:
        """e . (xb - xa), where e is given in the axes of `fixed_in`."""
        (xa, va, ca, ra), (xb, vb, cb, rb) = self.body(a).at(pa), self.body(b).at(pb)
        holder = self.body(fixed_in)
        n = holder.R @ np.asarray(e, dtype=float)
        d, ddot, w = xb - xa, vb - va, holder.w
        ndot, nbias = np.cross(w, n), np.cross(w, np.cross(w, n))
        J: dict[str, Array] = {}
        for name, arm, sign in ((a, ra, -1.0), (b, rb, 1.0)):
            if name is not None:
                J[name] = J.get(name, np.zeros(6)) + sign * np.concatenate([np.cross(arm, n), n])
        if fixed_in is not None:
            J[fixed_in] = J.get(fixed_in, np.zeros(6)) + np.concatenate([np.cross(n, d), np.zeros(3)])
        bias = n @ (cb - ca) + 2.0 * ndot @ ddot + nbias @ d
        return Row(float(n @ d), float(n @ ddot + ndot @ d), J, float(bias))

    def cosine(self, a: str | None, da: ArrayLike, b: str | None, db: ArrayLike, value: float = 0.0) -> Row:
        """Cosine of the angle between directions of two bodies, less its value."""
        A, B = self.body(a), self.body(b)
        x, y = A.R @ np.asarray(da, dtype=float), B.R @ np.asarray(db, dtype=float)
        xdot, ydot = np.cross(A.w, x), np.cross(B.w, y)
        J: dict[str, Array] = {}
        for name, n in ((a, np.cross(x, y)), (b, np.cross(y, x))):
            if name is not None:
                J[name] = J.get(name, np.zeros(6)) + np.concatenate([n, np.zeros(3)])
        bias = np.cross(A.w, xdot) @ y + 2.0 * xdot @ ydot + x @ np.cross(B.w, ydot)
        return Row(float(x @ y) - value, float(xdot @ y + x @ ydot), J, float(bias))

    def spin(self, a: str | None, b: str | None, e: ArrayLike) -> Row:
        """Rate of the angle of b relative to a about the axis e of a; its value is not known here."""
        A, B = self.body(a), self.body(b)
        n = A.R @ np.asarray(e, dtype=float)
        w = B.w - A.w
        J = {name: s * np.concatenate([n, np.zeros(3)]) for name, s in ((a, -1.0), (b, 1.0)) if name is not None}
        return Row(0.0, float(n @ w), J, float(w @ np.cross(A.w, n)))

    def coincide(self, a: str | None, pa: ArrayLike, b: str | None, pb: ArrayLike) -> None:
        self.rows += [self.gap(a, pa, b, pb, e, None) for e in np.eye(3)]

    def parallel(self, a: str | None, da: ArrayLike, b: str | None, db: ArrayLike) -> None:
        self.rows += [self.cosine(a, e, b, db) for e in across(da)]

    def aligned(self, a: str | None, Ra: Array, b: str | None, Rb: Array) -> None:
        """Keep the axes of two frames, the columns of Ra in a and of Rb in b, parallel."""
        self.rows += [self.cosine(a, Ra[:, i], b, Rb[:, (i + 1) % 3]) for i in range(3)]

    # ---- loads ----

    def torque(self, a: str | None, b: str | None, world: ArrayLike) -> None:
        """A torque on b, and its opposite on a."""
        for name, sign in ((a, -1.0), (b, 1.0)):
            if name is not None:
                self.loads.setdefault(name, np.zeros(6))[:3] += sign * np.asarray(world)

    def force(self, name: str | None, point: ArrayLike, world: ArrayLike) -> None:
        if name is not None:
            arm = self.body(name).at(point)[3]
            self.loads.setdefault(name, np.zeros(6))[:] += np.concatenate([np.cross(arm, world), np.asarray(world)])

    # ---- solution ----

    def residual(self) -> float:
        return max((abs(row.value) for row in self.rows), default=0.0)

    def residual_rate(self) -> float:
        return max((abs(row.rate) for row in self.rows), default=0.0)

    def places(self) -> dict[str, slice]:
        """Where the six numbers of each body stand."""
        return {name: slice(6 * i, 6 * i + 6) for i, name in enumerate(self.bodies)}

    def equations(self) -> tuple[Array, Array, Array, Array]:
        """M, F, A, b of M a = F + A' lambda, A a = b."""
        names, place = list(self.bodies), self.places()
        M, F = np.zeros((6 * len(names),) * 2), np.zeros(6 * len(names))
        for name, body in self.bodies.items():
            here = place[name].start
            inertia = body.R @ body.inertia @ body.R.T
            M[here : here + 3, here : here + 3] = inertia
            M[here + 3 : here + 6, here + 3 : here + 6] = body.mass * np.eye(3)
            F[place[name]] = np.concatenate([-np.cross(body.w, inertia @ body.w), body.mass * self.gravity])
            F[place[name]] += self.loads.get(name, 0.0)
        A, b = np.zeros((len(self.rows), len(F))), np.zeros(len(self.rows))
        for i, row in enumerate(self.rows):
            for name, j in row.J.items():
                A[i, place[name]] += j
            b[i] = -row.bias
        return M, F, A, b

    def solve(self, rank: float = 1e-8) -> dict[str, tuple[Array, Array]]:
        """Angular acceleration and acceleration of the frame's origin of each body, (3,) each."""
        place = self.places()
        M, F, A, b = self.equations()
        U, s, Vt = np.linalg.svd(A)
        r = int((s > rank * s[0]).sum()) if len(s) else 0
        particular = Vt[:r].T @ ((U[:, :r].T @ b) / s[:r])
        N = Vt[r:].T
        a = particular + N @ np.linalg.solve(N.T @ M @ N, N.T @ (F - M @ particular))
        found = {}
        for name, body in self.bodies.items():
            alpha, centre = a[place[name]][:3], a[place[name]][3:]
            arm = -body.R @ body.com
            found[name] = (alpha, centre + np.cross(alpha, arm) + np.cross(body.w, np.cross(body.w, arm)))
        return found


def across(d: ArrayLike) -> list[Array]:
    """Two unit vectors perpendicular to d and to each other."""
    n = np.asarray(d, dtype=float) / np.linalg.norm(d)
    x = np.cross(n, np.eye(3)[int(np.argmin(abs(n)))])
    x /= np.linalg.norm(x)
    return [x, np.cross(n, x)]
