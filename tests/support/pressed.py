"""Dry friction by reactions in maximal coordinates: six accelerations a body, all multipliers, and the law itself.

Of a state it takes the poses and the speeds alone. Each joint has the rows of a ball, whose multipliers are the force
on its child, and rows of its directions; a load of friction acts along the axis of its speed on both bodies.
Accelerations and forces are affine in the loads, f = -s b |n + R f|, and SciPy and then Newton's method solve for
these. Where rows are redundant forces are of least norm, which leaves those in the plane of planar loops alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

import linkwork as lw
from linkwork.mechanism.parts import Joint

from .maximal import Array, Maximal, Moving
from .poses import quaternion_matrix

Z = np.array([0.0, 0.0, 1.0])


@dataclass
class Surface:
    """One friction: where its load acts on all accelerations, and the rows of its joint's force."""

    name: str
    axis: Array
    acts: Array
    rows: slice
    slip: float
    rate_of_slip: tuple[Array, float]  # J and bias of its acceleration J a + bias


def local_axes(joint: Joint) -> list[tuple[str, Array]]:
    """The axes of the speeds, each in the frame of a body: that of the parent or of the child."""
    kind = joint.kind
    if isinstance(kind, lw.Universal):
        first, second = (np.asarray(axis, dtype=float) for axis in (kind.axis1, kind.axis2))
        return [("parent", joint.parent_frame.rotation @ first), ("child", joint.child_frame.rotation @ second)]
    return [("parent", joint.parent_frame.rotation @ np.asarray(kind.axis, dtype=float))]


class Pressed:
    """A mechanism with `lw.Friction` by reactions in a state."""

    def __init__(self, mech: lw.Mechanism, state: lw.State) -> None:
        bodies = {}
        for name, body in mech.bodies.items():
            pose = (np.array(state[f"{name}.{what}"]) for what in "rvw")
            r, v, w = pose
            turn = quaternion_matrix(np.array(state[f"{name}.Q"]))
            bodies[name] = Moving(body.mass, np.array(body.com), np.array(body.inertia), r, turn, v, w)
        self.mech, self.state = mech, state
        self.at = Maximal(bodies, np.array(mech.gravity))
        self.rows: dict[str, slice] = {}
        for joint in mech.joints.values():
            self.bind(joint)
        self.surfaces = [self.surface(force) for force in mech.forces if isinstance(force, lw.Friction)]
        self.solve_for_loads()

    def ends(self, joint: Joint) -> tuple[str | None, str | None]:
        parent, child = (None if name == "ground" else name for name in (joint.parent, joint.child))
        return parent, child

    def bind(self, joint: Joint) -> None:
        """The ball of its origin, in the axes of its parent, and what keeps its directions."""
        (a, b), kind = self.ends(joint), joint.kind
        pa, pb = joint.parent_frame.position, joint.child_frame.position
        first = len(self.at.rows)
        axes = local_axes(joint) if not isinstance(kind, lw.Spherical) else []
        if isinstance(kind, lw.Prismatic):
            sides = np.linalg.svd(axes[0][1][None, :])[2][1:]
            self.at.rows += [self.at.gap(a, pa, b, pb, e, a) for e in sides]
            self.rows[joint.name] = slice(first, len(self.at.rows))
            self.at.aligned(a, joint.parent_frame.rotation, b, joint.child_frame.rotation)
            return
        self.at.coincide(a, pa, b, pb)
        self.rows[joint.name] = slice(first, len(self.at.rows))
        if isinstance(kind, lw.Revolute):
            self.at.parallel(a, axes[0][1], b, joint.child_frame.rotation @ np.asarray(kind.axis, dtype=float))
        elif isinstance(kind, lw.Universal):
            self.at.rows.append(self.at.cosine(a, axes[0][1], b, axes[1][1]))

    def surface(self, force: lw.Friction) -> Surface:
        name = force.joint
        number = 0
        if "[" in name:
            name, rest = name.split("[")
            number = int(rest[:-1]) - 1
        joint = self.mech.joints[name]
        a, b = self.ends(joint)
        holder, local = local_axes(joint)[number]
        body = self.at.body(a if holder == "parent" else b)
        axis = body.R @ local
        places, acts = self.at.places(), np.zeros(6 * len(self.at.bodies))
        for end, sign in ((a, -1.0), (b, 1.0)):
            if end is None:
                continue
            if isinstance(joint.kind, lw.Prismatic):  # at the child's point on both bodies
                point = self.at.body(b).at(joint.child_frame.position)[0]
                mover = self.at.body(end)
                arm = point - mover.p - mover.R @ mover.com
                acts[places[end]] += sign * np.concatenate([np.cross(arm, axis), axis])
            else:
                acts[places[end]] += sign * np.concatenate([axis, np.zeros(3)])
        slip = np.atleast_1d(self.state[f"{name}.u"])[number]
        A, B = self.at.body(a), self.at.body(b)
        if isinstance(joint.kind, lw.Prismatic):
            row = self.at.gap(a, joint.parent_frame.position, b, joint.child_frame.position, local, a)
            J, bias = np.zeros_like(acts), row.bias
            for end, j in row.J.items():
                J[places[end]] += j
        else:
            J, bias = acts, np.cross(body.w, axis) @ (B.w - A.w)
        return Surface(force.name, axis, acts, self.rows[name], float(slip), (J, float(bias)))

    def solve_for_loads(self) -> None:
        M, F, A, b = self.at.equations()
        U, s, Vt = np.linalg.svd(A)
        rank = int((s > 1e-8 * s[0]).sum())
        particular, N = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank]), Vt[rank:].T
        acts = np.array([one.acts for one in self.surfaces]).T
        loads = np.column_stack([F, acts])
        bound = np.column_stack([particular, np.zeros_like(acts)])
        self.accelerations = bound + N @ np.linalg.solve(N.T @ M @ N, N.T @ (loads - M @ bound))
        multipliers = U[:, :rank] @ ((Vt[:rank] @ (M @ self.accelerations - loads)) / s[:rank, None])
        self.forces = []  # of each friction: (3, 1 + loads), across its axis
        for one in self.surfaces:
            rows = range(one.rows.start, one.rows.stop)
            lines = np.array([self.direction(row) for row in rows])
            F = lines.T @ multipliers[one.rows]
            self.forces.append(F - np.outer(one.axis, one.axis @ F))

    def direction(self, row: int) -> Array:
        """The force on the child of a row of its ball, from the row itself."""
        for name, j in self.at.rows[row].J.items():
            owner = next(joint for joint, at in self.rows.items() if at.start <= row < at.stop)
            child = self.mech.joints[owner].child
            if name == child:
                return j[3:]
            if child == "ground":
                return -j[3:]
        raise AssertionError(row)

    def pressing(self, loads: Array) -> Array:
        """The pressing forces of all frictions for their loads."""
        one = np.concatenate([[1.0], loads])
        return np.array([np.linalg.norm(force @ one) for force in self.forces])

    def solve(self, slope: Array) -> tuple[Array, Array, Array]:
        """Loads f = -slope N, their pressing forces N, and the accelerations of all bodies."""

        def equations(f: Array) -> Array:
            return f + slope * self.pressing(f)

        f = root(equations, np.zeros(len(slope)), method="hybr", options={"xtol": 1e-13}).x
        for _ in range(20):
            one = np.concatenate([[1.0], f])
            n = [force @ one for force in self.forces]
            J = np.eye(len(f)) + np.array(
                [s * (v @ force[:, 1:]) / np.linalg.norm(v) for s, v, force in zip(slope, n, self.forces, strict=True)]
            )
            f = f - np.linalg.solve(J, equations(f))
        N = self.pressing(f)
        assert np.abs(equations(f)).max() <= 1e-13 * max(1.0, np.abs(slope * N).max())
        return f, N, self.accelerations @ np.concatenate([[1.0], f])

    def slip_accelerations(self, a: Array) -> Array:
        """Accelerations of the speeds of all frictions for those of the bodies."""
        return np.array([J @ a + bias for J, bias in (one.rate_of_slip for one in self.surfaces)])
